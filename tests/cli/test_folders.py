"""``transplate convert SRC FOLDER/``: whole models to Hugging Face's layout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.conftest import Run
from transplate import JinjaTemplate, Model, OllamaTemplate
from transplate.convert.beginning import read_beginning, with_beginning

GO = """{{ range .Messages }}<|im_start|>{{ .Role }}
{{ .Content }}<|im_end|>
{{ end }}<|im_start|>assistant
"""
MODELFILE = f'''FROM ./nothing.gguf
TEMPLATE """{GO}"""
SYSTEM """Be "brief".
Don't \\ stray."""
MESSAGE user Hi
MESSAGE assistant Hello
PARAMETER stop <|im_end|>
PARAMETER temperature 0.5
PARAMETER repeat_penalty 1.1
PARAMETER num_predict -1
PARAMETER num_ctx 64
'''
CONVERSATIONS: list[list[dict[str, str]]] = [
    [{"role": "user", "content": "Bye"}],
    [{"role": "system", "content": "S"}, {"role": "user", "content": "Bye"}],
    [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ],
]


def test_a_modelfile_becomes_a_folder_that_prints_its_prompts(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE)
    result = run("convert", "Modelfile", "out/")
    assert (result.status, result.output) == (0, "")
    assert "kept in ollama.json: PARAMETER num_predict, PARAMETER num_ctx, FROM" in result.errors
    generation = json.loads((folder / "out" / "generation_config.json").read_text())
    assert generation == {
        "stop_strings": ["<|im_end|>"],
        "temperature": 0.5,
        "repetition_penalty": 1.1,
        "do_sample": True,
    }
    assert json.loads((folder / "out" / "ollama.json").read_text())["modelfile"] == MODELFILE
    template = JinjaTemplate((folder / "out" / "chat_template.jinja").read_text())
    model = Model.load(folder / "Modelfile")
    for messages in CONVERSATIONS:
        expected = OllamaTemplate(GO).render(model.conversation(messages))
        assert template.render(messages, add_generation_prompt=True) == expected


def test_transformers_loads_the_template(run: Run, folder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    (folder / "Modelfile").write_text(MODELFILE)
    out = folder / "out"
    out.mkdir()
    tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a")).save(
        str(out / "tokenizer.json")
    )
    (out / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    assert run("convert", "Modelfile", "out").status == 0
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(out))
    messages = CONVERSATIONS[0]
    prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert prompt == OllamaTemplate(GO).render(Model.load(folder / "Modelfile").conversation(messages))


def test_what_is_there_survives(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE)
    out = folder / "out"
    out.mkdir()
    (out / "generation_config.json").write_text('{"temperature": 0.9, "response_template": "r"}')
    refused = run("convert", "Modelfile", "out")
    assert (refused.status, refused.output) == (2, "")
    assert "generation_config.json: temperature is 0.9: --force replaces it" in refused.errors
    assert [path.name for path in out.iterdir()] == ["generation_config.json"]
    shown = run("convert", "Modelfile", "out", "--dry-run")
    assert shown.status == 0
    assert "would write out/chat_template.jinja" in shown.errors
    assert [path.name for path in out.iterdir()] == ["generation_config.json"]
    assert run("convert", "Modelfile", "out", "--force").status == 0
    generation = json.loads((out / "generation_config.json").read_text())
    assert (generation["temperature"], generation["response_template"]) == (0.5, "r")
    again = run("convert", "Modelfile", "out")
    assert again.status == 0


def test_a_target_that_is_a_file(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE)
    (folder / "out").write_text("")
    result = run("convert", "Modelfile", "out/")
    assert (result.status, result.output) == (2, "")
    assert "error: out: is a file, not a folder" in result.errors


@pytest.mark.parametrize(
    "template", ["\n  {% if true %}x{% endif %}", "  y", "z", "{{- messages[0].content }}"]
)
@pytest.mark.parametrize(
    ("system", "history"), [("", (("user", "'q'"),)), ("S", ()), ("S", (("user", "q"),))]
)
def test_a_beginning_prints_nothing_of_its_own(
    template: str, system: str, history: tuple[tuple[str, str], ...]
) -> None:
    messages = CONVERSATIONS[0]
    begun = Model("", "Modelfile", system=system, messages=history).conversation(messages)
    expected = JinjaTemplate(template).render(begun)
    text = with_beginning(template, system, history)
    assert JinjaTemplate(text).render(messages) == expected
    assert read_beginning(text) == (system, history, template)


TEXTS = st.text(st.sampled_from("a'\"\\n{}% \n\té日\u200b\x7f😀"), max_size=6)


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), TEXTS), max_size=3), TEXTS)
def test_a_beginning_is_read_back(system: str, history: list[tuple[str, str]], template: str) -> None:
    text = with_beginning(template, system, history)
    assert read_beginning(text) == (system, tuple(history), template)
    if system or history:
        # As Jinja reads it, too.
        messages = [{"role": "user", "content": "Hi"}]
        read = JinjaTemplate(text[: len(text) - len(template)] + "{{ messages | tojson }}").render(messages)
        begun = Model("", "Modelfile", system=system, messages=tuple(history)).conversation(messages)
        assert json.loads(read) == begun
