"""Folders in Hugging Face's layout: templates, special tokens and settings, as transformers 5 reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transplate.errors import TransplateError
from transplate.files import checked_text, read_object, read_text, reason
from transplate.models.gguf import read_gguf
from transplate.models.model import Model
from transplate.models.tokenizer import TOKENIZER, read_tokens
from transplate.ollama.parameters import read_options
from transplate.source import Source

CHAT_TEMPLATE = "chat_template.jinja"
ADDITIONAL = "additional_chat_templates"
LEGACY = "chat_template.json"
GENERATION = "generation_config.json"
CONFIGURATION = "config.json"
LICENSES = ("LICENSE", "LICENSE.txt", "LICENSE.md")
OLLAMA_FILES = ("template", "system", "params")
"""What the Hub takes for Ollama from a repository of GGUF files."""
NEEDED = (
    *(CHAT_TEMPLATE, TOKENIZER, LEGACY, GENERATION, CONFIGURATION, "added_tokens.json", *LICENSES),
    *(*OLLAMA_FILES, f"{ADDITIONAL}/*.jinja"),
)
"""The few small files of a repository that matter for prompts."""


def read_folder(folder: Path, *, name: str | None = None) -> Model:
    """Return the model in a folder.

    Args:
        folder: The folder.
        name: What to call the model; None for the folder's path.

    Raises:
        TransplateError: There is nothing about prompts in it, or a file is damaged.
    """
    tokenizer = _object(folder / TOKENIZER)
    generation = _object(folder / GENERATION)
    candidates = _candidates(folder, tokenizer)
    template = _existing(folder / "template")
    gguf_files = sorted(folder.glob("*.gguf"))
    if not candidates and template is None and not tokenizer and not gguf_files:
        made = folder / "Modelfile"
        hint = f"; {made} is a source of its own" if made.is_file() else ""
        raise TransplateError(
            f"{folder}: no {CHAT_TEMPLATE}, {TOKENIZER}, Ollama files or GGUF in this folder{hint}"
        )
    named, warnings = _counting(candidates)
    tokens, family = read_tokens(folder, tokenizer, [generation, _object(folder / CONFIGURATION)]), ""
    if not candidates and gguf_files:
        inside = read_gguf(gguf_files[0])
        warnings = [*warnings, *inside.warnings]
        named = dict(inside.named) or ({"default": inside.chat_template} if inside.chat_template else {})
        tokens, family = inside.tokens, inside.family
    system = _existing(folder / "system")
    parameters, ignored = _parameters(folder / "params")
    return Model(
        name=name or str(folder),
        kind="Hugging Face folder",
        place=str(folder),
        template=template,
        chat_template=named.get("default"),
        named=named if len(named) > 1 or "default" not in named else {},
        system=system.text if system else "",
        licenses=tuple(found.text for found in map(_existing, (folder / one for one in LICENSES)) if found),
        parameters=parameters,
        family=family,
        tokens=tokens,
        generation=generation,
        warnings=(*warnings, *ignored),
    )


def imported_chat_template(folder: Path) -> Source | None:
    """Return the chat template that Ollama takes over when it imports the weights in a folder.

    It reads ``tokenizer_config.json`` alone, and of several templates the default (convert/tokenizer.go).

    Raises:
        TransplateError: The file is damaged.
    """
    value = _object(folder / TOKENIZER).get("chat_template")
    return None if value is None else _templates(value, folder / TOKENIZER).get("default")


def _candidates(folder: Path, tokenizer: dict[str, Any]) -> list[tuple[str, dict[str, Source]]]:
    """Return each place that has chat templates, the one that transformers takes first, with its templates.

    Files of their own replace all that is in the tokenizer's configuration; the old ``chat_template.json`` is
    read for processors only.
    """
    found = []
    own: dict[str, Source] = {}
    if (default := _existing(folder / CHAT_TEMPLATE)) is not None:
        own["default"] = default
    additional = folder / ADDITIONAL
    if additional.is_dir():
        own |= {
            path.name.removesuffix(".jinja"): read_text(path) for path in sorted(additional.glob("*.jinja"))
        }
    if own:
        found.append((CHAT_TEMPLATE if default else ADDITIONAL, own))
    for file, content in ((TOKENIZER, tokenizer), (LEGACY, _object(folder / LEGACY))):
        if content.get("chat_template") is not None:
            found.append((file, _templates(content["chat_template"], folder / file)))
    return found


def _counting(
    candidates: Sequence[tuple[str, dict[str, Source]]],
) -> tuple[dict[str, Source], list[str]]:
    """Return the chat templates that count of all that there are, and what is odd about the choice."""
    if not candidates:
        return {}, []
    winner, named = candidates[0]
    warnings = [
        f"{winner} and {other} hold different chat templates; {winner} counts"
        for other, templates in candidates[1:]
        if _texts(templates) != _texts(named)
    ]
    if "default" not in named:
        known = ", ".join(sorted(named))
        warnings.append(f"none of the chat templates is the default; their names are {known}")
    return named, warnings


def _texts(templates: Mapping[str, Source]) -> dict[str, str]:
    return {name: template.text for name, template in templates.items()}


def _templates(value: Any, path: Path) -> dict[str, Source]:
    """Return the templates in a JSON value: a text, an object or an array of names and templates.

    Raises:
        TransplateError: It is none of them, or a template is no text.
    """
    name = f"{path}:chat_template"
    if isinstance(value, str):
        return {"default": Source(checked_text(value, name), name)}
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        value = {one.get("name"): one.get("template") for one in value}
    if not isinstance(value, dict) or not all(isinstance(one, str) for pair in value.items() for one in pair):
        raise TransplateError(f"{path}: chat_template: a text, or names with texts, is needed")
    names = {key: f"{name}[{key}]" for key in value}
    return {key: Source(checked_text(text, names[key]), names[key]) for key, text in value.items()}


def _parameters(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the PARAMETERs in the Hub's file for Ollama, and why Ollama ignores others.

    Raises:
        TransplateError: The file is damaged, or Ollama refuses a value.
    """
    if _existing(path) is None:
        return {}, []
    values, ignored, refused = read_options(read_object(path))
    if refused:
        raise TransplateError(f"{path}: {'; '.join(refused)}")
    return values, ignored


def _object(path: Path) -> dict[str, Any]:
    return {} if _existing(path) is None else read_object(path)


def _existing(path: Path) -> Source | None:
    """Return the text of a file, None where there is none."""
    try:
        there = path.is_file() or path.is_symlink()
    except OSError as error:
        raise TransplateError(f"{path}: {reason(error)}") from error
    return read_text(path) if there else None
