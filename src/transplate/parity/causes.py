"""Why two templates differ on a conversation, found by experiment: change one thing and render again.

An explanation is a set of changes that together make the prompts equal, none of which can be left out. It is
its own proof: what is named has been applied, and nothing was left of the difference. Text that the templates
print around what is said, and that no change of the conversation touches, is named by where it is; it counts as
explained once it is known. What remains is said to be unexplained.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from transplate.conversation import Conversation, Message
from transplate.parity.changes import COARSE, GENTLE, SENTINEL, Change, plain_texts
from transplate.parity.pair import Outcomes, Pair, comparable, equal
from transplate.parity.sides import JinjaSide, Side
from transplate.parity.texts import (
    Hunk,
    Place,
    hunk_at,
    places,
    reconcile,
    size_of,
    without_escapes,
    without_json_spacing,
    words_of,
)

_INFINITE = 1_000_000
_STRUCTURE = frozenset(
    "type function name description parameters properties required enum items string object number integer "
    "boolean array null true false arguments id".split()
)
_TOKEN_ALONE = re.compile(r"\s*(<[^<>\s]+>|\[[a-zA-Z_]+\])+\s*")
_END_TOKEN = re.compile(r"</s>|<\|?(?:im_end|eot_id|end|endoftext|end_of_turn|end_of_text|eos|END_OF_TURN)")
_FORMS = ("tool-results", "tool-calls", "tools", "think-switch", "thinking", "system", "history")
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class OutputChange:
    """An experiment on the prompts: a way of writing that is the same on both sides afterwards.

    Attributes:
        name: The name of the cause that it shows.
        title: The cause in a few words.
        apply: Makes the changed prompt.
    """

    name: str
    title: str
    apply: Callable[[str], str]


OUTPUT: tuple[OutputChange, ...] = (
    OutputChange("json-spacing", "JSON spacing", without_json_spacing),
    OutputChange("json-escaping", "JSON escaping", without_escapes),
)

FIXED: Mapping[str, str] = {
    "bos": "BOS",
    "eos": "the text that ends an answer",
    "generation-prompt": "trailing generation prompt",
    "default-system": "default system prompt",
    "date": "date",
    "white-space": "white space around the messages",
    "fixed-text": "fixed text around the messages",
    "raises": "one side raises",
    "unexplained": "unexplained",
}
"""Titles of the causes that no change of the conversation shows."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why the sides differ on a conversation.

    Attributes:
        causes: The names of the causes, all of which it takes.
        fixed: The differences in fixed text, with the name of the cause of each.
        unexplained: What no experiment accounts for.
    """

    causes: tuple[str, ...]
    fixed: tuple[Hunk, ...] = ()
    unexplained: tuple[Hunk, ...] = ()


@dataclass(frozen=True, slots=True)
class _Left:
    """What is left of a difference: how much that is not known yet, and how much in all."""

    unknown: int
    total: int

    @property
    def nothing(self) -> bool:
        return self.unknown == 0

    def less_than(self, other: _Left) -> bool:
        # What is known counts too: a difference that only turned into a known one is not explained.
        return self.unknown < other.unknown and self.total <= other.total


class Explainer:
    """Explains the differences of a pair; what it has learnt of one helps with the next.

    Args:
        pair: The pair.

    Attributes:
        changes: The experiments by name, in the order in which they are tried.
        accepted: The differences in fixed text that are known, each with its cause.
    """

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.accepted: dict[Hunk, str] = {}
        self._code_words = frozenset(re.findall(r"\w+", pair.a.source + " " + pair.b.source)) | _STRUCTURE
        text = Change(
            "literal",
            "a text that the template looks for",
            "no text is one that the template looks for",
            plain_texts(pair.words),
        )
        found = {change.name: change for change in (*GENTLE, text, *COARSE)}
        defaults = tuple(default_system(side, pair) for side in pair.sides)
        self.defaults = defaults
        if defaults != (None, None) and defaults[0] != defaults[1]:
            found = {
                "default-system": Change(
                    "default-system", FIXED["default-system"], "there is a system message", _given_system
                ),
                **found,
            }
        self.changes: dict[str, Change] = found
        self._known: dict[str, None] = {}
        self._known_outputs: dict[str, None] = {}
        self._memory: dict[frozenset[str], tuple[str, ...]] = {}

    # --- measuring --------------------------------------------------------------------------------------

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

    def left(self, conversation: Conversation, names: Iterable[str]) -> _Left:
        """Return what is left of a difference after changes of the conversation and of the prompts."""
        names = frozenset(names)
        changed = self.changed(conversation, names)
        outcomes = self.pair.outcomes(changed)
        if not comparable(outcomes):
            return _Left(2 * _INFINITE, 2 * _INFINITE)
        if outcomes[0].error or outcomes[1].error:
            return _Left(_INFINITE, _INFINITE)
        if equal(outcomes):
            return _Left(0, 0)
        one, other = self.prompts(outcomes, names)
        if one == other or reconcile(one, other, tuple(self.accepted)) is not None:
            return _Left(0, abs(len(one) - len(other)) + 1)
        found = places(one, other)
        contents = self.contents(changed)
        unknown = [place for place in found if hunk_at(one, other, place, contents) not in self.accepted]
        return _Left(size_of(unknown), size_of(found))

    def contents(self, conversation: Conversation) -> frozenset[str]:
        """Return the words that are in a conversation and not in the templates."""
        return words_of(_texts(conversation)) - self._code_words

    # --- explaining -------------------------------------------------------------------------------------

    def is_known(self, conversation: Conversation) -> bool:
        """Return whether all that is known so far, together, accounts for the difference."""
        if not self._known and not self._known_outputs and not self.accepted:
            return False
        return self.left(conversation, (*self._known, *self._known_outputs)).nothing

    def explain(self, conversation: Conversation) -> Explanation:
        """Return why the sides differ on a conversation on which they do."""
        applicable = [
            name for name, change in self.changes.items() if change.apply(conversation) is not conversation
        ]
        outputs = [change.name for change in OUTPUT]
        names = self._remembered(conversation, applicable, outputs)
        if names is None:
            names = self._searched(conversation, applicable, outputs)
            self._remember(names, applicable)
        return self._told(conversation, names)

    def _remembered(
        self, conversation: Conversation, applicable: list[str], outputs: list[str]
    ) -> tuple[str, ...] | None:
        known = self._memory.get(frozenset(applicable))
        if known is not None and self.left(conversation, known).nothing:
            return known
        names = [name for name in (*applicable, *outputs) if name in self._known or name in self._known_outputs]
        if self.left(conversation, names).nothing:
            names = self._without_needless(conversation, names)
            self._memory[frozenset(applicable)] = names
            return names
        return None

    def _remember(self, names: tuple[str, ...], applicable: list[str]) -> None:
        self._memory[frozenset(applicable)] = names
        for name in names:
            if name in self.changes:
                self._known[name] = None
            else:
                self._known_outputs[name] = None

    def _searched(
        self, conversation: Conversation, applicable: list[str], outputs: list[str]
    ) -> tuple[str, ...]:
        """Return the changes that account for a difference, the gentlest that do, or as much as any do."""
        small = [name for name in applicable if name not in _FORMS]
        chosen = self._improved(conversation, (), [*outputs, *small])
        if not self.left(conversation, chosen).nothing and not self._accept_fixed(conversation, chosen):
            for _ in range(_ROUNDS):
                before = chosen
                chosen = self._improved(conversation, chosen, self._forms(conversation, chosen))
                if chosen == before or self._accept_fixed(conversation, chosen):
                    break
        return self._without_needless(conversation, chosen)

    def _forms(self, conversation: Conversation, chosen: tuple[str, ...]) -> list[str]:
        """Return the features that can be taken out of a conversation after some changes."""
        changed = self.changed(conversation, chosen)
        return [
            name
            for name in _FORMS
            if name not in chosen and self.changes[name].apply(changed) is not changed
        ]

    def _improved(
        self, conversation: Conversation, chosen: tuple[str, ...], candidates: list[str]
    ) -> tuple[str, ...]:
        """Return chosen changes with those candidates that bring the sides nearer to each other."""
        start = self.left(conversation, chosen)
        if start.nothing:
            return chosen
        helpful = []
        for name in candidates:
            now = self.left(conversation, (*chosen, name))
            if now.nothing:
                return (*chosen, name)
            if now.less_than(start):
                helpful.append(name)
        current = start
        for name in (*helpful, *(name for name in candidates if name not in helpful)):
            now = self.left(conversation, (*chosen, name))
            if now.less_than(current):
                chosen, current = (*chosen, name), now
                if now.nothing:
                    break
        return chosen

    def _without_needless(self, conversation: Conversation, names: Iterable[str]) -> tuple[str, ...]:
        """Return changes without those, the coarsest first, that change nothing about what is left."""
        kept = list(names)
        order = {name: at for at, name in enumerate((*(change.name for change in OUTPUT), *self.changes))}
        least = self.left(conversation, kept)
        for name in sorted(kept, key=order.__getitem__, reverse=True):
            others = [other for other in kept if other != name]
            now = self.left(conversation, others)
            if now.unknown <= least.unknown:
                kept, least = others, now
        return tuple(kept)

    def _told(self, conversation: Conversation, names: tuple[str, ...]) -> Explanation:
        """Return an explanation: the changes, and what of the rest is known fixed text."""
        changed = self.changed(conversation, names)
        outcomes = self.pair.outcomes(changed)
        if outcomes[0].error or outcomes[1].error:
            return Explanation((*names, "raises"))
        one, other = self.prompts(outcomes, names)
        used = reconcile(one, other, tuple(self.accepted))
        unexplained: list[Hunk] = []
        if used is None:
            contents = self.contents(changed)
            found = [hunk_at(one, other, place, contents) for place in places(one, other)]
            used = frozenset(hunk for hunk in found if hunk in self.accepted)
            unexplained = [hunk for hunk in found if hunk not in self.accepted]
        causes = dict.fromkeys((*names, *sorted(self.accepted[hunk] for hunk in used)))
        if unexplained:
            causes["unexplained"] = None
        return Explanation(tuple(causes), tuple(used), tuple(unexplained))

    # --- fixed text -------------------------------------------------------------------------------------

    def _accept_fixed(self, conversation: Conversation, names: Iterable[str]) -> bool:
        """Name and accept what is left of a difference, if it is all fixed text; return whether it is."""
        changed = self.changed(conversation, names)
        outcomes = self.pair.outcomes(changed)
        if outcomes[0].error or outcomes[1].error:
            return False
        one, other = self.prompts(outcomes, names)
        contents = self.contents(changed)
        found = [(place, hunk_at(one, other, place, contents)) for place in places(one, other)]
        if any(words_of((hunk.a, hunk.b)) & contents for _, hunk in found):
            return False
        for place, hunk in found:
            if hunk not in self.accepted:
                self.accepted[hunk] = self._fixed_cause(changed, names, (one, other), place, hunk)
        return True

    def _fixed_cause(
        self,
        conversation: Conversation,
        names: Iterable[str],
        prompts: tuple[str, str],
        place: Place,
        hunk: Hunk,
    ) -> str:
        """Return the cause of a difference in fixed text: by what makes it go, else by where it is."""
        if self._moves_with_clock(conversation, hunk):
            return "date"
        for name in _FORMS[:5]:
            if self._goes_with(conversation, names, name, hunk):
                return name
        if place.start_a == place.start_b == 0 and (
            _is_token(hunk.a) and not hunk.b.strip() or _is_token(hunk.b) and not hunk.a.strip()
        ):
            return "bos"
        if self._is_generation_prompt(conversation, prompts, place):
            return "generation-prompt"
        if hunk.is_space:
            return "white-space"
        if _END_TOKEN.match(hunk.a.strip()) or _END_TOKEN.match(hunk.b.strip()):
            return "eos"
        for name in _FORMS[5:]:
            if self._goes_with(conversation, names, name, hunk):
                return name
        return "fixed-text"

    def _moves_with_clock(self, conversation: Conversation, hunk: Hunk) -> bool:
        """Return whether a side prints something else there at another time."""
        if not re.search(r"\d", hunk.a + hunk.b):
            return False
        now = conversation.now or self.pair.clock
        later = replace(conversation, now=now + timedelta(days=3777, hours=7))
        for side, text in zip(self.pair.sides, (hunk.a, hunk.b), strict=True):
            if re.search(r"\d", text) and text not in side.render(later, later.now).prompt:
                return True
        return False

    def _goes_with(self, conversation: Conversation, names: Iterable[str], name: str, hunk: Hunk) -> bool:
        """Return whether a difference is not there any more once a feature is taken out."""
        changed = self.changes[name].apply(conversation)
        if changed is conversation:
            return False
        outcomes = self.pair.outcomes(changed)
        if outcomes[0].error or outcomes[1].error:
            return False
        one, other = self.prompts(outcomes, names)
        contents = self.contents(changed)
        return all(hunk_at(one, other, place, contents) != hunk for place in places(one, other))

    def _is_generation_prompt(
        self, conversation: Conversation, prompts: tuple[str, str], place: Place
    ) -> bool:
        """Return whether a place is in what a side prints for the answer to come."""
        for at, (side, prompt) in enumerate(zip(self.pair.sides, prompts, strict=True)):
            if not isinstance(side, JinjaSide):
                continue
            arguments: dict[str, Any] = {**conversation.to_hf(), "now": conversation.now or self.pair.clock}
            if not arguments["add_generation_prompt"]:
                continue
            closed = side.template.render(**{**arguments, "add_generation_prompt": False})
            start = (place.start_a, place.start_b)[at]
            end = (place.end_a, place.end_b)[at]
            if len(closed) < len(prompt) and prompt.startswith(closed):
                return start >= len(closed) or (start < end and end > len(closed) and start >= len(closed))
        text = conversation.messages[-1].content
        if isinstance(text, str) and text.strip():
            ends = tuple(prompt.rfind(text.strip()) + len(text.strip()) for prompt in prompts)
            return place.end_a == len(prompts[0]) and place.start_a >= ends[0] and place.start_b >= ends[1]
        return False


def _is_token(text: str) -> bool:
    return bool(_TOKEN_ALONE.fullmatch(text))


def _texts(conversation: Conversation) -> Iterator[str]:
    """Yield every text in a conversation."""
    waiting: list[Any] = [conversation.tools, conversation.variables]
    for message in conversation.messages:
        waiting += [message.content, message.reasoning, message.name, message.tool_name, message.tool_call_id]
        waiting += [message.extra, message.role]
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
    """Give a conversation without a system message one."""
    if any(message.role == "system" for message in conversation.messages):
        return conversation
    return replace(conversation, messages=(Message("system", SENTINEL), *conversation.messages))
