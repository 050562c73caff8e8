"""A model's template as a chat template for Hugging Face, which begins conversations as the model does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from transplate.conversation import Conversation
from transplate.errors import TransplateError, UnsupportedTemplate, naming
from transplate.models.model import Model
from transplate.models.prompts import begun, counting_template, default_system_of, template_of
from transplate.source import Source

if TYPE_CHECKING:
    from transplate.convert import Conversion
    from transplate.parity import ParityReport


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

    def notes(self, model: Model) -> Iterator[str]:
        """Yield what is to be known of how it was made of a model's template."""
        if self.conversion is not None:
            for assumption in self.conversion.assumptions:
                yield f"assumes {assumption.name}: {assumption.meaning}"
            for loss in self.conversion.losses:
                yield f"may differ: {loss.message}"
        if self.prints_bos:
            yield (
                f"bos: Ollama's tokenizer adds {model.tokens.bos} and that of Hugging Face does not in "
                "chats, so the chat template prints it"
            )

    def parity(self, model: Model) -> ParityReport | None:
        """Return whether it prints the prompts of the model it is of; None where it is the model's own."""
        from transplate.jinja import JinjaTemplate
        from transplate.parity import check_parity

        if self.conversion is None and not model.renderer:
            return None
        tokens = model.special_tokens
        if self.prints_bos:
            # What Ollama's tokenizer adds is not in what the TEMPLATE prints.
            tokens["bos_token"] = ""
        return check_parity(template_of(model), JinjaTemplate(self.text, special_tokens=tokens))


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
        return ChatTemplate("{{- bos_token -}}\n" + begun(source.text, model), prints_bos=True)
    if language == "jinja":
        return ChatTemplate(begun(source.text, model))
    if model.original is not None and (original := _made_from(model.original, model, source.text)):
        return ChatTemplate(original)
    adds_bos = bool(model.tokens.adds_bos and model.tokens.bos)
    try:
        conversion = begun_conversion(source, model, assume=["bos-token"] if adds_bos else [])
    except UnsupportedTemplate:
        # A TEMPLATE that was made of the chat template beside it need not be converted.
        if original := _made_from(model, model, source.text):
            return ChatTemplate(original)
        raise
    prints_bos = any(one.name == "bos-token" for one in conversion.assumptions)
    return ChatTemplate(conversion.text, conversion, prints_bos)


def other_chat_templates(model: Model) -> dict[str, str]:
    """Return the chat templates besides the default by their names, where the default counts."""
    if model.renderer or counting_template(model)[0] != model.chat_template:
        return {}
    return {name: begun(one.text, model) for name, one in model.named.items() if name != "default"}


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
    return replace(_of_beginnings(conversion, model), text=begun(conversion.text, model))


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
    from transplate.jinja import JinjaTemplate

    jinja = JinjaTemplate(renderer, special_tokens=model.special_tokens)
    prompt = jinja.render([{"role": "user", "content": "Hello"}])
    return not prompt.startswith(bos)


def _first_conversations(model: Model) -> Iterator[Conversation]:
    """Yield how conversations with a model begin, with its SYSTEM and with one of their own."""
    question = {"role": "user", "content": "Hello"}
    for messages in ([question], [{"role": "system", "content": "Be kind."}, question]):
        yield Conversation.read(model.conversation(messages))


def _made_from(origin: Model, model: Model, template: str) -> str | None:
    """Return the chat template of one model, begun as another, whose TEMPLATE is made of it; else None."""
    from transplate.convert import to_go
    from transplate.convert.beginning import read_beginning

    if origin.chat_template is None:
        return None
    text, tokens = origin.chat_template.text, origin.special_tokens
    own = read_beginning(text)
    for special in (tokens, {**tokens, "bos_token": ""}):
        try:
            if to_go(own.template, special_tokens=special).text != template:
                continue
        except TransplateError:
            return None
        # What the chat template begins with, or puts in by itself, needs no saying.
        system = own.system or default_system_of(own.template, tokens)
        return (
            text if (system, own.messages) == (model.system, model.messages) else begun(own.template, model)
        )
    return None
