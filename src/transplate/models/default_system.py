"""The system prompt that a chat template puts in by itself wherever a conversation has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from transplate.conversation import Conversation
from transplate.errors import TransplateError

Render = Callable[[Conversation, datetime], str]

_SYSTEM, _QUESTION = "Know every colour.", "What is red?"
_CLOCKS = (datetime(2024, 2, 29, 8, 5), datetime(2025, 11, 10, 23, 59, 58))


def default_system(render: Render, conversations: tuple[Conversation, ...]) -> str | None:
    """Return the system prompt that a template inserts where there is none, None unless that is exact.

    It is exact if each of the conversations without a system prompt gives the same prompt with this one in
    front, whatever the time is.

    Args:
        render: Renders a conversation at a time.
        conversations: The conversations to try.
    """
    question = Conversation.read([{"role": "user", "content": _QUESTION}])
    try:
        own = render(question, _CLOCKS[0])
        before, found, behind = render(_with_system(question, _SYSTEM), _CLOCKS[0]).partition(_SYSTEM)
    except TransplateError:
        return None
    middle = own[len(before) : len(own) - len(behind)]
    if not found or not middle or own != before + middle + behind:
        return None
    without = [one for one in (question, *conversations) if one.messages and one.messages[0].role != "system"]
    if all(_same(render, one, _with_system(one, middle)) for one in without):
        return middle
    return None


def _with_system(conversation: Conversation, system: str) -> Conversation:
    first = Conversation.read([{"role": "system", "content": system}]).messages
    return replace(conversation, messages=first + conversation.messages)


def _same(render: Render, one: Conversation, other: Conversation) -> bool:
    for clock in _CLOCKS:
        prompts = []
        for conversation in (one, other):
            try:
                prompts.append(render(conversation, clock))
            except TransplateError:
                prompts.append("")
        if prompts[0] != prompts[1]:
            return False
    return True
