"""Go's encoding/json: ``Marshal`` of Go values, and plain JSON data as ``Unmarshal`` into an ``any`` has it.

*Wire data* is JSON as Python's ``json.loads`` reads it, where an ``int`` stands for a number like any other;
in a Go value an ``int`` is a Go int, and every number that came from JSON is a ``float``.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from transplate.gotmpl.numbers import format_float
from transplate.gotmpl.ordering import sorted_keys
from transplate.gotmpl.quoting import REPLACEMENT
from transplate.gotmpl.types import ANY, GoMap, GoSlice, GoType, GoValue, Kind, StructField, type_of

MAXIMUM_DEPTH = 10_000
"""How deeply nested a JSON text Go reads."""

_EXACT_IN_FLOAT64 = 1 << 53
_SURROGATE = re.compile("[\ud800-\udfff]")
# In compact JSON a number follows one of [ : , so that these find every float that Python and Go write
# differently, and every integer that may not fit a float64; the odd find within a string costs only time.
_UNLIKE_EXPONENT = r"\d*(?:\.\d+)?e(?!\+(?:2[1-9]|[3-9]\d|\d{3}))"
_ODD_FLOAT = re.compile(rf"[\[:,]-?\d(?:\d*\.0[\],}}]|{_UNLIKE_EXPONENT})")
_ODD_NUMBER = re.compile(rf"[\[:,]-?\d(?:\d{{15}}|\d*\.0[\],}}]|{_UNLIKE_EXPONENT})")
_ESCAPE = re.compile(r"\\.")
_LONG_ESCAPES = {r"\b": r"\u0008", r"\f": r"\u000c"}
_INTEGERS = frozenset({*(kind for kind in Kind if kind.value.startswith(("int", "uint")))} - {Kind.INTERFACE})


class MarshalError(Exception):
    """A value that Go cannot marshal; the message is Go's."""


class NotJSON(ValueError):
    """Python data that no JSON text stands for."""


class _NotPlain(Exception):
    """Raised within the encoder at the first value that it does not know."""


def _refuse(value: object) -> NoReturn:
    raise _NotPlain(value)


def _make_iterencode() -> Callable[[Any, int], Iterable[str]]:
    """Return the encoder of plain data: compact, keys sorted, nothing but ASCII controls escaped."""
    make_encoder = getattr(json.encoder, "c_make_encoder", None)
    if make_encoder is None:
        encoder = json.JSONEncoder(
            ensure_ascii=False,
            check_circular=False,
            allow_nan=False,
            sort_keys=True,
            separators=(",", ":"),
            default=_refuse,
        )
        return lambda value, _: encoder.iterencode(value)
    encode: Callable[[Any, int], Iterable[str]] = make_encoder(
        None, _refuse, _quote, None, ":", ",", True, False, False
    )
    return encode


_quote: Callable[[str], str] = json.encoder.encode_basestring
_iterencode = _make_iterencode()


def marshal(value: GoValue) -> str:
    """Return ``json.Marshal`` of a Go value, with its escapes of ``<``, ``>``, ``&``, U+2028 and U+2029.

    Raises:
        MarshalError: If the value holds a NaN, an infinity, a complex number or a function.
    """
    if type(value) is float:
        return format_number(value)
    text = _plain_text(value, _has_odd_float)
    return _escape(_marshal_any(value) if text is None else text)


def marshal_ordinary(value: dict[Any, Any], sizes: list[int]) -> str:
    """Return the JSON of ordinary wire data, checking it on the way.

    For arguments of calls, mostly few and short, this is quicker than a check and :func:`marshal_wire`.

    Args:
        value: The data; ordinary are nothing but Python's own types, strings that are Unicode, and integers
            that a float64 holds.
        sizes: Gets how many keys each object in it has.

    Raises:
        NotJSON: Something is not ordinary; so do TypeError, UnicodeEncodeError, RecursionError and
            MarshalError.
    """
    text = _ordinary_object(value, sizes)
    if not text.isascii():
        text.encode()
    return _escape(text)


def _ordinary_object(value: dict[Any, Any], sizes: list[int]) -> str:
    sizes.append(len(value))
    pairs = []
    for key in sorted(value) if len(value) > 1 else value:
        if type(key) is not str:
            raise NotJSON
        item = value[key]
        kind = type(item)
        if kind is str:
            pairs.append(f"{_quote(key)}:{_quote(item)}")
        elif kind is int and -_EXACT_IN_FLOAT64 < item < _EXACT_IN_FLOAT64:
            pairs.append(f"{_quote(key)}:{item}")
        else:
            pairs.append(f"{_quote(key)}:{_ordinary(item, sizes)}")
    return f"{{{','.join(pairs)}}}"


