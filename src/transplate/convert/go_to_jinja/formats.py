"""Lowers ``printf``: its verbs, widths and precisions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja import printing
from transplate.convert.go_to_jinja.context import Context
from transplate.convert.go_to_jinja.shapes import Shape, Value
from transplate.convert.go_to_jinja.text import CUT, SPACES, TYPE_NAME, concat
from transplate.jinja import nodes as j
from transplate.source import Span


@dataclass(frozen=True)
class Argument:
    """An argument of a call, lowered only when it is asked for.

    Attributes:
        span: Where it stands.
        lower: Returns its value.
    """

    span: Span
    lower: Callable[[], Value]


def operand_text(c: Context, value: Value, span: Span) -> j.Expression:
    """Return what Go's ``Sprint`` prints of an operand, which for nil is not what an action prints."""
    if value.shape is Shape.NIL:
        return j.Literal("<nil>")
    if value.may_be_nil:
        return j.Conditional(b.is_nil(value.expression), j.Literal("<nil>"), printing.printed(c, value, span))
    return printing.printed(c, value, span)


_VERB = re.compile(
    r"%(?P<flags>[-+# 0]*)(?P<width>\*|\d*)(?P<precision>\.(?:\*|\d*))?(?P<verb>.)?", re.DOTALL
)


def printf(c: Context, arguments: list[Argument], span: Span) -> Value:
    """Go's ``Sprintf`` with a constant format and the verbs that need no counting of characters."""
    layout = arguments[0].lower()
    if not (layout.shape is Shape.TEXT and isinstance(layout.expression, j.Literal)):
        raise c.refusal(span, "printf with a format that is not constant cannot be said in Jinja")
    text = str(layout.expression.value)
    rest = arguments[1:]
    if (text, len(rest)) in (("%T", 1), ("%T|%v", 2)):
        value, *same = (argument.lower() for argument in rest)
        name = j.Filter(value.expression, TYPE_NAME)
        c.refuse_later(name, span, "the name of a type cannot be printed in Jinja")
        if same in ([], [value]):
            return Value(Shape.TEXT, name, type_of=value, is_whole=bool(same))
    pieces: list[j.Expression] = []
    size: j.Expression | None = j.Literal(0)
    at = 0
    for match in _VERB.finditer(text):
        plain = text[at : match.start()]
        pieces.append(j.Literal(plain))
        size = _sum(size, j.Literal(len(plain.encode())))
        at = match.end()
        if match["verb"] == "%" and not match["flags"] and not match["width"] and not match["precision"]:
            pieces.append(j.Literal("%"))
            size = _sum(size, j.Literal(1))
            continue
        piece, length, rest = _verb(c, match, rest, span)
        pieces.append(piece)
        size = _sum(size, length)
    pieces.append(j.Literal(text[at:]))
    size = _sum(size, j.Literal(len(text[at:].encode())))
    if rest:
        raise c.refusal(span, "printf with more arguments than its format takes cannot be said in Jinja")
    return Value(Shape.TEXT, concat(tuple(pieces)), size=size)


def _sum(left: j.Expression | None, right: j.Expression | None) -> j.Expression | None:
    if left is None or right is None:
        return None
    match left, right:
        case j.Literal(int(a)), j.Literal(int(d)):
            return j.Literal(a + d)
        case j.Literal(int()), _:
            return _sum(right, left)
        case j.Binary("+", inner, j.Literal(int(a))), j.Literal(int(d)):
            return j.Binary("+", inner, j.Literal(a + d))
        case _, j.Literal(0):
            return left
        case _:
            return j.Binary("+", left, right)


def _magnitude(c: Context, width: j.Expression) -> j.Expression:
    """Return how many characters a field width takes; a negative one is filled on the other side."""
    if isinstance(width, j.Literal) and isinstance(width.value, int):
        return j.Literal(abs(width.value))
    if c.is_natural(width):
        return width
    is_negative = j.Binary("<", width, j.Literal(0))
    return j.Conditional(is_negative, j.Binary("-", j.Literal(0), width), width)


def _first_characters(
    c: Context, match: re.Match[str], rest: list[Argument], span: Span
) -> tuple[j.Expression, j.Expression | None, list[Argument]]:
    """Return the first characters of a text, as many as a precision says."""
    count: Value | None = None
    if match["precision"] == ".*" and rest:
        count = rest[0].lower()
        rest = rest[1:]
    elif match["precision"][1:].isdigit():
        count = Value(Shape.INT, j.Literal(int(match["precision"][1:])))
    value = rest[0].lower() if rest else None
    if value is None or value.shape is not Shape.TEXT or count is None or count.shape is not Shape.INT:
        raise c.refusal(span, f"the verb {match.group()} of printf cannot be said in Jinja")
    number = printing.as_integer(count)
    if not c.is_natural(number):
        raise c.refusal(span, "a precision of printf that may be negative cannot be said in Jinja")
    cut = j.Filter(printing.as_text(value), CUT, (number,))
    c.refuse_later(cut, span, "a text cannot be cut to some characters in Jinja")
    return cut, None, rest[1:]


_VERBS: dict[Shape | None, str] = {Shape.TEXT: "sv", Shape.INT: "dv", Shape.BOOL: "tv"}


def _verb(
    c: Context, match: re.Match[str], rest: list[Argument], span: Span
) -> tuple[j.Expression, j.Expression | None, list[Argument]]:
    """Return what one verb prints, its length if that is known, and the arguments that are left."""
    verb = match["verb"] or ""
    width: Value | None = None
    if match["width"] == "*" and rest:
        width = rest[0].lower()
        rest = rest[1:]
    if match["precision"] and verb == "s" and not match["flags"] and not match["width"]:
        return _first_characters(c, match, rest, span)
    if not rest or match["flags"] or match["precision"] is not None or verb not in tuple("svdt"):
        raise c.refusal(span, f"the verb {match.group()} of printf cannot be said in Jinja")
    value = rest[0].lower()
    rest = rest[1:]
    if width is not None:
        if value.expression != j.EMPTY or width.shape is not Shape.INT or verb == "d":
            raise c.refusal(span, "a field width of printf cannot be said in Jinja")
        places = printing.as_integer(width)
        padding = j.Filter(places, SPACES)
        c.refuse_later(padding, span, "a field width of printf cannot be said in Jinja")
        return padding, _magnitude(c, places), rest
    if match["width"]:
        raise c.refusal(span, "a field width of printf cannot be said in Jinja")
    if verb not in _VERBS.get(value.only_shape, "v"):
        raise c.refusal(span, f"the verb {match.group()} of printf on a value of type {value.type_names}")
    return operand_text(c, value, span), value.size, rest
