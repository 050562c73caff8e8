"""What the fast form of a template knows of its data beforehand: static types and values of them.

The fast form works on data whose shape is known, which whoever runs templates describes with
:class:`StaticType`: how, in Python, a value of the type is tested, printed, measured and taken apart. Each
way is a template of Python source in which ``{0}`` stands for the value, and ``s`` for what is left of the
limits, which whatever makes or goes through text takes its part of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias


class Unsupported(Exception):
    """A template, or a part of it, that has no fast form; the exact form does everything."""


@dataclass(frozen=True, slots=True)
class Loop:
    """Statements that a loop over values of a type needs, in which ``{0}`` stands for the element's local.

    Attributes:
        before: What stands in front of the loop.
        each: What every pass begins with.
        after: What stands behind the loop: an ``else:`` on one line, so that no ``break`` reaches it.
    """

    before: str
    each: Sequence[str]
    after: str


@dataclass(frozen=True, eq=False)
class StaticType:
    """A type of the fast form; compared by identity.

    What is None or empty the type does not have in the fast form.

    Attributes:
        name: What it is called in the repr.
        text: Its text, as an action prints it.
        json: Its JSON, as Go marshals it.
        go: The value as the exact form has it.
        truth: Something whose truth in Python is the value's truth in Go.
        length: Its length.
        items: What a loop without an index goes over.
        pairs: What a loop over keys and elements goes over, in Go's order.
        elem: Type of its elements.
        key: Type of its keys; None for a list.
        fields: Its fields: their source and type.
        entry: The entry of a map for a constant key, ``{1}``.
        position: The element at a position that is not negative, ``{1}``; an error beyond the end.
        prints_itself: Whether Go's fmt prints it as an action does, because it has a ``String`` method.
        loop: What more a loop over it needs.
    """

    name: str
    text: str | None = None
    json: str | None = None
    go: str | None = None
    truth: str | None = "{0}"
    length: str | None = None
    items: str | None = None
    pairs: str | None = None
    elem: StaticType | None = None
    key: StaticType | None = None
    fields: Mapping[str, tuple[str, StaticType]] = field(default_factory=dict)
    entry: str | None = None
    position: str | None = None
    prints_itself: bool = False
    loop: Loop | None = None

    def __repr__(self) -> str:
        return f"StaticType({self.name!r})"


STRING: Final = StaticType(
    "string",
    text="{0}",
    json="made(s, marshal({0}))",
    go="{0}",
    length="(len({0}) if {0}.isascii() else byte_length(s, {0}))",
)
RAW: Final = StaticType(
    "part of a string",
    text="valid({0})",
    json="made(s, marshal({0}))",
    go="valid({0})",
    length="byte_length(s, {0})",
)
"""A string that may have lost a part of a character; other strings of the fast form are valid."""
INT: Final = StaticType("int", text="str({0})", json="str({0})", go="{0}")
BOOL: Final = StaticType(
    "bool", text="('true' if {0} else 'false')", json="('true' if {0} else 'false')", go="{0}"
)
FLOAT: Final = StaticType("float64", text="print_value({0})", json="marshal({0})", go="{0}")
NIL: Final = StaticType("nil", text="'<no value>'", json="'null'", go="{0}")
GO: Final = StaticType(
    "any", text="text(s, {0})", json="made(s, marshal({0}))", go="{0}", truth="is_true({0})"
)
"""Any value in the representation of the exact form, settled."""
WIRE: Final = StaticType(
    "JSON", text="wire_text(s, {0})", json="made(s, marshal_wire({0}))", go="from_wire(s, {0})"
)
"""JSON data as Python reads it, in which an ``int`` is a float64 like any other number."""

MIXED: Final = StaticType("any scalar", text="text(s, {0})", json="made(s, marshal({0}))", go="{0}")
"""A value of any of the types above but :data:`GO` and :data:`WIRE`."""
UNREADABLE: Final = StaticType("nothing", truth=None)
"""What a variable is where the fast form does not have it."""

SCALARS: Final = frozenset({STRING, INT, BOOL, FLOAT, NIL, GO, MIXED})
"""The types of which a variable can hold now one, now another."""


def list_of(elem: StaticType, *, text: str | None = None, json: str | None = None) -> StaticType:
    """Return the type of lists; None is a nil slice."""
    return StaticType(
        f"list of {elem.name}",
        text=text,
        json=json,
        length="len({0} or ())",
        items="({0} or ())",
        elem=elem,
        position="{0}[{1}]",
    )


@dataclass(frozen=True, slots=True)
class Remaining:
    """How many elements of a list are left in a loop over it: its length less the index.

    Attributes:
        length: The local that holds the length.
        index: The local that holds the index.
    """

    length: str
    index: str


@dataclass(frozen=True, slots=True)
class Value:
    """A Python expression of a static type.

    Attributes:
        code: The expression, in parentheses where it needs them.
        type: Its type.
        constant: The value itself as a tuple of one, if it is a constant.
        remaining: What the number is, if it is what is left of a loop.
        parts: Of texts that are joined, these, as expressions.
    """

    code: str
    type: StaticType
    constant: tuple[object] | None = None
    remaining: Remaining | None = None
    parts: tuple[str, ...] = ()

    @property
    def is_safe(self) -> bool:
        """Whether evaluating it cannot fail: it is a constant, a local, or the root."""
        return self.constant is not None or not self.code or self.code.isidentifier()

    @property
    def text(self) -> str:
        """The source of its text."""
        return self._form(self.type.text)

    @property
    def json(self) -> str:
        """The source of its JSON."""
        return self._form(self.type.json)

    @property
    def go(self) -> str:
        """The source of the value as the exact form has it."""
        return self._form(self.type.go)

    @property
    def truth(self) -> str:
        """The source of a condition."""
        return self._form(self.type.truth)

    @property
    def length(self) -> str:
        """The source of its length."""
        return self._form(self.type.length)

    def _form(self, template: str | None) -> str:
        if template is None:
            raise Unsupported(f"{self.type!r} has no such form")
        return template.format(self.code)


def evaluated(arguments: Sequence[Value], result: Value) -> Value:
    """Return a result that does not need its arguments, but is had only if they can be evaluated."""
    needed = [argument.code for argument in arguments if not argument.is_safe]
    return replace(result, code=f"({', '.join((*needed, result.code))})[-1]") if needed else result


TypedFunction: TypeAlias = Callable[[Sequence[Value]], Value]
"""Makes the fast form of a function's call; raises Unsupported for arguments that it has none for."""
