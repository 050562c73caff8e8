"""Conversations of many typed parts: texts, images and videos in a row, in turn and in several messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from transplate.conversation import Conversation, Message, Part
from transplate.parity.variations import call, tool_round

_MEDIA = ("image", "image_url", "video", "audio")
_URL = "https://example.org/it"


def media_in(words: Collection[str]) -> tuple[str, ...]:
    """Return the types of parts besides text that templates ask for, by the texts in their code."""
    return tuple(kind for kind in _MEDIA if kind in words)


def part(kind: str, number: int = 0) -> Part:
    """Return a part of a type; a text is another for each number."""
    if kind == "text":
        return Part("text", {"type": "text", "text": f"t{number}"})
    return Part(kind, {"type": kind, kind: {"url": _URL}} if kind == "image_url" else {"type": kind})


def of_parts(kind: str, count: int) -> Iterator[Conversation]:
    """Yield conversations with a number of parts of a type, in all places where they may stand.

    Args:
        kind: The type.
        count: How many; at least one.
    """
    row = tuple(part(kind, number) for number in range(count))
    text = part("text", count)
    if kind != "text":
        untyped = tuple(Part(kind, {kind: _URL}) for _ in row)
        yield Conversation((Message("user", (*untyped, text)),))
    yield Conversation((Message("user", (*row, text)),))
    yield Conversation((Message("user", (text, *row)),))
    turns = [each for one in row for each in (Message("user", (one, text)), Message("assistant", "So."))]
    yield Conversation((*turns, Message("user", row)))
    asked = tool_round((call(1),), content=None, answer="So.")
    looked = replace(asked.messages[2], content=(*row, text))
    yield replace(asked, messages=(*asked.messages[:2], looked, *asked.messages[3:]))
    if kind != "text":
        mixed = [each for number, one in enumerate(row) for each in (one, part("text", number))]
        yield Conversation((Message("system", (*row, text)), Message("user", tuple(mixed))))
