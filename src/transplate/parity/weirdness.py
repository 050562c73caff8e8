"""How far a conversation is from what people send."""

from __future__ import annotations

from collections.abc import Set

from transplate.conversation import Conversation

UNUSUAL = 3
"""From which weirdness on a conversation is one that people hardly send."""
_ROLES = frozenset({"system", "user", "assistant", "tool", "developer"})


def weirdness(
    conversation: Conversation,
    roles: Set[str] = frozenset(),
    variables: Set[str] = frozenset(),
    *,
    parts: bool = False,
) -> int:
    """Return how far a conversation is from what people send: a small one that is odd explains little.

    Args:
        conversation: The conversation.
        roles: Roles that are not odd, besides those in common use: those that the templates ask for.
        variables: Variables that are not odd: those that the templates read.
        parts: Whether texts in typed parts are not odd, because a template asks for them.
    """
    messages = conversation.messages
    score = 3 * sum(message.role not in _ROLES and message.role not in roles for message in messages)
    score += 3 * all(message.role != "user" for message in messages)
    score += 3 * bool(conversation.variables.keys() - variables)
    score += 3 * (messages[-1].role == "assistant" and bool(messages[-1].tool_calls))
    for at, message in enumerate(messages):
        before = messages[at - 1] if at else None
        score += 3 * (message.content is None and not message.tool_calls)
        score += 2 * bool(message.extra) + 2 * bool(message.images)
        if isinstance(message.content, tuple):
            score += 0 if parts and all(part.kind == "text" for part in message.content) else 4
        score += before is not None and before.role == message.role and message.role != "tool"
        score += 4 * (bool(message.tool_calls or message.reasoning) and message.role != "assistant")
        if message.role == "tool":
            score += 2 * (before is None or not (before.role == "tool" or before.tool_calls))
        score += message.content == "" and not message.tool_calls
        score += message.role == "system" and at > 0
    return score
