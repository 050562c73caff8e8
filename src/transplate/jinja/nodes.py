"""A small typed tree of the Jinja that chat templates are written in: immutable nodes without positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

# --- expressions ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """A string, integer, float, ``true``, ``false`` or ``none``."""

    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, a loop target, a macro or a global function."""

    name: str


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """``[a, b]``, or the tuple ``(a, b)``."""

    items: tuple[Expression, ...]
    is_tuple: bool = False


@dataclass(frozen=True, slots=True)
class DictLiteral:
    """``{'key': value}``."""

    items: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True, slots=True)
class Attribute:
    """``value.name``."""

    value: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Item:
    """``value[key]``."""

    value: Expression
    key: Expression


@dataclass(frozen=True, slots=True)
class Slice:
    """``value[start:stop:step]``."""

    value: Expression
    start: Expression | None = None
    stop: Expression | None = None
    step: Expression | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """``value|name(arguments, keyword=value)``."""

    value: Expression
    name: str
    arguments: tuple[Expression, ...] = ()
    keywords: tuple[tuple[str, Expression], ...] = ()


@dataclass(frozen=True, slots=True)
class Test:
    """``value is name(arguments)`` or, negated, ``value is not name(arguments)``."""

    __test__ = False

    value: Expression
    name: str
    negated: bool = False
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """``function(arguments, keyword=value)``; a method call has an Attribute as its function.

    ``*value`` and ``**value`` are keywords with the names ``*`` and ``**``.
    """

    function: Expression
    arguments: tuple[Expression, ...] = ()
    keywords: tuple[tuple[str, Expression], ...] = ()


@dataclass(frozen=True, slots=True)
class Not:
    """``not value``."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Negative:
    """``-value``; a negative number is a literal."""

    value: Expression


@dataclass(frozen=True, slots=True)
class And:
    """``a and b and …``; two operands or more."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """``a or b or …``; two operands or more."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands with a comparison (``==``, ``<``, ``in``, …) or arithmetic operator between them."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Concat:
    """``a ~ b ~ …``; two operands or more."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Conditional:
    """``value if test else otherwise``."""

    test: Expression
    value: Expression
    otherwise: Expression


Expression: TypeAlias = (
    Literal
    | Name
    | ListLiteral
    | DictLiteral
    | Attribute
    | Item
    | Slice
    | Filter
    | Test
    | Call
    | Not
    | Negative
    | And
    | Or
    | Binary
    | Concat
    | Conditional
)


# --- statements -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Output:
    """What is printed, piece after piece; constant pieces are string literals."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class If:
    """A conditional; an ``elif`` is an If that is alone in ``orelse``."""

    test: Expression
    body: Body
    orelse: Body = ()


@dataclass(frozen=True, slots=True)
class For:
    """A loop over a list, or over pairs with two targets; ``condition`` filters the items."""

    targets: tuple[Name, ...]
    iterable: Expression
    body: Body
    orelse: Body = ()
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Set:
    """``{% set target = value %}``; the target is a name, an attribute of a namespace, or several names."""

    target: Name | Attribute | tuple[Name, ...]
    value: Expression


@dataclass(frozen=True, slots=True)
class SetBlock:
    """``{% set target %} … {% endset %}``: the printed body as a string."""

    target: Name | Attribute
    body: Body


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro; the last of its parameters have the defaults."""

    name: str
    parameters: tuple[str, ...]
    body: Body
    defaults: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """A body with variables of its own, such as that of ``{% generation %}``."""

    body: Body


@dataclass(frozen=True, slots=True)
class Break:
    """``{% break %}``."""


@dataclass(frozen=True, slots=True)
class Continue:
    """``{% continue %}``."""


@dataclass(frozen=True, slots=True)
class Comment:
    """``{#- text -#}``."""

    text: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Jinja source that is written as it stands, line by line, at the indentation of its place."""

    source: str


Statement: TypeAlias = (
    Output | If | For | Set | SetBlock | Macro | Scope | Break | Continue | Comment | Verbatim
)
Body: TypeAlias = tuple[Statement, ...]

TRUE = Literal(True)
FALSE = Literal(False)
EMPTY = Literal("")
