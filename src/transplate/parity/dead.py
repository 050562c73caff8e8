"""Why no chat can take a branch of a template.

A branch is out of reach if its condition and those of all branches around it cannot hold together, by logic
or by what holds of every chat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from transplate.parity.coverage import GoCoverage
from transplate.parity.formulas import Formula, possible
from transplate.parity.go_conditions import constant_variables, outcome_formula, volatile_variables
from transplate.parity.jinja_conditions import JinjaConditions
from transplate.parity.sides import Arm, GoSide, JinjaSide, Side

_DECIDED = "the conditions around it have decided it"
_MOST_AROUND = 32
"""How many of the branches around one are looked at; what they say together is enough, or else too much."""
_INSIDE = "it is inside of a branch that is never taken"

Holding = Callable[[Sequence[int]], tuple[list[Formula], list[tuple[str, Formula]]]]
"""What holds where arms are taken, and what holds of every chat."""


def dead_arms(side: Side, untaken: Sequence[int]) -> dict[int, str]:
    """Return those of a template's arms that no chat can take, each with the reason."""
    holding = _holding(side) if untaken else None
    reasons: dict[int, str] = {}
    if holding is None:
        return reasons
    for number in untaken:
        chain = [number, *islice(_around(side.arms, number), _MOST_AROUND)]
        if side.arms[number].parent in reasons:
            reasons[number] = _INSIDE
            continue
        formulas, axioms = holding(chain)
        if not possible(formulas):
            reasons[number] = _DECIDED
            continue
        for reason, axiom in axioms:
            if not possible([*formulas, axiom]):
                reasons[number] = reason
                break
        else:
            if not possible([*formulas, *(axiom for _, axiom in axioms)]):
                reasons[number] = "; ".join(dict.fromkeys(reason for reason, _ in axioms))
    return reasons


def _around(arms: Sequence[Arm], number: int) -> Iterator[int]:
    parent = arms[number].parent
    while parent is not None:
        yield parent
        parent = arms[parent].parent


def _holding(side: Side) -> Holding | None:
    if isinstance(side, GoSide) and side.coverage is not None:
        return _go_holding(side, side.coverage)
    if isinstance(side, JinjaSide) and side.coverage is not None:
        conditions = JinjaConditions(side.source, side.coverage.arms)

        def of_jinja(chain: Sequence[int]) -> tuple[list[Formula], list[tuple[str, Formula]]]:
            formulas = conditions.holding(chain)
            return formulas, list(conditions.axioms(formulas))

        return of_jinja
    return None


def _go_holding(side: GoSide, coverage: GoCoverage) -> Holding:
    volatile = volatile_variables(coverage)
    axioms = list(_go_axioms(side))
    axioms += [("nothing else sets the variable", fact) for fact in constant_variables(coverage)]

    def of_go(chain: Sequence[int]) -> tuple[list[Formula], list[tuple[str, Formula]]]:
        return [outcome_formula(coverage.arms[number], volatile) for number in chain], axioms

    return of_go


def _go_axioms(side: GoSide) -> Iterator[tuple[str, Formula]]:
    """Yield what holds of every chat that Ollama executes a template on."""
    inference = side.template.inference
    has_messages = "messages" in inference.variables
    names = ["Suffix", "First"]
    names += ["Prompt", "Response"] if has_messages else ["Tools", "Messages"]
    for name in names:
        yield f"a chat never sets .{name}", ("not", ("atom", f"$.{name}"))
    if has_messages:
        yield "a chat has messages", ("atom", "$.Messages")
    if "tools" not in inference.abilities:
        yield "Ollama refuses tools for this template", ("not", ("atom", "$.Tools"))
    if "thinking" in inference.abilities:
        yield "a model that can think is always told whether to", ("atom", "$.IsThinkSet")
    else:
        yield "a model that cannot think is never told to", ("not", ("atom", "$.Think"))
    yield "a struct is always true", ("atom", "$.Function")
