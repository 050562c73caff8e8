"""What a Jinja expression is known to be while a template is compiled.

A value is either known at compile time (constants, literals, macros, lists that are only walked), or lives in
a Go expression whose possible kinds are known. A kind is a type of Ollama's data under a short name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from transplate.convert.jinja_to_go.refusals import LONGEST, MOST_BITS, Refused, TooLong
from transplate.convert.jinja_to_go.shapes import Shape
from transplate.gotmpl.nodes import Operand, String, Variable
from transplate.jinja import nodes as j

GO_TYPES = {
    "str": "string",
    "int": "int",
    "float": "float64",
    "bool": "bool",
    "none": "<nil>",
    "undefined": "complex128",
    "message": "*template.templateMessage",
    "messages": "[]*template.templateMessage",
    "calls": "[]template.templateToolCall",
    "call": "template.templateToolCall",
    "called": "template.templateToolCallFunction",
    "arguments": "template.templateArgs",
    "tools": "template.templateTools",
    "tool": "template.templateTool",
    "function": "template.templateToolFunction",
    "parameters": "template.templateToolFunctionParameters",
    "properties": "template.templateProperties",
    "ordered": "*api.ToolPropertiesMap",
    "property": "api.ToolProperty",
    "variants": "[]api.ToolProperty",
    "type": "api.PropertyType",
    "strings": "[]string",
    "list": "[]interface {}",
    "map": "map[string]interface {}",
}
"""Each kind and the name that ``printf "%T"`` gives its Go type."""

ANY = frozenset({"str", "float", "bool", "none", "list", "map"})
"""What a JSON value can be."""
ELEMENTS = {
    "messages": frozenset({"message"}),
    "calls": frozenset({"call"}),
    "tools": frozenset({"tool"}),
    "variants": frozenset({"property"}),
    "strings": frozenset({"str"}),
    "list": ANY,
}
"""The lists, and what is in them."""
MAPPED = {
    "arguments": ANY,
    "map": ANY,
    "properties": frozenset({"property"}),
    "ordered": frozenset({"property"}),
}
"""The dicts that hold any keys, and what is in them."""
RECORDS = frozenset({"message", "call", "called", "tool", "function", "parameters", "property"})
"""The dicts with known keys."""
MAPPINGS = RECORDS | MAPPED.keys()
SCALARS = frozenset({"bool", "int", "float", "none"})
ABSENT = frozenset({"none", "undefined"})


@dataclass(frozen=True, slots=True)
class Const:
    """A string, number, boolean or None; ``markup`` as in :class:`Go`.

    Raises:
        TooLong: It is longer than any template may be.
    """

    value: Any
    markup: int = 0

    def __post_init__(self) -> None:
        """Bound what a template can make grow while it is converted."""
        is_text = isinstance(self.value, str)
        if (is_text and len(self.value) > LONGEST) or (
            type(self.value) is int and self.value.bit_length() > MOST_BITS
        ):
            raise TooLong


@dataclass(frozen=True, slots=True)
class Undefined:
    """A variable, attribute or item that is not there."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Go:
    """What a Go expression gives.

    Attributes:
        kinds: What it can be.
        expr: The expression; it has no effects.
        present: Where this is false, the value is ``absent`` and not what the expression gives.
        absent: ``undefined`` or ``none``.
        markup: Whether it is a string that ``|safe`` made: 0 for no, 1 for yes, 2 for maybe.
    """

    kinds: frozenset[str]
    expr: Operand
    present: Operand | None = None
    absent: str = "undefined"
    markup: int = 0


@dataclass(frozen=True, slots=True)
class Int:
    """A whole number: a Go int that is at least ``low``, plus a constant."""

    expr: Operand
    offset: int = 0
    low: int = 0


