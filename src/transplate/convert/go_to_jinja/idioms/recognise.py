"""Writes what ``to_go`` needs many statements for as calls of functions that no Go template has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from transplate.convert.go_to_jinja.idioms.lists import unpacked
from transplate.convert.go_to_jinja.idioms.matching import Match, escaping, match, variables_in
from transplate.convert.go_to_jinja.idioms.patterns import Idiom, candidates, printing_patterns
from transplate.convert.go_to_jinja.idioms.searches import said_of_the_whole
from transplate.convert.go_to_jinja.idioms.splits import over_parts
from transplate.convert.go_to_jinja.resolve import Declaration, Resolution, resolve
from transplate.gotmpl import nodes as go
from transplate.source import Span

_Branch = TypeVar("_Branch", go.If, go.With)

_LONGEST = 8
"""Items that an idiom takes at most, comments and line breaks left out."""


def recognised(tree: go.TemplateTree) -> go.TemplateTree:
    """Return a template in which every idiom is the call of a function.

    The functions are named in :mod:`transplate.convert.go_to_jinja.idioms.functions`. Go's parser refuses
    their names, so that no template can call them by itself.
    """
    recogniser = _Recogniser(resolve(tree))
    templates = {name: recogniser.body(body) for name, body in tree.templates.items()}
    calls = replace(tree, body=recogniser.body(tree.body), templates=templates)
    for rewritten in (said_of_the_whole, over_parts, unpacked):
        resolution = resolve(calls)
        calls = replace(
            calls,
            body=rewritten(calls.body, resolution),
            templates={name: rewritten(body, resolution) for name, body in calls.templates.items()},
        )
    return calls


class _Recogniser:
    def __init__(self, resolution: Resolution) -> None:
        self.resolution = resolution

    def body(self, items: go.Body, dot: Declaration | None = None) -> go.Body:
        """Return a body with its idioms as calls; ``dot`` is the variable that holds what dot is there."""
        for name, printing in printing_patterns():
            found = match(printing, items, 0, self.resolution)
            if found is not None and found.length == len(items):
                return (go.Action(_call(name, (go.Dot(_place(items[0])),), _place(items[0]))),)
        made: list[go.Item] = []
        at = 0
        while at < len(items):
            taken, calls = self.idiom(items, at, dot)
            made += calls if taken else [self.inside(items[at], dot)]
            at += taken or 1
        return tuple(made)

    def idiom(self, items: go.Body, at: int, dot: Declaration | None) -> tuple[int, list[go.Item]]:
        """Return how many items the idiom takes that begins at one, 0 if there is none, and its calls."""
        match items[at]:
            case go.Action(go.Pipeline(declarations=(_,), is_assignment=False)):
                pass
            case _:
                return 0, []
        said = tuple(
            item for item in items[at : at + 3 * _LONGEST] if not isinstance(item, go.Comment | go.Text)
        )
        for idiom in candidates(said[:_LONGEST]):
            matches = (match(pattern, items, at, self.resolution, dot) for pattern in idiom.patterns)
            found = next((one for one in matches if one is not None), None)
            if found is not None and self.is_safe(items[at : at + found.length], idiom, found):
                return found.length, _calls(idiom, found, items[at])
        return 0, []

    def is_safe(self, items: go.Body, idiom: Idiom, found: Match) -> bool:
        """Tell whether nothing but the results of an idiom is used behind it."""
        results = [found.names[f"${name}"] for name, _ in idiom.results]
        taken = {part.name for operand in found.holes.values() for part in variables_in(operand)}
        if len(results) > 1 and taken & {one.name for one in results}:
            return False
        return not escaping(items, results, self.resolution)

    def element(self, loop: go.Range) -> Declaration | None:
        """Return the variable that holds the elements of a loop and nothing else, if there is one."""
        match loop.pipeline:
            case go.Pipeline(declarations=(*_, variable), is_assignment=False):
                found = self.resolution.of(variable)
                return found if found is not None and not found.assigned_in else None
            case _:
                return None

    def branch(self, branch: _Branch, inner: Declaration | None, dot: Declaration | None) -> _Branch:
        """Return an if or a with; ``inner`` is the variable that holds dot in its body."""
        orelse: Any = branch.orelse
        if isinstance(orelse, go.Else):
            orelse = replace(orelse, body=self.body(orelse.body, dot))
        elif orelse is not None:
            orelse = self.branch(orelse, inner, dot)
        return replace(branch, body=self.body(branch.body, inner), orelse=orelse)

    def inside(self, item: go.Item, dot: Declaration | None) -> go.Item:
        """Return an item with the idioms in its bodies as calls."""
        match item:
            case go.If():
                return self.branch(item, dot, dot)
            case go.With():
                return self.branch(item, None, dot)
            case go.Range():
                orelse = item.orelse
                if orelse is not None:
                    orelse = replace(orelse, body=self.body(orelse.body, dot))
                return replace(item, body=self.body(item.body, self.element(item)), orelse=orelse)
            case go.Define() | go.Block():
                return replace(item, body=self.body(item.body))
            case _:
                return item


def _calls(idiom: Idiom, found: Match, first: go.Item) -> list[go.Item]:
    span = _place(first)
    operands = [found.holes[name] for name in "spq" if name in found.holes]
    operands += [go.String("", constant, span) for constant in idiom.constants]
    return [
        go.Action(replace(_call(function, tuple(operands), span), declarations=(found.names[f"${name}"],)))
        for name, function in idiom.results
    ]


def _call(function: str, operands: tuple[go.Operand, ...], span: Span) -> go.Pipeline:
    return go.Pipeline((go.Command((go.Identifier(function, span), *operands), span),), span=span)


def _place(item: go.Item) -> Span:
    return item.span if isinstance(item, go.Text) else item.clause.span
