"""Does the check of parity notice a change of one thing? ``python -m tests.fuzz.parity COUNT SEED``.

Each mutant is a template in which one thing was changed: a literal, a condition, a trim marker, a number, a
function, an order. It is hard if at most 1 % of 2,000 random conversations notice it. A mutant that nothing
notices, neither random conversations nor a search that is several times as long, counts as equal.

What was judged is kept in a file; a run goes on where the last one stopped, and ends after some minutes.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from tests.convert.cases import make_case
from tests.parity.library import library_pairs
from tests.portability.data import Maker
from tests.portability.subjects import project_subjects
from transplate import Conversation, JinjaTemplate, OllamaTemplate, ParityReport, check_parity
from transplate.errors import TransplateError
from transplate.jinja.template import parse
from transplate.parity.coverage import GoCoverage
from transplate.parity.generate import Effort
from transplate.parity.pair import Pair, comparable, equal
from transplate.parity.sides import side_of

NOW = datetime(2025, 3, 4, 5, 6, 7)
RANDOM = 2000
HARD = 0.01
_SMALL = 3
_LONG = Effort(patience=600, most=3000, rare=600, seconds=60.0)
_BLOCK = 25
"""How many mutants in a row are made of one template."""
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
    changes = [_text, _string, _swap, _swap, _swap, _number, _trim, _order, _filter, _guard]
    change = random.choice(changes)
    made = change(source, language, random)
    if made is None or made == source:
        return None
    try:
        make_template(made, language)
    except TransplateError:
        return None
    return Mutant(source, made, language, change.__name__.strip("_"))


def form_of(source: str, language: str) -> str:
    """Return what a template says, however it is spelled: mutants that say the same are equal."""
    return GoCoverage(source).marked if language == "gotmpl" else repr(parse(source))


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


def _filter(source: str, language: str, random: Random) -> str | None:
    """Change a value that is printed on its way: cut it, trim it, put it in lower case."""
    filters = {
        "jinja": (" | trim", " | lower", "[:1000]", "[:40]", " | replace('  ', ' ')", " | title", "[:3]"),
        "gotmpl": (" | len", " | printf `%.100s`", " | printf `%.40s`", " | html", " | printf `%q`"),
    }
    places = list(re.finditer(r"\{\{-?\s*([\w.$\['\]]+)(?=\s*-?\}\})", source))
    if not places:
        return None
    place = random.choice(places)
    return _replaced(source, place.end(), place.end(), random.choice(filters[language]))


def _guard(source: str, language: str, random: Random) -> str | None:
    """Make a condition hold in fewer cases, or in more."""
    conditions = {
        "jinja": (
            *("messages|length < 3", "loop.index0 != 2", "not loop.first", "(tools or [])|length < 3"),
            *("messages[-1].role == 'user'", "'zebra' not in messages[0].content|string"),
        ),
        "gotmpl": (
            *("(lt (len $.Messages) 3)", "(lt (len $.Tools) 3)", "(not $.Think)"),
            *("(not $.Tools)", '(ne (index $.Messages 0).Role "user")'),
        ),
    }
    places = list(re.finditer(r"\{[{%]-?\s*(?:el)?(?:else )?if\s+(.*?)\s*-?[%}]\}", source))
    if not places:
        return None
    place = random.choice(places)
    extra = random.choice(conditions[language])
    if language == "jinja":
        made = f"({place[1]}) {random.choice(('and', 'or not'))} {extra}"
    else:
        made = f"and ({place[1]}) {extra}" if random.random() < 0.5 else f"or ({place[1]}) (not {extra})"
    return _replaced(source, place.start(1), place.end(1), made)


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


class Original:
    """A template that is changed, with what it prints for the random conversations.

    Args:
        source: The template.
        language: Its language.
    """

    def __init__(self, source: str, language: str) -> None:
        self.source = source
        self.language = language
        side = side_of(make_template(source, language))
        self._given = [Pair(side, side, NOW).fitted(each) for each in random_conversations()]
        self._outcomes = [side.render(conversation, NOW) for conversation in self._given]

    def share_noticing(self, mutant: Mutant) -> float:
        """Return the share of the random conversations that notice a mutant; more than 1 % once it is."""
        side = side_of(make_template(mutant.source, mutant.language))
        pair = Pair(side, side, NOW)
        noticing = 0
        for conversation, outcome in zip(self._given, self._outcomes, strict=True):
            outcomes = (outcome, side.render(pair.fitted(conversation), NOW))
            noticing += comparable(outcomes) and not equal(outcomes)
            if noticing > HARD * RANDOM:
                break
        return noticing / RANDOM


def check(mutant: Mutant, *, effort: Effort | None = None) -> ParityReport:
    """Return what the check says about a mutant."""
    one, other = (make_template(text, mutant.language) for text in (mutant.original, mutant.source))
    return check_parity(one, other, now=NOW, explain=effort is None, generate=True, effort=effort)


@lru_cache(maxsize=1)
def sources() -> list[tuple[str, str]]:
    """Return templates to change, each with its language."""
    found = {(subject.source, "gotmpl") for subject in project_subjects()}
    for pair in library_pairs():
        found |= {(pair.go.source, "gotmpl"), (pair.jinja.source.text, "jinja")}
    return sorted(found)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a mutant.

    Attributes:
        number: The number of the mutant in its series.
        kind: ``hard``, ``ordinary`` or ``equal``.
        found: Whether the check notices it.
        messages: How many messages the smallest conversation has that shows it, 0 if there is none.
        seconds: What the check took.
        share: The share of random conversations that notice it, as far as they were counted.
        change: What was changed.
        mutant: The mutant; None where it need not be judged again.
    """

    number: int
    kind: str
    found: bool
    messages: int
    seconds: float
    share: float
    change: str
    mutant: Mutant | None = None

    @classmethod
    def read(cls, row: dict[str, Any]) -> Verdict:
        """Return a verdict as the file has it."""
        mutant = row.get("mutant")
        return cls(**{**row, "mutant": None if mutant is None else Mutant(**mutant)})


