"""One conversation, and what each side gets of it: a request to Ollama, or a chat template's arguments.

A conversation is read from JSON as OpenAI, Hugging Face or Ollama write it. The table of
``docs/conversations.md`` is carried out here and nowhere else: every comparison of a Go template with a Jinja
template rests on it.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NotRequired, Self, TypeAlias, TypedDict

from transplate.errors import RequestError

LEVELS = ("low", "medium", "high", "max")
"""How much a model may be asked to think."""

Think: TypeAlias = bool | str | None
"""Whether the model is to think: unset, no, yes, or one of :data:`LEVELS`."""

_REASONING_NAMES = ("reasoning_content", "thinking", "reasoning")
_MESSAGE_NAMES = frozenset(
    {"role", "content", "images", "tool_calls", "name", "tool_name", "tool_call_id", *_REASONING_NAMES}
)
_VARIABLE_NAMES = ("variables", "chat_template_kwargs")
_DATA_URLS = ("data:;base64,", *(f"data:image/{kind};base64," for kind in ("jpeg", "jpg", "png", "webp")))


class OllamaRequest(TypedDict):
    """The body of a request to Ollama's ``/api/chat``, as far as the prompt depends on it."""

    messages: list[dict[str, Any]]
    tools: NotRequired[list[Any]]
    think: NotRequired[bool | str]


class ChatTemplateArguments(TypedDict):
    """The arguments of :meth:`transplate.JinjaTemplate.render`."""

    messages: list[dict[str, Any]]
    tools: list[Any] | None
    add_generation_prompt: bool
    continue_final_message: bool | str
    variables: dict[str, Any]
    now: datetime | None


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


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that either side can be given.

    Attributes:
        messages: Its messages, at least one.
        tools: The tools that the model may call, as JSON; none is an empty tuple.
        think: Whether the model is to think.
        now: What both sides take for the time; None for the clock.
        variables: What else a chat template is given.
        name: What it is called in reports.
    """

    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    think: Think = None
    now: datetime | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read a conversation from JSON as OpenAI, Hugging Face or Ollama write it.

        Args:
            data: JSON text, or the data it stands for: a list of messages, or an object with ``messages`` and
                perhaps ``tools``, ``think`` (or ``enable_thinking``, ``reasoning_effort``), ``date``,
                ``documents``, ``variables`` (or ``chat_template_kwargs``) and ``name``; or ``prompt``,
                ``system`` and ``images`` as in Ollama's ``/api/generate``. Other fields are left alone.

        Returns:
            The conversation. Lone surrogates have become U+FFFD, as when Ollama reads them.

        Raises:
            RequestError: It is no conversation; the message names the field.
        """
        body = _json_value(_parsed(data, "the conversation") if isinstance(data, str | bytes) else data)
        if isinstance(body, list):
            body = {"messages": body}
        if not isinstance(body, dict):
            raise RequestError(f"a conversation is a list of messages or an object, not {_described(body)}")
        variables: dict[str, Any] = {}
        for name in _VARIABLE_NAMES:
            variables |= _object(body.get(name) or {}, name)
        if body.get("documents") is not None:
            variables["documents"] = body["documents"]
        return cls(
            messages=_read_messages(body),
            tools=_read_tools(body.get("tools")),
            think=_read_think(body, variables),
            now=_read_date(body.get("date")),
            variables=variables,
            name=_text(body.get("name"), "name"),
        )

    def named(self, name: str) -> Self:
        """Return this conversation under another name."""
        return replace(self, name=name)

    def to_ollama(self) -> OllamaRequest:
        """Return the body of the request to ``/api/chat`` that this conversation is for Ollama.

        A message of typed parts becomes a message for each part, as Ollama's endpoint for OpenAI's clients
        makes them (``openai.FromChatRequest``, v0.17.4): only if it has tool calls do they, the reasoning
        and the tool's name go to the last of these.

        Raises:
            RequestError: A part is neither text nor an image with its data.
        """
        messages: list[dict[str, Any]] = []
        for index, message in enumerate(self.messages):
            beside = self._beside_content(message)
            common = {"role": message.role}
            if not isinstance(message.content, tuple):
                text = {"content": message.content or ""}
                images = {"images": list(message.images)} if message.images else {}
                messages.append(common | text | images | beside)
                continue
            for number, part in enumerate(message.content):
                messages.append(common | _ollama_part(part, f"messages[{index}].content[{number}]"))
            if message.images:
                messages.append(common | {"content": "", "images": list(message.images)})
            if message.tool_calls and messages:
                messages[-1] = messages[-1] | beside
        request = OllamaRequest(messages=messages)
        if self.tools:
            request["tools"] = [_copied(tool) for tool in self.tools]
        if self.think is not None:
            request["think"] = self.think
        return request

    def _beside_content(self, message: Message) -> dict[str, Any]:
        """Return the fields of a message for Ollama that are not its content."""
        fields: dict[str, Any] = {}
        if message.reasoning:
            fields["thinking"] = message.reasoning
        if message.tool_calls:
            fields["tool_calls"] = [_ollama_call(call) for call in message.tool_calls]
        tool_name = message.tool_name
        if not tool_name and message.role.lower() == "tool":
            tool_name = message.name or self._called_name(message.tool_call_id)
        if tool_name:
            fields["tool_name"] = tool_name
        if message.tool_call_id:
            fields["tool_call_id"] = message.tool_call_id
        return fields

    def _called_name(self, tool_call_id: str) -> str:
        """Return the name of the function that a call with this id calls, looked for from the end."""
        if tool_call_id:
            for message in reversed(self.messages):
                for call in message.tool_calls:
                    if call.id == tool_call_id:
                        return call.name
        return ""

    def to_hf(self) -> ChatTemplateArguments:
        """Return the arguments of :meth:`transplate.JinjaTemplate.render` that this conversation is.

        Where the last message is the assistant's, the prompt ends with it, left open: its content is
        continued, or its reasoning if it has no text yet. If it has neither, it is closed and nothing
        follows.
        """
        variables: dict[str, Any] = _copied(self.variables)
        if self.think is not None:
            variables["enable_thinking"] = self.think is not False
        if isinstance(self.think, str):
            variables["reasoning_effort"] = self.think
        last = self.messages[-1]
        is_prefill = last.role.lower() == "assistant"
        return ChatTemplateArguments(
            messages=[_hf_message(message) for message in self.messages],
            tools=[_copied(tool) for tool in self.tools] or None,
            add_generation_prompt=not is_prefill,
            continue_final_message=is_prefill and _field_to_continue(last),
            variables=variables,
            now=self.now,
        )


