"""The fields by which ``create`` of Ollama's Python client makes a model."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from transplate.errors import TransplateError
from transplate.files import reason
from transplate.models.model import Model
from transplate.models.modelfile_writer import base_of

_CHUNK = 1024 * 1024


def create_fields(model: Model, folder: Path) -> dict[str, Any]:
    """Return the fields, as :meth:`Model.create_fields` says.

    Args:
        model: The model.
        folder: The folder that the paths in it start from.

    Raises:
        TransplateError: It has what the client cannot say, or its weights cannot be read.
    """
    adapters = model.modelfile.values("adapter") if model.modelfile else []
    drafts = model.modelfile.values("draft") if model.modelfile else []
    settings = {
        "RENDERER": model.renderer,
        "PARSER": model.parser,
        "REQUIRES": model.requires,
        "DRAFT": drafts,
    }
    unsayable = [name for name, value in settings.items() if value]
    if unsayable:
        raise TransplateError(
            f"{model.name}: Ollama's Python client has no field for {' and '.join(unsayable)}: "
            "write a Modelfile, and use ollama create"
        )
    bases = model.base if model.kind == "Modelfile" else (base_of(model, folder),)
    paths = [folder / base for base in bases]
    fields: dict[str, Any] = {}
    if any(path.is_dir() for path in paths):
        raise TransplateError(f"{model.name}: the client takes GGUFs, or the name of a model, and no folder")
    if all(path.is_file() for path in paths):
        fields["files"] = _digests(paths)
    else:
        fields["from_"] = bases[0]
    if adapters:
        fields["adapters"] = _digests([folder / adapter for adapter in adapters])
    values = {
        "template": model.template.text if model.template else "",
        "system": model.system,
        "license": list(model.licenses),
        "parameters": dict(model.parameters),
        "messages": [{"role": role, "content": content} for role, content in model.messages],
    }
    return fields | {name: value for name, value in values.items() if value}


def _digests(paths: list[Path]) -> dict[str, str]:
    return {path.name: f"sha256:{_digest(path)}" for path in paths}


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise TransplateError(f"{path}: {reason(error)}") from error
    return digest.hexdigest()
