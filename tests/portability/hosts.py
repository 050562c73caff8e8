"""What a host does to a request before the template sees it, or why it never gets there: not the template's.

llama-server reads requests as OpenAI's API has them. What is said of it here was seen in its answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.oracle.engines import Engine, HostedTransformersEngine, Rendered
from tests.oracle.llama import LlamaEngine

_REFUSALS = {
    "refuses the schema of a tool": re.compile("JSON schema error"),
    "refuses a tool that is no function": re.compile("Failed to parse tools: Unsupported tool type"),
}


def changes(engine: Engine, template: str, context: Mapping[str, Any]) -> str | None:
    """Return how an engine's host changes a request, so that Ollama is asked something else; None if not.

    Args:
        engine: The engine.
        template: The template that it is to render.
        context: What a host is given.
    """
    if isinstance(engine, HostedTransformersEngine) and not context["messages"]:
        return "refuses an empty conversation"
    if not isinstance(engine, LlamaEngine):
        return None
    if context.get("tools") == []:
        return "makes none of an empty list of tools"
    if any("items" in tool for tool in context.get("tools") or ()):
        return "drops the items of a tool"
    if _has_wrapping_integer([context["messages"], context.get("tools")]):
        return "wraps integers from 2^63 to 2^64 around"
    # What a template without thinking of its own makes of a request that does not say whether to think.
    unsaid = ("is_think_set", "else reasoning_effort is defined")
    if "enable_thinking" not in context and any(words in template for words in unsaid):
        return "says whether to think where the request does not"
    if any(message["role"] == "developer" for message in context["messages"]):
        return "calls the developer system"
    parts = [
        part
        for message in context["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
    ]
    if any("image" in part["type"] for part in parts):
        return "takes no images for a model that does not see"
    abilities = engine.abilities(template)
    if isinstance(abilities, Rendered):
        return None
    if not abilities["supports_typed_content"] and any(
        isinstance(message["content"], list) for message in context["messages"]
    ):
        return "joins the parts of a content"
    reads_arguments = "arguments" in template and not abilities["supports_object_arguments"]
    if reads_arguments and any(message.get("tool_calls") for message in context["messages"]):
        return "writes arguments as text where its probes see no use of them"
    if not abilities["supports_system_role"] and any(
        message["role"] == "system" for message in context["messages"]
    ):
        return "puts a system text that the template does not read into the next message"
    return None


def _has_wrapping_integer(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_wrapping_integer, value.values()))
    if isinstance(value, list):
        return any(map(_has_wrapping_integer, value))
    return isinstance(value, int) and 2**63 <= value < 2**64


def refuses(engine: Engine, rendered: Rendered) -> str | None:
    """Return why an engine's host refused a request, None if it did not."""
    if not isinstance(engine, LlamaEngine) or rendered.error is None:
        return None
    return next((reason for reason, said in _REFUSALS.items() if said.search(rendered.error)), None)
