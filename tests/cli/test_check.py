"""``transplate check``: the verdict and how it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

TEMPLATES = Path(__file__).parents[2] / "templates"
GO, JINJA = TEMPLATES / "gotmpl", TEMPLATES / "jinja"
WEATHER = Path(__file__).parents[2] / "docs" / "examples" / "weather.json"
PAIRS = sorted(path.stem for path in GO.glob("*.gotmpl") if (JINJA / f"{path.stem}.jinja").exists())


def test_there_are_six_pairs() -> None:
    assert PAIRS == ["chatml", "chatml-tools-thinking", "gemma", "legacy", "llama3", "mistral"]


@pytest.mark.parametrize("stem", PAIRS)
def test_the_pairs_are_equal(run: Run, stem: str) -> None:
    result = run("check", GO / f"{stem}.gotmpl", JINJA / f"{stem}.jinja")
    assert (result.status, result.errors) == (0, "")
    assert result.output.startswith("equal on ")


def test_a_difference(run: Run, folder: Path) -> None:
    (folder / "a.jinja").write_text("{% for m in messages %}<{{ m.content }}>{% endfor %}")
    (folder / "b.jinja").write_text("{% for m in messages %}<{{ m.content }}]{% endfor %}")
    (folder / "one.json").write_text('[{"role": "user", "content": "line\\nsecond"}]')
    result = run("check", "a.jinja", "b.jinja", "one.json")
    assert (result.status, result.errors) == (1, "")
    assert result.output.startswith("different on 1 of 1 conversation\n")
    assert "a.jinja  line 2: <line\\nsecond>" in result.output
    assert "b.jinja  line 2: <line\\nsecond]" in result.output


def test_json(run: Run, folder: Path) -> None:
    (folder / "a.jinja").write_text("a")
    (folder / "b.jinja").write_text("b")
    result = run("check", "a.jinja", "b.jinja", "--json")
    assert result.status == 1
    assert result.data["equal"] is False
    assert result.data["differences"][0]["prompts"] == ["a", "b"]
    same = run("check", "a.jinja", "a.jinja", "--json")
    assert same.status == 0
    assert (same.data["equal"], same.data["differences"]) == (True, [])
    assert same.data["checked"] == result.data["checked"] > 10


def test_a_given_conversation(run: Run) -> None:
    result = run("check", GO / "mistral.gotmpl", JINJA / "mistral.jinja", WEATHER)
    assert (result.status, result.output) == (0, "equal on 1 conversation\n")


def test_conversation_that_cannot_be_read(run: Run, folder: Path) -> None:
    (folder / "bad.json").write_text("[")
    result = run("check", GO / "chatml.gotmpl", JINJA / "chatml.jinja", "bad.json")
    assert (result.status, result.output) == (2, "")
    assert result.errors.startswith("error: bad.json: is no JSON")
