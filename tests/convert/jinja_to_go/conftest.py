"""What the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fuzz.jinja_to_go_judge import RealJudge


@pytest.fixture(scope="module")
def judge(go_oracle: object, transformers_engine: object) -> Iterator[RealJudge]:
    """Real Ollama and transformers, which say what is right."""
    assert go_oracle is not None
    assert transformers_engine is not None
    made = RealJudge()
    yield made
    made.close()
