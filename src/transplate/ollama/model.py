"""Ollama's data as a Go template sees it: records of a request in, Go values with their types out.

The types are those of Ollama's ``template/template.go`` and ``api/types.go``; their names and methods show in
errors, in printing and in what a template may call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NoReturn

from transplate.errors import UnsupportedTemplate
from transplate.gotmpl import json
from transplate.gotmpl.capacity import grown_capacity
from transplate.gotmpl.quoting import to_bytes
from transplate.gotmpl.types import (
    ANY,
    ANY_SLICE,
    BOOL,
    BYTES,
    ERROR,
    INT,
    STRING,
    STRING_SLICE,
    UINT8,
    GoFunc,
    GoMap,
    GoPointer,
    GoSlice,
    GoStruct,
    GoType,
    GoValue,
    Kind,
    Method,
    StructField,
    pointer_to,
    slice_of,
)
from transplate.gotmpl.values import plain, zero
from transplate.ollama.decoding import Refused
from transplate.ollama.request import Message, Parameters, Property, Tool, ToolCall
from transplate.ollama.versions import Behaviour

# --- types that are the same in all versions ------------------------------------------------------------

IMAGE_DATA = GoType("api.ImageData", Kind.SLICE, elem=UINT8)


def _field(
    name: str, go_type: GoType, json_name: str | None = None, *, omit_empty: bool = False
) -> StructField:
    return StructField(name, go_type, name if json_name is None else json_name, omit_empty)


def _string_method(call: Callable[[GoValue], str]) -> dict[str, Method]:
    return {"String": Method("String", call, results=(STRING,))}


def _map_text(value: GoMap) -> str:
    return "{}" if value.items is None else json.marshal(value)


def _change(*_: GoValue) -> NoReturn:
    raise UnsupportedTemplate("the template changes the data of its request by UnmarshalJSON")


def _marshal_method(call: Callable[[GoValue], str]) -> Method:
    return Method("MarshalJSON", lambda value: GoSlice(BYTES, to_bytes(call(value))), results=(BYTES, ERROR))


_UNMARSHAL_JSON = Method(
    "UnmarshalJSON", _change, parameters=(BYTES,), results=(ERROR,), pointer_receiver=True
)


TEMPLATE_ARGS = GoType(
    "template.templateArgs", Kind.MAP, elem=ANY, key=STRING, methods=_string_method(_map_text)
)
TOOL_CALL_FUNCTION = GoType(
    "template.templateToolCallFunction",
    Kind.STRUCT,
    fields=(_field("Index", INT), _field("Name", STRING), _field("Arguments", TEMPLATE_ARGS)),
)
TOOL_CALL = GoType(
    "template.templateToolCall",
    Kind.STRUCT,
    fields=(_field("ID", STRING), _field("Function", TOOL_CALL_FUNCTION)),
)
MESSAGE = GoType(
    "template.templateMessage",
    Kind.STRUCT,
    fields=(
        _field("Role", STRING),
        _field("Content", STRING),
        _field("Thinking", STRING),
        _field("Images", slice_of(IMAGE_DATA)),
        _field("ToolCalls", slice_of(TOOL_CALL)),
        _field("ToolName", STRING),
        _field("ToolCallID", STRING),
    ),
)
MESSAGE_POINTER = pointer_to(MESSAGE)
MESSAGES = slice_of(MESSAGE_POINTER)


def messages_of(messages: Sequence[Message]) -> GoSlice:
    """Return ``.Messages``: a ``[]*template.templateMessage``, nil if there is none."""
    return GoSlice(MESSAGES, [_message(message) for message in messages] or None)


def _message(message: Message) -> GoPointer:
    role, content, thinking, images, calls, tool_name, tool_call_id = message
    values = [
        role,
        content,
        thinking,
        _slice(slice_of(IMAGE_DATA), images and [_image(image) for image in images]),
        _slice(slice_of(TOOL_CALL), [_tool_call(call) for call in calls or ()] or None),
        tool_name,
        tool_call_id,
    ]
    return GoPointer(MESSAGE_POINTER, GoStruct(MESSAGE, values))


def _image(data: bytes | None) -> GoSlice:
    """Return image data, with the room behind it that decoding base64 leaves."""
    return GoSlice(IMAGE_DATA, data, bytes(-len(data) % 3) if data else b"")


def _tool_call(call: ToolCall) -> GoStruct:
    identity, (index, name, arguments) = call
    function = GoStruct(TOOL_CALL_FUNCTION, [index, name, GoMap(TEMPLATE_ARGS, arguments)])
    return GoStruct(TOOL_CALL, [identity, function])


def _slice(go_type: GoType, items: Sequence[GoValue] | None) -> GoSlice:
    """Return a slice that was filled one by one, with the room behind it that Go leaves."""
    elem = go_type.elem
    if not items or elem is None:
        return GoSlice(go_type, items)
    room = grown_capacity(len(items), _size(elem)) - len(items)
    return GoSlice(go_type, items, [plain(zero(elem)) for _ in range(room)])


def _size(go_type: GoType) -> int:
    """Return the size in bytes of a value of a type that occurs here."""
    if go_type.kind is Kind.STRUCT:
        return sum(_size(field.type) for field in go_type.fields)
    return _SIZES[go_type.kind]


_SIZES = {Kind.STRING: 16, Kind.INTERFACE: 16, Kind.SLICE: 24, Kind.INT: 8, Kind.MAP: 8, Kind.POINTER: 8}


# --- PropertyType ---------------------------------------------------------------------------------------


def _type_text(value: GoSlice) -> str:
    types = [str(name) for name in value.items or ()]
    return types[0] if len(types) == 1 else f"[{' '.join(types)}]" if types else ""


def _type_json(value: GoSlice) -> str:
    if value.items is not None and len(value.items) == 1:
        return json.marshal(value.items[0])
    return json.marshal(GoSlice(STRING_SLICE, value.items))


PROPERTY_TYPE = GoType(
    "api.PropertyType",
    Kind.SLICE,
    elem=STRING,
    methods={
        **_string_method(_type_text),
        "MarshalJSON": _marshal_method(_type_json),
        "UnmarshalJSON": _UNMARSHAL_JSON,
    },
    marshal_json=_type_json,
)

_TYPESCRIPT_TYPES = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "array": "any[]",
    "object": "Record<string, any>",
    "null": "null",
}


def typescript_type(found: GoStruct) -> str:
    """Return the type of a property in TypeScript (``api.ToolProperty.ToTypeScriptType``)."""
    any_of, types = found.values[0].items, found.values[1].items
    if any_of:
        return " | ".join(typescript_type(variant) for variant in any_of)
    return " | ".join(_TYPESCRIPT_TYPES.get(name, "any") for name in types or ("",))


# --- tools, whose types differ by version ---------------------------------------------------------------

PROPERTY_NAME = "api.ToolProperty"
"""The name of the type of a property, which is another type in each version."""

_ORDERED_MAP_NAME = "orderedmap.Map[string,github.com/ollama/ollama/api.ToolProperty]"


class ToolTypes:
    """The types of tools in one version of Ollama, and the way from records to values of them.

    Attributes:
        property_type: ``api.ToolProperty``.
        properties_map_type: ``api.ToolPropertiesMap``, a map in the order of insertion.
        properties_type: ``template.templateProperties``, a plain map.
        parameters_type: ``template.templateToolFunctionParameters``.
        function_type: ``template.templateToolFunction``.
        tool_type: ``template.templateTool``.
        tools_type: ``template.templateTools``.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        """Make the types.

        Args:
            behaviour: How the version of Ollama behaves.
        """
        self._behaviour = behaviour
        self.property_type = GoType(
            PROPERTY_NAME,
            Kind.STRUCT,
            methods={"ToTypeScriptType": Method("ToTypeScriptType", typescript_type, results=(STRING,))},
        )
        self._ordered_map = pointer_to(GoType(_ORDERED_MAP_NAME, Kind.STRUCT))
        self.properties_map_type = GoType(
            "api.ToolPropertiesMap",
            Kind.STRUCT,
            fields=(StructField("om", self._ordered_map),),
            methods=self._properties_map_methods(),
            marshal_json=_ordered_json,
            package="github.com/ollama/ollama/api",
        )
        _complete(self.property_type, self._property_fields())
        self.properties_type = GoType(
            "template.templateProperties",
            Kind.MAP,
            elem=self.property_type,
            key=STRING,
            methods=_string_method(_map_text),
        )
        self.parameters_type = GoType(
            "template.templateToolFunctionParameters",
            Kind.STRUCT,
            fields=(
                _field("Type", STRING, "type"),
                _field("Defs", ANY, "$defs", omit_empty=True),
                _field("Items", ANY, "items", omit_empty=True),
                _field("Required", STRING_SLICE, "required", omit_empty=True),
                _field("Properties", self.properties_type, "properties"),
            ),
        )
        self.function_type = GoType(
            "template.templateToolFunction",
            Kind.STRUCT,
            fields=(
                _field("Name", STRING, "name"),
                _field("Description", STRING, "description"),
                _field("Parameters", self.parameters_type, "parameters"),
            ),
        )
        self.tool_type = GoType(
            "template.templateTool",
            Kind.STRUCT,
            fields=(
                _field("Type", STRING, "type"),
                _field("Items", ANY, "items", omit_empty=True),
                _field("Function", self.function_type, "function"),
            ),
            methods=_string_method(json.marshal) if behaviour.tool_string else {},
        )
        self.tools_type = GoType(
            "template.templateTools", Kind.SLICE, elem=self.tool_type, methods=_string_method(json.marshal)
        )

    def _property_fields(self) -> tuple[StructField, ...]:
        required = _field("Required", STRING_SLICE, "required", omit_empty=True)
        return (
            _field("AnyOf", slice_of(self.property_type), "anyOf", omit_empty=True),
            _field("Type", PROPERTY_TYPE, "type", omit_empty=True),
            _field("Items", ANY, "items", omit_empty=True),
            _field("Description", STRING, "description", omit_empty=True),
            _field("Enum", ANY_SLICE, "enum", omit_empty=True),
            _field("Properties", pointer_to(self.properties_map_type), "properties", omit_empty=True),
            *((required,) if self._behaviour.property_required else ()),
        )

    def _properties_map_methods(self) -> dict[str, Method]:
        map_type = GoType("map[string]api.ToolProperty", Kind.MAP, elem=self.property_type, key=STRING)
        iterator = GoType("iter.Seq2[string,github.com/ollama/ollama/api.ToolProperty]", Kind.FUNC)
        yields = (STRING, self.property_type)

        def iterate(receiver: GoPointer) -> GoFunc:
            pairs = list((_ordered_items(receiver) or {}).items())
            return GoFunc(iterator, lambda: pairs, _ITERATOR_SIGNATURE, yields)

        def on_pointer(
            name: str,
            call: Callable[..., GoValue],
            results: tuple[GoType, ...],
            parameters: tuple[GoType, ...] = (),
        ) -> tuple[str, Method]:
            return name, Method(name, call, parameters, results=results, pointer_receiver=True)

        return dict(
            (
                on_pointer("All", iterate, (iterator,)),
                on_pointer("Get", _change, (self.property_type, BOOL), (STRING,)),
                on_pointer("Len", lambda receiver: len(_ordered_items(receiver) or ()), (INT,)),
                on_pointer("Set", _change, (), (STRING, self.property_type)),
                on_pointer("ToMap", lambda receiver: GoMap(map_type, _ordered_items(receiver)), (map_type,)),
                ("MarshalJSON", _marshal_method(_ordered_json)),
                ("UnmarshalJSON", _UNMARSHAL_JSON),
            )
        )

    def tools_of(self, tools: Sequence[Tool] | None) -> GoSlice:
        """Return ``.Tools``: a ``template.templateTools``, nil if tools are None."""
        return GoSlice(self.tools_type, None if tools is None else [self.tool(tool) for tool in tools])

    def tool(self, tool: Tool) -> GoStruct:
        """Return one tool, a ``template.templateTool``."""
        name, description, parameters = tool.function
        function = GoStruct(self.function_type, [name, description, self._parameters_of(parameters)])
        return GoStruct(self.tool_type, [tool.type, tool.items, function])

    def _parameters_of(self, parameters: Parameters) -> GoStruct:
        kind, defs, items, required, properties = parameters
        values = [
            kind,
            defs,
            items,
            _slice(STRING_SLICE, required),
            GoMap(self.properties_type, self._map_of(properties)),
        ]
        return GoStruct(self.parameters_type, values)

    def _map_of(self, properties: dict[str, Property] | None) -> dict[str, GoStruct] | None:
        if properties is None:
            return None
        return {name: self._property(found) for name, found in properties.items()}

    def _property(self, found: Property) -> GoStruct:
        any_of, types, items, description, enum, properties, required = found
        values = [
            _slice(
                slice_of(self.property_type),
                None if any_of is None else [self._property(variant) for variant in any_of],
            ),
            _slice(PROPERTY_TYPE, types),
            items,
            description,
            _slice(ANY_SLICE, enum),
            self._properties_map(properties),
        ]
        if self._behaviour.property_required:
            values.append(_slice(STRING_SLICE, None if isinstance(required, Refused) else required))
        return GoStruct(self.property_type, values)

    def _properties_map(self, properties: dict[str, Property] | None) -> GoPointer:
        pointer = pointer_to(self.properties_map_type)
        if properties is None:
            return GoPointer(pointer, None)
        ordered = GoPointer(self._ordered_map, self._map_of(properties))
        return GoPointer(pointer, GoStruct(self.properties_map_type, [ordered]))


_ITERATOR_SIGNATURE = Method("", _change)


def _complete(go_type: GoType, fields: tuple[StructField, ...]) -> None:
    """Give a struct type its fields afterwards, because they refer to the type itself."""
    object.__setattr__(go_type, "fields", fields)


def _ordered_items(receiver: GoPointer) -> dict[str, GoStruct] | None:
    """Return the entries of a pointer to an ordered map of properties."""
    if receiver.target is None:
        return None
    items: dict[str, GoStruct] | None = receiver.target.values[0].target
    return items


def _ordered_json(value: GoStruct) -> str:
    items = value.values[0].target
    return "null" if items is None else json.marshal_ordered(items)


@lru_cache(maxsize=8)
def tool_types(behaviour: Behaviour) -> ToolTypes:
    """Return the types of tools in the version of Ollama that behaves so."""
    return ToolTypes(behaviour)
