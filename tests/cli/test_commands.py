"""What all commands share: help, version, usage errors, files that cannot be read."""

import subprocess
import sys
from pathlib import Path

import pytest

import transplate
from tests.cli.conftest import Run

FOUND_IN_A_FOLDER = "chat_template.jinja, tokenizer_config.json, Ollama files or GGUF"


def test_version(run: Run) -> None:
    result = run("--version")
    assert (result.status, result.output) == (0, f"transplate {transplate.__version__}\n")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["-h"], ["render", "--help"], ["convert", "-h"], ["check", "-h"]]
)
def test_help_has_examples(run: Run, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.status == 0
    assert "Usage: transplate" in result.output
    assert "Examples:\n  transplate" in result.output.replace("  " * 2, "  ")
    assert max(map(len, result.output.splitlines())) <= 110


def test_unknown_command(run: Run) -> None:
    result = run("rendr", "x")
    assert (result.status, result.output) == (2, "")
    assert "no such command or file: 'rendr'; did you mean 'render'?" in result.errors


def test_unknown_option(run: Run) -> None:
    result = run("render", "--nonsense")
    assert result.status == 2
    assert "--nonsense" in result.errors


@pytest.mark.parametrize("command", [["render", "X"], ["convert", "X"], ["check", "X", "X"], ["X"]])
class TestSource:
    """A source that is no template, given to each command."""

    @staticmethod
    def arguments(command: list[str], path: Path) -> list[str]:
        return [str(path) if word == "X" else word for word in command]

    def test_missing(self, run: Run, command: list[str], folder: Path) -> None:
        path = folder / "missing.gotmpl"
        result = run(*self.arguments(command, path))
        assert (result.status, result.output) == (2, "")
        expected = "no such command or file" if command == ["X"] else f"error: {path}: no such file\n"
        assert expected in result.errors

    def test_folder(self, run: Run, command: list[str], folder: Path) -> None:
        result = run(*self.arguments(command, folder))
        assert (result.status, result.output) == (2, "")
        assert result.errors == f"error: {folder}: no {FOUND_IN_A_FOLDER} in this folder\n"

    def test_binary(self, run: Run, command: list[str], folder: Path) -> None:
        path = folder / "picture.gotmpl"
        path.write_bytes(b"\x89PNG\r\n\x1a\n\x00")
        result = run(*self.arguments(command, path))
        assert (result.status, result.output) == (2, "")
        assert result.errors == f"error: {path}: not a text file: byte 0x89 at offset 0 is not UTF-8\n"

    def test_syntax_error_shows_the_place(self, run: Run, command: list[str], folder: Path) -> None:
        path = folder / "bad.gotmpl"
        path.write_text("Hello\n{{ if }}\n")
        result = run(*self.arguments(command, path))
        assert (result.status, result.output) == (2, "")
        first, excerpt, caret = result.errors.splitlines()
        assert first == "error: template: :2: missing value for if"
        assert excerpt == f"{path}:2:7 | {{{{ if }}}}"
        assert caret.index("^") == excerpt.index("}}")


def test_module_runs_as_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "transplate", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"transplate {transplate.__version__}\n"


def test_a_model_that_is_not_here_can_be_pulled(run: Run) -> None:
    result = run("llama3.99")
    assert result.status == 2
    assert (
        "no such command or file: 'llama3.99', and no model in Ollama's store (ollama pull" in result.errors
    )
