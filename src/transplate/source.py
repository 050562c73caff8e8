"""A named text with positions: offsets in, lines, columns and excerpts with a caret out."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

_EXCERPT_WIDTH = 100
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


class Span(NamedTuple):
    """Half-open range of character offsets in a :class:`Source`."""

    start: int
    end: int


class Position(NamedTuple):
    """A place for people: both numbers count characters from 1."""

    line: int
    column: int


def check_text(value: object, taker: str) -> None:
    """Refuse what is no text.

    Raises:
        TypeError: It is none; the error says how the text of a file is read.
    """
    if not isinstance(value, str):
        hint = "; read_text() of a path gives it" if hasattr(value, "read_text") else ""
        raise TypeError(
            f"{taker} takes the text of a template, not a value of type {type(value).__name__}{hint}"
        )


@dataclass(frozen=True, eq=False)
class Source:
    """The text of one template, Modelfile or request, and the name it is shown under."""

    text: str
    name: str = field(default="")

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        find = self.text.find
        at = find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = find("\n", at + 1)
        return starts

    def position(self, offset: int) -> Position:
        """Return the line and column of a character offset."""
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def line_at(self, offset: int) -> str:
        """Return the line that holds a character offset, without its line ending."""
        start = self._line_starts[bisect_right(self._line_starts, offset) - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end].rstrip("\r")

    def excerpt(self, offset: int) -> str:
        """Return the source line with its number and a caret under the offset.

        Long lines are cut around the offset, and what a terminal would act on is shown as a picture.
        """
        line, column = self.position(offset)
        text = self.line_at(offset)
        at = column - 1
        start = max(0, min(at - _EXCERPT_WIDTH // 2, len(text) - _EXCERPT_WIDTH))
        shown = "".join(_visible(character) for character in text[start : start + _EXCERPT_WIDTH])
        before = "…" if start else ""
        after = "…" if start + _EXCERPT_WIDTH < len(text) else ""
        name = "".join(map(_visible, self.name))
        gutter = f"{name + ':' if name else ''}{line}:{column} | "
        return f"{gutter}{before}{shown}{after}\n{' ' * (len(gutter) + len(before) + at - start)}^"


def _visible(character: str) -> str:
    """Return a character that cannot be seen, or that acts on those around it, as one that can be."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return "\ufffd" if unicodedata.category(character) in _UNSEEN else character
