"""What the fast form of a template calls; whatever these raise makes the caller run the exact form."""

from __future__ import annotations

import marshal as python_marshal
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from transplate.gotmpl import fmt, json
from transplate.gotmpl.builtins import BUILTINS
from transplate.gotmpl.costs import SMALL, called, steps_after, steps_before, text_steps
from transplate.gotmpl.quoting import from_bytes, is_valid, to_bytes
from transplate.gotmpl.runtime import printable
from transplate.gotmpl.types import GoValue, Method
from transplate.gotmpl.values import is_true, settle
from transplate.limits import Limits

_WIDEST: Final = 1_000_000
"""The largest width that Go's fmt takes from an argument."""
_MANY: Final = 500_000
"""Printed pieces that fit into memory however small they are."""
_MADE_SHIFT: Final = 3
_COMPARED_SHIFT: Final = 6


class Deopt(Exception):
    """The fast form meets what only the exact form can do."""


# What follows counts as the exact form counts, roughly: at a limit, that form decides. ``left`` holds the
# steps that are left, and how long a text may be.


def within(text: str, limits: Limits) -> str:
    """Return a text that is not longer than the output may be."""
    if len(text) > limits.output:
        raise Deopt
    return text


def measured(parts: Sequence[str], limits: Limits) -> str:
    """Join the output where it may be too large to be made."""
    if sum(map(len, parts)) > limits.output:
        raise Deopt
    return "".join(parts)


def spend(left: list[int], parts: Sequence[str], steps: int) -> None:
    """Count steps, and see that what was printed is not in too many pieces."""
    left[0] -= steps
    if left[0] < 0 or len(parts) > _MANY:
        raise Deopt


def made(left: list[int], text: str) -> str:
    """Count a text that was made."""
    if len(text) > SMALL:
        left[0] -= len(text) >> _MADE_SHIFT
        if left[0] < 0 or len(text) > left[1]:
            raise Deopt
    return text


def seen(left: list[int], text: str) -> str:
    """Count a text that is going to be compared or measured."""
    if len(text) > SMALL:
        left[0] -= len(text) >> _COMPARED_SHIFT
        if left[0] < 0:
            raise Deopt
    return text


def call(left: list[int], function: Method, *arguments: GoValue) -> GoValue:
    """Return what a function gives that has no form of its own here."""
    left[0] -= steps_before(function, arguments)
    if left[0] < 0:
        raise Deopt
    result = called(function, arguments, left[1])
    left[0] -= steps_after(function, arguments, result)
    if left[0] < 0:
        raise Deopt
    return result


def give_up() -> NoReturn:
    """Leave what the fast form cannot do to the exact form."""
    raise Deopt


def record(value: Any) -> Any:
    """Return a record from a variable that may hold a string instead."""
    if type(value) is str:
        raise Deopt
    return value


def natural(index: int) -> int:
    """Return an index that is not negative."""
    if index < 0:
        raise Deopt
    return index


def padded(left: list[int], text: str, width: int) -> str:
    """Return a text with spaces in front of it up to a width (``%*s``)."""
    if not 0 <= width <= _WIDEST:
        raise Deopt
    return text.rjust(width) if width <= SMALL else made(left, text.rjust(width))


def concatenated(left: list[int], *parts: str) -> str:
    """Join many texts."""
    if sum(map(len, parts)) > left[1]:
        raise Deopt
    return made(left, "".join(parts))


def counted_length(left: list[int], text: str) -> int:
    """Return the number of bytes of a string."""
    if len(text) > SMALL:
        seen(left, text)
    return len(text) if text.isascii() else len(to_bytes(text))


def slice_text(left: list[int], text: str, start: int = 0, end: int | None = None) -> str:
    """Return a part of a string's bytes."""
    if len(text) > SMALL:
        seen(left, text)
    if text.isascii():
        size = len(text)
        if end is None:
            end = size
        if 0 <= start <= end <= size:
            return text[start:end]
        raise Deopt
    data = to_bytes(text)
    if end is None:
        end = len(data)
    if 0 <= start <= end <= len(data):
        return from_bytes(data[start:end])
    raise Deopt


def valid(text: str) -> str:
    """Return a string that has no part of a character in it."""
    if not is_valid(text):
        raise Deopt
    return text


def slice_list(left: list[int], items: Sequence[Any] | None, start: int = 0) -> Sequence[Any]:
    """Return the end of a list."""
    if items is None or not 0 <= start <= len(items):
        raise Deopt
    left[0] -= len(items) >> _MADE_SHIFT
    if left[0] < 0:
        raise Deopt
    return items[start:]


def text(left: list[int], value: GoValue) -> str:
    """Return the text of any value as an action prints it."""
    if type(value) is str:
        return value
    return "<no value>" if value is None else _printed(left, printable(value))


def wire_text(left: list[int], value: Any) -> str:
    """Return the text of JSON data as an action prints it."""
    if type(value) is str:
        return value
    return "<no value>" if value is None else _printed(left, json.from_wire(value))


def _printed(left: list[int], value: GoValue) -> str:
    printed = fmt.print_value(value, limit=left[1])
    left[0] -= text_steps(printed)
    if left[0] < 0:
        raise Deopt
    return printed


def from_wire(left: list[int], value: Any) -> GoValue:
    """Return JSON data in the representation of the exact form, a copy."""
    if type(value) is dict or type(value) is list:
        left[0] -= len(python_marshal.dumps(value)) >> _MADE_SHIFT
        if left[0] < 0:
            raise Deopt
    return json.from_wire(value)


FAST_RUNTIME: Final[Mapping[str, object]] = {
    "__builtins__": {"len": len, "str": str, "enumerate": enumerate, "range": range},
    "byte_length": counted_length,
    "call": call,
    "concatenated": concatenated,
    "give_up": give_up,
    "from_wire": from_wire,
    "is_true": is_true,
    "made": made,
    "marshal": json.marshal,
    "marshal_wire": json.marshal_wire,
    "measured": measured,
    "natural": natural,
    "padded": padded,
    "print_value": fmt.print_value,
    "record": record,
    "seen": seen,
    "settle": settle,
    "slice_list": slice_list,
    "slice_text": slice_text,
    "spend": spend,
    "text": text,
    "valid": valid,
    "wire_text": wire_text,
    "within": within,
    **{f"go_{name}": function for name, function in BUILTINS.items()},
}
"""All that the fast form of a template can name besides what its shape brings."""
