"""Finds the pairs in a folder, or in Ollama's store, that are to be checked all at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from transplate.cli.comparing import GGUF
from transplate.language import Language, language_of_name

STORE = "ollama:"
"""Stands for all models in Ollama's store."""

_FOLDERS_LEFT_OUT = frozenset({"node_modules", "__pycache__", "venv"})


def is_matrix(source: str) -> bool:
    """Return whether a source is a place with many pairs."""
    return source == STORE or Path(source).is_dir()


def pairs_in(source: str) -> list[tuple[str, str]]:
    """Return the pairs in a place.

    In a folder these are a Go template and a chat template of one name (``chat.gotmpl``, ``chat.jinja``),
    beside each other or the only ones of that name, and a Modelfile or the Hub's ``template`` beside a
    ``chat_template.jinja``. In the store each model's TEMPLATE is one side, the chat template of its GGUF the
    other.

    Args:
        source: A folder, or ``ollama:`` for the store.
    """
    if source == STORE:
        from transplate.ollama.store import list_models

        return [(name := f"{STORE}{model}", name + GGUF) for model in list_models()]
    files = sorted(_files(Path(source)))
    return [(str(first), str(second)) for first, second in (*_same_name(files), *_models(files))]


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _FOLDERS_LEFT_OUT]
        yield from (Path(place) / name for name in names)


def _same_name(files: list[Path]) -> Iterator[tuple[Path, Path]]:
    beside: dict[tuple[Path, str], dict[Language, Path]] = {}
    anywhere: dict[str, dict[Language, list[Path]]] = {}
    for path in files:
        language = language_of_name(path.name)
        if language is not None:
            beside.setdefault((path.parent, path.stem), {})[language] = path
            anywhere.setdefault(path.stem, {}).setdefault(language, []).append(path)
    for (_, stem), found in beside.items():
        if len(found) == 2:
            yield found["gotmpl"], found["jinja"]
        elif "gotmpl" in found:
            named = anywhere[stem]
            if len(named["gotmpl"]) == len(named.get("jinja", ())) == 1:
                yield found["gotmpl"], named["jinja"][0]


def _models(files: list[Path]) -> Iterator[tuple[Path, Path]]:
    known = set(files)
    for path in files:
        chat_template = path.with_name("chat_template.jinja")
        if path.name in ("Modelfile", "template") and chat_template in known:
            yield path, chat_template
