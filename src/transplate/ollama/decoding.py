"""JSON as Go's ``encoding/json`` decodes it into typed data: JSON text or plain Python data in, records out.

A *reader* decodes one JSON value: it is given the value and what the field holds already (Go decodes a key
that occurs twice on top of the first value) and returns what the field holds then. Readers never keep a
mutable object of the caller. They signal a bad value with :class:`Refused`, which collects the path to it.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeAlias

from transplate.errors import RequestError, TransplateError, unreadable
from transplate.source import Source

Reader: TypeAlias = Callable[[Any, Any], Any]
"""Decodes one JSON value: ``(value, what is there already) -> what is there then``."""

_LONGEST_INT = 4000
_SURROGATE = re.compile("[\ud800-\udfff]")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_INT64_END = 1 << 63


class Refused(Exception):
    """A JSON value that does not fit its field; caught and named by :func:`decode`."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.steps: list[str] = []

    def inside(self, step: str) -> Refused:
        """Return this refusal seen from one level further out."""
        self.steps.append(step)
        return self

    @property
    def path(self) -> str:
        """Where the value is, ``messages[2].content``."""
        return "".join(reversed(self.steps)).removeprefix(".")


def decode(reader: Reader, value: Any, zero: Any, *, name: str = "") -> Any:
    """Decode plain Python data with a reader.

    Args:
        reader: The reader of its type.
        value: The data.
        zero: The zero value of the type, which null and missing fields keep.
        name: What the value is called in errors.

    Raises:
        RequestError: A value does not fit; the message names the field.
    """
    try:
        return reader(value, zero)
    except Refused as refused:
        path = refused.inside(name).path if name else refused.path
        raise RequestError(f"{path}: {refused.problem}" if path else refused.problem) from None
    except RecursionError:
        raise RequestError(f"{name or 'request'}: is nested too deeply") from None
    except TransplateError:
        raise
    except Exception as error:
        raise unreadable(name or "request", error) from error


def decode_json(reader: Reader, value: Any, zero: Any, *, name: str = "") -> Any:
    """Decode JSON text (``str`` or ``bytes``) or plain Python data with a reader, as :func:`decode` does.

    Raises:
        RequestError: The text is no JSON, or a value does not fit; the message names the field.
    """
    if issubclass(type(value), str | bytes | bytearray):
        value = parse_json(value, name=name)
    return decode(reader, value, zero, name=name)


# --- JSON text ------------------------------------------------------------------------------------------


class RepeatedKeys(dict[str, Any]):
    """A JSON object in which some key occurs more than once; ``pairs`` has all of them in order."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


class _NegativeZero(int):
    """The JSON number ``-0``: an integer, and as a float64 the negative zero."""


def parse_json(text: str | bytes | bytearray, *, name: str = "") -> Any:
    """Parse JSON text as Go does, keeping repeated keys and the sign of ``-0``.

    Bytes outside UTF-8 stay in strings as lone surrogates, to be replaced when the string is read.

    Raises:
        RequestError: The text is no JSON; with the position.
    """
    what = name or "request"
    try:
        text = str.__str__(text) if isinstance(text, str) else bytes(text).decode("utf-8", "surrogateescape")
    except Exception as error:
        raise unreadable(what, error) from error
    try:
        try:
            decoder = _CAREFUL_DECODER if "-0" in text else _DECODER
            return decoder.decode(text)
        except json.JSONDecodeError:
            raise
        except ValueError:  # an integer of more digits than Python converts by default
            return _CAREFUL_DECODER.decode(text)
    except json.JSONDecodeError as error:
        problem = f"{what}: is no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise RequestError(problem, source=Source(text), offset=error.pos) from None
    except _NotJson as error:
        matches = re.finditer(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity', text)
        offset = next(match.start() for match in matches if not match[0].startswith('"'))
        raise RequestError(
            f"{what}: is no JSON: {error} is no number", source=Source(text), offset=offset
        ) from None
    except RecursionError:
        raise RequestError(f"{what}: is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    return made if len(made) == len(pairs) else RepeatedKeys(pairs)


def _integer(digits: str) -> int | float:
    if digits == "-0":
        return _NegativeZero()
    return int(digits) if len(digits) < _LONGEST_INT else float(digits)


class _NotJson(Exception):
    """A number that Python's parser takes and JSON does not have."""


