"""A parity report as people and programs read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from transplate.cli.output import error_data
from transplate.cli.visible import visible

if TYPE_CHECKING:
    from transplate import ParityReport
    from transplate.parity import Difference, Kind

_BEFORE, _WIDTH = 30, 90


def report_data(report: ParityReport) -> dict[str, Any]:
    """Return a report as data for JSON."""
    return {
        "verdict": report.verdict.value,
        "equal": report.equal,
        "checked": report.checked,
        "refused": list(report.refused),
        "reasons": list(report.reasons),
        "stopped": report.stopped,
        "conditions": list(report.conditions),
        "kinds": [_kind_data(kind) for kind in report.kinds],
        "differences": [_difference_data(difference) for difference in report.differences],
        "branches": [
            {"all": reach.arms, "taken": reach.taken, "dead": dict(reach.dead), "open": list(reach.open)}
            for reach in report.reach
        ],
    }


def _kind_data(kind: Kind) -> dict[str, Any]:
    given = kind.smallest.conversation.to_hf()
    return {
        "name": kind.name,
        "title": kind.title,
        "condition": kind.condition,
        "sides": list(kind.sides),
        "count": kind.count,
        "unusual": kind.unusual,
        "form": kind.form,
        "conversations": list(kind.conversations),
        "byte": kind.byte,
        "message": kind.message,
        "places": [
            place and {"line": place.line, "column": place.column, "text": place.text}
            for place in kind.places
        ],
        "smallest": _difference_data(kind.smallest)
        | {"messages": given["messages"], "tools": given["tools"]},
    }


def _difference_data(difference: Difference) -> dict[str, Any]:
    return {
        "cause": difference.cause,
        "causes": list(difference.causes),
        "conversation": difference.conversation.name,
        "position": difference.position,
        "prompts": list(difference.prompts),
        "errors": [error and error_data(error) for error in difference.errors],
    }


def report_lines(report: ParityReport, first: str, second: str) -> Iterator[str]:
    """Yield the verdict, and for each cause of a difference where the prompts part.

    Args:
        report: The report.
        first: What the first template is called.
        second: What the second is called.
    """
    yield _verdict(report)
    first, second = visible(first), visible(second)
    width = max(len(first), len(second))
    by_cause: dict[str, list[Difference]] = {}
    for difference in report.differences:
        by_cause.setdefault(difference.cause, []).append(difference)
    for cause, differences in by_cause.items():
        names = ", ".join(difference.conversation.name for difference in differences)
        yield visible(f"  {cause}: {names}")
        simplest = min(differences, key=lambda difference: sum(map(len, difference.prompts)))
        for name, error, prompt in zip((first, second), simplest.errors, simplest.prompts, strict=True):
            shown = f"error: {visible(error.message)}" if error else _around(prompt, simplest.position)
            yield f"    {name:{width}}  {shown}"


def _verdict(report: ParityReport) -> str:
    checked = f"{report.checked} conversation{'' if report.checked == 1 else 's'}"
    differing = len(report.differences)
    if report.equal:
        return f"{click.style('equal', fg='green', bold=True)} on {checked}"
    if not differing:
        return click.style("nothing compared", fg="red", bold=True)
    return f"{click.style('different', fg='red', bold=True)} on {differing} of {checked}"


def _around(prompt: str, position: int) -> str:
    """Return the text around a position, on one line, and the line it is in."""
    start = max(0, position - _BEFORE)
    excerpt = json.dumps(prompt[start : start + _WIDTH], ensure_ascii=False)[1:-1]
    before = "…" if start else ""
    after = "…" if len(prompt) > start + _WIDTH else ""
    line = prompt.count("\n", 0, position) + 1
    return f"line {line}: {before}{visible(excerpt)}{after}"
