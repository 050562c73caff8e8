"""How Go values live in Python, and the Go types that errors, printing and methods need to know.

Values that templates mostly meet are plain Python:

=====================  =========================================================
Go                     Python
=====================  =========================================================
nil                    ``None``
bool, int, float64     ``bool``, ``int``, ``float``
complex128             ``complex``
string                 ``str``; each byte outside valid UTF-8 is a surrogate escape
``[]interface {}``     ``list`` (a nil one is a :class:`GoSlice`); its capacity is the one that it has
                       when it was decoded from JSON
map[string]any         ``dict`` (iterated and printed in sorted key order, as Go does; a nil one is a
                       :class:`GoMap`)
=====================  =========================================================

Everything else carries its type in ``go_type``: other integers are :class:`SizedInt`, and named slices and
maps, structs, pointers and functions are the wrappers below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, TypeAlias

GoValue: TypeAlias = Any
"""A Go value in the representation of this module."""


class Kind(Enum):
    """Go's ``reflect.Kind``, named as Go prints it."""

    BOOL = "bool"
    INT = "int"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT = "uint"
    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    UINTPTR = "uintptr"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    COMPLEX64 = "complex64"
    COMPLEX128 = "complex128"
    STRING = "string"
    SLICE = "slice"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"
    POINTER = "ptr"
    INTERFACE = "interface"
    FUNC = "func"


@dataclass(frozen=True, slots=True)
class StructField:
    """One field of a struct type; ``json`` is its key in JSON, or None where it is not marshalled."""

    name: str
    type: GoType
    json: str | None = None
    omit_empty: bool = False


@dataclass(frozen=True, slots=True)
class Method:
    """A method as a template can call it.

    Attributes:
        name: Its Go name.
        call: The method in Python: receiver and arguments in, result out.
        parameters: Types of its parameters without the receiver; the last is a slice if ``variadic``.
        variadic: Whether the last parameter takes any number of arguments.
        results: Types of its results, an error included.
        pointer_receiver: Whether it is defined on the pointer to the type only.
        bounded: Whether ``call`` takes, as ``limit``, how many characters it may print.
        is_printf: Whether its first argument is a format.
    """

    name: str
    call: Callable[..., GoValue]
    parameters: tuple[GoType, ...] = ()
    variadic: bool = False
    results: tuple[GoType, ...] = ()
    pointer_receiver: bool = False
    bounded: bool = False
    is_printf: bool = False


@dataclass(frozen=True, eq=False)
class GoType:
    """A Go type; compared by identity (unnamed slice and pointer types come from :func:`slice_of`, …).

    Attributes:
        name: The type as Go prints it, ``template.templateTool`` or ``[]string``.
        kind: Its kind.
        elem: Element type of a slice, map or pointer.
        key: Key type of a map.
        fields: Fields of a struct, in order.
        methods: Methods by name, those with a pointer receiver included.
        marshal_json: The type's own ``MarshalJSON``, from the value to JSON text; None where it has none.
        package: Import path of a named type's package, which the text of a panic shows.
    """

    name: str
    kind: Kind
    elem: GoType | None = None
    key: GoType | None = None
    fields: tuple[StructField, ...] = ()
    methods: Mapping[str, Method] = field(default_factory=dict)
    marshal_json: Callable[[GoValue], str] | None = None
    package: str = ""

    @cached_property
    def field_indexes(self) -> dict[str, int]:
        """Positions of a struct's fields by name."""
        return {field.name: index for index, field in enumerate(self.fields)}

    @cached_property
    def address_matters(self) -> bool:
        """Whether a value's own address, or that of a field of it, has methods that the value has not."""
        return any(method.pointer_receiver for method in self.methods.values()) or any(
            field.type.address_matters for field in self.fields
        )

    @cached_property
    def is_named(self) -> bool:
        """Whether the type has a name of its own and is not a type literal such as ``[]string``."""
        return not self.name.startswith(("[", "*", "map[", "func(", "interface {", "struct {"))

    def __repr__(self) -> str:
        return f"GoType({self.name!r})"


