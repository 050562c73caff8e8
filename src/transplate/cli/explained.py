"""Why a converted template may print something else than its source, conversation by conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from transplate.cli.visible import cut, visible

if TYPE_CHECKING:
    from transplate import Conversion, ParityReport
    from transplate.parity import Difference

_NAMES = 6
"""Names of conversations that are listed in a line; --json has them all."""

_REASONS = 3
"""Errors that are told of conversations without a prompt; --json has them all."""

_WIDEST = 100
"""The characters that are shown of such an error."""

_NO_ABILITY = re.compile(r"\w+: the (template|model) does not support (\w+)")
"""What Ollama answers to a request for something that its template or model does not show."""

_BY_OLLAMA: Mapping[str, str] = {
    "same-role": "Ollama joins neighbouring messages of one role",
    "role-case": "Ollama writes roles in lower case",
    "null-content": "Ollama reads missing content as empty",
    "typed-parts": "Ollama reads typed parts as texts",
    "argument-order": "Ollama sorts the arguments of a call",
    "property-order": "Ollama sorts a tool's parameters",
    "schema-key-order": "Ollama has an order of its own for the keys of tools",
    "schema-keys-dropped": "Ollama drops keys of tools that it does not know",
    "schema-incomplete": "Ollama fills in missing parts of a tool",
    "think-unset": "Ollama turns thinking on where a request leaves it open",
    "ends-with-assistant": "Ollama keeps what closes an answer that is to be continued",
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
    """Yield which conversations differ for a reason, by reasons, and why others were left out."""
    by_reason: dict[str, list[str]] = {}
    for difference in report.differences:
        reasons = explanations(conversion, difference)
        if reasons:
            by_ollama = reasons[0] in _BY_OLLAMA.values()
            whys = [reasons[0], *(reason.removeprefix("Ollama ") for reason in reasons[1:])]
            why = f"because {' and '.join(whys)}" if by_ollama else f"(see {', '.join(reasons)})"
            by_reason.setdefault(why, []).append(difference.conversation.name)
    for reason, names in by_reason.items():
        verb = "differs" if len(names) == 1 else "differ"
        others = f" and {len(names) - _NAMES} others" if len(names) > _NAMES else ""
        yield visible(f"{len(names)} more {verb} {reason}: {', '.join(names[:_NAMES])}{others}")
    yield from left_out_lines(report)


def left_out_lines(report: ParityReport) -> Iterator[str]:
    """Yield why there was no prompt to compare of some conversations."""
    if not report.refused:
        return
    found = [_NO_ABILITY.fullmatch(reason) for reason in report.reasons]
    reasons = [reason for reason, match in zip(report.reasons, found, strict=True) if match is None]
    others = f" and {len(reasons) - _REASONS} other reasons" if len(reasons) > _REASONS else ""
    shown = [cut(visible(reason), _WIDEST) for reason in reasons[:_REASONS]]
    by_owner: dict[str, list[str]] = {}
    for match in filter(None, found):
        by_owner.setdefault(match[1], []).append(match[2])
    for owner, names in by_owner.items():
        shown.append(f"Ollama sees no support for {' or '.join(names)} in the {owner}")
    more = " more" if report.checked else ""
    yield f"{len(report.refused)}{more} left out: {'; '.join(shown)}{others}"


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
