"""The forms in which ``transplate check`` answers to other programs and to browsers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from transplate.cli.formats.checked import Checked

FORMATS = ("github", "junit", "html", "sarif")
"""Their names; each is the function of that name in the module of that name."""


def written(form: str, pairs: Sequence[Checked]) -> str:
    """Return what was found, in a form.

    Args:
        form: One of :data:`FORMATS`.
        pairs: The pairs that were checked.
    """
    write: Callable[[Sequence[Checked]], str] = getattr(import_module(f"transplate.cli.formats.{form}"), form)
    return write(pairs)
