"""Files of a model as bytes, text or JSON, within bounds, with errors that name the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from transplate.errors import TransplateError
from transplate.source import Source

LARGEST = 64 * 1024 * 1024
"""Bytes that are read of a file that is no GGUF."""


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        TransplateError: It cannot be read, or is too large for what it should be.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(data) > LARGEST:
        raise TransplateError(f"{path}: larger than {LARGEST} bytes, so no template or settings")
    return data


def read_text(path: Path) -> Source:
    """Return the text of a file under its name.

    Raises:
        TransplateError: It cannot be read or is not UTF-8.
    """
    return decoded(read_bytes(path), str(path))


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


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises:
        TransplateError: It cannot be read or is no JSON object.
    """
    source = read_text(path)
    try:
        value = json.loads(source.text)
    except RecursionError as error:
        raise TransplateError(f"{path}: JSON that is nested too deep") from error
    except json.JSONDecodeError as error:
        message = f"{path}: invalid JSON: {error.msg}"
        raise TransplateError(message, source=source, offset=min(error.pos, len(source.text))) from error
    if not isinstance(value, dict):
        raise TransplateError(f"{path}: a JSON object is needed")
    return value


def unreadable(path: Path, error: OSError) -> TransplateError:
    """Return the error for a file that cannot be read."""
    reasons = {FileNotFoundError: "no such file", IsADirectoryError: "is a folder, not a file"}
    reason = reasons.get(type(error), (error.strerror or str(error)).lower())
    return TransplateError(f"{path}: {reason}")
