"""The renderers' templates print what real Ollama prints: the newest by vectors, 0.17.4 by its own code."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.renderers import Comparison
from tests.oracle.renderers import NAMES
from tests.renderers.__main__ import main as write_templates
from tests.renderers.page import PAGE, parsers, renderers, with_table
from tests.renderers.vectors import read_vectors
from transplate import RequestError, TemplateExecutionError, TransplateError
from transplate.renderers import Renderer, names, resolve, template_text
from transplate.renderers.compose import templates_folder
from transplate.renderers.entries import ENTRIES

USER = {"role": "user", "content": "hi"}


@pytest.fixture(scope="module")
def comparison(go_oracle: object) -> Iterator[Comparison]:
    """Ours beside real Ollama's; ``go_oracle`` only asks for Go."""
    del go_oracle
    made = Comparison()
    yield made
    made.close()


def test_vectors(shared_folder: Path) -> None:
    """What the newest Ollama printed for 1,555 requests."""
    renderers = {name: Renderer(name) for name in names()}
    wrong = []
    seen = 0
    for vector in read_vectors(shared_folder):
        output = error = None
        try:
            output = renderers[vector.renderer].render(
                vector.request["messages"],
                vector.request.get("tools"),
                think=vector.request.get("think"),
                image_tags=False,
                now=vector.now,
            )
        except TemplateExecutionError as failure:
            error = failure.message
        seen += 1
        if (output, error) != (vector.output, vector.error):
            wrong.append(vector.id)
    assert not wrong
    assert seen > 1000


def test_fresh_cases(comparison: Comparison) -> None:
    """A sample of ``python -m tests.fuzz.renderers``, with another seed in every run."""
    seed = random.SystemRandom().randrange(2**32)
    outcome = comparison.run(1000, seed)
    assert not outcome.differences, f"seed {seed}: {comparison.shrunk(outcome.differences[0][0])}"
    assert set(outcome.cases) == set(NAMES)


def test_names_of_the_oracle(comparison: Comparison) -> None:
    assert set(names(ollama="0.17.4")) == set(NAMES)
    assert not [
        name
        for name in set(names()) - set(NAMES)
        if "unknown renderer" not in str(comparison.oracle.render(name, {"messages": []}).error)
    ]


def test_a_difference_is_found_and_made_small(comparison: Comparison) -> None:
    """With the renderer of another model in its place, each difference shrinks to almost nothing."""
    comparison._ours["olmo3"], kept = comparison._ours["olmo3.1"], comparison._ours["olmo3"]
    try:
        outcome = comparison.run(100, 1)
        assert outcome.differences
        _, request, _ = comparison.shrunk(outcome.differences[0][0])
        assert request in ({}, {"messages": []})
    finally:
        comparison._ours["olmo3"] = kept


# --- the files ----------------------------------------------------------------------------------------


def test_files_are_made_from_their_families() -> None:
    """Made anew by ``python -m tests.renderers --write``."""
    assert write_templates([]) == 0
    assert {path.stem for path in templates_folder().glob("*.jinja")} == set(names())


def test_every_shared_macro_is_used() -> None:
    shared = (templates_folder() / "families" / "shared.jinja").read_text(encoding="utf-8")
    macros = re.findall(r"^### (\w+)$", shared, re.MULTILINE)
    texts = "".join(
        template_text(name, ollama=version)
        for version in ("0.17.4", "0.33.0")
        for name in names(ollama=version)
    )
    assert macros
    assert not [name for name in macros if name not in texts]


def test_every_switch_of_a_template_is_used() -> None:
    for name, entry in ENTRIES.items():
        for form in (entry.newest, entry.oldest):
            if form is not None:
                body = (templates_folder() / "families" / f"{form.family}.jinja").read_text(encoding="utf-8")
                assert not [switch for switch in form.switches if switch not in body], name


