"""Branches, and what is known behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.operands import (
    is_simple,
    negated,
    variables_of,
)
from transplate.convert.jinja_to_go.refusals import Ambiguous, Refused
from transplate.convert.jinja_to_go.state import State
from transplate.convert.jinja_to_go.trees import assigned_in, declared_in, variables_in
from transplate.convert.jinja_to_go.truths import Condition
from transplate.convert.jinja_to_go.values import (
    Either,
    Undefined,
    Value,
    operands_of,
)
from transplate.gotmpl.nodes import (
    Item,
    Operand,
    TemplateCall,
    Text,
    Variable,
)

_CHOICE = "the value of a choice"
_MOST_CASES = 6

Result = TypeVar("Result")


class Branches(Interface):
    """Branches, and what is known behind them."""

    def by_cases(
        self, write: Callable[[], None], depth: int = 0, evaluated: dict[int, Value] | None = None
    ) -> None:
        """Write something; where it can be said only for one outcome of a test, twice in an if."""

        def apart(test: Operand, found: dict[int, Value]) -> None:
            again = lambda: self.by_cases(write, depth + 1, found)  # noqa: E731
            self.branch(test, again, again)

        self._by_cases(write, apart, depth, evaluated)

    def decided(
        self, find: Callable[[], Condition], depth: int = 0, evaluated: dict[int, Value] | None = None
    ) -> Condition:
        """Return a condition; where it can be said only for one outcome of a test, for each apart."""

        def apart(test: Operand, found: dict[int, Value]) -> Condition:
            again = lambda: self.decided(find, depth + 1, found)  # noqa: E731
            return self._choose(test, again, again)

        return self._by_cases(find, apart, depth, evaluated)

    def _by_cases(
        self,
        write: Callable[[], Result],
        apart: Callable[[Operand, dict[int, Value]], Result],
        depth: int,
        evaluated: dict[int, Value] | None,
    ) -> Result:
        restore = self._checkpoint()
        mark, items, length = len(self.serials), self.items, len(self.items)
        outer, self._evaluated = self._evaluated, dict(evaluated or {})
        try:
            return write()
        except Ambiguous as found:
            written = self.items[length:] if self.items is items else None
            again, decoded = self._evaluated, self.state.decoded
            restore()
            if depth >= _MOST_CASES:
                raise Refused(found.reason) from None
            if not self._made_before(mark, found.test):
                if written is None or not self._is_kept(written, mark, found.test):
                    raise Refused(found.reason) from None
                self.items.extend(written)
                again = {
                    node: value for node, value in again.items() if self._is_declared(written, mark, value)
                }
                for text, value in decoded.items():
                    if self._is_declared(written, mark, value):
                        self.state.decoded.setdefault(text, value)
            else:
                again = dict(evaluated or {})
            return apart(found.test, again)
        finally:
            self._evaluated = outer

    def _is_kept(self, written: list[Item], mark: int, test: Operand) -> bool:
        """Tell whether what was written declares what a test needs, and changes nothing else."""
        if any(isinstance(item, Text | TemplateCall) for item in written):
            return False
        if any(self.serials.get(name, -1) < mark for name in assigned_in(written, self.failures)):
            return False
        declared = set(declared_in(written))
        return all(self.serials.get(name, -1) < mark or name in declared for name in variables_of(test))

    def _is_declared(self, written: list[Item], mark: int, value: Value) -> bool:
        declared = set(declared_in(written))
        return all(
            self.serials.get(name, -1) < mark or name in declared
            for operand in operands_of(value)
            for name in variables_of(operand)
        )

    def _made_before(self, mark: int, test: Operand) -> bool:
        """Tell whether a test has only variables from before; what it takes out of texts is written again."""
        for name in variables_of(test):
            if self.serials.get(name, -1) < mark:
                continue
            decoder = self.decoders.get(name)
            if decoder is None or decoder.mark < mark:
                return False
            if any(mark <= self.serials.get(one, -1) < decoder.mark for one in variables_in(decoder.items)):
                return False
            self.items.extend(decoder.items)
            self.state.decoded[decoder.text] = decoder.value
        return True

    def _checkpoint(self) -> Callable[[], None]:
        """Return what brings the writer back to where it is now."""
        items, written = self.items, list(self.items)
        state, homes, dead, losses = self.state.copy(), set(self.homes), self.dead, list(self.losses)
        loops, sink, assigned = list(self._loops), self.sink, set(self._assigned)
        place, indexes = self.place, dict(self.indexes)

        def restore() -> None:
            self.items = items
            self.items[:] = written
            self.state, self.homes, self.dead, self.losses = state.copy(), set(homes), dead, list(losses)
            self._loops, self.sink = list(loops), sink
            self._assigned, self.place, self.indexes = set(assigned), place, dict(indexes)

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
        return found if isinstance(found, Either) else self.known(found)
