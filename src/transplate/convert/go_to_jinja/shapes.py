"""The shapes of Ollama's data as a template sees it, and where a Jinja template finds the same data.

Ollama's data model is fixed, so the shape of nearly every expression is known before a template runs; the
shape alone decides how a value is printed, compared, iterated and marshalled.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from transplate.jinja import nodes as j


class Shape(Enum):
    """What sort of Go value an expression has; the value is the type as Go's errors name it."""

    NIL = "nil"
    TEXT = "string"
    INT = "int"
    FLOAT = "float64"
    BOOL = "bool"
    COMPLEX = "complex128"
    """The constant ``0i``, of a type that nothing else has: what a variable holds that is not set yet."""
    ANY = "interface {}"
    """A value of the JSON in arguments and schemas; its type is known only when the template runs."""
    ROOT = "map[string]interface {}"
    MESSAGES = "[]*template.templateMessage"
    MESSAGE = "*template.templateMessage"
    IMAGES = "[]api.ImageData"
    CALLS = "[]template.templateToolCall"
    CALL = "template.templateToolCall"
    CALL_FUNCTION = "template.templateToolCallFunction"
    ARGUMENTS = "template.templateArgs"
    TOOLS = "template.templateTools"
    TOOL = "template.templateTool"
    FUNCTION = "template.templateToolFunction"
    PARAMETERS = "template.templateToolFunctionParameters"
    PROPERTIES = "template.templateProperties"
    PROPERTY = "api.ToolProperty"
    PROPERTY_LIST = "[]api.ToolProperty"
    PROPERTY_TYPE = "api.PropertyType"
    ORDERED_PROPERTIES = "*api.ToolPropertiesMap"
    PROPERTY_MAP = "map[string]api.ToolProperty"
    TEXTS = "[]string"
    ANY_LIST = "[]interface {}"


@dataclass(frozen=True, slots=True)
class Value:
    """A Go value while the template is converted: its shape and the Jinja expression that has it.

    Attributes:
        shape: The shape; for a variable that is given values of several shapes, all of them.
        expression: The expression.
        optional: Whether the expression may be undefined or none where Go has a zero value.
        size: For a text, the number of its bytes where that is known without counting them.
        absent: For nil and values of the JSON, when the value is none at all for Go, whose fields are none
            either; where it is not, a nil has no fields, and asking for one fails. Go takes a nil for none
            where it is a variable's or stands in parentheses, not where it is a field or an element.
        is_ascii: For a text, whether it is known to be ASCII.
        type_of: For a text that is the name of a type, the value that has the type.
        is_whole: Whether such a text is ``printf "%T|%v"``, the name and the value itself.
    """

    shape: Shape | frozenset[Shape]
    expression: j.Expression
    optional: bool = False
    size: j.Expression | None = None
    absent: j.Expression = j.FALSE
    type_of: Value | None = None
    is_whole: bool = False
    is_ascii: bool = False

    @property
    def only_shape(self) -> Shape | None:
        """The shape, None where there are several."""
        return self.shape if isinstance(self.shape, Shape) else None

    @property
    def may_be_nil(self) -> bool:
        """Whether it can be nil, as far as the shape tells."""
        return not self.shapes.isdisjoint({Shape.NIL, Shape.ANY})

    @property
    def type_names(self) -> str:
        """The types that it can have, as Go's errors name them."""
        return " or ".join(sorted(shape.value for shape in self.shapes))

    @property
    def shapes(self) -> frozenset[Shape]:
        """All shapes that the value can have."""
        return self.shape if isinstance(self.shape, frozenset) else frozenset({self.shape})


def one_or_all(shapes: Collection[Shape]) -> Shape | frozenset[Shape]:
    """Return what a value has that can have some shapes: the shape, if it is one."""
    return next(iter(shapes)) if len(shapes) == 1 else frozenset(shapes)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of one of Ollama's structs: the key it has in Jinja's data, and its shape.

    Attributes:
        key: The key.
        shape: The field's shape.
        optional: Whether the key may be missing although the value is well-formed.
    """

    key: str
    shape: Shape
    optional: bool = True


FIELDS: dict[Shape, dict[str, Field]] = {
    Shape.MESSAGE: {
        "Role": Field("role", Shape.TEXT, optional=False),
        "Content": Field("content", Shape.TEXT),
        "Thinking": Field("reasoning_content", Shape.TEXT),
        "Images": Field("images", Shape.IMAGES),
        "ToolCalls": Field("tool_calls", Shape.CALLS),
        "ToolName": Field("name", Shape.TEXT),
        "ToolCallID": Field("tool_call_id", Shape.TEXT),
    },
    Shape.CALL: {
        "ID": Field("id", Shape.TEXT),
        "Function": Field("function", Shape.CALL_FUNCTION, optional=False),
    },
    Shape.CALL_FUNCTION: {
        "Index": Field("index", Shape.INT),
        "Name": Field("name", Shape.TEXT, optional=False),
        "Arguments": Field("arguments", Shape.ARGUMENTS),
    },
    Shape.TOOL: {
        "Type": Field("type", Shape.TEXT),
        "Items": Field("items", Shape.ANY),
        "Function": Field("function", Shape.FUNCTION, optional=False),
    },
    Shape.FUNCTION: {
        "Name": Field("name", Shape.TEXT, optional=False),
        "Description": Field("description", Shape.TEXT),
        "Parameters": Field("parameters", Shape.PARAMETERS),
    },
    Shape.PARAMETERS: {
        "Type": Field("type", Shape.TEXT),
        "Defs": Field("$defs", Shape.ANY),
        "Items": Field("items", Shape.ANY),
        "Required": Field("required", Shape.TEXTS),
        "Properties": Field("properties", Shape.PROPERTIES),
    },
    Shape.PROPERTY: {
        "AnyOf": Field("anyOf", Shape.PROPERTY_LIST),
        "Type": Field("type", Shape.PROPERTY_TYPE),
        "Items": Field("items", Shape.ANY),
        "Description": Field("description", Shape.TEXT),
        "Enum": Field("enum", Shape.ANY_LIST),
        "Properties": Field("properties", Shape.ORDERED_PROPERTIES),
        "Required": Field("required", Shape.TEXTS),
    },
}

ELEMENTS: dict[Shape, Shape] = {
    Shape.MESSAGES: Shape.MESSAGE,
    Shape.CALLS: Shape.CALL,
    Shape.TOOLS: Shape.TOOL,
    Shape.PROPERTY_LIST: Shape.PROPERTY,
    Shape.PROPERTY_TYPE: Shape.TEXT,
    Shape.TEXTS: Shape.TEXT,
    Shape.ANY_LIST: Shape.ANY,
}
"""Element shapes of the lists that a template can range over."""

MAP_ELEMENTS: dict[Shape, Shape] = {
    Shape.PROPERTIES: Shape.PROPERTY,
    Shape.PROPERTY_MAP: Shape.PROPERTY,
    Shape.ARGUMENTS: Shape.ANY,
}
"""Element shapes of the maps that a template can range over, in the order of their keys."""

STRUCTS = frozenset(FIELDS)
LISTS = frozenset(ELEMENTS) | {Shape.IMAGES}
MAPS = frozenset(MAP_ELEMENTS)
