"""Runs the command line inside the test process, with its own standard streams."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from transplate.cli.commands import run as run_command


@dataclass(frozen=True)
class Result:
    """How a command ended and what it printed."""

    status: int
    output: str
    errors: str

    @property
    def data(self) -> Any:
        """What it printed, read as JSON."""
        return json.loads(self.output)


Run = Callable[..., Result]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line; a standard input that is not given fails the test that reads it."""

    # Workers that run tests side by side may have a width; a test that means one sets it.
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
        capfdbinary.readouterr()
        if stdin is None:
            monkeypatch.setattr(sys, "stdin", None)
        else:
            data = stdin.encode() if isinstance(stdin, str) else stdin
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        status = run_command([str(argument) for argument in arguments])
        output, errors = capfdbinary.readouterr()
        return Result(status, output.decode(), errors.decode())

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
