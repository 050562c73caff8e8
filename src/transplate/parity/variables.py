"""Conversations with the variables and fields that templates read and clients set, such as documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from transplate.conversation import Conversation, Message
from transplate.parity.literals import literals_of
from transplate.parity.media import media_in, part
from transplate.parity.pair import Pair
from transplate.parity.variations import call, tool, tool_round

_DOCUMENTS = [{"title": "On tea", "text": "It is hot."}, {"title": "On ice", "text": "It is cold."}]
_THINKING = ("enable_thinking", "reasoning_effort")
"""Variables that every conversation may have, here with values that are not for them."""
_MOST_VALUES = 16
_MOST_NAMES = 12
_MOST_THOROUGH = 5
"""How many values of a variable are tried in all kinds of conversations."""
_FURTHEST = 160
_FIELD = re.compile(r"\.(\w+)(?!\w*\s*\()|\[\s*['\"](\w+)['\"]\s*\]")
_KNOWN_FIELDS = frozenset(
    (
        *(
            "role",
            "content",
            "tool_calls",
            "name",
            "tool_call_id",
            "reasoning_content",
            "thinking",
            "reasoning",
        ),
        *(
            "function",
            "arguments",
            "type",
            "text",
            "parameters",
            "properties",
            "description",
            "required",
            "id",
        ),
        *("items", "enum", "first", "last", "index", "index0", "length", "previtem", "nextitem", "value"),
    )
)


def with_variables(pair: Pair) -> Iterator[Conversation]:
    """Yield conversations with each variable that one of the templates reads, and with all of them.

    Args:
        pair: The templates.
    """
    names = sorted(pair.variables)[:_MOST_NAMES]
    if pair.is_of_one_language:
        names += [name for name in _THINKING if any(name in side.source for side in pair.sides)]
    user, system = Message("user", "Hi"), Message("system", "Be brief.")
    asked = tool_round((call(1),), reasoning="Hm.", answer="So.")
    bases: tuple[Conversation, ...] = (
        Conversation((user,)),
        Conversation((system, user, Message("assistant", "Hello.", "Hm."), user)),
        Conversation((system, user), (tool("get_weather"),)),
        replace(asked, messages=asked.messages[:3]),
        asked,
    )
    media = media_in(pair.words)
    if media:
        row = tuple(part(kind) for kind in media for _ in range(2))
        bases = (*bases[:2], Conversation((Message("user", (*row, part("text"))),)), *bases[2:])
    given = {name: _values_of(pair, name) for name in names}
    for name, values in given.items():
        for number, value in enumerate(values):
            for base in bases if number < _MOST_THOROUGH else bases[: 2 + bool(media)]:
                yield replace(base, variables={name: value})
    if len(names) > 1:
        for number in range(max(map(len, given.values()))):
            together = {name: values[number % len(values)] for name, values in given.items()}
            for base in bases:
                yield replace(base, variables=together)


def with_fields(pair: Pair) -> Iterator[Conversation]:
    """Yield conversations whose messages have fields that chat templates ask for and others do not have.

    Args:
        pair: The templates.
    """
    sources = [side.source for side in pair.sides if side.language == "jinja"]
    names = {one or other for source in sources for one, other in _FIELD.findall(source)} - _KNOWN_FIELDS
    kinds = [{"type": text} for text in sorted(pair.literals.compared)[:_MOST_VALUES]]
    for name in sorted(names)[:_MOST_NAMES]:
        for value in ([tool("get_time"), *kinds], [tool("get_time")], *([kind] for kind in kinds), True, "x"):
            extra = {name: value}
            user = Message("user", "Hi", extra=extra)
            answer = Message("assistant", "Hello.", extra=extra)
            yield Conversation((Message("system", "Be brief.", extra=extra), user, answer, user))
        for value in ("x", 7, 2.5, True, None, ["a"], {"key": "value"}):
            yield tool_round((call(1, {name: value, "other": 1}),))


def _values_of(pair: Pair, name: str) -> list[Any]:
    """Return some values for a variable, each once."""
    return list(islice({repr(value): value for value in _values(pair, name)}.values(), _MOST_VALUES))


def _values(pair: Pair, name: str) -> Iterator[Any]:
    """Yield what a variable may be given: what it is compared with, and one of each kind."""
    if "document" in name or "context" in name:
        yield from (_DOCUMENTS, _DOCUMENTS[:1], [])
    if "tools" in name:
        yield [tool("get_time")]
    for side in pair.sides:
        if side.language != "jinja":
            continue
        for found in re.finditer(rf"\b{name}\b", side.source):
            around = side.source[max(0, found.start() - _FURTHEST) : found.end() + _FURTHEST]
            literals = literals_of("{{" + around.replace("{", " ").replace("}", " ") + "}}", "jinja")
            yield from sorted(literals.compared)
            for number in sorted(literals.numbers):
                yield from (number, number + 1, number - 1)
    yield from (True, False, None, "", "Some text", ["a", "b"], {"key": "value"}, 3)
