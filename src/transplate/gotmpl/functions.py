"""How Go's engine checks and types the arguments of a function or method before it calls it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from typing import TypeAlias

from transplate.gotmpl.nodes import Bool, Number, String
from transplate.gotmpl.types import ANY, ERROR, REFLECT_VALUE, GoType, GoValue, Kind, Method
from transplate.gotmpl.values import SIGNED, UNSIGNED, Place, sized

Constant: TypeAlias = Bool | Number | String


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument whose evaluation waits until the method that takes it is known.

    Attributes:
        node: Number of its node.
        shown: The node as Go prints it.
        constant: The constant that it is, or None.
        is_nil: Whether it is the constant ``nil``.
        value: Evaluates it; leaves the last node it touched in the execution.
    """

    node: int
    shown: str
    constant: Constant | None
    is_nil: bool
    value: Callable[[], GoValue]


def wrong_count(function: Method, name: str, given: int, has_final: bool) -> str | None:
    """Return Go's complaint about a wrong number of arguments, None if it is right."""
    wanted = len(function.parameters)
    if function.variadic:
        if given + has_final < wanted - 1:
            return f"wrong number of args for {name}: want at least {wanted - 1} got {given}"
    elif given + has_final != wanted:
        return f"wrong number of args for {name}: want {wanted} got {given + has_final}"
    return None


def bad_results(function: Method, name: str) -> str | None:
    """Return Go's complaint about a function that no template can call, None if it can be called."""
    results = function.results
    if len(results) == 1 or (len(results) == 2 and results[1] is ERROR):
        return None
    if len(results) == 2:
        second = results[1].name
        return f"invalid function signature for {name}: second return value should be error; is {second}"
    return f"function {name} has {len(results)} return values; should be 1 or 2"


def parameter_types(function: Method, count: int) -> list[GoType]:
    """Return the type that each of ``count`` arguments must have."""
    types = list(function.parameters)
    if function.variadic:
        rest = types.pop().elem
        assert rest is not None  # noqa: S101 - the last parameter is a slice
        types += repeat(rest, count - len(types))
    return types


def constant_for(constant: Constant, go_type: GoType, shown: str) -> tuple[GoValue, str | None]:
    """Return a constant as a value of a parameter's type, or a complaint that it is none."""
    kind = go_type.kind
    if go_type is REFLECT_VALUE or go_type is ANY:
        return ideal(constant)
    if kind is Kind.BOOL:
        if isinstance(constant, Bool):
            return constant.value, None
        return None, f"expected bool; found {shown}"
    if kind is Kind.STRING:
        if isinstance(constant, String):
            return constant.value, None
        return None, f"expected string; found {shown}"
    if kind in SIGNED or kind in UNSIGNED:
        low, high = (-(1 << 63), 1 << 63) if kind in SIGNED else (0, 1 << 64)
        number = _integral(constant)
        if number is not None and low <= number < high:
            return sized(go_type, number), None
        return None, f"expected {'' if kind in SIGNED else 'unsigned '}integer; found {shown}"
    if kind in (Kind.FLOAT32, Kind.FLOAT64):
        if isinstance(constant, Number) and (
            not isinstance(constant.value, complex) or constant.value.imag == 0
        ):
            number_value = constant.value
            return float(number_value.real), None
        return None, f"expected float; found {shown}"
    if kind in (Kind.COMPLEX64, Kind.COMPLEX128):
        if isinstance(constant, Number) and isinstance(constant.value, complex):
            return constant.value, None
        return None, f"expected complex; found {shown}"
    return None, f"can't handle {shown} for arg of type {go_type.name}"


def ideal(constant: Constant) -> tuple[GoValue, str | None]:
    """Return a constant in the type that its form asks for, or a complaint that it has none."""
    value = constant.value
    if isinstance(constant, Number) and type(value) is int and not -(1 << 63) <= value < 1 << 63:
        return None, f"{constant.text} overflows int"
    return value, None


def _integral(constant: Constant) -> int | None:
    if not isinstance(constant, Number):
        return None
    value = constant.value
    if isinstance(value, complex):
        if value.imag != 0:
            return None
        value = value.real
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value


def returned(result: GoValue, function: Method) -> GoValue:
    """Return the result of a function as a value of its static type."""
    if function.results and function.results[0].kind is Kind.INTERFACE:
        return Place(result, function.results[0])
    return result
