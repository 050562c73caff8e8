"""From a Modelfile to a Hugging Face folder and back, and the other way: what was said is said again."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.pairs import (
    edit_and_convert,
    folder_and_back,
    modelfile_and_back,
    read_modelfiles,
    read_pairs,
)
from tests.models.test_sources import ENTRIES, gguf
from transplate import JinjaTemplate, Model, ModelfileError, UnsupportedTemplate
from transplate.cli.commands import run
from transplate.convert import to_go
from transplate.convert.beginning import with_beginning
from transplate.models.prompts import template_of

TEMPLATES = (
    "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}<|end|>\n{{ end }}<|assistant|>\n",
    "{{ if .System }}<<{{ .System }}>> {{ end }}[{{ .Prompt }}] {{ .Response }}</s>",
    "{{ .Prompt }}",
)
CHAT_TEMPLATES = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}",
    "{% if messages[0].role != 'system' %}<|system|>Be kind.<|end|>\n{% endif %}"
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}",
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }}{{ eos_token }}{% endfor %}",
)
CONVERSATIONS: list[list[dict[str, Any]]] = [
    [{"role": "user", "content": "Hi"}],
    [{"role": "system", "content": "S"}, {"role": "user", "content": "Hi"}],
    [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ],
]

TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), include_characters=" \n"), max_size=30
)
NUMBERS = {
    "temperature": st.floats(0, 2).map(str),
    "top_p": st.floats(0, 1).map(str),
    "min_p": st.floats(0, 1).map(str),
    "repeat_penalty": st.floats(0.5, 2).map(str),
    "top_k": st.integers(0, 200).map(str),
    "num_predict": st.integers(-2, 4096).map(str),
    "num_ctx": st.integers(1, 2**17).map(str),
    "seed": st.integers(0, 2**31).map(str),
}


@st.composite
def modelfiles(draw: st.DrawFn) -> str:
    """Modelfiles as people write them: any of the commands, in any order."""
    lines = [f'TEMPLATE """{draw(st.sampled_from(TEMPLATES))}"""']
    if draw(st.booleans()):
        lines.append(f'SYSTEM """{draw(TEXT)}"""')
    names = draw(st.lists(st.sampled_from(sorted(NUMBERS)), unique=True))
    lines += [f"PARAMETER {name} {draw(NUMBERS[name])}" for name in names]
    stops = draw(st.lists(st.sampled_from(["<|end|>", "</s>", "User:", "\\n"]), unique=True))
    lines += [f'PARAMETER stop "{stop}"' for stop in stops]
    lines = draw(st.permutations(lines))
    for role in draw(st.sampled_from([[], ["user", "assistant"]])):
        lines.append(f'MESSAGE {role} """{draw(TEXT)}"""')
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    return ending.join([*draw(st.sampled_from([[], ["# mine"]])), "FROM nothing", *lines, ""])


@settings(max_examples=12, deadline=None)
@given(modelfiles())
def test_a_modelfile_comes_back_as_it_was(text: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "Modelfile").write_bytes(text.encode())
        try:
            model = Model.load(folder / "Modelfile")
        except ModelfileError:
            return
        model.save_pretrained(folder / "out")
        there = Model.load(folder / "out")
        assert there.chat_template is not None
        chat = JinjaTemplate(there.chat_template.text)
        ollama = template_of(model)
        for messages in CONVERSATIONS:
            assert chat.render(messages) == ollama.render(messages)
        there.save_modelfile(folder / "back")
        assert (folder / "back").read_bytes() == text.encode()
        # What is changed in the folder is changed in the Modelfile, and nothing else is.
        path = folder / "out" / "generation_config.json"
        generation = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(generation | {"top_k": 777, "stop_strings": ["<|new|>"]}))
        Model.load(folder / "out").save_modelfile(folder / "back", force=True)
        back = Model.load(folder / "back")
        assert back.parameters["top_k"] == 777
        assert back.parameters["stop"] == ["<|new|>"]
        unchanged = {name: model.parameters.get(name) for name in NUMBERS if name != "top_k"}
        assert {name: back.parameters.get(name) for name in unchanged} == unchanged
        assert (back.system, back.messages) == (model.system, model.messages)


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(CHAT_TEMPLATES),
    st.fixed_dictionaries(
        {},
        optional={
            "temperature": st.floats(0.01, 2),
            "do_sample": st.booleans(),
            "top_k": st.integers(1, 99),
            "repetition_penalty": st.floats(0.5, 2),
            "max_new_tokens": st.integers(1, 999),
            "stop_strings": st.lists(st.sampled_from(["User:", "<|end|>"]), unique=True, min_size=1),
        },
    ),
    st.sampled_from([None, True, False]),
)
def test_a_folder_comes_back_as_it_was(
    template: str, generation: dict[str, Any], adds_bos: bool | None
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model").mkdir()
        (folder / "model" / "chat_template.jinja").write_text(template)
        tokenizer = {"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": adds_bos}
        (folder / "model" / "tokenizer_config.json").write_text(json.dumps(tokenizer))
        (folder / "model" / "generation_config.json").write_text(json.dumps(generation | {"num_beams": 3}))
        saving = Model.load(folder / "model").save_modelfile(folder / "Modelfile")
        assert saving.parity is not None
        assert "no PARAMETER says what generation_config.json says of num_beams" in saving.notes
        model = Model.load(folder / "Modelfile")
        printed = JinjaTemplate(
            template, special_tokens={"bos_token": "" if adds_bos else "<s>", "eos_token": "</s>"}
        )
        ollama = template_of(model)
        for messages in CONVERSATIONS:
            assert ollama.render(messages) == printed.render(messages)
        assert {"</s>", *generation.get("stop_strings", ())} <= set(model.parameters["stop"])
        model.save_pretrained(folder / "out")
        again = Model.load(folder / "out")
        assert again.chat_template is not None
        assert again.chat_template.text == template
        assert again.generation["num_beams"] == 3
        greedy = generation.get("do_sample") is False
        for key in ("top_k", "repetition_penalty", "max_new_tokens", "temperature"):
            if key != "temperature" or not greedy:
                assert again.generation.get(key) == generation.get(key)
        assert (again.generation.get("do_sample") is False) is greedy
        assert set(again.generation["stop_strings"]) == set(model.parameters["stop"])


def test_a_folder_with_a_gguf_comes_back_as_it_was(tmp_path: Path) -> None:
    one = tmp_path / "one"
    one.mkdir()
    chat = with_beginning(CHAT_TEMPLATES[2], "Be kind.", (("user", "Hi"), ("assistant", "Ho")))
    (one / "chat_template.jinja").write_text(chat)
    (one / "tokenizer_config.json").write_text('{"bos_token": "<s>", "eos_token": "</s>"}')
    (one / "m.gguf").write_bytes(gguf({**ENTRIES, "tokenizer.chat_template": "{{ messages[0].content }}"}))
    Model.load(one).save_modelfile(tmp_path / "Modelfile")
    model = Model.load(tmp_path / "Modelfile")
    assert model.base[0].endswith("one/m.gguf")
    assert (model.system, model.messages) == ("Be kind.", (("user", "Hi"), ("assistant", "Ho")))
    model.save_pretrained(tmp_path / "back")
    assert (tmp_path / "back" / "chat_template.jinja").read_text() == chat
    # Another SYSTEM is another beginning of the same template.
    assert model.modelfile is not None
    model.modelfile.set("system", "Be brief.")
    (tmp_path / "Modelfile").write_bytes(bytes(model.modelfile))
    Model.load(tmp_path / "Modelfile").save_pretrained(tmp_path / "other")
    assert (tmp_path / "other" / "chat_template.jinja").read_text() == chat.replace("Be kind.", "Be brief.")


def test_a_template_that_cannot_go_back_is_found_in_the_gguf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.gguf").write_bytes(gguf({**ENTRIES, "tokenizer.chat_template": CHAT_TEMPLATES[2]}))
    tokens = {"bos_token": "", "eos_token": "</s>"}
    template = to_go(CHAT_TEMPLATES[2], special_tokens=tokens).text
    path = tmp_path / "Modelfile"
    path.write_text(f'FROM ./m.gguf\nTEMPLATE """{template}"""\nSYSTEM Be kind.\n')

    def refuse(*_: Any, **__: Any) -> Any:
        raise UnsupportedTemplate("this cannot be said in Jinja")

    for module in ("transplate", "transplate.convert"):
        monkeypatch.setattr(f"{module}.to_jinja", refuse)
    Model.load(path).save_pretrained(tmp_path / "out")
    chat = (tmp_path / "out" / "chat_template.jinja").read_text()
    assert chat == with_beginning(CHAT_TEMPLATES[2], "Be kind.", ())
    assert run(["convert", str(path), str(tmp_path / "t.jinja")]) == 0
    assert (tmp_path / "t.jinja").read_text() == chat
    path.write_text(f'FROM ./m.gguf\nTEMPLATE """{template}x"""\n')
    assert run(["convert", str(path), str(tmp_path / "t.jinja")]) == 1
    with pytest.raises(UnsupportedTemplate):
        Model.load(path).save_pretrained(tmp_path / "other")


def test_other_ways(tmp_path: Path) -> None:
    """From a folder to a folder, from a GGUF to a folder and back, and a template alone."""
    one = tmp_path / "one"
    one.mkdir()
    (one / "chat_template.jinja").write_text(CHAT_TEMPLATES[0])
    (one / "tokenizer_config.json").write_text('{"eos_token": "</s>"}')
    (one / "generation_config.json").write_text('{"temperature": 0.5, "eos_token_id": [2, 3]}')
    Model.load(one).save_pretrained(tmp_path / "other")
    assert {path.name: path.read_text() for path in one.iterdir()}.keys() == {
        path.name for path in (tmp_path / "other").iterdir()
    }
    assert Model.load(tmp_path / "other").generation == Model.load(one).generation
    (tmp_path / "m.gguf").write_bytes(gguf(ENTRIES))
    Model.load(tmp_path / "m.gguf").save_pretrained(tmp_path / "out")
    assert Model.load(tmp_path / "out").generation == {"stop_strings": ["</s>", "<user>"]}
    Model.load(tmp_path / "out").save_modelfile(tmp_path / "back.modelfile")
    Model.load(tmp_path / "m.gguf").save_modelfile(tmp_path / "direct.modelfile")
    back = (tmp_path / "back.modelfile").read_text()
    assert back == (tmp_path / "direct.modelfile").read_text()
    assert "m.gguf\nREQUIRES 0.30.0\n" in back
    (tmp_path / "t.gotmpl").write_text(TEMPLATES[0])
    Model.load(tmp_path / "t.gotmpl").save_pretrained(tmp_path / "alone")
    assert [path.name for path in (tmp_path / "alone").iterdir()] == ["chat_template.jinja"]


# --- real ones ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [modelfile_and_back, folder_and_back])
def test_pairs_of_the_library(
    shared_folder: Path, tmp_path: Path, way: Callable[[dict[str, Any], Path], str]
) -> None:
    """Some of them; ``python -m tests.models.pairs`` takes them all."""
    pairs = read_pairs(shared_folder)
    for number in range(0, len(pairs), 33):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert way(pairs[number], folder).startswith("came back")


def test_public_modelfiles(shared_folder: Path, tmp_path: Path) -> None:
    """Every seventh of them: converted, or refused with a reason; edited, and read back."""
    ends: Counter[str] = Counter()
    for number, text in enumerate(read_modelfiles(shared_folder)[::7]):
        folder = tmp_path / str(number)
        folder.mkdir()
        ends[edit_and_convert(text, folder)] += 1
    assert ends["converted"] > 5
    assert set(ends) <= {"converted", "no template", "refused by Ollama"}
