"""``transplate SRC``: what a template or a model is, on one screen."""

from __future__ import annotations

from shutil import get_terminal_size
from textwrap import fill
from typing import Any

import click

from transplate.cli import FINE
from transplate.cli.options import downloading, speaking
from transplate.cli.output import errors_as_json, print_json, say
from transplate.cli.templates import read_model
from transplate.cli.visible import visible
from transplate.language import Language

_LABEL = 18
_LANGUAGES = {"gotmpl": "Ollama Go template", "jinja": "Hugging Face chat template (Jinja)"}


@click.command("inspect")
@click.argument("source", metavar="SRC")
@speaking
@downloading
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@errors_as_json
def command(source: str, language: Language | None, download: bool, as_json: bool) -> int:
    """Say what the template or model SRC is."""
    from transplate.models.facts import facts_of

    model = read_model(source, download=download, language=language)
    facts = facts_of(model, source)
    if as_json:
        print_json(facts, indent=2)
        return FINE
    warnings, following = facts.pop("warnings", ()), facts.pop("next", "")
    if "kind" in facts:
        say(f"{visible(model.name)}: {facts.pop('kind')}")
    else:
        count = facts.pop("lines")
        lines = "1 line" if count == 1 else f"{count} lines"
        say(f"{visible(model.name)}: {_LANGUAGES[facts.pop('language')]}, {lines}")
    width = max(get_terminal_size().columns, _LABEL + 30)
    for name, value in facts.items():
        label = f"  {name.replace('_', ' ')}".ljust(_LABEL)
        # Names and digests are whole words, however long.
        say(
            fill(
                label + _shown(value),
                width,
                subsequent_indent=" " * _LABEL,
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
    for warning in warnings:
        say(
            click.style("warning: ", fg="yellow")
            + fill(visible(warning), width - 9, subsequent_indent=" " * 9)
        )
    if following:
        say(f"next: {visible(following)}")
    return FINE


def _shown(value: Any) -> str:
    if not value:
        return "none"
    return visible(", ".join(value) if isinstance(value, list | tuple) else str(value))
