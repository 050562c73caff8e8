"""What Ollama is given of a conversation: the body of a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from transplate.conversation.images import image_data
from transplate.conversation.json_data import copied_json
from transplate.conversation.messages import Message, Part, ToolCall


class OllamaRequest(TypedDict):
    """The body of a request to Ollama's ``/api/chat``, as far as the prompt depends on it."""

    messages: list[dict[str, Any]]
    tools: NotRequired[list[Any]]
    think: NotRequired[bool | str]


def ollama_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the messages of a request to ``/api/chat``.

    A message of typed parts becomes a message for each part, as Ollama's endpoint for OpenAI's clients
    makes them (``openai.FromChatRequest``, v0.17.4): only if it has tool calls do they, the reasoning
    and the tool's name go to the last of these.

    Raises:
        RequestError: A part is neither text nor an image with its data.
    """
    made: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        beside = _beside_content(message, messages)
        common = {"role": message.role}
        if not isinstance(message.content, tuple):
            text = {"content": message.content or ""}
            images = {"images": list(message.images)} if message.images else {}
            made.append(common | text | images | beside)
            continue
        for number, part in enumerate(message.content):
            made.append(common | _ollama_part(part, f"messages[{index}].content[{number}]"))
        if message.images:
            made.append(common | {"content": "", "images": list(message.images)})
        if message.tool_calls and made:
            made[-1] = made[-1] | beside
    return made


def _beside_content(message: Message, messages: Sequence[Message]) -> dict[str, Any]:
    """Return the fields of a message for Ollama that are not its content."""
    fields: dict[str, Any] = {}
    if message.reasoning:
        fields["thinking"] = message.reasoning
    if message.tool_calls:
        fields["tool_calls"] = [_ollama_call(call) for call in message.tool_calls]
    tool_name = message.tool_name
    if not tool_name and message.role.lower() == "tool":
        tool_name = message.name or _called_name(message.tool_call_id, messages)
    if tool_name:
        fields["tool_name"] = tool_name
    if message.tool_call_id:
        fields["tool_call_id"] = message.tool_call_id
    return fields


def _called_name(tool_call_id: str, messages: Sequence[Message]) -> str:
    """Return the name of the function that a call with this id calls, looked for from the end."""
    if tool_call_id:
        for message in reversed(messages):
            for call in message.tool_calls:
                if call.id == tool_call_id:
                    return call.name
    return ""


def _ollama_part(part: Part, path: str) -> dict[str, Any]:
    if part.kind == "text":
        return {"content": part.given["text"]}
    return {"content": "", "images": [image_data(part, path)]}


def _ollama_call(call: ToolCall) -> dict[str, Any]:
    index = {} if call.index is None else {"index": call.index}
    function = index | {"name": call.name, "arguments": copied_json(call.arguments)}
    return ({"id": call.id} if call.id else {}) | {"function": function}
