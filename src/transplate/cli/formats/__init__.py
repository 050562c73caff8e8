"""The forms in which ``transplate check`` and ``lint`` answer to other programs and to browsers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from transplate.cli.formats.checked import Checked
from transplate.cli.formats.notes import Notes

FORMATS = ("github", "junit", "html", "sarif")
"""Their names. Each is a module with a function of that name for pairs, and ``…_of_notes`` for notes."""


def written(form: str, pairs: Sequence[Checked]) -> str:
    """Return what was found in pairs, in a form.

    Args:
        form: One of :data:`FORMATS`.
        pairs: The pairs that were checked.
    """
    return _write(form, form, pairs)


def written_notes(form: str, notes: Notes) -> str:
    """Return what was found in single templates, in a form.

    Args:
        form: One of :data:`FORMATS`.
        notes: What was found.
    """
    return _write(form, f"{form}_of_notes", notes)


def _write(form: str, name: str, found: Any) -> str:
    text: str = getattr(import_module(f"transplate.cli.formats.{form}"), name)(found)
    return text