# --- what each side gets --------------------------------------------------------------------------------


def _ollama_part(part: Part, path: str) -> dict[str, Any]:
    if part.kind == "text":
        return {"content": part.given["text"]}
    return {"content": "", "images": [_image_data(part, path)]}


def _image_data(part: Part, path: str) -> str:
    """Return the image of a part as base64.

    Raises:
        RequestError: It is no image, or one that is not here.
    """
    if part.kind == "image_url":
        source, path = part.given["image_url"], f"{path}.image_url"
        if isinstance(source, Mapping):
            source, path = source["url"], f"{path}.url"
    elif part.kind == "image":
        names = [name for name in ("base64", "image", "url") if isinstance(part.given.get(name), str)]
        if not names:
            raise RequestError(f"{path}: Ollama needs the image itself, as base64")
        source, path = part.given[names[0]], f"{path}.{names[0]}"
    else:
        raise RequestError(f"{path}.type: Ollama takes text and images, not {part.kind!r}")
    if source.startswith(("http://", "https://")):
        raise RequestError(f"{path}: Ollama fetches no images, it needs them as base64")
    for prefix in _DATA_URLS:
        if source.startswith(prefix):
            return _base64(source.removeprefix(prefix), path)
    if part.kind == "image" and not source.startswith("data:"):
        return _base64(source, path)
    raise RequestError(f"{path}: an image is a data URL of a JPEG, PNG or WebP file in base64")


def _base64(text: str, path: str) -> str:
    """Return base64 in its one proper form."""
    try:
        decoded = base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        raise RequestError(f"{path}: is not base64") from None
    return base64.b64encode(decoded).decode()


def _ollama_call(call: ToolCall) -> dict[str, Any]:
    index = {} if call.index is None else {"index": call.index}
    function = index | {"name": call.name, "arguments": _copied(call.arguments)}
    return ({"id": call.id} if call.id else {}) | {"function": function}


