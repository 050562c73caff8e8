"""Files: read within bounds, with errors that name them; written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from transplate.errors import TransplateError
from transplate.source import Source

LARGEST = 64 * 1024 * 1024
"""Bytes that are read of a file that holds a template or settings."""
_CHUNK = 1024 * 1024
_SURROGATE = re.compile("[\ud800-\udfff]")


# --- reading ----------------------------------------------------------------------------------------------


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        TransplateError: It cannot be read, or is too large for what it should be.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise TransplateError(f"{path}: {reason(error)}") from error
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


def without_mark(source: Source) -> Source:
    """Return JSON text without the byte order mark that PowerShell and others put in front of it."""
    return Source(source.text.removeprefix("\ufeff"), source.name)


def checked_text(text: str, name: str) -> str:
    """Return a text of a JSON file, which may not have what is no text: half a surrogate pair.

    Raises:
        TransplateError: It has.
    """
    if _SURROGATE.search(text):
        raise TransplateError(f"{name}: a lone surrogate, which is no text")
    return text


def json_in(source: Source) -> Any:
    """Return the value that a JSON text under a name is.

    Raises:
        TransplateError: It is none.
    """
    source = without_mark(source)
    try:
        return json.loads(source.text)
    except RecursionError as error:
        raise TransplateError(f"{source.name}: JSON that is nested too deep") from error
    except json.JSONDecodeError as error:
        message = f"{source.name}: invalid JSON: {error.msg}"
        raise TransplateError(message, source=source, offset=min(error.pos, len(source.text))) from error
    except ValueError as error:  # an integer with more digits than Python reads
        raise TransplateError(f"{source.name}: invalid JSON: {error}") from error


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises:
        TransplateError: It cannot be read or is no JSON object.
    """
    value = json_in(read_text(path))
    if not isinstance(value, dict):
        raise TransplateError(f"{path}: a JSON object is needed")
    return value


def digest_of(path: Path, progress: Callable[[int], None] | None = None) -> str:
    """Return the SHA-256 of a file of any size.

    Args:
        path: The file.
        progress: Called with the count of bytes that were read, each time that some were.

    Raises:
        TransplateError: It cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                if progress is not None:
                    progress(len(chunk))
    except OSError as error:
        raise TransplateError(f"{path}: {reason(error)}") from error
    return digest.hexdigest()


def reason(error: OSError) -> str:
    """Return in a few words what went wrong."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a folder, not a file"
    if isinstance(error, FileExistsError):
        return "is a file, not a folder"
    if isinstance(error, NotADirectoryError):
        return "no such folder"
    return (error.strerror or str(error)).lower()


# --- writing ----------------------------------------------------------------------------------------------


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write beside a path, which takes its place when all of it has been written.

    Where the path is a link, what it leads to is replaced. A device or a pipe is written to directly.

    Raises:
        TransplateError: It cannot be written; what was there before still is.
    """
    try:
        mode = path.stat().st_mode if path.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            with path.open("wb") as file:
                yield file
            return
        # Only a link is resolved: Path.resolve() takes "nope/../x" for "x" where there is no "nope".
        target = path.resolve() if path.is_symlink() else path
        if not target.parent.is_dir():
            raise NotADirectoryError
        beside = _beside(target)
        try:
            with beside.open("xb") as file:
                yield file
            if mode is not None:
                beside.chmod(stat.S_IMODE(mode))
            beside.replace(target)
        finally:
            with suppress(OSError):
                beside.unlink()
    except OSError as error:
        raise TransplateError(f"{path}: {reason(error)}") from error


def write_file(path: str | Path, data: bytes) -> None:
    """Write a file whole or not at all, as :func:`replacing` does.

    Raises:
        TransplateError: It cannot be written.
    """
    with replacing(Path(path)) as file:
        file.write(data)


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, all of them or none; a folder that is not there appears with all of them.

    A link in the folder is replaced, and what it leads to stays as it is: the files of a model in a cache are
    links into a store that others share.

    Args:
        folder: The folder.
        files: The files' contents by their names, which may have one folder in front.

    Raises:
        TransplateError: One of them cannot be written.
    """
    is_new = not folder.is_dir()
    work = _beside(folder) if is_new else folder
    made: list[Path] = []
    written: dict[Path, Path] = {}
    at = folder
    try:
        if folder.exists() and is_new:
            raise FileExistsError
        for one in (*reversed(folder.parents), work):
            if not one.is_dir():
                one.mkdir()
                made.append(one)
        for name, data in files.items():
            at = folder / name
            inside = (work / name).parent
            if inside != work and inside.is_symlink():
                raise OSError("is in a folder that is a link")
            if not inside.is_dir():
                inside.mkdir()
                made.append(inside)
            if at.is_dir() and not at.is_symlink():
                raise IsADirectoryError
            beside = work / name if is_new else _beside(at)
            written[beside] = at
            with beside.open("xb") as file:
                file.write(data)
            if at.is_file():
                beside.chmod(stat.S_IMODE(at.stat().st_mode))
        if is_new:
            work.replace(folder)
        else:
            for beside, at in written.items():
                beside.replace(at)
    except BaseException as error:
        for beside in written:
            with suppress(OSError):
                beside.unlink()
        for one in reversed(made):
            with suppress(OSError):
                one.rmdir()
        if isinstance(error, OSError):
            raise TransplateError(f"{at}: {reason(error)}") from error
        raise


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}")
