"""Conversations that take the branches of two templates: made of others, guided by what they reach."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from random import Random

from transplate.conversation import Conversation, Message
from transplate.errors import ErrorKind
from transplate.parity.aiming import aimed_at
from transplate.parity.dates import with_dates
from transplate.parity.dead import dead_arms
from transplate.parity.mutation import ROLES, Mutator
from transplate.parity.pair import Outcomes, Pair, missing_variables
from transplate.parity.shapes import ARGUMENTS_AS_TEXT, PLAIN, SHAPES, Shape
from transplate.parity.variables import with_fields, with_variables
from transplate.parity.variations import variations

ArmKey = tuple[int, int]
"""The number of a side, and of one of its arms."""

_STRING = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|`([^`]*)`")
_NAME = re.compile(r"(?<![\w|])[a-zA-Z_]\w*")
_NO_NAMES = frozenset(
    (
        *("and", "or", "not", "in", "is", "if", "else", "elif", "for", "set", "true", "false", "none"),
        *("defined", "string", "mapping", "iterable", "loop", "messages", "message", "tools", "namespace"),
        *("add_generation_prompt", "eq", "ne", "len", "last", "first", "index", "length", "trim"),
    )
)
_LONGEST_WORD = 40
_MOST_SOLUTIONS = 300
_WITNESSES = 4
_MOST_PARENTS = 150
"""Of how many conversations all shapes are tried."""


@dataclass(frozen=True, slots=True)
class Generated:
    """A conversation that was tried.

    Attributes:
        conversation: The conversation.
        shape: The form in which chat templates were given it.
        outcomes: What both sides made of it.
        new: The arms that no conversation before it took.
    """

    conversation: Conversation
    shape: Shape
    outcomes: Outcomes
    new: frozenset[ArmKey]


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to look.

    Attributes:
        patience: How many conversations in a row may reach nothing new before the search ends.
        most: How many conversations are made at most.
        rare: How many more are made of those that take the rarest arms.
        seconds: How long the search may take, and then the explanation of what it finds; time of the
            processor.
    """

    patience: int = 450
    most: int = 2500
    rare: int = 150
    seconds: float = 20.0


