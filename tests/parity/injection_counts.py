"""What texts can do in templates in use: ``python -m tests.parity.injection_counts`` prints a table."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from tests.lint.__main__ import corpora
from transplate import TransplateError
from transplate.models.prompts import template_of
from transplate.parity import InjectionReport, check_injection

ROWS = (
    "turns can be forged",
    "… by a user message",
    "… by a tool result",
    "a marker passes in an argument of a call",
    "a marker passes in a description of a tool",
    "a word is a switch",
    "… in a user message or a tool result",
    "fails on a question, or takes too long",
)
"""What is counted."""


def counted(report: InjectionReport) -> Iterator[str]:
    """Yield the rows that a template counts in."""
    forged = {passage.field for passage in report.open}
    passing = {passage.field for passage in report.passages if passage.passed}
    special = {field for word in report.specials for field in word.fields}
    facts = (
        bool(forged),
        "user message" in forged,
        "tool result" in forged,
        "argument of a call" in passing,
        "description of a tool" in passing,
        bool(special),
        bool({"user message", "tool result"} & special),
    )
    yield from (row for row, is_so in zip(ROWS, facts, strict=False) if is_so)


def main() -> None:
    """Print the table, and the words that most templates look for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="every n-th template")
    every = parser.parse_args().every
    counts: dict[str, Counter[str]] = {}
    sizes: dict[str, int] = {}
    words: Counter[str] = Counter()
    seconds = []
    for corpus, all_models in corpora().items():
        models = dict(islice(all_models.items(), 0, None, every))
        sizes[corpus], counts[corpus] = len(models), Counter()
        for model in models.values():
            started = time.process_time()
            try:
                report = check_injection(template_of(model))
            except TransplateError:
                counts[corpus][ROWS[-1]] += 1
                continue
            finally:
                seconds.append(time.process_time() - started)
            counts[corpus].update(counted(report))
            words.update({word.literal.strip() for word in report.specials})
        print(corpus, "is done", file=sys.stderr)
    print(f"| | {' | '.join(f'{corpus} ({size:,})' for corpus, size in sizes.items())} |")
    print(f"| --- |{' --- |' * len(sizes)}")
    for row in ROWS:
        print(f"| {row} | {' | '.join(str(count[row] or '') for count in counts.values())} |")
    print(", ".join(f"{word!r} {count}" for word, count in words.most_common(25)))
    ordered = sorted(seconds)
    print(f"{1000 * ordered[len(ordered) // 2]:.0f} ms a template in the median, {ordered[-1]:.2f} s at most")


if __name__ == "__main__":
    main()
