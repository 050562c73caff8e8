"""Lowers Go pipelines: operands, fields and methods, each to a value with its shape."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja.context import Context
from transplate.convert.go_to_jinja.formats import Argument
from transplate.convert.go_to_jinja.functions import call_function
from transplate.convert.go_to_jinja.shapes import FIELDS, Shape, Value, one_or_all
from transplate.convert.go_to_jinja.text import NOT_NIL
from transplate.convert.go_to_jinja.typetests import is_unset
from transplate.gotmpl import nodes as go
from transplate.jinja import nodes as j
from transplate.source import Span

_INTS = 2**63
_DICT_METHODS = frozenset(dir(dict)) | {"length", "string"}


class Expressions:
    """Lowers the expressions of one place, where dot and ``$`` have certain values."""

    def __init__(self, c: Context, dot: Value, root: Value) -> None:
        """Keep what dot and ``$`` are here."""
        self.c = c
        self.dot = dot
        self.root = root

    def pipeline(self, pipeline: go.Pipeline) -> Value:
        """Return the value of a pipeline, its declarations left aside."""
        first, *rest = pipeline.commands
        value = self.command(first, None)
        for command in rest:
            value = self.command(command, value)
        return value

    def command(self, command: go.Command, final: Value | None) -> Value:
        """Return the value of a command, ``final`` being the result of the one before it."""
        first, *rest = command.operands
        arguments = [Argument(operand.span, partial(self.operand, operand)) for operand in rest]
        if final is not None:
            arguments.append(Argument(command.span, partial(_same, final)))
        match first:
            case go.Identifier(name):
                return call_function(self.c, name, arguments, first.span)
            case go.Field(names):
                return self.fields(self.dot, names, first.span, arguments)
            case go.Variable(_, names):
                return self.fields(self.variable(first), names, first.span, arguments)
            case go.Chain(operand, names):
                return self.fields(self.operand(operand), names, first.span, arguments)
            case go.Nil():
                self.c.check(j.TRUE, "nil is not a command")
                return self.operand(first)
            case _:
                value = self.operand(first)
                if arguments:
                    self.c.check(j.TRUE, "can't give argument to non-function")
                return value

    def operand(self, operand: go.Operand) -> Value:
        """Return the value of an operand."""
        match operand:
            case go.Dot():
                return self.dot
            case go.Nil():
                return Value(Shape.NIL, j.Literal(None))
            case go.Bool(value):
                return Value(Shape.BOOL, j.Literal(value))
            case go.String(_, text):
                return self._text(text, operand.span)
            case go.Number(_, number):
                return self._number(number, operand.span)
            case go.Field(names):
                return self.fields(self.dot, names, operand.span)
            case go.Variable(_, names):
                return self.fields(self.variable(operand), names, operand.span)
            case go.Chain(inner, names):
                return self.fields(self.operand(inner), names, operand.span)
            case go.Identifier(name):
                return call_function(self.c, name, [], operand.span)
            case go.Pipeline():
                return held(self.pipeline(operand))

    def _text(self, text: str, span: Span) -> Value:
        check_text(self.c, text, span)
        return Value(Shape.TEXT, j.Literal(text), size=j.Literal(len(text.encode())))

    def _number(self, number: complex, span: Span) -> Value:
        if isinstance(number, int):
            if not -_INTS <= number < _INTS:
                self.c.check(j.TRUE, f"{number} overflows int")
            return Value(Shape.INT, j.Literal(number))
        if number == 0 and isinstance(number, complex):
            return Value(Shape.COMPLEX, j.Literal(None))
        if isinstance(number, float) and "e" not in repr(number):
            return Value(Shape.FLOAT, j.Literal(number))
        raise self.c.refusal(span, "this number cannot be written in Jinja")

    def variable(self, variable: go.Variable) -> Value:
        """Return the value of a variable without the fields behind it."""
        declaration = self.c.resolution.of(variable)
        if declaration is None:
            return self.root
        value = self.c.variables[declaration]
        shapes = self.c.shapes.get(declaration)
        if shapes is None:
            return value
        shape = one_or_all(shapes)
        is_ascii = shape is Shape.TEXT and declaration not in self.c.wide
        return held(Value(shape, value.expression, declaration in self.c.optionals, is_ascii=is_ascii))

    # --- fields and methods ---------------------------------------------------------------------------

    def fields(
        self, value: Value, names: tuple[str, ...], span: Span, arguments: list[Argument] | None = None
    ) -> Value:
        """Return a chain of fields of a value; arguments go to the last of them."""
        if arguments and not names:
            self.c.check(j.TRUE, "can't give argument to non-function")
        for number, name in enumerate(names, 1):
            given = arguments if arguments and number == len(names) else []
            value = self.field(value, name, span, given)
        return value

    def field(self, value: Value, name: str, span: Span, arguments: list[Argument]) -> Value:
        """Return a field, map element or method of a value; where Go fails, the rendering fails."""
        c = self.c
        shape = value.only_shape
        if shape is None:
            value, shape = self._narrowed(value, name, span)
        method = self._method(value, name, span, arguments)
        if method is not None:
            return method
        if arguments:
            is_absent = j.TRUE if shape is Shape.NIL and c.last_turn else value.absent
            c.check(b.not_(is_absent), f"{name} has arguments but cannot be invoked as function")
        if shape is Shape.ROOT:
            return c.root.get(name, Value(Shape.NIL, j.Literal(None)))
        if shape is Shape.NIL:
            if not c.last_turn:
                c.check(b.not_(value.absent), f"nil pointer evaluating interface {{}}.{name}")
            return value
        if shape in FIELDS:
            return self._struct_field(value, shape, name)
        if shape is Shape.ARGUMENTS:
            return self._element(value, name, Shape.ANY, span)
        if shape is Shape.ANY:
            is_other = j.Test(value.expression, "mapping", negated=True)
            c.check(b.and_(is_other, b.not_(value.absent)), f"can't evaluate field {name}")
            owner = replace(value, optional=value.optional or value.absent != j.FALSE)
            return replace(self._element(owner, name, Shape.ANY, span), absent=value.absent)
        if shape in (Shape.PROPERTIES, Shape.PROPERTY_MAP):
            element = self._element(value, name, Shape.PROPERTY, span)
            return Value(Shape.PROPERTY, element.expression, optional=True)
        c.check(j.TRUE, f"can't evaluate field {name} in type {shape.value}")
        return Value(Shape.NIL, j.Literal(None))

    def _narrowed(self, value: Value, name: str, span: Span) -> tuple[Value, Shape]:
        """Return a variable of several shapes as the one that has a field."""
        c = self.c
        having = [shape for shape in value.shapes if name in FIELDS.get(shape, ())]
        if len(having) == 1 and value.shapes - {Shape.COMPLEX} == {having[0]}:
            c.check(is_unset(c, value, span), f"can't evaluate field {name} in type complex128")
            return Value(having[0], value.expression), having[0]
        if having == [Shape.MESSAGE] and value.shapes == {Shape.NIL, Shape.MESSAGE} and not value.optional:
            # What Go makes of the fields of nil is seldom meant: they are read where it is not nil.
            there = j.Filter(value.expression, NOT_NIL)
            c.refuse_later(there, span, f"the field {name} of what may be nil cannot be said in Jinja")
            return Value(Shape.MESSAGE, there), Shape.MESSAGE
        if len(having) == 1 and value.shapes == {Shape.TEXT, Shape.COMPLEX, Shape.MESSAGE}:
            is_other = b.or_(j.Test(value.expression, "string"), is_unset(c, value, span))
            c.check(is_other, f"can't evaluate field {name}")
            return Value(having[0], value.expression), having[0]
        if len(having) != 1 or value.shapes - {Shape.TEXT, having[0]}:
            raise c.refusal(span, f"the type of the variable in front of .{name} is not known before it runs")
        if not c.assumptions.use("some-message"):
            c.check(j.Test(value.expression, "string"), f"can't evaluate field {name} in type string")
        return Value(having[0], value.expression), having[0]

    def _struct_field(self, value: Value, shape: Shape, name: str) -> Value:
        c = self.c
        field = FIELDS[shape].get(name)
        if field is None or (name == "Required" and shape is Shape.PROPERTY and not c.property_required):
            c.check(j.TRUE, f"can't evaluate field {name} in type {shape.value}")
            return Value(Shape.NIL, j.Literal(None))
        if field.key in _DICT_METHODS or not field.key.isidentifier():
            return self._dangerous_field(value, field.key, field.shape)
        owner = value.expression
        if value.optional:
            owner = b.or_empty(owner, j.DictLiteral(()))
        return Value(field.shape, j.Attribute(owner, field.key), optional=self._is_optional(shape, name))

    def _is_optional(self, shape: Shape, name: str) -> bool:
        """Return whether a field may be missing, given what is assumed and what the prelude fills in."""
        c = self.c
        if not FIELDS[shape][name].optional:
            return False
        if shape is Shape.MESSAGE:
            return not c.collated and (name != "Content" or c.tool_calls_read)
        if (shape.name, name) in _PLAIN and c.assumptions.use("plain-schemas"):
            return False
        return not (name == "Arguments" and c.assumptions.use("object-arguments"))

    def _dangerous_field(self, value: Value, key: str, shape: Shape) -> Value:
        """Return a field whose key is also the name of a method, which ``value.key`` would find instead."""
        c = self.c
        found = j.Attribute(j.Name("state"), f"found_{key.strip('$')}")
        c.mutable.add(found)
        pair = (c.symbol("key"), c.symbol("value"))
        owner = b.or_empty(value.expression, j.DictLiteral(())) if value.optional else value.expression
        c.pending.append(j.Set(found, j.Literal(None)))
        c.pending.append(
            j.For(
                pair,
                j.Filter(owner, "items"),
                (j.Set(found, pair[1]),),
                condition=j.Binary("==", pair[0], j.Literal(key)),
            )
        )
        snapshot = c.symbol(key.strip("$"))
        c.pending.append(j.Set(snapshot, found))
        return Value(shape, snapshot, optional=True)

    def _element(self, value: Value, key: str, shape: Shape, span: Span) -> Value:
        if key in _DICT_METHODS:
            raise self.c.refusal(span, f"a key called {key} of a map cannot be told from a method in Jinja")
        owner = b.or_empty(value.expression, j.DictLiteral(())) if value.optional else value.expression
        return Value(shape, j.Item(owner, j.Literal(key)), optional=True)

    def _method(self, value: Value, name: str, span: Span, arguments: list[Argument]) -> Value | None:
        """Return what a method of one of Ollama's types gives, None where ``name`` is no method."""
        from transplate.convert.go_to_jinja import printing

        c = self.c
        match value.shape, name:
            case Shape.PROPERTY, "ToTypeScriptType":
                return Value(Shape.TEXT, b.call("typescript_type", value.expression))
            case (
                Shape.TOOLS | Shape.ARGUMENTS | Shape.PROPERTIES | Shape.PROPERTY_TYPE,
                "String",
            ) if not arguments:
                return Value(Shape.TEXT, printing.printed(c, value, span))
            case Shape.TOOL, "String" if c.tool_prints_json and not arguments:
                return Value(Shape.TEXT, printing.printed(c, value, span))
            case Shape.ORDERED_PROPERTIES, "Len" if not arguments:
                return Value(Shape.INT, b.length(b.or_empty(value.expression, j.DictLiteral(()))))
            case Shape.ORDERED_PROPERTIES, "ToMap" if not arguments:
                return Value(Shape.PROPERTY_MAP, value.expression, optional=True)
            case (Shape.ORDERED_PROPERTIES, "All" | "Get" | "Set" | "MarshalJSON" | "UnmarshalJSON") | (
                Shape.PROPERTY_TYPE,
                "MarshalJSON" | "UnmarshalJSON",
            ):
                raise c.refusal(span, f"the method .{name} cannot be said in Jinja")
            case _:
                return None


_PLAIN = frozenset(
    {
        ("TOOL", "Type"),
        ("FUNCTION", "Description"),
        ("FUNCTION", "Parameters"),
        ("PARAMETERS", "Type"),
        ("PARAMETERS", "Properties"),
        ("PROPERTY", "Type"),
    }
)


def held(value: Value) -> Value:
    """Return a value as variables and parentheses hold it: a nil is none at all."""
    if value.shape is Shape.NIL:
        return replace(value, absent=j.TRUE)
    if value.shape is Shape.ANY:
        return replace(value, absent=b.is_nil(value.expression))
    return value


def _same(value: Value) -> Value:
    return value


def check_text(c: Context, text: str, span: Span) -> None:
    """Refuse constant text that has no portable string literal.

    Raises:
        UnsupportedTemplate: It holds NUL or bytes that are no UTF-8.
    """
    if "\0" in text:
        raise c.refusal(span, "a NUL character cannot be written in Jinja")
    if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        raise c.refusal(span, "bytes that are no UTF-8 cannot be written in Jinja")
