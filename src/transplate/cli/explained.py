"""Why a converted template may print something else than its source, conversation by conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from transplate.cli.visible import visible

if TYPE_CHECKING:
    from transplate import Conversion, ParityReport
    from transplate.parity import Difference

_NAMES = 6
"""Names of conversations that are listed in a line; --json has them all."""

_BY_OLLAMA: Mapping[str, str] = {
    "same-role": "Ollama joins messages of one role",
    "role-case": "Ollama writes roles in lower case",
    "null-content": "Ollama reads no content as empty",
    "typed-parts": "Ollama reads typed parts as texts",
    "argument-order": "Ollama sorts the arguments of a call",
    "property-order": "Ollama sorts a tool's parameters",
    "schema-key-order": "Ollama orders the keys of tools",
    "schema-keys-dropped": "Ollama drops keys of tools",
    "schema-incomplete": "Ollama fills in missing parts of a tool",
    "think-unset": "Ollama thinks where a request leaves it open",
    "ends-with-assistant": "Ollama continues an answer behind what closes it",
}
"""Causes of differences that lie in what Ollama makes of a request before any template sees it."""


def unexplained(report: ParityReport, conversion: Conversion) -> ParityReport:
    """Return a report without the differences that a conversion announces or that Ollama makes."""
    differences = [each for each in report.differences if not explanations(conversion, each)]
    checked = report.checked - len(report.differences) + len(differences)
    return replace(
        report, equal=not differences and checked > 0, checked=checked, differences=tuple(differences)
    )


def explanation_lines(report: ParityReport, conversion: Conversion) -> Iterator[str]:
    """Yield which conversations differ for a reason, by reasons."""
    by_reason: dict[str, list[str]] = {}
    for difference in report.differences:
        reasons = explanations(conversion, difference)
        if reasons:
            by_reason.setdefault(", ".join(reasons), []).append(difference.conversation.name)
    for reason, names in by_reason.items():
        verb = "differs" if len(names) == 1 else "differ"
        others = f" and {len(names) - _NAMES} others" if len(names) > _NAMES else ""
        link = "as" if reason.split(", ")[0] in _BY_OLLAMA.values() else "see"
        yield visible(f"{len(names)} more {verb}, {link} {reason}: {', '.join(names[:_NAMES])}{others}")


def explanations(conversion: Conversion, difference: Difference) -> list[str]:
    """Return why a conversation may differ, empty if nothing says that it may.

    These are the names of assumptions that it does not meet and of losses that concern it; else, where the
    causes of the difference were looked for, what Ollama makes of the request. That a result fails which
    its source does not is never Ollama's doing.
    """
    names = [each.name for each in conversion.exceptions(difference.conversation)]
    if names:
        return names
    _, result_error = difference.errors
    if result_error is not None or not all(cause in _BY_OLLAMA for cause in difference.causes):
        return []
    return [_BY_OLLAMA[cause] for cause in difference.causes]
