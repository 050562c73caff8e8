"""Leaves out variables that only hand a value on to another, and assignments of what a variable is already.

Where the values of branches are brought together, each level of branches has a variable of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.operands import both, either, functions_in, negated, variables_of
from transplate.convert.jinja_to_go.trees import (
    alike,
    bodies_of,
    declared_in,
    declared_within,
    variables_in,
    with_bodies,
    with_variables,
)
from transplate.gotmpl.nodes import (
    Action,
    Body,
    Bool,
    Break,
    Comment,
    Continue,
    Else,
    If,
    Item,
    Number,
    Operand,
    Pipeline,
    Range,
    String,
    Variable,
)
from transplate.gotmpl.printer import print_node

_MAY_FAIL = frozenset({"index", "slice"})


def without_copies(body: Body, kept: Collection[str]) -> Body:
    """Return a tree that sets fewer variables, and prints the same.

    Args:
        body: The tree.
        kept: Variables whose statements belong together, and stay.
    """
    coalesced = _coalesced(_without_names(body, kept), kept)
    settled, _ = _settled(coalesced, {}, kept)
    return _flat(settled)


# --- variables that hand a value on ---------------------------------------------------------------------


def _without_names(body: Body, kept: Collection[str]) -> Body:
    """Leave out second names of variables, where neither changes."""
    items = list(body)
    for at in range(len(items) - 1, -1, -1):
        item = items[at]
        if not isinstance(item, Action) or item.pipeline.is_assignment or not item.pipeline.declarations:
            continue
        source, name = _only(item.pipeline), item.pipeline.declarations[0].name
        if not isinstance(source, Variable) or source.fields or name in kept:
            continue
        rest = items[at + 1 :]
        if not {source.name, name} & declared_within(rest):
            other = source.name

            def renamed(one: Variable, name: str = name, other: str = other) -> Variable:
                return Variable(other, one.fields) if one.name == name else one

            items[at:] = [with_variables(one, renamed) for one in rest]
    return tuple(with_bodies(item, lambda inner: _without_names(inner, kept)) for item in items)


def _coalesced(body: Body, kept: Collection[str]) -> Body:
    """Write to a variable directly what is written to another and copied from there."""
    items = [with_bodies(item, lambda inner: _coalesced(inner, kept)) for item in body]
    names = [_names(item) for item in items]
    at = 0
    while at < len(items):
        begin = _declaration(items, names, at, kept)
        if begin is None:
            at += 1
            continue
        copy, first = items[at], items[begin]
        assert isinstance(copy, Action)  # noqa: S101
        assert isinstance(first, Action)  # noqa: S101
        source, target = first.pipeline.declarations[0].name, copy.pipeline.declarations[0].name

        def moved(one: Variable, source: str = source, target: str = target) -> Variable:
            return Variable(target, one.fields) if one.name == source else one

        items[begin : at + 1] = [with_variables(item, moved) for item in items[begin:at]]
        if copy.pipeline.is_assignment:
            changed = items[begin]
            assert isinstance(changed, Action)  # noqa: S101
            declaration = changed.pipeline
            items[begin] = Action(
                Pipeline(declaration.commands, declaration.declarations, is_assignment=True)
            )
        names[begin : at + 1] = [_names(item) for item in items[begin:at]]
    return tuple(items)


def _declaration(items: list[Item], names: list[set[str]], at: int, kept: Collection[str]) -> int | None:
    """Return where the variable is declared that a statement copies, None if it is more than handed on."""
    copy = items[at]
    if not isinstance(copy, Action) or len(copy.pipeline.declarations) != 1:
        return None
    source, target = _only(copy.pipeline), copy.pipeline.declarations[0].name
    if not isinstance(source, Variable) or source.fields or target in kept or source.name == target:
        return None
    if any(source.name in later for later in names[at + 1 :]):
        return None
    for begin in range(at - 1, -1, -1):
        item = items[begin]
        if source.name in declared_in((item,)):
            is_set_again = any(source.name in between for between in names[begin + 1 : at])
            return None if is_set_again and source.name in kept else begin
        if target in names[begin] or (copy.pipeline.is_assignment and _leaves(item)):
            return None
    return None


def _only(pipeline: Pipeline) -> Operand | None:
    """Return what a pipeline is, if it is one operand."""
    if len(pipeline.commands) == 1 and len(pipeline.commands[0].operands) == 1:
        return pipeline.commands[0].operands[0]
    return None


def _names(item: Item) -> set[str]:
    """Return the variables that an item has anywhere."""
    return set(variables_in((item,)))


def _leaves(item: Item) -> bool:
    """Tell whether an item may leave a loop around it."""
    if isinstance(item, If):
        return any(_leaves(one) for body in bodies_of(item) for one in body)
    return isinstance(item, Break | Continue)


# --- what a variable is already -------------------------------------------------------------------------


def _settled(body: Body, known: dict[str, str], kept: Collection[str]) -> tuple[Body, dict[str, str] | None]:
    """Leave out assignments of the constant that a variable is.

    Returns:
        The body, and the constants that variables are behind it; None if nothing comes behind it.
    """
    made: list[Item] = []
    for index, item in enumerate(body):
        if isinstance(item, Break | Continue):
            return (*made, *body[index:]), None
        if isinstance(item, Action) and item.pipeline.declarations:
            name, constant = item.pipeline.declarations[0].name, _constant(item.pipeline)
            is_same = constant is not None and known.get(name) == constant and item.pipeline.is_assignment
            if is_same and name not in kept:
                continue
            known = {other: value for other, value in known.items() if other != name}
            if constant is not None:
                known[name] = constant
            made.append(item)
        elif isinstance(item, If):
            branch, after = _settled_branch(item, known, kept)
            made.append(branch)
            if after is None:
                return (*made, *body[index + 1 :]), None
            known = after
        elif isinstance(item, Range):
            changed = declared_within((item,))
            known = {name: value for name, value in known.items() if name not in changed}
            inner, _ = _settled(item.body, dict(known), kept)
            made.append(Range(item.pipeline, inner, item.orelse))
        else:
            made.append(item)
    return tuple(made), known


def _settled_branch(
    item: If, known: dict[str, str], kept: Collection[str]
) -> tuple[If, dict[str, str] | None]:
    body, first = _settled(item.body, dict(known), kept)
    orelse: Else | If | None = None
    second: dict[str, str] | None = known
    if isinstance(item.orelse, If):
        orelse, second = _settled_branch(item.orelse, dict(known), kept)
    elif item.orelse is not None:
        inner, second = _settled(item.orelse.body, dict(known), kept)
        orelse = Else(inner) if inner else None
    made = If(item.pipeline, body, orelse, end=item.end)
    if first is None or second is None:
        return made, second if first is None else first
    return made, dict(first.items() & second.items())


def _constant(pipeline: Pipeline) -> str | None:
    only = _only(pipeline)
    return print_node(only) if isinstance(only, Bool | Number | String) else None


# --- ifs ------------------------------------------------------------------------------------------------


def _flat(body: Body) -> Body:
    """Turn ifs around of which only the else does something, and make one of two that are in one another."""
    made: list[Item] = []
    for item in body:
        item = with_bodies(item, _flat)
        if isinstance(item, If):
            made.extend(_flat_branch(item))
        else:
            made.append(item)
    return _declared_late(made)


def _declared_late(items: list[Item]) -> Body:
    """Leave out first values of variables that get another one before they are read."""
    names = [_names(item) for item in items]
    at = 0
    while at < len(items):
        item = items[at]
        if isinstance(item, Action) and item.pipeline.is_assignment and len(item.pipeline.declarations) == 1:
            name = item.pipeline.declarations[0].name
            before = next((index for index in range(at - 1, -1, -1) if name in names[index]), None)
            is_read = name in variables_of(Pipeline(item.pipeline.commands))
            if before is not None and not is_read and _is_first_value(items[before], name):
                items[at] = Action(Pipeline(item.pipeline.commands, item.pipeline.declarations))
                del items[before], names[before]
                continue
        at += 1
    return tuple(items)


def _flat_branch(item: If) -> Iterable[Item]:
    if not _does_something(item.body):
        if item.orelse is None:
            if _MAY_FAIL.isdisjoint(functions_in(item.pipeline)):
                return
            yield item
            return
        other = item.orelse
        body = other.body if isinstance(other, Else) else (If(other.pipeline, other.body, other.orelse),)
        item = If(build.pipeline(negated(_operand(item.pipeline))), body)
    item = _chained(item)
    if isinstance(item.orelse, Else) and _leaves_at_end(item.orelse.body):
        yield from (If(build.pipeline(negated(_operand(item.pipeline))), item.orelse.body), *item.body)
        return
    if item.orelse is None and len(item.body) == 1:
        inside = item.body[0]
        if isinstance(inside, If) and inside.orelse is None:
            item = If(build.pipeline(both(_operand(item.pipeline), _operand(inside.pipeline))), inside.body)
    yield item


def _chained(item: If) -> If:
    """Write an else that is one if alone as a chain, and ways in a row that say the same as one."""
    orelse = item.orelse
    if isinstance(orelse, Else) and len(orelse.body) == 1 and isinstance(orelse.body[0], If):
        inner = orelse.body[0]
        orelse = If(inner.pipeline, inner.body, inner.orelse, end=None)
    if isinstance(orelse, If):
        orelse = _chained(orelse)
        if alike(item.body) == alike(orelse.body):
            test = either(_operand(item.pipeline), _operand(orelse.pipeline))
            return If(build.pipeline(test), item.body, orelse.orelse, end=item.end)
    return If(item.pipeline, item.body, orelse, end=item.end)


def _operand(pipeline: Pipeline) -> Operand:
    return _only(pipeline) or pipeline


def _leaves_at_end(body: Body) -> bool:
    return isinstance(body[-1] if body else None, Break | Continue)


def _is_first_value(item: Item, name: str) -> bool:
    return isinstance(item, Action) and name in declared_in((item,)) and _constant(item.pipeline) is not None


def _does_something(body: Body) -> bool:
    return any(not isinstance(item, Comment) for item in body)
