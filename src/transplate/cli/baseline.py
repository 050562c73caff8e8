"""Known differences: a file that accepts them, and fails on new ones and on those that are gone."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transplate.cli.files import read_text
from transplate.cli.parity_text import diff_lines
from transplate.cli.requests import read_json
from transplate.errors import TransplateError
from transplate.files import write_file

_VERSION = 1
_PLACE = re.compile(r":\d+:\d+\b")


@dataclass(frozen=True, slots=True)
class Change:
    """How a comparison departs from what is known.

    Attributes:
        new: Kinds of difference that are not in the baseline.
        gone: Kinds that are in it and were not found, or conversations on which nothing differs any more.
        changed: Conversations that differ, and not as it says.
    """

    new: tuple[str, ...]
    gone: tuple[str, ...]
    changed: tuple[str, ...] = ()


def digest_of(prompts: tuple[str, str], errors: Sequence[TransplateError | None]) -> str:
    """Return what tells a difference from others: the lines that differ, and the errors, as a short text.

    Where in a template an error arose is no part of it, so that the template can be written in other lines.
    """
    lines = [line for line in diff_lines(*prompts, width=sys.maxsize) if line[0] != " "]
    said = ["" if error is None else _PLACE.sub("", error.message) for error in errors]
    return hashlib.sha256(repr((lines, said)).encode("utf-8", "replace")).hexdigest()[:16]


class Baseline:
    """The differences that are accepted, for each pair: their kinds, and what differs on each conversation.

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
        self._digests: dict[str, dict[str, str]] = {}
        if not Path(path).exists():
            if is_new:
                return
            raise TransplateError(f"{path}: there is no such baseline; --update-baseline writes one")
        data = read_json(read_text(path))
        pairs = data.get("pairs") if isinstance(data, dict) and data.get("transplate") == _VERSION else None
        if not isinstance(pairs, dict) or not all(_is_names(names) for names in pairs.values()):
            raise TransplateError(f"{path}: is no baseline of transplate check")
        digests = data.get("conversations", {})
        if not isinstance(digests, dict) or not all(isinstance(each, dict) for each in digests.values()):
            raise TransplateError(f"{path}: is no baseline of transplate check")
        self._pairs, self._digests = pairs, digests

    def change(
        self, pair: str, kinds: Mapping[str, Collection[str]], digests: Mapping[str, str] | None = None
    ) -> Change:
        """Return how the differences of a pair depart from the baseline.

        A kind that is new only in that what is known on some conversations got another explanation, is none.

        Args:
            pair: What the pair is called.
            kinds: The kinds of difference that were found, each with the names of its conversations, of which
                one is empty if it is also on some without a name.
            digests: What differs, by the names of the conversations that have a name.
        """
        known = self._pairs.get(pair, [])
        before, now = self._digests.get(pair, {}), digests or {}
        lost = [name for name in before if name not in now]
        changed = tuple(name for name, digest in now.items() if before.get(name) != digest)
        unchanged = now.keys() - set(changed)
        gone = [kind for kind in known if kind not in kinds]
        if before and not lost and not changed:
            # Conversations are made for each template as it is written: a kind that only they show comes
            # and goes with how that is.
            gone = []
        return Change(
            tuple(kind for kind, names in kinds.items() if kind not in known and not unchanged >= set(names)),
            tuple(gone or (f"the difference on {name}" for name in lost)),
            changed,
        )

    def update(self, pair: str, kinds: Iterable[str], digests: Mapping[str, str] | None = None) -> None:
        """Accept the differences of a pair, and write the file.

        Args:
            pair: What the pair is called.
            kinds: The kinds of difference that were found.
            digests: What differs, by the names of the conversations that have a name.

        Raises:
            TransplateError: The file cannot be written.
        """
        self._pairs[pair] = sorted(kinds)
        data: dict[str, Any] = {"transplate": _VERSION, "pairs": dict(sorted(self._pairs.items()))}
        if digests is not None:
            self._digests[pair] = dict(sorted(digests.items()))
        if self._digests:
            data["conversations"] = dict(sorted(self._digests.items()))
        text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
        write_file(self._path, text.encode())


def _is_names(names: object) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)
