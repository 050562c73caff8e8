"""What filters, tests, methods and operators of Jinja's sandbox cost, paid before they run.

The sandbox keeps a template away from Python's internals; it does not keep it from ``"a"|center(10**9)``.
Each guard here refuses or charges one kind of call that could make or go through a value of any size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from jinja2.utils import _PassArg

from transplate.jinja.meter import Guard, LimitReached, Meter, depth_of

_DIGITS = re.compile(r"\d+")
_LONG_NUMBER = 1000
_MOST_DIGITS = 400
_FILTER_STEPS = 3
_SLOW = 16
"""How much longer regular expressions and Unicode tables take for a character than copying it."""

Arguments = tuple[Any, ...]
Named = Mapping[str, Any]


def _argument(arguments: Arguments, named: Named, index: int, name: str, default: Any = None) -> Any:
    return arguments[index] if len(arguments) > index else named.get(name, default)


def _size(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str | bytes)


# --- operators ------------------------------------------------------------------------------------------


def multiplied(meter: Meter, left: Any, right: Any) -> None:
    """Pay for ``left * right``."""
    for value, count in ((left, right), (right, left)):
        if isinstance(value, str | bytes | list | tuple) and isinstance(count, int):
            meter.reserve(max(count, 0) * len(value) * (1 if _is_text(value) else 8))
            return
    if isinstance(left, int) and isinstance(right, int):
        meter.check_integer(left)
        meter.check_integer(right)


def raised(meter: Meter, left: Any, right: Any) -> None:
    """Pay for ``left ** right``."""
    if isinstance(left, int) and isinstance(right, int) and abs(left) > 1 and right > 0:
        meter.check_integer(left)
        if left.bit_length() * right > 1 << 17:
            raise LimitReached(f"{right} is too large an exponent (limit: steps)")


def divided(meter: Meter, left: Any, right: Any) -> None:
    """Pay for ``left // right`` or ``left % right``; of a string, ``%`` fills in values."""
    if _is_text(left):
        printed(meter, left, right)
    elif isinstance(left, int) and isinstance(right, int):
        meter.check_integer(left)
        meter.check_integer(right)


def printed(meter: Meter, pattern: Any, values: Any) -> None:
    """Pay for ``pattern % values``."""
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    fields = text.count("%")
    size = len(text) + sum(int(digits[:12]) for digits in _DIGITS.findall(text))
    if "*" in text:
        given = values if isinstance(values, tuple) else (values,)
        size += sum(abs(value) for value in given if isinstance(value, int))
    parts = (
        values if isinstance(values, tuple) else values.values() if isinstance(values, Mapping) else (values,)
    )
    longest = max((meter.weigh(part) for part in parts), default=0)
    whole = meter.weigh(values) if isinstance(values, Mapping) else 0
    meter.reserve(size + fields * max(longest, whole))


def check_format_spec(meter: Meter, spec: str) -> None:
    """Pay for the width and precision of a format specification of ``str.format``."""
    for digits in _DIGITS.findall(spec):
        meter.reserve(int(digits[:12]))


# --- methods of strings, numbers and containers ---------------------------------------------------------


def _width(meter: Meter, receiver: Any, arguments: Arguments, named: Named) -> None:
    width = _argument(arguments, named, 0, "width")
    if isinstance(width, int):
        meter.reserve(max(width, _size(receiver)))


def _tabs(meter: Meter, receiver: Any, arguments: Arguments, named: Named) -> None:
    width = _argument(arguments, named, 0, "tabsize", 8)
    tab = "\t" if isinstance(receiver, str) else b"\t"
    if isinstance(width, int) and _is_text(receiver):
        meter.reserve(len(receiver) + receiver.count(tab) * max(width, 0))