@dataclass(frozen=True, slots=True)
class Cat:
    """Strings put together."""

    parts: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Json:
    """A value as JSON text."""

    value: Value
    indent: int | None = None
    compact: bool = False


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list or tuple whose length is known.

    Raises:
        TooLong: It has more items than any template may have characters.
    """

    items: tuple[Value, ...]
    is_tuple: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        """Bound what a template can make grow while it is converted."""
        if len(self.items) > LONGEST:
            raise TooLong


@dataclass(frozen=True, slots=True)
class DictOf:
    """A dict whose keys are known.

    Attributes:
        items: The keys, and what they hold.
        is_open: Whether keys that hold nothing are not in it.
        is_unclear: Whether they may be in it all the same.
    """

    items: tuple[tuple[Value, Value], ...]
    is_open: bool = False
    is_unclear: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """A list that is kept in a text; ``item`` says what can be in it."""

    expr: Operand
    item: Shape


@dataclass(frozen=True, slots=True)
class Packed:
    """Any value that is kept in a text."""

    expr: Operand
    shape: Shape


@dataclass(frozen=True, slots=True)
class Namespace:
    """A ``namespace()``; its attributes are part of the compiler's state."""

    number: int


@dataclass(frozen=True, slots=True)
class MacroOf:
    """A macro."""

    node: j.Macro


@dataclass(frozen=True, slots=True)
class Reversed:
    """A list from its end to its start; it may be read once where ``|reverse`` gives it."""

    value: Value
    is_list: bool = True


@dataclass(frozen=True, slots=True)
class Joined:
    """Lists one after the other."""

    parts: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Items of a list that a condition is true for, changed by a function; a generator until ``|list``."""

    value: Value
    keep: Callable[[Value], bool | Operand] | None = None
    change: Callable[[Value], Value] | None = None
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """``text.split(separator)``, or ``rsplit``; the separator is a constant or a variable."""

    text: Value
    separator: str | Variable | None
    skip: int = 0
    drop: int = 0
    limit: int | None = None
    from_right: bool = False


@dataclass(frozen=True, slots=True)
class Pairs:
    """Keys and values of a dict: ``items()``, ``|items``, ``|dictsort``; or its keys or values alone.

    Attributes:
        value: The dict.
        sorted: Whether they are in the order of the keys.
        folds: Whether capital letters make no difference to that order.
        only: ``keys`` or ``values``, if not both.
        form: ``list``; ``view`` as methods of dicts give; ``generator``, which may be read once.
    """

    value: Value
    sorted: bool = False
    folds: bool = True
    only: str = ""
    form: str = "view"


@dataclass(frozen=True, slots=True)
class Counting:
    """``range(start, stop)``; ``down`` counts from the last to the first of these."""

    start: Value
    stop: Value
    down: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """The variable ``loop``: what it has, made when it is asked for."""

    attributes: dict[str, Callable[[], Value]]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a value that is not called yet, or a function of Jinja's."""

    value: Value | None
    name: str


@dataclass(frozen=True, slots=True)
class Either:
    """One thing where a condition holds and another where it does not; the condition never changes."""

    test: Operand
    first: Value
    second: Value


@dataclass(frozen=True, slots=True)
class Poison:
    """What cannot be said in Go; reading it is refused, and setting it too if it is out of reach."""

    reason: str
    is_out_of_reach: bool = False


Value: TypeAlias = (
    Const
    | Undefined
    | Go
    | Int
    | Cat
    | Json
    | ListOf
    | DictOf
    | Built
    | Packed
    | Namespace
    | MacroOf
    | Reversed
    | Joined
    | Chosen
    | Split
    | Pairs
    | Counting
    | Loop
    | Method
    | Either
    | Poison
)

TEXT = frozenset({"str"})
TRUTH = frozenset({"bool"})


def is_lazy(value: Value) -> bool:
    """Tell whether a value is a generator: it is true, has no length and no items, and may be read once."""
    if isinstance(value, Pairs):
        return value.form == "generator"
    return isinstance(value, Chosen | Reversed) and not value.is_list


