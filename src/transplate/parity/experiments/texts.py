"""Changes of how messages are put: what is said stays."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from transplate.conversation import Conversation, Message, Part
from transplate.parity.experiments.base import SENTINEL, each_message, text_of
from transplate.parity.experiments.data import plain_data

_SHORT = 2
_LONG = 24
_THOUGHT = re.compile(r"(?s)<think>.*?</think>\s*|^.*</think>\s*")


def merge(conversation: Conversation) -> Conversation:
    """Join neighbours of one role, as Ollama does: of all but the first only the content is kept."""
    messages: list[Message] = []
    for message in conversation.messages:
        last = messages[-1] if messages else None
        if last is not None and last.role == message.role and last.role != "tool":
            content = text_of(last) + "\n\n" + text_of(message)
            messages[-1] = replace(last, content=content, images=last.images + message.images)
        else:
            messages.append(message)
    if len(messages) == len(conversation.messages):
        return conversation
    return replace(conversation, messages=tuple(messages))


def hoist(conversation: Conversation) -> Conversation:
    """Put all system messages in front, as one, if one comes behind another message."""
    messages = conversation.messages
    systems = [message for message in messages if message.role == "system"]
    others = tuple(message for message in messages if message.role != "system")
    if all(message.role == "system" for message in messages[: len(systems)]):
        return conversation
    text = "\n\n".join(filter(None, map(text_of, systems)))
    return replace(conversation, messages=(Message("system", text), *others))


def stripped(message: Message) -> Message:
    """Cut off white space around the text of a message and around its thinking."""
    content = message.content.strip() if isinstance(message.content, str) else message.content
    reasoning = message.reasoning.strip()
    if (content, reasoning) == (message.content, message.reasoning):
        return message
    return replace(message, content=content, reasoning=reasoning)


def developer_as_system(message: Message) -> Message:
    """Let the system say what a developer says."""
    return replace(message, role="system") if message.role == "developer" else message


def lower_role(message: Message) -> Message:
    """Put a role in lower case."""
    role = message.role.lower()
    return message if role == message.role else replace(message, role=role)


def null_as_empty(message: Message) -> Message:
    """Give a message without content an empty one."""
    return replace(message, content="") if message.content is None else message


def filled(message: Message) -> Message:
    """Give a message without text one, unless it has calls: those often have none."""
    if message.tool_calls or not (message.content is None or message.content == ""):
        return message
    return replace(message, content=SENTINEL)


def as_one_text(message: Message) -> Message:
    """Make one text of typed parts, if they are all text."""
    if not isinstance(message.content, tuple) or any(part.kind != "text" for part in message.content):
        return message
    return replace(message, content=text_of(message))


def as_parts(message: Message) -> Message:
    """Make a typed part of a text."""
    if not isinstance(message.content, str):
        return message
    return replace(message, content=(Part("text", {"type": "text", "text": message.content}),))


def plain_characters(message: Message) -> Message:
    """Leave out characters of a text that JSON or HTML escapes."""
    if not isinstance(message.content, str):
        return message
    made: str = plain_data(message.content)
    return message if made == message.content else replace(message, content=made)


def short_text(message: Message) -> Message:
    """Shorten a text and a thought of more than a few words."""
    content = message.content if isinstance(message.content, str) else ""
    if len(content) <= _LONG and len(message.reasoning) <= _LONG and "\n" not in content + message.reasoning:
        return message
    return replace(message, content=_short(message.content), reasoning=_short(message.reasoning))


def _short(text: Any) -> Any:
    is_long = isinstance(text, str) and (len(text) > _LONG or "\n" in text)
    return SENTINEL if is_long else text


def think_cut(message: Message) -> Message:
    """Leave out thinking between tags in the text of an answer."""
    if message.role != "assistant" or not isinstance(message.content, str):
        return message
    content = _THOUGHT.sub("", message.content)
    return message if content == message.content else replace(message, content=content)


def asked_on(conversation: Conversation) -> Conversation:
    """Let the user speak after a last message of the assistant."""
    if conversation.messages[-1].role != "assistant":
        return conversation
    return replace(conversation, messages=(*conversation.messages, Message("user", SENTINEL)))


def asked_at_all(conversation: Conversation) -> Conversation:
    """Let the user speak where he does not."""
    if any(message.role == "user" for message in conversation.messages):
        return conversation
    at = 0
    while at < len(conversation.messages) and conversation.messages[at].role in ("system", "developer"):
        at += 1
    messages = list(conversation.messages)
    messages.insert(at, Message("user", SENTINEL))
    return replace(conversation, messages=tuple(messages))


def user_first(conversation: Conversation) -> Conversation:
    """Let the user speak before anyone else but the system does."""
    for at, message in enumerate(conversation.messages):
        if message.role in ("system", "developer"):
            continue
        if message.role == "user":
            return conversation
        messages = list(conversation.messages)
        messages.insert(at, Message("user", SENTINEL))
        return replace(conversation, messages=tuple(messages))
    return conversation


def plain_texts(words: frozenset[str]) -> Callable[[Conversation], Conversation]:
    """Return the change that replaces the texts that a template compares with by one that none does."""
    wanted = frozenset(word for word in words if word.strip())
    parts = tuple(word for word in wanted if len(word) > _SHORT)

    def plain(text: str) -> str:
        return SENTINEL if text.strip() in wanted or any(part in text for part in parts) else text

    def change(message: Message) -> Message:
        content = plain(message.content) if isinstance(message.content, str) else message.content
        reasoning = plain(message.reasoning)
        name = plain(message.name)
        if (content, reasoning, name) == (message.content, message.reasoning, message.name):
            return message
        return replace(message, content=content, reasoning=reasoning, name=name)

    return each_message(change)
