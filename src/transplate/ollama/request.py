"""Requests as Ollama's server reads them: bodies of its API, or their parts, in; immutable records out.

The records hold what Go's structs of Ollama's ``api/types.go`` hold, as tuples, which are cheap to make and
cannot change behind a prepared rendering.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from transplate.errors import RequestError
from transplate.gotmpl.quoting import quote
from transplate.ollama.decoding import (
    Reader,
    Refused,
    StructReader,
    decode,
    decode_json,
    describe,
    list_of,
    ordered_map_of,
    parse_json,
    read_any,
    read_bool,
    read_bytes,
    read_int,
    read_string,
)
from transplate.ollama.text import lower
from transplate.ollama.versions import Behaviour

# --- records --------------------------------------------------------------------------------------------

ToolCall: TypeAlias = tuple[str, tuple[int, str, dict[str, Any] | None]]
"""A tool call: ID and function, which is index, name and arguments (None where they are missing)."""

Message: TypeAlias = tuple[str, str, str, list[bytes] | None, list[ToolCall] | None, str, str]
"""A message: role, content, thinking, images, tool calls, tool name and tool call ID."""


class Property(NamedTuple):
    """A property of a tool's parameters (``api.ToolProperty``); ``required`` is new in Ollama 0.20.0."""

    any_of: list[Property] | None
    type: list[str] | None
    items: Any
    description: str
    enum: list[Any] | None
    properties: dict[str, Property] | None
    required: list[str] | Refused | None


class Parameters(NamedTuple):
    """The parameters of a tool (``api.ToolFunctionParameters``)."""

    type: str
    defs: Any
    items: Any
    required: list[str] | None
    properties: dict[str, Property] | None


class Function(NamedTuple):
    """The function of a tool (``api.ToolFunction``)."""

    name: str
    description: str
    parameters: Parameters


class Tool(NamedTuple):
    """A tool (``api.Tool``)."""

    type: str
    items: Any
    function: Function


Think: TypeAlias = bool | str | None
"""The API's ``think``: None for unset, a bool, or a level."""


@dataclass(frozen=True, slots=True)
class Request:
    """The body of a request to ``/api/chat`` or ``/api/generate``, as far as the prompt depends on it.

    Attributes:
        is_generate: Whether it is a body of ``/api/generate``.
        messages: The messages of a chat.
        tools: The tools of a chat; None where there are none.
        think: The thinking that is asked for.
        system: System prompt of a generate request.
        prompt: Prompt of a generate request.
        suffix: Suffix of a generate request.
        images: Images of a generate request.
    """

    is_generate: bool
    messages: list[Message]
    tools: list[Tool] | None
    think: Think
    system: str = ""
    prompt: str = ""
    suffix: str = ""
    images: list[bytes] | None = None


# --- readers of the records -----------------------------------------------------------------------------


_read_call = StructReader(
    {
        "id": (read_string, ""),
        "function": (
            _read_call_function := StructReader(
                {
                    "index": (read_int, 0),
                    "name": (read_string, ""),
                    "arguments": (ordered_map_of(read_any, None), None),
                }
            ),
            _read_call_function.zero,
        ),
    }
)

_read_message_fields = StructReader(
    {
        "role": (read_string, ""),
        "content": (read_string, ""),
        "thinking": (read_string, ""),
        "images": (list_of(read_bytes, None), None),
        "tool_calls": (list_of(_read_call, _read_call.zero), None),
        "tool_name": (read_string, ""),
        "tool_call_id": (read_string, ""),
    }
)


def _read_message(value: Any, there: Any) -> Any:  # noqa: ARG001 - Message decodes itself, always anew
    message = _read_message_fields(value, _read_message_fields.zero)
    role = lower(message[0])
    return message if role == message[0] else (role, *message[1:])


_read_messages = list_of(_read_message, None)
_read_strings = list_of(read_string, "")


def _read_property_type(value: Any, there: Any) -> list[str]:  # noqa: ARG001 - decodes itself anew
    """Read a type, which is a string or a list of strings; null is taken as an empty string."""
    if value is None or isinstance(value, str):
        return [read_string(value, "")]
    if not isinstance(value, list | tuple):
        raise Refused(f"must be a string or a list of strings, not {describe(value)}")
    types: list[str] = _read_strings(value, None)
    return types


