"""From what a user typed to a model: a path, a name, an address or a text in, a :class:`Model` out."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from transplate.errors import TransplateError
from transplate.files import decoded, read_bytes, reason
from transplate.language import Language, language_of, language_of_name
from transplate.models.gguf import MAGIC, read_gguf
from transplate.models.hub import find_repository
from transplate.models.huggingface import CHAT_TEMPLATE, LEGACY, imported_chat_template, read_folder
from transplate.models.model import Model
from transplate.models.server import read_server
from transplate.models.tokenizer import TOKENIZER
from transplate.ollama.modelfile import Modelfile
from transplate.ollama.modelfile.reader import COMMANDS
from transplate.ollama.parameters import read_options, read_parameters
from transplate.ollama.store import ModelName, StoredModel, is_stored, read_model
from transplate.servers.http import SCHEMES
from transplate.source import Source

MODELFILE_NAME = re.compile(r"modelfile|modelfile[.-].*|.*[.-]modelfile", re.IGNORECASE)
_FIRST_COMMAND = re.compile(rf"(?:\s+|#[^\n]*\n)*(?:{'|'.join(COMMANDS)})[ \t]", re.IGNORECASE)
_FROM = re.compile(r"^[ \t]*FROM[ \t]", re.IGNORECASE | re.MULTILINE)
_HUB_PAGE = re.compile(r"https?://(?:huggingface\.co|hf\.co)/([\w.-]+/[\w.-]+)")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_NOT_PARAMETERS = {"model", *COMMANDS} - {"from", "parameter"}


def load(
    source: str | os.PathLike[str], *, language: Language | None = None, download: bool = False
) -> Model:
    """Read a model from wherever it is, as :meth:`Model.load` says.

    Args:
        source: Where it is.
        language: The language of a template file, where its name and its text do not tell.
        download: Whether ``hf:`` may fetch the small files of a repository that is not in the cache.

    Raises:
        TransplateError: There is nothing there, or it is damaged.
    """
    text = os.fspath(source)
    if page := _HUB_PAGE.match(text):
        raise TransplateError(f"{text}: of the Hub's repositories the name is enough: hf:{page[1]}")
    if text.startswith(SCHEMES):
        return read_server(text)
    if text.startswith("ollama:"):
        return from_store(text.removeprefix("ollama:"))
    if text.startswith("hf:"):
        return read_folder(find_repository(text.removeprefix("hf:"), download=download), name=text)
    if text.startswith("renderer:"):
        return from_renderer(text)
    path = Path(text)
    if _exists(path):
        return _from_path(path, language)
    return _by_name(text)


def read(data: bytes, name: str, *, language: Language | None = None, folder: Path | None = None) -> Model:
    """Return the model that a text is: a template of either language, or a Modelfile.

    Args:
        data: The text, as a file or standard input has it.
        name: What to call it; a name such as ``Modelfile`` or ``*.jinja`` tells what it is.
        language: The language of a template, where name and text do not tell.
        folder: The folder that paths in a Modelfile start from; None for the working folder.

    Raises:
        TransplateError: It is no text, or a Modelfile that Ollama refuses.
    """
    if language is None and is_modelfile(data, name):
        return from_modelfile(Modelfile.parse(data, name=name), folder=folder)
    source = decoded(data, name)
    if (language or language_of(name, source.text)) == "jinja":
        return Model(name, "chat template", chat_template=source)
    return Model(name, "Go template", template=source)


def is_modelfile(data: bytes, name: str) -> bool:
    """Return whether a text is a Modelfile, by its name or by how it begins."""
    if MODELFILE_NAME.fullmatch(Path(name).name):
        return True
    encoding = "utf-16" if data.startswith(_UTF16_MARKS) else "utf-8"
    text = data.decode(encoding, "replace").removeprefix("\ufeff")
    return bool(_FIRST_COMMAND.match(text) and _FROM.search(text))


def from_modelfile(modelfile: Modelfile, *, folder: Path | None = None) -> Model:
    """Return the model that a Modelfile makes, with what it takes over from the model in its FROM.

    Args:
        modelfile: The Modelfile.
        folder: The folder that paths in it start from; None for the working folder.
    """
    parameters, warnings = read_parameters(
        (name, args) for name, args in modelfile.commands if name not in _NOT_PARAMETERS
    )
    if deleted := modelfile.deleted_characters:
        first = modelfile.source.position(deleted[0])
        warnings.append(
            f"Ollama deletes {len(deleted)} characters that are not printable, the first in line {first.line}"
        )
    base: Model | None = None
    names = modelfile.values("from")
    for name in names:
        try:
            found = load_base(name, folder or Path())
            base = base or found
            warnings += found.warnings if found.kind == "GGUF" else ()
        except TransplateError as error:
            warnings.append(f"FROM {error.message}")
    base = base or Model("", "Modelfile")
    template = modelfile.get("template")
    messages = [args.partition(": ") for args in modelfile.values("message")]
    return Model(
        name=modelfile.source.name,
        kind="Modelfile",
        template=Source(template, f"{modelfile.source.name}: TEMPLATE") if template else base.template,
        chat_template=base.chat_template,
        named=base.named,
        system=modelfile.get("system") or base.system,
        messages=tuple((role, content) for role, _, content in messages) or base.messages,
        parameters={**base.parameters, **parameters},
        renderer=modelfile.get("renderer") or base.renderer,
        parser=modelfile.get("parser") or base.parser,
        requires=modelfile.get("requires") or base.requires,
        base=tuple(names),
        licenses=tuple(modelfile.values("license")) or base.licenses,
        size=base.size,
        family=base.family,
        tokens=base.tokens,
        warnings=tuple(warnings),
        modelfile=modelfile,
        place=modelfile.source.name if folder else "",
        original=base.original,
    )


def from_renderer(text: str) -> Model:
    """Return what a renderer built into Ollama is, ``renderer:`` and its name, for any model.

    Raises:
        TransplateError: There is none of this name.
    """
    from transplate.renderers import entry_of

    name = text.removeprefix("renderer:")
    return Model(name=text, kind="Ollama renderer", renderer=name, parser=entry_of(name).parser)


def from_store(name: str) -> Model:
    """Return a model of Ollama's local store.

    Raises:
        TransplateError: There is none of this name, or it is damaged.
    """
    try:
        stored = read_model(name)
    except TransplateError as error:
        if name and _exists(Path(name)) and not is_stored(name):
            what = "folder" if Path(name).is_dir() else "file"
            hint = f"the {what} of this name is {name!r}, without ollama: in front"
            raise TransplateError(f"{error.message}; {hint}") from None
        raise
    parameters, ignored, refused = read_options(stored.parameters)
    warnings = [*ignored, *refused]
    inside = _weights(stored, warnings)
    warnings += inside.warnings
    family = stored.config.get("model_family")
    return Model(
        name=f"ollama:{stored.name}",
        kind="Ollama store",
        template=None if stored.template is None else Source(stored.template, f"{stored.name}: TEMPLATE"),
        chat_template=inside.chat_template,
        named=inside.named,
        system=stored.system,
        messages=tuple(_stored_messages(stored)),
        parameters=parameters,
        renderer=_configured(stored, "renderer"),
        parser=_configured(stored, "parser"),
        requires=_configured(stored, "requires"),
        base=(str(stored.weights),) if stored.weights else (),
        licenses=tuple(stored.licenses),
        size=_configured(stored, "model_type"),
        family=family if isinstance(family, str) else inside.family,
        tokens=inside.tokens,
        warnings=tuple(warnings),
    )


def _by_name(text: str) -> Model:
    """Return the model of the store that a text names, which is no path to anything.

    Raises:
        TransplateError: There is none, or it is damaged.
    """
    try:
        ModelName.parse(text)
    except TransplateError:
        raise TransplateError(f"{text}: no such file") from None
    if not is_stored(text):
        if language_of_name(text) is not None:
            raise TransplateError(f"{text}: no such file")
        missing = f"{text}: no such file, and no model of this name in Ollama's store"
        raise TransplateError(f"{missing} (ollama pull {text} fetches it)")
    return from_store(text)


def _from_path(path: Path, language: Language | None) -> Model:
    if path.is_dir():
        return read_folder(path)
    if path.suffix.lower() == ".gguf" or _begins_as_gguf(path):
        return read_gguf(path)
    if path.name in (TOKENIZER, LEGACY):
        return read_folder(path.parent)
    model = read(read_bytes(path), str(path), language=language, folder=path.parent)
    if path.name == CHAT_TEMPLATE and (path.parent / TOKENIZER).is_file():
        whole = read_folder(path.parent)
        return replace(model, tokens=whole.tokens, generation=whole.generation)
    return model


def _begins_as_gguf(path: Path) -> bool:
    """Return whether a file begins as a GGUF does; a pipe, which gives its content once, is not read."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise TransplateError(f"{path}: {reason(error)}") from error


