"""Conditions as formulas, and whether formulas can hold together.

A formula is a tuple: ``("atom", text)``, ``("is", text, literal)``, ``("not", f)``, ``("and", f, …)`` or
``("or", f, …)``. Atoms stand for values that are true or not, and are the same if their texts are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

Formula: TypeAlias = tuple[Any, ...]
"""A condition."""
Facts: TypeAlias = dict[tuple[str, ...], bool]
"""What is known of atoms."""

TRUE: Formula = ("and",)
FALSE: Formula = ("or",)
_MOST_ATOMS = 16


def possible(formulas: Sequence[Formula]) -> bool:
    """Return whether formulas can hold together; True if there is too much to try."""
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
    decisive: bool = kind == "or"
    if decisive in values:
        return decisive
    return None if None in values else not decisive
