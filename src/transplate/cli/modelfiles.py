"""``transplate convert MODEL Modelfile``: a Hugging Face folder or a GGUF to a Modelfile."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from transplate.cli import FINE
from transplate.cli.files import write_file
from transplate.cli.output import say
from transplate.cli.templates import TemplateFile, naming
from transplate.errors import TransplateError, UnsupportedTemplate


def is_modelfile_name(destination: str) -> bool:
    """Return whether a destination is named as Modelfiles are."""
    from transplate.models.source import MODELFILE_NAME

    return bool(MODELFILE_NAME.fullmatch(Path(destination).name))


def write_modelfile(template: TemplateFile, destination: str, *, dry_run: bool, force: bool) -> int:
    """Write a Modelfile for a model.

    Raises:
        TransplateError: The model is of a kind that FROM cannot name, the Modelfile is there already and
            ``force`` is not given, or it cannot be written.
    """
    from transplate.models.to_modelfile import find_stops, new_modelfile, original_modelfile

    model = template.model
    if model.kind not in ("Hugging Face folder", "GGUF") or model.name.startswith("hf:"):
        raise TransplateError(f"{model.name}: a Modelfile needs a folder or GGUF here that FROM can name")
    if Path(destination).exists() and not force and not dry_run:
        raise TransplateError(f"{destination}: is there already: --force replaces it")
    path = Path(model.name)
    text = template.source.text
    modelfile = original_modelfile(model, path, text) if model.kind == "Hugging Face folder" else None
    if modelfile is not None:
        say("takes the Modelfile that the folder was made from, with the parameters it has now", err=True)
    else:
        go = _go_template(template)
        stops = find_stops(model, _renderer(template))
        modelfile = new_modelfile(model, _base(path, Path(destination)), go, stops)
        for stop in stops:
            say(f"stop {stop.text}: {stop.reason}", err=True)
    say(f"{'would write' if dry_run else 'writes'} {destination}", err=True)
    if not dry_run:
        write_file(destination, str(modelfile))
    return FINE


def _go_template(template: TemplateFile) -> str | None:
    """Return the TEMPLATE of a model; None where the chat template in the GGUF makes the prompt."""
    from transplate import to_go

    model = template.model
    if template.language == "gotmpl":
        return template.source.text
    if model.kind == "GGUF":
        say("no TEMPLATE: since 0.30.0 Ollama runs the GGUF's own chat template", err=True)
        return None
    tokens = model.special_tokens
    if model.tokens.adds_bos:
        # The tokenizer adds it, so the TEMPLATE must not.
        tokens["bos_token"] = ""
        say("bos: the tokenizer adds it, so the TEMPLATE does not", err=True)
    try:
        with naming(template.source):
            conversion = to_go(template.source.text, special_tokens=tokens)
    except UnsupportedTemplate as error:
        say(f"no TEMPLATE: {error.message}; Ollama runs the chat template that it imports", err=True)
        return None
    for assumption in conversion.assumptions:
        say(f"assumes {assumption.name}: {assumption.meaning}", err=True)
    for loss in conversion.losses:
        say(f"may differ: {loss.message}", err=True)
    return conversion.text


def _renderer(template: TemplateFile) -> Callable[[list[dict[str, str]]], str] | None:
    """Return what renders messages without a generation prompt; None for a Go template."""
    from transplate import JinjaTemplate

    jinja = template.template
    if not isinstance(jinja, JinjaTemplate):
        return None
    return lambda messages: jinja.render(messages, add_generation_prompt=False)


def _base(path: Path, destination: Path) -> str:
    """Return what FROM says: the GGUF in a folder or else the folder, from where the Modelfile is."""
    inside = sorted(path.glob("*.gguf")) if path.is_dir() else []
    relative = os.path.relpath(inside[0] if inside else path, destination.parent)
    return relative if relative.startswith("..") else f"./{relative}"
