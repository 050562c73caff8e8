"""A pair of templates that was checked, as all formats of the answer take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from transplate.cli.baseline import digest_of
from transplate.cli.formats.notes import NOWHERE, Spot, spot_in
from transplate.cli.parity_text import conversation_lines, diff_lines
from transplate.cli.visible import harmless, visible

if TYPE_CHECKING:
    from transplate import ParityReport
    from transplate.cli.baseline import Change
    from transplate.parity import Kind

_WIDTH = 120


@dataclass(frozen=True, slots=True)
class Checked:
    """A pair of templates, and what their comparison found.

    Attributes:
        sources: What the user calls them.
        report: What was found, with causes.
        conversations: The names of the conversations that were given, equal or not.
        change: How the kinds depart from those of a baseline; None where there is none.
    """

    sources: tuple[str, str]
    report: ParityReport
    conversations: tuple[str, ...] = ()
    change: Change | None = None

    @property
    def passes(self) -> bool:
        """Whether they are equal, or differ in just the ways that the baseline says."""
        if self.change is None:
            return self.report.equal
        departs = self.change.new or self.change.gone or self.change.changed
        return not departs and self.report.checked > 0

    def is_known(self, kind: Kind) -> bool:
        """Return whether a kind of difference is in the baseline."""
        if self.change is None or kind.name in self.change.new:
            return False
        return not set(kind.conversations) & set(self.change.changed)

    @property
    def digests(self) -> dict[str, str]:
        """What differs on the conversations that have names; others are made anew for each comparison."""
        return {
            one.conversation.name: digest_of(one.prompts, one.errors)
            for one in self.report.differences
            if one.conversation.name in self.conversations
        }

    @property
    def broken(self) -> str:
        """The side that fails on every conversation that was compared; empty if neither does."""
        differences = self.report.differences
        if len(differences) < self.report.checked:
            return ""
        failing = zip(self.sources, *(one.errors for one in differences), strict=True)
        return next((source for source, *errors in failing if errors and all(errors)), "")


Spots: TypeAlias = tuple[Spot, ...]


def spots_of(checked: Checked, kind: Kind) -> Spots:
    """Return the places in files that print a difference; none for templates that are in no file."""
    found = map(spot_in, checked.sources, kind.places)
    return tuple(spot for spot in found if spot != NOWHERE)


def headline(checked: Checked, kind: Kind) -> str:
    """Return a kind of difference in one line."""
    first, second = checked.sources
    return harmless(visible(f"{kind.title}: {first} and {second} print different prompts"))


def details(checked: Checked, kind: Kind) -> str:
    """Return what there is to know of a kind of difference, as plain text of several lines."""
    smallest = kind.smallest
    lines = [f"{sign} {visible(source)}" for sign, source in zip("-+", checked.sources, strict=True)]
    for number, (side, error) in enumerate(zip(kind.sides, smallest.errors, strict=True)):
        said = side or (f"fails: {error.message}" if error else "")
        lines[number] += f": {visible(said)}" if said else ""
    if kind.condition:
        lines.append(f"equal if: {visible(kind.condition)}")
    lines.append(f"smallest conversation, first difference at byte {kind.byte}:")
    lines += [f"  {line}" for line in conversation_lines(smallest.conversation)]
    lines += [f"{sign} {line}" for sign, line in diff_lines(*smallest.prompts, width=_WIDTH)]
    return harmless("\n".join(lines))
