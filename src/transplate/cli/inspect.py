"""``transplate SRC``: what a template or a model is."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING, Any, cast

import click

from transplate.cli import FINE
from transplate.cli.options import downloading
from transplate.cli.output import errors_as_json, print_json, say
from transplate.cli.requests import Request
from transplate.cli.templates import TemplateFile, read_model, template_of
from transplate.errors import TransplateError
from transplate.models.stops import opens_a_turn, texts_of

if TYPE_CHECKING:
    from transplate import Model, OllamaTemplate
    from transplate.ollama.inference import Inference

_LABEL = 18
_ADDS_BOS = {True: "the tokenizer adds it", False: "the tokenizer does not add it", None: ""}
_CONTENT = "What is the capital of France?"
_LANGUAGES = {"gotmpl": "Ollama Go template", "jinja": "Hugging Face chat template (Jinja)"}


@click.command("inspect")
@click.argument("source", metavar="SRC")
@downloading
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@errors_as_json
def command(source: str, download: bool, as_json: bool) -> int:
    """Say what the template or model SRC is."""
    model = read_model(source, download=download)
    is_template = model.kind in ("Go template", "chat template")
    read = template_of(model) if model.template or model.chat_template else None
    facts: dict[str, Any] = {} if read is None else _template_facts(read)
    if not is_template:
        facts = {"kind": model.kind, **_model_facts(model, read), **facts}
    if as_json:
        print_json(facts, indent=2)
        return FINE
    shown = dict(facts)
    if is_template and read is not None:
        lines = "1 line" if facts["lines"] == 1 else f"{facts['lines']} lines"
        say(f"{read.source.name}: {_LANGUAGES[read.language]}, {lines}")
        del shown["language"], shown["lines"]
    else:
        say(f"{model.name}: {shown.pop('kind')}")
    warnings = shown.pop("warnings", ())
    width = max(get_terminal_size().columns, _LABEL + 30)
    for name, value in shown.items():
        label = f"  {name.replace('_', ' ')}".ljust(_LABEL)
        say(fill(label + _shown(value), width, subsequent_indent=" " * _LABEL))
    for warning in warnings:
        say(fill(f"warning: {warning}", width, subsequent_indent=" " * 9))
    if read is not None and read.language == "gotmpl" and not is_template:
        say(f"next: transplate convert {quote(source)} model/")
    return FINE


def _count_lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))


def _template_facts(read: TemplateFile) -> dict[str, Any]:
    facts: dict[str, Any] = {"language": read.language, "lines": _count_lines(read.source.text)}
    if read.language == "gotmpl":
        facts.update(_facts(cast("OllamaTemplate", read.template).inference))
    return facts


def _model_facts(model: Model, read: TemplateFile | None) -> dict[str, Any]:
    """Return what a model is besides its template; what it does not say is left out."""
    road = model.road()
    tokens = model.tokens
    special = {"bos_token": tokens.bos, "eos_token": tokens.eos, **tokens.others}
    warnings = list(model.warnings)
    if road.unused_template:
        warnings.append(f"the TEMPLATE is never run: {road.reason}")
    if read is not None:
        warnings += _prompt_warnings(model, read)
    facts = {
        "road": f"{road.name}: {road.reason}",
        "from": model.base,
        "renderer": model.renderer,
        "parser": model.parser,
        "family": model.family,
        "requires": model.requires,
        "system": f"{len(model.system)} characters" if model.system else "",
        "history": f"{len(model.messages)} messages" if model.messages else "",
        "parameters": [
            f"{name} {one}"
            for name, value in sorted(model.parameters.items())
            for one in (value if isinstance(value, list) else [value])
        ],
        "special_tokens": [f"{name} {text}" for name, text in special.items() if text],
        "bos": _ADDS_BOS[tokens.adds_bos],
        "chat_templates": sorted(model.named),
        "warnings": warnings,
    }
    return {name: value for name, value in facts.items() if value}


def _prompt_warnings(model: Model, read: TemplateFile) -> Iterator[str]:
    """Yield what is wrong between a prompt and the model's stops and tokens."""

    def render(messages: list[dict[str, Any]]) -> str:
        return read.render(Request(messages=messages, system="")).decode("utf-8", "replace")

    try:
        prompt = render([{"role": "user", "content": _CONTENT}])
    except TransplateError as error:
        yield f"the template fails on a plain message: {error.message}"
        return
    for stop in texts_of(model.parameters.get("stop")):
        if stop != model.tokens.bos and opens_a_turn(stop, render):
            yield f"the stop {stop!r} opens a turn, it does not end one"
    bos = model.tokens.bos
    if bos and model.tokens.adds_bos and prompt.startswith(bos):
        yield f"two {bos}: the tokenizer adds one, and the template prints one"


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
    return ", ".join(value) if isinstance(value, list | tuple) else str(value)
