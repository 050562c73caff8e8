"""Text of a template in, its tree or Go's own syntax error out.

An LALR automaton, whose tables Lark builds from ``grammar/gotmpl.lark``, decides what is syntax; the
functions here make the nodes, and check what no grammar can: names, scopes and literals. A reduction that
needs no look-ahead is made at once, so that a fault is found when Go finds it: before it reads on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from transplate.errors import ErrorKind, TemplateSyntaxError
from transplate.gotmpl.faults import Fault, refusal, undefined_variable
from transplate.gotmpl.grammar import load_tables
from transplate.gotmpl.lexer import Token, TooManyTokens, tokenize
from transplate.gotmpl.literals import LiteralError, parse_number, unquote
from transplate.gotmpl.names import BUILTIN_NAMES
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
    Nil,
    Number,
    Pipeline,
    Range,
    String,
    TemplateCall,
    TemplateTree,
    Text,
    Variable,
    With,
)
from transplate.gotmpl.quoting import from_bytes, quote, to_bytes
from transplate.gotmpl.scopes import Scopes
from transplate.limits import DEFAULT_LIMITS, Limits
from transplate.source import Source, Span

_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_NOT_EXECUTABLE = (Bool, Dot, Nil, Number, String)


def parse(
    source: Source | str,
    *,
    name: str = "",
    functions: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> TemplateTree:
    """Read a template.

    Args:
        source: The template. A byte that is no UTF-8 is a surrogate escape; any other lone surrogate is read
            as U+FFFD, which is what JSON makes of it in Go.
        name: The name of the template that the file is, as ``template.New`` is given it.
        functions: The names of the functions it may call besides Go's builtins.
        limits: The bounds on the length of the source and on its tokens.

    Raises:
        TemplateSyntaxError: Go refuses the template; the message is Go's. Or it is longer than the limit.
    """
    if isinstance(source, str):
        source = Source(source, name)
    if len(source.text) > limits.source:
        message = f"the template is longer than {limits.source} characters (limit: source)"
        raise TemplateSyntaxError(message, kind=ErrorKind.LIMIT, source=source, offset=limits.source)
    source = _as_go_reads(source)
    try:
        return _run(_Reading(source, name, functions, limits.tokens))
    except TooManyTokens as reached:
        message = f"the template has more than {limits.tokens} tokens (limit: source)"
        raise TemplateSyntaxError(
            message, kind=ErrorKind.LIMIT, source=source, offset=reached.offset
        ) from None
    except Fault as fault:
        line = source.position(fault.furthest).line
        message = f"template: {name}:{line}: {_SURROGATE.sub(chr(0xFFFD), fault.message)}"
        raise TemplateSyntaxError(message, source=source, offset=fault.offset) from None


def is_empty(body: Body) -> bool:
    """Return whether a body holds nothing but white space, comments and definitions (``IsEmptyTree``)."""
    return all(
        isinstance(item, Comment | Define) or (isinstance(item, Text) and not item.value.strip(_WHITE_SPACE))
        for item in body
    )


def _as_go_reads(source: Source) -> Source:
    """Return the source with each character in the one form that bytes have here."""
    if source.text.isascii() or _SURROGATE.search(source.text) is None:
        return source
    text = from_bytes(to_bytes(_NO_BYTE.sub("\ufffd", source.text)))
    return source if text == source.text else Source(text, source.name)


class _Reading:
    """The state of reading one template.

    Attributes:
        source: What is read.
        name: The name of the template that the file is.
        tokens: Its tokens.
        index: Which of them the parser has come to; Go has read as far.
        functions: The names that may be called.
        scopes: Open blocks and known variables.
        templates: What has been defined.
    """

    def __init__(self, source: Source, name: str, functions: Collection[str], most: int) -> None:
        self.source = source
        self.name = name
        self.tokens = tokenize(source.text, functions, most=most)
        self.index = 0
        self.functions = BUILTIN_NAMES.union(functions)
        self.scopes = Scopes()
        self.templates: dict[str, Body] = {}

    @property
    def furthest(self) -> int:
        """The offset of the token that the parser has come to."""
        return self.tokens[self.index].start

    def add(self, name: String, body: Body) -> None:
        """Keep the body of a definition, unless it is empty and the name has another."""
        known = self.templates.get(name.value)
        if known is None or is_empty(known):
            self.templates[name.value] = body
        elif not is_empty(body):
            raise _redefinition(name.value, name.span.start, self.furthest)


def _redefinition(name: str, offset: int, furthest: int) -> Fault:
    return Fault(f"template: multiple definition of template {quote(name)}", offset, furthest)


# --- the nodes: one function for each rule of the grammar, from the values of its symbols ------------------


class _Head(NamedTuple):
    """The clause that begins a block or an else: ``{{if pipeline}}``, ``{{define name}}``, ``{{else}}``."""

    clause: Clause
    pipeline: Pipeline | None = None
    name: String | None = None


class _ChainedElse(NamedTuple):
    """An ``{{else if}}`` or ``{{else with}}`` with its body."""

    head: _Head
    body: Body


def _span(token: Token) -> Span:
    return Span(token.start, token.end)


def _file(reading: _Reading, children: list[Any]) -> TemplateTree:
    body = tuple(children)
    name, templates = reading.name, reading.templates
    if is_empty(templates.get(name, ())):
        templates.pop(name, None)
    elif not is_empty(body):
        raise _redefinition(name, reading.furthest, reading.furthest)
    return TemplateTree(body, templates, reading.source, name)


def _list(_reading: _Reading, children: list[Any]) -> Body:
    return tuple(children)


def _text(_reading: _Reading, children: list[Any]) -> Text:
    (token,) = children
    return Text(token.text, token.value, _span(token))


def _comment(_reading: _Reading, children: list[Any]) -> Comment:
    (token,) = children
    return Comment(token.text, token.value)


def _action(reading: _Reading, children: list[Any]) -> Action:
    _, pipeline, delimiter = children
    reading.scopes.end_action()
    return Action(pipeline, delimiter.value)


def _pipeline_clause(kind: str) -> _Maker:
    """Return the maker of the clause that opens an if or with."""

    def make(reading: _Reading, children: list[Any]) -> _Head:
        opener, pipeline, delimiter = children
        reading.scopes.open(kind, opener.start, delimiter.start)
        return _Head(delimiter.value, pipeline)

    return make


def _chained_else_clause(reading: _Reading, children: list[Any]) -> _Head:
    _, pipeline, delimiter = children
    reading.scopes.end_action()
    return _Head(delimiter.value, pipeline)


def _chained_else(_reading: _Reading, children: list[Any]) -> _ChainedElse:
    head, body = children
    return _ChainedElse(head, body)


def _conditional(node: type[If] | type[With]) -> _Maker:
    """Return the maker of an if or with, whose chained elses lie inside one another."""

    def make(_reading: _Reading, children: list[Any]) -> If | With:
        head, body, *rest, end = children
        orelse = rest.pop() if rest and isinstance(rest[-1], Else) else None
        for chained in reversed(rest):
            orelse = node(chained.head.pipeline, chained.body, orelse, chained.head.clause, None)
        return node(head.pipeline, body, orelse, head.clause, end)

    return make


def _range_clause(reading: _Reading, children: list[Any]) -> _Head:
    opener, *index, pipeline, delimiter = children
    if index:
        (variable,) = index
        pipeline = Pipeline(
            pipeline.commands,
            (variable, *pipeline.declarations),
            is_assignment=pipeline.is_assignment,
            trailing_pipe=pipeline.trailing_pipe,
            comma_only=not pipeline.declarations,
            span=Span(variable.span.start, pipeline.span.end),
        )
    reading.scopes.open("range", opener.start, delimiter.start)
    return _Head(delimiter.value, pipeline)


def _index_variable(reading: _Reading, children: list[Any]) -> Variable:
    token, _ = children
    following = reading.tokens[reading.index + 1]
    if following.type not in ("VARIABLE", "RIGHT_DELIM", "RIGHT_PAREN"):
        raise Fault("range can only initialize variables", following.start)
    reading.scopes.declare(token.text)
    return Variable(token.text, (), _span(token))


def _range(_reading: _Reading, children: list[Any]) -> Range:
    head, body, *orelse, end = children
    return Range(head.pipeline, body, orelse[0] if orelse else None, head.clause, end)


def _else_clause(reading: _Reading, children: list[Any]) -> Clause:
    _, delimiter = children
    reading.scopes.begin_else()
    clause: Clause = delimiter.value
    return clause


def _else(_reading: _Reading, children: list[Any]) -> Else:
    clause, body = children
    return Else(body, clause)


def _end(reading: _Reading, children: list[Any]) -> Clause:
    _, delimiter = children
    reading.scopes.close()
    clause: Clause = delimiter.value
    return clause


def _define_clause(reading: _Reading, children: list[Any]) -> _Head:
    opener, name, delimiter = children
    reading.scopes.open("define", opener.start, delimiter.start)
    return _Head(delimiter.value, name=name)


def _define(reading: _Reading, children: list[Any]) -> Define:
    head, body, end = children
    reading.add(head.name, body)
    return Define(head.name, body, head.clause, end)


def _block_clause(reading: _Reading, children: list[Any]) -> _Head:
    opener, name, pipeline, delimiter = children
    reading.scopes.open("block", opener.start, delimiter.start)
    return _Head(delimiter.value, pipeline, name)


def _block(reading: _Reading, children: list[Any]) -> Block:
    head, body, end = children
    reading.add(head.name, body)
    return Block(head.name, head.pipeline, body, head.clause, end)


def _template(reading: _Reading, children: list[Any]) -> TemplateCall:
    _, name, *pipeline, delimiter = children
    reading.scopes.end_action()
    return TemplateCall(name, pipeline[0] if pipeline else None, delimiter.value)


def _loop_control(node: type[Break] | type[Continue], keyword: str) -> _Maker:
    """Return the maker of a break or continue."""

    def make(reading: _Reading, children: list[Any]) -> Break | Continue:
        opener, delimiter = children
        if not reading.scopes.in_loop:
            raise Fault(f"{{{{{keyword}}}}} outside {{{{range}}}}", opener.value, delimiter.start)
        return node(delimiter.value)

    return make


def _pipeline(reading: _Reading, children: list[Any]) -> Pipeline:
    declaration = children[0] if isinstance(children[0], _Declaration) else None
    commands = tuple(child for child in children if isinstance(child, Command))
    for stage, command in enumerate(commands[1:], 2):
        if isinstance(command.operands[0], _NOT_EXECUTABLE):
            message = f"non executable command in pipeline stage {stage}"
            raise Fault(message, command.span.start, reading.furthest)
    last = children[-1]
    return Pipeline(
        commands,
        (declaration.variable,) if declaration else (),
        is_assignment=declaration is not None and declaration.is_assignment,
        trailing_pipe=isinstance(last, Token),
        span=Span(
            (declaration.variable if declaration else commands[0]).span.start,
            last.end if isinstance(last, Token) else last.span.end,
        ),
    )


class _Declaration(NamedTuple):
    """The variable at the beginning of a pipeline that receives its value."""

    variable: Variable
    is_assignment: bool


def _declaration(reading: _Reading, children: list[Any]) -> _Declaration:
    token, sign = children
    reading.scopes.declare(token.text)
    return _Declaration(Variable(token.text, (), _span(token)), sign.type == "ASSIGN")


def _command(_reading: _Reading, children: list[Any]) -> Command:
    return Command(tuple(children), Span(children[0].span.start, children[-1].span.end))


def _chain(_reading: _Reading, children: list[Any]) -> Chain | Variable:
    operand, token = children
    span = Span(operand.span.start, token.end)
    names = tuple(token.text[1:].split("."))
    if isinstance(operand, Variable):
        return Variable(operand.name, names, span)
    return Chain(operand, names, span)


def _parenthesized(_reading: _Reading, children: list[Any]) -> Pipeline:
    opening, inside, closing = children
    return Pipeline(
        inside.commands,
        inside.declarations,
        is_assignment=inside.is_assignment,
        trailing_pipe=inside.trailing_pipe,
        span=Span(opening.start, closing.end),
    )


def _dot(_reading: _Reading, children: list[Any]) -> Dot:
    return Dot(_span(children[0]))


def _nil(_reading: _Reading, children: list[Any]) -> Nil:
    return Nil(_span(children[0]))


def _bool(_reading: _Reading, children: list[Any]) -> Bool:
    (token,) = children
    return Bool(token.text == "true", _span(token))


def _number(_reading: _Reading, children: list[Any]) -> Number:
    (token,) = children
    try:
        return Number(token.text, parse_number(token.text), _span(token))
    except LiteralError as error:
        raise Fault(str(error), token.start) from None


def _string(_reading: _Reading, children: list[Any]) -> String:
    (token,) = children
    try:
        return String(token.text, unquote(token.text), _span(token))
    except LiteralError as error:
        raise Fault(str(error), token.start) from None


def _field(_reading: _Reading, children: list[Any]) -> Field:
    (token,) = children
    return Field(tuple(token.text[1:].split(".")), _span(token))


def _variable(reading: _Reading, children: list[Any]) -> Variable:
    (token,) = children
    if not reading.scopes.knows(token.text):
        raise undefined_variable(token, reading.furthest)
    return Variable(token.text, (), _span(token))


def _function(reading: _Reading, children: list[Any]) -> Identifier:
    (token,) = children
    if token.text not in reading.functions:
        raise Fault(f"function {quote(token.text)} not defined", token.start)
    return Identifier(token.text, _span(token))


_Maker: TypeAlias = Callable[[_Reading, list[Any]], Any]

_MAKERS: dict[str, _Maker] = {
    "file": _file,
    "list": _list,
    "text": _text,
    "comment": _comment,
    "action": _action,
    "if": _conditional(If),
    "if_clause": _pipeline_clause("if"),
    "else_if": _chained_else,
    "else_if_clause": _chained_else_clause,
    "with": _conditional(With),
    "with_clause": _pipeline_clause("with"),
    "else_with": _chained_else,
    "else_with_clause": _chained_else_clause,
    "range": _range,
    "range_clause": _range_clause,
    "index_variable": _index_variable,
    "else": _else,
    "else_clause": _else_clause,
    "end": _end,
    "define": _define,
    "define_clause": _define_clause,
    "block": _block,
    "block_clause": _block_clause,
    "template": _template,
    "name": _string,
    "break": _loop_control(Break, "break"),
    "continue": _loop_control(Continue, "continue"),
    "pipeline": _pipeline,
    "declaration": _declaration,
    "command": _command,
    "chain": _chain,
    "parenthesized": _parenthesized,
    "dot": _dot,
    "nil": _nil,
    "bool": _bool,
    "number": _number,
    "string": _string,
    "field": _field,
    "variable": _variable,
    "function": _function,
}


# --- the automaton ----------------------------------------------------------------------------------------


class _Rule(NamedTuple):
    """A rule as the parser uses it.

    Attributes:
        name: What it makes.
        size: How many symbols it is made of.
        make: Makes its value; None for a part of a rule, whose value is a list that joins its whole's.
        parts: Which of its symbols are such parts.
    """

    name: str
    size: int
    make: _Maker | None
    parts: tuple[int, ...]


@cache
def _automaton() -> tuple[list[_Rule], list[dict[str, int]], list[int], int, int]:
    """Return the rules, the actions by state, the rule of each state that only reduces, start and end."""
    tables = load_tables()
    rules = [
        _Rule(
            name,
            len(symbols),
            None if name.startswith("_") else _MAKERS[name],
            tuple(index for index, symbol in enumerate(symbols) if symbol.startswith("_")),
        )
        for name, symbols in tables.rules
    ]
    rows = [{} if isinstance(row, int) else row for row in tables.states]
    only = [row if isinstance(row, int) else -1 for row in tables.states]
    return rules, rows, only, tables.start, tables.end


def _run(reading: _Reading) -> TemplateTree:
    """Drive the automaton over the tokens, and return the value of its start rule."""
    rules, rows, only, state, end = _automaton()
    states = [state]
    values: list[Any] = []

    def reduce(number: int) -> int:
        """Reduce by a rule, and by all that follow without looking ahead; return the state after that."""
        while True:
            name, size, make, parts = rules[number]
            children: list[Any] = []
            if size:
                children = values[-size:]
                del values[-size:], states[-size:]
                if parts:
                    children = _joined(children, parts)
            values.append(children if make is None else make(reading, children))
            state = rows[states[-1]][name]
            states.append(state)
            number = only[state]
            if number < 0:
                return state

    for index, token in enumerate(reading.tokens):
        reading.index = index
        kind = token.type
        while (action := rows[state].get(kind)) is None or action < 0:
            if action is None:
                raise refusal(reading.tokens, index, reading.scopes, reading.source, reading.name)
            state = reduce(~action)
            if state == end:
                break
        else:
            values.append(token)
            states.append(action)
            state = action if only[action] < 0 else reduce(only[action])
    tree: TemplateTree = values[-1]
    return tree


def _joined(children: list[Any], parts: tuple[int, ...]) -> list[Any]:
    """Return the values of a rule's symbols, those of parts joined in; a part in front is extended."""
    joined: list[Any] = children[0] if parts[0] == 0 else [children[0]]
    for index in range(1, len(children)):
        if index in parts:
            joined.extend(children[index])
        else:
            joined.append(children[index])
    return joined
