"""Two prompts side by side: where they part, and what is left of that once some of it is accounted for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_TOKEN = re.compile(r"<[^<>\s]{1,40}>|\[[A-Z_/]{1,40}\]|\s+|\w+|[^\w\s]")
_MARKER = re.compile(r"<[^<>\s]{1,60}>|\[(?:[A-Z_/]{2,30}|\|[^\[\]\s]{1,40}\|)\]")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_AFTER_JSON = re.compile(r'(?<=":)\s+|(?<=["}\]\dle],)\s+(?=["{\[\dtfn-])|(?<=[{\[])\s+(?=["{\[}\]])')
_BEFORE_JSON = re.compile(r'(?<=["}\]\dle])\s+(?=[}\]])')
_ESCAPE = re.compile(r"(?:\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4})+")
_FURTHEST_BACK = 48
_MOST_PIECES = 500


@dataclass(frozen=True, slots=True)
class Hunk:
    """A place where two prompts part: what each has there.

    Attributes:
        a: The first prompt's text, which may be empty.
        b: The second's.
        left: What both have right before it, as far as that tells where white space is; else empty.
        right: What both have right behind it, likewise.
    """

    a: str
    b: str
    left: str = ""
    right: str = ""

    @property
    def is_space(self) -> bool:
        """Whether nothing but white space differs."""
        return self.a.split() == self.b.split()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a hunk is: the offsets in both prompts."""

    start_a: int
    end_a: int
    start_b: int
    end_b: int


def markers(text: str) -> list[str]:
    """Return what is written in a text as special tokens are."""
    return _MARKER.findall(text)


def common_prefix(a: str, b: str, i: int = 0, j: int = 0) -> int:
    """Return how many characters of both from two offsets on are the same."""
    longest = min(len(a) - i, len(b) - j)
    if a[i : i + longest] == b[j : j + longest]:
        return longest
    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        if a[i + low : i + middle] == b[j + low : j + middle]:
            low = middle
        else:
            high = middle - 1
    return low


def places(a: str, b: str) -> list[Place]:
    """Return where two prompts part: line by line, and within lines that differ token by token."""
    found = []
    for start_a, end_a, start_b, end_b in _blocks(_LINE.findall(a), _LINE.findall(b)):
        one, other = _TOKEN.findall(a[start_a:end_a]), _TOKEN.findall(b[start_b:end_b])
        for at, end, at_b, end_of_b in _blocks(one, other):
            found.append(Place(start_a + at, start_a + end, start_b + at_b, start_b + end_of_b))
    return found


def _blocks(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield where two sequences of pieces of text part, as offsets in the texts."""
    start = _same(one, other)
    end = _same(one[start:][::-1], other[start:][::-1])
    inner_a, inner_b = one[start : len(one) - end], other[start : len(other) - end]
    at_a = at_b = sum(map(len, one[:start]))
    if not inner_a and not inner_b:
        return
    if len(inner_a) + len(inner_b) > _MOST_PIECES:
        yield at_a, at_a + sum(map(len, inner_a)), at_b, at_b + sum(map(len, inner_b))
        return
    for kind, i, k, j, m in SequenceMatcher(None, inner_a, inner_b, autojunk=False).get_opcodes():
        end_a, end_b = at_a + sum(map(len, inner_a[i:k])), at_b + sum(map(len, inner_b[j:m]))
        if kind != "equal":
            yield at_a, end_a, at_b, end_b
        at_a, at_b = end_a, end_b


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for x, y in zip(one, other, strict=False):
        if x != y:
            break
        count += 1
    return count


def hunk_at(a: str, b: str, place: Place, contents: frozenset[str]) -> Hunk:
    """Return the hunk at a place.

    Args:
        a: The first prompt.
        b: The second.
        place: Where they part.
        contents: The words of the conversation, which say nothing about where in the template it is.
    """
    text_a, text_b = a[place.start_a : place.end_a], b[place.start_b : place.end_b]
    if text_a.split() != text_b.split():
        return Hunk(text_a, text_b)
    before = _TOKEN.findall(a[max(0, place.start_a - 60) : place.start_a])
    behind = _TOKEN.match(a, place.end_a)
    left = before[-1] if before else ""
    right = behind[0] if behind else ""
    return Hunk(
        text_a,
        text_b,
        "" if left in contents else left,
        "" if right in contents or right.isspace() else right,
    )


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the words in texts, as prompts are cut into tokens."""
    return frozenset(token for text in texts for token in _TOKEN.findall(text) if token.isalnum())


def size_of(found: Iterable[Place]) -> int:
    """Return how much differs."""
    return sum(place.end_a - place.start_a + place.end_b - place.start_b + 1 for place in found)


def reconcile(a: str, b: str, accepted: Sequence[Hunk]) -> frozenset[Hunk] | None:
    """Return which accepted hunks are all the difference of two prompts; None if there is more to it."""
    used: set[Hunk] = set()
    i = j = 0
    while True:
        same = common_prefix(a, b, i, j)
        i, j = i + same, j + same
        if i == len(a) and j == len(b):
            return frozenset(used)
        step = _step(a, b, i, j, min(same, _FURTHEST_BACK), accepted)
        if step is None:
            return None
        hunk, i, j = step
        used.add(hunk)


def _step(
    a: str, b: str, i: int, j: int, furthest: int, accepted: Sequence[Hunk]
) -> tuple[Hunk, int, int] | None:
    """Return the accepted hunk where two prompts part that leads on furthest, and where it ends."""
    best: tuple[int, Hunk, int, int] | None = None
    for hunk in accepted:
        for back in range(furthest + 1):
            at, other = i - back, j - back
            if not (a.startswith(hunk.a, at) and b.startswith(hunk.b, other)):
                continue
            end_a, end_b = at + len(hunk.a), other + len(hunk.b)
            if end_a <= i and end_b <= j:
                continue
            if not (a.endswith(hunk.left, 0, at) and a.startswith(hunk.right, end_a)):
                continue
            if hunk.right and not b.startswith(hunk.right, end_b):
                continue
            follows = common_prefix(a, b, end_a, end_b)
            if (end_a + follows > i or end_b + follows > j) and (best is None or (end_a + follows) > best[0]):
                best = (end_a + follows, hunk, end_a, end_b)
    return None if best is None else best[1:]


def without_json_spacing(prompt: str) -> str:
    """Return a prompt with no white space between the parts of JSON."""
    return _BEFORE_JSON.sub("", _AFTER_JSON.sub("", prompt))


def without_escapes(prompt: str) -> str:
    """Return a prompt with the characters that JSON's numeric escapes stand for."""
    return _ESCAPE.sub(lambda found: _unescaped(found[0]), prompt).replace("\\/", "/")


def _unescaped(escapes: str) -> str:
    units = [int(unit, 16) for unit in escapes.split("\\u")[1:]]
    return b"".join(unit.to_bytes(2, "big") for unit in units).decode("utf-16-be", "replace")
