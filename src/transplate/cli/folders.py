"""``transplate convert SRC FOLDER/``: a whole model to a folder in Hugging Face's layout."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from transplate.cli import FINE
from transplate.cli.files import reason, write_file
from transplate.cli.output import say
from transplate.cli.templates import TemplateFile, naming
from transplate.errors import TransplateError
from transplate.language import language_of_name

if TYPE_CHECKING:
    from transplate.models.pretrained import PretrainedFiles


def is_folder(destination: str) -> bool:
    """Return whether a destination is a folder: one that is there, or a name that ends as folders do.

    A name such as ``chat_template.jinja`` means a file, whatever is there.
    """
    if destination.endswith(("/", os.sep)):
        return True
    return language_of_name(destination) is None and Path(destination).is_dir()


def write_folder(template: TemplateFile, destination: str, *, dry_run: bool, force: bool) -> int:
    """Write the model of a template to a folder, file by file, after all of them are made.

    Raises:
        TransplateError: The folder holds something else, and ``force`` is not given, or cannot be written.
    """
    from transplate.convert.beginning import with_beginning
    from transplate.models.pretrained import pretrained_files

    model = template.model
    text = with_beginning(chat_template_of(template), model.system, model.messages)
    folder = Path(destination)
    files = pretrained_files(model, text, folder)
    if files.conflicts and not force and not dry_run:
        found = "; ".join(files.conflicts)
        raise TransplateError(
            f"{destination}: {found}: --force replaces it, --dry-run only shows what would be"
        )
    for line in _lines(files, destination, dry_run=dry_run):
        say(line, err=True)
    if dry_run:
        return FINE
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TransplateError(f"{destination}: {reason(error)}") from error
    for name, content in files.texts.items():
        write_file(str(folder / name), content)
    return FINE


def chat_template_of(template: TemplateFile) -> str:
    """Return the chat template that a template is or becomes; standard error gets what it takes for granted.

    Raises:
        UnsupportedTemplate: It cannot be converted.
    """
    from transplate import to_jinja

    if template.language == "jinja":
        return template.source.text
    with naming(template.source):
        conversion = to_jinja(template.source.text)
    for assumption in conversion.assumptions:
        say(f"assumes {assumption.name}: {assumption.meaning}", err=True)
    return conversion.text


def _lines(files: PretrainedFiles, destination: str, *, dry_run: bool) -> Iterator[str]:
    verb = "would write" if dry_run else "writes"
    for name in sorted(files.texts):
        yield f"{verb} {Path(destination) / name}"
    for conflict in files.conflicts:
        yield f"replaces: {conflict}"
    if files.kept_aside:
        yield f"has no place at Hugging Face, and is kept in ollama.json: {', '.join(files.kept_aside)}"
