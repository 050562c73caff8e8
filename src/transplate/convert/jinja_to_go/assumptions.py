"""What the default form of a converted template takes for granted, and of which conversations it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from transplate.conversation import Conversation
from transplate.convert.report import Assumption

_ASCII_SPACE = "\t\n\v\f\r\x1c\x1d\x1e\x1f "
_LINE_SEPARATORS = "\u2028\u2029"
_LARGE = 10**21
"""From here on Go writes a number with an exponent."""


def _contents(conversation: Conversation) -> Iterator[str]:
    for message in conversation.messages:
        if isinstance(message.content, str):
            yield message.content


def _texts(conversation: Conversation) -> Iterator[str]:
    """Yield all texts that a template may print, names and keys included."""
    yield from _contents(conversation)
    for message in conversation.messages:
        yield from (message.role, message.reasoning, message.name, message.tool_name, message.tool_call_id)
    yield from (value for value in _json_values(conversation) if isinstance(value, str))


def _json_values(conversation: Conversation) -> Iterator[Any]:
    """Yield what is in the tools and in the arguments of calls, keys of objects included."""
    calls = [call for message in conversation.messages for call in message.tool_calls]
    pending: list[Any] = [*conversation.tools, *(call.arguments for call in calls)]
    yield from (call.name for call in calls)
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            pending += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple):
            pending += value
        else:
            yield value


def _has_no_think_tags(conversation: Conversation) -> bool:
    return not any("<think>" in text or "</think>" in text for text in _contents(conversation))


def _has_ascii_letters(conversation: Conversation) -> bool:
    return all(text.isascii() for text in _texts(conversation))


def _has_ascii_space(conversation: Conversation) -> bool:
    return all(text.strip() == text.strip(_ASCII_SPACE) for text in _texts(conversation))


def _has_plain_json(conversation: Conversation) -> bool:
    return all(map(_is_plain, _json_values(conversation)))


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return "e" not in repr(value)
    if isinstance(value, int):
        return -_LARGE < value < _LARGE
    return not isinstance(value, str) or not any(mark in value for mark in _LINE_SEPARATORS)


_ALL = (
    Assumption("no-think-tags", "no content has <think> or </think> in it", _has_no_think_tags),
    Assumption(
        "ascii-letters", "texts that are put into capital or small letters are ASCII", _has_ascii_letters
    ),
    Assumption("ascii-space", "the white space around texts is ASCII", _has_ascii_space),
    Assumption(
        "plain-json", "JSON has no numbers that Go and Python write in different ways", _has_plain_json
    ),
)

ASSUMPTIONS: Mapping[str, Assumption] = {assumption.name: assumption for assumption in _ALL}
"""All of them, by name."""
