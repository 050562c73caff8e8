"""The plugin for pytest, in fresh projects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

# Loaded here, so that not each of the runs inside these tests loads them anew.
import transplate.cli.conversations
import transplate.cli.parity_text
import transplate.cli.templates
import transplate.parity.compare  # noqa: F401

pytest_plugins = "pytester"

GO = "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}<|assistant|>"
JINJA = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SHOUTED = JINJA.replace("m.content", "m.content|upper")
TALK = '{"name": "%s", "messages": [{"role": "user", "content": "%s"}]}\n'
LISTED = '[tool.transplate]\npairs = [["templates/a.gotmpl", "b.jinja"]]\nconversations = ["talk.jsonl"]\n'


@pytest.fixture
def project(pytester: pytest.Pytester) -> Path:
    """A project with a pair that its pyproject.toml lists, and two conversations."""
    folder = pytester.path
    (folder / "templates").mkdir()
    (folder / "templates" / "a.gotmpl").write_text(GO)
    (folder / "b.jinja").write_text(JINJA)
    (folder / "talk.jsonl").write_text(TALK % ("hello", "Hello") + TALK % ("loud", "HI"))
    (folder / "pyproject.toml").write_text(LISTED)
    return folder


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest("-p", "transplate.pytest_plugin", "-p", "no:cacheprovider", *arguments)


def test_a_listed_pair(pytester: pytest.Pytester, project: Path) -> None:
    result = run(pytester, "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*templates/a.gotmpl~b.jinja::hello PASSED*"])
    run(pytester, "-k", "hello").assert_outcomes(passed=1, deselected=1)
    assert not (project / "transplate-known.json").exists()


def test_a_difference_is_shown(pytester: pytest.Pytester, project: Path) -> None:
    (project / "b.jinja").write_text(SHOUTED)
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "the templates do not print the same",
            "- templates/a.gotmpl",
            "+ b.jinja",
            '*user "Hello"',
            "- <|user|>Hello<|assistant|>",
            "+ <|user|>HELLO<|assistant|>",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_known_differences(pytester: pytest.Pytester, project: Path) -> None:
    (project / "b.jinja").write_text(SHOUTED)
    run(pytester, "--transplate-update").assert_outcomes(passed=2)
    known = json.loads((project / "transplate-known.json").read_text())
    assert list(known["pairs"]) == ["templates/a.gotmpl b.jinja"]
    run(pytester).assert_outcomes(passed=1, xfailed=1)

    (project / "b.jinja").write_text(SHOUTED.replace("upper", "lower"))
    result = run(pytester)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["the difference is not the known one"])

    (project / "b.jinja").write_text(JINJA)
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["the known difference is gone*"])
    run(pytester, "--transplate-update").assert_outcomes(passed=2)
    run(pytester).assert_outcomes(passed=2)


def test_one_side_fails(pytester: pytest.Pytester, project: Path) -> None:
    (project / "b.jinja").write_text("{{ raise_exception('No!') }}")
    result = run(pytester)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["+ b.jinja: fails: No!"])


def test_a_broken_template(pytester: pytest.Pytester, project: Path) -> None:
    (project / "b.jinja").write_text("{% if %}")
    result = run(pytester)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["Expected an expression*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_templates_beside_each_other(pytester: pytest.Pytester) -> None:
    folder = pytester.path / "chat"
    folder.mkdir()
    (folder / "c.gotmpl").write_text(GO)
    (folder / "c.jinja").write_text(JINJA)
    assert run(pytester).ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result = run(pytester, "--transplate")
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] > 10
    (pytester.path / "pyproject.toml").write_text("[tool.transplate]\n")
    assert run(pytester).parseoutcomes() == outcomes
    (pytester.path / "pyproject.toml").write_text(
        '[tool.transplate]\npairs = [["chat/c.jinja", "chat/c.gotmpl"]]'
    )
    assert run(pytester).parseoutcomes() == outcomes


def test_wrong_settings(pytester: pytest.Pytester, project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.transplate]\npairs = 1\n")
    result = run(pytester)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*tool.transplate.pairs is no list*"])


def test_a_project_without_pairs_is_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(): pass")
    (pytester.path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    run(pytester).assert_outcomes(passed=1)


@pytest.mark.usefixtures("project")
def test_an_update_needs_one_process(pytester: pytest.Pytester) -> None:
    result = run(pytester, "-n1", "--transplate-update")
    assert result.ret != 0
    assert "--transplate-update needs one process" in result.stdout.str() + result.stderr.str()


def test_an_update_keeps_what_was_not_run(pytester: pytest.Pytester, project: Path) -> None:
    (project / "talk.jsonl").write_text(TALK % ("one", "a") + TALK % ("two", "b") + TALK % ("two", "c"))
    (project / "b.jinja").write_text(SHOUTED)
    known = project / "transplate-known.json"
    run(pytester, "--transplate-update").assert_outcomes(passed=3)
    (differences,) = json.loads(known.read_text())["pairs"].values()
    assert {one.rpartition(": ")[0] for one in differences} == {"one", "two", "two (2)"}

    run(pytester, "--transplate-update", "-k", "one").assert_outcomes(passed=1, deselected=2)
    assert json.loads(known.read_text())["pairs"]["templates/a.gotmpl b.jinja"] == differences
    run(pytester).assert_outcomes(xfailed=3)

    # A conversation that is no longer there is nothing to keep.
    (project / "talk.jsonl").write_text(TALK % ("one", "a") + TALK % ("two", "b"))
    run(pytester, "--transplate-update", "-k", "two").assert_outcomes(passed=1, deselected=1)
    kept = [one for one in differences if not one.startswith("two (2)")]
    assert json.loads(known.read_text())["pairs"]["templates/a.gotmpl b.jinja"] == kept


def test_files_of_one_name(pytester: pytest.Pytester, project: Path) -> None:
    for name in ("x", "y"):
        (project / name).mkdir()
        (project / name / "talk.json").write_text(json.dumps([{"role": "user", "content": name}]))
    (project / "pyproject.toml").write_text(LISTED.replace('"talk.jsonl"', '"x/talk.json", "y/talk.json"'))
    result = run(pytester, "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*::x/talk.json PASSED*", "*::y/talk.json PASSED*"])


def test_a_failure_gives_no_commands(pytester: pytest.Pytester, project: Path) -> None:
    hostile = "\n::error::pwn\n##[add-mask]x\x1b[2J"
    talk = {"name": f"odd{hostile}", "messages": [{"role": f"user{hostile}", "content": hostile}]}
    (project / "talk.jsonl").write_text(json.dumps(talk))
    (project / "b.jinja").write_text("{{ raise_exception(" + json.dumps(hostile) + ") }}")
    result = run(pytester)
    result.assert_outcomes(failed=1)
    assert not [line for line in result.outlines if line.lstrip().startswith("::")]
    assert "\x1b[2J" not in result.stdout.str()
    result.stdout.fnmatch_lines(["*fails: ⏎::error::pwn*"])
