"""Reading of ordinary requests in one quick pass, straight into the form that fast templates run on.

Everything here returns None for what is not ordinary, be it wrong or only rare (images, keys in other case,
numbers beyond 2**53, lone surrogates, subclasses of Python's types): the careful readers of
:mod:`transplate.ollama.request` then do it all again, and they alone complain. Nothing that is returned
outlives the caller's data unless it was copied; arguments of calls are the caller's own objects.
"""

from __future__ import annotations

import marshal
import re
from collections import OrderedDict
from collections.abc import Callable
from enum import Enum
from json import JSONDecoder
from typing import Any, Final, TypeAlias

from transplate.errors import RequestError
from transplate.gotmpl import json
from transplate.ollama.collate import SEPARATOR
from transplate.ollama.request import check_required, read_tools
from transplate.ollama.shapes import FastCall, FastMessage, ToolForms, prepared_tools
from transplate.ollama.versions import Behaviour

_INTEGERS: Final = range(-(1 << 53), 1 << 53)
_INFINITY: Final = float("inf")
_ROLES: Final = {role: role for role in ("system", "user", "assistant", "tool")}


QuickMessages: TypeAlias = tuple[str, list[FastMessage], int]
"""The system messages' contents, joined; the messages; and how many keys the objects in them have."""


class Arguments(Enum):
    """What becomes of the arguments of tool calls."""

    UNSEEN = "unseen"
    """They are not looked into, because the template never names them."""
    COUNTED = "counted"
    """They are checked and their keys counted, because that tells whether JSON text was read faithfully."""
    SHOWN = "shown"
    """They are checked, their keys counted and their JSON made."""


def quick_messages(messages: list[Any], arguments: Arguments = Arguments.SHOWN) -> QuickMessages | None:
    """Read and collate messages, as ``collate`` in Ollama's template.go does; None also where there are none.

    Args:
        messages: The messages.
        arguments: What becomes of the arguments of calls.
    """
    system: list[str] = []
    read: list[FastMessage] = []
    joining: list[str] = []
    last: str | None = None
    keys = 0
    made: FastMessage
    try:
        for message in messages:
            size = len(message)
            keys += size
            role = _ROLES.get(message["role"])
            if role is None:
                role = _other_role(message["role"])
            if size == 2 and type(message) is dict:
                content = message["content"]
                made = (role, content, "", None, None, "", "")
            else:
                made, called = _quick_message(message, role, arguments)
                content = made[1]
                keys += called
            if type(content) is not str:
                return None
            if not content.isascii():
                content.encode()
            if role == "system":
                system.append(content)
            if role != last or role == "tool":
                if joining:
                    read[-1] = _with_content(read[-1], joining)
                    joining = []
                last = role
                read.append(made)
            else:
                joining.append(content)
    except (_NotOrdinary, KeyError, AttributeError, TypeError, UnicodeEncodeError, RecursionError):
        return None
    if joining:
        read[-1] = _with_content(read[-1], joining)
    return (SEPARATOR.join(system), read, keys) if read else None


class _NotOrdinary(Exception):
    """Something that the careful readers have to look at."""


def _with_content(message: FastMessage, more: list[str]) -> FastMessage:
    """Return a message with the contents of later ones joined to its own."""
    role, content, thinking, images, calls, tool_name, tool_call_id = message
    return role, SEPARATOR.join((content, *more)), thinking, images, calls, tool_name, tool_call_id


def _other_role(role: Any) -> str:
    """Return a role that is not among the usual ones, which Ollama puts in lower case."""
    if type(role) is not str or not role.islower() or not role.isascii():
        raise _NotOrdinary
    return role


def _quick_message(message: Any, role: str, arguments: Arguments) -> tuple[FastMessage, int]:
    """Read a message that has more than role and content, or less; also return the keys of its calls."""
    if type(message) is not dict:
        raise _NotOrdinary
    content = thinking = tool_name = tool_call_id = ""
    calls: list[FastCall] | None = None
    known = 1
    keys = 0
    if "content" in message:
        known += 1
        content = message["content"]
    if "tool_calls" in message:
        known += 1
        calls = []
        keys = _quick_calls(message["tool_calls"], calls, arguments)
    if "tool_name" in message:
        known += 1
        tool_name = _quick_text(message["tool_name"])
    if "thinking" in message:
        known += 1
        thinking = _quick_text(message["thinking"])
    if "tool_call_id" in message:
        known += 1
        tool_call_id = _quick_text(message["tool_call_id"])
    if known != len(message):
        raise _NotOrdinary
    return (role, content, thinking, None, calls, tool_name, tool_call_id), keys


def _quick_text(value: Any) -> str:
    """Return an ordinary string."""
    if type(value) is not str:
        raise _NotOrdinary
    if not value.isascii():
        value.encode()
    return value


