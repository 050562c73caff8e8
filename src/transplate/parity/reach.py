"""Which branches of two templates a search took, and why the others cannot be taken."""

from __future__ import annotations

from transplate.parity.generate import Search
from transplate.parity.pair import Pair
from transplate.parity.report import Reach


def reach_of(pair: Pair, search: Search) -> tuple[Reach, ...]:
    """Return for each side what a search reached."""
    found = []
    for number, side in enumerate(pair.sides):
        arms = side.arms
        untaken = [arm for at, arm in enumerate(arms) if (number, at) not in search.hits]
        found.append(Reach(len(arms), len(arms) - len(untaken), (), tuple(map(str, untaken))))
    return tuple(found)
