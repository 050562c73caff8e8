"""Go's expressions: conditions put together, constants, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import call, go, number, string
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.values import (
    GO_TYPES,
)
from transplate.gotmpl.nodes import (
    Bool,
    Chain,
    Command,
    Identifier,
    Number,
    Operand,
    Pipeline,
    String,
    Variable,
)
from transplate.gotmpl.printer import print_node

_NAMES = frozenset({"Role", "Name", "ToolName", "Type"})
"""The fields of Ollama's data that hold words rather than texts."""


def type_test(operand: Operand, kind: str) -> Operand:
    """Return the condition that a value is of a kind."""
    return go(f'eq (printf "%T" $x) "{GO_TYPES[kind]}"', x=operand)


def kinds_test(operand: Operand, wanted: frozenset[str], possible: frozenset[str]) -> Operand | bool:
    """Return the condition that a value that is of some possible kinds is of one of those that are wanted."""
    wanted, others = possible & wanted, possible - wanted
    if not wanted or not others:
        return bool(wanted)
    chosen = others if len(others) < len(wanted) else wanted
    types = [string(GO_TYPES[kind]) for kind in sorted(chosen)]
    test = call("eq", go('printf "%T" $x', x=operand), *types)
    return negated(test) if chosen is others else test


def constant(value: object) -> Operand:
    """Return a constant as a Go expression."""
    if value is None:
        return build.NONE
    if isinstance(value, bool):
        return build.boolean(value)
    if isinstance(value, int):
        return number(value)
    if isinstance(value, str):
        return string(value)
    if isinstance(value, float):
        return Number(repr(value), value)
    raise Refused(f"the constant {value!r}")


def is_simple(operand: Operand) -> bool:
    """Tell whether an expression is a name, a field or a constant."""
    return not isinstance(operand, Pipeline)


def parts_of(operand: Operand, *, are_certain: bool = False) -> Iterator[object]:
    """Yield an expression, and all that it is made of, or only what is evaluated in any case."""
    pending: list[object] = [operand]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, Pipeline):
            pending.extend(part.commands)
        elif isinstance(part, Command):
            is_lazy = are_certain and part.operands[0] in (Identifier("and"), Identifier("or"))
            pending.extend(part.operands[:2] if is_lazy else part.operands)
        elif isinstance(part, Chain):
            pending.append(part.operand)


def variables_of(operand: Operand) -> Iterator[str]:
    """Yield the names of the variables in an expression."""
    return (part.name for part in parts_of(operand) if isinstance(part, Variable))


def functions_in(operand: Operand) -> Iterator[str]:
    """Yield the names of the functions that an expression calls."""
    return (part.name for part in parts_of(operand) if isinstance(part, Identifier))


def fields_of(operand: Operand) -> Iterator[str]:
    """Yield what is read in an expression: the last field of each variable, or the variable itself."""
    if isinstance(operand, Variable | Chain) and operand.fields:
        yield operand.fields[-1]
    elif isinstance(operand, Variable):
        yield operand.name
    elif isinstance(operand, Chain):
        yield from fields_of(operand.operand)
    elif isinstance(operand, Pipeline):
        for command in operand.commands:
            for part in command.operands:
                yield from fields_of(part)


def call_operands(operand: Operand) -> tuple[Operand, ...]:
    """Return a function and its arguments, or nothing if an expression is no call."""
    if isinstance(operand, Pipeline) and len(operand.commands) == 1:
        return operand.commands[0].operands
    return ()


def mentions(text: str, name: str) -> bool:
    """Tell whether Go text has a variable in it."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (text[end : end + 1].isalnum() or text[end : end + 1] == "_"):
            return True
        at = text.find(name, end)
    return False


def function_of(operand: Operand) -> str:
    """Return the name of the function that an expression calls, empty if it is no call."""
    operands = call_operands(operand)
    return operands[0].name if operands and isinstance(operands[0], Identifier) else ""


def negated(condition: Operand) -> Operand:
    """Return the opposite of a condition."""
    operands, function = call_operands(condition), function_of(condition)
    if len(operands) == 2 and function == "not":
        return operands[1]
    if len(operands) == 3 and function in ("eq", "ne"):
        return call("ne" if function == "eq" else "eq", *operands[1:])
    if isinstance(condition, Bool):
        return Bool(not condition.value)
    return call("not", condition)


def both(left: Operand, right: Operand) -> Operand:
    """Return ``and left right``, flat."""
    return _chain("and", left, right)


def either(left: Operand, right: Operand) -> Operand:
    """Return ``or left right``, flat; what is compared with one thing or another in one ``eq``."""
    if function_of(left) == function_of(right) == "eq":
        (_, compared, *words), (_, also_compared, *others) = call_operands(left), call_operands(right)
        are_words = all(isinstance(word, String) for word in (*words, *others))
        if are_words and print_node(compared) == print_node(also_compared):
            return call("eq", compared, *words, *others)
    return _chain("or", left, right)


def _chain(name: str, left: Operand, right: Operand) -> Operand:
    operands: list[Operand] = []
    for side in (left, right):
        parts = call_operands(side)
        operands.extend(parts[1:] if function_of(side) == name and len(parts) > 2 else [side])
    return call(name, *operands)


def variable_name(name: str) -> str:
    """Return a name of Jinja's as one for Go, where it can be one."""
    return name if name.isascii() and name.isidentifier() else "v"


def base_name(name: str) -> str:
    """Return a variable's name without the dollar sign and the number that makes it one of its own."""
    return name[1:].rsplit("_", 1)[0].rstrip("0123456789")


def with_variable(operand: Operand, name: str, other: Variable) -> Operand:
    """Return an expression with another variable in the place of one."""
    if isinstance(operand, Variable):
        return Variable(other.name, other.fields + operand.fields) if operand.name == name else operand
    if isinstance(operand, Chain):
        return Chain(with_variable(operand.operand, name, other), operand.fields)
    if isinstance(operand, Pipeline):
        commands = tuple(
            Command(tuple(with_variable(one, name, other) for one in command.operands))
            for command in operand.commands
        )
        return Pipeline(commands, operand.declarations, operand.is_assignment)
    return operand


def is_named(operand: Operand) -> bool:
    """Tell whether an expression is made of names, roles and types alone."""
    fields = set(fields_of(operand))
    return bool(fields) and fields <= _NAMES


def is_content(operand: Operand) -> bool:
    """Tell whether an expression is the content of a message."""
    return isinstance(operand, Variable | Chain) and operand.fields[-1:] == ("Content",)
