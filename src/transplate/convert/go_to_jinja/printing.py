"""How Go prints and marshals a value, by its shape: as pieces of output, most of them calls of a macro."""

from __future__ import annotations

from dataclasses import replace

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja.context import Context
from transplate.convert.go_to_jinja.macros import text_macro
from transplate.convert.go_to_jinja.shapes import STRUCTS, Shape, Value, one_or_all
from transplate.convert.go_to_jinja.text import PROPERTY_TEXT
from transplate.convert.go_to_jinja.typetests import is_unset
from transplate.gotmpl.fmt import print_value
from transplate.jinja import nodes as j
from transplate.source import Span


def printed(c: Context, value: Value, span: Span) -> j.Expression:
    """Return the text that ``{{ value }}`` prints."""
    if isinstance(value.shape, frozenset):
        return _printed_union(c, value, span)
    expression = as_argument(value)
    match value.shape:
        case Shape.NIL:
            return j.Literal("<no value>")
        case Shape.TEXT:
            return as_text(value)
        case Shape.INT:
            return as_digits(value)
        case Shape.BOOL:
            return j.Conditional(expression, j.Literal("true"), j.Literal("false"))
        case Shape.COMPLEX:
            return j.Literal(_UNSET)
        case Shape.FLOAT if isinstance(expression, j.Literal):
            return j.Literal(print_value(expression.value))
        case Shape.PROPERTY_TYPE if c.assumptions.use("plain-schemas"):
            return expression
        case Shape.TOOL | Shape.FUNCTION | Shape.PARAMETERS if c.assumptions.use("hf-json"):
            return j.Filter(expression, "tojson")
        case Shape.TOOL if not c.tool_prints_json:
            return b.call("tool_text", expression)
        case Shape.TOOL | Shape.TOOLS:
            return marshalled(c, value, span)
        case Shape.ARGUMENTS:
            return _arguments(c, expression)
        case Shape.PROPERTIES if c.assumptions.use("hf-json"):
            return j.Filter(expression, "tojson")
        case Shape.PROPERTIES:
            if value.optional:
                return b.call("properties_text", expression)
            return b.call("properties_json", expression)
        case Shape.PROPERTY:
            text = j.Filter(expression, PROPERTY_TEXT)
            c.refuse_later(text, span, f"printing a value of type {value.type_names} cannot be said in Jinja")
            return text
        case shape if shape in _PRINTERS:
            return b.call(_PRINTERS[shape], expression)
        case shape:
            raise c.refusal(span, f"printing a value of type {shape.value} cannot be said in Jinja")


_PRINTERS = {
    Shape.ANY: "value_text",
    Shape.FLOAT: "value_text",
    Shape.CALLS: "tool_calls_text",
    Shape.CALL: "tool_call_text",
    Shape.CALL_FUNCTION: "tool_call_function_text",
    Shape.FUNCTION: "function_text",
    Shape.PARAMETERS: "parameters_text",
    Shape.PROPERTY_TYPE: "type_text",
    Shape.TEXTS: "texts_text",
    Shape.ANY_LIST: "values_text",
}


def _printed_union(c: Context, value: Value, span: Span) -> j.Expression:
    """Print a variable that has values of several shapes: alike for all, or texts apart from the rest."""
    if Shape.COMPLEX in value.shapes:
        rest = value.shapes - {Shape.COMPLEX}
        text = printed(c, Value(one_or_all(rest), value.expression, value.optional), span)
        return j.Conditional(is_unset(c, value, span), j.Literal(_UNSET), text)
    one_each = {
        shape: printed(c, Value(shape, value.expression, value.optional), span) for shape in value.shapes
    }
    if Shape.INT in one_each and Shape.TEXT in one_each:
        one_each[Shape.INT] = one_each[Shape.TEXT] = j.Filter(value.expression, "string")
    texts = set(one_each.values())
    if len(texts) == 1:
        return texts.pop()
    if Shape.TEXT in one_each and len(one_each) == 2:
        text = one_each.pop(Shape.TEXT)
        return j.Conditional(j.Test(value.expression, "string"), text, one_each.popitem()[1])
    raise c.refusal(span, f"printing a variable that may be {value.type_names} cannot be said in Jinja")


_UNSET = "(0+0i)"
"""How Go prints the complex zero."""


