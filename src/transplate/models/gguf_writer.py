"""A GGUF with another chat template: the old file in, a new one out; tensors are copied as they are."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from transplate.errors import TransplateError
from transplate.files import reason, replacing
from transplate.models.gguf import ALIGNMENT, ARRAY, MAGIC, STRING, TEMPLATE, GgufReader, alignment_of

_NAMES = "tokenizer.chat_templates"
_CHUNK = 8 * 1024 * 1024


def write_with_template(
    base: Path,
    target: Path,
    template: str,
    named: Mapping[str, str] = {},
    *,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write a copy of a GGUF with another chat template, whole or not at all.

    Args:
        base: The GGUF to copy, which stays as it is.
        target: The new file.
        template: Its chat template.
        named: Named chat templates beside it; those of other names stay.
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
    texts = {TEMPLATE: template, **{f"{TEMPLATE}.{name}": text for name, text in named.items()}}
    with source:
        head, data_start = _head(source, base, texts)
        with replacing(target) as file:
            file.write(head)
            _copy(source, data_start, file, progress)


def _head(source: BinaryIO, base: Path, texts: Mapping[str, str]) -> tuple[bytes, int]:
    """Return all that stands before the tensors of the new file, and where they begin in the old one."""
    reader = GgufReader(source, base)
    entries = reader.count()
    start = source.tell()
    kept: list[bytes] = []
    alignment = alignment_of(None)
    missing = {name: _entry(reader.order, name, text) for name, text in texts.items()}
    names = {name.removeprefix(f"{TEMPLATE}.") for name in texts if name != TEMPLATE}
    for _ in range(entries):
        name, value = reader.entry()
        end = source.tell()
        source.seek(start)
        entry = source.read(end - start)
        start = end
        if name == _NAMES and isinstance(value, list):
            names.update(map(str, value))
            continue
        kept.append(missing.pop(name, entry))
        if name == ALIGNMENT:
            alignment = alignment_of(value)
    kept += missing.values()
    if names:
        kept.append(_entry(reader.order, _NAMES, sorted(names)))
    entries = len(kept)
    data_start = reader.skip_tensors(alignment)
    end = source.tell()
    source.seek(start)
    kept.append(source.read(end - start))
    source.seek(len(MAGIC))
    version = source.read(4)
    counts = struct.pack(f"{reader.order}QQ", reader.tensors, entries)
    head = b"".join([MAGIC, version, counts, *kept])
    return head + bytes(-len(head) % alignment if reader.tensors else 0), data_start


def _entry(order: str, name: str, value: str | Sequence[str]) -> bytes:
    """Return an entry of metadata: a text, or an array of texts."""

    def text(value: str) -> bytes:
        data = value.encode()
        return struct.pack(f"{order}Q", len(data)) + data

    if isinstance(value, str):
        return text(name) + struct.pack(f"{order}I", STRING) + text(value)
    head = struct.pack(f"{order}IIQ", ARRAY, STRING, len(value))
    return b"".join([text(name), head, *map(text, value)])


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
