"""The places of a conversation into which somebody else's text can get, as conversations with a gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from transplate.conversation import Conversation

GAP = "\ufdd0"
"""Stands where the text goes: a character that no text has."""


STAND_INS = {"bos_token": "<s>", "eos_token": "</s>"} | {
    f"{name}_token": f"<{name}>" for name in ("pad", "unk", "sep", "cls", "mask")
}
"""Special tokens for a chat template that comes without its tokenizer."""


@dataclass(frozen=True, slots=True)
class Field:
    """A place that texts get into.

    Attributes:
        name: What it is called.
        shapes: Conversations of several shapes, as JSON, with the gap at that place.
        is_content: Whether the text is a message of its own, not a name or a piece of JSON.
    """

    name: str
    shapes: tuple[dict[str, Any], ...]
    is_content: bool = True


def filled(shape: dict[str, Any], text: str) -> Conversation:
    """Return a conversation with a text in its gap."""
    return Conversation.read(_filled(shape, text))


def _filled(value: Any, text: str) -> Any:
    if isinstance(value, str):
        return value.replace(GAP, text)
    if isinstance(value, list):
        return [_filled(each, text) for each in value]
    if isinstance(value, dict):
        return {_filled(key, text): _filled(each, text) for key, each in value.items()}
    return value


def said(role: str, content: str, **others: Any) -> dict[str, Any]:
    """Return a message."""
    return {"role": role, "content": content} | others


def called(content: str = "", *, name: str = "look", argument: str = "Cxu", **others: Any) -> dict[str, Any]:
    """Return a message of the assistant that calls a tool."""
    function = {"name": name, "arguments": {"text": argument}}
    call = {"id": "call00001", "type": "function", "function": function}
    return said("assistant", content, tool_calls=[call], **others)


def returned(content: str) -> dict[str, Any]:
    """Return the result of that call."""
    return said("tool", content, name="look", tool_call_id="call00001")


def tool(name: str = "look", description: str = "Dxu", parameter: str = "Pxu") -> dict[str, Any]:
    """Return a tool."""
    properties = {"text": {"type": "string", "description": parameter}}
    parameters = {"type": "object", "properties": properties, "required": ["text"]}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


def talk(*messages: dict[str, Any], tools: tuple[dict[str, Any], ...] = (), **others: Any) -> dict[str, Any]:
    """Return a conversation as JSON."""
    return {"messages": list(messages), "tools": list(tools)} | others


QUESTION, ANSWER, NEXT = said("user", "Qxu"), said("assistant", "Axu"), said("user", "Nxu")
SYSTEM, CALL, RESULT = said("system", "Sxu"), called(), returned("Rxu")
TOOLS = (tool(),)


def _with_call(**changed: str) -> tuple[dict[str, Any], ...]:
    messages = QUESTION, called(**changed), RESULT
    return talk(*messages, tools=TOOLS), talk(*messages)


def _with_tool(**changed: str) -> tuple[dict[str, Any], ...]:
    tools = (tool(**changed),)
    return talk(QUESTION, tools=tools), talk(SYSTEM, QUESTION, tools=tools)


FIELDS = (
    Field(
        "system message",
        (
            talk(said("system", GAP), QUESTION),
            talk(said("system", GAP), QUESTION, ANSWER, NEXT),
            talk(said("system", GAP), QUESTION, tools=TOOLS),
        ),
    ),
    Field(
        "user message",
        (
            talk(said("user", GAP)),
            talk(said("user", GAP), tools=TOOLS, think=True),
            talk(said("user", GAP), ANSWER, NEXT),
            talk(QUESTION, ANSWER, said("user", GAP)),
        ),
    ),
    Field(
        "answer",
        (
            talk(QUESTION, said("assistant", GAP), NEXT),
            talk(QUESTION, said("assistant", GAP), NEXT, think=True),
            talk(QUESTION, called(GAP), RESULT, tools=TOOLS),
        ),
    ),
    Field(
        "thinking",
        (
            talk(QUESTION, said("assistant", "Axu", reasoning_content=GAP), NEXT, think=True),
            talk(QUESTION, called(reasoning_content=GAP), RESULT, tools=TOOLS, think=True),
        ),
    ),
    Field(
        "tool result",
        (
            talk(QUESTION, CALL, returned(GAP), tools=TOOLS),
            talk(QUESTION, CALL, returned(GAP)),
            talk(QUESTION, CALL, returned(GAP), ANSWER, NEXT, tools=TOOLS),
        ),
    ),
    Field("name of a call", _with_call(name=GAP), is_content=False),
    Field("argument of a call", _with_call(argument=GAP), is_content=False),
    Field("name of a tool", _with_tool(name=GAP), is_content=False),
    Field("description of a tool", _with_tool(description=GAP), is_content=False),
    Field("description of a parameter", _with_tool(parameter=GAP), is_content=False),
)
"""The places, those of whole messages first."""
