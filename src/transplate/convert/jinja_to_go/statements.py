"""Jinja's statements: the loops, branches, variables and macros of a template, written in Go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from transplate.convert.jinja_to_go import build, strings
from transplate.convert.jinja_to_go.attributes import KEYS, key_of
from transplate.convert.jinja_to_go.build import call, go, number, string
from transplate.convert.jinja_to_go.expressions import Condition, text_value
from transplate.convert.jinja_to_go.functions import Functions
from transplate.convert.jinja_to_go.state import Ambiguous, Refused, State, is_simple, negated, variables_of
from transplate.convert.jinja_to_go.values import (
    BUILT,
    ELEMENTS,
    MAPPED,
    RECORDS,
    TEXT,
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
    MacroOf,
    Namespace,
    Pairs,
    Poison,
    Reversed,
    Split,
    Undefined,
    Value,
    kinds_of,
)
from transplate.gotmpl.nodes import (
    Action,
    Break,
    Continue,
    Item,
    Operand,
    Pipeline,
    Range,
    Variable,
)
from transplate.jinja import nodes as j
from transplate.jinja.reader import JinjaTree

Key = tuple[int, str]

_CHOICE = "the value of a choice"
_DEEPEST = 3
_MOST_CASES = 6
_MOST_STATEMENTS = 40_000
"""How many statements may be compiled for a template, those of macros and cases counted each time."""
_LONGEST_UNROLLED = 64


class TooLong(Exception):
    """The converted template would be too long to be of use."""


class _Exit:
    """A loop that is being written: what to do at the end of a round."""

    def __init__(self, finish: Callable[[], None], *, unrolled: bool) -> None:
        self.finish = finish
        self.unrolled = unrolled


class Statements(Functions):
    """Writes statements."""

    def __init__(self, tree: JinjaTree, variables: dict[str, Value], *, exact: bool) -> None:
        super().__init__(exact=exact)
        self.tree = tree
        self.variables = variables
        self.state.scopes[0].update(variables)
        self._loops: list[_Exit] = []
        self._guesses: dict[object, dict[Key, frozenset[str] | None]] = {}
        self._assigned_in: dict[object, set[str]] = {}
        self._assigned: set[str] = set()
        self._namespaces = 0
        self.written = 0
        self.item_name = "item"
        self._depth: dict[str, int] = {}
        self._deciding: Operand = build.boolean(True)
        self._tests: set[Operand] = set()

    # --- statements -----------------------------------------------------------------------------------

    def body(self, nodes: j.Body) -> None:
        """Write statements."""
        for node in nodes:
            if self.dead:
                return
            self.written += 1
            if self.written > _MOST_STATEMENTS:
                raise TooLong
            outer, self.place = self.place, self.tree.places.get(id(node), self.place)
            self.by_cases(lambda node=node: self.statement(node))  # type: ignore[misc]
            self.place = outer

    def by_cases(self, write: Callable[[], None], depth: int = 0) -> None:
        """Write something; where it can be said only for one outcome of a test, twice in an if."""
        restore = self._checkpoint()
        mark = len(self.serials)
        try:
            write()
        except Ambiguous as found:
            restore()
            if depth >= _MOST_CASES or any(
                self.serials.get(name, -1) >= mark for name in variables_of(found.test)
            ):
                raise Refused(found.reason) from None
            self.branch(
                found.test,
                lambda: self.by_cases(write, depth + 1),
                lambda: self.by_cases(write, depth + 1),
            )

    def decided(self, find: Callable[[], Condition], depth: int = 0) -> Condition:
        """Return a condition; where it can be said only for one outcome of a test, for each apart."""
        restore = self._checkpoint()
        mark = len(self.serials)
        try:
            return find()
        except Ambiguous as found:
            restore()
            if depth >= _MOST_CASES or any(
                self.serials.get(name, -1) >= mark for name in variables_of(found.test)
            ):
                raise Refused(found.reason) from None
            return self._choose(
                found.test, lambda: self.decided(find, depth + 1), lambda: self.decided(find, depth + 1)
            )

    def _checkpoint(self) -> Callable[[], None]:
        """Return what brings the writer back to where it is now."""
        items, written = self.items, list(self.items)
        state, homes, dead, losses = self.state.copy(), set(self.homes), self.dead, list(self.losses)
        depth, loops, sink, assigned = dict(self._depth), list(self._loops), self.sink, set(self._assigned)
        place = self.place

        def restore() -> None:
            self.items = items
            self.items[:] = written
            self.state, self.homes, self.dead, self.losses = state.copy(), set(homes), dead, list(losses)
            self._depth, self._loops, self.sink = dict(depth), list(loops), sink
            self._assigned, self.place = set(assigned), place

        return restore

    def statement(self, node: j.Statement) -> None:
        """Write a statement."""
        match node:
            case j.Output(parts):
                for part in parts:
                    if not self.dead:
                        self.place = self.tree.places.get(id(part), self.place)
                        self.by_cases(lambda part=part: self.output(part))  # type: ignore[misc]
            case j.If(test, body, orelse):
                found = self.decided(lambda: self.condition(test))
                if isinstance(found, bool):
                    self.body(body if found else orelse)
                elif not self.dead:
                    self.branch(found, lambda: self.body(body), lambda: self.body(orelse))
            case j.For():
                self._for(node)
            case j.Set(target, value):
                self._set(target, self.value(value))
            case j.SetBlock(target, body):
                with self.scope():
                    captured = self.captured(lambda: self.body(body))
                self._set(target, text_value(captured))
            case j.Macro():
                self.state.scopes[-1][node.name] = MacroOf(node)
            case j.Scope(body):
                with self.scope():
                    self.body(body)
            case j.Break() | j.Continue():
                self._leave(Break() if isinstance(node, j.Break) else Continue())
            case _:
                raise Refused(f"the statement {type(node).__name__}")

    def scope(self) -> _Scope:
        """Open a scope of variables."""
        return _Scope(self)

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

    # --- branches -------------------------------------------------------------------------------------

    def branch(self, condition: Operand, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """Write an if, and bring what both ways know together."""
        before = self.state
        mark = len(self.items)
        ways: list[tuple[list[Item], State, bool]] = []
        for holds, write in ((True, then), (False, otherwise)):
            self.state = before.copy()
            self.learn(condition, holds)
            with self.block() as items:
                self._or_fail(write)
            ways.append((items, self.state, self.dead))
            self.dead = False
        (first, first_state, first_dead), (second, second_state, second_dead) = ways
        if first_dead and second_dead:
            self.items.append(build.when(condition, tuple(first), tuple(second)))
            self.state, self.dead = before, True
        elif first_dead:
            self.items.append(build.when(condition, tuple(first)))
            self.items.extend(second)
            self.state = second_state
        elif second_dead:
            self.items.append(build.when(negated(condition), tuple(second)))
            self.items.extend(first)
            self.state = first_state
        else:
            self.state = before
            test = condition
            if not (is_simple(condition) and self.is_stable(condition)):
                test = self.fresh("is")
            self.state = self._merged(before, (first, first_state), (second, second_state), test)
            if test is not condition and test in self._tests:
                assert isinstance(test, Variable)  # noqa: S101
                self.items.insert(mark, build.declare(test, condition))
                condition = test
            if first:
                self.items.append(build.when(condition, tuple(first), tuple(second)))
            elif second:
                self.items.append(build.when(negated(condition), tuple(second)))

    def _or_fail(self, write: Callable[[], None]) -> None:
        """Write something that may not be reached; if it cannot be converted, fail there."""
        restore = self._checkpoint()
        outer = self.place
        try:
            write()
        except Refused as refused:
            place = self.place
            restore()
            self.losses.append((refused.reason, place))
            self.fail(f"not converted: {refused.reason}")
        self.place = outer

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
            made.attributes[key] = self._merge(
                key[1],
                *self._built_alike(
                    (first[1].attributes.get(key, Undefined(key[1])), first[0]),
                    (second[1].attributes.get(key, Undefined(key[1])), second[0]),
                ),
                before.attributes.get(key),
                first[0],
                second[0],
            )
        return made

    def _built_alike(
        self, one: tuple[Value, list[Item]], other: tuple[Value, list[Item]]
    ) -> tuple[Value, Value]:
        """Return two lists of a namespace as lists that are built at run time, if they are not the same."""
        lists = (ListOf, Joined)
        if one[0] == other[0] or not isinstance(one[0], lists) or not isinstance(other[0], lists):
            return one[0], other[0]
        made: list[Go] = []
        for value, items in (one, other):
            outer, self.items = self.items, items
            found = self.built(value)
            self.items = outer
            if found is None:
                return one[0], other[0]
            made.append(found)
        kinds = made[0].kinds if made[0].expr != string("") else made[1].kinds
        if any(found.kinds != kinds and found.expr != string("") for found in made):
            return one[0], other[0]
        return Go(kinds, made[0].expr), Go(kinds, made[1].expr)

    def _merge(
        self,
        name: str,
        one: Value,
        other: Value,
        before: Value | None,
        first: list[Item],
        second: list[Item],
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
        if isinstance(one, DictOf) and isinstance(other, DictOf):  # noqa: SIM102
            if [key for key, _ in one.items] == [key for key, _ in other.items]:
                return DictOf(
                    tuple(
                        (key, self._merge(name, a, b, None, first, second))
                        for (key, a), (_, b) in zip(one.items, other.items, strict=True)
                    )
                )
        kinds, other_kinds = kinds_of(one), kinds_of(other)
        if kinds is None or other_kinds is None:
            for this, that, items in ((one, other, second), (other, one, first)):
                if isinstance(this, Go) and this.kinds <= BUILT and isinstance(that, ListOf | Joined):
                    outer, self.items = self.items, items
                    made = self._like(that, this)
                    self.items = outer
                    if isinstance(made, Go):
                        pair = (one, made) if this is one else (made, other)
                        return self._merge(name, *pair, None, first, second)
            return self._either(name, one, other, first, second)
        markup = {_markup(value) for value in (one, other)}
        home = self.fresh(_variable_name(name))
        shift = 0
        if "minus" in kinds | other_kinds:
            if not kinds | other_kinds <= {"int", "minus"}:
                return self._either(name, one, other, first, second)
            shift = 1
            one, other = _shifted(one, 1), _shifted(other, 1)
            before = None
        ways = ((one, first), (other, second))
        initial: Value | None = None
        for value, _ in ways[::-1]:
            if isinstance(value, Int) and _lowest(value) + shift < 0:
                continue
            if isinstance(value, Const | Undefined) or (before is not None and value == before):
                initial = value
                break
        if initial is None:
            self.items.append(build.declare(home, string("")))
        else:
            self.items.append(build.declare(home, self.operand(initial)))
        for value, items in ways:
            if initial is not None and value == initial:
                continue
            outer, self.items = self.items, items
            self.items.append(build.assign(home, self.operand(value)))
            self.items = outer
        if shift:
            return Int(home, -shift)
        return Go(kinds | other_kinds, home, markup=markup.pop() if len(markup) == 1 else 2)

    def _either(self, name: str, one: Value, other: Value, first: list[Item], second: list[Item]) -> Value:
        """Return two values as one that depends on the test; what the ways have declared is brought out."""
        try:
            made = Either(
                self._deciding, self._exported(one, name, first), self._exported(other, name, second)
            )
        except Refused:
            return Poison(f"the variable {name}, which is of different kinds")
        if not is_simple(self._deciding) or not self.is_stable(self._deciding):
            return Poison(f"the variable {name}, which is of different kinds")
        self._tests.add(self._deciding)
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
            if isinstance(value, Go | Int | Cat | Json):
                parts = [*_operands(value)]
                if not any(name in declared for part in parts for name in variables_of(part)) and all(
                    self.is_stable(part) for part in parts
                ):
                    return value
                kinds = kinds_of(value)
                if kinds is None or "minus" in kinds:
                    raise Refused(name)
                home = self.fresh(_variable_name(name))
                self.items.append(build.declare(home, string("")))
                outer, self.items = self.items, items
                self.items.append(build.assign(home, self.operand(value)))
                self.items = outer
                return Go(kinds, home, markup=_markup(value))
            if isinstance(value, ListOf):
                return ListOf(tuple(out(item) for item in value.items))
            if isinstance(value, Joined):
                return Joined(tuple(out(item) for item in value.parts))
            if isinstance(value, DictOf):
                return DictOf(tuple((out(key), out(item)) for key, item in value.items))
            if isinstance(value, Split):
                return Split(out(value.text), value.separator, value.skip, value.drop)
            if isinstance(value, Reversed):
                return Reversed(out(value.value))
            if isinstance(value, Pairs):
                return Pairs(out(value.value), value.sorted, value.only)
            if isinstance(value, Chosen):
                return Chosen(out(value.value), value.keep, value.change)
            if isinstance(value, Either):
                if any(name in declared for name in variables_of(value.test)):
                    raise Refused(name)
                return Either(value.test, out(value.first), out(value.second))
            if isinstance(value, Loop | Counting):
                raise Refused(name)
            return value

        return out(value)

    # --- variables ------------------------------------------------------------------------------------

    def _set(self, target: j.Name | j.Attribute | tuple[j.Name, ...], value: Value) -> None:
        if isinstance(target, tuple):
            value = self.known(value)
            if isinstance(value, ListOf) and len(value.items) == len(target):
                for one, item in zip(target, value.items, strict=True):
                    self._set(one, item)
                return
            raise Refused("a set of several variables")
        if isinstance(target, j.Name):
            self.state.scopes[-1][target.name] = self.kept(value, _variable_name(target.name))
            return
        space = self.value(target.value)
        if not isinstance(space, Namespace):
            raise Refused("a set of an attribute of what is no namespace")
        self.assign((space.number, target.name), value)

    def assign(self, key: Key, value: Value) -> None:
        """Set an attribute of a namespace."""
        current = self.state.attributes.get(key)
        home, shift = self._home_of(current)
        value = self._like(value, current)
        kinds = kinds_of(value)
        if home is not None and kinds is not None and ("minus" not in kinds or shift):  # noqa: SIM102
            if not shift or kinds <= {"int", "minus"}:
                self.items.append(build.assign(home, self.operand(_shifted(value, shift))))
                self.forget(home)
                self._assigned.add(home.name)
                self.state.attributes[key] = (
                    Int(home, -shift) if shift else Go(kinds, home, markup=_markup(value))
                )
                return
        self.state.attributes[key] = self.kept(value, _variable_name(key[1]))

    def _like(self, value: Value, other: Value | None) -> Value:
        """Return a list as a built one where the other is one."""
        if isinstance(other, Go) and other.kinds & BUILT and isinstance(value, ListOf | Joined):
            made = self.built(value)
            if made is not None:
                if isinstance(value, ListOf) and not value.items:
                    return Go(other.kinds, made.expr)
                return made
        return value

    def _home_of(self, value: Value | None) -> tuple[Variable | None, int]:
        """Return the variable that a value is kept up to date in, and by how much it is more there."""
        if isinstance(value, Go) and value.present is None:
            home, shift = value.expr, 0
        elif isinstance(value, Int) and value.offset <= 0:
            home, shift = value.expr, -value.offset
        else:
            return None, 0
        if isinstance(home, Variable) and not home.fields and home.name in self.homes:
            return home, shift
        return None, 0

    # --- loops ----------------------------------------------------------------------------------------

    def _for(self, node: j.For) -> None:
        value = self.value(node.iterable)
        self.item_name = _variable_name(node.targets[0].name)
        wants = set(_loop_attributes(node))
        if isinstance(value, Cat):
            raise Refused("a loop over a text")
        if node.condition is not None:
            test = node.condition

            def keep(item: Value) -> Condition:
                with self.scope():
                    self._bind(node.targets, item)
                    return self.condition(test)

            value = Chosen(value, keep)
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
        key = id(node) if node is not None else None
        guess = dict(self._guesses.get(key, {}))
        for _ in range(12):
            mark = (len(self.items), self.state.copy(), set(self.homes), self.dead, len(self.losses))
            outer_assigned, self._assigned = self._assigned, set()
            for name in self._assigned_in.get(key, ()):
                self.forget(Variable(name))
            needs: dict[Key, frozenset[str] | None] = {}
            self._make_homes(guess)
            start = dict(self.state.attributes)
            scopes = len(self.state.scopes)

            def finish(
                start: dict[Key, Value] = start, needs: dict[Key, frozenset[str] | None] = needs
            ) -> None:
                self._end_round(start, guess, needs)

            def run(
                item: Value, loop: Loop, unrolled: bool = False, finish: Callable[[], None] = finish
            ) -> None:
                self._loops.append(_Exit(finish, unrolled=unrolled))
                try:
                    body(item, loop)
                    if not self.dead and not unrolled:
                        finish()
                finally:
                    self._loops.pop()

            self._walk(value, run, wants)
            assigned, self._assigned = self._assigned, outer_assigned | self._assigned
            assigned &= mark[2]
            missed = assigned - self._assigned_in.get(key, set())
            if not needs and not missed:
                break
            if not needs and missed:
                self._assigned_in.setdefault(key, set()).update(assigned)
            for place, kinds in needs.items():
                old = guess.get(place, frozenset())
                guess[place] = None if kinds is None or old is None else kinds | old
            del self.items[mark[0] :]
            self.state, self.homes, self.dead = mark[1], mark[2], mark[3]
            del self.losses[mark[4] :]
            self._assigned = outer_assigned
            del self.state.scopes[scopes:]
        else:
            raise Refused("a loop whose variables change their kinds without end")
        if key is not None:
            self._guesses[key] = guess

    def _make_homes(self, guess: dict[Key, frozenset[str] | None]) -> None:
        for key, kinds in guess.items():
            if key not in self.state.attributes:
                continue
            current = self.state.attributes[key]
            if kinds is not None and kinds <= BUILT and isinstance(current, ListOf | Joined):
                current = self.built(current) or current
                if isinstance(current, Go):
                    current = Go(kinds, current.expr)
            own = kinds_of(current)
            if kinds is None or own is None:
                self.state.attributes[key] = Poison(f"{key[1]}, which changes in a loop")
                continue
            shift = 1 if "minus" in kinds | own else 0
            if shift and not kinds | own <= {"int", "minus"}:
                self.state.attributes[key] = Poison(f"{key[1]}, a number that may be negative")
                continue
            home = self.declare(_variable_name(key[1]), self.operand(_shifted(current, shift)))
            self.homes.add(home.name)
            self.state.attributes[key] = (
                Int(home, -shift) if shift else Go(kinds | own, home, markup=_markup(current))
            )

    def _end_round(
        self,
        start: dict[Key, Value],
        guess: dict[Key, frozenset[str] | None],
        needs: dict[Key, frozenset[str] | None],
    ) -> None:
        """Bring the attributes that a round has set into their variables, or note that they need one."""
        for key, before in start.items():
            now = self.state.attributes.get(key)
            if now is None or now == before:
                continue
            if isinstance(before, Poison):
                continue
            kinds, own = kinds_of(now), kinds_of(before)
            if isinstance(now, ListOf | Joined | Go) and isinstance(before, ListOf | Joined):
                made = self.built(now)
                if made is not None:
                    needs[key] = made.kinds
                    continue
            if kinds is None or own is None:
                needs[key] = None
                continue
            home, shift = self._home_of(before)
            if shift:
                own = frozenset({"int", "minus"})
            if key not in guess or not kinds <= own or home is None:
                needs[key] = kinds | own
                continue
            if self._home_of(now) == (home, shift):
                continue
            self.items.append(build.assign(home, self.operand(_shifted(now, shift))))

    def _walk(self, value: Value, body: Callable[..., None], wants: set[str]) -> None:
        value = self.known(value)
        if isinstance(value, Undefined):
            return
        if isinstance(value, ListOf):
            self._unroll(value.items, body)
        elif isinstance(value, DictOf):
            self._unroll([key for key, _ in value.items], body)
        elif isinstance(value, Go):
            self._walk_go(value, body, wants)
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

    def range(self, declarations: tuple[Variable, ...], over: Operand, write: Callable[[], None]) -> None:
        """Write a range; what is known in it is not known behind it."""
        state = self.state.copy()
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

    def _walk_go(self, value: Go, body: Callable[..., None], wants: set[str]) -> None:
        if value.present is not None and value.present != value.expr:
            inner = Go(value.kinds, value.expr)
            with self.block() as items:
                self._walk_go(inner, body, wants)
            self.items.append(build.when(value.present, tuple(items)))
            return
        value = Go(value.kinds, value.expr)
        if value.kinds & {"undefined", "none"} and value.kinds - {"undefined", "none"}:
            kept = self._kept_go(value, "list")
            with self.block() as items:
                self.learn(kept.expr, True)
                self._walk_go(Go(value.kinds - {"undefined", "none"}, kept.expr), body, wants)
            self.items.append(build.when(kept.expr, tuple(items)))
            return
        if value.kinds <= MAPPED.keys():
            self._walk_pairs(Pairs(value, only="keys"), body, wants)
            return
        if value.kinds == TEXT:
            self._walk_text(value, body)
            return
        if value.kinds & BUILT:
            if len(value.kinds) > 1:
                raise Refused("a loop over one of several built lists")
            self._walk_built(value, body, wants)
            return
        if len(value.kinds) == 1 and value.kinds <= RECORDS:
            self._walk_pairs(Pairs(value, only="keys"), body, wants)
            return
        if not value.kinds <= ELEMENTS.keys():
            raise self.split_kinds(value, f"a loop over a {self._name_of(value)}")
        value = self._kept_go(value, "list")
        elements = frozenset().union(*(ELEMENTS[kind] for kind in value.kinds))
        index, item = self.fresh("i"), self.fresh(self.item_name)
        self.indexes[index.name] = value.expr
        loop = self._list_loop(value, elements, index)

        def write() -> None:
            self.learn(value.expr, True)
            run = self._or_fail if not self.is_nonempty(value) else _plainly
            run(lambda: body(Go(elements, item), loop))

        self.range((index, item), value.expr, write)

    def _walk_built(self, value: Go, body: Callable[..., None], wants: set[str]) -> None:
        value = self._kept_go(value, "list")
        if value.kinds == {"picks"}:
            index = self.fresh("i")
            found = go("index $.Messages (index $l $i)", l=value.expr, i=index)
            loop = self._counted_loop(index, call("len", value.expr))

            def write_pick() -> None:
                body(Go(frozenset({"message"}), self.declare("item", found)), loop)

            self.range((index,), call("len", value.expr), write_pick)
            return
        length: Operand | None = None
        if wants & {"last", "length"}:
            length = self._kept_operand(self.operand(self.length(value)))
        rest = self.declare("rest", value.expr)
        self.homes.add(rest.name)
        _, step = self._counter()

        def write() -> None:
            self.items.append(build.when(negated(rest), (Break(),)))
            end = self.run(
                "{{ $d := $r }}{{ range len $r }}{{ if eq (index $d 0) 255 }}{{ break }}{{ end }}"
                "{{ $d = slice $d 1 }}{{ end }}",
                r=rest,
            )
            cut = call("slice", rest, number(0), call("len", call("slice", rest, call("len", end))))
            item = self.declare("item", cut)
            self.items.append(build.assign(rest, call("slice", end, number(1))))
            body(Go(TEXT, item), self._counted_loop(step(), length))

        self.range((), call("len", value.expr), write)

    def _walk_text(self, value: Go, body: Callable[..., None]) -> None:
        """Write a loop over the characters of a text."""
        rest = self.declare("rest", value.expr)
        self.homes.add(rest.name)

        def write() -> None:
            self.items.append(build.when(negated(rest), (Break(),)))
            character = self.declare("c", call("printf", string("%.1s"), rest))
            self.items.append(build.assign(rest, call("slice", rest, call("len", character))))
            body(Go(TEXT, character), Loop({}))

        self.range((), call("len", value.expr), write)

    def _walk_record(self, value: Go, kind: str, body: Callable[..., None], only: str) -> None:
        for name in (*KEYS[kind], *(("type",) if kind == "call" else ())):
            if kind == "message" or kind == "call":
                raise Refused(f"a loop over a {kind}")
            found = key_of(kind, value.expr, name)
            item: Value = Const(name) if only == "keys" else found if only else ListOf((Const(name), found))

            def write(item: Value = item) -> None:
                body(item, Loop({}), unrolled=True)

            if isinstance(found, Go) and found.present is not None and found.absent == "undefined":
                self.branch(found.present, write, lambda: None)
            else:
                write()

    def _list_loop(self, value: Go, elements: frozenset[str], index: Variable) -> Loop:
        rest = call("slice", value.expr, index)
        last = call("eq", call("len", rest), number(1))

        def previous() -> Value:
            place = call("len", call("slice", call("slice", value.expr, number(0), index), number(1)))
            return Go(elements, call("index", value.expr, place), index)

        def following() -> Value:
            return Go(elements, call("index", rest, number(1)), call("ne", call("len", rest), number(1)))

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
        del loop.attributes["previtem"], loop.attributes["nextitem"]

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
            found = self.length(value)
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

    def _walk_pairs(self, value: Pairs, body: Callable[..., None], wants: set[str]) -> None:
        inner = self.known(value.value)
        if isinstance(inner, DictOf):
            pairs = list(inner.items)
            if value.sorted:
                pairs.sort(key=lambda pair: str(pair[0].value).lower() if isinstance(pair[0], Const) else "")
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
        if len(inner.kinds) == 1 and inner.kinds <= RECORDS:
            if wants:
                raise Refused("the place in a loop over a record")
            (kind,) = inner.kinds
            if value.sorted:
                raise Refused("a record in the order of its keys")
            self._walk_record(inner, kind, body, value.only)
            return
        if not inner.kinds <= MAPPED.keys():
            raise self.split_kinds(inner, f"the items of a {self._name_of(inner)}")
        if len(inner.kinds - {"map", "arguments"}) and len(inner.kinds) > 1:
            raise self.split_kinds(inner, "the items of one of several dicts")
        inner = self._kept_go(inner, "map")
        if value.sorted and self.exact:
            self._walk_sorted(inner, value.only, body, wants)
            return
        over = inner.expr
        length: Operand = call("len", over)
        if inner.kinds == {"ordered"}:
            over = build.field(inner.expr, "ToMap" if value.sorted else "All")
            length = build.field(inner.expr, "Len")
        elements = frozenset().union(*(MAPPED[kind] for kind in inner.kinds))
        key, item = self.fresh("key"), self.fresh("value")
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

    def _walk_sorted(self, inner: Go, only: str, body: Callable[..., None], wants: set[str]) -> None:
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
            one = self.fresh("one")
            with self.block() as items:
                lower = self.run(strings.change_case(True), s=one)
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

    def _walk_numbers(self, value: Counting, body: Callable[..., None]) -> None:
        start, stop = self.known(value.start), self.known(value.stop)
        if isinstance(start, Const) and isinstance(stop, Const):
            numbers = range(start.value, stop.value)
            self._unroll([Const(index) for index in (numbers[::-1] if value.down else numbers)], body)
            return
        if value.down and start == Const(0) and isinstance(stop, Int):
            size = self._kept_operand(self.int_operand(stop))
            index = self.fresh("i")
            loop = self._counted_loop(index, size)
            back = go('len (slice (printf "%*s" $n "") (len (printf "%*s " $i "")))', n=size, i=index)
            self.range((index,), size, lambda: body(Int(back), loop))
            return
        if value.down:
            raise Refused("a range that counts down from a number that is not known")
        if start == Const(0) and isinstance(stop, Int):
            size = self._kept_operand(self.int_operand(stop))
            index = self.fresh("i")
            loop = self._counted_loop(index, size)
            self.range((index,), size, lambda: body(Int(index), loop))
            return
        if isinstance(start, Int | Const) and isinstance(stop, Int | Const) and _lowest(start) >= 0:
            low = self._kept_operand(self.operand(start))
            high = self._kept_operand(self.operand(stop))
            size = self.run(
                '{{ $d := 0 }}{{ if gt $h $l }}{{ $d = len (slice (printf "%*s" $h "") $l) }}{{ end }}',
                h=high,
                l=low,
            )
            index = self.fresh("i")
            loop = self._counted_loop(index, size)
            shifted = (
                Int(index, start.value)
                if isinstance(start, Const)
                else Int(go('len (printf "%*s%*s" $a "" $b "")', a=index, b=low))
            )
            self.range((index,), size, lambda: body(shifted, loop))
            return
        raise Refused("a range between numbers that are not known")

    def _walk_split(self, value: Split, body: Callable[..., None], wants: set[str]) -> None:
        text = self.known(value.text)
        if isinstance(text, Const):
            parts = text.value.split(value.separator)
            parts = parts[value.skip : len(parts) - value.drop]
            self._unroll([Const(part) for part in parts], body)
            return
        if value.separator is None:
            raise Refused("a text split at white space")
        if wants & {"last", "length"}:
            raise Refused("the end of a loop over a split text")
        source = self.text_operand(text)
        rest = self.declare("rest", source)
        more = self.declare("more", build.boolean(True))
        self.homes.update((rest.name, more.name))
        _, step = self._counter()
        _, every = self._counter()
        length = len(value.separator.encode())

        def write() -> None:
            self.items.append(build.when(negated(more), (Break(),)))
            part, found, tail = self.fresh("part"), self.fresh("f"), self.fresh("t")
            self.items.extend(
                build.statements(
                    strings.find(value.separator or "").replace("$d", "$f"),
                    self.fresh,
                    s=rest,
                    f=found,
                    t=tail,
                )
            )
            self.items.append(build.declare(part, rest))
            cut = call("slice", rest, number(0), call("len", call("slice", rest, call("len", tail))))
            self.items.append(
                build.when(
                    found,
                    (
                        build.assign(part, cut),
                        build.assign(rest, call("slice", tail, number(length))),
                    ),
                    (build.assign(more, build.boolean(False)),),
                )
            )
            place = every()
            tests: list[Condition] = []
            if value.skip:
                tests.append(call("ge", place, number(value.skip)))
            if value.drop > 1:
                raise Refused("this slice of a split text")
            if value.drop:
                tests.append(found)

            def inner() -> None:
                index = step()
                body(Go(TEXT, part), self._counted_loop(index, None))

            test = tests[0] if tests else True
            if len(tests) > 1:
                test = call("and", *(one for one in tests if not isinstance(one, bool)))
            if isinstance(test, bool):
                inner()
            else:
                self.branch(test, inner, lambda: None)

        self.range((), call("len", call("print", source, string(" "))), write)

    def _walk_joined(self, value: Joined, body: Callable[..., None], wants: set[str]) -> None:
        if wants - {"first", "index0", "index"}:
            raise Refused("the end of a loop over joined lists")
        _, step = self._counter()

        def counted(item: Value, _: Loop, unrolled: bool = False) -> None:
            body(item, self._counted_loop(step(), None), unrolled=unrolled)

        for part in value.parts:
            self._walk(part, counted, set())

    # --- macros ---------------------------------------------------------------------------------------

    def call_macro(self, macro: MacroOf, node: j.Call) -> None:
        """Write what a macro prints."""
        found = macro.node
        values: dict[str, Value] = {}
        for name, argument in zip(found.parameters, node.arguments, strict=False):
            values[name] = self.kept(self.value(argument), _variable_name(name))
        for name, argument in node.keywords:
            values[name] = self.kept(self.value(argument), _variable_name(name))
        if len(node.arguments) > len(found.parameters):
            raise Refused("a macro with more arguments than parameters")
        depth = self._depth.get(found.name, 0)
        if depth >= _DEEPEST:
            raise Refused(f"the macro {found.name}, which calls itself")
        scopes = self.state.scopes
        self.state.scopes = [*scopes[:1], values]
        self._depth[found.name] = depth + 1
        loops, self._loops = self._loops, []
        defaults = dict(zip(reversed(found.parameters), reversed(found.defaults), strict=False))
        try:
            for name in found.parameters:
                if name not in values:
                    values[name] = self.value(defaults[name]) if name in defaults else Undefined(name)
            self.body(found.body)
        finally:
            self._depth[found.name] = depth
            self._loops = loops
            self.state.scopes = [self.state.scopes[0], *scopes[1:]]

    def new_namespace(self, attributes: dict[str, Value]) -> Value:
        """Return a new namespace."""
        self._namespaces += 1
        for name, value in attributes.items():
            self.state.attributes[(self._namespaces, name)] = self.kept(value, _variable_name(name))
        return Namespace(self._namespaces)

    def choose(self, test: Operand, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """Return one of two values, made where they are used."""

        def put(make: Callable[[], Value]) -> Callable[[], None]:
            def run() -> None:
                self.state.scopes[-1][_CHOICE] = make()

            return run

        self.branch(test, put(then), put(otherwise))
        found = self.state.scopes[-1].pop(_CHOICE, Undefined())
        return self.known(found)

    def fail_with(self, value: Value) -> None:
        """Stop with an error that holds a text."""
        text = self.as_text(value)
        if isinstance(text, Const):
            self.fail(str(text.value))
            return
        self.items.append(Range(build.pipeline(self.operand(text)), ()))
        self.dead = True


class _Scope:
    """A scope of variables, closed at the end of a with."""

    def __init__(self, writer: Statements) -> None:
        self.writer = writer
        self.count = len(writer.state.scopes)

    def __enter__(self) -> None:
        self.writer.state.scopes.append({})

    def __exit__(self, *_: object) -> None:
        del self.writer.state.scopes[self.count :]


def _resolve(state: State, depth: int, name: str) -> Value:
    """Return what a name means in a scope."""
    for scope in reversed(state.scopes[: depth + 1]):
        if name in scope:
            return scope[name]
    return Undefined(name)


def _plainly(write: Callable[[], None]) -> None:
    write()


def _always(value: Value) -> Callable[[], Value]:
    return lambda: value


def _markup(value: Value) -> int:
    return value.markup if isinstance(value, Const | Go) else 0


def _operands(value: Value) -> Iterator[Operand]:
    """Yield the expressions in a value."""
    if isinstance(value, Go):
        yield value.expr
        if value.present is not None:
            yield value.present
    elif isinstance(value, Int):
        yield value.expr
    elif isinstance(value, Cat):
        for part in value.parts:
            yield from _operands(part)
    elif isinstance(value, Json):
        yield from _operands(value.value)
    elif isinstance(value, DictOf):
        for key, found in value.items:
            yield from _operands(key)
            yield from _operands(found)
    elif isinstance(value, ListOf):
        for found in value.items:
            yield from _operands(found)


def _shifted(value: Value, by: int) -> Value:
    if isinstance(value, Int):
        return Int(value.expr, value.offset + by, value.low)
    return Const(value.value + by) if by and isinstance(value, Const) else value


def _lowest(value: Value) -> int:
    if isinstance(value, Int):
        return value.low + value.offset
    if isinstance(value, Const) and isinstance(value.value, int):
        return int(value.value)
    return 0


def _variable_name(name: str) -> str:
    return name if name.isascii() and name.isidentifier() else "v"


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
        elif is_dataclass(part):
            pending.extend(getattr(part, one.name) for one in fields(part))
