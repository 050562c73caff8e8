"""Making a conversation small, as long as it still shows what it is to show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from transplate.conversation import Conversation, Message
from transplate.parity.experiments import SENTINEL
from transplate.parity.weirdness import weirdness

_MOST_TRIES = 160
_MOST_SINGLE = 6


def shrink(
    conversation: Conversation, shows: Callable[[Conversation], bool], *, tries: int = _MOST_TRIES
) -> Conversation:
    """Return a smaller conversation that shows the same.

    Args:
        conversation: One that shows it.
        shows: Whether a conversation shows what is to be kept.
        tries: How many conversations may be tried.
    """
    left = tries
    progress = True
    while progress and left > 0:
        progress = False
        limit = weirdness(conversation)
        for candidate in _smaller(conversation):
            if weirdness(candidate) > limit:
                continue
            if left <= 0:
                break
            left -= 1
            if shows(candidate):
                conversation, progress = candidate, True
                break
    return conversation


def _smaller(conversation: Conversation) -> Iterator[Conversation]:
    """Yield simpler conversations, those that leave out most first."""
    yield from _without_messages(conversation)
    if conversation.tools:
        yield replace(conversation, tools=())
        if len(conversation.tools) > 1:
            yield from (replace(conversation, tools=(tool,)) for tool in conversation.tools[:_MOST_SINGLE])
        for start, end in _pieces(len(conversation.tools)):
            yield replace(conversation, tools=conversation.tools[:start] + conversation.tools[end:])
    if conversation.variables:
        yield replace(conversation, variables={})
        if len(conversation.variables) > 1:
            for name in conversation.variables:
                others = {key: value for key, value in conversation.variables.items() if key != name}
                yield replace(conversation, variables=others)
    if conversation.think is not None:
        yield replace(conversation, think=None)
    if conversation.now is not None:
        yield replace(conversation, now=None)
    for at, message in enumerate(conversation.messages):
        for smaller in _smaller_messages(message):
            messages = (*conversation.messages[:at], smaller, *conversation.messages[at + 1 :])
            yield replace(conversation, messages=messages)
    for at, tool in enumerate(conversation.tools):
        parameters = tool["function"].get("parameters")
        if isinstance(parameters, dict) and isinstance(parameters.get("properties"), dict):
            properties = parameters["properties"]
            for name in properties if len(properties) > 1 else ():
                kept = {key: value for key, value in properties.items() if key != name}
                function = {**tool["function"], "parameters": {**parameters, "properties": kept}}
                tools = (
                    *conversation.tools[:at],
                    {**tool, "function": function},
                    *conversation.tools[at + 1 :],
                )
                yield replace(conversation, tools=tools)


def _without_messages(conversation: Conversation) -> Iterator[Conversation]:
    """Yield the conversation without some messages: large pieces first, then smaller ones."""
    messages = conversation.messages
    for start, end in _pieces(len(messages)):
        if end - start < len(messages):
            yield replace(conversation, messages=messages[:start] + messages[end:])


def _pieces(count: int) -> Iterator[tuple[int, int]]:
    """Yield where pieces of a sequence begin and end: halves, quarters and so on, down to one each."""
    size = count // 2
    while size:
        yield from ((start, min(start + size, count)) for start in range(0, count, size))
        size //= 2


def _smaller_messages(message: Message) -> Iterator[Message]:
    if message.tool_calls:
        yield replace(message, tool_calls=(), content=message.content or SENTINEL)
        if len(message.tool_calls) > 1:
            yield replace(message, tool_calls=message.tool_calls[:1])
        for at, call in enumerate(message.tool_calls):
            for name in call.arguments if len(call.arguments) > 1 else ():
                kept = {key: value for key, value in call.arguments.items() if key != name}
                calls = (
                    *message.tool_calls[:at],
                    replace(call, arguments=kept),
                    *message.tool_calls[at + 1 :],
                )
                yield replace(message, tool_calls=calls)
    if message.extra:
        yield replace(message, extra={})
    if message.reasoning:
        yield replace(message, reasoning="")
    if message.images:
        yield replace(message, images=())
    if isinstance(message.content, tuple):
        yield replace(message, content=SENTINEL)
        if len(message.content) > 1:
            yield from (replace(message, content=(part,)) for part in message.content)
    elif message.content and message.content != SENTINEL:
        yield replace(message, content=SENTINEL)
        if len(message.content) > len(SENTINEL):
            half = len(message.content) // 2
            yield replace(message, content=message.content[:half])
            yield replace(message, content=message.content[half:])
    if message.name or message.tool_call_id or message.tool_name:
        yield replace(message, name="", tool_name="", tool_call_id="")
