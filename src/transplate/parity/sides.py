"""The two sides of a comparison: what stands for a template in, what renders conversations out."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from transplate.conversation import Conversation
from transplate.errors import RequestError, TemplateExecutionError, TransplateError
from transplate.jinja import JinjaTemplate
from transplate.jinja.coverage import JinjaCoverage
from transplate.jinja.tracing import JinjaTrace
from transplate.language import Language, language_of, language_of_text
from transplate.ollama import OllamaTemplate
from transplate.parity.coverage import GoCoverage
from transplate.parity.literals import Literals, literals_of
from transplate.parity.shapes import PLAIN, Shape
from transplate.parity.tracing import GoTrace
from transplate.renderers import Renderer, ServedRenderer
from transplate.servers import LiveServer

_GIVEN = frozenset({"messages", "tools", "add_generation_prompt", "enable_thinking", "reasoning_effort"})
"""Variables of chat templates that are given with every conversation, or say how much is to be thought."""
_SET = re.compile(r"\{%[-+]?\s*(?:set|macro)\s+(\w+)")
_DEFAULTED = re.compile(
    r"\bif\s+(?:not\s+(?=\w+\s+(?:is\s+defined|and\b|%|-%))|(?=\w+\s+is\s+(?:not\s+defined|undefined)))(\w+)"
)


@runtime_checkable
class Converted(Protocol):
    """A template as a conversion gives it."""

    @property
    def text(self) -> str:
        """The template."""
        ...


Template: TypeAlias = (
    OllamaTemplate | JinjaTemplate | ServedRenderer | Renderer | LiveServer | Converted | str | Path
)
"""What stands for a template: a template, a conversion, a running server, its text, or its file's path."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one side made of a conversation.

    Attributes:
        prompt: The prompt; up to the error if there is one.
        error: Why there is none.
        arms: The numbers of the arms that were taken, where that was asked for.
    """

    prompt: str
    error: TransplateError | None = None
    arms: frozenset[int] = frozenset()


class Arm(Protocol):
    """One of the ways that a template, in either language, can go at one place."""

    @property
    def text(self) -> str:
        """The condition."""
        ...

    @property
    def outcome(self) -> bool:
        """Whether it is true there."""
        ...

    @property
    def parent(self) -> int | None:
        """The number of the arm around it."""
        ...


class Side(Protocol):
    """Renders conversations with one template."""

    language: Language
    """The template's language."""
    source: str
    """Its text."""

    def render(self, conversation: Conversation, now: datetime | None, shape: Shape = PLAIN) -> Outcome:
        """Return what the template makes of a conversation."""
        ...

    def take(self, conversation: Conversation, now: datetime | None, shape: Shape = PLAIN) -> Outcome:
        """Return what the template makes of a conversation, and the arms it takes."""
        ...

    def pieces(self, conversation: Conversation, now: datetime | None) -> list[tuple[int, int]] | None:
        """Return where each piece of the prompt begins, and the offset in the template that printed it.

        None if that cannot be told.
        """
        ...

    @property
    def arms(self) -> Sequence[Arm]:
        """The arms of the template."""
        ...

    @property
    def abilities(self) -> frozenset[str]:
        """Which of ``tools`` and ``thinking`` a request may ask for without being refused."""
        ...

    @property
    def literals(self) -> Literals:
        """The constants in the template's code, with which it may compare what it is given."""
        ...

    @property
    def variables(self) -> frozenset[str]:
        """The variables that it reads besides what every conversation has."""
        ...