def _read_required(value: Any, there: Any) -> list[str] | Refused | None:
    """Read a property's required list; what newer versions refuse and older ones ignore is kept."""
    try:
        required: list[str] | None = _read_strings(value, None if isinstance(there, Refused) else there)
    except Refused as refused:
        return refused
    return required


def _property_reader() -> StructReader:
    def read_property(value: Any, there: Any) -> Any:
        return reader(value, there)

    def read_list(value: Any, there: Any) -> Any:
        return list_of(reader, reader.zero)(value, there)

    def read_map(value: Any, there: Any) -> Any:
        return ordered_map_of(read_property, reader.zero)(value, there)

    reader = StructReader(
        {
            "anyOf": (read_list, None),
            "type": (_read_property_type, None),
            "items": (read_any, None),
            "description": (read_string, ""),
            "enum": (list_of(read_any, None), None),
            "properties": (read_map, None),
            "required": (_read_required, None),
        },
        make=Property._make,
    )
    return reader


_read_property = _property_reader()
EMPTY_PROPERTY: Property = _read_property.zero
"""The zero value of a property."""

_read_parameters = StructReader(
    {
        "type": (read_string, ""),
        "$defs": (read_any, None),
        "items": (read_any, None),
        "required": (_read_strings, None),
        "properties": (ordered_map_of(_read_property, EMPTY_PROPERTY), None),
    },
    make=Parameters._make,
)

_read_function = StructReader(
    {
        "name": (read_string, ""),
        "description": (read_string, ""),
        "parameters": (_read_parameters, _read_parameters.zero),
    },
    make=Function._make,
)

_read_tool = StructReader(
    {
        "type": (read_string, ""),
        "items": (read_any, None),
        "function": (_read_function, _read_function.zero),
    },
    make=Tool._make,
)

_read_tools = list_of(_read_tool, _read_tool.zero)


# --- parts of requests ----------------------------------------------------------------------------------


def read_messages(messages: Any) -> list[Message]:
    """Read a list of messages, given as JSON text or plain Python data.

    Raises:
        RequestError: Something is no message as Ollama reads it; the error names the field.
    """
    return decode_json(_read_messages, messages, None, name="messages") or []


def read_tools(tools: Any) -> list[Tool] | None:
    """Read a list of tools, given as JSON text or plain Python data; None for none.

    Raises:
        RequestError: Something is no tool as Ollama reads it; the error names the field.
    """
    read: list[Tool] | None = decode_json(_read_tools, tools, None, name="tools")
    return read


def read_think(think: Any, behaviour: Behaviour) -> Think:
    """Read the API's ``think``: unset, a bool or a level.

    Raises:
        RequestError: It is something else; with Ollama's text (``ThinkValue.UnmarshalJSON``).
    """
    if think is None or type(think) is bool:
        return think
    listed = ", ".join(f'"{level}"' for level in behaviour.think_levels)
    if not issubclass(type(think), str):
        raise RequestError(f"think must be a boolean or string ({listed}, true, or false)")
    level = read_string(str.__str__(think), "")
    if level not in behaviour.think_levels:
        raise RequestError(f"invalid think value: {quote(level)} (must be {listed}, true, or false)")
    return level


def check_required(tools: Sequence[Tool]) -> None:
    """Check the required lists of all properties, which Ollama reads since 0.20.0.

    Raises:
        RequestError: One is no list of strings.
    """

    def check(properties: Mapping[str, Property] | None, path: str) -> None:
        for name, found in (properties or {}).items():
            check_property(found, f"{path}.properties.{name}")

    def check_property(found: Property, path: str) -> None:
        if isinstance(found.required, Refused):
            where = found.required.path
            raise RequestError(f"{path}.required{where}: {found.required.problem}")
        check(found.properties, path)
        for index, variant in enumerate(found.any_of or ()):
            check_property(variant, f"{path}.anyOf[{index}]")

    for index, tool in enumerate(tools):
        check(tool.function.parameters.properties, f"tools[{index}].function.parameters")


# --- whole bodies ---------------------------------------------------------------------------------------

_DURATION = re.compile(r"[-+]?(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)")


