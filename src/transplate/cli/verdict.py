"""A parity report as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from transplate import ParityReport

_BEFORE, _WIDTH = 30, 90


def report_data(report: ParityReport) -> dict[str, Any]:
    """Return a report as data for JSON."""
    return {
        "equal": report.equal,
        "checked": report.checked,
        "differences": [
            {
                "cause": difference.cause,
                "conversation": difference.conversation.name,
                "prompts": list(difference.prompts),
            }
            for difference in report.differences
        ],
    }


def report_lines(report: ParityReport, first: str, second: str) -> Iterator[str]:
    """Yield the verdict, and for each cause of a difference where the prompts part."""
    if report.equal:
        yield click.style("equal", fg="green", bold=True) + f" on {_conversations(report.checked)}"
        return
    differing = len({difference.conversation.name for difference in report.differences})
    yield (
        click.style("different", fg="red", bold=True) + f" on {differing} of {_conversations(report.checked)}"
    )
    width = max(len(first), len(second))
    by_cause = sorted(report.differences, key=lambda difference: difference.cause)
    for cause, group in groupby(by_cause, key=lambda difference: difference.cause):
        found = list(group)
        names = ", ".join(difference.conversation.name for difference in found)
        yield f"  {cause} ({names})"
        shown = zip((first, second), _around_difference(*found[0].prompts), strict=True)
        for name, (line, excerpt) in shown:
            yield f"    {name:{width}}  line {line}: {excerpt}"


def _conversations(count: int) -> str:
    return f"{count} conversation{'' if count == 1 else 's'}"


def _around_difference(one: str, other: str) -> Iterator[tuple[int, str]]:
    """Yield for both texts the line of the first difference and the text around it, on one line."""
    pairs = zip(one, other, strict=False)
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
    start = max(0, at - _BEFORE)
    for text in (one, other):
        excerpt = text[start : start + _WIDTH]
        before = "…" if start else ""
        after = "…" if len(text) > start + _WIDTH else ""
        yield text.count("\n", 0, at) + 1, before + repr(excerpt)[1:-1] + after
