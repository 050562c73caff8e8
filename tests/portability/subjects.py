"""The templates of a run: the project's own and, from the shared folder, Ollama's library and users'."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

from tests.portability.comparing import Subject

_REPOSITORY = Path(__file__).parents[2]


def shared_folder() -> Path:
    """Return where the folder with outside data is, or would be."""
    return Path(os.environ.get("TRANSPLATE_SHARED") or _REPOSITORY.parent / "shared")


def project_subjects() -> list[Subject]:
    """Return the project's own templates."""
    paths = sorted((_REPOSITORY / "templates" / "gotmpl").glob("*.gotmpl"))
    return [Subject(path.stem, path.read_bytes().decode(), "The project's own") for path in paths]


def library_subjects() -> list[Subject]:
    """Return the templates of Ollama's library, each named after the first model that has it."""
    path = shared_folder() / "corpus" / "ollama_library_pairs.jsonl"
    if not path.exists():
        return []
    models: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        models.setdefault(row["gotmpl"], []).append(row["model"].removeprefix("library/"))
    subjects = []
    for source, names in models.items():
        others = f" and {len(names) - 1} more" if len(names) > 1 else ""
        subjects.append(Subject(names[0] + others, source, "Ollama's library"))
    return subjects


def public_subjects() -> list[Subject]:
    """Return templates that people wrote in their Modelfiles."""
    path = shared_folder() / "corpus" / "gotmpl_public.jsonl.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [Subject(row["id"], row["gotmpl"], "Written by users") for row in rows]


def all_subjects() -> list[Subject]:
    """Return all templates that are here."""
    return [*project_subjects(), *library_subjects(), *public_subjects()]
