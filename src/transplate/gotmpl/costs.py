"""What calls of functions cost in steps, so that no template can hang or fill the memory by text alone.

A step is about a third of a microsecond. What a function reads is paid for before it runs, what it makes
when it has; short text is free, for the call itself pays for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from transplate.gotmpl import fmt
from transplate.gotmpl.types import STRING, GoSlice, GoValue, Method, SizedInt
from transplate.gotmpl.values import Place, slice_items
from transplate.limits import Limits

SMALL: Final = 1024
"""Text of so many characters is free."""

_COPIED_SHIFT: Final = 6
"""Copying, measuring or comparing 64 characters is one step."""
_ESCAPED_SHIFT: Final = 3
"""Printing or escaping 8 characters is one step."""
_TAKEN_APART_SHIFT: Final = 1
"""Text of a value that is made of others takes longer: each of them may print as one character."""
_FLOAT_STEPS: Final = 12
_VERB_STEPS: Final = 8
_SCALARS: Final = frozenset({str, int, float, bool, complex, SizedInt, type(None)})


class LimitReached(Exception):
    """A bound of :class:`~transplate.limits.Limits` was reached; the message names it."""


@dataclass(slots=True)
class Meter:
    """The steps that several executions have together.

    Attributes:
        steps: How many are left.
    """

    steps: int


def out_of_steps(limits: Limits) -> LimitReached:
    """Return the error that tells that the steps are used up."""
    return LimitReached(f"more than {limits.steps} steps (limit: steps)")


def output_too_long(limits: Limits) -> LimitReached:
    """Return the error that tells that the output is too long."""
    return LimitReached(f"output is longer than {limits.output} bytes (limit: output)")


def value_too_long(limit: int) -> LimitReached:
    """Return the error that tells that a value is longer than the output may be."""
    return LimitReached(f"a value is longer than {limit} bytes (limit: output)")


def steps_before(function: Method, arguments: Sequence[GoValue]) -> int:
    """Return what a function costs for what it is going to read."""
    size = steps = 0
    for argument in arguments:
        value = argument.value if type(argument) is Place else argument
        if type(value) is str:
            size += len(value)
        elif type(value) is float and function.bounded:
            steps += _FLOAT_STEPS
    if size > SMALL:
        steps += size >> (_ESCAPED_SHIFT if function.bounded else _COPIED_SHIFT)
    if function.is_printf and type(arguments[0]) is str:
        layout = arguments[0]
        steps += layout.count("%") * _VERB_STEPS
        if "." in layout:
            # With a precision, what is printed says little about the work: it is done once to see.
            steps += 2 * len(fmt.sprint(value for value in arguments if type(value) not in _SCALARS))
    return steps


def steps_after(function: Method, arguments: Sequence[GoValue], result: GoValue) -> int:
    """Return what a function costs for what it has made."""
    if type(result) is str:
        if function.results[0] is not STRING:
            return 0  # such as an element, which was there before
        if any(type(argument) not in _SCALARS for argument in arguments):
            return len(result) >> _TAKEN_APART_SHIFT
        if len(result) > SMALL:
            return len(result) >> (_ESCAPED_SHIFT if function.bounded else _COPIED_SHIFT)
    if type(result) is list or type(result) is GoSlice:
        return len(slice_items(result)) >> _ESCAPED_SHIFT
    return 0


def called(function: Method, arguments: Sequence[GoValue], limit: int) -> GoValue:
    """Return what a function gives.

    Raises:
        GoError: The function fails.
        TemplateExecutionError: Of kind LIMIT, as LimitReached.
        LimitReached: Its result is a text of more than ``limit`` characters.
    """
    result = function.call(*arguments, limit=limit) if function.bounded else function.call(*arguments)
    if type(result) is str and len(result) > limit:
        raise value_too_long(limit)
    return result


def text_steps(text: str) -> int:
    """Return what it costs to print a value that is made of others."""
    return len(text) >> _TAKEN_APART_SHIFT
