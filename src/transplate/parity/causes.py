"""Why two templates differ on a conversation, found by experiment: change one thing and render again.

An explanation is a set of changes that together make the prompts equal, none of which can be left out. It is
its own proof: what is named has been applied, and nothing was left of the difference. Text that the templates
print around what is said, and that no change of the conversation touches, is named by where it is; it counts
as explained once it is known. What remains is said to be unexplained.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from transplate.conversation import Conversation, Message
from transplate.parity.changes import COARSE, GENTLE, SENTINEL, Change, plain_texts
from transplate.parity.pair import Outcomes, Pair, comparable, equal, missing_variables
from transplate.parity.shapes import PLAIN, Shape
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

FORM = "only given "
"""What the names of causes begin with that lie in the form of what chat templates are given."""
_INFINITE = 1_000_000
_LATER = timedelta(days=3777, hours=7)
"""To a time at which day, month, year, weekday and hour are others."""
_STRUCTURE = frozenset(
    (
        *("type", "function", "name", "description", "parameters", "properties", "required", "enum", "items"),
        *("string", "object", "number", "integer", "boolean", "array", "null", "true", "false"),
        *("arguments", "id"),
    )
)
_TOKEN_ALONE = re.compile(r"\s*(<[^<>\s]+>|\[[a-zA-Z_]+\])+\s*")
_END_TOKEN = re.compile(r"</s>|<\|?(?:im_end|eot_id|end|endoftext|end_of_turn|end_of_text|eos|END_OF_TURN)")
_FORMS = ("tool-results", "tool-calls", "tools", "think-switch", "thinking", "system", "history")
_ROUNDS = 4
_SPEAKERS = ("system", "user", "assistant", "tool")


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
    "only-one-shows-system": "only one side shows the system message",
    "only-one-shows-user": "only one side shows what the user says",
    "only-one-shows-assistant": "only one side shows what the assistant says",
    "only-one-shows-tool": "only one side shows tool results",
    "only-one-shows-other": "only one side shows messages of another role",
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
        missing = missing_variables(pair)
        if missing:
            names = ", ".join(missing)
            found["missing-variables"] = Change(
                "missing-variables",
                f"variables that are not given ({names})",
                f"the chat template is given {names}",
                lambda conversation: replace(conversation, variables={**missing, **conversation.variables}),
            )
        self.changes: dict[str, Change] = found
        self._known: dict[str, None] = {}
        self._known_outputs: dict[str, None] = {}
        self._known_forms: set[str] = set()
        self._measured: dict[frozenset[str], _Left] = {}
        self._measured_of: Conversation | None = None
        self._measured_with = 0
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
        if self._measured_of is not conversation or len(self.accepted) != self._measured_with:
            self._measured, self._measured_of = {}, conversation
            self._measured_with = len(self.accepted)
        if names not in self._measured:
            self._measured[names] = self._measure(conversation, names)
        return self._measured[names]

    def _measure(self, conversation: Conversation, names: frozenset[str]) -> _Left:
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

    def title(self, name: str) -> str:
        """Return the title of a cause."""
        titles = {change.name: change.title for change in self.changes.values()}
        titles |= {change.name: change.title for change in OUTPUT} | dict(FIXED)
        return titles.get(name) or name

    def explain_in_form(self, conversation: Conversation, shape: Shape) -> Explanation:
        """Return why the sides differ on a conversation that chat templates are given in a form."""
        if shape is not PLAIN and equal(self.pair.outcomes(conversation)):
            self._known_forms.add(shape.name)
            return Explanation((f"{FORM}{shape.name}",))
        return self.explain(conversation)

    def is_known(self, conversation: Conversation, shape: Shape = PLAIN) -> bool:
        """Return whether all that is known so far, together, accounts for the difference."""
        if shape is not PLAIN and equal(self.pair.outcomes(conversation)):
            return shape.name in self._known_forms
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
        learnt = {**self._known, **self._known_outputs}
        names = tuple(name for name in (*applicable, *outputs) if name in learnt)
        if not self.left(conversation, names).nothing:
            return None
        needed = self._without_needless(conversation, names)
        self._memory[frozenset(applicable)] = needed
        return needed

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
        small = [*outputs, *(name for name in applicable if name not in _FORMS)]
        chosen = self._improved(conversation, (), small)
        if not self.left(conversation, chosen).nothing:
            small = self._harmless(conversation, small)
            if self.left(conversation, small).nothing:
                chosen = tuple(small)
        if not self.left(conversation, chosen).nothing and not self._accept_fixed(conversation, chosen):
            chosen = self._without_features(conversation, chosen, small)
        return self._without_needless(conversation, chosen)

    def _without_features(
        self, conversation: Conversation, chosen: tuple[str, ...], small: list[str]
    ) -> tuple[str, ...]:
        """Return chosen changes with those that take out the features in which the sides differ."""
        gentle = chosen
        for _ in range(_ROUNDS):
            before = chosen
            chosen = self._improved(conversation, chosen, self._forms(conversation, chosen))
            if self._accept_fixed(conversation, chosen):
                return chosen
            chosen = self._improved(conversation, chosen, [name for name in small if name not in chosen])
            if self._accept_fixed(conversation, chosen):
                return chosen
            if chosen == before:
                break
        harmless = self._harmless(conversation, small, gentle)
        everything = tuple(dict.fromkeys((*gentle, *harmless)))
        everything += tuple(self._forms(conversation, everything))
        return everything if self._accept_fixed(conversation, everything) else chosen

    def _harmless(
        self, conversation: Conversation, names: Sequence[str], chosen: tuple[str, ...] = ()
    ) -> list[str]:
        """Return the changes after which, and after chosen ones, both sides still have a prompt."""
        most = max(self.left(conversation, chosen).unknown, _INFINITE - 1)
        return [name for name in names if self.left(conversation, (*chosen, name)).unknown <= most]

    def _forms(self, conversation: Conversation, chosen: Sequence[str]) -> list[str]:
        """Return the features that can be taken out of a conversation after some changes."""
        changed = self.changed(conversation, chosen)
        return [
            name for name in _FORMS if name not in chosen and self.changes[name].apply(changed) is not changed
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
        said = frozenset().union(*(words_of((hunk.a, hunk.b)) & contents for _, hunk in found))
        seen = self._seen_by_one(changed) if said else {}
        if not said <= seen.keys():
            return False
        for place, hunk in found:
            if hunk not in self.accepted:
                roles = {seen[word] for word in words_of((hunk.a, hunk.b)) & contents}
                cause = self._fixed_cause(changed, names, (one, other), place, hunk)
                self.accepted[hunk] = f"only-one-shows-{min(roles)}" if roles else cause
        return True

    def _seen_by_one(self, conversation: Conversation) -> dict[str, str]:
        """Return the words of messages that only one side prints, each with the role of its message.

        The experiment: give the messages of a role another text and see whose prompt changes.
        """
        seen: dict[str, str] = {}
        before = self.pair.outcomes(conversation)
        for role in dict.fromkeys(message.role for message in conversation.messages):
            messages = tuple(
                replace(message, content="Wv8") if message.role == role else message
                for message in conversation.messages
            )
            after = self.pair.outcomes(replace(conversation, messages=messages))
            changed = [old.prompt != new.prompt for old, new in zip(before, after, strict=True)]
            if changed[0] != changed[1]:
                texts = [message.content for message in conversation.messages if message.role == role]
                name = role if role in _SPEAKERS else "other"
                seen |= dict.fromkeys(words_of(text for text in texts if isinstance(text, str)), name)
        return seen

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
            (_is_token(hunk.a) and not hunk.b.strip()) or (_is_token(hunk.b) and not hunk.a.strip())
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
        now = conversation.now or self.pair.clock
        later = replace(conversation, now=now + _LATER)
        for side, text in zip(self.pair.sides, (hunk.a, hunk.b), strict=True):
            if text.strip() and text not in side.render(later, later.now).prompt:
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
