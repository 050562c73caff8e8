"""Time and memory of checks: ``python -m benchmarks.check``, next to chatlint's over the same templates.

For each pair of Ollama's library, a model's TEMPLATE and the chat template in its GGUF, prints how long it
takes to compare them with generated conversations and causes; the same for what looks at the chat template
alone (lint, caches, injection), which is what chatlint does; and how long ``transplate check`` takes for a
folder of all pairs. Times are of the processor, each template is read anew, and ratios are to chatlint's
check of the chat template.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from chatlint.check import check as chatlint_check
from chatlint.render import Template as ChatlintTemplate
from tests.parity.library import LibraryPair, library_pairs

from benchmarks.measuring import Ratios
from transplate import JinjaTemplate, OllamaTemplate, check_parity
from transplate.lint import lint
from transplate.models import Model
from transplate.parity import check_cache, check_injection
from transplate.source import Source

GOALS = {"comparison": "median ≤ 0.5 s, max ≤ 2 s"}


def measured(call: Callable[[], object]) -> float:
    """Return the time of the processor that a call takes."""
    started = time.process_time()
    call()
    return time.process_time() - started


def tasks(pair: LibraryPair) -> dict[str, Callable[[], object]]:
    """Return what is timed of a pair; each reads the templates anew."""
    jinja, tokens = pair.jinja.source.text, pair.jinja.special_tokens

    def chat_template() -> JinjaTemplate:
        return JinjaTemplate(jinja, special_tokens=tokens)

    model = Model(pair.model, "chat template", chat_template=Source(jinja, pair.model))
    return {
        "chatlint": lambda: chatlint_check(ChatlintTemplate(pair.model, jinja)),
        "comparison": lambda: check_parity(
            OllamaTemplate(pair.go.source), chat_template(), explain=True, generate=True
        ),
        "lint": lambda: lint(model),
        "caches": lambda: check_cache(chat_template()),
        "injection": lambda: check_injection(chat_template()),
    }


def _summary(name: str, values: Sequence[float], names: Sequence[str]) -> str:
    ordered = sorted(zip(values, names, strict=True))
    worst = ", ".join(f"{value:.2f} s {which}" for value, which in reversed(ordered[-3:]))
    goal = f"; goal {GOALS[name]}" if name in GOALS else ""
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))][0]
    figures = f"median {median(values):.3f} s, p95 {p95:.3f} s, sum {sum(values):.1f} s"
    return f"{name}: {figures}; slowest {worst}{goal}"


def _check_a_folder(pairs: Sequence[LibraryPair]) -> None:
    """Time the command over a folder of pairs, which uses all processors."""
    with tempfile.TemporaryDirectory() as name:
        for number, pair in enumerate(pairs):
            stem = f"{number:02} {pair.model}".replace(":", "-").replace("/", "-")
            (Path(name) / f"{stem}.gotmpl").write_text(pair.go.source, encoding="utf-8")
            (Path(name) / f"{stem}.jinja").write_text(pair.jinja.source.text, encoding="utf-8")
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "transplate", "check", name], capture_output=True, text=True
        )
        took = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    work = used.ru_utime + used.ru_stime
    last = done.stdout.splitlines()[-1] if done.stdout else done.stderr
    cores = f"{os.cpu_count()} cores, {work:.1f} s of processor time"
    print(f"transplate check FOLDER: {took:.1f} s for {len(pairs)} pairs on {cores} ({last})")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="every n-th pair")
    parser.add_argument("--folder", action="store_true", help="time nothing but the folder of all pairs")
    arguments = parser.parse_args()
    pairs = library_pairs()[:: arguments.every]
    if not pairs:
        parser.error("the pairs of Ollama's library are not there (TRANSPLATE_SHARED)")
    if not arguments.folder:
        _time_each(pairs)
    _check_a_folder(pairs)


def _time_each(pairs: Sequence[LibraryPair]) -> None:
    """Time pair by pair."""
    # What is loaded once is no pair's.
    check_parity("{{ .Prompt }}", "{{ messages[0].content }}", explain=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times: dict[str, list[float]] = {}
    for pair in pairs:
        for name, call in tasks(pair).items():
            times.setdefault(name, []).append(measured(call))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    names = [pair.model for pair in pairs]
    print(f"{len(pairs)} pairs")
    alone = list(map(sum, zip(*(times[name] for name in ("lint", "caches", "injection")), strict=True)))
    for name, values in {**times, "lint, caches and injection": alone}.items():
        print(_summary(name, values, names))
    for what, values in (("comparison", times["comparison"]), ("lint, caches and injection", alone)):
        ratios = [ours / theirs for ours, theirs in zip(values, times["chatlint"], strict=True)]
        print(f"{what} ÷ chatlint: {Ratios(ratios)}")
    print(f"memory: {after / 1024:.0f} MB at most, of which {before / 1024:.0f} MB before the first pair")


if __name__ == "__main__":
    main()
