"""How much of a difference is left after experiments: what every explanation rests on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from transplate.conversation import Conversation, Message
from transplate.parity.causes import FIXED, OUTPUT
from transplate.parity.experiments import COARSE, GENTLE, SENTINEL, Change, plain_texts, without_variable
from transplate.parity.pair import Outcomes, Pair, comparable, equal, missing_variables
from transplate.parity.sides import Side
from transplate.parity.texts import Hunk, hunk_at, places, reconcile, size_of, words_of

INFINITE = 1_000_000
"""What is left where a side fails."""
_STRUCTURE = frozenset(
    (
        *("type", "function", "name", "description", "parameters", "properties", "required", "enum", "items"),
        *("string", "object", "number", "integer", "boolean", "array", "null", "true", "false"),
        *("arguments", "id"),
    )
)


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a difference: how much that is not known yet, and how much in all."""

    unknown: int
    total: int

    @property
    def nothing(self) -> bool:
        """Whether nothing is left."""
        return self.unknown == 0

    def less_than(self, other: Left) -> bool:
        """Return whether less is left than before."""
        # What is known counts too: a difference that only turned into a known one is not explained.
        return self.unknown < other.unknown and self.total <= other.total


class Measure:
    """Makes experiments on conversations of a pair, and says what is left of a difference after them.

    Args:
        pair: The pair.

    Attributes:
        changes: The experiments by name, in the order in which they are tried.
        accepted: The differences in fixed text that are known, each with its cause.
        defaults: What each side prints in the place of a system message where there is none.
    """

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.accepted: dict[Hunk, str] = {}
        self.defaults = tuple(default_system(side, pair) for side in pair.sides)
        self.changes: dict[str, Change] = self._experiments()
        self._code_words = frozenset(re.findall(r"\w+", pair.a.source + " " + pair.b.source)) | _STRUCTURE
        self._measured: dict[frozenset[str], Left] = {}
        self._measured_of: Conversation | None = None
        self._measured_with = 0

    def _experiments(self) -> dict[str, Change]:
        text = Change(
            "literal",
            "a text that the template looks for",
            "no text is one that the template looks for",
            plain_texts(self.pair.words),
        )
        missing = missing_variables(self.pair)
        found = [self._of_variable(name, missing) for name in sorted(self.pair.variables)]
        if self.defaults != (None, None) and self.defaults[0] != self.defaults[1]:
            title = FIXED["default-system"]
            found.append(Change("default-system", title, "there is a system message", _given_system))
        found += [*GENTLE, text, *COARSE]
        if missing:
            names = ", ".join(missing)
            found.append(
                Change(
                    "missing-variables",
                    f"variables that are not given ({names})",
                    f"the chat template is given {names}",
                    lambda conversation: replace(
                        conversation, variables={**missing, **conversation.variables}
                    ),
                )
            )
        return {change.name: change for change in found}

    def _of_variable(self, name: str, missing: Mapping[str, str]) -> Change:
        return Change(
            f"variable-{name}",
            f"the variable {name}",
            f"{name} is not given",
            without_variable(name, missing),
            "pays no heed to it",
            "heeds it",
        )

    def changed(self, conversation: Conversation, names: Iterable[str]) -> Conversation:
        """Return a conversation after changes, made in the order in which they are tried."""
        wanted = set(names)
        for name, change in self.changes.items():
            if name in wanted:
                conversation = change.apply(conversation)
        return conversation

    def prompts(self, outcomes: Outcomes, names: Iterable[str]) -> tuple[str, str]:
        """Return the prompts after the changes of prompts among some names."""
        one, other = outcomes[0].prompt, outcomes[1].prompt
        wanted = set(names)
        for change in OUTPUT:
            if change.name in wanted:
                one, other = change.apply(one), change.apply(other)
        return one, other

    def left(self, conversation: Conversation, names: Iterable[str]) -> Left:
        """Return what is left of a difference after changes of the conversation and of the prompts."""
        names = frozenset(names)
        if self._measured_of is not conversation or len(self.accepted) != self._measured_with:
            self._measured, self._measured_of = {}, conversation
            self._measured_with = len(self.accepted)
        if names not in self._measured:
            self._measured[names] = self._measure(conversation, names)
        return self._measured[names]

    def _measure(self, conversation: Conversation, names: frozenset[str]) -> Left:
        changed = self.changed(conversation, names)
        outcomes = self.pair.outcomes(changed)
        if not comparable(outcomes):
            return Left(2 * INFINITE, 2 * INFINITE)
        if outcomes[0].error or outcomes[1].error:
            return Left(INFINITE, INFINITE)
        if equal(outcomes):
            return Left(0, 0)
        one, other = self.prompts(outcomes, names)
        if one == other or reconcile(one, other, tuple(self.accepted)) is not None:
            return Left(0, abs(len(one) - len(other)) + 1)
        found = places(one, other)
        contents = self.contents(changed)
        unknown = [place for place in found if hunk_at(one, other, place, contents) not in self.accepted]
        return Left(size_of(unknown), size_of(found))

    def contents(self, conversation: Conversation) -> frozenset[str]:
        """Return the words that are in a conversation and not in the templates."""
        return words_of(_texts(conversation)) - self._code_words


def _texts(conversation: Conversation) -> Iterator[str]:
    """Yield every text in a conversation; roles are what a template prints around it."""
    waiting: list[Any] = [conversation.tools, conversation.variables]
    for message in conversation.messages:
        waiting += [message.content, message.reasoning, message.name, message.tool_name, message.tool_call_id]
        waiting.append(message.extra)
        for call in message.tool_calls:
            waiting += [call.name, call.id, call.arguments]
        if isinstance(message.content, tuple):
            waiting += [part.given for part in message.content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple):
            waiting += value
        elif isinstance(value, int | float):
            yield str(value)


def default_system(side: Side, pair: Pair) -> str | None:
    """Return what a side prints in the place of a system message where there is none, None if nothing."""
    question, text = Message("user", SENTINEL), "Zy9"
    without = side.render(Conversation((question,)), pair.clock)
    given = side.render(Conversation((Message("system", text), question)), pair.clock)
    if without.error or given.error or given.prompt.count(text) != 1:
        return None
    before, behind = given.prompt.split(text)
    prompt = without.prompt
    if not before.strip() or len(prompt) < len(before) + len(behind):
        return None
    if prompt.startswith(before) and prompt.endswith(behind):
        return prompt[len(before) : len(prompt) - len(behind)]
    return None


def _given_system(conversation: Conversation) -> Conversation:
    """Give a conversation that does not begin with a system message one."""
    if conversation.messages[0].role == "system":
        return conversation
    return replace(conversation, messages=(Message("system", SENTINEL), *conversation.messages))
