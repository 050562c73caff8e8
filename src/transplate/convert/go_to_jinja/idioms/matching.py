"""Compares a Go tree with a pattern: names of variables may differ, and holes stand for any operand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from transplate.convert.go_to_jinja.resolve import Declaration, Resolution
from transplate.gotmpl import nodes as go

HOLE = "hole_"
"""A function of a pattern whose name begins like this is a hole: any operand, the same in all its places."""

_NODES = go.Operand | go.Item | go.Command | go.Else
_LAYOUT = frozenset({"span", "clause", "end", "spacing", "trailing_pipe"})


@dataclass
class Match:
    """What the parts of a pattern are in the tree that it was compared with.

    Attributes:
        length: How many items of the body it takes.
        holes: The operands of its holes, by name without :data:`HOLE`.
        names: The variables of the code, by the names of the pattern's.
    """

    length: int = 0
    holes: dict[str, go.Operand] = field(default_factory=dict)
    names: dict[str, go.Variable] = field(default_factory=dict)


def match(
    pattern: go.Body, body: go.Body, start: int, resolution: Resolution, dot: Declaration | None = None
) -> Match | None:
    """Return how a pattern matches the items of a body from one on, None if it does not.

    What the items declare and the pattern does not name as a result must not be read behind them; the caller
    checks that with :func:`escaping`.

    Args:
        pattern: The pattern.
        body: The body.
        start: Which item to begin at.
        resolution: What the variables of the body are.
        dot: The variable that holds what dot is in the body, if one does.
    """
    matcher = _Matcher(resolution, dot)
    at = start
    for wanted in said(pattern):
        while at < len(body) and not _says(body[at]):
            at += 1
        if at == len(body) or not matcher.same(wanted, body[at]):
            return None
        at += 1
    return Match(at - start, matcher.holes, matcher.names)


def escaping(items: go.Body, results: Iterable[go.Variable], resolution: Resolution) -> bool:
    """Tell whether a variable that items declare, other than a result, is used elsewhere."""
    kept = {variable.span for variable in results}
    declared = {
        resolution.declarations[variable.span]
        for item in items
        if isinstance(item, go.Action) and not item.pipeline.is_assignment
        for variable in item.pipeline.declarations
        if variable.span not in kept
    }
    inside = sum(resolution.of(variable) in declared for variable in variables_in(items))
    return inside != sum(one in declared for one in resolution.declarations.values())


def parts_of(node: object) -> Iterator[object]:
    """Yield every node of a tree, in the order in which they are written."""
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, tuple):
            pending.extend(reversed(one))
            continue
        yield one
        pending.extend(getattr(one, name) for name in reversed(_children(one)))


def variables_in(node: object) -> Iterator[go.Variable]:
    """Yield every variable of a tree, declarations included."""
    return (part for part in parts_of(node) if isinstance(part, go.Variable))


def rebuilt(node: Any, change: Callable[[object], object]) -> Any:
    """Return a tree with its nodes changed, those inside of others first."""
    if isinstance(node, tuple):
        return tuple(rebuilt(one, change) for one in node)
    children = {name: rebuilt(getattr(node, name), change) for name in _children(node)}
    return change(replace(node, **children) if children else node)


def inside(item: Any, change: Callable[[go.Body], go.Body]) -> Any:
    """Return an item with the bodies in it changed."""
    match item:
        case go.If() | go.With() | go.Range():
            return replace(item, body=change(item.body), orelse=inside(item.orelse, change))
        case go.Else() | go.Define() | go.Block():
            return replace(item, body=change(item.body))
        case _:
            return item


def _children(node: object) -> list[str]:
    names: tuple[str, ...] = getattr(type(node), "__slots__", ())
    return [name for name in names if name not in _LAYOUT] if isinstance(node, _NODES) else []


def _says(item: go.Item) -> bool:
    """Tell whether an item does anything."""
    return not (isinstance(item, go.Comment) or (isinstance(item, go.Text) and not item.value))


def said(body: go.Body) -> tuple[go.Item, ...]:
    """Return the items of a body that do anything."""
    return tuple(filter(_says, body))


class _Matcher:
    def __init__(self, resolution: Resolution, dot: Declaration | None) -> None:
        self.resolution = resolution
        self.dot = dot
        self.holes: dict[str, go.Operand] = {}
        self.names: dict[str, go.Variable] = {}
        self.declared: dict[str, Declaration | None] = {}
        self.depths: dict[str, int] = {}
        self.depth = 0

    def same(self, wanted: object, found: object) -> bool:
        match wanted, found:
            case go.Command((go.Identifier(name),)), go.Command(operands) if name.startswith(HOLE):
                return self.hole(name, operands[0] if len(operands) == 1 else go.Pipeline((found,)))
            case go.Identifier(name), _ if name.startswith(HOLE):
                return self.hole(name, found)
            case go.Pipeline(), go.Pipeline():
                return self.pipeline(wanted, found)
            case go.Variable(), go.Variable():
                return self.variable(wanted, found)
            case go.Range(), go.Range():
                return (
                    self.same(wanted.pipeline, found.pipeline)
                    and self.deeper(lambda: self.bodies(wanted.body, found.body))
                    and self.same(wanted.orelse, found.orelse)
                )
            case go.If(), go.If():
                return (
                    self.same(wanted.pipeline, found.pipeline)
                    and self.bodies(wanted.body, found.body)
                    and self.same(wanted.orelse, found.orelse)
                )
            case go.Else(), go.Else():
                return self.bodies(wanted.body, found.body)
            case go.Text(), go.Text():
                return wanted.value == found.value
            case go.String(), go.String():
                return wanted.value == found.value
            case go.Number(), go.Number():
                return type(wanted.value) is type(found.value) and wanted.value == found.value
            case tuple(), tuple():
                return len(wanted) == len(found) and all(map(self.same, wanted, found))
            case _ if type(wanted) is not type(found):
                return False
            case _:
                if not isinstance(wanted, _NODES):
                    return wanted == found
                children = _children(wanted)
                return all(self.same(getattr(wanted, name), getattr(found, name)) for name in children)

    def bodies(self, wanted: go.Body, found: go.Body) -> bool:
        """Compare two bodies, whose own variables hide others of the same name."""
        names, declared = dict(self.names), dict(self.declared)
        is_same = self.same(said(wanted), said(found))
        self.names, self.declared = names, declared
        return is_same

    def deeper(self, compare: Callable[[], bool]) -> bool:
        self.depth += 1
        try:
            return compare()
        finally:
            self.depth -= 1

    def pipeline(self, wanted: go.Pipeline, found: go.Pipeline) -> bool:
        if wanted.is_assignment != found.is_assignment or len(wanted.declarations) != len(found.declarations):
            return False
        if not self.same(wanted.commands, found.commands):
            return False
        for name, variable in zip(wanted.declarations, found.declarations, strict=True):
            if wanted.is_assignment:
                if not self.variable(name, variable):
                    return False
            else:
                self.names[name.name] = variable
                self.declared[name.name] = self.resolution.of(variable)
        return True

    def variable(self, wanted: go.Variable, found: go.Variable) -> bool:
        if wanted.fields != found.fields or wanted.name not in self.declared:
            return False
        return self.declared[wanted.name] is self.resolution.of(found)

    def hole(self, name: str, found: object) -> bool:
        """Take an operand for a hole; it must not depend on dot where the hole is in loops of two depths."""
        if not isinstance(found, go.Operand) or isinstance(found, go.Nil):
            return False
        name = name.removeprefix(HOLE)
        while isinstance(found, go.Pipeline) and _is_bare(found):
            found = found.commands[0].operands[0]
        if name not in self.holes:
            self.holes[name], self.depths[name] = found, self.depth
            return not any(self.resolution.of(one) in self.declared.values() for one in variables_in(found))
        if self.depths[name] != self.depth and (reads_dot(found) or not self.is_movable(name)):
            return False
        return self.equal(self.holes[name], found)

    def is_movable(self, name: str) -> bool:
        """Tell whether what a hole holds can be said where dot is something else."""
        held = self.holes[name]
        return not reads_dot(held) or (self.dot is not None and isinstance(held, go.Field))

    def equal(self, one: object, other: object) -> bool:
        """Compare two operands of the code: the same variables, and the same else."""
        match one, other:
            case (go.Field(names), go.Variable(_, fields)) if names == fields:
                return self.dot is not None and self.resolution.of(other) is self.dot
            case go.Variable(), go.Variable():
                return (one.name, one.fields) == (other.name, other.fields) and self.resolution.of(
                    one
                ) is self.resolution.of(other)
            case go.String() | go.Number(), _:
                return type(one) is type(other) and repr(one.value) == repr(other.value)
            case tuple(), tuple():
                return len(one) == len(other) and all(map(self.equal, one, other))
            case _ if type(one) is not type(other):
                return False
            case _:
                if not isinstance(one, _NODES):
                    return one == other
                children = _children(one)
                return all(self.equal(getattr(one, name), getattr(other, name)) for name in children)


def _is_bare(pipeline: go.Pipeline) -> bool:
    return (
        len(pipeline.commands) == 1
        and len(pipeline.commands[0].operands) == 1
        and not pipeline.declarations
        and not isinstance(pipeline.commands[0].operands[0], go.Identifier)
    )


def reads_dot(node: object) -> bool:
    """Tell whether an operand depends on what dot is."""
    return any(isinstance(part, go.Dot | go.Field) for part in parts_of(node))


def reads_own_dot(items: go.Body) -> bool:
    """Tell whether items read the dot that they are given."""
    for item in items:
        match item:
            case go.Range(pipeline, _, orelse) | go.With(pipeline, _, orelse):
                bodies: tuple[go.Body, ...] = (orelse.body,) if isinstance(orelse, go.Else) else ()
                if reads_dot(pipeline) or any(map(reads_own_dot, bodies)) or isinstance(orelse, go.With):
                    return True
            case go.If(pipeline, body, orelse):
                if reads_dot(pipeline) or reads_own_dot(body):
                    return True
                if orelse is not None and reads_own_dot(
                    orelse.body if isinstance(orelse, go.Else) else (orelse,)
                ):
                    return True
            case _:
                if reads_dot(item):
                    return True
    return False


def declared_by(item: go.Item) -> go.Variable:
    """Return the variable that a statement declares."""
    assert isinstance(item, go.Action)  # noqa: S101
    return item.pipeline.declarations[0]
