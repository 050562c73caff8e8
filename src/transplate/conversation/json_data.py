"""JSON that was given: parsed, checked, taken for an object, a list or a text, copied."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from transplate.errors import RequestError


def parse_json(text: str | bytes, path: str) -> Any:
    """Return what a JSON text stands for.

    Raises:
        RequestError: It is no JSON, or nested too deeply; the message starts with the path.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise RequestError(f"{path}: is not JSON: {error}") from None
    except RecursionError:
        raise RequestError(f"{path}: is nested too deeply") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def checked_json(value: Any, path: str = "") -> Any:
    """Return data as JSON holds it: exact types, text that is valid Unicode, numbers that Go can read.

    Raises:
        RequestError: Something in it is no JSON.
    """
    try:
        return _checked(value, path)
    except RecursionError:
        raise RequestError(f"{path or 'the conversation'}: is nested too deeply") from None


def _checked(value: Any, path: str) -> Any:
    if isinstance(value, str):
        return _valid_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _checked_number(value, path)
    if isinstance(value, Mapping):
        made = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise RequestError(f"{path or 'the conversation'}: the key {key!r} is no text")
            made[_valid_text(key)] = _checked(item, f"{path}.{key}" if path else key)
        return made
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [_checked(item, f"{path or 'messages'}[{index}]") for index, item in enumerate(value)]
    raise RequestError(f"{path or 'the conversation'}: {type(value).__name__} is no type of JSON")


def _checked_number(value: float, path: str) -> float:
    try:
        if math.isfinite(value):
            return int(value) if isinstance(value, int) else float(value)
    except OverflowError:
        raise RequestError(f"{path}: the number is too large") from None
    raise RequestError(f"{path}: {value} is no number of JSON")


def _valid_text(text: str) -> str:
    """Return a text with its lone surrogates replaced by U+FFFD, and pairs of them joined."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str(text)


def as_object(value: Any, path: str) -> dict[str, Any]:
    """Return a value that has to be an object.

    Raises:
        RequestError: It is none; the message starts with the path.
    """
    if not isinstance(value, dict):
        raise RequestError(f"{path}: an object is needed, not {described(value)}")
    return value


def as_list(value: Any, path: str) -> list[Any]:
    """Return a value that has to be a list; null is an empty one.

    Raises:
        RequestError: It is none; the message starts with the path.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise RequestError(f"{path}: a list is needed, not {described(value)}")
    return value


def as_text(value: Any, path: str) -> str:
    """Return a value that has to be a text; null is an empty one.

    Raises:
        RequestError: It is none; the message starts with the path.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RequestError(f"{path}: a text is needed, not {described(value)}")
    return value


def described(value: Any) -> str:
    """Return what a JSON value is, for a message."""
    if value is None:
        return "null"
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list"}
    return kinds.get(type(value), "an object")


def copied_json(value: Any) -> Any:
    """Return a copy of JSON data."""
    if isinstance(value, Mapping):
        return {key: copied_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copied_json(item) for item in value]
    return value
