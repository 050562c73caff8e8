"""What a chat template is given of a conversation: the arguments of a rendering."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypedDict

from transplate.conversation.json_data import copied_json
from transplate.conversation.messages import Message, ToolCall


class ChatTemplateArguments(TypedDict):
    """The arguments of :meth:`transplate.JinjaTemplate.render`."""

    messages: list[dict[str, Any]]
    tools: list[Any] | None
    add_generation_prompt: bool
    continue_final_message: bool | str
    variables: dict[str, Any]
    now: datetime | None


def hf_message(message: Message) -> dict[str, Any]:
    """Return a message as Hugging Face's chat templates know it."""
    made: dict[str, Any] = {"role": message.role}
    if message.images:
        parts: list[Any] = [{"type": "image", "base64": image} for image in message.images]
        if isinstance(message.content, str):
            parts.append({"type": "text", "text": message.content})
        else:
            parts += [copied_json(part.given) for part in message.content or ()]
        made["content"] = parts
    elif isinstance(message.content, str):
        made["content"] = message.content
    elif message.content is not None:
        made["content"] = [copied_json(part.given) for part in message.content]
    if message.reasoning:
        made["reasoning_content"] = message.reasoning
    if message.tool_calls:
        made["tool_calls"] = [_hf_call(call) for call in message.tool_calls]
    name = message.tool_name or message.name
    if name:
        made["name"] = name
    if message.tool_call_id:
        made["tool_call_id"] = message.tool_call_id
    extra: dict[str, Any] = copied_json(message.extra)
    return made | extra


def _hf_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": copied_json(call.arguments)}
    return ({"id": call.id} if call.id else {}) | {"type": "function", "function": function}


def field_to_continue(last: Message) -> bool | str:
    """Return ``continue_final_message`` for a final message: its text, or its reasoning, or nothing."""
    has_text = isinstance(last.content, str) or any(part.kind == "text" for part in last.content or ())
    if has_text:
        return True
    return "reasoning_content" if last.reasoning else False