def _constant(name: str) -> NoReturn:
    raise _NotJson(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
_CAREFUL_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)


# --- readers --------------------------------------------------------------------------------------------


def read_string(value: Any, there: str) -> str:
    """Read a string; null keeps what is there, and what is no Unicode becomes U+FFFD."""
    if type(value) is str:
        return value if value.isascii() else _clean(value)
    if value is None:
        return there
    if isinstance(value, str):
        return _clean(str.__str__(value))
    raise Refused(f"must be a string, not {describe(value)}")


def read_bool(value: Any, there: bool) -> bool:
    """Read a boolean; null keeps what is there."""
    if value is None:
        return there
    if isinstance(value, bool):
        return value
    raise Refused(f"must be true or false, not {describe(value)}")


def read_int(value: Any, there: int) -> int:
    """Read an integer that is written as one and fits Go's int; null keeps what is there."""
    if value is None:
        return there
    if isinstance(value, bool) or not isinstance(value, int):
        problem = "1.0, 1e3 and fractions are none" if isinstance(value, float) else f"not {describe(value)}"
        raise Refused(f"must be an integer, {problem}")
    if not -_INT64_END <= value < _INT64_END:
        raise Refused("is an integer beyond 64 bits")
    return int(value)


def read_any(value: Any, there: Any = None) -> Any:  # noqa: ARG001 - Go replaces what an interface holds
    """Read JSON data of any shape: numbers become float64, objects plain maps."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() else _clean(value)
    if kind is dict or kind is RepeatedKeys:
        made = {}
        for key, item in pairs_of(value):
            name = read_key(key)
            try:
                made[name] = read_any(item)
            except Refused as refused:
                raise refused.inside(f".{name}") from None
        return made
    if kind is list:
        return [_element(read_any, item, index, None) for index, item in enumerate(value)]
    if value is None or kind is bool:
        return value
    if kind is int or kind is float:
        return _float64(value)
    return read_any(_plain(value))


def read_key(key: Any) -> str:
    """Read the key of a plain map."""
    if type(key) is str:
        return key if key.isascii() else _clean(key)
    if isinstance(key, str):
        return _clean(str.__str__(key))
    raise Refused(f"has a key that is no string but {describe(key)}")


def read_bytes(value: Any, there: bytes | None) -> bytes | None:  # noqa: ARG001 - Go decodes anew
    """Read a ``[]byte``: a base64 string, or an array of numbers as Go also takes it."""
    if value is None:
        return None
    if isinstance(value, str):
        text = str.__str__(value).replace("\r", "").replace("\n", "")
        if _BASE64.fullmatch(text) is None:
            raise Refused("must be standard base64 with padding")
        return base64.b64decode(text)
    if isinstance(value, list | tuple):
        return bytes(_element(_read_byte, item, index, 0) for index, item in enumerate(value))
    raise Refused(f"must be a base64 string, not {describe(value)}")


def _read_byte(value: Any, there: int) -> int:
    number = read_int(value, there)
    if not 0 <= number <= 255:
        raise Refused("must be a byte, 0 to 255")
    return number


def list_of(element: Reader, zero: Any) -> Reader:
    """Return the reader of a list, which is None for null and else a new list.

    Args:
        element: The reader of its elements.
        zero: What an element is before it is read.
    """

    def read(value: Any, there: list[Any] | None) -> list[Any] | None:
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise Refused(f"must be a list, not {describe(value)}")
        before = there or ()
        return [
            _element(element, item, index, before[index] if index < len(before) else zero)
            for index, item in enumerate(value)
        ]

    return read


def ordered_map_of(element: Reader, zero: Any) -> Reader:
    """Return the reader of Ollama's ordered maps, which is None for null and else a new dict.

    Their keys come from another JSON library (buger/jsonparser), which refuses keys that are no Unicode.
    """

    def read(value: Any, there: dict[str, Any] | None) -> dict[str, Any] | None:  # noqa: ARG001
        if value is None:
            return None
        made = {}
        for key, item in pairs_of(value):
            name = read_key(key)
            if name != key:
                raise Refused("has a key that is not valid Unicode")
            try:
                made[name] = element(item, zero)
            except Refused as refused:
                raise refused.inside(f".{name}") from None
        return made

    return read


class StructReader:
    """The reader of a struct: finds fields as Go does, and makes a tuple of them.

    Keys match a field exactly or without regard to case, in Go's sense of it, in which the long s and the
    Kelvin sign are letters s and k. Other keys are ignored.

    Attributes:
        zero: The tuple of a struct none of whose fields is given.
    """

    def __init__(
        self,
        fields: Mapping[str, tuple[Reader, Any]],
        make: Callable[[Iterable[Any]], Any] = tuple,
    ) -> None:
        """Make the reader.

        Args:
            fields: The fields' JSON names, each with its reader and its zero value.
            make: What makes the record from the fields' values; it must be a tuple.
        """
        self.zero = make(zero for _, zero in fields.values())
        self._readers = {name: (index, reader) for index, (name, (reader, _)) in enumerate(fields.items())}
        self._folded = {_fold(name): name for name in fields}
        self._make = make

    def __call__(self, value: Any, there: Any) -> Any:
        """Read an object on top of the tuple that is there; null keeps it."""
        if value is None:
            return there
        slots = list(there)
        readers = self._readers
        for key, item in pairs_of(value):
            found = readers.get(key)
            if found is None:
                name = self._folded.get(_fold(key)) if isinstance(key, str) else read_key(key)
                if name is None:
                    _ignore(item, key)
                    continue
                found = readers[name]
            index, reader = found
            try:
                slots[index] = reader(item, slots[index])
            except Refused as refused:
                raise refused.inside(f".{key}") from None
        return self._make(slots)


def pairs_of(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return the keys and values of a JSON object in order, repeated keys included."""
    if type(value) is dict:
        return value.items()
    if type(value) is RepeatedKeys:
        return value.pairs
    if isinstance(value, dict):
        return dict.items(value)
    raise Refused(f"must be an object, not {describe(value)}")


