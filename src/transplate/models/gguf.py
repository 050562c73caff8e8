"""The metadata of a GGUF file: a path in, names and values out; the tensors are never read.

The format is that of docs/gguf.md in the repository of ggml, versions 2 and 3 in either order of bytes.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from transplate.errors import TransplateError
from transplate.models.files import unreadable
from transplate.models.model import Model, Tokens
from transplate.source import Source

MAGIC = b"GGUF"
_BOOL, _STRING, _ARRAY = 7, 8, 9
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", _BOOL: "?", 10: "Q", 11: "q", 12: "d"}
_MOST_ENTRIES = 1_000_000
_DEEPEST = 8
_SPECIAL = ("bos", "eos", "unknown", "separator", "padding", "eot", "eom", "mask")


def read_metadata(path: Path) -> dict[str, Any]:
    """Return the metadata of a GGUF by name; arrays as lists.

    Raises:
        TransplateError: It cannot be read, is no GGUF, is of a version that is not known or is damaged.
    """
    try:
        with path.open("rb") as file:
            return _Reader(file, path).metadata()
    except OSError as error:
        raise unreadable(path, error) from error


def read_gguf(path: Path) -> Model:
    """Return the model in a GGUF: its chat templates and its special tokens.

    Raises:
        TransplateError: As :func:`read_metadata`, or a chat template is no text.
    """
    metadata = read_metadata(path)
    named: dict[str, Source] = {}
    for key, value in metadata.items():
        if key == "tokenizer.chat_template" or key.startswith("tokenizer.chat_template."):
            if not isinstance(value, str):
                raise TransplateError(f"{path}: {key}: a template is text")
            named[key.removeprefix("tokenizer.chat_template").lstrip(".") or "default"] = Source(
                value, f"{path}:{key}"
            )
    default = named.get("default")
    architecture = metadata.get("general.architecture")
    return Model(
        name=str(path),
        kind="GGUF",
        chat_template=default,
        named=named if len(named) > 1 or default is None else {},
        family=architecture if isinstance(architecture, str) else "",
        tokens=_tokens(metadata),
    )


def _tokens(metadata: dict[str, Any]) -> Tokens:
    texts = metadata.get("tokenizer.ggml.tokens")
    special: dict[str, str] = {}
    for name in _SPECIAL:
        at = metadata.get(f"tokenizer.ggml.{name}_token_id")
        if isinstance(texts, list) and isinstance(at, int) and 0 <= at < len(texts):
            special[name] = str(texts[at])
    adds_bos, adds_eos = (metadata.get(f"tokenizer.ggml.add_{name}_token") for name in ("bos", "eos"))
    return Tokens(
        bos=special.pop("bos", None),
        eos=special.pop("eos", None),
        others={f"{name}_token": text for name, text in special.items()},
        adds_bos=adds_bos if isinstance(adds_bos, bool) else None,
        adds_eos=adds_eos if isinstance(adds_eos, bool) else None,
    )


class _Reader:
    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self._path = path
        self._left = file.seek(0, 2)
        self._order = "<"
        file.seek(0)

    def metadata(self) -> dict[str, Any]:
        if self._left < len(MAGIC) or self._take(len(MAGIC)) != MAGIC:
            raise TransplateError(f"{self._path}: no GGUF: the file does not begin with {MAGIC.decode()!r}")
        version = self._number("I")
        if version & 0xFFFF == 0:
            self._order = ">"
            version = int.from_bytes(version.to_bytes(4, "little"), "big")
        if version not in (2, 3):
            raise TransplateError(f"{self._path}: GGUF of version {version}; 2 and 3 can be read")
        self._number("Q")
        count = self._number("Q")
        if count > _MOST_ENTRIES:
            raise TransplateError(f"{self._path}: damaged GGUF: {count} entries of metadata")
        return dict(self._entry() for _ in range(count))

    def _entry(self) -> tuple[str, Any]:
        name = self._text()
        return name, self._value(self._number("I"), 0)

    def _value(self, kind: int, depth: int) -> Any:
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY and depth < _DEEPEST:
            item, count = self._number("I"), self._number("Q")
            if item in _FORMATS:
                layout = struct.Struct(f"{self._order}{_FORMATS[item]}")
                data = self._take(count * layout.size)
                return [value for (value,) in layout.iter_unpack(data)]
            if count > self._left:
                raise self._truncated()
            return [self._value(item, depth + 1) for _ in range(count)]
        if kind not in _FORMATS:
            raise TransplateError(f"{self._path}: damaged GGUF: {kind} is no type of metadata")
        return self._number(_FORMATS[kind])

    def _number(self, layout: str) -> Any:
        layout = self._order + layout
        return struct.unpack(layout, self._take(struct.calcsize(layout)))[0]

    def _text(self) -> str:
        return self._take(self._number("Q")).decode("utf-8", "replace")

    def _take(self, size: int) -> bytes:
        if size > self._left:
            raise self._truncated()
        self._left -= size
        data = self._file.read(size)
        if len(data) != size:
            raise self._truncated()
        return data

    def _truncated(self) -> TransplateError:
        return TransplateError(f"{self._path}: damaged GGUF: it ends in the middle of its metadata")
