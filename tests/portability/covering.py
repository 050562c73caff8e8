"""Conversations that take every branch of a template: generated, mutated and chosen by what they reach."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.convert.cases import Case, make_case, ollama_values
from tests.fuzz.gotmpl import NOW
from tests.portability.data import Maker, hard_numbers
from transplate import OllamaTemplate, RequestError, Values
from transplate.gotmpl import nodes as go
from transplate.gotmpl.parser import parse
from transplate.ollama.functions import FUNCTIONS
from transplate.parity.coverage import GoCoverage

LEAST = 120
"""Conversations for each form of a template, at least; a host may refuse two thirds of them."""
_RANDOM = 100
"""Unguided conversations to begin with; more of them hardly reach anything new."""
_PATIENCE = 3000
"""Mutants in a row that reach nothing new before the search ends."""
_SOLUTIONS = 3000
"""Pairs of role and content, both from the template's texts, that are tried at most."""
_PAIRS = 2000
"""Pairs of conversations that are tried at most."""
_FILLER = "\n\nsome text that is longer than what templates compare"
_ROLES = ("system", "user", "assistant", "tool")
_THINKS = (None, False, True, "low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Covering:
    """Conversations chosen for a template.

    Attributes:
        cases: The conversations.
        coverage: The template's arms.
        taken: The numbers of the arms that the conversations take.
        failing: The numbers of the arms that were taken on requests that Ollama fails on.
        thinks: Whether the template has the thinking ability.
        legacy: Whether it is one that does not name the messages.
        needs_messages: Whether Ollama fails where there are none.
    """

    cases: tuple[Case, ...]
    coverage: GoCoverage
    taken: frozenset[int]
    failing: frozenset[int]
    thinks: bool
    legacy: bool
    needs_messages: bool

    @property
    def untaken(self) -> list[int]:
        """The numbers of the arms that none of the conversations takes."""
        return [number for number in range(len(self.coverage.arms)) if number not in self.taken]


def cover(
    source: str,
    *,
    ollama: str,
    accepts: Callable[[Case], bool] = lambda _: True,
    least: int = LEAST,
    seed: int = 0,
    patience: int = _PATIENCE,
    first: Iterable[Case] = (),
) -> Covering:
    """Return conversations that take all arms of a template that the search can reach, and some more.

    Args:
        source: The template.
        ollama: The version of Ollama to follow.
        accepts: Which conversations to consider.
        least: How many to return at least; those beyond what coverage needs come without being looked for.
        seed: What the choice depends on.
        patience: How many mutants in a row may reach nothing new before the search ends.
        first: Conversations to begin with.
    """
    search = _Search(source, ollama=ollama, accepts=accepts, seed=seed)
    for case in (*first, hard_numbers()):
        search.consider(case)
    search.explore(max(least, _RANDOM), patience)
    return Covering(
        tuple(search.chosen(least)),
        search.coverage,
        frozenset(search.hits),
        frozenset(search.failing),
        search.thinks,
        search.legacy,
        search.fails_without_messages(),
    )


class _Search:
    """The search: cases that reached something new become parents of the next ones."""

    def __init__(self, source: str, *, ollama: str, accepts: Callable[[Case], bool], seed: int) -> None:
        self.coverage = GoCoverage(source, ollama=ollama)
        self.hits: Counter[int] = Counter()
        self.failing: set[int] = set()
        self._accepts = accepts
        inference = OllamaTemplate(source, ollama=ollama).inference
        self.thinks = "thinking" in inference.abilities
        self.legacy = "messages" not in inference.variables
        # Each template has a choice of its own, so that all together see many conversations.
        self._random = Random(f"{seed}/{source}")
        self._maker = Maker(self._random)
        self._dictionary = sorted(set(literals(source)) | {"", "x"})
        named = [word for word in self._dictionary if word and len(word) < 40]
        # Templates compare the beginnings of roles, too: "document 7".
        self._roles = (*_ROLES, *named, *(f"{word} 7" for word in named))
        self._seen: list[tuple[Case, frozenset[int]]] = []
        self._parents: list[tuple[Case, frozenset[int]]] = []

    def explore(self, unguided: int, patience: int) -> None:
        """Look at some conversations, then until nothing new is found for a while, or all is reached."""
        for number in range(50 * unguided):
            if len(self._seen) >= unguided:
                break
            self.consider(self._maker.case() if number % 2 else make_case(self._random.randrange(10**9)))
        for case in self._solutions():
            if len(self.hits) == len(self.coverage.arms):
                return
            self.consider(case)
        for case, _ in list(self._parents):
            for variant in self._variants(case):
                self.consider(variant)
        for case in self._pairs():
            if len(self.hits) == len(self.coverage.arms):
                return
            self.consider(case)
        fruitless = 0
        while fruitless < patience and len(self.hits) < len(self.coverage.arms):
            parent = self._parent()
            found = self.consider(self.mutant(parent))
            fruitless = 0 if found else fruitless + 1

    def _solutions(self) -> Iterator[Case]:
        """Yield conversations that hold the template's own texts where it may compare them."""
        words = [*self._dictionary, *(word + _FILLER for word in self._dictionary)]
        pairs = [(role, word) for role in self._roles for word in words]
        user = {"role": "user", "content": "x"}
        for role, word in self._random.sample(pairs, min(len(pairs), _SOLUTIONS)):
            message = {"role": role, "content": word}
            for messages in ([message], [message, user], [user, message], [user, message, user]):
                yield Case(0, copy.deepcopy(messages), None, self._random.choice(_THINKS))

    def _variants(self, case: Case) -> Iterator[Case]:
        """Yield a case with each setting of thinking, and with and without tools."""
        for think in _THINKS:
            yield replace(case, think=think)
        for tools in (None, make_case(4).tools, make_case(6).tools):
            yield replace(case, tools=copy.deepcopy(tools))

    def _pairs(self) -> Iterator[Case]:
        """Yield pairs of conversations that reached something new, one behind the other."""
        cases = [case for case, _ in self._parents]
        pairs = [(one, other) for one in cases for other in cases]
        for one, other in self._random.sample(pairs, min(len(pairs), _PAIRS)):
            between = self._random.choice(([], [{"role": self._random.choice(_ROLES), "content": "x"}]))
            messages = [*one.messages, *between, *other.messages]
            yield Case(0, copy.deepcopy(messages), copy.deepcopy(other.tools), one.think)

    def consider(self, case: Case) -> bool:
        """Run a case; return whether it reached anything new."""
        if not self._accepts(case):
            return False
        try:
            values = Values(**ollama_values(case, thinks=self.thinks))
            taken = self.coverage.take(values, now=NOW)
        except RequestError:
            return False
        if taken.error is not None:
            self.failing |= taken.arms
            return False
        is_new = bool(taken.arms - self.hits.keys())
        self.hits.update(taken.arms)
        self._seen.append((case, taken.arms))
        if is_new:
            self._parents.append((case, taken.arms))
        return is_new

    def fails_without_messages(self) -> bool:
        """Return whether Ollama fails on an empty conversation."""
        return self.coverage.take(Values([])).error is not None

    def chosen(self, least: int) -> Iterator[Case]:
        """Yield cases that together reach all that was reached, then others until there are enough."""
        left = set(self.hits)
        hard = hard_numbers()
        waiting = [seen for seen in self._seen if seen[0] != hard]
        count = 0
        for case, arms in self._seen:
            if case == hard and count == 0:
                left -= arms
                count += 1
                yield case
        while left:
            best = max(waiting, key=lambda seen: len(left & seen[1]))
            waiting.remove(best)
            left -= best[1]
            count += 1
            yield best[0]
        for case, _ in waiting[: max(0, least - count)]:
            yield case

    # --- mutation -------------------------------------------------------------------------------------

    def _parent(self) -> Case:
        """Return a case to change: mostly one that takes an arm which few take."""
        random = self._random
        if not self._parents or random.random() < 0.1:
            return make_case(random.randrange(10**9))
        if random.random() < 0.3:
            return random.choice(self._seen)[0]
        weights = [1 / min(self.hits[arm] for arm in taken) if taken else 1.0 for _, taken in self._parents]
        return random.choices(self._parents, weights)[0][0]

    def mutant(self, case: Case) -> Case:
        """Return a case with some changes."""
        random = self._random
        data = Case(case.seed, copy.deepcopy(case.messages), copy.deepcopy(case.tools), case.think)
        for _ in range(random.choice((1, 1, 2, 3))):
            data = random.choice((self._message, self._message, self._messages, self._tools, self._think))(
                data
            )
        return data

    def _word(self) -> str:
        word = self._random.choice(self._dictionary)
        return self._random.choice((word, word, f"{word} x", f"x {word}", f"{word}{_FILLER}"))

    def _message(self, case: Case) -> Case:
        """Change one message."""
        random = self._random
        if not case.messages:
            return self._messages(case)
        message = random.choice(case.messages)
        match random.randrange(7):
            case 6:
                message["role"] = random.choice(self._roles)
                message["content"] = self._word()
            case 0:
                message["content"] = self._word()
            case 1:
                message["role"] = random.choice(self._roles)
            case 2 if "reasoning" in message:
                del message["reasoning"]
            case 2:
                message["reasoning"] = self._word()
            case 3 if "tool_calls" in message:
                del message["tool_calls"]
            case 3:
                call = {"name": self._random.choice(("f", self._word())), "arguments": {"a": self._word()}}
                message["tool_calls"] = [
                    {"id": f"call_{number}", "type": "function", "function": copy.deepcopy(call)}
                    for number in range(random.randint(1, 2))
                ]
                message["role"] = "assistant"
            case 4:
                message[random.choice(("name", "tool_call_id"))] = self._word()
            case _:
                calls = message.get("tool_calls", ())
                for call in calls:
                    call["function"]["arguments"] = random.choice(({}, {"a": 1}, {"a": "b", "c": [True]}))
        return case

    def _messages(self, case: Case) -> Case:
        """Change the order of the messages, drop some or add some."""
        random = self._random
        messages = case.messages
        match random.randrange(8):
            case 6 | 7:
                other, _ = random.choice(self._parents or self._seen)
                between = {"role": random.choice(_ROLES), "content": self._word()}
                messages += [between, *copy.deepcopy(other.messages)]
                case = replace(case, tools=random.choice((case.tools, copy.deepcopy(other.tools))))
            case 0 if messages:
                del messages[random.randrange(len(messages))]
            case 1 if messages:
                del messages[random.randrange(len(messages)) :]
            case 2:
                role = random.choice((random.choice(_ROLES), random.choice(self._roles)))
                messages.insert(random.randint(0, len(messages)), {"role": role, "content": self._word()})
            case 3:
                messages.append({"role": random.choice(_ROLES), "content": self._word()})
            case 4 if len(messages) > 1:
                random.shuffle(messages)
            case _:
                other = make_case(random.randrange(10**9)).messages
                messages += other[: random.randint(0, 3)]
        return case

    def _tools(self, case: Case) -> Case:
        """Change whether there are tools, or one of them."""
        random = self._random
        if case.tools is None or random.random() < 0.3:
            other = make_case(random.randrange(10**9)).tools
            return replace(case, tools=random.choice((other, None, [])))
        functions = [tool["function"] for tool in case.tools]
        if not functions:
            return replace(case, tools=None)
        function = random.choice(functions)
        match random.randrange(5):
            case 0:
                function["name"] = self._word()
            case 1:
                function["description"] = self._word()
            case 2:
                function.pop("parameters", None)
            case 3 if function.get("parameters"):
                function["parameters"].pop("required", None)
            case _:
                schema = {"type": random.choice(("string", "array", "object", ["string", "null"], []))}
                if random.random() < 0.5:
                    schema["enum"] = [self._word()]
                if random.random() < 0.5:
                    schema["description"] = self._word()
                parameters = function.setdefault("parameters", {"type": "object"})
                properties = parameters.setdefault("properties", {})
                properties[random.choice(("a", "b"))] = schema
                parameters["required"] = random.choice((["a"], ["b"], [], ["a", "b"]))
        return case

    def _think(self, case: Case) -> Case:
        return replace(case, think=self._random.choice(_THINKS))


def literals(source: str) -> Iterable[str]:
    """Return the texts that a template has as string constants."""
    waiting: list[Any] = [parse(source, functions=FUNCTIONS).body]
    while waiting:
        part = waiting.pop()
        if isinstance(part, go.String):
            yield part.value
        elif isinstance(part, tuple):
            waiting += part
        elif hasattr(part, "__dataclass_fields__"):
            waiting += [getattr(part, name) for name in part.__dataclass_fields__]
