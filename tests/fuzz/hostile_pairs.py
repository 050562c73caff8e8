"""Pairs of templates from strangers, compared: ``python -m tests.fuzz.hostile_pairs``.

One of each pair is made to run for ever, to fill the memory or to be deep, or is a template that was damaged
at random; the other may be so, too. Whatever comes out, only errors of this package may be raised, and the
comparison ends in time.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path
from random import Random, SystemRandom

from tests.fuzz.hostile import HostileGo, HostileJinja
from tests.fuzz.mutation import mutate
from tests.portability.subjects import project_subjects
from transplate import JinjaTemplate, Limits, OllamaTemplate, ParityReport, check_parity
from transplate.errors import TransplateError
from transplate.parity.generate import Effort

SMALL = Limits(source=200_000, output=1 << 20, steps=100_000, depth=60)
TEMPLATES = Path(__file__).parents[2] / "templates"
_PIECE = re.compile(r"\{[{%].*?[%}]\}|[^{]+", re.DOTALL)
_PLAIN = {
    "gotmpl": "{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}",
    "jinja": "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}",
}


def source_of(language: str, random: Random) -> str:
    """Return a template that a stranger may have made."""
    match random.randrange(5):
        case 0:
            return _PLAIN[language]
        case 1 | 2:
            made = HostileGo(random).template() if language == "gotmpl" else HostileJinja(random).template()
            return made + _PLAIN[language] if random.random() < 0.7 else made
        case _:
            return _damaged(language, random)


def _damaged(language: str, random: Random) -> str:
    if language == "gotmpl":
        one, other = (random.choice(project_subjects()).source for _ in range(2))
        return mutate(one, other, random)[0]
    paths = sorted((TEMPLATES / "jinja").glob("*.jinja"))
    pieces = _PIECE.findall(random.choice(paths).read_text(encoding="utf-8"))
    for _ in range(random.choice((1, 1, 2, 4))):
        at, other = random.randrange(len(pieces)), random.randrange(len(pieces))
        pieces[at] = random.choice(("", pieces[at] * 2, pieces[other], pieces[at].replace(".", "|")))
    return "".join(pieces)


def compared(
    sources: list[tuple[str, str]], limits: Limits, seconds: float
) -> ParityReport | TransplateError:
    """Return what comes of comparing two templates, each given with its language."""
    try:
        sides = [
            OllamaTemplate(source, limits=limits)
            if language == "gotmpl"
            else JinjaTemplate(source, limits=limits)
            for language, source in sources
        ]
        return check_parity(*sides, explain=True, generate=True, effort=Effort(seconds=seconds))
    except TransplateError as error:
        return error


def pair(random: Random) -> list[tuple[str, str]]:
    """Return two templates, each with its language; now and then one and its like."""
    languages = [random.choice(("gotmpl", "jinja")) for _ in range(2)]
    made = [(language, source_of(language, random)) for language in languages]
    return [made[0], made[0]] if random.random() < 0.15 else made


def main() -> int:
    """Compare hostile pairs under the limits that hold by default; tell of what fails or takes long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1 << 32))
    parser.add_argument("--seconds", type=float, default=45, help="time of the processor of what is shown")
    options = parser.parse_args()
    slowest, wrong = 0.0, 0
    verdicts: dict[str, int] = {}
    for number in range(options.cases):
        sources = pair(Random(f"{options.seed}/{number}"))
        start = time.process_time()
        try:
            outcome = compared(sources, Limits(), 20.0)
        except Exception as error:
            wrong += 1
            print(f"case {number} of seed {options.seed}: {type(error).__name__}: {error}", flush=True)
            continue
        name = outcome.kind.value if isinstance(outcome, TransplateError) else outcome.verdict.value
        verdicts[name] = verdicts.get(name, 0) + 1
        seconds = time.process_time() - start
        slowest = max(slowest, seconds)
        if seconds > options.seconds:
            wrong += 1
            print(f"case {number} of seed {options.seed}: {seconds:.1f} s", flush=True)
    print(f"{options.cases} pairs, seed {options.seed}: at most {slowest:.1f} s, {wrong} wrong; {verdicts}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