def load_base(name: str, folder: Path) -> Model:
    """Return the model that a FROM names.

    Args:
        name: What FROM says.
        folder: The folder that a path starts from.

    Raises:
        TransplateError: It is not here, or damaged.
    """
    path = folder / os.path.expanduser(name)
    if not _exists(path):
        return _by_name(name)
    if not path.is_dir():
        return replace(read_gguf(path), original=_folder_around(path))
    folder_model = model = read_folder(path)
    if model.template is None and not any(path.glob("*.gguf")):
        # Of a folder with the weights, Ollama imports one chat template alone.
        model = replace(model, chat_template=imported_chat_template(path), named={})
    return replace(model, system="", parameters={}, licenses=(), original=folder_model)


def _folder_around(path: Path) -> Model | None:
    """Return the model in the folder of a GGUF, where there is more of it than the GGUF."""
    if not any((path.parent / name).is_file() for name in (CHAT_TEMPLATE, TOKENIZER)):
        return None
    try:
        return read_folder(path.parent)
    except TransplateError:
        return None


def _weights(stored: StoredModel, warnings: list[str]) -> Model:
    """Return what the GGUF of a stored model holds; one that is missing or of another format is a warning."""
    nothing = Model("", "GGUF")
    if stored.weights is None or stored.config.get("model_format", "gguf") != "gguf":
        return nothing
    try:
        return read_gguf(stored.weights)
    except TransplateError as error:
        warnings.append(error.message)
        return nothing


def _stored_messages(stored: StoredModel) -> list[tuple[str, str]]:
    pairs = []
    for message in stored.messages:
        role, content = (
            (message.get(key) for key in ("role", "content")) if isinstance(message, dict) else (0, 0)
        )
        if not isinstance(role, str) or not isinstance(content, str):
            raise TransplateError(f"{stored.manifest}: a message has no role or no content")
        pairs.append((role, content))
    return pairs


def _configured(stored: StoredModel, key: str) -> str:
    value: Any = stored.config.get(key, "")
    return value if isinstance(value, str) else ""


def _exists(path: Path) -> bool:
    """Return whether a path leads anywhere; a name that no file can have leads nowhere."""
    try:
        return path.exists() or path.is_symlink()
    except (OSError, ValueError):
        return False
