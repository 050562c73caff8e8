"""Ollama's view of a request, as the data that the Jinja template gets: what a conversion is measured by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from transplate.jinja import JinjaTemplate
from transplate.ollama import NEWEST, OllamaTemplate, Values

REQUEST_TEMPLATE = '{"messages": {{ json .Messages }}, "tools": {{ json .Tools }}}'
"""What prints a request as Ollama sees it."""


@lru_cache(maxsize=8)
def _data(ollama: str) -> OllamaTemplate:
    return OllamaTemplate(REQUEST_TEMPLATE, ollama=ollama)


def view(
    values: Values, ollama: str = NEWEST
) -> tuple[list[dict[str, Any]], list[Any] | None, dict[str, Any]]:
    """Return messages, tools and variables, as one version of Ollama sees them.

    Messages are those that Ollama has collated; arguments and tools are what Go's JSON says they are; empty
    thinking, names and lists are absent; the think fields are ``enable_thinking`` and ``reasoning_effort``.
    """
    fields = {"is_think_set": values.is_think_set, "think": values.think, "think_level": values.think_level}
    return jinja_view(json.loads(_data(ollama).execute(values)), fields)


def print_view(
    chat: JinjaTemplate,
    values: Values,
    ollama: str,
    *,
    variables: Mapping[str, Any] | None = None,
    now: datetime | None = None,
) -> str:
    """Return what a chat template prints of a request as one version of Ollama sees it.

    Raises:
        TemplateExecutionError: The chat template fails.
    """
    messages, tools, given = view(values, ollama)
    return chat.render(
        messages,
        tools,
        add_generation_prompt=not messages or messages[-1]["role"] != "assistant",
        variables={**given, **(variables or {})},
        now=now,
    )


def jinja_view(
    data: Mapping[str, Any], request: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[Any] | None, dict[str, Any]]:
    """Return messages, tools and variables.

    Args:
        data: What :data:`REQUEST_TEMPLATE` prints for the request.
        request: The request, of which the think fields are looked at.
    """
    variables: dict[str, Any] = {}
    if request.get("is_think_set"):
        variables["enable_thinking"] = bool(request.get("think"))
    if request.get("think_level"):
        variables["reasoning_effort"] = request["think_level"]
    return [_message(message) for message in data["messages"] or ()], data["tools"] or None, variables


def _message(message: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"role": message["Role"], "content": message["Content"]}
    for key, name in (
        ("Thinking", "reasoning_content"),
        ("ToolName", "name"),
        ("ToolCallID", "tool_call_id"),
    ):
        if message[key]:
            made[name] = message[key]
    if message["ToolCalls"]:
        made["tool_calls"] = [_call(call) for call in message["ToolCalls"]]
    return made


def _call(call: dict[str, Any]) -> dict[str, Any]:
    function = {"name": call["Function"]["Name"], "arguments": call["Function"]["Arguments"] or {}}
    made: dict[str, Any] = {"type": "function", "function": function}
    return {"id": call["ID"], **made} if call["ID"] else made
