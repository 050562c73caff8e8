"""Versions of Ollama: text in, an ordered version and what Ollama does differently since then out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from transplate.errors import TransplateError

NEWEST = "0.33.0"
"""The newest version of Ollama whose behaviour is known."""

OLDEST = "0.17.4"
"""The oldest version of Ollama whose behaviour is known."""

_VERSION = re.compile(r"v?(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})(?:-rc([0-9]{1,5}))?")
_RELEASED = 1_000_000


@dataclass(frozen=True, order=True, slots=True)
class Version:
    """A version of Ollama; release candidates come before their release.

    Attributes:
        major: First number.
        minor: Second number.
        patch: Third number.
        candidate: Number of the release candidate; a number above all candidates for a release.
    """

    major: int
    minor: int
    patch: int
    candidate: int = _RELEASED

    def __str__(self) -> str:
        suffix = "" if self.candidate == _RELEASED else f"-rc{self.candidate}"
        return f"{self.major}.{self.minor}.{self.patch}{suffix}"


def parse_version(text: str) -> Version:
    """Read a version such as ``0.17.4``, ``v0.30.0`` or ``0.33.0-rc2``.

    Raises:
        TransplateError: The text is no version of Ollama.
    """
    match = _VERSION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise TransplateError(f"{text!r} is no version of Ollama, such as {NEWEST!r}")
    major, minor, patch, candidate = match.groups()
    return Version(int(major), int(minor), int(patch), _RELEASED if candidate is None else int(candidate))


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What depends on the version of Ollama around and inside a Go template.

    Attributes:
        property_required: A property of a tool's parameters keeps its own ``required`` list
            (``ToolProperty.Required``, since 0.20.0).
        tool_string: A single tool has a ``String`` method, and so prints as JSON (since 0.30.0).
        think_levels: The strings that the API's ``think`` takes. ``"max"`` came with pull request 15787 of
            24 April 2026, a week after 0.21.0; it is taken to be in 0.22.0, of 28 April, and later.
        draft_command: A Modelfile may say DRAFT. It is not in 0.17.4 and is in 0.33.0; which version between
            them brought it is not known, and it is taken to be 0.30.0.
        gguf_chat_template: The chat template inside a GGUF may make the prompt (since 0.30.0).
    """

    property_required: bool
    tool_string: bool
    think_levels: tuple[str, ...]
    draft_command: bool
    gguf_chat_template: bool


@lru_cache(maxsize=64)
def behaviour_of(version: Version) -> Behaviour:
    """Return how a version of Ollama behaves.

    Raises:
        TransplateError: The version is older or newer than those whose behaviour is known.
    """
    if version < Version(0, 17, 4):
        raise TransplateError(f"Ollama {version} is older than {OLDEST}, the oldest whose behaviour is known")
    if version > parse_version(NEWEST):
        raise TransplateError(f"Ollama {version} is newer than {NEWEST}, the newest whose behaviour is known")
    levels = ("high", "medium", "low")
    return Behaviour(
        property_required=version >= Version(0, 20, 0),
        tool_string=version >= Version(0, 30, 0),
        think_levels=(*levels, "max") if version >= Version(0, 22, 0) else levels,
        draft_command=version >= Version(0, 30, 0),
        gguf_chat_template=version >= Version(0, 30, 0),
    )
