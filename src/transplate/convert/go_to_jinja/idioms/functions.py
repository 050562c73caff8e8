"""The functions that idioms are calls of, in Jinja."""

from __future__ import annotations

from collections.abc import Callable

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja import printing
from transplate.convert.go_to_jinja.context import Context
from transplate.convert.go_to_jinja.idioms.lists import NO_TEXTS, WITH_TEXT
from transplate.convert.go_to_jinja.idioms.searches import FROM_ANY, HAS_ANY, TEXT_IF
from transplate.convert.go_to_jinja.idioms.splits import SPLIT
from transplate.convert.go_to_jinja.shapes import LISTS, Shape, Value
from transplate.convert.go_to_jinja.text import CHARACTERS, FROM_FIRST
from transplate.convert.go_to_jinja.typetests import has_type
from transplate.convert.jinja_to_go.strings import ASCII_SPACES, SPACES
from transplate.jinja import nodes as j
from transplate.source import Span


def call_idiom(c: Context, name: str, arguments: list[Value], span: Span) -> Value:
    """Return the value of a call of one of :data:`IDIOMS`.

    Raises:
        UnsupportedTemplate: It has no exact counterpart in Jinja.
    """
    if name in _JSON:
        value, *layout = arguments
        text = printing.marshalled(c, value, span, _JSON[name])
        return Value(Shape.TEXT, _on_lines(text, *(one.expression for one in layout)) if layout else text)
    if name in _REPR:
        return _repr(c, span, arguments[0], _REPR[name])
    if name in _NUMBERS:
        return _NUMBERS[name](c, span, arguments[0])
    if name == NO_TEXTS:
        return Value(Shape.TEXTS, j.ListLiteral(()))
    if name == WITH_TEXT:
        return _with_text(c, span, *arguments)
    if name == TEXT_IF:
        return _text_if(c, span, *arguments)
    if any(argument.shape is not Shape.TEXT for argument in arguments):
        raise c.refusal(span, "a method of texts on what may be something else cannot be said in Jinja")
    subject, *rest = map(printing.as_text, arguments)
    if name in _CUTS:
        return Value(Shape.TEXT, _cut(c, name, subject, rest))
    return _METHODS[name](c, span, subject, *rest)


def _with_text(c: Context, span: Span, texts: Value, text: Value) -> Value:
    """Return a list of texts with one more."""
    if texts.shape is not Shape.TEXTS or text.shape is not Shape.TEXT:
        raise c.refusal(span, "a list of texts that may be something else cannot be said in Jinja")
    return Value(Shape.TEXTS, j.Binary("+", texts.expression, j.ListLiteral((printing.as_text(text),))))


def _text_if(c: Context, span: Span, test: Value, text: Value) -> Value:
    """Return a text if something holds, else an empty one."""
    if test.shape is not Shape.BOOL or text.shape is not Shape.TEXT:
        raise c.refusal(span, "a method of texts on what may be something else cannot be said in Jinja")
    expression = printing.as_text(text)
    return Value(Shape.TEXT, j.Conditional(test.expression, expression, j.EMPTY))


_JSON = {f"{style}json": style for style in ("spaced_", "python_", "compact_", "python_compact_")}


def _on_lines(text: j.Expression, begin: j.Expression, step: j.Expression) -> j.Expression:
    """Return JSON on lines that begin with some spaces, and with a step more in what is inside."""
    match text, begin, step:
        case j.Filter(value, "tojson", (), ()), j.Literal("\n"), j.Literal(str(spaces)):
            return j.Filter(value, "tojson", keywords=(("indent", j.Literal(len(spaces))),))
        case _:
            return b.call("on_lines", text, begin, step)


_REPR = {"spaced_repr": "spaced_", "python_repr": "python_"}


def _repr(c: Context, span: Span, value: Value, style: str) -> Value:
    """Return a value of the JSON as Python prints it, which escapes all characters that it does not print."""
    if not c.assumptions.use("ascii-texts"):
        raise c.refusal(span, "characters that Python does not print cannot be told in Jinja")
    return Value(Shape.TEXT, b.call("repr", printing.marshalled(c, value, span, style)))


# --- cutting --------------------------------------------------------------------------------------------

_MARKS = {"_ascii_space": "".join(ASCII_SPACES), "_space": "".join(SPACES), "": ""}
_ENDS = {"lstrip": ("cut_start",), "rstrip": ("cut_end",), "strip": ("cut_start", "cut_end")}
_CUTS = {method + kind: (method, marks) for method in _ENDS for kind, marks in _MARKS.items()}


def _cut(c: Context, name: str, subject: j.Expression, constants: list[j.Expression]) -> j.Expression:
    """Return a text without some characters at one end or both.

    Engines differ in what is white space for their own methods, and whether these take other characters.
    """
    method, marks = _CUTS[name]
    if marks and c.assumptions.use("plain-space"):
        match subject:
            case j.Call(j.Attribute(inner, "lstrip"), ()) if method == "rstrip":
                return j.Call(j.Attribute(inner, "strip"))
            case _:
                return j.Call(j.Attribute(subject, method))
    if constants:
        (given,) = constants
        marks = str(given.value) if isinstance(given, j.Literal) else ""
    characters = j.ListLiteral(tuple(map(j.Literal, marks)))
    for macro in _ENDS[method]:
        subject = b.call(macro, subject, characters)
    return subject


