"""What ends an answer of a model: its tokens and its prompts in, stops with the reason for each out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from transplate.errors import TransplateError
from transplate.models.model import Model

Render = Callable[[list[dict[str, Any]]], str]
"""Renders messages without a generation prompt."""

_QUESTION, _ANSWER, _NEXT, _LAST = "What is red?", "Colours are.", "And what is green?", "Green is, too."
_CALL = {"type": "function", "function": {"name": "look_at_the_sky", "arguments": {"where": "up"}}}
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
        for text, reason in _ends_in_prompts(render, set(model.special_tokens.values()) | set(found)):
            found.setdefault(text, reason)
    return [Stop(text, reason) for text, reason in found.items()]


def opening_of(render: Render) -> str:
    """Return what a prompt has before the first word of a user: what opens turns, and no stop may be.

    Raises:
        TransplateError: The template fails.
    """
    return render([{"role": "user", "content": _QUESTION}]).partition(_QUESTION)[0]


def texts_of(value: Any) -> Iterator[str]:
    """Yield the texts in a setting that is one text or several."""
    for one in [value] if isinstance(value, str) else value or ():
        if isinstance(one, str) and one:
            yield one


def _ends_in_prompts(render: Render, special: set[str]) -> Iterator[tuple[str, str]]:
    turns = [("user", _QUESTION), ("assistant", _ANSWER), ("user", _NEXT), ("assistant", _LAST)]
    messages = [{"role": role, "content": content} for role, content in turns]
    try:
        opening = opening_of(render)
        prompt = render(messages)
    except TransplateError:
        return
    final = _last_marker(prompt.rpartition(_LAST)[2], opening, special) if _LAST in prompt else None
    if final:
        yield final, "ends the assistant's last turn in prompts"
    elif _ANSWER in prompt:
        between = prompt.partition(_ANSWER)[2].partition(_NEXT)[0]
        if marker := _last_marker(between, opening, special):
            yield marker, "ends the assistant's turns in prompts"
    with suppress(TransplateError):
        call = {"role": "assistant", "content": "", "tool_calls": [_CALL]}
        prompt = render([messages[0], call])
        name = _CALL["function"]["name"]  # type: ignore[index]
        marker = _last_marker(prompt.rpartition(name)[2], opening, special) if name in prompt else None
        # What closes a call is no end of a turn, unless it is a token of its own that stands behind the last.
        if marker in special:
            yield str(marker), "ends a turn with tool calls in prompts"


def _last_marker(text: str, opening: str, special: Iterable[str]) -> str | None:
    """Return the last marker in a text; what stands before the first message opens turns and ends none."""
    known = "|".join(re.escape(one) for one in sorted(special, key=len, reverse=True) if one)
    pattern = re.compile(f"{known}|{_MARKER.pattern}") if known else _MARKER
    markers = [match[0] for match in pattern.finditer(text) if match[0] not in opening]
    return markers[-1] if markers else None
