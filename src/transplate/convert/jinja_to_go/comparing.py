"""Equality, and `in`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from transplate.convert.jinja_to_go import build, strings
from transplate.convert.jinja_to_go.attributes import KEYS, key_of
from transplate.convert.jinja_to_go.build import call, go, number, string
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.operands import (
    constant,
    is_content,
    kinds_test,
    negated,
    type_test,
)
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.truths import (
    Condition,
    all_of,
    any_of,
    as_operand,
    compare_constant,
    opposite,
)
from transplate.convert.jinja_to_go.values import (
    ANY,
    ELEMENTS,
    MAPPED,
    MAPPINGS,
    RECORDS,
    SCALARS,
    TEXT,
    TRUTH,
    Built,
    Cat,
    Chosen,
    Const,
    DictOf,
    Go,
    Int,
    Joined,
    Json,
    ListOf,
    Loop,
    Pairs,
    Reversed,
    Split,
    Undefined,
    Value,
    kinds_of,
)

_NUMBERS = frozenset({"bool", "float", "int"})
_FLOAT = frozenset({"float"})
_THINK_TAGS = frozenset({"<think>", "</think>"})


class Comparing(Interface):
    """Equality, and `in`."""

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
                return compare_constant("==", left, right.value)
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
                return type(left) is type(right) and opposite(self.truth(left if left.items else right))
        for one, other in ((left, right), (right, left)):
            if isinstance(one, ListOf | DictOf) and not one.items and isinstance(other, Go):
                kinds = ELEMENTS.keys() if isinstance(one, ListOf) else MAPPED.keys()
                if other.kinds <= kinds and (other.present is None or other.present == other.expr):
                    return negated(other.expr) if other.present is None else False
                if not other.kinds & kinds and not other.kinds & {"type"}:
                    return False
                if len(other.kinds) > 1 and other.kinds <= ANY | {"undefined"}:
                    return self._by_kind(other, lambda held: self.equal(held, one))  # noqa: B023
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Built) and isinstance(other, ListOf) and not other.items:
                return negated(one.expr)
            listed = isinstance(one, ListOf | Built | Joined | Split | Chosen | Reversed)
            others = kinds_of(other)
            if others is not None and not others & (ELEMENTS.keys() if listed else MAPPINGS):  # noqa: SIM102
                if (listed or isinstance(one, DictOf)) and "type" not in others:
                    return False
        raise Refused(f"{self._name_of(left)} == {self._name_of(right)}")

    def _equal_constant(self, left: Go, value: object) -> Condition:
        if value is None:
            return self._is_kind(left, frozenset({"none"}))
        kind = type(value).__name__
        inner: Condition
        if "type" in left.kinds and left.kinds <= {"type", "str"} and _is_one_name(value):
            inner = call("eq", call("print", left.expr), constant(value))
        elif "type" in left.kinds and kind == "str":
            named = all_of(
                call("eq", call("len", left.expr), number(1)),
                call("eq", call("index", left.expr, number(0)), constant(value)),
            )
            text = call("eq", left.expr, constant(value))
            inner = any_of(
                all_of(kinds_test(left.expr, TEXT, left.kinds), text),
                all_of(kinds_test(left.expr, frozenset({"type"}), left.kinds), named),
            )
        elif kind == "str" and "str" in left.kinds:
            inner = all_of(
                self._is_kind(Go(left.kinds, left.expr), TEXT), call("eq", left.expr, constant(value))
            )
        elif isinstance(value, int | float) and left.kinds & _NUMBERS:
            inner = self._equal_number(Go(left.kinds, left.expr), value)
        else:
            return False
        if left.present is None or (left.present == left.expr and value):
            return inner
        return all_of(left.present, inner)

    def _equal_number(self, left: Go, value: float) -> Condition:
        """Return whether a value is a number; True and False are 1 and 0."""
        tests: list[Condition] = []
        for kind in sorted(left.kinds & _NUMBERS):
            held: Condition
            if kind == "bool":
                held = value in (0, 1) and (left.expr if value else negated(left.expr))
            elif kind == "float":
                held = call("eq", left.expr, constant(float(value)))
            else:
                held = value >= 0 and value == int(value) and call("eq", left.expr, number(int(value)))
            tests.append(all_of(self._is_kind(left, frozenset({kind})), held))
        return any_of(*tests)

    def _equal_go(self, left: Go, right: Go) -> Condition:
        left_kinds, right_kinds = kinds_of(left), kinds_of(right)
        assert left_kinds is not None  # noqa: S101
        assert right_kinds is not None  # noqa: S101
        if left_kinds == right_kinds and left_kinds in (TEXT, TRUTH):
            return call("eq", left.expr, right.expr)
        for side, others in ((left, right_kinds), (right, left_kinds)):
            if "type" in side.kinds and others & {"str", "strings", "type"}:  # one name is a string
                other = right if side is left else left
                return self._by_kind(side, lambda one: self.equal(one, other))  # noqa: B023
        if left_kinds == right_kinds == _FLOAT:
            return call("eq", left.expr, right.expr)
        for truth, other in ((left, right), (right, left)):
            if kinds_of(truth) == TRUTH and kinds_of(other) == _FLOAT:
                one, zero = (call("eq", other.expr, constant(float(value))) for value in (1, 0))
                return any_of(all_of(truth.expr, one), all_of(negated(truth.expr), zero))
        if not left_kinds & right_kinds and not (left_kinds & _NUMBERS and right_kinds & _NUMBERS):
            return False
        if left_kinds | right_kinds <= {"str", "undefined"} and left.present in (None, left.expr):  # noqa: SIM102
            if right.present in (None, right.expr) and "undefined" not in left.kinds | right.kinds:
                test = call("eq", left.expr, right.expr)
                if left.present is None or right.present is None:
                    present = left.present or right.present
                    return all_of(present, test) if present is not None else test
                return test
        for text, other in ((left, right), (right, left)):
            if kinds_of(text) == TEXT and "undefined" not in text.kinds:
                kept = self.kept(Go(kinds_of(other) or TEXT, self.operand(other)), "a")
                return go('eq (printf "%T|%v" $a $a) (print "string|" $b)', a=self.operand(kept), b=text.expr)
        if left_kinds == {"message"} and "message" in right_kinds:
            same = go("eq (json $a) (json $b)", a=left.expr, b=right.expr)
            return all_of(self._is_kind(right, frozenset({"message"})), same)
        if right_kinds == {"message"} and "message" in left_kinds:
            return self._equal_go(right, left)
        if left_kinds | right_kinds <= {"str", "bool", "undefined", "none"}:
            a, b = (
                self.kept(Go(left_kinds, self.operand(left)), "a"),
                self.kept(Go(right_kinds, self.operand(right)), "b"),
            )
            return go(
                'eq (printf "%T|%v" $a $a) (printf "%T|%v" $b $b)', a=self.operand(a), b=self.operand(b)
            )
        if left_kinds <= ANY and right_kinds <= ANY and left.present is None and right.present is None:
            return self._equal_json(left, right)
        if len(left.kinds) > 1 or left.present is not None:
            return self._by_kind(left, lambda one: self.equal(one, right))
        if len(right.kinds) > 1 or right.present is not None:
            return self._by_kind(right, lambda one: self.equal(left, one))
        raise Refused(f"{self._name_of(left)} == {self._name_of(right)}")

    def _equal_json(self, left: Go, right: Go) -> Condition:
        """Return whether two JSON values are equal."""
        return self.run(
            strings.equal_json(),
            "whether they are equal",
            "equal",
            a=self._kept_operand(left.expr),
            b=self._kept_operand(right.expr),
        )

    def _by_kind(self, value: Go, evaluate: Callable[[Value], Condition]) -> Condition:
        """Return a condition on a value that may be of several kinds, evaluated for each of them."""
        first: Value
        if value.present is not None:
            test = value.present
            first = Go(value.kinds, value.expr, markup=value.markup)
            rest: Value = Const(None) if value.absent == "none" else Undefined()
        elif value.kinds == {"type"}:
            test = call("eq", call("len", value.expr), number(1))
            first = Go(TEXT, call("index", value.expr, number(0)))
            rest = Go(frozenset({"strings"}), value.expr)
        else:
            value = self._kept_go(value, "value")
            kind = min(value.kinds)
            test = type_test(value.expr, kind)
            first = Go(frozenset({kind}), value.expr, markup=value.markup)
            rest = Go(value.kinds - {kind}, value.expr, markup=value.markup)
        known = self.settled(test)
        if isinstance(known, bool):
            return evaluate(first if known else rest)
        return self._choose(test, lambda: evaluate(first), lambda: evaluate(rest))

    def contains(self, container: Value, item: Value) -> Condition:
        """Return ``item in container``."""
        container, item = self.known(container), self.known(item)
        if isinstance(container, Const) and isinstance(container.value, str):
            if isinstance(item, Const):
                return item.value in container.value
            return self.run(
                strings.find_any(),
                "whether a text is in it",
                "found",
                s=string(container.value),
                p=self.text_operand(item),
            )
        if isinstance(container, ListOf):
            return self._among(container.items, item)
        if isinstance(container, DictOf):
            if container.is_open:
                if not (isinstance(item, Const) and isinstance(item.value, str)):
                    raise Refused("in a dict of which not all keys are known")
                held = dict(zip((key for key, _ in container.items), self.keys_in(container), strict=True))
                return self.is_there(container, held[item]) if item in held else False
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
        if isinstance(container, Built | Chosen | Split | Joined | Reversed):
            return self._found(container, item)
        raise Refused(f"in a {self._name_of(container)}")

    def _found(self, container: Value, item: Value) -> Condition:
        item = self.kept(item, "item")
        home = self.declare("found", build.boolean(False))

        def look(one: Value, _: Loop) -> None:
            test = self.equal(one, item)
            if test is not False:
                self.items.append(build.when(as_operand(test), (build.assign(home, build.boolean(True)),)))

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
            items.append(build.assign(home, as_operand(found)))
            self.items.append(build.when(home, tuple(items)))
            return home
        container = self.defined(container)
        if container.kinds == TEXT:
            if isinstance(item, Const) and isinstance(item.value, str):
                if not item.value:
                    return True
                source = self.text_operand(container)
                if item.value in _THINK_TAGS and is_content(source) and self.takes("no-think-tags"):
                    return False
                return self.located(item.value, {"s": source})[0]
            return self.run(
                strings.find_any(),
                "whether a text is in it",
                "found",
                s=self.text_operand(container),
                p=self.text_operand(item),
            )
        if container.kinds <= SCALARS:
            self.fail(f"argument of type '{self._name_of(container)}' is not iterable")
            return False
        if len(container.kinds) > 1 or container.kinds == {"type"}:
            return self._by_kind(container, lambda one: self.contains(one, item))
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


def _is_one_name(value: object) -> bool:
    """Tell whether Go prints a type like this only if it is this one name; several are in brackets."""
    return isinstance(value, str) and bool(value) and not value.startswith("[")
