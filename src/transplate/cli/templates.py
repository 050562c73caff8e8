"""Templates of either language behind one interface: read from any source, rendered on a request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from transplate.cli.files import STDIN, name_of, opened
from transplate.cli.requests import Request
from transplate.errors import RequestError, TransplateError
from transplate.language import Language
from transplate.source import Source

if TYPE_CHECKING:
    from transplate import Conversation, JinjaTemplate, Model, OllamaTemplate


@dataclass(frozen=True, slots=True)
class TemplateFile:
    """A template that was read.

    Attributes:
        source: Its text, under the name of its file.
        language: The language it is in.
        template: The template itself.
        render: Makes a prompt, as UTF-8, of a request.
        model: What it was found in.
    """

    source: Source
    language: Language
    template: OllamaTemplate | JinjaTemplate
    render: Callable[[Request], bytes]
    model: Model


def read_model(path: str) -> Model:
    """Return what a source is: a template alone, or a whole model.

    Raises:
        TransplateError: It cannot be read.
    """
    from transplate.models.source import load, read

    if path != STDIN:
        return load(path)
    with opened(path) as file:
        return read(file.read(), name_of(path))


def read_template(path: str) -> TemplateFile:
    """Return the template of a source; of a model with several, the one that Ollama runs.

    Raises:
        TransplateError: It cannot be read, or there is no template in it.
    """
    return template_of(read_model(path))


def template_of(model: Model) -> TemplateFile:
    """Return the template of a model, the one that Ollama runs where it has several.

    Raises:
        TransplateError: There is none, or it is none that can be read.
    """
    source, language = _chosen(model)
    with naming(source):
        template, render = _jinja(source, model.special_tokens) if language == "jinja" else _gotmpl(source)

    def render_named(request: Request) -> bytes:
        with naming(source):
            return render(_begun(request, model))

    return TemplateFile(source, language, template, render_named, model)


def _chosen(model: Model) -> tuple[Source, Language]:
    go, jinja = model.template, model.chat_template
    if go is not None and (jinja is None or model.road().prompt_from != "jinja"):
        return go, "gotmpl"
    if jinja is not None:
        return jinja, "jinja"
    missing = [warning for warning in model.warnings if warning.startswith("FROM ")]
    raise TransplateError("; ".join([f"{model.name}: has no template", *missing]))


def _begun(request: Request, model: Model) -> Request:
    """Return a request with the SYSTEM and the MESSAGEs of a model."""
    if not model.system and not model.messages:
        return request
    if request.prompt or request.suffix or not isinstance(request.messages, list):
        system = model.system if request.system is None else request.system
        history = model.conversation([], system="") if request.prompt and not request.messages else None
        return replace(request, system=system, messages=history or request.messages)
    messages = model.conversation(request.messages, system=request.system)
    return replace(request, messages=messages, system=None)


@contextmanager
def naming(source: Source) -> Iterator[None]:
    """Give the errors that are about a text the name of the file it is from."""
    try:
        yield
    except TransplateError as error:
        if error.source is not None and error.source.text == source.text:
            error.source = source
        raise


def _gotmpl(source: Source) -> tuple[OllamaTemplate, Callable[[Request], bytes]]:
    from transplate import OllamaTemplate

    template = OllamaTemplate(source.text)

    def render(request: Request) -> bytes:
        return template.render_bytes(
            request.messages,
            request.tools,
            system=request.system,
            think=request.think,
            prompt=request.prompt,
            suffix=request.suffix,
        )

    return template, render


def _jinja(
    source: Source, special_tokens: Mapping[str, str]
) -> tuple[JinjaTemplate, Callable[[Request], bytes]]:
    from transplate import JinjaTemplate

    template = JinjaTemplate(source.text, special_tokens=special_tokens)

    def render(request: Request) -> bytes:
        prompt = template.render(**_conversation(request).to_hf())
        return prompt.encode("utf-8", "replace")

    return template, render


def _conversation(request: Request) -> Conversation:
    """Return a request as a conversation that a chat template can be given."""
    from transplate import Conversation

    if request.suffix:
        raise RequestError("suffix: a chat template knows none")
    given = {"messages": request.messages, "prompt": request.prompt, "system": request.system}
    body = {name: value for name, value in given.items() if value}
    conversation = Conversation.read(body | {"tools": request.tools, "think": request.think})
    if request.system and conversation.messages[0].role != "system":
        first = Conversation.read([{"role": "system", "content": request.system}]).messages
        conversation = replace(conversation, messages=first + conversation.messages)
    return conversation
