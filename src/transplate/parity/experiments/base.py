"""What an experiment is: a change of a conversation that takes one property away from it.

If two templates differ on a conversation and no more once it is changed, that property is a cause. Changes
that leave the conversation as it is return that very object, so that nobody compares what is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from transplate.conversation import Conversation, Message

SENTINEL = "Qx0"
"""A text that no template compares anything with."""


@dataclass(frozen=True, slots=True)
class Change:
    """An experiment.

    Attributes:
        name: The name of the cause that it shows.
        title: The cause in a few words.
        condition: What holds of conversations that it leaves alone; empty if that is no condition to name.
        apply: Makes the changed conversation; the same object if there is nothing to change.
        blind: What a side does that prints the same with and without the change.
        sees: What the other side does then.
        coarse: Whether it takes away what the conversation says, not only how it says it.
    """

    name: str
    title: str
    condition: str
    apply: Callable[[Conversation], Conversation]
    blind: str = "does not show it"
    sees: str = "shows it"
    coarse: bool = False


Each = Callable[[Message], Message]


def each_message(change: Each) -> Callable[[Conversation], Conversation]:
    """Return the change of a conversation that changes each of its messages."""

    def apply(conversation: Conversation) -> Conversation:
        changed = tuple(change(message) for message in conversation.messages)
        if all(one is other for one, other in zip(changed, conversation.messages, strict=True)):
            return conversation
        return replace(conversation, messages=changed)

    return apply


def messages_kept(conversation: Conversation, keep: Callable[[Message], bool]) -> Conversation:
    """Return a conversation of the messages to keep, or of a plain question if none would be left."""
    kept = tuple(message for message in conversation.messages if keep(message))
    if len(kept) == len(conversation.messages):
        return conversation
    return replace(conversation, messages=kept or (Message("user", SENTINEL),))


def text_of(message: Message) -> str:
    """Return the text of a message, that of its parts joined as Ollama joins them."""
    if isinstance(message.content, tuple):
        return "\n\n".join(part.given["text"] for part in message.content if part.kind == "text")
    return message.content or ""
