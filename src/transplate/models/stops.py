"""What ends an answer of a model: its tokens and its prompts in, stops with the reason for each out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from transplate.errors import TransplateError
from transplate.models.model import Model

Render = Callable[[list[dict[str, Any]]], str]
"""Renders messages, without a generation prompt where the template leaves a choice."""

_SYSTEM = "Know every colour."
_QUESTION, _ANSWER, _NEXT, _LAST = "What is red?", "Colours are.", "And what is green?", "Green is, too."
_FUNCTION = "look_at_the_sky"
_CALL = {"type": "function", "function": {"name": _FUNCTION, "arguments": {"where": "up"}}}
_MARKER = re.compile(r"<[^<>\s]{1,60}>|\[\|?[^\[\]\s]{1,30}\|?\]")


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop and why it is one."""

    text: str
    reason: str


def find_stops(model: Model, render: Render | None) -> list[Stop]:
    """Return what ends an answer, never what only occurs somewhere in the template.

    Args:
        model: The model.
        render: Renders messages with its template; None where there is none to be rendered.
    """
    found: dict[str, str] = {}
    if model.tokens.eos:
        found[model.tokens.eos] = "the eos token"
    for number, text in model.tokens.ends:
        if text:
            found.setdefault(text, f"token {number}, which ends a generation")
    for text in texts_of(model.generation.get("stop_strings")):
        found.setdefault(text, "in the stop strings of the generation configuration")
    if render is not None:
        special = {*model.special_tokens.values(), *found}
        for text, reason in _ends_in_prompts(render, special):
            found.setdefault(text, reason)
    return [Stop(text, reason) for text, reason in found.items()]


def texts_of(value: Any) -> Iterator[str]:
    """Yield the texts in a setting that is one text or several; what is neither has none."""
    for one in [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else ():
        if isinstance(one, str) and one:
            yield one


def opens_a_turn(stop: str, render: Render) -> bool:
    """Return whether a stop stands in front of messages, so that it does not end what a model says.

    Raises:
        TransplateError: The template fails on a plain question.
    """
    before, _, behind = _render(render, _QUESTION).partition(_QUESTION)
    with suppress(TransplateError):
        prompt = _render(render, _QUESTION, system=_SYSTEM)
        if _SYSTEM in prompt and stop in prompt.partition(_SYSTEM)[0]:
            return True
    if stop not in before:
        return False
    # A system turn without a message, or with the template's own, is in front of a question, too, and has an
    # end. What ends any turn right behind its message is such an end, though legacy templates leave it out
    # behind answers.
    if behind.lstrip().startswith(stop):
        return False
    with suppress(TransplateError):
        prompt = _render(render, _QUESTION, _ANSWER, _NEXT)
        between = prompt.partition(_ANSWER)[2].partition(_NEXT)[0]
        return not between.lstrip().startswith(stop)
    return True


def _render(render: Render, *texts: str, system: str = "") -> str:
    messages = [
        {"role": ("user", "assistant")[number % 2], "content": text} for number, text in enumerate(texts)
    ]
    return render([{"role": "system", "content": system}, *messages] if system else messages)


def _ends_in_prompts(render: Render, special: set[str]) -> Iterator[tuple[str, str]]:
    try:
        prompt = _render(render, _QUESTION, _ANSWER, _NEXT, _LAST)
    except TransplateError:
        return
    before = prompt.partition(_QUESTION)[0]
    between = prompt.partition(_ANSWER)[2].partition(_NEXT)[0]
    behind = prompt.rpartition(_LAST)[2] if _LAST in prompt else ""
    # What stands behind every answer ends a turn. So does what stands behind the last one alone. If nothing
    # stands there, it is the first that stands behind another.
    always = _markers(_common_beginning(between, behind), special)
    only_last = [one for one in _markers(behind, special) if one not in before + between]
    ending = "ends the assistant's turns in prompts"
    beginning = "follows the assistant's answers in prompts, which have no end of their own"
    for candidates, reason in (
        (always, ending),
        (only_last, ending),
        (_markers(between, special)[:1], beginning if between.lstrip() in before else ending),
    ):
        if ends := [one for one in candidates if not _is_opening(one, render, before)]:
            yield ends[-1], reason
            break
    with suppress(TransplateError):
        call = {"role": "assistant", "content": "", "tool_calls": [_CALL]}
        prompt = render([{"role": "user", "content": _QUESTION}, call])
        ends = _markers(prompt.rpartition(_FUNCTION)[2], special)
        # What closes a call is no end of a turn, unless it is a token of its own that stands behind the last.
        if ends and ends[-1] in special and ends[-1] not in before:
            yield ends[-1], "ends a turn with tool calls in prompts"


def _is_opening(marker: str, render: Render, before: str) -> bool:
    try:
        return opens_a_turn(marker, render)
    except TransplateError:
        return marker in before


def _common_beginning(one: str, other: str) -> str:
    pairs = zip(one, other, strict=False)
    return "".join(character for character, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _markers(text: str, special: Iterable[str]) -> list[str]:
    """Return the markers in a text: special tokens, and what is written as such tokens are."""
    known = "|".join(re.escape(one) for one in sorted(special, key=len, reverse=True) if one)
    pattern = re.compile(f"{known}|{_MARKER.pattern}") if known else _MARKER
    return [match[0] for match in pattern.finditer(text)]
