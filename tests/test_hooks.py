"""The hooks for pre-commit and the action for GitHub, run as those run them in a fresh project."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.test_pytest_plugin import GO, JINJA, SHOUTED

yaml = pytest.importorskip("yaml")

HOOKS = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text())
MISTAKEN = GO.removesuffix("<|assistant|>")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which ``transplate`` is the command of this source."""
    commands = tmp_path / "bin"
    commands.mkdir()
    script = commands / "transplate"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m transplate "$@"\n')
    script.chmod(0o755)
    paths = os.pathsep.join([str(commands), os.environ["PATH"]])
    return {**os.environ, "PATH": paths, "PYTHONPATH": str(REPOSITORY / "src")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name, text in {
        "chat.gotmpl": GO,
        "model/chat_template.jinja": JINJA,
        "model/tokenizer_config.json": '{"eos_token": "</s>"}',
        "model/config.json": "{}",
        "bare/tokenizer_config.json": '{"eos_token": "</s>"}',
        "Modelfile": "FROM no-such-model\nPARAMETER temperature 1\n",
        "Modelfile.own": f'FROM no-such-model\nTEMPLATE """{GO}"""\n',
        "hub/template": GO,
        "README.md": "{{ nothing",
        "pyproject.toml": '[tool.transplate]\npairs = [["chat.gotmpl", "model/chat_template.jinja"]]\n'
        'conversations = ["talk.jsonl"]\n',
        "talk.jsonl": '{"name": "hello", "messages": [{"role": "user", "content": "Hello"}]}\n',
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def run_hook(name: str, project: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a hook on all files, as ``pre-commit run --all-files`` does."""
    hook = next(hook for hook in HOOKS if hook["id"] == name)
    every = [path.relative_to(project).as_posix() for path in sorted(project.rglob("*")) if path.is_file()]
    chosen = [path for path in every if re.search(hook["files"], path)]
    arguments = chosen if hook.get("pass_filenames", True) else []
    command = [*shlex.split(hook["entry"]), *arguments]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_the_hooks_fire_on_templates() -> None:
    fires = {
        "chat_template.jinja": True,
        "a/b/chat_template.jinja": True,
        "x.gotmpl": True,
        "Modelfile": True,
        "a/Modelfile.q4": True,
        "a/template": True,
        "tokenizer_config.json": True,
        "other.jinja": False,
        "my_template": False,
        "a/template/x.txt": False,
        "config.json": False,
        "gotmpl": False,
    }
    for hook in HOOKS:
        assert {name: bool(re.search(hook["files"], name)) for name in fires} == fires


def test_the_hook_for_mistakes(project: Path, environment: dict[str, str]) -> None:
    result = run_hook("transplate-lint", project, environment)
    assert result.returncode == 0, result.stdout + result.stderr
    (project / "hub" / "template").write_text(MISTAKEN)
    result = run_hook("transplate-lint", project, environment)
    assert result.returncode == 1
    assert "hub/template: error: " in result.stdout


def test_the_hook_for_pairs(project: Path, environment: dict[str, str]) -> None:
    assert run_hook("transplate-check", project, environment).returncode == 0
    (project / "model" / "chat_template.jinja").write_text(SHOUTED)
    result = run_hook("transplate-check", project, environment)
    assert result.returncode == 1
    assert "DIFFERENT" in result.stdout


def run_action(
    project: Path, environment: dict[str, str], **inputs: str
) -> list[tuple[str, subprocess.CompletedProcess[str]]]:
    """Run the steps of the action whose condition holds, but those that install."""
    given = {name: one.get("default", "") for name, one in ACTION["inputs"].items()} | inputs
    results = []
    for step in ACTION["runs"]["steps"]:
        if "run" not in step or step["name"] == "install" or not _holds(step.get("if", ""), given):
            continue
        named = {
            name: given[re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)[1]]  # type: ignore[index]
            for name, value in step["env"].items()
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        ran = subprocess.run(
            command, cwd=project, env={**environment, **named}, capture_output=True, text=True, check=False
        )
        results.append((step["name"], ran))
    return results


def _holds(condition: str, inputs: dict[str, Any]) -> bool:
    """Evaluate a condition of the few kinds that the action has."""
    for part in filter(None, condition.split(" && ")):
        if part == "always()":
            continue
        name, value = re.fullmatch(r"inputs\.([\w-]+) != '(.*)'", part).groups()  # type: ignore[union-attr]
        if inputs[name] == value:
            return False
    return True


def test_the_action(project: Path, environment: dict[str, str]) -> None:
    results = run_action(project, environment)
    assert [(name, ran.returncode, ran.stdout) for name, ran in results] == [("check", 0, "")]

    (project / "model" / "chat_template.jinja").write_text(SHOUTED)
    (project / "chat2.gotmpl").write_text(MISTAKEN)
    results = run_action(project, environment, lint="chat.gotmpl chat2.gotmpl", report="report.html")
    assert [(name, ran.returncode) for name, ran in results] == [("lint", 1), ("report", 0), ("check", 1)]
    by_name = {name: ran.stdout for name, ran in results}
    assert by_name["lint"].startswith("::error file=chat2.gotmpl,title=no-generation-prompt::")
    assert by_name["check"].startswith("::error file=chat.gotmpl,line=1,")
    assert "<!DOCTYPE html>" in (project / "report.html").read_text()

    broken = run_action(project, environment, check="no.gotmpl chat.gotmpl", report="report.html")
    assert [(name, ran.returncode) for name, ran in broken] == [("report", 1), ("check", 2)]


def test_what_is_given_to_the_action_is_no_command(project: Path, environment: dict[str, str]) -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
    run_action(project, environment, lint="$(touch made) `touch made` ; touch made")
    assert not (project / "made").exists()
