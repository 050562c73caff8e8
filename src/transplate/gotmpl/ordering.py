"""The order in which Go prints and iterates the keys of a map (``internal/fmtsort``)."""

from __future__ import annotations

from typing import Any

from transplate.gotmpl.quoting import to_bytes
from transplate.gotmpl.types import GoPointer, GoStruct, GoValue, type_of


def sorted_keys(items: dict[Any, GoValue]) -> list[Any]:
    """Return the keys of a Go map in Go's order: strings by their bytes, numbers and booleans by value.

    Keys of different types, which only an interface type as key allows, come in the order of their types'
    names, where Go has the order of the types in memory; nil comes first.
    """
    try:
        if "".join(items).isascii():
            return sorted(items)
    except TypeError:
        return sorted(items, key=_typed_rank)
    return sorted(items, key=to_bytes)


def _typed_rank(key: GoValue) -> tuple[str, Any]:
    go_type = type_of(key)
    return ("", 0) if go_type is None else (go_type.name, _rank(key))


def _rank(key: GoValue) -> Any:
    match key:
        case str():
            return to_bytes(key)
        case float():
            return (key == key, key)
        case complex():
            return (_rank(key.real), _rank(key.imag))
        case GoStruct():
            return [_typed_rank(value) for value in key.values]
        case GoPointer():
            return 0
    return key
