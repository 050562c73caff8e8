"""The names that every Go template knows."""

from __future__ import annotations

BUILTIN_NAMES = frozenset(
    [
        "and",
        "call",
        "eq",
        "ge",
        "gt",
        "html",
        "index",
        "js",
        "le",
        "len",
        "lt",
        "ne",
        "not",
        "or",
        "print",
        "printf",
        "println",
        "slice",
        "urlquery",
    ]
)
"""The functions of ``text/template`` itself."""

KEYWORDS = frozenset(
    ["block", "break", "continue", "define", "else", "end", "if", "nil", "range", "template", "with"]
)
"""The words that begin or make an action, and ``nil``."""

OPTIONAL_KEYWORDS = frozenset({"break", "continue"})
"""The keywords that may name a function, and then are keywords no more."""
