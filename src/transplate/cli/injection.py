"""``transplate check --injection``: what texts in a conversation can do to the prompts of a template."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from transplate.cli import FINE, NO
from transplate.cli.formats.notes import Note, Notes, spot_in
from transplate.cli.output import print_json, say
from transplate.cli.parity_text import conversation_lines, diff_lines
from transplate.cli.visible import cut, visible

if TYPE_CHECKING:
    from transplate import Conversation
    from transplate.parity import InjectionReport
    from transplate.parity.forging import Forgery
    from transplate.parity.injection import Passage
    from transplate.parity.switches import Special

RULES = {
    "forged-turn": "A text in a message makes up turns of others.",
    "special-text": "A text in a message changes more of the prompt than itself.",
}
_MOST_WORDS, _MOST_MARKERS = 5, 8
_LONGEST = 48


def show(reports: dict[str, InjectionReport], *, verbose: bool, width: int) -> None:
    """Tell people what is found, each template under its name if there are several."""
    for source, report in reports.items():
        if len(reports) > 1:
            say(click.style(visible(source), bold=True))
        for line in _lines(report, verbose=verbose, width=width):
            say(line)


def show_as_json(reports: dict[str, InjectionReport]) -> None:
    """Print what is found as JSON; of several templates by their names."""
    data = {source: _data(report) for source, report in reports.items()}
    print_json(data if len(data) > 1 else next(iter(data.values())), indent=2)


def status(reports: dict[str, InjectionReport]) -> int:
    """Return the exit status: no if a turn can be forged or a word is special."""
    return NO if any(report.open or report.specials for report in reports.values()) else FINE


def _lines(report: InjectionReport, *, verbose: bool, width: int) -> Iterator[str]:
    yield _verdict(report)
    shown = report.markers if verbose else report.markers[:_MOST_MARKERS]
    more = f" and {len(report.markers) - len(shown)} more" if len(shown) < len(report.markers) else ""
    yield cut(f"markers: {', '.join(map(visible, shown)) or 'none'}{more}", width)
    widest = max((len(visible(passage.field)) for passage in report.passages), default=0)
    for passage in report.passages:
        yield cut(f"  {visible(passage.field):{widest}}  {_passing(passage, len(report.markers))}", width)
    if report.hidden:
        yield cut(f"  never printed: {visible(', '.join(report.hidden))}", width)
    words = report.specials if verbose else report.specials[:_MOST_WORDS]
    for special in words:
        yield cut(f'"{visible(special.literal)}" {_where(special)}: {effect(special)}', width)
    if len(words) < len(report.specials):
        yield click.style(f"  … {len(report.specials) - len(words)} more (-v shows all)", dim=True)
    if report.untried:
        yield f"not tried, for want of time: {report.untried} words of the template"
    chosen = [passage.forgery for passage in report.open if passage.forgery is not None]
    for forgery in chosen if verbose else chosen[-1:]:
        yield from (cut(line, width) for line in _forgery_lines(forgery))
    for special in words if verbose else ():
        yield f'"{visible(special.literal)}" {_where(special)}:'
        yield from (f"  {line}" for line in _special_lines(special, width))


def _verdict(report: InjectionReport) -> str:
    count = len(report.specials)
    words = "1 word is a switch" if count == 1 else f"{count or 'no'} words are switches"
    words = words if report.is_seen else "its words are not seen"
    counts = f"in {len(report.open)} of {len(report.passages)} places · {words}"
    if not report.passages:
        return f"{click.style('NOTHING PRINTED', fg='yellow', bold=True)} of what is said"
    if report.open:
        return f"{click.style('TURNS CAN BE FORGED', fg='red', bold=True)} {counts}"
    return f"{click.style('NO TURN FORGED', fg='green', bold=True)} {counts}"


def _passing(passage: Passage, count: int) -> str:
    parts = [f"{len(passage.passed)} of {count} markers pass"]
    if passage.forges:
        parts.append(f"forges turns of {visible(', '.join(passage.forges))}")
    if passage.held:
        marker, printed = passage.held[0]
        parts.append(
            f"{visible(marker)} is printed {visible(printed)}"
            if printed
            else f"{visible(marker)} is left out"
        )
    return " · ".join(parts)


def _where(special: Special) -> str:
    return visible(f"{special.where} in {', '.join(special.fields)}")


def effect(special: Special) -> str:
    """Return what a word does, in a few words."""
    if special.error:
        return f"fails: {visible(special.error)}"
    added, removed = (f'"{visible(cut(text, _LONGEST))}"' for text in (special.added, special.removed))
    if not special.added:
        return f"leaves out {removed}"
    return f"prints {added} for {removed}" if special.removed else f"prints {added}"


def _forgery_lines(forgery: Forgery) -> Iterator[str]:
    message, honest = forgery.message
    yield f"the prompt of {len(honest)} messages, printed by one:"
    yield f'  {visible(message.role)} "{visible(str(message.content))}"'


def _special_lines(special: Special, width: int) -> Iterator[str]:
    yield from (f"  {line}" for line in conversation_lines(special.conversation))
    for sign, line in diff_lines(special.expected, special.prompt, width=width - 6):
        yield f"  {sign} {line}"


def _notes(source: str, report: InjectionReport) -> Iterator[Note]:
    """Yield what is found in a template."""
    for passage in report.open:
        assert passage.forgery is not None  # noqa: S101 - what makes the place open
        roles = visible(", ".join(passage.forges))
        yield Note(
            rule="forged-turn",
            level="warning",
            source=source,
            spot=spot_in(source, passage.place),
            message=f"a text in the {visible(passage.field)} can make up turns of {roles}",
            text="\n".join(_forgery_lines(passage.forgery)),
        )
    for special in report.specials:
        yield Note(
            rule="special-text",
            level="warning",
            source=source,
            spot=spot_in(source, special.place),
            message=f'"{visible(special.literal)}" {_where(special)}: {effect(special)}',
            text="\n".join(_special_lines(special, 120)),
        )


def _data(report: InjectionReport) -> dict[str, Any]:
    return {
        "markers": list(report.markers),
        "places": [_passage_data(passage) for passage in report.passages],
        "hidden": list(report.hidden),
        "words": [
            {
                "text": special.literal,
                "where": special.where,
                "places": list(special.fields),
                "effect": effect(special),
                "error": special.error,
                "conversation": _given(special.conversation),
                "expected": special.expected,
                "prompt": special.prompt,
                "line": special.place and special.place.line,
            }
            for special in report.specials
        ],
        "untried": report.untried,
        "seen": report.is_seen,
    }


def _passage_data(passage: Passage) -> dict[str, Any]:
    forgery = passage.forgery
    return {
        "name": passage.field,
        "passed": list(passage.passed),
        "held": dict(passage.held),
        "forges": list(passage.forges),
        "line": passage.place and passage.place.line,
        "forgery": forgery
        and {
            "forged": _given(forgery.forged),
            "honest": _given(forgery.honest),
            "prompt": forgery.prompt,
        },
    }


def _given(conversation: Conversation) -> dict[str, Any]:
    given = conversation.to_hf()
    return {"messages": given["messages"], "tools": given["tools"]}


def notes(reports: dict[str, InjectionReport]) -> Notes:
    """Return what is found, as all formats of the answer take it."""
    found = tuple(note for source, report in reports.items() for note in _notes(source, report))
    return Notes("transplate check --injection", tuple(reports), RULES, found)
