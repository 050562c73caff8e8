"""Why something cannot be converted."""

from __future__ import annotations

from transplate.gotmpl.nodes import Operand

LONGEST = 300_000
"""The characters that a converted template may have, and so any text in it."""

MOST_BITS = 4096
"""The bits of an integer that is computed while a template is converted."""


class Refused(Exception):
    """Something cannot be said in Go."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Ambiguous(Exception):
    """Something can be said in Go only where it is known whether a condition holds."""

    def __init__(self, test: Operand, reason: str) -> None:
        super().__init__(reason)
        self.test = test
        self.reason = reason


class ReadInItself(Exception):
    """A macro that calls itself reads what it prints, so that it cannot be a template of Go's."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class TooLong(Exception):
    """The converted template would be too long to be of use."""
