"""Adds up what became of converted templates, and says it in words."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
HUNDRED_KB = 100_000
_FAILURES = ("wrong", "crash", "refused", "go fails", "error lost")


def read_results(paths: Iterable[Path]) -> list[Row]:
    """Return the rows of files of results; of a template that was done twice, the later row."""
    rows: dict[tuple[str, ...], Row] = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            rows[row["corpus"], row["name"], row["style"], str(row["seed"])] = row
    return list(rows.values())


def report(rows: Sequence[Row], *, show: int = 10) -> str:
    """Return the counts of results, a paragraph for each corpus, style and seed."""
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["corpus"], row["style"], row["seed"]), []).append(row)
    return "\n\n".join(
        f"--- {corpus}, style {style}, seed {seed}\n" + "\n".join(_paragraph(group, show))
        for (corpus, style, seed), group in groups.items()
    )


def tally(rows: Sequence[Row]) -> Counter[str]:
    """Count the templates that count by their status, and all of them, and the others as ``hollow``."""
    statuses: Counter[str] = Counter()
    for row in rows:
        # What is wrong is wrong, however little the template prints.
        if row["counts_at_all"] or row["status"] in ("wrong", "crash"):
            statuses["count"] += 1
            statuses[row["status"]] += 1
        else:
            statuses["hollow"] += 1
    return statuses


def kinds(rows: Sequence[Row]) -> str:
    """Return what is wrong, refused or stopped, by its kind, the most frequent first, as Markdown."""
    groups: dict[tuple[int, str, str], list[Row]] = {}
    for row in rows:
        if row["status"] in _FAILURES and (row["counts_at_all"] or row["status"] in ("wrong", "crash")):
            severity = _FAILURES.index(row["status"])
            key = (severity, row["style"], kind(row["reason"]) if severity else row["name"])
            groups.setdefault(key, []).append(row)
    parts = []
    for (severity, style, reason), group in sorted(
        groups.items(), key=lambda item: (item[0][0], item[0][1], -len(item[1]))
    ):
        names = ", ".join(sorted({row["name"] for row in group}))
        least = min(group, key=lambda row: len(json.dumps(row["example"])))
        number = len({row["name"] for row in group})
        example = json.dumps(least["example"], ensure_ascii=False)
        parts += [
            f"### {_FAILURES[severity]}, {style}: {reason} ({number})\n",
            f"{names}\n",
            f"`{least['name']}`: {least['reason']}\n",
            f"```json\n{example}\n```\n",
        ]
    for row in rows:
        if row.get("overclaimed"):
            reason, case = row["overclaimed"]
            example = json.dumps(case, ensure_ascii=False)
            parts += [
                f"### wrong on an odd request that the default form says it covers: {row['name']}\n",
                f"{reason}\n",
                f"```json\n{example}\n```\n",
            ]
    return "\n".join(parts)


def kind(reason: str) -> str:
    """Return a reason without what differs from template to template."""
    reason = re.sub(r".*not converted: ", "not converted: ", reason.split("\n")[0])
    reason = re.sub(r"^template: :\d+:\d+: executing \"\" at <.*?>: ", "go: ", reason)
    return re.sub(r"\d+", "N", re.sub(r" \(line \d+\)", "", reason))[:110]


def quantile(values: Iterable[float], share: float) -> float:
    """Return a quantile of some values, 0 if there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def _paragraph(rows: Sequence[Row], show: int) -> Iterable[str]:
    statuses = tally(rows)
    count = max(1, statuses["count"])
    yield f"{len(rows)} templates, {statuses['count']} count"
    named = (
        ("exact in all", statuses["exact"]),
        ("exact where the reference renders", statuses["exact"] + statuses["error lost"]),
        ("stop in some requests", statuses["go fails"]),
        ("refused", statuses["refused"]),
        ("wrong", statuses["wrong"]),
        ("crash", statuses["crash"]),
    )
    yield from (f"{number:6} {name}  {100 * number / count:.2f} %" for name, number in named)
    counting = [row for row in rows if row["counts_at_all"]]
    reasons = Counter(kind(row["reason"]) for row in counting if row["status"] in ("refused", "go fails"))
    yield from (f"{number:8} {reason}" for reason, number in reasons.most_common(40))
    requests: Counter[str] = Counter()
    for row in counting:
        requests.update(row["counts"])
    yield f"requests: {', '.join(f'{name} {number}' for name, number in sorted(requests.items()))}"
    arms, missed = sum(row["arms"] for row in counting), sum(len(row["missed"]) for row in counting)
    yield f"branches of the Jinja: {arms}, never taken {missed}"
    sized = [row for row in counting if row["size"]]
    ratios = [row["ratio"] for row in sized]
    large = sum(row["size"] > HUNDRED_KB for row in sized)
    yield (
        f"size over the Jinja's: median {quantile(ratios, 0.5):.2f}, p90 {quantile(ratios, 0.9):.2f}, "
        f"max {quantile(ratios, 1):.1f}; {large} above 100 KB"
    )
    for row in [row for row in rows if row["status"] in ("wrong", "crash")][:show]:
        yield f"{row['status']}: {row['name']}: {row['reason']}"
        yield f"    {json.dumps(row['example'], ensure_ascii=False)}"
