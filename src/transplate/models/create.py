"""The fields by which ``create`` of Ollama's Python client makes a model."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from transplate.errors import TransplateError
from transplate.files import reason
from transplate.models.model import Model
from transplate.models.to_modelfile import base_of

_CHUNK = 1024 * 1024


def create_fields(model: Model, folder: Path) -> dict[str, Any]:
    """Return the fields, as :meth:`Model.create_fields` says.

    Args:
        model: The model.
        folder: The folder that the paths in it start from.

    Raises:
        TransplateError: It has what the client cannot say, or its weights cannot be read.
    """
    settings = {"RENDERER": model.renderer, "PARSER": model.parser, "REQUIRES": model.requires}
    unsayable = [name for name, value in settings.items() if value]
    if unsayable:
        raise TransplateError(
            f"{model.name}: Ollama's Python client has no field for {' and '.join(unsayable)}: "
            "write a Modelfile, and use ollama create"
        )
    fields: dict[str, Any] = {}
    path = folder / base_of(model, folder)
    if path.is_file():
        fields["files"] = {path.name: f"sha256:{_digest(path)}"}
    elif path.is_dir():
        raise TransplateError(f"{path}: the client takes a GGUF, or the name of a model, and no folder")
    else:
        fields["from_"] = base_of(model, folder)
    values = {
        "template": model.template.text if model.template else "",
        "system": model.system,
        "license": list(model.licenses),
        "parameters": dict(model.parameters),
        "messages": [{"role": role, "content": content} for role, content in model.messages],
    }
    return fields | {name: value for name, value in values.items() if value}


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise TransplateError(f"{path}: {reason(error)}") from error
    return digest.hexdigest()