class GoSide:
    """A Go template, on requests as Ollama's server makes them of conversations."""

    language: Language = "gotmpl"
    variables: frozenset[str] = frozenset()

    def __init__(self, template: OllamaTemplate) -> None:
        self.template = template
        self.source = template.source

    def render(self, conversation: Conversation, now: datetime | None, shape: Shape = PLAIN) -> Outcome:  # noqa: ARG002
        """Return what Ollama makes of a conversation; the shape is Jinja's alone."""
        try:
            return Outcome(self.template.render(**conversation.to_ollama(), now=now))
        except TransplateError as error:
            return Outcome(getattr(error, "output", ""), error)

    def take(self, conversation: Conversation, now: datetime | None, shape: Shape = PLAIN) -> Outcome:  # noqa: ARG002
        """Return what Ollama makes of a conversation, and the arms that the template takes."""
        if self.coverage is None:
            return self.render(conversation, now)
        try:
            taken = self.coverage.take(self.template.values(**conversation.to_ollama()), now=now)
        except RequestError as error:
            return Outcome("", error)
        return Outcome(taken.output, taken.error, taken.arms)

    def pieces(self, conversation: Conversation, now: datetime | None) -> list[tuple[int, int]] | None:
        """Return where each piece of the prompt begins, and the offset in the template that printed it."""
        return self._trace.pieces(self.template.values(**conversation.to_ollama()), now)

    @cached_property
    def _trace(self) -> GoTrace:
        return GoTrace(self.template)

    @cached_property
    def coverage(self) -> GoCoverage | None:
        """The template with its arms marked; None if it is too large or too deep for marks."""
        try:
            return GoCoverage(self.source, ollama=self.template.ollama, limits=self.template.limits)
        except (RecursionError, TransplateError):
            return None

    @property
    def arms(self) -> Sequence[Arm]:
        """The arms of the template."""
        return () if self.coverage is None else self.coverage.arms

    @cached_property
    def abilities(self) -> frozenset[str]:
        """What Ollama does not refuse for this template."""
        return frozenset(self.template.inference.abilities)

    @cached_property
    def literals(self) -> Literals:
        """The constants in the template's actions."""
        return literals_of(self.source, self.language)


class JinjaSide:
    """A chat template, on what transformers gives it of conversations."""

    language: Language = "jinja"
    abilities = frozenset({"tools", "thinking"})

    def __init__(self, template: JinjaTemplate) -> None:
        self.template = template
        self.source = template.source.text

    def render(self, conversation: Conversation, now: datetime | None, shape: Shape = PLAIN) -> Outcome:
        """Return what transformers makes of a conversation."""
        arguments: dict[str, Any] = {**conversation.to_hf(), "now": now}
        try:
            return Outcome(self.template.render(**shape.of(arguments)))
        except TransplateError as error:
            return Outcome(getattr(error, "output", ""), error)

    def take(self, conversation: Conversation, now: datetime | None, shape: Shape = PLAIN) -> Outcome:
        """Return what transformers makes of a conversation, and the arms that the template takes."""
        if self.coverage is None:
            return self.render(conversation, now, shape)
        arguments: dict[str, Any] = {**conversation.to_hf(), "now": now}
        try:
            taken = self.coverage.take(**shape.of(arguments))
        except RequestError as error:
            return Outcome("", error)
        return Outcome(taken.output, taken.error, taken.arms)

    def pieces(self, conversation: Conversation, now: datetime | None) -> list[tuple[int, int]] | None:
        """Return where each piece of the prompt begins, and the offset in the template that printed it."""
        return self._trace.pieces(conversation.to_hf(), now)

    @cached_property
    def _trace(self) -> JinjaTrace:
        template = self.template
        return JinjaTrace(self.source, special_tokens=template.special_tokens, limits=template.limits)

    @cached_property
    def coverage(self) -> JinjaCoverage | None:
        """The template with its arms counted; None if it is too large or too deep for that."""
        template = self.template
        try:
            return JinjaCoverage(self.source, special_tokens=template.special_tokens, limits=template.limits)
        except (RecursionError, TransplateError):
            return None

    @property
    def arms(self) -> Sequence[Arm]:
        """The arms of the template."""
        return () if self.coverage is None else self.coverage.arms

    @cached_property
    def literals(self) -> Literals:
        """The constants in the template's code."""
        return literals_of(self.source, self.language)

    @cached_property
    def variables(self) -> frozenset[str]:
        """The variables that the template reads besides what every conversation has."""
        names = self.template.variables - self.template.special_tokens.keys() - _GIVEN
        names -= set(_SET.findall(self.source)) - set(_DEFAULTED.findall(self.source))
        return frozenset(name for name in names if not name.endswith(("_token", "_tokens")))


