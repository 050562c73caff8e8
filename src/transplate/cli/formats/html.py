"""One HTML page that holds everything: what was compared, what differs, both prompts side by side."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined

from transplate.cli.formats.checked import Checked
from transplate.cli.formats.notes import Notes
from transplate.cli.parity_text import conversation_lines, where
from transplate.cli.visible import harmless, visible

if TYPE_CHECKING:
    from transplate import Conversation

Segment: TypeAlias = tuple[str, bool]
"""A piece of a line, and whether the other side does not have it."""

_MOST_WHOLE = 3
"""Of how many pairs the page has the prompts of all conversations that differ, not only the smallest."""
_ALIKE = 0.7
"""How much of two lines is the same where single letters are marked."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
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
    passing = sum(checked.passes for checked in pairs)
    headline = f"{passing} of {len(pairs)} pairs pass"
    return _page(
        "report",
        command="transplate check",
        headline=headline if len(pairs) > 1 else pairs[0].report.verdict.value,
        pairs=pairs,
        columns=list(dict.fromkeys(name for checked in pairs for name in checked.conversations)),
        causes=_causes(pairs),
        compared=sum(checked.report.checked for checked in pairs),
        differing=sum(len(checked.report.differences) for checked in pairs),
        passing=passing,
        is_whole=len(pairs) <= _MOST_WHOLE,
        cell=_cell,
        rows=_rows,
        talk=_talk,
        named=_named,
        where=where,
        shown=visible,
    )


def html_of_notes(notes: Notes) -> str:
    """Return the page of what is found in single templates."""
    count = len(notes.found)
    headline = f"{count or 'nothing'} found in {len(notes.sources)} template{'s'[: len(notes.sources) != 1]}"
    return _page("notes", command=notes.command, headline=headline, notes=notes)


def _page(name: str, **values: Any) -> str:
    environment = Environment(
        loader=PackageLoader("transplate.cli.formats", ""),
        autoescape=True,
        finalize=_seen,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(f"{name}.html.jinja").render(values)


def _seen(value: Any) -> Any:
    """Return what the page prints with control characters made visible, unless it is markup already."""
    return harmless(value) if type(value) is str else value


def _causes(pairs: Sequence[Checked]) -> list[tuple[str, int, float]]:
    """Return the causes of differences, in how many pairs each is, and in what share of the most frequent."""
    counts = Counter(title for checked in pairs for title in {kind.title for kind in checked.report.kinds})
    most = max(counts.values(), default=1)
    return [(title, count, round(100 * count / most, 1)) for title, count in counts.most_common()]


def _named(sources: tuple[str, str]) -> tuple[str, str]:
    """Return the name of a pair in two pieces: what tells it from others, and the rest."""
    first, second = (os.path.splitext(source) for source in sources)
    if first[0] == second[0] and first[1] and second[1]:
        return first[0], f" {first[1]} ~ {second[1]}"
    return f"{sources[0]} ~ {sources[1]}", ""


def _cell(checked: Checked, conversation: str) -> tuple[Literal["equal", "differs", "none"], str, int]:
    """Return how a pair fares on a conversation, in a word and in a sentence, and the number of the kind."""
    report = checked.report
    for difference in report.differences:
        if difference.conversation.name == conversation:
            names = [kind.name for kind in report.kinds]
            at = next((names.index(cause) for cause in difference.causes if cause in names), 0)
            return "differs", difference.cause, at + 1
    if conversation in report.refused or conversation not in checked.conversations:
        return "none", "not compared", 0
    return "equal", "equal", 0


def _talk(conversation: Conversation) -> Iterator[tuple[str, str]]:
    """Yield what a conversation has: the role of each message, and the rest of it."""
    for line in conversation_lines(conversation):
        role, _, text = line.partition(" ")
        yield role, text


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
    """Return two lines with what differs marked: letters in lines that are much alike, else words."""
    if len(one) + len(other) > _MOST_MARKED:
        return ((visible(one), True),), ((visible(other), True),)
    a: Sequence[str] = one
    b: Sequence[str] = other
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.ratio() < _ALIKE:
        a, b = _WORD.findall(one), _WORD.findall(other)
        matcher = SequenceMatcher(None, a, b, autojunk=False)
    left: list[Segment] = []
    right: list[Segment] = []
    for operation, i, k, j, m in matcher.get_opcodes():
        for side, pieces, start, end in ((left, a, i, k), (right, b, j, m)):
            if start < end:
                is_marked, is_last = operation != "equal", end == len(pieces)
                text = "".join(pieces[start:end])
                side.append((_segment(text, is_marked=is_marked, is_last=is_last), is_marked))
    return tuple(left), tuple(right)


def _segment(text: str, *, is_marked: bool, is_last: bool) -> str:
    """Return a piece of a line with everything that cannot be seen made visible."""
    if is_marked and not text.strip(" "):
        return text.replace(" ", "·")
    # Spaces are shown at the end of a line, which is not where the piece ends.
    return visible(text) if is_last else visible(f"{text}.")[:-1]
