"""JSON written in every way that JSON allows, and in some that it does not quite."""

from __future__ import annotations

import json
from random import Random
from typing import Any

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


class JsonWriter:
    """Writes JSON data with odd spacing, escapes, number forms and repeated keys."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def write(self, value: Any) -> str:
        """Return JSON text for a value; a reader that takes the last of repeated keys reads it back."""
        space = self.rng.choice(("", "", "", " ", "\n", "\t", "\r\n "))
        if isinstance(value, dict):
            members = [f"{self.string(key)}{space}:{space}{self.write(item)}" for key, item in value.items()]
            if members and self.rng.random() < 0.08:
                key, item = self.rng.choice(list(value.items()))
                # The first of two: what stands later wins.
                earlier = item if self.rng.random() < 0.5 else self.rng.choice((None, 1, "earlier", {}, []))
                members.insert(0, f"{self.string(key)}:{self.write(earlier)}")
            return "{" + space + f",{space}".join(members) + space + "}"
        if isinstance(value, list):
            return "[" + space + f",{space}".join(map(self.write, value)) + space + "]"
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, bool) or value is None:
            return json.dumps(value)
        return self.number(value)

    def string(self, text: str) -> str:
        """Return a string, each character as it is or escaped in one of its ways."""
        if self.rng.random() < 0.5:
            return json.dumps(text)
        parts = []
        for character in text:
            code = ord(character)
            if code < 0x20 or character in '"\\' or 0xD800 <= code < 0xE000 or self.rng.random() < 0.1:
                if character in _ESCAPES and self.rng.random() < 0.7:
                    parts.append(_ESCAPES[character])
                elif code > 0xFFFF:
                    parts.append(json.dumps(character)[1:-1].upper().replace("\\U", "\\u"))
                else:
                    form = self.rng.choice(("\\u{:04x}", "\\u{:04X}"))
                    parts.append(form.format(code))
            elif character == "/" and self.rng.random() < 0.3:
                parts.append("\\/")
            else:
                parts.append(character)
        return '"' + "".join(parts) + '"'

    def number(self, value: int | float) -> str:
        """Return a number in one of its forms."""
        plain = json.dumps(value)
        form = self.rng.random()
        if form < 0.7:
            return plain
        if isinstance(value, int):
            return self.rng.choice((f"{value}.0", f"{value}e0", f"{value}E+0", f"{value}.000", f"{value}e-0"))
        if form < 0.72:
            return self.rng.choice(("1e400", "-1E999", "1e-400", "123456789012345678901234567890"))
        return self.rng.choice((f"{value:e}", f"{value:E}", f"{value!r}0" if "e" not in plain else plain))


class RequestText(dict[str, Any]):
    """A request whose messages and tools are JSON text, as our reader takes them."""

    def encode(self) -> bytes:
        """Return the whole request as JSON text."""
        raw = (
            f"{json.dumps(key)}: {value if key in ('messages', 'tools') else json.dumps(value)}"
            for key, value in self.items()
        )
        return ("{" + ", ".join(raw) + "}").encode("utf-8", "surrogatepass")


def request_text(request: dict[str, Any], rng: Random) -> RequestText:
    """Return a request with its messages and tools written in unusual ways."""
    writer = JsonWriter(rng)
    return RequestText(
        {
            key: writer.write(value) if key in ("messages", "tools") else value
            for key, value in request.items()
        }
    )
