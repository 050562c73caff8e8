"""The time that a comparison may take, so that two templates from strangers cannot hang it."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time

from transplate.errors import ErrorKind
from transplate.parity.sides import Outcome, Side

_MOST_PRINTED = 400_000_000
"""How many characters all prompts may have together."""
_MOST_AT_LIMIT = 4.0
"""For how many seconds renderings may run that end at a limit."""


class OutOfBudgetError(Exception):
    """A comparison has to end; the message says why."""


class Budget:
    """What is left of the time of a comparison, measured as time of the processor.

    One rendering is bounded by the limits of its template alone; this bounds all of them together. A template
    that reaches its limits again and again is not rendered any more.

    Args:
        seconds: How long a part of the comparison may take.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = thread_time() + seconds
        self._at_limit = 0.0
        self._printed = 0

    def renew(self) -> None:
        """Begin the next part of the comparison, which may take as long."""
        self._end = thread_time() + self._seconds

    def spent_on(self, outcome_of: Callable[[Side], Outcome], side: Side) -> Outcome:
        """Return an outcome, if there is time left to make it.

        Raises:
            OutOfBudgetError: There is none.
        """
        start = thread_time()
        if start > self._end:
            raise OutOfBudgetError(f"it takes more than {self._seconds:g} seconds of the processor")
        if self._at_limit > _MOST_AT_LIMIT:
            raise OutOfBudgetError("a template reaches its limits again and again")
        if self._printed > _MOST_PRINTED:
            raise OutOfBudgetError(f"the templates print more than {_MOST_PRINTED} characters")
        outcome = outcome_of(side)
        self._printed += len(outcome.prompt)
        if outcome.error is not None and outcome.error.kind is ErrorKind.LIMIT:
            self._at_limit += thread_time() - start
        return outcome
