"""The template that is looked at: conversations in, prompts out, for the experiments of the rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from transplate.conversation import Conversation
from transplate.errors import TransplateError
from transplate.jinja import JinjaTemplate
from transplate.language import Language
from transplate.limits import Limits
from transplate.models import Model
from transplate.ollama import OllamaTemplate
from transplate.parity.fields import STAND_INS
from transplate.source import Source

_NOW = datetime(2024, 7, 4, 12, 30)
_LIMITS = Limits(output=1024 * 1024, steps=500_000)
"""Far more than templates need for conversations of a few words; each is rendered some fifty times."""

QUESTION, ANSWER, NEXT = "What is red?", "Colours are.", "And what is green?"
SYSTEM = "Know every colour."


@dataclass(frozen=True, slots=True)
class Printed:
    """What a template made of a conversation.

    Attributes:
        prompt: The prompt, empty if there is none.
        error: Why there is none.
    """

    prompt: str
    error: TransplateError | None = None


class Subject:
    """A template to look at.

    Args:
        model: What it was found in.
        source: Its text.
        language: Its language.
        ollama: The Ollama that it has to work with; None if none is named.

    Attributes:
        takes_text: Whether the template shows content that is a text; else it is given as typed parts.

    Raises:
        TemplateSyntaxError: Its own engine refuses it.
    """

    def __init__(self, model: Model, source: Source, language: Language, *, ollama: str | None) -> None:
        self.model = model
        self.source = source
        self.language = language
        self.ollama = ollama
        self._template = self._read(source.text)
        self.takes_text = True
        if language == "jinja" and not self._shows_question():
            self.takes_text = False
            self.takes_text = not self._shows_question()

    def _read(self, text: str) -> OllamaTemplate | JinjaTemplate:
        if self.language == "gotmpl":
            return OllamaTemplate(text, limits=_LIMITS)
        return JinjaTemplate(text, special_tokens={**STAND_INS, **self.model.special_tokens}, limits=_LIMITS)

    def _shows_question(self) -> bool:
        return QUESTION in self.printed([user(QUESTION)]).prompt

    @cached_property
    def go(self) -> OllamaTemplate | None:
        """The template, if it is one of Ollama's."""
        return self._template if isinstance(self._template, OllamaTemplate) else None

    def with_text(self, text: str) -> Subject | None:
        """Return the same with another text; None if its engine refuses it."""
        try:
            return Subject(self.model, Source(text), self.language, ollama=self.ollama)
        except TransplateError:
            return None

    def printed(
        self,
        messages: Sequence[dict[str, Any]],
        tools: Sequence[dict[str, Any]] = (),
        *,
        generation: bool = True,
    ) -> Printed:
        """Return what the template makes of messages.

        Args:
            messages: The messages, as OpenAI writes them.
            tools: The tools.
            generation: Whether a chat template is asked for the opening of the assistant's turn.
        """
        given = messages if self.takes_text else [_in_parts(message) for message in messages]
        conversation = Conversation.read({"messages": given, "tools": list(tools)})
        try:
            if isinstance(self._template, OllamaTemplate):
                return Printed(self._template.render(**conversation.to_ollama(), now=_NOW))
            arguments: dict[str, Any] = {**conversation.to_hf(), "now": _NOW}
            if not generation:
                arguments["add_generation_prompt"] = False
            return Printed(self._template.render(**arguments))
        except TransplateError as error:
            return Printed("", error)

    def prompt(self, *messages: dict[str, Any], generation: bool = True) -> str:
        """Return the prompt of messages, empty if the template fails on them."""
        return self.printed(messages, generation=generation).prompt

    def find(self, *patterns: str) -> int | None:
        """Return where the first of some patterns occurs in the template that does."""
        for pattern in patterns:
            if found := re.search(pattern, self.source.text):
                return found.start()
        return None


def user(text: str) -> dict[str, Any]:
    """Return a message of the user."""
    return {"role": "user", "content": text}


def assistant(text: str, **others: Any) -> dict[str, Any]:
    """Return a message of the assistant."""
    return {"role": "assistant", "content": text, **others}


def system(text: str, role: str = "system") -> dict[str, Any]:
    """Return a system message, or one of a role like it."""
    return {"role": role, "content": text}


def _in_parts(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if not isinstance(content, str) or not content:
        return message
    return {**message, "content": [{"type": "text", "text": content}]}
