"""The README shows what the program really prints."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run  # noqa: F401 - a fixture
from tests.console import AT_THE_ROOT, joined, shown_commands

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [command for page in AT_THE_ROOT for command in shown_commands(page)]


def test_the_pages_show_commands() -> None:
    assert all(shown_commands(page) for page in AT_THE_ROOT)


@pytest.mark.parametrize(("line", "shown"), COMMANDS)
def test_output_in_the_readme(line: str, shown: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "110")
    program, *arguments = shlex.split(line)
    assert program == "transplate"
    result = run(*arguments)
    assert joined(result.output, result.errors).splitlines() == shown.splitlines()


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
    assert [link for link in links if not _leads_somewhere(link)] == []


def _leads_somewhere(link: str) -> bool:
    """Return whether there is the file of a link, and the heading in it if the link names one."""
    name, _, anchor = link.partition("#")
    path = ROOT / name
    if not path.exists() or not anchor:
        return path.exists()
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return anchor in [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]
