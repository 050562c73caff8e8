"""Describes a Python function as a tool: its name, docstring and type hints become a JSON schema.

The rules are those of transformers 5.24 (``transformers.utils.get_json_schema``; "Passing tools" in its chat
template guide): every argument has a type hint and a line in a Google-style ``Args:`` section.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import types
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from transplate.errors import RequestError

_SCALARS: dict[type, str] = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    type(None): "null",
}
_PLAIN_TYPES: dict[Any, str] = _SCALARS | {list: "array", tuple: "array", dict: "object"}
_MEDIA_TYPES = (("PIL.Image", "Image", "image"), ("torch", "Tensor", "audio"))

_SECTION_END = r"[\n\s]*({}\Z)"
_DESCRIPTION = re.compile(r"^(.*?)" + _SECTION_END.format(r"Args:|Returns:|Raises:|"), re.DOTALL)
_ARGUMENTS = re.compile(r"\n\s*Args:\n(.*?)" + _SECTION_END.format("Returns:|Raises:|"), re.DOTALL)
_RETURNS = re.compile(r"\n\s*Returns:\n\s*(.*?)" + _SECTION_END.format("Raises:|"), re.DOTALL)
_ARGUMENT = re.compile(r"([ \t]*)(\w+)(?:[ \t]*\([^()\n]*\))?:\s*(.*)")
_CHOICES = re.compile(r"\(choices:\s*(.*?)\)\s*$", re.IGNORECASE)


def function_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the tool schema of a function, as a chat template gets it.

    Args:
        function: A function or bound method with type hints and a Google-style docstring. An argument whose
            description ends in ``(choices: ["a", "b"])`` gets these as its ``enum``.

    Returns:
        ``{"type": "function", "function": {"name", "description", "parameters", "return"}}``; ``return`` is
        left out where the result has no hint that can be described.

    Raises:
        RequestError: There is no docstring, or an argument without a hint, a description or a type that
            JSON has.
    """
    name = getattr(function, "__name__", "operation")
    docstring = (inspect.getdoc(function) or "").strip()
    if not inspect.getdoc(function):
        raise RequestError(f"the function {name} has no docstring")
    parameters = _parameters(function, name)
    result = parameters["properties"].pop("return", None)
    described = _argument_descriptions(docstring)
    for argument, schema in parameters["properties"].items():
        if argument not in described:
            raise RequestError(f"the docstring of {name} does not describe the argument {argument!r}")
        schema["description"] = _take_choices(described[argument], schema, name, argument)
    description = _DESCRIPTION.search(docstring)
    tool = {
        "name": name,
        "description": description[1].strip() if description else None,
        "parameters": parameters,
    }
    if result is not None:
        returns = _RETURNS.search(docstring)
        if returns:
            result["description"] = returns[1].strip()
        tool["return"] = result
    return {"type": "function", "function": tool}


def _take_choices(description: str, schema: dict[str, Any], name: str, argument: str) -> str:
    """Move the choices at the end of a description into the schema, and return what is left of it."""
    found = _CHOICES.search(description)
    if not found:
        return description
    try:
        choices = json.loads(found[1])
    except ValueError as error:
        raise RequestError(f"the choices of {argument!r} in {name} are no JSON: {error}") from None
    schema["enum"] = [choice.strip() if isinstance(choice, str) else choice for choice in choices]
    return description[: found.start()].strip()


def _argument_descriptions(docstring: str) -> dict[str, str]:
    """Return what the docstring says of each argument; its lines are joined by a space."""
    section = _ARGUMENTS.search(docstring)
    described: dict[str, list[str]] = {}
    name, indent = "", ""
    for line in section[1].split("\n") if section else ():
        start = _ARGUMENT.match(line)
        # A name indented deeper than the argument above it is part of that argument's description.
        if start and not (name and line.startswith((indent + " ", indent + "\t"))):
            indent, name = start[1], start[2]
            described[name] = [start[3]]
        elif name:
            described[name].append(line)
    return {name: " ".join(filter(None, map(str.strip, lines))) for name, lines in described.items()}


def _parameters(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        hints = get_type_hints(function)
    except Exception as error:
        raise RequestError(f"the type hints of {name} cannot be read: {error}") from error
    parameters = inspect.signature(function).parameters
    first = next(iter(parameters), "")
    receiver = (
        first if first in ("self", "cls") and parameters[first].annotation is inspect.Parameter.empty else ""
    )
    required = []
    for parameter in parameters.values():
        if parameter.name == receiver:
            continue
        if parameter.annotation is inspect.Parameter.empty:
            raise RequestError(f"the argument {parameter.name!r} of {name} has no type hint")
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
    properties = {}
    for argument, hint in hints.items():
        try:
            properties[argument] = _hint_schema(hint)
        except _Indescribable as error:
            # The model never produces the result, so a result that JSON cannot describe is left out.
            if argument != "return":
                raise RequestError(f"the type hint of {argument!r} in {name}: {error}") from None
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | {"required": required} if required else schema


class _Indescribable(Exception):
    """A type hint that has no JSON schema."""


def _hint_schema(hint: Any) -> dict[str, Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is None:
        if isinstance(hint, type) and issubclass(hint, Enum):
            return _choice_schema([member.value for member in hint])
        return _plain_schema(hint)
    if origin is Union or origin is types.UnionType:
        return _union_schema(arguments)
    if origin is Literal:
        return _choice_schema(list(arguments))
    if origin is list:
        return {"type": "array", "items": _hint_schema(arguments[0])} if arguments else {"type": "array"}
    if origin is tuple:
        return _tuple_schema(arguments)
    if origin is dict:
        values = {"additionalProperties": _hint_schema(arguments[1])} if len(arguments) == 2 else {}
        return {"type": "object"} | values
    raise _Indescribable(f"{hint!r} has no JSON schema")


def _plain_schema(hint: Any) -> dict[str, Any]:
    if hint is Any:
        return {}
    try:
        return {"type": _PLAIN_TYPES[hint]}
    except (KeyError, TypeError):
        pass
    for module, name, label in _MEDIA_TYPES:
        if module in sys.modules and hint is getattr(sys.modules[module], name, None):
            return {"type": label}
    raise _Indescribable(f"{hint!r} has no JSON schema")


def _choice_schema(values: Sequence[Any]) -> dict[str, Any]:
    if not values or any(type(value) not in _SCALARS for value in values):
        raise _Indescribable("a choice is among JSON scalars, at least one")
    labels = list(dict.fromkeys(_SCALARS[type(value)] for value in values))
    return {"type": labels[0] if len(labels) == 1 else labels, "enum": list(values)}


def _tuple_schema(arguments: Sequence[Any]) -> dict[str, Any]:
    if len(arguments) == 1:
        raise _Indescribable("a tuple of one element is written as that element")
    if ... in arguments:
        raise _Indescribable("a tuple of any length is written as a list")
    items = {"prefixItems": [_hint_schema(argument) for argument in arguments]} if arguments else {}
    return {"type": "array"} | items


def _union_schema(arguments: Sequence[Any]) -> dict[str, Any]:
    members = [_hint_schema(argument) for argument in arguments if argument is not type(None)]
    if len(members) == 1:
        schema = members[0]
    elif all(member.keys() == {"type"} and isinstance(member["type"], str) for member in members):
        labels = sorted({member["type"] for member in members})
        schema = {"type": labels[0] if len(labels) == 1 else labels}
    else:
        schema = {"anyOf": members}
    return schema | {"nullable": True} if type(None) in arguments else schema
