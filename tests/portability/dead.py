"""Why no conversation takes an arm: proofs that it cannot be taken, by logic and by what a chat gives.

An arm is dead if its condition and those of all arms around it cannot hold together. Conditions are taken
apart into ``and``, ``or``, ``not``, ``eq`` and ``ne``; what is left is compared by its text and its dot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.portability.covering import Covering
from transplate.parity.coverage import Arm
from transplate.parity.formulas import Formula, possible
from transplate.parity.go_conditions import outcome_formula, volatile_variables

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
    volatile = volatile_variables(coverage)
    axioms = _axioms(covering)
    found: dict[int, str | None] = {}
    for number in covering.untaken:
        around = list(_around(arms, number))
        formulas = [outcome_formula(arms[each], volatile) for each in (number, *around)]
        if any(found.get(each) for each in around):
            found[number] = "it is inside of a branch that is never taken"
        elif not possible(formulas):
            found[number] = "the conditions around it have decided it"
        elif number in covering.failing:
            found[number] = _FAILS
        else:
            by_axiom = (reason for reason, axiom in axioms if not possible([*formulas, axiom]))
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
