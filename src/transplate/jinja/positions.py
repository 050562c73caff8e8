r"""Finds the place in a chat template that an error of Jinja is about, to the column.

Jinja knows lines only. Its tokens and syntax tree carry a number for the line and do nothing with it but
pass it on, so here that number is a *place*: one more than the offset of a character in the source with its
line ends made ``\n``. An error when reading a template then has its place at once; one when rendering it is
found through the piece of generated code that failed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import islice
from types import TracebackType
from typing import NamedTuple

import jinja2

TEMPLATE_FILE = "<chat template>"
"""The file name of generated code, which marks its frames in a traceback."""

_LINE_END = re.compile(r"\r\n|\r|\n")


def located_tokens(source: str, tokens: Iterator[tuple[int, str, str]]) -> Iterator[tuple[int, str, str]]:
    """Yield the tokens of Jinja's lexer with places instead of lines.

    Args:
        source: The template.
        tokens: What the lexer makes of it: line, kind and text of each token. The texts follow one another in
            the source, with nothing between them but white space that was trimmed.

    Yields:
        Place, kind and text of each token.

    Raises:
        jinja2.TemplateSyntaxError: The lexer's own, its line replaced by the place.
    """
    text = _LINE_END.sub("\n", source)
    offset = 0
    while True:
        try:
            _, kind, value = next(tokens)
        except StopIteration:
            return
        except jinja2.TemplateSyntaxError as error:
            error.lineno = min(_after_space(text, offset), max(len(text) - 1, 0)) + 1
            raise
        offset = text.find(value, offset)
        yield offset + 1, kind, value
        offset += len(value)


def _after_space(text: str, offset: int) -> int:
    while offset < len(text) and text[offset].isspace():
        offset += 1
    return offset


def line_of(source: str, place: int) -> int:
    """Return the line of a place, from 1."""
    return len(_LINE_END.findall(source, 0, offset_of(source, place))) + 1


def offset_of(source: str, place: int) -> int:
    """Return the offset in the source itself that a place stands for."""
    return Places(source).offset(place)


class Places:
    """The places of one source, to be turned into offsets in the source itself."""

    def __init__(self, source: str) -> None:
        self._length = len(source)
        # Where the line ends of two characters are among places, each of which makes all behind it one more.
        self._ends = [found.start() - number for number, found in enumerate(re.finditer("\r\n", source))]

    def offset(self, place: int) -> int:
        """Return the offset that a place stands for."""
        offset = place - 1
        return max(0, min(offset + bisect_left(self._ends, offset), self._length))


class LocatedCode(NamedTuple):
    """Generated code, and for each piece of it the range it takes and the place it came from."""

    code: str
    pieces: list[tuple[int, int, int]]


def failing_place(
    traceback: TracebackType | None,
    generate: Callable[[], LocatedCode],
    known: dict[tuple[int, int], int | None],
) -> int | None:
    """Return the place of the expression or statement at which generated code failed.

    Args:
        traceback: Where the error was raised.
        generate: Makes the generated code again; called only if it was running.
        known: The places of failures of this template so far, by the code object and the instruction in it;
            gets this one.

    Returns:
        The place, or None if no generated code was running, or the template is nested so deeply that its code
        can be run but not made again with its places, which takes more of Python's stack.
    """
    innermost = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == TEMPLATE_FILE:
            innermost = traceback
        traceback = traceback.tb_next
    if innermost is None:
        return None
    code, instruction = innermost.tb_frame.f_code, innermost.tb_lasti
    where = (id(code), instruction)
    if where not in known:
        line, _, column, end_column = next(islice(code.co_positions(), instruction // 2, None))
        if line is None:
            return None
        try:
            known[where] = _place_of((line, column, end_column), generate())
        except RecursionError:
            return None
    return known[where]


def _place_of(where: tuple[int, int | None, int | None], located: LocatedCode) -> int | None:
    """Return the place that a line and columns of generated code came from."""
    line, column, end_column = where
    code, pieces = located
    start = _line_start(code, line)
    text = code[start : code.find("\n", start)].encode("utf-8", "surrogatepass")
    at = start + len(text[: column or 0].decode("utf-8", "surrogatepass"))
    end = start + len(text[: end_column or 0].decode("utf-8", "surrogatepass"))
    around = [piece for piece in pieces if piece[0] <= at and end <= piece[1] and at < piece[1]]
    return min(around, key=lambda piece: piece[1] - piece[0])[2] if around else None


def _line_start(code: str, line: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = code.index("\n", start) + 1
    return start
