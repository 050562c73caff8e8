"""A model in, the three files out by which a repository of GGUFs on the Hub tells Ollama its settings."""

from __future__ import annotations

import json
from pathlib import Path

from transplate.files import read_bytes
from transplate.models.huggingface import OLLAMA_FILES
from transplate.models.model import Model
from transplate.models.modelfile_writer import ModelfileWriter, weights_in
from transplate.models.saving import Saving
from transplate.ollama.modelfile.reader import COMMANDS
from transplate.ollama.parameters import read_parameters


def hub_files(model: Model, folder: Path) -> Saving:
    """Return the files ``template``, ``system`` and ``params``; nothing is written.

    Args:
        model: The model.
        folder: The folder of the repository.

    Raises:
        TransplateError: The model has no template, or a file in the folder cannot be read.
        UnsupportedTemplate: Its template cannot be converted.
        ModelfileError: A value is one that Ollama would not read as it is.
    """
    inside = [path.name for path in weights_in(folder) if path.suffix == ".gguf"]
    writer = ModelfileWriter(model, folder, f"./{inside[0]}" if inside else "repository")
    modelfile = writer.modelfile()
    settings = ((name, value) for name, value in modelfile.commands if name not in {"model", *COMMANDS})
    parameters, warnings = read_parameters(settings)
    texts = {
        "template": modelfile.get("template") or "",
        "system": modelfile.get("system") or "",
        "params": json.dumps(parameters, indent=2, ensure_ascii=False) + "\n" if parameters else "",
    }
    files = {name: text.encode() for name, text in texts.items() if text}
    there = {name: read_bytes(folder / name) for name in OLLAMA_FILES if (folder / name).is_file()}
    homeless = [
        command.upper()
        for command in ("message", "renderer", "parser", "requires", "license", "adapter", "draft")
        if modelfile.values(command)
    ]
    refusals = model.modelfile.refusals if model.modelfile is not None else []
    own = [note for note in writer.notes if not note.startswith("FROM ")]  # there is none in these files
    notes = [*own, *refusals, *warnings]
    if homeless:
        notes.append(f"has no place in these files: {', '.join(homeless)}")
    return Saving(
        target=folder,
        files={name: data for name, data in files.items() if there.get(name) != data},
        replaced=tuple(
            f"{name} is another" for name, data in there.items() if name in files and files[name] != data
        ),
        notes=tuple(notes),
        refused=tuple(refusals),
        conversion=writer.conversion,
        parity=writer.parity,
    )