def _hf_message(message: Message) -> dict[str, Any]:
    made: dict[str, Any] = {"role": message.role}
    if message.images:
        parts: list[Any] = [{"type": "image", "base64": image} for image in message.images]
        if isinstance(message.content, str):
            parts.append({"type": "text", "text": message.content})
        else:
            parts += [_copied(part.given) for part in message.content or ()]
        made["content"] = parts
    elif isinstance(message.content, str):
        made["content"] = message.content
    elif message.content is not None:
        made["content"] = [_copied(part.given) for part in message.content]
    if message.reasoning:
        made["reasoning_content"] = message.reasoning
    if message.tool_calls:
        made["tool_calls"] = [_hf_call(call) for call in message.tool_calls]
    name = message.tool_name or message.name
    if name:
        made["name"] = name
    if message.tool_call_id:
        made["tool_call_id"] = message.tool_call_id
    extra: dict[str, Any] = _copied(message.extra)
    return made | extra


def _hf_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": _copied(call.arguments)}
    return ({"id": call.id} if call.id else {}) | {"type": "function", "function": function}


def _field_to_continue(last: Message) -> bool | str:
    has_text = isinstance(last.content, str) or any(part.kind == "text" for part in last.content or ())
    if has_text:
        return True
    return "reasoning_content" if last.reasoning else False


def _copied(value: Any) -> Any:
    """Return a copy of JSON data."""
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(item) for item in value]
    return value


# --- reading --------------------------------------------------------------------------------------------


def _read_messages(body: Mapping[str, Any]) -> tuple[Message, ...]:
    if body.get("messages") is None and body.get("prompt") is not None:
        return _read_prompt(body)
    given = _list(body.get("messages"), "messages")
    if not given:
        raise RequestError("messages: at least one message is needed")
    return tuple(_read_message(message, f"messages[{index}]") for index, message in enumerate(given))


def _read_prompt(body: Mapping[str, Any]) -> tuple[Message, ...]:
    """Return the messages that Ollama makes of a request to ``/api/generate``."""
    if body.get("suffix"):
        raise RequestError("suffix: a conversation has no text after the answer")
    system = _text(body.get("system"), "system")
    images = _read_images(body.get("images"), "images")
    user = Message("user", _text(body["prompt"], "prompt"), images=images)
    return (Message("system", system), user) if system else (user,)


def _read_message(given: Any, path: str) -> Message:
    message = _object(given, path)
    if "role" not in message:
        raise RequestError(f"{path}.role: is missing")
    calls = _list(message.get("tool_calls"), f"{path}.tool_calls")
    return Message(
        role=_text(message["role"], f"{path}.role"),
        content=_read_content(message.get("content"), f"{path}.content"),
        reasoning=_read_reasoning(message, path),
        tool_calls=tuple(_read_call(call, f"{path}.tool_calls[{i}]") for i, call in enumerate(calls)),
        images=_read_images(message.get("images"), f"{path}.images"),
        name=_text(message.get("name"), f"{path}.name"),
        tool_name=_text(message.get("tool_name"), f"{path}.tool_name"),
        tool_call_id=_text(message.get("tool_call_id"), f"{path}.tool_call_id"),
        extra={name: value for name, value in message.items() if name not in _MESSAGE_NAMES},
    )


def _read_reasoning(message: Mapping[str, Any], path: str) -> str:
    for name in _REASONING_NAMES:
        if message.get(name) is not None:
            return _text(message[name], f"{path}.{name}")
    return ""


def _read_content(given: Any, path: str) -> str | tuple[Part, ...] | None:
    if given is None or isinstance(given, str):
        return given
    if not isinstance(given, list):
        raise RequestError(f"{path}: a text or a list of parts is needed, not {_described(given)}")
    return tuple(_read_part(part, f"{path}[{index}]") for index, part in enumerate(given))


def _read_part(given: Any, path: str) -> Part:
    part = _object(given, path)
    kind = part.get("type")
    if not isinstance(kind, str):
        raise RequestError(f'{path}.type: a part needs a type, such as "text"')
    if kind == "text" and not isinstance(part.get("text"), str):
        raise RequestError(f"{path}.text: a text is needed, not {_described(part.get('text'))}")
    if kind == "image_url":
        url = part.get("image_url")
        if isinstance(url, dict):
            url = url.get("url")
        if not isinstance(url, str):
            raise RequestError(f"{path}.image_url: a URL is needed, not {_described(url)}")
    return Part(kind, part)


