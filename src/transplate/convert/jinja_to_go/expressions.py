"""Jinja's expressions as values and conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import escape

from transplate.convert.jinja_to_go import build, strings
from transplate.convert.jinja_to_go.attributes import KEYS, key_of
from transplate.convert.jinja_to_go.build import call, go, number, string
from transplate.convert.jinja_to_go.state import (
    Refused,
    Writer,
    both,
    constant,
    either,
    negated,
    type_test,
)
from transplate.convert.jinja_to_go.values import (
    ABSENT,
    ANY,
    BUILT,
    ELEMENTS,
    MAPPED,
    MAPPINGS,
    RECORDS,
    TEXT,
    TRUTH,
    Cat,
    Chosen,
    Const,
    Counting,
    DictOf,
    Go,
    Int,
    Joined,
    Json,
    ListOf,
    Loop,
    MacroOf,
    Method,
    Namespace,
    Pairs,
    Reversed,
    Split,
    Undefined,
    Value,
    kinds_of,
)
from transplate.gotmpl.nodes import (
    Action,
    Chain,
    Identifier,
    If,
    Item,
    Operand,
    Pipeline,
    Range,
    String,
    Variable,
)
from transplate.jinja import nodes as j

Condition = bool | Operand

_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def truth_value(condition: Condition) -> Value:
    """Return a condition as a value."""
    return Const(condition) if isinstance(condition, bool) else Go(TRUTH, condition)


def all_of(*conditions: Condition) -> Condition:
    """Return whether all conditions hold."""
    made: Condition = True
    for condition in conditions:
        if condition is False or made is False:
            return False
        if condition is not True:
            made = condition if made is True else both(_operand(made), _operand(condition))
    return made


def any_of(*conditions: Condition) -> Condition:
    """Return whether any condition holds."""
    made: Condition = False
    for condition in conditions:
        if condition is True or made is True:
            return True
        if condition is not False:
            made = condition if made is False else either(_operand(made), _operand(condition))
    return made


def opposite(condition: Condition) -> Condition:
    """Return whether a condition does not hold."""
    return (not condition) if isinstance(condition, bool) else negated(condition)


def _operand(condition: Condition) -> Operand:
    return build.boolean(condition) if isinstance(condition, bool) else condition


class Expressions(Writer):
    """Evaluates expressions; what takes statements is written in front of the use."""

    variables: dict[str, Value]

    # --- names ----------------------------------------------------------------------------------------

    def lookup(self, name: str) -> Value:
        """Return the value of a name."""
        for scope in reversed(self.state.scopes):
            if name in scope:
                return scope[name]
        if name in ("namespace", "raise_exception", "strftime_now", "range", "dict"):
            return Method(None, name)
        return Undefined(name)

    # --- conditions -----------------------------------------------------------------------------------

    def condition(self, node: j.Expression) -> Condition:
        """Return whether an expression is true, in Python's sense."""
        if isinstance(node, j.Not):
            return opposite(self.condition(node.value))
        if isinstance(node, j.And | j.Or):
            return self._chain(node.operands, isinstance(node, j.And))
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
        left = self.condition(operands[0])
        if len(operands) == 1:
            return left
        if isinstance(left, bool):
            return self._chain(operands[1:], is_and) if left is is_and else left
        rest, items = self._after(left, is_and, lambda: self._chain(operands[1:], is_and))
        if not items:
            return all_of(left, rest) if is_and else any_of(left, rest)
        found = self.declare("is", left)
        if not isinstance(rest, bool) or rest is is_and:
            items.append(build.assign(found, _operand(rest)))
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
        first_items.append(build.assign(found, _operand(first)))
        second_items.append(build.assign(found, _operand(second)))
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
            if value.present is None or value.present == value.expr:
                return inner
            return both(value.present, inner)
        if isinstance(value, Cat):
            return any_of(*(self.truth(part) for part in value.parts))
        if isinstance(value, ListOf | DictOf):
            return bool(value.items)
        if isinstance(value, Pairs | Reversed):
            return self.truth(value.value)
        if isinstance(value, Joined):
            return any_of(*(self.truth(part) for part in value.parts))
        if isinstance(value, Chosen):
            if value.keep is None:
                return self.truth(value.value)
            return self.truth(self.length(value))
        return True

    # --- values ---------------------------------------------------------------------------------------

    def value(self, node: j.Expression) -> Value:
        """Return the value of an expression."""
        return self.known(self._value(node))

    def _value(self, node: j.Expression) -> Value:
        match node:
            case j.Literal(value):
                return Const(value)
            case j.Name(name):
                return self.lookup(name)
            case j.ListLiteral(items):
                return ListOf(tuple(self.value(item) for item in items))
            case j.DictLiteral(items):
                return DictOf(tuple((self.value(key), self.value(value)) for key, value in items))
            case j.Attribute(inner, name):
                return self.attribute(self.value(inner), name)
            case j.Item(inner, key):
                return self.item(self.value(inner), self.value(key))
            case j.Slice():
                return self._slice(node)
            case j.Not() | j.Test():
                return truth_value(self._test(node) if isinstance(node, j.Test) else self.condition(node))
            case j.And(operands) | j.Or(operands):
                return self._logical(operands, isinstance(node, j.And))
            case j.Conditional(test, then, otherwise):
                return self._conditional(test, then, otherwise)
            case j.Concat(operands):
                parts = [self.as_text(self.value(operand)) for operand in operands]
                return _cat(parts)
            case j.Negative(inner):
                return self._arithmetic("-", Const(0), self.value(inner))
            case j.Binary():
                return self._binary(node)
            case j.Filter():
                return self.filter(node)
            case j.Call():
                return self.call(node)
        raise Refused(f"the expression {type(node).__name__}")

    def filter(self, node: j.Filter) -> Value:
        """Return the result of a filter."""
        raise NotImplementedError

    def call(self, node: j.Call) -> Value:
        """Return the result of a call."""
        raise NotImplementedError

    def choose(self, test: Operand, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """Return one of two values, made where they are used."""
        raise NotImplementedError

    def _conditional(self, test: j.Expression, then: j.Expression, otherwise: j.Expression) -> Value:
        found = self.condition(test)
        if isinstance(found, bool):
            return self.value(then if found else otherwise)
        return self.choose(found, lambda: self.value(then), lambda: self.value(otherwise))

    def _logical(self, operands: Sequence[j.Expression], is_and: bool) -> Value:
        left = self.value(operands[0])
        if len(operands) == 1:
            return left
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
        items.append(build.assign(kept, _operand(found)))
        self.items.append(build.when(kept if is_and else negated(kept), tuple(items)))
        return Go(TRUTH, kept)

    def _default_of(self, left: Value, node: j.Expression) -> Value | None:
        """Return ``left or node`` where an empty list, dict or string is what Go has there anyway."""
        if not isinstance(left, Go) or not (left.present is None or left.present == left.expr):
            return None
        if isinstance(node, j.ListLiteral) and not node.items and left.kinds <= ELEMENTS.keys():
            return Go(left.kinds, left.expr)
        if isinstance(node, j.DictLiteral) and not node.items and left.kinds <= MAPPED.keys():
            return Go(left.kinds, left.expr)
        if node == j.EMPTY and left.kinds == TEXT:
            return Go(left.kinds, left.expr)
        return None

    # --- tests ----------------------------------------------------------------------------------------

    def _test(self, node: j.Test) -> Condition:
        found = self.settled(self.test(self.value(node.value), node))
        return opposite(found) if node.negated else found

    def test(self, value: Value, node: j.Test) -> Condition:
        """Return whether a value passes a test."""
        name = node.name
        if name in ("defined", "undefined"):
            found = self._is_kind(value, frozenset({"undefined"}))
            return opposite(found) if name == "defined" else found
        if name == "none":
            return self._is_kind(value, frozenset({"none"}))
        if name in ("eq", "equalto", "==", "sameas", "ne", "!="):
            found = self.equal(value, self.value(node.arguments[0]))
            return opposite(found) if name in ("ne", "!=") else found
        if name == "in":
            return self.contains(self.value(node.arguments[0]), value)
        kinds = _TESTED.get(name)
        if kinds is not None:
            return self._is_kind(value, kinds)
        if name in ("true", "false"):
            wanted = name == "true"
            return all_of(
                self._is_kind(value, TRUTH),
                self.truth(value) if wanted else opposite(self.truth(value)),
            )
        if name == "callable":
            return isinstance(value, Method | MacroOf)
        raise Refused(f"the test {name}")

    def _is_kind(self, value: Value, kinds: frozenset[str]) -> Condition:
        """Return whether a value is of one of some kinds."""
        value = self.known(value)
        if isinstance(value, Go):
            inner: Condition
            if value.kinds == {"type"}:
                single = call("eq", call("len", value.expr), number(1))
                inner = any_of(
                    all_of("str" in kinds, single),
                    all_of("strings" in kinds, negated(single)),
                )
            elif value.kinds <= kinds:
                inner = True
            else:
                inner = any_of(*(type_test(value.expr, kind) for kind in sorted(value.kinds & kinds)))
            if value.present is None:
                return inner
            if value.absent in kinds:
                return any_of(negated(value.present), all_of(value.present, inner))
            return all_of(value.present, inner)
        own = kinds_of(value)
        if own is not None:
            return own <= kinds
        if isinstance(value, DictOf):
            return "map" in kinds
        if isinstance(value, ListOf | Split | Joined | Reversed | Chosen | Pairs | Counting):
            return "list" in kinds
        return False

    # --- attributes and items -------------------------------------------------------------------------

    def attribute(self, value: Value, name: str) -> Value:
        """Return ``value.name``."""
        value = self.known(value)
        if isinstance(value, Namespace):
            return self.state.attributes.get((value.number, name), Undefined(name))
        if isinstance(value, Loop):
            found = value.attributes.get(name)
            if found is None:
                raise Refused(f"loop.{name}")
            return found()
        if (
            isinstance(value, Go | DictOf)
            and name in _DICT_METHODS
            and self._is_kind(value, MAPPINGS) is True
        ):
            return Method(value, name)
        if isinstance(value, Const | Cat | Json) or (isinstance(value, Go) and value.kinds == TEXT):
            return Method(value, name) if name in _STRING_METHODS else Undefined(name)
        if isinstance(value, ListOf | Joined | Split | Chosen):
            return Method(value, name)
        if isinstance(value, Go) and name in _DICT_METHODS and value.kinds & MAPPED.keys():
            return Method(self.only(value, frozenset(MAPPINGS)), name)
        if isinstance(value, Go) and name in _STRING_METHODS and "str" in value.kinds:
            return Method(self.only(value, TEXT), name)
        return self._key(value, name)

    def item(self, value: Value, key: Value) -> Value:
        """Return ``value[key]``."""
        if isinstance(key, Const) and isinstance(key.value, str):
            if isinstance(value, Namespace):
                return self.attribute(value, key.value)
            return self._key(value, key.value)
        if isinstance(key, Const | Int) and not (isinstance(key, Const) and isinstance(key.value, bool)):
            return self.at(value, key)
        return self._dynamic_item(value, key)

    def _dynamic_item(self, value: Value, key: Value) -> Value:
        value = self.known(value)
        if isinstance(value, DictOf) and isinstance(key, Go) and key.kinds == TEXT and key.present is None:
            return self._lookup_table(value.items, key)
        if isinstance(value, Go) and isinstance(key, Go) and key.kinds == TEXT and key.present is None:
            value = self.defined(value)
            if value.kinds <= {"arguments", "map"}:
                found = call("index", value.expr, key.expr)
                return Go(ANY, found)
            if value.kinds == {"properties"}:
                return Go(frozenset({"property"}), call("index", value.expr, key.expr))
        raise Refused("an item whose key is not known")

    def _lookup_table(self, items: Sequence[tuple[Value, Value]], key: Go) -> Value:
        if not items:
            return Undefined()
        (first, found), *rest = items
        test = self.equal(first, key)
        if isinstance(test, bool):
            return found if test else self._lookup_table(rest, key)
        return self.choose(test, lambda: found, lambda: self._lookup_table(rest, key))

    def _key(self, value: Value, name: str) -> Value:
        value = self.known(value)
        if isinstance(value, DictOf):
            for key, found in value.items:
                if key == Const(name):
                    return found
            return Undefined(name)
        if isinstance(value, Undefined):
            self._fail_undefined(value)
            return Undefined(name)
        if not isinstance(value, Go):
            return Undefined(name)
        value = self.defined(value)
        if len(value.kinds) == 1:
            (kind,) = value.kinds
            if kind in RECORDS:
                return key_of(kind, value.expr, name)
            if kind in ("arguments", "map"):
                held = call("index", value.expr, string(name))
                return Go(ANY, held, go('ne (printf "%T" $x) "<nil>"', x=held))
            if kind == "properties":
                held = call("index", value.expr, string(name))
                return Go(frozenset({"property"}), held, go('ne (json $x) "{}"', x=held))
            return Undefined(name)
        if not value.kinds & MAPPINGS:
            return Undefined(name)
        kind = min(value.kinds & MAPPINGS)
        others = Go(value.kinds - {kind}, value.expr)
        inner = Go(frozenset({kind}), value.expr)
        return self.choose(
            type_test(value.expr, kind), lambda: self._key(inner, name), lambda: self._key(others, name)
        )

    def _fail_undefined(self, value: Undefined) -> None:
        self.fail(f"{value.name or 'a value'} is undefined")

    def defined(self, value: Value) -> Go:
        """Return a value without its being undefined or None, for which the template fails."""
        value = self.known(value)
        if not isinstance(value, Go):
            raise Refused(f"this use of a {type(value).__name__}")
        if value.present is not None:
            if self.exact:
                with self.block() as items:
                    self.fail("a value is undefined")
                self.dead = False
                self.items.append(build.when(negated(value.present), tuple(items)))
                self.learn(value.present, True)
            value = Go(value.kinds, value.expr, markup=value.markup)
        if value.kinds & ABSENT and value.kinds - ABSENT:
            return self.only(value, value.kinds - ABSENT)
        return value

    def only(self, value: Go, kinds: frozenset[str]) -> Go:
        """Return a value as of some of its kinds; the template fails for the others."""
        left = value.kinds & kinds
        if value.kinds == {"type"}:
            raise self.split_kinds(value, "a type of a property, which may be a list")
        if not left:
            raise Refused(f"a {'/'.join(sorted(value.kinds))} where a {'/'.join(sorted(kinds))} is needed")
        if value.present is not None:
            value = self.defined(value)
        if left != value.kinds:
            if self.exact:
                test = any_of(*(type_test(value.expr, kind) for kind in sorted(left)))
                with self.block() as items:
                    self.fail("a value of another type")
                self.dead = False
                if not isinstance(test, bool):
                    self.items.append(build.when(negated(test), tuple(items)))
                    self.learn(test, True)
            return self._as_known(Go(left, value.expr, markup=value.markup))
        return value

    def _as_known(self, value: Go) -> Go:
        found = self.known(value)
        return found if isinstance(found, Go) else value

    # --- lists ----------------------------------------------------------------------------------------

    def length(self, value: Value) -> Value:
        """Return ``value|length``."""
        value = self.known(value)
        if isinstance(value, Const) and isinstance(value.value, str):
            return Const(len(value.value))
        if isinstance(value, Undefined):
            return Const(0)
        if isinstance(value, ListOf | DictOf):
            return Const(len(value.items))
        if isinstance(value, Reversed | Pairs):
            return self.length(value.value)
        if isinstance(value, Cat):
            return self.length(self.kept(value, "text"))
        if isinstance(value, Go):
            present = value.present
            if present is not None and present != value.expr and not value.kinds <= MAPPED.keys():
                raise self.split_kinds(value, "the length of a value that may be undefined")
            bare = value if present is None else Go(value.kinds, value.expr)
            if bare.kinds == {"str"}:
                return Int(self.run(strings.LENGTH, s=bare.expr))
            if bare.kinds == {"texts"}:
                return self._count(bare)
            if bare.kinds == {"ordered"}:
                return Int(go("$x.Len", x=self.defined(value).expr))
            if bare.kinds <= (ELEMENTS.keys() | MAPPED.keys()):
                low = 1 if self.is_nonempty(bare) else 0
                return Int(call("len", bare.expr), low=low)
            if bare.kinds & ABSENT:
                return self.length(self.defined(bare))
            raise self.split_kinds(bare, f"the length of a {self._name_of(value)}")
        if isinstance(value, Chosen) and value.keep is None:
            return self.length(value.value)
        if isinstance(value, Joined):
            total: Value = Const(0)
            for part in value.parts:
                total = self._arithmetic("+", total, self.length(part))
            return total
        if isinstance(value, Chosen | Split):
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

    def walk(self, value: Value, body: Callable[[Value, Loop], None]) -> None:
        """Write a loop."""
        raise NotImplementedError

    def is_nonempty(self, value: Go) -> bool:
        """Tell whether a list is known to have an item."""
        return bool(self.is_known(value.expr))

    def _name_of(self, value: Value) -> str:
        kinds = kinds_of(value)
        return "/".join(sorted(kinds)) if kinds else type(value).__name__

    def at(self, value: Value, index: Value) -> Value:
        """Return ``value[index]`` for a whole number."""
        value = self.known(value)
        fixed = index.value if isinstance(index, Const) else None
        if isinstance(value, ListOf) and isinstance(fixed, int):
            return value.items[fixed] if -len(value.items) <= fixed < len(value.items) else Undefined()
        if isinstance(value, Chosen) and value.keep is None and value.change is not None:
            return value.change(self.at(value.value, index))
        if isinstance(value, Reversed) and isinstance(fixed, int):
            return self.at(value.value, Const(-1 - fixed))
        if isinstance(value, Split) and isinstance(fixed, int):
            return self.split_item(value, fixed)
        if isinstance(value, Chosen) and isinstance(fixed, int):
            return self._chosen_item(value, fixed)
        if isinstance(value, Joined) and isinstance(fixed, int):
            return self._joined_item(value, fixed)
        if isinstance(value, Go) and value.kinds == TEXT and isinstance(fixed, int):
            return self.slice_text(value, fixed, fixed + 1 if fixed != -1 else None)
        if isinstance(value, Undefined):
            self._fail_undefined(value)
            return value
        if not isinstance(value, Go):
            raise Refused(f"an item of a {self._name_of(value)}")
        value = self.defined(value)
        if value.kinds == TEXT:
            raise Refused("a character at a place that is not known")
        if not value.kinds <= ELEMENTS.keys():
            if value.kinds & MAPPED.keys() or len(value.kinds) == 1:
                raise self.split_kinds(value, f"an item of a {self._name_of(value)}")
            value = self.only(value, frozenset(ELEMENTS))
        elements = frozenset().union(*(ELEMENTS[kind] for kind in value.kinds))
        if value.kinds & BUILT:
            if value.kinds == {"picks"} and fixed in (0, -1):
                last = call("len", call("slice", value.expr, number(1)))
                place = call("index", value.expr, number(0) if fixed == 0 else last)
                return Go(elements, go("index $.Messages $p", p=place), value.expr)
            if fixed in (0, -1):
                assert isinstance(fixed, int)  # noqa: S101
                return self._chosen_item(Chosen(value, lambda _: True), fixed)
            raise Refused("an item of a list that is built")
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

    def stop_loop(self) -> None:
        """Leave the loop that is being written."""
        raise NotImplementedError

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
        if isinstance(text, Const) and isinstance(text.value, str):
            parts = text.value.split(value.separator, -1 if value.limit is None else value.limit)
            index = fixed if fixed < 0 else fixed + value.skip
            return Const(parts[index]) if -len(parts) <= index < len(parts) else Undefined()
        if value.separator is None or value.drop or (value.skip and fixed < 0):
            raise Refused("this item of a split text")
        source = self.text_operand(text)
        index = fixed if fixed < 0 else fixed + value.skip
        separator = value.separator
        if value.limit is not None and index not in (0, 1):
            raise Refused(f"item {index} of a text split once")
        if index == 0:
            return Go(TEXT, self.run(strings.before(separator), s=source))
        if index == -1:
            return Go(TEXT, self.run(strings.after_last(separator), s=source))
        if index == 1:
            result = self.fresh("d")
            flag = self.fresh("f")
            self.items.extend(
                build.statements(strings.after_first(separator), self.fresh, d=result, f=flag, s=source)
            )
            if value.limit is not None:
                return Go(TEXT, result, flag)
            first = self.run(strings.before(separator), s=result)
            return Go(TEXT, first, flag)
        raise Refused(f"item {index} of a split text")

    def _slice(self, node: j.Slice) -> Value:
        value = self.value(node.value)
        start = None if node.start is None else self.value(node.start)
        stop = None if node.stop is None else self.value(node.stop)
        step = None if node.step is None else self.value(node.step)
        if step is not None and step != Const(1):
            if step == Const(-1) and start is None and stop is None:
                return self._reversed(value)
            raise Refused("a slice with this step")
        if start in (None, Const(None)) and stop in (None, Const(None)):
            return value
        if isinstance(value, Const | ListOf):
            return self._constant_slice(value, start, stop)
        if isinstance(value, Split):
            if value.limit is not None:
                raise Refused("a slice of a text split once")
            if stop is None and isinstance(start, Const) and value.drop == 0 and start.value >= 0:
                return Split(value.text, value.separator, value.skip + start.value, 0)
            if start in (None, Const(0)) and stop == Const(-1):
                return Split(value.text, value.separator, value.skip, value.drop + 1)
            raise Refused("this slice of a split text")
        if isinstance(value, Joined):
            raise Refused("a slice of joined lists")
        if isinstance(value, Cat):
            value = self.kept(value, "text")
        if not isinstance(value, Go):
            raise Refused(f"a slice of a {self._name_of(value)}")
        value = self.defined(value)
        if value.kinds == TEXT:
            if (start is None or isinstance(start, Const)) and (stop is None or isinstance(stop, Const)):
                return self.slice_text(
                    value,
                    start.value if isinstance(start, Const) else None,
                    stop.value if isinstance(stop, Const) else None,
                )
            return self._slice_text_at(value, start, stop)
        if not value.kinds <= ELEMENTS.keys() or value.kinds == {"type"}:
            raise self.split_kinds(value, f"a slice of a {self._name_of(value)}")
        return self._slice_list(value, start, stop)

    def _constant_slice(self, value: Const | ListOf, start: Value | None, stop: Value | None) -> Value:
        bounds: list[Any] = []
        for bound in (start, stop):
            if bound is not None and not isinstance(bound, Const):
                raise Refused("a slice of a constant at a place that is not known")
            bounds.append(None if bound is None else bound.value)
        chosen = slice(*bounds)
        if isinstance(value, ListOf):
            return ListOf(value.items[chosen])
        return Const(value.value[chosen])

    def _reversed(self, value: Value) -> Value:
        if isinstance(value, Const) and isinstance(value.value, str):
            return Const(value.value[::-1])
        if isinstance(value, ListOf):
            return ListOf(value.items[::-1])
        if isinstance(value, Reversed):
            return value.value
        if isinstance(value, Go) and value.kinds <= ELEMENTS.keys() - BUILT:
            return Reversed(self.kept(value, "list"))
        raise Refused(f"a {self._name_of(value)} from its end")

    def _slice_list(self, value: Go, start: Value | None, stop: Value | None) -> Value:
        if value.kinds & BUILT:
            raise Refused("a slice of a list that is built")
        value = self._kept_go(value, "list")
        found: Operand = value.expr
        size = call("len", value.expr)
        if start in (None, Const(0), Const(None)):
            pass
        elif isinstance(start, Const) and start.value > 0:
            if start.value == 1 and self.is_nonempty(value):
                found = call("slice", found, number(1))
            else:
                home = self._kept_go(value, "part").expr
                cut = self.declare("part", call("slice", home, number(0), number(0)))
                self.items.append(
                    build.when(
                        call("ge", size, number(start.value)),
                        (build.assign(cut, call("slice", value.expr, number(start.value))),),
                    )
                )
                found = cut
        elif isinstance(start, Int) and start.low + start.offset >= 0:
            place = self._kept_operand(self.int_operand(start))
            cut = self.declare("part", call("slice", found, number(0), number(0)))
            self.items.append(
                build.when(call("le", place, size), (build.assign(cut, call("slice", found, place)),))
            )
            found = cut
        elif isinstance(start, Const) and start.value < 0:
            cut = self.declare("part", found)
            back = call("len", call("slice", found, number(-start.value)))
            self.items.append(
                build.when(
                    call("gt", size, number(-start.value)),
                    (build.assign(cut, call("slice", found, back)),),
                )
            )
            found = cut
        else:
            raise Refused("a slice from a place that is not known")
        if stop in (None, Const(None)):
            return Go(value.kinds, found)
        if start not in (None, Const(0), Const(None)) and not (isinstance(stop, Const) and stop.value < 0):
            raise Refused("a slice between two places")
        return self._cut_list(Go(value.kinds, found), stop)

    def _cut_list(self, value: Go, stop: Value | None) -> Value:
        size = call("len", value.expr)
        if isinstance(stop, Const) and stop.value < 0:
            cut = self.declare("part", call("slice", value.expr, number(0), number(0)))
            end = call("len", call("slice", value.expr, number(-stop.value)))
            self.items.append(
                build.when(
                    call("gt", size, number(-stop.value)),
                    (build.assign(cut, call("slice", value.expr, number(0), end)),),
                )
            )
            return Go(value.kinds, cut)
        place: Operand
        if isinstance(stop, Const):
            place = number(stop.value)
        elif isinstance(stop, Int) and stop.low + stop.offset >= 0:
            place = self._kept_operand(self.int_operand(stop))
        else:
            raise Refused("a slice to a place that is not known")
        cut = self.declare("part", value.expr)
        self.items.append(
            build.when(
                call("lt", place, size), (build.assign(cut, call("slice", value.expr, number(0), place)),)
            )
        )
        return Go(value.kinds, cut)

    def _kept_operand(self, operand: Operand) -> Operand:
        return operand if isinstance(operand, Variable) else self.declare("n", operand)

    def _kept_go(self, value: Go, name: str) -> Go:
        kept = self.kept(value, name)
        assert isinstance(kept, Go)  # noqa: S101
        return kept

    def slice_text(self, value: Go, start: int | None, stop: int | None) -> Value:
        """Return a slice of a text at constant places."""
        value = self._kept_go(value, "text")
        if (start or 0) >= 0 and (stop is None or stop >= 0):
            found = value.expr
            if stop is not None:
                found = call("printf", string(f"%.{stop}s"), found)
            if start:
                found = self._kept_operand(found)
                head = call("printf", string(f"%.{start}s"), found)
                found = call("slice", found, call("len", head))
            return Go(TEXT, found)
        if stop is None and start is not None:
            return self._end_of_text(value, "{{ $d := $s }}", -start, "slice $s (len $h)")
        if not start and stop is not None:
            return self._end_of_text(value, '{{ $d := "" }}', -stop, "$h")
        raise Refused("a slice of a text between its ends")

    def _end_of_text(self, value: Go, otherwise: str, count: int, result: str) -> Value:
        """Return what a text is cut to so many characters before its end, if it has more."""
        length = self._kept_operand(self.operand(self.length(value)))
        return Go(
            TEXT,
            self.run(
                f"{otherwise}{{{{ if gt $l $n }}}}"
                '{{ $h := printf "%.*s" (len (slice (printf "%*s" $l "") $n)) $s }}'
                f"{{{{ $d = {result} }}}}{{{{ end }}}}",
                s=value.expr,
                l=length,
                n=number(count),
            ),
        )

    def _slice_text_at(self, value: Go, start: Value | None, stop: Value | None) -> Value:
        value = self._kept_go(value, "text")
        found = value.expr

        def place(bound: Value) -> Operand:
            if isinstance(bound, Go) and "int" in bound.kinds:
                bound = self._as_number(bound)
            if isinstance(bound, Int):
                return self.int_operand(bound)
            if isinstance(bound, Const) and isinstance(bound.value, int) and bound.value >= 0:
                return number(bound.value)
            raise Refused("a slice of a text at a place that is not known")

        if stop is not None:
            found = self._kept_operand(call("printf", string("%.*s"), place(stop), found))
        if start is not None:
            head = call("printf", string("%.*s"), place(start), found)
            found = call("slice", found, call("len", head))
        return Go(TEXT, found)

    # --- lists that the template builds -----------------------------------------------------------------

    def built(self, value: Value) -> Go | None:
        """Return a list as one that is built at run time, None if its items cannot be in one."""
        value = self.known(value)
        if isinstance(value, Go):
            return value if value.kinds & BUILT else None
        parts = value.parts if isinstance(value, Joined) else (value,)
        kinds: set[str] = set()
        texts: list[Operand] = []
        for part in parts:
            part = self.known(part)
            if isinstance(part, Go) and len(part.kinds) == 1 and part.kinds <= BUILT:
                kinds |= part.kinds
                texts.append(part.expr)
            elif isinstance(part, ListOf):
                for item in part.items:
                    item = self.known(item)
                    own = kinds_of(item)
                    if own == TEXT:
                        kinds.add("texts")
                        texts += [self.operand(item), string("\udcff")]
                    elif own == frozenset({"message"}) and isinstance(item, Go):
                        kinds.add("picks")
                        texts.append(self.run(_PICK, x=item.expr))
                    else:
                        return None
            else:
                return None
        if len(kinds) > 1:
            return None
        if not texts:
            return Go(frozenset({"texts"}), string(""))
        return Go(frozenset(kinds), texts[0] if len(texts) == 1 else call("print", *texts))

    # --- text -----------------------------------------------------------------------------------------

    def text_operand(self, value: Value) -> Operand:
        """Return a text as an expression that can be used again."""
        value = self.as_text(value, convert=False)
        kept = self.kept(value, "text")
        return self.operand(kept)

    def as_text(self, value: Value, *, convert: bool = True) -> Value:
        """Return ``str(value)``; without ``convert`` a value that is a string already."""
        value = self.known(value)
        if isinstance(value, Const):
            if isinstance(value.value, str):
                return value
            if convert:
                return Const(str(value.value))
        if isinstance(value, Cat | Json):
            return value
        if isinstance(value, Undefined) and convert:
            return Const("")
        if isinstance(value, Undefined):
            self._fail_undefined(value)
            return Const("")
        if isinstance(value, Go) and value.kinds == TEXT:
            if value.present is None:
                return value
            if convert and value.absent == "undefined" and value.present == value.expr:
                return Go(TEXT, value.expr, markup=value.markup)
        if isinstance(value, Go) and not convert:
            return self.only(value, TEXT)
        if isinstance(value, Int) and convert:
            return Go(TEXT, call("print", self.int_operand(value)))
        if not convert:
            raise Refused(f"a {self._name_of(value)} where a string is needed")
        return text_value(self.captured(lambda: self.write(value)))

    def captured(self, write: Callable[[], None]) -> Operand:
        """Return what something prints, in a variable unless it is but one thing."""
        sink, self.sink = self.sink, self.fresh("text")
        made = self.sink
        try:
            with self.block() as items:
                write()
        finally:
            self.sink = sink
        if not items:
            return string("")
        *before, last = items
        whole = _sum_of(last, made)
        if whole is None or any(_sum_of(item, made) is not None or _sets(item, made) for item in before):
            self.items.append(build.declare(made, string("")))
            self.items.extend(items)
            return made
        self.items.extend(before)
        if len(whole) == 1 and not isinstance(whole[0], Pipeline) and self.is_stable(whole[0]):
            return whole[0]
        self.items.append(build.declare(made, whole[0] if len(whole) == 1 else call("print", *whole)))
        return made

    def write(self, value: Value) -> None:
        """Print a value as Jinja prints it."""
        raise NotImplementedError

    # --- operators ------------------------------------------------------------------------------------

    def _binary(self, node: j.Binary) -> Value:
        operator = node.operator
        left, right = self.value(node.left), self.value(node.right)
        if operator in ("in", "not in"):
            found = self.settled(self.contains(right, left))
            return truth_value(opposite(found) if operator == "not in" else found)
        if operator in ("==", "!="):
            found = self.settled(self.equal(left, right))
            return truth_value(opposite(found) if operator == "!=" else found)
        if operator in _COMPARISONS:
            return truth_value(self.settled(self.compare(operator, left, right)))
        if operator == "+":
            return self.add(left, right)
        return self._arithmetic(operator, left, right)

    def add(self, left: Value, right: Value) -> Value:
        """Return ``left + right``."""
        if _is_listlike(left) and _is_listlike(right):
            if isinstance(left, ListOf) and isinstance(right, ListOf):
                return ListOf(left.items + right.items)
            parts: list[Value] = []
            for side in (left, right):
                parts.extend(side.parts if isinstance(side, Joined) else (side,))
            return Joined(tuple(part for part in parts if part != ListOf(())))
        if _is_number(left) and _is_number(right):
            return self._arithmetic("+", left, right)
        kinds = kinds_of(left), kinds_of(right)
        if any(one is not None and "str" in one for one in kinds) or isinstance(left, Cat | Json):
            markup = _is_markup(left), _is_markup(right)
            texts = [self.as_text(left, convert=False), self.as_text(right, convert=False)]
            if any(markup):
                return self._safe_sum(texts, 1 in markup)
            return _cat(texts)
        for side in (left, right):
            if isinstance(side, Go):
                raise self.split_kinds(side, f"a sum of {self._name_of(left)} and {self._name_of(right)}")
        raise Refused(f"a sum of {self._name_of(left)} and {self._name_of(right)}")

    def _safe_sum(self, texts: Sequence[Value], certain: bool) -> Value:
        """Return the sum of texts of which ``|safe`` made some: the others are escaped for HTML."""
        made: list[Value] = []
        for text in texts:
            if _is_markup(text) or (isinstance(text, Const) and str(escape(text.value)) == text.value):
                made.append(text)
            elif not certain:
                raise Refused("a string that may be marked safe in a sum")
            elif isinstance(text, Const):
                made.append(Const(str(escape(text.value))))
            else:
                made.append(Go(TEXT, call("html", self.operand(text))))
        return Go(TEXT, self.operand(self.kept(_cat(made), "safe")), markup=1 if certain else 2)

    def _arithmetic(self, operator: str, left: Value, right: Value) -> Value:
        left, right = self._as_number(left), self._as_number(right)
        if isinstance(left, Const) and isinstance(right, Const):
            return Const(_COMPUTE[operator](left.value, right.value))
        if operator == "+":
            if isinstance(left, Const):
                left, right = right, left
            if isinstance(left, Int) and isinstance(right, Const):
                return Int(left.expr, left.offset + right.value, left.low)
            if isinstance(left, Int) and isinstance(right, Int):
                total = go('len (printf "%*s%*s" $a "" $b "")', a=left.expr, b=right.expr)
                return Int(total, left.offset + right.offset, left.low + right.low)
        if operator == "-" and isinstance(left, Int):
            if isinstance(right, Const):
                return Int(left.expr, left.offset - right.value, left.low)
            if isinstance(right, Int):
                return self._difference(left, right)
        if operator == "%" and isinstance(left, Int) and left.offset >= 0 and isinstance(right, Const):
            return self._remainder(left, right.value)
        raise Refused(f"{self._name_of(left)} {operator} {self._name_of(right)}")

    def _difference(self, left: Int, right: Int) -> Value:
        """Return the difference of two numbers; the template fails if it is negative."""
        moved = left.offset - right.offset
        if moved >= 0:
            first = self.int_operand(Int(left.expr, moved, left.low))
            found = go('len (slice (printf "%*s" $a "") $b)', a=first, b=right.expr)
            return Int(found)
        second = self.int_operand(Int(right.expr, -moved, right.low))
        return Int(go('len (slice (printf "%*s" $a "") $b)', a=left.expr, b=second))

    def _remainder(self, left: Int, divisor: int) -> Value:
        place = self.int_operand(left)
        if divisor == 2:
            digits = self.declare("binary", call("printf", string("%b"), place))
            return Int(
                self.run(
                    '{{ $d := 0 }}{{ if eq (slice $b (len (slice $b 1))) "1" }}{{ $d = 1 }}{{ end }}',
                    b=digits,
                )
            )
        if divisor > 2:
            return Int(
                self.run(
                    "{{ $d := $x }}{{ range $x }}{{ if lt $d $n }}{{ break }}{{ end }}"
                    '{{ $d = len (slice (printf "%*s" $d "") $n) }}{{ end }}',
                    x=place,
                    n=number(divisor),
                )
            )
        raise Refused(f"a remainder by {divisor}")

    def _as_number(self, value: Value) -> Value:
        value = self.known(value)
        if isinstance(value, Const) and isinstance(value.value, int | float):
            return value
        if isinstance(value, Int):
            return value
        if isinstance(value, Undefined):
            self._fail_undefined(value)
            return Const(0)
        if isinstance(value, Go) and "int" in value.kinds:
            return Int(self.only(value, frozenset({"int"})).expr)
        raise Refused(f"arithmetic with a {self._name_of(value)}")

    def compare(self, operator: str, left: Value, right: Value) -> Condition:
        """Return an order of two values."""
        left, right = self.known(left), self.known(right)
        if isinstance(left, Const) and isinstance(right, Const):
            return bool(_COMPUTE[operator](left.value, right.value))
        if isinstance(left, Const):
            return self.compare(_MIRRORED[operator], right, left)
        if isinstance(left, Int) and isinstance(right, Const) and type(right.value) is int:
            return _compare_constant(operator, left, right.value)
        if isinstance(left, Int) and isinstance(right, Int):
            name = {"==": "eq", "!=": "ne", **_COMPARISONS}[operator]
            moved = left.offset - right.offset
            first = self.int_operand(Int(left.expr, max(moved, 0), left.low))
            second = self.int_operand(Int(right.expr, max(-moved, 0), right.low))
            return call(name, first, second)
        if isinstance(left, Go) and "int" in left.kinds:
            return self.compare(operator, self._as_number(left), right)
        if isinstance(right, Go) and "int" in right.kinds:
            return self.compare(operator, left, self._as_number(right))
        raise Refused(f"{self._name_of(left)} {operator} {self._name_of(right)}")

    def equal(self, left: Value, right: Value) -> Condition:
        """Return whether two values are equal in Python."""
        left, right = self.known(left), self.known(right)
        if isinstance(right, Go | Int) and isinstance(left, Const | Undefined):
            left, right = right, left
        if isinstance(left, Undefined) or isinstance(right, Undefined):
            if isinstance(right, Undefined):
                return self._is_kind(left, frozenset({"undefined"}))
            return self._is_kind(right, frozenset({"undefined"}))
        if isinstance(left, Const) and isinstance(right, Const):
            return bool(left.value == right.value)
        if isinstance(left, Int) and isinstance(right, Const | Int):
            if isinstance(right, Const):
                if type(right.value) is not int:
                    return False
                return _compare_constant("==", left, right.value)
            return self.compare("==", left, right)
        if isinstance(left, Cat):
            left = self.kept(left, "text")
        if isinstance(right, Cat):
            right = self.kept(right, "text")
        if isinstance(left, Go) and isinstance(right, Const):
            return self._equal_constant(left, right.value)
        if isinstance(left, Go) and isinstance(right, Go):
            return self._equal_go(left, right)
        if isinstance(left, ListOf | DictOf) and isinstance(right, ListOf | DictOf):  # noqa: SIM102
            if not left.items or not right.items:
                return not left.items and not right.items and type(left) is type(right)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, ListOf | DictOf) and not one.items and isinstance(other, Go):
                kinds = ELEMENTS.keys() if isinstance(one, ListOf) else MAPPED.keys()
                if other.kinds <= kinds and (other.present is None or other.present == other.expr):
                    return negated(other.expr) if other.present is None else False
                if not other.kinds & kinds and not other.kinds & {"type"}:
                    return False
        raise Refused(f"{self._name_of(left)} == {self._name_of(right)}")

    def _equal_constant(self, left: Go, value: object) -> Condition:
        if value is None:
            return self._is_kind(left, frozenset({"none"}))
        kind = type(value).__name__
        inner: Condition
        if left.kinds == {"type"} and kind == "str":
            inner = call("eq", call("print", left.expr), constant(value))
        elif kind == "bool" and "bool" in left.kinds:
            held = left.expr if value else negated(left.expr)
            inner = all_of(self._is_kind(Go(left.kinds, left.expr), TRUTH), held)
        elif kind == "str" and "str" in left.kinds:
            inner = all_of(
                self._is_kind(Go(left.kinds, left.expr), TEXT), call("eq", left.expr, constant(value))
            )
        elif kind == "int" and "int" in left.kinds:
            inner = all_of(
                self._is_kind(Go(left.kinds, left.expr), frozenset({"int"})),
                call("eq", left.expr, constant(value)),
            )
        elif kind in ("int", "float", "bool") and left.kinds & {"float", "int", "bool"}:
            raise Refused(f"{self._name_of(left)} == {value!r}")
        else:
            return False
        if left.present is None or (left.present == left.expr and value):
            return inner
        return all_of(left.present, inner)

    def _equal_go(self, left: Go, right: Go) -> Condition:
        left_kinds, right_kinds = kinds_of(left), kinds_of(right)
        assert left_kinds is not None  # noqa: S101
        assert right_kinds is not None  # noqa: S101
        if left_kinds == right_kinds and left_kinds in (TEXT, TRUTH):
            return call("eq", left.expr, right.expr)
        if not left_kinds & right_kinds:
            return False
        if left_kinds | right_kinds <= {"str", "undefined"} and left.present in (None, left.expr):  # noqa: SIM102
            if right.present in (None, right.expr) and "undefined" not in left.kinds | right.kinds:
                test = call("eq", left.expr, right.expr)
                if left.present is None or right.present is None:
                    present = left.present or right.present
                    return all_of(present, test) if present is not None else test
                return test
        if left_kinds == {"message"} and "message" in right_kinds:
            same = go("eq (json $a) (json $b)", a=left.expr, b=right.expr)
            return all_of(self._is_kind(right, frozenset({"message"})), same)
        if right_kinds == {"message"} and "message" in left_kinds:
            return self._equal_go(right, left)
        if left_kinds <= {"str", "undefined", "none"} and right_kinds <= {"str", "undefined", "none"}:
            a, b = (
                self.kept(Go(left_kinds, self.operand(left)), "a"),
                self.kept(Go(right_kinds, self.operand(right)), "b"),
            )
            return go(
                'eq (printf "%T|%v" $a $a) (printf "%T|%v" $b $b)', a=self.operand(a), b=self.operand(b)
            )
        for side in (left, right):
            if len(side.kinds) > 1 or side.present is not None:
                raise self.split_kinds(side, f"{self._name_of(left)} == {self._name_of(right)}")
        raise Refused(f"{self._name_of(left)} == {self._name_of(right)}")

    def contains(self, container: Value, item: Value) -> Condition:
        """Return ``item in container``."""
        container, item = self.known(container), self.known(item)
        if isinstance(container, Const) and isinstance(container.value, str):
            if isinstance(item, Const):
                return item.value in container.value
            return self.run(strings.find_any(), s=string(container.value), p=self.text_operand(item))
        if isinstance(container, ListOf):
            return self._among(container.items, item)
        if isinstance(container, DictOf):
            return self._among([key for key, _ in container.items], item)
        if isinstance(container, Undefined):
            return False
        if isinstance(container, Cat):
            container = self.kept(container, "text")
        if isinstance(container, Json):
            raise Refused("a search in JSON text")
        if isinstance(container, Pairs) and container.only == "keys":
            return self.contains(container.value, item)
        if isinstance(container, Go):
            return self._contained(container, item)
        if isinstance(container, Chosen | Split | Joined | Reversed):
            return self._found(container, item)
        raise Refused(f"in a {self._name_of(container)}")

    def _found(self, container: Value, item: Value) -> Condition:
        item = self.kept(item, "item")
        home = self.declare("found", build.boolean(False))

        def look(one: Value, _: Loop) -> None:
            test = self.equal(one, item)
            if test is not False:
                self.items.append(build.when(_operand(test), (build.assign(home, build.boolean(True)),)))

        self.walk(container, look)
        return home

    def _among(self, items: Sequence[Value], item: Value) -> Condition:
        if isinstance(item, Go) and item.kinds == TEXT and item.present is None:
            texts = [one for one in items if isinstance(one, Const) and isinstance(one.value, str)]
            if texts and len(texts) == len(items):
                return call("eq", item.expr, *(constant(one.value) for one in texts))
        item = self.kept(item, "item")
        return any_of(*(self.equal(one, item) for one in items))

    def _contained(self, container: Go, item: Value) -> Condition:
        missing = self._is_kind(container, frozenset({"undefined"}))
        if not isinstance(missing, bool):
            there = negated(missing)
            found, items = self._after(there, True, lambda: self.contains(container, item))
            if not items:
                return all_of(there, found)
            home = self.declare("is", there)
            items.append(build.assign(home, _operand(found)))
            self.items.append(build.when(home, tuple(items)))
            return home
        container = self.defined(container)
        if container.kinds == TEXT:
            if isinstance(item, Const) and isinstance(item.value, str):
                if not item.value:
                    return True
                source = self.text_operand(container)
                if not self.exact and item.value in _THINK_TAGS and _is_content(source):
                    self.assumptions["no-think-tags"] = "no content has <think> or </think> in it"
                    return False
                return self.run(strings.find(item.value), s=source)
            return self.run(strings.find_any(), s=self.text_operand(container), p=self.text_operand(item))
        if len(container.kinds) > 1 or container.kinds == {"type"}:
            raise self.split_kinds(container, f"in a {self._name_of(container)}")
        (kind,) = container.kinds
        if kind in RECORDS and isinstance(item, Const) and isinstance(item.value, str):
            found_key = key_of(kind, container.expr, item.value)
            if isinstance(found_key, Go) and kind in KEYS and KEYS[kind][item.value].optional:
                return opposite(self._is_kind(found_key, frozenset({"undefined"})))
            return not isinstance(found_key, Undefined)
        if kind in ELEMENTS or kind in MAPPED:
            return self._found(container if kind in ELEMENTS else Pairs(container, only="keys"), item)
        if kind == "type":
            raise Refused("in a type of a property")
        raise Refused(f"in a {self._name_of(container)}")


