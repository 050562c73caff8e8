"""A renderer as Ollama's server runs it for a model: SYSTEM and MESSAGEs in front, thinking by default."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from transplate.errors import RequestError
from transplate.ollama.request import Message, read_messages, read_tools
from transplate.ollama.versions import NEWEST
from transplate.renderers.parsers import PARSERS
from transplate.renderers.renderer import Renderer, template_text

_THINKING = "{%- if enable_thinking is not defined -%}{%- set enable_thinking = true -%}{%- endif -%}\n"


class ServedRenderer:
    """The renderer of a model, with what the model's Modelfile says besides.

    Attributes:
        abilities: What the model can do for Ollama: ``tools``, ``thinking``.

    Args:
        name: RENDERER.
        parser: PARSER; it tells whether the model takes tools and whether it thinks.
        abilities: What the model can do besides by its TEMPLATE, ``tools`` and ``thinking``.
        system: SYSTEM.
        history: The MESSAGEs, as (role, content).
        ollama: The version of Ollama.

    Raises:
        TransplateError: Ollama has no renderer of this name.
    """

    def __init__(
        self,
        name: str,
        *,
        parser: str = "",
        abilities: Collection[str] = (),
        system: str = "",
        history: Sequence[tuple[str, str]] = (),
        ollama: str = NEWEST,
    ) -> None:
        self.renderer = Renderer(name, ollama=ollama)
        known = PARSERS.get(parser, PARSERS["passthrough"])
        self.abilities = frozenset(
            ability
            for ability, is_known in (("tools", known.tools), ("thinking", known.thinks))
            if is_known or ability in abilities
        )
        self._system = system
        self._history = [_turn(role.lower(), content) for role, content in history]

    def render(
        self,
        messages: str | bytes | Sequence[Mapping[str, Any]] = (),
        tools: str | bytes | Sequence[Mapping[str, Any]] | None = None,
        *,
        system: str | None = None,
        think: bool | str | None = None,
        prompt: str = "",
        image_tags: bool = True,
        now: datetime | None = None,
    ) -> str:
        """Return the prompt that the server makes of a request (``ChatHandler`` and ``GenerateHandler``).

        Args:
            messages: The messages of a chat.
            tools: Its tools.
            system: What takes the place of SYSTEM; None for SYSTEM.
            think: Whether to think; None for yes if the model can.
            prompt: The prompt of a request to ``/api/generate``, which has no messages.
            image_tags: As for :meth:`Renderer.render`.
            now: The time that it is; None for the clock.

        Raises:
            RequestError: It is no request that Ollama reads, or it asks for what the model cannot do.
            TemplateExecutionError: The renderer refuses the conversation.
        """
        read = read_tools(tools) or []
        if read and "tools" not in self.abilities:
            raise RequestError("tools: the model does not support tools")
        if think is None and "thinking" in self.abilities:
            think = True
        if think and "thinking" not in self.abilities:
            raise RequestError("think: the model does not support thinking")
        asked = read_messages(messages)
        begun = self._begun(asked, system, prompt)
        return self.renderer.render_read(begun, read, think=think, image_tags=image_tags, now=now)

    def chat_template(self) -> str:
        """Return the renderer as a chat template that thinks where the server does, without the beginning."""
        text = template_text(self.renderer.name, ollama=self.renderer.ollama)
        return _THINKING + text if "thinking" in self.abilities else text

    def _begun(self, asked: list[Message], system: str | None, prompt: str) -> list[Message]:
        system = self._system if system is None else system
        first = [_turn("system", system)] if system else []
        if not asked:
            return [*first, *self._history, *([_turn("user", prompt)] if prompt else [])]
        if asked[0][0] == "system":
            first = []
        return [*first, *self._history, *asked]


def _turn(role: str, content: str) -> Message:
    return (role, content, "", None, None, "", "")
