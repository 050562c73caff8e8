"""Known differences: a file that accepts them, and fails on new ones and on those that are gone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from transplate.cli.files import read_text
from transplate.cli.requests import read_json
from transplate.errors import TransplateError
from transplate.files import write_file

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Change:
    """How a comparison departs from what is known.

    Attributes:
        new: Kinds of difference that are not in the baseline.
        gone: Kinds that are in it and were not found.
    """

    new: tuple[str, ...]
    gone: tuple[str, ...]


class Baseline:
    """The kinds of difference that are accepted, for each pair.

    Args:
        path: The file.
        is_new: Whether the file need not be there.

    Raises:
        TransplateError: The file cannot be read, or is no baseline.
    """

    def __init__(self, path: str, *, is_new: bool = False) -> None:
        """Read the file."""
        self._path = path
        self._pairs: dict[str, list[str]] = {}
        if not Path(path).exists():
            if is_new:
                return
            raise TransplateError(f"{path}: there is no such baseline; --update-baseline writes one")
        data = read_json(read_text(path))
        pairs = data.get("pairs") if isinstance(data, dict) and data.get("transplate") == _VERSION else None
        if not isinstance(pairs, dict) or not all(_is_names(names) for names in pairs.values()):
            raise TransplateError(f"{path}: is no baseline of transplate check")
        self._pairs = pairs

    def change(self, pair: str, kinds: Iterable[str]) -> Change:
        """Return how the kinds of a pair depart from the baseline."""
        known, found = self._pairs.get(pair, []), list(kinds)
        return Change(
            tuple(kind for kind in found if kind not in known),
            tuple(kind for kind in known if kind not in found),
        )

    def update(self, pair: str, kinds: Iterable[str]) -> None:
        """Accept the kinds of a pair, and write the file.

        Raises:
            TransplateError: The file cannot be written.
        """
        self._pairs[pair] = sorted(kinds)
        data = {"transplate": _VERSION, "pairs": dict(sorted(self._pairs.items()))}
        text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
        write_file(self._path, text.encode())


def _is_names(names: object) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)
