"""The template of a model that counts: which it is, ready to render, and as a chat template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from transplate.conversation import Conversation
from transplate.errors import TransplateError, naming
from transplate.language import Language
from transplate.models.model import Model
from transplate.ollama.modelfile.reader import ROLES
from transplate.source import Source

if TYPE_CHECKING:
    from transplate.jinja import JinjaTemplate
    from transplate.ollama import OllamaTemplate
    from transplate.renderers import ServedRenderer

# The engines and the converter are imported where they are used: a command that needs one needs no other.


def renderer_of(model: Model) -> str:
    """Return the name of the renderer that Ollama takes for a model, empty for none."""
    if not model.renderer:
        return ""
    from transplate.renderers import resolve

    name = model.name if model.kind != "Modelfile" else " ".join(model.base)
    return resolve(model.renderer, model=name, parameters=model.size)


def counting_template(model: Model) -> tuple[Source, Language]:
    """Return the template that Ollama runs for a model, and its language; of a renderer the one it comes to.

    Raises:
        TransplateError: The model has none, or Ollama has no such renderer.
    """
    if name := renderer_of(model):
        return Source(_served(name, model).chat_template(), f"{model.name}: RENDERER {name}"), "jinja"
    go, jinja = model.template, model.chat_template
    if go is not None and (jinja is None or model.road().prompt_from != "jinja"):
        return go, "gotmpl"
    if jinja is not None:
        return jinja, "jinja"
    missing = [warning for warning in model.warnings if warning.startswith("FROM ")]
    raise TransplateError("; ".join([f"{model.name}: has no template", *missing]))


def notes_on_others(model: Model) -> Iterator[str]:
    """Yield what is to be said where a model has chat templates besides the one that counts."""
    others = sorted(name for name in model.named if name != "default")
    if others and counting_template(model)[0] == model.chat_template:
        verb = "is" if len(others) == 1 else "are"
        yield (
            f"chat template {', '.join(others)} {verb} left out: Ollama has one for all conversations "
            "(--chat-template takes another than the default)"
        )


def template_of(model: Model) -> OllamaTemplate | JinjaTemplate | ServedRenderer:
    """Return what makes the prompts of a model, its SYSTEM and MESSAGEs included.

    Raises:
        TransplateError: There is no template, or it is none that can be read.
    """
    if name := renderer_of(model):
        return _served(name, model)
    source, language = counting_template(model)
    with naming(source):
        if language == "gotmpl":
            return _go_template(source.text, model)
        return _chat_template(begun(source.text, model), model)


def _served(renderer: str, model: Model) -> ServedRenderer:
    from transplate.ollama import OllamaTemplate
    from transplate.renderers import ServedRenderer

    abilities: tuple[str, ...] = ()
    if model.template is not None:
        with naming(model.template):
            abilities = tuple(OllamaTemplate(model.template.text).inference.abilities)
    return ServedRenderer(
        renderer, parser=model.parser, abilities=abilities, system=model.system, history=model.messages
    )


def _go_template(text: str, model: Model) -> OllamaTemplate:
    from transplate.ollama.begun import BegunTemplate

    return BegunTemplate(text, system=model.system, messages=model.messages)


def _chat_template(text: str, model: Model) -> JinjaTemplate:
    from transplate.jinja import JinjaTemplate

    return JinjaTemplate(text, special_tokens=model.special_tokens)


def begun(text: str, model: Model) -> str:
    """Return a chat template that begins conversations with the SYSTEM and the MESSAGEs of a model."""
    if not model.system and not model.messages:
        return text
    from transplate.convert.beginning import with_beginning

    return with_beginning(text, model.system, model.messages)


def without_beginning(model: Model, source: Source) -> tuple[Model, Source]:
    """Return a model with the SYSTEM and MESSAGEs that a chat template begins with, and what is behind."""
    from transplate.convert.beginning import read_beginning

    if model.system or model.messages:
        return model, source
    beginning = read_beginning(source.text)
    if any(role not in ROLES for role, _ in beginning.messages):
        return model, source  # of which there is no MESSAGE
    own = replace(model, system=beginning.system, messages=beginning.messages)
    return own, Source(beginning.template, source.name) if beginning.template != source.text else source


def default_system_of(text: str, tokens: Mapping[str, str]) -> str:
    """Return the system prompt that a chat template puts in by itself, empty for none that is exact."""
    from transplate.jinja import JinjaTemplate
    from transplate.models.default_system import default_system
    from transplate.parity.conversations import ordinary_conversations

    jinja = JinjaTemplate(text, special_tokens=tokens)

    def render(conversation: Conversation, now: datetime) -> str:
        return jinja.render(**conversation.to_hf() | {"now": now})

    return default_system(render, ordinary_conversations()) or ""
