"""Printing of any Go value by one verb, and the functions that take no format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from transplate.errors import ErrorKind, TemplateExecutionError
from transplate.gotmpl import quoting
from transplate.gotmpl.fmt import verbs
from transplate.gotmpl.fmt.verbs import Flags
from transplate.gotmpl.ordering import sorted_keys
from transplate.gotmpl.types import (
    ANY,
    STRING,
    GoFunc,
    GoMap,
    GoPointer,
    GoSlice,
    GoType,
    GoValue,
    Kind,
    Method,
    type_of,
)
from transplate.gotmpl.values import GoError
from transplate.limits import DEFAULT_LIMITS

ADDRESS = 0xC000000000
"""What stands where Go prints the address of a value."""

_SIGNED = frozenset({Kind.INT, Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64})
_SHOWN_BEHIND_POINTER = frozenset({Kind.ARRAY, Kind.SLICE, Kind.STRUCT, Kind.MAP})


class UnprintableValue(Exception):
    """A value that a template refuses to print: a function, whose type is ``go_type``."""

    def __init__(self, go_type: GoType) -> None:
        super().__init__(go_type.name)
        self.go_type = go_type


class Output:
    """Text that is being printed, up to a limit of characters."""

    def __init__(self, limit: int) -> None:
        self._parts: list[str] = []
        self._left = limit
        self._limit = limit

    def write(self, text: str) -> None:
        """Add text; raise TemplateExecutionError of kind LIMIT if it is too much."""
        self._left -= len(text)
        if self._left < 0:
            raise TemplateExecutionError(
                f"a printed value is longer than {self._limit} bytes (limit: output)", kind=ErrorKind.LIMIT
            )
        self._parts.append(text)

    def text(self) -> str:
        """Return what has been added, as a Go string."""
        return quoting.joined(self._parts)


def print_value(value: GoValue, *, limit: int = DEFAULT_LIMITS.output) -> str:
    """Return what a template writes for the final value of a pipeline (text/template's ``printValue``).

    A nil interface prints ``<nil>``; what the engine knows as no value at all it prints itself.

    Raises:
        UnprintableValue: If the value is a function.
        TemplateExecutionError: Of kind LIMIT, if more than ``limit`` characters would be printed.
    """
    plain = verbs.PLAIN_TEXTS.get(type(value))
    return sprint([printable_value(value)], limit=limit) if plain is None else plain(value)


def printable_value(value: GoValue) -> GoValue:
    """Return the value that text/template hands to fmt for a value: what a pointer points to, mostly.

    Raises:
        UnprintableValue: If the value is a function.
    """
    pointer = None
    while type(value) is GoPointer and value.target is not None:
        pointer, value = value, value.target
    if pointer is not None and _text_method(value) is None and _text_method(pointer) is not None:
        return pointer
    if type(value) is GoFunc:
        raise UnprintableValue(value.go_type)
    return value


def sprint(values: Iterable[GoValue], *, limit: int = DEFAULT_LIMITS.output) -> str:
    """Return ``fmt.Sprint(values...)``: a space only between two values neither of which is a string.

    Raises:
        TemplateExecutionError: Of kind LIMIT, if more than ``limit`` characters would be printed.
    """
    output = Output(limit)
    after_string = True
    for value in values:
        is_string = type(value) is str
        if not is_string and not after_string:
            output.write(" ")
        print_plainly(value, output)
        after_string = is_string
    return output.text()


def sprintln(values: Iterable[GoValue], *, limit: int = DEFAULT_LIMITS.output) -> str:
    """Return ``fmt.Sprintln(values...)``: spaces between all values, and a newline.

    Raises:
        TemplateExecutionError: Of kind LIMIT, if more than ``limit`` characters would be printed.
    """
    output = Output(limit)
    for position, value in enumerate(values):
        if position:
            output.write(" ")
        print_plainly(value, output)
    output.write("\n")
    return output.text()


def print_plainly(value: GoValue, output: Output) -> None:
    """Print one argument by ``%v``."""
    plain = verbs.PLAIN_TEXTS.get(type(value))
    if plain is None:
        print_argument(value, "v", Flags(), output)
    else:
        output.write(plain(value))


def print_argument(value: GoValue, verb: str, flags: Flags, output: Output) -> None:
    """Print one argument of a fmt function by one verb."""
    go_type = type_of(value)
    if go_type is None:
        output.write(verbs.pad("<nil>", flags) if verb in "Tv" else f"%!{verb}(<nil>)")
    elif verb == "T":
        output.write(verbs.pad(verbs.truncate(go_type.name, flags), flags))
    elif verb == "p":
        address = _address(value, go_type, verb, flags)
        _walk(
            _complaint(_Operand(value, go_type, verb), go_type) if address is None else [address],
            flags,
            output,
        )
    else:
        flags.plain = verb == "v" and flags == verbs.NO_FLAGS
        _walk([_Operand(value, go_type, verb)], flags, output)


class _Operand(NamedTuple):
    """A value that is to be printed.

    Attributes:
        value: The value.
        slot: Type of the place that holds it, which matters to a nil interface alone.
        verb: The verb.
        depth: In how many other values it lies.
        accessible: Whether no unexported field lies on the way to it, so that its methods may be called.
        complaining: Whether it is shown in a complaint about a verb, where no methods are called.
    """

    value: GoValue
    slot: GoType
    verb: str
    depth: int = 0
    accessible: bool = True
    complaining: bool = False

    def inner(self, value: GoValue, slot: GoType, flags: Flags, *, accessible: bool = True) -> str | _Operand:
        """Return an operand for a value within this one, or at once what it prints."""
        if flags.plain:
            plain = verbs.PLAIN_TEXTS.get(type(value))
            if plain is not None:
                return plain(value)
        return _Operand(
            value, slot, self.verb, self.depth + 1, self.accessible and accessible, self.complaining
        )


_Pieces: TypeAlias = "list[str | _Operand]"


def _walk(pieces: _Pieces, flags: Flags, output: Output) -> None:
    """Print texts, and operands with what they hold, without recursion: data may be nested deeply."""
    stack = pieces[::-1]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            output.write(item)
            continue
        made = _pieces(item, flags)
        if isinstance(made, str):
            output.write(made)
        else:
            stack.extend(reversed(made))


def _pieces(operand: _Operand, flags: Flags) -> str | _Pieces:
    """Return the text of a value, or the texts and values that its text is made of."""
    value, slot, verb = operand.value, operand.slot, operand.verb
    if value is None:
        return f"{slot.name}(nil)" if flags.sharp_v else "<nil>"
    go_type = type_of(value)
    assert go_type is not None  # noqa: S101
    if operand.accessible and not operand.complaining:
        if verb == "w" and not (go_type.name == "[]uint8" and operand.depth == 0):
            return _complaint(operand, go_type)
        if verb in "vsxXq" and not flags.sharp_v:
            text = _method_text(value, verb, flags)
            if text is not None:
                return text
    match go_type.kind:
        case Kind.MAP:
            return _map_pieces(operand, go_type, flags)
        case Kind.SLICE | Kind.ARRAY:
            return _slice_pieces(operand, go_type, flags)
        case Kind.STRUCT:
            return _struct_pieces(operand, go_type, flags)
        case Kind.POINTER | Kind.FUNC:
            return _pointer_pieces(operand, go_type, flags)
    text = _simple(value, go_type, verb, flags)
    return _complaint(operand, go_type) if text is None else text


def _complaint(operand: _Operand, go_type: GoType) -> _Pieces:
    """Return what Go prints for a verb that does not suit a value."""
    shown = operand._replace(slot=go_type, verb="v", depth=0, complaining=True)
    return [f"%!{operand.verb}({go_type.name}=", shown, ")"]


def _simple(value: GoValue, go_type: GoType, verb: str, flags: Flags) -> str | None:
    """Return the text of a number, string or boolean, None where the verb does not suit it."""
    match go_type.kind:
        case Kind.STRING:
            return verbs.format_string(value, verb, flags)
        case Kind.BOOL:
            return verbs.format_boolean(value, verb, flags)
        case Kind.FLOAT64:
            return verbs.format_floating(value, verb, flags)
        case Kind.COMPLEX128:
            return verbs.format_complex(value, verb, flags)
    return verbs.format_integer(value, verb, flags, signed=go_type.kind in _SIGNED)


def _map_pieces(operand: _Operand, go_type: GoType, flags: Flags) -> str | _Pieces:
    items = operand.value if type(operand.value) is dict else operand.value.items
    if flags.sharp_v and items is None:
        return f"{go_type.name}(nil)"
    start, separator, end = (f"{go_type.name}{{", ", ", "}") if flags.sharp_v else ("map[", " ", "]")
    key_type, element_type = go_type.key or ANY, go_type.elem or ANY
    pieces: _Pieces = [start]
    for key in sorted_keys(items or {}):
        if len(pieces) > 1:
            pieces.append(separator)
        pieces += [operand.inner(key, key_type, flags), ":", operand.inner(items[key], element_type, flags)]
    pieces.append(end)
    return pieces


def _slice_pieces(operand: _Operand, go_type: GoType, flags: Flags) -> str | _Pieces:
    verb = operand.verb
    items = operand.value if type(operand.value) is list else operand.value.items
    element_type = go_type.elem or ANY
    if element_type.kind is Kind.UINT8 and verb in "sqxX":
        return verbs.format_bytes(bytes(items or b""), verb, flags)
    name = go_type.name
    if operand.depth == 0 and verb == "v" and name == "[]uint8":
        name = "[]byte"
    if flags.sharp_v and items is None:
        return f"{name}(nil)"
    start, separator, end = (f"{name}{{", ", ", "}") if flags.sharp_v else ("[", " ", "]")
    is_bytes = isinstance(items, bytes)
    if is_bytes:
        texts = {byte: _byte_text(byte, element_type, verb, flags) for byte in set(items)}
        items = [texts[byte] for byte in items]
    pieces: _Pieces = [start]
    for item in items or ():
        if len(pieces) > 1:
            pieces.append(separator)
        pieces.append(item if is_bytes else operand.inner(item, element_type, flags))
    pieces.append(end)
    return pieces


def _byte_text(byte: int, go_type: GoType, verb: str, flags: Flags) -> str:
    text = verbs.format_integer(byte, verb, flags, signed=False)
    if text is None:
        shown = verbs.format_integer(byte, "v", flags, signed=False)
        return f"%!{verb}({go_type.name}={shown})"
    return text


def _struct_pieces(operand: _Operand, go_type: GoType, flags: Flags) -> _Pieces:
    separator = ", " if flags.sharp_v else " "
    pieces: _Pieces = [f"{go_type.name}{{" if flags.sharp_v else "{"]
    for field, value in zip(go_type.fields, operand.value.values, strict=True):
        if len(pieces) > 1:
            pieces.append(separator)
        if flags.plus_v or flags.sharp_v:
            pieces.append(f"{field.name}:")
        pieces.append(operand.inner(value, field.type, flags, accessible=field.name[0].isupper()))
    pieces.append("}")
    return pieces


def _pointer_pieces(operand: _Operand, go_type: GoType, flags: Flags) -> str | _Pieces:
    value = operand.value
    elem = go_type.elem
    if (
        operand.depth == 0
        and type(value) is GoPointer
        and value.target is not None
        and elem is not None
        and elem.kind in _SHOWN_BEHIND_POINTER
    ):
        return ["&", operand.inner(value.target, elem, flags)]
    text = _address(value, go_type, operand.verb, flags)
    return _complaint(operand, go_type) if text is None else text


def _address(value: GoValue, go_type: GoType, verb: str, flags: Flags) -> str | None:
    """Return a value's address by a verb, None where the verb or the value does not suit that."""
    match value:
        case GoPointer():
            is_nil = value.target is None
        case GoSlice() | GoMap():
            is_nil = value.items is None
        case list() | dict() | GoFunc():
            is_nil = False
        case _:
            return None
    address = 0 if is_nil else ADDRESS
    if verb == "v" and flags.sharp_v:
        shown = "nil" if is_nil else verbs.digits(address, 16, verb, flags, sharp=True)
        return f"({go_type.name})({shown})"
    if verb == "v" and is_nil:
        return verbs.pad("<nil>", flags)
    if verb in "vp":
        return verbs.digits(address, 16, verb, flags, sharp=not flags.sharp)
    return verbs.format_integer(address, verb, flags, signed=False) if verb in "bodxX" else None


def _method_text(value: GoValue, verb: str, flags: Flags) -> str | None:
    """Return the text of a value that has an ``Error`` or ``String`` method, else None."""
    method = _text_method(value)
    if method is None:
        return None
    receiver = value
    if type(value) is GoPointer and not method.pointer_receiver:
        if value.target is None:
            return "<nil>"
        receiver = value.target
    try:
        text = method.call(receiver)
    except GoError as panic:
        if type(value) is GoPointer and value.target is None:
            return "<nil>"
        # Go restores the flags after such a message, but neither the width nor the precision.
        flags.width = None if flags.width is None else 0
        flags.precision = None if flags.precision is None else 0
        return f"%!{verb}(PANIC={method.name} method: {panic})"
    return verbs.format_string(text, verb, flags)


def _text_method(value: GoValue) -> Method | None:
    """Return the method that fmt calls to print a value, if the value's method set has one."""
    go_type = type_of(value)
    is_pointer = go_type is not None and go_type.kind is Kind.POINTER
    if go_type is None or (is_pointer and go_type.elem is None):
        return None
    methods = go_type.elem.methods if is_pointer and go_type.elem is not None else go_type.methods
    for name in ("Error", "String"):
        method = methods.get(name)
        if (
            method is not None
            and (is_pointer or not method.pointer_receiver)
            and not method.parameters
            and method.results == (STRING,)
        ):
            return method
    return None
