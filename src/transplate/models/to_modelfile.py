"""A model in, a Modelfile out: a new one, or the one that a folder was made from, with what has changed."""

from __future__ import annotations

from pathlib import Path

from transplate.models.model import Model
from transplate.models.modelfile_writer import ModelfileWriter
from transplate.models.parameter_homes import notes_on_settings
from transplate.models.saving import Saving
from transplate.models.sidecar import SIDECAR, kept_modelfile
from transplate.models.tokenizer import token_ids
from transplate.ollama.modelfile import Modelfile


def modelfile_for(model: Model, path: Path, *, base: str | None = None) -> Saving:
    """Return a Modelfile for a model; nothing is written.

    Args:
        model: The model.
        path: Where the Modelfile goes, from which its paths start.
        base: What FROM says; None for the model itself.

    Raises:
        TransplateError: There is nothing that FROM could name.
        UnsupportedTemplate: The template cannot be converted, and without it nothing makes the prompts.
        ModelfileError: A Modelfile cannot say one of the values.
    """
    replaced = ("is there already",) if path.exists() or path.is_symlink() else ()
    if model.kind == "Hugging Face folder":
        folder = Path(model.place)
        texts = {number: text for text, number in token_ids(folder).items()}
        if (found := kept_modelfile(model, folder, path.parent, texts)) is not None:
            kept, is_same = found
            if base is not None:
                kept.set("from", base)
            if not is_same:
                return _with_new_template(kept, model, path, replaced)
            note = "takes the Modelfile that the folder was made from, with the parameters it has now"
            return _edited(kept, path, replaced, (note, *notes_on_settings(model.generation)))
    if model.modelfile is not None and base is not None:
        edited = Modelfile.parse(bytes(model.modelfile), name=model.modelfile.source.name)
        edited.set("from", base)
        return _edited(edited, path, replaced)
    writer = ModelfileWriter(model, path.parent, base)
    modelfile = writer.modelfile()
    notes = writer.notes
    if model.kind == "Hugging Face folder" and (Path(model.place) / SIDECAR).exists():
        notes.append(f"{Path(model.place) / SIDECAR} holds no Modelfile, and is not used")
    return Saving(
        target=path,
        files={"": bytes(modelfile)},
        replaced=replaced,
        notes=tuple(notes),
        conversion=writer.conversion,
        parity=writer.parity,
    )


def _edited(
    modelfile: Modelfile, path: Path, replaced: tuple[str, ...], notes: tuple[str, ...] = ()
) -> Saving:
    refused = tuple(modelfile.refusals)
    return Saving(path, {"": bytes(modelfile)}, replaced, (*notes, *refused), refused)


def _with_new_template(kept: Modelfile, model: Model, path: Path, replaced: tuple[str, ...]) -> Saving:
    """Return the Modelfile that a folder was made from, for the chat template that the folder has now."""
    notes = ["takes the Modelfile that the folder was made from, for the chat template that is another now"]
    writer = ModelfileWriter(model, path.parent, kept.get("from"))
    fresh = writer.modelfile()
    if kept.values("message") and not fresh.values("message"):
        notes.append("MESSAGE is left out: it is part of the chat template")
    if (renderer := kept.get("renderer")) and not fresh.values("renderer"):
        notes.append(f"RENDERER {renderer} is left out: the chat template prints other prompts")
    for name in ("template", "system", "message", "renderer"):
        if fresh.values(name) != kept.values(name):
            kept.set(name, fresh.values(name))
    if fresh.values("renderer"):
        kept.set("parser", fresh.values("parser"))
    kept.set("stop", list(dict.fromkeys([*kept.values("stop"), *fresh.values("stop")])))
    return Saving(
        target=path,
        files={"": bytes(kept)},
        replaced=replaced,
        notes=(*notes, *writer.notes, *kept.refusals),
        refused=tuple(kept.refusals),
        conversion=writer.conversion,
        parity=writer.parity,
    )
