"""How often a template reads a name: what some of Jinja's filters give is empty when it is read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from transplate.convert.jinja_to_go.values import Chosen, Pairs, Reversed, Value
from transplate.jinja import nodes as j

GENERATOR = "a generator that may be read twice"
"""What is refused."""
_OWN = frozenset({"send", "throw", "close"})
"""The attributes that a generator has."""
_FILTERS = frozenset({"select", "selectattr", "reject", "rejectattr", "map", "unique", "items", "reverse"})


def is_generator(node: j.Expression, value: Value) -> bool:
    """Tell whether an expression, which has this value, gives what can be read once."""
    if isinstance(value, Chosen) and not value.is_list:
        return True
    if isinstance(node, j.Conditional):
        return is_generator(node.value, value) or is_generator(node.otherwise, value)
    if isinstance(node, j.And | j.Or):
        return any(is_generator(operand, value) for operand in node.operands)
    return isinstance(node, j.Filter) and node.name in _FILTERS and isinstance(value, Pairs | Reversed)


def is_read_again(body: j.Body, name: str, once: int) -> bool:
    """Tell whether a name may be read more than once.

    Args:
        body: The template, or a macro.
        name: The name.
        once: How often the name is there if it is read once.
    """
    return _count(body, name) > once or _is_cut(body, name)


def _count(body: object, name: str) -> int:
    """Return how often a name is read; its attributes may be, for a generator has none of a dict's keys."""

    def is_free(part: object) -> bool:
        return isinstance(part, j.Attribute) and part.value == j.Name(name) and part.name not in _OWN

    return sum(found == name for found in names_in(body, besides=is_free))


def _is_cut(body: j.Body, name: str) -> bool:
    """Tell whether a name is set outside of a loop or macro and read in it."""
    for node in body:
        if isinstance(node, j.For | j.Macro) and _count(node.body, name) == 1:
            return True
        if isinstance(node, j.If | j.For) and _is_cut(node.orelse, name):
            return True
        if isinstance(node, j.If | j.For | j.Macro | j.Scope | j.SetBlock) and _is_cut(node.body, name):
            return True
    return False


def names_in(body: object, *, besides: Callable[[object], bool] = lambda _: False) -> Iterator[str]:
    """Yield the names that are read in a part of a template.

    Args:
        body: The part.
        besides: Tells what is not looked into.
    """
    return (part.name for part in parts_of(body, besides=besides) if isinstance(part, j.Name))


def parts_of(body: object, *, besides: Callable[[object], bool] = lambda _: False) -> Iterator[object]:
    """Yield all that a part of a template, or a value, is made of."""
    pending: list[Any] = [body]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, tuple):
            pending.extend(part)
        elif is_dataclass(part) and not besides(part):
            pending.extend(getattr(part, one.name) for one in fields(part))
