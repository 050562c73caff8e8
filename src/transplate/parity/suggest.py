"""Which of Ollama's built-in renderers prints what a template prints, and on which conversations.

Every renderer is compared as Ollama's server runs it with the PARSER that goes with it. Where the two
disagree only on what is taken for granted – whether to think, in which order a tool's fields stand – the
conversations say it, and the suggestion says so. What the template refuses tells nothing about a renderer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import Any

from transplate.conversation import Conversation
from transplate.errors import RequestError
from transplate.jinja import JinjaTemplate
from transplate.ollama.request import Tool, read_tools
from transplate.ollama.versions import NEWEST
from transplate.parity.compare import check_parity
from transplate.parity.conversations import examples, ordinary_conversations
from transplate.parity.dates import CLOCK
from transplate.parity.report import Difference, ParityReport
from transplate.parity.sides import Template, side_of
from transplate.renderers import ServedRenderer, entry_of, names
from transplate.renderers.context import chat_tool

_QUESTION = Conversation.read([{"role": "user", "content": "Hello!"}])
_LEAST = 0.4
"""The share of conversations below which a renderer is of another model."""

_MOSTLY = 4
"""How many conversations with a tag differ for one that does not, where the tag makes the difference."""

_THINKS = "think is not given: Ollama lets the model think, and the template does not"
_ORDER = "the fields of a tool stand in another order than Ollama's, which has required before properties"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A renderer that prints the same prompts, always or mostly.

    Attributes:
        renderer: Its name, for RENDERER.
        parser: What goes with it, for PARSER.
        stops: Likewise, for PARAMETER stop.
        report: The comparison on the built-in conversations, the renderer second.
        agreed: The comparison on those that the template does not refuse, where they say what only one side
            takes for granted.
        conditions: What the conversations have on which the prompts differ, empty for none.
        bos: What the renderer prints for the template's ``bos_token``, where that was not known.
        since: The version of Ollama from which on it prints so; empty for some version after 0.17.4.
    """

    renderer: str
    parser: str
    stops: tuple[str, ...]
    report: ParityReport
    agreed: ParityReport
    conditions: tuple[str, ...]
    bos: str = ""
    since: str = ""

    @property
    def always(self) -> bool:
        """Whether the prompts are the same on all conversations that the template does not refuse."""
        return not self.conditions

    @property
    def by_default(self) -> bool:
        """Whether the prompts are the same as the template's where ``think`` is not given."""
        return _THINKS not in self.conditions

    @property
    def likeness(self) -> float:
        """How much the prompts have in common, 1 for all."""
        unlike = sum(1 - _likeness(one) for one in self.agreed.differences)
        return 1 - unlike / max(self.agreed.checked, 1)


def suggest(
    template: Template, *, renderers: Iterable[str] | None = None, ollama: str = NEWEST
) -> tuple[Suggestion, ...]:
    """Return the renderers that print what a template prints, the best one first.

    Args:
        template: A chat template with its special tokens, or whatever else :func:`check_parity` takes.
        renderers: The renderers to choose from; all if None.
        ollama: The version of Ollama.

    Raises:
        TransplateError: The template cannot be read, or the version or a renderer is not known.

    Example:
        >>> suggest(JinjaTemplate(text))[0].renderer  # doctest: +SKIP
        'qwen3.5'
    """
    side_of(template)  # An error in the template comes first.
    chosen = names(ollama=ollama) if renderers is None else renderers
    found = (_Candidate(template, name, ollama).suggestion() for name in chosen)
    return tuple(
        sorted(filter(None, found), key=lambda one: (not one.always, not one.by_default, -one.likeness))
    )


