"""The rule about branches that cannot be taken, whatever the conversation is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from transplate.jinja.coverage import Arm as JinjaArm
from transplate.jinja.coverage import JinjaCoverage
from transplate.lint.finding import Fault, Rule
from transplate.lint.subject import Subject
from transplate.parity.coverage import Arm as GoArm
from transplate.parity.coverage import GoCoverage

Arm: TypeAlias = GoArm | JinjaArm

_FURTHEST = 64
"""How many tests around a branch are looked at; templates nest them ten deep."""
_GO_EQUALS = re.compile(r"\(?eq ([.$][\w.$]*) (\"(?:[^\"\\]|\\.)*\")\)?")
_JINJA_EQUALS = re.compile(r"([\w.]+(?:\[['\"]\w+['\"]\])?) == ('[^'\\]*'|\"[^\"\\]*\")")


def _dead_branches(subject: Subject) -> Iterator[Fault]:
    text = subject.source.text
    arms: Sequence[Arm] = GoCoverage(text).arms if subject.go else JinjaCoverage(text).arms
    dead: set[int] = set()
    for number, arm in enumerate(arms):
        if arm.parent in dead:
            dead.add(number)
        elif arm.outcome and arm.construct not in ("range", "for") and (reason := _reason(arms, arm, text)):
            dead.add(number)
            yield Fault(f"{arm.text} is never true here: {reason}", _offset(arm))


def _reason(arms: Sequence[Arm], arm: Arm, text: str) -> str | None:
    """Return what shows that a condition cannot be true where it stands, None if nothing does.

    That is a test around or before it, of the same values, that would have had to come out otherwise.
    """
    if "(" in _plain(arm.text) and isinstance(arm, JinjaArm):
        return None  # what is called may answer otherwise the second time
    parent = arm.parent
    for _ in range(_FURTHEST):
        if parent is None:
            break
        outer = arms[parent]
        if outer.construct in ("range", "for", "with") and not _sees_the_same(outer, arm):
            return None
        if _sees_the_same(outer, arm) and not _is_set_between(outer, arm, text):
            if outer.text == arm.text and not outer.outcome:
                return "the same was false before it"
            ours, theirs = _equality(arm), _equality(outer)
            if ours and theirs and outer.outcome and ours[0] == theirs[0] and ours[1] != theirs[1]:
                return f"{outer.text} is true there"
        parent = outer.parent
    return None


def _plain(text: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"", "", text)


def _sees_the_same(outer: Arm, arm: Arm) -> bool:
    """Return whether the names in two conditions mean the same."""
    if isinstance(outer, GoArm) and isinstance(arm, GoArm):
        return outer.dot == arm.dot
    return outer.construct != "for"


def _is_set_between(outer: Arm, arm: Arm, text: str) -> bool:
    """Return whether a variable of a condition is set behind a test and before the condition, or may be."""
    start, end = _offset(outer), _offset(arm)
    if start is None or end is None:
        return True
    between = text[start:end]
    if isinstance(arm, GoArm):
        names = set(re.findall(r"\$\w+", arm.text))
        return any(re.search(re.escape(name) + r"\s*(?:,\s*\$\w+\s*)?:?=", between) for name in names)
    names = set(re.findall(r"[A-Za-z_]\w*", _plain(arm.text)))
    if re.search(r"\.(?:pop|append|update|clear|insert|remove|extend|setdefault)\(", between):
        return True
    targets = re.findall(r"\{%[-+]?\s*set\s+([^=%]+)", between)
    return any(names & set(re.findall(r"\w+", target)) for target in targets)


def _equality(arm: Arm) -> tuple[str, str] | None:
    """Return which value a condition compares with which text, None if it does something else."""
    pattern = _GO_EQUALS if isinstance(arm, GoArm) else _JINJA_EQUALS
    found = pattern.fullmatch(arm.text)
    return (found[1], found[2][1:-1]) if found else None


def _offset(arm: Arm) -> int | None:
    if isinstance(arm, JinjaArm):
        return arm.offset
    span = getattr(arm.condition, "span", None)
    return None if span is None or span.end <= span.start else span.start


RULES = (
    Rule(
        "dead-branch",
        "warning",
        "A branch that no conversation takes.",
        _dead_branches,
    ),
)
