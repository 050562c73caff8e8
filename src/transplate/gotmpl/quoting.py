"""Go's quoted strings and runes (``strconv.Quote`` and its kin), and strings as the bytes that Go sees."""

from __future__ import annotations

import re

from transplate.gotmpl.printable import is_print

MAX_RUNE = 0x10FFFF
REPLACEMENT = "\ufffd"

_SHORT_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
}
_SUSPECT = re.compile(r"[^ !#-\[\]-~]")
_NOT_IN_BACKQUOTES = re.compile("[\x00-\x08\x0a-\x1f`\x7f\ufeff\udc80-\udcff]")
_INVALID_BYTE = re.compile("[\udc80-\udcff]")


def to_bytes(text: str) -> bytes:
    """Return the bytes of a Go string."""
    return text.encode("utf-8", "surrogateescape")


def from_bytes(data: bytes) -> str:
    """Return the Go string that has these bytes."""
    return data.decode("utf-8", "surrogateescape")


def is_valid(text: str) -> bool:
    """Whether a Go string has no byte that is part of no valid UTF-8."""
    return text.isascii() or _INVALID_BYTE.search(text) is None


def joined(parts: list[str]) -> str:
    """Join Go strings; stray bytes that form a character together become that character."""
    text = "".join(parts)
    if text.isascii() or _INVALID_BYTE.search(text) is None:
        return text
    return from_bytes(to_bytes(text))


def quote(text: str) -> str:
    """Return ``strconv.Quote`` of a Go string."""
    return f'"{_escaped(text, ascii_only=False)}"'


def quote_to_ascii(text: str) -> str:
    """Return ``strconv.QuoteToASCII`` of a Go string."""
    return f'"{_escaped(text, ascii_only=True)}"'


def quote_rune(code: int) -> str:
    """Return ``strconv.QuoteRune`` of a code point."""
    return "'" + _escape(rune(code), "'", ascii_only=False) + "'"


def quote_rune_to_ascii(code: int) -> str:
    """Return ``strconv.QuoteRuneToASCII`` of a code point."""
    return "'" + _escape(rune(code), "'", ascii_only=True) + "'"


def can_backquote(text: str) -> bool:
    """Return ``strconv.CanBackquote`` of a Go string."""
    return _NOT_IN_BACKQUOTES.search(text) is None


def rune(code: int) -> str:
    """Return the character of a code point, U+FFFD where there is none, as ``utf8.AppendRune`` does."""
    if 0 <= code < 0xD800 or 0xDFFF < code <= MAX_RUNE:
        return chr(code)
    return REPLACEMENT


class _Escapes(dict[int, str]):
    """What stands for each character of a quoted string, worked out once for each that occurs."""

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__()
        self._ascii_only = ascii_only

    def __missing__(self, code: int) -> str:
        escaped = self[code] = _escape(chr(code), '"', ascii_only=self._ascii_only)
        return escaped


def _escaped(text: str, *, ascii_only: bool) -> str:
    return text if _SUSPECT.search(text) is None else text.translate(_Escapes(ascii_only=ascii_only))


def _escape(character: str, quotation_mark: str, *, ascii_only: bool) -> str:
    code = ord(character)
    if character == quotation_mark:
        return "\\" + character
    if character == "\\":
        return "\\\\"
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if is_print(code) and (code < 0x80 or not ascii_only):
        return character
    short = _SHORT_ESCAPES.get(character)
    if short is not None:
        return short
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
