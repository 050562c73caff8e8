"""Lists of texts that ``to_go`` keeps in one text: lists again, where nothing else is done with that text.

An item is eight digits for its length, a letter for its kind and the text. Such a text begins empty, items
are put behind it, and a loop takes them off again, one in each round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from transplate.convert.go_to_jinja.idioms.matching import (
    HOLE,
    declared_by,
    inside,
    match,
    parts_of,
    reads_own_dot,
    rebuilt,
    said,
    variables_in,
)
from transplate.convert.go_to_jinja.resolve import Declaration, Resolution
from transplate.convert.jinja_to_go.cleanup import cleaned
from transplate.convert.jinja_to_go.packing import TAKE
from transplate.gotmpl import nodes as go
from transplate.gotmpl.parser import parse
from transplate.ollama.functions import FUNCTIONS

NO_TEXTS = "no_texts"
"""A list without items."""
WITH_TEXT = "with_text"
"""A list with one item more."""

_ITEM = "%08d%s"


def unpacked(items: go.Body, resolution: Resolution) -> go.Body:
    """Return a body with lists for the texts that are lists and nothing else."""
    homes = set(_filled(items, resolution))
    uses = Counter(id(resolution.of(variable)) for variable in variables_in(items)) if homes else Counter()
    while homes:
        made = _Packed(homes, uses, resolution)
        as_lists = made.body(items)
        others = made.no_lists(as_lists)
        if not others:
            return as_lists
        homes -= others
    return items


def _filled(items: go.Body, resolution: Resolution) -> Iterator[Declaration]:
    """Yield the variables that items are put behind."""
    for part in parts_of(items):
        match part:
            case go.Action(go.Pipeline((go.Command((_, _, go.Pipeline((added,)))),), (variable,), True)):
                home = resolution.of(variable)
                if home is not None and any(
                    isinstance(one, go.String) and one.value == _ITEM for one in added.operands
                ):
                    yield home
            case _:
                pass


@lru_cache(maxsize=1)
def _walk() -> tuple[go.Action, go.Range]:
    """Return the copy of a list and the loop that takes one item of it in each round."""
    text = (
        f"{{{{ $r := {HOLE}p }}}}{{{{ range len {HOLE}p }}}}{{{{ if not $r }}}}{{{{ break }}}}{{{{ end }}}}"
        f"{TAKE}{{{{ $d }}}}{{{{ end }}}}"
    )
    body = cleaned(parse(text, functions={*FUNCTIONS, f"{HOLE}p"}).body, {})
    copy, loop = said(body)
    assert isinstance(copy, go.Action)  # noqa: S101
    assert isinstance(loop, go.Range)  # noqa: S101
    return copy, replace(loop, body=said(loop.body)[:-1])


class _Packed:
    """Variables as lists, and their copies, in a body."""

    def __init__(self, homes: Iterable[Declaration], uses: Mapping[int, int], resolution: Resolution) -> None:
        self.homes = {home: home for home in homes}
        self.uses = uses
        self.resolution = resolution

    def home(self, node: object) -> Declaration | None:
        """Return the variable that a node is, or is a copy of."""
        if not isinstance(node, go.Variable) or node.fields:
            return None
        declaration = self.resolution.of(node)
        return None if declaration is None else self.homes.get(declaration)

    def is_home(self, node: object) -> bool:
        """Tell whether a node is one of the variables or a copy of it."""
        return self.home(node) is not None

    def no_lists(self, items: go.Body) -> set[Declaration]:
        """Return the variables with which a body does what cannot be done with a list."""
        reads = Counter(self.home(variable) for variable in variables_in(items))
        for part in parts_of(items):
            reads.subtract(map(self.home, self._uses(part)))
        return {home for home, count in reads.items() if home is not None and count}

    def _uses(self, node: object) -> tuple[object, ...]:
        """Return the variables that stand in a node where a list can be."""
        found: tuple[object, ...] = ()
        match node:
            case go.Action(go.Pipeline((go.Command((go.Identifier(name),)),), (variable,))) if (
                name == NO_TEXTS
            ):
                found = (variable,)
            case go.Action(go.Pipeline((go.Command((go.Identifier(name), source, _)),), (variable,))) if (
                name == WITH_TEXT
            ):
                found = (source, variable)
            case go.Action(go.Pipeline((go.Command((go.Variable() as source,)),), (variable,), False)):
                found = (source, variable)
            case go.Range(go.Pipeline((go.Command((variable,)),), (_,), False)):
                found = (variable,)
            case go.If(go.Pipeline((go.Command((variable,)),), ())):
                found = (variable,)
            case go.If(go.Pipeline((go.Command((go.Identifier("and" | "or"), *operands)),), ())):
                return tuple(filter(self.is_home, operands))
            case go.Command((go.Identifier("not"), variable)):
                found = (variable,)
            case _:
                pass
        return found if len(set(map(self.home, found))) == 1 and self.is_home(found[0]) else ()

    def body(self, items: go.Body) -> go.Body:
        """Return a body with what is done with the variable done with a list."""
        made: list[go.Item] = []
        rest = items
        while rest:
            first, rest = rest[0], rest[1:]
            following = said(rest)[:1]
            taken = self._added(first, *following) or self._walked(first, *following)
            if taken is not None:
                made.append(taken)
                rest = rest[rest.index(following[0]) + 1 :]
            else:
                made.append(self._alone(first))
        return tuple(made)

    def _alone(self, item: go.Item) -> go.Item:
        match item:
            case go.Action(go.Pipeline((go.Command((go.String(_, ""),)),), (variable,))) if self.is_home(
                variable
            ):
                return _with_command(item, go.Identifier(NO_TEXTS, item.pipeline.span))
            case go.Action(go.Pipeline((go.Command((go.Variable() as source,)),), (variable,), False)) if (
                self.is_home(source)
            ):
                copy = self.resolution.of(variable)
                home = self.home(source)
                if home is not None and copy is not None and not copy.assigned_in:
                    self.homes.setdefault(copy, home)
                return item
            case _:
                changed: go.Item = inside(item, self.body)
                return changed

    def _count(self, variable: go.Variable) -> int:
        """Return how often a variable stands in the whole body."""
        return self.uses[id(self.resolution.of(variable))]

    def _added(self, first: go.Item, second: go.Item | None = None) -> go.Item | None:
        """Return the statement that puts a text behind a list, if two are that."""
        match first, second:
            case (
                go.Action(
                    go.Pipeline(
                        (go.Command((go.Identifier("print") as printing, go.String(_, "s"), text)),),
                        (item,),
                        False,
                    )
                ),
                go.Action(
                    go.Pipeline(
                        (
                            go.Command(
                                (
                                    go.Identifier("print"),
                                    source,
                                    go.Pipeline(
                                        (
                                            go.Command(
                                                (
                                                    go.Identifier("printf"),
                                                    go.String(_, layout),
                                                    go.Pipeline((go.Command((go.Identifier("len"), one)),)),
                                                    other,
                                                )
                                            ),
                                        )
                                    ),
                                )
                            ),
                        ),
                        (variable,),
                        True,
                    )
                ),
            ) if (
                layout == _ITEM
                and self.is_home(source)
                and self.home(variable) is self.home(source)
                and self._is_only(item, one, other)
            ):
                value = go.Pipeline((go.Command((printing, text)),))
                return _with_command(second, go.Identifier(WITH_TEXT, printing.span), source, value)
            case _:
                return None

    def _is_only(self, item: go.Variable, *reads: object) -> bool:
        """Tell whether a variable is read in some places and nowhere else."""
        declaration = self.resolution.of(item)
        return self._count(item) == 1 + len(reads) and all(
            isinstance(one, go.Variable) and not one.fields and self.resolution.of(one) is declaration
            for one in reads
        )

    def _walked(self, first: go.Item, second: go.Item | None = None) -> go.Item | None:
        """Return the loop over a list that two statements are, if all that is read of an item is its text."""
        if not isinstance(first, go.Action) or not isinstance(second, go.Range) or second.orelse is not None:
            return None
        copy, loop = _walk()
        steps = said(second.body)
        count = len(loop.body)
        if len(steps) <= count:
            return None
        taking, inner = steps[:count], second.body[second.body.index(steps[count - 1]) + 1 :]
        found = match((copy, loop), (first, replace(second, body=taking)), 0, self.resolution)
        if found is None or not self.is_home(found.holes["p"]):
            return None
        rest, number, item = (declared_by(one) for one in (first, taking[1], taking[-2]))
        for helper in (rest, number):
            if self._count(helper) != sum(
                self.resolution.of(one) is self.resolution.of(helper) for one in variables_in((first, taking))
            ):
                return None
        declaration = self.resolution.of(item)

        def is_text(node: object) -> bool:
            match node:
                case go.Command((go.Identifier("slice"), go.Variable(_, ()) as one, go.Number(_, 1))):
                    return self.resolution.of(one) is declaration
                case _:
                    return False

        def as_text(node: object) -> object:
            return replace(node, operands=(item,)) if isinstance(node, go.Command) and is_text(node) else node

        reads = sum(self.resolution.of(one) is declaration for one in variables_in(inner))
        if reads != sum(map(is_text, parts_of(inner))) or reads_own_dot(inner):
            return None
        pipeline = go.Pipeline(
            (go.Command((found.holes["p"],), second.pipeline.span),), (item,), span=second.pipeline.span
        )
        return replace(second, pipeline=pipeline, body=self.body(rebuilt(inner, as_text)))


def _with_command(item: go.Item, *operands: go.Operand) -> go.Item:
    assert isinstance(item, go.Action)  # noqa: S101
    command = go.Command(operands, item.pipeline.span)
    return replace(item, pipeline=replace(item.pipeline, commands=(command,)))
