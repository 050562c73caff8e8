"""A model in Hugging Face's layout or a GGUF in, a Modelfile out, with the reason for each stop."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from transplate.models.files import read_object
from transplate.models.model import Model
from transplate.models.pretrained import SIDECAR, TO_GENERATION
from transplate.ollama.modelfile import Modelfile

_USER, _ANSWER, _NEXT = "What is red?", "Colours are.", "And what is green?"
_PROBE = (("user", _USER), ("assistant", _ANSWER), ("user", _NEXT))
_MARKER = re.compile(r"\s*(<[^<>\s]{1,60}>|\[/?[A-Z_]{1,30}\])")


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop and why it is one."""

    text: str
    reason: str


def find_stops(model: Model, render: Callable[[list[dict[str, str]]], str] | None) -> list[Stop]:
    """Return what ends an assistant's turn: eos, stop strings, and the marker behind an answer in a prompt.

    Args:
        model: The model.
        render: Renders messages without a generation prompt; None where there is no template.
    """
    found: dict[str, str] = {}
    if model.tokens.eos:
        found[model.tokens.eos] = "the eos token"
    for text in _texts(model.generation.get("stop_strings")):
        found.setdefault(text, "in the stop strings of the generation configuration")
    prompt = render([{"role": role, "content": content} for role, content in _PROBE]) if render else ""
    before, _, behind = prompt.partition(_ANSWER)
    marker = _MARKER.match(behind)
    # What also stands before the first message opens turns, and would stop an answer that quotes one at best.
    if marker and _ANSWER in prompt and marker[1] not in before.partition(_USER)[0]:
        found.setdefault(marker[1], "ends the assistant's turns in prompts")
    return [Stop(text, reason) for text, reason in found.items()]


def new_modelfile(model: Model, base: str, template: str | None, stops: list[Stop]) -> Modelfile:
    """Return a Modelfile for a model.

    Args:
        model: The model.
        base: What FROM says.
        template: The Go TEMPLATE, None for none.
        stops: Its stops.

    Raises:
        ModelfileError: A Modelfile cannot say one of the values.
    """
    modelfile = Modelfile.parse("FROM base\n")
    modelfile.set("from", base)
    if template is not None:
        modelfile.set("template", template)
    if model.system:
        modelfile.set("system", model.system)
    parameters = {**_parameters(model.generation), **model.parameters}
    own = _texts(parameters.pop("stop", ()))
    for name, value in parameters.items():
        modelfile.set(name, [_written(one) for one in value] if isinstance(value, list) else _written(value))
    modelfile.set("stop", list(dict.fromkeys([*own, *(stop.text for stop in stops)])))
    for text in model.licenses:
        modelfile.add("license", text)
    return modelfile


def original_modelfile(model: Model, folder: Path, chat_template: str) -> Modelfile | None:
    """Return the Modelfile that a folder was made from, with the parameters that the folder has now.

    Args:
        model: The model in the folder.
        folder: The folder.
        chat_template: Its chat template; where it is not the one that was written, it is converted anew.

    Returns:
        The Modelfile; None where there is none, or it is no longer that of the folder.

    Raises:
        TransplateError: The file that holds it is damaged.
    """
    path = folder / SIDECAR
    if not path.is_file():
        return None
    kept = read_object(path)
    text = kept.get("modelfile")
    if (
        not isinstance(text, str)
        or kept.get("chat_template_sha256") != sha256(chat_template.encode()).hexdigest()
    ):
        return None
    modelfile = Modelfile.parse(text, name=str(path))
    now = _parameters(model.generation)
    for name in TO_GENERATION:
        values = [
            _written(one) for one in (now[name] if isinstance(now.get(name), list) else [now.get(name)])
        ]
        there = modelfile.values(name)
        if name not in now:
            # What has no place in a generation configuration, such as num_predict -1, is not gone from there.
            if there and not (name == "num_predict" and there[-1].startswith("-")):
                modelfile.remove(name)
        elif there != values and not _same_number(there, values):
            modelfile.set(name, values)
    return modelfile


def _parameters(generation: Any) -> dict[str, Any]:
    """Return the PARAMETERs that a generation configuration says."""
    found = {name: generation[key] for name, key in TO_GENERATION.items() if generation.get(key) is not None}
    if generation.get("do_sample") is False:
        found["temperature"] = 0
    return found


def _same_number(there: list[str], values: list[str]) -> bool:
    try:
        return len(there) == len(values) == 1 and float(there[0]) == float(values[0])
    except ValueError:
        return False


def _texts(value: Any) -> Iterator[str]:
    for one in [value] if isinstance(value, str) else value or ():
        if isinstance(one, str) and one:
            yield one


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
