"""The bounds within which a template from a stranger may run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_CHARACTERS_PER_TOKEN: Final = 8
"""What templates have and more, save for those that are made to keep the parser busy."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for reading and rendering one template; reaching one is an error that names it.

    Attributes:
        source: Characters of template source that are read; it may have one token for each eight of them.
        output: Bytes that one rendering may print, and that one value may have.
        steps: Units of work of one rendering, each about a third of a microsecond in the slower of two
            forms: a loop iteration is two and more, so is a call, and text costs by its length.
        depth: Template calls (Go) or macro calls (Jinja) inside one another.
    """

    source: int = 1024 * 1024
    output: int = 64 * 1024 * 1024
    steps: int = 10_000_000
    depth: int = 1_000

    @property
    def tokens(self) -> int:
        """Tokens that a template may have."""
        return self.source // _CHARACTERS_PER_TOKEN


DEFAULT_LIMITS = Limits()
