"""What texts in a conversation can do to its prompt that they should not: open turns, or work as switches.

A template prints texts among its own markers. Where it lets markers in texts through, a text can end its turn
and begin another: shown by one message that prints the very prompt of several. Where it looks into texts,
some words of theirs change more than themselves: shown by the same conversation with other words.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from transplate.conversation import Conversation
from transplate.errors import ErrorKind, TransplateError
from transplate.parity.dates import CLOCK
from transplate.parity.experiments.base import each_message
from transplate.parity.experiments.texts import as_parts
from transplate.parity.fields import (
    FIELDS,
    QUESTION,
    STAND_INS,
    TOOLS,
    Field,
    filled,
    talk,
)
from transplate.parity.forging import Forgery, forgeries
from transplate.parity.pair import Pair, missing_variables
from transplate.parity.places import place_of
from transplate.parity.report import Place
from transplate.parity.sides import JinjaSide, Outcome, Side, Template, side_of
from transplate.parity.switches import Special, specials_of
from transplate.parity.texts import markers
from transplate.source import Source

_BEFORE, _BEHIND = "Qxa", "Zxb"
"""Words around a marker in a text, by which it is found in the prompt."""
_SECONDS = 20.0
"""How long words are tried, of the processor's time; ordinary templates take less than one second."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What a text at one place of a conversation gets through.

    Attributes:
        field: The name of the place.
        passed: The template's own markers that are printed there as they are.
        held: Those that are not, each with what is printed in its place.
        forgery: The shortest forgery of a turn of the user or the system, else of any; None for none.
        forges: The roles of all turns that texts at this place can make up.
        place: What in the template prints the text; None if that cannot be told.
    """

    field: str
    passed: tuple[str, ...]
    held: tuple[tuple[str, str], ...]
    forgery: Forgery | None
    forges: tuple[str, ...]
    place: Place | None


@dataclass(frozen=True, slots=True)
class InjectionReport:
    """What texts can do to the prompts of a template.

    Attributes:
        markers: What the template prints around texts that looks like special tokens; of a template without
            any, what it prints between turns.
        passages: The places that are printed, with what gets through there.
        hidden: The names of the places that are never printed.
        specials: Words that change more than themselves.
        untried: How many words of the template were not tried, for want of time.
        is_seen: Whether the template's code is seen at all; that of a server or a built-in renderer is not.
    """

    markers: tuple[str, ...]
    passages: tuple[Passage, ...]
    hidden: tuple[str, ...]
    specials: tuple[Special, ...]
    untried: int = 0
    is_seen: bool = True

    @property
    def open(self) -> tuple[Passage, ...]:
        """The places by which turns can be forged."""
        return tuple(passage for passage in self.passages if passage.forgery is not None)


def check_injection(template: Template, *, now: datetime | None = None) -> InjectionReport:
    """See what texts in conversations can do to the prompts of a template.

    Args:
        template: What stands for a template, as for :func:`check_parity`.
        now: What the template takes for the time; a fixed date if None.

    Returns:
        The report.

    Raises:
        TransplateError: The template cannot be read, fails on a plain question, or takes too much time.

    Example:
        >>> report = check_injection("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}")
        >>> [(passage.field, passage.forges) for passage in report.open][:1]
        [('system message', ('user', 'assistant'))]
    """
    return _Trial(side_of(template), now or CLOCK).report()


class _Trial:
    """A template under test."""

    def __init__(self, side: Side, now: datetime) -> None:
        self._side = side
        self._now = now
        self._variables = _stand_ins(side) | missing_variables(Pair(side, side, now))
        self._takes_text = True
        failed: TransplateError | None = None
        for question in (talk(QUESTION), talk(QUESTION, tools=TOOLS)):
            for self._takes_text in (True, False):
                outcome = self._prompt_of(question, "")
                if "Qxu" in outcome.prompt:
                    return
                failed = failed or outcome.error
        self._takes_text = True
        if failed is not None:
            raise failed

    def report(self) -> InjectionReport:
        shown = {field.name: shape for field in FIELDS if (shape := self._shown(field)) is not None}
        forged = list(forgeries(self._outcome))
        found = self._markers(forged)
        passages = tuple(
            self._passage(field, shown[field.name], found, forged) for field in FIELDS if field.name in shown
        )
        specials, untried = specials_of(
            [field for field in FIELDS if field.is_content and field.name in shown],
            self._side.literals.compared,
            self._prompt_of,
            deadline=time.process_time() + _SECONDS,
        )
        hidden = tuple(field.name for field in FIELDS if field.name not in shown)
        source = self._side.source
        placed = tuple(replace(special, place=_written(special.literal, source)) for special in specials)
        return InjectionReport(found, passages, hidden, placed, untried, bool(source))

    def _outcome(self, conversation: Conversation) -> Outcome:
        """Return what the template makes of a conversation.

        Raises:
            TransplateError: It takes more time than it may.
        """
        outcome = self._side.render(self._fitted(conversation), self._now)
        if outcome.error is not None and outcome.error.kind is ErrorKind.LIMIT:
            raise outcome.error
        return outcome

    def _fitted(self, conversation: Conversation) -> Conversation:
        """Return a conversation without what Ollama refuses for the template, in the form that it shows."""
        abilities = self._side.abilities
        if conversation.tools and "tools" not in abilities:
            conversation = replace(conversation, tools=())
        if conversation.think and "thinking" not in abilities:
            conversation = replace(conversation, think=None)
        conversation = replace(conversation, variables=self._variables)
        return conversation if self._takes_text else _in_parts(conversation)

    def _prompt_of(self, shape: dict[str, Any], text: str) -> Outcome:
        return self._outcome(filled(shape, text))

    def _shown(self, field: Field) -> dict[str, Any] | None:
        """Return the first conversation whose prompt has what is at a place."""
        return next(
            (shape for shape in field.shapes if _BEFORE in self._prompt_of(shape, _BEFORE).prompt), None
        )

    def _markers(self, forged: list[tuple[str, Forgery]]) -> tuple[str, ...]:
        prompts = [
            self._prompt_of({**shape, "tools": []}, "Gxu").prompt
            for field in FIELDS
            for shape in field.shapes
        ]
        found = dict.fromkeys(marker for prompt in prompts for marker in markers(prompt))
        if not found:
            found = dict.fromkeys(forgery.between for _, forgery in forged if len(forgery.roles) == 1)
        return tuple(found)

    def _passage(
        self,
        field: Field,
        shape: dict[str, Any],
        found: tuple[str, ...],
        forged: list[tuple[str, Forgery]],
    ) -> Passage:
        passed, held = [], []
        for marker in found:
            prompt = self._prompt_of(shape, f"{_BEFORE} {marker} {_BEHIND}").prompt
            if f"{_BEFORE} {marker} {_BEHIND}" in prompt:
                passed.append(marker)
            else:
                behind = prompt.partition(_BEFORE)[2]
                held.append((marker, behind.partition(_BEHIND)[0].strip() if _BEHIND in behind else ""))
        mine = [forgery for name, forgery in forged if name == field.name]
        outcome = self._prompt_of(shape, _BEFORE)
        return Passage(
            field=field.name,
            passed=tuple(passed),
            held=tuple(held),
            forgery=min(mine, key=_order, default=None),
            forges=tuple(dict.fromkeys(role for forgery in mine for role in forgery.roles)),
            place=place_of(
                self._side,
                self._fitted(filled(shape, _BEFORE)),
                self._now,
                outcome.prompt,
                outcome.prompt.find(_BEFORE),
            ),
        )


_in_parts = each_message(lambda message: as_parts(message) if message.content else message)
"""Makes typed parts of texts that are not empty."""


def _stand_ins(side: Side) -> dict[str, str]:
    """Return texts for the special tokens of a chat template that comes without its tokenizer."""
    if not isinstance(side, JinjaSide):
        return {}
    known = side.template.special_tokens
    return {name: text for name, text in STAND_INS.items() if name not in known}


def _order(forgery: Forgery) -> tuple[bool, int]:
    """Return what comes first of forgeries: turns that command, in a short text."""
    return {"user", "system"}.isdisjoint(forgery.roles), len(str(forgery.message[0].content))


def _written(literal: str, source: str) -> Place | None:
    """Return the first place of a text in a template."""
    offset = source.find(literal)
    if offset < 0:
        return None
    text = Source(source)
    line, column = text.position(offset)[:2]
    return Place(line, column, text.line_at(offset))
