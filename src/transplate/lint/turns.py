"""Rules about how turns begin and end: the opening of the answer, BOS, stops."""

from __future__ import annotations

import re
from collections.abc import Iterator

from transplate.errors import TransplateError
from transplate.lint.finding import Fault, Rule
from transplate.lint.subject import ANSWER, NEXT, QUESTION, Subject, assistant, user
from transplate.models.stops import opens_a_turn, texts_of

_BOS = (
    "<s>",
    "<bos>",
    "<|begin_of_text|>",
    "<|startoftext|>",
    "<|begin▁of▁sentence|>",
    "<｜begin▁of▁sentence｜>",
)
_THINKING = re.compile(r"(?:\s*<[^<>]*think[^<>]*>)+\s*", re.IGNORECASE)


def _no_generation_prompt(subject: Subject) -> Iterator[Fault]:
    whole = subject.prompt(user(QUESTION), assistant(ANSWER), user(NEXT))
    asked = subject.prompt(user(QUESTION))
    before, found, _ = whole.partition(ANSWER)
    opening, is_shown, tail = asked.partition(QUESTION)
    if not found or not is_shown or asked != subject.prompt(user(QUESTION), generation=False):
        return
    between = before.partition(QUESTION)[2]
    if not between.startswith(tail.rstrip()):
        return
    missing = between[len(tail.rstrip()) :].strip()
    # What stands before every message, whoever speaks, opens no answer.
    if missing and missing != opening.strip() and not _THINKING.fullmatch(missing):
        yield Fault(f"the prompt of a question lacks {missing!r}, with which answers begin")


def _double_bos(subject: Subject) -> Iterator[Fault]:
    tokens = subject.model.tokens
    asked = subject.prompt(user(QUESTION))
    known = (tokens.bos,) if tokens.bos else _BOS
    for bos in known:
        if asked.startswith(bos + bos):
            yield Fault(f"a prompt begins with two {bos}: the template prints both", _place_of(subject, bos))
        elif tokens.adds_bos and asked.startswith(bos):
            message = f"a prompt begins with two {bos}: the tokenizer adds one, and the template prints one"
            yield Fault(message, _place_of(subject, bos))


def _place_of(subject: Subject, bos: str) -> int | None:
    return subject.find(re.escape(bos), r"\bbos_token\b")


def _stop_opens_turn(subject: Subject) -> Iterator[Fault]:
    def render(messages: list[dict[str, object]]) -> str:
        printed = subject.printed(messages, generation=False)
        if printed.error:
            raise printed.error
        return printed.prompt

    model = subject.model
    stops = [*texts_of(model.parameters.get("stop")), *texts_of(model.generation.get("stop_strings"))]
    stops += [text for _, text in model.tokens.ends if text]
    for stop in dict.fromkeys(stops):
        try:
            is_opening = stop != model.tokens.bos and opens_a_turn(stop, render)
        except TransplateError:
            return
        if is_opening:
            message = f"the stop {stop!r} stands in the opening of turns, it does not end one"
            yield _at_parameter(subject, stop, message)


def _at_parameter(subject: Subject, stop: str, message: str) -> Fault:
    modelfile = subject.model.modelfile
    if modelfile is not None:
        for statement in modelfile.statements:
            if statement.keyword == "parameter" and statement.command == ("stop", stop):
                return Fault(message, statement.span.start, modelfile.source)
    return Fault(message, subject.find(re.escape(stop)))


RULES = (
    Rule(
        "no-generation-prompt",
        "error",
        "The prompt ends behind the question, where the assistant's turn should be opened.",
        _no_generation_prompt,
    ),
    Rule("double-bos", "error", "A prompt begins with the BOS token twice.", _double_bos),
    Rule(
        "stop-opens-turn",
        "warning",
        "A stop is a text that opens a turn, so that it ends no answer, or ends one before it began.",
        _stop_opens_turn,
    ),
)
