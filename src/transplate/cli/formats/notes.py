"""What is found in single templates, as all formats of the answer take it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from transplate.errors import TransplateError
from transplate.language import language_of_name

if TYPE_CHECKING:
    from transplate.parity.report import Place

Level: TypeAlias = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file of a repository.

    Attributes:
        path: The file, with slashes.
        line: The line in it, from 1; None where it is not known.
        column: The column, in characters; likewise.
    """

    path: str
    line: int | None = None
    column: int | None = None


_LONGEST_MODELFILE = 4 * 1024 * 1024
"""In bytes; what is longer holds weights."""
NOWHERE = Spot("")
"""For what is about no file."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something that is found in a template.

    Attributes:
        rule: The name of the rule that finds it.
        level: How bad it is.
        source: What the user calls the template.
        spot: Where it is.
        message: What it is, in one line.
        text: What else there is to know, in any number of lines.
    """

    rule: str
    level: Level
    source: str
    spot: Spot
    message: str
    text: str = ""

    @property
    def whole(self) -> str:
        """All there is to know of it."""
        return f"{self.message}\n{self.text}" if self.text else self.message


@dataclass(frozen=True, slots=True)
class Notes:
    """What a command finds in single templates.

    Attributes:
        command: The command, as in ``transplate lint``.
        sources: All templates, in the order of the user.
        rules: All rules that were applied, with what each is about.
        found: What was found.
    """

    command: str
    sources: tuple[str, ...]
    rules: dict[str, str]
    found: tuple[Note, ...]


def spot_in(source: str, place: Place | None) -> Spot:
    """Return where something is in a file of the repository; nowhere for what is in no file.

    Args:
        source: What the user calls the template.
        place: Where in the template it is; None for all of it.

    Returns:
        The place in a file that is nothing but the template, or a Modelfile that holds it; else the file.
    """
    path = Path(source)
    if path.is_dir():
        path = path / "chat_template.jinja"
    if not path.is_file() or path.is_absolute():
        return NOWHERE
    if language_of_name(path.name) is None:
        return _in_modelfile(path, place) or Spot(path.as_posix())
    if place is None:
        return Spot(path.as_posix())
    return Spot(path.as_posix(), place.line, place.column)


def _in_modelfile(path: Path, place: Place | None) -> Spot | None:
    """Return where something in the TEMPLATE of a Modelfile is in that file; None if it is no such file."""
    from transplate.ollama.modelfile import Modelfile

    if path.stat().st_size > _LONGEST_MODELFILE:
        return None
    try:
        modelfile = Modelfile.parse(path.read_bytes())
    except (TransplateError, OSError):
        return None
    start = modelfile.value_offset("template")
    if start is None:
        return None
    line, column = modelfile.source.position(start)
    if place is None or place.line is None:
        return Spot(path.as_posix(), line)
    in_line = column - 1 if place.line == 1 else 0
    return Spot(path.as_posix(), line + place.line - 1, place.column and place.column + in_line)
