"""Each kind of difference once: its smallest conversation, what each side does, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import partial

from transplate.conversation import Conversation
from transplate.parity.causes import FIXED, FORM, Explanation
from transplate.parity.explaining import Explainer
from transplate.parity.pair import Outcomes, Pair, comparable, equal
from transplate.parity.places import place_of
from transplate.parity.report import Difference, Kind, Place
from transplate.parity.shapes import PLAIN, Shape
from transplate.parity.shrink import shrink
from transplate.parity.sides import Outcome
from transplate.parity.texts import common_prefix, reconcile
from transplate.parity.weirdness import weirdness

_LONGEST_SHOWN = 48
_MOST_PROBED = 3


@dataclass(frozen=True, slots=True)
class Explained:
    """A conversation on which the sides differ, and why.

    Attributes:
        conversation: The conversation.
        shape: The form in which chat templates were given it.
        explanation: The causes.
    """

    conversation: Conversation
    shape: Shape
    explanation: Explanation


def kinds_of(pair: Pair, explainer: Explainer, cases: Sequence[Explained]) -> tuple[Kind, ...]:
    """Return each kind of difference once, the most frequent first, those on unusual conversations last.

    Args:
        pair: The pair.
        explainer: What explained the cases.
        cases: All conversations on which the sides differ.
    """
    by_name: dict[str, list[Explained]] = {}
    for case in cases:
        for name in case.explanation.causes:
            by_name.setdefault(name, []).append(case)
    maker = _Maker(pair, explainer)
    kinds = [maker.kind(name, found) for name, found in by_name.items()]
    kinds += maker.hidden(cases, by_name.keys())
    return tuple(sorted(kinds, key=lambda kind: (kind.unusual, -kind.count)))


def kinds_seen(differences: Sequence[Difference]) -> tuple[Kind, ...]:
    """Return the kinds of differences that nothing was found out about, by what can be seen of them."""
    by_cause: dict[str, list[Difference]] = {}
    for difference in differences:
        by_cause.setdefault(difference.cause, []).append(difference)
    kinds = []
    for cause, found in by_cause.items():
        smallest = min(found, key=lambda difference: sum(map(len, difference.prompts)))
        common = smallest.prompts[0][: smallest.position]
        named = (difference.conversation.name for difference in found)
        kinds.append(
            Kind(
                name="unexplained",
                title=cause,
                condition="",
                sides=("", ""),
                count=len(found),
                conversations=tuple(filter(None, named)),
                smallest=smallest,
                byte=len(common.encode("utf-8", "replace")),
                message=None,
                places=(None, None),
            )
        )
    return tuple(sorted(kinds, key=lambda kind: -kind.count))


class _Maker:
    def __init__(self, pair: Pair, explainer: Explainer) -> None:
        self._pair = pair
        self._explainer = explainer

    def kind(self, name: str, cases: list[Explained]) -> Kind:
        """Return the kind of a cause, from the cases that have it."""
        simplest = min(
            cases,
            key=lambda case: (
                case.shape is not PLAIN and not name.startswith(FORM),
                weirdness(case.conversation),
                len(case.explanation.causes),
                len(repr(case.conversation)),
            ),
        )
        shows = self._shows(name, simplest)
        smallest = simplest.conversation
        if shows(smallest):
            smallest = shrink(smallest, shows)
        return self._made(name, cases, smallest, simplest)

    def _made(
        self, name: str, cases: Sequence[Explained], smallest: Conversation, simplest: Explained
    ) -> Kind:
        change = self._explainer.changes.get(name)
        shape = simplest.shape if name.startswith(FORM) else PLAIN
        outcomes = self._pair.outcomes(smallest, shape)
        one, other = outcomes
        position = common_prefix(one.prompt, other.prompt)
        places = tuple(
            place_of(side, smallest, smallest.now or self._pair.clock, outcome.prompt, position)
            if outcome.error is None
            else _failed(outcome)
            for side, outcome in zip(self._pair.sides, outcomes, strict=True)
        )
        named = (case.conversation.name for case in cases)
        return Kind(
            name=name,
            title=self._explainer.title(name),
            condition=change.condition if change else "",
            sides=self._sides(name, smallest, outcomes, simplest.explanation),
            count=len(cases),
            conversations=tuple(dict.fromkeys(filter(None, named))),
            smallest=Difference(
                cause=self._explainer.title(name),
                conversation=smallest,
                prompts=(one.prompt, other.prompt),
                errors=(one.error, other.error),
                position=position,
                causes=(name,),
            ),
            byte=len(one.prompt[:position].encode("utf-8", "replace")),
            message=_message_at(smallest, one.prompt, position),
            places=(places[0], places[1]),
            form=shape.name if shape is not PLAIN else "",
            unusual=not self._pair.is_usual(smallest),
        )

    def _shows(self, name: str, case: Explained) -> Callable[[Conversation], bool]:
        """Return whether a conversation shows a cause as a case does."""
        explainer = self._explainer
        changes = case.explanation.changes
        others = [cause for cause in changes if cause != name]

        def shows(conversation: Conversation) -> bool:
            outcomes = self._pair.outcomes(conversation, case.shape if name.startswith(FORM) else PLAIN)
            if not comparable(outcomes) or equal(outcomes):
                return False
            if name.startswith(FORM):
                return equal(self._pair.outcomes(conversation))
            if name in changes:
                return (
                    explainer.left(conversation, changes).nothing
                    and not explainer.left(conversation, others).nothing
                )
            if name == "raises":
                return _messages(outcomes) == _messages(self._pair.outcomes(case.conversation))
            changed = explainer.changed(conversation, changes)
            inner = self._pair.outcomes(changed)
            if inner[0].error or inner[1].error or equal(inner):
                return False
            if name == "unexplained":
                return not explainer.left(conversation, changes).nothing
            used = reconcile(*explainer.prompts(inner, changes), tuple(explainer.accepted))
            return used is not None and name in {explainer.accepted[hunk] for hunk in used}

        return shows

    def _sides(
        self, name: str, conversation: Conversation, outcomes: Outcomes, explanation: Explanation
    ) -> tuple[str, str]:
        """Return what each side does, in a few words."""
        if any(outcome.error for outcome in outcomes):
            texts = [f"fails: {outcome.error.message}" if outcome.error else "prints" for outcome in outcomes]
            return _short(texts[0]), _short(texts[1])
        change = self._explainer.changes.get(name)
        if name == "default-system":
            shown = ["prints none" if text is None else _quoted(text) for text in self._explainer.defaults]
            return shown[0], shown[1]
        if change is not None:
            after = self._pair.outcomes(change.apply(conversation))
            seen = [old.prompt != new.prompt for old, new in zip(outcomes, after, strict=True)]
            if seen[0] != seen[1]:
                words = [change.sees if each else change.blind for each in seen]
                return words[0], words[1]
            return "", ""
        for hunk in explanation.fixed:
            if self._explainer.accepted[hunk] == name:
                return _quoted(hunk.a), _quoted(hunk.b)
        return "", ""

    def hidden(self, cases: Sequence[Explained], known: Set[str]) -> list[Kind]:
        """Return the kinds that others hide: changes that only one side's prompt shows.

        Where a whole feature is printed in two ways, taking it out accounts for all that is in it. What one
        side does and the other does not is seen from each side's own prompt.
        """
        found = []
        for name, change in self._explainer.changes.items():
            if name in known or change.coarse or name in _NOT_PROBED:
                continue
            showing: list[Explained] = []
            for case in sorted(cases, key=lambda case: len(repr(case.conversation))):
                if case.conversation.name and self._one_sees(case.conversation, change.apply):
                    showing.append(case)
                    if len(showing) == _MOST_PROBED:
                        break
            if showing:
                shows = partial(self._one_sees, apply=change.apply)
                smallest = shrink(showing[0].conversation, shows)
                found.append(self._made(name, showing, smallest, showing[0]))
        return found

    def _one_sees(self, conversation: Conversation, apply: Callable[[Conversation], Conversation]) -> bool:
        """Return whether a change changes the prompt of one side alone."""
        changed = apply(conversation)
        if changed is conversation:
            return False
        before, after = self._pair.outcomes(conversation), self._pair.outcomes(changed)
        if any(outcome.error for outcome in (*before, *after)):
            return False
        return (before[0].prompt != after[0].prompt) != (before[1].prompt != after[1].prompt)


_NOT_PROBED = frozenset(
    {"default-system", "literal", "text-not-parts", "missing-variables", "no-user", *FIXED}
)


def _messages(outcomes: Outcomes) -> tuple[str, ...]:
    return tuple(outcome.error.message if outcome.error else "" for outcome in outcomes)


def _quoted(text: str) -> str:
    return f'prints "{_short(text)}"' if text else "prints nothing"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def _message_at(conversation: Conversation, prompt: str, position: int) -> int | None:
    """Return the message that a place in a prompt is in or in front of, None if it is behind all."""
    at = 0
    for number, message in enumerate(conversation.messages):
        text = message.content.strip() if isinstance(message.content, str) else ""
        found = prompt.find(text, at) if text else -1
        if found >= 0:
            at = found + len(text)
            if position < at:
                return number
    return None


def _failed(outcome: Outcome) -> Place | None:
    """Return the place in a template that failed."""
    error = outcome.error
    if error is None or error.line is None:
        return None
    return Place(error.line, error.column, error.source_line or "")
