"""What a conversation is made of: messages, their parts, and calls of tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

LEVELS = ("low", "medium", "high", "max")
"""How much a model may be asked to think."""

Think: TypeAlias = bool | str | None
"""Whether the model is to think: unset, no, yes, or one of :data:`LEVELS`."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a message of typed parts.

    Attributes:
        kind: Its type, ``text``, ``image_url``, ``image`` or another.
        given: The part as it was given.
    """

    kind: str
    given: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the assistant makes.

    Attributes:
        name: Name of the function.
        arguments: What it is called with, by name.
        id: The call's own name, by which its result refers to it; empty if it has none.
        index: Ollama's number of the call, None if it has none.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message.

    Attributes:
        role: Whose it is; any word.
        content: Text, parts, or None where there is none.
        reasoning: What the assistant thought before; empty if nothing.
        tool_calls: The calls it makes.
        images: Images beside the text, as base64.
        name: Name of the speaker, or of the tool whose result it is.
        tool_name: The name of that tool as Ollama has it.
        tool_call_id: The call whose result it is.
        extra: All other fields, which only a chat template can see.
    """

    role: str
    content: str | tuple[Part, ...] | None = None
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    images: tuple[str, ...] = ()
    name: str = ""
    tool_name: str = ""
    tool_call_id: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