class _Candidate:
    """A renderer beside the template."""

    def __init__(self, template: Template, name: str, ollama: str) -> None:
        self._template = template
        self._name = name
        self._entry = entry_of(name, ollama=ollama)
        self._renderer = ServedRenderer(name, parser=self._entry.parser, ollama=ollama)

    def suggestion(self) -> Suggestion | None:
        """Return the suggestion to take the renderer, None where it is of another model."""
        bos = self._take_bos()
        if not any(self._prints_the_same(think) for think in self._choices):
            return None
        given = ordinary_conversations()
        report = self._report(given)
        says_think = not self._prints_the_same(None)
        if says_think:
            given = tuple(one if one.think is not None else replace(one, think=True) for one in given)
        refused = {one.conversation.name for one in report.differences if one.errors[0] is not None}
        given = tuple(one for one in given if one.name not in refused)
        before = self._report(given)
        agreed = self._report(_with_ordered_tools(given))
        if len(agreed.differences) > (1 - _LEAST) * agreed.checked:
            return None
        conditions = _conditions(agreed)
        if len(agreed.differences) < len(before.differences):
            conditions = (_ORDER, *conditions)
        if says_think:
            conditions = (_THINKS, *conditions)
        entry = self._entry
        return Suggestion(self._name, entry.parser, entry.stops, report, agreed, conditions, bos, entry.since)

    @cached_property
    def _choices(self) -> tuple[bool | None, ...]:
        return (None, True, False) if "thinking" in self._renderer.abilities else (None,)

    def _report(self, conversations: Iterable[Conversation]) -> ParityReport:
        return check_parity(self._template, self._renderer, conversations)

    def _prints_the_same(self, think: bool | None) -> bool:
        return self._report([replace(_QUESTION, think=think)]).equal

    def _take_bos(self) -> str:
        """Give the template what the renderer prints for a BOS that it was not told, and return that."""
        template = self._template
        if not isinstance(template, JinjaTemplate):
            return ""
        if template.special_tokens.get("bos_token") or "bos_token" not in template.variables:
            return ""
        sides = side_of(template), side_of(self._renderer)
        begins = set()
        for think in self._choices:
            question = replace(_QUESTION, think=think)
            own, theirs = (side.render(question, CLOCK) for side in sides)
            if own.prompt and theirs.prompt.endswith(own.prompt):
                begins.add(theirs.prompt.removesuffix(own.prompt))
        bos = min(begins, key=len, default="")
        if bos:
            tokens = {**template.special_tokens, "bos_token": bos}
            self._template = JinjaTemplate(template.source.text, special_tokens=tokens)
        return bos


def _with_ordered_tools(conversations: Iterable[Conversation]) -> tuple[Conversation, ...]:
    """Return conversations whose tools are as Ollama writes them."""
    made = []
    for conversation in conversations:
        with suppress(RequestError):
            tools = read_tools([dict(tool) for tool in conversation.tools]) or []
            conversation = replace(conversation, tools=tuple(_written(tool) for tool in tools))
        made.append(conversation)
    return tuple(made)


def _written(tool: Tool) -> dict[str, Any]:
    """Return a tool as Ollama writes it, without what is empty."""
    made = chat_tool(tool)
    parameters = made["function"]["parameters"]
    if not parameters["required"]:
        del parameters["required"]
    if not made["function"]["description"]:
        del made["function"]["description"]
    return made


def _likeness(difference: Difference) -> float:
    one, other = difference.prompts
    longest = max(len(one), len(other))
    position = difference.position
    ends = zip(reversed(one[position:]), reversed(other[position:]), strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    return (position + same) / longest if longest else 1.0


# --- what the differences have in common ------------------------------------------------------------------

_TAGS: Mapping[str, str] = {
    "prefill": "the assistant's turn comes last, to be gone on with",
    "image": "there are images",
    "parts": "content is in parts",
    "late-system": "a system message is not in front",
    "several-systems": "there are several system messages",
    "odd-role": "there is a role beyond the usual ones",
    "no-user": "there is no user message",
    "same-role": "a role speaks twice in a row",
    "thinking": "an answer has thoughts",
    "think": "think is given",
    "parallel-calls": "there are several calls at once",
    "tools": "there are tools",
    "tool-calls": "there are calls",
    "tool-results": "there are results of calls",
    "null": "an answer has no content",
    "empty": "a message is empty",
    "white-space": "there is white space at the ends of messages",
    "unicode": "there are letters beyond ASCII",
    "json": "arguments are more than text",
    "escapes": "arguments need escapes in JSON",
    "date": "there is a date",
    "system": "there is a system message",
    "turns": "there is an answer before the last question",
    "long": "it is long",
}
"""What a tag means; the narrower of two that explain as much stands first."""


def _conditions(report: ParityReport) -> tuple[str, ...]:
    """Return what the differing conversations have and hardly any equal one; else what they are for."""
    differing = {one.conversation.name for one in report.differences}
    compared = {one.name for one in ordinary_conversations()} - set(report.refused)
    by_name = {one.conversation.name: one for one in examples()}
    left = {name for name in differing if name in by_name}
    conditions = []
    while left:
        gains = {
            tag: sum(tag in by_name[name].tags for name in left)
            for tag in _TAGS
            if _MOSTLY * sum(tag in by_name[name].tags for name in compared - differing)
            <= sum(tag in by_name[name].tags for name in differing)
        }
        best = max(gains, key=lambda tag: gains[tag], default=None)
        if best is None or not gains[best]:
            break
        conditions.append(_TAGS[best])
        left -= {name for name in left if best in by_name[name].tags}
    return (*conditions, *(by_name[name].about for name in by_name if name in left))
