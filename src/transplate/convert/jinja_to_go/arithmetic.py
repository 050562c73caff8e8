"""Operators: sums, differences, orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import escape

from transplate.convert.jinja_to_go import build, strings
from transplate.convert.jinja_to_go.build import call, go, number
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.refusals import LONGEST, MOST_BITS, Refused, TooLong
from transplate.convert.jinja_to_go.truths import (
    COMPARISONS,
    Condition,
    compare_constant,
    opposite,
    truth_value,
)
from transplate.convert.jinja_to_go.values import (
    ELEMENTS,
    TEXT,
    Built,
    Cat,
    Chosen,
    Const,
    Go,
    Int,
    Joined,
    Json,
    ListOf,
    Reversed,
    Split,
    Undefined,
    Value,
    concatenated,
    kinds_of,
    lowest,
    marked,
    markup_of,
)
from transplate.jinja import nodes as j

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
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

_PRODUCT = (
    '{{ $u := printf "%*s" $a "" }}{{ $t := "" }}{{ range $b }}{{ $t = print $t $u }}'
    "{{ if or (gt $a 1000000) (gt (len $t) 1000000) }}"
    '{{ template "not converted: a product this great" $a }}{{ end }}{{ end }}{{ $d := len $t }}'
)
_QUOTIENT = (
    '{{ $r := $x }}{{ $t := "" }}{{ range $x }}{{ if lt $r $n }}{{ break }}{{ end }}'
    '{{ $r = len (slice (printf "%*s" $r "") $n) }}{{ $t = print $t " " }}{{ end }}{{ $d := len $t }}'
)
"""Numbers are as long as texts of spaces: so many of one, and how often one can be cut off."""

_SIZED: dict[tuple[str, object], bool] = {
    (">", 0): True,
    ("!=", 0): True,
    (">=", 1): True,
    ("==", 0): False,
    ("<", 1): False,
    ("<=", 0): False,
}
"""Comparisons of a length that tell whether there is something."""


class Arithmetic(Interface):
    """Operators."""

    def _binary(self, node: j.Binary) -> Value:
        operator = node.operator
        sized = self._is_sized(node)
        if sized is not None:
            return sized
        left, right = self.value(node.left), self.value(node.right)
        if operator == "%" and isinstance(left, Const) and isinstance(left.value, str):
            if isinstance(right, ListOf) and right.is_tuple:
                return self._format(left, list(right.items))
            return self._format(left, [right])
        if operator in ("in", "not in"):
            found = self.settled(self.contains(right, left))
            return truth_value(opposite(found) if operator == "not in" else found)
        if operator in ("==", "!="):
            found = self.settled(self.equal(left, right))
            return truth_value(opposite(found) if operator == "!=" else found)
        if operator in COMPARISONS:
            return truth_value(self.settled(self.compare(operator, left, right)))
        if operator == "+":
            return self.add(left, right)
        return self._arithmetic(operator, left, right)

    def _is_sized(self, node: j.Binary) -> Value | None:
        """Return ``value|length > 0`` and the like, where they ask no more than whether a value is empty."""
        if not isinstance(node.left, j.Filter) or node.left.name not in ("length", "count"):
            return None
        wanted = _SIZED.get((node.operator, node.right.value if isinstance(node.right, j.Literal) else None))
        if wanted is None:
            return None
        value = self.value(node.left.value)
        if isinstance(value, Built | Cat) or (
            isinstance(value, Go) and (value.kinds <= ELEMENTS.keys() or value.kinds == TEXT)
        ):
            if isinstance(value, Go) and value.present is not None and value.present != value.expr:
                return None
            found = self.settled(self.truth(value))
            return truth_value(found if wanted else opposite(found))
        return None

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
            markup = markup_of(left), markup_of(right)
            texts = [self.as_text(left, convert=False), self.as_text(right, convert=False)]
            if any(markup):
                return self._safe_sum(texts, 1 in markup)
            return concatenated(texts)
        for side in (left, right):
            if isinstance(side, Undefined):
                self._fail_undefined(side)
                return side
        for side in (left, right):
            if isinstance(side, Go):
                raise self.split_kinds(side, f"a sum of {self._name_of(left)} and {self._name_of(right)}")
        raise Refused(f"a sum of {self._name_of(left)} and {self._name_of(right)}")

    def escaped(self, value: Value) -> Value:
        """Return a text as ``|escape`` makes it."""
        if isinstance(value, Const):
            return Const(str(escape(value.value)), markup=1)
        return self._safe_sum([value, Const("", markup=1)], True)

    def _safe_sum(self, texts: Sequence[Value], certain: bool) -> Value:
        """Return the sum of texts of which ``|safe`` made some: the others are escaped for HTML."""
        made: list[Value] = []
        for text in texts:
            if markup_of(text) == 2 and sum(1 for one in texts if markup_of(one)) > 1:
                raise Refused("a string that may be marked safe in a sum")
            if markup_of(text) or (isinstance(text, Const) and str(escape(text.value)) == text.value):
                made.append(text)
            elif not certain:
                raise Refused("a string that may be marked safe in a sum")
            elif isinstance(text, Const):
                made.append(Const(str(escape(text.value))))
            else:
                source = self.operand(text)
                if self.takes_of("no-nul", source):
                    made.append(Go(TEXT, call("html", source)))
                else:
                    kept = self._kept_operand(source)
                    made.append(Go(TEXT, self.run(strings.escaped(), "escaped for HTML", "escaped", s=kept)))
        return Go(TEXT, self.operand(self.kept(concatenated(made), "safe")), markup=1 if certain else 2)

    def _computed(self, operator: str, left: Any, right: Any) -> Value:
        """Compute with two constants; where Python fails, so does the converted template."""
        for one, other in ((left, right), (right, left)):
            if operator == "*" and isinstance(one, str) and isinstance(other, int):
                size = len(one) * other
                if size > LONGEST:
                    raise TooLong
        are_integers = isinstance(left, int) and isinstance(right, int)
        if operator == "**" and are_integers and left.bit_length() * right > MOST_BITS:
            raise TooLong
        try:
            return Const(_COMPUTE[operator](left, right))
        except (ArithmeticError, TypeError) as error:
            self.fail(str(error))
            return Const(0)

    def _arithmetic(self, operator: str, left: Value, right: Value) -> Value:
        if operator == "*" and isinstance(left, Const) and isinstance(right, Const):
            return self._computed(operator, left.value, right.value)
        if operator == "*" and (_is_text(left) or _is_text(right)):
            return self._repeated(left, right) if _is_text(left) else self._repeated(right, left)
        left, right = self._as_number(left), self._as_number(right)
        if isinstance(left, Const) and isinstance(right, Const):
            return self._computed(operator, left.value, right.value)
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
        if operator == "//" and isinstance(left, Int) and isinstance(right, Const) and lowest(left) >= 0:
            return self._quotient(left, right.value)
        if operator == "*" and all(_is_countable(one) for one in (left, right)):
            return Int(
                self.run(_PRODUCT, "a product", "product", a=self.operand(left), b=self.operand(right))
            )
        raise Refused(f"{self._name_of(left)} {operator} {self._name_of(right)}")

    def _repeated(self, text: Value, count: Value) -> Value:
        """Return a text so many times."""
        markup = markup_of(text)
        if isinstance(text, Go | Const) and markup:
            made = self._repeated(replace(text, markup=0), count)
            return marked(Go(TEXT, self.operand(made)) if isinstance(made, Cat) else made, markup)
        count = self._as_number(count)
        if isinstance(count, Const):
            if type(count.value) is not int:
                raise Refused(f"a text {count.value!r} times")
            return concatenated([self.kept(text, "text")] * max(count.value, 0))
        if not isinstance(count, Int) or lowest(count) < 0:
            raise Refused("a text a number of times that may be negative")
        return Go(
            TEXT,
            self.run(
                '{{ $d := "" }}{{ range $n }}{{ $d = print $d $s }}{{ end }}',
                s=self.text_operand(text),
                n=self.int_operand(count),
            ),
        )

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
            return Int(self.run(strings.PARITY, s=place))
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

    def _quotient(self, left: Int, divisor: object) -> Value:
        """Return how often a number is in another."""
        if type(divisor) is not int or divisor < 1:
            raise Refused(f"a quotient by {divisor!r}")
        place = self.int_operand(left)
        return Int(self.run(_QUOTIENT, "a quotient", "quotient", x=place, n=number(divisor)))

    def extreme(self, value: Value, is_least: bool) -> Value:
        """Return the least or the greatest of some whole numbers."""
        if not isinstance(value, ListOf) or not value.items:
            raise Refused(f"the least of a {self._name_of(value)}")
        numbers = [self._as_number(item) for item in value.items]
        if all(isinstance(one, Const) for one in numbers):
            known = [one.value for one in numbers if isinstance(one, Const)]
            return Const(min(known) if is_least else max(known))
        if any(lowest(one) < 0 for one in numbers):
            raise Refused("the least of numbers that may be negative")
        best = self.declare("best", self.operand(numbers[0]))
        for one in numbers[1:]:
            place = self._kept_operand(self.operand(one))
            test = call("lt" if is_least else "gt", place, best)
            self.items.append(build.when(test, (build.assign(best, place),)))
        return Int(best)

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
        kinds = kinds_of(value)
        if kinds is not None and not kinds & {"int", "float", "bool", "minus"}:
            self.fail(f"a {self._name_of(value)} is no number")
            return Const(0)
        raise Refused(f"arithmetic with a {self._name_of(value)}")

    def compare(self, operator: str, left: Value, right: Value) -> Condition:
        """Return an order of two values."""
        left, right = self.known(left), self.known(right)
        if isinstance(left, Const) and isinstance(right, Const):
            found = self._computed(operator, left.value, right.value)
            return isinstance(found, Const) and bool(found.value)
        if isinstance(left, Const):
            return self.compare(_MIRRORED[operator], right, left)
        if isinstance(left, Int) and isinstance(right, Const) and type(right.value) is int:
            return compare_constant(operator, left, right.value)
        if isinstance(left, Int) and isinstance(right, Int):
            name = {"==": "eq", "!=": "ne", **COMPARISONS}[operator]
            moved = left.offset - right.offset
            first = self.int_operand(Int(left.expr, max(moved, 0), left.low))
            second = self.int_operand(Int(right.expr, max(-moved, 0), right.low))
            return call(name, first, second)
        if isinstance(left, Go) and "int" in left.kinds:
            return self.compare(operator, self._as_number(left), right)
        if isinstance(right, Go) and "int" in right.kinds:
            return self.compare(operator, left, self._as_number(right))
        raise Refused(f"{self._name_of(left)} {operator} {self._name_of(right)}")


def _is_countable(value: Value) -> bool:
    """Tell whether a value is a whole number that is not negative."""
    is_whole = isinstance(value, Int) or (isinstance(value, Const) and type(value.value) is int)
    return is_whole and lowest(value) >= 0


def _is_listlike(value: Value) -> bool:
    if isinstance(value, ListOf | Built | Joined | Reversed | Split):
        return True
    if isinstance(value, Chosen):
        return value.is_list
    return isinstance(value, Go) and value.present is None and value.kinds <= ELEMENTS.keys()


def _is_text(value: Value) -> bool:
    return kinds_of(value) == TEXT


def _is_number(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, int | float)
    return isinstance(value, Int) or (isinstance(value, Go) and value.kinds == {"int"})
