"""Read the fields of a conversation, as OpenAI, Hugging Face or Ollama write them in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from transplate.conversation.images import proper_base64
from transplate.conversation.json_data import as_list, as_object, as_text, checked_json, described, parse_json
from transplate.conversation.messages import LEVELS, Message, Part, Think, ToolCall
from transplate.errors import RequestError

_REASONING_NAMES = ("reasoning_content", "thinking", "reasoning")
_MESSAGE_NAMES = frozenset(
    {"role", "content", "images", "tool_calls", "name", "tool_name", "tool_call_id", *_REASONING_NAMES}
)
VARIABLE_NAMES = ("variables", "chat_template_kwargs")


def read_messages(body: Mapping[str, Any]) -> tuple[Message, ...]:
    """Return the messages of a request, those of ``prompt`` and ``system`` where it has no others."""
    if body.get("messages") is None and body.get("prompt") is not None:
        return _read_prompt(body)
    given = as_list(body.get("messages"), "messages")
    if not given:
        raise RequestError("messages: at least one message is needed")
    return tuple(_read_message(message, f"messages[{index}]") for index, message in enumerate(given))


def _read_prompt(body: Mapping[str, Any]) -> tuple[Message, ...]:
    """Return the messages that Ollama makes of a request to ``/api/generate``."""
    if body.get("suffix"):
        raise RequestError("suffix: a conversation has no text after the answer")
    system = as_text(body.get("system"), "system")
    images = _read_images(body.get("images"), "images")
    user = Message("user", as_text(body["prompt"], "prompt"), images=images)
    return (Message("system", system), user) if system else (user,)


def _read_message(given: Any, path: str) -> Message:
    message = as_object(given, path)
    if "role" not in message:
        raise RequestError(f"{path}.role: is missing")
    calls = as_list(message.get("tool_calls"), f"{path}.tool_calls")
    return Message(
        role=as_text(message["role"], f"{path}.role"),
        content=_read_content(message.get("content"), f"{path}.content"),
        reasoning=_read_reasoning(message, path),
        tool_calls=tuple(_read_call(call, f"{path}.tool_calls[{i}]") for i, call in enumerate(calls)),
        images=_read_images(message.get("images"), f"{path}.images"),
        name=as_text(message.get("name"), f"{path}.name"),
        tool_name=as_text(message.get("tool_name"), f"{path}.tool_name"),
        tool_call_id=as_text(message.get("tool_call_id"), f"{path}.tool_call_id"),
        extra={name: value for name, value in message.items() if name not in _MESSAGE_NAMES},
    )


def _read_reasoning(message: Mapping[str, Any], path: str) -> str:
    for name in _REASONING_NAMES:
        if message.get(name) is not None:
            return as_text(message[name], f"{path}.{name}")
    return ""


def _read_content(given: Any, path: str) -> str | tuple[Part, ...] | None:
    if given is None or isinstance(given, str):
        return given
    if not isinstance(given, list):
        raise RequestError(f"{path}: a text or a list of parts is needed, not {described(given)}")
    return tuple(_read_part(part, f"{path}[{index}]") for index, part in enumerate(given))


def _read_part(given: Any, path: str) -> Part:
    part = as_object(given, path)
    kind = part.get("type")
    if not isinstance(kind, str):
        raise RequestError(f'{path}.type: a part needs a type, such as "text"')
    if kind == "text" and not isinstance(part.get("text"), str):
        raise RequestError(f"{path}.text: a text is needed, not {described(part.get('text'))}")
    if kind == "image_url":
        url = part.get("image_url")
        if isinstance(url, dict):
            url = url.get("url")
        if not isinstance(url, str):
            raise RequestError(f"{path}.image_url: a URL is needed, not {described(url)}")
    return Part(kind, part)


def _read_images(given: Any, path: str) -> tuple[str, ...]:
    images = as_list(given, path)
    return tuple(
        proper_base64(as_text(image, f"{path}[{i}]"), f"{path}[{i}]") for i, image in enumerate(images)
    )


def _read_call(given: Any, path: str) -> ToolCall:
    call = as_object(given, path)
    if "function" in call:
        path += ".function"
        function = as_object(call["function"], path)
    else:
        function = call
    if not isinstance(function.get("name"), str):
        raise RequestError(f"{path}.name: a text is needed, not {described(function.get('name'))}")
    index = function.get("index")
    if index is not None and type(index) is not int:
        raise RequestError(f"{path}.index: an integer is needed, not {described(index)}")
    return ToolCall(
        name=function["name"],
        arguments=_read_arguments(function.get("arguments"), f"{path}.arguments"),
        id=as_text(call.get("id"), f"{path.removesuffix('.function')}.id"),
        index=index,
    )


def _read_arguments(given: Any, path: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if isinstance(given, str):
        given = checked_json(parse_json(given, path), path)
    return as_object(given, path)


def read_tools(given: Any) -> tuple[Mapping[str, Any], ...]:
    """Return the tools of a request, which all have a function with a name."""
    tools = as_list(given, "tools")
    for index, tool in enumerate(tools):
        path = f"tools[{index}]"
        if "function" not in as_object(tool, path):
            raise RequestError(
                f'{path}.function: is missing; a tool is {{"type": "function", "function": …}}'
            )
        function = as_object(tool["function"], f"{path}.function")
        if not isinstance(function.get("name"), str):
            raise RequestError(
                f"{path}.function.name: a text is needed, not {described(function.get('name'))}"
            )
    return tuple(tools)


def read_think(body: Mapping[str, Any], variables: dict[str, Any]) -> Think:
    """Return how much is to be thought, under whichever name it is asked; variables lose what they said."""
    switch, effort = (variables.pop(name, None) for name in ("enable_thinking", "reasoning_effort"))
    reasoning = body.get("reasoning")
    if isinstance(reasoning, dict):
        effort = reasoning.get("effort", effort)
    asked: dict[str, Any] = {
        "think": body.get("think"),
        "reasoning_effort": body.get("reasoning_effort") or effort,
        "enable_thinking": switch if body.get("enable_thinking") is None else body["enable_thinking"],
    }
    if asked["enable_thinking"] is False and asked["think"] is None:
        return False
    for name, think in asked.items():
        if think is None:
            continue
        if name == "reasoning_effort" and think == "none":
            return False
        if isinstance(think, bool) or think in LEVELS:
            level: Think = think
            return level
        raise RequestError(f"{name}: true, false or one of {', '.join(LEVELS)} is needed, not {think!r}")
    return None


def read_date(given: Any) -> datetime | None:
    """Return the time that a conversation is to take place at, written as in ISO 8601."""
    if given is None:
        return None
    try:
        return datetime.fromisoformat(as_text(given, "date"))
    except ValueError:
        raise RequestError(f"date: a date such as 2026-03-14 is needed, not {given!r}") from None
