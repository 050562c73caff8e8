"""The tree of a Go template: immutable nodes that keep position, spacing, comments and trim markers.

The node types and their names follow Go's ``text/template/parse``. A template that was parsed prints back
to the text it came from; a tree that was built by hand prints in one canonical style.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from transplate.source import Source, Span

NOWHERE = Span(0, 0)
"""The span of a node that was made, not parsed."""


@dataclass(frozen=True, slots=True)
class Clause:
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


@dataclass(frozen=True, slots=True)
class Dot:
    """The cursor, ``.``."""

    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Nil:
    """The untyped constant ``nil``."""

    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Bool:
    """``true`` or ``false``."""

    value: bool
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Number:
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


@dataclass(frozen=True, slots=True)
class String:
    """A quoted or raw string constant.

    Attributes:
        text: The constant as written, quotes included.
        value: Its value; a byte that is part of no valid UTF-8 is a surrogate escape (U+DC80 to U+DCFF).
    """

    text: str
    value: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Field:
    """A chain of fields of dot, ``.Function.Name``; ``names`` holds the names without their dots."""

    names: tuple[str, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable with any fields behind it, ``$message.Role``; ``name`` has its dollar sign."""

    name: str
    fields: tuple[str, ...] = ()
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Identifier:
    """The name of a function."""

    name: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Chain:
    """Fields of a parenthesised pipeline or of a function's result, ``(index .Messages 0).Role``."""

    operand: Operand
    fields: tuple[str, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Command:
    """Operands side by side: a single value, or a function or method with its arguments."""

    operands: tuple[Operand, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Pipeline:
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


@dataclass(frozen=True, slots=True)
class Text:
    """Text outside of actions.

    Attributes:
        raw: The text as written.
        value: What is printed: ``raw`` without the white space that neighbouring trim markers remove.
    """

    raw: str
    value: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Comment:
    """``{{/* … */}}``; ``text`` is the comment with its slashes and stars."""

    text: str
    clause: Clause = Clause()


@dataclass(frozen=True, slots=True)
class Action:
    """A pipeline whose value is printed, unless it declares or assigns a variable."""

    pipeline: Pipeline
    clause: Clause = Clause()


@dataclass(frozen=True, slots=True)
class Else:
    """The ``{{else}}`` of an if, with or range, and what follows it."""

    body: Body
    clause: Clause = Clause()


@dataclass(frozen=True, slots=True)
class If:
    """A conditional; a chained ``{{else if}}`` is an If in ``orelse`` that has no ``end`` of its own."""

    pipeline: Pipeline
    body: Body
    orelse: Else | If | None = None
    clause: Clause = Clause()
    end: Clause | None = Clause()


@dataclass(frozen=True, slots=True)
class With:
    """A conditional that sets dot; ``{{else with}}`` is a With in ``orelse`` without its own ``end``."""

    pipeline: Pipeline
    body: Body
    orelse: Else | With | None = None
    clause: Clause = Clause()
    end: Clause | None = Clause()


@dataclass(frozen=True, slots=True)
class Range:
    """A loop; its pipeline may declare or assign one or two variables."""

    pipeline: Pipeline
    body: Body
    orelse: Else | None = None
    clause: Clause = Clause()
    end: Clause = Clause()


@dataclass(frozen=True, slots=True)
class Break:
    """``{{break}}``."""

    clause: Clause = Clause()


@dataclass(frozen=True, slots=True)
class Continue:
    """``{{continue}}``."""

    clause: Clause = Clause()


@dataclass(frozen=True, slots=True)
class TemplateCall:
    """``{{template "name" pipeline}}``; ``name`` is the string constant with the template's name."""

    name: String
    pipeline: Pipeline | None = None
    clause: Clause = Clause()


@dataclass(frozen=True, slots=True)
class Define:
    """``{{define "name"}} … {{end}}``, at the top level only; prints nothing where it stands."""

    name: String
    body: Body
    clause: Clause = Clause()
    end: Clause = Clause()


@dataclass(frozen=True, slots=True)
class Block:
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
