"""A model in, the files of a folder in Hugging Face's layout out, merged with those that are there.

What Hugging Face has no place for is kept in a file of its own, so that the way back is complete.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from transplate.errors import TransplateError
from transplate.files import read_object, read_text
from transplate.models.chat_templates import ChatTemplate, chat_template_of, other_chat_templates
from transplate.models.huggingface import ADDITIONAL, CHAT_TEMPLATE, CONFIGURATION, GENERATION, LICENSES
from transplate.models.model import Model
from transplate.models.modelfile_writer import plain_modelfile
from transplate.models.parameter_homes import SETTINGS, has_home, homeless_settings, to_generation
from transplate.models.saving import Saving
from transplate.models.sidecar import SIDECAR, is_sidecar, sidecar_of
from transplate.models.tokenizer import TOKENIZER, end_ids, token_ids
from transplate.ollama.parameters import DEPRECATED

_FILE_NAME = re.compile(r"\w[\w.-]*")
_SURROGATE = re.compile("[\ud800-\udfff]")


def pretrained(model: Model, folder: Path) -> Saving:
    """Return the files that make a folder hold a model; nothing is written.

    Args:
        model: The model.
        folder: The folder, which may have files already or not be there at all.

    Raises:
        TransplateError: The model has no template, or a file in the folder is damaged.
        UnsupportedTemplate: Its template cannot be converted.
    """
    return _Folder(model, folder).saving()


class _Folder:
    def __init__(self, model: Model, folder: Path) -> None:
        self._model = model
        self._folder = folder
        self._texts: dict[str, str] = {}
        self._replaced: list[str] = []

    def saving(self) -> Saving:
        model = self._model
        chat = chat_template_of(model)
        self._add_template(CHAT_TEMPLATE, chat.text)
        for name, text in other_chat_templates(model).items():
            if not _FILE_NAME.fullmatch(name):
                raise TransplateError(f"{model.name}: {name!r} cannot be the name of a chat template's file")
            self._add_template(f"{ADDITIONAL}/{name}.jinja", text)
        self._merge(TOKENIZER, self._tokenizer(chat.text))
        there = self._object(GENERATION)
        ids = token_ids(self._folder)
        # What the folder in FROM says besides is not lost on the way through a Modelfile.
        base = homeless_settings(model.original.generation) if model.original else {}
        own = {**base, **model.generation}
        generation = {**own, **to_generation(self._parameters(), ids, there, self._own_ends(ids))}
        self._merge(GENERATION, generation, added=("eos_token_id",))
        if model.licenses and not any((self._folder / name).exists() for name in LICENSES):
            self._texts[LICENSES[0]] = "\n\n".join(model.licenses)
        merged = {name: value for name, value in {**there, **generation}.items() if name in SETTINGS}
        if _is_of_ollama(model):
            self._add_sidecar(chat.text, merged)
        return Saving(
            target=self._folder,
            files={name: text.encode() for name, text in self._texts.items()},
            replaced=tuple(self._replaced),
            notes=tuple(self._notes(chat)),
            refused=tuple(model.modelfile.refusals) if model.modelfile is not None else (),
            conversion=chat.conversion,
            parity=chat.parity(model),
        )

    def _parameters(self) -> Mapping[str, Any]:
        """Return the PARAMETERs; those of a GGUF are what ends its answers, as in a Modelfile for it."""
        model = self._model
        if model.kind != "GGUF":
            return model.parameters
        stops = plain_modelfile(model, self._folder).values("stop")
        return {"stop": stops} if stops else {}

    def _own_ends(self, ids: Mapping[str, int]) -> list[int]:
        """Return the ids that end a generation by themselves: those of the configuration, and of EOS."""
        tokens = self._model.tokens
        known = end_ids([self._model.generation, self._object(CONFIGURATION)])
        eos = _text_of(self._object(TOKENIZER).get("eos_token"))
        texts = [tokens.eos, eos, *(text for _, text in tokens.ends)]
        return [*known, *(ids[text] for text in texts if isinstance(text, str) and text in ids)]

    def _object(self, name: str) -> dict[str, Any]:
        path = self._folder / name
        return read_object(path) if path.is_file() else {}

    def _add_template(self, name: str, text: str) -> None:
        there = self._folder / name
        before = read_text(there).text if there.is_file() else None
        if before == text:
            return
        self._texts[name] = text
        if before is not None:
            self._replaced.append(f"{name} is another template")

    def _tokenizer(self, chat_template: str) -> dict[str, Any]:
        tokens = self._model.tokens
        values = {"bos_token": tokens.bos, "eos_token": tokens.eos, "add_bos_token": tokens.adds_bos}
        # transformers takes the file of its own, but Ollama's import reads this one.
        if "chat_template" in self._object(TOKENIZER):
            values["chat_template"] = chat_template
        return {name: value for name, value in values.items() if value is not None}

    def _merge(self, file: str, values: dict[str, Any], *, added: tuple[str, ...] = ()) -> None:
        """Add values to the object in a file, of which every other key survives."""
        content = self._object(file)
        changed = {name: value for name, value in values.items() if _text_of(content.get(name)) != value}
        for name in changed:
            if name in content and content[name] is not None and name not in added:
                shown = json.dumps(content[name], ensure_ascii=False)
                self._replaced.append(f"{file}: {name} is {shown if len(shown) < 60 else 'another'}")
        if changed:
            self._texts[file] = _json(content | changed, self._folder / file)

    def _add_sidecar(self, chat_template: str, generation: dict[str, Any]) -> None:
        there = self._object(SIDECAR) if is_sidecar(self._folder) else None
        if there is None and (self._folder / SIDECAR).exists():
            self._replaced.append(f"{SIDECAR} is of another kind")
        model, origin = self._model, None
        if model.modelfile is None:
            origin = self._folder
        elif model.place:
            origin = Path(model.place).parent
        modelfile = model.modelfile or plain_modelfile(model, self._folder)
        content = sidecar_of(modelfile, origin, self._folder, chat_template, generation)
        if there != content:
            self._texts[SIDECAR] = _json(content, self._folder / SIDECAR)

    def _notes(self, chat: ChatTemplate) -> Iterator[str]:
        yield from chat.notes(self._model)
        if (self._folder / ADDITIONAL).is_dir() and not self._model.named:
            yield f"the templates in {ADDITIONAL} stay as they are"
        model = self._model
        if model.modelfile is not None:
            yield from model.modelfile.refusals
        aside = [f"PARAMETER {name}" for name, value in model.parameters.items() if not has_home(name, value)]
        settings = {"RENDERER": model.renderer, "PARSER": model.parser, "REQUIRES": model.requires}
        aside += [name for name, value in settings.items() if value]
        aside += ["FROM"] if model.base else []
        if model.modelfile is not None:
            ignored = [name for name in DEPRECATED if model.modelfile.values(name)]
            aside += [f"PARAMETER {name}" for name in ignored]
            aside += [name.upper() for name in ("adapter", "draft") if model.modelfile.values(name)]
        if aside:
            yield f"has no place at Hugging Face, and is kept in {SIDECAR}: {', '.join(aside)}"


def _is_of_ollama(model: Model) -> bool:
    """Return whether there is something to keep for the way back to Ollama."""
    if model.kind == "Hugging Face folder":
        return model.template is not None
    return model.kind not in ("Go template", "chat template")


def _text_of(value: Any) -> Any:
    """Return the text of a token, which may be an object that has it as its content."""
    return value.get("content") if isinstance(value, dict) else value


def _json(value: Any, path: Path) -> str:
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError as error:
        # Python reads NaN, and takes 1e400 for Infinity, which no other reader of JSON would take back.
        raise TransplateError(
            f"{path}: NaN, or a number too large to be kept, which cannot be written as JSON"
        ) from error
    # Half a surrogate pair is no text, but JSON can say it with an escape.
    return json.dumps(value, indent=2) + "\n" if _SURROGATE.search(text) else text
