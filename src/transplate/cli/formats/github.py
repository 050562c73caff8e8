"""Annotations for GitHub: workflow commands that put each difference beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transplate.cli.formats.checked import Checked, details, headline, spots_of
from transplate.cli.formats.notes import NOWHERE, Notes, Spot
from transplate.cli.visible import harmless, visible

_LEVELS = {"note": "notice"}


def github(pairs: Sequence[Checked]) -> str:
    """Return the commands, one a line, as docs.github.com/actions/reference/workflow-commands has them.

    A difference that is in the baseline is a notice, any other an error, at its place on either side.
    """
    return "".join(f"{line}\n" for checked in pairs for line in _lines(checked))


def github_of_notes(notes: Notes) -> str:
    """Return the commands for what is found in single templates."""
    return "".join(
        f"{annotation(_LEVELS.get(note.level, note.level), note.spot, note.rule, note.whole)}\n"
        for note in notes.found
    )


def _lines(checked: Checked) -> Iterator[str]:
    for kind in checked.report.kinds:
        level = "notice" if checked.is_known(kind) else "error"
        for spot in spots_of(checked, kind) or (NOWHERE,):
            yield annotation(level, spot, headline(checked, kind), details(checked, kind))
    first, second = checked.sources
    if checked.change is not None and checked.change.gone:
        gone = f"gone since the baseline: {', '.join(checked.change.gone)}"
        yield annotation("error", NOWHERE, f"{first} and {second}", gone)
    if not checked.report.checked:
        message = "there is no conversation on which both could be compared"
        yield annotation("error", NOWHERE, f"{first} and {second}", message)


def annotation(level: str, spot: Spot, title: str, message: str) -> str:
    """Return the command for an annotation.

    Args:
        level: ``error``, ``warning`` or ``notice``.
        spot: Where it is to be shown; a path of no letters is nowhere.
        title: Its title.
        message: Its text, of any number of lines.
    """
    values = {"file": spot.path, "line": spot.line, "col": spot.column, "title": title}
    properties = ",".join(
        f"{name}={_property(visible(str(value)))}" for name, value in values.items() if value
    )
    return f"::{level} {properties}::{_data(harmless(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
