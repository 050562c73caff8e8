"""What a rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

from transplate.source import Source

Checked = TypeVar("Checked")
"""What a rule looks at."""

Level: TypeAlias = Literal["error", "warning", "note"]
"""How bad it is: prompts are wrong; some requests get a wrong prompt or none; good to know."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What the check of a rule finds.

    Attributes:
        message: What is wrong with this template, in one line.
        offset: Where in it, in characters; None where it is no one place.
        source: The text that the place is in; the template, or of a rule about models the Modelfile, if None.
    """

    message: str
    offset: int | None = None
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Rule(Generic[Checked]):
    """A mistake that can be looked for: in a template, or in a model whether it has a template or not.

    Attributes:
        name: Its name, by which it is turned off.
        level: How bad it is.
        summary: What the mistake is, in one line.
        check: Looks for it; places are in the template, of a model in its Modelfile.
    """

    name: str
    level: Level
    summary: str
    check: Callable[[Checked], Iterable[Fault]]


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake in a template.

    Attributes:
        rule: The name of the rule.
        level: How bad it is.
        message: What is wrong, in one line.
        source: What the template is called.
        line: Where in it, from 1; None where it is no one place.
        column: Likewise, in characters.
        source_line: The line itself.
    """

    rule: str
    level: Level
    message: str
    source: str
    line: int | None = None
    column: int | None = None
    source_line: str | None = None
