"""The pages for users show what the program really prints, from the first command to the last."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import run  # noqa: F401 - a fixture
from tests.console import AT_THE_ROOT, ENVIRONMENT, PAGES, joined, prepared, printed, shown_commands


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_shows(
    page: Path, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_command = request.getfixturevalue("run")
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(prepared(page, tmp_path))

    def program(*arguments: str) -> str:
        result = run_command(*arguments)
        assert result.status == 0, arguments
        return joined(result.output, result.errors)

    commands = shown_commands(page)
    assert len(commands) > 2
    for line, shown in commands:
        assert printed(line, program).splitlines() == shown.splitlines(), line


def test_every_page_with_outputs_is_tried() -> None:
    docs = PAGES[0].parent
    assert {page for page in docs.glob("*.md") if shown_commands(page)} == {*PAGES, *AT_THE_ROOT[1:]}
