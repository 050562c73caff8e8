"""Go's statements: what is inside of one, what it reads and what it sets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from transplate.convert.jinja_to_go.operands import variables_of
from transplate.gotmpl.nodes import (
    Action,
    Body,
    Chain,
    Command,
    Else,
    If,
    Item,
    Operand,
    Pipeline,
    Range,
    TemplateCall,
    Text,
    Variable,
)
from transplate.gotmpl.printer import print_template


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


def with_parts(item: Item, pipeline: Callable[[Pipeline], Pipeline], body: Callable[[Body], Body]) -> Item:
    """Return an item with its pipelines and its bodies changed."""
    if isinstance(item, Action):
        return Action(pipeline(item.pipeline))
    if isinstance(item, TemplateCall) and item.pipeline is not None:
        return TemplateCall(item.name, pipeline(item.pipeline))
    if isinstance(item, Range):
        return Range(pipeline(item.pipeline), body(item.body), item.orelse)
    if isinstance(item, If):
        orelse: Else | If | None = None
        if isinstance(item.orelse, If):
            chained = with_parts(item.orelse, pipeline, body)
            assert isinstance(chained, If)  # noqa: S101
            orelse = chained
        elif item.orelse is not None:
            orelse = Else(body(item.orelse.body))
        return If(pipeline(item.pipeline), body(item.body), orelse, end=item.end)
    return item


def with_bodies(item: Item, change: Callable[[Body], Body]) -> Item:
    """Return an item with its bodies changed."""
    return with_parts(item, lambda pipeline: pipeline, change) if isinstance(item, If | Range) else item


def with_variables(item: Item, change: Callable[[Variable], Variable]) -> Item:
    """Return an item with other variables, those that it declares too."""

    def operand(one: Operand) -> Operand:
        if isinstance(one, Variable):
            return change(one)
        if isinstance(one, Chain):
            return Chain(operand(one.operand), one.fields)
        return pipeline(one) if isinstance(one, Pipeline) else one

    def pipeline(one: Pipeline) -> Pipeline:
        commands = tuple(
            Command(tuple(operand(item) for item in command.operands)) for command in one.commands
        )
        return Pipeline(commands, tuple(map(change, one.declarations)), one.is_assignment)

    return with_parts(item, pipeline, lambda body: tuple(with_variables(one, change) for one in body))


def alike(body: Body) -> str:
    """Return the same text for bodies that differ at most in the names of what they declare."""
    declared = declared_within(body, is_new=True)
    numbers: dict[str, str] = {}

    def numbered(one: Variable) -> Variable:
        if one.name not in declared:
            return one
        return Variable(numbers.setdefault(one.name, f"$_{len(numbers)}"), one.fields)

    return print_template(tuple(with_variables(item, numbered) for item in body))


def items_within(body: Iterable[Item]) -> Iterator[Item]:
    """Yield all items of a body, those of its ifs and loops too."""
    for item in body:
        yield item
        for inner in bodies_of(item):
            yield from items_within(inner)


def reads_of(item: Item) -> Iterator[str]:
    """Yield the variables that an item reads itself, not those that its bodies do."""
    for found in pipelines_of(item):
        yield from variables_of(Pipeline(found.commands))


def variables_in(body: Iterable[Item]) -> Iterator[str]:
    """Yield the variables that a body reads, declares or sets."""
    for item in items_within(body):
        for pipeline in pipelines_of(item):
            yield from variables_of(pipeline)
            yield from (variable.name for variable in pipeline.declarations)


def declared_in(body: Iterable[Item]) -> Iterator[str]:
    """Yield the variables that a body declares for what follows it."""
    for item in body:
        if isinstance(item, Action) and not item.pipeline.is_assignment:
            yield from (variable.name for variable in item.pipeline.declarations)


def declared_within(body: Iterable[Item], *, is_new: bool = False) -> set[str]:
    """Return all variables that a body declares, and, unless only new ones are asked for, assigns to."""
    pipelines = (pipeline for item in items_within(body) for pipeline in pipelines_of(item))
    return {
        variable.name
        for pipeline in pipelines
        for variable in pipeline.declarations
        if not (is_new and pipeline.is_assignment)
    }


def assigned_in(body: Iterable[Item], failures: Collection[str]) -> Iterator[str]:
    """Yield the variables that a body assigns to; an empty name for what it prints.

    Args:
        body: The items.
        failures: The messages that some of them stop with.
    """
    for item in items_within(body):
        if isinstance(item, TemplateCall) and item.name.value in failures:
            continue
        if isinstance(item, Action) and (item.pipeline.is_assignment or not item.pipeline.declarations):
            yield from (variable.name for variable in item.pipeline.declarations or (Variable(""),))
        elif isinstance(item, Text | TemplateCall):
            yield ""


def called_in(body: Body) -> set[str]:
    """Return the names of the templates that a body calls."""
    return {item.name.value for item in items_within(body) if isinstance(item, TemplateCall)}


def pipelines_of(item: Item) -> Iterator[Pipeline]:
    """Yield the pipelines of an item, not those of its bodies."""
    if isinstance(item, Action | Range):
        yield item.pipeline
    elif isinstance(item, TemplateCall):
        yield from () if item.pipeline is None else (item.pipeline,)
    while isinstance(item, If):
        yield item.pipeline
        if not isinstance(item.orelse, If):
            break
        item = item.orelse
