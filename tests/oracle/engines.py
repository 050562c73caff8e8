"""What the wrappers of real engines have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class EngineUnavailable(Exception):
    """A real engine that cannot be run here; the text says why."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a Jinja engine made of a template: the text, or the error's text."""

    text: str | None = None
    error: str | None = None


class Engine(Protocol):
    """A real Jinja engine."""

    name: str

    def render(self, template: str, context: Mapping[str, Any]) -> Rendered:
        """Render a template on a context."""
        ...

    def close(self) -> None:
        """End what runs in the background."""
        ...
