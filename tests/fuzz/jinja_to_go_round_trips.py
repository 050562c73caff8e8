"""Converts templates there and back again, and compares what comes back with what went out.

``python -m tests.fuzz.jinja_to_go_round_trips`` takes Go templates through Jinja and chat templates through
Go. What comes back must print what the first template prints: Go in real Ollama, Jinja in transformers on
Ollama's view of the request. A template that one of the two conversions refuses is counted apart.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.fuzz.jinja_to_go import STYLES, compared, covers
from tests.fuzz.jinja_to_go_corpus import ROOT, TOKENS, add_choice, chosen, shared_folder
from tests.fuzz.jinja_to_go_judge import Judge, OwnJudge, RealJudge
from tests.fuzz.jinja_to_go_report import kind
from tests.fuzz.jinja_to_go_requests import Case, choose
from transplate.convert import to_go, to_jinja
from transplate.convert.report import Conversion
from transplate.errors import TransplateError
from transplate.ollama.template import OllamaTemplate

_TRIES = 150


@dataclass(frozen=True)
class Trip:
    """How a round trip ended.

    Attributes:
        status: ``exact``; ``refused out`` or ``refused back``; ``stops`` if what came back fails where the
            first template prints; ``wrong``.
        reason: Why it is not exact.
        case: A request that shows it.
    """

    status: str
    reason: str = ""
    case: Case | None = None


def go_corpus() -> Iterator[tuple[str, str]]:
    """Yield Go templates: the project's own, those of Ollama's library, and ones that people wrote."""
    for path in sorted((ROOT / "templates" / "gotmpl").glob("*.gotmpl")):
        yield path.stem, path.read_text(encoding="utf-8")
    corpus = shared_folder() / "corpus"
    if not corpus.is_dir():
        return
    seen = set()
    pairs = (corpus / "ollama_library_pairs.jsonl").read_text(encoding="utf-8")
    for line in pairs.splitlines():
        data = json.loads(line)
        if data["gotmpl"] not in seen:
            seen.add(data["gotmpl"])
            yield data.get("model", data.get("id", "")), data["gotmpl"]
    public = gzip.decompress((corpus / "gotmpl_public.jsonl.gz").read_bytes()).decode()
    for line in public.splitlines():
        data = json.loads(line)
        yield data["id"], data["gotmpl"]


def go_trip(source: str, judge: Judge, *, exact: bool, rng: Random, count: int = 40) -> Trip:
    """Take a Go template through Jinja and back."""
    try:
        there = to_jinja(source, exact=exact, ollama=judge.ollama)
    except TransplateError as error:
        return Trip("refused out", error.message)
    try:
        back = to_go(there.text, exact=exact, ollama=judge.ollama)
    except TransplateError as error:
        return Trip("refused back", error.message)
    thinks = "thinking" in OllamaTemplate(source).inference.abilities
    cases = [
        _as_sent(case, thinks=thinks)
        for case in _cases(there.text, {}, (there, back), exact=exact, rng=rng, count=count)
    ]
    return _compared(cases, lambda: judge.found(source, cases), lambda: judge.found(back.text, cases))


def jinja_trip(source: str, judge: Judge, *, exact: bool, rng: Random, count: int = 40) -> Trip:
    """Take a chat template through Go and back."""
    try:
        there = to_go(source, special_tokens=TOKENS, exact=exact, ollama=judge.ollama)
    except TransplateError as error:
        return Trip("refused out", error.message)
    try:
        back = to_jinja(there.text, exact=exact, ollama=judge.ollama)
    except TransplateError as error:
        return Trip("refused back", error.message)
    thinks = "thinking" in OllamaTemplate(there.text).inference.abilities
    cases = [
        _as_sent(case, thinks=thinks)
        for case in _cases(source, TOKENS, (there, back), exact=exact, rng=rng, count=count)
    ]
    seen = [pair for pair in zip(cases, judge.views(cases), strict=True) if pair[1] is not None]
    views = [view for _, view in seen if view is not None]
    return _compared(
        [case for case, _ in seen],
        lambda: judge.wanted(source, TOKENS, views),
        lambda: judge.wanted(back.text, TOKENS, views),
    )


def _as_sent(case: Case, *, thinks: bool) -> Case:
    """Return a request as Ollama hands it on: a model that can think does so unless told otherwise."""
    if not thinks:
        return case
    made = case if case.get("is_think_set") else {**case, "think": True, "is_think_set": True}
    return {**made, "think_level": "medium"} if made["think"] and not made.get("think_level") else made


def _cases(
    jinja: str,
    tokens: dict[str, str],
    conversions: Sequence[Conversion],
    *,
    exact: bool,
    rng: Random,
    count: int,
) -> list[Case]:
    """Return requests that take the branches of the Jinja; only ordinary ones for the default form."""
    requests = choose(jinja, tokens, rng, count, tries=_TRIES).requests
    return [
        request.case
        for request in requests
        if exact or (request.ordinary and all(covers(each, request.case) for each in conversions))
    ]


def _compared(cases: Sequence[Case], first: Callable[[], Any], last: Callable[[], Any]) -> Trip:
    trip = Trip("exact")
    for case, wanted, found in zip(cases, first(), last(), strict=True):
        verdict, reason = compared(wanted, found)
        if verdict == "wrong":
            return Trip("wrong", reason, case)
        if verdict == "go fails" and trip.status == "exact":
            trip = Trip("stops", reason, case)
    return trip


def main() -> int:
    """Run from the command line; the exit status is 1 if any round trip is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--direction", choices=("go", "jinja", "both"), default="both")
    add_choice(parser)
    parser.add_argument("--own", action="store_true", help="let our own engines render, not the real ones")
    arguments = parser.parse_args()
    judge: Judge = OwnJudge() if arguments.own else RealJudge()
    number, parts = map(int, arguments.part.split("/"))
    corpora = {
        "go": [pair for pair in list(go_corpus())[number - 1 :: parts] if arguments.only in pair[0]],
        "jinja": chosen(arguments.corpus, part=arguments.part, only=arguments.only),
    }
    wrong = False
    for direction, take in (("go", go_trip), ("jinja", jinja_trip)):
        if arguments.direction not in (direction, "both"):
            continue
        for style, exact in STYLES.items():
            statuses: Counter[str] = Counter()
            reasons: Counter[str] = Counter()
            for name, source in corpora[direction]:
                trip = take(source, judge, exact=exact, rng=Random(f"{name} {arguments.seed}"))
                statuses[trip.status] += 1
                if trip.status in ("wrong", "stops"):
                    print(f"{trip.status}: {name} ({direction}, {style}): {trip.reason}")
                    print(f"    {json.dumps(trip.case, ensure_ascii=False)}")
                elif trip.status != "exact":
                    reasons[f"{trip.status}: {kind(trip.reason)}"] += 1
            wrong |= bool(statuses["wrong"])
            print(f"--- {direction} there and back, style {style}, seed {arguments.seed}: {dict(statuses)}")
            for reason, times in reasons.most_common(20):
                print(f"{times:6} {reason}")
    judge.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
