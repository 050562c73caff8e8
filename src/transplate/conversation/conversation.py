"""One conversation, whatever wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from transplate.conversation.for_hf import ChatTemplateArguments, field_to_continue, hf_message
from transplate.conversation.for_ollama import OllamaRequest, ollama_messages
from transplate.conversation.json_data import (
    as_object,
    as_text,
    checked_json,
    copied_json,
    described,
    parse_json,
)
from transplate.conversation.messages import Message, Think
from transplate.conversation.reading import VARIABLE_NAMES, read_date, read_messages, read_think, read_tools
from transplate.errors import RequestError


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that either side can be given.

    Attributes:
        messages: Its messages, at least one.
        tools: The tools that the model may call, as JSON; none is an empty tuple.
        think: Whether the model is to think.
        now: What both sides take for the time; None for the clock.
        variables: What else a chat template is given.
        name: What it is called in reports.
    """

    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    think: Think = None
    now: datetime | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read a conversation from JSON as OpenAI, Hugging Face or Ollama write it.

        Args:
            data: JSON text, or the data it stands for: a list of messages, or an object with ``messages`` and
                perhaps ``tools``, ``think`` (or ``enable_thinking``, ``reasoning_effort``), ``date``,
                ``documents``, ``variables`` (or ``chat_template_kwargs``) and ``name``; or ``prompt``,
                ``system`` and ``images`` as in Ollama's ``/api/generate``. Other fields are left alone.

        Returns:
            The conversation. Lone surrogates have become U+FFFD, as when Ollama reads them.

        Raises:
            RequestError: It is no conversation; the message names the field.
        """
        body = checked_json(parse_json(data, "the conversation") if isinstance(data, str | bytes) else data)
        if isinstance(body, list):
            body = {"messages": body}
        if not isinstance(body, dict):
            raise RequestError(f"a conversation is a list of messages or an object, not {described(body)}")
        variables: dict[str, Any] = {}
        for name in VARIABLE_NAMES:
            variables |= as_object(body.get(name) or {}, name)
        if body.get("documents") is not None:
            variables["documents"] = body["documents"]
        return cls(
            messages=read_messages(body),
            tools=read_tools(body.get("tools")),
            think=read_think(body, variables),
            now=read_date(body.get("date")),
            variables=variables,
            name=as_text(body.get("name"), "name"),
        )

    def named(self, name: str) -> Self:
        """Return this conversation under another name."""
        return replace(self, name=name)

    def to_ollama(self) -> OllamaRequest:
        """Return the body of the request to ``/api/chat`` that this conversation is for Ollama.

        Raises:
            RequestError: A part is neither text nor an image with its data.
        """
        request = OllamaRequest(messages=ollama_messages(self.messages))
        if self.tools:
            request["tools"] = [copied_json(tool) for tool in self.tools]
        if self.think is not None:
            request["think"] = self.think
        return request

    def to_hf(self) -> ChatTemplateArguments:
        """Return the arguments of :meth:`transplate.JinjaTemplate.render` that this conversation is.

        Where the last message is the assistant's, the prompt ends with it, left open: its content is
        continued, or its reasoning if it has no text yet. If it has neither, it is closed and nothing
        follows.
        """
        variables: dict[str, Any] = copied_json(self.variables)
        if self.think is not None:
            variables["enable_thinking"] = self.think is not False
        if isinstance(self.think, str):
            variables["reasoning_effort"] = self.think
        last = self.messages[-1]
        is_prefill = last.role.lower() == "assistant"
        return ChatTemplateArguments(
            messages=[hf_message(message) for message in self.messages],
            tools=[copied_json(tool) for tool in self.tools] or None,
            add_generation_prompt=not is_prefill,
            continue_final_message=is_prefill and field_to_continue(last),
            variables=variables,
            now=self.now,
        )
