"""Puts a long text that several statements have into a variable: the tables of letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.trees import items_within, with_bodies
from transplate.gotmpl.nodes import Action, Body, Item, String, Variable

_LONG = 200


def with_tables(body: Body) -> Body:
    """Return a body that has each long text that it gives to several variables once, at its beginning."""
    counts = Counter(found.value for found in map(_long_text, items_within(body)) if found is not None)
    names = {
        text: Variable(f"$letters_{number}")
        for number, (text, count) in enumerate(counts.items(), 1)
        if count > 1
    }
    if not names:
        return body
    return (*_declarations(names), *_renamed(body, names))


def _declarations(names: Mapping[str, Variable]) -> Iterator[Item]:
    for text, variable in names.items():
        yield build.declare(variable, build.string(text))


def _long_text(item: Item) -> String | None:
    if isinstance(item, Action) and item.pipeline.declarations:
        operands = item.pipeline.commands[0].operands
        if len(operands) == 1 and isinstance(operands[0], String) and len(operands[0].value) >= _LONG:
            return operands[0]
    return None


def _renamed(body: Body, names: Mapping[str, Variable]) -> Body:
    made: list[Item] = []
    for item in body:
        found = _long_text(item)
        if found is not None and found.value in names and isinstance(item, Action):
            target = item.pipeline.declarations[0]
            write = build.assign if item.pipeline.is_assignment else build.declare
            made.append(write(target, names[found.value]))
        else:
            made.append(with_bodies(item, lambda inner: _renamed(inner, names)))
    return tuple(made)
