"""Ollama's local store: a model's name in, what its manifest and blobs hold out. Nothing is ever written.

The layout is that of manifest/paths.go and manifest/manifest.go, the names those of types/model/name.go.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transplate.errors import TransplateError
from transplate.files import decoded, json_in, read_bytes, read_text
from transplate.source import Source

_HOST, _NAMESPACE, _TAG = "registry.ollama.ai", "library", "latest"
_PARTS = {
    "host": re.compile("[A-Za-z0-9_][A-Za-z0-9_.:-]{0,349}"),
    "namespace": re.compile("[A-Za-z0-9_][A-Za-z0-9_-]{0,79}"),
    "model": re.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}"),
    "tag": re.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}"),
}
_DIGEST = re.compile("sha256[:-]([0-9a-fA-F]{64})")
_SERVICE_FOLDER = Path("/usr/share/ollama/.ollama/models")
"""Where Ollama keeps its models when it runs as a service on Linux."""
_IMAGE = "application/vnd.ollama.image."


@dataclass(frozen=True, slots=True)
class ModelName:
    """The name of a model as Ollama spells it, with what it leaves out filled in."""

    host: str
    namespace: str
    model: str
    tag: str

    @classmethod
    def parse(cls, text: str) -> ModelName:
        """Read a name such as ``llama3.2``, ``me/mine:7b`` or ``hf.co/org/repo:Q4_K_M``.

        Raises:
            TransplateError: It is no name; ``..`` and other ways out of the store are none.
        """
        rest, tag = text, _TAG
        if rest.rfind(":") > rest.rfind("/"):
            rest, _, tag = rest.rpartition(":")
        parts = rest.rsplit("/", 2)
        parts[0] = parts[0].rpartition("://")[2]
        host, namespace, model = [_HOST, _NAMESPACE, ""][: 3 - len(parts)] + parts
        name = cls(host, namespace, model, tag)
        for part, pattern in _PARTS.items():
            value = getattr(name, part)
            if not pattern.fullmatch(value):
                raise TransplateError(f"{text!r} is no name of a model: {part} {value!r}")
        return name

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """The folders and the file below ``manifests``."""
        return self.host, self.namespace, self.model, self.tag

    def __str__(self) -> str:
        text = f"{self.model}:{self.tag}"
        if self.host.lower() != _HOST:
            return f"{self.host}/{self.namespace}/{text}"
        return text if self.namespace.lower() == _NAMESPACE else f"{self.namespace}/{text}"


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model in the store.

    Attributes:
        name: Its name.
        manifest: The file that lists its blobs.
        config: Its configuration: family, RENDERER, PARSER and more.
        template: Its TEMPLATE, None if it has none.
        system: Its SYSTEM.
        parameters: Its PARAMETERs.
        messages: Its MESSAGEs, as in ``/api/chat``.
        licenses: Its LICENSEs.
        weights: The file with the model itself, a GGUF as a rule, which may be missing.
    """

    name: ModelName
    manifest: Path
    config: dict[str, Any]
    template: str | None
    system: str
    parameters: dict[str, Any]
    messages: list[dict[str, Any]]
    licenses: list[str]
    weights: Path | None


def store_folders() -> list[Path]:
    """Return where models are kept: OLLAMA_MODELS if it is set, else the user's and the service's folder."""
    if folder := os.environ.get("OLLAMA_MODELS", "").strip(" \t\"'"):
        return [Path(folder)]
    return [Path.home() / ".ollama" / "models", _SERVICE_FOLDER]


def find_manifest(name: ModelName) -> Path | None:
    """Return the manifest of a model, whose name is found in any case; None where there is no such model."""
    for folder in store_folders():
        at: Path | None = folder / "manifests"
        for part in name.parts:
            at = _child(at, part) if at else None
        if at is not None and at.is_file():
            return at
    return None


def is_stored(name: str) -> bool:
    """Return whether there is a model of a name in the store; never for a text that is no name."""
    try:
        return find_manifest(ModelName.parse(name)) is not None
    except TransplateError:
        return False


