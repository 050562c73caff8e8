"""A comparison as people read it in a terminal: the verdict, a line a kind, the smallest conversation."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import click

from transplate.cli.visible import around, cut, visible

if TYPE_CHECKING:
    from transplate import Conversation, ParityReport
    from transplate.parity import Kind
    from transplate.parity.report import Place

_MOST_KINDS = 7
_MOST_MESSAGES = 4
_MOST_DIFF = 6
_WIDEST_TITLE = 44
_LEAST_SOURCE, _WIDEST_SOURCE = 20, 200
_COLORS = {"equal": "green", "equal under conditions": "yellow"}


def parity_lines(
    report: ParityReport, names: Sequence[str], *, verbose: bool = False, width: int = 100
) -> Iterator[str]:
    """Yield a report in at most 24 lines, or all there is to say.

    Args:
        report: The report, with causes.
        names: What the two sides are called.
        verbose: Whether to show everything.
        width: How wide the terminal is; lines of everything are as long as they are.
    """
    width = sys.maxsize if verbose else width
    yield _verdict(report, width)
    if report.stopped:
        yield click.style(f"not all could be compared and explained: {visible(report.stopped)}", fg="yellow")
    kinds = report.kinds
    shown = kinds if verbose or len(kinds) <= _MOST_KINDS else kinds[: _MOST_KINDS - 1]
    widest = max((len(kind.title) for kind in shown), default=0)
    for number, kind in enumerate(shown, 1):
        yield _kind_line(number, kind, names, min(widest, _WIDEST_TITLE), width)
    if len(shown) < len(kinds):
        unusual = sum(kind.unusual for kind in kinds[len(shown) :])
        more = f"{len(kinds) - len(shown)} more"
        odd = f", {unusual} of them on unusual conversations" if unusual else ""
        yield click.style(f"    … {more}{odd} (-v shows all)", dim=True)
    for number, kind in enumerate(kinds if verbose else kinds[:1], 1):
        yield from _smallest(number, kind, names, verbose=verbose, width=width)
    if verbose:
        if report.refused and report.reasons:
            yield visible(f"left out: {', '.join(report.refused)} ({'; '.join(report.reasons)})")
        yield from _reach(report, names)


def _verdict(report: ParityReport, width: int) -> str:
    equal = report.checked - len(report.differences)
    left_out = f" · {len(report.refused)} left out" if report.refused else ""
    counts = f"equal on {equal} of {_number(report.checked, 'conversation')}{left_out}"
    verdict = report.verdict.value
    if verdict == "equal":
        head = click.style("EQUAL", fg="green", bold=True)
        return f"{head} on {_number(report.checked, 'conversation')}{left_out}"
    if verdict == "nothing compared":
        reasons = f": {visible('; '.join(report.reasons))}" if report.reasons else ""
        head = click.style("NOTHING COMPARED", fg="red", bold=True)
        return head + cut(left_out + reasons, width - len("NOTHING COMPARED"))
    if verdict == "equal under conditions":
        conditions = cut(visible(", ".join(report.conditions)), max(20, width - len(counts) - 14))
        return f"{click.style('EQUAL IF', fg='yellow', bold=True)} {conditions} · {counts}"
    head = click.style("DIFFERENT", fg="red", bold=True)
    return f"{head} in {_number(len(report.kinds), 'way')} · {counts}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _kind_line(number: int, kind: Kind, names: Sequence[str], widest: int, width: int) -> str:
    sides = "; ".join(f"{name} {visible(text)}" for name, text in zip(names, kind.sides, strict=True) if text)
    head = f"{number:2} {kind.count:4}  {cut(visible(kind.title), widest):{widest}}  "
    return (head + cut(sides, max(10, width - len(head)))).rstrip()


def _smallest(number: int, kind: Kind, names: Sequence[str], *, verbose: bool, width: int) -> Iterator[str]:
    difference = kind.smallest
    form = f", {kind.form}" if kind.form else ""
    yield f"smallest for {number}{form}: first difference at byte {kind.byte}{where(kind)}"
    lines = list(conversation_lines(difference.conversation))
    most = len(lines) if verbose else _MOST_MESSAGES
    for line in lines[:most]:
        yield cut(f"  {line}", width)
    if len(lines) > most:
        yield f"  … {len(lines) - most} more"
    label = max(map(len, names))
    for name, place, error in zip(names, kind.places, difference.errors, strict=True):
        head = f"  {name:{label}}  " + (f"fails: {visible(error.message)}  " if error else "")
        if place is not None:
            head += f"line {place.line}  "
            head += _source_line(place, min(_WIDEST_SOURCE, width - len(head)))
        if place is not None or error:
            yield cut(head, width)
    diff = list(diff_lines(*difference.prompts, width=width - 4))
    most = len(diff) if verbose else _MOST_DIFF
    for sign, line in diff[:most]:
        yield click.style(f"  {sign} {line}", fg={"-": "red", "+": "green"}.get(sign))
    if len(diff) > most:
        yield f"  … {len(diff) - most} more lines differ"


def _source_line(place: Place, width: int) -> str:
    """Return the line of a place, or what is around the place where the line is too long."""
    line = place.text.lstrip()
    at = (place.column or 1) - 1 - (len(place.text) - len(line))
    return around(visible(line.rstrip()), max(0, at), max(_LEAST_SOURCE, width))


def where(kind: Kind) -> str:
    """Return at which message the prompts of a kind's smallest conversation part."""
    if kind.message is None:
        return ", behind the messages"
    message = kind.smallest.conversation.messages[kind.message]
    return f", at message {kind.message + 1} ({visible(message.role)})"


