"""Rewrites of what Go does by counting bytes and slicing lists into what Jinja says directly.

Lowering leaves operations that no engine has, such as the ``byte_length`` and ``byte_slice`` of a text, as
filters. Here they become tests of a prefix wherever that is the same for every text; what is left of them is
refused by the caller.
"""

from __future__ import annotations

from typing import Protocol

from transplate.convert.go_to_jinja import build as b
from transplate.jinja import nodes as j

BYTE_LENGTH = "byte_length"
BYTE_SLICE = "byte_slice"
SPACES = "spaces"
FROM_FIRST = "from_first"
"""A text from the first place on where a part is in it; the whole text where it is not."""
CHARACTERS = "characters"
"""A text of as many bytes as another one has characters."""
TYPE_NAME = "type_name"
"""The name of a value's Go type."""
CUT = "first_characters"
"""The first characters of a text, a number of them."""
BEHIND = "behind_characters"
"""A text without its first characters, a number of them."""
NOT_NIL = "not_nil"
"""A value that is known not to be nil where it is read."""
PROPERTY_TEXT = "property_text"
"""What Go prints of a property, whose end tells which version of Ollama this is."""
UNSAYABLE = frozenset(
    {
        *(BYTE_LENGTH, BYTE_SLICE, SPACES, FROM_FIRST, CHARACTERS),
        *(TYPE_NAME, CUT, BEHIND, NOT_NIL, PROPERTY_TEXT),
    }
)
ROLE_SLICE = "role_slice"
"""A slice that cuts one byte behind a known prefix; right where the role has an ASCII character there."""
_MIRROR = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


class Knowledge(Protocol):
    """What :class:`transplate.convert.go_to_jinja.facts.Facts` offers to these rewrites."""

    @property
    def loops(self) -> object:
        """The loops around and their lists."""

    def prefix_of(self, subject: j.Expression) -> str:
        """Return the longest constant that a text is known to start with."""

    def decide(self, condition: j.Expression) -> bool | None:
        """Return whether a condition holds, None where that is not known."""


def simplify(expression: j.Expression, facts: Knowledge) -> j.Expression:
    """Return an expression, whose parts are simplified already, in its simplest form."""
    match expression:
        case j.Binary(operator, j.Literal(int()) as left, right) if operator in _MIRROR and not isinstance(
            right, j.Literal
        ):
            return simplify(j.Binary(_MIRROR[operator], right, left), facts)
        case j.Binary("+", j.Literal(int(left)), j.Literal(int(right))):
            return j.Literal(left + right)
        case j.Binary("+", j.Attribute(loop, "index0"), j.Literal(1)):
            return j.Attribute(loop, "index")
        case j.Binary("-", j.Literal(int(left)), j.Literal(int(right))):
            return j.Literal(left - right)
        case j.Binary(operator, j.Literal() as left, j.Literal() as right) if operator in _MIRROR:
            return _constant(operator, left, right) or expression
        case j.Binary(operator, left, right) if operator in _MIRROR:
            return _comparison(operator, left, right, facts)
        case j.Filter(j.Slice(value, start, None), "length") if start is not None:
            return _length_of_rest(value, start, facts)
        case j.Filter(
            value, "byte_slice", (j.Filter(j.Filter(same, "first_characters", (count,)), "byte_length"),)
        ) if same in (value, j.Or((value, j.EMPTY))):
            return j.Filter(same, BEHIND, (count,))
        case j.Filter(j.Filter(value, "from_first", (part,)), "byte_slice", (j.Literal(size),)) if _bytes_in(
            part
        ) == size and facts.decide(j.Binary("in", part, value)):
            return j.Item(j.Call(j.Attribute(value, "split"), (part, j.Literal(1))), j.Literal(1))
        case j.Filter(
            value,
            "byte_slice",
            (
                j.Literal(0),
                j.Filter(
                    j.Filter(
                        same,
                        "byte_slice",
                        (j.Filter(j.Filter(searched, "from_first", (part,)), "byte_length"),),
                    ),
                    "byte_length",
                ),
            ),
        ) if value == same and searched in (value, j.Or((value, j.EMPTY))):
            before = j.Item(j.Call(j.Attribute(searched, "split"), (part,)), j.Literal(0))
            return before if facts.decide(j.Binary("in", part, searched)) else expression
        case j.Filter(value, "not_nil") if facts.decide(j.Test(value, "none")) is False:
            return value
        case j.Filter(
            j.Slice(value, None | j.Literal(0), j.Attribute(loop, "index0") as before), "length"
        ) if _runs_over(facts, loop, value):
            return before
        case j.Filter(value, "byte_slice", (start, *stop)):
            return _byte_slice(expression, value, start, stop, facts)
        case j.Filter(j.Literal(str(constant)), "byte_length"):
            return j.Literal(len(constant.encode()))
        case j.Item(value, key):
            return _item(value, key, facts)
        case j.Concat(operands):
            return concat(operands)
        case j.Not(value):
            return b.not_(value)
        case _:
            return expression