def _read_raw(value: Any, there: Any) -> Any:  # noqa: ARG001 - kept as it is
    return value


def _read_each(value: Any, there: Any) -> Any:
    """Keep a value that is checked later, behind those that the same key had before."""
    return (*there, value)


def _read_duration(value: Any, there: Any) -> Any:  # noqa: ARG001 - Duration decodes itself
    """Check a ``keep_alive``: a number of seconds or Go's text of a duration."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or is_number or (isinstance(value, str) and _DURATION.fullmatch(value)):
        return None
    raise Refused("must be a number of seconds or a duration such as 5m")


def _read_options(value: Any, there: Any) -> Any:  # noqa: ARG001 - checked only
    if value is None or isinstance(value, dict):
        return read_any(value)
    raise Refused(f"must be an object, not {describe(value)}")


_COMMON_FIELDS: dict[str, tuple[Reader, Any]] = {
    "model": (read_string, ""),
    "stream": (read_bool, None),
    "format": (_read_raw, None),
    "keep_alive": (_read_duration, None),
    "options": (_read_options, None),
    "think": (_read_each, ()),
    "truncate": (read_bool, None),
    "shift": (read_bool, None),
    "_debug_render_only": (read_bool, False),
    "logprobs": (read_bool, False),
    "top_logprobs": (read_int, 0),
}
_CHAT_FIELDS: dict[str, tuple[Reader, Any]] = {
    **_COMMON_FIELDS,
    "messages": (_read_messages, None),
    "tools": (_read_tools, None),
}
_GENERATE_FIELDS: dict[str, tuple[Reader, Any]] = {
    **_COMMON_FIELDS,
    "prompt": (read_string, ""),
    "suffix": (read_string, ""),
    "system": (read_string, ""),
    "template": (read_string, ""),
    "context": (list_of(read_int, 0), None),
    "raw": (read_bool, False),
    "images": (list_of(read_bytes, None), None),
    "width": (read_int, 0),
    "height": (read_int, 0),
    "steps": (read_int, 0),
}
_read_chat = StructReader(_CHAT_FIELDS)
_read_generate = StructReader(_GENERATE_FIELDS)


def _last_think(values: Sequence[Any], behaviour: Behaviour) -> Think:
    return [None, *(read_think(value, behaviour) for value in values)][-1]


def read_request(body: Any, behaviour: Behaviour) -> Request:
    """Read a request: a body of ``/api/chat`` or ``/api/generate``, or a bare list of messages.

    Args:
        body: JSON text or plain Python data.
        behaviour: How the version of Ollama that reads it behaves.

    Returns:
        The request. A body with messages is a chat; one with a prompt or a suffix is a generate request.

    Raises:
        RequestError: It is none of these, or a field does not fit; the error names it.
    """
    kind = type(body)  # not what an object of the caller's says of itself
    if issubclass(kind, str | bytes | bytearray):
        body = parse_json(body)
        kind = type(body)
    if issubclass(kind, list | tuple):
        return Request(is_generate=False, messages=read_messages(body), tools=None, think=None)
    if not issubclass(kind, dict):
        raise RequestError(f"a request must be an object or a list of messages, not {describe(body)}")
    names = {key.lower() for key in dict.keys(body) if type(key) is str}
    if "messages" in names:
        chat = dict(zip(_CHAT_FIELDS, decode(_read_chat, body, _read_chat.zero), strict=True))
        return Request(
            is_generate=False,
            messages=chat["messages"] or [],
            tools=chat["tools"],
            think=_last_think(chat["think"], behaviour),
        )
    if names.isdisjoint({"prompt", "suffix"}):
        raise RequestError("a request must have messages, or a prompt")
    generate = dict(zip(_GENERATE_FIELDS, decode(_read_generate, body, _read_generate.zero), strict=True))
    for name in ("template", "context", "raw"):
        if generate[name]:
            raise RequestError(f"{name}: changes or replaces the template, which rendering does not do")
    return Request(
        is_generate=True,
        messages=[],
        tools=None,
        think=_last_think(generate["think"], behaviour),
        system=generate["system"],
        prompt=generate["prompt"],
        suffix=generate["suffix"],
        images=generate["images"],
    )
