"""The fields by which ``create`` of Ollama's Python client makes a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from transplate.errors import TransplateError
from transplate.files import digest_of
from transplate.models.model import Model
from transplate.models.modelfile_writer import base_of

Progress: TypeAlias = Callable[[int, int], None]
"""Is told how many bytes were read, and of how many."""


def create_fields(model: Model, folder: Path, progress: Progress | None = None) -> dict[str, Any]:
    """Return the fields, as :meth:`Model.create_fields` says.

    Args:
        model: The model.
        folder: The folder that the paths in it start from.
        progress: Likewise.

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
    files = paths if all(path.is_file() for path in paths) else []
    if len({path.name for path in files}) < len(files):
        raise TransplateError(f"{model.name}: the client cannot tell files of one name apart")
    adapter_files = [folder / adapter for adapter in adapters]
    digests = _digests([*files, *adapter_files], progress)
    if files:
        fields["files"] = {path.name: digests[path] for path in files}
    else:
        fields["from_"] = bases[0]
    if adapters:
        fields["adapters"] = {path.name: digests[path] for path in adapter_files}
    values = {
        "template": model.template.text if model.template else "",
        "system": model.system,
        "license": list(model.licenses),
        "parameters": dict(model.parameters),
        "messages": [{"role": role, "content": content} for role, content in model.messages],
    }
    return fields | {name: value for name, value in values.items() if value}


def _digests(paths: Sequence[Path], progress: Progress | None) -> dict[Path, str]:
    """Return the digests of files as the client has them."""
    total = sum(path.stat().st_size for path in paths if path.is_file())
    done = 0

    def read(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, total)

    return {path: f"sha256:{digest_of(path, read)}" for path in paths}
