"""The macros that converted templates carry with them, read from ``macros.jinja`` and chosen by need."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from transplate.convert.go_to_jinja.assumptions import ASSUMPTIONS, Assumptions
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
    return [Loss(message) for marker, message in _LOSSES.items() if marker in text]


_LOSSES = {
    "macro arguments_json(": "arguments that a host gives as JSON text are printed as they are",
    "macro decimal(": (
        "numbers of more than 15 digits, below 1e-14 or above 1e30; in llama-server integers from 2^63 on"
    ),
    "dictsort(": "JavaScript moves keys that look like integers to the front",
}


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
    return library
