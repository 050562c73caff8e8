"""Templates of either language behind one interface: read from a file, rendered on a request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from transplate.cli.files import read_text
from transplate.cli.requests import Request
from transplate.errors import RequestError, TransplateError
from transplate.language import Language, language_of
from transplate.source import Source

if TYPE_CHECKING:
    from transplate import Conversation, JinjaTemplate, OllamaTemplate


@dataclass(frozen=True, slots=True)
class TemplateFile:
    """A template that was read.

    Attributes:
        source: Its text, under the name of its file.
        language: The language it is in.
        template: The template itself.
        render: Makes a prompt, as UTF-8, of a request.
    """

    source: Source
    language: Language
    template: OllamaTemplate | JinjaTemplate
    render: Callable[[Request], bytes]


def read_template(path: str) -> TemplateFile:
    """Return the template in a file.

    Raises:
        TransplateError: It cannot be read.
    """
    source = read_text(path)
    language = language_of(path, source.text)
    with naming(source):
        template, render = _jinja(source) if language == "jinja" else _gotmpl(source)

    def render_named(request: Request) -> bytes:
        with naming(source):
            return render(request)

    return TemplateFile(source, language, template, render_named)


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


def _jinja(source: Source) -> tuple[JinjaTemplate, Callable[[Request], bytes]]:
    from transplate import JinjaTemplate

    template = JinjaTemplate(source.text)

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