BOOL = GoType("bool", Kind.BOOL)
INT = GoType("int", Kind.INT)
FLOAT64 = GoType("float64", Kind.FLOAT64)
COMPLEX128 = GoType("complex128", Kind.COMPLEX128)
STRING = GoType("string", Kind.STRING)
UINT8 = GoType("uint8", Kind.UINT8)
INT32 = GoType("int32", Kind.INT32)
ANY = GoType("interface {}", Kind.INTERFACE)
ERROR = GoType("error", Kind.INTERFACE)
REFLECT_VALUE = GoType("reflect.Value", Kind.STRUCT)
"""Type of a parameter that takes any value as it is, the untyped nil included."""
ANY_SLICE = GoType("[]interface {}", Kind.SLICE, elem=ANY)
STRING_SLICE = GoType("[]string", Kind.SLICE, elem=STRING)
BYTES = GoType("[]uint8", Kind.SLICE, elem=UINT8)
ANY_MAP = GoType("map[string]interface {}", Kind.MAP, elem=ANY, key=STRING)

_SLICES: dict[GoType, GoType] = {ANY: ANY_SLICE, STRING: STRING_SLICE, UINT8: BYTES}
_POINTERS: dict[GoType, GoType] = {}


def slice_of(elem: GoType) -> GoType:
    """Return the type ``[]elem``, always the same object for one element type."""
    return _SLICES.setdefault(elem, GoType(f"[]{elem.name}", Kind.SLICE, elem=elem))


def pointer_to(elem: GoType) -> GoType:
    """Return the type ``*elem``, always the same object for one target type."""
    return _POINTERS.setdefault(elem, GoType(f"*{elem.name}", Kind.POINTER, elem=elem))


class SizedInt(int):
    """An integer of a Go type other than ``int``, such as the ``uint8`` that indexing a string gives."""

    go_type: GoType

    def __new__(cls, go_type: GoType, value: int) -> SizedInt:
        """Return ``value`` as an integer of ``go_type``."""
        made = super().__new__(cls, value)
        made.go_type = go_type
        return made


@dataclass(slots=True, eq=False)
class GoSlice:
    """A slice that is nil or of a type other than ``[]interface {}``.

    Attributes:
        go_type: Its type.
        items: Its elements, None for a nil slice. A ``[]byte`` (and a named type of it) keeps ``bytes``.
        spare: The elements between its length and its capacity, which slicing again can reach.
    """

    go_type: GoType
    items: Sequence[GoValue] | None
    spare: Sequence[GoValue] = ()


@dataclass(slots=True, eq=False)
class GoMap:
    """A map that is nil or of a type other than ``map[string]interface {}``; ``items`` is None for nil."""

    go_type: GoType
    items: dict[Any, GoValue] | None


@dataclass(slots=True, eq=False)
class GoStruct:
    """A struct; ``values`` are its fields in the order of ``go_type.fields``."""

    go_type: GoType
    values: list[GoValue]


@dataclass(slots=True, eq=False)
class GoPointer:
    """A pointer; ``target`` is None for a nil pointer."""

    go_type: GoType
    target: GoValue | None


@dataclass(slots=True, eq=False)
class GoFunc:
    """A function value, among them the iterators that ``.All`` returns.

    Attributes:
        go_type: Its type, whose name is the signature.
        call: The function; for an iterator, called with no argument it gives the tuples it yields.
        signature: Its parameters and results, as for a method.
        yields: The types of what an iterator yields, one or two; empty for every other function.
    """

    go_type: GoType
    call: Callable[..., Any]
    signature: Method
    yields: tuple[GoType, ...] = ()


_BY_PYTHON_TYPE: dict[type, GoType] = {
    bool: BOOL,
    int: INT,
    float: FLOAT64,
    complex: COMPLEX128,
    str: STRING,
    list: ANY_SLICE,
    dict: ANY_MAP,
}


def type_of(value: GoValue) -> GoType | None:
    """Return the dynamic Go type of a value, None for nil."""
    if value is None:
        return None
    known = _BY_PYTHON_TYPE.get(type(value))
    return known if known is not None else value.go_type
