"""The dates on which templates are compared: fixed ones, so that a verdict does not depend on the day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from transplate.conversation import Conversation, Message
from transplate.parity.pair import Pair
from transplate.parity.sides import ServerSide, Side
from transplate.parity.variations import tool

CLOCK = datetime(2027, 1, 3, 16, 5, 9)
"""What is taken for the time in conversations that have no date of their own.

What formats write in different ways differs on it: its day and month have one digit, its hour is one of the
afternoon, and the week that it is in belongs to the year before (``%G`` is not ``%Y``).
"""
_DATES = (
    datetime(2027, 1, 1),
    datetime(2024, 2, 29, 8, 30),
    datetime(2025, 12, 29, 12, 0, 59),
    datetime(2026, 5, 9, 0, 45, 7),
    datetime(2030, 10, 20, 23, 59, 59),
    datetime(2000, 8, 31, 10, 10, 10),
)
"""Others, for templates that look at what the date is: midnight, noon, quarters, last days of months."""
_READS_CLOCK = re.compile(r"strftime_now|currentDate|yesterdayDate")


def clock_of(*sides: Side) -> datetime:
    """Return what sides take for the time: a running server cannot be told, it takes its own clock's."""
    return datetime.now() if any(isinstance(side, ServerSide) for side in sides) else CLOCK


def with_dates(pair: Pair) -> Iterator[Conversation]:
    """Yield conversations on several dates, if a template may read the clock.

    Most templates print the date only where there is no system message, or where there are tools.

    Args:
        pair: The templates.
    """
    if not any(_READS_CLOCK.search(side.source) or not side.source for side in pair.sides):
        return
    user, system = Message("user", "Hi"), Message("system", "Be brief.")
    plain = Conversation((user,))
    bases = (
        *(plain, replace(plain, think=True), Conversation((system, user))),
        *(Conversation((user,), (tool("get_time"),)), Conversation((system, user), (tool("get_time"),))),
    )
    for base in bases:
        yield base
        yield from (replace(base, now=date) for date in _DATES)
