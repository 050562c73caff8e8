"""Changes that take away what a conversation says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from transplate.conversation import Conversation, Message
from transplate.parity.experiments.base import SENTINEL, each_message, messages_kept, text_of
from transplate.parity.experiments.texts import asked_on

_NUMBER = "70"
_TALKING = ("user", "assistant", "system")
_KNOWN_ROLES = (*_TALKING, "tool")


def first_call(message: Message) -> Message:
    """Keep the first of several calls at once."""
    return replace(message, tool_calls=message.tool_calls[:1]) if len(message.tool_calls) > 1 else message


def one_call(conversation: Conversation) -> Conversation:
    """Keep the first of several calls at once, and the first of several results in a row."""
    changed = each_message(first_call)(conversation)
    messages = changed.messages
    kept = tuple(
        message
        for at, message in enumerate(messages)
        if message.role != "tool" or at == 0 or messages[at - 1].role != "tool"
    )
    return changed if len(kept) == len(messages) else replace(changed, messages=kept)


def silent_call(message: Message) -> Message:
    """Leave out the text beside calls."""
    return replace(message, content="") if message.tool_calls and message.content else message


def no_reasoning(message: Message) -> Message:
    """Leave out what the assistant thought."""
    return replace(message, reasoning="") if message.reasoning else message


def no_calls(conversation: Conversation) -> Conversation:
    """Leave out calls; a message that has nothing else gets a text."""

    def change(message: Message) -> Message:
        if not message.tool_calls:
            return message
        return replace(message, tool_calls=(), content=message.content or SENTINEL)

    return each_message(change)(conversation)


def no_results(conversation: Conversation) -> Conversation:
    """Leave out tool results; a call that is last then would be one to continue."""
    kept = messages_kept(conversation, lambda message: message.role != "tool")
    return kept if kept is conversation else asked_on(kept)


def no_tools(conversation: Conversation) -> Conversation:
    """Leave out the tools."""
    return replace(conversation, tools=()) if conversation.tools else conversation


def other_words(message: Message) -> Message:
    """Say a number instead of anything else: it has no letters that could be changed."""
    content = _NUMBER if isinstance(message.content, str) and message.content else message.content
    reasoning = _NUMBER if message.reasoning else ""
    if (content, reasoning) == (message.content, message.reasoning):
        return message
    return replace(message, content=content, reasoning=reasoning)


def without_variable(name: str, missing: Mapping[str, str]) -> Callable[[Conversation], Conversation]:
    """Return the change that leaves out a variable, or gives what is missing if a template fails without."""

    def change(conversation: Conversation) -> Conversation:
        if name not in conversation.variables:
            return conversation
        kept = {other: value for other, value in conversation.variables.items() if other != name}
        if name in missing:
            kept[name] = missing[name]
        return conversation if kept == conversation.variables else replace(conversation, variables=kept)

    return change


def no_think(conversation: Conversation) -> Conversation:
    """Leave it to the template whether to think."""
    return conversation if conversation.think is None else replace(conversation, think=None)


def asked_to_think(conversation: Conversation) -> Conversation:
    """Ask for thinking where a request leaves it open."""
    return conversation if conversation.think is not None else replace(conversation, think=True)


def no_system(conversation: Conversation) -> Conversation:
    """Leave out system messages."""
    return messages_kept(conversation, lambda message: message.role != "system")


def no_odd_roles(conversation: Conversation) -> Conversation:
    """Leave out messages of roles that are not in common use."""
    return messages_kept(conversation, lambda message: message.role in _KNOWN_ROLES)


def no_images(message: Message) -> Message:
    """Leave out images."""
    if isinstance(message.content, tuple) and any(part.kind != "text" for part in message.content):
        return replace(message, images=(), content=text_of(message))
    return replace(message, images=()) if message.images else message


def no_extra(message: Message) -> Message:
    """Leave out the fields that only a chat template can see."""
    return replace(message, extra={}) if message.extra else message


def no_names(conversation: Conversation) -> Conversation:
    """Leave out the names of speakers and tools, the ids of calls, and what only one side can see."""

    def change(message: Message) -> Message:
        made = message
        if message.name or message.tool_name or message.tool_call_id or message.extra:
            made = replace(message, name="", tool_name="", tool_call_id="", extra={})
        if any(call.id or call.index is not None for call in message.tool_calls):
            made = replace(
                made, tool_calls=tuple(replace(call, id="", index=None) for call in message.tool_calls)
            )
        return made

    return each_message(change)(conversation)


def no_variables(conversation: Conversation) -> Conversation:
    """Leave out all variables."""
    return replace(conversation, variables={}) if conversation.variables else conversation


def last_question(conversation: Conversation) -> Conversation:
    """Keep the system message and what the user said last, with what followed."""
    messages = conversation.messages
    last = max((at for at, message in enumerate(messages) if message.role == "user"), default=None)
    if last is None:
        return conversation
    kept = tuple(message for message in messages[:last] if message.role == "system") + messages[last:]
    return conversation if len(kept) == len(messages) else replace(conversation, messages=kept)
