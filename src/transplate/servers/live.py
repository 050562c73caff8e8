"""Servers that make prompts: an address in, what the server there makes of conversations out.

Ollama answers a request to ``/api/chat`` with ``_debug_render_only`` with the prompt, and
llama-server has ``/apply-template`` for that. Ollama alone answers ``/api/version``, llama-server alone
``/props``.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from transplate.conversation import Conversation
from transplate.errors import RequestError, TemplateExecutionError, TransplateError
from transplate.language import Language
from transplate.servers.http import Answer, ask

PATIENCE = 120.0
"""Seconds that a server has for a prompt: before the first one, Ollama loads the weights."""
_REFUSED = 400
_FAILED = 500


class LiveServer(ABC):
    """A running server with a model.

    Attributes:
        address: Where it is, as it was given.
        language: The language of its templates.
        abilities: Which of ``tools`` and ``thinking`` a request may ask for without being refused.
    """

    language: Language
    abilities: frozenset[str] = frozenset({"tools", "thinking"})
    _path: str

    def __init__(self, address: str) -> None:
        self.address = address
        self._base, self._model = _parts(address)
        self._answers: dict[str, Answer] = {}

    def render(self, conversation: Conversation) -> str:
        """Return the prompt that the server makes of a conversation, at the time of its own clock.

        Raises:
            RequestError: The server refuses the conversation before its template sees it.
            TemplateExecutionError: The template fails.
            TransplateError: The server does not answer, or not as such a server does.
        """
        body = self._request(conversation)
        key = json.dumps(body)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = ask(self._base, self._path, body, timeout=PATIENCE)
        return self._prompt(answer)

    @abstractmethod
    def _request(self, conversation: Conversation) -> Mapping[str, Any]:
        """Return what the server is sent."""

    @abstractmethod
    def _prompt(self, answer: Answer) -> str:
        """Return the prompt in an answer."""

    def _text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise TransplateError(f"{self.address}: the answer holds no prompt")
        return value


class OllamaServer(LiveServer):
    """A model of a running Ollama."""

    language = "gotmpl"
    _path = "/api/chat"

    def __init__(self, address: str, version: str) -> None:
        """Look whether the model is there.

        Raises:
            TransplateError: The address names no model, or none that the server has.
        """
        super().__init__(address)
        if not self._model:
            raise TransplateError(f"{address}: a model is missing, as in {self._base}#llama3.2")
        self._version = version
        shown = ask(self._base, "/api/show", {"model": self._model})
        if not shown.is_fine or not isinstance(shown.data, dict):
            raise TransplateError(f"{self._base}: {self._model}: {shown.error}")
        self.abilities = self.abilities.intersection(shown.data.get("capabilities") or ())

    def _request(self, conversation: Conversation) -> Mapping[str, Any]:
        return {
            "model": self._model,
            "stream": False,
            "truncate": False,
            "_debug_render_only": True,
            # An Ollama that does not know the option above goes on to answer.
            "options": {"num_predict": 1},
            **conversation.to_ollama(),
        }

    def _prompt(self, answer: Answer) -> str:
        if answer.status == _REFUSED:
            raise RequestError(answer.error)
        if answer.status == _FAILED:
            raise TemplateExecutionError(answer.error)
        if not answer.is_fine or not isinstance(answer.data, dict):
            raise TransplateError(f"{self._base}: {self._model}: {answer.error}")
        debug = answer.data.get("_debug_info")
        if not isinstance(debug, dict):
            raise TransplateError(f"{self._base}: Ollama {self._version} does not show its prompts")
        return self._text(debug.get("rendered_template"))


class LlamaServer(LiveServer):
    """A running llama-server, with the chat template that it was started with."""

    language = "jinja"
    _path = "/apply-template"

    def _request(self, conversation: Conversation) -> Mapping[str, Any]:
        arguments = conversation.to_hf()
        # Whether the assistant's turn is opened or the last message continued, the server decides itself.
        given = {"messages": arguments["messages"], "tools": arguments["tools"], "model": self._model}
        variables = {"chat_template_kwargs": arguments["variables"]}
        return {name: value for name, value in (given | variables).items() if value}

    def _prompt(self, answer: Answer) -> str:
        if answer.status in (_REFUSED, _FAILED):
            raise TemplateExecutionError(answer.error)
        if not answer.is_fine or not isinstance(answer.data, dict):
            raise TransplateError(f"{self._base}: {answer.error}")
        return self._text(answer.data.get("prompt"))


def open_server(address: str) -> LiveServer:
    """Return the server at an address.

    Args:
        address: ``http://localhost:11434#llama3.2`` for a model of Ollama, ``http://localhost:8080`` for
            llama-server.

    Raises:
        TransplateError: Neither of them is there, or the model is missing.
    """
    base, _ = _parts(address)
    found = ask(base, "/api/version")
    if found.is_fine and isinstance(found.data, dict) and isinstance(found.data.get("version"), str):
        return OllamaServer(address, found.data["version"])
    found = ask(base, "/props")
    if found.is_fine and isinstance(found.data, dict) and "chat_template" in found.data:
        return LlamaServer(address)
    raise TransplateError(f"{base}: neither Ollama (/api/version) nor llama-server (/props): {found.error}")


def _parts(address: str) -> tuple[str, str]:
    base, _, model = address.partition("#")
    return base.rstrip("/"), model
