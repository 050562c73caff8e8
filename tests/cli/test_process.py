"""The command as a process: signals, pipes, terminals, a full disk."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from transplate.cli import waiting

CHATML = Path(__file__).parents[2] / "templates" / "gotmpl" / "chatml.gotmpl"
COMMAND = [sys.executable, "-m", "transplate"]


def test_a_closed_pipe_ends_it_without_a_word(tmp_path: Path) -> None:
    requests = tmp_path / "requests.jsonl"
    requests.write_text('[{"role": "user", "content": "x"}]\n' * 20_000)
    process = subprocess.Popen(
        [*COMMAND, "render", str(CHATML), "--jsonl", str(requests)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    assert process.stderr
    with process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(30) == -signal.SIGPIPE
        assert process.stderr.read() == b""


def test_control_c() -> None:
    process = subprocess.Popen(
        [*COMMAND, "render", str(CHATML), "--jsonl", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    with process:
        process.stdin.write(b'[{"role": "user", "content": "x"}]\n')
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        assert process.stderr.read().strip() == b"interrupted"


def test_it_never_waits_for_a_terminal_unasked() -> None:
    master, terminal = pty.openpty()
    done = subprocess.run(
        [*COMMAND, "render", str(CHATML)], stdin=terminal, capture_output=True, timeout=30, check=True
    )
    os.close(master)
    os.close(terminal)
    assert done.stdout.endswith(b"<|im_start|>assistant\n")


def on_terminal(*arguments: str, **environment: str) -> str:
    """What a person sees in a terminal."""
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
        env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm", **environment},
    )
    os.close(terminal)
    shown = b""
    while True:
        try:
            chunk = os.read(master, 4096)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(master)
    process.wait(10)
    return shown.decode().replace("\r\n", "\n")


def test_colours_on_a_terminal_unless_refused() -> None:
    error = "error: no/such/file/here: no such file\n"
    coloured = error.replace("error: ", "\x1b[31m\x1b[1merror: \x1b[0m")
    assert on_terminal("render", "no/such/file/here") == coloured
    assert on_terminal("render", "no/such/file/here", NO_COLOR="1") == error
    done = subprocess.run([*COMMAND, "render", "no/such/file/here"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, error)


def test_a_terminal_gets_a_last_line_break(tmp_path: Path) -> None:
    template = tmp_path / "t.gotmpl"
    template.write_text("{{ range .Messages }}{{ .Content }}{{ end }}")
    assert on_terminal("render", str(template), "-m", "Hello") == "Hello\n"
    done = subprocess.run([*COMMAND, "render", str(template), "-m", "Hello"], capture_output=True, check=True)
    assert done.stdout == b"Hello"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, "render", str(CHATML)], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr == b"error: standard output: no space left on device\n"


def test_lines_are_whole_when_it_is_killed(tmp_path: Path) -> None:
    requests = tmp_path / "requests.jsonl"
    requests.write_text('[{"role": "user", "content": "x"}]\n' * 200_000)
    out = tmp_path / "out"
    with out.open("wb") as file:
        process = subprocess.Popen([*COMMAND, "render", str(CHATML), "--jsonl", str(requests)], stdout=file)
        while not out.stat().st_size:
            time.sleep(0.01)
        process.terminate()
        process.wait(10)
    assert out.read_bytes().endswith(b"}\n")


def shell(command: str, **streams: object) -> subprocess.CompletedProcess[str]:
    line = f"{sys.executable} -m transplate {command}"
    return subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, **streams)  # type: ignore[call-overload, no-any-return]


def test_standard_streams_that_are_closed(tmp_path: Path) -> None:
    for command in (f"render {CHATML}", f"{CHATML} --json", f"{CHATML}", "--version"):
        done = shell(f"{command} >&-")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: standard output: ")
        assert done.stderr.count("\n") == 1
    target = tmp_path / "t.jinja"
    assert shell(f"convert {CHATML} {target} >&-").returncode == 0
    assert target.exists()
    done = shell(f"render {CHATML} - <&-")
    assert (done.returncode, done.stderr) == (2, "error: standard input: is closed\n")
    assert shell(f"convert {CHATML} 2>&-").returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_report_that_cannot_be_written() -> None:
    assert shell(f"convert {CHATML} 2>/dev/full").returncode == 2
    assert shell("render nothing 2>/dev/full").returncode == 2


def test_what_takes_long_is_said_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(waiting, "_AFTER", 0.01)
    with waiting.waiting("comparing"):
        time.sleep(0.1)
    assert capfd.readouterr().err == ""
    master, terminal = pty.openpty()
    with os.fdopen(terminal, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with waiting.waiting("comparing"):
            time.sleep(0.1)
        shown = b""
        while not shown.endswith(b"\r\x1b[K"):  # a terminal hands on what is written piece by piece
            shown += os.read(master, 1000)
        monkeypatch.undo()
    os.close(master)
    assert shown.startswith(b"\rcomparing (0 s)")
