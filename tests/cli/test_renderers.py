"""Ollama's built-in renderers as sources of every command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from transplate import JinjaTemplate, Model, check_parity
from transplate.models.chat_templates import chat_template_of
from transplate.models.prompts import template_of
from transplate.renderers import ServedRenderer, entry_of, names

TOOL = '[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]'


def test_inspect_names_parser_stops_and_flags(run: Run) -> None:
    facts = run("renderer:qwen3.5", "--json").data
    assert (facts["renderer"], facts["parser"], facts["ends_of_answers"]) == (
        "qwen3.5",
        "qwen3.5",
        ["<|im_end|>"],
    )
    assert facts["vllm"].endswith("--tool-call-parser qwen3_coder --reasoning-parser qwen3")
    assert facts["abilities"] == ["thinking", "tools"]


def test_an_unknown_renderer_names_the_known_ones(run: Run) -> None:
    result = run("render", "renderer:qwen4", "-m", "Hi")
    assert result.status == 2
    assert "Ollama has no renderer 'qwen4'; it has qwen3-coder, " in result.errors


def test_a_modelfile_renders_by_its_renderer(run: Run) -> None:
    text = "FROM ./no.gguf\nSYSTEM Be brief.\nRENDERER qwen3.5\nPARSER qwen3.5\n"
    expected = (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )
    assert run("render", "-", "-m", "Hi", stdin=text).output == expected + "<think>\n"
    assert run("render", "-", "-m", "Hi", "--think", "false", stdin=text).output.startswith(expected)
    assert run("-", stdin=text).output.count("warning: RENDERER") == 0


def test_a_parser_that_does_not_fit_is_a_warning_and_refuses_what_it_cannot(run: Run, folder: Path) -> None:
    text = "FROM ./no.gguf\nRENDERER qwen3.5\nPARSER olmo3-think\n"
    assert "RENDERER qwen3.5 goes with PARSER qwen3.5, not olmo3-think" in " ".join(
        run("-", "--json", stdin=text).data["warnings"]
    )
    (folder / "tools.json").write_text(TOOL)
    refused = run("render", "-", "-m", "Hi", "--tools", "tools.json", stdin=text)
    assert refused.errors.endswith("tools: the model does not support tools\n")
    refused = run("render", "renderer:olmo3", "-m", "Hi", "--think", "true")
    assert refused.errors.endswith("think: the model does not support thinking\n")


def test_a_renderer_becomes_a_chat_template_and_a_folder(run: Run, folder: Path) -> None:
    assert run("convert", "renderer:qwen3.5", "chat.jinja").status == 0
    prompt = run("render", "renderer:qwen3.5", "-m", "Hi").output
    assert run("render", "chat.jinja", "-m", "Hi").output == prompt
    (folder / "Modelfile").write_text("FROM ./no.gguf\nSYSTEM Be brief.\nRENDERER qwen3.5\nPARSER qwen3.5\n")
    assert run("convert", "Modelfile", "model/").status == 0
    prompt = run("render", "Modelfile", "-m", "Hi").output
    assert "Be brief." in prompt
    assert run("render", "model/", "-m", "Hi").output == prompt
    assert run("convert", "model/", "Modelfile.again").status == 0
    assert (folder / "Modelfile.again").read_text() == (folder / "Modelfile").read_text()


def test_a_renderer_becomes_a_modelfile(run: Run, folder: Path) -> None:
    assert run("convert", "renderer:lfm2", "Modelfile", "--from", "lfm2").status == 0
    written = (folder / "Modelfile").read_text()
    assert written == "FROM lfm2\nRENDERER lfm2\nPARSER lfm2\nPARAMETER stop <|im_end|>\n"


@pytest.mark.parametrize("name", names())
def test_as_a_chat_template_it_prints_what_the_server_makes(name: str) -> None:
    model = Model.load(f"renderer:{name}")
    served = template_of(model)
    assert isinstance(served, ServedRenderer)
    report = check_parity(served, JinjaTemplate(chat_template_of(model).text))
    # transformers cuts a last assistant's turn itself, which most renderers end.
    assert {one.conversation.name for one in report.differences} <= {"prefill", "prefill-turns"}
    assert entry_of(name).parser == model.parser


def test_the_size_of_gemma4_is_told_by_what_it_is_made_from(run: Run) -> None:
    for base, renderer in (("gemma4:31b", "gemma4-large"), ("gemma4:e4b", "gemma4-small")):
        text = f"FROM {base}\nRENDERER gemma4\nPARSER gemma4\n"
        expected = run("render", f"renderer:{renderer}", "-m", "Hi", "--think", "false").output
        assert run("render", "-", "-m", "Hi", "--think", "false", stdin=text).output == expected


@pytest.mark.usefixtures("folder")
def test_suggest_prints_the_lines_of_a_modelfile(run: Run) -> None:
    assert run("convert", "renderer:lfm2", "chat.jinja").status == 0
    result = run("suggest", "chat.jinja")
    first, *_ = result.output.splitlines()
    assert (result.status, first) == (0, "lfm2: the same on all 56 conversations")
    assert result.output.endswith("  RENDERER lfm2\n  PARSER lfm2\n  PARAMETER stop <|im_end|>\n")
    assert "prints so since some Ollama after 0.17.4\n" in result.output
    data = run("suggest", "chat.jinja", "--json").data[0]
    assert (data["always"], data["since"]) == (True, "")


def test_suggest_goes_by_requests_that_do_not_say_whether_to_think(run: Run) -> None:
    chatml = Path(__file__).parents[2] / "templates" / "gotmpl" / "chatml.gotmpl"
    result = run("suggest", chatml)
    lines = result.output.splitlines()
    assert result.status == 1
    assert lines[0] == "qwen3-vl-instruct: the same on 26 of 31 conversations, except where"
    others = [line.split(":")[0] for line in lines if line.startswith("qwen3-")][1:]
    assert others == ["qwen3-coder", "qwen3-vl-thinking"]
    assert "text differs" in result.output.split("qwen3-coder")[0]
    assert "in a Modelfile, if qwen3-vl-instruct is right for the model:" in lines


def test_suggest_says_no(run: Run, folder: Path) -> None:
    (folder / "chat.jinja").write_text("{{ messages }}")
    result = run("suggest", "chat.jinja")
    assert (result.status, result.output) == (1, "no renderer of Ollama prints these prompts\n")
