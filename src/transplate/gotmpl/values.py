"""Operations on Go values that evaluation needs: truth, indirection, assignability, strings as bytes.

A value that a template works on is what Go's ``reflect.Value`` is to its engine. Most are plain values of
:mod:`transplate.gotmpl.types`; one that was read from a place whose static type matters, because it is an
interface or because its address can be taken, is a :class:`Place`. The untyped nil is ``None``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from transplate.gotmpl.quoting import to_bytes
from transplate.gotmpl.types import (
    ANY,
    ANY_MAP,
    ANY_SLICE,
    ERROR,
    UINT8,
    GoMap,
    GoPointer,
    GoSlice,
    GoStruct,
    GoType,
    GoValue,
    Kind,
    Method,
    SizedInt,
    pointer_to,
    type_of,
)

_PLAIN_TYPES: Final = frozenset({bool, int, float, complex, str, list, dict, SizedInt})
_NILLABLE: Final = frozenset({Kind.FUNC, Kind.INTERFACE, Kind.MAP, Kind.POINTER, Kind.SLICE})
SIGNED: Final = frozenset({Kind.INT, Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64})
UNSIGNED: Final = frozenset({Kind.UINT, Kind.UINT8, Kind.UINT16, Kind.UINT32, Kind.UINT64, Kind.UINTPTR})
_BITS: Final = {
    Kind.INT8: 8,
    Kind.INT16: 16,
    Kind.INT32: 32,
    Kind.UINT8: 8,
    Kind.UINT16: 16,
    Kind.UINT32: 32,
}


class GoError(Exception):
    """An error value that a Go function returned, or a panic that the engine turns into one."""


@dataclass(slots=True, eq=False)
class Place:
    """A value as read from a place: an interface, or something whose address can be taken.

    Attributes:
        value: The value there; None in a nil interface.
        go_type: The static type of the place.
    """

    value: GoValue
    go_type: GoType


def settle(value: GoValue) -> GoValue:
    """Return what an empty interface holds, as the end of a command does; other values unchanged."""
    if type(value) is Place and value.go_type is ANY:
        return value.value
    return value


def plain(value: GoValue) -> GoValue:
    """Return a value without the place that it was read from, as passing it to an ``any`` does."""
    return value.value if type(value) is Place else value


def is_interface(value: GoValue) -> bool:
    """Whether a value is one of an interface type (Go's ``Kind() == Interface``)."""
    return type(value) is Place and value.go_type.kind is Kind.INTERFACE


def static_type(value: GoValue) -> GoType:
    """Return the type of a value that is not the untyped nil, an interface type for an interface."""
    if type(value) is Place:
        return value.go_type
    go_type = type_of(value)
    assert go_type is not None  # noqa: S101 - callers have dealt with nil
    return go_type


def read(value: GoValue, go_type: GoType, addressable: bool) -> GoValue:
    """Return the value found in a place of a static type, with the place where that can matter later."""
    if go_type.kind is Kind.INTERFACE or (addressable and go_type.address_matters):
        return Place(value, go_type)
    return value


def indirect(value: GoValue) -> tuple[GoValue, bool, bool]:
    """Follow pointers and interfaces to their end.

    Returns:
        The value at the end; whether the end is nil, in which case the value is the nil pointer or nil
        interface itself; and whether the value can be addressed.
    """
    addressable = False
    while True:
        if type(value) is Place:
            if value.value is None:
                return value, True, False
            addressable = value.go_type.kind is not Kind.INTERFACE
            value = value.value
        elif type(value) is GoPointer:
            if value.target is None:
                return value, True, False
            value, addressable = value.target, True
        else:
            return value, False, addressable


def is_true(value: GoValue) -> bool:
    """Return Go's truth of a value: whether it is not the zero of its type; structs are always true."""
    kind = type(value)
    if value is None or kind in _PLAIN_TYPES:
        return bool(value)
    if kind is Place:
        return is_true(value.value)
    if kind is GoSlice or kind is GoMap:
        return bool(value.items)
    return kind is not GoPointer or value.target is not None


def is_nil(value: GoValue) -> bool:
    """Whether a value is nil, typed or not."""
    if type(value) is Place:
        return value.value is None or (value.go_type.kind is not Kind.INTERFACE and is_nil(value.value))
    if value is None:
        return True
    if type(value) is GoPointer:
        return value.target is None
    return type(value) in (GoSlice, GoMap) and value.items is None


def can_be_nil(go_type: GoType) -> bool:
    """Whether an untyped nil can be assigned to a type."""
    return go_type.kind in _NILLABLE


def zero(go_type: GoType) -> GoValue:
    """Return the zero value of a type, as read from a place of that type."""
    kind = go_type.kind
    if kind is Kind.INTERFACE:
        return Place(None, go_type)
    if kind is Kind.STRUCT:
        return GoStruct(go_type, [plain(zero(field.type)) for field in go_type.fields])
    if kind is Kind.SLICE:
        return GoSlice(go_type, None)
    if kind is Kind.MAP:
        return GoMap(go_type, None)
    if kind is Kind.POINTER:
        return GoPointer(go_type, None)
    if kind is Kind.FUNC:
        return None
    if kind is Kind.STRING:
        return ""
    if kind is Kind.BOOL:
        return False
    if kind is Kind.FLOAT64:
        return 0.0
    if kind is Kind.COMPLEX128:
        return 0j
    return sized(go_type, 0)


def sized(go_type: GoType, value: int) -> int:
    """Return an integer in an integer type, wrapped around to its width as a Go conversion does."""
    bits = _BITS.get(go_type.kind, 64)
    value &= (1 << bits) - 1
    if go_type.kind in SIGNED and value >> (bits - 1):
        value -= 1 << bits
    return value if go_type.kind is Kind.INT else SizedInt(go_type, value)


def is_assignable(source: GoType, target: GoType) -> bool:
    """Whether a value of one type can be assigned to a place of another (Go spec, "Assignability")."""
    if source is target or target is ANY:
        return True
    if target is ERROR:
        return "Error" in source.methods
    if source.is_named and target.is_named:
        return False
    return (
        source.kind is target.kind
        and source.kind in (Kind.SLICE, Kind.MAP)
        and source.elem is target.elem
        and source.key is target.key
    )


def find_method(
    value: GoValue, name: str, nil_pointer: bool, addressable: bool
) -> tuple[Method, GoValue] | None:
    """Find a method of a value that was indirected, and the receiver to call it with.

    Args:
        value: The value, or a nil pointer.
        name: Name of the method.
        nil_pointer: Whether the value is a nil pointer.
        addressable: Whether the address of the value can be taken.
    """
    if nil_pointer:
        target = value.go_type.elem
        method = target.methods.get(name) if target is not None else None
        return None if method is None else (method, value)
    if type(value) in _PLAIN_TYPES and type(value) is not SizedInt:
        return None
    go_type: GoType = value.go_type
    method = go_type.methods.get(name)
    if method is None:
        return None
    if not method.pointer_receiver:
        return method, value
    return (method, GoPointer(pointer_to(go_type), value)) if addressable else None


def length(value: GoValue) -> int | None:
    """Return the length of a string (in bytes), slice or map; None for anything else."""
    kind = type(value)
    if kind is str:
        return byte_length(value)
    if kind is list or kind is dict:
        return len(value)
    if kind is GoSlice or kind is GoMap:
        return 0 if value.items is None else len(value.items)
    return None


def slice_items(value: GoValue) -> Any:
    """Return the elements of a slice as a list or bytes; None where the value is no slice."""
    if type(value) is list:
        return value
    if type(value) is GoSlice:
        return [] if value.items is None else value.items
    return None


def map_items(value: GoValue) -> dict[Any, GoValue] | None:
    """Return the entries of a map; None where the value is no map."""
    if type(value) is dict:
        return value
    if type(value) is GoMap:
        return {} if value.items is None else value.items
    return None


def element(value: GoValue, index: int) -> GoValue:
    """Return one element of a slice as Go's ``reflect`` reads it."""
    if type(value) is list:
        return Place(value[index], ANY)
    elem: GoType = value.go_type.elem
    item = value.items[index]
    return SizedInt(UINT8, item) if type(item) is int and elem is UINT8 else read(item, elem, True)


def map_types(value: GoValue) -> tuple[GoType, GoType]:
    """Return the key and element types of a map."""
    go_type = ANY_MAP if type(value) is dict else value.go_type
    assert go_type.key is not None and go_type.elem is not None  # noqa: S101, PT018 - a map type has both
    return go_type.key, go_type.elem


def slice_type(value: GoValue) -> GoType:
    """Return the type of a slice."""
    return ANY_SLICE if type(value) is list else value.go_type


# --- strings are bytes ----------------------------------------------------------------------------------


def byte_length(text: str) -> int:
    """Return the number of bytes of a Go string."""
    return len(text) if text.isascii() else len(to_bytes(text))


def compare_strings(left: str, right: str, less: Callable[[Any, Any], bool]) -> bool:
    """Compare two strings by their bytes with an ordering operator."""
    if left.isascii() and right.isascii():
        return less(left, right)
    return less(to_bytes(left), to_bytes(right))
