"""Go strings as text for people, and Go's ``strings.ToLower`` and ``strings.TrimSpace``."""

from __future__ import annotations

import re

_INVALID_BYTE = re.compile("[\udc80-\udcff]")
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_SPACE += "\u2028\u2029\u202f\u205f\u3000"


def lower(text: str) -> str:
    """Return a text in lower case, rune by rune, each rune giving one rune."""
    if text.isascii():
        return text.lower()
    return "".join("i" if rune == "\u0130" else rune.lower() for rune in text)


def trim_space(text: str) -> str:
    """Return a text without what Go takes for white space at its ends."""
    return text.strip(_SPACE)


def shown(text: str) -> str:
    """Return a Go string with each byte that is no valid UTF-8 as U+FFFD."""
    return text if text.isascii() else _INVALID_BYTE.sub("\ufffd", text)
