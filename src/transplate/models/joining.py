"""Where Ollama joins the last MESSAGE with a conversation's first message, found by experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from transplate.conversation import Conversation
from transplate.errors import TransplateError

if TYPE_CHECKING:
    from transplate.parity import Difference, ParityReport

History = tuple[tuple[str, str], ...]
_CAUSE = "same-role"
"""What :mod:`transplate.parity` calls it where the messages of a conversation itself are joined."""


def with_joins(
    report: ParityReport, history: History, render: Callable[[History, Conversation], str]
) -> ParityReport:
    """Return a report in which differences have their cause that come from such a join alone.

    A chat template is given both messages; if one that is given both in one prints what Ollama does, that is
    all there is to the difference.

    Args:
        report: The report.
        history: The MESSAGEs.
        render: Renders a conversation behind MESSAGEs as the chat template does.
    """

    def explained(difference: Difference) -> Difference:
        joined = _joined(history, difference.conversation)
        if joined is None:
            return difference
        try:
            is_all = render(history[:-1], joined) == difference.prompts[1]
        except TransplateError:
            is_all = False
        return replace(difference, causes=(_CAUSE,)) if is_all else difference

    if not history:
        return report
    return replace(report, differences=tuple(map(explained, report.differences)))


def _joined(history: History, conversation: Conversation) -> Conversation | None:
    """Return a conversation with the last MESSAGE in its first message; None where Ollama joins them not."""
    role, content = history[-1]
    first = conversation.messages[0] if conversation.messages else None
    if first is None or first.role != role or not isinstance(first.content, str):
        return None
    text = "\n\n".join(filter(None, [content, first.content]))
    return replace(conversation, messages=(replace(first, content=text), *conversation.messages[1:]))
