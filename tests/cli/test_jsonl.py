"""``transplate render --jsonl``: many requests, in order, streaming."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

CHATML = Path(__file__).parents[2] / "templates" / "gotmpl" / "chatml.gotmpl"


def prompt(text: str) -> str:
    return f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"


def chat(text: str) -> str:
    return json.dumps({"messages": [{"role": "user", "content": text}]})


def test_prompts_and_errors_in_order(run: Run, folder: Path) -> None:
    lines = [
        chat("a"),
        "",
        "{",
        '[{"role": "user", "content": 5}]',
        '[{"role": "user", "content": "é\\ud800"}]',
    ]
    (folder / "requests.jsonl").write_text("\n".join(lines))
    result = run("render", CHATML, "--jsonl", "requests.jsonl")
    assert result.status == 2
    answers = [json.loads(line) for line in result.output.splitlines()]
    assert answers[0] == {"prompt": prompt("a")}
    assert answers[1]["error"].startswith("line 3: is no JSON: ")
    assert (answers[1]["line"], answers[1]["column"]) == (1, 2)
    wrong = {"error": "messages[0].content: must be a string, not a number", "kind": "input", "input_line": 4}
    assert answers[2] == wrong
    assert answers[3] == {"prompt": prompt("é\ufffd")}
    assert len(answers) == 4
    assert result.errors == "2 of 4 requests gave an error\n"


def test_no_error_is_fine(run: Run) -> None:
    result = run("render", CHATML, "--jsonl", "-", stdin=chat("a") + "\n" + chat("b") + "\n")
    assert (result.status, result.errors) == (0, "")
    assert [json.loads(line)["prompt"] for line in result.output.splitlines()] == [prompt("a"), prompt("b")]


def test_options_hold_for_all(run: Run) -> None:
    result = run("render", CHATML, "--jsonl", "-", "-s", "S", stdin=chat("a") + "\n" + chat("b") + "\n")
    prompts = [json.loads(line)["prompt"] for line in result.output.splitlines()]
    assert prompts == [f"<|im_start|>system\nS<|im_end|>\n{prompt(text)}" for text in "ab"]


@pytest.mark.usefixtures("folder")
def test_missing_file(run: Run) -> None:
    result = run("render", CHATML, "--jsonl", "missing.jsonl")
    assert (result.status, result.errors) == (2, "error: missing.jsonl: no such file\n")


def start(*arguments: str | Path, **streams: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "transplate", *map(str, arguments)]
    return subprocess.Popen(command, **streams)  # type: ignore[call-overload, no-any-return]


def test_each_answer_comes_before_the_next_request() -> None:
    process = start("render", CHATML, "--jsonl", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    with process:
        for text in ("a", "b"):
            process.stdin.write(chat(text).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == {"prompt": prompt(text)}
        process.stdin.close()
        assert process.wait(10) == 0


def test_progress_on_a_terminal_only(folder: Path) -> None:
    (folder / "requests.jsonl").write_text((chat("a") + "\n") * 50)
    master, terminal = pty.openpty()
    with (folder / "out").open("wb") as out:
        process = start("render", CHATML, "--jsonl", "requests.jsonl", stdout=out.fileno(), stderr=terminal)
        assert process.wait(30) == 0
    os.close(terminal)
    shown = b""
    while chunk := _read(master):
        shown += chunk
    os.close(master)
    assert b"100%" in shown
    assert len((folder / "out").read_text().splitlines()) == 50
    done = subprocess.run(
        [sys.executable, "-m", "transplate", "render", str(CHATML), "--jsonl", "requests.jsonl"],
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""
