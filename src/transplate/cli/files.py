"""What the commands read: files and standard input, under the names to show in errors."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from transplate.errors import TransplateError
from transplate.files import decoded, reason
from transplate.source import Source

STDIN = STDOUT = "-"


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Open a file to read, or standard input for ``-``.

    Raises:
        TransplateError: It cannot be opened or read, or is closed.
    """
    try:
        if path == STDIN:
            if sys.stdin is None:
                raise TransplateError(f"{name_of(path)}: is closed")
            yield sys.stdin.buffer
            return
        with Path(path).open("rb") as file:
            yield file
    except OSError as error:
        raise TransplateError(f"{name_of(path)}: {reason(error)}") from error


def name_of(path: str) -> str:
    """Return what a file is called in errors."""
    return "standard input" if path == STDIN else path


def read_text(path: str) -> Source:
    """Return the text of a file, or of standard input for ``-``, under the name to show in errors.

    Raises:
        TransplateError: It cannot be read or is not UTF-8 text.
    """
    with opened(path) as file:
        return decoded(file.read(), name_of(path))
