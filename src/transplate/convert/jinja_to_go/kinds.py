"""What a value is: tests, and its narrowing to some of its kinds."""

from __future__ import annotations

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import call, number
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.operands import (
    kinds_test,
    negated,
)
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.truths import Condition, all_of, any_of, opposite
from transplate.convert.jinja_to_go.values import (
    ABSENT,
    ELEMENTS,
    MAPPINGS,
    TEXT,
    TRUTH,
    Built,
    Chosen,
    Const,
    Counting,
    DictOf,
    Go,
    Joined,
    ListOf,
    MacroOf,
    Method,
    Pairs,
    Reversed,
    Split,
    Undefined,
    Value,
    is_lazy,
    kinds_of,
)
from transplate.jinja import nodes as j

_LISTS = frozenset(ELEMENTS)
_TYPE = frozenset({"type"})
_TESTED: dict[str, frozenset[str]] = {
    "string": TEXT,
    "mapping": frozenset(MAPPINGS),
    "sequence": frozenset({"str", "undefined"} | MAPPINGS | _LISTS),
    "iterable": frozenset({"str", "undefined"} | MAPPINGS | _LISTS),
    "boolean": TRUTH,
    "number": frozenset({"int", "float", "bool"}),
    "integer": frozenset({"int"}),
}


class Kinds(Interface):
    """What a value is."""

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
        if name == "sameas":
            return self._is_same(value, self.value(node.arguments[0]))
        if name in ("eq", "equalto", "==", "ne", "!="):
            found = self.equal(value, self.value(node.arguments[0]))
            return opposite(found) if name in ("ne", "!=") else found
        if name == "in":
            return self.contains(self.value(node.arguments[0]), value)
        kinds = _TESTED.get(name)
        if name == "sequence" and (is_lazy(value) or (isinstance(value, Pairs) and value.form == "view")):
            return False
        if kinds is not None:
            return self._is_kind(value, kinds)
        if name in ("true", "false"):
            return self._is_same(value, Const(name == "true"))
        if name in ("odd", "even", "divisibleby"):
            divisor = self.value(node.arguments[0]) if name == "divisibleby" else Const(2)
            rest = self._arithmetic("%", value, divisor)
            return self.equal(rest, Const(1 if name == "odd" else 0))
        if name == "callable":
            return isinstance(value, Method | MacroOf)
        raise Refused(f"the test {name}")

    def _is_same(self, value: Value, other: Value) -> Condition:
        """Return whether two values are one in memory, which is told of None, True and False."""
        if not (isinstance(other, Const) and (other.value is None or isinstance(other.value, bool))):
            value, other = other, value
        if not isinstance(other, Const) or not (other.value is None or isinstance(other.value, bool)):
            raise Refused("whether two values are one in memory")
        if other.value is None:
            return self._is_kind(value, frozenset({"none"}))
        truth = self.truth(value)
        return all_of(self._is_kind(value, TRUTH), truth if other.value else opposite(truth))

    def _is_kind(self, value: Value, kinds: frozenset[str]) -> Condition:
        """Return whether a value is of one of some kinds."""
        value = self.known(value)
        if isinstance(value, Go):
            inner: Condition
            inner = kinds_test(value.expr, kinds, value.kinds)
            if "type" in value.kinds:  # one name is a string
                single = call("eq", call("len", value.expr), number(1))
                named = any_of(all_of("str" in kinds, single), all_of("strings" in kinds, negated(single)))
                inner = any_of(inner, all_of(kinds_test(value.expr, _TYPE, value.kinds), named))
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
        if isinstance(value, ListOf | Built | Split | Joined | Reversed | Chosen | Pairs | Counting):
            return "list" in kinds
        return False

    def keys_in(self, value: DictOf) -> list[Condition]:
        """Return of each key of a dict whether it is there, as far as it holds something."""
        if not value.is_open:
            return [True] * len(value.items)
        return [opposite(self._is_kind(found, frozenset({"undefined"}))) for _, found in value.items]

    def is_there(self, value: DictOf, *held: Condition) -> Condition:
        """Return whether any of some keys of a dict is there, told which of them hold something."""
        found = any_of(*held)
        if value.is_unclear and found is not True:
            raise Refused("a dict of which a key may hold nothing")
        return found

    def items_in(self, value: DictOf) -> tuple[tuple[Value, Value], ...]:
        """Return the keys of a dict that are there, and what they hold."""
        if not all(condition is True for condition in self.keys_in(value)):
            raise Refused("the keys of a dict of which some may not be there")
        return value.items

    def defined(self, value: Value) -> Go:
        """Return a value without its being undefined or None, for which the template fails."""
        value = self.known(value)
        if not isinstance(value, Go):
            raise Refused(f"this use of a {type(value).__name__}")
        if value.present is not None:
            if not self.takes("needed-values"):
                with self.block() as items:
                    self.fail("a value is undefined")
                self.dead = False
                self.items.append(build.when(negated(value.present), tuple(items)))
                self.learn(value.present, True)
            value = Go(value.kinds, value.expr, markup=value.markup)
        if value.kinds & ABSENT and value.kinds - ABSENT:
            return self.only(value, value.kinds - ABSENT)
        return value

    def there(self, value: Go) -> Go:
        """Return a value without its being undefined, for which the template fails; it may be None."""
        rest = value.kinds - {"none"}
        if value.absent == "none" or rest == value.kinds or not rest:
            return self.defined(value)
        found = self.defined(Go(rest, value.expr, value.present, markup=value.markup))
        return Go(found.kinds | {"none"}, found.expr, markup=found.markup)

    def only(self, value: Go, kinds: frozenset[str]) -> Go:
        """Return a value as of some of its kinds; the template fails for the others."""
        left = value.kinds & kinds
        if "type" in value.kinds and kinds & {"str", "strings"}:
            raise self.split_kinds(value, "a type of a property, which may be a list")
        if not left:
            raise Refused(f"a {'/'.join(sorted(value.kinds))} where a {'/'.join(sorted(kinds))} is needed")
        if value.present is not None:
            value = self.defined(value)
        if left != value.kinds:
            if not self.takes("needed-values"):
                test = kinds_test(value.expr, left, value.kinds)
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

    def _name_of(self, value: Value) -> str:
        kinds = kinds_of(value)
        return "/".join(sorted(kinds)) if kinds else type(value).__name__

    def _fail_undefined(self, value: Undefined) -> None:
        self.fail(f"{value.name or 'a value'} is undefined")
