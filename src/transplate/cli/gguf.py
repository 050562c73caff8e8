"""``transplate convert SRC new.gguf --base old.gguf``: a chat template into a copy of a GGUF."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transplate.cli import FINE
from transplate.cli.output import say
from transplate.errors import TransplateError

if TYPE_CHECKING:
    from transplate import Model


def write_gguf(model: Model, destination: str, base: str, *, dry_run: bool, force: bool) -> int:
    """Write a copy of a GGUF with a chat template, with a bar on a terminal.

    Raises:
        TransplateError: The base is damaged, or the copy is there already and ``force`` is not given, or it
            cannot be written.
    """
    from transplate.models.gguf_writer import write_with_template
    from transplate.models.prompts import chat_template_of

    chat = chat_template_of(model)
    if chat.conversion is not None:
        for assumption in chat.conversion.assumptions:
            say(f"assumes {assumption.name}: {assumption.meaning}", err=True)
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

        write_with_template(Path(base), Path(destination), chat.text, progress=progress)
    say(f"wrote {destination}", err=True)
    return FINE
