"""A TEMPLATE together with its model's SYSTEM and MESSAGEs, which the server puts in front of a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transplate.ollama.request import Message, Request, read_messages
from transplate.ollama.template import OllamaTemplate
from transplate.ollama.values import Values
from transplate.ollama.versions import NEWEST


class BegunTemplate(OllamaTemplate):
    """A template whose conversations begin as a Modelfile says (the handlers in server/routes.go).

    Args:
        source: The template.
        system: The SYSTEM, which a request's own replaces.
        messages: The MESSAGEs, as (role, content).
        ollama: The version of Ollama to behave like.

    Raises:
        TemplateSyntaxError: Ollama refuses the template.
    """

    def __init__(
        self, source: str, *, system: str, messages: Sequence[tuple[str, str]], ollama: str = NEWEST
    ) -> None:
        super().__init__(source, ollama=ollama)
        self._system = system
        self._history = read_messages([{"role": role, "content": content} for role, content in messages])
        self._render_quickly = lambda *_: None  # it knows nothing of a history

    def _values(self, request: Request, system: str | None) -> Values:
        system = self._system if system is None else system
        asked = request.messages
        if not self._history or not (request.is_generate or asked):
            return super()._values(request, system)
        history: list[Message] = [*self._history]
        if not request.is_generate:
            if system and asked[0][0] != "system":
                history.insert(0, ("system", system, "", None, None, "", ""))
            system = ""
        return super()._values(replace(request, messages=[*history, *asked]), system)
