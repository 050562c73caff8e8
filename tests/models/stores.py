"""Ollama's store, laid out as ``ollama create`` and ``ollama pull`` do."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

_IMAGE = "application/vnd.ollama.image."


def lay_out_store(
    folder: Path, name: tuple[str, str, str, str], config: dict[str, Any], layers: dict[str, bytes]
) -> Path:
    """Write a store with one model.

    Args:
        folder: Where the store goes.
        name: Host, namespace, model and tag.
        config: The model's configuration.
        layers: The contents of its layers by their kinds: ``model``, ``template``, …

    Returns:
        The folder.
    """
    (folder / "blobs").mkdir(parents=True)

    def blob(kind: str, data: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(data).hexdigest()
        (folder / "blobs" / f"sha256-{digest}").write_bytes(data)
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(data)}

    manifest = {
        "schemaVersion": 2,
        "config": blob("application/vnd.docker.container.image.v1+json", json.dumps(config).encode()),
        "layers": [blob(f"{_IMAGE}{kind}", data) for kind, data in layers.items()],
    }
    path = folder.joinpath("manifests", *name)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(manifest))
    return folder
