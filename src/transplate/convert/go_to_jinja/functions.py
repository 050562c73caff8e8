"""Lowers calls of Go's builtin functions and of Ollama's own."""

from __future__ import annotations

from collections.abc import Callable

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja import printing
from transplate.convert.go_to_jinja.context import Context
from transplate.convert.go_to_jinja.formats import Argument, operand_text, printf
from transplate.convert.go_to_jinja.idioms.functions import IDIOMS, call_idiom
from transplate.convert.go_to_jinja.shapes import (
    ELEMENTS,
    LISTS,
    MAP_ELEMENTS,
    MAPS,
    STRUCTS,
    Shape,
    Value,
    one_or_all,
)
from transplate.convert.go_to_jinja.text import BYTE_LENGTH, BYTE_SLICE, concat, ends_a_property, ends_with
from transplate.convert.go_to_jinja.typetests import as_list, as_set, behind_type, has_type, is_unset
from transplate.jinja import nodes as j
from transplate.source import Span


def call_function(c: Context, name: str, arguments: list[Argument], span: Span) -> Value:
    """Return the value of a call.

    Raises:
        UnsupportedTemplate: The call has no exact counterpart in Jinja.
    """
    if name in IDIOMS:
        return call_idiom(c, name, [as_set(c, argument.lower(), span) for argument in arguments], span)
    function = _FUNCTIONS.get(name)
    if function is None:
        raise c.refusal(span, f"the function {name} cannot be said in Jinja")
    least, most = _ARITY[name]
    if name in _OLLAMA and c.last_turn:
        c.check(j.TRUE, f'"{name}" is not a defined function')
    elif len(arguments) < least or (most is not None and len(arguments) > most):
        c.check(j.TRUE, f"wrong number of args for {name}")
    else:
        return function(c, arguments, span)
    return Value(Shape.NIL, j.Literal(None))


_MOST_OPERANDS = 64

# --- logic ----------------------------------------------------------------------------------------------


def _and(c: Context, arguments: list[Argument], span: Span) -> Value:
    return _logic(c, arguments, span, stops_at=False)


def _or(c: Context, arguments: list[Argument], span: Span) -> Value:
    return _logic(c, arguments, span, stops_at=True)


def _logic(c: Context, arguments: list[Argument], span: Span, *, stops_at: bool) -> Value:
    """Return the first argument whose truth is ``stops_at``, or the last one."""
    _check_operands(c, len(arguments), span)
    values: list[Value] = []
    reached: j.Expression = j.TRUE
    for argument in arguments:
        with c.only_if(reached):
            value = argument.lower()
        test = printing.condition(c, value, argument.span)
        if value.shape is Shape.INT and value.optional:
            value = Value(Shape.INT, printing.as_integer(value))
        values.append(value)
        reached = b.and_(reached, b.not_(test) if stops_at else test)
        if b.truth(test) is stops_at:
            break
    if not stops_at:
        values = _joined(values)
    result = values.pop()
    for value in reversed(values):
        test = printing.condition(c, value, span)
        value = printing.narrowed(value, holds=stops_at)
        taken, rest = (value, result) if stops_at else (result, value)
        result = _choice(test, taken, rest, stops_at=stops_at)
    match result.expression:
        case j.And(operands) | j.Or(operands):
            _check_operands(c, len(operands), span)
    return result


def _joined(values: list[Value]) -> list[Value]:
    """Return operands of an ``and``, neighbours that test the end of a text together made one."""
    made: list[Value] = []
    for value in values:
        ending = ends_with(made[-1].expression, value.expression) if made else None
        if ending is None:
            made.append(value)
        else:
            made[-1] = Value(Shape.BOOL, ending)
    return made


def _check_operands(c: Context, count: int, span: Span) -> None:
    """Refuse a condition that is too long for the engines, which nest it."""
    if count > _MOST_OPERANDS:
        raise c.refusal(span, f"a condition of more than {_MOST_OPERANDS} operands cannot be said in Jinja")


