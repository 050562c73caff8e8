"""Text with everything that cannot be seen made visible."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Co", "Cs", "Cn"})
_NAMES = {"\n": "⏎", "\t": "⇥", "\r": "␍"}
_STYLE = re.compile(r"(\x1b\[[0-9;]*m)")
_COMMAND = re.compile(rf"^((?:\s|{_STYLE.pattern})*:):|##\[", re.MULTILINE)
"""What GitHub's runner takes for a command to itself wherever it stands in what a step prints."""
_SPACE_AT_END = re.compile(r" (?= *(?:⏎|$))")


def visible(text: str) -> str:
    """Return a text in which line ends, tabs, spaces at the end of lines and odd characters can be seen."""
    return _SPACE_AT_END.sub("·", "".join(map(_character, text)))


def harmless(text: str, *, is_styled: bool = False) -> str:
    """Return lines of text in which nothing acts on a terminal or on the machine of a CI that prints them.

    Args:
        text: The lines; their ends stay.
        is_styled: Whether colours stay, too.
    """
    text = _COMMAND.sub(lambda found: f"{found[1]}<U+003A>" if found[1] else "##<U+005B>", text)
    pieces = _STYLE.split(text) if is_styled else [text]
    pieces[::2] = (
        "\n".join("".join(map(_character, line)) for line in piece.split("\n")) for piece in pieces[::2]
    )
    return "".join(pieces)


def _character(character: str) -> str:
    if character in _NAMES:
        return _NAMES[character]
    if character == " " or unicodedata.category(character) not in _INVISIBLE:
        return character
    return f"<U+{ord(character):04X}>"


def cut(text: str, width: int) -> str:
    """Return a text that is not longer than a width, with an ellipsis where it was cut."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def around(text: str, position: int, width: int) -> str:
    """Return as much of a text around a position as a width allows, with ellipses where it was cut."""
    if len(text) <= width:
        return text
    start = max(0, min(position - width // 3, len(text) - width))
    made = text[start : start + width]
    if start:
        made = "…" + made[1:]
    return made if start + width >= len(text) else made[:-1] + "…"