def test_importing_the_package_reads_no_template() -> None:
    """The table of renderers costs nothing until a renderer is asked for."""
    code = "import sys, transplate; print([name for name in sys.modules if 'renderers' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- use ----------------------------------------------------------------------------------------------


def test_images_are_tags_as_in_the_server() -> None:
    messages = [
        {"role": "user", "content": "look at [img] and", "images": ["aGk=", "aGk="]},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "this", "images": ["aGk="]},
    ]
    newest = Renderer("qwen3-vl-instruct")
    assert "[img-1] look at [img-0] and" in newest.render(messages)
    assert "[img-2] this" in newest.render(messages)
    assert newest.render(messages, image_tags=False).count("<|vision_start|><|image_pad|><|vision_end|>") == 3
    assert "[img-0][img-1]look at [img] and" in Renderer("qwen3-vl-instruct", ollama="0.17.4").render(
        messages
    )


def test_errors_of_renderers_are_ollamas() -> None:
    with pytest.raises(TemplateExecutionError) as caught:
        Renderer("qwen3.8").render([{"role": "assistant", "content": "x"}])
    assert caught.value.message == "no user query found in messages"


def test_levels_of_thinking() -> None:
    renderer = Renderer("qwen3.8")
    assert "set to low" in renderer.render([USER], think="low")
    assert "Reasoning" not in renderer.render([USER], think="medium")
    assert "set to xhigh" in renderer.render([USER])
    with pytest.raises(RequestError, match="invalid think value"):
        renderer.render([USER], think="much")


def test_system_messages_of_qwen38_are_folded() -> None:
    """Since Ollama 0.32.15 (its pull request 17855)."""
    messages = [USER, {"role": "system", "content": " one\n"}, {"role": "developer", "content": "two"}]
    prompt = Renderer("qwen3.8").render(messages, think=False)
    assert prompt.startswith("<|im_start|>system\none\n\ntwo<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n")


def test_without_a_generation_prompt() -> None:
    """A host that asks for none gets none, except behind an answer, which Ollama leaves open or continues."""
    for name in names():
        template = Renderer(name).template
        variables = {"messages": [USER], "tools": None}
        whole = template.execute({**variables, "add_generation_prompt": True})
        assert template.execute(variables) == whole
        without = template.execute({**variables, "add_generation_prompt": False})
        assert whole.startswith(without)
        assert len(without) < len(whole), name


@pytest.mark.parametrize(
    ("name", "ollama", "said"),
    [
        ("nothing", "0.33.0", "Ollama has no renderer 'nothing'; it has qwen3-coder, "),
        ("gemma4", "0.17.4", "Ollama 0.17.4 has no renderer 'gemma4', which came later"),
        ("qwen3.5", "0.1.0", "Ollama 0.1.0 is older than"),
    ],
)
def test_names_that_there_are_not(name: str, ollama: str, said: str) -> None:
    with pytest.raises(TransplateError, match=re.escape(said)):
        Renderer(name, ollama=ollama)


@pytest.mark.parametrize(
    ("model", "parameters", "resolved"),
    [
        ("", "", "gemma4-small"),
        ("gemma4:e4b", "26B", "gemma4-small"),
        ("gemma4:26B", "", "gemma4-large"),
        ("my-model", "30.7B", "gemma4-large"),
        ("my-model", "12B", "gemma4-large"),
        ("my-model", "11.9B", "gemma4-small"),
        ("my-model", "999M", "gemma4-small"),
        ("my-model", "many", "gemma4-small"),
    ],
)
def test_which_gemma4_it_is(model: str, parameters: str, resolved: str) -> None:
    assert resolve("gemma4", model=model, parameters=parameters) == resolved
    assert resolve("qwen3.5", model=model, parameters=parameters) == "qwen3.5"


def test_the_page_has_the_renderers_and_parsers_of_now() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, make in (("renderers", renderers), ("parsers", parsers)):
        assert with_table(text, name, make()) == text, "python -m tests.renderers.page --write"
