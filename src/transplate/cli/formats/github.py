"""Annotations for GitHub: workflow commands that put each difference beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transplate.cli.formats.checked import Checked, Spot, details, headline, spots_of

_NOWHERE = Spot("")


def github(pairs: Sequence[Checked]) -> str:
    """Return the commands, one a line, as docs.github.com/actions/reference/workflow-commands has them.

    A difference that is in the baseline is a notice, any other an error, at its place on either side.
    """
    return "".join(f"{line}\n" for checked in pairs for line in _lines(checked))


def _lines(checked: Checked) -> Iterator[str]:
    for kind in checked.report.kinds:
        level = "notice" if checked.is_known(kind) else "error"
        for spot in spots_of(checked, kind) or (_NOWHERE,):
            yield _command(level, spot, headline(checked, kind), details(checked, kind))
    first, second = checked.sources
    if checked.change is not None and checked.change.gone:
        gone = f"gone since the baseline: {', '.join(checked.change.gone)}"
        yield _command("error", _NOWHERE, f"{first} and {second}", gone)
    if not checked.report.checked:
        message = "there is no conversation on which both could be compared"
        yield _command("error", _NOWHERE, f"{first} and {second}", message)


def _command(level: str, spot: Spot, title: str, message: str) -> str:
    values = {"file": spot.path, "line": spot.line, "col": spot.column, "title": title}
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in values.items() if value)
    return f"::{level} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
