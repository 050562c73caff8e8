"""Conditions as Python's booleans where they are known, else as Go."""

from __future__ import annotations

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import call, number
from transplate.convert.jinja_to_go.operands import (
    both,
    either,
    negated,
)
from transplate.convert.jinja_to_go.values import (
    TRUTH,
    Const,
    Go,
    Int,
    Value,
)
from transplate.gotmpl.nodes import (
    Operand,
)

Condition = bool | Operand


def truth_value(condition: Condition) -> Value:
    """Return a condition as a value."""
    return Const(condition) if isinstance(condition, bool) else Go(TRUTH, condition)


def all_of(*conditions: Condition) -> Condition:
    """Return whether all conditions hold."""
    made: Condition = True
    for condition in conditions:
        if condition is False or made is False:
            return False
        if condition is not True:
            made = condition if made is True else both(as_operand(made), as_operand(condition))
    return made


def any_of(*conditions: Condition) -> Condition:
    """Return whether any condition holds."""
    made: Condition = False
    for condition in conditions:
        if condition is True or made is True:
            return True
        if condition is not False:
            made = condition if made is False else either(as_operand(made), as_operand(condition))
    return made


def opposite(condition: Condition) -> Condition:
    """Return whether a condition does not hold."""
    return (not condition) if isinstance(condition, bool) else negated(condition)


def as_operand(condition: Condition) -> Operand:
    """Return a condition as Go."""
    return build.boolean(condition) if isinstance(condition, bool) else condition


COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def compare_constant(operator: str, left: Int, right: int) -> Condition:
    """Return how a whole number compares with a constant."""
    wanted = right - left.offset
    if wanted < left.low or (wanted == left.low and operator in ("<", ">=")):
        return operator in (">", ">=", "!=")
    if wanted == 0 and operator in ("==", "<="):
        return negated(left.expr)
    if wanted == 0 and operator in ("!=", ">"):
        return left.expr
    name = {"==": "eq", "!=": "ne", **COMPARISONS}[operator]
    return call(name, left.expr, number(wanted))