def _choice(test: j.Expression, taken: Value, rest: Value, *, stops_at: bool) -> Value:
    """Return ``taken`` if a test holds, else ``rest``, written with ``and`` or ``or``."""
    known = b.truth(test)
    if known is not None:
        return taken if known else rest
    shapes = taken.shapes | rest.shapes
    if shapes == {Shape.BOOL}:
        join = b.or_ if stops_at else b.and_
        first, second = (taken, rest) if stops_at else (rest, taken)
        return Value(Shape.BOOL, join(first.expression, second.expression))
    is_truth_of_first = test == (taken if stops_at else rest).expression
    if len(shapes) > 1:
        # An ``or`` never gives its first operand where that is nothing.
        taken, rest = taken if is_truth_of_first and stops_at else _settled(taken), _settled(rest)
    shape = one_or_all(shapes)
    optional = taken.optional or rest.optional
    first, second = (taken, rest) if stops_at else (rest, taken)
    if is_truth_of_first:
        join_nodes = j.Or if stops_at else j.And
        return Value(shape, join_nodes((first.expression, second.expression)), optional)
    return Value(shape, j.Conditional(test, taken.expression, rest.expression), optional)


def _settled(value: Value) -> Value:
    """Return a value that can stand among values of other shapes: a text though it is not there."""
    if value.shape is Shape.TEXT and value.optional:
        return Value(Shape.TEXT, printing.as_text(value), size=value.size)
    if value.shape is Shape.FLOAT:
        return Value(Shape.FLOAT, printing.as_whole(value.expression))
    return value


def _not(c: Context, arguments: list[Argument], span: Span) -> Value:
    return Value(Shape.BOOL, b.not_(printing.condition(c, arguments[0].lower(), span)))


# --- comparison -----------------------------------------------------------------------------------------

_BASIC = frozenset({Shape.TEXT, Shape.INT, Shape.FLOAT, Shape.BOOL})


def _equal(c: Context, arguments: list[Argument], span: Span) -> Value:
    _check_operands(c, len(arguments), span)
    first, *others = arguments
    value = first.lower()
    if not others:
        c.check(j.TRUE, "missing argument for comparison")
    tests: list[j.Expression] = []
    for other in others:
        with c.only_if(b.not_(b.or_(*tests))):
            tests.append(_equality(c, value, other.lower(), other.span))
    return Value(Shape.BOOL, b.or_(*tests))


def _not_equal(c: Context, arguments: list[Argument], span: Span) -> Value:
    return Value(Shape.BOOL, b.not_(_equality(c, arguments[0].lower(), arguments[1].lower(), span)))


def _equality(c: Context, left: Value, right: Value, span: Span) -> j.Expression:
    for one, other in ((left, right), (right, left)):
        if one.type_of is None:
            continue
        if not one.is_whole and isinstance(other.expression, j.Literal):
            return has_type(c, one.type_of, str(other.expression.value), span)
        text = behind_type(other.expression) if one.is_whole else None
        if text is not None:
            is_text = has_type(c, one.type_of, Shape.TEXT.value, span)
            return b.and_(is_text, j.Binary("==", one.type_of.expression, text))
    if ends_a_property(left.expression) and right.expression == j.Literal("]}"):
        return j.Literal(c.property_required)  # what stands last is the list of the required ones
    if left.shape is Shape.NIL or right.shape is Shape.NIL:
        return _equals_nil(c, left if right.shape is Shape.NIL else right, span)
    for one, other in ((left, right), (right, left)):
        if one.shape is Shape.ANY and other.shape in (Shape.TEXT, Shape.BOOL):
            test = "string" if other.shape is Shape.TEXT else "boolean"
            c.check(
                b.not_(b.or_(j.Test(one.expression, test), b.is_nil(one.expression))),
                "incompatible types for comparison",
            )
            return b.and_(j.Test(one.expression, test), j.Binary("==", one.expression, other.expression))
    if isinstance(left.shape, frozenset) or isinstance(right.shape, frozenset):
        return _union_equality(c, left, right, span)
    if left.shape not in _BASIC or right.shape not in _BASIC:
        if left.shape is Shape.ANY or right.shape is Shape.ANY:
            raise c.refusal(span, "comparing values whose types are not known before the template runs")
        worse = left if left.shape not in _BASIC else right
        if worse.shape in STRUCTS:
            raise c.refusal(span, f"comparing values of type {worse.type_names} cannot be said in Jinja")
        if left.shape not in _BASIC and right.shape not in _BASIC:
            # Two that are nil are equal, any others fail.
            raise c.refusal(span, f"comparing values of type {worse.type_names} cannot be said in Jinja")
        c.check(j.TRUE, f"non-comparable type {worse.type_names}")
        return j.FALSE
    if left.shape is not right.shape:
        c.check(j.TRUE, "incompatible types for comparison")
        return j.FALSE
    for one, other in ((left, right), (right, left)):
        if other.expression == j.EMPTY:
            return b.not_(one.expression)
        if other.shape is Shape.BOOL and isinstance(other.expression, j.Literal):
            return one.expression if other.expression.value else b.not_(one.expression)
    if left.shape is Shape.TEXT and any(isinstance(side.expression, j.Literal) for side in (left, right)):
        return j.Binary("==", left.expression, right.expression)
    return j.Binary("==", _comparable(left), _comparable(right))


