"""Many requests: JSON lines in, JSON lines out, in order, each as soon as it is there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

import click

from transplate.cli import BAD, FINE
from transplate.cli.files import opened
from transplate.cli.output import error_data, print_json, say
from transplate.errors import TransplateError
from transplate.files import decoded
from transplate.source import Source


def render_lines(path: str, render: Callable[[Source], bytes]) -> int:
    """Render each line of a file and print ``{"prompt"}`` or ``{"error"}`` for it.

    Blank lines are passed over; an error has the number of its line, as ``input_line``.

    Args:
        path: The file, ``-`` for standard input.
        render: From a line of JSON to a prompt.

    Returns:
        The exit status: bad if any line gave an error.
    """
    failed = total = 0
    with opened(path) as file, _progress(file) as advance:
        for number, line in enumerate(file, 1):
            if line.strip():
                answer = _answer(line.rstrip(b"\r\n"), number, render)
                print_json(answer)
                total += 1
                failed += "error" in answer
            advance(len(line))
    if failed:
        say(f"{failed} of {total} requests gave an error", err=True)
    return BAD if failed else FINE


def _answer(line: bytes, number: int, render: Callable[[Source], bytes]) -> dict[str, Any]:
    try:
        return {"prompt": render(decoded(line, f"line {number}")).decode("utf-8", "replace")}
    except TransplateError as error:
        return {**error_data(error), "input_line": number}


@contextmanager
def _progress(file: BinaryIO) -> Iterator[Callable[[int], None]]:
    """Show how far a file has been read, where somebody looks at it and the output is not in the way."""
    size = 0
    with suppress(OSError):
        size = os.fstat(file.fileno()).st_size
    if not size or not sys.stderr.isatty() or sys.stdout.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=size, file=sys.stderr, update_min_steps=max(1, size // 1000)) as bar:
        yield bar.update
