"""``transplate lint`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

_FINE = "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}<|assistant|>"
_WRONG = "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}"
_RULE = "no-generation-prompt"


def test_nothing_wrong(run: Run, folder: Path) -> None:
    (folder / "a.gotmpl").write_text(_FINE)
    result = run("lint", "a.gotmpl")
    assert (result.status, result.output) == (0, "no mistakes found\n")


def test_a_mistake(run: Run, folder: Path) -> None:
    (folder / "a.gotmpl").write_text(_WRONG)
    (folder / "b.gotmpl").write_text(_FINE)
    result = run("lint", "a.gotmpl", "b.gotmpl")
    assert result.status == 1
    assert result.output == (
        "a.gotmpl: error: the prompt of a question lacks '<|assistant|>', with which answers begin "
        f"[{_RULE}]\n"
    )
    assert run("lint", "a.gotmpl", "--ignore", _RULE).status == 0


def test_a_place(run: Run, folder: Path) -> None:
    (folder / "a.gotmpl").write_text("\n\n\n{{ if .Tools }}{{ .Tools }}{{ end }}" + _FINE)
    result = run("lint", "a.gotmpl")
    assert result.status == 1
    assert result.output.startswith("a.gotmpl:4:1: warning: ")


def test_notes_change_no_status(run: Run, folder: Path) -> None:
    (folder / "a.jinja").write_text(
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>"
    )
    result = run("lint", "a.jinja")
    assert result.status == 0
    assert "a.jinja: note: " in result.output


def test_the_rules(run: Run) -> None:
    from transplate.lint import RULES

    listed = [line.split()[0] for line in run("lint", "--rules").output.splitlines()]
    assert listed == [rule["name"] for rule in run("lint", "--rules", "--json").data] == list(RULES)


def test_a_template_that_takes_long_is_given_up_soon(run: Run, folder: Path) -> None:
    loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    (folder / "a.jinja").write_text(loops)
    result = run("lint", "a.jinja")
    assert "a.jinja" in result.output
    assert "500000 steps" in result.output


def test_json(run: Run, folder: Path) -> None:
    (folder / "a.gotmpl").write_text(_WRONG)
    (folder / "b.gotmpl").write_text("{{ if }}")
    result = run("lint", "a.gotmpl", "b.gotmpl", "c.gotmpl", "--json")
    assert result.status == 2
    data = result.data
    assert [finding["rule"] for finding in data["a.gotmpl"]["findings"]] == [_RULE]
    assert data["b.gotmpl"]["kind"] == "syntax"
    assert "c.gotmpl" in data["c.gotmpl"]["error"]
    assert "missing value for if" in result.errors


def test_the_project_says_what_to_ignore(run: Run, folder: Path) -> None:
    (folder / "a.gotmpl").write_text(_WRONG)
    (folder / "pyproject.toml").write_text(f'[tool.transplate.lint]\nignore = ["{_RULE}"]\n')
    assert run("lint", "a.gotmpl").status == 0
    (folder / "pyproject.toml").write_text('[tool.transplate.lint]\nollama = "0.10.0"\n')
    (folder / "a.gotmpl").write_text("{{ currentDate }}" + _FINE)
    result = run("lint", "a.gotmpl")
    assert result.status == 1
    assert "a.gotmpl:1:4: error: currentDate came with Ollama 0.11.1" in result.output
    assert run("lint", "a.gotmpl", "--ollama", "0.20.0").status == 0


def test_wrong_settings_are_refused(run: Run, folder: Path) -> None:
    (folder / "a.gotmpl").write_text(_FINE)
    for table, said in (
        ('[tool.transplate.lint]\nignore = "all"\n', "tool.transplate.lint.ignore is no list of texts"),
        ("[tool.transplate]\nignored = []\n", "tool.transplate.ignored is no setting"),
        ('[tool.transplate]\npairs = [["a.gotmpl"]]\n', "tool.transplate.pairs[0] is not two templates"),
        ('[tool.transplate.lint]\nignore = ["no-such"]\n', "no such rule: no-such"),
        ("[tool.transplate\n", "pyproject.toml"),
    ):
        (folder / "pyproject.toml").write_text(table)
        result = run("lint", "a.gotmpl")
        assert result.status == 2, table
        assert said in result.errors


def test_the_rules_are_listed(run: Run) -> None:
    result = run("lint", "--rules")
    assert result.status == 0
    assert f"{_RULE}  " in result.output
    assert run("lint").status == 2


def test_errors_name_their_file_and_stand_in_the_order_of_files(run: Run, folder: Path) -> None:
    (folder / "a.modelfile").write_text("SYSTEM no model\n")
    (folder / "b.modelfile").write_text(
        "FROM x\nRENDERER foo\nPARAMETER temprature 1\nPARAMETER top_k many\n"
    )
    result = run("lint", "a.modelfile", "b.modelfile")
    assert (result.status, result.errors) == (2, "error: a.modelfile: no FROM line\n")
    assert result.output.splitlines() == [
        "b.modelfile:2:1: error: Ollama has no renderer 'foo' [refused-by-ollama]",
        "b.modelfile:3:1: error: PARAMETER temprature: Ollama knows none of this name, and refuses to make "
        "the model [refused-by-ollama]",
        "b.modelfile:4:1: error: PARAMETER top_k: Ollama refuses the value 'many' [refused-by-ollama]",
    ]
    assert run("lint", "b.modelfile", "--ignore", "refused-by-ollama").status == 0


STOPPING = '''FROM no-such-model

# what it prints
TEMPLATE """{{ range .Messages }}<|im_start|>{{ .Role }}
{{ .Content }}<|im_end|>
{{ end }}{{ .Sytem }}<|im_start|>assistant
"""
PARAMETER temperature 1
PARAMETER stop "<|im_start|>"
'''


def test_places_in_a_modelfile(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(STOPPING.replace("{{ .Sytem }}", ""))
    result = run("lint", "Modelfile")
    assert result.status == 1
    assert "Modelfile:9:1: warning: the stop '<|im_start|>' stands in the opening of turns" in result.output
    (warning,) = (line for line in run("lint", "Modelfile", "--format", "github").output.splitlines())
    assert warning.startswith("::warning file=Modelfile,line=9,col=1,title=stop-opens-turn::")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_annotations_are_at_the_lines_of_a_modelfile(run: Run, folder: Path, line_end: str) -> None:
    text = STOPPING.replace("{{ range .Messages }}", "<s><s>{{ range .Messages }}").replace(
        "{{ .Sytem }}", ""
    )
    (folder / "Modelfile").write_bytes(text.replace("\n", line_end).encode())
    (folder / "same.gotmpl").write_text("{{ range .Messages }}{{ .Content }}{{ end }}")
    bos, *_ = (
        line
        for line in run("lint", "Modelfile", "--format", "github").output.splitlines()
        if "double-bos" in line
    )
    assert bos.startswith("::error file=Modelfile,line=4,col=13,title=double-bos::")
    checked = run("check", "--quick", "Modelfile", "same.gotmpl", "--format", "sarif").output
    places = [
        place["physicalLocation"]
        for result in json.loads(checked)["runs"][0]["results"]
        for place in (*result["locations"], *result["relatedLocations"])
    ]
    lines = {p["region"]["startLine"] for p in places if p["artifactLocation"]["uri"] == "Modelfile"}
    assert lines
    assert lines <= {4, 5, 6}
