"""A model in, the files of a folder in Hugging Face's layout out, merged with those there; writes nothing.

What Hugging Face has no place for is kept in a file of its own, so that the way back is complete.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from transplate.models.files import read_object, read_text
from transplate.models.huggingface import CHAT_TEMPLATE, GENERATION, TOKENIZER
from transplate.models.model import Model

SIDECAR = "ollama.json"
"""Holds the Modelfile that a folder was made from."""

TO_GENERATION = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "typical_p": "typical_p",
    "repeat_penalty": "repetition_penalty",
    "num_predict": "max_new_tokens",
    "stop": "stop_strings",
}
"""PARAMETERs and what ``generation_config.json`` calls them."""


@dataclass(frozen=True, slots=True)
class PretrainedFiles:
    """What would be written.

    Attributes:
        texts: The files that are new or change, by name.
        conflicts: What is there already with another value, which would be replaced.
        kept_aside: What Hugging Face has no place for; it is in the file :data:`SIDECAR` alone.
    """

    texts: dict[str, str]
    conflicts: list[str]
    kept_aside: list[str]


def pretrained_files(model: Model, chat_template: str, folder: Path) -> PretrainedFiles:
    """Return the files that make a folder hold a model.

    Args:
        model: The model.
        chat_template: Its chat template, with the beginning of conversations that the model has.
        folder: The folder, which may have files already or not be there at all.

    Raises:
        TransplateError: A file in the folder is damaged.
    """
    texts: dict[str, str] = {}
    conflicts: list[str] = []
    there = folder / CHAT_TEMPLATE
    before = read_text(there).text if there.is_file() else None
    if before != chat_template:
        texts[CHAT_TEMPLATE] = chat_template
        if before is not None:
            conflicts.append(f"{CHAT_TEMPLATE} is another template")
    for file, values in ((TOKENIZER, _tokenizer(model)), (GENERATION, _generation(model))):
        _merge(folder / file, values, texts, conflicts)
    aside = folder / SIDECAR
    if aside.is_file() and "chat_template_sha256" not in read_object(aside):
        conflicts.append(f"{SIDECAR} is of another kind")
    sidecar = {
        "chat_template_sha256": sha256(chat_template.encode()).hexdigest(),
        "modelfile": str(model.modelfile) if model.modelfile else None,
        "parameters": dict(model.parameters),
        "system": model.system,
        "messages": [list(message) for message in model.messages],
        "renderer": model.renderer,
        "parser": model.parser,
        "requires": model.requires,
        "from": list(model.base),
    }
    texts[SIDECAR] = _json({key: value for key, value in sidecar.items() if value})
    return PretrainedFiles(texts, conflicts, _kept_aside(model))


def _tokenizer(model: Model) -> dict[str, Any]:
    tokens = model.tokens
    values = {"bos_token": tokens.bos, "eos_token": tokens.eos, "add_bos_token": tokens.adds_bos}
    return {name: value for name, value in values.items() if value is not None}


def _generation(model: Model) -> dict[str, Any]:
    values = {
        TO_GENERATION[name]: [value] if name == "stop" and isinstance(value, str) else value
        for name, value in model.parameters.items()
        if _has_a_place(name, value)
    }
    temperature = values.get("temperature")
    if isinstance(temperature, int | float):
        # transformers refuses a temperature of 0; without sampling it is what 0 means to Ollama.
        values["do_sample"] = temperature > 0
        if temperature == 0:
            del values["temperature"]
    return values


def _has_a_place(name: str, value: Any) -> bool:
    """Return whether Hugging Face can say a parameter: for -1 and -2 new tokens it has no number."""
    return name in TO_GENERATION and not (name == "num_predict" and isinstance(value, int) and value < 1)


def _kept_aside(model: Model) -> list[str]:
    names = [f"PARAMETER {name}" for name, value in model.parameters.items() if not _has_a_place(name, value)]
    settings = {"RENDERER": model.renderer, "PARSER": model.parser, "REQUIRES": model.requires}
    return [*names, *(name for name, value in settings.items() if value), *(["FROM"] if model.base else [])]


def _merge(path: Path, values: dict[str, Any], texts: dict[str, str], conflicts: list[str]) -> None:
    """Add values to the object in a file; every key that it has besides survives."""
    content = read_object(path) if path.is_file() else {}
    for name, value in values.items():
        if name in content and content[name] != value and _text_of(content[name]) != value:
            conflicts.append(f"{path.name}: {name} is {json.dumps(content[name], ensure_ascii=False)}")
    merged = content | {name: value for name, value in values.items() if _text_of(content.get(name)) != value}
    if path.name == TOKENIZER:
        # transformers takes the file of its own; an older copy in here would only mislead.
        merged.pop("chat_template", None)
    if merged != content:
        texts[path.name] = _json(merged)


def _text_of(value: Any) -> Any:
    """Return the text of a token, which may be an object that has it as its content."""
    return value.get("content") if isinstance(value, dict) else value


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
