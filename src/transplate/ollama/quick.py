"""Reading of ordinary messages in one quick pass, straight into the form that fast templates run on.

Everything here gives up on what is not ordinary, be it wrong or only rare (images, keys in other case,
numbers beyond 2**53, lone surrogates, subclasses of Python's types): the careful readers of
:mod:`transplate.ollama.request` then do it all again, and they alone complain. Nothing that is returned
outlives the caller's data unless it was copied; arguments of calls are the caller's own objects.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from transplate.gotmpl import json
from transplate.ollama.collate import SEPARATOR
from transplate.ollama.shapes import FastCall, FastMessage

ROLES: Final = {
    role: role
    for role in "system user assistant tool context control developer function ipython".split()  # noqa: SIM905
}
"""The roles of ordinary chats. What is found here is no subclass of a string, whatever it was found by."""

_INTEGERS: Final = range(-(1 << 53), 1 << 53)
_INFINITY: Final = float("inf")
_MOST_CONTAINERS: Final = 10_000
_TEXTS: Final = frozenset({"thinking", "tool_name", "tool_call_id"})


class NotOrdinary(Exception):
    """Something that the careful readers have to look at."""


QuickMessages: TypeAlias = tuple[str, list[FastMessage], int]
"""The system messages' contents, joined; the messages; and how many keys the objects of their calls have."""


def quick_messages(messages: list[Any], with_json: bool = True) -> QuickMessages | None:
    """Read and collate messages, as ``collate`` in Ollama's template.go does; None also where there are none.

    Args:
        messages: The messages.
        with_json: Whether the arguments of calls are read, and so their JSON is wanted.
    """
    systems: list[str] = []
    read: list[FastMessage] = []
    joining: list[str] | None = None
    last: str | None = None
    keys = 0
    made: FastMessage
    try:
        for message in messages:
            role = ROLES[message["role"]]
            if len(message) == 2 and type(message) is dict:
                content = message["content"]
                made = (role, content, "", None, None, "", "")
            else:
                content, thinking, calls, tool_name, tool_call_id, called = read_more(message, with_json)
                made = (role, content, thinking, None, calls, tool_name, tool_call_id)
                keys += called
            if type(content) is not str:
                return None
            if not content.isascii():
                content.encode()
            if role == "system":
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
    except Exception:
        return None  # a subclass of Python's types can raise anything
    if not read:
        return None
    if joining is not None:
        read[-1] = _with_content(read[-1], joining)
    return SEPARATOR.join(systems), read, keys


def _with_content(message: FastMessage, more: list[str]) -> FastMessage:
    """Return a message with the contents of later ones joined to its own."""
    role, content, thinking, images, calls, tool_name, tool_call_id = message
    return role, SEPARATOR.join((content, *more)), thinking, images, calls, tool_name, tool_call_id


More: TypeAlias = tuple[Any, str, list[FastCall] | None, str, str, int]
"""Content (not looked at), thinking, calls, tool name and tool call ID of a message; keys of its calls."""


def read_more(message: Any, with_json: bool) -> More:
    """Read a message that has more than role and content, or less.

    Args:
        message: The message, which has a role.
        with_json: Whether the arguments of calls are read, and so their JSON is wanted.

    Raises:
        NotOrdinary: The careful readers have to look at it; so does any other exception.
    """
    if type(message) is not dict:
        raise NotOrdinary
    content = thinking = tool_name = tool_call_id = ""
    calls: list[FastCall] | None = None
    known = 1
    keys = 0
    if "content" in message:
        known += 1
        content = message["content"]
    if "tool_calls" in message:
        known += 1
        calls, keys = _read_calls(message["tool_calls"], with_json)
    elif "tool_name" in message:
        known += 1
        tool_name = message["tool_name"]
    if known != len(message):
        if calls is not None and "tool_name" in message:
            known += 1
            tool_name = message["tool_name"]
        if "thinking" in message:
            known += 1
            thinking = message["thinking"]
        if "tool_call_id" in message:
            known += 1
            tool_call_id = message["tool_call_id"]
        if known != len(message) or not type(thinking) is type(tool_call_id) is str:
            raise NotOrdinary
        if not (thinking.isascii() and tool_call_id.isascii()):
            (thinking + tool_call_id).encode()
    if type(tool_name) is not str:
        raise NotOrdinary
    if not tool_name.isascii():
        tool_name.encode()
    return content, thinking, calls, tool_name, tool_call_id, keys