def simplify_condition(expression: j.Expression) -> j.Expression:
    """Return a condition in its simplest form."""
    match expression:
        case j.And(operands):
            return b.and_(*_prefix_tests(operands, ">=", "=="))
        case j.Or(operands):
            return b.or_(*_prefix_tests(operands, "<", "!="))
        case j.Filter(value, "length"):
            return value
        case j.Attribute(j.Name(symbol) as loop, "index0") if symbol.startswith("loop of "):
            return b.not_(j.Attribute(loop, "first"))
        case j.Binary(operator, j.Filter(value, "length" | "byte_length"), j.Literal(int(number))):
            if (operator, number) in ((">", 0), (">=", 1), ("!=", 0)):
                return value
            if (operator, number) in (("<=", 0), ("<", 1), ("==", 0)):
                return b.not_(value)
            if number < 0 or (operator, number) in ((">=", 0), ("<", 0)):
                return j.Literal(operator in (">", ">=", "!="))
            return expression
        case j.Or((value, j.Literal("") | j.ListLiteral(()) | j.DictLiteral(()))):
            return value
        case _:
            return expression


def concat(operands: tuple[j.Expression, ...]) -> j.Expression:
    """Return the concatenation of texts, neighbouring constants made one."""
    merged: list[j.Expression] = []
    for operand in operands:
        for part in operand.operands if isinstance(operand, j.Concat) else (operand,):
            match part, merged[-1] if merged else None:
                case j.Literal(""), _:
                    continue
                case j.Literal(str(text)), j.Literal(str(before)):
                    merged[-1] = j.Literal(before + text)
                case _:
                    merged.append(part)
    if not merged:
        return j.EMPTY
    return merged[0] if len(merged) == 1 else j.Concat(tuple(merged))


