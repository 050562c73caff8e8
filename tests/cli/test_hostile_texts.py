"""Nothing from a template or a conversation acts on the terminal or the CI that shows what is found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from transplate.cli.visible import harmless

_HOSTILE = "\n::error::pwn\n  ::add-mask::x\n##[add-mask]y\x1b[2J\x9b31m\x07\r\u202e"
_IN_JINJA = json.dumps(_HOSTILE)
_RAISING = "{% for m in messages %}{{ raise_exception(" + _IN_JINJA + ") }}{% endfor %}"
_PRINTING = "{% for m in messages %}{{ m.role }}{{ " + _IN_JINJA + " }}{{ m.content }}{% endfor %}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "raising.jinja").write_text(_RAISING)
    (tmp_path / "printing.jinja").write_text(_PRINTING)
    (tmp_path / "plain.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    (tmp_path / "::error::name.jinja").write_text("{{ messages[0].content }}{{ x.y.z }}")
    talk = {
        "name": _HOSTILE,
        "messages": [{"role": f"user{_HOSTILE}", "content": _HOSTILE, "name": _HOSTILE}],
    }
    (tmp_path / "talk.jsonl").write_text(json.dumps(talk) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "printing.jinja", "raising.jinja", "talk.jsonl"],
        ["check", "printing.jinja", "plain.jinja", "talk.jsonl", "-v"],
        ["check", "raising.jinja", "raising.jinja", "talk.jsonl"],
        ["check", "::error::name.jinja", "plain.jinja", "talk.jsonl", "-v"],
        ["check", "printing.jinja", "plain.jinja", "talk.jsonl", "--format", "junit"],
        ["check", "printing.jinja", "raising.jinja", "talk.jsonl", "--format", "html"],
        ["check", "printing.jinja", "raising.jinja", "talk.jsonl", "--format", "sarif"],
        ["check", "--injection", "printing.jinja", "-v"],
        ["lint", "raising.jinja", "printing.jinja", "::error::name.jinja"],
        ["render", "raising.jinja", "-m", "a"],
        ["render", "::error::name.jinja", "-m", "a"],
        ["convert", "raising.jinja"],
        ["check", "::error::missing\n::error::x", "plain.jinja"],
    ],
)
def test_no_message_gives_commands(
    folder: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    run = subprocess.run(
        [sys.executable, "-m", "transplate", *arguments], capture_output=True, check=False, timeout=120
    )
    assert run.returncode in (0, 1, 2)
    # What convert prints on standard output is a template.
    shown = run.stderr if arguments[0] == "convert" else run.stdout + run.stderr
    text = shown.decode()
    assert text.strip()
    assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]
    assert not set(text) & set("\x1b\x9b\x07\r\u202e")
    assert "##[" not in text


def test_annotations_are_the_only_commands(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    command = ["check", "printing.jinja", "raising.jinja", "talk.jsonl", "--format", "github"]
    run = subprocess.run([sys.executable, "-m", "transplate", *command], capture_output=True, check=False)
    text = run.stdout.decode()
    assert text
    assert all(line.startswith("::error file=") for line in text.splitlines())
    assert not set(text) & set("\x1b\x9b\x07\r\u202e")


def test_a_prompt_is_printed_as_it_is(folder: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "transplate", "render", "printing.jinja", "-m", "a"],
        capture_output=True,
        check=True,
        cwd=folder,
    )
    assert run.stdout.decode() == f"user{_HOSTILE}a"


def test_colours_stay_where_they_are_meant() -> None:
    text = "\x1b[31m::error::x\x1b[0m\x1b[2J"
    assert harmless(text, is_styled=True) == "\x1b[31m:<U+003A>error::x\x1b[0m<U+001B>[2J"
    assert harmless(text) == "<U+001B>[31m:<U+003A>error::x<U+001B>[0m<U+001B>[2J"
