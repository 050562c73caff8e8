"""Conditions: what is true, and how `and`, `or` and `if` choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import go
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.operands import (
    both,
    either,
    negated,
)
from transplate.convert.jinja_to_go.searches import asked_together
from transplate.convert.jinja_to_go.truths import Condition, all_of, any_of, as_operand, opposite, truth_value
from transplate.convert.jinja_to_go.values import (
    ELEMENTS,
    MAPPED,
    RECORDS,
    TEXT,
    TRUTH,
    Built,
    Cat,
    Chosen,
    Const,
    Counting,
    DictOf,
    Go,
    Int,
    Joined,
    ListOf,
    Pairs,
    Reversed,
    Undefined,
    Value,
    is_lazy,
)
from transplate.gotmpl.nodes import (
    Item,
    Operand,
)
from transplate.jinja import nodes as j


class Conditions(Interface):
    """Conditions."""

    def condition(self, node: j.Expression) -> Condition:
        """Return whether an expression is true, in Python's sense."""
        if isinstance(node, j.Not):
            return opposite(self.condition(node.value))
        if isinstance(node, j.And | j.Or):
            return self._chain(_flat(node.operands, type(node)), isinstance(node, j.And))
        if isinstance(node, j.Conditional):
            test = self.condition(node.test)
            if isinstance(test, bool):
                return self.condition(node.value if test else node.otherwise)
            return self._choose(
                test, lambda: self.condition(node.value), lambda: self.condition(node.otherwise)
            )
        return self.settled(self.truth(self.value(node)))

    def settled(self, condition: Condition) -> Condition:
        """Return a condition as True or False where that is known."""
        if isinstance(condition, bool):
            return condition
        holds = self.is_known(condition)
        return condition if holds is None else holds

    def _chain(self, operands: Sequence[j.Expression], is_and: bool) -> Condition:
        left, rest_of_it = (False, operands) if is_and else self.any_found(operands)
        if rest_of_it is operands:
            left, rest_of_it = self.condition(operands[0]), operands[1:]
        if not rest_of_it:
            return left
        if isinstance(left, bool):
            return self._chain(rest_of_it, is_and) if left is is_and else left
        rest, items = self._after(left, is_and, lambda: self._chain(rest_of_it, is_and))
        if not items:
            return all_of(left, rest) if is_and else any_of(left, rest)
        found = self.declare("is", left)
        if rest is not is_and:
            items.append(build.assign(found, as_operand(rest)))
        self.items.append(build.when(found if is_and else negated(found), tuple(items)))
        return found

    def _after(
        self, condition: Operand, holds: bool, evaluate: Callable[[], Condition]
    ) -> tuple[Condition, list[Item]]:
        """Evaluate something where a condition holds, or where it does not."""
        facts = dict(self.state.facts)
        self.learn(condition, holds)
        try:
            with self.block() as items:
                found = evaluate()
        finally:
            self.state.facts = facts
            dead, self.dead = self.dead, False
        return (not holds if dead and not items else found), items

    def _choose(
        self, test: Operand, then: Callable[[], Condition], otherwise: Callable[[], Condition]
    ) -> Condition:
        first, first_items = self._after(test, True, then)
        second, second_items = self._after(test, False, otherwise)
        if not first_items and not second_items:
            if isinstance(first, bool) or isinstance(second, bool):
                return any_of(all_of(test, first), all_of(negated(test), second))
            return either(both(test, first), both(negated(test), second))
        found = self.declare("is", build.boolean(False))
        first_items.append(build.assign(found, as_operand(first)))
        second_items.append(build.assign(found, as_operand(second)))
        self.items.append(build.when(test, tuple(first_items), tuple(second_items)))
        return found

    def truth(self, value: Value) -> Condition:
        """Return whether a value is true."""
        value = self.known(value)
        if isinstance(value, Const):
            return bool(value.value)
        if isinstance(value, Undefined):
            return False
        if isinstance(value, Int):
            if value.offset > 0 or (value.offset == 0 and value.low > 0):
                return True
            return value.expr if value.offset == 0 else self.compare("!=", value, Const(0))
        if isinstance(value, Go):
            inner: Operand = value.expr
            if value.kinds <= RECORDS:
                return True if value.present is None else value.present
            if "ordered" in value.kinds:
                inner = go("and $x $x.Len", x=value.expr)
            if "type" in value.kinds:  # one name is a string, which may be empty
                inner = go("and $x (or (ne (len $x) 1) (index $x 0))", x=value.expr)
                if len(value.kinds) > 1:
                    inner = go(
                        'or (and (ne (printf "%T" $x) "api.PropertyType") $x) (and (eq (printf "%T" $x) "api.PropertyType") $y)',  # noqa: E501
                        x=value.expr,
                        y=inner,
                    )
            if value.present is None or value.present == value.expr:
                return inner
            return both(value.present, inner)
        if isinstance(value, Cat):
            return any_of(*(self.truth(part) for part in value.parts))
        if isinstance(value, ListOf):
            return bool(value.items)
        if isinstance(value, DictOf):
            return self.is_there(value, *self.keys_in(value))
        if isinstance(value, Built):
            return value.expr
        if is_lazy(value):
            return True
        if isinstance(value, Counting):
            return self.compare("<", value.start, value.stop)
        if isinstance(value, Pairs | Reversed):
            return self.truth(value.value)
        if isinstance(value, Joined):
            return any_of(*(self.truth(part) for part in value.parts))
        if isinstance(value, Chosen):
            if value.keep is None:
                return self.truth(value.value)
            return self.truth(self.length(value))
        return True

    def _conditional(self, test: j.Expression, then: j.Expression, otherwise: j.Expression) -> Value:
        found = self.condition(test)
        if isinstance(found, bool):
            return self.value(then if found else otherwise)
        return self.choose(found, lambda: self._value(then), lambda: self._value(otherwise))

    def _logical(self, operands: Sequence[j.Expression], is_and: bool) -> Value:
        if len(operands) == 1:
            return self._value(operands[0])
        if not is_and and all(map(_is_truth, operands)):
            flat = _flat(operands, j.Or)
            if asked_together(flat):
                return truth_value(self._chain(flat, False))
        left = self.value(operands[0])
        test = self.settled(self.truth(left))
        if isinstance(test, bool):
            return self._logical(operands[1:], is_and) if test is is_and else left
        if not is_and and len(operands) == 2:
            default = self._default_of(left, operands[1])
            if default is not None:
                return default
        if isinstance(left, Go) and left.kinds == TRUTH and left.present is None:  # noqa: SIM102
            if all(_is_truth(operand) for operand in operands[1:]):  # noqa: RUF100, SIM102
                return self._logical_truth(left, operands[1:], is_and)
        rest = operands[1:]
        if is_and:
            return self.choose(test, lambda: self._logical(rest, True), lambda: left)
        return self.choose(test, lambda: left, lambda: self._logical(rest, False))

    def _logical_truth(self, left: Go, rest: Sequence[j.Expression], is_and: bool) -> Value:
        found, items = self._after(left.expr, is_and, lambda: self._chain(rest, is_and))
        if not items:
            return truth_value(all_of(left.expr, found) if is_and else any_of(left.expr, found))
        kept = self.declare("is", left.expr)
        items.append(build.assign(kept, as_operand(found)))
        self.items.append(build.when(kept if is_and else negated(kept), tuple(items)))
        return Go(TRUTH, kept)

    def _default_of(self, left: Value, node: j.Expression) -> Value | None:
        """Return ``left or node`` where an empty list, dict or string is what Go has there anyway."""
        if isinstance(node, j.ListLiteral) and not node.items:
            return self.or_empty(left, ListOf(()))
        if isinstance(node, j.DictLiteral) and not node.items:
            return self.or_empty(left, DictOf(()))
        return self.or_empty(left, Const("")) if node == j.EMPTY else None

    def or_empty(self, left: Value, empty: Value) -> Go | None:
        """Return a value or something empty of its kind, where that is what Go has there anyway."""
        if not isinstance(left, Go) or left.present not in (None, left.expr):
            return None
        is_same = (
            (empty == ListOf(()) and left.kinds <= ELEMENTS.keys())
            or (empty == DictOf(()) and left.kinds <= MAPPED.keys())
            or (empty == Const("") and left.kinds == TEXT)
        )
        return Go(left.kinds, left.expr) if is_same else None


def _flat(operands: Sequence[j.Expression], sort: type[j.And | j.Or]) -> list[j.Expression]:
    """Return the operands of an ``and`` or ``or``, with those of operands that are one too."""
    found = [_flat(one.operands, sort) if isinstance(one, sort) else [one] for one in operands]
    return [one for some in found for one in some]


def _is_truth(node: j.Expression) -> bool:
    """Tell whether an expression gives True or False and nothing else."""
    if isinstance(node, j.Not | j.Test):
        return True
    if isinstance(node, j.Binary):
        return node.operator in ("==", "!=", "<", "<=", ">", ">=", "in", "not in")
    if isinstance(node, j.Literal):
        return isinstance(node.value, bool)
    return isinstance(node, j.And | j.Or) and all(_is_truth(operand) for operand in node.operands)
