"""Tells which of the two template languages a text is in, by the name of its file or by what is in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, TypeAlias

Language: TypeAlias = Literal["gotmpl", "jinja"]

_SUFFIXES: dict[str, Language] = {
    ".gotmpl": "gotmpl",
    ".tmpl": "gotmpl",
    ".jinja": "jinja",
    ".jinja2": "jinja",
    ".j2": "jinja",
}
_ONLY_GO = re.compile(
    r"\{\{-?\s*(?:\.|\$|/\*|\w+\s+[.$\x22`\d]|(?:if|range|with|else|end|define|template|block|break|continue)\b)"
)
_ONLY_JINJA = re.compile(r"\{[%#{]")


def language_of_name(path: str) -> Language | None:
    """Return the language that a file name tells, None where it tells none."""
    return _SUFFIXES.get(Path(path).suffix.lower())


def language_of_text(text: str) -> Language:
    """Return the language of a template by what only one of the two can say.

    Text without any template syntax is the same in both and counts as a Go template.
    """
    return "jinja" if not _ONLY_GO.search(text) and _ONLY_JINJA.search(text) else "gotmpl"


def language_of(path: str, text: str) -> Language:
    """Return the language of a template, by the name of its file or else by its text."""
    return language_of_name(path) or language_of_text(text)
