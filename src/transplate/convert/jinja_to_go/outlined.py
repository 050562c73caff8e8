"""Makes a template of statements that only print and are there more than once.

A run of statements can be a template if it sets nothing that is read behind it and takes one thing at most,
which the template gets as dot. Runs that differ only in the names of what they declare, and in what they
take, are the same template.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.operands import base_name, parts_of, variables_of
from transplate.convert.jinja_to_go.trees import (
    alike,
    bodies_of,
    declared_within,
    items_within,
    pipelines_of,
    with_bodies,
    with_variables,
)
from transplate.gotmpl.nodes import (
    Action,
    Body,
    Break,
    Chain,
    Comment,
    Continue,
    Define,
    Dot,
    Field,
    If,
    Item,
    Pipeline,
    Range,
    TemplateCall,
    Text,
    Variable,
)
from transplate.gotmpl.printer import print_node

_SHORTEST = 250
"""How many characters are worth a template."""
_CALL = 40
_LONGEST = 80
_MOST = 60
_NAME = re.compile(r"\$[\w.]*")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SEEN = frozenset({"Thinking", "ToolCalls"})
"""The fields that Ollama looks for with the text around them: they stay where they are."""


@dataclass(frozen=True, eq=False)
class _Sight:
    """What matters of a statement, or of several in a row.

    Attributes:
        shape: The same number for all that differ at most in variables.
        size: How long it is.
        free: The variables from outside that it has.
        declared: The variables that it declares for what follows.
        assigned: The variables from outside that it assigns to.
        is_bound: Whether it leaves a loop around it, or has the dot of one.
    """

    shape: int
    size: int
    free: frozenset[str]
    declared: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    is_bound: bool = False


@dataclass(frozen=True, eq=False)
class _Site:
    """Where a run of statements is, and what it takes."""

    body: Body
    begin: int
    end: int
    free: str


_Call: TypeAlias = tuple[_Site, Variable]
"""A place that calls a template, and what the template takes."""


@dataclass(frozen=True, eq=False)
class _Outline:
    """A run of statements as the body of a template.

    Attributes:
        text: The same for all that print the same of what they take.
        body: The statements.
        operand: What they take; anything if that is nothing, for Ollama wants calls to hand over something.
    """

    text: str
    body: Body
    operand: Variable


def outlined(
    bodies: Sequence[Body], taken: Collection[str], failures: Collection[str]
) -> tuple[list[Body], list[Define]]:
    """Return bodies that call templates for what they print in more than one place.

    Args:
        bodies: The trees of a template and of those that it defines.
        taken: The names of the templates that there are.
        failures: The messages that some calls of templates stop with.

    Returns:
        The bodies, and the definitions that they need besides.
    """
    made, names = list(bodies), {*taken, *failures}
    survey = _Survey(failures)
    definitions: list[Define] = []
    for _ in range(_MOST):
        found = survey.best(made)
        if found is None:
            break
        outline, calls = found
        name = _name_for(outline, names)
        names.add(name)
        made = [
            *(_replaced(body, calls, name) for body in made),
            outline.body,
        ]
        definitions.append(Define(build.string(name), outline.body))
    inner = made[len(bodies) :]
    return made[: len(bodies)], [Define(one.name, body) for one, body in zip(definitions, inner, strict=True)]


class _Survey:
    """Looks for what is there more than once."""

    def __init__(self, failures: Collection[str]) -> None:
        self._failures = failures
        self._shapes: dict[object, int] = {}
        self._sights: dict[int, tuple[Item, _Sight]] = {}

    def best(self, bodies: Iterable[Body]) -> tuple[_Outline, dict[int, list[_Call]]] | None:
        """Return what saves most, with its places by the body that they are in; None if nothing does."""
        runs: dict[int, tuple[int, list[_Site]]] = {}
        for body in bodies:
            for inner in _bodies_within(body):
                self._note(inner, runs)
        order = sorted(
            (one for one in runs.values() if _saved(one[0], len(one[1])) > 0),
            key=lambda one: -_saved(one[0], len(one[1])),
        )
        chosen: tuple[int, _Outline, list[_Call]] | None = None
        for size, sites in order:
            if chosen is not None and chosen[0] >= _saved(size, len(sites)):
                break
            groups: dict[str, list[tuple[_Site, _Outline]]] = {}
            for site in sites:
                outline = self._outline(site)
                if outline is not None:
                    groups.setdefault(outline.text, []).append((site, outline))
            for group in groups.values():
                apart = _apart(group)
                saved = _saved(size, len(apart))
                if saved > (0 if chosen is None else chosen[0]):
                    chosen = saved, apart[0][1], [(site, outline.operand) for site, outline in apart]
        if chosen is None:
            return None
        calls: dict[int, list[_Call]] = {}
        for site, operand in chosen[2]:
            calls.setdefault(id(site.body), []).append((site, operand))
        return chosen[1], calls

    def _note(self, body: Body, runs: dict[int, tuple[int, list[_Site]]]) -> None:
        """Note the runs of statements of a body that may be templates, by their shapes."""
        sights = [self._sight(item) for item in body]
        read: list[frozenset[str]] = [frozenset()]
        for sight in reversed(sights):
            read.append(read[-1] | sight.free)
        read.reverse()
        for begin in range(len(body)):
            free: set[str] = set()
            declared: set[str] = set()
            shape, size = -1, 0
            for end in range(begin, min(len(body), begin + _LONGEST)):
                sight = sights[end]
                free |= sight.free - declared
                if len(free) > 1 or sight.is_bound or sight.assigned - declared:
                    break
                declared |= sight.declared
                shape = self._number((shape, sight.shape))
                size += sight.size
                if size >= _SHORTEST and not declared & read[end + 1]:
                    known = runs.setdefault(shape, (size, []))
                    known[1].append(_Site(body, begin, end + 1, next(iter(free), "")))

    def _number(self, shape: object) -> int:
        return self._shapes.setdefault(shape, len(self._shapes))

    def _sight(self, item: Item) -> _Sight:
        known = self._sights.get(id(item))
        if known is None:
            known = self._sights[id(item)] = item, self._seen(item)
        return known[1]

    def _seen(self, item: Item) -> _Sight:
        if isinstance(item, Text):
            return _Sight(self._number(("text", item.value)), len(item.value), frozenset())
        if isinstance(item, Comment):
            return _Sight(self._number(("comment", item.text)), len(item.text), frozenset())
        if isinstance(item, Break | Continue):
            return _Sight(self._number(type(item)), 13, frozenset(), is_bound=True)
        if isinstance(item, Action):
            return self._of_pipeline("", item.pipeline)
        if isinstance(item, TemplateCall):
            if item.pipeline is None or item.name.value in self._failures:
                return _Sight(self._number(("call", item.name.value)), len(item.name.text), frozenset())
            return self._of_pipeline(item.name.text, item.pipeline)
        if isinstance(item, If):
            orelse = item.orelse
            bodies = [
                item.body,
                (orelse,) if isinstance(orelse, If) else () if orelse is None else orelse.body,
            ]
            return self._branched(self._of_pipeline("if", item.pipeline), map(self._together, bodies))
        if isinstance(item, Range) and item.orelse is None:
            inner = self._together(item.body)
            names = frozenset(variable.name for variable in item.pipeline.declarations)
            unbound = _Sight(inner.shape, inner.size, inner.free - names, assigned=inner.assigned - names)
            return self._branched(self._of_pipeline("range", item.pipeline), [unbound])
        return _Sight(self._number(id(item)), 0, frozenset(), is_bound=True)

    def _of_pipeline(self, word: str, pipeline: Pipeline) -> _Sight:
        text = print_node(pipeline)
        names = frozenset(variables_of(Pipeline(pipeline.commands)))
        targets = frozenset(one.name for one in pipeline.declarations)
        return _Sight(
            self._number((word, _NAME.sub("$", text))),
            len(word) + len(text) + 7,
            names | targets if pipeline.is_assignment else names,
            frozenset() if pipeline.is_assignment else targets,
            targets if pipeline.is_assignment else frozenset(),
            any(isinstance(one, Dot | Field) for one in parts_of(pipeline)),
        )

    def _branched(self, head: _Sight, inner: Iterable[_Sight]) -> _Sight:
        parts = [head, *inner]
        return _Sight(
            self._number(tuple(one.shape for one in parts)),
            sum(one.size for one in parts) + 9,
            head.free.union(*(one.free - head.declared for one in parts[1:])),
            assigned=head.assigned.union(*(one.assigned - head.declared for one in parts[1:])),
            is_bound=any(one.is_bound for one in parts),
        )

    def _together(self, body: Body) -> _Sight:
        free: set[str] = set()
        declared: set[str] = set()
        assigned: set[str] = set()
        sights = [self._sight(item) for item in body]
        for sight in sights:
            free |= sight.free - declared
            assigned |= sight.assigned - declared
            declared |= sight.declared
        return _Sight(
            self._number(tuple(sight.shape for sight in sights)),
            sum(sight.size for sight in sights),
            frozenset(free),
            assigned=frozenset(assigned),
            is_bound=any(sight.is_bound for sight in sights),
        )

    def _outline(self, site: _Site) -> _Outline | None:
        """Return a run of statements as a template, None if it cannot be one."""
        items = site.body[site.begin : site.end]
        pipelines = (pipeline for item in items_within(items) for pipeline in pipelines_of(item))
        if any(_SEEN.intersection(_fields(part)) for one in pipelines for part in parts_of(one)):
            return None
        prefix = self._prefix(items, site.free)

        def taken(one: Variable) -> Variable:
            return Variable("$", one.fields[len(prefix) :]) if one.name == site.free else one

        body = tuple(with_variables(item, taken) for item in items)
        if "$" in declared_within(body):
            return None
        return _Outline(alike(body), body, Variable(site.free or "$", prefix))

    def _prefix(self, items: Body, name: str) -> tuple[str, ...]:
        """Return the fields that all uses of a variable begin with, if they are read in any case."""
        first: Pipeline | None = None
        uses: list[tuple[str, ...]] = []
        for item in items_within(items):
            if isinstance(item, TemplateCall) and item.name.value in self._failures:
                continue
            for pipeline in pipelines_of(item):
                found = _uses(pipeline, name)
                if found and not uses and any(one is item for one in items):
                    first = pipeline
                uses += found
        if first is None or not _uses(first, name, are_certain=True):
            return ()
        together = zip(*uses, strict=False)
        return tuple(names[0] for names in takewhile(lambda names: len(set(names)) == 1, together))


def _saved(size: int, places: int) -> int:
    return (places - 1) * size - places * _CALL


def _uses(pipeline: Pipeline, name: str, *, are_certain: bool = False) -> list[tuple[str, ...]]:
    """Return the fields behind a variable where a pipeline has it."""
    parts = parts_of(pipeline, are_certain=are_certain)
    return [one.fields for one in parts if isinstance(one, Variable) and one.name == name]


def _fields(part: object) -> tuple[str, ...]:
    if isinstance(part, Variable | Chain):
        return part.fields
    return part.names if isinstance(part, Field) else ()


def _bodies_within(body: Body) -> Iterator[Body]:
    yield body
    for item in body:
        for inner in bodies_of(item):
            yield from _bodies_within(inner)


def _apart(group: Iterable[tuple[_Site, _Outline]]) -> list[tuple[_Site, _Outline]]:
    """Return those of some places that do not overlap."""
    ends: dict[int, int] = {}
    made = []
    for site, outline in group:
        if site.begin >= ends.get(id(site.body), 0):
            ends[id(site.body)] = site.end
            made.append((site, outline))
    return made


def _name_for(outline: _Outline, taken: Collection[str]) -> str:
    """Return a name for a template, after what it takes."""
    fields = outline.operand.fields
    name = " ".join(_WORD.findall(fields[-1])).lower() if fields else base_name(outline.operand.name)
    name = name or "part"
    names = (name, *(f"{name} {number}" for number in range(2, len(taken) + 3)))
    return next(one for one in names if one not in taken)


def _replaced(body: Body, calls: Mapping[int, Sequence[_Call]], name: str) -> Body:
    """Return a body with calls of a template; the same one if it has none."""
    here = {site.begin: (site, operand) for site, operand in calls.get(id(body), ())}
    made: list[Item] = []
    index = 0
    while index < len(body):
        if index in here:
            site, operand = here[index]
            made.append(TemplateCall(build.string(name), build.pipeline(operand)))
            index = site.end
            continue
        made.append(with_bodies(body[index], lambda inner: _replaced(inner, calls, name)))
        index += 1
    return tuple(made)