def again(verdict: Verdict) -> Verdict:
    """Return what the check says now of a mutant that was judged before."""
    assert verdict.mutant is not None
    begun = time.process_time()
    report = check(verdict.mutant)
    seconds = round(time.process_time() - begun, 2)
    return replace(verdict, found=bool(report.differences), messages=_smallest(report), seconds=seconds)


def judged(seed: int, start: int, *, ordinary: bool) -> Iterator[Verdict | int]:
    """Yield what comes of the mutants of a series, and the numbers of those that are not judged.

    Args:
        seed: The seed of the series.
        start: The number of the first mutant.
        ordinary: Whether to judge ordinary mutants, too.
    """
    original: Original | None = None
    seen: set[str] = set()
    number = start
    while True:
        block = number // _BLOCK
        source, language = Random(f"{seed}/{block}").choice(sources())
        if original is None or original.source != source:
            original, seen = Original(source, language), {form_of(source, language)}
        mutant = mutate(source, language, Random(f"{seed}/{block}/{number}"))
        form = "" if mutant is None else form_of(mutant.source, language)
        if mutant is None or form in seen:
            yield number
        else:
            seen.add(form)
            yield _judged(number, mutant, original.share_noticing(mutant), ordinary=ordinary) or number
        number += 1


def _judged(number: int, mutant: Mutant, share: float, *, ordinary: bool) -> Verdict | None:
    if share > HARD and not ordinary:
        return None
    begun = time.process_time()
    report = check(mutant)
    seconds = time.process_time() - begun
    kind = "hard" if share <= HARD else "ordinary"
    if share == 0 and not report.differences and not check(mutant, effort=_LONG).differences:
        kind = "equal"
    change = f"{mutant.language} {mutant.change}: {_change(mutant)}"
    kept = None if kind == "equal" else mutant
    found, messages = bool(report.differences), _smallest(report)
    return Verdict(number, kind, found, messages, round(seconds, 2), share, change, kept)


