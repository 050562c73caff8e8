"""The forms in which clients give a chat template one and the same conversation.

Servers differ in them: some parse the arguments of calls, some leave them text; some wrap every text in a
typed part. Only chat templates see the difference, so only two of them can be compared in a form that is not
the plain one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from transplate.conversation import Conversation


@dataclass(frozen=True, slots=True)
class Shape:
    """A form of the arguments of a chat template.

    Attributes:
        name: What it is called.
        change: Makes it of the plain form, in place; returns whether there was anything to change.
    """

    name: str
    change: Callable[[dict[str, Any]], bool] | None = None

    def changes(self, conversation: Conversation) -> bool:
        """Return whether a conversation in this form is another than in the plain one."""
        return self.change is not None and self.change(dict(conversation.to_hf()))

    def of(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments in this form."""
        if self.change is not None:
            self.change(arguments)
        return arguments


def _parts(arguments: dict[str, Any]) -> bool:
    """Wrap every text in a typed part, as vLLM does for templates that read parts."""
    changed = False
    for message in arguments["messages"]:
        if isinstance(message.get("content"), str):
            message["content"] = [{"type": "text", "text": message["content"]}]
            changed = True
    return changed


def _string_arguments(arguments: dict[str, Any]) -> bool:
    """Leave the arguments of calls the JSON text that OpenAI's clients send."""
    changed = False
    for message in arguments["messages"]:
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = json.dumps(call["function"]["arguments"], ensure_ascii=False)
            changed = True
    return changed


def _flat_calls(arguments: dict[str, Any]) -> bool:
    """Give calls without the object ``function`` around their name and arguments."""
    changed = False
    for message in arguments["messages"]:
        if message.get("tool_calls"):
            message["tool_calls"] = [call["function"] for call in message["tool_calls"]]
            changed = True
    return changed


def _flat_tools(arguments: dict[str, Any]) -> bool:
    """Give tools without the object ``function`` around their name and parameters."""
    if not arguments["tools"]:
        return False
    arguments["tools"] = [tool["function"] for tool in arguments["tools"]]
    return True


def _no_prompt(arguments: dict[str, Any]) -> bool:
    """Ask for no generation prompt, as in training."""
    changed = bool(arguments["add_generation_prompt"] or arguments["continue_final_message"])
    arguments["add_generation_prompt"] = arguments["continue_final_message"] = False
    return changed


def _prompt_anyway(arguments: dict[str, Any]) -> bool:
    """Ask for the next answer behind an answer, which is closed then."""
    changed = not arguments["add_generation_prompt"]
    arguments["add_generation_prompt"], arguments["continue_final_message"] = True, False
    return changed


def _no_ids(arguments: dict[str, Any]) -> bool:
    """Leave out what connects calls and results."""
    changed = False
    for message in arguments["messages"]:
        for holder in (message, *message.get("tool_calls", ())):
            for name in ("id", "tool_call_id", "name"):
                changed |= holder.pop(name, None) is not None
    return changed


PLAIN = Shape("plain")
ARGUMENTS_AS_TEXT = Shape("arguments as text", _string_arguments)
"""The form in which OpenAI's clients send calls."""
SHAPES = (
    Shape("no generation prompt", _no_prompt),
    Shape("generation prompt behind an answer", _prompt_anyway),
    Shape("typed parts", _parts),
    ARGUMENTS_AS_TEXT,
    Shape("calls without function", _flat_calls),
    Shape("tools without function", _flat_tools),
    Shape("no ids", _no_ids),
)
"""All forms but the plain one."""
