"""``transplate convert SRC new.gguf --base old.gguf``: a chat template into a copy of a GGUF."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transplate.cli import FINE, NO
from transplate.cli.models import differs_unannounced, verdict_lines
from transplate.cli.output import print_json, say
from transplate.cli.verdict import report_data
from transplate.cli.visible import visible
from transplate.cli.waiting import waiting
from transplate.errors import TransplateError

if TYPE_CHECKING:
    from transplate import Model


def write_gguf(
    model: Model, destination: str, base: str, *, dry_run: bool, force: bool, as_json: bool
) -> int:
    """Write a copy of a GGUF with a chat template, with a bar on a terminal.

    Raises:
        TransplateError: The base is damaged, or the copy is there already and ``force`` is not given, or it
            cannot be written.
    """
    from transplate.models.chat_templates import chat_template_of, other_chat_templates
    from transplate.models.gguf import check_whole
    from transplate.models.gguf_writer import write_with_template

    with waiting(f"converting {model.name}"):
        chat = chat_template_of(model)
        parity = chat.parity(model)
    named = other_chat_templates(model)
    if dry_run:
        check_whole(Path(base))
    elif Path(destination).exists() and not force:
        raise TransplateError(f"{destination}: is there already: --force replaces it")
    else:
        with click.progressbar(
            length=100, label=destination, file=sys.stderr, hidden=not sys.stderr.isatty()
        ) as bar:

            def progress(done: int, total: int) -> None:
                bar.update(100 * done // max(total, 1) - bar.pos)

            write_with_template(Path(base), Path(destination), chat.text, named, progress=progress)
    notes = [*chat.notes(model), *_notes_on_base(Path(base), named)]
    if as_json:
        data = {"text": chat.text, "written": not dry_run, "notes": notes}
        print_json({**data, "parity": parity and report_data(parity)}, indent=2)
    else:
        for line in (*verdict_lines(parity, chat.conversion, model.name, destination), *map(visible, notes)):
            say(line, err=True)
        say(f"{'would write' if dry_run else 'wrote'} {visible(destination)}", err=True)
    return NO if differs_unannounced(parity, chat.conversion) else FINE


def _notes_on_base(base: Path, named: Mapping[str, str]) -> Iterator[str]:
    """Yield what is to be said where a GGUF has named chat templates that stay."""
    from transplate.models.gguf import read_gguf

    for name in sorted(read_gguf(base).named.keys() - named.keys() - {"default"}):
        use = ", which llama-server runs where there are tools" if name == "tool_use" else ""
        yield f"chat template {name} of {base} stays{use}"