def as_text(value: Value) -> j.Expression:
    """Return the expression of a text, never undefined."""
    return b.or_empty(value.expression, j.EMPTY) if value.optional else value.expression


def as_argument(value: Value) -> j.Expression:
    """Return the expression of a value for a macro, which cannot be given a field of nothing."""
    if value.optional and value.only_shape in STRUCTS:
        return b.or_empty(value.expression, j.DictLiteral(()))
    return value.expression


def as_digits(value: Value) -> j.Expression:
    """Return an integer as text."""
    if isinstance(value.expression, j.Literal):
        return j.Literal(str(value.expression.value))
    return j.Filter(as_integer(value), "string")


_EXACT = 2.0**53
"""Below this every whole float is an integer that Jinja prints with the same digits."""


def as_whole(expression: j.Expression) -> j.Expression:
    """Return a number to keep: a whole one as an integer, since Go prints it without a fraction."""
    number = expression.value if isinstance(expression, j.Literal) else None
    if isinstance(number, float) and number.is_integer() and abs(number) < _EXACT:
        return j.Literal(int(number))
    return expression


def as_integer(value: Value) -> j.Expression:
    """Return the expression of an integer, never undefined."""
    return b.or_empty(value.expression, j.Literal(0)) if value.optional else value.expression


def _arguments(c: Context, expression: j.Expression, style: str = "") -> j.Expression:
    given = c.assumptions.use("object-arguments")
    if c.assumptions.use("hf-json"):
        if given:
            return j.Filter(expression, "tojson")
        written = j.Filter(b.or_empty(expression, j.DictLiteral(())), "tojson")
        return j.Conditional(j.Test(expression, "string"), expression, written)
    return b.call(f"{style}json" if given else f"{style}arguments_json", expression)


# --- json -----------------------------------------------------------------------------------------------


def marshalled(c: Context, value: Value, span: Span, style: str = "") -> j.Expression:
    """Return the text that Ollama's ``json`` gives.

    Args:
        c: The conversion.
        value: What is marshalled.
        span: Where.
        style: What the names of the macros begin with that write JSON in another way than Go's.
    """
    if Shape.COMPLEX in value.shapes and value.only_shape is None:
        rest = replace(value, shape=one_or_all(value.shapes - {Shape.COMPLEX}))
        unset = is_unset(c, value, span)
        return j.Conditional(unset, j.EMPTY, marshalled(c, rest, span, style))
    if isinstance(value.shape, frozenset) and value.shapes - {Shape.NIL} in _NULLS:
        text = marshalled(c, Value(one_or_all(value.shapes - {Shape.NIL}), value.expression), span, style)
        return j.Conditional(b.is_nil(value.expression), j.Literal("null"), text)
    if isinstance(value.shape, frozenset):
        raise c.refusal(span, f"json of a variable that may be {value.type_names} cannot be said in Jinja")
    expression = as_argument(value)
    match value.shape:
        case Shape.NIL:
            return j.Literal("null")
        case Shape.COMPLEX:
            return j.EMPTY  # JSON has no such numbers, and Ollama passes over the error
        case Shape.TEXT:
            return b.call(text_macro(style), as_text(value))
        case Shape.INT:
            return as_digits(value)
        case Shape.BOOL:
            return printed(c, value, span)
        case Shape.ANY | Shape.TEXTS | Shape.ANY_LIST if value.optional and c.assumptions.use(
            "plain-numbers"
        ):
            is_there = j.Test(expression, "defined")
            return j.Conditional(is_there, b.call(f"{style}json", expression), j.Literal("null"))
        case Shape.ANY | Shape.FLOAT:
            return b.call(f"{style}json", expression)
        case Shape.ARGUMENTS if style or c.assumptions.use("object-arguments"):
            return _arguments(c, expression, style)
        case Shape.TOOLS:
            return _tools(c, expression, style)
        case shape if shape in _HF_JSON and c.assumptions.use("hf-json"):
            return j.Filter(expression, "tojson")
        case Shape.CALLS | Shape.MESSAGES if isinstance(expression, j.Slice):
            raise c.refusal(span, f"json of a slice of {value.shape.value} cannot be said in Jinja")
        case shape if shape in _MARSHALLERS:
            return b.call(style + _MARSHALLERS[shape], expression)
        case shape:
            raise c.refusal(span, f"json of a value of type {shape.value} cannot be said in Jinja")