def _parity(c: Context, span: Span, number: Value) -> Value:
    """Return what is left of a number divided by two."""
    if number.shape is not Shape.INT or not c.is_natural(printing.as_integer(number)):
        raise c.refusal(span, "the last binary digit of what may be negative cannot be said in Jinja")
    left = j.Binary("%", printing.as_integer(number), j.Literal(2))
    c.naturals.add(left)
    return Value(Shape.INT, left)


def _python_number(c: Context, span: Span, number: Value) -> Value:
    """Return a number of the JSON as Python writes it; Go fails where it is something else."""
    if number.only_shape in _NO_NUMBERS:
        c.check(j.TRUE, "incompatible types for comparison")
        return Value(Shape.TEXT, j.EMPTY)
    if number.shape is not Shape.ANY:
        raise c.refusal(span, "a number as Python prints it, of what may be something else")
    is_number = has_type(c, number, Shape.FLOAT.value, span)
    c.check(b.not_(is_number), "incompatible types for comparison")
    return Value(Shape.TEXT, b.call("python_json", number.expression))


_NO_NUMBERS = LISTS | {Shape.TEXT, Shape.BOOL, Shape.INT}
"""Shapes that Go compares with no fraction."""

_NUMBERS = {"parity": _parity, "python_number": _python_number}

# --- searching ------------------------------------------------------------------------------------------


def _contains(_c: Context, _span: Span, subject: j.Expression, part: j.Expression) -> Value:
    return Value(Shape.BOOL, j.Binary("in", part, subject))


def _has_any(_c: Context, _span: Span, subject: j.Expression, *parts: j.Expression) -> Value:
    return Value(Shape.BOOL, b.or_(*(j.Binary("in", part, subject) for part in parts)))


def _from_any(c: Context, span: Span, *_: j.Expression) -> Value:
    """Refuse a text that is read as it is, where not only searches for its constants are in it."""
    raise c.refusal(span, "a text from any of some parts on cannot be said in Jinja")


def _split(subject: j.Expression, part: j.Expression) -> j.Call:
    return j.Call(j.Attribute(subject, "split"), (part,))


def _parts(_c: Context, _span: Span, subject: j.Expression, part: j.Expression) -> Value:
    return Value(Shape.TEXTS, _split(subject, part))


def _before_first(_c: Context, _span: Span, subject: j.Expression, part: j.Expression) -> Value:
    return Value(Shape.TEXT, j.Item(_split(subject, part), j.Literal(0)))


def _after_last(_c: Context, _span: Span, subject: j.Expression, part: j.Expression) -> Value:
    return Value(Shape.TEXT, j.Item(_split(subject, part), j.Literal(-1)))


def _from_first(c: Context, span: Span, subject: j.Expression, part: j.Expression) -> Value:
    """Return the text from a part on: what engines have no name for, and what is seldom read as it is."""
    rest = j.Filter(subject, FROM_FIRST, (part,))
    c.refuse_later(rest, span, "a text from some part on cannot be said in Jinja")
    return Value(Shape.TEXT, rest)


def _replaced(_c: Context, _span: Span, subject: j.Expression, old: j.Expression, new: j.Expression) -> Value:
    return Value(Shape.TEXT, j.Filter(subject, "replace", (old, new)))


def _characters(c: Context, span: Span, subject: j.Expression) -> Value:
    """Return a text of as many bytes as another has characters; engines count these in their own ways."""
    if not c.assumptions.use("ascii-texts"):
        raise c.refusal(span, "the number of characters of a text cannot be counted in Jinja")
    counted = j.Filter(subject, CHARACTERS)
    c.refuse_later(counted, span, "the number of characters of a text cannot be counted in Jinja")
    return Value(Shape.TEXT, counted, size=b.length(subject))


def _lower(c: Context, span: Span, subject: j.Expression) -> Value:
    return _cased(c, span, subject, "lower")


def _upper(c: Context, span: Span, subject: j.Expression) -> Value:
    return _cased(c, span, subject, "upper")


def _cased(c: Context, span: Span, subject: j.Expression, method: str) -> Value:
    """Return a text in small or capital letters; what is meant is ASCII's, and engines know others too."""
    if not c.assumptions.use("ascii-texts"):
        raise c.refusal(span, "small and capital letters of ASCII alone cannot be said in Jinja")
    return Value(Shape.TEXT, j.Call(j.Attribute(subject, method)))


_METHODS: dict[str, Callable[..., Value]] = {
    "contains": _contains,
    HAS_ANY: _has_any,
    SPLIT: _parts,
    FROM_ANY: _from_any,
    "before_first": _before_first,
    "after_last": _after_last,
    "from_first": _from_first,
    "replaced": _replaced,
    "characters": _characters,
    "lower": _lower,
    "upper": _upper,
}
IDIOMS = (
    _REPR.keys()
    | _NUMBERS.keys()
    | _JSON.keys()
    | _CUTS.keys()
    | _METHODS.keys()
    | {TEXT_IF, NO_TEXTS, WITH_TEXT}
)
"""Their names."""
