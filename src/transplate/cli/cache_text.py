"""What a replay of growing conversations found, as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from transplate.cli.formats.notes import Note, Notes, spot_in
from transplate.cli.parity_text import diff_lines
from transplate.cli.visible import visible

if TYPE_CHECKING:
    from transplate.parity import CacheReport
    from transplate.parity.caches import Break


def cache_lines(report: CacheReport, *, verbose: bool, width: int) -> Iterator[str]:
    """Yield the verdict and, for each conversation that breaks the cache, where and why.

    Args:
        report: The report.
        verbose: Whether to show how the prompts part.
        width: How wide the terminal is.
    """
    kept = report.replayed - len(report.breaks)
    skipped = (
        f" · {len(report.skipped)} left out: {visible(', '.join(report.skipped))}" if report.skipped else ""
    )
    if not report.replayed:
        yield click.style("NOTHING REPLAYED", fg="red", bold=True) + skipped
        return
    head, color = ("CACHES BREAK", "red") if report.breaks else ("CACHES HOLD", "green")
    counts = f"they hold in {kept} of {report.replayed} conversations"
    yield f"{click.style(head, fg=color, bold=True)} · {counts}{skipped}"
    for each in report.breaks:
        yield f"  {_headline(each)}"
        yield f"    {_reading(each)}"
        if verbose:
            yield from (f"    {line}" for line in _parting(each, width - 6))


def cache_notes(source: str, report: CacheReport) -> Notes:
    """Return the verdict as all formats of the answer take it.

    Args:
        source: What the user calls the template.
        report: The report.
    """
    found = tuple(
        Note(
            rule="breaks-cache",
            level="warning",
            source=source,
            spot=spot_in(source, None),
            message=f"prompts do not extend each other: {_headline(each)}",
            text="\n".join((_reading(each), *_parting(each, 120))),
        )
        for each in report.breaks
    )
    rules = {"breaks-cache": "A prompt of a growing conversation does not begin with the prompt before."}
    return Notes("transplate check --cache", (source,), rules, found)


def _headline(each: Break) -> str:
    why = f": {each.cause}" if each.cause else ""
    return visible(f"{each.replay}, turn {each.turn}{why}")


def _reading(each: Break) -> str:
    help_ = f"; {visible(each.variable)} avoids it" if each.variable else ""
    reading = f"{each.lost:.0%} of the prompt before has to be read again"
    return f"{reading}, from character {each.kept}{help_}"


def _parting(each: Break, width: int) -> Iterator[str]:
    for sign, line in diff_lines(each.before, each.after, width=width):
        yield f"{sign} {line}"