def _comparable(value: Value) -> j.Expression:
    if value.shape is Shape.TEXT:
        return printing.as_text(value)
    return printing.as_integer(value) if value.shape is Shape.INT else value.expression


def _equals_nil(c: Context, value: Value, span: Span) -> j.Expression:
    if value.shape is Shape.NIL:
        return j.TRUE
    if value.shape is Shape.ANY:
        return b.is_nil(value.expression)
    if value.shape in _BASIC or value.shape in STRUCTS:
        return j.FALSE
    raise c.refusal(span, f"comparing a value of type {value.type_names} with nil cannot be said in Jinja")


def _union_equality(c: Context, left: Value, right: Value, span: Span) -> j.Expression:
    """Compare a variable of several shapes with a text; any other shape but nil makes Go fail."""
    for one, other in ((left, right), (right, left)):
        # The type of a property may be a text for Jinja, and is none for Go.
        if (
            isinstance(one.shape, frozenset)
            and Shape.TEXT in one.shape
            and Shape.PROPERTY_TYPE not in one.shape
            and other.shape is Shape.TEXT
        ):
            if Shape.COMPLEX in one.shapes and len(one.shapes) == 2:
                c.check(is_unset(c, one, span), "incompatible types for comparison")
            elif not one.shapes.isdisjoint(_UNSET) or not c.assumptions.use("some-message"):
                is_other: j.Expression = j.Test(one.expression, "string", negated=True)
                if one.may_be_nil:
                    is_other = b.and_(is_other, b.not_(b.is_nil(one.expression)))
                c.check(is_other, "incompatible types for comparison")
            return j.Binary("==", one.expression, other.expression)
    raise c.refusal(span, "comparing values whose types are not known before the template runs")


_UNSET = frozenset({Shape.NIL, Shape.ANY, Shape.COMPLEX})


def _ordering(operator: str) -> Callable[[Context, list[Argument], Span], Value]:
    def compare(c: Context, arguments: list[Argument], span: Span) -> Value:
        left, right = (argument.lower() for argument in arguments)
        if left.shape is Shape.TEXT and right.shape is Shape.TEXT:
            result = j.Binary(operator, left.expression, right.expression)
            if not (isinstance(left.expression, j.Literal) and isinstance(right.expression, j.Literal)):
                raise c.refusal(span, "the order of texts cannot be said in Jinja")
            return Value(Shape.BOOL, result)
        if Shape.ANY in left.shapes | right.shapes or len(left.shapes) > 1 or len(right.shapes) > 1:
            raise c.refusal(span, "comparing values whose types are not known before the template runs")
        if left.shape is not right.shape or left.shape not in _BASIC - {Shape.BOOL}:
            c.check(j.TRUE, "incompatible types for comparison")
            return Value(Shape.BOOL, j.FALSE)
        return Value(Shape.BOOL, j.Binary(operator, _comparable(left), _comparable(right)))

    return compare


# --- len, index, slice ----------------------------------------------------------------------------------


