"""Binds every variable of a Go template to its declaration, by Go's scopes, before anything is lowered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from transplate.errors import UnsupportedTemplate
from transplate.gotmpl import nodes as go
from transplate.source import Source, Span


@dataclass(eq=False)
class Declaration:
    """One declaration of a variable and how the variable is used.

    Attributes:
        name: The variable's name with its dollar sign.
        loops: The loops around the declaration, outermost first, each by the span of its range.
        reads: How often the variable is read.
        assigned_in: For each assignment, the loops around it.
    """

    name: str
    loops: tuple[Span, ...]
    reads: int = 0
    assigned_in: list[tuple[Span, ...]] = field(default_factory=list)

    @property
    def outlives_a_loop(self) -> bool:
        """Whether a loop assigns the variable and may be followed by a read outside of it."""
        return any(loops != self.loops for loops in self.assigned_in)


@dataclass
class Resolution:
    """Which declaration each variable node means, by the node's span."""

    declarations: dict[Span, Declaration] = field(default_factory=dict)

    def of(self, variable: go.Variable) -> Declaration | None:
        """Return the declaration of a variable, None for the ``$`` that every template begins with."""
        return self.declarations.get(variable.span)


def resolve(tree: go.TemplateTree) -> Resolution:
    """Return the resolution of a whole file, associated templates included.

    Raises:
        UnsupportedTemplate: A variable is declared within parentheses, or nowhere.
    """
    resolver = _Resolver(tree.source)
    resolver.body(tree.body, {}, ())
    return resolver.resolution


_Scope = dict[str, Declaration]
_Loops = tuple[Span, ...]


class _Resolver:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.resolution = Resolution()

    def body(self, items: go.Body, outer: _Scope, loops: _Loops) -> None:
        scope = dict(outer)
        for item in items:
            self.item(item, scope, loops)

    def item(self, item: go.Item, scope: _Scope, loops: _Loops) -> None:
        match item:
            case go.Action(pipeline):
                self.pipeline(pipeline, scope, loops)
            case go.If() | go.With():
                self.branch(item, scope, loops)
            case go.Range():
                inside = dict(scope)
                within = (*loops, item.clause.span)
                self.pipeline(item.pipeline, inside, loops, declared_in=within)
                self.body(item.body, inside, within)
                if item.orelse is not None:
                    # Jinja forgets what the else of a loop sets, as what its body does.
                    self.body(item.orelse.body, inside, within)
            case go.TemplateCall(_, pipeline) if pipeline is not None:
                self.pipeline(pipeline, scope, loops)
            case go.Define(_, body):
                self.body(body, {}, ())
            case go.Block(_, pipeline, body):
                self.pipeline(pipeline, scope, loops)
                self.body(body, {}, ())
            case _:
                pass

    def branch(self, branch: go.If | go.With, outer: _Scope, loops: _Loops) -> None:
        scope = dict(outer)
        self.pipeline(branch.pipeline, scope, loops)
        self.body(branch.body, scope, loops)
        match branch.orelse:
            case go.If() | go.With() as chained:
                self.branch(chained, scope, loops)
            case go.Else(body):
                self.body(body, scope, loops)
            case None:
                pass

    def pipeline(
        self, pipeline: go.Pipeline, scope: _Scope, loops: _Loops, declared_in: _Loops | None = None
    ) -> None:
        for inner in _inner_pipelines(pipeline):
            if inner.declarations:
                raise self.refusal(inner.span, "a variable that is declared or assigned within parentheses")
        for variable in _variables(pipeline):
            if variable.name != "$" or variable.name in scope:
                declaration = self.declared(variable, scope)
                declaration.reads += 1
                self.resolution.declarations[variable.span] = declaration
        for variable in pipeline.declarations:
            if pipeline.is_assignment:
                declaration = self.declared(variable, scope)
                declaration.assigned_in.append(loops if declared_in is None else declared_in)
            else:
                declaration = Declaration(variable.name, loops if declared_in is None else declared_in)
                scope[variable.name] = declaration
            self.resolution.declarations[variable.span] = declaration

    def declared(self, variable: go.Variable, scope: _Scope) -> Declaration:
        """Return what a variable means; Go accepts an assignment that nothing declares, and fails there."""
        if variable.name not in scope:
            raise self.refusal(variable.span, f"{variable.name} is assigned and never declared")
        return scope[variable.name]

    def refusal(self, span: Span, message: str) -> UnsupportedTemplate:
        return UnsupportedTemplate(message, source=self.source, offset=span.start)


def _inner_pipelines(pipeline: go.Pipeline) -> Iterator[go.Pipeline]:
    for command in pipeline.commands:
        for operand in command.operands:
            while isinstance(operand, go.Chain):
                operand = operand.operand
            if isinstance(operand, go.Pipeline):
                yield operand
                yield from _inner_pipelines(operand)


def _variables(pipeline: go.Pipeline) -> Iterator[go.Variable]:
    for command in pipeline.commands:
        for operand in command.operands:
            yield from _of_operand(operand)


def _of_operand(operand: go.Operand) -> Iterator[go.Variable]:
    match operand:
        case go.Variable():
            yield operand
        case go.Chain(inner):
            yield from _of_operand(inner)
        case go.Pipeline():
            yield from _variables(operand)
        case _:
            pass
