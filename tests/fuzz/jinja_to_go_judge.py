"""Who decides whether a converted template is right: real Ollama and transformers, or our own engines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import jinja2

from tests.fuzz.jinja_to_go_requests import NOW, Case
from tests.oracle.engines import TransformersEngine
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle, Inference
from transplate.convert.jinja_to_go.view import REQUEST_TEMPLATE, jinja_view, view
from transplate.errors import TemplateExecutionError, TransplateError
from transplate.jinja import JinjaTemplate
from transplate.ollama import NEWEST, OllamaTemplate, Values

View: TypeAlias = tuple[list[dict[str, Any]], list[Any] | None, dict[str, Any]]
"""The messages, tools and variables that a chat template gets."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What a template made of a request.

    Attributes:
        text: The prompt, None where it failed.
        error: Why it failed.
        own: Whether the template itself raised the error, with ``raise_exception``.
    """

    text: str | None = None
    error: str | None = None
    own: bool = False


class Judge(Protocol):
    """Renders both sides.

    Attributes:
        ollama: The version of Ollama that it behaves like.
        now: What both sides take the time to be.
    """

    ollama: str
    now: datetime

    def views(self, cases: Sequence[Case]) -> list[View | None]:
        """Return how Ollama sees each request, None for one that it refuses or that has no messages."""
        ...

    def wanted(self, source: str, tokens: Mapping[str, str], views: Sequence[View]) -> list[Printed]:
        """Return what the chat template prints for each."""
        ...

    def found(self, template: str, cases: Sequence[Case]) -> list[Printed]:
        """Return what a template of Ollama prints for each request."""
        ...

    def close(self) -> None:
        """End what runs in the background."""
        ...


class RealJudge:
    """Real Ollama, and ``apply_chat_template`` of transformers on real Ollama's view of the requests."""

    ollama = OLLAMA_VERSION
    now = NOW

    def __init__(self) -> None:
        """Start the engines.

        Raises:
            EngineUnavailable: One of them cannot be run here.
        """
        self._transformers = TransformersEngine()
        self._oracle = GoOracle()

    def views(self, cases: Sequence[Case]) -> list[View | None]:
        """Return how Ollama sees each request."""
        answers = self._oracle.render_all(REQUEST_TEMPLATE, cases)
        return [
            None if answer.error is not None else _with_messages(jinja_view(json.loads(answer.output), case))
            for answer, case in zip(answers, cases, strict=True)
        ]

    def wanted(self, source: str, tokens: Mapping[str, str], views: Sequence[View]) -> list[Printed]:
        """Return what the chat template prints for each."""
        own = JinjaTemplate(source, special_tokens=tokens)
        printed = []
        for messages, tools, variables in views:
            made = self._transformers.apply_chat_template(
                source,
                messages,
                tools,
                special_tokens=dict(tokens),
                add_generation_prompt=_generates(messages),
                variables=variables,
                now=self.now,
            )
            failed = None if made.error is None else _failure(own, (messages, tools, variables), self.now)
            printed.append(Printed(made.text, made.error, failed is not None and failed.own))
        return printed

    def found(self, template: str, cases: Sequence[Case]) -> list[Printed]:
        """Return what a template of Ollama prints for each request."""
        return [
            Printed(answer.output.decode(errors="surrogateescape"))
            if answer.error is None
            else Printed(error=answer.error)
            for answer in self._oracle.render_all(template, cases, now=self.now)
        ]

    def infer(self, template: str) -> Inference:
        """Return what Ollama derives from the shape of a template.

        Raises:
            ValueError: Ollama refuses the template.
        """
        found = self._oracle.infer(template)
        if not isinstance(found, Inference):
            raise ValueError(f"Ollama refuses the template: {found}")
        return found

    def close(self) -> None:
        """End the engines."""
        self._oracle.close()
        self._transformers.close()


class OwnJudge:
    """Our own engines on both sides: quick, and there without Go."""

    ollama = NEWEST
    now = NOW

    def views(self, cases: Sequence[Case]) -> list[View | None]:
        """Return how Ollama sees each request."""
        views: list[View | None] = []
        for case in cases:
            try:
                views.append(_with_messages(view(Values(**case), self.ollama)))
            except TransplateError:
                views.append(None)
        return views

    def wanted(self, source: str, tokens: Mapping[str, str], views: Sequence[View]) -> list[Printed]:
        """Return what the chat template prints for each."""
        template = JinjaTemplate(source, special_tokens=tokens)
        return [
            _failure(template, one, self.now) or Printed(_rendered(template, one, self.now)) for one in views
        ]

    def found(self, template: str, cases: Sequence[Case]) -> list[Printed]:
        """Return what a template of Ollama prints for each request."""
        ollama = _compiled(template, self.ollama)
        printed = []
        for case in cases:
            try:
                printed.append(Printed(ollama.execute(Values(**case), now=self.now)))
            except TransplateError as error:
                printed.append(Printed(error=error.message))
        return printed

    def close(self) -> None:
        """Do nothing: the engines run in this process."""


@lru_cache(maxsize=2)
def _compiled(template: str, version: str) -> OllamaTemplate:
    return OllamaTemplate(template, ollama=version)


def _with_messages(made: View) -> View | None:
    return made if made[0] else None


def _generates(messages: Sequence[dict[str, Any]]) -> bool:
    return bool(messages[-1]["role"] != "assistant")


def _rendered(template: JinjaTemplate, seen: View, now: datetime) -> str:
    messages, tools, variables = seen
    return template.render(
        messages, tools, add_generation_prompt=_generates(messages), variables=variables, now=now
    )


def _failure(template: JinjaTemplate, seen: View, now: datetime) -> Printed | None:
    """Return how a chat template fails, None if it does not."""
    try:
        _rendered(template, seen, now)
    except TemplateExecutionError as error:
        return Printed(error=error.message, own=type(error.__cause__) is jinja2.TemplateError)
    return None
