"""The constants in a template's code: the texts and numbers that it may compare what it is given with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from transplate.language import Language

_CODE = {
    "gotmpl": re.compile(r"\{\{.*?\}\}", re.DOTALL),
    "jinja": re.compile(r"\{[{%].*?[}%]\}", re.DOTALL),
}
_STRING = {
    "gotmpl": re.compile(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`'),
    "jinja": re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'", re.DOTALL),
}
_NUMBER = re.compile(r"(?<![\w.$])\d{1,7}(?:\.\d+)?(?![\w.])")
_BEFORE = re.compile(
    r"(?:==|!=|[<>]=?|\bin|[|.]\s*(?!get\b)\w+\s*\([^()]*|\bis\s+(?:not\s+)?\w+\s*\([^()]*|\bin\s*[\[(][^\])]*"
    r"|\b(?:eq|ne|lt|le|gt|ge)\b[^|]*)$"
)
_BEHIND = re.compile(r"==|!=|[<>]=?|(?:not\s+)?in\b")
_FURTHEST = 200
_ESCAPES = (("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ('\\"', '"'), ("\\'", "'"), ("\\\\", "\\"))


@dataclass(frozen=True, slots=True)
class Literals:
    """The constants of a template, or of two.

    Attributes:
        texts: Every text.
        compared: Those that stand where a text is compared, looked for, split at or replaced.
        numbers: Every number.
    """

    texts: frozenset[str] = frozenset()
    compared: frozenset[str] = frozenset()
    numbers: frozenset[float] = frozenset()

    def __or__(self, other: Literals) -> Literals:
        """Return the constants of both."""
        return Literals(
            self.texts | other.texts, self.compared | other.compared, self.numbers | other.numbers
        )


def literals_of(source: str, language: Language) -> Literals:
    """Return the constants in a template's code, as far as that can be told by its text."""
    texts, compared, numbers = set(), set(), set()
    for code in _CODE[language].findall(source):
        for before, text, behind in _strings(code, language):
            texts.add(text)
            if _BEFORE.search(before) or _BEHIND.match(behind):
                compared.add(text)
        bare = _STRING[language].sub(lambda found: "_" * len(found[0]), code)
        numbers |= {float(number) if "." in number else int(number) for number in _NUMBER.findall(bare)}
    return Literals(frozenset(texts), frozenset(compared), frozenset(numbers))


def _strings(code: str, language: Language) -> Iterator[tuple[str, str, str]]:
    """Yield every text in a piece of code, with what stands before it and behind it."""
    for found in _STRING[language].finditer(code):
        text = next((group for group in found.groups() if group is not None), "")
        for escape, meant in _ESCAPES:
            text = text.replace(escape, meant)
        before = code[max(0, found.start() - _FURTHEST) : found.start()].rstrip()
        yield before, text, code[found.end() : found.end() + 8].lstrip()
