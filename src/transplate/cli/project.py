"""The settings of a project: the table ``[tool.transplate]`` of the nearest pyproject.toml."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from transplate.errors import TransplateError
from transplate.files import reason

_FILE = "pyproject.toml"
_SETTINGS = ("pairs", "conversations", "unusual", "baseline", "known", "lint")


@dataclass(frozen=True, slots=True)
class LintSettings:
    """What ``[tool.transplate.lint]`` says.

    Attributes:
        ignore: Rules that are not applied.
        ollama: The oldest Ollama that templates have to work with.
    """

    ignore: tuple[str, ...] = ()
    ollama: str | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """What ``[tool.transplate]`` says.

    Attributes:
        folder: The folder of the file, which paths in it start from.
        pairs: The templates that have to print the same, as the paths or names of both.
        conversations: Files with the conversations to compare them on; the built-in ones if there are none.
        unusual: Whether they are compared on conversations that people hardly send, too.
        baseline: The file of the kinds of difference that check accepts, None for none.
        known: The file of the differences that the tests of pytest accept, None for the default.
        lint: What is said about lint.
        is_configured: Whether there is such a table at all.
    """

    folder: Path
    pairs: tuple[tuple[str, str], ...] = ()
    conversations: tuple[str, ...] = ()
    unusual: bool = False
    baseline: str | None = None
    known: str | None = None
    lint: LintSettings = field(default_factory=LintSettings)
    is_configured: bool = False

    def path(self, name: str | None) -> str | None:
        """Return a path as it is from the working folder, None for none."""
        return None if name is None else os.path.relpath(self.folder / name)

    def paths(self, names: Iterable[str]) -> Iterator[str]:
        """Yield paths as they are from the working folder."""
        return (os.path.relpath(self.folder / name) for name in names)

    def source(self, name: str) -> str:
        """Return where a template is: the path of a file or folder of the project, or another source."""
        if Path(name).is_absolute():
            return name
        path = self.path(name)
        return path if path is not None and Path(path).exists() else name


def read_project(folder: Path | None = None) -> Project:
    """Return the settings in the nearest pyproject.toml that has some, from a folder upwards.

    Args:
        folder: Where to begin; the working folder if None.

    Raises:
        TransplateError: The file cannot be read, or a setting is none that there is.
    """
    start = (folder or Path()).resolve()
    for place in (start, *start.parents):
        path = place / _FILE
        if path.is_file():
            table = _table(path)
            if table is not None:
                return _Reader(path).project(table)
    return Project(start)


def _table(path: Path) -> Mapping[str, Any] | None:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TransplateError(f"{path}: {reason(error)}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise TransplateError(f"{path}: {error}") from error
    tool = data.get("tool", {})
    table = tool.get("transplate") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


class _Reader:
    """Reads the table, and says which file is wrong where it is."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def project(self, table: Mapping[str, Any]) -> Project:
        self._known(table, "tool.transplate", _SETTINGS)
        lint = table.get("lint", {})
        if not isinstance(lint, dict):
            self._fail("tool.transplate.lint", "is no table")
        self._known(lint, "tool.transplate.lint", ("ignore", "ollama"))
        unusual = table.get("unusual", False)
        if not isinstance(unusual, bool):
            self._fail("tool.transplate.unusual", "is neither true nor false")
        return Project(
            self._path.parent,
            pairs=self._pairs(table.get("pairs", [])),
            conversations=self._texts(table.get("conversations", []), "tool.transplate.conversations"),
            unusual=unusual,
            baseline=self._text(table.get("baseline"), "tool.transplate.baseline"),
            known=self._text(table.get("known"), "tool.transplate.known"),
            is_configured=True,
            lint=LintSettings(
                ignore=self._texts(lint.get("ignore", []), "tool.transplate.lint.ignore"),
                ollama=self._text(lint.get("ollama"), "tool.transplate.lint.ollama"),
            ),
        )

    def _pairs(self, value: Any) -> tuple[tuple[str, str], ...]:
        if not isinstance(value, list):
            self._fail("tool.transplate.pairs", "is no list")
        pairs = []
        for number, pair in enumerate(value):
            name = f"tool.transplate.pairs[{number}]"
            texts = self._texts(pair, name)
            if len(texts) != 2:
                self._fail(name, "is not two templates")
            pairs.append((texts[0], texts[1]))
        return tuple(pairs)

    def _texts(self, value: Any, name: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            self._fail(name, "is no list of texts")
        return tuple(value)

    def _text(self, value: Any, name: str) -> str | None:
        if value is not None and not isinstance(value, str):
            self._fail(name, "is no text")
        return value

    def _known(self, table: Mapping[str, Any], name: str, known: tuple[str, ...]) -> None:
        for key in table:
            if key not in known:
                self._fail(f"{name}.{key}", f"is no setting; there are {', '.join(known)}")

    def _fail(self, name: str, what: str) -> NoReturn:
        raise TransplateError(f"{self._path}: {name} {what}")
