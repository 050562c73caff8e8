"""The pairs of Ollama's library: a model's Go template, and the chat template in the same model's GGUF."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from tests.portability.subjects import shared_folder
from transplate import Conversation, JinjaTemplate, OllamaTemplate
from transplate.parity.texts import places

NOW = datetime(2025, 1, 2, 3, 4, 5)
_BOS, _EOS = "<BOS>", "<EOS>"
_TURNS = Conversation.read(
    [
        {"role": "user", "content": "Qx0"},
        {"role": "assistant", "content": "Zy9"},
        {"role": "user", "content": "Wv8"},
    ]
)


@dataclass(frozen=True, slots=True)
class LibraryPair:
    """A model's two templates.

    Attributes:
        model: The model.
        go: Its Go template.
        jinja: Its chat template.
    """

    model: str
    go: OllamaTemplate
    jinja: JinjaTemplate


def library_pairs() -> list[LibraryPair]:
    """Return all pairs; none where the data is not there."""
    path = shared_folder() / "corpus" / "ollama_library_pairs.jsonl"
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        LibraryPair(row["model"].removeprefix("library/"), *_templates(row["gotmpl"], row["jinja"]))
        for row in rows
    ]


def _templates(gotmpl: str, jinja: str) -> tuple[OllamaTemplate, JinjaTemplate]:
    """Return the templates; the tokenizer is not in the data, so its tokens are those of the Go template.

    Where the Go template prints nothing in their place, they are placeholders.
    """
    go = OllamaTemplate(gotmpl)
    tokens = {"bos_token": _BOS, "eos_token": _EOS}
    for _ in tokens:
        prompts = (
            go.render(**_TURNS.to_ollama(), now=NOW),
            _printed(JinjaTemplate(jinja, special_tokens=tokens)),
        )
        for place in places(*prompts):
            own, other = (
                prompts[0][place.start_a : place.end_a].strip(),
                prompts[1][place.start_b : place.end_b].strip(),
            )
            for name, placeholder in (("bos_token", _BOS), ("eos_token", _EOS)):
                if other == placeholder and own.startswith(("<", "[")):
                    tokens[name] = own
    return go, JinjaTemplate(jinja, special_tokens=tokens)


def _printed(template: JinjaTemplate) -> str:
    try:
        return template.render(**{**_TURNS.to_hf(), "now": NOW})
    except Exception as error:
        return getattr(error, "output", "")
