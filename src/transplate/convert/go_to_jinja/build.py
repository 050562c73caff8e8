"""Constructors of Jinja expressions that fold constants and keep one canonical form."""

from __future__ import annotations

from transplate.jinja import nodes as j

_OPPOSITE = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
    "in": "not in",
    "not in": "in",
}


def is_nil(expression: j.Expression) -> j.Expression:
    """Return whether a value is none or not there."""
    return j.Or((j.Test(expression, "undefined"), j.Test(expression, "none")))


def name(text: str) -> j.Name:
    """Return a name."""
    return j.Name(text)


def call(function: str, *arguments: j.Expression) -> j.Call:
    """Return the call of a macro or a global function."""
    return j.Call(j.Name(function), arguments)


def length(value: j.Expression) -> j.Filter:
    """Return ``value|length``."""
    return j.Filter(value, "length")


def starts_with(value: j.Expression, prefix: str) -> j.Call:
    """Return ``value.startswith('prefix')``."""
    return j.Call(j.Attribute(value, "startswith"), (j.Literal(prefix),))


def raise_(message: str) -> j.Output:
    """Return the statement that makes the rendering fail."""
    return j.Output((call("raise_exception", j.Literal(message)),))


def truth(expression: j.Expression) -> bool | None:
    """Return whether a constant is true, None where the expression is no constant."""
    match expression:
        case j.Literal(value):
            return bool(value)
        case j.ListLiteral(items) | j.DictLiteral(items):
            return bool(items)
        case _:
            return None


def not_(expression: j.Expression) -> j.Expression:
    """Return the negation, pushed inward as far as it goes."""
    known = truth(expression)
    if known is not None:
        return j.Literal(not known)
    match expression:
        case j.Not(value):
            return value
        case j.Binary(operator, left, right) if operator in _OPPOSITE:
            return j.Binary(_OPPOSITE[operator], left, right)
        case j.Test(value, test, negated):
            return j.Test(value, test, not negated)
        case j.And(operands):
            return or_(*map(not_, operands))
        case j.Or(operands):
            return and_(*map(not_, operands))
        case _:
            return j.Not(expression)


def and_(*operands: j.Expression) -> j.Expression:
    """Return the conjunction as a condition: constants folded, nested ones flattened."""
    kept: list[j.Expression] = []
    for operand in operands:
        for part in operand.operands if isinstance(operand, j.And) else (operand,):
            known = truth(part)
            if known is False:
                return j.FALSE
            if known is None and part not in kept:
                kept.append(part)
    return _and(kept)


def _and(kept: list[j.Expression]) -> j.Expression:
    if j.FALSE in kept or any(not_(part) in kept for part in kept):
        return j.FALSE
    if not kept:
        return j.TRUE
    return kept[0] if len(kept) == 1 else j.And(tuple(kept))


def or_(*operands: j.Expression) -> j.Expression:
    """Return the disjunction as a condition: constants folded, nested ones flattened."""
    kept: list[j.Expression] = []
    for operand in operands:
        for part in operand.operands if isinstance(operand, j.Or) else (operand,):
            known = truth(part)
            if known is True:
                return j.TRUE
            if known is None and part not in kept:
                kept.append(part)
    if any(not_(part) in kept for part in kept):
        return j.TRUE
    if not kept:
        return j.FALSE
    return kept[0] if len(kept) == 1 else j.Or(tuple(kept))


def or_empty(expression: j.Expression, empty: j.Expression) -> j.Expression:
    """Return ``expression or empty``, for what may be undefined or none."""
    known = truth(expression)
    if known is not None:
        return expression if known else empty
    return j.Or((expression, empty))
