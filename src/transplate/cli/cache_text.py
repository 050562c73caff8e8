"""What a replay of growing conversations found, as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from transplate.cli.parity_text import diff_lines

if TYPE_CHECKING:
    from transplate.parity import CacheReport


def cache_lines(report: CacheReport, *, verbose: bool, width: int) -> Iterator[str]:
    """Yield the verdict and, for each conversation that breaks the cache, where and why.

    Args:
        report: The report.
        verbose: Whether to show how the prompts part.
        width: How wide the terminal is.
    """
    kept = report.replayed - len(report.breaks)
    skipped = f" · {len(report.skipped)} left out: {', '.join(report.skipped)}" if report.skipped else ""
    if not report.replayed:
        yield click.style("NOTHING REPLAYED", fg="red", bold=True) + skipped
        return
    head, color = ("CACHES BREAK", "red") if report.breaks else ("CACHES HOLD", "green")
    counts = f"they hold in {kept} of {report.replayed} conversations"
    yield f"{click.style(head, fg=color, bold=True)} · {counts}{skipped}"
    for each in report.breaks:
        why = f": {each.cause}" if each.cause else ""
        yield f"  {each.replay}, turn {each.turn}{why}"
        help_ = f"; {each.variable} avoids it" if each.variable else ""
        reading = f"{each.lost:.0%} of the prompt before has to be read again"
        yield f"    {reading}, from character {each.kept}{help_}"
        if verbose:
            for sign, line in diff_lines(each.before, each.after, width=width - 6):
                yield f"    {sign} {line}"
