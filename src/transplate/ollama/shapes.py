"""Ollama's data in the form that fast templates run on, and its types as the fast compiler knows them.

A message is the tuple (role, content, thinking, images, calls, tool name, tool call ID), as in
:data:`transplate.ollama.request.Message`, but its calls are flat tuples (ID, index, name, arguments, JSON of
the arguments or None), and arguments and other JSON data may be just as Python reads JSON ("wire data").
Tools are a :class:`ToolForms`, which keeps the texts that it was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

from transplate.gotmpl import fmt, json
from transplate.gotmpl.compiler.fast import Shape
from transplate.gotmpl.compiler.static import (
    BOOL,
    INT,
    STRING,
    WIRE,
    StaticType,
    TypedFunction,
    Unsupported,
    Value,
    evaluated,
    list_of,
)
from transplate.gotmpl.ordering import sorted_keys
from transplate.gotmpl.types import GoMap, GoStruct
from transplate.ollama.functions import FUNCTIONS
from transplate.ollama.model import TEMPLATE_ARGS, ToolTypes, tool_types, typescript_type
from transplate.ollama.request import Message, Property, Tool
from transplate.ollama.versions import Behaviour

FastCall: TypeAlias = tuple[str, int, str, dict[str, Any] | None, str | None]
FastMessage: TypeAlias = tuple[str, str, str, list[bytes] | None, list[FastCall] | None, str, str]


class PropertyForm:
    """A property of a tool's parameters."""

    __slots__ = ("_value", "record")

    def __init__(self, record: Property, value: GoStruct) -> None:
        self.record = record
        self._value = value

    def type_text(self) -> str:
        """Return the property's type as it prints."""
        types = self.record.type or ()
        return types[0] if len(types) == 1 else f"[{' '.join(types)}]" if types else ""

    def json(self) -> str:
        """Return the property as JSON."""
        return json.marshal(self._value)

    def typescript(self) -> str:
        """Return the property's type in TypeScript."""
        return typescript_type(self._value)


class ToolForm:
    """A tool, with its texts made when first asked for.

    Attributes:
        record: The tool.
        name: Name of its function.
        description: Description of its function.
    """

    __slots__ = ("_properties", "_texts", "_types", "_value", "description", "name", "record")

    def __init__(self, record: Tool, types: ToolTypes) -> None:
        self.record = record
        self.name, self.description, _ = record.function
        self._types = types
        self._texts: dict[str, str] = {}
        self._value: GoStruct | None = None
        self._properties: list[tuple[str, PropertyForm]] | None = None

    def _part(self, path: Sequence[int]) -> Any:
        if self._value is None:
            self._value = self._types.tool(self.record)
        value = self._value
        for index in path:
            value = value.values[index]
        return value

    def printed(self, key: str, path: Sequence[int] = ()) -> str:
        """Return the text of a part of the tool, as an action prints it."""
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = fmt.print_value(self._part(path))
        return text

    def json(self, key: str, path: Sequence[int] = ()) -> str:
        """Return a part of the tool as JSON."""
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = json.marshal(self._part(path))
        return text

    def properties(self) -> list[tuple[str, PropertyForm]]:
        """Return the properties of the parameters by name, in Go's order."""
        if self._properties is None:
            records = self.record.function.parameters.properties or {}
            values = self._part((2, 2, 4)).items
            self._properties = [
                (name, PropertyForm(records[name], values[name])) for name in sorted_keys(records)
            ]
        return self._properties


class ToolForms(list[ToolForm]):
    """The tools of a request, which keep their JSON."""

    __slots__ = ("_json",)

    def __init__(self, tools: Sequence[Tool], types: ToolTypes) -> None:
        super().__init__([ToolForm(tool, types) for tool in tools])
        self._json: str | None = None

    def json(self) -> str:
        """Return the tools as a JSON list."""
        if self._json is None:
            self._json = f"[{','.join([tool.json('json') for tool in self])}]"
        return self._json


def prepared_messages(messages: Sequence[Message]) -> list[FastMessage]:
    """Return messages with the JSON of their calls' arguments made."""
    return [
        message
        if not message[4]
        else (*message[:4], [_prepared_call(*call) for call in message[4]], *message[5:])  # type: ignore[misc]
        for message in messages
    ]


def _prepared_call(identity: str, function: tuple[int, str, dict[str, Any] | None]) -> FastCall:
    index, name, arguments = function
    return identity, index, name, arguments, arguments_text(arguments)


def prepared_tools(tools: Sequence[Tool] | None, behaviour: Behaviour) -> ToolForms | None:
    """Return tools in the fast form."""
    return None if tools is None else ToolForms(tools, tool_types(behaviour))


