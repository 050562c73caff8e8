"""``transplate SRC``: what a template is."""

from __future__ import annotations

from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING, Any, cast

import click

from transplate.cli import FINE
from transplate.cli.output import errors_as_json, print_json, say
from transplate.cli.templates import read_template

if TYPE_CHECKING:
    from transplate import OllamaTemplate
    from transplate.ollama.inference import Inference

_LABEL = 18
_LANGUAGES = {"gotmpl": "Ollama Go template", "jinja": "Hugging Face chat template (Jinja)"}


@click.command("inspect")
@click.argument("source", metavar="SRC")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@errors_as_json
def command(source: str, as_json: bool) -> int:
    """Say what the template SRC is."""
    read = read_template(source)
    facts: dict[str, Any] = {"language": read.language, "lines": _count_lines(read.source.text)}
    if read.language == "gotmpl":
        facts.update(_facts(cast("OllamaTemplate", read.template).inference))
    if as_json:
        print_json(facts, indent=2)
        return FINE
    lines = "1 line" if facts["lines"] == 1 else f"{facts['lines']} lines"
    say(f"{read.source.name}: {_LANGUAGES[read.language]}, {lines}")
    width = max(get_terminal_size().columns, _LABEL + 30)
    for name, value in list(facts.items())[2:]:
        label = f"  {name.replace('_', ' ')}".ljust(_LABEL)
        say(fill(label + _shown(value), width, subsequent_indent=" " * _LABEL))
    return FINE


def _count_lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))


def _facts(inference: Inference) -> dict[str, Any]:
    return {
        "mode": "messages" if "messages" in inference.variables else "legacy (one exchange at a time)",
        "abilities": inference.abilities,
        "thinking_tags": inference.thinking_tags,
        "tool_call_tag": inference.tool_tag if "tools" in inference.abilities else None,
        "roles": inference.roles,
        "fields": inference.fields,
        "functions": inference.functions,
        "oldest_ollama": inference.oldest_ollama,
    }


def _shown(value: Any) -> str:
    if not value:
        return "none"
    return value if isinstance(value, str) else ", ".join(value)