def _constant(operator: str, left: j.Literal, right: j.Literal) -> j.Literal | None:
    a, c = left.value, right.value
    if operator in ("==", "!="):
        return j.Literal((a == c and type(a) is type(c)) is (operator == "=="))
    if isinstance(a, str) and isinstance(c, str):
        x, y = a.encode(), c.encode()
        return j.Literal({"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[operator])
    if isinstance(a, int | float) and isinstance(c, int | float):
        return j.Literal({"<": a < c, "<=": a <= c, ">": a > c, ">=": a >= c}[operator])
    return None


def _comparison(operator: str, left: j.Expression, right: j.Expression, facts: Knowledge) -> j.Expression:
    match left, right:
        case j.Attribute(loop, "revindex"), j.Literal(int(number)):
            if (operator, number) in (("==", 1), ("<=", 1), ("<", 2)):
                return j.Attribute(loop, "last")
            if (operator, number) in (("!=", 1), (">", 1), (">=", 2)):
                return b.not_(j.Attribute(loop, "last"))
        case j.Attribute(loop, "index0"), j.Literal(int(number)):
            if (operator, number) in (("==", 0), ("<=", 0), ("<", 1)):
                return j.Attribute(loop, "first")
            if (operator, number) in (("!=", 0), (">", 0), (">=", 1)):
                return b.not_(j.Attribute(loop, "first"))
            if (operator, number) in (("<", 0), (">=", 0)):
                return j.Literal(operator == ">=")
        case j.Attribute(loop, "index0"), j.Filter(value, "length") if _runs_over(facts, loop, value):
            return j.Literal(operator in ("<", "<=", "!="))
        case j.Attribute(loop, "index"), j.Filter(value, "length") if _runs_over(facts, loop, value):
            if operator in (">", "<="):
                return j.Literal(operator == "<=")
            if operator in ("==", ">="):
                return j.Attribute(loop, "last")
            if operator in ("!=", "<"):
                return b.not_(j.Attribute(loop, "last"))
        case (
            j.Attribute(loop, "index0"),
            j.Binary("-", j.Filter(value, "length"), j.Literal(1)),
        ) if _runs_over(facts, loop, value):
            if operator in ("==", ">="):
                return j.Attribute(loop, "last")
            if operator in ("!=", "<"):
                return b.not_(j.Attribute(loop, "last"))
        case j.Filter(value, "first_characters", (j.Literal(int(count)),)), j.Literal(str(constant)) if (
            operator in ("==", "!=") and constant
        ):
            return _first_characters_are(operator, value, count, constant)
        case j.Filter(value, "byte_length"), j.Literal(int(number)):
            return _byte_length(operator, value, number, facts)
    return j.Binary(operator, left, right)


def _bytes_in(constant: j.Expression) -> int | None:
    match constant:
        case j.Literal(str(text)):
            return len(text.encode())
        case _:
            return None


def ends_with(first: j.Expression, second: j.Expression) -> j.Expression | None:
    """Return the test of a text's end that two tests are together: of its length and of its last bytes."""
    match first, second:
        case (
            j.Binary(">=", j.Filter(measured, "byte_length"), j.Literal(int(least))),
            j.Binary(
                "==",
                j.Filter(
                    value,
                    "byte_slice",
                    (j.Filter(j.Filter(same, "byte_slice", (j.Literal(int(size)),)), "byte_length"),),
                ),
                j.Literal(str(suffix)),
            ),
        ) if measured == value == same and least == size == len(suffix.encode()):
            return j.Call(j.Attribute(value, "endswith"), (j.Literal(suffix),))
        case _:
            return None


def ends_a_property(text: j.Expression) -> bool:
    """Tell whether a text is the last two bytes of what Go prints of a property."""
    match text:
        case j.Filter(
            j.Filter(_, "property_text") as whole,
            "byte_slice",
            (j.Filter(j.Filter(same, "byte_slice", (j.Literal(2),)), "byte_length"),),
        ):
            return whole == same
        case _:
            return False


def _first_characters_are(operator: str, value: j.Expression, count: int, constant: str) -> j.Expression:
    """Compare the first characters of a text with a constant."""
    if len(constant) > count:
        return j.Literal(operator == "!=")
    whole = j.Binary("==", value, j.Literal(constant))
    test = b.starts_with(value, constant) if len(constant) == count else whole
    return test if operator == "==" else b.not_(test)


def _runs_over(facts: Knowledge, loop: j.Expression, value: j.Expression) -> bool:
    loops = facts.loops
    return isinstance(loops, dict) and loops.get(loop) == value


def _length_of_rest(value: j.Expression, start: j.Expression, facts: Knowledge) -> j.Expression:
    match start:
        case j.Attribute(loop, "index0") if _runs_over(facts, loop, value):
            return j.Attribute(loop, "revindex")
        case j.Attribute(loop, "index") if _runs_over(facts, loop, value):
            return j.Attribute(loop, "revindex0")
        case j.Literal(0):
            return b.length(value)
        case _:
            return j.Binary("-", b.length(value), start)


def _item(value: j.Expression, key: j.Expression, facts: Knowledge) -> j.Expression:
    match value, key:
        case j.Slice(whole, j.Attribute(loop, "index0"), None), j.Literal(1) if _runs_over(
            facts, loop, whole
        ):
            return j.Attribute(loop, "nextitem")
    match key:
        case j.Binary("-", j.Filter(inner, "length"), j.Literal(1)) if inner == value:
            return j.Item(value, j.Literal(-1))
        case j.Attribute(loop, "index") if _runs_over(facts, loop, value):
            return j.Attribute(loop, "nextitem")
        case _:
            return j.Item(value, key)


def _byte_length(operator: str, value: j.Expression, number: int, facts: Knowledge) -> j.Expression:
    """Compare the length of a text that is known to start with a constant."""
    prefix = facts.prefix_of(value)
    size = len(prefix.encode())
    if prefix and number <= size + 1:
        longer = j.Binary("!=", value, j.Literal(prefix))
        least = {">=": number, ">": number + 1}.get(operator)
        most = {"<": number, "<=": number + 1}.get(operator)
        if least is not None and least <= size:
            return j.TRUE
        if least == size + 1:
            return longer
        if most is not None and most <= size:
            return j.FALSE
        if most == size + 1:
            return b.not_(longer)
    return j.Binary(operator, j.Filter(value, BYTE_LENGTH), j.Literal(number))


def _byte_slice(
    expression: j.Expression,
    value: j.Expression,
    start: j.Expression,
    stop: list[j.Expression],
    facts: Knowledge,
) -> j.Expression:
    """Slice a text that is known to start with an ASCII constant at least as long as the bounds."""
    prefix = facts.prefix_of(value)
    bounds = [bound.value for bound in (start, *stop) if isinstance(bound, j.Literal)]
    numbers = [bound for bound in bounds if isinstance(bound, int)]
    if len(numbers) != 1 + len(stop) or not prefix.isascii():
        return expression
    if not stop and numbers[0] == len(prefix) + 1 and isinstance(value, j.Attribute) and value.name == "role":
        return j.Filter(value, ROLE_SLICE, (start,))
    if max(numbers) > len(prefix):
        return expression
    if stop:
        return j.Literal(prefix[numbers[0] : numbers[1]])
    return j.Slice(value, start)


def _prefix_tests(operands: tuple[j.Expression, ...], length_test: str, text_test: str) -> list[j.Expression]:
    """Join a test of a text's length and one of its first bytes to a test of its prefix."""
    kept = list(operands)
    for operand in operands:
        match operand:
            case j.Binary(
                operator,
                j.Filter(value, "byte_slice", (j.Literal(0), j.Literal(int(size)))),
                j.Literal(str(prefix)),
            ) if operator == text_test and len(prefix.encode()) == size:
                guard = j.Binary(length_test, j.Filter(value, BYTE_LENGTH), j.Literal(size))
                if guard in kept and operand in kept:
                    starts = b.starts_with(value, prefix)
                    kept[kept.index(operand)] = starts if text_test == "==" else b.not_(starts)
                    kept.remove(guard)
            case _:
                pass
    return kept