def _len(c: Context, arguments: list[Argument], span: Span) -> Value:
    value = as_set(c, as_list(c, arguments[0].lower(), span), span)
    if value.shape is Shape.TEXT:
        if value.size is not None:
            return Value(Shape.INT, value.size)
        if value.is_ascii:
            return Value(Shape.INT, b.length(printing.as_text(value)))
        counted = j.Filter(value.expression, BYTE_LENGTH)
        c.refuse_later(counted, span, "the number of bytes of a text cannot be counted in Jinja")
        return Value(Shape.INT, counted)
    if value.shape in LISTS or value.shape in MAPS:
        collection = value.expression
        if value.optional:
            empty = j.ListLiteral(()) if value.shape in LISTS else j.DictLiteral(())
            collection = b.or_empty(collection, empty)
        if value.shape is Shape.PROPERTY_TYPE:
            one = j.Test(value.expression, "string")
            return Value(Shape.INT, j.Conditional(one, j.Literal(1), b.length(collection)))
        return Value(Shape.INT, b.length(collection))
    if value.shape is Shape.ANY or isinstance(value.shape, frozenset):
        raise c.refusal(span, "the length of a value whose type is not known before the template runs")
    if value.shape in (Shape.ROOT, Shape.ORDERED_PROPERTIES):
        raise c.refusal(span, f"the length of a value of type {value.type_names} cannot be said in Jinja")
    c.check(j.TRUE, f"len of type {value.type_names}")
    return Value(Shape.INT, j.Literal(0))


def _index(c: Context, arguments: list[Argument], span: Span) -> Value:
    value = as_list(c, arguments[0].lower(), span)
    if value.shape in (Shape.NIL, Shape.ANY) and len(arguments) == 1:
        c.check(j.TRUE if value.shape is Shape.NIL else b.is_nil(value.expression), "index of untyped nil")
    for argument in arguments[1:]:
        value = _indexed(c, value, argument, span)
    return value


def _indexed(c: Context, value: Value, argument: Argument, span: Span) -> Value:
    key = argument.lower()
    shape = value.only_shape
    if shape in ELEMENTS and key.shape is Shape.INT and shape is not Shape.PROPERTY_TYPE:
        items = b.or_empty(value.expression, j.ListLiteral(())) if value.optional else value.expression
        number = printing.as_integer(key)
        _check_bound(c, value, items, number, "error calling index: index out of range", strict=True)
        return Value(ELEMENTS[shape], j.Item(items, number))
    if shape is Shape.PROPERTY_TYPE and key.expression == j.Literal(0):
        c.check(b.not_(value.expression), "error calling index: index out of range")
        if c.assumptions.use("plain-schemas"):
            return Value(Shape.TEXT, value.expression)
        is_one = j.Test(value.expression, "string")
        first = j.Item(value.expression, key.expression)
        return Value(Shape.TEXT, j.Conditional(is_one, value.expression, first))
    if shape is Shape.ANY and isinstance(key.expression, j.Literal) and key.shape is Shape.TEXT:
        c.check(j.Test(value.expression, "mapping", negated=True), "cannot index a value that is no map")
        shape, value = Shape.ARGUMENTS, Value(Shape.ARGUMENTS, value.expression)
    if shape in MAP_ELEMENTS and key.shape is Shape.TEXT:
        if c.keys.get(key.expression) == value.expression and c.is_stable(value.expression):
            return Value(MAP_ELEMENTS[shape], j.Item(value.expression, key.expression))
        if not isinstance(key.expression, j.Literal) or hasattr(dict, str(key.expression.value)):
            raise c.refusal(
                argument.span, "a key that may be the name of a method cannot be looked up in Jinja"
            )
        owner = b.or_empty(value.expression, j.DictLiteral(())) if value.optional else value.expression
        return Value(MAP_ELEMENTS[shape], j.Item(owner, key.expression), optional=True)
    if value.shape is Shape.NIL:
        c.check(j.TRUE, "index of untyped nil")
        return value
    if value.shape is Shape.TEXT:
        raise c.refusal(span, "a byte of a text cannot be read in Jinja")
    raise c.refusal(span, f"index of a value of type {value.type_names} cannot be said in Jinja")


