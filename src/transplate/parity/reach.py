"""Which branches of two templates a search took, and why the others cannot be taken."""

from __future__ import annotations

from transplate.parity.generate import Search
from transplate.parity.pair import Pair
from transplate.parity.report import Reach


def reach_of(pair: Pair, search: Search) -> tuple[Reach, ...]:
    """Return for each side what a search reached."""
    found = []
    for number, side in enumerate(pair.sides):
        untaken = [at for at in range(len(side.arms)) if (number, at) not in search.hits]
        reasons = {
            at: reason for (owner, at), reason in search.dead.items() if owner == number and at in untaken
        }
        open_arms = [at for at in untaken if at not in reasons]
        found.append(
            Reach(
                arms=len(side.arms),
                taken=len(side.arms) - len(untaken),
                dead=tuple((str(side.arms[at]), reason) for at, reason in reasons.items()),
                open=tuple(str(side.arms[at]) for at in open_arms),
            )
        )
    return tuple(found)
