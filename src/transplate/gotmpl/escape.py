"""text/template's escaping of strings for HTML, JavaScript and URL queries."""

from __future__ import annotations

import re
from urllib.parse import quote_plus

from transplate.gotmpl import quoting
from transplate.gotmpl.printable import is_print

_HTML = str.maketrans(
    {"\0": quoting.REPLACEMENT, '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}
)
_HTML_SPECIAL = re.compile("[\0\"'&<>]")
_JS_SPECIAL = re.compile(r"[^ !#-%(-;?-\[\]-\x7f]")  # a negated class compiles in no time
_JS_BACKSLASHED = frozenset("\\\"'")


def html(text: str) -> str:
    """Return ``template.HTMLEscapeString`` of a Go string."""
    return text if _HTML_SPECIAL.search(text) is None else text.translate(_HTML)


def js(text: str) -> str:
    """Return ``template.JSEscapeString`` of a Go string."""
    return text if _JS_SPECIAL.search(text) is None else text.translate(_JsEscapes())


class _JsEscapes(dict[int, str]):
    """What stands for each character in JavaScript, worked out once for each that occurs."""

    def __missing__(self, code: int) -> str:
        escaped = self[code] = _js_escape(chr(code))
        return escaped


def _js_escape(character: str) -> str:
    if _JS_SPECIAL.match(character) is None:
        return character
    if character in _JS_BACKSLASHED:
        return "\\" + character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        # A stray byte is read as U+FFFD, which is printable, and the byte is copied.
        return character
    return character if code >= 0x80 and is_print(code) else f"\\u{code:04X}"


def urlquery(text: str) -> str:
    """Return ``url.QueryEscape`` of a Go string."""
    return quote_plus(quoting.to_bytes(text), safe="")
