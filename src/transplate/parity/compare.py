"""Compares two templates on conversations: templates in, a report of where their prompts part out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from transplate.conversation import Conversation
from transplate.errors import ErrorKind, TransplateError
from transplate.parity.conversations import ordinary_conversations
from transplate.parity.sides import Side, Template, side_of


@dataclass(frozen=True, slots=True)
class Difference:
    """A conversation on which two templates do not print the same.

    Attributes:
        cause: What kind of difference it is, in a few words.
        conversation: The conversation.
        prompts: What each side printed; of a side that failed, what it had printed by then.
        errors: Why a side failed, None where it did not.
        position: Number of characters that the prompts begin with in common.
    """

    cause: str
    conversation: Conversation
    prompts: tuple[str, str]
    errors: tuple[TransplateError | None, TransplateError | None]
    position: int


@dataclass(frozen=True, slots=True)
class ParityReport:
    """What a comparison found.

    Attributes:
        equal: Whether there is no difference, and at least one conversation was compared.
        checked: Number of conversations compared.
        differences: Those on which the sides differ: in their prompts, or in that only one has a prompt.
        refused: Names of the conversations that could not be compared, because neither side has a prompt, or
            because Ollama refuses the request before any template sees it (tools for a template without them,
            thinking for one that does not think, an image that is not there). They count neither for nor
            against equality.
    """

    equal: bool
    checked: int
    differences: tuple[Difference, ...]
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What one side made of a conversation."""

    prompt: str
    error: TransplateError | None = None


def check_parity(
    a: Template,
    b: Template,
    conversations: Iterable[Any] | None = None,
    *,
    now: datetime | None = None,
) -> ParityReport:
    """Compare two templates, in either language, on conversations.

    Args:
        a: A template, a conversion, the text of a template, or the path of its file.
        b: Another.
        conversations: Conversations, or JSON that can be read as such; a built-in set if None.
        now: What both sides take for the time in conversations that have no date of their own; one time, that
            of the call, if None.

    Returns:
        The report.

    Raises:
        TransplateError: A template or a conversation cannot be read.

    Example:
        >>> report = check_parity("{{ .Prompt }}", "{{ messages[-1].content }}", [[{"role": "user",
        "content": "hi"}]]) >>> report.equal, report.checked (True, 1)
    """
    sides = side_of(a), side_of(b)
    given = ordinary_conversations() if conversations is None else _read(conversations)
    clock = now or datetime.now()
    differences = []
    refused = []
    for conversation in given:
        one, other = (_outcome(side, conversation, clock) for side in sides)
        if _cannot_compare(one.error, other.error):
            refused.append(conversation.name)
        elif one != other:
            differences.append(_difference(conversation, one, other))
    return ParityReport(
        equal=not differences and len(refused) < len(given),
        checked=len(given) - len(refused),
        differences=tuple(differences),
        refused=tuple(refused),
    )


def _read(conversations: Iterable[Any]) -> tuple[Conversation, ...]:
    read = []
    for number, given in enumerate(conversations, 1):
        conversation = given if isinstance(given, Conversation) else Conversation.read(given)
        read.append(conversation if conversation.name else conversation.named(f"conversation {number}"))
    return tuple(read)


def _outcome(side: Side, conversation: Conversation, clock: datetime) -> _Outcome:
    try:
        return _Outcome(side(conversation, conversation.now or clock))
    except TransplateError as error:
        return _Outcome(getattr(error, "output", ""), error)


def _cannot_compare(one: TransplateError | None, other: TransplateError | None) -> bool:
    if one and other:
        return True
    return any(error is not None and error.kind is ErrorKind.INPUT for error in (one, other))


def _difference(conversation: Conversation, one: _Outcome, other: _Outcome) -> Difference:
    return Difference(
        cause=_cause(one, other),
        conversation=conversation,
        prompts=(one.prompt, other.prompt),
        errors=(one.error, other.error),
        position=_common_length(one.prompt, other.prompt),
    )


def _cause(one: _Outcome, other: _Outcome) -> str:
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


def _common_length(one: str, other: str) -> int:
    return next(
        (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
