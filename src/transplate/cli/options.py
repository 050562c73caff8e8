"""Options that several commands have."""

from __future__ import annotations

import click

downloading = click.option(
    "--download", is_flag=True, help="Fetch the few small files of hf:org/name where the cache has none."
)
