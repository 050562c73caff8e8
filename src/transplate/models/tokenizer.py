"""The tokenizer in a Hugging Face folder: its files in, the texts that are one token each out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from transplate.errors import TransplateError
from transplate.files import checked_text, read_object
from transplate.models.model import Tokens

TOKENIZER = "tokenizer_config.json"
_SPECIAL = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
_VOCABULARY, _ADDED = "tokenizer.json", "added_tokens.json"


def token_ids(folder: Path) -> dict[str, int]:
    """Return the added tokens of a tokenizer, which it finds in any text as one token each, with their ids.

    Raises:
        TransplateError: A file of the tokenizer is damaged.
    """
    return _ids([*_in_settings(folder), *_in_vocabulary(folder)])


def _ids(tokens: Iterable[tuple[Any, Any]]) -> dict[str, int]:
    return {
        text: number
        for number, text in tokens
        if isinstance(text, str) and isinstance(number, int) and not isinstance(number, bool)
    }


def _in_settings(folder: Path) -> Iterator[tuple[Any, Any]]:
    added = _object(folder / _ADDED)
    yield from ((number, text) for text, number in added.items())
    decoder = _object(folder / TOKENIZER).get("added_tokens_decoder")
    if isinstance(decoder, dict):
        for key, token in decoder.items():
            if key.isdecimal() and isinstance(token, dict):
                yield int(key), token.get("content")


def _in_vocabulary(folder: Path) -> Iterator[tuple[Any, Any]]:
    tokens = _object(folder / _VOCABULARY).get("added_tokens")
    if isinstance(tokens, list):
        for token in tokens:
            if isinstance(token, dict):
                yield token.get("id"), token.get("content")


def read_tokens(folder: Path, tokenizer: dict[str, Any], settings: list[dict[str, Any]]) -> Tokens:
    """Return the special tokens of a model.

    Args:
        folder: Its folder.
        tokenizer: The content of its ``tokenizer_config.json``.
        settings: Its other configurations; the first that has ``eos_token_id`` counts.

    Raises:
        TransplateError: A file of the tokenizer is damaged.
    """
    path = folder / TOKENIZER
    texts = _special_texts(tokenizer, path)
    adds_bos, adds_eos = (_flag(tokenizer, f"add_{name}_token", path) for name in ("bos", "eos"))
    ids = end_ids(settings)
    by_id = {number: text for text, number in _ids(_in_settings(folder)).items()} if ids else {}
    if not by_id.keys() >= set(ids):  # The vocabulary is large, and is read only where it is needed.
        by_id |= {number: text for text, number in _ids(_in_vocabulary(folder)).items()}
    return Tokens(
        bos=texts.pop("bos_token", None),
        eos=texts.pop("eos_token", None),
        others=texts,
        adds_bos=adds_bos,
        adds_eos=adds_eos,
        ends=tuple((number, by_id.get(number)) for number in ids),
    )


def _special_texts(tokenizer: dict[str, Any], path: Path) -> dict[str, str]:
    """Return the special tokens by their names; keys that are none of transformers' own may hold anything."""
    texts: dict[str, str] = {}
    for key, value in tokenizer.items():
        text = value.get("content") if isinstance(value, dict) else value
        if key.endswith("_token") and isinstance(text, str):
            texts[key] = checked_text(text, f"{path}: {key}")
        elif key in _SPECIAL and value is not None:
            raise TransplateError(f"{path}: {key}: a text, or an object with a text as content, is needed")
    return texts


def _flag(tokenizer: dict[str, Any], key: str, path: Path) -> bool | None:
    value = tokenizer.get(key)
    if value is not None and not isinstance(value, bool):
        raise TransplateError(f"{path}: {key}: true or false is needed")
    return value


def end_ids(settings: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the ids of the tokens that end a generation, by the first configuration that has any."""
    for content in settings:
        value = content.get("eos_token_id")
        if value is not None:
            values = value if isinstance(value, list) else [value]
            return [one for one in values if isinstance(one, int) and not isinstance(one, bool)]
    return []


def _object(path: Path) -> dict[str, Any]:
    return read_object(path) if path.is_file() else {}
