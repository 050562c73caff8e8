"""Writes the page about the pairs of Ollama's library: ``python -m tests.parity.library_page``.

It compares all pairs and prints how long that takes; ``--write`` replaces docs/library-pairs.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from tests.parity.library import NOW, LibraryPair, library_pairs
from transplate import ParityReport, check_parity
from transplate.parity import Kind, Verdict

PAGE = Path(__file__).parents[2] / "docs" / "library-pairs.md"
_HEAD = """# The pairs of Ollama's library

{count} models of Ollama's library have two templates: the Go template that Ollama runs, and the Jinja chat
template in the same model's GGUF. This page says how far each two agree. It is written by
`python -m tests.parity.library_page --write`.

Every pair is compared on the built-in conversations and on others that were made to take every branch of both
templates. A cause is named by experiment: taking it away, with the others that are named for the same
conversation, leaves equal prompts. The models' tokenizers were not at hand: `bos_token` and `eos_token` are
taken to be what the Go template prints in their place, else a placeholder.

- {conversations} conversations compared, equal on {equal}
- {kinds} kinds of difference, {named} of them named by a cause, {unexplained} unexplained
- branches taken, or shown to be out of reach: {go_reach} of the Go templates' {go_arms}, {jinja_reach} of the
  chat templates' {jinja_arms}

| cause | pairs |
| --- | ---: |
{causes}

Below, the number before a cause is on how many of the conversations it is one of the causes. Causes that only
conversations have which people hardly send are counted, not listed.

| model | verdict | equal on | causes |
| --- | --- | ---: | --- |
{rows}
"""


def main() -> None:
    """Compare all pairs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--every", type=int, default=1, help="only every such pair")
    options = parser.parse_args()
    found = []
    times = []
    for pair in library_pairs()[:: options.every]:
        start = time.process_time()
        report = compare(pair)
        times.append(time.process_time() - start)
        found.append((pair, report))
    if not found:
        sys.exit("the library's pairs are not here")
    page = page_of(found)
    print(page.split("| model |")[0])
    for seconds, model in sorted(zip(times, (pair.model for pair, _ in found), strict=True))[-3:]:
        print(f"{model}: {seconds:.2f} s")
    times.sort()
    print(f"median {times[len(times) // 2]:.2f} s, worst {times[-1]:.2f} s, all {sum(times):.1f} s of CPU")
    if options.write:
        PAGE.write_text(page, encoding="utf-8")


def compare(pair: LibraryPair) -> ParityReport:
    """Return the report of a pair."""
    return check_parity(pair.go, pair.jinja, now=NOW, explain=True, generate=True)


def page_of(found: list[tuple[LibraryPair, ParityReport]]) -> str:
    """Return the page."""
    reports = [report for _, report in found]
    kinds = [kind for report in reports for kind in report.kinds]
    unexplained = sum(kind.name == "unexplained" for kind in kinds)
    causes = Counter(title for report in reports for title in {kind.title for kind in report.kinds})
    reached = [[each.taken + len(each.dead) for each in report.reach] for report in reports]
    return _HEAD.format(
        count=len(found),
        conversations=f"{sum(report.checked for report in reports):,}",
        equal=f"{sum(report.checked - len(report.differences) for report in reports):,}",
        kinds=f"{len(kinds):,}",
        named=f"{len(kinds) - unexplained:,}",
        unexplained=unexplained,
        go_reach=_share(sum(each[0] for each in reached), sum(report.reach[0].arms for report in reports)),
        go_arms=f"{sum(report.reach[0].arms for report in reports):,}",
        jinja_reach=_share(sum(each[1] for each in reached), sum(report.reach[1].arms for report in reports)),
        jinja_arms=f"{sum(report.reach[1].arms for report in reports):,}",
        causes="\n".join(f"| {_escaped(title)} | {count} |" for title, count in causes.most_common()),
        rows="\n".join(_row(pair, report) for pair, report in found),
    )


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.1%})" if whole else "0"


def _row(pair: LibraryPair, report: ParityReport) -> str:
    usual = [kind for kind in report.kinds if not kind.unusual]
    unusual = len(report.kinds) - len(usual)
    shown = ", ".join(f"{kind.count} {_told(kind)}" for kind in usual)
    if unusual:
        shown += f"{', ' if shown else ''}and {unusual} on unusual conversations"
    verdict = {
        Verdict.EQUAL: "equal",
        Verdict.CONDITIONAL: f"equal if {', '.join(report.conditions)}",
        Verdict.DIFFERENT: "different",
        Verdict.NOTHING: "nothing compared",
    }[report.verdict]
    equal = report.checked - len(report.differences)
    return f"| {pair.model} | {_escaped(verdict)} | {equal} of {report.checked} | {_escaped(shown)} |"


def _told(kind: Kind) -> str:
    fails = [
        f"{side} {text}" for side, text in zip(("go", "jinja"), kind.sides, strict=True) if "fails" in text
    ]
    return f"{kind.title} ({fails[0]})" if fails else kind.title


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


if __name__ == "__main__":
    main()