def kinds_of(value: Value) -> frozenset[str] | None:
    """Return what a value can be in a Go variable, None if it cannot be in one.

    ``minus`` is a whole number that may be -1, which has to be kept as one more.
    """
    if isinstance(value, Const):
        if value.value is None:
            return frozenset({"none"})
        name = type(value.value).__name__
        if name == "int" and value.value < 0:
            return frozenset({"minus"}) if value.value == -1 else None
        return frozenset({name}) if name in GO_TYPES else None
    if isinstance(value, Undefined):
        return frozenset({"undefined"})
    if isinstance(value, Go):
        return value.kinds | {value.absent} if value.present is not None else value.kinds
    if isinstance(value, Int):
        lowest = value.low + value.offset
        return frozenset({"minus" if lowest == -1 else "int"})
    if isinstance(value, Cat | Json):
        return TEXT
    return None


def text_value(operand: Operand) -> Value:
    """Return a text in an expression as a value."""
    return Const(operand.value) if isinstance(operand, String) else Go(TEXT, operand)


def concatenated(parts: Sequence[Value]) -> Value:
    """Return texts one after the other as one value."""
    flat: list[Value] = []
    for part in parts:
        for one in part.parts if isinstance(part, Cat) else (part,):
            if isinstance(one, Const) and flat and isinstance(flat[-1], Const):
                flat[-1] = Const(flat[-1].value + one.value)
            elif one != Const(""):
                flat.append(one)
    if not flat:
        return Const("")
    if len(flat) > 1:
        return Cat(tuple(flat))
    (one,) = flat  # what is put together is not marked safe, not even if it is of one part
    return replace(one, markup=0) if isinstance(one, Const | Go) and one.markup else one


def markup_of(value: Value) -> int:
    """Return whether ``|safe`` has made a string, as in :class:`Go`."""
    return value.markup if isinstance(value, Const | Go) else 0


def marked(value: Value, markup: int) -> Value:
    """Return a text that was made of another, marked safe where that is.

    Raises:
        Refused: It cannot be marked.
    """
    if not markup or isinstance(value, Undefined):
        return value
    if isinstance(value, Const):
        return replace(value, markup=markup) if isinstance(value.value, str) else value
    if isinstance(value, Go) and value.kinds == TEXT:
        return replace(value, markup=markup)
    if isinstance(value, ListOf):
        return replace(value, items=tuple(marked(item, markup) for item in value.items))
    raise Refused("a part of a text that is marked safe")


def shifted(value: Value, by: int) -> Value:
    """Return a whole number that is so much more."""
    if isinstance(value, Int):
        return Int(value.expr, value.offset + by, value.low)
    return Const(value.value + by) if by and isinstance(value, Const) else value


def lowest(value: Value) -> int:
    """Return what a whole number is at least."""
    if isinstance(value, Int):
        return value.low + value.offset
    if isinstance(value, Const) and isinstance(value.value, int):
        return int(value.value)
    return 0


def together(home: Operand, shape: Shape) -> Built | Packed:
    """Return what is kept in a text as a value: a list as one, anything else packed."""
    if shape.kinds == {"list"}:
        return Built(home, shape.item or Shape())
    return Packed(home, shape)


def operands_of(value: Value) -> Iterator[Operand]:
    """Yield the expressions in a value."""
    if isinstance(value, Go):
        yield value.expr
        if value.present is not None:
            yield value.present
    elif isinstance(value, Int | Built | Packed):
        yield value.expr
    elif isinstance(value, Cat):
        for part in value.parts:
            yield from operands_of(part)
    elif isinstance(value, Json):
        yield from operands_of(value.value)
    elif isinstance(value, DictOf):
        for key, found in value.items:
            yield from operands_of(key)
            yield from operands_of(found)
    elif isinstance(value, ListOf):
        for found in value.items:
            yield from operands_of(found)
