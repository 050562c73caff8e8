"""Why no conversation takes an arm: proofs that it cannot be taken, by logic and by what a chat gives.

An arm is dead if its condition and those of all arms around it cannot hold together. Conditions are taken
apart into ``and``, ``or``, ``not``, ``eq`` and ``ne``; what is left is compared by its text and its dot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from tests.portability.covering import Covering
from transplate.gotmpl import nodes as go
from transplate.gotmpl.printer import print_node
from transplate.parity.coverage import Arm, GoCoverage

Formula: TypeAlias = tuple[Any, ...]
"""``("atom", text)``, ``("is", text, literal)``, ``("not", f)``, ``("and", f, …)``, ``("or", f, …)``."""
Facts: TypeAlias = dict[tuple[str, ...], bool]

_TRUE: Formula = ("and",)
_FALSE: Formula = ("or",)
_MOST_ATOMS = 16
_FAILS = "Ollama fails on every request that takes it"
_SEEN_BY_EYE = {
    ("gt (len $.Tools) 1", False): "a tool that is not the last has another one behind it",
    ('ne $system_message ""', True): "only the first message sets the variable, after this was asked",
    ('ne $prev_role "tool"', False): "nothing sets the variable",
    (".Function", False): "a struct is always true",
}
"""What follows from more than logic, read in the templates that have it."""


def reasons(covering: Covering) -> dict[int, str | None]:
    """Return why each arm that no conversation takes is dead, None where that could not be shown."""
    coverage = covering.coverage
    arms = coverage.arms
    volatile = _volatile(coverage)
    axioms = _axioms(covering)
    found: dict[int, str | None] = {}
    for number in covering.untaken:
        around = list(_around(arms, number))
        formulas = [_outcome(arms[each], volatile) for each in (number, *around)]
        if any(found.get(each) for each in around):
            found[number] = "it is inside of a branch that is never taken"
        elif not _possible(formulas):
            found[number] = "the conditions around it have decided it"
        elif number in covering.failing:
            found[number] = _FAILS
        else:
            by_axiom = (reason for reason, axiom in axioms if not _possible([*formulas, axiom]))
            seen = _SEEN_BY_EYE.get((arms[number].text.strip("()"), arms[number].outcome))
            found[number] = next(by_axiom, seen)
    return found


def _axioms(covering: Covering) -> list[tuple[str, Formula]]:
    """Return what holds of every chat, each with the words that say so."""

    def never(name: str) -> tuple[str, Formula]:
        return f"a chat never sets .{name}", ("not", ("atom", f"$.{name}"))

    names = ["Suffix", "First"]
    names += ["Tools", "Messages"] if covering.legacy else ["Prompt", "Response"]
    axioms = [never(name) for name in names]
    if covering.thinks:
        axioms.append(("a model that can think is always told whether to", ("atom", "$.IsThinkSet")))
    else:
        axioms.append(("a model that cannot think is never told to", ("not", ("atom", "$.Think"))))
    if not covering.legacy:
        text = "there is no system text without a message"
        axioms.append((text, ("or", ("atom", "$.Messages"), ("not", ("atom", "$.System")))))
    if covering.needs_messages:
        axioms.append(("Ollama fails without messages", ("atom", "$.Messages")))
    return axioms


def _around(arms: Sequence[Arm], number: int) -> Iterator[int]:
    parent = arms[number].parent
    while parent is not None:
        yield parent
        parent = arms[parent].parent


# --- conditions as formulas -----------------------------------------------------------------------------


def _volatile(coverage: GoCoverage) -> Callable[[str], bool]:
    """Return whether a variable may have different values where its name stands in two conditions."""
    assigned = Counter[str]()
    waiting: list[Any] = [coverage.body]
    while waiting:
        part = waiting.pop()
        if isinstance(part, go.Pipeline):
            assigned.update(variable.name for variable in part.declarations)
        if isinstance(part, tuple):
            waiting += part
        elif hasattr(part, "__dataclass_fields__"):
            waiting += [getattr(part, name) for name in part.__dataclass_fields__]
    return lambda name: assigned[name] > 1


def _outcome(arm: Arm, volatile: Callable[[str], bool]) -> Formula:
    formula = _formula(arm.condition, arm.dot, volatile)
    return formula if arm.outcome else ("not", formula)


def _formula(node: go.Operand, dot: int | None, volatile: Callable[[str], bool]) -> Formula:
    match node:
        case go.Bool(value):
            return _TRUE if value else _FALSE
        case go.Pipeline(commands=(go.Command(operands=(operand,)),)):
            return _formula(operand, dot, volatile)
        case go.Pipeline(commands=(go.Command(operands=(go.Identifier(name), *arguments)),)):
            parts = [_formula(argument, dot, volatile) for argument in arguments]
            if name in ("and", "or"):
                return (name, *parts)
            if name == "not" and len(parts) == 1:
                return ("not", parts[0])
            if name in ("eq", "ne") and all(isinstance(each, go.String) for each in arguments[1:]):
                subject = _text(arguments[0], dot, volatile)
                equal = ("or", *(("is", subject, each.value) for each in arguments[1:]))
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


# --- whether formulas can hold together -----------------------------------------------------------------


def _possible(formulas: Sequence[Formula]) -> bool:
    atoms = sorted({atom for formula in formulas for atom in _atoms(formula)})
    if len(atoms) > _MOST_ATOMS:
        return True
    return _satisfiable(formulas, atoms, {})


def _atoms(formula: Formula) -> Iterator[tuple[str, ...]]:
    if formula[0] in ("atom", "is"):
        yield formula
    else:
        for part in formula[1:]:
            yield from _atoms(part)


def _satisfiable(formulas: Sequence[Formula], atoms: Sequence[tuple[str, ...]], facts: Facts) -> bool:
    values = [_value(formula, facts) for formula in formulas]
    if False in values:
        return False
    if not atoms:
        return True
    atom, *rest = atoms
    for value in (True, False):
        if value and atom[0] == "is" and _is_another(atom, facts):
            continue
        if _satisfiable(formulas, rest, {**facts, atom: value}):
            return True
    return False


def _is_another(atom: tuple[str, ...], facts: Facts) -> bool:
    """Return whether a value is known to be another text than this."""
    return any(
        value and fact[0] == "is" and fact[1] == atom[1] and fact[2] != atom[2]
        for fact, value in facts.items()
    )


def _value(formula: Formula, facts: Facts) -> bool | None:
    """Return whether a formula holds, None where the facts leave it open."""
    kind, *parts = formula
    if kind in ("atom", "is"):
        return facts.get(formula)
    values = [_value(part, facts) for part in parts]
    if kind == "not":
        return None if values[0] is None else not values[0]
    decisive = kind == "or"
    if decisive in values:
        return decisive
    return None if None in values else not decisive
