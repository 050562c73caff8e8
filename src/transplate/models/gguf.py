"""The metadata of a GGUF file: a path in, names and values out; of tensors only where they end.

The format is that of docs/gguf.md in the repository of ggml, versions 2 and 3 in either order of bytes.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from transplate.errors import TransplateError
from transplate.files import reason
from transplate.models.gguf_types import size_of
from transplate.models.model import Model, Tokens
from transplate.source import Source

MAGIC = b"GGUF"
TEMPLATE = "tokenizer.chat_template"
ALIGNMENT = "general.alignment"
STRING = 8
_BOOL, ARRAY = 7, 9
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", _BOOL: "?", 10: "Q", 11: "q", 12: "d"}
_MOST_ENTRIES = 1_000_000
_MOST_DIMENSIONS = 8
_DEFAULT_ALIGNMENT = 32
_DEEPEST = 8
_BULK = 256 * 1024
_SPECIAL = {
    **{name: f"{name}_token" for name in ("bos", "eos", "eot", "eom", "mask")},
    "unknown": "unk_token",
    "separator": "sep_token",
    "padding": "pad_token",
}
"""Special tokens as GGUF and as Hugging Face call them."""


def read_metadata(path: Path) -> dict[str, Any]:
    """Return the metadata of a GGUF by name; arrays as lists.

    Raises:
        TransplateError: It cannot be read, is no GGUF, is of a version that is not known or is damaged.
    """
    try:
        with path.open("rb") as file:
            return GgufReader(file, path).metadata()
    except OSError as error:
        raise TransplateError(f"{path}: {reason(error)}") from error


def check_whole(path: Path) -> None:
    """Check that a GGUF has all of its tensors.

    Raises:
        TransplateError: As :func:`read_metadata`, or it ends before its tensors do.
    """
    for damage in read_gguf(path).warnings:
        raise TransplateError(damage)


def read_gguf(path: Path) -> Model:
    """Return the model in a GGUF: its chat templates and its special tokens.

    Raises:
        TransplateError: As :func:`read_metadata`, or a chat template is no text.
    """
    try:
        with path.open("rb") as file:
            reader = GgufReader(file, path)
            metadata = reader.metadata()
            warnings = _warnings(reader, metadata)
    except OSError as error:
        raise TransplateError(f"{path}: {reason(error)}") from error
    named: dict[str, Source] = {}
    for key, value in metadata.items():
        if key == TEMPLATE or key.startswith(f"{TEMPLATE}."):
            if not isinstance(value, str):
                raise TransplateError(f"{path}: {key}: a template is text")
            named[key.removeprefix(TEMPLATE).lstrip(".") or "default"] = Source(value, f"{path}:{key}")
    default = named.get("default")
    architecture = metadata.get("general.architecture")
    return Model(
        name=str(path),
        kind="GGUF",
        place=str(path),
        chat_template=default,
        named=named if len(named) > 1 or default is None else {},
        family=architecture if isinstance(architecture, str) else "",
        tokens=_tokens(metadata),
        warnings=warnings,
    )


def alignment_of(value: Any) -> int:
    """Return what tensors are aligned to, by what ``general.alignment`` says."""
    return value if isinstance(value, int) and value > 0 else _DEFAULT_ALIGNMENT


def _warnings(reader: GgufReader, metadata: dict[str, Any]) -> tuple[str, ...]:
    """Return what is wrong behind the metadata, which all that is read here does without."""
    try:
        reader.skip_tensors(alignment_of(metadata.get(ALIGNMENT)))
    except TransplateError as error:
        return (error.message,)
    return ()


def _tokens(metadata: dict[str, Any]) -> Tokens:
    texts = metadata.get("tokenizer.ggml.tokens")
    texts = texts if isinstance(texts, list) else []
    special: dict[str, tuple[int, str]] = {}
    for name in _SPECIAL:
        at = metadata.get(f"tokenizer.ggml.{name}_token_id")
        if isinstance(at, int) and 0 <= at < len(texts):
            special[name] = at, str(texts[at])
    adds_bos, adds_eos = (metadata.get(f"tokenizer.ggml.add_{name}_token") for name in ("bos", "eos"))
    by_name = {key: special[name][1] for name, key in _SPECIAL.items() if name in special}
    return Tokens(
        bos=by_name.pop("bos_token", None),
        eos=by_name.pop("eos_token", None),
        others=by_name,
        adds_bos=adds_bos if isinstance(adds_bos, bool) else None,
        adds_eos=adds_eos if isinstance(adds_eos, bool) else None,
        ends=tuple(special[name] for name in ("eos", "eot", "eom") if name in special),
    )


class GgufReader:
    """Reads a GGUF from its beginning on, part by part.

    Attributes:
        order: The order of bytes, as :mod:`struct` writes it.
        tensors: How many tensors there are, once the metadata is counted.
    """

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self._path = path
        self._left = file.seek(0, 2)
        self.order = "<"
        self.tensors = 0
        file.seek(0)

    def metadata(self) -> dict[str, Any]:
        """Return all metadata."""
        count = self.count()
        return dict(self.entry() for _ in range(count))

    def count(self) -> int:
        """Return how many entries of metadata there are."""
        if self._left < len(MAGIC) or self._take(len(MAGIC)) != MAGIC:
            raise TransplateError(f"{self._path}: no GGUF: the file does not begin with {MAGIC.decode()!r}")
        version = self._number("I")
        if version & 0xFFFF == 0:
            self.order = ">"
            version = int.from_bytes(version.to_bytes(4, "little"), "big")
        if version not in (2, 3):
            raise TransplateError(f"{self._path}: GGUF of version {version}; 2 and 3 can be read")
        self.tensors, count = self._number("Q"), self._number("Q")
        if count > _MOST_ENTRIES:
            raise TransplateError(f"{self._path}: damaged GGUF: {count} entries of metadata")
        return int(count)

    def entry(self) -> tuple[str, Any]:
        """Return the next entry of metadata."""
        name = self._text()
        return name, self._value(self._number("I"), 0)

    def skip_tensors(self, alignment: int) -> int:
        """Pass over the descriptions of the tensors, and return where their data begins.

        Raises:
            TransplateError: A description is damaged, or the file ends before a tensor does.
        """
        size = self._file.tell() + self._left
        needed = 0
        for _ in range(self.tensors):
            self._text()
            dimensions = self._number("I")
            if dimensions > _MOST_DIMENSIONS:
                raise TransplateError(f"{self._path}: damaged GGUF: a tensor of {dimensions} dimensions")
            shape = [self._number("Q") for _ in range(dimensions)]
            kind, offset = self._number("I"), self._number("Q")
            needed = max(needed, offset + size_of(kind, shape))
        end = self._file.tell()
        start: int = end + -end % alignment
        if self.tensors and start + needed > size:
            missing = f"{start + needed - size:,} bytes before its tensors do"
            raise TransplateError(f"{self._path}: damaged GGUF: it ends {missing}")
        return start

    def _value(self, kind: int, depth: int) -> Any:
        if kind == STRING:
            return self._text()
        if kind == ARRAY and depth < _DEEPEST:
            item, count = self._number("I"), self._number("Q")
            if item in _FORMATS:
                layout = struct.Struct(f"{self.order}{_FORMATS[item]}")
                data = self._take(count * layout.size)
                return [value for (value,) in layout.iter_unpack(data)]
            if count > self._left:
                raise self._truncated()
            if item == STRING:
                return self._texts(count)
            return [self._value(item, depth + 1) for _ in range(count)]
        if kind not in _FORMATS:
            raise TransplateError(f"{self._path}: damaged GGUF: {kind} is no type of metadata")
        return self._number(_FORMATS[kind])

    def _number(self, layout: str) -> Any:
        layout = self.order + layout
        return struct.unpack(layout, self._take(struct.calcsize(layout)))[0]

    def _text(self) -> str:
        return self._take(self._number("Q")).decode("utf-8", "replace")

    def _texts(self, count: int) -> list[str]:
        """Return an array of texts; a vocabulary has several hundred thousand, so they are read in bulk."""
        size_at = struct.Struct(f"{self.order}Q").unpack_from
        texts: list[str] = []
        buffer, at = b"", 0
        for _ in range(count):
            end = at + 8
            if end <= len(buffer):
                end += size_at(buffer, at)[0]
            if end > len(buffer):
                buffer, at = buffer[at:] + self._take(min(self._left, _BULK)), 0
                if len(buffer) < 8:
                    raise self._truncated()
                end = 8 + size_at(buffer, 0)[0]
                if end > len(buffer):
                    buffer += self._take(end - len(buffer))
            texts.append(buffer[at + 8 : end].decode("utf-8", "replace"))
            at = end
        self._file.seek(at - len(buffer), 1)
        self._left += len(buffer) - at
        return texts

    def _take(self, size: int) -> bytes:
        if size > self._left:
            raise self._truncated()
        self._left -= size
        data = self._file.read(size)
        if len(data) != size:
            raise self._truncated()
        return data

    def _truncated(self) -> TransplateError:
        return TransplateError(f"{self._path}: damaged GGUF: it ends in the middle of what describes it")