def _tools(c: Context, expression: j.Expression, style: str) -> j.Expression:
    """Marshal tools; none at all are null, and a slice of none stays none."""
    tools, sliced = unsliced(expression)
    if c.assumptions.use("plain-schemas") or c.assumptions.allows("hf-json"):
        return j.Conditional(tools, _tools_macro(c, sliced, style), j.Literal("null"))
    if tools == sliced:
        return _tools_macro(c, tools, style)
    return j.Conditional(tools, _tools_macro(c, sliced, style), _tools_macro(c, tools, style))


def unsliced(expression: j.Expression) -> tuple[j.Expression, j.Expression]:
    """Return the list that slices are taken of, and the slices as they are where that list has items."""
    match expression:
        case j.Slice(inner, start, stop):
            whole, sliced = unsliced(inner)
            return whole, j.Slice(sliced, start, stop)
        case j.Or((whole, j.ListLiteral(()))):
            return whole, whole
        case _:
            return expression, expression


def _tools_macro(c: Context, expression: j.Expression, style: str) -> j.Expression:
    if c.assumptions.use("hf-json"):
        return j.Filter(expression, "tojson")
    return b.call(f"{style}tools_json", expression)


_MARSHALLERS = {
    Shape.MESSAGES: "messages_json",
    Shape.MESSAGE: "message_json",
    Shape.CALLS: "tool_calls_json",
    Shape.CALL: "tool_call_json",
    Shape.CALL_FUNCTION: "tool_call_function_json",
    Shape.ARGUMENTS: "json",
    Shape.TOOL: "tool_json",
    Shape.FUNCTION: "function_json",
    Shape.PARAMETERS: "parameters_json",
    Shape.PROPERTIES: "properties_json",
    Shape.PROPERTY: "property_json",
    Shape.PROPERTY_TYPE: "type_json",
    Shape.PROPERTY_LIST: "property_list_json",
    Shape.ORDERED_PROPERTIES: "ordered_properties_json",
    Shape.TEXTS: "json",
    Shape.ANY_LIST: "json",
}

_NULLS = [{shape} for shape in (Shape.ANY, Shape.TEXTS, Shape.ANY_LIST)]
"""Shapes whose values are null where they are none in Jinja."""

_HF_JSON = frozenset({Shape.TOOL, Shape.FUNCTION, Shape.PARAMETERS, Shape.PROPERTIES, Shape.PROPERTY})

# --- truth ----------------------------------------------------------------------------------------------


def condition(c: Context, value: Value, span: Span) -> j.Expression:
    """Return the condition that Go's ``if`` tests."""
    if isinstance(value.shape, frozenset):
        unset = value.shapes & {Shape.COMPLEX, Shape.NIL}
        if unset and value.shapes - unset <= _ALWAYS_TRUE:
            return b.not_(is_unset(c, value, span))
        always = {shape for shape in value.shapes if shape in _ALWAYS_TRUE}
        if (always and always != value.shapes) or Shape.PROPERTY_TYPE in value.shapes:
            raise c.refusal(
                span, f"testing a variable that may be {value.type_names} cannot be said in Jinja"
            )
        return j.TRUE if always else value.expression
    if value.shape in _ALWAYS_TRUE:
        return j.TRUE
    if value.shape is Shape.NIL:
        return j.FALSE
    if value.shape is Shape.PROPERTY_TYPE and not c.assumptions.use("plain-schemas"):
        return b.or_(j.Test(value.expression, "string"), value.expression)
    return value.expression


def narrowed(value: Value, *, holds: bool) -> Value:
    """Return a value that is known to be true, or not to be, without the shapes that it then cannot have."""
    left = value.shapes - ({Shape.NIL} if holds else _ALWAYS_TRUE)
    if left == {Shape.NIL} and left != value.shapes:
        return Value(Shape.NIL, j.Literal(None))
    return replace(value, shape=one_or_all(left)) if left and left != value.shapes else value


_ALWAYS_TRUE = frozenset(
    {
        Shape.ROOT,
        Shape.MESSAGE,
        Shape.CALL,
        Shape.CALL_FUNCTION,
        Shape.TOOL,
        Shape.FUNCTION,
        Shape.PARAMETERS,
        Shape.PROPERTY,
    }
)