def _ordinary(value: Any, sizes: list[int]) -> str:
    kind = type(value)
    if kind is str:
        return _quote(value)
    if kind is int:
        if -_EXACT_IN_FLOAT64 < value < _EXACT_IN_FLOAT64:
            return str(value)
    elif kind is dict:
        return _ordinary_object(value, sizes)
    elif kind is bool:
        return "true" if value else "false"
    elif value is None:
        return "null"
    elif kind is list:
        return f"[{','.join([_ordinary(item, sizes) for item in value])}]"
    elif kind is float:
        return format_number(value)
    raise NotJSON


def marshal_wire(value: Any) -> str:
    """Return ``json.Marshal`` of what Go reads from wire data, without making that first.

    Args:
        value: Wire data: nothing but what ``json.loads`` returns, its keys strings.

    Raises:
        NotJSON: If a number in it is no float64, or it is nested deeper than Go reads.
    """
    text = None if type(value) in (int, float) else _plain_text(value, _has_odd_number)
    return marshal(from_wire(value)) if text is None else _escape(text)


def _plain_text(value: Any, is_odd: Callable[[str], bool]) -> str | None:
    """Return the JSON of plain data by C-speed code, None where Python would not write what Go does."""
    try:
        text = "".join(_iterencode(value, 0))
        if is_odd(text):
            text = "".join(_iterencode(_with_integers(value), 0))
            if is_odd(text):
                return None
        if not text.isascii():
            text.encode()
    except (_NotPlain, ValueError, RecursionError):
        return None
    return text


def _has_odd_float(text: str) -> bool:
    may_have = ".0" in text or "e-" in text or "e+1" in text or "e+20" in text
    return may_have and _ODD_FLOAT.search(text) is not None


def _has_odd_number(text: str) -> bool:
    return _ODD_NUMBER.search(text) is not None


def _with_integers(value: GoValue) -> GoValue:
    """Return plain data with an ``int`` in place of each float that Go and Python both write as that."""
    kind = type(value)
    if kind is float:
        if value.is_integer() and abs(value) < _EXACT_IN_FLOAT64 and (value or math.copysign(1.0, value) > 0):
            return int(value)
        return value
    if kind is dict:
        return {key: _with_integers(item) for key, item in value.items()}
    return [_with_integers(item) for item in value] if kind is list else value


def marshal_ordered(items: Mapping[str, GoValue]) -> str:
    """Return an object whose keys keep their order, as ``MarshalJSON`` of go-ordered-map v2.1.8 writes it.

    It differs from Go's own in the escapes of two control characters in keys.

    Raises:
        MarshalError: As :func:`marshal`.
    """
    pairs = [
        _ESCAPE.sub(lambda escape: _LONG_ESCAPES.get(escape[0], escape[0]), _string(key))
        + ":"
        + marshal(value)
        for key, value in items.items()
    ]
    return _escape("{" + ",".join(pairs) + "}")


def format_number(value: float) -> str:
    """Return a float64 as Go's JSON has it.

    Raises:
        MarshalError: If it is not finite.
    """
    if value.is_integer() and abs(value) < _EXACT_IN_FLOAT64 and value:
        return str(int(value))
    if not math.isfinite(value):
        raise MarshalError(f"json: unsupported value: {format_float(value, 'g')}")
    if 1e-4 <= abs(value) < _EXACT_IN_FLOAT64 or abs(value) >= 1e21:
        return repr(value)
    if 1e-6 <= abs(value) < 1e21 or value == 0:
        return format_float(value, "f")
    return format_float(value, "e").replace("e-0", "e-")


def from_wire(value: Any) -> GoValue:
    """Return wire data as Go's ``json.Unmarshal`` into an ``any`` has it, sharing nothing with the original.

    Numbers become floats, and lone surrogates U+FFFD.

    Raises:
        NotJSON: If something in it is not JSON, is no float64, or is nested deeper than Go reads.
    """
    top: list[GoValue] = []
    pending: list[tuple[Any, Any, int]] = [([value], top, 0)]
    for source, target, depth in pending:
        if depth > MAXIMUM_DEPTH:
            raise NotJSON("exceeded max depth")
        items = source.items() if type(target) is dict else enumerate(source)
        for key, item in items:
            made: GoValue
            if type(item) is dict:
                made = {}
                pending.append((item, made, depth + 1))
            elif type(item) is list:
                made = []
                pending.append((item, made, depth + 1))
            else:
                made = _scalar_from_wire(item)
            if type(target) is list:
                target.append(made)
            elif type(key) is str:
                target[_valid(key)] = made
            else:
                raise NotJSON(f"a key of an object is {type(key).__name__}, not a string")
    return top[0]


