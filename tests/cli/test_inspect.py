"""``transplate SRC``: what a template is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.models.test_sources import ENTRIES, gguf

TEMPLATES = Path(__file__).parents[2] / "templates"


def test_go_template(run: Run) -> None:
    path = TEMPLATES / "gotmpl" / "chatml-tools-thinking.gotmpl"
    result = run(path)
    assert (result.status, result.errors) == (0, "")
    first, *rest = result.output.splitlines()
    assert first == f"{path}: Ollama Go template, {path.read_text().count(chr(10))} lines"
    facts = {line[:18].strip(): line[18:] for line in rest}
    assert facts["abilities"] == "tools, thinking"
    assert facts["thinking tags"] == "<think>, </think>"
    assert facts["tool call tag"] == "<tool_call>"
    assert facts["roles"] == "assistant, tool, user"


def test_chat_template(run: Run) -> None:
    path = TEMPLATES / "jinja" / "gemma.jinja"
    result = run(path)
    assert result.status == 0
    assert result.output.startswith(f"{path}: Hugging Face chat template (Jinja), ")


def test_json(run: Run) -> None:
    result = run(TEMPLATES / "gotmpl" / "legacy.gotmpl", "--json")
    assert result.status == 0
    assert result.data["language"] == "gotmpl"
    assert result.data["abilities"] == []


def test_standard_input(run: Run) -> None:
    assert run("-", stdin="{{ .Prompt }}").output.startswith("standard input: Ollama Go template, 1 line")


MODELFILE = '''FROM ./nothing.gguf
TEMPLATE """{{ range .Messages }}<|im_start|>{{ .Role }}
{{ .Content }}<|im_end|>
{{ end }}<|im_start|>assistant
"""
SYSTEM Be brief.
PARAMETER stop <|im_start|>
PARAMETER stop <|im_end|>
PARAMETER temperature 0.5
'''


def test_modelfile(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE)
    result = run("Modelfile")
    assert (result.status, result.errors) == (0, "")
    first, *rest = result.output.splitlines()
    assert first == "Modelfile: Modelfile"
    facts = {line[:18].strip(): line[18:] for line in rest}
    assert facts["road"].startswith("go_template: ")
    assert facts["parameters"] == "stop <|im_start|>, stop <|im_end|>, temperature 0.5"
    assert "warning: FROM ./nothing.gguf: no such file\n" in result.output
    assert "warning: the stop '<|im_start|>' opens a turn, it does not end one" in result.output
    assert "'<|im_end|>' opens" not in result.output
    assert rest[-1] == "next: transplate convert Modelfile model/"
    assert run("Modelfile", "--json").data["parameters"][-1] == "temperature 0.5"


def test_modelfile_on_standard_input_renders_with_its_system_prompt(run: Run) -> None:
    modelfile = MODELFILE + "MESSAGE user Hi\nMESSAGE assistant Hello\n"
    result = run("render", "-", "-m", "Bye", stdin=modelfile)
    turns = [("system", "Be brief."), ("user", "Hi"), ("assistant", "Hello"), ("user", "Bye")]
    expected = "".join(f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in turns)
    assert result.output == expected + "<|im_start|>assistant\n"
    assert "Be brief." not in run("render", "-", "-s", "Be kind.", "-m", "Bye", stdin=modelfile).output


def test_a_renderer_leaves_the_template_unused(run: Run) -> None:
    result = run("-", "--json", stdin=MODELFILE + "RENDERER qwen3-coder\n")
    assert result.data["road"].startswith("renderer: ")
    assert any("never run" in warning for warning in result.data["warnings"])


def test_a_modelfile_that_ollama_refuses(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text("FROM a\nFORM b\n")
    result = run("Modelfile")
    assert result.status == 2
    assert "(line 2): command must be one of" in result.errors
    assert "Modelfile:2:1 | FORM b" in result.errors


def test_a_modelfile_whose_template_is_in_a_model_that_is_not_here(run: Run) -> None:
    result = run("render", "-", stdin="FROM ./nothing.gguf\nSYSTEM x\n")
    assert (result.status, result.output) == (2, "")
    assert result.errors == "error: standard input: has no template; FROM ./nothing.gguf: no such file\n"
    assert run("-", stdin="FROM ./nothing.gguf\n").status == 0


def lines_of(result: object) -> dict[str, str]:
    """What is shown, by its label."""
    text: str = result.output  # type: ignore[attr-defined]
    return {line[:18].strip(): line[18:] for line in text.splitlines()[1:]}


CHATML = (
    "{% if messages[0].role != 'system' %}{{ '<|im_start|>system\\nBe kind.<|im_end|>\\n' }}{% endif %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}"
)


def test_what_a_chat_template_does(run: Run, folder: Path) -> None:
    (folder / "t.jinja").write_text(
        CHATML + "{{ tools }}{{ date_string }}<think></think>{{ raise_exception }}"
    )
    shown = lines_of(run("t.jinja"))
    assert shown["abilities"] == "thinking, tools"
    assert shown["variables"] == "date_string, messages, tools"
    (folder / "t.jinja").write_text(CHATML)
    result = run("t.jinja")
    shown = lines_of(result)
    assert shown["default system"] == "Be kind."
    assert shown["ends of answers"] == "<|im_end|> (ends the assistant's turns in prompts)"
    assert result.output.endswith("next: transplate convert t.jinja template.gotmpl\n")


def test_a_folder_is_what_ollama_would_import(run: Run, folder: Path) -> None:
    (folder / "model").mkdir()
    (folder / "model" / "chat_template.jinja").write_text(CHATML)
    (folder / "model" / "tokenizer_config.json").write_text('{"eos_token": "<|im_end|>"}')
    result = run("model", "--json")
    assert result.data["road"].startswith("none: Ollama imports the chat template in tokenizer_config.json")
    assert result.data["ends_of_answers"] == ["<|im_end|> (the eos token)"]
    assert result.data["next"] == "transplate convert model Modelfile"
    (folder / "model" / "tokenizer_config.json").write_text('{"chat_template": "x{{ messages }}"}')
    result = run("model", "--json")
    assert result.data["road"].startswith("gguf_chat_template: ")
    (warning,) = result.data["warnings"]
    assert warning.endswith("hold different chat templates; chat_template.jinja counts")


def test_two_beginnings_and_a_system_prompt_in_vain(run: Run, folder: Path) -> None:
    (folder / "m.gguf").write_bytes(gguf(ENTRIES | {"tokenizer.chat_template": "{{ bos_token }}x"}))
    result = run("m.gguf")
    assert lines_of(result)["bos"] == "the tokenizer adds it; the template prints it"
    assert "warning: two <s>: the tokenizer adds one, and the template prints one" in result.output
    (folder / "Modelfile").write_text(
        "FROM ./m.gguf\nTEMPLATE {{ .Prompt }}\nSYSTEM Be brief.\nREQUIRES 0.31.0\n"
    )
    result = run("Modelfile")
    assert "warning: the template shows no system prompt, so SYSTEM has no effect" in result.output
    assert lines_of(result)["oldest ollama"] == "0.31.0"
    assert lines_of(result)["bos"] == "the tokenizer adds it"


@pytest.mark.parametrize(
    ("modelfile", "road"),
    [
        ("FROM gemma4:e2b\n", "unknown: it depends on gemma4:e2b, which is not here"),
        (
            "FROM gemma4:e2b\nTEMPLATE {{ .Prompt }}\n",
            "go_template: there is a TEMPLATE; gemma4:e2b, which is not here, may have what takes its place",
        ),
        (
            "FROM gemma4:e2b\nRENDERER gemma4\n",
            "renderer: RENDERER gemma4 is set: a renderer built into Ollama",
        ),
    ],
)
def test_a_base_that_is_not_here(run: Run, folder: Path, modelfile: str, road: str) -> None:
    (folder / "Modelfile").write_text(modelfile)
    assert run("Modelfile", "--json").data["road"].startswith(road)


def test_a_byte_order_mark(run: Run, folder: Path) -> None:
    (folder / "a.gotmpl").write_bytes(b"\xef\xbb\xbf{{ .Prompt }}")
    warning = "the template begins with a byte order mark, which every prompt then begins with, too"
    assert run("a.gotmpl", "--json").data["warnings"] == [warning]
