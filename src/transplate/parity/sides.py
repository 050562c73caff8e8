"""The two sides of a comparison: what stands for a template in, what renders conversations out."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from transplate.conversation import Conversation
from transplate.errors import TransplateError
from transplate.jinja import JinjaTemplate
from transplate.language import language_of, language_of_text
from transplate.ollama import OllamaTemplate
from transplate.renderers import Renderer, ServedRenderer


@runtime_checkable
class Converted(Protocol):
    """A template as a conversion gives it."""

    @property
    def text(self) -> str:
        """The template."""
        ...


Template: TypeAlias = OllamaTemplate | JinjaTemplate | ServedRenderer | Renderer | Converted | str | Path
"""What stands for a template: a template, a conversion, its text, or the path of its file."""


class Side(Protocol):
    """Renders conversations with one template."""

    def __call__(self, conversation: Conversation, now: datetime | None) -> str:
        """Return the prompt.

        Raises:
            TransplateError: The template fails on this conversation.
        """
        ...


def side_of(template: Template) -> Side:
    """Return how a template renders conversations.

    A text of one line that names a file is the path of it; any other is the template itself. Which language
    it is in is told by the name of the file, else by what only one of the two can say.

    Raises:
        TransplateError: The file cannot be read.
        TemplateSyntaxError: The template is refused.
    """
    if isinstance(template, OllamaTemplate):
        return _ollama_side(template)
    if isinstance(template, JinjaTemplate):
        return _jinja_side(template)
    if isinstance(template, ServedRenderer | Renderer):
        return _renderer_side(template)
    if isinstance(template, Path) or (isinstance(template, str) and _is_file(template)):
        text = _read(Path(template))
        language = language_of(str(template), text)
    elif isinstance(template, str):
        text, language = template, language_of_text(template)
    elif isinstance(template, Converted):
        text, language = template.text, language_of_text(template.text)
    else:
        raise TransplateError(f"{type(template).__name__} is no template")
    return _jinja_side(JinjaTemplate(text)) if language == "jinja" else _ollama_side(OllamaTemplate(text))


def _is_file(text: str) -> bool:
    try:
        return "\n" not in text and "{" not in text and Path(text).is_file()
    except (OSError, ValueError):
        return False


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except OSError as error:
        raise TransplateError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise TransplateError(f"{path}: not a text file: {error.reason} at byte {error.start}") from error


def _ollama_side(template: OllamaTemplate) -> Side:
    def render(conversation: Conversation, now: datetime | None) -> str:
        return template.render(**conversation.to_ollama(), now=now)

    return render


def _renderer_side(renderer: ServedRenderer | Renderer) -> Side:
    def render(conversation: Conversation, now: datetime | None) -> str:
        return renderer.render(**conversation.to_ollama(), image_tags=False, now=now)

    return render


def _jinja_side(template: JinjaTemplate) -> Side:
    def render(conversation: Conversation, now: datetime | None) -> str:
        return template.render(**conversation.to_hf() | {"now": now})

    return render
