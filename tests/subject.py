"""What this project answers to the oracle's questions, in the oracle's terms."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tests.oracle.ollama import Answer
from transplate import Limits, OllamaTemplate, Values
from transplate.errors import (
    ErrorKind,
    TemplateExecutionError,
    TemplateSyntaxError,
    TransplateError,
    UnsupportedTemplate,
)

_STAGES = {ErrorKind.EXECUTION: "exec", ErrorKind.PANIC: "panic", ErrorKind.LIMIT: "limit"}


def parse(source: str, *, ollama: str, limits: Limits | None = None) -> OllamaTemplate | Answer:
    """Return the template, or the answer that says why it is refused."""
    try:
        return OllamaTemplate(source, ollama=ollama, limits=limits)
    except TemplateSyntaxError as error:
        return Answer(b"", error.message, "parse")


def execute(
    template: OllamaTemplate, request: Mapping[str, Any] | Values, *, now: datetime | None = None
) -> Answer:
    """Return what a template makes of a request (Ollama's ``template.Values``), read or still to be read."""
    try:
        values = request if isinstance(request, Values) else Values(**request)
        return Answer(template.execute_bytes(values, now=now))
    except TemplateExecutionError as error:
        return Answer(error.output.encode(), error.message, _STAGES[error.kind])
    except UnsupportedTemplate as error:
        return Answer(b"", error.message, "unsupported")
    except TransplateError as error:
        return Answer(b"", error.message, "request")


def serve(template: OllamaTemplate, body: Mapping[str, Any], *, now: datetime | None = None) -> Answer:
    """Return what a template makes of a request to the server (messages, tools, think)."""
    try:
        return Answer(template.render_bytes(**body, now=now))
    except TemplateExecutionError as error:
        return Answer(error.output.encode(), error.message, _STAGES[error.kind])
    except UnsupportedTemplate as error:
        return Answer(b"", error.message, "unsupported")
    except TransplateError as error:
        return Answer(b"", error.message, "request")


def render(source: str, request: Mapping[str, Any], *, ollama: str, now: datetime | None = None) -> Answer:
    """Parse and execute in one step."""
    template = parse(source, ollama=ollama)
    return template if isinstance(template, Answer) else execute(template, request, now=now)


def agrees(ours: Answer, real: Answer) -> bool:
    """Return whether we answer as the oracle does.

    What was printed before an error is kept as text, so that invalid bytes compare as U+FFFD there.
    """
    if real.error is None:
        return ours == real
    printed = real.output.decode("utf-8", "replace").encode()
    return (ours.error, ours.stage, ours.output) == (real.error, real.stage, printed)
