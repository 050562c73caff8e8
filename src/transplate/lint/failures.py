"""Rules about conversations that ordinary clients send, and on which a template fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transplate.lint.finding import Fault, Rule
from transplate.lint.subject import ANSWER, NEXT, QUESTION, SYSTEM, Subject, assistant, system, user

_CALL: list[dict[str, Any]] = [
    assistant("", tool_calls=[{"id": "call00001", "type": "function", "function": {"name": "look"}}]),
    {"role": "tool", "name": "look", "tool_call_id": "call00001", "content": "Red."},
]


def _fails(subject: Subject, messages: list[dict[str, Any]], what: str) -> Iterator[Fault]:
    """Yield what happens on messages, if the template fails on them and not on a question."""
    if subject.printed([user(QUESTION)]).error:
        return
    error = subject.printed(messages).error
    if error is not None:
        yield Fault(f"fails on {what}: {error.message}", error.offset)


def _question(subject: Subject) -> Iterator[Fault]:
    error = subject.printed([user(QUESTION)]).error
    if error is not None:
        yield Fault(f"fails on a plain question: {error.message}", error.offset)


def _midway_system(subject: Subject) -> Iterator[Fault]:
    first = [system(SYSTEM), user(QUESTION)]
    if subject.printed(first).error:
        yield from _fails(subject, first, "every system message")
        return
    midway = [user(QUESTION), assistant(ANSWER), system(SYSTEM), user(NEXT)]
    yield from _fails(subject, midway, "a system message that is not the first message")


def _developer(subject: Subject) -> Iterator[Fault]:
    messages = [system(SYSTEM, "developer"), user(QUESTION)]
    yield from _fails(subject, messages, "a message of the role developer, which clients of OpenAI send")


def _no_user(subject: Subject) -> Iterator[Fault]:
    for before, behind in (([system(SYSTEM)], []), ([system(SYSTEM)], _CALL), ([], _CALL)):
        if subject.printed([*before, user(QUESTION), *behind]).error:
            continue
        error = subject.printed([*before, *behind]).error
        if error is not None:
            what = "a conversation in which no user speaks, such as a shortened history"
            yield Fault(f"fails on {what}: {error.message}", error.offset)
            return


RULES = (
    Rule("fails-on-question", "error", "The template fails on a plain question.", _question),
    Rule(
        "fails-on-system-midway",
        "warning",
        "The template fails on a system message that is not the first message.",
        _midway_system,
    ),
    Rule("fails-on-developer", "warning", "The template fails on the role developer.", _developer),
    Rule("fails-without-user", "warning", "The template fails where no user speaks.", _no_user),
)
