"""The filters that put a list in order, and that leave out what is in it twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import call, go, number, string
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.operands import negated
from transplate.convert.jinja_to_go.packing import TAKE, as_item
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.shapes import Shape
from transplate.convert.jinja_to_go.values import (
    ELEMENTS,
    MAPPINGS,
    TEXT,
    Built,
    Chosen,
    Const,
    Go,
    Loop,
    Pairs,
    Split,
    Value,
    kinds_of,
)
from transplate.gotmpl.nodes import Action, Break, Operand, Variable
from transplate.jinja import nodes as j

_KEYS = frozenset({"str", "none", "undefined", "int"})
"""What items are compared by. Numbers of JSON and booleans would be equal to one another."""
_PLACES = Shape(frozenset({"int"}))


class Sorting(Interface):
    """``|sort`` and ``|unique``."""

    def sorted(self, value: Value, node: j.Filter) -> Value:
        """Return the list that ``|sort`` gives: of two items that are alike the first stays the first."""
        given = self._options(node, ("reverse", "case_sensitive", "attribute"))
        reverse, folds = _is_set(given, "reverse"), not _is_set(given, "case_sensitive")
        names = _names(given)
        if isinstance(value, Pairs) and value.only == "keys" and not names and not reverse:
            return replace(value, sorted=True, folds=folds, form="list")
        return self._in_order(self._listed(value), names, folds, reverse)

    def unique(self, value: Value, node: j.Filter) -> Value:
        """Return the generator that ``|unique`` gives: of items that are alike the first."""
        given = self._options(node, ("case_sensitive", "attribute"))
        folds, names = not _is_set(given, "case_sensitive"), _names(given)
        listed = self._listed(value)
        home, seen = self.declare("items", string("")), self.declare("seen", string(""))
        self.homes.update((home.name, seen.name))

        def look(one: Value, payload: Operand) -> None:
            key, _ = self._order_key(one, names, folds)
            is_new = self.declare("new", build.boolean(True))
            known = build.assign(is_new, build.boolean(False))
            self.walk_raw(
                Built(seen, Shape(TEXT)),
                lambda other: self.items.append(build.when(call("eq", other, key), (known, Break()))),
            )
            put = (_appended(seen, key), _appended(home, payload))
            self.items.append(build.when(is_new, put))

        self._each(listed, look)
        made = self._taken(home, listed)
        return (
            Chosen(made, None, lambda one: one) if isinstance(made, Built) else replace(made, is_list=False)
        )

    def _in_order(
        self, listed: Go | Built, names: Sequence[Value], folds: bool, reverse: bool
    ) -> Built | Chosen:
        """Return a list in the order of its keys: each item is put in front of the first that is greater.

        The items stand behind their keys, in digits so that a space is less than all that is in a key, and
        behind their places, which fall where the order is reversed.
        """
        names_of_homes = ("entries", "last", "count", "letter")
        entries, last, count, letter = (self.declare(name, string("")) for name in names_of_homes)
        if reverse:
            self.items.append(build.assign(count, listed.expr))
        self.homes.update((entries.name, last.name, count.name, letter.name))

        def note(one: Value, payload: Operand) -> None:
            key, is_mixed = self._order_key(one, names, folds)
            if is_mixed:
                self._fail_if_different(letter, key)
            entry = self.declare("entry", go('printf "%x %08d%s" $k (len $n) $p', k=key, n=count, p=payload))
            counted = call("slice", count, number(1)) if reverse else call("print", count, string(" "))
            self.items.append(build.assign(count, counted))
            is_last = (
                call("or", negated(last), call("lt", entry, last)) if reverse else call("gt", entry, last)
            )
            at_end = (_appended(entries, entry), build.assign(last, entry))
            with self.block() as between:
                self._put_between(entries, entry, reverse)
            self.items.append(build.when(is_last, at_end, tuple(between)))

        self._each(listed, note)
        home = self.declare("items", string(""))
        self.homes.add(home.name)

        def take(entry: Variable) -> None:
            behind = self.split_item(Split(Go(TEXT, entry), " ", limit=1), 1)
            assert isinstance(behind, Go)  # noqa: S101
            self.items.append(_appended(home, self._kept_operand(call("slice", behind.expr, number(8)))))

        self.walk_raw(Built(entries, Shape(TEXT)), take)
        return self._taken(home, listed)

    def _put_between(self, entries: Variable, entry: Variable, reverse: bool) -> None:
        """Put an entry in front of the first that comes behind it: there is one."""
        before, rest = self.declare("before", string("")), self.declare("rest", entries)
        self.homes.update((before.name, rest.name))

        def look() -> None:
            other = self.run(TAKE, "the next item of a list in a text", "other", r=rest)
            joined = go(
                'print $b (printf "%08d%s%08d%s" (len $e) $e (len $o) $o) $r',
                b=before,
                e=entry,
                o=other,
                r=rest,
            )
            found = (build.assign(entries, joined), Break())
            self.items.append(build.when(call("lt" if reverse else "gt", other, entry), found))
            self.items.append(_appended(before, other))

        self.range((), call("len", entries), look)

    def _options(self, node: j.Filter, names: Sequence[str]) -> dict[str, Value]:
        """Return what a filter is given, by its parameters' names."""
        given = dict(zip(names, node.arguments, strict=False)) | dict(node.keywords)
        if len(node.arguments) > len(names) or not given.keys() <= set(names):
            raise Refused(f"the filter {node.name} with these arguments")
        return {name: self.value(one) for name, one in given.items()}

    def _listed(self, value: Value) -> Go | Built:
        """Return what is put in order as a list of Go, or as one that is kept in a text."""
        if isinstance(value, Go) and value.present == value.expr:
            value = Go(value.kinds, value.expr)
        if isinstance(value, Go) and value.kinds != TEXT and not value.kinds <= MAPPINGS:
            if value.present is not None or not value.kinds <= ELEMENTS.keys():
                raise self.split_kinds(value, f"the order of a {self._name_of(value)}")
            return self._kept_go(value, "list")
        made = self.built(value)
        if made is None:
            made = self.built(Chosen(value, None, lambda one: one, is_list=True))
        if made is None:
            raise Refused(f"the order of a {self._name_of(value)}")
        kept = self.kept(made, "list")
        assert isinstance(kept, Built)  # noqa: S101
        return kept

    def _each(self, listed: Go | Built, look: Callable[[Value, Operand], None]) -> None:
        """Write a loop over a list: its items, and how they, or their places in a list of Go, are kept."""
        if isinstance(listed, Built):
            self.walk_raw(listed, lambda payload: look(self.unpacked_item(payload, listed), payload))
            return

        def with_place(one: Value, loop: Loop) -> None:
            look(one, call("printf", string("i%08d"), self.operand(loop.attributes["index0"]())))

        self.walk(listed, with_place)

    def _taken(self, home: Operand, listed: Go | Built) -> Built | Chosen:
        """Return the list of what has been taken from another."""
        if isinstance(listed, Built):
            return Built(home, listed.item)
        elements = frozenset().union(*(ELEMENTS[kind] for kind in listed.kinds))

        def item(place: Value) -> Value:
            return Go(elements, self._kept_operand(call("index", listed.expr, self.operand(place))))

        return Chosen(Built(home, _PLACES), None, item, is_list=True)

    def _order_key(self, one: Value, names: Sequence[Value], folds: bool) -> tuple[Operand, bool]:
        """Return what an item is compared by as a text, and whether it may be of several kinds."""
        for name in names:
            one = self.item(one, name)
        one = self.known(one)
        kinds = kinds_of(one)
        if kinds is None:
            raise Refused(f"the order of a {self._name_of(one)}")
        if not kinds <= _KEYS:
            one = self._only_keys(one, kinds)
            kinds = kinds_of(one) or kinds
        if kinds == TEXT:
            return self.text_operand(self._folded(one) if folds else one), False
        if folds and "str" in kinds:
            is_text = self.settled(self._is_kind(one, TEXT))
            if not isinstance(is_text, bool):
                one = self.choose(is_text, lambda: self._folded(one), lambda: one)
        return self._kept_operand(self.packed(one, Shape(kinds))), len(kinds) > 1

    def _only_keys(self, one: Value, kinds: frozenset[str]) -> Value:
        """Return an item as one of those that are compared; the template stops at another."""
        wanted = kinds & _KEYS
        if isinstance(one, Go) and one.present is not None:
            one = Go(kinds, self.declare("key", self.operand(one)), markup=one.markup)
        test = self.settled(self._is_kind(one, wanted))
        if isinstance(test, bool) or not isinstance(one, Go):
            raise Refused(f"the order of a {self._name_of(one)}")
        kept = Go(wanted, one.expr, markup=one.markup)

        def refuse() -> Value:
            raise Refused(f"the order of a {'/'.join(sorted(kinds - wanted))}")

        return self.choose(test, lambda: self.known(kept), refuse)

    def _folded(self, text: Value) -> Value:
        """Return a text in small letters."""
        return self._call_string(self.as_text(text), "lower", [])

    def _fail_if_different(self, letter: Operand, key: Operand) -> None:
        """Stop with an error where a key is not of the kind of the one before."""
        assert isinstance(letter, Variable)  # noqa: S101
        kind = self._kept_operand(call("slice", key, number(0), number(1)))
        with self.block() as items:
            self.fail("'<' not supported between instances of these types")
        self.dead = False
        self.items.append(build.when(call("and", letter, call("ne", letter, kind)), tuple(items)))
        self.items.append(build.assign(letter, kind))


def _is_set(given: Mapping[str, Value], name: str) -> bool:
    """Tell whether a filter is given a flag."""
    flag = given.get(name, Const(False))
    if not isinstance(flag, Const):
        raise Refused("an order that is not known")
    return bool(flag.value)


def _names(given: Mapping[str, Value]) -> Sequence[Value]:
    """Return the attributes that lead from an item to what it is compared by."""
    path = given.get("attribute", Const(None))
    if not isinstance(path, Const) or (isinstance(path.value, str) and "," in path.value):
        raise Refused("the order by this attribute")
    if path.value is None:
        return ()
    names = str(path.value).split(".")
    return [Const(int(name) if name.isdigit() else name) for name in names]


def _appended(home: Variable, payload: Operand) -> Action:
    """Put an item behind those that are in a text."""
    return build.assign(home, call("print", home, as_item(payload)))