def _replaced(meter: Meter, receiver: Any, arguments: Arguments, named: Named) -> None:
    old, new = _argument(arguments, named, 0, "old"), _argument(arguments, named, 1, "new")
    if type(old) is type(new) and _is_text(old) and _is_text(receiver) and len(new) > len(old):
        most = (len(receiver) // len(old) if old else len(receiver)) + 1
        if most * len(new) > _LONG_NUMBER:
            meter.reserve(len(receiver) + receiver.count(old) * len(new))


def _joined(meter: Meter, receiver: Any, arguments: Arguments, named: Named) -> None:  # noqa: ARG001
    parts = arguments[0] if arguments else ()
    if _is_text(receiver):
        meter.reserve(len(receiver) * _size(parts) + meter.weigh(parts))


def _translated(meter: Meter, receiver: Any, arguments: Arguments, named: Named) -> None:  # noqa: ARG001
    table = arguments[0] if arguments else None
    longest = max(map(_size, table.values()), default=0) if isinstance(table, dict) else 1
    meter.reserve(_size(receiver) * max(longest, 1))


def _searched_backwards(meter: Meter, receiver: Any, arguments: Arguments, named: Named) -> None:
    # Python searches backwards in time proportional to the product of both lengths.
    wanted = _argument(arguments, named, 0, "sep")
    meter.spend(_size(receiver) * (_size(wanted) + 64) >> 10)


def _split(meter: Meter, receiver: Any, arguments: Arguments, named: Named) -> None:  # noqa: ARG001
    meter.spend(_size(receiver) >> 4)


def _encoded(meter: Meter, receiver: Any, arguments: Arguments, named: Named) -> None:
    encoding = str(_argument(arguments, named, 0, "encoding", "utf-8")).lower().replace("_", "-")
    if encoding in {"punycode", "idna"}:
        meter.spend(_size(receiver) ** 2 >> 10)


def _stripped_tags(meter: Meter, receiver: Any, arguments: Arguments, named: Named) -> None:  # noqa: ARG001
    meter.spend(_size(receiver) * (str(receiver).count("<") + _SLOW) >> 8)


def _bytes_made(meter: Meter, receiver: Any, arguments: Arguments, named: Named) -> None:
    length = _argument(arguments, named, 0, "length", 1)
    if isinstance(receiver, int) and isinstance(length, int):
        meter.reserve(max(length, 0))


def _compared(meter: Meter, receiver: Any, arguments: Arguments, named: Named) -> None:  # noqa: ARG001
    if isinstance(receiver, list | tuple | range):
        meter.seen(receiver)
    for argument in arguments:
        meter.seen(argument)


def _copied(meter: Meter, receiver: Any, arguments: Arguments, named: Named) -> None:  # noqa: ARG001
    meter.spend(_size(receiver) << 1)


def _keyed(meter: Meter, receiver: Any, arguments: Arguments, named: Named) -> None:
    _compared(meter, receiver, arguments, named)
    if arguments:
        meter.spend(_size(arguments[0]) << 1)


METHODS: dict[str, Callable[[Meter, Any, Arguments, Named], None]] = {
    "center": _width,
    "changed": _compared,
    "copy": _copied,
    "count": _compared,
    "decode": _encoded,
    "encode": _encoded,
    "expandtabs": _tabs,
    "fromkeys": _keyed,
    "get": _compared,
    "index": _compared,
    "isdisjoint": _compared,
    "join": _joined,
    "ljust": _width,
    "replace": _replaced,
    "rfind": _searched_backwards,
    "rindex": _searched_backwards,
    "rjust": _width,
    "rpartition": _searched_backwards,
    "rsplit": _searched_backwards,
    "split": _split,
    "splitlines": _split,
    "striptags": _stripped_tags,
    "to_bytes": _bytes_made,
    "translate": _translated,
    "zfill": _width,
}
"""By name: what a method pays before it runs, whatever it is a method of."""


# --- filters and tests ----------------------------------------------------------------------------------


def _every_argument(meter: Meter, arguments: Arguments, named: Named) -> None:
    for argument in arguments:
        meter.seen(argument)
    for argument in named.values():
        meter.seen(argument)


def _slowly(meter: Meter, arguments: Arguments, named: Named) -> None:
    for argument in (*arguments, *named.values()):
        meter.spend(meter.weigh(argument) * _SLOW >> 8)


def _items(meter: Meter, arguments: Arguments, named: Named) -> None:  # noqa: ARG001
    if arguments:
        meter.spend(_size(arguments[0]) >> 3)


def _filter_width(meter: Meter, arguments: Arguments, named: Named) -> None:
    _every_argument(meter, arguments, named)
    width = _argument(arguments, named, 1, "width", 80)
    if isinstance(width, int):
        meter.reserve(max(width, 0))


def _indented(meter: Meter, arguments: Arguments, named: Named) -> None:
    text, width = _argument(arguments, named, 0, "s"), _argument(arguments, named, 1, "width", 4)
    each = len(width) if isinstance(width, str) else width if isinstance(width, int) else 0
    if isinstance(text, str) and each * len(text) > _LONG_NUMBER:
        meter.reserve(len(text) + max(each, 0) * (len(text.splitlines()) + 1))
    else:
        meter.reserve(max(each, 0))


def _filter_replaced(meter: Meter, arguments: Arguments, named: Named) -> None:
    _every_argument(meter, arguments, named)
    text, old, new = (
        meter.text(_argument(arguments, named, index, name, ""))
        for index, name in enumerate(("s", "old", "new"))
    )
    _replaced(meter, text, (old, new), {})


def _filter_printed(meter: Meter, arguments: Arguments, named: Named) -> None:
    if arguments:
        printed(meter, meter.text(arguments[0]), named or arguments[1:])


def _filter_joined(meter: Meter, arguments: Arguments, named: Named) -> None:
    values, between = arguments[0], _argument(arguments, named, 1, "d", "")
    meter.reserve(meter.weigh(values) + meter.weigh(between) * _size(values))


def _batched(meter: Meter, arguments: Arguments, named: Named) -> None:
    count, fill = _argument(arguments, named, 1, "linecount"), _argument(arguments, named, 2, "fill_with")
    if isinstance(count, int) and fill is not None:
        meter.reserve(max(count, 0) * 8)


def _rounded(meter: Meter, arguments: Arguments, named: Named) -> None:
    precision = _argument(arguments, named, 1, "precision", 0)
    if isinstance(precision, int) and abs(precision) > _MOST_DIGITS:
        meter.reserve(abs(precision))
        if abs(precision) > _MOST_DIGITS * 100:
            raise LimitReached(f"{precision} digits are too many to round to (limit: steps)")


def _summed(meter: Meter, arguments: Arguments, named: Named) -> None:
    values, start = _argument(arguments, named, 0, "iterable"), _argument(arguments, named, 2, "start", 0)
    if isinstance(start, list | tuple):
        meter.spend(meter.weigh(values) * max(_size(values), 1) >> 8)
    else:
        meter.seen(values)


def _wrapped_words(meter: Meter, arguments: Arguments, named: Named) -> None:
    text, width = _argument(arguments, named, 0, "s"), _argument(arguments, named, 1, "width", 79)
    between = _argument(arguments, named, 3, "wrapstring")
    lines = _size(text) // max(width, 1) + 1 if isinstance(width, int) else 1
    meter.spend(_size(text) * (_SLOW + lines) >> 8)
    meter.reserve(_size(text) * 2 * _size(between))


def _linked(meter: Meter, arguments: Arguments, named: Named) -> None:
    text = arguments[0] if arguments else ""
    meter.spend(_size(text) * (_size(text) + _SLOW) >> 8)
    meter.reserve(_size(text) * sum(_size(argument) for argument in (*arguments[1:], *named.values())))


def _tags_stripped(meter: Meter, arguments: Arguments, named: Named) -> None:
    if arguments:
        _stripped_tags(meter, meter.text(arguments[0]), (), named)


def _dumped(meter: Meter, arguments: Arguments, named: Named) -> None:
    value = _argument(arguments, named, 0, "x")
    weight = meter.weigh(value)
    indent, separators = (
        _argument(arguments, named, 2, "indent"),
        _argument(arguments, named, 3, "separators"),
    )
    if indent is not None:
        width = len(indent) if isinstance(indent, str) else indent if isinstance(indent, int) else 0
        weight += (weight >> 3) * max(width, 0) * depth_of(value)
    meter.reserve(weight + (weight >> 3) * meter.weigh(separators) if separators is not None else weight)


def _remainder(meter: Meter, arguments: Arguments, named: Named) -> None:  # noqa: ARG001
    if arguments:
        divided(meter, arguments[0], arguments[1] if len(arguments) > 1 else 2)


FREE_FILTERS = frozenset({"attr", "count", "d", "default", "first", "items", "last", "length", "random"})
"""Filters whose cost does not depend on the size of what they get."""

FILTERS: dict[str, Guard] = {
    "batch": _batched,
    "center": _filter_width,
    "dictsort": _slowly,
    "format": _filter_printed,
    "groupby": _slowly,
    "indent": _indented,
    "join": _filter_joined,
    "list": _items,
    "map": _items,
    "pprint": _slowly,
    "reject": _items,
    "rejectattr": _items,
    "replace": _filter_replaced,
    "reverse": _items,
    "round": _rounded,
    "select": _items,
    "selectattr": _items,
    "slice": _items,
    "sort": _slowly,
    "striptags": _tags_stripped,
    "sum": _summed,
    "title": _slowly,
    "tojson": _dumped,
    "unique": _slowly,
    "urlencode": _slowly,
    "urlize": _linked,
    "wordcount": _slowly,
    "wordwrap": _wrapped_words,
    "xmlattr": _slowly,
}
"""What a filter pays before it runs; one that is not listed pays for going through each argument."""

_COMPARING_TESTS = (
    *("==", "eq", "equalto", "!=", "ne", ">", "gt", "greaterthan", ">=", "ge"),
    *("<", "lt", "lessthan", "<=", "le", "in", "lower", "upper", "filter", "test"),
)

TESTS: dict[str, Guard] = {
    **dict.fromkeys(_COMPARING_TESTS, _every_argument),
    **dict.fromkeys(("even", "odd", "divisibleby"), _remainder),
}
"""What a test pays before it runs; one that is not listed is free."""


def held(arguments: Arguments) -> Arguments:
    """Return arguments with the first made a list if it gives its items only once."""
    if arguments and isinstance(arguments[0], Iterator):
        return (list(arguments[0]), *arguments[1:])
    return arguments


def metered(function: Callable[..., Any], guard: Guard) -> Callable[..., Any]:
    """Return a filter or test that pays for its work and for its result."""
    passed = _PassArg.from_obj(function)
    holds = guard in (_filter_joined, _summed)

    @pass_context
    def call(context: Context, /, *arguments: Any, **named: Any) -> Any:
        meter: Meter = context.meter  # type: ignore[attr-defined]
        meter.remaining -= _FILTER_STEPS + (len(arguments) >> 2)
        if meter.remaining < 0:
            meter.stop()
        if holds:
            arguments = held(arguments)
        guard(meter, arguments, named)
        if passed is None:
            result = function(*arguments, **named)
        elif passed is _PassArg.environment:
            result = function(context.environment, *arguments, **named)
        elif passed is _PassArg.eval_context:
            result = function(context.eval_ctx, *arguments, **named)
        else:
            result = function(context, *arguments, **named)
        return meter.made(result)

    return call


def metered_filters(filters: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """Return filters that pay for what they do, by name."""
    return {
        name: function if name in FREE_FILTERS else metered(function, FILTERS.get(name, _every_argument))
        for name, function in filters.items()
    }


def metered_tests(tests: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """Return tests that pay for what they do, by name."""
    return {
        name: metered(function, TESTS[name]) if name in TESTS else function
        for name, function in tests.items()
    }
