"""What a variable is behind a branch that has set it on one way or on both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import string
from transplate.convert.jinja_to_go.interface import Interface, Key
from transplate.convert.jinja_to_go.operands import (
    is_simple,
    variable_name,
    variables_of,
)
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.shapes import merged
from transplate.convert.jinja_to_go.state import State
from transplate.convert.jinja_to_go.values import (
    Built,
    Cat,
    Chosen,
    Const,
    Counting,
    DictOf,
    Either,
    Go,
    Int,
    Joined,
    Json,
    ListOf,
    Loop,
    Method,
    Packed,
    Pairs,
    Poison,
    Reversed,
    Split,
    Undefined,
    Value,
    kinds_of,
    lowest,
    markup_of,
    operands_of,
    shifted,
    together,
)
from transplate.gotmpl.nodes import (
    Action,
    Item,
    Operand,
)


class Merging(Interface):
    """What a variable is behind a branch that has set it on one way or on both."""

    def _merged(
        self,
        before: State,
        first: tuple[list[Item], State],
        second: tuple[list[Item], State],
        test: Operand,
    ) -> State:
        self._deciding = test
        made = before.copy()
        facts = first[1].facts
        made.facts = {text: holds for text, holds in second[1].facts.items() if facts.get(text) is holds}
        made.decoded = {
            text: value
            for text, value in before.decoded.items()
            if text in first[1].decoded and text in second[1].decoded
        }
        self.state = made
        for depth, scope in enumerate(made.scopes):
            one, other = first[1].scopes[depth], second[1].scopes[depth]
            for name in {**one, **other}:
                scope[name] = self._merge(
                    name,
                    _resolve(first[1], depth, name),
                    _resolve(second[1], depth, name),
                    _resolve(made, depth, name),
                    first[0],
                    second[0],
                )
        for key in {**first[1].attributes, **second[1].attributes}:
            in_place = self._merged_in_place(key, before.attributes.get(key), first, second)
            if in_place is not None:
                made.attributes[key] = in_place
                continue
            made.attributes[key] = self._merge(
                key[1],
                first[1].attributes.get(key, Undefined(key[1])),
                second[1].attributes.get(key, Undefined(key[1])),
                before.attributes.get(key),
                first[0],
                second[0],
                packs=True,
            )
        return made

    @contextmanager
    def _at_end(self, items: list[Item]) -> Iterator[None]:
        """Write behind what a way has written; where that fails, what follows both ways goes on."""
        with self.block(items):
            yield
        self.dead = False

    def _merged_in_place(
        self,
        key: Key,
        before: Value | None,
        first: tuple[list[Item], State],
        second: tuple[list[Item], State],
    ) -> Value | None:
        """Return an attribute in the variable that it had before, if one way has left or set it there."""
        home, shift = self._home_of(before)
        values = [way[1].attributes.get(key, Undefined(key[1])) for way in (first, second)]
        is_home = [self._home_of(value) == (home, shift) for value in values]
        if home is None or before is None or not any(is_home):
            return None
        if isinstance(before, Built | Packed):
            if not all(
                held or self.fits_in(before, value) for held, value in zip(is_home, values, strict=True)
            ):
                return None
        else:
            kinds = [kinds_of(value) for value in values]
            if kinds[0] is None or kinds[1] is None:
                return None
            both = kinds[0] | kinds[1]
            if not both <= {"int", "minus"} if shift else "minus" in both:
                return None
        for (items, _), held, value in zip((first, second), is_home, values, strict=True):
            if held:
                continue
            with self._at_end(items):
                if isinstance(before, Built | Packed):
                    self.items.append(build.assign(home, self.kept_in(before, value)))
                else:
                    self.items.append(build.assign(home, self.operand(shifted(value, shift))))
        self.forget(home)
        self._assigned.add(home.name)
        if isinstance(before, Built | Packed):
            return before
        if shift:
            return Int(home, -shift)
        markup = {markup_of(value) for value in values}
        return Go(both, home, markup=markup.pop() if len(markup) == 1 else 2)

    def _merge(
        self,
        name: str,
        one: Value,
        other: Value,
        before: Value | None,
        first: list[Item],
        second: list[Item],
        *,
        packs: bool = False,
    ) -> Value:
        """Return a value that is one thing on one way and another on the other."""
        if one == other:
            return one
        if isinstance(one, Poison) or isinstance(other, Poison):
            return one if isinstance(one, Poison) else other
        if (
            (
                isinstance(one, Go)
                and isinstance(other, Go)
                and one.expr == other.expr
                and one.markup == other.markup
            )
            and one.present is None
            and other.present is None
        ):
            return Go(one.kinds | other.kinds, one.expr, markup=one.markup)
        if isinstance(one, ListOf) and isinstance(other, ListOf) and len(one.items) == len(other.items):
            return ListOf(
                tuple(
                    self._merge(name, a, b, None, first, second)
                    for a, b in zip(one.items, other.items, strict=True)
                )
            )
        if isinstance(one, DictOf) and isinstance(other, DictOf) and one.is_open == other.is_open:  # noqa: SIM102
            if [key for key, _ in one.items] == [key for key, _ in other.items]:
                merged_items = tuple(
                    (key, self._merge(name, a, b, None, first, second))
                    for (key, a), (_, b) in zip(one.items, other.items, strict=True)
                )
                return DictOf(merged_items, one.is_open, one.is_unclear or other.is_unclear)
        kinds, other_kinds = kinds_of(one), kinds_of(other)
        if kinds is None or other_kinds is None:
            if packs:
                made = self._packed_together(name, one, other, first, second)
                if made is not None:
                    return made
            return self._either(name, one, other, first, second)
        markup = {markup_of(value) for value in (one, other)}
        if markup == {0, 1} and is_simple(self._deciding) and self.is_stable(self._deciding):
            return self._either(name, one, other, first, second)
        home = self.fresh(variable_name(name))
        shift = 0
        if "minus" in kinds | other_kinds:
            if not kinds | other_kinds <= {"int", "minus"}:
                return self._either(name, one, other, first, second)
            shift = 1
            one, other = shifted(one, 1), shifted(other, 1)
            before = None
        ways = ((one, first), (other, second))
        initial: Value | None = None
        for value, _ in ways[::-1]:
            if isinstance(value, Int) and lowest(value) + shift < 0:
                continue
            if isinstance(value, Const | Undefined) or (
                value == before and all(self.is_stable(operand) for operand in operands_of(value))
            ):
                initial = value
                break
        if initial is None:
            self.items.append(build.declare(home, string("")))
        else:
            self.items.append(build.declare(home, self.operand(initial)))
        for value, items in ways:
            if initial is not None and value == initial:
                continue
            with self._at_end(items):
                self.items.append(build.assign(home, self.operand(value)))
        if shift:
            return Int(home, -shift)
        self.derive_merged(home, self._deciding, one, other)
        return Go(kinds | other_kinds, home, markup=markup.pop() if len(markup) == 1 else 2)

    def _either(self, name: str, one: Value, other: Value, first: list[Item], second: list[Item]) -> Value:
        """Return two values as one that depends on the test; what the ways have declared is brought out."""
        if is_simple(self._deciding) and self.is_stable(self._deciding):
            try:
                made = Either(
                    self._deciding, self._exported(one, name, first), self._exported(other, name, second)
                )
            except Refused:
                pass
            else:
                self._tests.add(self._deciding)
                return made
        packed = self._packed_together(name, one, other, first, second)
        return Poison(f"the variable {name}, which is of different kinds") if packed is None else packed

    def _packed_together(
        self, name: str, one: Value, other: Value, first: list[Item], second: list[Item]
    ) -> Value | None:
        """Return two values as one that is kept in a text, None if that cannot be."""
        shapes = self.shape_of(one), self.shape_of(other)
        if shapes[0] is None or shapes[1] is None:
            return None
        home = self.fresh(variable_name(name))
        self.items.append(build.declare(home, string("")))
        made = together(home, merged(shapes[0], shapes[1]))
        for value, items in ((one, first), (other, second)):
            with self._at_end(items):
                self.items.append(build.assign(home, self.kept_in(made, value)))
        return made

    def _exported(self, value: Value, name: str, items: list[Item]) -> Value:
        """Return a value that can be used behind the items that have made it."""
        declared = {
            variable.name
            for item in items
            if isinstance(item, Action) and not item.pipeline.is_assignment
            for variable in item.pipeline.declarations
        }

        def out(value: Value) -> Value:
            if isinstance(value, Go | Int | Cat | Json | Built | Packed):
                parts = [*operands_of(value)]
                if not any(name in declared for part in parts for name in variables_of(part)) and all(
                    self.is_stable(part) for part in parts
                ):
                    return value
                kinds = kinds_of(value)
                if isinstance(value, Built | Packed):
                    home = self.fresh(variable_name(name))
                    self.items.append(build.declare(home, string("")))
                    items.append(build.assign(home, value.expr))
                    return replace(value, expr=home)
                if kinds is None or "minus" in kinds:
                    raise Refused(name)
                home = self.fresh(variable_name(name))
                self.items.append(build.declare(home, string("")))
                with self._at_end(items):
                    self.items.append(build.assign(home, self.operand(value)))
                return Go(kinds, home, markup=markup_of(value))
            if isinstance(value, ListOf):
                return ListOf(tuple(out(item) for item in value.items))
            if isinstance(value, Joined):
                return Joined(tuple(out(item) for item in value.parts))
            if isinstance(value, DictOf):
                return replace(value, items=tuple((out(key), out(item)) for key, item in value.items))
            if isinstance(value, Split):
                return replace(value, text=out(value.text))
            if isinstance(value, Reversed):
                return replace(value, value=out(value.value))
            if isinstance(value, Pairs):
                return replace(value, value=out(value.value))
            if isinstance(value, Chosen):
                return replace(value, value=out(value.value))
            if isinstance(value, Either):
                test = value.test
                if any(name in declared for name in variables_of(test)):
                    test = self.fresh("is")
                    self.items.append(build.declare(test, build.boolean(False)))
                    items.append(build.assign(test, value.test))
                return Either(test, out(value.first), out(value.second))
            if isinstance(value, Method) and value.value is not None:
                return Method(out(value.value), value.name)
            if isinstance(value, Loop | Counting):
                raise Refused(name)
            return value

        return out(value)


def _resolve(state: State, depth: int, name: str) -> Value:
    """Return what a name means in a scope."""
    for scope in reversed(state.scopes[: depth + 1]):
        if name in scope:
            return scope[name]
    return Undefined(name)
