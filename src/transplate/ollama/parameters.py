"""PARAMETERs: texts in, values of the types that Ollama gives them out (FormatParams in api/types.go)."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterable, Mapping
from typing import Any

INTEGERS = (
    "num_keep",
    "seed",
    "num_predict",
    "top_k",
    "repeat_last_n",
    "num_ctx",
    "num_batch",
    "num_gpu",
    "main_gpu",
    "num_thread",
    "draft_num_predict",
)
NUMBERS = (
    "top_p",
    "min_p",
    "typical_p",
    "temperature",
    "repeat_penalty",
    "presence_penalty",
    "frequency_penalty",
)
FLAGS = ("use_mmap",)
LISTS = ("stop",)
DEPRECATED = (
    "penalize_newline",
    "low_vram",
    "f16_kv",
    "logits_all",
    "vocab_only",
    "use_mlock",
    "mirostat",
    "mirostat_tau",
    "mirostat_eta",
)
"""What Ollama ignores, with a warning."""
NAMES = (*INTEGERS, *NUMBERS, *FLAGS, *LISTS, *DEPRECATED)
"""All that the newest Ollama knows."""
WITH_DRAFTS = ("draft_num_predict",)
"""What came with the command DRAFT."""

_INTEGER = re.compile("[+-]?[0-9]+")
_DIGITS, _HEX_DIGITS = "[0-9]+(?:_[0-9]+)*", "[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*"
_NUMBER = re.compile(rf"[+-]?(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?")
_HEX_NUMBER = re.compile(
    rf"[+-]?0[xX](?:_?{_HEX_DIGITS}\.?(?:{_HEX_DIGITS})?|\.{_HEX_DIGITS})[pP][+-]?{_DIGITS}"
)
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")


def read_parameters(parameters: Iterable[tuple[str, str]]) -> tuple[dict[str, Any], list[str]]:
    """Return the values of PARAMETERs, and warnings about those that Ollama ignores or refuses.

    Of a parameter that is there twice the last one counts; those of ``stop`` are gathered.
    """
    values: dict[str, Any] = {}
    warnings: list[str] = []
    for name, text in parameters:
        if name in DEPRECATED:
            warnings.append(f"PARAMETER {name}: Ollama ignores it")
            continue
        if name in LISTS:
            values.setdefault(name, []).append(text)
            continue
        if refusal := refusal_of(name, text):
            warnings.append(refusal)
        else:
            values[name] = _value(name, text)
    return values, warnings


def refusal_of(name: str, text: str, *, drafts: bool = True) -> str:
    """Return why Ollama refuses to make a model with a PARAMETER, empty where it takes it.

    Args:
        name: Its name.
        text: Its value.
        drafts: Whether this Ollama knows what came with the command DRAFT.
    """
    is_known = name in NAMES and (drafts or name not in WITH_DRAFTS)
    if is_known and (name in (*DEPRECATED, *LISTS) or _value(name, text) is not None):
        return ""
    if is_known:
        return f"PARAMETER {name}: Ollama refuses the value {text!r}"
    return f"PARAMETER {name}: Ollama knows none of this name, and refuses to make the model"


def read_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return the values of parameters that are there as JSON, as Ollama reads them (FromMap in api/types.go).

    Returns:
        The values, why it ignores others, and why it refuses others.
    """
    values: dict[str, Any] = {}
    ignored: list[str] = []
    refused: list[str] = []
    for name, value in options.items():
        if name not in NAMES or name in DEPRECATED:
            ignored.append(f"PARAMETER {name}: Ollama ignores it")
        elif not _takes(name, value):
            refused.append(f"PARAMETER {name}: Ollama refuses the value {json.dumps(value)[:60]}")
        elif value is not None:
            values[name] = int(value) if name in INTEGERS else value
    return values, ignored, refused


def _takes(name: str, value: Any) -> bool:
    if value is None:
        return True
    if name in LISTS:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if name in FLAGS or isinstance(value, bool):
        return name in FLAGS and isinstance(value, bool)
    return isinstance(value, int | float) and is_float32(value)


def is_float32(value: float) -> bool:
    """Return whether a number is finite as Ollama holds it, in 32 bits."""
    try:
        return math.isfinite(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return False


def _value(name: str, text: str) -> Any:
    if name in INTEGERS and _INTEGER.fullmatch(text):
        number = int(text)
        return number if -(2**63) <= number < 2**63 else None
    if name in NUMBERS:
        value = _float(text)
        return value if value is not None and is_float32(value) else None
    if name in FLAGS and text in (*_TRUE, *_FALSE):
        return text in _TRUE
    return None


def _float(text: str) -> float | None:
    if _NUMBER.fullmatch(text):
        return float(text)
    if not _HEX_NUMBER.fullmatch(text):
        return None
    try:
        return float.fromhex(text.replace("_", ""))
    except OverflowError:
        return None
