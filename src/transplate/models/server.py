"""A running Ollama server: an address and a name in, the model that it shows out."""

from __future__ import annotations

from typing import Any

from transplate.errors import TransplateError
from transplate.files import checked_text
from transplate.gotmpl.literals import LiteralError, unquote
from transplate.models.model import Model, Tokens
from transplate.ollama.modelfile import Modelfile, ModelfileError
from transplate.ollama.parameters import read_parameters
from transplate.servers.http import ask
from transplate.source import Source


def read_server(address: str) -> Model:
    """Return the model that a server shows (``POST /api/show``).

    Args:
        address: The server and, behind ``#``, the model: ``http://localhost:11434#llama3.2``.

    Raises:
        TransplateError: The address names no model, or the server does not answer in time or not as Ollama.
    """
    base, _, name = address.partition("#")
    if not name:
        raise TransplateError(f"{address}: a model is missing, as in {base}#llama3.2")
    answer = _show(base.rstrip("/"), name)
    details = answer.get("details")
    family = details.get("family") if isinstance(details, dict) else ""
    parameters, warnings = read_parameters(_parameter_lines(_text(answer, "parameters", address)))
    template = _text(answer, "template", address)
    shown = _shown_settings(_text(answer, "modelfile", address), warnings)
    info = answer.get("model_info")
    adds_bos = info.get("tokenizer.ggml.add_bos_token") if isinstance(info, dict) else None
    return Model(
        name=address,
        kind="Ollama server",
        template=Source(template, f"{address}: template") if template else None,
        system=_text(answer, "system", address),
        messages=tuple(_messages(answer.get("messages") or [], address)),
        parameters=parameters,
        renderer=_text(answer, "renderer", address) or shown.get("renderer", ""),
        parser=_text(answer, "parser", address) or shown.get("parser", ""),
        requires=_text(answer, "requires", address),
        licenses=tuple(filter(None, [_text(answer, "license", address)])),
        family=family if isinstance(family, str) else "",
        tokens=Tokens(adds_bos=adds_bos if isinstance(adds_bos, bool) else None),
        warnings=tuple(warnings),
    )


def _show(base: str, name: str) -> dict[str, Any]:
    answer = ask(base, "/api/show", {"model": name})
    if not answer.is_fine:
        raise TransplateError(f"{base}: {name}: {answer.error}")
    if not isinstance(answer.data, dict):
        raise TransplateError(f"{base}: the answer is no JSON object, so this is no Ollama server")
    return answer.data


def _text(answer: dict[str, Any], field: str, address: str) -> str:
    value = answer.get(field, "")
    if not isinstance(value, str):
        raise TransplateError(f"{address}: {field}: the server sent no text")
    return checked_text(value, f"{address}: {field}")


def _messages(messages: Any, address: str) -> list[tuple[str, str]]:
    try:
        pairs = [(message["role"], message.get("content", "")) for message in messages]
    except (TypeError, KeyError, AttributeError) as error:
        raise TransplateError(f"{address}: messages: the server sent no messages") from error
    if not all(isinstance(text, str) for pair in pairs for text in pair):
        raise TransplateError(f"{address}: messages: the server sent messages that are no text")
    return pairs


def _shown_settings(modelfile: str, warnings: list[str]) -> dict[str, str]:
    """Return the last command of each name in the Modelfile that a server shows; some are told only there."""
    if not modelfile:
        return {}
    try:
        return dict(Modelfile.parse(modelfile).commands)
    except ModelfileError as error:
        # Ollama's own printing is not always readable to itself.
        reason = f"the server shows a Modelfile that is none: {error.message}"
        warnings.append(f"RENDERER and PARSER are not known: {reason}")
        return {}


def _parameter_lines(text: str) -> list[tuple[str, str]]:
    """Return the parameters in the lines of the answer: a name, spaces, and the value as Go's ``%#v``."""
    pairs = []
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        value = value.strip()
        if value.startswith(('"', "`")):
            try:
                value = unquote(value)
            except LiteralError:
                continue
        pairs.append((name, value))
    return pairs
