"""A renderer built into Ollama: a request in, the prompt that it makes of it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from textwrap import wrap
from typing import Any

from transplate.errors import TransplateError
from transplate.jinja import JinjaTemplate
from transplate.jinja.data import plain_data
from transplate.limits import Limits
from transplate.ollama.request import (
    Message,
    Tool,
    check_required,
    read_messages,
    read_think,
    read_tools,
)
from transplate.ollama.versions import NEWEST, OLDEST, behaviour_of, parse_version
from transplate.renderers.catalog import Entry, entry_of
from transplate.renderers.compose import compose
from transplate.renderers.context import chat_message, chat_tool, thinking_variables


class Renderer:
    """One of Ollama's built-in renderers.

    Args:
        name: Its name, as in a Modelfile's RENDERER.
        ollama: The version of Ollama.
        limits: Bounds for its template.

    Raises:
        TransplateError: That version has no renderer of this name, or is not known.
    """

    def __init__(self, name: str, *, ollama: str = NEWEST, limits: Limits | None = None) -> None:
        self.name = name
        self.ollama = ollama
        self.entry: Entry = entry_of(name, ollama=ollama)
        self.template = JinjaTemplate(template_text(name, ollama=ollama), limits=limits)
        self._behaviour = behaviour_of(parse_version(ollama))

    def __repr__(self) -> str:
        return f"Renderer({self.name!r})"

    def render(
        self,
        messages: str | bytes | Sequence[Mapping[str, Any]],
        tools: str | bytes | Sequence[Mapping[str, Any]] | None = None,
        *,
        think: bool | str | None = None,
        image_tags: bool = True,
        now: datetime | None = None,
    ) -> str:
        """Return the prompt that Ollama's renderer makes.

        Args:
            messages: Messages as in a body of ``/api/chat``: plain data or JSON text.
            tools: Tools, likewise.
            think: The API's ``think``; None leaves it to the renderer. Ollama's server asks models to think
                whose PARSER says that they do.
            image_tags: Whether an image is the numbered tag that Ollama's server puts there, ``[img-0]``, or
                what the model knows for one.
            now: The time that it is; None for the clock.

        Raises:
            RequestError: Something is no request that Ollama reads; the error names the field.
            TemplateExecutionError: The renderer refuses the conversation, with Ollama's text.
        """
        read = read_messages(messages), read_tools(tools) or []
        return self.render_read(*read, think=think, image_tags=image_tags, now=now)

    def render_read(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        *,
        think: bool | str | None = None,
        image_tags: bool = True,
        now: datetime | None = None,
    ) -> str:
        """Return the prompt of messages and tools that were read already; otherwise as :meth:`render`."""
        if self._behaviour.property_required:
            check_required(tools)
        variables = {
            "messages": [chat_message(message) for message in messages],
            "tools": [chat_tool(tool) for tool in tools] or None,
            "add_generation_prompt": True,
            "ollama_image_tags": image_tags,
            **thinking_variables(read_think(think, self._behaviour)),
        }
        return self.template.execute(plain_data(variables), now=now)


@lru_cache(maxsize=64)
def template_text(name: str, *, ollama: str = NEWEST) -> str:
    """Return the Jinja template of a renderer.

    Raises:
        TransplateError: That version has no renderer of this name, or is not known.
    """
    entry = entry_of(name, ollama=ollama)
    version = parse_version(ollama)
    form = entry.form(version)
    if form is None:
        raise TransplateError(f"Ollama {ollama} has no renderer {name!r}")
    switches = {
        "keeps_required_of_properties": behaviour_of(version).property_required,
        "replaces_placeholders": version != parse_version(OLDEST),
        **form.switches,
    }
    return compose(_header(name, entry, str(version)), form.family, switches)


def _header(name: str, entry: Entry, version: str) -> str:
    lines = [
        f"The prompts of Ollama's built-in renderer {name}, as of Ollama {version}.",
        f"For {entry.models}.",
        "An image is the token that the model knows, or Ollama's [img-N] where ollama_image_tags is true.",
    ]
    if entry.differences:
        lines += wrap(f"The vendor's own template differs: {entry.differences}.", 100)
    return "\n".join(lines)