def _scalar_from_wire(value: Any) -> GoValue:
    kind = type(value)
    if kind is str:
        return _valid(value)
    if kind is bool or value is None:
        return value
    if kind is int or kind is float:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
        raise NotJSON("a number is out of the range of float64")
    raise NotJSON(f"{kind.__name__} is not a type of JSON")


def _valid(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub(REPLACEMENT, text)


def _escape(text: str) -> str:
    """Escape what JSON may not hold when it stands within HTML or JavaScript."""
    if "<" in text:
        text = text.replace("<", "\\u003c")
    if ">" in text:
        text = text.replace(">", "\\u003e")
    if "&" in text:
        text = text.replace("&", "\\u0026")
    if not text.isascii():
        text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return text


def _string(text: str) -> str:
    """Return a Go string in quotes; a stray byte becomes the escape of U+FFFD."""
    quoted = _quote(text)
    return quoted if quoted.isascii() else _SURROGATE.sub(r"\\ufffd", quoted)


class _Text(str):
    """JSON text that is ready, among values that are yet to be written."""

    __slots__ = ()


def _marshal_any(value: GoValue) -> str:
    """Return the JSON of any value, without recursion: data may be nested deeply."""
    parts: list[str] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if type(item) is _Text:
            parts.append(item)
            continue
        pieces = _pieces(item)
        if type(pieces) is str:
            parts.append(pieces)
        else:
            stack.extend(reversed(pieces))
    return "".join(parts)


def _pieces(value: GoValue) -> str | list[GoValue]:
    """Return the JSON of a value, or the texts and values that its JSON is made of."""
    go_type = type_of(value)
    if go_type is None:
        return "null"
    if go_type.marshal_json is not None:
        return go_type.marshal_json(value)
    match go_type.kind:
        case Kind.STRING:
            return _string(value)
        case Kind.BOOL:
            return "true" if value else "false"
        case Kind.FLOAT64:
            return format_number(value)
        case Kind.MAP:
            return _map_pieces(value, go_type)
        case Kind.SLICE | Kind.ARRAY:
            return _slice_pieces(value, go_type)
        case Kind.STRUCT:
            return _struct_pieces(value.values, go_type.fields)
        case Kind.POINTER:
            return [value.target]
        case kind if kind in _INTEGERS:
            return str(int(value))
    raise MarshalError(f"json: unsupported type: {go_type.name}")


def _map_pieces(value: GoValue, go_type: GoType) -> str | list[GoValue]:
    key_type = go_type.key or ANY
    if key_type.kind is not Kind.STRING and key_type.kind not in _INTEGERS:
        raise MarshalError(f"json: unsupported type: {go_type.name}")
    items = value.items if type(value) is GoMap else value
    if items is None:
        return "null"
    if key_type.kind is not Kind.STRING:
        items = {str(int(key)): item for key, item in items.items()}
    pieces: list[GoValue] = []
    for key in sorted_keys(items):
        pieces += [_Text(("," if pieces else "{") + _string(key) + ":"), items[key]]
    return [*pieces, _Text("}")] if pieces else "{}"


def _slice_pieces(value: GoValue, go_type: GoType) -> str | list[GoValue]:
    items = value.items if type(value) is GoSlice else value
    if items is None:
        return "null"
    if go_type.elem is not None and go_type.elem.kind is Kind.UINT8:
        return '"' + base64.b64encode(bytes(items)).decode("ascii") + '"'
    pieces: list[GoValue] = []
    for item in items:
        pieces += [_Text("," if pieces else "["), item]
    return [*pieces, _Text("]")] if pieces else "[]"


def _struct_pieces(values: list[GoValue], fields: tuple[StructField, ...]) -> str | list[GoValue]:
    pieces: list[GoValue] = []
    for field, value in zip(fields, values, strict=True):
        if field.json is None or (field.omit_empty and _is_empty(value, field.type.kind)):
            continue
        pieces += [_Text(("," if pieces else "{") + _quote(field.json) + ":"), value]
    return [*pieces, _Text("}")] if pieces else "{}"


def _is_empty(value: GoValue, kind: Kind) -> bool:
    """Return whether the option ``omitempty`` leaves out a field of a kind with this value."""
    match kind:
        case Kind.INTERFACE:
            return value is None
        case Kind.POINTER:
            return value.target is None
        case Kind.STRUCT | Kind.FUNC | Kind.COMPLEX64 | Kind.COMPLEX128:
            return False
    return not (value.items if isinstance(value, GoSlice | GoMap) else value)
