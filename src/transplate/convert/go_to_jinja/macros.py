"""The macros that converted templates carry with them, read from ``macros.jinja`` and chosen by need."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from transplate.convert.go_to_jinja.assumptions import ASSUMPTIONS, Assumptions
from transplate.convert.go_to_jinja.conversations import has_long_numbers
from transplate.convert.report import Loss
from transplate.jinja import nodes as j
from transplate.jinja import walk

_HEADING = re.compile(r"^### (?P<name>\w+)(?: if (?P<needs>[\w, .<>=-]+))?\n", re.MULTILINE)
_CALL = re.compile(r"\b([a-z_]+)\(")


@dataclass(frozen=True, slots=True)
class _Variant:
    """One definition of a macro and the assumptions that it relies on."""

    needs: frozenset[str]
    source: str


def macros_for(body: j.Body, assumptions: Assumptions, *, features: frozenset[str]) -> j.Body:
    """Return the definitions of all macros that a body calls, each behind those that it calls itself.

    Args:
        body: The template's body.
        assumptions: What may be taken for granted; what the chosen definitions rely on is noted.
        features: What this Ollama does, for macros that depend on its version.
    """
    library = _library()
    chosen: dict[str, str] = {}

    def choose(name: str) -> None:
        if name not in library or name in chosen:
            return
        variant = max(
            (variant for variant in library[name] if variant.needs <= assumptions.allowed | features),
            key=lambda variant: len(variant.needs),
        )
        for need in variant.needs & ASSUMPTIONS.keys():
            assumptions.use(need)
        chosen[name] = ""
        for callee in _CALL.findall(variant.source):
            if callee != name:
                choose(callee)
        del chosen[name]
        chosen[name] = variant.source

    for part in walk.all_parts(body):
        if isinstance(part, j.Call) and isinstance(part.function, j.Name):
            choose(part.function.name)
    return tuple(j.Verbatim(source) for source in chosen.values())


def macro_losses(macros: j.Body) -> list[Loss]:
    """Return what the chosen macros can print differently from Go, in an engine or for some data."""
    text = "\n".join(macro.source for macro in macros if isinstance(macro, j.Verbatim))
    return [loss for marker, loss in _LOSSES.items() if marker in text]


_LOSSES = {
    "arguments_json(": Loss("arguments that a host gives as JSON text are printed as they are"),
    "macro decimal(": Loss(
        "numbers of more than 15 digits, below 1e-14 or above 1e30; in llama-server integers from 2^63 on",
        name="long-numbers",
        affects=has_long_numbers,
    ),
    "dictsort(": Loss("JavaScript moves keys that look like integers to the front"),
}


def text_macro(style: str) -> str:
    """Return the macro that writes a text as JSON in a style, Go's if that is empty."""
    return _STYLES[style][1] if style else "json_string"


def macro_names() -> frozenset[str]:
    """Return the names of all macros of the library."""
    return frozenset(_library())


def variants() -> dict[str, tuple[tuple[str, frozenset[str], tuple[str, ...]], ...]]:
    """Return for each macro its definitions, each with what it relies on and the macros that it calls."""
    library = _library()
    return {
        name: tuple(
            (one.source, one.needs, tuple(dict.fromkeys(set(_CALL.findall(one.source)) & library.keys())))
            for one in found
        )
        for name, found in library.items()
    }


@cache
def _library() -> dict[str, tuple[_Variant, ...]]:
    text = files(__package__).joinpath("macros.jinja").read_text(encoding="utf-8")
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    library: dict[str, tuple[_Variant, ...]] = {}
    for heading, end in zip(headings, ends, strict=True):
        needs = frozenset((heading["needs"] or "").replace(",", " ").split())
        variant = _Variant(needs, text[heading.end() : end].strip("\n"))
        library[heading["name"]] = (*library.get(heading["name"], ()), variant)
    for style in _STYLES:
        library |= _styled(library, style)
    return library


_STYLES = {
    "spaced_": (True, "spaced_json_string"),
    "python_": (True, "python_json_string"),
    "compact_": (False, "spaced_json_string"),
    "python_compact_": (False, "python_json_string"),
}
"""How else JSON is written: whether with spaces, and by which macro texts are."""
_JSON_MACRO = re.compile(r"\b(?:json|json_string|[a-z_]+_json)(?=\()")
_COMMENT_OR_TEXT = re.compile(r"\{#.*?#\}|'[^']*'", re.DOTALL)


def _styled(library: Mapping[str, tuple[_Variant, ...]], style: str) -> dict[str, tuple[_Variant, ...]]:
    """Return the macros that write JSON as a style has it."""
    made: dict[str, tuple[_Variant, ...]] = {}
    for name, found in library.items():
        if not _JSON_MACRO.match(f"{name}(") or name.startswith((*_STYLES, "json_string")):
            continue
        made[style + name] = tuple(
            _Variant(one.needs, _in_style(_JSON_MACRO.sub(rf"{style}\g<0>", one.source), style))
            for one in found
        )
    return made


def _in_style(source: str, style: str) -> str:
    """Return a macro whose constants, which are pieces of JSON, are as a style has them."""
    is_spaced, texts = _STYLES[style]

    def piece(found: re.Match[str]) -> str:
        text = found[0]
        return text if text[0] == "{" else text.replace(",", ", ").replace(":", ": ")

    source = source.replace(f"{style}json_string(", f"{texts}(")
    if style.startswith("python_"):
        source = source.replace(_GO_NUMBERS, _PYTHON_NUMBERS)
    if not is_spaced:
        return source.replace("as Go marshals it: no spaces", "no spaces")
    source = _COMMENT_OR_TEXT.sub(piece, source).replace("fields[1:]", "fields[2:]")
    return source.replace("as Go marshals it: no spaces", "with spaces")


_GO_NUMBERS = "decimal(value, 0.000001, 1000000000000000000000.0, false)"
_PYTHON_NUMBERS = "decimal(value, 0.0001, 1000000000000000000000.0, true)"
