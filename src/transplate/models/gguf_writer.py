"""A GGUF with another chat template: the old file in, a new one out; tensors are copied as they are."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from transplate.errors import TransplateError
from transplate.files import reason, replacing
from transplate.models.gguf import MAGIC, STRING, TEMPLATE, GgufReader

_ALIGNMENT = "general.alignment"
_DEFAULT_ALIGNMENT = 32
_CHUNK = 8 * 1024 * 1024


def write_with_template(
    base: Path, target: Path, template: str, *, progress: Callable[[int, int], None] | None = None
) -> None:
    """Write a copy of a GGUF with another chat template, whole or not at all.

    Args:
        base: The GGUF to copy, which stays as it is.
        target: The new file.
        template: Its chat template; named templates beside it stay.
        progress: Called with the bytes written so far and in the end.

    Raises:
        TransplateError: The base is damaged, or the target is the base or cannot be written.
    """
    if target.exists() and base.exists() and target.samefile(base):
        raise TransplateError(f"{target}: is the base itself, which stays as it is")
    try:
        source = base.open("rb")
    except OSError as error:
        raise TransplateError(f"{base}: {reason(error)}") from error
    with source:
        head, data_start = _head(source, base, template)
        with replacing(target) as file:
            file.write(head)
            _copy(source, data_start, file, progress)


def _head(source: BinaryIO, base: Path, template: str) -> tuple[bytes, int]:
    """Return all that stands before the tensors of the new file, and where they begin in the old one."""
    reader = GgufReader(source, base)
    tensors, entries = reader.counts()
    start = source.tell()
    kept: list[bytes] = []
    alignment = _DEFAULT_ALIGNMENT
    entry = _entry(reader.order, template)
    is_replaced = False
    for _ in range(entries):
        name, value = reader.entry()
        end = source.tell()
        if name == TEMPLATE:
            kept.append(entry)
            is_replaced = True
        else:
            source.seek(start)
            kept.append(source.read(end - start))
        if name == _ALIGNMENT and isinstance(value, int) and value > 0:
            alignment = value
        start = end
    if not is_replaced:
        kept.append(entry)
    for _ in range(tensors):
        reader.skip_tensor()
    end = source.tell()
    source.seek(start)
    kept.append(source.read(end - start))
    source.seek(len(MAGIC))
    version = source.read(4)
    counts = struct.pack(f"{reader.order}QQ", tensors, entries + (not is_replaced))
    head = b"".join([MAGIC, version, counts, *kept])
    data_start = end + -end % alignment
    if tensors and data_start > source.seek(0, os.SEEK_END):
        raise TransplateError(f"{base}: damaged GGUF: it ends before its tensors")
    return head + bytes(-len(head) % alignment if tensors else 0), data_start


def _entry(order: str, template: str) -> bytes:
    name, text = TEMPLATE.encode(), template.encode()
    return b"".join(
        [struct.pack(f"{order}Q", len(name)), name, struct.pack(f"{order}IQ", STRING, len(text)), text]
    )


def _copy(
    source: BinaryIO, start: int, target: BinaryIO, progress: Callable[[int, int], None] | None
) -> None:
    total = max(source.seek(0, os.SEEK_END) - start, 0)
    source.seek(start)
    done = 0
    while chunk := source.read(_CHUNK):
        target.write(chunk)
        done += len(chunk)
        if progress is not None:
            progress(done, total)
