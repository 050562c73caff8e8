"""Converts real chat templates to Go and compares the prompts, on requests that take their branches.

``python -m tests.fuzz.jinja_to_go`` prints for both styles how many templates count, and of these how many
are exact in all requests, exact wherever the reference renders, refused with the reasons, and wrong. The
reference is transformers on Ollama's view of the request, the other side real Ollama; ``--own`` takes our own
engines. Runs in parts (``--part 2/8``, ``--from 0 --to 100``) write lines of JSON (``--results``), which
``--sum`` adds up.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.jinja_to_go_corpus import TOKENS, add_choice, chosen
from tests.fuzz.jinja_to_go_judge import Judge, OwnJudge, Printed, RealJudge, View
from tests.fuzz.jinja_to_go_losses import count_losses
from tests.fuzz.jinja_to_go_page import write
from tests.fuzz.jinja_to_go_report import kinds, read_results, report
from tests.fuzz.jinja_to_go_requests import TRIES, Case, Chosen, Request, choose
from transplate.conversation import Conversation
from transplate.convert import to_go
from transplate.convert.report import Conversion
from transplate.errors import TransplateError, UnsupportedTemplate
from transplate.gotmpl.quoting import quote

STYLES = {"exact": True, "default": False}
_SHRINKING = 300


@dataclass
class Result:
    """What became of one template in one style.

    Attributes:
        name: The template.
        style: ``exact`` or ``default``.
        status: ``exact``; ``error lost`` if it prints, or says another thing, where the template raises;
            ``go fails`` if it stops where the template prints; ``wrong``; ``refused``; ``invalid`` for what
            Jinja refuses; ``crash`` for a fault of the converter.
        reason: Why it is not exact.
        example: A small request that shows it.
        counts: Of requests, by what happened.
        counts_at_all: Whether the reference renders most requests, and prints different prompts.
        arms: How many branches the Jinja has.
        missed: The branches that no request took.
        size: Length of the Go.
        ratio: Length of the Go over that of the Jinja.
        seconds: Time of the conversion.
        overclaimed: A reason and an odd request where the default form is wrong although it says that it
            covers the request.
        losses: What the conversion says may differ.
        assumptions: What it takes for granted.
    """

    name: str
    style: str
    status: str = "exact"
    reason: str = ""
    example: Any = None
    counts: dict[str, int] = field(default_factory=dict)
    counts_at_all: bool = True
    arms: int = 0
    missed: list[str] = field(default_factory=list)
    size: int = 0
    ratio: float = 0.0
    seconds: float = 0.0
    overclaimed: Any = None
    losses: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)


_WORSE = ("exact", "error lost", "go fails", "wrong")


class Reference:
    """A chat template, the requests for it and what it makes of them."""

    def __init__(
        self, name: str, source: str, judge: Judge, *, seed: int, count: int, tries: int = TRIES
    ) -> None:
        self.name, self.source, self.judge = name, source, judge
        self.chosen: Chosen = choose(source, TOKENS, Random(f"{name} {seed}"), count, tries=tries)
        self._render(self.chosen.requests)

    def _render(self, requests: Sequence[Request]) -> None:
        views = self.judge.views([request.case for request in requests])
        pairs = [pair for pair in zip(requests, views, strict=True) if pair[1] is not None]
        self.requests = [request for request, _ in pairs]
        self.wanted = self.judge.wanted(self.source, TOKENS, [seen for _, seen in pairs if seen is not None])

    def with_requests(self, requests: Sequence[Request]) -> Reference:
        """Return the same template with other requests."""
        other = copy.copy(self)
        other._render(requests)
        return other

    @property
    def counts_at_all(self) -> bool:
        """Whether it renders most requests, and prints different prompts for them."""
        texts = [one.text for one in self.wanted if one.text is not None]
        return len(texts) * 2 > len(self.wanted) and len(set(texts)) > 1

    def again(self, case: Case) -> Printed | None:
        """Return what the template makes of another request, None if it is none."""
        seen: View | None = self.judge.views([case])[0]
        return None if seen is None else self.judge.wanted(self.source, TOKENS, [seen])[0]


def check(reference: Reference, style: str, *, shrinking: int = _SHRINKING) -> Result:
    """Convert a template and compare it on the requests.

    Args:
        reference: The template.
        style: ``exact`` or ``default``; the latter must be right on the ordinary requests that its
            assumptions cover, and what it makes of the others is counted.
        shrinking: How many requests to try for a small example.
    """
    source, judge = reference.source, reference.judge
    result = Result(reference.name, style, counts_at_all=reference.counts_at_all)
    result.arms, result.missed = reference.chosen.arms, reference.chosen.missed
    begin = time.perf_counter()
    try:
        conversion = to_go(source, special_tokens=TOKENS, exact=STYLES[style], ollama=judge.ollama)
    except UnsupportedTemplate as refused:
        result.status, result.reason = "refused", f"{refused.message} (line {refused.line})"
        return result
    result.seconds = time.perf_counter() - begin
    result.size, result.ratio = len(conversion.text), len(conversion.text) / max(1, len(source))
    result.losses = [f"{loss.message} (line {loss.line})" for loss in conversion.losses]
    result.assumptions = [assumption.name for assumption in conversion.assumptions]
    found = judge.found(conversion.text, [request.case for request in reference.requests])
    counts: Counter[str] = Counter()
    shown: Case | None = None
    for request, wanted, one in zip(reference.requests, reference.wanted, found, strict=True):
        verdict, reason = compared(wanted, one)
        # The exact form must be right for all requests but those that it names itself.
        is_for_all = style == "exact" and all(loss.name != "long-numbers" for loss in conversion.losses)
        covered = is_for_all or covers(conversion, request.case)
        if not covered or (style == "default" and not request.ordinary):
            # What it takes for granted is about odd requests; where it names one that is not, that shows.
            kind = "ordinary" if request.ordinary else "odd"
            counts[f"{kind}, {'covered' if covered else 'not covered'}: {verdict}"] += 1
            if covered and verdict == "wrong" and result.overclaimed is None:
                result.overclaimed = [reason, request.case]
            continue
        counts[verdict] += 1
        if _WORSE.index(verdict) > _WORSE.index(result.status):
            result.status, result.reason, shown = verdict, reason, request.case
    result.counts = dict(counts)
    if shown is not None:
        result.example, result.reason = _smallest(reference, conversion, shown, result, shrinking)
    return result


def compared(wanted: Printed, found: Printed) -> tuple[str, str]:
    """Return how two prompts compare, and the reason if they differ."""
    if wanted.text is None:
        if found.text is not None:
            return "error lost", f"prints where Jinja says {wanted.error}"
        own = (wanted.error or "").strip()
        if wanted.own and own not in (found.error or "") and quote(own)[1:-1] not in (found.error or ""):
            return "error lost", f"says {found.error} where the template says {own}"
        return "exact", ""
    if found.text is None:
        return "go fails", found.error or ""
    if found.text != wanted.text:
        return "wrong", _difference(wanted.text, found.text)
    return "exact", ""


def covers(conversion: Conversion, case: Case) -> bool:
    """Return whether a request meets all that a conversion takes for granted, and no loss concerns it."""
    think: Any = None
    if case.get("is_think_set"):
        think = case.get("think_level") or case.get("think", False)
    try:
        read = Conversation.read({"messages": case["messages"], "tools": case.get("tools"), "think": think})
    except TransplateError:
        return False
    return conversion.covers(read)


def _difference(wanted: str, found: str) -> str:
    at = next(
        (i for i, (a, b) in enumerate(zip(wanted, found, strict=False)) if a != b),
        min(len(wanted), len(found)),
    )
    return f"wanted {wanted[max(0, at - 40) : at + 40]!r} found {found[max(0, at - 40) : at + 40]!r}"


def _smallest(
    reference: Reference, conversion: Conversion, case: Case, result: Result, budget: int
) -> tuple[Case, str]:
    """Return a smaller request with the same verdict, and the reason there."""
    reason = result.reason
    while budget > 0:
        for smaller in _smaller(case, texts=result.style == "exact"):
            budget -= 1
            wanted = reference.again(smaller)
            if wanted is None:
                continue
            verdict, why = compared(wanted, reference.judge.found(conversion.text, [smaller])[0])
            if verdict == result.status:
                case, reason = smaller, why
                break
            if budget <= 0:
                return case, reason
        else:
            break
    return case, reason


def _smaller(value: Any, *, texts: bool, depth: int = 0) -> Iterator[Any]:
    """Yield data with a part less; texts too become shorter if they may."""
    if isinstance(value, dict):
        for key in value:
            if key not in ("role", "messages", "content", "function") and (depth or texts or key != "think"):
                yield {k: v for k, v in value.items() if k != key}
        for key, item in value.items():
            for smaller in _smaller(item, texts=texts and key != "role", depth=depth + 1):
                yield {**value, key: smaller}
    elif isinstance(value, list):
        if len(value) > 3:
            yield value[len(value) // 2 :]
            yield value[: len(value) // 2]
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
        for index, item in enumerate(value):
            for smaller in _smaller(item, texts=texts, depth=depth + 1):
                yield [*value[:index], smaller, *value[index + 1 :]]
    elif texts and isinstance(value, str) and value:
        yield "x"[: len(value) - 1]
        if len(value) > 1:
            yield value[: len(value) // 2]
            yield value[len(value) // 2 :]


def results(
    templates: list[tuple[str, str]],
    judge: Judge,
    *,
    styles: Mapping[str, bool] = STYLES,
    seed: int,
    count: int = 60,
) -> Iterator[Result]:
    """Yield what becomes of each template in each style."""
    for name, source in templates:
        try:
            reference = Reference(name, source, judge, seed=seed, count=count)
        except TransplateError as error:
            yield from (
                Result(name, style, "invalid", error.message, counts_at_all=False) for style in styles
            )
            continue
        for style in styles:
            try:
                yield check(reference, style)
            except Exception as error:
                text = f"{type(error).__name__}: {str(error)[:300]}"
                yield Result(name, style, "crash", text, counts_at_all=reference.counts_at_all)


def main() -> int:
    """Run from the command line; the exit status is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=int(time.time()), help="chooses the requests")
    parser.add_argument("--conversations", type=int, default=60, help="requests for each template, at least")
    add_choice(parser)
    parser.add_argument(
        "--public", dest="corpus", action="store_const", const="public", help="--corpus public"
    )
    parser.add_argument("--style", choices=(*STYLES, "both"), default="both")
    parser.add_argument("--from", dest="begin", type=int, default=0, help="number of the first template")
    parser.add_argument("--to", dest="end", type=int, help="number of the first template that is left out")
    parser.add_argument("--own", action="store_true", help="let our own engines render, not the real ones")
    parser.add_argument("--results", type=Path, help="a file of JSON lines to write each result to")
    parser.add_argument("--resume", action="store_true", help="go on with what --results does not have yet")
    parser.add_argument("--sum", nargs="+", type=Path, help="run nothing; add up files of results")
    parser.add_argument("--kinds", action="store_true", help="with --sum: list what fails, by its kind")
    parser.add_argument("--write", action="store_true", help="with --sum: write docs/jinja-to-go.md")
    parser.add_argument("--show", type=int, default=10, help="examples to show")
    arguments = parser.parse_args()
    if arguments.sum:
        rows = read_results(arguments.sum)
        print(kinds(rows) if arguments.kinds else report(rows, show=arguments.show))
        if arguments.write:
            real = RealJudge()
            write(rows, count_losses(chosen(arguments.corpus, part=arguments.part), real))
            real.close()
        return 0
    templates = chosen(
        arguments.corpus,
        part=arguments.part,
        begin=arguments.begin,
        end=arguments.end,
        only=arguments.only,
    )
    styles = STYLES if arguments.style == "both" else {arguments.style: STYLES[arguments.style]}
    made: list[dict[str, Any]] = []
    if arguments.resume and arguments.results.exists():
        made = read_results([arguments.results])
        done = {row["name"] for row in made}
        templates = [(name, source) for name, source in templates if name not in done]
    if arguments.results is not None:
        arguments.results.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    judge: Judge = OwnJudge() if arguments.own else RealJudge()
    begin = time.monotonic()
    for result in results(
        templates, judge, styles=styles, seed=arguments.seed, count=arguments.conversations
    ):
        row = {**asdict(result), "seed": arguments.seed, "corpus": arguments.corpus}
        made.append(row)
        if arguments.results is not None:
            with arguments.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    judge.close()
    print(report(made, show=arguments.show))
    print(f"{time.monotonic() - begin:.0f} s")
    return 1 if any(row["status"] in ("wrong", "crash") for row in made) else 0


if __name__ == "__main__":
    sys.exit(main())
