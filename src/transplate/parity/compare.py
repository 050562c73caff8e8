"""Compares two templates on conversations: templates in, a report of where their prompts part out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from transplate.conversation import Conversation
from transplate.errors import ErrorKind, TransplateError
from transplate.parity.budget import Budget, OutOfBudgetError
from transplate.parity.causes import Explanation
from transplate.parity.conversations import (
    SPECIAL,
    examples,
    ordinary_conversations,
    usual_conversations,
)
from transplate.parity.dates import clock_of
from transplate.parity.explaining import Explainer
from transplate.parity.generate import Effort, Generated, Search
from transplate.parity.kinds import Explained, kinds_of, kinds_seen
from transplate.parity.pair import Pair, comparable, equal, reason_not_to_compare
from transplate.parity.reach import reach_of
from transplate.parity.report import Difference, Kind, ParityReport, Reach
from transplate.parity.shapes import PLAIN
from transplate.parity.sides import Outcome, Template, side_of
from transplate.parity.texts import common_prefix

_MOST_LOOKED_AT = 400
"""Among how many of those that differ, small and large ones, what is to be explained is looked for."""
_MOST_BY_THE_WAY = 12
"""How many conversations are explained at most that were neither asked for nor reach anything new."""


def check_parity(
    a: Template,
    b: Template,
    conversations: Iterable[Any] | None = None,
    *,
    now: datetime | None = None,
    explain: bool = False,
    generate: bool = False,
    unusual: bool = False,
    effort: Effort | None = None,
) -> ParityReport:
    """Compare two templates, in either language, on conversations.

    Args:
        a: A template, a conversion, the text of a template, or the path of its file.
        b: Another.
        conversations: Conversations, or JSON that can be read as such; a built-in set if None, with what real
            clients send if causes are looked for or conversations are made.
        now: What both sides take for the time in conversations that have no date of their own; a fixed one if
            None, or the time of the call if one side is a server, which has a clock of its own.
        explain: Whether to find by experiment why the sides differ, and to shrink the conversations that show
            it: the report's kinds.
        generate: Whether to make more conversations, until every branch of both templates is taken or no more
            are reached; those that reach something new or show a new kind of difference are compared too.
        unusual: Whether to compare on made conversations that people hardly send, too: images, content that
            is null, extra fields, roles that no template asks for, variables, nobody asking.
        effort: How long to look for such conversations; a moderate time if None.

    Returns:
        The report.

    Raises:
        TransplateError: A template or a conversation cannot be read; or the comparison takes too long, and no
            difference was found by then.

    Example:
        >>> question = [{"role": "user", "content": "hi"}]
        >>> report = check_parity("{{ .Prompt }}", "{{ messages[-1].content }}", [question])
        >>> report.equal, report.checked
        (True, 1)
    """
    effort = effort or Effort()
    sides = side_of(a), side_of(b)
    pair = Pair(*sides, now or clock_of(*sides), Budget(effort.seconds))
    if conversations is not None:
        given = _read(conversations)
    else:
        given = usual_conversations() if explain or generate else ordinary_conversations()
    comparison = _Comparison(pair, unusual=unusual)
    search = Search(pair, effort=effort, unusual=unusual) if generate else None
    try:
        for conversation in given:
            outcomes = pair.outcomes(conversation)
            comparison.add(Generated(conversation, PLAIN, outcomes, frozenset()), asked=True)
        if search is not None:
            asked = {repr(conversation) for conversation in given}
            for generated in search.run([*given, *_built_in(pair, unusual=unusual)]):
                if not generated.new or repr(generated.conversation) not in asked:
                    comparison.add(generated)
    except OutOfBudgetError as error:
        comparison.stop(str(error))
    reach = () if search is None else reach_of(pair, search)
    return comparison.report(reach, explain=explain)


def _built_in(pair: Pair, *, unusual: bool) -> Iterator[Conversation]:
    takes_special = unusual or pair.is_of_one_language
    return (example.conversation for example in examples() if takes_special or SPECIAL not in example.tags)


class _Comparison:
    """What has been found so far."""

    def __init__(self, pair: Pair, *, unusual: bool) -> None:
        self._pair = pair
        self._takes_unusual = unusual or pair.is_of_one_language
        self._checked = 0
        self._refused: list[str] = []
        self._reasons: list[str] = []
        self._differing: list[Generated] = []
        self._by_the_way: list[Generated] = []
        self._stopped = ""
        self._is_jinja_alone = all(side.language == "jinja" for side in pair.sides)

    def add(self, generated: Generated, *, asked: bool = False) -> None:
        """Compare the sides on a conversation, if there is something to compare.

        One that was neither asked for nor reaches anything new counts only if it shows a new kind of
        difference.
        """
        if not comparable(generated.outcomes):
            if asked:
                self._refused.append(generated.conversation.name)
                self._reasons.append(reason_not_to_compare(generated.outcomes))
            return
        if generated.shape is not PLAIN and not (self._is_jinja_alone and self._takes_unusual):
            return
        if not (asked or self._takes_unusual or self._pair.is_usual(generated.conversation)):
            return
        if not asked and self._is_unfit(generated):
            return
        counts = asked or bool(generated.new)
        self._checked += counts
        if not equal(generated.outcomes):
            (self._differing if counts else self._by_the_way).append(generated)

    def stop(self, reason: str) -> None:
        """End the comparison before all conversations were compared.

        Raises:
            TransplateError: No difference was found by then: then nothing can be said.
        """
        self._stopped = reason
        if not self._differing and not self._by_the_way:
            raise TransplateError(
                f"could not compare the templates: {reason}; no difference was found by then",
                kind=ErrorKind.LIMIT,
            )

    def _is_unfit(self, generated: Generated) -> bool:
        """Return whether a made-up value of a variable fails: that says nothing of who reads none."""
        return bool(
            not self._pair.is_of_one_language
            and generated.conversation.variables
            and any(outcome.error for outcome in generated.outcomes)
        )

    def report(self, reach: tuple[Reach, ...], *, explain: bool) -> ParityReport:
        """Return the report."""
        if explain and not self._stopped:
            try:
                return self._explained(reach)
            except OutOfBudgetError as error:
                self._stopped = str(error)
        found = self._differing or self._by_the_way[:1]
        self._checked += len(found) - len(self._differing)
        differences = [_difference(each, ()) for each in found]
        return self._made(differences, kinds_seen(differences) if explain else (), reach)

    def _explained(self, reach: tuple[Reach, ...]) -> ParityReport:
        """Return the report with the causes of what differs.

        Raises:
            OutOfBudgetError: It takes too long to find them.
        """
        if self._pair.budget is not None:
            self._pair.budget.renew()
        explainer = Explainer(self._pair)
        explained: dict[int, Explanation] = {}
        most = len(self._differing) + _MOST_BY_THE_WAY
        for generated in sorted(self._differing, key=_size):
            explained[id(generated)] = explainer.explain_in_form(generated.conversation, generated.shape)
        by_the_way = sorted(self._by_the_way, key=_size)
        for generated in by_the_way[:: 1 + len(by_the_way) // _MOST_LOOKED_AT]:
            if len(self._differing) >= most:
                break
            if not explainer.is_known(generated.conversation, generated.shape):
                explained[id(generated)] = explainer.explain_in_form(generated.conversation, generated.shape)
                self._differing.append(generated)
                self._checked += 1
        cases = [Explained(each.conversation, each.shape, explained[id(each)]) for each in self._differing]
        kinds = kinds_of(self._pair, explainer, cases)
        differences = [
            _difference(each, explained[id(each)].causes, explainer.title) for each in self._differing
        ]
        return self._made(differences, kinds, reach)

    def _made(
        self, differences: list[Difference], kinds: tuple[Kind, ...], reach: tuple[Reach, ...]
    ) -> ParityReport:
        return ParityReport(
            equal=not differences and self._checked > 0,
            checked=self._checked,
            differences=tuple(differences),
            refused=tuple(self._refused),
            reasons=tuple(dict.fromkeys(self._reasons)),
            kinds=kinds,
            reach=reach,
            stopped=self._stopped,
        )


def _size(generated: Generated) -> int:
    """Return how large a conversation is, by what it is printed as."""
    return len(generated.outcomes[0].prompt) + len(generated.outcomes[1].prompt)


def _read(conversations: Iterable[Any]) -> tuple[Conversation, ...]:
    read = []
    for number, given in enumerate(conversations, 1):
        conversation = given if isinstance(given, Conversation) else Conversation.read(given)
        read.append(conversation if conversation.name else conversation.named(f"conversation {number}"))
    return tuple(read)


def _difference(
    generated: Generated, causes: tuple[str, ...], title: Callable[[str], str] = str
) -> Difference:
    one, other = generated.outcomes
    return Difference(
        cause=", ".join(map(title, causes)) or _seen(one, other),
        conversation=generated.conversation,
        prompts=(one.prompt, other.prompt),
        errors=(one.error, other.error),
        position=common_prefix(one.prompt, other.prompt),
        causes=causes,
    )


def _seen(one: Outcome, other: Outcome) -> str:
    """Return the kind of a difference, by what can be seen of it alone."""
    for outcome, name in ((one, "first"), (other, "second")):
        if outcome.error:
            return f"only the {name} fails: {outcome.error.message}"
    if "".join(one.prompt.split()) == "".join(other.prompt.split()):
        return "white space differs"
    shorter, longer = sorted((one.prompt, other.prompt), key=len)
    if longer.startswith(shorter):
        return f"only the {'second' if longer is other.prompt else 'first'} goes on at the end"
    return "text differs"
