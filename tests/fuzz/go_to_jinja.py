"""Hunts for templates that convert to something else than what real Ollama prints.

``python -m tests.fuzz.go_to_jinja --cases 100000`` makes templates, plausible ones, mutants of real ones and
odd ones, converts each in both styles and compares what the Jinja engines print with the live oracle.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any

from tests.convert.cases import Case, chat_context, make_case, meets, ollama_values
from tests.fuzz.gotmpl import corpus
from tests.fuzz.mutation import mutate
from tests.fuzz.plausible import Plausible
from tests.fuzz.shrinking import shrink
from tests.fuzz.templates import Templates
from tests.oracle.engines import Engine, MinijinjaEngine, NodeEngine, TransformersEngine
from tests.oracle.llama import LlamaEngine
from tests.oracle.older_minijinja import OlderMinijinjaEngine
from tests.oracle.ollama import OLLAMA_VERSION, Answer, GoOracle
from tests.portability import hosts
from transplate import Conversion, OllamaTemplate, TransplateError, UnsupportedTemplate, to_jinja

NOW = datetime(2024, 3, 1, 12, 30)
REQUESTS = 20
ENGINES: dict[str, Callable[[], Engine]] = {
    "transformers": TransformersEngine,
    "minijinja": MinijinjaEngine,
    "node": NodeEngine,
    "older-minijinja": OlderMinijinjaEngine,
    "llama": LlamaEngine,
}


@dataclass(frozen=True, slots=True)
class Difference:
    """A converted template that prints something else than Ollama."""

    template: str
    case: Case
    style: str
    engine: str
    wanted: str
    got: str

    def __str__(self) -> str:
        return (
            f"{self.style}, {self.engine}, case {self.case.seed}\n  template {self.template!r}\n"
            f"  Ollama {self.wanted!r}\n  {self.engine} {self.got!r}"
        )


class Hunt:
    """The generators, the oracle and the engines."""

    def __init__(self, engines: Sequence[Engine]) -> None:
        self.oracle = GoOracle()
        self.engines = engines
        self.corpus = corpus()
        self.counts: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()

    def close(self) -> None:
        self.oracle.close()
        for engine in self.engines:
            engine.close()

    def source(self, seed: int) -> str:
        random = Random(seed)
        kind = random.random()
        if kind < 0.6:
            return Plausible(random).template()
        if kind < 0.95 and self.corpus:
            return mutate(random.choice(self.corpus), random.choice(self.corpus), random)[0]
        return Templates(random).template().source

    def differences(self, source: str, cases: Sequence[Case]) -> Iterator[Difference]:
        """Compare both styles of one template on some conversations."""
        try:
            template = OllamaTemplate(source, ollama=OLLAMA_VERSION)
            conversions = {
                style: to_jinja(source, exact=style == "exact", ollama=OLLAMA_VERSION)
                for style in ("exact", "default")
            }
        except UnsupportedTemplate as refused:
            self.counts["refused"] += 1
            self.refusals[refused.message] += 1
            return
        except TransplateError:
            self.counts["invalid"] += 1
            return
        self.counts["converted"] += 1
        thinks = "thinking" in template.inference.abilities
        values = [ollama_values(case, thinks=thinks) for case in cases]
        answers = self.oracle.render_all(source, values, now=NOW)
        for case, answer in zip(cases, answers, strict=True):
            context = chat_context(case, thinks=thinks)
            for style, conversion in conversions.items():
                if meets(case, (each.name for each in conversion.assumptions)):
                    yield from self.compare(source, case, style, conversion, context, answer)

    def compare(
        self,
        source: str,
        case: Case,
        style: str,
        conversion: Conversion,
        context: dict[str, Any],
        answer: Answer,
    ) -> Iterator[Difference]:
        for engine in self.engines:
            if engine.name == "llama-server" and "strftime_now" in conversion.text:
                self.counts[f"{style} {engine.name} left out"] += 1  # its clock cannot be set
                continue
            rendered = engine.render(
                conversion.text, context, now=None if engine.name == "llama-server" else NOW
            )
            key = f"{style} {engine.name}"
            if (rendered.error or "").startswith("does not start"):
                self.counts[f"{key} does not start"] += 1
                continue
            if hosts.changes(engine, conversion.text, context) or hosts.refuses(engine, rendered):
                self.counts[f"{key} left out"] += 1
                continue
            if answer.error is not None:
                kept = "errors kept" if rendered.error is not None else "errors lost"
                self.counts[f"{key} {kept}"] += 1
                if rendered.error is None and style == "exact":
                    yield Difference(
                        source, case, style, engine.name, f"error: {answer.error}", str(rendered.text)
                    )
                continue
            wanted = answer.output.decode(errors="surrogateescape")
            self.counts[key] += 1
            if rendered.text != wanted:
                yield Difference(
                    source, case, style, engine.name, wanted, str(rendered.text or rendered.error)
                )


def main() -> int:
    """Run the hunt from the command line; the exit status is 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, help="templates times conversations")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--engines", default="transformers,minijinja")
    parser.add_argument("--shrink", action="store_true", help="make what differs small")
    parser.add_argument("--show", type=int, default=5)
    parser.add_argument("--errors", action="store_true", help="count an error of Ollama that is not kept")
    arguments = parser.parse_args()
    hunt = Hunt([ENGINES[name]() for name in arguments.engines.split(",")])
    started = time.monotonic()
    found: list[Difference] = []
    print(f"seed {arguments.seed}")
    done = at = 0
    while done < arguments.cases:
        at += 1
        seed = arguments.seed * 1_000_003 + at
        source = hunt.source(seed)
        before = hunt.counts["converted"]
        for difference in hunt.differences(
            source, [make_case(seed * 31 + number) for number in range(REQUESTS)]
        ):
            if difference.wanted.startswith("error: ") and not arguments.errors:
                continue
            found.append(difference)
            if len(found) <= arguments.show:
                print(_shrunk(hunt, difference) if arguments.shrink else difference, flush=True)
            break
        done += REQUESTS * (hunt.counts["converted"] - before)
    hunt.close()
    for name, count in sorted(hunt.counts.items()):
        print(f"{count:9,} {name}")
    print("refused most often:", hunt.refusals.most_common(12))
    print(f"{done:,} cases, {len(found)} templates differ, {time.monotonic() - started:.0f} s")
    return 1 if found else 0


def _shrunk(hunt: Hunt, difference: Difference) -> Difference:
    """Return a difference that is as small; what is tried on the way does not count as cases."""
    counts, refusals = hunt.counts.copy(), hunt.refusals.copy()
    is_error = difference.wanted.startswith("error: ")

    def again(source: str, case: Any) -> Difference | None:
        made = Case(difference.case.seed, **case)
        for other in hunt.differences(source, [made]):
            if other.style == difference.style and other.wanted.startswith("error: ") is is_error:
                return other
        return None

    def fails(source: str, case: Any) -> bool:
        try:
            return again(source, case) is not None
        except (KeyError, TypeError, AttributeError):
            return False

    data = {
        "messages": difference.case.messages,
        "tools": difference.case.tools,
        "think": difference.case.think,
    }
    smallest = shrink(difference.template, data, fails, budget=400)
    shrunk = again(*smallest) or difference
    hunt.counts, hunt.refusals = counts, refusals
    return shrunk


if __name__ == "__main__":
    sys.exit(main())