_PICK = (
    '{{ $d := "" }}{{ range $i, $m := $.Messages }}{{ if eq $m $x }}'
    '{{ if gt $i 127 }}{{ template "not converted: a list of more than 128 messages" $ }}{{ end }}'
    '{{ $d = printf "%c" $i }}{{ break }}{{ end }}{{ end }}'
)
"""The number of a message, as a byte."""


_THINK_TAGS = frozenset({"<think>", "</think>"})


def _is_content(operand: Operand) -> bool:
    """Tell whether an expression is the content of a message."""
    return isinstance(operand, Variable | Chain) and operand.fields[-1:] == ("Content",)


def text_value(operand: Operand) -> Value:
    """Return a text in an expression as a value."""
    return Const(operand.value) if isinstance(operand, String) else Go(TEXT, operand)


def _sum_of(item: Item, sink: Variable) -> tuple[Operand, ...] | None:
    """Return what a statement adds to a variable that collects what is printed."""
    if not isinstance(item, Action) or item.pipeline.declarations != (sink,):
        return None
    operands = item.pipeline.commands[0].operands
    return (
        operands[2:] if item.pipeline.is_assignment and operands[:2] == (Identifier("print"), sink) else None
    )


def _sets(item: Item, variable: Variable) -> bool:
    """Tell whether a statement has an action that sets a variable in it."""
    if isinstance(item, Action):
        return variable in item.pipeline.declarations
    if isinstance(item, If | Range):
        bodies = [item.body]
        if isinstance(item.orelse, If):
            bodies.append((item.orelse,))
        elif item.orelse is not None:
            bodies.append(item.orelse.body)
        return any(_sets(one, variable) for body in bodies for one in body)
    return False


