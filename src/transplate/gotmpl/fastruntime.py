"""What the fast form of a template calls; whatever these raise makes the caller run the exact form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from transplate.gotmpl import fmt, json
from transplate.gotmpl.builtins import BUILTINS
from transplate.gotmpl.quoting import from_bytes, is_valid, to_bytes
from transplate.gotmpl.runtime import LimitReached, printable
from transplate.gotmpl.types import GoValue
from transplate.gotmpl.values import byte_length, is_true, settle
from transplate.limits import Limits

_WIDEST: Final = 1_000_000
"""The largest width that Go's fmt takes from an argument."""


class Deopt(Exception):
    """The fast form meets what only the exact form can do."""


def output_too_long(limits: Limits) -> LimitReached:
    """Return the error that tells that the output is too long."""
    return LimitReached(f"output is longer than {limits.output} bytes (limit: output)")


def within(text: str, limits: Limits) -> str:
    """Return a text that is not longer than the output may be."""
    if len(text) > limits.output:
        raise output_too_long(limits)
    return text


def measured(parts: Sequence[str], limits: Limits) -> str:
    """Join the output where it may be too large to be made."""
    if sum(map(len, parts)) > limits.output:
        raise output_too_long(limits)
    return "".join(parts)


def spend(left: list[int], steps: int, limits: Limits) -> None:
    """Count steps."""
    left[0] -= steps
    if left[0] < 0:
        raise LimitReached(f"more than {limits.steps} steps (limit: steps)")


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


def padded(text: str, width: int) -> str:
    """Return a text with spaces in front of it up to a width (``%*s``)."""
    if not 0 <= width <= _WIDEST:
        raise Deopt
    return text.rjust(width)


def slice_text(text: str, start: int = 0, end: int | None = None) -> str:
    """Return a part of a string's bytes."""
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


def slice_list(items: Sequence[Any] | None, start: int = 0) -> Sequence[Any]:
    """Return the end of a list."""
    if items is None or not 0 <= start <= len(items):
        raise Deopt
    return items[start:]


def text(value: GoValue) -> str:
    """Return the text of any value as an action prints it."""
    if type(value) is str:
        return value
    return "<no value>" if value is None else fmt.print_value(printable(value))


def wire_text(value: Any) -> str:
    """Return the text of JSON data as an action prints it."""
    if type(value) is str:
        return value
    return "<no value>" if value is None else fmt.print_value(json.from_wire(value))


FAST_RUNTIME: Final[Mapping[str, object]] = {
    "__builtins__": {"len": len, "str": str, "enumerate": enumerate, "range": range},
    "byte_length": byte_length,
    "give_up": give_up,
    "from_wire": json.from_wire,
    "is_true": is_true,
    "marshal": json.marshal,
    "marshal_wire": json.marshal_wire,
    "measured": measured,
    "natural": natural,
    "padded": padded,
    "print_value": fmt.print_value,
    "record": record,
    "settle": settle,
    "slice_list": slice_list,
    "slice_text": slice_text,
    "spend": spend,
    "text": text,
    "valid": valid,
    "wire_text": wire_text,
    "within": within,
    **{f"go_{name}": function.call for name, function in BUILTINS.items()},
}
"""All that the fast form of a template can name besides what its shape brings."""