def conversation_lines(conversation: Conversation) -> Iterator[str]:
    """Yield a conversation, one line a message and what else there is of it."""
    for message in conversation.messages:
        parts = [visible(message.role)]
        if isinstance(message.content, tuple):
            parts.append(_json([part.given for part in message.content]))
        elif message.content is None:
            parts.append("(no content)")
        elif message.content or not message.tool_calls:
            parts.append(f'"{visible(message.content)}"')
        if message.reasoning:
            parts.append(f'thinks "{visible(message.reasoning)}"')
        parts += [f"calls {visible(call.name)}({_json(call.arguments)})" for call in message.tool_calls]
        parts += [f"{name} {visible(repr(value))}" for name, value in _labels(message) if value]
        yield " ".join(parts)
    for tool in conversation.tools:
        yield f"tool {_json(tool)}"
    rest = {"think": conversation.think, "date": conversation.now, "variables": dict(conversation.variables)}
    for name, value in rest.items():
        if value is not None and value != {}:
            yield f"{name} {visible(str(value))}"


def _labels(message: Any) -> tuple[tuple[str, Any], ...]:
    return ("name", message.name), ("id", message.tool_call_id), ("extra", dict(message.extra))


def _json(value: Any) -> str:
    return visible(json.dumps(value, ensure_ascii=False, default=dict))


def diff_lines(one: str, other: str, *, width: int) -> Iterator[tuple[str, str]]:
    """Yield the lines in which two prompts differ, each with its sign, and the line before each place."""
    a, b = (text.splitlines(keepends=True) for text in (one, other))
    for kind, i, k, j, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if i:
            yield " ", cut(visible(a[i - 1]), width)
        at = _first_difference("".join(a[i:k]), "".join(b[j:m]))
        for sign, lines in (("-", a[i:k]), ("+", b[j:m])):
            left = at
            for line in lines:
                yield sign, around(visible(line), max(0, left), width)
                left -= len(line)


def _first_difference(one: str, other: str) -> int:
    return next(
        (at for at, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other))
    )


def _reach(report: ParityReport, names: Sequence[str]) -> Iterator[str]:
    for name, reach in zip(names, report.reach, strict=False):
        if not reach.arms:
            continue
        dead = f", {len(reach.dead)} cannot be" if reach.dead else ""
        yield f"branches of {name}: {reach.taken} of {reach.arms} taken{dead}, {len(reach.open)} not reached"
        for arm, reason in reach.dead:
            yield f"  never: {visible(arm)}  ({visible(reason)})"
        for arm in reach.open:
            yield f"  not reached: {visible(arm)}"
