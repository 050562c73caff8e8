"""``transplate convert MODEL Modelfile``: a Hugging Face folder or a GGUF to a Modelfile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_folders import CONVERSATIONS, MODELFILE
from tests.models.test_sources import ENTRIES, gguf
from transplate import JinjaTemplate, Model, Modelfile, OllamaTemplate
from transplate.convert.beginning import with_beginning

CHATML = (
    "{{ bos_token }}{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@pytest.fixture
def model(folder: Path) -> Path:
    """A folder as transformers saves a model."""
    path = folder / "model"
    path.mkdir()
    (path / "chat_template.jinja").write_text(CHATML)
    (path / "tokenizer_config.json").write_text(
        '{"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": true}'
    )
    (path / "generation_config.json").write_text('{"temperature": 0.6, "top_k": 20, "max_new_tokens": 9}')
    return path


def test_a_folder_becomes_a_modelfile(run: Run, model: Path, folder: Path) -> None:
    result = run("convert", "model", "Modelfile")
    assert (result.status, result.output) == (0, "")
    assert "stop </s>: the eos token" in result.errors
    assert "stop <|im_end|>: ends the assistant's turns in prompts" in result.errors
    assert "bos: Ollama's tokenizer adds <s>, so the TEMPLATE does not" in result.errors
    modelfile = Modelfile.parse((folder / "Modelfile").read_bytes())
    assert modelfile.get("from") == "./model"
    assert modelfile.values("stop") == ["</s>", "<|im_end|>"]
    assert [modelfile.get(name) for name in ("temperature", "top_k", "num_predict")] == ["0.6", "20", "9"]
    go = OllamaTemplate(modelfile.get("template") or "")
    jinja = JinjaTemplate(CHATML, special_tokens={"bos_token": ""})
    for messages in CONVERSATIONS:
        assert go.render(messages) == jinja.render(messages)
    assert model.is_dir()


def test_a_tokenizer_that_adds_no_bos_leaves_it_to_the_template(run: Run, model: Path, folder: Path) -> None:
    (model / "tokenizer_config.json").write_text('{"bos_token": "<s>", "add_bos_token": false}')
    assert run("convert", "model", "Modelfile").status == 0
    modelfile = Modelfile.parse((folder / "Modelfile").read_bytes())
    assert (
        OllamaTemplate(modelfile.get("template") or "").render(CONVERSATIONS[0]).startswith("<s><|im_start|>")
    )


def test_bos_is_printed_once_whatever_from_says(run: Run, model: Path, folder: Path) -> None:
    (model / "tokenizer_config.json").write_text('{"bos_token": "<s>", "eos_token": "</s>"}')
    for adds_bos in (True, False):
        (folder / "base.gguf").write_bytes(gguf({**ENTRIES, "tokenizer.ggml.add_bos_token": adds_bos}))
        result = run("convert", "model", "Modelfile", "--from", "./base.gguf", "--force")
        modelfile = Modelfile.parse((folder / "Modelfile").read_bytes())
        assert modelfile.get("from") == "./base.gguf"
        assert (modelfile.get("template") or "").startswith("<s>") is not adds_bos
        assert ("bos: Ollama's tokenizer adds <s>" in result.errors) is adds_bos
    result = run("convert", "model", "Modelfile", "--from", "elsewhere", "--force")
    assert "FROM elsewhere: not here, so that whether its tokenizer adds BOS" in result.errors


def test_a_modelfile_comes_back_as_it_was(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE)
    assert run("convert", "Modelfile", "out/").status == 0
    assert run("convert", "out", "back.modelfile").status == 0
    assert (folder / "back.modelfile").read_text() == MODELFILE
    generation = folder / "out" / "generation_config.json"
    generation.write_text(json.dumps(json.loads(generation.read_text()) | {"temperature": 0.9}))
    assert run("convert", "out", "back.modelfile", "--force").status == 0
    expected = MODELFILE.replace("temperature 0.5", "temperature 0.9")
    assert (folder / "back.modelfile").read_text() == expected


def test_another_template_than_was_written_is_converted_anew(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE)
    assert run("convert", "Modelfile", "out/").status == 0
    (folder / "out" / "chat_template.jinja").write_text(CHATML)
    assert run("convert", "out", "back.modelfile").status == 0
    back = Model.load(folder / "back.modelfile")
    assert back.system == ""
    assert back.parameters["stop"] == ["<|im_end|>"]


def test_of_an_edited_chat_template_only_the_template_is_new(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text("# Ours.\n" + MODELFILE)
    assert run("convert", "Modelfile", "out/").status == 0
    chat = folder / "out" / "chat_template.jinja"
    chat.write_text(chat.read_text().replace("im_start", "im_open"))
    result = run("convert", "out", "back.modelfile")
    assert result.status == 0
    assert "takes the Modelfile that the folder was made from, for the chat template that is" in result.errors
    before, after = (
        Modelfile.parse("# Ours.\n" + MODELFILE),
        Modelfile.parse(Path("back.modelfile").read_text()),
    )
    assert str(after).startswith("# Ours.\n")
    assert [one for one in after.commands if one.name != "template"] == [
        one for one in before.commands if one.name != "template"
    ]
    messages = CONVERSATIONS[0]
    prompt = OllamaTemplate(before.get("template") or "").render(messages).replace("im_start", "im_open")
    assert OllamaTemplate(after.get("template") or "").render(messages) == prompt
    assert run("convert", "out", "other.modelfile", "--from", "llama3.2").status == 0
    assert Modelfile.parse(Path("other.modelfile").read_text()).get("from") == "llama3.2"
    assert "num_ctx 64" in Path("other.modelfile").read_text()


def test_an_edited_system_prompt_is_the_new_system(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE.replace("MESSAGE", "# MESSAGE"))
    assert run("convert", "Modelfile", "out/").status == 0
    chat = folder / "out" / "chat_template.jinja"
    chat.write_text(chat.read_text().replace("Be ", "Be always "))
    assert run("convert", "out", "back.modelfile").status == 0
    back = Model.load(folder / "back.modelfile")
    assert (back.system, back.parameters["num_ctx"]) == ('Be always "brief".\nDon\'t \\ stray.', 64)
    assert back.template is not None
    assert "brief" not in back.template.text


def test_what_a_model_begins_with_comes_back_without_the_file_that_keeps_it(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE)
    assert run("convert", "Modelfile", "out/").status == 0
    (folder / "out" / "ollama.json").unlink()
    result = run("convert", "out", "back.modelfile")
    assert result.status == 0
    before, back = Model.load(folder / "Modelfile"), Model.load(folder / "back.modelfile")
    assert (back.system, back.messages) == (before.system, before.messages)
    assert back.parameters["stop"] == before.parameters["stop"]
    assert back.template is not None
    assert before.template is not None
    for messages in CONVERSATIONS:
        prompts = [OllamaTemplate(one.template.text).render(messages) for one in (back, before)]  # type: ignore[union-attr]
        assert prompts[0] == prompts[1]


def test_a_chat_template_that_begins_as_no_modelfile_can(run: Run, folder: Path) -> None:
    (folder / "m").mkdir()
    chat = with_beginning(CHATML.replace("{{ bos_token }}", ""), "", (("tool", "Hi"),))
    (folder / "m" / "chat_template.jinja").write_text(chat)
    assert run("convert", "m", "Modelfile").status in (0, 1)
    back = Model.load(folder / "Modelfile")
    assert back.messages == ()
    assert back.template is not None
    assert "Hi" in back.template.text


def test_messages_of_a_modelfile_hide_no_other_difference(run: Run, folder: Path) -> None:
    """Ollama joins the last of them with an answer that comes first; whatever else differs counts."""
    (folder / "m").mkdir()
    chat = folder / "m" / "chat_template.jinja"
    history = (("user", "Hi"), ("assistant", "Ho"))
    chatml = CHATML.replace("{{ bos_token }}", "")
    chat.write_text(with_beginning(chatml, "", history))
    result = run("convert", "m", "fine.modelfile")
    assert result.status == 0
    assert "same-role-assistant, assistant-first\n" in result.errors
    assert Model.load(folder / "fine.modelfile").messages == history
    # Ollama joins these two whatever follows them.
    chat.write_text(
        with_beginning(CHATML.replace("{{ bos_token }}", ""), "", (("user", "Hi"), ("user", "Ho")))
    )
    result = run("convert", "m", "other.modelfile")
    assert result.errors.startswith("different on ")
    assert result.status == 1


def test_an_edited_chat_template_is_no_renderer(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text("FROM x\nRENDERER qwen3-coder\nPARSER qwen3-coder\nPARAMETER top_k 3\n")
    assert run("convert", "Modelfile", "out/").status == 0
    (folder / "out" / "chat_template.jinja").write_text(CHATML)
    result = run("convert", "out", "back.modelfile")
    assert "RENDERER qwen3-coder is left out: the chat template prints other prompts" in result.errors
    back = Model.load(folder / "back.modelfile")
    assert (back.renderer, back.parser, back.parameters["top_k"]) == ("", "qwen3-coder", 3)
    assert back.template is not None


def test_a_gguf_keeps_its_own_template(run: Run, folder: Path) -> None:
    (folder / "tiny.gguf").write_bytes(gguf(ENTRIES))
    result = run("convert", "tiny.gguf", "Modelfile")
    assert result.status == 0
    assert (
        "road: gguf_chat_template, without TEMPLATE: the GGUF's own chat template makes the prompts"
        in result.errors
    )
    assert (
        folder / "Modelfile"
    ).read_text() == "FROM ./tiny.gguf\nREQUIRES 0.30.0\nPARAMETER stop </s>\nPARAMETER stop <user>\n"


def test_what_is_there_survives(run: Run, model: Path, folder: Path) -> None:
    assert model.is_dir()
    (folder / "Modelfile").write_text("FROM mine\n")
    result = run("convert", "model", "Modelfile")
    assert (result.status, result.output) == (2, "")
    assert "error: Modelfile: is there already: --force replaces it" in result.errors
    assert run("convert", "model", "Modelfile", "--dry-run").status == 0
    assert (folder / "Modelfile").read_text() == "FROM mine\n"


def test_a_template_alone_is_no_model(run: Run, folder: Path) -> None:
    (folder / "t.jinja").write_text(CHATML)
    result = run("convert", "t.jinja", "Modelfile")
    assert (result.status, result.output) == (2, "")
    assert "--from says what the Modelfile is made from" in result.errors


def test_a_template_goes_into_a_copy_of_a_gguf(run: Run, folder: Path) -> None:
    old = gguf(ENTRIES)
    (folder / "old.gguf").write_bytes(old)
    (folder / "t.jinja").write_text(CHATML)
    assert run("convert", "t.jinja", "new.gguf", "--base", "old.gguf", "--dry-run").status == 0
    assert not (folder / "new.gguf").exists()
    result = run("convert", "t.jinja", "new.gguf", "--base", "old.gguf")
    assert (result.status, result.output, result.errors) == (0, "", "wrote new.gguf\n")
    assert run("convert", "t.jinja", "n.gguf", "--base", "t.jinja", "--dry-run").status == 2
    (folder / "t.gotmpl").write_text("{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}")
    result = run("convert", "t.gotmpl", "new.gguf", "--base", "old.gguf", "--dry-run")
    assert (result.status, result.output) == (0, "")
    assert result.errors.startswith("equal on ")
    assert "assumes alternating-roles" in result.errors
    data = run("convert", "t.gotmpl", "new.gguf", "--base", "old.gguf", "--dry-run", "--json").data
    assert (data["written"], data["parity"]["verdict"]) == (False, "different")
    assert "message.content" in data["text"]
    template = Model.load(folder / "new.gguf").chat_template
    assert template is not None
    assert template.text == CHATML
    assert (folder / "old.gguf").read_bytes() == old
    assert "--force replaces it" in run("convert", "t.jinja", "new.gguf", "--base", "old.gguf").errors
    assert (
        "is the base itself" in run("convert", "t.jinja", "old.gguf", "--base", "old.gguf", "--force").errors
    )
    assert run("convert", "t.jinja", "--base", "old.gguf").status == 2
    assert "damaged" not in run("old.gguf").errors


def test_a_parameter_that_ollama_refuses_lets_a_conversion_fail(run: Run, folder: Path) -> None:
    text = 'FROM nothing\nTEMPLATE """{{ .Prompt }}"""\nPARAMETER top_k many\n'
    (folder / "Modelfile").write_text(text)
    said = "PARAMETER top_k: Ollama refuses the value 'many'"
    for arguments in (
        ("Modelfile", "model/"),
        ("model", "back.modelfile"),
        ("Modelfile", "repository/", "--to", "hub"),
        ("Modelfile", "other.modelfile", "--from", "other"),
    ):
        result = run("convert", *arguments)
        assert (result.status, said in result.errors, "wrote" in result.errors) == (1, True, True)
    assert (folder / "back.modelfile").read_text() == text
    (folder / "Modelfile").write_text(text.replace("many", "5"))
    assert run("convert", "Modelfile", "good/").status == 0


def test_settings_that_a_folder_got_later_are_told(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text('FROM nothing\nTEMPLATE """{{ .Prompt }}"""\nPARAMETER top_k 5\n')
    assert run("convert", "Modelfile", "model/").status == 0
    assert "no PARAMETER" not in run("convert", "model", "same.modelfile").errors
    path = folder / "model" / "generation_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"no_repeat_ngram_size": 3, "top_k": 7}))
    result = run("convert", "model", "back.modelfile")
    assert "no PARAMETER says what generation_config.json says of no_repeat_ngram_size" in result.errors
    assert "PARAMETER top_k 7" in (folder / "back.modelfile").read_text()
