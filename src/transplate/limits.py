"""The bounds within which a template from a stranger may run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for reading and rendering one template; reaching one is an error that names it.

    Attributes:
        source: Characters of template source that are read.
        output: Bytes that one rendering may print.
        steps: Loop iterations, calls and other units of work of one rendering.
        depth: Template calls (Go) or macro calls (Jinja) inside one another.
    """

    source: int = 4 * 1024 * 1024
    output: int = 256 * 1024 * 1024
    steps: int = 20_000_000
    depth: int = 1_000


DEFAULT_LIMITS = Limits()
