"""Differential fuzzing of ``OllamaTemplate`` against real Ollama: output bytes, error text and stage.

``python -m tests.fuzz.gotmpl --cases 1000000 --seed 1 --jobs 2``. A case is a template with a request, ten
requests a template. The templates come from a grammar, from a list of faults, and from mutants of both and
of real templates. The run prints its coverage and fails on a difference or on a feature never reached.

``--plain`` compares ``GoTemplate`` with Go's text/template instead, on the same data as maps and lists.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from tests import plain_subject, subject
from tests.fuzz import coverage, faults, mutation, templates
from tests.fuzz.conversations import Conversations
from tests.fuzz.jsontext import RequestText, request_text
from tests.fuzz.shrinking import shrink
from tests.oracle.ollama import OLLAMA_VERSION, Answer, GoOracle
from transplate import Limits, OllamaTemplate, Values
from transplate.errors import TransplateError

REPOSITORY = Path(__file__).parent.parent.parent
NOW = datetime(2024, 3, 1, 12, 30)
REQUESTS_PER_TEMPLATE = 10
TEMPLATES_PER_CHUNK = 200
REQUESTS_PER_CHUNK = 60
COVERAGE_FROM = 20_000
"""From this number of cases on, a feature that is never reached fails the run."""
LIMITS = Limits(output=16 << 20, steps=500_000)
SECONDS_PER_TEMPLATE = 60
"""Processor time that our ten answers to one template may take."""
PLACEHOLDER = b"0xc000000000"
"""What we print for every address."""
_ADDRESS = re.compile(rb"0xc[0-9a-f]{9}")
MODES = frozenset({"mode:messages", "mode:legacy", "mode:suffix", "mode:server"})


@dataclass
class Difference:
    """A case in which we answer otherwise than Ollama."""

    template: str
    request: Any
    real: Answer
    ours: Answer

    @property
    def signature(self) -> str:
        """Return the kind of difference: both stages and the texts without their particulars."""

        def generalise(answer: Answer) -> str:
            if answer.error is None:
                return "output"
            text = re.sub(r"<.*?>: ", "<>: ", answer.error, flags=re.DOTALL)
            text = re.sub(r'"[^"]*"', '""', text)
            return f"{answer.stage} {re.sub(r'[0-9]+', 'N', text)[:120]}"

        return f"{generalise(self.real)} / {generalise(self.ours)}"


@dataclass
class Outcome:
    """What a part of a run found."""

    cases: int = 0
    coverage: Counter[str] = field(default_factory=Counter)
    groups: dict[str, tuple[int, Difference]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    pointer_templates: dict[str, None] = field(default_factory=dict)

    def add(self, difference: Difference, count: int = 1) -> None:
        """Count a difference and keep the smallest of its kind."""
        signature = difference.signature
        before, kept = self.groups.get(signature, (0, difference))
        if len(difference.template) < len(kept.template):
            kept = difference
        self.groups[signature] = (before + count, kept)

    def merge(self, other: Outcome) -> None:
        """Take in what another part found."""
        self.cases += other.cases
        self.coverage.update(other.coverage)
        self.left_out.update(other.left_out)
        self.pointer_templates |= other.pointer_templates
        for count, difference in other.groups.values():
            self.add(difference, count)


class _Hang(BaseException):
    """Raised into a rendering that does not end."""


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def interrupt(*_: object) -> None:
        raise _Hang

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _bug() -> Answer:
    """Return an answer that tells of the exception being handled, which is none of ours."""
    error = traceback.format_exc().strip().splitlines()
    place = next((line.strip() for line in reversed(error) if line.lstrip().startswith("File")), "")
    return Answer(b"", f"{error[-1]} at {place}", "bug")


@dataclass(frozen=True)
class Language:
    """What is compared: Ollama's templates, or Go's own on plain data.

    Attributes:
        mode: What the oracle does.
        parse: Our parser: a template, or the answer that refuses it.
        execute: Our execution of a template on data.
        data: The oracle's data of a request, and ours.
        prepare: Our data, read once for several templates.
        features: What a run must have reached.
        exact: Whether our outputs keep bytes that are no UTF-8.
        reads_text: Whether requests may be JSON text.
        serve: Makes requests to the server: what the server gives to the template, and what we are given.
    """

    mode: str
    parse: Callable[[str], Any]
    execute: Callable[[Any, Any], Answer]
    data: Callable[[dict[str, Any]], Any]
    prepare: Callable[[Any], Any]
    features: frozenset[str]
    exact: bool
    reads_text: bool
    serve: Callable[[Any, list[Any], Random], list[tuple[Any, Any]]] | None = None

    def template(self, source: str) -> Any:
        """Return our template or our refusal; anything that is not one of our errors is a bug."""
        try:
            return self.parse(source)
        except Exception:
            return _bug()

    def answer(self, template: Any, data: Any) -> Answer:
        """Return our answer; anything that is not one of our errors is a bug."""
        if isinstance(template, Answer):
            return template
        try:
            return self.execute(template, data)
        except Exception:
            return _bug()

    def real(self, answer: Answer) -> Answer:
        """Return the oracle's answer as far as ours can equal it."""
        if self.exact:
            return answer
        return Answer(answer.output.decode("utf-8", "replace").encode(), answer.error, answer.stage)


