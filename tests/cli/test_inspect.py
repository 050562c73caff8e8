"""``transplate SRC``: what a template is."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run

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
