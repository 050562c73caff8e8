"""Last touches that only make the text shorter: what is known to be text, and numbers next to text."""

from __future__ import annotations

from transplate.jinja import nodes as j
from transplate.jinja import walk

_TEXTS = frozenset({j.Name("system")})
"""Names that are never undefined and always text."""


def polish(body: j.Body) -> j.Body:
    """Return a body that prints the same, without needless filters and alternatives."""
    return tuple(_polished(statement) for statement in body)


def _polished(statement: j.Statement) -> j.Statement:
    match statement:
        case j.Output(parts):
            return j.Output(_beside_text(tuple(map(_simpler, parts))))
        case j.If(test, body, orelse):
            return j.If(_simpler(test), polish(body), polish(orelse))
        case j.For(targets, iterable, body, orelse, condition):
            return j.For(targets, _simpler(iterable), polish(body), polish(orelse), condition)
        case j.Macro(name, parameters, body, defaults):
            return j.Macro(name, parameters, polish(body), defaults)
        case j.SetBlock(target, body):
            return j.SetBlock(target, polish(body))
        case j.Set(target, value):
            return j.Set(target, _simpler(value))
        case _:
            return statement


def _simpler(expression: j.Expression) -> j.Expression:
    return walk.substitute(expression, _simpler_part)


def _simpler_part(part: j.Expression) -> j.Expression:
    match part:
        case j.Or((text, j.Literal(""))) if text in _TEXTS:
            return text
        case j.Concat(operands):
            return j.Concat(_beside_text(operands))
        case _:
            return part


def _beside_text(operands: tuple[j.Expression, ...]) -> tuple[j.Expression, ...]:
    """Return what is joined without the filter that makes integers text, where ``~`` does that anyhow.

    Not all engines join two integers side by side; one of the two stays text.
    """
    kept: list[j.Expression] = []
    is_number = False
    for operand in operands:
        match operand:
            case j.Filter(value, "string", (), ()) if not is_number:
                kept.append(value)
                is_number = True
            case _:
                kept.append(operand)
                is_number = False
    return tuple(kept)
