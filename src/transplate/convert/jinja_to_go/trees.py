"""Walks through a Go tree: what is inside of an item, what it reads and what it sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from transplate.convert.jinja_to_go.operands import variables_of
from transplate.gotmpl.nodes import Action, Body, Else, If, Item, Pipeline, Range, TemplateCall


def bodies_of(item: Item) -> Iterator[Body]:
    """Yield the bodies of an if or a loop."""
    if isinstance(item, Range):
        yield item.body
    elif isinstance(item, If):
        yield item.body
        if isinstance(item.orelse, If):
            yield from bodies_of(item.orelse)
        elif item.orelse is not None:
            yield item.orelse.body


def with_bodies(item: Item, change: Callable[[Body], Body]) -> Item:
    """Return an item with its bodies changed."""
    if isinstance(item, Range):
        return Range(item.pipeline, change(item.body), item.orelse)
    if isinstance(item, If):
        orelse: Else | If | None = None
        if isinstance(item.orelse, If):
            chained = with_bodies(item.orelse, change)
            assert isinstance(chained, If)  # noqa: S101
            orelse = chained
        elif item.orelse is not None:
            orelse = Else(change(item.orelse.body))
        return If(item.pipeline, change(item.body), orelse, end=item.end)
    return item


def items_within(body: Body) -> Iterator[Item]:
    """Yield all items of a body, those of its ifs and loops too."""
    for item in body:
        yield item
        for inner in bodies_of(item):
            yield from items_within(inner)


def reads_of(item: Item) -> Iterator[str]:
    """Yield the variables that an item reads itself, not those that its bodies do."""
    for found in _pipelines_of(item):
        yield from variables_of(Pipeline(found.commands))


def assigned_in(body: Body) -> set[str]:
    """Return the variables that are given another value in a body."""
    return {
        item.pipeline.declarations[0].name
        for item in items_within(body)
        if isinstance(item, Action) and item.pipeline.is_assignment
    }


def called_in(body: Body) -> set[str]:
    """Return the names of the templates that a body calls."""
    return {item.name.value for item in items_within(body) if isinstance(item, TemplateCall)}


def _pipelines_of(item: Item) -> Iterator[Pipeline]:
    if isinstance(item, Action | Range):
        yield item.pipeline
    elif isinstance(item, TemplateCall):
        yield from () if item.pipeline is None else (item.pipeline,)
    while isinstance(item, If):
        yield item.pipeline
        if not isinstance(item.orelse, If):
            break
        item = item.orelse
