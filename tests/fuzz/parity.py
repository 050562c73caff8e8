"""Does the check of parity notice a change of one thing? ``python -m tests.fuzz.parity COUNT SEED``.

Each mutant is a template in which one thing was changed: a literal, a condition, a trim marker, a number, a
function, an order. It is hard if at most 1 % of 2,000 random conversations notice it. A mutant that nothing
notices, neither random conversations nor a search that is several times as long, counts as equal.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from random import Random

from tests.convert.cases import make_case
from tests.parity.library import library_pairs
from tests.portability.data import Maker
from tests.portability.subjects import project_subjects
from transplate import Conversation, JinjaTemplate, OllamaTemplate, ParityReport, check_parity
from transplate.errors import TransplateError
from transplate.parity.generate import Effort
from transplate.parity.pair import Pair, comparable, equal
from transplate.parity.sides import side_of

NOW = datetime(2025, 3, 4, 5, 6, 7)
RANDOM = 2000
HARD = 0.01
_FIRST = 200
_LONG = Effort(patience=800, most=4000, rare=800)
_ACTION = {
    "gotmpl": re.compile(r"\{\{-?.*?-?\}\}", re.DOTALL),
    "jinja": re.compile(r"\{[{%]-?.*?-?[%}]\}", re.DOTALL),
}
_STRING = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_SWAPS: tuple[tuple[str, str], ...] = (
    *((r"\beq\b", "ne"), (r"\bne\b", "eq"), (r"\band\b", "or"), (r"\bor\b", "and"), (r"\bnot\b", "")),
    *(
        (r"==", "!="),
        (r"!=", "=="),
        (r"\bgt\b", "ge"),
        (r"\bge\b", "gt"),
        (r"\blt\b", "le"),
        (r"\ble\b", "lt"),
    ),
    *((r">", ">="), (r"\|\s*trim\b", ""), (r"\|\s*tojson\b", "| string"), (r"\bloop\.last\b", "loop.first")),
    *((r"\bloop\.first\b", "loop.last"), (r"\.strip\(\)", ".lstrip()"), (r"\.Content\b", ".Thinking")),
    *((r"\bis defined\b", "is not defined"), (r"\bis string\b", "is mapping"), (r"\bif\b", "if not")),
    *((r"\$last\b", "true"), (r"\.Tools\b", ".System"), (r"\.lstrip\b", ".rstrip"), (r"\bindex0\b", "index")),
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A template with one change.

    Attributes:
        original: The template.
        source: The changed template.
        language: Their language.
        change: What was changed, in a few words.
    """

    original: str
    source: str
    language: str
    change: str


def make_template(source: str, language: str) -> OllamaTemplate | JinjaTemplate:
    """Return a template."""
    if language == "gotmpl":
        return OllamaTemplate(source)
    return JinjaTemplate(source, special_tokens={"bos_token": "<s>", "eos_token": "</s>"})


def mutate(source: str, language: str, random: Random) -> Mutant | None:
    """Return a mutant of a template, None if the change that was tried leads to no template."""
    changes = [_text, _string, _swap, _swap, _swap, _number, _trim, _order]
    change = random.choice(changes)
    made = change(source, language, random)
    if made is None or made == source:
        return None
    try:
        make_template(made, language)
    except TransplateError:
        return None
    return Mutant(source, made, language, change.__name__.strip("_"))


def _texts(source: str, language: str) -> list[tuple[int, int]]:
    """Return where text stands outside of actions."""
    found, at = [], 0
    for action in _ACTION[language].finditer(source):
        if source[at : action.start()].strip():
            found.append((at, action.start()))
        at = action.end()
    if source[at:].strip():
        found.append((at, len(source)))
    return found


def _replaced(source: str, start: int, end: int, text: str) -> str:
    return source[:start] + text + source[end:]


def _text(source: str, language: str, random: Random) -> str | None:
    places = _texts(source, language)
    if not places:
        return None
    start, end = random.choice(places)
    at = random.randrange(start, end)
    return _replaced(source, at, at + 1, random.choice(("", "~", source[at] * 2)))


def _string(source: str, language: str, random: Random) -> str | None:
    places = [
        (action.start() + found.start(), action.start() + found.end())
        for action in _ACTION[language].finditer(source)
        for found in _STRING.finditer(action[0])
        if found.end() - found.start() > 2
    ]
    if not places:
        return None
    start, end = random.choice(places)
    at = random.randrange(start + 1, end - 1)
    if source[at] == "\\" or source[at - 1] == "\\":
        return None
    return _replaced(source, at, at + 1, random.choice(("", "~")))


def _swap(source: str, language: str, random: Random) -> str | None:
    places = [
        (action.start() + found.start(), action.start() + found.end(), other)
        for action in _ACTION[language].finditer(source)
        for pattern, other in _SWAPS
        for found in re.finditer(pattern, _STRING.sub(lambda text: "_" * len(text[0]), action[0]))
    ]
    return _replaced(source, *random.choice(places)) if places else None


def _number(source: str, language: str, random: Random) -> str | None:
    places = [
        (action.start() + found.start(), action.start() + found.end(), int(found[0]))
        for action in _ACTION[language].finditer(source)
        for found in re.finditer(r"(?<![\w.$])\d+\b", _STRING.sub(lambda text: "_" * len(text[0]), action[0]))
    ]
    if not places:
        return None
    start, end, number = random.choice(places)
    return _replaced(source, start, end, str(max(0, number + random.choice((1, -1)))))


