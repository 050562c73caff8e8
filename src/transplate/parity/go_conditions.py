"""The conditions of Go templates as formulas: taken apart into ``and``, ``or``, ``not``, ``eq`` and ``ne``.

What is left is compared by its text and its dot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from transplate.gotmpl import nodes as go
from transplate.gotmpl.printer import print_node
from transplate.parity.coverage import Arm, GoCoverage
from transplate.parity.formulas import FALSE, TRUE, Formula


def volatile_variables(coverage: GoCoverage) -> Callable[[str], bool]:
    """Return whether a variable may have different values where its name stands in two conditions."""
    assigned = Counter(name for pipeline in _pipelines(coverage) for name in _targets(pipeline))
    return lambda name: assigned[name] > 1


def constant_variables(coverage: GoCoverage) -> Iterator[Formula]:
    """Yield what holds of variables that are a text and nothing else ever."""
    volatile = volatile_variables(coverage)
    for pipeline in _pipelines(coverage):
        match pipeline.commands:
            case (go.Command(operands=(go.String(value),)),):
                for name in _targets(pipeline):
                    if not volatile(name):
                        yield ("is", name, value)
            case _:
                pass


def _targets(pipeline: go.Pipeline) -> list[str]:
    return [variable.name for variable in pipeline.declarations]


def _pipelines(coverage: GoCoverage) -> Iterator[go.Pipeline]:
    """Yield every pipeline of a template."""
    waiting: list[Any] = [coverage.body]
    while waiting:
        part = waiting.pop()
        if isinstance(part, go.Pipeline):
            yield part
        if isinstance(part, tuple):
            waiting += part
        elif hasattr(part, "__dataclass_fields__"):
            waiting += [getattr(part, name) for name in part.__dataclass_fields__]


def outcome_formula(arm: Arm, volatile: Callable[[str], bool]) -> Formula:
    """Return what holds where an arm is taken.

    Args:
        arm: The arm.
        volatile: Whether a variable may have different values, as :func:`volatile_variables` says.
    """
    formula = _formula(arm.condition, arm.dot, volatile)
    return formula if arm.outcome else ("not", formula)


def _formula(node: go.Operand, dot: int | None, volatile: Callable[[str], bool]) -> Formula:
    match node:
        case go.Bool(value):
            return TRUE if value else FALSE
        case go.Pipeline(commands=(go.Command(operands=(operand,)),)):
            return _formula(operand, dot, volatile)
        case go.Pipeline(commands=(go.Command(operands=(go.Identifier(name), *arguments)),)):
            parts = [_formula(argument, dot, volatile) for argument in arguments]
            if name in ("and", "or"):
                return (name, *parts)
            if name == "not" and len(parts) == 1:
                return ("not", parts[0])
            literals = [each.value for each in arguments[1:] if isinstance(each, go.String)]
            if name in ("eq", "ne") and len(literals) == len(arguments) - 1:
                subject = _text(arguments[0], dot, volatile)
                equal = ("or", *(("is", subject, literal) for literal in literals))
                return equal if name == "eq" else ("not", equal)
        case _:
            pass
    return ("atom", _text(node, dot, volatile))


def _text(node: go.Operand, dot: int | None, volatile: Callable[[str], bool]) -> str:
    """Return what names a value: its text with the root's fields written out, and whose dot it is."""
    uses_dot = False
    varies = False

    def named(part: Any) -> Any:
        nonlocal uses_dot, varies
        match part:
            case go.Field(names) if dot is None:
                return go.Variable("$", names)
            case go.Field() | go.Dot():
                uses_dot = True
                return part
            case go.Variable(name) if name != "$":
                varies |= volatile(name)
                return part
            case go.Pipeline():
                return replace(
                    part, declarations=(), is_assignment=False, commands=tuple(map(named, part.commands))
                )
            case go.Command():
                return replace(part, operands=tuple(map(named, part.operands)))
            case go.Chain():
                return replace(part, operand=named(part.operand))
            case _:
                return part

    renamed = named(node)
    while isinstance(renamed, go.Pipeline) and len(renamed.commands) == 1:
        command = renamed.commands[0]
        if len(command.operands) > 1:
            break
        renamed = command.operands[0]
    text = print_node(renamed)
    if uses_dot:
        text += f" of {dot}"
    return f"{text} at {id(node)}" if varies else text
