"""Leaves out what nothing reads: variables, and the branches and loops that do nothing else than set them."""

from __future__ import annotations

from collections.abc import Iterable

from transplate.convert.jinja_to_go.operands import variables_of
from transplate.gotmpl.nodes import (
    Action,
    Body,
    Break,
    Continue,
    Else,
    If,
    Item,
    Pipeline,
    Range,
    TemplateCall,
    Text,
    Variable,
)


def without_unread(body: Body) -> Body:
    """Return a tree without the variables that no output depends on."""
    reads: dict[str, set[str]] = {}
    live: set[str] = set()
    _collect(body, frozenset(), reads, live)
    pending = list(live)
    while pending:
        for name in reads.get(pending.pop(), ()):
            if name not in live:
                live.add(name)
                pending.append(name)
    return _kept(body, live)


def _collect(
    body: Iterable[Item], control: frozenset[str], reads: dict[str, set[str]], live: set[str]
) -> None:
    """Note what each variable is made of, and what is printed; ``control`` decides if this is reached."""
    for item in body:
        if isinstance(item, Action):
            found = control.union(_variables(item.pipeline))
            if item.pipeline.declarations:
                reads.setdefault(item.pipeline.declarations[0].name, set()).update(found)
            else:
                live |= found
        elif isinstance(item, TemplateCall):
            live |= control
            if item.pipeline is not None:
                live.update(_variables(item.pipeline))
        elif isinstance(item, Text):
            live |= control
        elif isinstance(item, If):
            _collect_if(item, control, reads, live)
        elif isinstance(item, Range):
            over = control.union(_variables(item.pipeline))
            if not item.body:
                live |= over
            for variable in item.pipeline.declarations:
                reads.setdefault(variable.name, set()).update(over)
            _collect(item.body, over.union(_leaving(item.body, frozenset())), reads, live)


def _collect_if(item: If, control: frozenset[str], reads: dict[str, set[str]], live: set[str]) -> None:
    inner = control.union(_variables(item.pipeline))
    _collect(item.body, inner, reads, live)
    if isinstance(item.orelse, If):
        _collect_if(item.orelse, inner, reads, live)
    elif item.orelse is not None:
        _collect(item.orelse.body, inner, reads, live)


def _leaving(body: Iterable[Item], control: frozenset[str]) -> frozenset[str]:
    """Return the variables that decide whether a loop is left."""
    found: frozenset[str] = frozenset()
    for item in body:
        if isinstance(item, Break | Continue):
            found |= control
        elif isinstance(item, If):
            inner = control.union(_variables(item.pipeline))
            found |= _leaving(item.body, inner)
            if isinstance(item.orelse, If):
                found |= _leaving((item.orelse,), inner)
            elif item.orelse is not None:
                found |= _leaving(item.orelse.body, inner)
    return found


def _variables(pipeline: Pipeline) -> frozenset[str]:
    return frozenset(variables_of(Pipeline(pipeline.commands)))


def _kept(body: Body, live: set[str]) -> Body:
    made: list[Item] = []
    for item in body:
        if isinstance(item, Action) and item.pipeline.declarations:
            if item.pipeline.declarations[0].name in live:
                made.append(item)
        elif isinstance(item, If):
            branch = _kept_branch(item, live)
            if branch.body or branch.orelse is not None:
                made.append(branch)
        elif isinstance(item, Range):
            inner = _kept(item.body, live)
            if not item.body or _does_something(inner):
                made.append(Range(_range_pipeline(item.pipeline, live), inner, item.orelse))
        else:
            made.append(item)
    return tuple(made)


def _kept_branch(item: If, live: set[str]) -> If:
    body = _kept(item.body, live)
    orelse: Else | If | None = None
    if isinstance(item.orelse, If):
        found = _kept_branch(item.orelse, live)
        orelse = found if found.body or found.orelse is not None else None
    elif item.orelse is not None:
        inner = _kept(item.orelse.body, live)
        orelse = Else(inner) if inner else None
    return If(item.pipeline, body, orelse, end=item.end)


def _does_something(body: Body) -> bool:
    """Tell whether a loop's body does more than to leave the loop."""
    for item in body:
        if isinstance(item, If):
            if _does_something(item.body):
                return True
            if isinstance(item.orelse, If) and _does_something((item.orelse,)):
                return True
            if isinstance(item.orelse, Else) and _does_something(item.orelse.body):
                return True
        elif not isinstance(item, Break | Continue):
            return True
    return False


def _range_pipeline(pipeline: Pipeline, live: set[str]) -> Pipeline:
    names = pipeline.declarations
    if len(names) == 2 and names[0].name not in live:
        if names[1].name in live:
            return Pipeline(pipeline.commands, (Variable("$_"), names[1]))
        return Pipeline(pipeline.commands)
    if len(names) == 2 and names[1].name not in live:
        return Pipeline(pipeline.commands, (names[0], Variable("$_")))
    if len(names) == 1 and names[0].name not in live:
        return Pipeline(pipeline.commands)
    return pipeline
