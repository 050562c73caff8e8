"""Loops, and the variables that they change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import string
from transplate.convert.jinja_to_go.interface import Guess, Interface, Key, LoopExit
from transplate.convert.jinja_to_go.operands import (
    variable_name,
)
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.shapes import Shape, merged
from transplate.convert.jinja_to_go.truths import Condition
from transplate.convert.jinja_to_go.values import (
    Built,
    Cat,
    Chosen,
    Go,
    Int,
    ListOf,
    Loop,
    Namespace,
    Packed,
    Poison,
    Value,
    kinds_of,
    markup_of,
    shifted,
    together,
)
from transplate.gotmpl.nodes import (
    Break,
    Item,
    Operand,
    Pipeline,
    Range,
    Variable,
)
from transplate.jinja import nodes as j

_MARKUP = "markup"
"""What a guess has besides kinds: ``|safe`` may have made the text in some rounds."""


class Loops(Interface):
    """Loops, and the variables that they change."""

    def _for(self, node: j.For) -> None:
        value = self.value(node.iterable)
        self.item_name = variable_name(node.targets[0].name)
        wants = set(_loop_attributes(node))
        if isinstance(value, Cat):
            raise Refused("a loop over a text")
        if node.condition is not None:
            test = node.condition

            def keep(item: Value) -> Condition:
                with self.scope():
                    self._bind(node.targets, item)
                    return self.condition(test)

            value = Chosen(value, keep, is_list=True)
        if isinstance(value, Loop | Namespace):
            raise Refused("this loop")

        def write(item: Value, loop: Loop) -> None:
            with self.scope():
                self._bind(node.targets, item)
                self.state.scopes[-1]["loop"] = loop
                self.body(node.body)

        if node.orelse:
            test_empty = self.settled(self.truth(value))
            if isinstance(test_empty, bool):
                if not test_empty:
                    self.body(node.orelse)
                    return
            else:
                kept = value
                self.branch(
                    test_empty,
                    lambda: self.loop(node, kept, write, wants),
                    lambda: self.body(node.orelse),
                )
                return
        self.loop(node, value, write, wants)

    def _bind(self, targets: tuple[j.Name, ...], item: Value) -> None:
        scope = self.state.scopes[-1]
        if len(targets) == 1:
            scope[targets[0].name] = item
            return
        item = self.known(item)
        if not isinstance(item, ListOf) or len(item.items) != len(targets):
            raise Refused("a loop with several targets")
        for target, part in zip(targets, item.items, strict=True):
            scope[target.name] = part

    def walk(self, value: Value, body: Callable[[Value, Loop], None]) -> None:
        """Write a loop that changes no variable of Jinja's."""
        self.loop(None, value, body, set())

    def loop(self, node: object, value: Value, body: Callable[[Value, Loop], None], wants: set[str]) -> None:
        """Write a loop; the attributes of namespaces that it sets live in variables meanwhile."""
        key, item_name = id(node) if node is not None else None, self.item_name
        guess = dict(self._guesses.get(key, {}))
        for _ in range(12):
            mark = (list(self.items), self.state.copy(), set(self.homes), self.dead, len(self.losses))
            outer_assigned, self._assigned = self._assigned, set()
            for name in self._assigned_in.get(key, ()):
                self.forget(Variable(name))
            needs: dict[Key, Guess] = {}
            self._make_homes(guess)
            start = dict(self.state.attributes)
            scopes = len(self.state.scopes)

            def finish(start: dict[Key, Value] = start, needs: dict[Key, Guess] = needs) -> None:
                self._end_round(start, guess, needs)

            def run(
                item: Value, loop: Loop, unrolled: bool = False, finish: Callable[[], None] = finish
            ) -> None:
                loops = [*self._loops]
                self._loops = [*loops, LoopExit(finish, unrolled=unrolled)]
                try:
                    body(item, loop)
                    if not self.dead and not unrolled:
                        finish()
                finally:
                    self._loops = loops

            self.item_name = item_name
            self._walk(value, run, wants)
            assigned, self._assigned = self._assigned, outer_assigned | self._assigned
            assigned &= mark[2]
            missed = assigned - self._assigned_in.get(key, set())
            if not needs and not missed:
                break
            if not needs and missed:
                self._assigned_in.setdefault(key, set()).update(assigned)
            for place, kinds in needs.items():
                guess[place] = _wider(kinds, guess.get(place, frozenset()))
            self.items[:] = mark[0]  # a text at their end may have grown
            self.state, self.homes, self.dead = mark[1], mark[2], mark[3]
            del self.losses[mark[4] :]
            self._assigned = outer_assigned
            del self.state.scopes[scopes:]
        else:
            raise Refused("a loop whose variables change their kinds without end")
        if key is not None:
            self._guesses[key] = guess

    def _make_homes(self, guess: dict[Key, Guess]) -> None:
        for key, kinds in guess.items():
            if key not in self.state.attributes:
                continue
            current = self.state.attributes[key]
            if isinstance(kinds, Shape):
                own_shape = self.shape_of(current)
                if own_shape is None:
                    self.state.attributes[key] = Poison(f"{key[1]}, which changes in a loop")
                    continue
                kind = together(string(""), merged(kinds, own_shape))
                own_home, _ = self._home_of(current)
                if (
                    own_home is not None
                    and isinstance(current, Built | Packed)
                    and self.fits_in(current, kind)
                ):
                    self.forget(own_home)
                    self._assigned.add(own_home.name)
                    continue
                home = self.declare(variable_name(key[1]), self.kept_in(kind, current))
                self.homes.add(home.name)
                self.state.attributes[key] = replace(kind, expr=home)
                continue
            own = kinds_of(current)
            if kinds is None or own is None:
                self.state.attributes[key] = Poison(f"{key[1]}, which changes in a loop")
                continue
            markup = 2 if _MARKUP in kinds else markup_of(current)
            kinds -= {_MARKUP}
            shift = 1 if "minus" in kinds | own else 0
            if shift and not kinds | own <= {"int", "minus"}:
                self.state.attributes[key] = Poison(f"{key[1]}, a number that may be negative")
                continue
            own_home, own_shift = self._home_of(current)
            if own_home is not None and own_shift == shift:
                home = own_home
                self.forget(home)
                self._assigned.add(home.name)
            else:
                home = self.declare(variable_name(key[1]), self.operand(shifted(current, shift)))
                self.homes.add(home.name)
            self.state.attributes[key] = Int(home, -shift) if shift else Go(kinds | own, home, markup=markup)

    def _end_round(
        self,
        start: dict[Key, Value],
        guess: dict[Key, Guess],
        needs: dict[Key, Guess],
    ) -> None:
        """Bring the attributes that a round has set into their variables, or note that they need one."""
        for key, before in start.items():
            now = self.state.attributes.get(key)
            if now is None or now == before:
                continue
            if isinstance(before, Poison):
                continue
            kinds, own = kinds_of(now), kinds_of(before)
            home, shift = self._home_of(before)
            if kinds is None or own is None or isinstance(before, Built | Packed):
                self._end_packed(key, before, now, needs)
                continue
            if markup_of(before) not in (2, markup_of(now)):
                needs[key] = kinds | own | {_MARKUP}
                continue
            if shift:
                own = frozenset({"int", "minus"})
            if key not in guess or not kinds <= own or home is None:
                needs[key] = kinds | own
                continue
            if self._home_of(now) == (home, shift):
                continue
            self.items.append(build.assign(home, self.operand(shifted(now, shift))))

    def _end_packed(self, key: Key, before: Value, now: Value, needs: dict[Key, Guess]) -> None:
        """Bring a value that is kept in a text into its variable, or note that it needs one."""
        if isinstance(before, Built | Packed) and self._home_of(before)[0] is not None:
            if self._home_of(now) == self._home_of(before):
                return
            if self.fits_in(before, now):
                home = self._home_of(before)[0]
                assert home is not None  # noqa: S101
                self.items.append(build.assign(home, self.kept_in(before, now)))
                return
        shapes = self.shape_of(before), self.shape_of(now)
        needs[key] = None if shapes[0] is None or shapes[1] is None else merged(shapes[0], shapes[1])

    def range(self, declarations: tuple[Variable, ...], over: Operand, write: Callable[[], None]) -> None:
        """Write a range; what is known in it is not known behind it."""
        state = self.state.copy()
        running = self.recursion
        asked = running.asked if running is not None else 0
        with self.block() as items:
            write()
        self.dead = False
        after = self.state
        self.state = state
        for key in self.state.attributes:
            if isinstance(after.attributes.get(key), Poison):
                self.state.attributes[key] = after.attributes[key]
        for name in self._assigned:
            self.forget(Variable(name))
        commands = build.pipeline(over).commands
        self.items.append(Range(Pipeline(commands, declarations), tuple(items)))
        if running is not None and running.asked != asked:
            self.items.append(build.when(running.called, (Break(),)))

    def _leave(self, item: Item) -> None:
        if not self._loops or self._loops[-1].unrolled:
            raise Refused("leaving a loop that is written out")
        self._loops[-1].finish()
        self.items.append(item)
        self.dead = True

    def stop_loop(self) -> None:
        """Leave the loop that is being written."""
        if self._loops and self._loops[-1].unrolled:
            return
        self.items.append(Break())


def _loop_attributes(node: j.For) -> Iterator[str]:
    """Yield the attributes of ``loop`` that a loop's body reads."""
    pending: list[Any] = [*node.body]
    while pending:
        part = pending.pop()
        if isinstance(part, j.Attribute) and part.value == j.Name("loop"):
            yield part.name
        elif isinstance(part, j.Item) and part.value == j.Name("loop") and isinstance(part.key, j.Literal):
            yield str(part.key.value)
        elif isinstance(part, tuple):
            pending.extend(part)
        elif isinstance(part, j.For):  # whose body has a loop of its own
            pending.append(part.iterable)
        elif is_dataclass(part):
            pending.extend(getattr(part, one.name) for one in fields(part))


def _wider(one: Guess, other: Guess) -> Guess:
    """Return what is one thing or the other."""
    if one is None or other is None:
        return None
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return one | other
    shapes = [Shape(guess) if isinstance(guess, frozenset) else guess for guess in (one, other)]
    return merged(shapes[0], shapes[1])
