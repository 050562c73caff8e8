"""Ollama's data under the names that Jinja has for it."""

from __future__ import annotations

from typing import NamedTuple

from transplate.convert.jinja_to_go.build import field, go
from transplate.convert.jinja_to_go.values import ANY, Const, DictOf, Go, Undefined, Value
from transplate.gotmpl.nodes import Operand


class Key(NamedTuple):
    """A key of a record.

    Attributes:
        path: The Go field.
        kind: What it is; ``any`` for a JSON value.
        optional: Whether the key is not there where the field is empty.
    """

    path: str
    kind: str
    optional: bool = False


KEYS: dict[str, dict[str, Key]] = {
    "message": {
        "role": Key("Role", "str"),
        "content": Key("Content", "str"),
        "tool_calls": Key("ToolCalls", "calls", True),
        "reasoning_content": Key("Thinking", "str", True),
        "thinking": Key("Thinking", "str", True),
        "name": Key("ToolName", "str", True),
        "tool_call_id": Key("ToolCallID", "str", True),
    },
    "call": {"id": Key("ID", "str", True), "function": Key("Function", "called")},
    "called": {"name": Key("Name", "str"), "arguments": Key("Arguments", "arguments")},
    "tool": {
        "type": Key("Type", "str"),
        "items": Key("Items", "any", True),
        "function": Key("Function", "function"),
    },
    "function": {
        "name": Key("Name", "str"),
        "description": Key("Description", "str"),
        "parameters": Key("Parameters", "parameters"),
    },
    "parameters": {
        "type": Key("Type", "str"),
        "$defs": Key("Defs", "any", True),
        "items": Key("Items", "any", True),
        "required": Key("Required", "strings", True),
        "properties": Key("Properties", "properties"),
    },
    "property": {
        "anyOf": Key("AnyOf", "variants", True),
        "type": Key("Type", "type", True),
        "items": Key("Items", "any", True),
        "description": Key("Description", "str", True),
        "enum": Key("Enum", "list", True),
        "properties": Key("Properties", "ordered", True),
        "required": Key("Required", "strings", True),
    },
}


def keys_in_order(kind: str) -> list[str]:
    """Return the keys of a record in the order in which a template sees them."""
    if kind == "message":
        return ["role", "content", "reasoning_content", "name", "tool_call_id", "tool_calls"]
    if kind == "call":
        return ["id", "type", "function"]
    return list(KEYS[kind])


def key_of(kind: str, operand: Operand, name: str) -> Value:
    """Return what a key of a record holds.

    Args:
        kind: The kind of the record.
        operand: The record.
        name: The key.
    """
    if kind == "call" and name == "type":
        return Const("function")
    key = KEYS[kind].get(name)
    if key is None:
        return Undefined(name)
    found = field(operand, key.path)
    kinds = ANY if key.kind == "any" else frozenset({key.kind})
    if key.kind == "properties":
        return Go(kinds, found, go('ne (json $x) "null"', x=found), "none")
    if kind == "property" and name == "required":
        # Only newer versions of Ollama have this field; there the struct prints with a list at its end.
        printed = go('printf "%v" $x', x=operand)
        found = go('or (and (eq (slice $p (len (slice $p 2))) "]}") $r) nil', p=printed, r=found)
        return Go(kinds, found, found)
    if key.kind == "any":
        return Go(kinds, found, go('ne (printf "%T" $x) "<nil>"', x=found))
    return Go(kinds, found, found if key.optional else None)


def record(kind: str, operand: Operand) -> DictOf | None:
    """Return a record of a call as a dict of its keys in order; None for a kind that Ollama marshals itself."""  # noqa: E501
    if kind == "called":
        names = ["name", "arguments"]
    elif kind == "call":
        names = ["type", "function"]
    else:
        return None
    return DictOf(tuple((Const(name), key_of(kind, operand, name)) for name in names))
