"""``transplate convert`` of whole models: to a Hugging Face folder, a Modelfile, the Hub's files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click

from transplate.cli import FINE, NO
from transplate.cli.explained import explanation_lines, left_out_lines, unexplained
from transplate.cli.output import print_json, say
from transplate.cli.tokens import missing_tokens, token_options
from transplate.cli.verdict import report_data, report_lines
from transplate.cli.visible import visible
from transplate.cli.waiting import waiting
from transplate.errors import TransplateError
from transplate.language import language_of_name

if TYPE_CHECKING:
    from transplate import Conversion, Model, ParityReport
    from transplate.models.saving import Saving

Target: TypeAlias = Literal["hf", "modelfile", "hub"]
WHOLE: tuple[Target, ...] = ("hf", "modelfile", "hub")

_TEMPLATES = ("Go template", "chat template")


def target_of(model: Model, destination: str | None, said: str | None) -> Target | None:
    """Return what a destination is to become: a folder or a Modelfile; None for a template.

    A name such as ``chat_template.jinja`` means a file, whatever is there. A name that tells nothing, such as
    ``out``, means a folder where what is converted comes from Ollama, as Ollama has no folders itself.

    Raises:
        click.UsageError: It could be either.
    """
    from transplate.models.source import MODELFILE_NAME

    if destination is None or said is not None:
        return next((target for target in WHOLE if target == said), None)
    if destination.endswith(("/", os.sep)):
        return "hf"
    if language_of_name(destination) is not None:
        return None
    if MODELFILE_NAME.fullmatch(Path(destination).name):
        return "modelfile"
    if Path(destination).is_dir():
        return "hf"
    is_device = Path(destination).exists() and not Path(destination).is_file()
    if model.kind in _TEMPLATES or is_device:
        return None
    if model.kind in ("Hugging Face folder", "GGUF"):
        raise click.UsageError(
            f"{destination}: a Modelfile or a folder? Call it {destination}.modelfile or {destination}/, "
            "or say --to modelfile, --to hf or --to gotmpl"
        )
    return None if Path(destination).suffix else "hf"


def write_model(
    model: Model,
    destination: str,
    target: Target,
    *,
    base: str | None,
    dry_run: bool,
    force: bool,
    as_json: bool,
) -> int:
    """Write a model, and say what was written, why so, and whether its prompts are the same.

    Raises:
        TransplateError: As :meth:`Model.save_pretrained`, :meth:`Model.save_modelfile` and
            :meth:`Model.save_hub_files`.
    """
    plan: dict[Target, Callable[[], Saving]] = {
        "hf": lambda: model.save_pretrained(destination, dry_run=True),
        "modelfile": lambda: model.save_modelfile(destination, base=base, dry_run=True),
        "hub": lambda: model.save_hub_files(destination, dry_run=True),
    }
    with waiting(f"converting {model.name}"):
        saving = plan[target]()
    if saving.replaced and not force and not dry_run:
        found = "; ".join(saving.replaced)
        raise TransplateError(
            f"{destination}: {found}: --force replaces it, --dry-run only shows what would be"
        )
    if not dry_run:
        saving.write(force=force)
    if as_json:
        print_json(_data(saving, dry_run=dry_run), indent=2)
    else:
        for line in _lines(saving, model.name, destination, dry_run=dry_run):
            say(line, err=True)
        say_warnings(model, saving.notes)
    differs = differs_unannounced(saving.parity, saving.conversion)
    return NO if differs or saving.refused or _missing(saving) else FINE


def _missing(saving: Saving) -> list[str]:
    """Return the special tokens for want of which ordinary conversations have no prompt."""
    return missing_tokens(saving.parity.reasons) if saving.parity is not None else []


def say_warnings(model: Model, said: Collection[str] = ()) -> None:
    """Say what is odd about a source, unless it has been said; weights that are not here hinder nothing."""
    for warning in model.warnings:
        if warning not in said and not warning.startswith("FROM "):
            say(click.style("warning: ", fg="yellow") + visible(warning), err=True)


def differs_unannounced(parity: ParityReport | None, conversion: Conversion | None) -> bool:
    """Return whether prompts differ on conversations that a converted template is meant for."""
    if conversion is None or parity is None:
        return False
    return bool(unexplained(parity, conversion).differences)


def verdict_lines(
    parity: ParityReport | None, conversion: Conversion | None, source: str, destination: str
) -> Iterator[str]:
    """Yield whether the prompts of a whole model are the same; nothing where its template is its own."""
    if parity is not None and conversion is not None:
        yield from report_lines(unexplained(parity, conversion), source, destination)
        yield from explanation_lines(parity, conversion)
    elif parity is not None:
        yield from report_lines(parity, source, destination)
        yield from left_out_lines(parity)


def _lines(saving: Saving, source: str, destination: str, *, dry_run: bool) -> Iterator[str]:
    yield from verdict_lines(saving.parity, saving.conversion, source, destination)
    yield from map(visible, saving.notes)
    if missing := _missing(saving):
        yield f"needs {token_options(missing)}: without it the template fails, here as in Jinja"
    for replaced in saving.replaced:
        yield f"{'would replace' if dry_run else 'replaced'}: {visible(replaced)}"
    for path in saving.paths:
        yield f"{'would write' if dry_run else 'wrote'} {visible(str(path))}"
    if not saving.files:
        yield f"{visible(destination)} has all of it already"


def _data(saving: Saving, *, dry_run: bool) -> dict[str, Any]:
    return {
        "files": {str(path): saving.files[name].decode("utf-8", "replace") for path, name in _named(saving)},
        "written": not dry_run,
        "replaced": list(saving.replaced),
        "notes": list(saving.notes),
        "parity": None if saving.parity is None else report_data(saving.parity),
    }


def _named(saving: Saving) -> Iterator[tuple[Path, str]]:
    for name in sorted(saving.files):
        yield saving.target / name, name
