"""Lists: their length, their items, and those that a template builds."""

from __future__ import annotations

from dataclasses import replace

from transplate.convert.jinja_to_go import build, strings
from transplate.convert.jinja_to_go.build import call, go, number, string
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.searches import shown
from transplate.convert.jinja_to_go.truths import as_operand
from transplate.convert.jinja_to_go.values import (
    ABSENT,
    ELEMENTS,
    MAPPED,
    MAPPINGS,
    SCALARS,
    TEXT,
    Built,
    Cat,
    Chosen,
    Const,
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
    is_lazy,
    kinds_of,
    marked,
)
from transplate.gotmpl.nodes import (
    Number,
    Operand,
    Variable,
)


class Lists(Interface):
    """Lists."""

    def length(self, value: Value) -> Value:
        """Return ``value|length``."""
        value = self.known(value)
        if isinstance(value, Const) and isinstance(value.value, str):
            return Const(len(value.value))
        if isinstance(value, Undefined):
            return Const(0)
        if isinstance(value, ListOf):
            return Const(len(value.items))
        if isinstance(value, DictOf):
            return Const(len(self.items_in(value)))
        if is_lazy(value):
            self.fail("object of type 'generator' has no len()")
            return Const(0)
        if isinstance(value, Reversed | Pairs):
            return self.length(value.value)
        if isinstance(value, Cat):
            return self.length(self.kept(value, "text"))
        if isinstance(value, Go):
            if value.present is not None and value.absent == "none":
                value = self.defined(value)
            present = value.present
            is_empty_if_absent = present == value.expr and "type" not in value.kinds
            if present is not None and not is_empty_if_absent and not value.kinds <= MAPPED.keys():
                raise self.split_kinds(value, "the length of a value that may be undefined")
            bare = value if present is None else Go(value.kinds, value.expr)
            if bare.kinds == {"str"}:
                return Int(self.run(strings.LENGTH, "how many characters it has", "length", s=bare.expr))
            if bare.kinds == {"ordered"}:
                return Int(go("$x.Len", x=self.defined(value).expr))
            if bare.kinds <= (ELEMENTS.keys() | MAPPED.keys()):
                low = 1 if self.is_nonempty(bare) else 0
                return Int(call("len", bare.expr), low=low)
            if bare.kinds > {"undefined"}:
                there = Go(bare.kinds - {"undefined"}, bare.expr, markup=bare.markup)
                missing = self._is_kind(bare, frozenset({"undefined"}))
                if isinstance(missing, bool):
                    return Const(0) if missing else self.length(there)
                return self.choose(missing, lambda: Const(0), lambda: self.length(there))
            if bare.kinds & ABSENT:
                return self.length(self.defined(bare))
            if bare.kinds <= SCALARS:
                self.fail(f"object of type '{self._name_of(bare)}' has no len()")
                return Const(0)
            raise self.split_kinds(bare, f"the length of a {self._name_of(value)}")
        if isinstance(value, Chosen) and value.keep is None:
            return self.length(value.value)
        if isinstance(value, Joined):
            total: Value = Const(0)
            for part in value.parts:
                total = self._arithmetic("+", total, self.length(part))
            return total
        if isinstance(value, Split) and value.limit is not None and not value.skip and not value.drop:
            second = self.split_item(value, 1)
            if isinstance(second, Go) and second.present is not None:
                size = self.declare("length", number(1))
                self.items.append(build.when(second.present, (build.assign(size, number(2)),)))
                return Int(size, low=1)
            return Const(2)
        if isinstance(value, Split) and value.separator is not None and not value.skip and not value.drop:
            counted = self._count(value)
            assert isinstance(counted, Int)  # noqa: S101
            return Int(counted.expr, low=1)
        if isinstance(value, Const | Int):
            self.fail(f"object of type '{self._name_of(value)}' has no len()")
            return Const(0)
        if isinstance(value, Chosen | Split | Built):
            return self._count(value)
        raise Refused(f"the length of a {self._name_of(value)}")

    def _count(self, value: Value) -> Value:
        """Return the length of a list by walking it."""
        if value is not None:
            count = self.declare("count", string(""))
            self.homes.add(count.name)
            self.walk(
                value,
                lambda _, __: self.items.append(build.assign(count, call("print", count, string(" ")))),
            )
            return Int(call("len", count))
        return None

    def is_nonempty(self, value: Go) -> bool:
        """Tell whether a list is known to have an item."""
        return bool(self.is_known(value.expr))

    def at(self, value: Value, index: Value) -> Value:
        """Return ``value[index]`` for a whole number."""
        value = self.known(value)
        fixed = index.value if isinstance(index, Const) else None
        if isinstance(value, Const) and isinstance(value.value, str):
            value = ListOf(tuple(Const(letter, value.markup) for letter in value.value))
        if isinstance(value, ListOf) and isinstance(fixed, int):
            return value.items[fixed] if -len(value.items) <= fixed < len(value.items) else Undefined()
        if isinstance(value, Cat):
            value = self.kept(value, "text")
        if isinstance(value, Chosen) and value.keep is None and value.change is not None:
            change = value.change
            found = self.at(value.value, index)
            missing = self.settled(self._is_kind(found, frozenset({"undefined"})))
            if isinstance(missing, bool):
                return found if missing else change(found)
            return self.choose(missing, Undefined, lambda: change(self.known(found)))
        if isinstance(value, Reversed) and isinstance(fixed, int):
            return self.at(value.value, Const(-1 - fixed))
        if isinstance(value, Split) and isinstance(fixed, int) and _is_near(value, fixed):
            return self.split_item(value, fixed)
        if isinstance(value, Split):
            value = self.built(value) or value
        if isinstance(value, Chosen) and isinstance(fixed, int):
            return self._chosen_item(value, fixed)
        if isinstance(value, Joined) and isinstance(fixed, int):
            return self._joined_item(value, fixed)
        if isinstance(value, Go) and value.kinds == TEXT and value.absent == "undefined":
            value = self.defined(value)
        if isinstance(value, Go) and value.kinds == TEXT and value.present is None and isinstance(fixed, int):
            found = self.kept(self.slice_text(value, fixed, fixed + 1 if fixed != -1 else None), "c")
            assert isinstance(found, Go)  # noqa: S101
            return Go(TEXT, found.expr, found.expr, markup=value.markup)
        if isinstance(value, Built):
            return self.built_at(value, index)
        if isinstance(value, Undefined):
            self._fail_undefined(value)
            return value
        if not isinstance(value, Go):
            raise Refused(f"an item of a {self._name_of(value)}")
        if value.present is not None and value.absent == "none":  # None has no items, and does not fail
            bare = Go(value.kinds, value.expr, markup=value.markup)
            return self.choose(value.present, lambda: self.at(bare, index), lambda: Undefined())
        value = self.defined(value)
        if value.kinds == TEXT and isinstance(fixed, int):
            return self.at(value, index)
        if value.kinds == TEXT:
            raise Refused("a character at a place that is not known")
        if value.kinds <= SCALARS | MAPPINGS:
            return Undefined()
        if not value.kinds <= ELEMENTS.keys():
            if value.kinds & MAPPED.keys() or len(value.kinds) == 1:
                raise self.split_kinds(value, f"an item of a {self._name_of(value)}")
            listed = self._kept_go(value, "list")
            return self.choose(
                as_operand(self._is_kind(listed, frozenset(ELEMENTS))),
                lambda: self.at(Go(listed.kinds & ELEMENTS.keys(), listed.expr), index),
                lambda: self.at(Go(listed.kinds - ELEMENTS.keys(), listed.expr), index),
            )
        elements = frozenset().union(*(ELEMENTS[kind] for kind in value.kinds))
        if isinstance(fixed, int):
            return self._fixed_item(value, elements, fixed)
        assert isinstance(index, Int)  # noqa: S101
        return self._moving_item(value, elements, index)

    def _fixed_item(self, value: Go, elements: frozenset[str], fixed: int) -> Value:
        if fixed >= 0:
            found = call("index", value.expr, number(fixed))
            if fixed == 0 and self.is_nonempty(value):
                return Go(elements, found)
            if fixed == 0:
                return Go(elements, found, value.expr)
            there: Operand = call("gt", call("len", value.expr), number(fixed))
        else:
            last = call("len", call("slice", value.expr, number(-fixed)))
            found = call("index", value.expr, last)
            if fixed == -1 and self.is_nonempty(value):
                return Go(elements, found)
            there = value.expr if fixed == -1 else call("ge", call("len", value.expr), number(-fixed))
        return Go(elements, found, there)

    def _neighbour(self, value: Go, elements: frozenset[str], index: Int) -> Value | None:
        """Return an item next to that of a loop over the same list."""
        place = index.expr
        if not isinstance(place, Variable) or self.indexes.get(place.name) != value.expr:
            return None
        rest = call("slice", value.expr, place)
        if index.offset == 0:
            return Go(elements, call("index", value.expr, place))
        if index.offset == 1:
            return Go(elements, call("index", rest, number(1)), call("ne", call("len", rest), number(1)))
        if index.offset == -1:
            earlier = call("slice", value.expr, number(0), place)
            before = call("index", value.expr, call("len", call("slice", earlier, number(1))))
            if self.settled(place) is True:
                return Go(elements, before)
            return self.choose(
                place, lambda: Go(elements, before), lambda: self._fixed_item(value, elements, -1)
            )
        return None

    def _moving_item(self, value: Go, elements: frozenset[str], index: Int) -> Value:
        found_near = self._neighbour(value, elements, index)
        if found_near is not None:
            return found_near
        if index.offset + index.low >= 0:
            place = self.int_operand(index)
            there = call("lt", place, call("len", value.expr))
            found = call("index", value.expr, place)
            if self.settled(there) is True:
                return Go(elements, found)
            return Go(elements, found, there)
        # A negative index counts from the end.
        kept = self.declare("place", index.expr)
        down = -index.offset
        test = call("ge", kept, number(down))
        shifted = Int(kept, index.offset, low=down)

        def wrapped() -> Value:
            if down == 1:
                return self._fixed_item(value, elements, -1)
            raise Refused("an index that may count from the end of a list")

        return self.choose(test, lambda: self._moving_item(value, elements, shifted), wrapped)

    def _chosen_item(self, value: Chosen, fixed: int) -> Value:
        if fixed not in (0, -1):
            raise Refused("this item of a filtered list")
        home = self.declare("found", build.UNDEFINED)
        kinds: set[str] = {"undefined"}

        def keep(item: Value, _: Loop) -> None:
            own = kinds_of(item)
            if own is None:
                raise Refused("this item of a filtered list")
            kinds.update(own)
            self.items.append(build.assign(home, self.operand(item)))
            if fixed == 0:
                self.stop_loop()

        self.walk(value, keep)
        self.forget(home)
        return Go(frozenset(kinds), home)

    def _joined_item(self, value: Joined, fixed: int) -> Value:
        parts = value.parts if fixed >= 0 else value.parts[::-1]
        if fixed not in (0, -1):
            raise Refused("this item of joined lists")
        first, *rest = parts
        test = self.settled(self.truth(first))
        if isinstance(test, bool):
            return self.at(first, Const(fixed)) if test else self._joined_item(Joined(tuple(rest)), fixed)

        def other() -> Value:
            return self._joined_item(Joined(tuple(rest)), fixed) if rest else Undefined()

        return self.choose(test, lambda: self.at(first, Const(fixed)), other)

    def split_item(self, value: Split, fixed: int) -> Value:
        """Return an item of a split text."""
        text = self.known(value.text)
        if isinstance(text, Go | Const) and text.markup:
            bare = replace(value, text=replace(text, markup=0))
            return marked(self.split_item(bare, fixed), text.markup)
        separator = value.separator
        index = fixed if fixed < 0 else fixed + value.skip
        if isinstance(text, Const) and isinstance(text.value, str) and not isinstance(separator, Variable):
            split = text.value.rsplit if value.from_right else text.value.split
            parts = split(separator, -1 if value.limit is None else value.limit)
            return Const(parts[index]) if -len(parts) <= index < len(parts) else Undefined()
        if separator is None or value.drop or (value.skip and fixed < 0):
            raise Refused("this item of a split text")
        part = separator if isinstance(separator, str) else None
        if value.from_right and (
            part is None or any(part.startswith(part[at:]) for at in range(1, len(part)))
        ):
            raise Refused("an rsplit at what may overlap itself")
        source = self.text_operand(text)
        operands = {"s": source}
        if isinstance(separator, Variable):
            operands["p"] = separator
        if value.limit is not None and index not in (0, 1, -1):
            raise Refused(f"item {index} of a text split once")
        if value.from_right and index == 0:
            said = f"what stands before the last {shown(part)}"
            return self._cut(self.run(strings.before_last(part), said, "before", **operands), source)
        if index == 0:
            found, rest = self.located(part, operands)
            before = go("slice $s 0 (len (slice $s (len $t)))", s=source, t=rest)
            return self._where(found, source, before, source, "before")
        if index == -1 and (value.limit is None or value.from_right):
            said = f"what stands behind the last {shown(part)}"
            return self._cut(self.run(strings.after_last(part), said, "after", **operands), source)
        if index in (1, -1) and not value.from_right:
            found, rest = self.located(part, operands)
            size = number(len(part.encode())) if part is not None else call("len", operands["p"])
            after = call("slice", rest, size)
            if index == -1:
                return self._where(found, source, after, source, "after")
            if self.is_known(found) is not True:
                return self._split_again(value, part, operands, found, after)
            behind = Go(TEXT, self._kept_operand(after))
            if value.limit is not None:
                return behind
            return self.split_item(Split(behind, separator), 0)
        raise Refused(f"item {index} of a split text")

    def _split_again(
        self, value: Split, part: str | None, operands: dict[str, Operand], found: Variable, after: Operand
    ) -> Value:
        """Return what stands between the first two separators, Undefined if there is none."""
        behind = self.declare("after", string(""))
        self.items.append(build.when(found, (build.assign(behind, after),)))
        if value.limit is not None:
            return Go(TEXT, behind, found)
        first = self.run(
            strings.before(part), f"what stands before {shown(part)}", "before", **{**operands, "s": behind}
        )
        return Go(TEXT, first, found)

    def behind_separator(self, value: Split) -> Value:
        """Return a split text put together again: the text, or what stands behind the first separator."""
        text, separator = self.known(value.text), value.separator
        if not value.skip:
            return text
        operands = {"s": self.text_operand(text)}
        part = separator if isinstance(separator, str) else None
        if isinstance(separator, Variable):
            operands["p"] = separator
        found, rest = self.located(part, operands)
        size = number(len(part.encode())) if part is not None else call("len", operands["p"])
        return self._where(found, operands["s"], call("slice", rest, size), string(""), "after")

    def _where(self, found: Variable, source: Operand, then: Operand, otherwise: Operand, name: str) -> Value:
        """Return a text that depends on whether something was found."""
        known = self.is_known(found)
        if known is not None:
            return self._cut(self.declare(name, then if known else otherwise), source)
        home = self.declare(name, otherwise)
        self.items.append(build.when(found, (build.assign(home, then),)))
        return self._cut(home, source)

    def _cut(self, made: Variable, source: Operand) -> Value:
        """Return a text that was cut out of another."""
        self.derive(made, source)
        return Go(TEXT, made)

    def _kept_operand(self, operand: Operand) -> Operand:
        return operand if isinstance(operand, Variable | Number) else self.declare("n", operand)

    def _kept_go(self, value: Go, name: str) -> Go:
        kept = self.kept(value, name)
        assert isinstance(kept, Go)  # noqa: S101
        return kept


def _is_near(value: Split, index: int) -> bool:
    """Tell whether an item of a split text can be found without the others."""
    return index in (0, 1, -1) and not value.drop and not (value.skip and index != 0)