def _quick_calls(found: Any, calls: list[FastCall], looked_at: Arguments) -> int:
    """Read tool calls; return how many keys the objects in them have."""
    if type(found) is not list:
        raise _NotOrdinary
    keys = 0
    for call in found:
        function = call["function"]
        name = function["name"]
        arguments = function["arguments"]
        identity = ""
        index = 0
        size, function_size = len(call), len(function)
        if size > 1:
            identity = call.get("id", "")
            if size - ("id" in call) - ("type" in call) != 1:
                raise _NotOrdinary
        if function_size > 2:
            index = function["index"]
            if function_size > 3 or type(index) is not int or index not in _INTEGERS:
                raise _NotOrdinary
        if type(call) is not dict or type(function) is not dict or type(arguments) is not dict:
            raise _NotOrdinary
        if type(name) is not str or type(identity) is not str:
            raise _NotOrdinary
        if not (name.isascii() and identity.isascii()):
            (name + identity).encode()
        keys += size + function_size
        text = None
        if looked_at is Arguments.SHOWN:
            text = json.marshal_flat(arguments)
            if text is None:
                keys += _check_object(arguments)
                text = json.marshal(arguments)
            else:
                keys += len(arguments)
        elif looked_at is Arguments.COUNTED:
            keys += _check_object(arguments)
        calls.append((identity, index, name, arguments, text))
    return keys


def _check_object(value: dict[Any, Any]) -> int:
    """Check that an object is ordinary JSON data; return how many keys it and those in it have."""
    keys = len(value)
    for key, item in value.items():
        if type(key) is not str:
            raise _NotOrdinary
        if not key.isascii():
            key.encode()
        kind = type(item)
        if kind is str:
            if not item.isascii():
                item.encode()
        elif kind is not bool and item is not None:
            keys += _check_value(item)
    return keys


def _check_value(value: Any) -> int:
    """Check that a value is ordinary JSON data; return how many keys the objects in it have."""
    kind = type(value)
    if kind is str:
        if not value.isascii():
            value.encode()
    elif kind is int:
        if value not in _INTEGERS:
            raise _NotOrdinary
    elif kind is float:
        if not -_INFINITY < value < _INFINITY:
            raise _NotOrdinary
    elif kind is dict:
        return _check_object(value)
    elif kind is list:
        return sum(map(_check_value, value))
    elif kind is not bool and value is not None:
        raise _NotOrdinary
    return 0


# --- tools ----------------------------------------------------------------------------------------------


QuickTools: TypeAlias = tuple[ToolForms | None, int]
"""Tools in the fast form, and how many keys the objects in them have."""

_MARSHAL_VERSION: Final = 2
"""The newest version whose bytes do not depend on how the objects are shared."""
_KEPT_TOOLS: Final = 64
_tools: OrderedDict[tuple[Behaviour, bytes], QuickTools] = OrderedDict()


def quick_tools(tools: list[Any], behaviour: Behaviour) -> QuickTools | None:
    """Read tools, or find those with the same content that were read before.

    They are known by all of their content, types and order included, so that no change goes unnoticed.
    """
    try:
        key = (behaviour, marshal.dumps(tools, _MARSHAL_VERSION))
    except ValueError:
        return None
    found = _tools.get(key)
    if found is None:
        try:
            keys = _check_value(tools)
            records = read_tools(tools)
            if records and behaviour.property_required:
                check_required(records)
        except (_NotOrdinary, UnicodeEncodeError, RecursionError, RequestError):
            return None
        found = _tools[key] = (prepared_tools(records, behaviour), keys)
        while len(_tools) > _KEPT_TOOLS:
            _tools.popitem(last=False)
    return found


# --- bodies as JSON text --------------------------------------------------------------------------------

_COMPACT_KEY: Final = '":'
_ESCAPED_QUOTE: Final = '\\":'
_BACKSLASHED_KEY: Final = '\\\\":'
_SPACE_BEFORE_COLON: Final = re.compile(r'"[ \t\n\r]+:')
_NEGATIVE_ZERO: Final = re.compile(r"-0(?![0-9.])")
_BODY_KEYS: Final = frozenset({"model", "messages", "tools", "think", "stream"})


QuickBody: TypeAlias = tuple[list[Any], Any, Any, int]
"""Messages, tools and ``think`` of a body of ``/api/chat``, and how many keys the body itself has."""

_scan: Final[Callable[[str, int], tuple[Any, int]]] = JSONDecoder().scan_once  # type: ignore[attr-defined]


def quick_body(text: str) -> QuickBody | None:
    """Parse the text of a body of ``/api/chat``; :func:`is_faithful` tells later whether that was enough."""
    try:
        body, end = _scan(text, 0)
    except (StopIteration, ValueError, RecursionError):
        return None
    if end != len(text) or type(body) is not dict or not body.keys() <= _BODY_KEYS:
        return None
    messages = body.get("messages")
    if type(messages) is not list or type(body.get("model", "")) is not str:
        return None
    if type(body.get("stream", False)) is not bool:
        return None
    return messages, body.get("tools"), body.get("think"), len(body)


def is_faithful(text: str, keys: int) -> bool:
    """Whether data read from JSON text has all that the text has: no repeated key, no ``-0``.

    Args:
        text: The text.
        keys: How many keys the objects that were read from it have.
    """
    if "-0" in text and _NEGATIVE_ZERO.search(text) is not None:
        return False
    if text.count(":") == keys:
        return True  # every colon in the text stands behind a key of its own
    return (
        text.count(_COMPACT_KEY) - text.count(_ESCAPED_QUOTE) == keys  # less those inside of strings
        and _BACKSLASHED_KEY not in text
        and _SPACE_BEFORE_COLON.search(text) is None
    )
