"""Trees for tests."""

from __future__ import annotations

from typing import Any

from transplate.gotmpl.nodes import Clause


def made(node: Any) -> Any:
    """Return a part of a tree as if it had been made, not parsed."""
    if isinstance(node, tuple):
        return tuple(map(made, node))
    if isinstance(node, Clause):
        return Clause()
    slots = getattr(type(node), "__slots__", ())
    if "span" not in slots and "clause" not in slots:
        return node
    return type(node)(**{name: made(getattr(node, name)) for name in slots if name != "span"})
