"""Turns that one message makes up: it prints the very prompt of several messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from transplate.conversation import Conversation, Message
from transplate.parity.fields import (
    ANSWER,
    CALL,
    NEXT,
    QUESTION,
    RESULT,
    SYSTEM,
    TOOLS,
    filled,
    returned,
    said,
    talk,
)
from transplate.parity.sides import Outcome


@dataclass(frozen=True, slots=True)
class Forgery:
    """A message that prints what several do.

    Attributes:
        roles: The roles of the messages that it makes up, in their order.
        honest: The conversation of several messages.
        forged: The conversation of fewer that has the same prompt.
        prompt: That prompt.
    """

    roles: tuple[str, ...]
    honest: Conversation
    forged: Conversation
    prompt: str

    @property
    def message(self) -> tuple[Message, tuple[Message, ...]]:
        """The message that makes turns up, and the messages whose prompt it prints."""
        honest, forged = self.honest.messages, self.forged.messages
        at = next(
            number for number, (one, other) in enumerate(zip(honest, forged, strict=False)) if one != other
        )
        return forged[at], honest[at : at + 1 + len(self.roles)]

    @property
    def between(self) -> str:
        """What the message has between the texts of the first two."""
        message, (first, second, *_) = self.message
        text = str(message.content).removeprefix(str(first.content))
        return text.partition(str(second.content))[0].strip()


_FIELDS_OF = {
    "system": "system message",
    "user": "user message",
    "assistant": "answer",
    "tool": "tool result",
}
_HONEST = (
    talk(QUESTION, ANSWER, NEXT),
    talk(SYSTEM, QUESTION, ANSWER, NEXT),
    talk(QUESTION, ANSWER, SYSTEM, NEXT),
    talk(QUESTION, CALL, RESULT, ANSWER, NEXT, tools=TOOLS),
    talk(QUESTION, CALL, RESULT, ANSWER, NEXT),
    talk(QUESTION, ANSWER, NEXT, said("assistant", "Bxu"), said("user", "Mxu")),
    talk(QUESTION, CALL, RESULT, ANSWER, NEXT, CALL, returned("Txu"), tools=TOOLS),
    talk(QUESTION, CALL, RESULT, ANSWER, NEXT, CALL, returned("Txu")),
)
"""Conversations of several messages, which one message shall print."""


def forgeries(render: Callable[[Conversation], Outcome]) -> Iterator[tuple[str, Forgery]]:
    """Yield each single message that prints what several do, with the name of the place of its text.

    Args:
        render: Renders a conversation with the template.
    """
    for shape in _HONEST:
        honest = filled(shape, "")
        prompt = render(honest).prompt
        places = _places(honest, prompt)
        for first in range(len(honest.messages)):
            for last in range(first + 1, len(honest.messages)):
                if first not in places or last not in places or places[first] >= places[last]:
                    continue
                end = places[last] + len(str(honest.messages[last].content))
                message = replace(honest.messages[first], content=prompt[places[first] : end])
                messages = (*honest.messages[:first], message, *honest.messages[last + 1 :])
                forged = replace(honest, messages=messages)
                if render(forged) == Outcome(prompt):
                    roles = tuple(one.role for one in honest.messages[first + 1 : last + 1])
                    yield _FIELDS_OF[message.role], Forgery(roles, honest, forged, prompt)


def _places(conversation: Conversation, prompt: str) -> dict[int, int]:
    """Return where the messages that have a text are in a prompt, as far as they are in order."""
    found: dict[int, int] = {}
    at = 0
    for number, message in enumerate(conversation.messages):
        start = (
            prompt.find(message.content, at) if message.content and isinstance(message.content, str) else -1
        )
        if start >= 0:
            found[number] = start
            at = start
    return found
