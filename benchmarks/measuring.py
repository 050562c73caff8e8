"""Timing calls, and summing up ratios."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from timeit import Timer


def seconds_per_call(call: Callable[[], object], *, budget: float = 0.002) -> float:
    """Return the time of one warm call: the best of three batches that last ``budget`` seconds together.

    The best of a few keeps out what else the machine did meanwhile; Go is measured in the same way.
    """
    timer = Timer(call)
    batch = budget / 3
    number = 1
    while (took := timer.timeit(number)) < batch / 2 and number < 1_000_000:
        number = min(number * 10, max(number + 1, int(number * batch / max(took, 1e-9))))
    return min(took, *timer.repeat(2, number)) / number


@dataclass(frozen=True, slots=True)
class Ratios:
    """Ratios of our time to a peer's, one for each cell."""

    values: Sequence[float]

    def __str__(self) -> str:
        ordered = sorted(self.values)
        if not ordered:
            return "nothing to compare"
        mean = math.exp(sum(map(math.log, ordered)) / len(ordered))
        p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        return (
            f"geometric mean {mean:.3f}, median {median(ordered):.3f}, p95 {p95:.3f}, "
            f"max {ordered[-1]:.3f} ({len(ordered)} cells)"
        )


def medians(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the median over the rounds of each measured thing."""
    return {
        key: median(one[key] for one in rounds if key in one) for key in {k for one in rounds for k in one}
    }