def _is_truth(node: j.Expression) -> bool:
    """Tell whether an expression gives True or False and nothing else."""
    if isinstance(node, j.Not | j.Test):
        return True
    if isinstance(node, j.Binary):
        return node.operator in ("==", "!=", "<", "<=", ">", ">=", "in", "not in")
    if isinstance(node, j.Literal):
        return isinstance(node.value, bool)
    return isinstance(node, j.And | j.Or) and all(_is_truth(operand) for operand in node.operands)


def _cat(parts: Sequence[Value]) -> Value:
    flat: list[Value] = []
    for part in parts:
        for one in part.parts if isinstance(part, Cat) else (part,):
            if isinstance(one, Const) and flat and isinstance(flat[-1], Const):
                flat[-1] = Const(flat[-1].value + one.value)
            elif one != Const(""):
                flat.append(one)
    if not flat:
        return Const("")
    return flat[0] if len(flat) == 1 else Cat(tuple(flat))


def _is_listlike(value: Value) -> bool:
    if isinstance(value, ListOf | Joined | Chosen | Reversed | Split):
        return True
    return isinstance(value, Go) and value.present is None and value.kinds <= ELEMENTS.keys()


def _is_number(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, int | float)
    return isinstance(value, Int) or (isinstance(value, Go) and value.kinds == {"int"})


