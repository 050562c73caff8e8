"""Two templates to compare: one clock, and what of a conversation both can be given."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from transplate.conversation import Conversation, Message
from transplate.errors import ErrorKind
from transplate.parity.budget import Budget
from transplate.parity.literals import Literals
from transplate.parity.shapes import PLAIN, Shape
from transplate.parity.sides import Outcome, Side
from transplate.parity.weirdness import UNUSUAL, weirdness

Outcomes = tuple[Outcome, Outcome]
_MOST_VARIABLES = 8
_ROLE = re.compile(r"[a-z][a-z_ -]*")
_PART = "text"
"""What templates that read typed parts compare their type with."""


@dataclass(frozen=True)
class Pair:
    """Two sides that are given the same conversations at the same time.

    Attributes:
        a: One side.
        b: The other.
        clock: What both take for the time in conversations that have no date of their own.
        budget: How long all may take; each rendering raises :class:`OutOfBudgetError` once it is over.
    """

    a: Side
    b: Side
    clock: datetime
    budget: Budget | None = None

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sides."""
        return self.a, self.b

    @cached_property
    def literals(self) -> Literals:
        """The constants with which the templates may compare what they are given."""
        return self.a.literals | self.b.literals

    @property
    def words(self) -> frozenset[str]:
        """The texts among them."""
        return self.literals.texts

    @cached_property
    def roles(self) -> frozenset[str]:
        """Those texts that may be names of roles."""
        return frozenset(word for word in self.words if _ROLE.fullmatch(word))

    @cached_property
    def variables(self) -> frozenset[str]:
        """The variables that one of the templates reads besides what every conversation has."""
        return self.a.variables | self.b.variables

    @property
    def is_of_one_language(self) -> bool:
        """Whether both sides are given conversations in the very same form."""
        return self.a.language == self.b.language

    def is_usual(self, conversation: Conversation) -> bool:
        """Return whether a conversation is one that people send, as far as the templates are made for it."""
        parts = _PART in self.words
        return weirdness(conversation, self.roles, self.variables, parts=parts) < UNUSUAL

    def fitted(self, conversation: Conversation) -> Conversation:
        """Return a conversation without what Ollama refuses for one of the templates before it runs."""
        abilities = self.a.abilities & self.b.abilities
        if conversation.tools and "tools" not in abilities:
            conversation = replace(conversation, tools=())
        if conversation.think and "thinking" not in abilities:
            conversation = replace(conversation, think=None)
        return conversation

    def outcomes(self, conversation: Conversation, shape: Shape = PLAIN) -> Outcomes:
        """Return what both sides make of a conversation."""
        now = conversation.now or self.clock
        return self._bounded(lambda side: side.render(conversation, now, shape))

    def taken(self, conversation: Conversation, shape: Shape = PLAIN) -> Outcomes:
        """Return what both sides make of a conversation, with the arms that they take."""
        now = conversation.now or self.clock
        return self._bounded(lambda side: side.take(conversation, now, shape))

    def _bounded(self, outcome_of: Callable[[Side], Outcome]) -> Outcomes:
        if self.budget is None:
            return outcome_of(self.a), outcome_of(self.b)
        return self.budget.spent_on(outcome_of, self.a), self.budget.spent_on(outcome_of, self.b)


def comparable(outcomes: Outcomes) -> bool:
    """Return whether there is something to compare: a prompt of at least one side, refused by none.

    A request that Ollama refuses before any template sees it counts neither for nor against equality.
    """
    one, other = (outcome.error for outcome in outcomes)
    if one and other:
        return False
    return all(error is None or error.kind is not ErrorKind.INPUT for error in (one, other))


def reason_not_to_compare(outcomes: Outcomes) -> str:
    """Return why two outcomes are not comparable: what Ollama refuses, else how the first side fails."""
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    return min(errors, key=lambda error: error.kind is not ErrorKind.INPUT).message


def equal(outcomes: Outcomes) -> bool:
    """Return whether both sides have the same prompt."""
    one, other = outcomes
    return one.error is None and other.error is None and one.prompt == other.prompt


def missing_variables(pair: Pair) -> dict[str, str]:
    """Return an empty text for each variable without which a chat template fails on a plain question."""
    given: dict[str, str] = {}
    for side in pair.sides:
        while len(given) < _MOST_VARIABLES:
            question = Conversation((Message("user", "x"),), variables=given)
            error = side.render(question, pair.clock).error
            undefined = re.fullmatch(r"'(\w+)' is undefined", error.message) if error else None
            if undefined is None or undefined[1] in given:
                break
            given[undefined[1]] = ""
    return given
