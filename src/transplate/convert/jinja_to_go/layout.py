"""Puts a tree on lines: a statement a line, an encoding of several on one, behind a comment that names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from transplate.gotmpl.nodes import (
    Action,
    Body,
    Break,
    Clause,
    Comment,
    Continue,
    Define,
    Else,
    If,
    Item,
    Operand,
    Range,
    TemplateCall,
    Text,
)

_BREAK = Text("\n", "")
_TRIMMED = Clause(trim_left=True)


@dataclass(frozen=True, eq=False)
class Encoding:
    """Statements that compute one thing.

    Attributes:
        number: Which of them it is.
        said: What they compute.
        text: The statements, if they take one thing and compute one.
        source: What they take.
        result: The variable that holds the result.
    """

    number: int
    said: str
    text: str = ""
    source: Operand | None = None
    result: str = ""


def on_lines(items: Body) -> Body:
    """Begin a line with each of some items that print nothing."""
    made: list[Item] = []
    for item in items:
        clause = _TRIMMED if made else Clause()
        if made:
            made.append(_BREAK)
        if isinstance(item, Comment):
            made.append(Comment(item.text, clause))
        elif isinstance(item, Define):
            made.append(Define(item.name, item.body, clause))
        elif isinstance(item, If):
            made.append(If(item.pipeline, item.body, item.orelse, clause))
        else:
            made.append(item)
    return tuple(made)


def laid_out(body: Body, encodings: Mapping[str, Encoding], *, is_start: bool = True) -> Body:
    """Begin a line at each statement, where the white space in front of it can be trimmed again.

    Args:
        body: The tree.
        encodings: The variables of encodings.
        is_start: Whether nothing is printed before.
    """
    made: list[Item] = []
    current: int | None = None
    for item in body:
        before = made[-1] if made else None
        can_break = not is_start if before is None else _can_break(before)
        encoding = encoding_of(item, encodings)
        if encoding is not None:
            if encoding.number != current:
                if can_break:
                    made.append(_BREAK)
                if encoding.said:
                    made.append(Comment(f"/* {encoding.said} */", _TRIMMED if can_break else Clause()))
                elif can_break:
                    item = _trimmed(item)
            current = encoding.number
            made.append(item)
            continue
        current = None
        if isinstance(item, Comment) and can_break:
            made += [_BREAK, Comment(item.text, _TRIMMED)]
        elif isinstance(item, If | Range):
            laid = _laid_branch(item, can_break, encodings)
            if can_break:
                made.append(_BREAK)
            made.append(laid)
        elif isinstance(item, Action) and item.pipeline.declarations and can_break:
            made += [_BREAK, Action(item.pipeline, _TRIMMED)]
        else:
            made.append(item)
    return tuple(made)


def encoding_of(item: Item, encodings: Mapping[str, Encoding]) -> Encoding | None:
    """Return the encoding that a statement is part of, None if it is of none."""
    found = _encodings_of(item, encodings)
    return found.pop() if found is not None and len(found) == 1 else None


def _encodings_of(item: Item, encodings: Mapping[str, Encoding]) -> set[Encoding] | None:
    """Return the encodings of the variables that a statement sets, None if it does something else too."""
    if isinstance(item, Action) and item.pipeline.declarations:
        found = encodings.get(item.pipeline.declarations[0].name)
        return None if found is None else {found}
    if isinstance(item, Break | Continue | TemplateCall):
        return set()
    if not isinstance(item, If | Range):
        return None
    together: set[Encoding] = set()
    for one in _inside(item):
        inner = _encodings_of(one, encodings)
        if inner is None:
            return None
        together |= inner
    return together


def _inside(item: If | Range) -> Body:
    if item.orelse is None:
        return item.body
    if isinstance(item.orelse, If):
        return (*item.body, *_inside(item.orelse))
    return (*item.body, *item.orelse.body)


def _trimmed(item: Item) -> Item:
    if isinstance(item, Action):
        return Action(item.pipeline, _TRIMMED)
    if isinstance(item, If):
        return If(item.pipeline, item.body, item.orelse, _TRIMMED, item.end)
    if isinstance(item, Range):
        return Range(item.pipeline, item.body, item.orelse, _TRIMMED, item.end)
    return item


def _can_break(item: Item) -> bool:
    return not isinstance(item, Text) or not item.value[-1:].isspace()


def _laid_body(body: Body, encodings: Mapping[str, Encoding]) -> tuple[Body, bool]:
    """Return a body in lines, and whether what closes it can stand on a line of its own."""
    laid = laid_out(body, encodings, is_start=False)
    if laid and not _can_break(laid[-1]):
        return laid, False
    return (*laid, _BREAK) if laid else laid, bool(laid)


def _laid_branch(item: If | Range, can_break: bool, encodings: Mapping[str, Encoding]) -> If | Range:
    clause = _TRIMMED if can_break and item.clause == Clause() else Clause()
    body, trimmed = _laid_body(item.body, encodings)
    if isinstance(item, Range):
        return Range(item.pipeline, body, None, clause, _TRIMMED if trimmed else Clause())
    orelse: Else | If | None = None
    ends = trimmed
    if isinstance(item.orelse, If):
        chained = _laid_branch(item.orelse, trimmed, encodings)
        assert isinstance(chained, If)  # noqa: S101
        orelse = chained
        ends = _last_trimmed(chained)
    elif item.orelse is not None:
        inner, ends = _laid_body(item.orelse.body, encodings)
        orelse = Else(inner, _TRIMMED if trimmed else Clause())
    end = None if item.end is None else (_TRIMMED if ends else Clause())
    return If(item.pipeline, body, orelse, clause, end)


def _last_trimmed(item: If) -> bool:
    """Tell whether the last body of a chain of ifs ends in a line break to be trimmed."""
    while isinstance(item.orelse, If):
        item = item.orelse
    body = item.body if item.orelse is None else item.orelse.body
    return bool(body) and body[-1] == _BREAK
