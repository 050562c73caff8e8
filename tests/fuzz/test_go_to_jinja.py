"""A sample of the hunt for templates that convert to something else than Ollama prints."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from tests.convert.cases import make_case
from tests.fuzz.go_to_jinja import REQUESTS, Hunt
from tests.fuzz.go_to_jinja_shapes import differences, legacy_templates, templates
from tests.oracle.engines import MinijinjaEngine, TransformersEngine
from tests.oracle.ollama import GoOracle

TEMPLATES = 25


def test_fresh_templates_convert_exactly(
    go_oracle: GoOracle,  # noqa: ARG001
    transformers_engine: TransformersEngine,
    minijinja_engine: MinijinjaEngine,
    capsys: pytest.CaptureFixture[str],
) -> None:
    seed = int(time.time()) * 1_000_003
    with capsys.disabled():
        print(f" seed {seed}", end=" ")
    hunt = Hunt([transformers_engine, minijinja_engine])
    found = [
        difference
        for number in range(seed, seed + TEMPLATES)
        for difference in hunt.differences(
            hunt.source(number), [make_case(number * 31 + request) for request in range(REQUESTS)]
        )
    ]
    hunt.oracle.close()
    assert not found, str(found[0])
    assert hunt.counts["converted"]


def test_every_use_of_every_sort_of_value(
    go_oracle: GoOracle, transformers_engine: TransformersEngine
) -> None:
    counts: Counter[str] = Counter()
    sources = [
        *list(templates(pairs=False))[::5],
        *list(templates(pairs=True))[::101],
        *list(legacy_templates())[::11],
    ]
    found = [
        each for source in sources for each in differences(source, go_oracle, transformers_engine, counts)
    ]
    assert found == []
    assert counts["equal"] > 1000


def test_same_seed_same_templates() -> None:
    one = object.__new__(Hunt)
    one.corpus = []
    assert [one.source(seed) for seed in range(20)] == [one.source(seed) for seed in range(20)]
