"""Loops over dicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from transplate.convert.jinja_to_go import build, cases
from transplate.convert.jinja_to_go.attributes import key_of, keys_in_order
from transplate.convert.jinja_to_go.build import call, go, string
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.values import (
    MAPPED,
    MAPPINGS,
    RECORDS,
    TEXT,
    Const,
    DictOf,
    Go,
    ListOf,
    Loop,
    Pairs,
    Undefined,
    Value,
)
from transplate.gotmpl.nodes import (
    Operand,
    Pipeline,
    Range,
    Variable,
)
from transplate.gotmpl.printer import print_node


class WalkingDicts(Interface):
    """Loops over dicts."""

    def _walk_record(
        self, value: Go, kind: str, body: Callable[..., None], pairs: Pairs, wants: set[str]
    ) -> None:
        names = keys_in_order(kind)
        if pairs.sorted:
            names = sorted(names, key=str.lower if pairs.folds else None)
        held = [(name, key_of(kind, value.expr, name)) for name in names]
        length = self._count_of_keys([found for _, found in held]) if wants & {"last", "length"} else None
        step = self._counter()[1] if wants else None
        for name, found in held:

            def write(name: str = name, found: Value = found) -> None:
                only = pairs.only
                item = Const(name) if only == "keys" else found if only else ListOf((Const(name), found))
                loop = self._counted_loop(step(), length) if step is not None else Loop({})
                body(item, loop, unrolled=True)

            if isinstance(found, Go) and found.present is not None and found.absent == "undefined":
                self.branch(found.present, write, lambda: None)
            else:
                write()

    def _count_of_keys(self, held: Sequence[Value]) -> Operand:
        """Return how many keys of a record there are."""
        optional = [found for found in held if isinstance(found, Go) and found.absent == "undefined"]
        tests = [found.present for found in optional if found.present is not None]
        if not tests:
            return build.number(len(held))
        count = self.declare("count", string(" " * (len(held) - len(tests))))
        for test in tests:
            self.items.append(build.when(test, (build.assign(count, call("print", count, string(" "))),)))
        return call("len", count)

    def _walk_pairs(self, value: Pairs, body: Callable[..., None], wants: set[str]) -> None:
        inner = self.known(value.value)
        if isinstance(inner, DictOf):
            pairs = list(self.items_in(inner))
            if value.sorted:
                pairs = _in_order(pairs, folds=value.folds)
            items: list[Value] = [
                key if value.only == "keys" else found if value.only == "values" else ListOf((key, found))
                for key, found in pairs
            ]
            self._unroll(items, body)
            return
        if isinstance(inner, Undefined):
            return
        if not isinstance(inner, Go):
            raise Refused(f"the items of a {self._name_of(inner)}")
        inner = self.defined(inner)
        if inner.kinds & MAPPINGS and not inner.kinds <= MAPPINGS:
            inner = self.only(inner, frozenset(MAPPINGS))
        if len(inner.kinds) == 1 and inner.kinds <= RECORDS:
            (kind,) = inner.kinds
            self._walk_record(inner, kind, body, value, wants)
            return
        if not inner.kinds <= MAPPED.keys():
            raise self.split_kinds(inner, f"the items of a {self._name_of(inner)}")
        if len(inner.kinds - {"map", "arguments"}) and len(inner.kinds) > 1:
            raise self.split_kinds(inner, "the items of one of several dicts")
        given, inner = inner, self._kept_go(inner, "map")
        dicts = frozenset(print_node(one.expr) for one in (given, inner) if self.is_stable(one.expr))
        if value.sorted and value.folds and not self.takes("sorted-keys"):
            self._walk_sorted(inner, dicts, value.only, body, wants)
            return
        over = inner.expr
        length: Operand = call("len", over)
        if inner.kinds == {"ordered"}:
            over = build.field(inner.expr, "ToMap" if value.sorted else "All")
            length = build.field(inner.expr, "Len")
        elements = frozenset().union(*(MAPPED[kind] for kind in inner.kinds))
        key, item = self.fresh("key"), self.fresh("value")
        self.keys_of[key.name] = dicts
        needs_count = bool(wants)
        step = self._counter()[1] if needs_count else None

        def write() -> None:
            index = step() if step is not None else self.fresh("i")
            loop = self._counted_loop(index, length) if step is not None else Loop({})
            self.learn(inner.expr, True)
            name, found = Go(TEXT, key), Go(elements, item)
            made: Value = name if value.only == "keys" else found if value.only else ListOf((name, found))
            self._or_fail(lambda: body(made, loop))

        self.range((key, item), over, write)

    def _walk_sorted(
        self, inner: Go, dicts: frozenset[str], only: str, body: Callable[..., None], wants: set[str]
    ) -> None:
        """Write a loop over a dict in the order of its keys without regard to case: the next one each round."""  # noqa: E501
        elements = frozenset().union(*(MAPPED[kind] for kind in inner.kinds))
        found = (
            inner.expr
            if inner.kinds != {"ordered"}
            else self.declare("map", build.field(inner.expr, "ToMap"))
        )
        last = self.declare("last", string(""))
        self.homes.add(last.name)
        step = self._counter()[1] if wants else None

        def write() -> None:
            best = self.declare("best", string(""))
            key = self.declare("key", string(""))
            self.keys_of[key.name] = dicts
            one = self.fresh("one")
            with self.block() as items:
                lower = self.run(cases.change_case(lower=True, is_ascii=False), s=one)
                place = self.declare("place", call("print", lower, string("\x00"), one))
                test = go("and (gt $p $l) (or (not $b) (lt $p $b))", p=place, l=last, b=best)
                self.items.append(build.when(test, (build.assign(best, place), build.assign(key, one))))
            over = Pipeline(build.pipeline(found).commands, (one, Variable("$_")))
            self.items.append(Range(over, tuple(items)))
            self.items.append(build.assign(last, best))
            index = step() if step is not None else self.fresh("i")
            loop = self._counted_loop(index, call("len", found)) if step is not None else Loop({})
            item = self.declare("value", call("index", found, key))
            self.learn(inner.expr, True)
            name, value = Go(TEXT, key), Go(elements, item)
            made: Value = name if only == "keys" else value if only else ListOf((name, value))
            self._or_fail(lambda: body(made, loop))

        self.range((), call("len", found), write)


def _in_order(pairs: Sequence[tuple[Value, Value]], *, folds: bool) -> list[tuple[Value, Value]]:
    """Return the items of a dict in the order of its keys, which are texts or numbers."""
    keys: list[Any] = [key.value if isinstance(key, Const) else None for key, _ in pairs]
    if folds and all(isinstance(key, str) for key in keys):
        keys = [key.lower() for key in keys]
    elif not any(all(isinstance(key, sort) for key in keys) for sort in (str, int)):
        raise Refused("the order of keys that are not known")
    return [pair for _, pair in sorted(zip(keys, pairs, strict=True), key=itemgetter(0))]