def _is_markup(value: Value) -> int:
    return value.markup if isinstance(value, Const | Go) else 0


def _compare_constant(operator: str, left: Int, right: int) -> Condition:
    wanted = right - left.offset
    if wanted < left.low or (wanted == left.low and operator in ("<", ">=")):
        return operator in (">", ">=", "!=")
    if wanted == 0 and operator in ("==", "<="):
        return negated(left.expr)
    if wanted == 0 and operator in ("!=", ">"):
        return left.expr
    name = {"==": "eq", "!=": "ne", **_COMPARISONS}[operator]
    return call(name, left.expr, number(wanted))


_COMPUTE: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}

_LISTS = frozenset(ELEMENTS)
_TESTED: dict[str, frozenset[str]] = {
    "string": TEXT,
    "mapping": frozenset(MAPPINGS),
    "sequence": frozenset({"str", "undefined"} | MAPPINGS | _LISTS),
    "iterable": frozenset({"str", "undefined"} | MAPPINGS | _LISTS),
    "boolean": TRUTH,
    "number": frozenset({"int", "float", "bool"}),
    "integer": frozenset({"int"}),
}
_DICT_METHODS = frozenset({"items", "get", "keys", "values", "update", "pop", "setdefault", "copy"})
_STRING_METHODS = frozenset(name for name in dir(str) if not name.startswith("_"))
