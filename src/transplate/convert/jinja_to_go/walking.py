"""Loops over lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import call, number, string
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.values import (
    ABSENT,
    ELEMENTS,
    MAPPED,
    RECORDS,
    SCALARS,
    TEXT,
    Built,
    Chosen,
    Const,
    Counting,
    DictOf,
    Go,
    Int,
    Joined,
    ListOf,
    Loop,
    Pairs,
    Reversed,
    Split,
    Undefined,
    Value,
)
from transplate.gotmpl.nodes import (
    Operand,
    Variable,
)
from transplate.gotmpl.printer import print_node

_LONGEST_UNROLLED = 64


class Walking(Interface):
    """Loops over lists."""

    def _walk(self, value: Value, body: Callable[..., None], wants: set[str]) -> None:
        value = self.known(value)
        if isinstance(value, Undefined):
            return
        if isinstance(value, Int) or (isinstance(value, Const) and not isinstance(value.value, str)):
            self.fail(f"'{self._name_of(value)}' object is not iterable")
            return
        if isinstance(value, ListOf):
            self._unroll(value.items, body)
        elif isinstance(value, DictOf):
            self._unroll([key for key, _ in self.items_in(value)], body)
        elif isinstance(value, Go):
            self._walk_go(value, body, wants)
        elif isinstance(value, Built):
            self._walk_built(value, body, wants)
        elif isinstance(value, Reversed):
            self._walk_reversed(value, body)
        elif isinstance(value, Chosen):
            self._walk_chosen(value, body, wants)
        elif isinstance(value, Pairs):
            self._walk_pairs(value, body, wants)
        elif isinstance(value, Counting):
            self._walk_numbers(value, body)
        elif isinstance(value, Split):
            self._walk_split(value, body, wants)
        elif isinstance(value, Joined):
            self._walk_joined(value, body, wants)
        else:
            raise Refused(f"a loop over a {self._name_of(value)}")

    def _unroll(self, items: Any, body: Callable[..., None]) -> None:
        if len(items) > _LONGEST_UNROLLED:
            raise Refused("a loop over a list this long")
        count = len(items)
        for index, item in enumerate(items):
            previous = items[index - 1] if index else Undefined("loop.previtem")
            following = items[index + 1] if index + 1 < count else Undefined("loop.nextitem")
            attributes: dict[str, Value] = {
                "index0": Const(index),
                "index": Const(index + 1),
                "first": Const(index == 0),
                "last": Const(index + 1 == count),
                "length": Const(count),
                "revindex": Const(count - index),
                "revindex0": Const(count - index - 1),
                "previtem": previous,
                "nextitem": following,
            }
            body(item, Loop({name: _always(found) for name, found in attributes.items()}), unrolled=True)
            if self.dead:
                return

    def _walk_go(self, value: Go, body: Callable[..., None], wants: set[str]) -> None:
        if value.present is not None and value.absent == "none":
            value = self.defined(value)
        if value.present is not None and value.present != value.expr:
            with self.only_if(value.present):
                self._walk_go(Go(value.kinds, value.expr), body, wants)
            return
        value = Go(value.kinds, value.expr)
        narrowed = self.known(value)
        if narrowed != value:
            self._walk(narrowed, body, wants)
            return
        if value.kinds & ABSENT and value.kinds - ABSENT:
            kept = self._kept_go(value, "list")
            if "none" in value.kinds:
                kept = self.only(kept, value.kinds - {"none"})
            with self.only_if(kept.expr):
                self.learn(kept.expr, True)
                self._walk_go(Go(value.kinds - ABSENT, kept.expr), body, wants)
            return
        if value.kinds <= MAPPED.keys():
            self._walk_pairs(Pairs(value, only="keys"), body, wants)
            return
        if value.kinds == TEXT:
            self._walk_text(value, body, wants)
            return
        if len(value.kinds) == 1 and value.kinds <= RECORDS:
            self._walk_pairs(Pairs(value, only="keys"), body, wants)
            return
        if value.kinds <= SCALARS:
            self.fail(f"'{self._name_of(value)}' object is not iterable")
            return
        if not value.kinds <= ELEMENTS.keys():
            raise self.split_kinds(value, f"a loop over a {self._name_of(value)}")
        value = self._kept_go(value, "list")
        elements = frozenset().union(*(ELEMENTS[kind] for kind in value.kinds))
        index, item = self.fresh("i"), self.fresh(self.item_name)
        self.indexes[index.name] = value.expr
        self.origins[item.name] = value.expr, index
        last: Operand | None = None
        if "last" in wants and value.kinds == frozenset({"messages"}) and self.is_nonempty(value):
            last = self.declare("last", call("len", call("slice", value.expr, number(1))))
        loop = self._list_loop(value, elements, index, last)

        def write() -> None:
            self.learn(value.expr, True)
            run = self._or_fail if not self.is_nonempty(value) else _plainly
            run(lambda: body(Go(elements, item), loop))

        self.range((index, item), value.expr, write)

    def _walk_built(self, value: Built, body: Callable[..., None], wants: set[str]) -> None:
        kept = self.kept(value, "list")
        assert isinstance(kept, Built)  # noqa: S101
        length: Operand | None = None
        if wants & {"last", "length"}:
            length = self._kept_operand(self.operand(self.length(kept)))
        step = self._counter()[1] if wants else None

        def write(payload: Variable) -> None:
            loop = self._counted_loop(step(), length) if step is not None else Loop({})
            body(self.unpacked_item(payload, kept), loop)

        self.walk_raw(kept, write)

    def _list_loop(
        self, value: Go, elements: frozenset[str], index: Variable, end: Operand | None = None
    ) -> Loop:
        """Return the loop over a list; of what is at the end only the index may be known."""
        rest = call("slice", value.expr, index)
        sides: tuple[Operand, Operand] = (call("len", rest), number(1))
        last = call("eq", *sides)
        if end is not None:
            usual, sides = last, (index, end)
            last = call("eq", *sides)
            self.same_as[print_node(usual)] = print_node(last)

        def previous() -> Value:
            place = call("len", call("slice", call("slice", value.expr, number(0), index), number(1)))
            return Go(elements, call("index", value.expr, place), index)

        def following() -> Value:
            return Go(elements, call("index", rest, number(1)), call("ne", *sides))

        return Loop(
            {
                "index0": _always(Int(index)),
                "index": _always(Int(index, 1)),
                "first": _always(Go(frozenset({"bool"}), call("not", index))),
                "last": _always(Go(frozenset({"bool"}), last)),
                "length": _always(Int(call("len", value.expr), low=1)),
                "revindex": _always(Int(call("len", rest), low=1)),
                "revindex0": _always(Int(call("len", rest), -1, low=1)),
                "previtem": previous,
                "nextitem": following,
            }
        )

    def _walk_reversed(self, value: Reversed, body: Callable[..., None]) -> None:
        inner = self.known(value.value)
        assert isinstance(inner, Go)  # noqa: S101
        elements = frozenset().union(*(ELEMENTS[kind] for kind in inner.kinds))
        index = self.fresh("i")
        place = call("len", call("slice", call("slice", inner.expr, index), number(1)))
        loop = self._list_loop(inner, elements, index)
        rest = call("slice", inner.expr, index)

        def previous() -> Value:
            return Go(elements, call("index", inner.expr, call("len", rest)), index)

        def following() -> Value:
            after = call("len", call("slice", rest, number(2)))
            return Go(elements, call("index", inner.expr, after), call("ne", call("len", rest), number(1)))

        loop.attributes.update(previtem=previous, nextitem=following)

        def write() -> None:
            self.learn(inner.expr, True)
            item = self.declare("item", call("index", inner.expr, place))
            body(Go(elements, item), loop)

        self.range((index, self.fresh("unused")), inner.expr, write)

    def _counter(self) -> tuple[Variable, Callable[[], Variable]]:
        """Return a counter, and what writes the statements that count a round and gives its number."""
        count = self.declare("count", string(""))
        self.homes.add(count.name)

        def step() -> Variable:
            index = self.declare("i", call("len", count))
            self.items.append(build.assign(count, call("print", count, string(" "))))
            return index

        return count, step

    def _counted_loop(self, index: Variable, length: Operand | None) -> Loop:
        attributes: dict[str, Callable[[], Value]] = {
            "index0": _always(Int(index)),
            "index": _always(Int(index, 1)),
            "first": _always(Go(frozenset({"bool"}), call("not", index))),
        }
        if length is not None:
            behind = self.int_operand(Int(index, 1))
            attributes["last"] = _always(Go(frozenset({"bool"}), call("eq", behind, length)))
            attributes["length"] = _always(Int(length, low=1))
        return Loop(attributes)

    def _walk_chosen(self, value: Chosen, body: Callable[..., None], wants: set[str]) -> None:
        length: Operand | None = None
        if wants & {"last", "length"} and value.keep is not None:
            found = self.length(replace(value, is_list=True))
            length = self._kept_operand(self.operand(found))
        if value.keep is None:
            change = value.change
            assert change is not None  # noqa: S101

            def changed(item: Value, loop: Loop, unrolled: bool = False) -> None:
                body(change(item), loop, unrolled=unrolled)

            self._walk(value.value, changed, wants)
            return
        keep, change_kept = value.keep, value.change
        _, step = self._counter()

        def inner(item: Value, _: Loop, unrolled: bool = False) -> None:
            test = self.settled(keep(item))

            def write() -> None:
                index = step()
                made = change_kept(item) if change_kept is not None else item
                body(made, self._counted_loop(index, length), unrolled=unrolled)

            if isinstance(test, bool):
                if test:
                    write()
            else:
                self.branch(test, write, lambda: None)

        self._walk(value.value, inner, set())

    def _walk_joined(self, value: Joined, body: Callable[..., None], wants: set[str]) -> None:
        length: Operand | None = None
        if wants & {"last", "length"}:
            length = self._kept_operand(self.operand(self.length(value)))
        _, step = self._counter()

        def counted(item: Value, _: Loop, unrolled: bool = False) -> None:
            body(item, self._counted_loop(step(), length), unrolled=unrolled)

        for part in value.parts:
            self._walk(part, counted, set())


def _plainly(write: Callable[[], None]) -> None:
    write()


def _always(value: Value) -> Callable[[], Value]:
    return lambda: value
