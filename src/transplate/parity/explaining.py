"""Why two templates differ on a conversation, found by experiment: change one thing and render again.

An explanation is a set of changes that together make the prompts equal, none of which can be left out. It is
its own proof: what is named has been applied, and nothing was left of the difference. Text that the templates
print around what is said, and that no change of the conversation touches, is named by where it is; it counts
as explained once it is known. What remains is said to be unexplained.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from transplate.conversation import Conversation
from transplate.parity.causes import FIXED, FORM, OUTPUT, Explanation
from transplate.parity.fixed_text import FEATURES, FixedText
from transplate.parity.measuring import INFINITE, Measure
from transplate.parity.pair import Pair, equal
from transplate.parity.shapes import PLAIN, Shape
from transplate.parity.texts import Hunk, hunk_at, places, reconcile

_ROUNDS = 4


class Explainer(Measure):
    """Explains the differences of a pair; what it has learnt of one helps with the next.

    Args:
        pair: The pair.
    """

    def __init__(self, pair: Pair) -> None:
        super().__init__(pair)
        self._fixed = FixedText(self)
        self._known: dict[str, None] = {}
        self._known_outputs: dict[str, None] = {}
        self._known_forms: set[str] = set()
        self._memory: dict[frozenset[str], tuple[str, ...]] = {}

    def title(self, name: str) -> str:
        """Return the title of a cause."""
        titles = {change.name: change.title for change in self.changes.values()}
        titles |= {change.name: change.title for change in OUTPUT} | dict(FIXED)
        return titles.get(name) or name

    def explain_in_form(self, conversation: Conversation, shape: Shape) -> Explanation:
        """Return why the sides differ on a conversation that chat templates are given in a form."""
        if shape is PLAIN or not equal(self.pair.outcomes(conversation)):
            return self.explain(conversation)
        known = self._known_in_form(conversation, shape)
        if known:
            return Explanation(known, changes=known)
        self._known_forms.add(shape.name)
        return Explanation((f"{FORM}{shape.name}",))

    def _known_in_form(self, conversation: Conversation, shape: Shape) -> tuple[str, ...]:
        """Return known changes that account for a difference that only a form shows."""
        kept = [name for name in self._known if self.changes[name].apply(conversation) is not conversation]
        if not kept or not equal(self.pair.outcomes(self.changed(conversation, kept), shape)):
            return ()
        for name in list(kept):
            others = [other for other in kept if other != name]
            if equal(self.pair.outcomes(self.changed(conversation, others), shape)):
                kept = others
        return tuple(kept)

    def is_known(self, conversation: Conversation, shape: Shape = PLAIN) -> bool:
        """Return whether all that is known so far, together, accounts for the difference."""
        if shape is not PLAIN and equal(self.pair.outcomes(conversation)):
            return shape.name in self._known_forms or bool(self._known_in_form(conversation, shape))
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
        small = [*outputs, *(name for name in applicable if name not in FEATURES)]
        chosen = self._improved(conversation, (), small)
        if not self.left(conversation, chosen).nothing:
            small = self._harmless(conversation, small)
            if self.left(conversation, small).nothing:
                chosen = tuple(small)
        if not self.left(conversation, chosen).nothing and not self._fixed.accept(conversation, chosen):
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
            if self._fixed.accept(conversation, chosen):
                return chosen
            chosen = self._improved(conversation, chosen, [name for name in small if name not in chosen])
            if self._fixed.accept(conversation, chosen):
                return chosen
            if chosen == before:
                break
        harmless = self._harmless(conversation, small, gentle)
        everything = tuple(dict.fromkeys((*gentle, *harmless)))
        everything += tuple(self._forms(conversation, everything))
        return everything if self._fixed.accept(conversation, everything) else chosen

    def _harmless(
        self, conversation: Conversation, names: Sequence[str], chosen: tuple[str, ...] = ()
    ) -> list[str]:
        """Return the changes after which, and after chosen ones, both sides still have a prompt."""
        most = max(self.left(conversation, chosen).unknown, INFINITE - 1)
        return [name for name in names if self.left(conversation, (*chosen, name)).unknown <= most]

    def _forms(self, conversation: Conversation, chosen: Sequence[str]) -> list[str]:
        """Return the features that can be taken out of a conversation after some changes."""
        changed = self.changed(conversation, chosen)
        return [
            name
            for name in FEATURES
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
            return Explanation((*names, "raises"), changes=names)
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
        fixed = tuple(hunk for hunk in self.accepted if hunk in used)
        return Explanation(tuple(causes), fixed, tuple(unexplained), names)