def _read_images(given: Any, path: str) -> tuple[str, ...]:
    images = _list(given, path)
    return tuple(_base64(_text(image, f"{path}[{i}]"), f"{path}[{i}]") for i, image in enumerate(images))


def _read_call(given: Any, path: str) -> ToolCall:
    call = _object(given, path)
    if "function" in call:
        path += ".function"
        function = _object(call["function"], path)
    else:
        function = call
    if not isinstance(function.get("name"), str):
        raise RequestError(f"{path}.name: a text is needed, not {_described(function.get('name'))}")
    index = function.get("index")
    if index is not None and type(index) is not int:
        raise RequestError(f"{path}.index: an integer is needed, not {_described(index)}")
    return ToolCall(
        name=function["name"],
        arguments=_read_arguments(function.get("arguments"), f"{path}.arguments"),
        id=_text(call.get("id"), f"{path.removesuffix('.function')}.id"),
        index=index,
    )


def _read_arguments(given: Any, path: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if isinstance(given, str):
        given = _json_value(_parsed(given, path), path)
    return _object(given, path)


def _read_tools(given: Any) -> tuple[Mapping[str, Any], ...]:
    tools = _list(given, "tools")
    for index, tool in enumerate(tools):
        path = f"tools[{index}]"
        if "function" not in _object(tool, path):
            raise RequestError(
                f'{path}.function: is missing; a tool is {{"type": "function", "function": …}}'
            )
        function = _object(tool["function"], f"{path}.function")
        if not isinstance(function.get("name"), str):
            raise RequestError(
                f"{path}.function.name: a text is needed, not {_described(function.get('name'))}"
            )
    return tuple(tools)


def _read_think(body: Mapping[str, Any], variables: dict[str, Any]) -> Think:
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


def _read_date(given: Any) -> datetime | None:
    if given is None:
        return None
    try:
        return datetime.fromisoformat(_text(given, "date"))
    except ValueError:
        raise RequestError(f"date: a date such as 2026-03-14 is needed, not {given!r}") from None


# --- JSON -----------------------------------------------------------------------------------------------


def _parsed(text: str | bytes, path: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise RequestError(f"{path}: is not JSON: {error}") from None
    except RecursionError:
        raise RequestError(f"{path}: is nested too deeply") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _json_value(value: Any, path: str = "") -> Any:
    """Return data as JSON holds it: exact types, text that is valid Unicode, numbers that Go can read.

    Raises:
        RequestError: Something in it is no JSON.
    """
    try:
        return _checked(value, path)
    except RecursionError:
        raise RequestError(f"{path or 'the conversation'}: is nested too deeply") from None


def _checked(value: Any, path: str) -> Any:
    if isinstance(value, str):
        return _valid_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _checked_number(value, path)
    if isinstance(value, Mapping):
        made = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise RequestError(f"{path or 'the conversation'}: the key {key!r} is no text")
            made[_valid_text(key)] = _checked(item, f"{path}.{key}" if path else key)
        return made
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [_checked(item, f"{path or 'messages'}[{index}]") for index, item in enumerate(value)]
    raise RequestError(f"{path or 'the conversation'}: {type(value).__name__} is no type of JSON")


def _checked_number(value: float, path: str) -> float:
    try:
        if math.isfinite(value):
            return int(value) if isinstance(value, int) else float(value)
    except OverflowError:
        raise RequestError(f"{path}: the number is too large") from None
    raise RequestError(f"{path}: {value} is no number of JSON")


def _valid_text(text: str) -> str:
    """Return a text with its lone surrogates replaced by U+FFFD, and pairs of them joined."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str(text)


def _object(value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RequestError(f"{path}: an object is needed, not {_described(value)}")
    return value


def _list(value: Any, path: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise RequestError(f"{path}: a list is needed, not {_described(value)}")
    return value


def _text(value: Any, path: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RequestError(f"{path}: a text is needed, not {_described(value)}")
    return value


def _described(value: Any) -> str:
    """Return what a JSON value is, for a message."""
    if value is None:
        return "null"
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list"}
    return kinds.get(type(value), "an object")
