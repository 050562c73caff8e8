"""The README shows what the program really prints."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run  # noqa: F401 - a fixture

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def shown_commands() -> list[tuple[str, str]]:
    """Each ``$ transplate …`` of the blocks marked as output, with what the README shows below it."""
    shown = []
    for block in re.findall(r"<!-- output -->\n```console\n(.*?)```", README, re.DOTALL):
        for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = command.partition("\n")
            shown.append((line, output))
    return shown


def test_the_readme_shows_commands() -> None:
    assert shown_commands()


@pytest.mark.parametrize(("line", "shown"), shown_commands())
def test_output_in_the_readme(line: str, shown: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "110")
    program, *arguments = shlex.split(line)
    assert program == "transplate"
    result = run(*arguments)
    # A terminal starts a new line between the two.
    printed = "\n".join(part.removesuffix("\n") for part in (result.output, result.errors) if part)
    assert printed.splitlines() == shown.splitlines()


def test_python_in_the_readme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    code = "\n".join(re.findall(r"<!-- doctest -->\n```python\n(.*?)```", README, re.DOTALL))
    assert ">>>" in code
    test = doctest.DocTestParser().get_doctest(code, {}, "README", "README.md", 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.summarize().failed == 0


@pytest.mark.parametrize("name", ["main", "test"])
def test_each_command_is_one_line(name: str) -> None:
    block = re.search(rf"^<!-- command: {name} -->\n```console\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert block
    assert block[1].startswith("$ python3 -m venv .venv && ")
    assert block[1].count("\n") == 1


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
