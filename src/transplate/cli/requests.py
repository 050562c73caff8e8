"""Requests as the command line takes them: a body of Ollama's API or a list of messages, as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from transplate.errors import RequestError
from transplate.files import without_mark
from transplate.source import Source

_FIELDS = ("messages", "tools", "think", "system", "prompt", "suffix")
_OF_CONVERSATIONS = ("date", "documents", "variables", "chat_template_kwargs")
"""What a conversation has besides, as check takes it."""
_REPLACED = ("template", "context", "raw")


@contextmanager
def naming_request(name: str | None) -> Iterator[None]:
    """Give the errors that are about a request the name of its file, None for none."""
    try:
        yield
    except RequestError as error:
        if name is not None and not error.message.startswith(name):
            error.message = f"{name}: {error.message}"
        raise


@dataclass(frozen=True, slots=True)
class Request:
    """What a prompt is made of, as it was given: messages of a chat, or a prompt of ``/api/generate``."""

    messages: Any = ()
    tools: Any = None
    think: Any = None
    system: Any = None
    prompt: Any = ""
    suffix: Any = ""
    generation_prompt: bool | None = None
    """Whether a chat template opens the assistant's turn; None for what the last message says."""
    others: Mapping[str, Any] = field(default_factory=dict)
    """What else a conversation has: its date, and the documents and variables of chat templates."""


EXAMPLE = Request(
    messages=[
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "What is the capital of France?"},
        {"role": "assistant", "content": "Paris."},
        {"role": "user", "content": "And of Norway?"},
    ]
)
"""What is rendered where no request is given."""


def read_json(source: Source) -> Any:
    """Return JSON text as data.

    Raises:
        RequestError: It is no JSON; the error has the place.
    """
    from transplate.ollama.decoding import parse_json

    source = without_mark(source)
    if not source.text.strip():
        raise RequestError(f"{source.name}: is empty, where JSON was expected")
    return parse_json(source.text, name=source.name)


def read_request(source: Source) -> Request:
    """Return a request from JSON text.

    Raises:
        RequestError: It is no JSON, or neither a request nor a list of messages.
    """
    data = read_json(source)
    if isinstance(data, list):
        return Request(messages=data)
    if not isinstance(data, dict) or not {"messages", "prompt", "suffix"} & data.keys():
        raise RequestError(
            f"{source.name}: neither a request with messages or a prompt, nor a list of messages"
        )
    for name in _REPLACED:
        if data.get(name):
            raise RequestError(f"{source.name}: {name}: the prompt does not come from the template alone")
    request = Request(
        **{name: data[name] for name in _FIELDS if data.get(name) is not None},
        others={name: data[name] for name in _OF_CONVERSATIONS if data.get(name) is not None},
    )
    if data.get("images") and not request.suffix:
        message = {"role": "user", "content": request.prompt, "images": data["images"]}
        return replace(request, messages=[message], prompt="")
    return request


def is_for_openai(messages: Any) -> bool:
    """Return whether messages can only be for OpenAI's API: a content in typed parts, arguments as a text."""
    if not isinstance(messages, list):
        return False
    for message in messages:
        if not isinstance(message, dict):
            return False
        if isinstance(message.get("content"), list):
            return True
        calls = message.get("tool_calls")
        functions = (
            [call.get("function") for call in calls if isinstance(call, dict)]
            if isinstance(calls, list)
            else []
        )
        if any(isinstance(one, dict) and isinstance(one.get("arguments"), str) for one in functions):
            return True
    return False


def calls_left_out(messages: Any, prompt: str) -> list[str]:
    """Return the names of the functions that an assistant's last message calls and a prompt does not have.

    A chat template's prompt ends behind the text of a last message, which is to be continued.
    """
    try:
        calls = messages[-1]["tool_calls"] if messages[-1]["role"] == "assistant" else ()
        names = [call["function"]["name"] for call in calls]
    except (KeyError, IndexError, TypeError):
        return []
    return [name for name in names if isinstance(name, str) and name not in prompt]


def request_of_texts(texts: Sequence[str]) -> Request:
    """Return a chat of which the user says the first text, the assistant the second, and so on."""
    return Request([{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)])


def with_options(
    request: Request,
    *,
    system: str | None,
    tools: Any,
    think: bool | str | None,
    generation_prompt: bool | None = None,
) -> Request:
    """Return a request with what the command line says: of tools and thinking it has the last word."""
    return replace(
        request,
        system=system if request.system is None else request.system,
        tools=request.tools if tools is None else tools,
        think=request.think if think is None else think,
        generation_prompt=generation_prompt,
    )
