"""Words that a template takes for more than words: what they change besides themselves."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from transplate.conversation import Conversation
from transplate.parity.fields import Field, filled
from transplate.parity.report import Place
from transplate.parity.sides import Outcome
from transplate.parity.texts import common_prefix, places

Render: TypeAlias = Callable[[dict[str, Any], str], Outcome]
"""Renders a conversation with a text in its gap."""

_LONGEST = 100
_LETTERS = re.compile(r"[^\W_]+")
_MEANT = re.compile(r"(?!\\).*(?:\w{3}|[<>\[\]{}/#|`*])", re.DOTALL)
"""What has a word or markup in it; not the characters and escapes that templates have tables of."""
_TAG = re.compile(r"<([^<>/\s]+)>|\[([A-Z_]+)\]")


@dataclass(frozen=True, slots=True)
class Special:
    """A word that changes more of the prompt than itself.

    Attributes:
        literal: The word.
        where: Where in a text it does: anywhere, at the start, at the end, or alone.
        fields: The names of the places where it does.
        conversation: A conversation that has it.
        expected: The prompt if it were a word like any other.
        prompt: The prompt that there is; up to the failure if the template fails.
        removed: What of the expected prompt is not there, where both part first.
        added: What is there instead.
        error: Why there is no prompt, empty if there is one.
        place: The first place in the template that has the word; None if it has it nowhere as it is.
    """

    literal: str
    where: str
    fields: tuple[str, ...]
    conversation: Conversation
    expected: str
    prompt: str
    removed: str
    added: str
    error: str = ""
    place: Place | None = None


def specials_of(
    found: Sequence[Field], words: Collection[str], render: Render, *, deadline: float
) -> tuple[list[Special], int]:
    """Return the words that texts at some places must not have, and how many were not tried.

    Args:
        found: The places.
        words: The texts in the code of a template, with which it may compare what it is given.
        render: Renders conversations with the template.
        deadline: Until when, by the processor's time, words are tried.
    """
    wanted = {word for word in words if _MEANT.match(word) and len(word) <= _LONGEST}
    bare = {word.strip() for word in wanted}
    as_written = wanted - bare
    tags = {f"{one}\n{other}" for one, other in _tags(bare)}
    tried = [word for group in (bare, as_written, tags) for word in sorted(group, key=_size) if word.strip()]
    search = _Search(found, render)
    specials: list[Special] = []
    for number, word in enumerate(tried):
        if time.process_time() > deadline:
            return specials, len(tried) - number
        special = search.special(word)
        if special and not any(_covers(one, special) for one in specials):
            specials.append(special)
    return specials, 0


def _size(word: str) -> tuple[int, str]:
    return len(word), word


def _covers(known: Special, special: Special) -> bool:
    """Return whether a word is special for no more than having another in it."""
    general = known.where in ("anywhere", special.where)
    return known.literal in special.literal and general and set(special.fields) <= set(known.fields)


def _tags(words: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield opening tags with the tags that close them."""
    for word in words:
        if tag := _TAG.fullmatch(word):
            closing = f"{word[0]}/{tag[1] or tag[2]}{word[-1]}"
            if closing in words:
                yield word, closing


_WHERE = {
    "anywhere": "Qxa {} Zxb",
    "at the start": "{}Zxb",
    "at the end": "Qxa{}",
    "alone": "{}",
}
"""Where in a text a word may be."""


class _Search:
    """Tries words at places."""

    def __init__(self, found: Sequence[Field], render: Render) -> None:
        self._fields = found
        self._render = render
        self._plain: dict[tuple[str, int, str], Outcome] = {}

    def special(self, word: str) -> Special | None:
        """Return what a word changes, at the most general position that changes something."""
        for where, form in _WHERE.items():
            names: list[str] = []
            first: tuple[Conversation, str, Outcome] | None = None
            for field in self._fields:
                changed = self._changed(field, form, word)
                if changed is not None:
                    names.append(field.name)
                    first = first or changed
            if first is not None:
                return _special(word, where, tuple(names), *first)
        return None

    def _changed(self, field: Field, form: str, word: str) -> tuple[Conversation, str, Outcome] | None:
        """Return a conversation that a word changes, what its prompt should be, and what it is."""
        for at, shape in enumerate(field.shapes):
            key = field.name, at, form
            if key not in self._plain:
                self._plain[key] = self._render(shape, form.format(_OTHER))
            plain = self._plain[key]
            if plain.error is not None:
                continue
            outcome = self._render(shape, form.format(word))
            if outcome.error is None and outcome.prompt in _with(plain.prompt, _OTHER, word):
                continue
            # White space and what JSON escapes may be changed in all words: try one that is like it.
            letters = dict(enumerate(_LETTERS.findall(word)))
            if not letters:
                continue
            numbers = iter(letters)
            like = _LETTERS.sub(lambda _, numbers=numbers: _like(next(numbers)), word)  # type: ignore[misc]
            other = self._render(shape, form.format(like))
            expected = other.prompt
            for number, text in letters.items():
                expected = expected.replace(_like(number), text)
            if other.error is None and (outcome.error is not None or outcome.prompt != expected):
                return filled(shape, form.format(word)), expected, outcome
        return None


_OTHER = "qxqxq"
"""A word that means nothing."""


def _like(number: int) -> str:
    """Return a word that means nothing, another for each number."""
    return f"jqx{number}qj"


def _with(prompt: str, other: str, word: str) -> Iterator[str]:
    """Yield a prompt with a word for another, as it is and as it is written in JSON."""
    yield prompt.replace(other, word)
    yield prompt.replace(other, json.dumps(word, ensure_ascii=False)[1:-1])


def _special(
    word: str, where: str, names: tuple[str, ...], conversation: Conversation, expected: str, outcome: Outcome
) -> Special:
    found = places(expected, outcome.prompt)
    removed = added = ""
    if found:
        removed = expected[found[0].start_a : found[0].end_a]
        added = outcome.prompt[found[0].start_b : found[0].end_b]
        same = common_prefix(removed, added)
        removed, added = removed[same:], added[same:]
        same = common_prefix(removed[::-1], added[::-1])
        removed, added = removed[: len(removed) - same], added[: len(added) - same]
    error = outcome.error.message if outcome.error else ""
    return Special(word, where, names, conversation, expected, outcome.prompt, removed, added, error)