def check_more(message: Any) -> int:
    """Check a message of which nothing but role and content is read; return how many keys its calls have.

    Raises:
        NotOrdinary: The careful readers have to look at it; so does any other exception.
    """
    if type(message) is not dict:
        raise NotOrdinary
    keys = 0
    for key, item in message.items():
        if key in _TEXTS:
            if type(item) is not str:
                raise NotOrdinary
        elif key == "tool_calls":
            keys += _check_calls(item)
        elif key != "role" and key != "content":
            raise NotOrdinary
    return keys


def _check_calls(found: Any) -> int:
    """Check tool calls; return how many keys the objects in them have."""
    if type(found) is not list:
        raise NotOrdinary
    keys = 0
    for call in found:
        function = call["function"]
        arguments = function["arguments"]
        if not (type(call) is type(function) is type(arguments) is dict and type(function["name"]) is str):
            raise NotOrdinary
        size, function_size = len(call), len(function)
        if size > 1:
            _identity(call)
        if function_size > 2:
            index = function["index"]
            if function_size > 3 or type(index) is not int or index not in _INTEGERS:
                raise NotOrdinary
        keys += size + function_size + len(arguments)
        for key, item in arguments.items():
            if type(key) is not str:
                raise NotOrdinary
            if not key.isascii():
                key.encode()
            kind = type(item)
            if kind is dict or kind is list:
                keys += check_data(item)
            elif kind is int:
                if item not in _INTEGERS:
                    raise NotOrdinary
            elif kind is float:
                if not -_INFINITY < item < _INFINITY:
                    raise NotOrdinary
            elif kind is not str and kind is not bool and item is not None:
                raise NotOrdinary
    return keys


def _read_calls(found: Any, with_json: bool) -> tuple[list[FastCall], int]:
    """Read tool calls; also return how many keys the objects in them have."""
    if type(found) is not list:
        raise NotOrdinary
    calls: list[FastCall] = []
    sizes: list[int] = []
    keys = 0
    for call in found:
        function = call["function"]
        name = function["name"]
        arguments = function["arguments"]
        identity = ""
        index = 0
        size, function_size = len(call), len(function)
        if size > 1:
            identity = _identity(call)
        if function_size > 2:
            index = function["index"]
            if function_size > 3 or type(index) is not int or index not in _INTEGERS:
                raise NotOrdinary
        if not type(call) is type(function) is type(arguments) is dict:
            raise NotOrdinary
        if type(name) is not str:
            raise NotOrdinary
        if not (name.isascii() and identity.isascii()):
            (name + identity).encode()
        keys += size + function_size
        text = None
        if with_json:
            text = json.marshal_ordinary(arguments, sizes)
        else:
            keys += check_data(arguments)
        calls.append((identity, index, name, arguments, text))
    return calls, keys + sum(sizes)


def _identity(call: dict[Any, Any]) -> str:
    """Return the ID of a tool call that has more than a function."""
    identity = call.get("id", "")
    if not type(identity) is type(call.get("type", "")) is str:
        raise NotOrdinary
    if len(call) - ("id" in call) - ("type" in call) != 1:
        raise NotOrdinary
    return identity


def check_data(value: dict[Any, Any] | list[Any]) -> int:
    """Check that an object or a list is ordinary JSON data; return how many keys the objects in it have.

    Raises:
        NotOrdinary: It is not; so does UnicodeEncodeError.
    """
    keys = 0
    waiting: list[Any] = [value]
    for container in waiting:
        items: Iterable[Any] = container
        if type(container) is dict:
            keys += len(container)
            for key in container:
                if type(key) is not str:
                    raise NotOrdinary
                if not key.isascii():
                    key.encode()
            items = container.values()
        for item in items:
            kind = type(item)
            if kind is str:
                if not item.isascii():
                    item.encode()
            elif kind is dict or kind is list:
                if item:
                    waiting.append(item)
            elif kind is int:
                if item not in _INTEGERS:
                    raise NotOrdinary
            elif kind is float:
                if not -_INFINITY < item < _INFINITY:
                    raise NotOrdinary
            elif kind is not bool and item is not None:
                raise NotOrdinary
        if len(waiting) > _MOST_CONTAINERS:  # perhaps one that holds itself
            raise NotOrdinary
    return keys