def _trim(source: str, language: str, random: Random) -> str | None:
    action = random.choice(list(_ACTION[language].finditer(source)) or [None])
    if action is None:
        return None
    text = action[0]
    if random.random() < 0.5:
        made = text[:2] + text[3:] if text[2] == "-" else f"{text[:2]}- {text[2:].lstrip()}"
    else:
        made = text[:-3] + text[-2:] if text[-3] == "-" else f"{text[:-2].rstrip()} -{text[-2:]}"
    return _replaced(source, action.start(), action.end(), made)


def _order(source: str, _language: str, random: Random) -> str | None:
    """Exchange two pieces of output that follow each other."""
    pieces = list(re.finditer(r"(\{\{-?\s*[^{}]*?-?\}\})(\{\{-?\s*[^{}]*?-?\}\})", source))
    if not pieces:
        return None
    piece = random.choice(pieces)
    return _replaced(source, piece.start(), piece.end(), piece[2] + piece[1])


# --- judging ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def random_conversations() -> tuple[Conversation, ...]:
    """Return the random conversations that tell which mutants are hard."""
    maker = Maker(Random(1))
    cases = [make_case(seed) if seed % 2 else maker.case() for seed in range(RANDOM + RANDOM // 10)]
    made = []
    for case in cases:
        if case.messages:
            messages = [
                {
                    ("reasoning_content" if name == "reasoning" else name): value
                    for name, value in message.items()
                }
                for message in case.messages
            ]
            data = {"messages": messages, "tools": case.tools or [], "think": case.think}
            made.append(Conversation.read(data))
    return tuple(made[:RANDOM])


def share_noticing(mutant: Mutant) -> float:
    """Return the share of random conversations that notice a mutant; of some only if that is plainly more."""
    pair = Pair(
        *(side_of(make_template(text, mutant.language)) for text in (mutant.original, mutant.source)), NOW
    )
    noticing = 0
    for number, conversation in enumerate(random_conversations(), 1):
        outcomes = pair.outcomes(pair.fitted(conversation))
        noticing += _differs(outcomes)
        if number == _FIRST and noticing > 4 * HARD * _FIRST:
            return noticing / _FIRST
    return noticing / RANDOM


def _differs(outcomes: tuple[object, object]) -> bool:
    return comparable(outcomes) and not equal(outcomes)  # type: ignore[arg-type]


def check(mutant: Mutant, *, effort: Effort | None = None) -> ParityReport:
    """Return what the check says about a mutant."""
    one, other = (make_template(text, mutant.language) for text in (mutant.original, mutant.source))
    return check_parity(
        one, other, now=NOW, explain=effort is None, generate=True, unusual=True, effort=effort
    )


def sources() -> list[tuple[str, str]]:
    """Return templates to change, each with its language."""
    found = {(subject.source, "gotmpl") for subject in project_subjects()}
    for pair in library_pairs():
        found |= {(pair.go.source, "gotmpl"), (pair.jinja.source.text, "jinja")}
    return sorted(found)


def mutants(random: Random, templates: Sequence[tuple[str, str]]) -> Iterator[Mutant]:
    """Yield mutants without end."""
    while True:
        made = mutate(*random.choice(templates), random)
        if made is not None:
            yield made


def main() -> None:
    """Make mutants and say how many are noticed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("hard", type=int, help="how many hard mutants to judge")
    parser.add_argument("seed", type=int)
    parser.add_argument("--ordinary", type=int, default=20, help="how many ordinary ones to judge")
    options = parser.parse_args()
    random = Random(options.seed)
    wanted = {"hard": options.hard, "ordinary": options.ordinary}
    found = dict.fromkeys(wanted, 0)
    judged = dict.fromkeys(wanted, 0)
    small = 0
    made = 0
    for mutant in mutants(random, sources()):
        if all(judged[kind] >= wanted[kind] for kind in wanted):
            break
        made += 1
        share = share_noticing(mutant)
        kind = "hard" if share <= HARD else "ordinary"
        if judged[kind] >= wanted[kind]:
            continue
        report = check(mutant)
        if report.differences:
            small += min(len(each.smallest.conversation.messages) for each in report.kinds) <= 3
        elif share == 0 and not check(mutant, effort=_LONG).differences:
            continue
        else:
            print(
                f"missed, noticed by {share:.2%}: {mutant.language} {mutant.change}: {_change(mutant)}",
                flush=True,
            )
        judged[kind] += 1
        found[kind] += bool(report.differences)
    total = sum(found.values())
    for kind in wanted:
        print(f"{kind}: {found[kind]} of {judged[kind]} found")
    print(f"smallest conversation of at most 3 messages: {small} of {total}; {made} mutants made")


def _change(mutant: Mutant) -> str:
    at = next(
        i for i, (x, y) in enumerate(zip(mutant.original + "$", mutant.source + "$", strict=False)) if x != y
    )
    return (
        f"{mutant.original[max(0, at - 30) : at + 30]!r} became {mutant.source[max(0, at - 30) : at + 30]!r}"
    )


if __name__ == "__main__":
    main()
