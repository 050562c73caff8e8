"""Counting what a fuzzing run has reached, so that a run that misses something fails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def missing(counts: Mapping[str, int], wanted: Iterable[str]) -> list[str]:
    """Return the features, each named ``group:feature``, that were never reached."""
    return sorted(feature for feature in wanted if not counts.get(feature))


def report(counts: Mapping[str, int], wanted: Iterable[str]) -> str:
    """Return the counts as text, a group a paragraph, and what is missing."""
    wanted = frozenset(wanted)
    groups: dict[str, list[str]] = {}
    for feature in sorted(wanted | counts.keys()):
        group, _, name = feature.partition(":")
        groups.setdefault(group, []).append(f"{name} {counts.get(feature, 0)}")
    lines = [f"{group}: {', '.join(names)}" for group, names in groups.items()]
    never = missing(counts, wanted)
    lines.append(f"never reached: {', '.join(never) if never else 'nothing'}")
    return "\n".join(lines)