# --- helpers of the generated code ----------------------------------------------------------------------


def arguments_text(arguments: dict[str, Any] | None) -> str:
    """Return arguments as an action prints them."""
    return "{}" if arguments is None else json.marshal_wire(arguments)


def arguments_json(call: FastCall) -> str:
    """Return the arguments of a call as JSON."""
    return "null" if call[3] is None else call[4] or json.marshal_wire(call[3])


def arguments_value(arguments: dict[str, Any] | None) -> GoMap:
    """Return arguments as the exact form has them, from a copy of them."""
    return GoMap(TEMPLATE_ARGS, arguments)


def sorted_pairs(arguments: dict[str, Any] | None) -> list[tuple[str, Any]]:
    """Return arguments in Go's order."""
    return [(key, arguments[key]) for key in sorted_keys(arguments)] if arguments else []


def sorted_values(arguments: dict[str, Any] | None) -> list[Any]:
    """Return the values of arguments in the order of their keys."""
    return [arguments[key] for key in sorted_keys(arguments)] if arguments else []


# --- types ----------------------------------------------------------------------------------------------

_STRINGS: Final = list_of(STRING)
_ARGUMENTS: Final = StaticType(
    "arguments",
    text="({0}[4] or arguments_text({0}[3]))",
    json="arguments_json({0})",
    go="arguments_value(from_wire(s, {0}[3]))",
    truth="{0}[3]",
    length="len({0}[3] or ())",
    items="sorted_values({0}[3])",
    pairs="sorted_pairs({0}[3])",
    elem=WIRE,
    key=STRING,
    fields={"String": ("({0}[4] or arguments_text({0}[3]))", STRING)},
    entry="({0}[3] or NOTHING).get({1})",
    prints_itself=True,
)
_CALL_FUNCTION: Final = StaticType(
    "function of a call",
    fields={"Index": ("{0}[1]", INT), "Name": ("{0}[2]", STRING), "Arguments": ("{0}", _ARGUMENTS)},
)
CALL: Final = StaticType("call", fields={"ID": ("{0}[0]", STRING), "Function": ("{0}", _CALL_FUNCTION)})
_IMAGE: Final = StaticType("image", length="len({0})")
_MESSAGE: Final = StaticType(
    "message",
    fields={
        "Role": ("{0}[0]", STRING),
        "Content": ("{0}[1]", STRING),
        "Thinking": ("{0}[2]", STRING),
        "Images": ("{0}[3]", list_of(_IMAGE)),
        "ToolCalls": ("{0}[4]", list_of(CALL)),
        "ToolName": ("{0}[5]", STRING),
        "ToolCallID": ("{0}[6]", STRING),
    },
)


def _tool_type(behaviour: Behaviour) -> StaticType:
    """Return the type of a list of tools."""
    property_type = StaticType(
        "type of a property",
        text="{0}.type_text()",
        truth="{0}.record.type",
        length="len({0}.record.type or ())",
        items="({0}.record.type or ())",
        elem=STRING,
        fields={"String": ("{0}.type_text()", STRING)},
        prints_itself=True,
    )
    fields = {
        "Type": ("{0}", property_type),
        "Description": ("{0}.record.description", STRING),
        "Items": ("{0}.record.items", WIRE),
        "Enum": ("{0}.record.enum", list_of(WIRE, json="made(s, marshal({0}))")),
        "ToTypeScriptType": ("made(s, {0}.typescript())", STRING),
    }
    if behaviour.property_required:
        fields["Required"] = ("{0}.record.required", _STRINGS)
    property_form = StaticType("property", json="made(s, {0}.json())", fields=fields)
    properties = StaticType(
        "properties",
        text="{0}.printed('properties', (2, 2, 4))",
        json="{0}.json('properties json', (2, 2, 4))",
        truth="{0}.record.function.parameters.properties",
        length="len({0}.properties())",
        pairs="{0}.properties()",
        items="[pair[1] for pair in {0}.properties()]",
        elem=property_form,
        key=STRING,
        fields={"String": ("{0}.printed('properties', (2, 2, 4))", STRING)},
        prints_itself=True,
    )
    parameters = StaticType(
        "parameters",
        text="{0}.printed('parameters', (2, 2))",
        json="{0}.json('parameters json', (2, 2))",
        fields={
            "Type": ("{0}.record.function.parameters.type", STRING),
            "Required": ("{0}.record.function.parameters.required", _STRINGS),
            "Properties": ("{0}", properties),
        },
    )
    function = StaticType(
        "function of a tool",
        text="{0}.printed('function', (2,))",
        json="{0}.json('function json', (2,))",
        fields={
            "Name": ("{0}.name", STRING),
            "Description": ("{0}.description", STRING),
            "Parameters": ("{0}", parameters),
        },
    )
    tool = StaticType(
        "tool",
        text="{0}.printed('tool')",
        json="{0}.json('json')",
        fields={"Type": ("{0}.record.type", STRING), "Function": ("{0}", function)},
    )
    json_text = "('null' if {0} is None else {0}.json())"
    return StaticType(
        "tools",
        text=json_text,
        json=json_text,
        length="len({0} or ())",
        items="({0} or ())",
        elem=tool,
        position="{0}[{1}]",
        fields={"String": (json_text, STRING)},
        prints_itself=True,
    )


