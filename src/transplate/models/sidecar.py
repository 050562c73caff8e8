"""``ollama.json`` in a Hugging Face folder: what Ollama has and Hugging Face has no place for.

It holds the Modelfile that a folder was made from, and what the folder said then: what has not changed since
goes back to the Modelfile as it was, byte for byte.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

from transplate.errors import TransplateError
from transplate.files import read_object
from transplate.models.model import Model
from transplate.models.parameter_homes import HOMES, stops_in, to_parameters
from transplate.ollama.modelfile import Modelfile

SIDECAR = "ollama.json"
_HASH, _TEXT, _BYTES, _PLACE, _GENERATION = (
    "chat_template_sha256",
    "modelfile",
    "modelfile_base64",
    "modelfile_folder",
    "generation_config",
)


def is_sidecar(folder: Path) -> bool:
    """Return whether a folder has what :func:`sidecar_of` describes.

    Raises:
        TransplateError: The file of that name is damaged.
    """
    path = folder / SIDECAR
    return path.is_file() and not {_HASH, _TEXT, _BYTES}.isdisjoint(read_object(path))


def sidecar_of(
    modelfile: Modelfile, origin: Path | None, folder: Path, chat_template: str, generation: dict[str, Any]
) -> dict[str, Any]:
    """Return the content of the file.

    Args:
        modelfile: The Modelfile.
        origin: The folder that its paths start from; None where that is not known.
        folder: The folder that the file is for.
        chat_template: The chat template there.
        generation: What its generation configuration says that PARAMETERs say, too.
    """
    data = bytes(modelfile)
    content: dict[str, Any] = {_HASH: _hash(chat_template)}
    try:
        content[_TEXT] = data.decode()
    except UnicodeDecodeError:
        content[_BYTES] = b64encode(data).decode()
    if origin is not None:
        content[_PLACE] = Path(os.path.relpath(origin, folder)).as_posix()
    return {**content, _GENERATION: generation}


def kept_modelfile(
    model: Model, folder: Path, target: Path, texts: Mapping[int, str]
) -> tuple[Modelfile, bool] | None:
    """Return the Modelfile that a folder was made from, with what the folder says otherwise by now.

    Args:
        model: The model in the folder.
        folder: The folder.
        target: The folder that the Modelfile goes to, from which its paths start.
        texts: The texts of the tokenizer's tokens by their ids.

    Returns:
        The Modelfile, and whether the folder still has the chat template that was made of it; None where
        there is none.

    Raises:
        TransplateError: The file that holds it is damaged.
    """
    if not is_sidecar(folder):
        return None
    path = folder / SIDECAR
    kept = read_object(path)
    chat_template = model.chat_template
    if chat_template is None:
        return None
    modelfile = Modelfile.parse(_data(kept, path), name=str(path))
    before, digest = kept.get(_GENERATION), kept.get(_HASH)
    if not isinstance(before, dict):
        raise TransplateError(f"{path}: {_GENERATION}: an object is needed")
    if not isinstance(digest, str):
        raise TransplateError(f"{path}: {_HASH}: a text is needed")
    _update(modelfile, before, model.generation, texts)
    if isinstance(place := kept.get(_PLACE), str):
        _move_paths(modelfile, folder / place, target)
    return modelfile, digest == _hash(chat_template.text)


def _update(
    modelfile: Modelfile, before: dict[str, Any], now: Mapping[str, Any], texts: Mapping[int, str]
) -> None:
    """Let a Modelfile say what a generation configuration says now and did not say before."""
    old, new = to_parameters(before), to_parameters(now)
    for name in (name for name in HOMES if old.get(name) != new.get(name)):
        if name in new:
            modelfile.set(name, new[name])
        else:
            modelfile.remove(name)
    stops = stops_in(now, texts)
    gone = set(stops_in(before, texts)) - set(stops)
    added = [stop for stop in stops if stop not in stops_in(before, texts)]
    if gone or added:
        there = [stop for stop in modelfile.values("stop") if stop not in gone]
        modelfile.set("stop", list(dict.fromkeys([*there, *added])))


def _move_paths(modelfile: Modelfile, origin: Path, target: Path) -> None:
    """Let paths that start from one folder start from another."""
    if not origin.is_dir() or origin.resolve() == target.resolve():
        return
    for name in ("from", "adapter", "draft"):
        values = modelfile.values(name)
        moved = [
            path_from(target, origin / value)
            if not os.path.isabs(value) and (origin / value).exists()
            else value
            for value in values
        ]
        if moved != values:
            modelfile.set(name, moved)


def path_from(folder: Path, path: Path) -> str:
    """Return a path as a Modelfile in a folder says it: from there, or as it is where it is absolute."""
    if path.is_absolute():
        return str(path)
    relative = Path(os.path.relpath(path, folder)).as_posix()
    return relative if relative.startswith("..") else f"./{relative}"


def _data(kept: dict[str, Any], path: Path) -> str | bytes:
    text, data = kept.get(_TEXT), kept.get(_BYTES)
    if isinstance(text, str):
        return text
    try:
        return b64decode(data or "", validate=True) if isinstance(data, str) else _missing(path)
    except ValueError:
        return _missing(path)


def _missing(path: Path) -> NoReturn:
    raise TransplateError(f"{path}: no Modelfile in it")


def _hash(chat_template: str) -> str:
    return sha256(chat_template.encode("utf-8", "surrogatepass")).hexdigest()