def plain_data(value: Any) -> Any:
    """Return the data of a request as maps with the names of Ollama's fields.

    Numbers that Go's int does not hold, lone surrogates and what has two names are for other tests.
    """
    if isinstance(value, dict):
        return {_FIELD_NAMES.get(str(key), _text(str(key))): plain_data(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain_data(item) for item in value]
    if isinstance(value, str):
        return _text(value)
    return float(value) if isinstance(value, int) and not -(2**63) <= value < 2**63 else value


def _text(value: str) -> str:
    return value.encode("utf-8", "replace").decode()


_FIELD_NAMES = {name.lower(): name for fields in templates.FIELDS.values() for name in fields} | {
    "tool_calls": "ToolCalls",
    "tool_name": "ToolName",
    "tool_call_id": "ToolCallID",
    "think_level": "ThinkLevel",
    "is_think_set": "IsThinkSet",
}


def _prepare(request: dict[str, Any]) -> Values | dict[str, Any]:
    try:
        return Values(**request)
    except TransplateError:
        return request


def _serve(template: Any, requests: list[Any], rng: Random) -> list[tuple[Any, Any]]:
    """Return requests as the server passes them on to the template, each with what we render in its place.

    The server looks at the template's abilities; it has no prompt for no messages, and numbers images.
    """
    if isinstance(template, Answer):
        return []
    abilities = template.inference.abilities
    served: list[tuple[Any, Any]] = []
    for request in rng.sample(requests, len(requests)):
        messages = request.get("messages")
        if not isinstance(messages, list) or not messages or "mages" in str(messages).lower():
            continue
        body = ServerRequest(messages=messages)
        values: dict[str, Any] = {"messages": messages}
        if "tools" in abilities and isinstance(request.get("tools"), list):
            body["tools"] = values["tools"] = request["tools"]
        thinks = "thinking" in abilities
        think = rng.choice((None, True, False, "high", "low") if thinks else (None, None, False))
        if think is not None:
            body["think"] = think
        think = True if thinks and think is None else think
        if think is not None:
            level = "medium" if think is True else think or ""
            values |= {"think": bool(think), "think_level": level, "is_think_set": True}
        served.append((values, body))
        if len(served) == REQUESTS_PER_TEMPLATE:
            break
    return served


class ServerRequest(dict[str, Any]):
    """A request that we render as the server does, not as the template package executes."""


def _execute(template: OllamaTemplate, request: Any) -> Answer:
    if isinstance(request, ServerRequest):
        return subject.serve(template, request, now=NOW)
    return subject.execute(template, request, now=NOW)


OLLAMA = Language(
    mode="render",
    parse=lambda source: subject.parse(source, ollama=OLLAMA_VERSION, limits=LIMITS),
    execute=_execute,
    data=lambda request: request,
    prepare=_prepare,
    features=templates.FEATURES | faults.FEATURES | mutation.FEATURES | MODES,
    exact=True,
    reads_text=True,
    serve=_serve,
)
PLAIN = Language(
    mode="text",
    parse=lambda source: plain_subject.parse(source, limits=LIMITS),
    execute=plain_subject.execute,
    data=plain_data,
    prepare=lambda data: data,
    features=templates.FEATURES | mutation.FEATURES,
    exact=False,
    reads_text=False,
)
LANGUAGES = {"ollama": OLLAMA, "plain": PLAIN}


def verdict(ours: Answer, real: Answer) -> str | None:
    """Return None if the answers agree, "differs", or why the case says nothing."""
    if real.stage == "crash" or "exceeded maximum template depth" in (real.error or ""):
        return "endless or huge in Go"
    if ours.stage == "limit":
        return "beyond our limits"
    if ours.stage == "unsupported":
        return ours.error
    if real.stage == "request":
        return None if ours.stage == "request" else "differs"
    if subject.agrees(ours, real):
        return None
    return None if subject.agrees(ours, _with_placeholders(real)) else "differs"


def _with_placeholders(answer: Answer) -> Answer:
    """Return Go's answer with every address that it prints plainly replaced by the one that we print."""
    error = answer.error
    if error is not None:
        replaced = _ADDRESS.sub(PLACEHOLDER, error.encode("utf-8", "surrogateescape"))
        error = replaced.decode("utf-8", "surrogateescape")
    return Answer(_ADDRESS.sub(PLACEHOLDER, answer.output), error, answer.stage)


class Fuzzer:
    """One process of a run, with an oracle of its own."""

    def __init__(self, language: Language = OLLAMA) -> None:
        self.language = language
        self.oracle = GoOracle(seconds=2)
        self._elsewhere: GoOracle | None = None
        self.corpus = corpus()
        self._next_fault = 0
        self._next_focus = 0

    def prints_pointer(self, template: str, request: Any, real: Answer) -> bool:
        """Return whether Go's answer depends on where its data lies in memory."""
        if self._elsewhere is None:
            self._elsewhere = GoOracle(seconds=2, other_addresses=True)
        return self._ask(self._elsewhere, template, request) != real

    def _ask(self, oracle: GoOracle, template: str, data: Any) -> Answer:
        oracle.submit(template, [_encode(data)], mode=self.language.mode, now=NOW)
        return self.language.real(oracle.answers()[0])

    def source(self, rng: Random, written: templates.Templates, slot: int) -> tuple[str, set[str]]:
        """Return the next template and its features; the slot says of which sort it is."""
        sort = slot % 20
        if sort < 4:
            feature = templates.FOCUSED[self._next_focus % len(templates.FOCUSED)]
            self._next_focus += 1
            focused = written.focused(feature)
            return focused.source, set(focused.features)
        if sort < 10:
            return self._mutant(rng, written)
        made = written.template()
        if sort < 14:
            fault = faults.FAULTS[self._next_fault % len(faults.FAULTS)]
            self._next_fault += 1
            return faults.insert(made.source, fault, rng), set()
        return made.source, set(made.features)

    def _mutant(self, rng: Random, written: templates.Templates) -> tuple[str, set[str]]:
        own = not self.corpus or rng.random() < 0.3
        base = written.template().source if own else rng.choice(self.corpus)
        other = rng.choice(self.corpus) if self.corpus and rng.random() < 0.7 else written.template().source
        return mutation.mutate(base, other, rng)

    def chunk(self, seed: int, number: int, count: int) -> Outcome:
        """Run one part of a run, which depends on the seed and its number alone."""
        rng = Random(f"{seed}/{number}")
        written = templates.Templates(rng, turn=number * 7)
        self._next_fault, self._next_focus = number * count // 5, number * count // 5
        conversations = Conversations(rng, lone_surrogates=True)
        made = (conversations.request() for _ in range(REQUESTS_PER_CHUNK - 1))
        requests = [self.language.data(request) for request in (conversations.rich_request(), *made)]
        if self.language.reads_text:
            requests = [request_text(item, rng) if rng.random() < 0.2 else item for item in requests]
        encoded = [_encode(request) for request in requests]
        # Values that are read once and used by many templates must not change, nor keep what is stale.
        prepared = [self.language.prepare(request) for request in requests]
        asked = []
        for slot in range(count):
            source, features = self.source(rng, written, slot)
            if self.language.serve is not None and rng.random() < 0.25:
                data = self.language.serve(self.language.template(source), requests, rng)
                if data:
                    self.oracle.submit(source, [_encode(given) for given, _ in data], now=NOW)
                    asked.append((source, features | {"mode:server"}, data))
                    continue
            # The first has a bit of everything.
            chosen = [0, *rng.sample(range(1, len(requests)), REQUESTS_PER_TEMPLATE - 1)]
            self.oracle.submit(source, [encoded[k] for k in chosen], mode=self.language.mode, now=NOW)
            ours = prepared if rng.random() < 0.5 else requests
            asked.append((source, features, [(requests[k], ours[k]) for k in chosen]))
        outcome = Outcome()
        for source, features, data in asked:
            self._compare(outcome, source, features, data)
        return outcome

    def _compare(
        self, outcome: Outcome, source: str, features: set[str], data: list[tuple[Any, Any]]
    ) -> None:
        """Answer one template's questions; ``data`` holds what the oracle was given and what we are."""
        ours: list[Answer] = []
        try:
            with _time_limit(SECONDS_PER_TEMPLATE):
                template = self.language.template(source)
                ours += (self.language.answer(template, own) for _, own in data)
        except _Hang:
            ours += [Answer(b"", "no end", "hang")] * (len(data) - len(ours))
        answers = [self.language.real(answer) for answer in self.oracle.answers()]
        ran = any(answer.stage not in {"parse", "request"} for answer in answers)
        reached = set(features) if ran else set()
        for (request, given), own, real in zip(data, ours, answers, strict=True):
            outcome.cases += 1
            shown = given if isinstance(given, ServerRequest) else request
            if real.error is None:
                reached.add("stage:output")
                reached.add(_mode(source, request))
            else:
                reached.add(f"stage:{real.stage}")
                reached.update(faults.classify(real.stage or "", real.error))
            found = verdict(own, real)
            if found == "differs":
                if self.prints_pointer(source, request, real):
                    outcome.left_out["prints a pointer's address"] += 1
                    outcome.pointer_templates[source] = None
                else:
                    outcome.add(Difference(source, shown, real, own))
            elif found is not None:
                outcome.left_out[found] += 1
        outcome.coverage.update(reached)

    def shrink(self, difference: Difference, *, seconds: float = 60.0) -> Difference:
        """Return the smallest case found with the same kind of difference."""
        best = difference
        end = time.monotonic() + seconds

        def fails(template: str, request: Any) -> bool:
            nonlocal best
            if time.monotonic() > end:
                return False
            try:
                with _time_limit(SECONDS_PER_TEMPLATE):
                    ours = self.language.answer(self.language.template(template), request)
            except _Hang:
                ours = Answer(b"", "no end", "hang")
            real = self._ask(self.oracle, template, request)
            found = Difference(template, request, real, ours)
            if (
                verdict(ours, real) != "differs"
                or found.signature != difference.signature
                or self.prints_pointer(template, request, real)
            ):
                return False
            best = found
            return True

        if isinstance(difference.request, ServerRequest):
            return best
        shrink(difference.template, difference.request, fails)
        return best


def _encode(request: Any) -> bytes:
    return request.encode() if isinstance(request, RequestText) else json.dumps(request).encode()


def _mode(source: str, request: Any) -> str:
    if isinstance(request, dict) and request.get("prompt") and request.get("suffix"):
        return "mode:suffix"
    return "mode:messages" if re.search(r"\.messages", source, re.IGNORECASE) else "mode:legacy"


def corpus() -> list[str]:
    """Return the real templates: the project's own, and the shared ones where they are."""
    found = [
        path.read_bytes().decode() for path in sorted((REPOSITORY / "templates" / "gotmpl").glob("*.gotmpl"))
    ]
    shared = Path(os.environ.get("TRANSPLATE_SHARED") or REPOSITORY.parent / "shared") / "corpus"
    if (shared / "ollama_library_pairs.jsonl").exists():
        with (shared / "ollama_library_pairs.jsonl").open(encoding="utf-8") as lines:
            found += [json.loads(line)["gotmpl"] for line in lines]
    if (shared / "gotmpl_public.jsonl.gz").exists():
        with gzip.open(shared / "gotmpl_public.jsonl.gz", "rt", encoding="utf-8") as lines:
            found += [json.loads(line)["gotmpl"] for line in lines]
    return list(dict.fromkeys(found))


@cache
def _fuzzer(language: str) -> Fuzzer:
    return Fuzzer(LANGUAGES[language])


def _run_chunk(task: tuple[str, int, int, int]) -> Outcome:
    language, seed, number, count = task
    return _fuzzer(language).chunk(seed, number, count)


def _shrink(task: tuple[str, Difference]) -> Difference:
    language, difference = task
    return _fuzzer(language).shrink(difference)


def run(cases: int, seed: int, jobs: int, *, language: str = "ollama", quiet: bool = False) -> Outcome:
    """Run a number of cases and return what was found; progress goes to standard error."""
    templates_left = -(-cases // REQUESTS_PER_TEMPLATE)
    tasks: list[tuple[str, int, int, int]] = []
    while templates_left > 0:
        tasks.append((language, seed, len(tasks), min(TEMPLATES_PER_CHUNK, templates_left)))
        templates_left -= TEMPLATES_PER_CHUNK
    outcome = Outcome()
    begin = shown = time.monotonic()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for part in pool.map(_run_chunk, tasks):
            outcome.merge(part)
            if not quiet and time.monotonic() - shown > 10:
                shown = time.monotonic()
                rate = outcome.cases / (shown - begin)
                found = sum(count for count, _ in outcome.groups.values())
                print(
                    f"{outcome.cases} cases, {rate:.0f}/s, {found} differences", file=sys.stderr, flush=True
                )
        kinds = sorted(outcome.groups.items(), key=lambda item: -item[1][0])[:40]
        shrunk = pool.map(_shrink, [(language, difference) for _, (_, difference) in kinds])
        for (signature, (count, _)), smallest in zip(kinds, shrunk, strict=True):
            outcome.groups[signature] = (count, smallest)
    return outcome


def report(outcome: Outcome, seconds: float, *, language: str = "ollama") -> tuple[str, bool]:
    """Return a run's report and whether the run is good."""
    features = LANGUAGES[language].features
    lines = [coverage.report(outcome.coverage, features), ""]
    for signature, (count, difference) in sorted(outcome.groups.items(), key=lambda item: -item[1][0]):
        lines += [
            f"{count} × {signature}",
            f"  template {difference.template!r}",
            f"  request  {json.dumps(difference.request)}",
            f"  Ollama   {difference.real}",
            f"  we       {difference.ours}",
            "",
        ]
    lines += [f"left out, {reason}: {count}" for reason, count in sorted(outcome.left_out.items())]
    lines += [f"  prints a pointer: {source[:150]!r}" for source in list(outcome.pointer_templates)[:10]]
    found = sum(count for count, _ in outcome.groups.values())
    lines.append(
        f"{outcome.cases} cases in {seconds:.0f} s, {outcome.cases / seconds:.0f}/s, {found} differences"
    )
    missing = coverage.missing(outcome.coverage, features) if outcome.cases >= COVERAGE_FROM else []
    if missing:
        lines.append(f"FAILED: never reached: {', '.join(missing)}")
    return "\n".join(lines), not found and not missing


def main() -> int:
    """Run from the command line; the exit status is 1 on a difference or a gap in the coverage."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=None, help="fresh if not given")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--plain", action="store_true", help="Go's own language on plain data")
    parser.add_argument(
        "--differences", type=Path, help="write each kind of difference to this file, as JSON lines"
    )
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    print(f"seed {seed}, Ollama {OLLAMA_VERSION}", flush=True)
    begin = time.monotonic()
    language = "plain" if options.plain else "ollama"
    outcome = run(options.cases, seed, options.jobs, language=language)
    text, good = report(outcome, time.monotonic() - begin, language=language)
    print(text)
    if options.differences:
        with options.differences.open("w", encoding="utf-8") as out:
            for signature, (count, difference) in outcome.groups.items():
                row = {"kind": signature, "count": count, "template": difference.template}
                row |= {
                    "request": difference.request,
                    "real": str(difference.real),
                    "ours": str(difference.ours),
                }
                out.write(json.dumps(row) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
