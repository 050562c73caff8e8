"""JSON text of ordinary requests, parsed at the speed of Python's own parser.

That parser forgets repeated keys and the sign of ``-0``, which Ollama's does not: whether it has is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from json import JSONDecoder
from typing import Any, Final, TypeAlias

_COMPACT_KEY: Final = '":'
_ESCAPED_QUOTE: Final = '\\":'
_BACKSLASHED_KEY: Final = '\\\\":'
_SPACE_BEFORE_COLON: Final = re.compile(r'"[ \t\n\r]+:')
_NEGATIVE_ZERO: Final = re.compile(r"-0(?![0-9.])")
_BODY_KEYS: Final = frozenset({"model", "messages", "tools", "think", "stream"})


QuickBody: TypeAlias = tuple[list[Any], Any, Any, int]
"""Messages, tools and ``think`` of a body of ``/api/chat``, and how many keys the body itself has."""

_scan: Final[Callable[[str, int], tuple[Any, int]]] = JSONDecoder().scan_once  # type: ignore[attr-defined]


def quick_body(text: str) -> QuickBody | None:
    """Parse the text of a body of ``/api/chat``; :func:`is_faithful` tells later whether that was enough."""
    try:
        body, end = _scan(text, 0)
    except (StopIteration, ValueError, RecursionError):
        return None
    if end != len(text) or type(body) is not dict or not body.keys() <= _BODY_KEYS:
        return None
    messages = body.get("messages")
    if type(messages) is not list or type(body.get("model", "")) is not str:
        return None
    if type(body.get("stream", False)) is not bool:
        return None
    return messages, body.get("tools"), body.get("think"), len(body)


def is_faithful(text: str, keys: int) -> bool:
    """Whether data read from JSON text has all that the text has: no repeated key, no ``-0``.

    Args:
        text: The text.
        keys: How many keys the objects that were read from it have.
    """
    if "-0" in text and _NEGATIVE_ZERO.search(text) is not None:
        return False
    if text.count(":") == keys:
        return True  # every colon in the text stands behind a key of its own
    return (
        text.count(_COMPACT_KEY) - text.count(_ESCAPED_QUOTE) == keys  # less those inside of strings
        and _BACKSLASHED_KEY not in text
        and _SPACE_BEFORE_COLON.search(text) is None
    )
