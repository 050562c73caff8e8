"""The tree of a Go template: immutable nodes that keep position, spacing, comments and trim markers.

The node types and their names follow Go's ``text/template/parse``. A template that was parsed prints back
to the text it came from; a tree that was built by hand prints in one canonical style.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from transplate.source import Source, Span

NOWHERE = Span(0, 0)
"""The span of a node that was made, not parsed."""


class _Node:
    """What all nodes share: equality by content, without recursion, since blocks may lie thousands deep.

    One implementation for all also makes the classes faster to import than generated ones.
    """

    __slots__: tuple[str, ...] = ()

    def _values(self) -> list[Any]:
        return [getattr(self, name) for name in self.__slots__]

    def __eq__(self, other: object) -> bool:
        pending: list[tuple[Any, Any]] = [(self, other)]
        while pending:
            one, another = pending.pop()
            if isinstance(one, _Node) and type(one) is type(another):
                pending.extend(zip(one._values(), another._values(), strict=True))
            elif isinstance(one, tuple) and isinstance(another, tuple) and len(one) == len(another):
                pending.extend(zip(one, another, strict=True))
            elif isinstance(one, _Node) or one != another:
                return False
        return True

    def __hash__(self) -> int:
        plain = (value for value in self._values() if isinstance(value, str | int | float | complex | Span))
        return hash((type(self), *plain))

    def __repr__(self) -> str:
        values = zip(self.__slots__, self._values(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in values)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Clause(_Node):
    """The delimiters of one action: everything between and around its tokens that is not a token.

    Attributes:
        span: From the first ``{`` to behind the last ``}``.
        trim_left: Whether the action opens with ``{{-``.
        trim_right: Whether the action closes with ``-}}``.
        spacing: The white space in front of each token of the action and in front of its closing
            delimiter, in order; None where the canonical spacing applies. A trim marker's own obligatory
            white space counts as part of this spacing.
    """

    span: Span = NOWHERE
    trim_left: bool = False
    trim_right: bool = False
    spacing: tuple[str, ...] | None = None


# --- operands -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dot(_Node):
    """The cursor, ``.``."""

    span: Span = NOWHERE


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Nil(_Node):
    """The untyped constant ``nil``."""

    span: Span = NOWHERE


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bool(_Node):
    """``true`` or ``false``."""

    value: bool
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Number(_Node):
    """A numeric constant, character constants and complex numbers included.

    Attributes:
        text: The constant as written.
        value: What the constant is where no other type asks for it (Go's ``idealConstant``): an int, a
            float for a float64, a complex for a complex128. An integer that overflows Go's int keeps its
            exact value.
    """

    text: str
    value: int | float | complex
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class String(_Node):
    """A quoted or raw string constant.

    Attributes:
        text: The constant as written, quotes included.
        value: Its value; a byte that is part of no valid UTF-8 is a surrogate escape (U+DC80 to U+DCFF).
    """

    text: str
    value: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Field(_Node):
    """A chain of fields of dot, ``.Function.Name``; ``names`` holds the names without their dots."""

    names: tuple[str, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Variable(_Node):
    """A variable with any fields behind it, ``$message.Role``; ``name`` has its dollar sign."""

    name: str
    fields: tuple[str, ...] = ()
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Identifier(_Node):
    """The name of a function."""

    name: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chain(_Node):
    """Fields of a parenthesised pipeline or of a function's result, ``(index .Messages 0).Role``."""

    operand: Operand
    fields: tuple[str, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Command(_Node):
    """Operands side by side: a single value, or a function or method with its arguments."""

    operands: tuple[Operand, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pipeline(_Node):
    """Commands joined by ``|``; as an operand, a pipeline in parentheses.

    Attributes:
        commands: One or more commands, each given the result of the one before as its last argument.
        declarations: The variables that receive the value (for a range: index and element).
        is_assignment: Whether the variables are assigned with ``=`` and not declared with ``:=``.
        trailing_pipe: Whether a ``|`` with nothing behind it ends the pipeline, which Go accepts.
        comma_only: Whether a range names its one variable with a comma and no ``:=``, as in
            ``{{range $i, $v}}``, which means the same as ``{{range $i := $v}}``.
    """

    commands: tuple[Command, ...]
    declarations: tuple[Variable, ...] = ()
    is_assignment: bool = False
    trailing_pipe: bool = False
    comma_only: bool = False
    span: Span = NOWHERE


Operand: TypeAlias = Dot | Nil | Bool | Number | String | Field | Variable | Identifier | Chain | Pipeline


# --- items ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Text(_Node):
    """Text outside of actions.

    Attributes:
        raw: The text as written.
        value: What is printed: ``raw`` without the white space that neighbouring trim markers remove.
    """

    raw: str
    value: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comment(_Node):
    """``{{/* … */}}``; ``text`` is the comment with its slashes and stars."""

    text: str
    clause: Clause = Clause()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Action(_Node):
    """A pipeline whose value is printed, unless it declares or assigns a variable."""

    pipeline: Pipeline
    clause: Clause = Clause()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Else(_Node):
    """The ``{{else}}`` of an if, with or range, and what follows it."""

    body: Body
    clause: Clause = Clause()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class If(_Node):
    """A conditional; a chained ``{{else if}}`` is an If in ``orelse`` that has no ``end`` of its own."""

    pipeline: Pipeline
    body: Body
    orelse: Else | If | None = None
    clause: Clause = Clause()
    end: Clause | None = Clause()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class With(_Node):
    """A conditional that sets dot; ``{{else with}}`` is a With in ``orelse`` without its own ``end``."""

    pipeline: Pipeline
    body: Body
    orelse: Else | With | None = None
    clause: Clause = Clause()
    end: Clause | None = Clause()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Range(_Node):
    """A loop; its pipeline may declare or assign one or two variables."""

    pipeline: Pipeline
    body: Body
    orelse: Else | None = None
    clause: Clause = Clause()
    end: Clause = Clause()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Break(_Node):
    """``{{break}}``."""

    clause: Clause = Clause()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Continue(_Node):
    """``{{continue}}``."""

    clause: Clause = Clause()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TemplateCall(_Node):
    """``{{template "name" pipeline}}``; ``name`` is the string constant with the template's name."""

    name: String
    pipeline: Pipeline | None = None
    clause: Clause = Clause()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Define(_Node):
    """``{{define "name"}} … {{end}}``, at the top level only; prints nothing where it stands."""

    name: String
    body: Body
    clause: Clause = Clause()
    end: Clause = Clause()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Block(_Node):
    """``{{block "name" pipeline}} … {{end}}``: a define and a call of it in one."""

    name: String
    pipeline: Pipeline
    body: Body
    clause: Clause = Clause()
    end: Clause = Clause()


Item: TypeAlias = (
    Text | Comment | Action | If | With | Range | Break | Continue | TemplateCall | Define | Block
)
Body: TypeAlias = tuple[Item, ...]
Branch: TypeAlias = If | With | Range


@dataclass(frozen=True, slots=True, eq=False)
class TemplateTree:
    """A whole parsed template file.

    Attributes:
        body: The items of the file in order, defines included.
        templates: Every associated template that the file defines, by name, in the order in which Go adds
            them (a block's body under the block's name too). The file's own body is not among them; but if
            that is empty and the file defines a template of its own name, then this one takes its place.
        source: The text that was parsed.
        name: The name of the template that the file is; empty for Ollama.
    """

    body: Body
    templates: dict[str, Body]
    source: Source
    name: str = ""
