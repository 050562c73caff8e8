"""PARAMETERs of Ollama and what Hugging Face's ``generation_config.json`` calls them, both ways."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from transplate.errors import TransplateError
from transplate.files import checked_text
from transplate.models.huggingface import GENERATION
from transplate.models.stops import texts_of
from transplate.models.tokenizer import end_ids
from transplate.ollama.parameters import INTEGERS, is_float32

HOMES = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "typical_p": "typical_p",
    "repeat_penalty": "repetition_penalty",
    "num_predict": "max_new_tokens",
    "stop": "stop_strings",
}
"""PARAMETERs that have a place at Hugging Face; others are Ollama's alone."""

EOS_IDS = "eos_token_id"
SETTINGS = (*HOMES.values(), EOS_IDS, "do_sample")
"""Everything in a generation configuration that a PARAMETER can say."""


def has_home(name: str, value: Any) -> bool:
    """Return whether Hugging Face can say a PARAMETER: for -1 and -2 new tokens it has no number."""
    return name in HOMES and not (name == "num_predict" and isinstance(value, int) and value < 1)


def to_generation(
    parameters: Mapping[str, Any],
    ids: Mapping[str, int],
    there: Mapping[str, Any],
    own_ends: Sequence[int] = (),
) -> dict[str, Any]:
    """Return the settings of a generation configuration that say PARAMETERs.

    Args:
        parameters: The PARAMETERs.
        ids: The texts that the tokenizer takes as one token each, with their ids: such a stop becomes an id
            that ends a generation, any other a text.
        there: The configuration that is there; ids that it has stay.
        own_ends: Ids that end a generation where the configuration has none: transformers forgets them once
            it is given others, while Ollama stops at them besides every stop.
    """
    values = {HOMES[name]: value for name, value in parameters.items() if has_home(name, value)}
    stops = list(texts_of(values.pop("stop_strings", None)))
    if texts := [stop for stop in stops if stop not in ids]:
        values["stop_strings"] = texts
    if numbers := [ids[stop] for stop in stops if stop in ids]:
        before = end_ids([there])
        ends = list(dict.fromkeys([*(before or own_ends), *numbers]))
        values[EOS_IDS] = there[EOS_IDS] if ends == before else ends[0] if len(ends) == 1 else ends
    temperature = values.get("temperature")
    if isinstance(temperature, int | float):
        # transformers refuses a temperature of 0; without sampling it is what 0 means to Ollama.
        values["do_sample"] = temperature > 0
        if temperature == 0:
            del values["temperature"]
    return values


def to_parameters(generation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the PARAMETERs that a generation configuration says, stops excepted.

    Raises:
        TransplateError: A setting is of another type, or a number that Ollama refuses.
    """
    _check_all(generation, HOMES["stop"], str, "a text, or several, is needed")
    _check_all(generation, EOS_IDS, int, "the id of a token, or several, is needed")
    found = {}
    for name, key in HOMES.items():
        value = generation.get(key)
        if name == "stop" or value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TransplateError(f"{GENERATION}: {key}: a number is needed")
        if name in INTEGERS and isinstance(value, float) and value.is_integer():
            value = int(value)
        if not is_float32(value) or (name in INTEGERS and isinstance(value, float)):
            shown = json.dumps(value)[:60]
            raise TransplateError(f"{GENERATION}: {key}: Ollama refuses {shown} as PARAMETER {name}")
        found[name] = value
    if generation.get("do_sample") is False:
        found["temperature"] = 0
    return found


def homeless_settings(generation: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a generation configuration says about generating that no PARAMETER can say."""
    return {
        key: value
        for key, value in generation.items()
        if value is not None
        and key not in (*SETTINGS, "transformers_version")
        and not key.startswith("_")
        and not key.endswith(("_token_id", "_token_ids"))
    }


def notes_on_settings(generation: Mapping[str, Any]) -> list[str]:
    """Return what is to be said of the settings in a generation configuration that no PARAMETER can say."""
    settings = homeless_settings(generation)
    return [f"no PARAMETER says what {GENERATION} says of {', '.join(settings)}"] if settings else []


def stops_in(generation: Mapping[str, Any], texts: Mapping[int, str]) -> list[str]:
    """Return the stops that a generation configuration says.

    Args:
        generation: The configuration.
        texts: The texts of the tokenizer's tokens by their ids.
    """
    ends = map(texts.get, end_ids([generation]))
    return list(dict.fromkeys([*texts_of(generation.get("stop_strings")), *filter(None, ends)]))


def _check_all(generation: Mapping[str, Any], key: str, kind: type, needed: str) -> None:
    """Check that a setting, where it is there, is of a type, or a list of such values.

    Raises:
        TransplateError: It is not.
    """
    value = generation.get(key)
    if value is None:
        return
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, bool) or not isinstance(one, kind):
            raise TransplateError(f"{GENERATION}: {key}: {needed}")
        if isinstance(one, str):
            checked_text(one, f"{GENERATION}: {key}")
