"""Rules about what nobody sees in a template: blank lines from its layout, a byte order mark."""

from __future__ import annotations

import re
from collections.abc import Iterator

from transplate.lint.finding import Fault, Rule
from transplate.lint.subject import ANSWER, NEXT, QUESTION, SYSTEM, Subject, assistant, system, user

_GO_SILENT = r"(?:if|else|end|range|with|define|block|break|continue|/\*|\$\w+\s*(?:,\s*\$\w+\s*)?:?=)"
_GAPS = {
    "gotmpl": re.compile(
        r"(?:\A|\{\{-?\s*"
        + _GO_SILENT
        + r"(?:(?!\{\{|\}\}).)*\}\})(\s*\n\s*)(?=\{\{\s+?"
        + _GO_SILENT
        + r"|\{\{"
        + _GO_SILENT
        + ")",
        re.DOTALL,
    ),
    "jinja": re.compile(r"(?:\A|(?<=[%#]\}))(\s*\n\s*)(?=\{[%#](?![-+]))"),
}
"""White space with a line end between two actions that print nothing themselves."""


_MARK = "\ufeff"


def _byte_order_mark(subject: Subject) -> Iterator[Fault]:
    if subject.source.text.startswith(_MARK):
        yield Fault("begins with a byte order mark, which is printed at the beginning of each prompt", 0)


def _blank_lines(subject: Subject) -> Iterator[Fault]:
    gaps = [match.span(1) for match in _GAPS[subject.language].finditer(subject.source.text)]
    if not gaps:
        return
    before = _blanks(subject)
    trimmed = subject.with_text(_without(subject.source.text, gaps))
    if not before or trimmed is None or _blanks(trimmed) >= before:
        return
    for gap in gaps:
        one = subject.with_text(_without(subject.source.text, [gap]))
        if one is not None and (left := _blanks(one)) < before:
            where = "before everything" if subject.prompt(*_TURNS[0])[:1].isspace() else "in the prompt"
            yield Fault(
                f"{_number(before - left)} {where} from the line end here, which trimming removes",
                gap[1],
            )
            return
    message = f"{_number(before - _blanks(trimmed))} from line ends between actions, which trimming removes"
    yield Fault(message, gaps[0][1])


_TURNS = (
    [user(QUESTION), assistant(ANSWER), user(NEXT)],
    [system(SYSTEM), user(QUESTION), assistant(ANSWER), user(NEXT)],
)


def _blanks(subject: Subject) -> int:
    """Return how many line ends nobody wants: blank lines before everything, or several at a time."""
    prompts = (subject.prompt(*messages) for messages in _TURNS)
    return sum(_extra(prompt) for prompt in prompts)


def _number(count: int) -> str:
    return f"{count} blank line{'' if count == 1 else 's'}"


def _extra(prompt: str) -> int:
    leading = prompt[: len(prompt) - len(prompt.lstrip())].count("\n")
    runs: list[str] = re.findall(r"\n(?:[ \t]*\n){2,}", prompt.strip())
    return leading + sum(run.count("\n") - 2 for run in runs)


def _without(text: str, gaps: list[tuple[int, int]]) -> str:
    for start, end in reversed(gaps):
        text = text[:start] + text[end:]
    return text


RULES = (
    Rule(
        "blank-lines",
        "warning",
        "The layout of the template gets into prompts as blank lines.",
        _blank_lines,
    ),
    Rule(
        "byte-order-mark",
        "warning",
        "The template begins with a byte order mark, which is printed.",
        _byte_order_mark,
    ),
)