_MESSAGES: Final = StaticType("messages", length="len({0})", items="{0}", elem=_MESSAGE, position="{0}[{1}]")
_THINKING: Final = {"Think": ("K", BOOL), "ThinkLevel": ("E", STRING), "IsThinkSet": ("B", BOOL)}
_EMPTY: Final = ("''", STRING)


# --- functions ------------------------------------------------------------------------------------------


def _json(arguments: Sequence[Value]) -> Value:
    if len(arguments) != 1:
        raise Unsupported("a call of json that always fails")
    return Value(arguments[0].json, STRING)


def _date(name: str) -> TypedFunction:
    def call(arguments: Sequence[Value]) -> Value:
        if any(argument.type is not STRING for argument in arguments):
            raise Unsupported("a date in a format that is no string")
        return evaluated(arguments, Value(f"{name}()", STRING))

    return call


def _to_typescript_type(arguments: Sequence[Value]) -> Value:
    if len(arguments) != 1:
        raise Unsupported("a call of toTypeScriptType that always fails")
    (argument,) = arguments
    found = argument.type.fields.get("ToTypeScriptType")
    if found is None:
        return evaluated(arguments, Value("'any'", STRING))
    return Value(found[0].format(argument.code), STRING)


_FUNCTIONS: Final = {
    "json": _json,
    "currentDate": _date("currentDate"),
    "yesterdayDate": _date("yesterdayDate"),
    "toTypeScriptType": _to_typescript_type,
}
_HELPERS: Final = {
    "NOTHING": {},
    "arguments_json": arguments_json,
    "arguments_text": arguments_text,
    "arguments_value": arguments_value,
    "currentDate": FUNCTIONS["currentDate"].call,
    "sorted_pairs": sorted_pairs,
    "sorted_values": sorted_values,
    "yesterdayDate": FUNCTIONS["yesterdayDate"].call,
}


def _root(fields: Mapping[str, tuple[str, StaticType]]) -> StaticType:
    """Return the type of the data of a mode, a map that is never empty."""
    return StaticType("data", truth="True", fields=fields)


@lru_cache(maxsize=8)
def messages_shape(behaviour: Behaviour) -> Shape:
    """Return the shape of messages mode; its parameters are system, messages, tools and the thinking."""
    fields = {
        "System": ("S", STRING),
        "Messages": ("M", _MESSAGES),
        "Tools": ("T", _tool_type(behaviour)),
        "Response": _EMPTY,
        **_THINKING,
    }
    return Shape(
        ("S", "M", "T", "K", "E", "B"), StaticType("data", truth="True", fields=fields), _FUNCTIONS, _HELPERS
    )


_LEGACY: Final = {"System": ("S", STRING), "Prompt": ("P", STRING), "Response": ("R", STRING), **_THINKING}
_LEGACY_PARAMETERS: Final = ("S", "P", "R", "K", "E", "B")
LEGACY_SHAPE: Final = Shape(
    _LEGACY_PARAMETERS, StaticType("data", truth="True", fields=_LEGACY), _FUNCTIONS, _HELPERS
)
"""The shape of a turn of legacy mode; its parameters are system, prompt, response and the thinking."""

LAST_TURN_SHAPE: Final = Shape(_LEGACY_PARAMETERS, LEGACY_SHAPE.root, {}, {})
"""The shape of the last turn of legacy mode, in which Ollama's functions are missing."""

_SUFFIX: Final = {"Prompt": ("P", STRING), "Suffix": ("X", STRING), "Response": _EMPTY, **_THINKING}
SUFFIX_SHAPE: Final = Shape(("P", "X", "K", "E", "B"), _root(_SUFFIX), _FUNCTIONS, _HELPERS)
"""The shape of suffix mode; its parameters are prompt, suffix and the thinking."""
