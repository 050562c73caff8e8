"""Mutants of Go templates: small random changes that keep most of a real template's shape."""

from __future__ import annotations

import re
from random import Random

from tests.fuzz.templates import BY_TYPE, FIELDS, FUNCTIONS, METHODS, TEXTS, VARIABLES

_TOKEN = re.compile(
    r"""\{\{-?\s? | \s?-?\}\} | /\*.*?\*/ | "(?:\\.|[^"\\])*" | `[^`]*` | '(?:\\.|[^'\\])*'
    | \.?[\w$]+ | := | \s+ | .""",
    re.VERBOSE | re.DOTALL,
)
_NAMES = sorted({name for fields in (*FIELDS.values(), *METHODS.values()) for name in fields})
_KEYWORDS = (
    "if",
    "else",
    "end",
    "range",
    "with",
    "define",
    "template",
    "block",
    "break",
    "continue",
    "nil",
    "else if",
)
_SIGNS = (
    "|",
    "(",
    ")",
    ".",
    ",",
    ":=",
    "=",
    "$",
    "{{",
    "}}",
    "-",
    "{{- ",
    " -}}",
    " ",
    "\n",
    '"',
    "`",
    "'",
    "/*",
    "*/",
)
_CHARACTERS = "{}()|.,:=$-\"'`/* \n\\0a_#é日\x00\u00a0²ª"
_LITERALS = [text for forms in BY_TYPE.values() for _, text in forms]
_WHOLE = (
    "{{.}}",
    "{{$}}",
    "{{json .}}",
    "{{break}}",
    "{{end}}",
    "{{else}}",
    '{{printf "%v" .}}',
    '{{template "x" .}}',
)

OPERATIONS = (
    *("delete", "duplicate", "swap", "replace", "insert", "character-delete", "character-insert", "splice"),
    *("rename", "trim", "move-block", "literal"),
)
FEATURES: frozenset[str] = frozenset(f"mutation:{operation}" for operation in OPERATIONS)


def tokens(source: str) -> list[str]:
    """Cut a template into small pieces that join to it again."""
    return _TOKEN.findall(source)


def mutate(source: str, other: str, rng: Random) -> tuple[str, set[str]]:
    """Return a mutant of a template, with parts of another, and the features of what was done."""
    pieces = tokens(source)
    used = set()
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        operation = rng.choice(OPERATIONS)
        used.add(f"mutation:{operation}")
        pieces = [piece for piece in _apply(operation, pieces, other, rng) if piece]
    return "".join(pieces), used


def _token(rng: Random) -> str:
    pool = rng.choice((_KEYWORDS, _SIGNS, _LITERALS, VARIABLES, FUNCTIONS, TEXTS, None))
    return "." + rng.choice(_NAMES) if pool is None else rng.choice(pool)


def _apply(operation: str, pieces: list[str], other: str, rng: Random) -> list[str]:
    """Return the pieces after one change."""
    if not pieces:
        return [_token(rng)]
    at = rng.randrange(len(pieces))
    if rng.random() < 0.8:
        # What stands inside of actions matters more than text.
        inside = [i for i, piece in enumerate(pieces) if piece[0] in "{}.$|(" or piece in FUNCTIONS]
        at = rng.choice(inside) if inside else at
    if operation == "delete":
        return pieces[:at] + pieces[at + rng.choice((1, 1, 1, 2, 5)) :]
    if operation == "duplicate":
        end = at + rng.choice((1, 2, 4, 8))
        return pieces[:end] + pieces[at:end] + pieces[end:]
    if operation == "swap":
        to = rng.randrange(len(pieces))
        swapped = list(pieces)
        swapped[at], swapped[to] = swapped[to], swapped[at]
        return swapped
    if operation == "replace":
        return [*pieces[:at], _token(rng), *pieces[at + 1 :]]
    if operation == "insert":
        return [*pieces[:at], rng.choice((" ", "")) + _token(rng) + rng.choice((" ", "")), *pieces[at:]]
    if operation == "character-delete":
        cut = rng.randrange(len(pieces[at]))
        return [*pieces[:at], pieces[at][:cut] + pieces[at][cut + 1 :], *pieces[at + 1 :]]
    if operation == "character-insert":
        cut = rng.randint(0, len(pieces[at]))
        grown = pieces[at][:cut] + rng.choice(_CHARACTERS) + pieces[at][cut:]
        return [*pieces[:at], grown, *pieces[at + 1 :]]
    if operation == "splice":
        theirs = tokens(other)
        start = rng.randrange(len(theirs)) if theirs else 0
        return pieces[:at] + theirs[start : start + rng.choice((3, 10, 30))] + pieces[at:]
    if operation == "rename":
        fields = [i for i, piece in enumerate(pieces) if piece[0] == "." and len(piece) > 1]
        if not fields:
            return [*pieces[:at], rng.choice(_WHOLE), *pieces[at:]]
        at = rng.choice(fields)
        return [*pieces[:at], "." + rng.choice(_NAMES), *pieces[at + 1 :]]
    if operation == "trim":
        return [
            _retrimmed(piece, rng) if piece[:2] in {"{{", "}}", "-}", " -", " }"} else piece
            for piece in pieces
        ]
    if operation == "move-block":
        end = at + rng.randint(1, 20)
        rest = pieces[:at] + pieces[end:]
        to = rng.randint(0, len(rest))
        return rest[:to] + pieces[at:end] + rest[to:]
    literals = [i for i, piece in enumerate(pieces) if piece[0] in "\"`'0123456789"]
    if not literals:
        return [*pieces[:at], rng.choice(_WHOLE), *pieces[at:]]
    at = rng.choice(literals)
    return [*pieces[:at], rng.choice(_LITERALS), *pieces[at + 1 :]]


def _retrimmed(piece: str, rng: Random) -> str:
    if rng.random() < 0.8:
        return piece
    return rng.choice(("{{- ", "{{") if "{" in piece else (" -}}", "}}"))
