"""What the commands print: prompts as they are, errors for people, JSON for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from transplate.cli import BAD, NO
from transplate.cli.visible import harmless, visible
from transplate.errors import ErrorKind, TransplateError
from transplate.files import write_file


def print_exactly(data: bytes) -> None:
    """Print bytes as they are; only a terminal gets the line break that its next line needs."""
    sys.stdout.buffer.write(data)
    if not data.endswith(b"\n") and sys.stdout.isatty():
        sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()


def write_or_print(text: str, output: str | None) -> None:
    """Write an answer to the file that ``--output`` names, or print it if there is none."""
    data = text.encode("utf-8", "replace")
    if output is None:
        print_exactly(data)
    else:
        write_file(output, data)


def check_output(form: str | None, output: str | None, *, as_json: bool) -> None:
    """Check that the options ``--format``, ``--output`` and ``--json`` go together.

    Raises:
        click.UsageError: They do not.
    """
    if output is not None and form is None:
        raise click.UsageError("--output needs --format")
    if form is not None and as_json and output is None:
        raise click.UsageError("--json and --format cannot both be on standard output: --output FILE")


def print_json(data: Any, *, indent: int | None = None) -> None:
    """Print data as JSON: one line, or many if indented."""
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


def say(text: str, *, err: bool = False) -> None:
    """Tell people something, in colour only where they look at a terminal and did not refuse it."""
    shown = harmless(text, is_styled=True).encode("utf-8", "backslashreplace").decode()
    click.echo(shown, err=err, color=False if os.environ.get("NO_COLOR") else None)


def show_error(error: TransplateError) -> int:
    """Print an error with its place in the source to standard error and return the exit status it means."""
    say(click.style("error: ", fg="red", bold=True) + error_text(error), err=True)
    for note in getattr(error, "__notes__", ()):
        say(visible(note), err=True)
    return NO if error.kind is ErrorKind.UNSUPPORTED else BAD


def error_text(error: TransplateError) -> str:
    """Return an error as people read it: its message in one line, and its place in the source."""
    if error.source is None or error.offset is None:
        return visible(str(error))
    return f"{visible(error.message)}\n{error.source.excerpt(error.offset)}"


def error_data(error: TransplateError) -> dict[str, Any]:
    """Return an error as data for JSON; what is not known is left out."""
    data = {
        "error": error.message,
        "kind": error.kind.value,
        "line": error.line,
        "column": error.column,
        "source_line": error.source_line,
    }
    return {key: value for key, value in data.items() if value is not None}


def errors_as_json(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command that has the option ``--json`` print its error as JSON too."""

    @wraps(command)
    def wrapped(*, as_json: bool, **arguments: Any) -> int:
        try:
            return command(as_json=as_json, **arguments)
        except TransplateError as error:
            if as_json:
                print_json(error_data(error))
            raise

    return wrapped
