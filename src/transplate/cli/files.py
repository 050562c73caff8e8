"""What the commands read and write: templates and requests in, files that are never half-written out."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from transplate.errors import TransplateError
from transplate.source import Source

STDIN = "-"


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Open a file to read, or standard input for ``-``.

    Raises:
        TransplateError: It cannot be opened or read.
    """
    try:
        if path == STDIN:
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


def decoded(data: bytes, name: str) -> Source:
    """Return bytes as text under a name.

    Raises:
        TransplateError: They are not UTF-8.
    """
    try:
        return Source(data.decode(), name)
    except UnicodeDecodeError as error:
        what = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8"
        raise TransplateError(f"{name}: not a text file: {what}") from error


def write_file(path: str, text: str) -> None:
    """Write a file as a whole or not at all: beside its place first, then renamed.

    A device or pipe is written to directly, and a link keeps pointing to the file that is replaced.

    Raises:
        TransplateError: It cannot be written.
    """
    data = text.encode()
    try:
        mode = os.stat(path).st_mode if os.path.exists(path) else None
        if mode is not None and not stat.S_ISREG(mode):
            Path(path).write_bytes(data)
            return
        target = Path(path).resolve()
        if not target.parent.is_dir():
            raise NotADirectoryError
        _replace(target, data, mode)
    except OSError as error:
        raise TransplateError(f"{path}: {reason(error)}") from error


def _replace(target: Path, data: bytes, mode: int | None) -> None:
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with beside.open("xb") as file:
            file.write(data)
        if mode is not None:
            beside.chmod(stat.S_IMODE(mode))
        beside.replace(target)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def reason(error: OSError) -> str:
    """Return in a few words what went wrong."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a folder, not a file"
    if isinstance(error, NotADirectoryError):
        return "no such folder"
    return (error.strerror or str(error)).lower()
