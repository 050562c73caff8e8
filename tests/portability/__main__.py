"""Compare every converted template in every engine with real Ollama, print the counts, and write the page.

``python -m tests.portability`` prints; ``--write`` also writes ``docs/portability.md``. The exit status is 1
if anything differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from tests.oracle.engines import (
    Engine,
    HostedTransformersEngine,
    MinijinjaEngine,
    NodeEngine,
    TransformersEngine,
)
from tests.oracle.llama import LlamaEngine
from tests.oracle.older_minijinja import OlderMinijinjaEngine
from tests.oracle.ollama import GoOracle
from tests.portability.comparing import Result, prepare
from tests.portability.covering import LEAST
from tests.portability.dead import reasons
from tests.portability.page import page, summary
from tests.portability.subjects import all_subjects

ENGINES: dict[str, Callable[[], Engine]] = {
    "transformers": TransformersEngine,
    "apply-chat-template": HostedTransformersEngine,
    "node": NodeEngine,
    "minijinja": MinijinjaEngine,
    "untrimmed-minijinja": lambda: MinijinjaEngine(trims=False),
    "older-minijinja": OlderMinijinjaEngine,
    "llama": LlamaEngine,
}
PAGE = Path(__file__).parents[2] / "docs" / "portability.md"


def main() -> int:
    """Run from the command line; the exit status is 1 if anything differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engines", default=",".join(ENGINES), help="some of the engines")
    parser.add_argument("--templates", default="", help="only templates with this in their name")
    parser.add_argument("--cases", type=int, default=LEAST, help="conversations for each form, at least")
    parser.add_argument("--seed", type=int, default=0, help="choose other conversations")
    parser.add_argument("--show", type=int, default=2, help="differences to show of each template")
    parser.add_argument("--write", action="store_true", help="write docs/portability.md")
    options = parser.parse_args()
    begin = time.monotonic()
    engines = [ENGINES[name]() for name in options.engines.split(",")]
    oracle = GoOracle()
    now = datetime.now().replace(microsecond=0)
    results: list[Result] = []
    for subject in all_subjects():
        if options.templates not in subject.name:
            continue
        result = prepare(subject, least=options.cases, seed=options.seed)
        result.compare(oracle, engines, now)
        results.append(result)
        _show(result, options.show)
    for engine in engines:
        engine.close()
    oracle.close()
    print(summary(results, engines))
    differing = sum(len(result.differences) for result in results)
    refused = sum(result.refusal is not None for result in results)
    unexplained = [result.subject.name for result in results if None in _reasons(result)]
    seconds = time.monotonic() - begin
    print(f"{len(results)} templates, {refused} refused, {differing} differences, {seconds:.0f} s")
    if unexplained:
        print(f"branches neither taken nor shown to be dead in: {', '.join(unexplained)}")
    if options.write:
        PAGE.write_text(page(results, engines), encoding="utf-8")
    return 1 if differing or unexplained else 0


def _reasons(result: Result) -> list[str | None]:
    return list(reasons(result.forms["exact"].covering).values()) if result.forms else []


def _show(result: Result, most: int) -> None:
    words = result.refusal or f"{len(result.differences)} differences"
    print(f"{result.subject.name}: {words}", file=sys.stderr, flush=True)
    for difference in result.differences[:most]:
        print(difference)


if __name__ == "__main__":
    sys.exit(main())