def _check_bound(
    c: Context, value: Value, items: j.Expression, bound: j.Expression, message: str, *, strict: bool
) -> None:
    """Fail where an index or a bound lies outside of a list."""
    if value.shape is Shape.MESSAGES and c.assumptions.use("some-message"):
        return
    match bound:
        case j.Literal(int(number)):
            if number < 0:
                c.check(j.TRUE, message)
            elif number or strict:
                operator = "<=" if strict else "<"
                c.check(j.Binary(operator, b.length(items), bound), message)
        case j.Attribute(_, "index0"):
            # The number of an iteration over another list is checked against this one's length.
            c.check(j.Binary(">=" if strict else ">", bound, b.length(items)), message)
        case _:
            outside = j.Binary(">=" if strict else ">", bound, b.length(items))
            c.check(b.or_(j.Binary("<", bound, j.Literal(0)), outside), message)


def _slice(c: Context, arguments: list[Argument], span: Span) -> Value:
    value = as_set(c, as_list(c, arguments[0].lower(), span), span)
    if value.shape is Shape.NIL:
        c.check(j.TRUE, "slice of untyped nil")
        return value
    bounds = [argument.lower() for argument in arguments[1:]]
    if any(bound.shape is Shape.TEXT for bound in bounds):
        c.check(j.TRUE, "cannot index slice/array with type string")
        return Value(Shape.TEXT, j.EMPTY)
    if any(bound.shape is not Shape.INT for bound in bounds):
        raise c.refusal(span, "a bound of a slice that is no integer fails in Ollama")
    if len(bounds) == 3:
        raise c.refusal(span, "a slice with a capacity cannot be said in Jinja")
    expressions = [printing.as_integer(bound) for bound in bounds]
    if value.shape is Shape.TEXT:
        if not expressions:
            return value
        if any(isinstance(bound, j.Literal) and _is_negative(bound) for bound in expressions):
            c.check(j.TRUE, "error calling slice: index out of range")
            return value
        size = _size_of_slice(c, value.size, expressions)
        if value.is_ascii and size is not None:
            return Value(Shape.TEXT, j.Slice(value.expression, *expressions), size=size, is_ascii=True)
        cut = j.Filter(value.expression, BYTE_SLICE, tuple(expressions))
        c.refuse_later(cut, span, "a text cannot be sliced by bytes in Jinja")
        return Value(Shape.TEXT, cut, size=size)
    if value.shape not in LISTS or value.shape is Shape.PROPERTY_TYPE:
        raise c.refusal(span, f"a slice of a value of type {value.type_names} cannot be said in Jinja")
    items = b.or_empty(value.expression, j.ListLiteral(())) if value.optional else value.expression
    if not expressions:
        return Value(value.shape, items)
    for bound in expressions:
        _check_bound(c, value, items, bound, "error calling slice: index out of range", strict=False)
    if len(expressions) == 2:
        c.check(_greater(*expressions), "error calling slice: invalid slice index")
    return Value(value.shape, j.Slice(items, *expressions))


def _size_of_slice(c: Context, size: j.Expression | None, bounds: list[j.Expression]) -> j.Expression | None:
    """Return how long a slice of a text of known length is, None where the bounds may be outside of it."""
    if size is None or not all(map(c.is_natural, bounds)):
        return None
    start, stop = (*bounds, size)[:2]
    for lower, upper in ((start, stop), (stop, size)):
        if lower != upper:
            c.check(_greater(lower, upper), "error calling slice: index out of range")
    rest = _difference(stop, start)
    c.naturals.add(rest)
    return rest


def _difference(left: j.Expression, right: j.Expression) -> j.Expression:
    match left, right:
        case j.Literal(int(a)), j.Literal(int(d)):
            return j.Literal(a - d)
        case _, j.Literal(0):
            return left
        case j.Binary("-", inner, j.Literal(int(a))), j.Literal(int(d)):
            return j.Binary("-", inner, j.Literal(a + d))
        case _:
            return j.Binary("-", left, right)


def _is_negative(number: j.Literal) -> bool:
    return isinstance(number.value, int) and number.value < 0


def _greater(left: j.Expression, right: j.Expression) -> j.Expression:
    match left, right:
        case j.Literal(int(a)), j.Literal(int(d)):
            return j.Literal(a > d)
        case _:
            return j.Binary(">", left, right)