def describe(value: Any) -> str:
    """Return what a value is, in JSON's words where it has some."""
    if value is None:
        return "null"
    if issubclass(type(value), bool):
        return "true" if value else "false"
    if issubclass(type(value), str):
        return "a string"
    if issubclass(type(value), int | float):
        return "a number"
    if issubclass(type(value), list | tuple):
        return "a list"
    if issubclass(type(value), dict):
        return "an object"
    return f"a Python {type(value).__name__}"


def _element(reader: Reader, value: Any, index: int, there: Any) -> Any:
    try:
        return reader(value, there)
    except Refused as refused:
        raise refused.inside(f"[{index}]") from None


def _clean(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)


def _float64(value: float) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Refused("is no number that JSON and a float64 can hold")
    return number


def _plain(value: Any) -> Any:
    """Return the JSON data that an object of another class stands for."""
    if type(value) is _NegativeZero:
        return -0.0
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, dict):
        return dict(dict.items(value))
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, int):
        return int.__index__(value)
    if isinstance(value, float):
        return float.__float__(value)
    raise Refused(f"is no JSON data but {describe(value)}")


def _ignore(value: Any, key: Any) -> None:
    """Check that the value of an unknown key is JSON data; its numbers may be beyond a float64."""
    try:
        _check(value)
    except Refused as refused:
        raise refused.inside(f".{key}") from None


def _check(value: Any) -> None:
    if value is None or isinstance(value, str | bool | int):
        return
    if isinstance(value, float):
        if value != value:
            raise Refused("is no number that JSON can hold")
    elif isinstance(value, dict):
        for key, item in value.items():
            read_key(key)
            _ignore(item, key)
    elif isinstance(value, list | tuple):
        for item in value:
            _check(item)
    else:
        raise Refused(f"is no JSON data but {describe(value)}")


def _fold(name: str) -> str:
    return name.replace("\u017f", "s").replace("\u212a", "k").lower()
