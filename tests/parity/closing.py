"""Are the causes that are named for a difference all there is to it? ``python -m tests.parity.closing``.

For pairs of Ollama's library, every conversation of the standing sets on which the sides differ is explained;
then all causes named for it are taken away together. What is left must be equal but for the fixed text that
the explanation names, or the explanation must say that it is not all, or that one side raises.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.parity.library import NOW, LibraryPair, library_pairs
from transplate.parity.conversations import usual_conversations
from transplate.parity.explaining import Explainer
from transplate.parity.pair import Pair, comparable, equal
from transplate.parity.sides import side_of
from transplate.parity.texts import hunk_at, places, reconcile
from transplate.parity.variations import variations


def closed(pair: LibraryPair) -> Counter[str]:
    """Return how many differences of a pair are closed, unexplained, or neither."""
    sides = Pair(side_of(pair.go), side_of(pair.jinja), NOW)
    explainer = Explainer(sides)
    found: Counter[str] = Counter()
    for conversation in map(sides.fitted, (*usual_conversations(), *variations())):
        outcomes = sides.outcomes(conversation)
        if equal(outcomes) or not comparable(outcomes) or not sides.is_usual(conversation):
            continue
        explanation = explainer.explain(conversation)
        outcomes = sides.outcomes(explainer.changed(conversation, explanation.changes))
        if "unexplained" in explanation.causes:
            found["unexplained"] += 1
        elif any(outcome.error for outcome in outcomes):
            found["raises" if "raises" in explanation.causes else "wrong"] += 1
        else:
            prompts = explainer.prompts(outcomes, explanation.changes)
            contents = explainer.contents(explainer.changed(conversation, explanation.changes))
            left = {hunk_at(*prompts, place, contents) for place in places(*prompts)}
            is_closed = left <= {*explanation.fixed} or reconcile(*prompts, explanation.fixed) is not None
            found["closed" if is_closed else "wrong"] += 1
    return found


def main() -> int:
    """Check pairs and say how many differences are closed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=5, help="only every such pair")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    pairs = library_pairs()[:: options.every]
    for pair in pairs:
        found = closed(pair)
        total += found
        if found["wrong"] or found["unexplained"]:
            print(f"{pair.model}: {dict(found)}", flush=True)
    print(f"{len(pairs)} pairs: {dict(total)}")
    return int(total["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
