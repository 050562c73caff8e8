"""What the items of lists that a template builds are, and how they are kept: as one text at run time."""

from __future__ import annotations

from dataclasses import dataclass

SCALARS = frozenset({"str", "bool", "none", "undefined", "int", "message", "calls", "call"})
"""What is kept as it is, apart from lists (``list``) and dicts (``record``)."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a value that is kept in a text can be.

    Attributes:
        kinds: Its kinds: those of :data:`SCALARS`, ``list`` and ``record``; ``absent`` for a key that is not
            in every dict.
        fields: The keys of a dict, in order, and what they hold.
        item: What a list holds.
    """

    kinds: frozenset[str] = frozenset()
    fields: tuple[tuple[str, Shape], ...] = ()
    item: Shape | None = None


NOTHING = Shape()
ABSENT_FIELD = Shape(frozenset({"absent"}))


def list_of(item: Shape) -> Shape:
    """Return the shape of a list."""
    return Shape(frozenset({"list"}), item=item)


def merged(one: Shape, other: Shape) -> Shape:
    """Return the shape of a value that has one shape or another."""
    if one == other:
        return one
    fields = one.fields
    if "record" in one.kinds and "record" in other.kinds:
        first, second = dict(one.fields), dict(other.fields)
        fields = tuple(
            (name, merged(first.get(name, ABSENT_FIELD), second.get(name, ABSENT_FIELD)))
            for name in {**first, **second}
        )
    elif "record" in other.kinds:
        fields = other.fields
    item = one.item
    if item is not None and other.item is not None:
        item = merged(item, other.item)
    return Shape(one.kinds | other.kinds, fields, item or other.item)


def fits(one: Shape, other: Shape) -> bool:
    """Tell whether all that has one shape has the other too."""
    return merged(other, one) == other