def list_models() -> list[ModelName]:
    """Return the names of all models in the store, sorted by name."""
    found = {
        ModelName(*path.relative_to(folder / "manifests").parts)
        for folder in store_folders()
        for path in folder.glob("manifests/*/*/*/*")
        if path.is_file() and not path.name.startswith(".")
    }
    return sorted(found, key=str)


def read_model(text: str) -> StoredModel:
    """Read a model from the store.

    Args:
        text: Its name.

    Raises:
        TransplateError: The text is no name, there is no such model, or its manifest or a blob is missing,
            damaged or not what its digest says.
    """
    name = ModelName.parse(text)
    manifest = find_manifest(name)
    if manifest is None:
        folders = " or ".join(map(str, store_folders()))
        raise TransplateError(f"{name}: no such model in {folders} (ollama pull {name} fetches it)")
    blobs = manifest.parents[4] / "blobs"
    content = json_in(read_text(manifest))
    if not isinstance(content, dict):
        raise TransplateError(f"{manifest}: a manifest is a JSON object")
    return _model(name, manifest, content, blobs)


def _model(name: ModelName, manifest: Path, content: dict[str, Any], blobs: Path) -> StoredModel:
    config: Any = content.get("config")
    config = (
        json_in(_blob(config, blobs, manifest)) if isinstance(config, dict) and config.get("digest") else {}
    )
    template: str | None = None
    system, parameters, messages, licenses = "", {}, [], []
    weights: Path | None = None
    for kind, layer in _layers(content, manifest):
        match kind:
            case "model":
                weights = weights or _path(layer, blobs, manifest)
            case "template" | "prompt":
                template = _blob(layer, blobs, manifest).text
            case "system":
                system = _blob(layer, blobs, manifest).text
            case "license":
                licenses.append(_blob(layer, blobs, manifest).text)
            case "params":
                parameters = json_in(_blob(layer, blobs, manifest))
            case "messages":
                messages = json_in(_blob(layer, blobs, manifest))
    for value, type_, what in (
        (config, dict, "configuration"),
        (parameters, dict, "parameters"),
        (messages, list, "messages"),
    ):
        if not isinstance(value, type_):
            raise TransplateError(
                f"{manifest}: the {what} are no JSON {'object' if type_ is dict else 'array'}"
            )
    return StoredModel(name, manifest, config, template, system, parameters, messages, licenses, weights)


def _layers(content: dict[str, Any], manifest: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    layers = content.get("layers")
    layers = [] if layers is None else layers
    if not isinstance(layers, list) or not all(isinstance(layer, dict) for layer in layers):
        raise TransplateError(f"{manifest}: layers: an array of objects is needed")
    for layer in layers:
        media_type = layer.get("mediaType")
        if isinstance(media_type, str) and media_type.startswith(_IMAGE):
            yield media_type.removeprefix(_IMAGE), layer


def _path(layer: dict[str, Any], blobs: Path, manifest: Path) -> Path:
    digest = layer.get("digest")
    match = _DIGEST.fullmatch(digest) if isinstance(digest, str) else None
    if match is None:
        raise TransplateError(f"{manifest}: {digest!r} is no digest")
    return blobs / f"sha256-{match[1]}"


def _blob(layer: dict[str, Any], blobs: Path, manifest: Path) -> Source:
    """Return the text in a blob, which must be what its digest says."""
    path = _path(layer, blobs, manifest)
    data = read_bytes(path)
    if hashlib.sha256(data).hexdigest() != path.name.removeprefix("sha256-").lower():
        raise TransplateError(f"{path}: damaged: the content is not what the digest says")
    return decoded(data, str(path))


def _child(folder: Path, name: str) -> Path | None:
    """Return the entry of a folder with a name, in the same case if there is one, else in another."""
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    if name in names:
        return folder / name
    return next((folder / one for one in sorted(names) if one.lower() == name.lower()), None)
