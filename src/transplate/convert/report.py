"""What a conversion gives: the text, what it takes for granted and what may differ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from transplate.conversation import Conversation


def _always(_: Conversation) -> bool:
    return True


def _never(_: Conversation) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that holds of ordinary conversations and that the converted template relies on.

    Attributes:
        name: The word that ``assume=`` takes, ``alternating-roles``.
        meaning: What must hold, in one clause.
        holds: Whether it holds of a conversation.
    """

    name: str
    meaning: str
    holds: Callable[[Conversation], bool] = field(default=_always, repr=False, compare=False)


def named_assumptions(names: Iterable[str], known: Collection[str]) -> frozenset[str]:
    """Return the names of assumptions that ``assume=`` gives.

    Raises:
        TypeError: It is a text, not texts.
        ValueError: There is no assumption of a name.
    """
    if isinstance(names, str):
        raise TypeError(f"assume takes a list of names, [{names!r}]")
    found = frozenset(names)
    unknown = sorted(found.difference(known))
    if unknown:
        raise ValueError(f"no assumption is called {unknown[0]!r}; there are {', '.join(known)}")
    return found


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that can come out differently even where every assumption holds.

    Attributes:
        message: What can differ, and when.
        line: Line of the source that it comes from, from 1; None where it is no single place.
        column: Column in that line, from 1.
        name: A word for it, ``closed-prefill``; empty where no conversation is known to be concerned.
        affects: Whether it concerns a conversation, as far as that can be told from it.
    """

    message: str
    line: int | None = None
    column: int | None = None
    name: str = ""
    affects: Callable[[Conversation], bool] = field(default=_never, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Conversion:
    """A converted template.

    Attributes:
        text: The template in the other language.
        assumptions: What it takes for granted, in the order of its opening comment.
        losses: What can differ, and where.
    """

    text: str
    assumptions: tuple[Assumption, ...] = ()
    losses: tuple[Loss, ...] = ()

    def covers(self, conversation: Conversation) -> bool:
        """Return whether a conversation meets every assumption, and no loss is known to concern it."""
        return not self.exceptions(conversation)

    def exceptions(self, conversation: Conversation) -> tuple[Assumption | Loss, ...]:
        """Return the assumptions that a conversation does not meet and the losses that concern it."""
        unmet = (assumption for assumption in self.assumptions if not assumption.holds(conversation))
        return (*unmet, *(loss for loss in self.losses if loss.affects(conversation)))