class Search:
    """The search: conversations that reached something new become parents of the next ones.

    Args:
        pair: The templates.
        effort: How long to look.
        unusual: Whether to try conversations that people hardly send though nothing new is to be reached;
            two templates of one language are tried on them in any case.
        seed: What the choice depends on, besides the templates.

    Attributes:
        hits: How many conversations took each arm.
        dead: The arms that no chat can take, each with the reason; known once the seeds were tried.
        arms: All arms of both sides.
    """

    def __init__(
        self, pair: Pair, *, effort: Effort | None = None, unusual: bool = False, seed: int = 0
    ) -> None:
        self.pair = pair
        self.hits: Counter[ArmKey] = Counter()
        self.dead: dict[ArmKey, str] = {}
        self.arms: tuple[ArmKey, ...] = tuple(
            (number, arm) for number, side in enumerate(pair.sides) for arm in range(len(side.arms))
        )
        self._effort = effort or Effort()
        self._takes_unusual = unusual or pair.is_of_one_language
        self._random = Random(f"{seed}/{pair.a.source}/{pair.b.source}")  # noqa: S311
        words = sorted(word for word in pair.words if len(word) <= _LONGEST_WORD)
        self._words = words
        conditions = [arm.text for side in pair.sides if side.language == "jinja" for arm in side.arms]
        names = sorted(
            {name for text in conditions for name in _NAME.findall(_STRING.sub("", text))} - _NO_NAMES
        )
        self._mutator = Mutator(self._random, words, names)
        self._parents: list[tuple[Conversation, frozenset[ArmKey]]] = []
        self._untaken: list[ArmKey] | None = None
        self._next: list[ArmKey] | None = None
        self._missing: dict[str, str] = {}
        self._well_known: set[ArmKey] = set()
        self._witnesses: dict[ArmKey, list[Conversation]] = {}
        self._shapes: Sequence[Shape] = SHAPES if "jinja" in {side.language for side in pair.sides} else ()

    @property
    def untaken(self) -> list[ArmKey]:
        """The arms that no conversation took, as far as one could."""
        if self._untaken is None:
            self._untaken = [key for key in self.arms if key not in self.hits and key not in self.dead]
        return self._untaken

    def run(self, seeds: Iterable[Conversation]) -> Iterator[Generated]:
        """Yield conversations with what both sides make of them: the seeds, then those made of them."""
        self._missing = missing_variables(self.pair)
        for conversation in self._completed(seeds):
            yield from self._tried(conversation)
        for number, side in enumerate(self.pair.sides):
            untaken = [at for owner, at in self.untaken if owner == number]
            self._untaken = self._next = None
            self.dead |= {(number, at): reason for at, reason in dead_arms(side, untaken).items()}
        for conversation in chain(self._completed(self._probes()), self._solutions()):
            yield from self._tried(conversation)
        yield from self._in_shapes()
        made = fruitless = 0
        effort = self._effort
        while made < effort.most and fruitless < effort.patience and self.untaken:
            made += 1
            fruitless += 1
            for generated in self._tried(self._aimed(), self._shape()):
                fruitless = 0 if generated.new else fruitless
                yield generated
        for _ in range(effort.rare if self._parents else 0):
            yield from self._tried(self._rare(), self._shape())

    def _completed(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        """Yield conversations as they are, and with the variables without which a template fails."""
        for conversation in conversations:
            yield conversation
            if self._missing:
                yield replace(conversation, variables={**self._missing, **conversation.variables})

    def _tried(self, conversation: Conversation, shape: Shape = PLAIN) -> Iterator[Generated]:
        """Render a conversation; one that Ollama refuses counts for the other side's branches alone."""
        fitted = self.pair.fitted(conversation)
        if fitted is not conversation:
            self._take(conversation, self.pair.taken(conversation, shape))
        outcomes = self.pair.taken(fitted, shape)
        new = self._take(fitted, outcomes)
        if not any(
            outcome.error is not None and outcome.error.kind is ErrorKind.INPUT for outcome in outcomes
        ):
            yield Generated(fitted, shape, outcomes, new)

    def _take(self, conversation: Conversation, outcomes: Outcomes) -> frozenset[ArmKey]:
        """Note which arms a conversation takes; return those that none took before."""
        taken = frozenset((side, arm) for side, outcome in enumerate(outcomes) for arm in outcome.arms)
        new = taken - self.hits.keys()
        self.hits.update(taken)
        if new:
            self._untaken = self._next = None
            self._parents.append((conversation, taken))
        for key in taken - self._well_known:
            witnesses = self._witnesses.setdefault(key, [])
            witnesses.append(conversation)
            if len(witnesses) == _WITNESSES:
                self._well_known.add(key)
        return new

    def _shape(self) -> Shape:
        return self._random.choice(self._shapes) if self._shapes and self._random.random() < 0.15 else PLAIN

    def _in_shapes(self) -> Iterator[Generated]:
        """Yield the conversations that reached something, in the forms that only chat templates see.

        Two templates in the same language are compared on all of them; of others, they only take branches.
        """
        tried = [(each, shape) for each, _ in self._parents[-_MOST_PARENTS:] for shape in self._shapes]
        if self._shapes:
            tried += [(each, ARGUMENTS_AS_TEXT) for each in variations()]
        for conversation, shape in tried:
            if not self._takes_unusual and not self._is_open_in_jinja():
                return
            if shape.changes(conversation):
                yield from self._tried(conversation, shape)

    def _is_open_in_jinja(self) -> bool:
        """Return whether a chat template has branches that no conversation took, as far as one could."""
        return any(self.pair.sides[side].language == "jinja" for side, _ in self.untaken)

    def _probes(self) -> Iterator[Conversation]:
        """Yield what is tried whatever was reached: variations, and what the templates' constants suggest."""
        pair = self.pair
        # A Go template reads no variables: how a chat template treats them in detail is no difference to it.
        aimed = aimed_at(pair.literals, pair.variables if pair.is_of_one_language else ())
        probes = chain(variations(), aimed, with_variables(pair), with_dates(pair))
        yield from (probe for probe in probes if self._takes_unusual or pair.is_usual(probe))
        if self._takes_unusual or self._is_open_in_jinja():
            yield from with_fields(pair)

    def _solutions(self) -> Iterator[Conversation]:
        """Yield conversations that hold the texts of conditions not met yet where those may look for them."""
        found: dict[tuple[str, str], Conversation] = {}
        words = {word.strip() for word in self._words}
        roles = (*ROLES, *sorted(word for word in words if word.islower() and word.isalpha()))
        for side, number in self.untaken:
            literals, names = _asked(self.pair.sides[side].arms[number].text)
            both = [f"{one}x{other}" for one in literals for other in literals if one != other]
            for word in (*literals, *both):
                for role in roles:
                    message, user = Message(role, word), Message("user", "x")
                    found.setdefault((role, word), Conversation((message, user)))
                    if role in ROLES:
                        found.setdefault((role, word + "."), Conversation((user, message)))
                for name in names if side or self.pair.a.language == "jinja" else ():
                    for value in (word, [word], {word: "x"}):
                        given = {name: value}
                        found.setdefault(
                            (name, repr(value)), Conversation((Message("user", "x"),), variables=given)
                        )
        every = list(found.values())
        yield from self._random.sample(every, min(len(every), _MOST_SOLUTIONS))

    def _aimed(self) -> Conversation:
        """Return a conversation that may take an arm which none has taken."""
        random = self._random
        reachable = self._reachable
        if not reachable or random.random() < 0.25:
            return self._rare()
        side, number = random.choice(reachable)
        arm = self.pair.sides[side].arms[number]
        sibling = (side, number ^ 1)
        around = self._witnesses.get((side, -1 if arm.parent is None else arm.parent), [])
        candidates = [*self._witnesses.get(sibling, ()), *around]
        base = random.choice(candidates) if candidates else self._any()
        words, names = _asked(arm.text)
        if not words and arm.parent is not None:
            words, _ = _asked(self.pair.sides[side].arms[arm.parent].text)
        return self._mutator.mutant(base, self._any(), words, names)

    @property
    def _reachable(self) -> list[ArmKey]:
        """The arms that no conversation took, though one took the arm around them."""
        if self._next is None:
            self._next = [(side, arm) for side, arm in self.untaken if self._is_reachable(side, arm)]
        return self._next

    def _is_reachable(self, side: int, number: int) -> bool:
        """Return whether the arm around an arm was taken."""
        parent = self.pair.sides[side].arms[number].parent
        return parent is None or (side, parent) in self.hits

    def _rare(self) -> Conversation:
        """Return a conversation made of one that takes an arm which few take."""
        if not self._parents:
            return self._mutator.mutant(Conversation((Message("user", "x"),)), self._any())
        weights = [1 / min((self.hits[key] for key in taken), default=1) for _, taken in self._parents]
        base = self._random.choices(self._parents, weights)[0][0]
        return self._mutator.mutant(base, self._any())

    def _any(self) -> Conversation:
        if not self._parents:
            return Conversation((Message("user", "x"),))
        return replace(self._random.choice(self._parents)[0], name="")


def _asked(condition: str) -> tuple[list[str], list[str]]:
    """Return the texts and the names in a condition."""
    words = [next(filter(None, found.groups()), "") for found in _STRING.finditer(condition)]
    return words, sorted(set(_NAME.findall(_STRING.sub("", condition))) - _NO_NAMES)
