"""``transplate convert SRC new.gguf --base old.gguf``: a chat template into a copy of a GGUF."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from transplate.cli import FINE
from transplate.cli.folders import chat_template_of
from transplate.cli.output import say
from transplate.cli.templates import TemplateFile
from transplate.errors import TransplateError


def write_gguf(template: TemplateFile, destination: str, base: str, *, dry_run: bool, force: bool) -> int:
    """Write a copy of a GGUF with a chat template, with a bar on a terminal.

    Raises:
        TransplateError: The base is damaged, or the copy is there already and ``force`` is not given, or it
            cannot be written.
    """
    from transplate.models.gguf_writer import write_with_template

    text = chat_template_of(template)
    if Path(destination).exists() and not force and not dry_run:
        raise TransplateError(f"{destination}: is there already: --force replaces it")
    if dry_run:
        say(f"would write {destination}", err=True)
        return FINE
    shown = 0
    with click.progressbar(
        length=100, label=destination, file=sys.stderr, hidden=not sys.stderr.isatty()
    ) as bar:

        def progress(done: int, total: int) -> None:
            nonlocal shown
            percent = 100 * done // max(total, 1)
            bar.update(percent - shown)
            shown = percent

        write_with_template(Path(base), Path(destination), text, progress=progress)
    say(f"writes {destination}", err=True)
    return FINE
