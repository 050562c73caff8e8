"""Ollama's view of a request, as the data that the Jinja template would get."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from transplate.ollama import NEWEST, OllamaTemplate, Values

_DATA = '{"messages": {{ json .Messages }}, "tools": {{ json .Tools }}}'


@lru_cache(maxsize=8)
def _data(ollama: str) -> OllamaTemplate:
    return OllamaTemplate(_DATA, ollama=ollama)


def view(
    values: Values, ollama: str = NEWEST
) -> tuple[list[dict[str, Any]], list[Any] | None, dict[str, Any]]:
    """Return messages, tools and variables, as one version of Ollama sees them.

    Messages are those that Ollama has collated; arguments and tools are what Go's JSON says they are; empty
    thinking, names and lists are absent; the think fields are ``enable_thinking`` and ``reasoning_effort``.
    """
    data = json.loads(_data(ollama).execute(values))
    variables: dict[str, Any] = {}
    if values.is_think_set:
        variables["enable_thinking"] = values.think
    if values.think_level:
        variables["reasoning_effort"] = values.think_level
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
