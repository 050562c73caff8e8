"""Options that several commands have."""

from __future__ import annotations

import click

downloading = click.option(
    "--download", is_flag=True, help="Fetch the few small files of hf:org/name where the cache has none."
)
speaking = click.option(
    "--language",
    type=click.Choice(["gotmpl", "jinja"]),
    help="The language of the template SRC, where its name and its text do not tell.",
)
