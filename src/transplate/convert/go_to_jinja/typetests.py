"""The names of Go's types, compared with constants: tests of what a value is."""

from __future__ import annotations

from dataclasses import replace

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja.context import Context
from transplate.convert.go_to_jinja.shapes import ELEMENTS, Shape, Value, one_or_all
from transplate.convert.go_to_jinja.text import concat
from transplate.jinja import nodes as j
from transplate.source import Span

_NEVER_NONE = frozenset(
    {
        Shape.TEXT,
        Shape.INT,
        Shape.FLOAT,
        Shape.BOOL,
        Shape.MESSAGES,
        Shape.MESSAGE,
        Shape.CALLS,
        Shape.CALL,
        Shape.TOOL,
    }
)
"""Shapes of which a variable that may be unset has a value that is not none in Jinja."""

_NIL = "<nil>"


def is_unset(c: Context, value: Value, span: Span) -> j.Expression:
    """Return the test whether a variable still holds the ``0i`` or the nil that it began with.

    Raises:
        UnsupportedTemplate: What else it may hold may be none in Jinja as well.
    """
    others = value.shapes - {Shape.COMPLEX, Shape.NIL}
    if not others <= _NEVER_NONE or value.optional or {Shape.COMPLEX, Shape.NIL} <= value.shapes:
        raise c.refusal(span, "a variable that may be unset cannot be told from one that holds nothing")
    return j.Test(value.expression, "none")


def as_list(c: Context, value: Value, span: Span) -> Value:
    """Return a variable that holds one sort of list, or what fails in Go where it is one, as the list."""
    if value.shape is Shape.ANY and value.expression in c.lists:
        return Value(Shape.ANY_LIST, value.expression)
    lists = [shape for shape in value.shapes if shape in ELEMENTS and shape is not Shape.PROPERTY_TYPE]
    others = value.shapes - set(lists)
    if len(lists) != 1 or not others or value.optional:
        return value
    if others == {Shape.TEXT}:
        c.check(j.Test(value.expression, "string"), "a text where a list is needed")
    elif others == {Shape.COMPLEX}:
        c.check(is_unset(c, value, span), "(0+0i) where a list is needed")
    else:
        return value
    return Value(lists[0], value.expression)


def as_set(c: Context, value: Value, span: Span) -> Value:
    """Return a variable that may be unset, which Go would fail at, as what it holds else."""
    if value.only_shape is not None or Shape.COMPLEX not in value.shapes:
        return value
    c.check(is_unset(c, value, span), "(0+0i) where something else is needed")
    return replace(value, shape=one_or_all(value.shapes - {Shape.COMPLEX}))


def has_type(c: Context, value: Value, name: str, span: Span) -> j.Expression:
    """Return the test whether ``printf "%T"`` of a value is a name.

    Raises:
        UnsupportedTemplate: Jinja cannot tell.
    """
    if value.shape is Shape.ANY:
        return _json_type(value.expression, name)
    named = {shape for shape in value.shapes if _name_of(shape) == name}
    if Shape.ANY in value.shapes:
        raise c.refusal(span, "the type of this variable cannot be told in Jinja")
    if not named:
        return j.FALSE
    if named == value.shapes:
        return j.TRUE
    unset = value.shapes & {Shape.COMPLEX, Shape.NIL}
    if named == unset:
        return is_unset(c, value, span)
    if named == value.shapes - unset:
        return b.not_(is_unset(c, value, span))
    if value.shapes - unset - named == {Shape.TEXT}:
        return b.and_(j.Test(value.expression, "string", negated=True), b.not_(is_unset(c, value, span)))
    test = {"string": "string", "bool": "boolean", "int": "integer"}.get(name)
    if test is None or Shape.PROPERTY_TYPE in value.shapes or value.optional:
        raise c.refusal(span, "the type of this variable cannot be told in Jinja")
    if test == "integer" and not value.shapes.isdisjoint({Shape.BOOL, Shape.FLOAT}):
        raise c.refusal(span, "the type of this variable cannot be told in Jinja")
    return j.Test(value.expression, test)


def behind_type(text: j.Expression) -> j.Expression | None:
    """Return what stands behind ``string|``, None where something else is in front of it."""
    start = f"{Shape.TEXT.value}|"
    match text:
        case j.Literal(str(whole)) if whole.startswith(start):
            return j.Literal(whole.removeprefix(start))
        case j.Concat((j.Literal(str(first)), *rest)) if first.startswith(start):
            return concat((j.Literal(first.removeprefix(start)), *rest))
        case _:
            return None


def _name_of(shape: Shape) -> str:
    return _NIL if shape is Shape.NIL else shape.value


def _json_type(subject: j.Expression, name: str) -> j.Expression:
    """Return the test for a value of the JSON; Python takes booleans for numbers."""
    number = b.and_(j.Test(subject, "number"), j.Test(subject, "boolean", negated=True))
    tests = {
        "string": j.Test(subject, "string"),
        "bool": j.Test(subject, "boolean"),
        "float64": number,
        "map[string]interface {}": j.Test(subject, "mapping"),
        _NIL: b.is_nil(subject),
    }
    if name == "[]interface {}":
        scalars = (j.Test(subject, test) for test in ("string", "boolean", "number", "mapping"))
        return b.not_(b.or_(*scalars, b.is_nil(subject)))
    return tests.get(name, j.FALSE)