class _ClosedSide(ABC):
    """What has no template to look into: only its prompts are seen."""

    source = ""
    arms: Sequence[Arm] = ()
    literals = Literals()
    variables: frozenset[str] = frozenset()

    @abstractmethod
    def render(self, conversation: Conversation, now: datetime | None, shape: Shape = PLAIN) -> Outcome:
        """Return what it makes of a conversation."""

    def take(self, conversation: Conversation, now: datetime | None, shape: Shape = PLAIN) -> Outcome:
        """Return what it makes of a conversation; there are no arms to take."""
        return self.render(conversation, now, shape)

    def pieces(self, conversation: Conversation, now: datetime | None) -> list[tuple[int, int]] | None:  # noqa: ARG002
        """Return None: what printed a piece of the prompt cannot be told."""
        return None


class RendererSide(_ClosedSide):
    """One of Ollama's built-in renderers, of which only the prompts are seen."""

    language: Language = "gotmpl"

    def __init__(self, renderer: ServedRenderer | Renderer) -> None:
        self.renderer = renderer

    def render(self, conversation: Conversation, now: datetime | None, shape: Shape = PLAIN) -> Outcome:  # noqa: ARG002
        """Return what Ollama makes of a conversation; the shape is Jinja's alone."""
        try:
            return Outcome(self.renderer.render(**conversation.to_ollama(), image_tags=False, now=now))
        except TransplateError as error:
            return Outcome(getattr(error, "output", ""), error)

    @property
    def abilities(self) -> frozenset[str]:
        """What Ollama does not refuse for this renderer."""
        if isinstance(self.renderer, ServedRenderer):
            return frozenset(self.renderer.abilities)
        return frozenset({"tools", "thinking"})


class ServerSide(_ClosedSide):
    """A running server, of which only the prompts are seen, at the time of its own clock."""

    def __init__(self, server: LiveServer) -> None:
        self.server = server
        self.language: Language = server.language

    def render(self, conversation: Conversation, now: datetime | None, shape: Shape = PLAIN) -> Outcome:  # noqa: ARG002
        """Return what the server makes of a conversation; one that has a date is refused, prompt or not.

        Raises:
            TransplateError: The server does not answer: then nothing can be said of its prompts.
        """
        try:
            prompt = self.server.render(conversation)
        except (RequestError, TemplateExecutionError) as error:
            return Outcome("", error)
        dated = conversation.now is not None
        return Outcome(prompt, RequestError("the clock of a server cannot be set") if dated else None)

    @property
    def abilities(self) -> frozenset[str]:
        """What the server does not refuse."""
        return self.server.abilities


def side_of(template: Template) -> Side:
    """Return how a template renders conversations.

    A text of one line that names a file is the path of it; any other is the template itself. Which language
    it is in is told by the name of the file, else by what only one of the two can say.

    Raises:
        TransplateError: The file cannot be read.
        TemplateSyntaxError: The template is refused.
    """
    if isinstance(template, OllamaTemplate):
        return GoSide(template)
    if isinstance(template, JinjaTemplate):
        return JinjaSide(template)
    if isinstance(template, ServedRenderer | Renderer):
        return RendererSide(template)
    if isinstance(template, LiveServer):
        return ServerSide(template)
    if isinstance(template, Path) or (isinstance(template, str) and _is_file(template)):
        text = _read(Path(template))
        language = language_of(str(template), text)
    elif isinstance(template, str):
        text, language = template, language_of_text(template)
    elif isinstance(template, Converted):
        text, language = template.text, language_of_text(template.text)
    else:
        raise TransplateError(f"{type(template).__name__} is no template")
    return JinjaSide(JinjaTemplate(text)) if language == "jinja" else GoSide(OllamaTemplate(text))


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
