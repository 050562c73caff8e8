"""Bytes of a Modelfile as text and back: the byte order marks and the ill-formed text that Ollama accepts.

Ollama reads through ``unicode.BOMOverride(unicode.UTF8.NewDecoder())`` of golang.org/x/text (ParseFile in
parser/parser.go): a byte order mark chooses UTF-16 or UTF-8, without one it is UTF-8, and what is ill-formed
becomes U+FFFD, in each of the three cases in a way of its own.
"""

from __future__ import annotations

import codecs
import re
from typing import Literal, TypeAlias

Encoding: TypeAlias = Literal["utf-8", "utf-16-le", "utf-16-be"]

MARK = "\ufeff"
_UTF16: tuple[tuple[bytes, Encoding], ...] = (
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_REPLACEMENT = "\ufffd"
_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_ESCAPED_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_LONE_IN_UTF16 = re.compile("[\ud800-\udbff]|[\udc00-\udfff]{1,2}")


def decode(data: bytes) -> tuple[str, Encoding]:
    """Return bytes as text, its byte order mark included, and the encoding that the mark tells.

    Bytes that are no UTF-8 become surrogate escapes, so that :func:`encode` gives them back.
    """
    for mark, encoding in _UTF16:
        if data.startswith(mark):
            whole = len(data) // 2 * 2
            text = data[:whole].decode(encoding, "surrogatepass")
            return text + _REPLACEMENT * (len(data) - whole), encoding
    return data.decode("utf-8", "surrogateescape"), "utf-8"


def encode(text: str, encoding: Encoding) -> bytes:
    """Return text as bytes; the reverse of :func:`decode`, half a UTF-16 unit at the end excepted."""
    return text.encode(encoding, "surrogateescape" if encoding == "utf-8" else "surrogatepass")


def well_formed(text: str, encoding: Encoding, *, marked: bool) -> str:
    """Return a part of a decoded text with U+FFFD wherever Ollama sees it for what is ill-formed.

    Args:
        text: The part, which begins and ends at a character that is well-formed.
        encoding: The encoding of the whole.
        marked: Whether the whole begins with a byte order mark.
    """
    if text.isascii() or not _SURROGATE.search(text):
        return text
    if encoding != "utf-8":
        return _LONE_IN_UTF16.sub(_REPLACEMENT, text)
    if marked:
        return _SURROGATE.sub(_REPLACEMENT, text)
    data = _NO_ESCAPED_BYTE.sub(_REPLACEMENT, text).encode("utf-8", "surrogateescape")
    return data.decode("utf-8", "replace")
