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
from functools import lru_cache
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
_ROLES: Final = {
    role: role
    for role in "system user assistant tool context control developer function ipython".split()  # noqa: SIM905
}
"""The roles of ordinary chats. What is found here is no subclass of a string, whatever it was found by."""


QuickMessages: TypeAlias = tuple[str, list[FastMessage], int]
"""The system messages' contents, joined; the messages; and how many keys the objects of their calls have."""


def quick_messages(messages: list[Any], with_json: bool = True) -> QuickMessages | None:
    """Read and collate messages, as ``collate`` in Ollama's template.go does; None also where there are none.

    Args:
        messages: The messages.
        with_json: Whether the JSON of the arguments of calls is wanted.
    """
    system = ""
    systems: list[str] | None = None
    read: list[FastMessage] = []
    joining: list[str] | None = None
    last: str | None = None
    keys = 0
    made: FastMessage
    try:
        for message in messages:
            size = len(message)
            role = _ROLES[message["role"]]
            if size == 2 and type(message) is dict:
                content = message["content"]
                made = (role, content, "", None, None, "", "")
            elif size == 3 and "tool_name" in message and type(message) is dict:
                content, tool_name = message["content"], message["tool_name"]
                if type(tool_name) is not str or not tool_name.isascii():
                    return None
                made = (role, content, "", None, None, tool_name, "")
            else:
                made, called = _quick_message(message, role, with_json)
                content = made[1]
                keys += called
            if type(content) is not str:
                return None
            if not content.isascii():
                content.encode()
            if role == "system":
                if systems is None:
                    system, systems = content, [content]
                else:
                    systems.append(content)
            if role != last or role == "tool":
                if joining is not None:
                    read[-1] = _with_content(read[-1], joining)
                    joining = None
                last = role
                read.append(made)
            elif joining is None:
                joining = [content]
            else:
                joining.append(content)
    except (_NotOrdinary, KeyError, AttributeError, TypeError, UnicodeEncodeError, RecursionError):
        return None
    if not read:
        return None
    if joining is not None:
        read[-1] = _with_content(read[-1], joining)
    if systems is not None and len(systems) > 1:
        system = SEPARATOR.join(systems)
    return system, read, keys


class _NotOrdinary(Exception):
    """Something that the careful readers have to look at."""


def _with_content(message: FastMessage, more: list[str]) -> FastMessage:
    """Return a message with the contents of later ones joined to its own."""
    role, content, thinking, images, calls, tool_name, tool_call_id = message
    return role, SEPARATOR.join((content, *more)), thinking, images, calls, tool_name, tool_call_id


def _quick_message(message: Any, role: str, with_json: bool) -> tuple[FastMessage, int]:
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
        keys = _quick_calls(message["tool_calls"], calls, with_json)
    if "tool_name" in message:
        known += 1
        tool_name = message["tool_name"]
    if "thinking" in message:
        known += 1
        thinking = message["thinking"]
    if "tool_call_id" in message:
        known += 1
        tool_call_id = message["tool_call_id"]
    if known != len(message):
        raise _NotOrdinary
    if not type(thinking) is type(tool_name) is type(tool_call_id) is str:
        raise _NotOrdinary
    if not (thinking.isascii() and tool_name.isascii() and tool_call_id.isascii()):
        (thinking + tool_name + tool_call_id).encode()
    return (role, content, thinking, None, calls, tool_name, tool_call_id), keys


def _quick_calls(found: Any, calls: list[FastCall], with_json: bool) -> int:
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
        if not type(call) is type(function) is type(arguments) is dict:
            raise _NotOrdinary
        if not type(name) is type(identity) is str:
            raise _NotOrdinary
        if not (name.isascii() and identity.isascii()):
            (name + identity).encode()
        keys += size + function_size
        text = json.marshal_flat(arguments) if with_json else None
        if text is not None:
            keys += len(arguments)
        else:
            keys += _check_object(arguments)
            if with_json:
                text = json.marshal(arguments)
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
        elif kind is int:
            if item not in _INTEGERS:
                raise _NotOrdinary
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

_KEPT_TOOLS: Final = 64
_SHARING_VERSION: Final = 4
"""A version of the bytes that tells also which strings are shared: quick, but not the same for all equals."""
_PLAIN_VERSION: Final = 2
"""The newest version whose bytes depend on the content alone."""

_Kept: TypeAlias = OrderedDict[bytes, QuickTools]


class ToolReader:
    """Reads tools, and finds those with the same content that were read before.

    They are known by all of their content, types and order included, so that no change goes unnoticed.

    Args:
        behaviour: How the version of Ollama behaves.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        """Start without any."""
        self._behaviour = behaviour
        self._known: _Kept = OrderedDict()
        self._shared: _Kept = OrderedDict()

    def read(self, tools: list[Any]) -> QuickTools | None:
        """Return tools in the fast form, and how many keys the objects in them have."""
        try:
            key = marshal.dumps(tools, _SHARING_VERSION)
            found = self._shared.get(key)
            if found is None:
                found = self._read(tools, marshal.dumps(tools, _PLAIN_VERSION))
                if found is not None:
                    _keep(self._shared, key, found)
        except ValueError:  # too deep to be written; what holds itself is so in one version only
            return None
        return found

    def _read(self, tools: list[Any], key: bytes) -> QuickTools | None:
        found = self._known.get(key)
        if found is None:
            try:
                keys = _check_value(tools)
                records = read_tools(tools)
                if records and self._behaviour.property_required:
                    check_required(records)
            except (_NotOrdinary, UnicodeEncodeError, RecursionError, RequestError):
                return None
            found = (prepared_tools(records, self._behaviour), keys)
            _keep(self._known, key, found)
        return found


def _keep(kept: _Kept, key: bytes, tools: QuickTools) -> None:
    """Keep tools, and drop the oldest of too many."""
    kept[key] = tools
    while len(kept) > _KEPT_TOOLS:
        kept.popitem(last=False)


@lru_cache(maxsize=8)
def tool_reader(behaviour: Behaviour) -> ToolReader:
    """Return the reader of tools for the version of Ollama that behaves so."""
    return ToolReader(behaviour)


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
