"""Branches, and what is known behind them."""

from __future__ import annotations

from collections.abc import Callable

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.operands import (
    is_simple,
    negated,
    variables_of,
)
from transplate.convert.jinja_to_go.refusals import Ambiguous, Refused
from transplate.convert.jinja_to_go.state import State
from transplate.convert.jinja_to_go.truths import Condition
from transplate.convert.jinja_to_go.values import (
    Undefined,
    Value,
)
from transplate.gotmpl.nodes import (
    Item,
    Operand,
    Variable,
)

_CHOICE = "the value of a choice"
_MOST_CASES = 6


class Branches(Interface):
    """Branches, and what is known behind them."""

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

    def choose(self, test: Operand, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """Return one of two values, made where they are used."""

        def put(make: Callable[[], Value]) -> Callable[[], None]:
            def run() -> None:
                self.state.scopes[-1][_CHOICE] = make()

            return run

        self.branch(test, put(then), put(otherwise))
        found = self.state.scopes[-1].pop(_CHOICE, Undefined())
        return self.known(found)
