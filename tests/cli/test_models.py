"""Whole models on the command line: where they go, what is said of them, and which template is taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.models.test_sources import ENTRIES, gguf
from transplate import Model, TransplateError

MODELFILE = (
    'FROM nothing\nTEMPLATE """[{{ .Prompt }}]"""\nSYSTEM Be kind.\nPARAMETER stop ]\nPARAMETER top_k 9\n'
)
CHAT = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}"


@pytest.fixture
def model(folder: Path) -> Path:
    path = folder / "model"
    path.mkdir()
    (path / "chat_template.jinja").write_text(CHAT)
    (path / "tokenizer_config.json").write_text('{"eos_token": "</s>"}')
    return path


def test_what_comes_from_ollama_becomes_a_folder(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE)
    result = run("convert", "Modelfile", "out")
    assert (result.status, result.output) == (0, "")
    assert (folder / "out" / "chat_template.jinja").is_file()
    assert "wrote out/chat_template.jinja" in result.errors
    assert run("convert", "Modelfile", "other.jinja").status == 0
    assert (folder / "other.jinja").is_file()
    (folder / "file").write_text("mine")
    assert run("convert", "Modelfile", "file").status == 2
    assert (folder / "file").read_text() == "mine"


def test_a_name_that_tells_nothing_is_asked_about(run: Run, model: Path) -> None:
    for source in ("model", "m.gguf"):
        (model.parent / "m.gguf").write_bytes(gguf(ENTRIES))
        result = run("convert", source, "out")
        assert (result.status, result.output) == (2, "")
        assert "a Modelfile or a folder? Call it out.modelfile or out/" in result.errors
        assert not (model.parent / "out").exists()
        assert run("convert", source, f"{source}-out", "--to", "hf").status == 0
        assert (model.parent / f"{source}-out" / "chat_template.jinja").is_file()
        assert run("convert", source, f"{source}-made", "--to", "modelfile").status == 0
        assert (model.parent / f"{source}-made").read_text().startswith("FROM ./")


def test_the_hubs_files_for_ollama(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE + "MESSAGE user Hi\n")
    result = run("convert", "Modelfile", "repository", "--to", "hub")
    assert result.status == 0
    assert "has no place in these files: MESSAGE" in result.errors
    files = {path.name: path.read_text() for path in (folder / "repository").iterdir()}
    assert files.pop("params") == json.dumps({"stop": ["]"], "top_k": 9}, indent=2) + "\n"
    assert files == {"template": "[{{ .Prompt }}]", "system": "Be kind."}
    # What they say is read back as Ollama reads it.
    there = Model.load(folder / "repository")
    written = Model.load(folder / "Modelfile")
    assert there.template is not None
    assert written.template is not None
    assert there.template.text == written.template.text
    assert (there.system, there.parameters) == (written.system, written.parameters)
    assert run("convert", "Modelfile", "repository", "--to", "hub").errors.endswith("has all of it already\n")
    (folder / "repository" / "system").write_text("Be mine.")
    refused = run("convert", "Modelfile", "repository", "--to", "hub")
    assert refused.status == 2
    assert "system is another: --force replaces it" in refused.errors
    assert run("convert", "Modelfile", "--to", "hub").status == 2


def test_a_chat_template_becomes_the_hubs_files(run: Run, model: Path) -> None:
    result = run("convert", "model", "repository", "--to", "hub")
    assert (result.status, "FROM" in result.errors) == (0, False)
    there = Model.load(model.parent / "repository")
    assert there.template is not None
    assert "range .Messages" in there.template.text
    assert there.parameters == {"stop": ["</s>"]}


def test_from_says_what_a_modelfile_is_made_from(run: Run, folder: Path) -> None:
    (folder / "t.jinja").write_text(CHAT)
    assert run("convert", "t.jinja", "Modelfile").status == 2
    result = run("convert", "t.jinja", "Modelfile", "--from", "llama3.2")
    assert result.status == 0
    assert (folder / "Modelfile").read_text().startswith("FROM llama3.2\nTEMPLATE ")
    assert run("convert", "t.jinja", "t.gotmpl", "--from", "llama3.2").status == 2
    (folder / "Modelfile").write_text("# mine\nFROM a\nADAPTER ./b\nSYSTEM x\n")
    assert run("convert", "Modelfile", "other.modelfile").status == 2
    assert run("convert", "Modelfile", "other.modelfile", "--from", "b").status == 0
    assert (folder / "other.modelfile").read_text() == "# mine\nFROM b\nADAPTER ./b\nSYSTEM x\n"


def test_nothing_is_written_to_be_shown(run: Run, model: Path) -> None:
    result = run("convert", "model", "Modelfile", "--dry-run", "--json")
    assert result.status == 0
    assert result.data["written"] is False
    assert result.data["files"]["Modelfile"].startswith("FROM ./model\n")
    assert result.data["parity"]["checked"] > 20
    assert "stop </s>: the eos token" in result.data["notes"]
    assert run("convert", "model/chat_template.jinja", "t.gotmpl", "--dry-run").errors.endswith(
        "would write t.gotmpl\n"
    )
    assert sorted(path.name for path in model.parent.iterdir()) == ["model"]


def test_named_chat_templates(run: Run, model: Path) -> None:
    (model / "additional_chat_templates").mkdir()
    (model / "additional_chat_templates" / "tool_use.jinja").write_text("T{{ messages[0].content }}")
    (model / "additional_chat_templates" / "rag.jinja").write_text("R{{ messages[0].content }}")
    (model.parent / "tools.json").write_text('[{"type": "function", "function": {"name": "f"}}]')
    assert run("render", "model", "-m", "Hi").output == "<user>Hi</s>"
    assert run("render", "model", "-m", "Hi", "--tools", "tools.json").output == "THi"
    assert run("render", "model", "-m", "Hi", "--chat-template", "rag").output == "RHi"
    result = run("render", "model", "-m", "Hi", "--chat-template", "none")
    assert (result.status, result.output) == (2, "")
    assert "its names are default, rag, tool_use" in result.errors
    left_out = "chat template rag, tool_use are left out"
    result = run("convert", "model", "t.gotmpl")
    assert result.status == 0
    assert left_out in result.errors
    assert left_out in run("convert", "model", "Modelfile").errors
    result = run("convert", "model", "r.gotmpl", "--chat-template", "rag")
    assert (result.status, left_out in result.errors) == (0, False)
    assert "}}R{{" in Path("r.gotmpl").read_text()
    assert run("convert", "model", "Modelfile", "--chat-template", "rag", "--force").status == 0
    assert "R{{" in Path("Modelfile").read_text()
    Path("c.json").write_text('[{"role": "user", "content": "x"}]')
    assert run("check", "model", "r.gotmpl", "c.json", "--chat-template", "rag").status == 0
    assert run("check", "model", "r.gotmpl", "c.json").status == 1
    assert "no chat template of the name" in run("check", "model", "t.gotmpl", "--chat-template", "x").errors
    assert "with names" in run("check", "t.gotmpl", "t.gotmpl", "--chat-template", "rag").errors


def test_named_chat_templates_stay_in_a_folder(run: Run, model: Path, folder: Path) -> None:
    (model / "additional_chat_templates").mkdir()
    (model / "additional_chat_templates" / "tool_use.jinja").write_text("T{{ messages[0].content }}")
    assert run("convert", "model", "other/").status == 0
    other, own = Model.load(folder / "other"), Model.load(model)
    assert {name: one.text for name, one in other.named.items()} == {
        name: one.text for name, one in own.named.items()
    }
    (folder / "old.gguf").write_bytes(gguf({**ENTRIES, "tokenizer.chat_template.rag": "R"}))
    result = run("convert", "model", "new.gguf", "--base", "old.gguf")
    assert result.errors == "chat template rag of old.gguf stays\nwrote new.gguf\n"
    assert {name: one.text for name, one in Model.load(folder / "new.gguf").named.items()} == {
        **{name: one.text for name, one in own.named.items()},
        "rag": "R",
    }
    # A name is a file's, and leads nowhere else.
    named = [{"name": "default", "template": CHAT}, {"name": "../../x", "template": CHAT}]
    (folder / "bad").mkdir()
    (folder / "bad" / "tokenizer_config.json").write_text(json.dumps({"chat_template": named}))
    result = run("convert", "bad", "out/")
    assert result.status == 2
    assert "'../../x' cannot be the name of a chat template's file" in result.errors
    (folder / "elsewhere").mkdir()
    (folder / "linked").mkdir()
    (folder / "linked" / "additional_chat_templates").symlink_to("../elsewhere")
    result = run("convert", "model", "linked/")
    assert result.status == 2
    assert "is in a folder that is a link" in result.errors
    assert not list((folder / "elsewhere").iterdir())
    assert [path.name for path in (folder / "linked").iterdir()] == ["additional_chat_templates"]


def test_what_a_template_cannot_have_is_said(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE)
    assert "Modelfile is a source of its own" in run("convert", ".", "x/").errors
    left_out = "left out: SYSTEM, PARAMETER stop, PARAMETER top_k, no part of a TEMPLATE (a Modelfile as DST"
    assert left_out in run("convert", "Modelfile", "t.gotmpl").errors
    left_out = (
        "left out: PARAMETER stop, PARAMETER top_k, no part of a chat template (a folder as DST keeps all"
    )
    assert left_out in run("convert", "Modelfile", "t.jinja").errors


def test_a_bare_template_says_what_ollama_refuses(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(
        'FROM nothing\nTEMPLATE """{{ .Prompt }}"""\nPARAMETER temperature 1e999\nPARAMETER heat 7\n'
    )
    for target in ("t.jinja", "t.gotmpl"):
        said = run("convert", "Modelfile", target).errors
        assert "PARAMETER temperature: Ollama refuses the value '1e999'" in said
        assert "PARAMETER heat: Ollama knows none of this name" in said


def test_a_name_that_tells_no_language_is_told_which_it_gets(run: Run, folder: Path) -> None:
    (folder / "t.jinja").write_text(CHAT)
    (folder / "t.gotmpl").write_text("[{{ .Prompt }}]")
    assert "wrote m, a Go template\n" in run("convert", "t.jinja", "m").errors
    assert "wrote m.txt, a chat template in Jinja\n" in run("convert", "t.gotmpl", "m.txt").errors
    assert run("convert", "t.gotmpl", "m.jinja").errors.endswith("wrote m.jinja\n")
    again = run("convert", "t.gotmpl", "m.jinja").errors
    assert again.endswith("wrote m.jinja, in place of what was there\n")


def test_special_tokens_are_part_of_a_template(run: Run, model: Path) -> None:
    (model / "chat_template.jinja").write_text("{{ bos_token }}" + CHAT.replace("</s>", "{{ eos_token }}"))
    (model / "tokenizer_config.json").write_text('{"bos_token": "<b>", "eos_token": "</e>"}')
    result = run("convert", "model", "t.gotmpl")
    assert result.status == 0
    assert run("render", "t.gotmpl", "-m", "x").output == run("render", "model", "-m", "x").output
    assert "<b><user>x</e>" in run("render", "t.gotmpl", "-m", "x").output
    assert run("convert", "model", "own.gotmpl", "--token", "eos_token=!").status == 0
    assert "<user>x!" in run("render", "own.gotmpl", "-m", "x").output
    Path("c.json").write_text('[{"role": "user", "content": "x"}]')
    assert run("check", "model", "own.gotmpl", "c.json", "--token", "eos_token=!").status == 0
    assert run("check", "model", "own.gotmpl", "c.json").status == 1
    # Where Ollama's tokenizer adds BOS, the template does not, and the other way round.
    (model / "tokenizer_config.json").write_text(
        '{"bos_token": "<b>", "eos_token": "</e>", "add_bos_token": true}'
    )
    assert "bos: Ollama's tokenizer adds <b>, so" in run("convert", "model", "t.gotmpl").errors
    assert "<b>" not in Path("t.gotmpl").read_text()
    Path("tiny.gguf").write_bytes(gguf(ENTRIES))
    Path("Modelfile").write_text('FROM ./tiny.gguf\nTEMPLATE """{{ .Prompt }}"""\nPARSER none\n')
    assert run("convert", "Modelfile", "t.jinja").status == 0
    assert run("render", "t.jinja", "-m", "x", "--token", "bos_token=<s>").output == "<s>x"


def test_errors_about_sources_are_json_where_that_is_asked_for(run: Run, folder: Path) -> None:
    result = run("nothere", "--json")
    assert (result.status, result.data["kind"]) == (2, "input")
    assert "no such command or file: 'nothere'" in result.data["error"]
    (folder / "mine").mkdir()
    result = run("ollama:mine", "--json")
    assert result.status == 2
    assert "the folder of this name is 'mine', without ollama: in front" in result.data["error"]


def test_tokens_and_the_generation_prompt(run: Run, folder: Path) -> None:
    (folder / "t.jinja").write_text(
        "{{ bos_token }}{{ messages[-1].content }}{{ x_token }}{% if add_generation_prompt %}+{% endif %}"
    )
    assert run("render", "t.jinja", "-m", "a").output == "a+"
    tokens = ["--token", "bos_token=<s>", "--token", "x_token=a=b"]
    assert run("render", "t.jinja", "-m", "a", *tokens).output == "<s>aa=b+"
    assert run("render", "t.jinja", "-m", "a", "--no-generation-prompt").output == "a"
    assert run("render", "t.jinja", "-m", "a", "-m", "b", "--generation-prompt").output == "b+"
    assert run("render", "t.jinja", "-m", "a", "--token", "x").status == 2
    (folder / "t.gotmpl").write_text("{{ .Prompt }}")
    assert run("render", "t.gotmpl", "-m", "a", "--no-generation-prompt").status == 2


def test_a_special_token_that_nothing_tells_is_asked_for(run: Run, folder: Path) -> None:
    (folder / "t.jinja").write_text(
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content + eos_token }}"
        "{% else %}[{{ m.content }}]{% endif %}{% endfor %}"
    )
    result = run("convert", "t.jinja", "t.gotmpl")
    assert result.status == 1
    assert "needs --token eos_token=TEXT: without it the template fails" in result.errors
    assert (
        "without --token bos_token=TEXT bos_token prints nothing, as it should where Ollama" in result.errors
    )
    assert "special_tokens=" not in result.errors
    hint = "hint: --token eos_token=TEXT gives"
    result = run("render", "t.jinja", "-m", "a", "-m", "b", "-m", "c")
    assert (result.status, hint in result.errors) == (2, True)
    assert hint in run("check", "t.jinja", "t.gotmpl", "--quick").errors
    (folder / "model").mkdir()
    (folder / "model" / "chat_template.jinja").write_text((folder / "t.jinja").read_text())
    result = run("convert", "model", "Modelfile")
    assert (result.status, "needs --token eos_token=TEXT" in result.errors) == (1, True)
    tokens = ["--token", "bos_token=<s>", "--token", "eos_token=</s>"]
    result = run("convert", "t.jinja", "t.gotmpl", *tokens)
    assert (result.status, "--token" in result.errors) == (0, False)
    assert run("render", "t.gotmpl", "-m", "a", "-m", "b", "-m", "c").output == "<s>[a]b</s>[c]"
    # One that only prints nothing hinders no conversation.
    (folder / "b.jinja").write_text("{{ bos_token }}{% for m in messages %}[{{ m.content }}]{% endfor %}")
    assert run("convert", "b.jinja", "b.gotmpl").status == 0
    result = run("render", "b.jinja", "-m", "a", "--token", "bos=<s>")
    assert (result.status, "'bos' is no special token" in result.errors) == (2, True)


def test_standard_input_is_read_once(run: Run) -> None:
    result = run("check", "-", "-", stdin="x")
    assert result.status == 2
    assert "can be read only once" in result.errors


def test_check_takes_the_system_prompt_and_the_messages_in(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(
        'FROM nothing\nTEMPLATE """{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}"""\n'
        "SYSTEM Be kind.\nMESSAGE user Hi\nMESSAGE assistant Ho\n"
    )
    (folder / "c.json").write_text('[{"role": "user", "content": "x"}]')
    assert run("convert", "Modelfile", "out").status == 0
    assert run("check", "Modelfile", "out", "c.json").status == 0
    assert run("check", "Modelfile", "out/chat_template.jinja", "c.json").status == 0
    (folder / "t.jinja").write_text("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    assert run("check", "Modelfile", "t.jinja", "c.json").status == 1


def test_fields_of_a_new_model_that_the_client_has_none_for(folder: Path) -> None:
    (folder / "a.gguf").write_bytes(gguf(ENTRIES))
    (folder / "b.gguf").write_bytes(b"x")
    (folder / "Modelfile").write_text("FROM ./a.gguf\nFROM ./b.gguf\nADAPTER ./b.gguf\nTEMPLATE x\n")
    fields = Model.load("Modelfile").create_fields()
    assert fields["files"].keys() == {"a.gguf", "b.gguf"}
    assert fields["adapters"] == {"b.gguf": fields["files"]["b.gguf"]}
    for line, said in (
        ("RENDERER qwen3-coder", "RENDERER"),
        ("REQUIRES 0.30.0", "REQUIRES"),
        ("DRAFT x", "DRAFT"),
    ):
        (folder / "Modelfile").write_text(f"FROM ./a.gguf\n{line}\n")
        with pytest.raises(TransplateError, match=f"no field for {said}"):
            Model.load("Modelfile").create_fields()
    (folder / "Modelfile").write_text("FROM .\n")
    with pytest.raises(TransplateError, match="no folder"):
        Model.load("Modelfile").create_fields()
    (folder / "sub").mkdir()
    (folder / "sub" / "a.gguf").write_bytes(b"y")
    (folder / "Modelfile").write_text("FROM ./a.gguf\nADAPTER ./sub/a.gguf\nTEMPLATE x\n")
    seen: list[tuple[int, int]] = []
    fields = Model.load("Modelfile").create_fields(progress=lambda done, total: seen.append((done, total)))
    size = (folder / "a.gguf").stat().st_size + 1
    assert seen == [(size - 1, size), (size, size)]
    assert fields["files"]["a.gguf"] != fields["adapters"]["a.gguf"]
    (folder / "Modelfile").write_text("FROM ./a.gguf\nFROM ./sub/a.gguf\nTEMPLATE x\n")
    with pytest.raises(TransplateError, match="of one name"):
        Model.load("Modelfile").create_fields()


def test_the_language_of_a_template_that_could_be_either(run: Run, folder: Path) -> None:
    (folder / "t").write_text("hello\n")
    assert run("t").output.startswith("t: Ollama Go template")
    assert run("t", "--language", "jinja").output.startswith("t: Hugging Face chat template")
    assert run("render", "-", "-m", "x", "--language", "jinja", stdin="hello\n").output == "hello"
    assert run("convert", "t", "--to", "gotmpl", "--language", "jinja").output.endswith("{{ end }}hello")
