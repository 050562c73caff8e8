"""A tree in, the text of its template out: as it was written, canonically, or as Go's errors show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from transplate.gotmpl.nodes import (
    Action,
    Block,
    Body,
    Bool,
    Break,
    Chain,
    Clause,
    Command,
    Comment,
    Continue,
    Define,
    Dot,
    Else,
    Field,
    Identifier,
    If,
    Item,
    Nil,
    Number,
    Operand,
    Pipeline,
    Range,
    String,
    TemplateCall,
    TemplateTree,
    Text,
    Variable,
    With,
)
from transplate.gotmpl.quoting import quote

Node: TypeAlias = Item | Command | Operand

_WHITE_SPACE = " \t\r\n"


class _Piece(NamedTuple):
    """A token of an action.

    Attributes:
        text: The token.
        tight: Whether the canonical style has no space in front of it.
    """

    text: str
    tight: bool = False


def print_template(template: TemplateTree | Body) -> str:
    """Return the source of a template.

    A tree that was parsed prints back to its source. A clause whose spacing is None, or does not fit its
    tokens because the tree was changed, prints in the canonical style: ``{{ if eq .X 1 }}``.
    """
    printed: list[str] = []
    # What is still to print, the next part last. Nothing recurses: blocks may lie thousands deep.
    pending: list[Item | Else | str] = []
    pending.extend(reversed(template.body if isinstance(template, TemplateTree) else template))
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            printed.append(part)
            continue
        if isinstance(part, Text):
            printed.append(part.raw)
            continue
        printed.append(_print_clause(part.clause, _clause_pieces(part)))
        if not isinstance(part, Comment | Action | TemplateCall | Break | Continue):
            rest: list[Item | Else | str] = [*part.body]
            if isinstance(part, If | With | Range) and part.orelse is not None:
                rest.append(part.orelse)
            if not isinstance(part, Else) and part.end is not None:
                rest.append(_print_clause(part.end, [_Piece("end")]))
            pending.extend(reversed(rest))
    return "".join(printed)


def print_node(node: Node) -> str:
    """Return a node as Go prints it in its execution errors (``parse.Node.String``).

    That is without comments, definitions, trim markers and the pipe that ends a pipeline, and with what is
    written in short written out: an ``{{else if}}`` is an if inside an else, a block a call of its template.
    """
    printed: list[str] = []
    pending: list[Node | str] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            printed.append(part)
        elif isinstance(part, Text):
            printed.append(part.value)
        elif isinstance(part, Action):
            printed.append(f"{{{{{_print_operand(part.pipeline)}}}}}")
        elif isinstance(part, If | With | Range):
            keyword = type(part).__name__.lower()
            pending.append("{{end}}")
            if part.orelse is not None:
                orelse = part.orelse
                pending.extend(reversed(orelse.body if isinstance(orelse, Else) else (orelse,)))
                pending.append("{{else}}")
            pending.extend(reversed(part.body))
            pending.append(f"{{{{{keyword} {_print_operand(part.pipeline)}}}}}")
        elif isinstance(part, TemplateCall | Block):
            dot = f" {_print_operand(part.pipeline)}" if part.pipeline is not None else ""
            printed.append(f"{{{{template {quote(part.name.value)}{dot}}}}}")
        elif isinstance(part, Break):
            printed.append("{{break}}")
        elif isinstance(part, Continue):
            printed.append("{{continue}}")
        elif not isinstance(part, Comment | Define):
            printed.append(_print_operand(part))
    return "".join(printed)


def _print_operand(node: Command | Operand) -> str:
    return _canonical(list(_pieces(node, as_go=True)))


def _clause_pieces(part: Item | Else) -> list[_Piece]:
    """Return the tokens of the clause that an action consists of or begins with."""
    if isinstance(part, Comment):
        return [_Piece(part.text, tight=True)]
    pieces = [_Piece(word) for word in _keywords(part)]
    if isinstance(part, TemplateCall | Define | Block):
        pieces.append(_Piece(part.name.text))
    if isinstance(part, Action | If | With | Range | TemplateCall | Block) and part.pipeline is not None:
        pieces.extend(_pieces(part.pipeline, as_go=False))
    return pieces


def _keywords(part: Item | Else) -> tuple[str, ...]:
    """Return the keywords that an action begins with; a chained if or with is one without an end."""
    if isinstance(part, If):
        return ("if",) if part.end is not None else ("else", "if")
    if isinstance(part, With):
        return ("with",) if part.end is not None else ("else", "with")
    if isinstance(part, TemplateCall):
        return ("template",)
    return () if isinstance(part, Action) else (type(part).__name__.lower(),)


def _pieces(node: Command | Operand, *, as_go: bool) -> Iterator[_Piece]:
    """Yield the tokens of a pipeline without parentheses around it, a command or an operand."""
    pending: list[Command | Operand | _Piece] = [node]
    if isinstance(node, Pipeline):
        pending = list(reversed(_pipeline_parts(node, as_go=as_go)))
    while pending:
        part = pending.pop()
        if isinstance(part, _Piece):
            yield part
        elif isinstance(part, Pipeline):
            pending.append(_Piece(")", tight=True))
            pending.extend(reversed(_pipeline_parts(part, as_go=as_go)))
            pending.append(_Piece("("))
        elif isinstance(part, Command):
            pending.extend(reversed(part.operands))
        elif isinstance(part, Chain):
            pending.append(_Piece(_fields(part.fields), tight=True))
            pending.append(part.operand)
        elif isinstance(part, Variable):
            yield _Piece(part.name)
            if part.fields:
                yield _Piece(_fields(part.fields), tight=True)
        else:
            yield _Piece(_print_term(part))


def _pipeline_parts(pipeline: Pipeline, *, as_go: bool) -> list[Command | Operand | _Piece]:
    """Return what a pipeline is made of; ``as_go`` drops what Go does not keep."""
    parts: list[Command | Operand | _Piece] = []
    for index, variable in enumerate(pipeline.declarations):
        if index:
            parts.append(_Piece(",", tight=True))
        parts.append(variable)
    if pipeline.comma_only and not as_go:
        parts.append(_Piece(",", tight=True))
    elif pipeline.declarations:
        parts.append(_Piece("=" if pipeline.is_assignment else ":="))
    for index, command in enumerate(pipeline.commands):
        if index:
            parts.append(_Piece("|"))
        parts.append(command)
    if pipeline.trailing_pipe and not as_go:
        parts.append(_Piece("|"))
    return parts


def _print_term(term: Dot | Nil | Bool | Number | String | Field | Identifier) -> str:
    if isinstance(term, Field):
        return _fields(term.names)
    if isinstance(term, Identifier):
        return term.name
    if isinstance(term, Number | String):
        return term.text
    if isinstance(term, Bool):
        return "true" if term.value else "false"
    return "." if isinstance(term, Dot) else "nil"


def _fields(names: tuple[str, ...]) -> str:
    return "".join(f".{name}" for name in names)


def _print_clause(clause: Clause, pieces: list[_Piece]) -> str:
    """Return an action with its delimiters."""
    left = "{{-" if clause.trim_left else "{{"
    right = "-}}" if clause.trim_right else "}}"
    spacing = clause.spacing
    if spacing is not None and _fits(clause, spacing, pieces):
        inside = "".join(space + piece.text for space, piece in zip(spacing, pieces, strict=False))
        return f"{left}{inside}{spacing[-1]}{right}"
    if pieces[0].tight:  # a comment
        return f"{left}{' ' * clause.trim_left}{pieces[0].text}{' ' * clause.trim_right}{right}"
    return f"{left} {_canonical(pieces)} {right}"


def _fits(clause: Clause, spacing: tuple[str, ...], pieces: list[_Piece]) -> bool:
    """Return whether spacing can stand between the tokens of a clause."""
    return (
        len(spacing) == len(pieces) + 1
        and (not clause.trim_left or spacing[0][:1] in {*_WHITE_SPACE})
        and (not clause.trim_right or spacing[-1][-1:] in {*_WHITE_SPACE})
    )


def _canonical(pieces: list[_Piece]) -> str:
    """Return tokens with single spaces between them, but none inside parentheses and before fields."""
    printed: list[str] = []
    tight = True
    for piece in pieces:
        if not tight and not piece.tight:
            printed.append(" ")
        printed.append(piece.text)
        tight = piece.text == "("
    return "".join(printed)
