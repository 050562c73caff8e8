"""What the template of a renderer is given: messages and tools as Ollama reads them, in chat templates' form.

Renderers get the messages as they are: nothing is gathered or joined. What Ollama's structs do not hold is
gone.
"""

from __future__ import annotations

from typing import Any

from transplate.ollama.request import Message, Property, Think, Tool


def chat_message(message: Message) -> dict[str, Any]:
    """Return a message with its images as parts in front of its text, and its thinking as reasoning."""
    role, content, thinking, images, calls, tool_name, tool_call_id = message
    made: dict[str, Any] = {"role": role, "content": content}
    if images:
        made["content"] = [*({"type": "image"} for _ in images), {"type": "text", "text": content}]
    if thinking:
        made["reasoning_content"] = thinking
    if calls:
        made["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments or {}}}
            for call_id, (_, name, arguments) in calls
        ]
    if tool_name:
        made["name"] = tool_name
    if tool_call_id:
        made["tool_call_id"] = tool_call_id
    return made


def chat_tool(tool: Tool) -> dict[str, Any]:
    """Return the JSON schema of a tool."""
    parameters = tool.function.parameters
    schema: dict[str, Any] = {"type": parameters.type, "required": parameters.required or []}
    if parameters.defs is not None:
        schema["$defs"] = parameters.defs
    if parameters.items is not None:
        schema["items"] = parameters.items
    if parameters.properties is not None:
        schema["properties"] = _properties(parameters.properties)
    function = {"name": tool.function.name, "description": tool.function.description, "parameters": schema}
    items = {} if tool.items is None else {"items": tool.items}
    return {"type": tool.type, **items, "function": function}


def _properties(properties: dict[str, Property]) -> dict[str, Any]:
    return {name: _schema(found) for name, found in properties.items()}


def _schema(found: Property) -> dict[str, Any]:
    types = found.type or []
    fields: dict[str, Any] = {
        "anyOf": [_schema(choice) for choice in found.any_of or ()],
        "type": types[0] if len(types) == 1 else types,
        "items": found.items,
        "description": found.description,
        "enum": found.enum,
        "properties": None if found.properties is None else _properties(found.properties),
        "required": found.required,
    }
    empty = {"type": not types, "items": found.items is None, "properties": found.properties is None}
    return {name: value for name, value in fields.items() if not empty.get(name, not value)}


def thinking_variables(think: Think) -> dict[str, Any]:
    """Return the variables that tell a chat template how much to think."""
    if think is None:
        return {}
    level = {"reasoning_effort": think} if isinstance(think, str) else {}
    return {"enable_thinking": think is not False, **level}
