"""What there is to know about a model, as data: the road to its prompts, abilities, tokens, what is odd."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from transplate.errors import TransplateError, naming
from transplate.language import Language
from transplate.models.huggingface import imported_chat_template
from transplate.models.model import Model
from transplate.models.prompts import (
    counting_template,
    default_system_of,
    renderer_of,
    template_of,
    without_beginning,
)
from transplate.models.stops import find_stops, opens_a_turn, texts_of
from transplate.ollama.roads import abilities_of_jinja
from transplate.ollama.versions import parse_version
from transplate.renderers import PARSERS, entry_of
from transplate.source import Source

if TYPE_CHECKING:
    from transplate.ollama import OllamaTemplate

TEMPLATES = ("Go template", "chat template")
"""Kinds of models that are a template and nothing besides."""

_SYSTEM, _QUESTION = "Know every capital.", "What is the capital of France?"
_JINJA_SINCE = "0.30.0"


def facts_of(model: Model, source: str) -> dict[str, Any]:
    """Return what is known of a model; what it does not say is left out.

    Args:
        model: The model.
        source: What the user calls it, for the command to type next.

    Returns:
        Facts by name, in the order to show them; ``warnings`` is a list of texts, ``next`` a command.

    Raises:
        TransplateError: A template in it is refused by its own engine.
    """
    try:
        counting_template(model)
    except TransplateError as error:
        warnings = [*model.warnings, error.message.partition(";")[0]]
        return {**_model_facts(model), "warnings": warnings}
    return _Facts(model, source).all()


class _Facts:
    def __init__(self, model: Model, source: str) -> None:
        self._model = model
        self._source = source
        self._template, self._language = counting_template(model)
        # What a model says first of all is no turn of a conversation.
        _, behind = without_beginning(model, self._template)
        self._engine = _engine(model, behind, self._language)

    def all(self) -> dict[str, Any]:
        model = self._model
        text = self._template.text
        lines = text.count("\n") + (bool(text) and not text.endswith("\n"))
        facts: dict[str, Any] = {"language": self._language, "lines": lines}
        if model.renderer:
            facts = self._renderer()
        else:
            facts.update(self._go() if self._language == "gotmpl" else self._jinja())
        if model.kind not in TEMPLATES:
            facts = {**_model_facts(model), **facts, "bos": self._bos()}
        facts["warnings"] = [*model.warnings, *self._warnings()]
        facts["next"] = self._next()
        return {name: value for name, value in facts.items() if value or name in _ALWAYS}

    # --- templates --------------------------------------------------------------------------------------

    def _go(self) -> dict[str, Any]:
        template: OllamaTemplate = self._engine.template
        inference = template.inference
        return {
            "mode": "messages" if "messages" in inference.variables else "legacy (one exchange at a time)",
            "abilities": inference.abilities,
            "thinking_tags": inference.thinking_tags,
            "tool_call_tag": inference.tool_tag if "tools" in inference.abilities else None,
            "roles": inference.roles,
            "fields": inference.fields,
            "functions": inference.functions,
            "oldest_ollama": self._oldest(inference.oldest_ollama),
        }

    def _jinja(self) -> dict[str, Any]:
        model = self._model
        text = self._template.text
        stops = [f"{stop.text} ({stop.reason})" for stop in find_stops(model, self._engine.render)]
        return {
            "abilities": sorted(abilities_of_jinja(text).names),
            "variables": sorted(self._engine.template.variables),
            "default_system": _shortened(default_system_of(text, model.special_tokens)),
            "ends_of_answers": stops,
            "oldest_ollama": self._oldest(_JINJA_SINCE),
        }

    def _renderer(self) -> dict[str, Any]:
        model = self._model
        entry = entry_of(renderer_of(model))
        served = template_of(model)
        return {
            "for": entry.models,
            "abilities": sorted(getattr(served, "abilities", ())),
            "default_system": _shortened(default_system_of(self._template.text, model.special_tokens)),
            "ends_of_answers": list(entry.stops),
        }

    def _oldest(self, of_template: str) -> str:
        versions = [of_template, *filter(None, [self._model.requires])]
        try:
            return max(versions, key=parse_version)
        except TransplateError:
            return of_template

    # --- tokens and stops -------------------------------------------------------------------------------

    def _prompt(self, system: str = "") -> str:
        messages: list[dict[str, Any]] = [{"role": "user", "content": _QUESTION}]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        prompt: str = self._engine.render(messages)
        return prompt

    def _bos(self) -> str:
        tokens = self._model.tokens
        said = {True: "the tokenizer adds it", False: "the tokenizer does not add it", None: ""}[
            tokens.adds_bos
        ]
        try:
            prints = bool(tokens.bos) and self._prompt().startswith(tokens.bos or "")
        except TransplateError:
            prints = False
        return "; ".join(filter(None, [said, "the template prints it" if prints else ""]))

    def _warnings(self) -> Iterator[str]:
        model = self._model
        if model.renderer and (fits := entry_of(renderer_of(model)).parser) != model.parser:
            has = f"not {model.parser}" if model.parser else "and there is none"
            yield f"RENDERER {model.renderer} goes with PARSER {fits}, {has}"
        if model.kind not in TEMPLATES and (road := model.road()).unused_template:
            yield f"the TEMPLATE is never run: {road.reason}"
        if self._template.text.startswith("\ufeff"):
            yield "the template begins with a byte order mark, which every prompt then begins with, too"
        try:
            prompt = self._prompt()
        except TransplateError as error:
            yield f"the template fails on a plain message: {error.message}"
            return
        for stop in texts_of(model.parameters.get("stop")):
            if stop != model.tokens.bos and opens_a_turn(stop, self._engine.render):
                yield f"the stop {stop!r} opens a turn, it does not end one"
        bos = model.tokens.bos
        if bos and model.tokens.adds_bos and prompt.startswith(bos):
            yield f"two {bos}: the tokenizer adds one, and the template prints one"
        elif bos and prompt.startswith(bos * 2):
            yield f"two {bos}: the template prints both"
        if model.system:
            try:
                shows = _SYSTEM in self._prompt(_SYSTEM)
            except TransplateError:
                shows = False
            if not shows:
                yield "the template shows no system prompt, so SYSTEM has no effect"

    def _next(self) -> str:
        source = quote(self._source)
        if self._source == "-":
            return ""
        kind = self._model.kind
        if kind in TEMPLATES:
            target = "chat_template.jinja" if self._language == "gotmpl" else "template.gotmpl"
            return f"transplate convert {source} {target}"
        if kind == "Ollama renderer":
            return f"transplate convert {source} chat_template.jinja"
        if kind in ("Hugging Face folder", "GGUF"):
            return f"transplate convert {source} Modelfile"
        return f"transplate convert {source} model/"


_ALWAYS = ("abilities", "thinking_tags", "tool_call_tag", "roles", "fields", "functions", "lines")
"""Facts about a template that are shown even where there are none."""


class _GoEngine:
    def __init__(self, text: str) -> None:
        from transplate.ollama import OllamaTemplate

        self.template = OllamaTemplate(text)

    def render(self, messages: list[dict[str, Any]]) -> str:
        return self.template.render(messages)


class _JinjaEngine:
    def __init__(self, model: Model, text: str) -> None:
        from transplate.jinja import JinjaTemplate

        self.template = JinjaTemplate(text, special_tokens=model.special_tokens)

    def render(self, messages: list[dict[str, Any]]) -> str:
        return self.template.render(messages, add_generation_prompt=False)


def _engine(model: Model, source: Source, language: Language) -> Any:
    with naming(source):
        return _GoEngine(source.text) if language == "gotmpl" else _JinjaEngine(model, source.text)


def _model_facts(model: Model) -> dict[str, Any]:
    """Return what a model is besides its template."""
    parser = PARSERS.get(model.parser)
    facts = {
        "kind": model.kind,
        "road": _road(model),
        "from": list(model.base),
        "renderer": model.renderer,
        "parser": model.parser,
        "vllm": parser.vllm_flags if parser else "",
        "sglang": parser.sglang_flags if parser else "",
        "family": model.family,
        "requires": model.requires,
        "system": _counted(model.system, "character"),
        "history": _counted(model.messages, "message"),
        "licenses": [_shortened(text) for text in model.licenses],
        "parameters": [
            f"{name} {one}"
            for name, value in sorted(model.parameters.items())
            for one in (value if isinstance(value, list) else [value])
        ],
        "special_tokens": [f"{name} {text}" for name, text in model.special_tokens.items() if text],
        "chat_templates": sorted(model.named),
    }
    return {name: value for name, value in facts.items() if value}


def _counted(things: Sized, name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}" if things else ""


def _road(model: Model) -> str:
    """Return the road that Ollama takes, for a folder once it has been imported."""
    if model.kind == "Hugging Face folder" and model.template is None:
        folder = Path(model.place)
        if not any(folder.glob("*.gguf")) and imported_chat_template(folder) is None:
            return (
                "none: Ollama imports the chat template in tokenizer_config.json alone, where there is none"
            )
    road = model.road()
    return f"{road.name}: {road.reason}"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}…"
