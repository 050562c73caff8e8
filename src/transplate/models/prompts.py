"""The template of a model that counts: which it is, ready to render, and as a chat template."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from transplate.conversation import Conversation
from transplate.errors import TransplateError, naming
from transplate.language import Language
from transplate.models.model import Model
from transplate.source import Source

if TYPE_CHECKING:
    from transplate.convert import Conversion
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
        return _chat_template(_begun(source.text, model), model)


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


def _begun(text: str, model: Model) -> str:
    if not model.system and not model.messages:
        return text
    from transplate.convert.beginning import with_beginning

    return with_beginning(text, model.system, model.messages)


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A model's chat template for Hugging Face.

    Attributes:
        text: The template, which begins conversations as the model does.
        conversion: How it was made; None where it was a chat template already.
        prints_bos: Whether it prints the BOS token that the Go TEMPLATE leaves to Ollama's tokenizer.
    """

    text: str
    conversion: Conversion | None = None
    prints_bos: bool = False


def chat_template_of(model: Model) -> ChatTemplate:
    """Return a model's template as a chat template.

    Where Ollama's tokenizer adds BOS, it does so for every prompt. That of transformers adds none to what a
    chat template has printed, so there the chat template prints it.

    Raises:
        TransplateError: There is no template.
        UnsupportedTemplate: It cannot be converted.
    """
    source, language = counting_template(model)
    if model.renderer and _leaves_out_bos(source.text, model):
        return ChatTemplate("{{- bos_token -}}\n" + _begun(source.text, model), prints_bos=True)
    if language == "jinja":
        return ChatTemplate(_begun(source.text, model))
    if original := _made_from(model, source.text):
        return ChatTemplate(original)
    adds_bos = bool(model.tokens.adds_bos and model.tokens.bos)
    conversion = begun_conversion(source, model, assume=["bos-token"] if adds_bos else [])
    prints_bos = any(one.name == "bos-token" for one in conversion.assumptions)
    return ChatTemplate(conversion.text, conversion, prints_bos)


def begun_conversion(
    source: Source, model: Model, *, exact: bool = False, assume: Collection[str] = ()
) -> Conversion:
    """Return a Go TEMPLATE as a chat template that begins conversations as a model does.

    Args:
        source: The TEMPLATE.
        model: The model whose SYSTEM and MESSAGEs come first.
        exact: As for :func:`transplate.to_jinja`.
        assume: Likewise.

    Raises:
        UnsupportedTemplate: It cannot be converted.
        ValueError: An assumption is not known.
    """
    from transplate.convert import to_jinja

    with naming(source):
        conversion = to_jinja(source.text, exact=exact, assume=assume)
        if not all(map(conversion.covers, _first_conversations(model))):
            # The model begins in a way that what is taken for granted leaves out.
            conversion = to_jinja(source.text, exact=True, assume=assume)
    return replace(_of_beginnings(conversion, model), text=_begun(conversion.text, model))


def _of_beginnings(conversion: Conversion, model: Model) -> Conversion:
    """Return a conversion that tells what it is meant for of conversations before the model begins them."""
    if not model.system and not model.messages:
        return conversion

    def of_begun(test: Callable[[Conversation], bool]) -> Callable[[Conversation], bool]:
        return lambda conversation: test(_with_beginning(conversation, model))

    return replace(
        conversion,
        assumptions=tuple(replace(one, holds=of_begun(one.holds)) for one in conversion.assumptions),
        losses=tuple(replace(one, affects=of_begun(one.affects)) for one in conversion.losses),
    )


def _with_beginning(conversation: Conversation, model: Model) -> Conversation:
    first = conversation.messages[0].role if conversation.messages else ""
    beginning = model.conversation([], system="" if first == "system" else None)
    if not beginning:
        return conversation
    return replace(conversation, messages=Conversation.read(beginning).messages + conversation.messages)


def _leaves_out_bos(renderer: str, model: Model) -> bool:
    """Return whether Ollama's tokenizer adds a BOS to what a renderer prints."""
    bos = model.tokens.bos
    if not model.tokens.adds_bos or not bos:
        return False
    prompt = _chat_template(renderer, model).render([{"role": "user", "content": "Hello"}])
    return not prompt.startswith(bos)


def _first_conversations(model: Model) -> Iterator[Conversation]:
    """Yield how conversations with a model begin, with its SYSTEM and with one of their own."""
    question = {"role": "user", "content": "Hello"}
    for messages in ([question], [{"role": "system", "content": "Be kind."}, question]):
        yield Conversation.read(model.conversation(messages))


def _made_from(model: Model, template: str) -> str | None:
    """Return the chat template in the folder that FROM names, if the TEMPLATE is what becomes of it."""
    from transplate.convert import to_go

    folder = model.original
    if folder is None or folder.chat_template is None:
        return None
    text, tokens = folder.chat_template.text, folder.special_tokens
    for special in (tokens, {**tokens, "bos_token": ""}):
        try:
            if to_go(text, special_tokens=special).text != template:
                continue
        except TransplateError:
            return None
        # A SYSTEM that the chat template puts in by itself needs no saying.
        is_own = not model.messages and default_system_of(text, tokens) == model.system
        return text if is_own else _begun(text, model)
    return None


def default_system_of(text: str, tokens: Mapping[str, str]) -> str:
    """Return the system prompt that a chat template puts in by itself, empty for none that is exact."""
    from transplate.jinja import JinjaTemplate
    from transplate.models.default_system import default_system
    from transplate.parity.conversations import ordinary_conversations

    jinja = JinjaTemplate(text, special_tokens=tokens)

    def render(conversation: Conversation, now: datetime) -> str:
        return jinja.render(**conversation.to_hf() | {"now": now})

    return default_system(render, ordinary_conversations()) or ""
