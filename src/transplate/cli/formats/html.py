"""One HTML page that holds everything: what was compared, what differs, both prompts side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib.resources import files
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, TypeAlias

from jinja2 import Environment, StrictUndefined

from transplate.cli.formats.checked import Checked
from transplate.cli.parity_text import conversation_lines
from transplate.cli.visible import visible

if TYPE_CHECKING:
    from transplate import ParityReport
    from transplate.parity import Kind

Segment: TypeAlias = tuple[str, bool]
"""A piece of a line, and whether the other side does not have it."""

_MOST_MARKED = 20_000
"""How many characters of two lines are compared one by one."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of both prompts, beside each other; a side without such a line has None."""

    left: tuple[Segment, ...] | None
    right: tuple[Segment, ...] | None
    differs: bool


def html(pairs: Sequence[Checked]) -> str:
    """Return the page, which needs nothing from the network and is dark or light as the reader likes."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    text = files("transplate.cli.formats").joinpath("report.html.jinja").read_text(encoding="utf-8")
    columns = list(dict.fromkeys(name for checked in pairs for name in checked.conversations))
    return environment.from_string(text).render(
        pairs=pairs,
        columns=columns,
        cell=_cell,
        rows=_rows,
        described=_described,
        verdict=_verdict,
        passing=sum(checked.passes for checked in pairs),
    )


def _cell(checked: Checked, conversation: str) -> tuple[Literal["equal", "differs", "none"], str]:
    """Return how a pair fares on a conversation, in a word and in a sentence."""
    for difference in checked.report.differences:
        if difference.conversation.name == conversation:
            return "differs", difference.cause
    if conversation in checked.report.refused or conversation not in checked.conversations:
        return "none", "not compared"
    return "equal", "equal"


def _verdict(report: ParityReport) -> str:
    equal = report.checked - len(report.differences)
    return f"{report.verdict.value} · equal on {equal} of {report.checked}"


def _described(kind: Kind) -> str:
    return "\n".join(conversation_lines(kind.smallest.conversation))


def _rows(one: str, other: str) -> Iterator[Row]:
    """Yield the lines of two prompts beside each other, with what differs marked."""
    a, b = one.splitlines(keepends=True), other.splitlines(keepends=True)
    for operation, i, k, j, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        for left, right in zip_longest(a[i:k], b[j:m]):
            if operation == "equal" or left is None or right is None:
                is_marked = operation != "equal"
                yield Row(_whole(left, marked=is_marked), _whole(right, marked=is_marked), is_marked)
            else:
                yield Row(*_marked(left, right), differs=True)


def _whole(line: str | None, *, marked: bool) -> tuple[Segment, ...] | None:
    return None if line is None else ((visible(line), marked),)


def _marked(one: str, other: str) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    if len(one) + len(other) > _MOST_MARKED:
        return ((visible(one), True),), ((visible(other), True),)
    left: list[Segment] = []
    right: list[Segment] = []
    for operation, i, k, j, m in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if i < k:
            left.append((visible(one[i:k]), operation != "equal"))
        if j < m:
            right.append((visible(other[j:m]), operation != "equal"))
    return tuple(left), tuple(right)
