"""Changes of how calls and tools are written as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from transplate.conversation import Conversation, Message, ToolCall
from transplate.parity.experiments.base import SENTINEL, Each, each_message

_ODD_CHARACTERS = re.compile(r"[^A-Za-z0-9 .,:;_?!\n-]")
_PROPERTY_ORDER = ("type", "items", "description", "enum", "properties", "required")
_PROPERTY_KEYS = ("type", "items", "description", "enum", "anyOf")
_PARAMETERS_ORDER = ("type", "$defs", "items", "required", "properties")


def in_calls(change: Callable[[ToolCall], ToolCall]) -> Each:
    """Return the change of a message that changes each of its calls."""

    def apply(message: Message) -> Message:
        if not message.tool_calls:
            return message
        changed = tuple(map(change, message.tool_calls))
        if all(one is other for one, other in zip(changed, message.tool_calls, strict=True)):
            return message
        return replace(message, tool_calls=changed)

    return apply


def sorted_arguments(call: ToolCall) -> ToolCall:
    """Put the arguments of a call in alphabetical order, at every depth."""
    made = in_order(call.arguments)
    return call if same_order(made, call.arguments) else replace(call, arguments=made)


def in_order(value: Any) -> Any:
    """Return data whose keys are in alphabetical order, at every depth."""
    if isinstance(value, Mapping):
        return {key: in_order(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [in_order(item) for item in value]
    return value


def same_order(one: Any, other: Any) -> bool:
    """Compare data with the order of its keys, which Python's own comparison leaves out."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(same_order(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_order, one, other))
    return type(one) is type(other) and bool(one == other)


def plain_data(value: Any) -> Any:
    """Return data whose texts hold nothing that needs escaping, and whose numbers are small integers."""
    if isinstance(value, str):
        return _ODD_CHARACTERS.sub("x", value)
    if isinstance(value, Mapping):
        return {plain_data(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(item) for item in value]
    return value


def simple_numbers(value: Any) -> Any:
    """Return data whose numbers are small integers."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return value if isinstance(value, int) and abs(value) < 100_000 else 7
    if isinstance(value, Mapping):
        return {key: simple_numbers(item) for key, item in value.items()}
    return [simple_numbers(item) for item in value]


def as_text(value: Any) -> Any:
    """Return a text in place of anything that is not a text."""
    return value if isinstance(value, str) else SENTINEL


def in_arguments(change: Callable[[Any], Any]) -> Callable[[Conversation], Conversation]:
    """Return the change of a conversation that changes the arguments of each call."""

    def changed(call: ToolCall) -> ToolCall:
        made = change(call.arguments)
        return call if same_order(made, call.arguments) else replace(call, arguments=made)

    return each_message(in_calls(changed))


def in_tools(change: Callable[[Any], Any]) -> Callable[[Conversation], Conversation]:
    """Return the change of a conversation that changes each of its tools."""

    def apply(conversation: Conversation) -> Conversation:
        if not conversation.tools:
            return conversation
        made = tuple(change(tool) for tool in conversation.tools)
        return conversation if same_order(made, conversation.tools) else replace(conversation, tools=made)

    return apply


def both(
    one: Callable[[Conversation], Conversation], other: Callable[[Conversation], Conversation]
) -> Callable[[Conversation], Conversation]:
    """Return the change that makes one change after another."""
    return lambda conversation: other(one(conversation))


def in_function(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Any], Any]:
    """Return the change of a tool that changes its function."""

    def apply(tool: Any) -> Any:
        return {**tool, "function": change(dict(tool["function"]))}

    return apply


def ordered(value: Mapping[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    """Return an object whose keys are in an order, others behind them."""
    names = [name for name in order if name in value]
    return {name: value[name] for name in (*names, *(name for name in value if name not in order))}


def schema_order(tool: Any) -> Any:
    """Return a tool with its keys in the order in which Ollama writes them."""

    def of_function(function: dict[str, Any]) -> dict[str, Any]:
        function = ordered(function, ("name", "description", "parameters"))
        if isinstance(function.get("parameters"), Mapping):
            parameters = ordered(function["parameters"], _PARAMETERS_ORDER)
            if isinstance(parameters.get("properties"), Mapping):
                parameters["properties"] = {
                    name: ordered(schema, _PROPERTY_ORDER) if isinstance(schema, Mapping) else schema
                    for name, schema in parameters["properties"].items()
                }
            function["parameters"] = parameters
        return function

    return ordered(in_function(of_function)(tool), ("type", "items", "function"))


def sorted_properties(tool: Any) -> Any:
    """Return a tool whose parameters are in alphabetical order."""

    def of_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
        properties = parameters.get("properties")
        if isinstance(properties, Mapping):
            parameters["properties"] = {name: properties[name] for name in sorted(properties)}
        return parameters

    return in_parameters(of_parameters)(tool)


def in_parameters(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Any], Any]:
    """Return the change of a tool that changes its parameters, if it has some."""

    def of_function(function: dict[str, Any]) -> dict[str, Any]:
        if isinstance(function.get("parameters"), Mapping):
            function["parameters"] = change(dict(function["parameters"]))
        return function

    return in_function(of_function)


def in_properties(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Any], Any]:
    """Return the change of a tool that changes the schema of each parameter."""

    def of_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
        properties = parameters.get("properties")
        if isinstance(properties, Mapping):
            parameters["properties"] = {
                name: change(dict(schema)) if isinstance(schema, Mapping) else schema
                for name, schema in properties.items()
            }
        return parameters

    return in_parameters(of_parameters)


def known_keys(tool: Any) -> Any:
    """Return a tool without the keys that Ollama does not read."""

    def known(schema: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        return {name: value for name, value in schema.items() if name in names}

    def of_function(function: dict[str, Any]) -> dict[str, Any]:
        return known(function, ("name", "description", "parameters"))

    tool = known(dict(tool), ("type", "items", "function"))
    tool = in_function(of_function)(tool)
    tool = in_parameters(lambda parameters: known(parameters, _PARAMETERS_ORDER))(tool)
    return in_properties(lambda schema: known(schema, _PROPERTY_KEYS))(tool)


def complete(tool: Any) -> Any:
    """Return a tool with everything that Ollama's printing has even where the schema has it not."""

    def of_function(function: dict[str, Any]) -> dict[str, Any]:
        function.setdefault("description", SENTINEL)
        if not isinstance(function.get("parameters"), Mapping):
            function["parameters"] = {}
        return function

    def of_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
        made = {"type": "object", **parameters}
        if not made.get("properties") or not isinstance(made["properties"], Mapping):
            made["properties"] = {"q": {"type": "string", "description": SENTINEL}}
        if not made.get("required"):
            made["required"] = [next(iter(made["properties"]))]
        return made

    def of_property(schema: dict[str, Any]) -> dict[str, Any]:
        made = {"type": "string", **schema}
        if not made.get("description"):
            made["description"] = SENTINEL
        return made

    made = in_function(of_function)({"type": "function", **tool})
    made = in_properties(of_property)(in_parameters(of_parameters)(made))
    return tool if made == tool else schema_order(made)


def single_type(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter with the first of its types alone."""
    kind = schema.get("type")
    if isinstance(kind, list | tuple) and kind:
        schema["type"] = kind[0]
    return schema


def plain_property(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a property with nothing but its type and description."""
    return {"type": "string", **{name: schema[name] for name in ("description",) if name in schema}}
