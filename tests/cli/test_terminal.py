"""What a check says to people in a terminal, as snapshots; ``--snapshot-update`` accepts changes.

Whatever there is to say fits 24 lines, the first of which holds the verdict and the counts; ``-v`` says all.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.conftest import Run
from tests.conftest import REPOSITORY

_LINES = 24
_TURNS = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\n{% endfor %}<|assistant|>"
_TOOLS = "{% if tools %}<|tools|>{% endif %}" + _TURNS
_FAILS = "{{ raise_exception('never') }}"
_LONG = _TURNS.replace("<|assistant|>", "<|assistant|>" + "long " * 60)
CASES = {
    "equal": (_TURNS, _TURNS + "{# the same #}", ()),
    "equal under a condition": (_TURNS, _TOOLS, ()),
    "one kind": (_TURNS, _TURNS.replace("\n", ""), ()),
    "nothing compared": (_FAILS, _FAILS + " ", ()),
    "one side fails": (_TURNS, _FAILS, ()),
    "a long line": (_TURNS, _LONG, ()),
    "a long line, verbose": (_TURNS, _LONG, ("-v",)),
    "many kinds": ("gotmpl/chatml.gotmpl", "jinja/gemma.jinja", ()),
    "many kinds, verbose": ("gotmpl/chatml.gotmpl", "jinja/gemma.jinja", ("-v",)),
    "seeds": ("gotmpl/cohere-tools.gotmpl", "jinja/cohere-command.jinja", ()),
}


def laid_out(folder: Path, stem: str, template: str) -> str:
    """Write a template, or one of this project, into a folder and return the name of the file."""
    own = REPOSITORY / "templates" / template
    is_own = "{" not in template
    name = stem + (own.suffix if is_own else ".jinja")
    (folder / name).write_text(own.read_text(encoding="utf-8") if is_own else template, encoding="utf-8")
    return name


@pytest.mark.parametrize(
    ("name", "columns"), [*((name, 80) for name in CASES), ("many kinds", 120), ("a long line", 120)]
)
def test_a_comparison(
    run: Run,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
    name: str,
    columns: int,
) -> None:
    first, second, options = CASES[name]
    sources = [laid_out(folder, stem, text) for stem, text in (("one", first), ("two", second))]
    monkeypatch.setenv("COLUMNS", str(columns))
    output = run("check", "--quick", *sources, *options).output
    lines = output.splitlines()
    assert lines[0].split(" ")[0] in ("EQUAL", "DIFFERENT", "NOTHING")
    if not options:
        assert len(lines) <= _LINES
        assert max(map(len, lines)) <= columns
    assert output == snapshot


@pytest.mark.parametrize("option", ["--cache", "--injection"])
def test_of_one_template(
    run: Run, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion, option: str
) -> None:
    monkeypatch.chdir(REPOSITORY / "templates" / "jinja")
    monkeypatch.setenv("COLUMNS", "100")
    output = run("check", option, "intern-s1.jinja").output
    assert len(output.splitlines()) <= _LINES
    assert output == snapshot