# --- text -----------------------------------------------------------------------------------------------


def _print(c: Context, arguments: list[Argument], _: Span) -> Value:
    """Go's ``Sprint``: a space between two operands neither of which is a string."""
    pieces: list[j.Expression] = []
    before: Value | None = None
    for argument in arguments:
        value = argument.lower()
        if before is not None and _are_spaced(c, before, value, argument.span):
            pieces.append(j.Literal(" "))
        pieces.append(operand_text(c, value, argument.span))
        before = value
    return Value(Shape.TEXT, concat(tuple(pieces)))


def _are_spaced(c: Context, before: Value, value: Value, span: Span) -> bool:
    if before.shape is Shape.TEXT or value.shape is Shape.TEXT:
        return False
    if {Shape.TEXT, Shape.ANY} & (before.shapes | value.shapes):
        raise c.refusal(span, "print of values whose types are not known before the template runs")
    return True


def _println(c: Context, arguments: list[Argument], _: Span) -> Value:
    pieces: list[j.Expression] = []
    for argument in arguments:
        if pieces:
            pieces.append(j.Literal(" "))
        pieces.append(operand_text(c, argument.lower(), argument.span))
    return Value(Shape.TEXT, concat((*pieces, j.Literal("\n"))))


# --- Ollama's own ---------------------------------------------------------------------------------------


def _json(c: Context, arguments: list[Argument], span: Span) -> Value:
    return Value(Shape.TEXT, printing.marshalled(c, arguments[0].lower(), span))


def _current_date(c: Context, arguments: list[Argument], span: Span) -> Value:
    _texts(c, arguments, span)
    return Value(Shape.TEXT, b.call("strftime_now", j.Literal("%Y-%m-%d")), size=j.Literal(10), is_ascii=True)


def _yesterday_date(c: Context, arguments: list[Argument], span: Span) -> Value:
    _texts(c, arguments, span)
    return Value(Shape.TEXT, b.call("yesterday"), size=j.Literal(10), is_ascii=True)


def _texts(c: Context, arguments: list[Argument], span: Span) -> None:
    if any(argument.lower().shape is not Shape.TEXT for argument in arguments):
        raise c.refusal(span, "a date's layout that is no text fails in Ollama")


def _to_typescript_type(c: Context, arguments: list[Argument], span: Span) -> Value:
    value = arguments[0].lower()
    if value.shape is Shape.PROPERTY:
        return Value(Shape.TEXT, b.call("typescript_type", value.expression))
    if isinstance(value.shape, frozenset):
        raise c.refusal(
            span, "toTypeScriptType of a variable whose type is not known before the template runs"
        )
    return Value(Shape.TEXT, j.Literal("any"))


_OLLAMA = frozenset({"json", "currentDate", "yesterdayDate", "toTypeScriptType"})

_ARITY: dict[str, tuple[int, int | None]] = {
    "and": (1, None),
    "or": (1, None),
    "not": (1, 1),
    "eq": (1, None),
    "ne": (2, 2),
    "lt": (2, 2),
    "le": (2, 2),
    "gt": (2, 2),
    "ge": (2, 2),
    "len": (1, 1),
    "index": (1, None),
    "slice": (1, 4),
    "print": (0, None),
    "println": (0, None),
    "printf": (1, None),
    "json": (1, 1),
    "currentDate": (0, None),
    "yesterdayDate": (0, None),
    "toTypeScriptType": (1, 1),
}
"""The least and the greatest number of arguments that a call may have; None for no bound."""

_FUNCTIONS: dict[str, Callable[[Context, list[Argument], Span], Value]] = {
    "and": _and,
    "or": _or,
    "not": _not,
    "eq": _equal,
    "ne": _not_equal,
    "lt": _ordering("<"),
    "le": _ordering("<="),
    "gt": _ordering(">"),
    "ge": _ordering(">="),
    "len": _len,
    "index": _index,
    "slice": _slice,
    "print": _print,
    "println": _println,
    "printf": printf,
    "json": _json,
    "currentDate": _current_date,
    "yesterdayDate": _yesterday_date,
    "toTypeScriptType": _to_typescript_type,
}