def _smallest(report: ParityReport) -> int:
    return min((len(each.smallest.conversation.messages) for each in report.kinds), default=0)


def main() -> None:
    """Make mutants and say how many are noticed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("hard", type=int, help="how many hard mutants to judge")
    parser.add_argument("seed", type=int)
    parser.add_argument("--ordinary", type=int, default=20, help="how many ordinary ones to judge")
    parser.add_argument("--state", type=Path, help="the file of what was judged")
    parser.add_argument("--again", action="store_true", help="check once more what was judged, and end")
    parser.add_argument("--minutes", type=float, default=3.5, help="when to stop")
    options = parser.parse_args()
    verdicts: list[Verdict] = []
    number = 0
    if options.state is not None and options.state.exists():
        rows = [json.loads(line) for line in options.state.read_text(encoding="utf-8").splitlines()]
        verdicts = [Verdict.read(row) for row in rows if "kind" in row]
        number = max((row["number"] for row in rows), default=-1) + 1
    wanted = {"hard": options.hard, "ordinary": options.ordinary}
    if options.again:
        verdicts = [again(verdict) for verdict in verdicts if verdict.mutant is not None]
        for verdict in verdicts:
            if not verdict.found:
                print(f"missed, noticed by {verdict.share:.2%}: {verdict.change}", flush=True)
        print("\n".join(_summary(verdicts)))
        return
    end = time.monotonic() + 60 * options.minutes
    ordinary = _missing(verdicts, wanted)["ordinary"] > 0
    for verdict in judged(options.seed, number, ordinary=ordinary):
        if isinstance(verdict, Verdict):
            verdicts.append(verdict)
            if not verdict.found and verdict.kind != "equal":
                print(f"missed, noticed by {verdict.share:.2%}: {verdict.change}", flush=True)
        if options.state is not None:
            row = asdict(verdict) if isinstance(verdict, Verdict) else {"number": verdict}
            with options.state.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        missing = _missing(verdicts, wanted)
        if time.monotonic() > end or not any(missing.values()) or (ordinary and not missing["ordinary"]):
            break
    print("\n".join(_summary(verdicts)))


def _missing(verdicts: list[Verdict], wanted: dict[str, int]) -> dict[str, int]:
    return {
        kind: max(0, count - sum(verdict.kind == kind for verdict in verdicts))
        for kind, count in wanted.items()
    }


def _summary(verdicts: list[Verdict]) -> Iterator[str]:
    for kind in ("hard", "ordinary"):
        some = [verdict for verdict in verdicts if verdict.kind == kind]
        yield f"{kind}: {sum(verdict.found for verdict in some)} of {len(some)} found"
    found = [verdict for verdict in verdicts if verdict.found]
    small = sum(verdict.messages <= _SMALL for verdict in found)
    equal_ones = sum(verdict.kind == "equal" for verdict in verdicts)
    yield f"smallest conversation of at most {_SMALL} messages: {small} of {len(found)}"
    seconds = sorted(verdict.seconds for verdict in verdicts) or [0.0]
    yield (
        f"{equal_ones} equal mutants left out; a check takes {seconds[len(seconds) // 2]:.2f} s (median), "
        f"{seconds[-1]:.2f} s at most"
    )


def _change(mutant: Mutant) -> str:
    at = next(
        i for i, (x, y) in enumerate(zip(mutant.original + "$", mutant.source + "$", strict=False)) if x != y
    )
    return (
        f"{mutant.original[max(0, at - 30) : at + 30]!r} became {mutant.source[max(0, at - 30) : at + 30]!r}"
    )


if __name__ == "__main__":
    main()
