"""The functions that every Go template has (Go 1.26, ``text/template/funcs.go``).

``and`` and ``or`` evaluate their arguments lazily and ``call`` is told the name of what it calls, so the
compiler knows these three; here they only have their signatures.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from transplate.gotmpl import escape, fmt
from transplate.gotmpl.capacity import grown_capacity
from transplate.gotmpl.functions import bad_results
from transplate.gotmpl.quoting import from_bytes, to_bytes
from transplate.gotmpl.runtime import printable
from transplate.gotmpl.types import (
    ANY,
    BOOL,
    ERROR,
    INT,
    REFLECT_VALUE,
    STRING,
    UINT8,
    GoFunc,
    GoPointer,
    GoSlice,
    GoStruct,
    GoType,
    GoValue,
    Kind,
    Method,
    SizedInt,
    slice_of,
    type_of,
)
from transplate.gotmpl.values import (
    SIGNED,
    UNSIGNED,
    GoError,
    can_be_nil,
    compare_strings,
    element,
    indirect,
    is_assignable,
    is_interface,
    is_nil,
    is_true,
    length,
    map_items,
    map_types,
    plain,
    read,
    sized,
    slice_items,
    slice_type,
    static_type,
    zero,
)
from transplate.limits import DEFAULT_LIMITS

_INTERFACE_SIZE: Final = 16
_INTEGERS: Final = SIGNED | UNSIGNED


def _dereference(value: GoValue) -> GoValue:
    """Return what an interface holds (Go's ``indirectInterface``)."""
    return value.value if is_interface(value) else value


def _kind(value: GoValue) -> Kind | None:
    go_type = type_of(plain(value))
    return None if go_type is None else go_type.kind


# --- index, slice, len ----------------------------------------------------------------------------------


def _position(index: GoValue, limit: int) -> int:
    """Return an index into a slice or string of a capacity."""
    if index is None:
        raise GoError("cannot index slice/array with nil")
    if is_interface(index) or _kind(index) not in _INTEGERS:
        raise GoError(f"cannot index slice/array with type {static_type(index).name}")
    position = sized(INT, plain(index))
    if not 0 <= position <= limit:
        raise GoError(f"index out of range: {position}")
    return position


def prepare_argument(value: GoValue, go_type: GoType) -> GoValue:
    """Return a value as the argument or map key of a type that Go's ``call`` and ``index`` make of it."""
    if value is None:
        if not can_be_nil(go_type) and go_type is not REFLECT_VALUE:
            raise GoError(f"value is nil; should be of type {go_type.name}")
        return plain(zero(go_type)) if go_type is not REFLECT_VALUE else None
    found = static_type(value)
    if is_assignable(found, go_type):
        return plain(value)
    if found.kind in _INTEGERS and go_type.kind in _INTEGERS:
        return sized(go_type, plain(value))
    raise GoError(f"value has type {found.name}; should be {go_type.name}")


def index(item: GoValue, *indexes: GoValue) -> GoValue:
    """``index``: an element of an element of … a slice, string or map."""
    item = _dereference(item)
    if item is None:
        raise GoError("index of untyped nil")
    for position in indexes:
        position = _dereference(position)
        item, nil, _addressable = indirect(item)
        if nil:
            raise GoError("index of nil pointer")
        items = slice_items(item)
        entries = map_items(item)
        if type(item) is str:
            data = to_bytes(item)
            at = _position(position, len(data))
            if at == len(data):
                raise GoError("reflect: string index out of range")
            item = SizedInt(UINT8, data[at])
        elif items is not None:
            at = _position(position, len(items))
            if at == len(items):
                raise GoError("reflect: slice index out of range")
            item = element(item, at)
        elif entries is not None:
            key_type, elem_type = map_types(item)
            key = prepare_argument(position, key_type)
            try:
                item = read(entries[key], elem_type, False) if key in entries else zero(elem_type)
            except TypeError:
                raise GoError(f"runtime error: hash of unhashable type {static_type(key).name}") from None
        else:
            raise GoError(f"can't index item of type {static_type(item).name}")
    return item


def slice_(item: GoValue, *indexes: GoValue) -> GoValue:
    """``slice``: a part of a slice or of a string's bytes, with Go's rules on capacity."""
    item = _dereference(item)
    if item is None:
        raise GoError("slice of untyped nil")
    item, nil, _ = indirect(item)
    if nil:
        raise GoError("slice of nil pointer")
    if len(indexes) > 3:
        raise GoError(f"too many slice indexes: {len(indexes)}")
    if type(item) is str:
        if len(indexes) == 3:
            raise GoError("cannot 3-index slice a string")
        data = to_bytes(item)
        size = capacity = len(data)
    else:
        items = slice_items(item)
        if items is None:
            raise GoError(f"can't slice item of type {static_type(item).name}")
        spare = item.spare if type(item) is GoSlice else _room_behind(items)
        size, capacity = len(items), len(items) + len(spare)
    bounds = [0, size, capacity]
    for number, position in enumerate(indexes):
        bounds[number] = _position(position, capacity)
    start, end, limit = bounds
    if start > end:
        raise GoError(f"invalid slice index: {start} > {end}")
    if len(indexes) == 3 and end > limit:
        raise GoError(f"invalid slice index: {end} > {limit}")
    if type(item) is str:
        return from_bytes(data[start:end])
    if type(item) is GoSlice and item.items is None:
        return item
    if isinstance(items, bytes):
        whole: Any = items + bytes(spare)
    else:
        whole = [*items, *spare]
    return GoSlice(slice_type(item), whole[start:end], whole[end:limit])


def _room_behind(items: list[GoValue]) -> list[GoValue]:
    """Return what lies between the length and the capacity of a ``[]any``, as Go's JSON decoder leaves it."""
    return [None] * (grown_capacity(len(items), _INTERFACE_SIZE) - len(items))


def len_(item: GoValue) -> int:
    """``len``: the length of a string in bytes, of a slice or of a map."""
    item, nil, _ = indirect(item)
    if nil:
        raise GoError("len of nil pointer")
    if item is None:
        raise GoError("reflect: call of reflect.Value.Type on zero Value")
    size = length(item)
    if size is None:
        raise GoError(f"len of type {static_type(item).name}")
    return size


# --- comparison -----------------------------------------------------------------------------------------

_BASIC: Final = {
    Kind.BOOL: "bool",
    Kind.STRING: "string",
    Kind.FLOAT32: "float",
    Kind.FLOAT64: "float",
    Kind.COMPLEX64: "complex",
    Kind.COMPLEX128: "complex",
    **dict.fromkeys(SIGNED, "int"),
    **dict.fromkeys(UNSIGNED, "uint"),
}
"""The kinds whose values can be compared, in the groups within which they can."""


def _basic(value: GoValue) -> str | None:
    kind = _kind(value)
    return None if kind is None else _BASIC.get(kind)


def _both_integers(left: str | None, right: str | None) -> bool:
    return {left, right} == {"int", "uint"}


def _incompatible(left: GoValue, right: GoValue) -> GoError:
    return GoError(
        f"incompatible types for comparison: {static_type(left).name} and {static_type(right).name}"
    )


def eq(first: GoValue, *others: GoValue) -> bool:
    """``eq``: whether the first value equals any of the others."""
    first = plain(first)
    if not others:
        raise GoError("missing argument for comparison")
    kind = _basic(first)
    for other in others:
        other = plain(other)
        other_kind = _basic(other)
        if kind is not None and (kind == other_kind or _both_integers(kind, other_kind)):
            equal = first == other
        elif kind != other_kind:
            if first is not None and other is not None:
                raise _incompatible(first, other)
            equal = False
        else:
            equal = _equal_others(first, other)
        if equal:
            return True
    return False


def _equal_others(first: GoValue, other: GoValue) -> bool:
    """Compare two values neither of which is a bool, number or string."""
    if first is not None and other is not None and _kind(first) is not _kind(other):
        shown = [first, static_type(first).name, static_type(other).name, other]
        raise GoError(fmt.sprintf("non-comparable types %s: %v, %s: %v", shown))
    if is_nil(first) or is_nil(other):
        return is_nil(first) and is_nil(other)
    go_type = static_type(other)
    if not _is_comparable(go_type):
        raise GoError(fmt.sprintf("non-comparable type %s: %v", [other, go_type.name]))
    return _identical(first, other)


def _is_comparable(go_type: GoType) -> bool:
    """Whether values of a type can be compared (Go's ``reflect.Type.Comparable``)."""
    if go_type.kind is Kind.STRUCT:
        return all(_is_comparable(field.type) for field in go_type.fields)
    return go_type.kind not in (Kind.SLICE, Kind.MAP, Kind.FUNC)


def _identical(left: GoValue, right: GoValue) -> bool:
    """Compare two values of comparable types as Go's ``==`` on interfaces does."""
    left_type, right_type = type_of(left), type_of(right)
    if left_type is not right_type:
        return False
    if left_type is None:
        return True
    if left_type.kind in (Kind.SLICE, Kind.MAP, Kind.FUNC):
        raise GoError(f"runtime error: comparing uncomparable type {left_type.name}")
    if type(left) is GoPointer:
        return left.target is right.target
    if type(left) is GoStruct:
        return all(map(_identical, left.values, right.values))
    return bool(left == right)


def ne(first: GoValue, second: GoValue) -> bool:
    """``ne``: the contrary of ``eq``."""
    return not eq(first, second)


def lt(first: GoValue, second: GoValue) -> bool:
    """``lt``: whether the first value is less than the second."""
    first, second = plain(first), plain(second)
    kind, other_kind = _basic(first), _basic(second)
    if kind is None or other_kind is None:
        raise GoError("invalid type for comparison")
    if kind != other_kind and not _both_integers(kind, other_kind):
        raise _incompatible(first, second)
    if kind in ("bool", "complex"):
        raise GoError("invalid type for comparison")
    if kind == "string":
        return compare_strings(first, second, operator.lt)
    return bool(first < second)


def le(first: GoValue, second: GoValue) -> bool:
    """``le``: whether the first value is less than or equal to the second."""
    return lt(first, second) or eq(first, second)


def gt(first: GoValue, second: GoValue) -> bool:
    """``gt``: the contrary of ``le``."""
    return not le(first, second)


def ge(first: GoValue, second: GoValue) -> bool:
    """``ge``: the contrary of ``lt``."""
    return not lt(first, second)


def not_(value: GoValue) -> bool:
    """``not``: the contrary of a value's truth."""
    return not is_true(value)


# --- text -----------------------------------------------------------------------------------------------


def print_(*values: GoValue, limit: int = DEFAULT_LIMITS.output) -> str:
    """``print``: Go's ``fmt.Sprint``."""
    return fmt.sprint(values, limit=limit)


def printf(layout: str, *values: GoValue, limit: int = DEFAULT_LIMITS.output) -> str:
    """``printf``: Go's ``fmt.Sprintf``."""
    return fmt.sprintf(layout, list(values), limit=limit)


def println(*values: GoValue, limit: int = DEFAULT_LIMITS.output) -> str:
    """``println``: Go's ``fmt.Sprintln``."""
    return fmt.sprintln(values, limit=limit)


def _text_of(values: tuple[GoValue, ...], limit: int) -> str:
    """Return the text that an escaping function works on."""
    if len(values) == 1 and type(values[0]) is str:
        return values[0]
    return fmt.sprint([_shown(value) for value in values], limit=limit)


def _shown(value: GoValue) -> GoValue:
    """Return a value as an action would print it; functions as ``print`` does."""
    try:
        return "<no value>" if value is None else printable(value)
    except fmt.UnprintableValue:
        return value


def html(*values: GoValue, limit: int = DEFAULT_LIMITS.output) -> str:
    """``html``: the text of the values, escaped for HTML."""
    return escape.html(_text_of(values, limit))


def js(*values: GoValue, limit: int = DEFAULT_LIMITS.output) -> str:
    """``js``: the text of the values, escaped for JavaScript."""
    return escape.js(_text_of(values, limit))


def urlquery(*values: GoValue, limit: int = DEFAULT_LIMITS.output) -> str:
    """``urlquery``: the text of the values, escaped for a URL query."""
    return escape.urlquery(_text_of(values, limit))


# --- call -----------------------------------------------------------------------------------------------


def call(name: str, function: GoValue, *arguments: GoValue) -> GoValue:
    """``call``: the result of calling a function value; ``name`` is how the template wrote the function."""
    function = _dereference(function)
    if function is None:
        raise GoError("call of nil")
    if type(function) is not GoFunc:
        raise GoError(f"non-function {name} of type {static_type(function).name}")
    signature = function.signature
    problem = bad_results(signature, name)
    if problem is not None:
        raise GoError(problem)
    wanted = len(signature.parameters) - signature.variadic
    if signature.variadic and len(arguments) < wanted:
        raise GoError(f"wrong number of args for {name}: got {len(arguments)} want at least {wanted}")
    if not signature.variadic and len(arguments) != wanted:
        raise GoError(f"wrong number of args for {name}: got {len(arguments)} want {wanted}")
    values = []
    for number, argument in enumerate(arguments):
        rest = signature.parameters[-1].elem if number >= wanted else None
        try:
            values.append(prepare_argument(_dereference(argument), rest or signature.parameters[number]))
        except GoError as error:
            raise GoError(f"arg {number}: {error}") from None
    return function.call(*values)


def _builtin(function: Callable[..., GoValue], result: GoType, fixed: int, *, variadic: bool) -> Method:
    """Return the signature of a builtin that takes values as they are."""
    rest = (slice_of(REFLECT_VALUE),) if variadic else ()
    return Method("", function, (REFLECT_VALUE,) * fixed + rest, variadic, (result, ERROR))


def _printer(function: Callable[..., str], *fixed: GoType) -> Method:
    """Return the signature of a builtin that prints any number of values."""
    return Method("", function, (*fixed, slice_of(ANY)), True, (STRING,), bounded=True, is_printf=bool(fixed))


BUILTINS: Final[Mapping[str, Method]] = {
    "and": _builtin(is_true, REFLECT_VALUE, 1, variadic=True),
    "call": _builtin(call, REFLECT_VALUE, 1, variadic=True),
    "eq": _builtin(eq, BOOL, 1, variadic=True),
    "ge": _builtin(ge, BOOL, 2, variadic=False),
    "gt": _builtin(gt, BOOL, 2, variadic=False),
    "html": _printer(html),
    "index": _builtin(index, REFLECT_VALUE, 1, variadic=True),
    "js": _printer(js),
    "le": _builtin(le, BOOL, 2, variadic=False),
    "len": _builtin(len_, INT, 1, variadic=False),
    "lt": _builtin(lt, BOOL, 2, variadic=False),
    "ne": _builtin(ne, BOOL, 2, variadic=False),
    "not": _builtin(not_, BOOL, 1, variadic=False),
    "or": _builtin(is_true, REFLECT_VALUE, 1, variadic=True),
    "print": _printer(print_),
    "printf": _printer(printf, STRING),
    "println": _printer(println),
    "slice": _builtin(slice_, REFLECT_VALUE, 1, variadic=True),
    "urlquery": _printer(urlquery),
}
"""The predefined functions by name."""
