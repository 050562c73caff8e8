"""Pieces of Go's tree, written as Go and filled in: ``go("eq (len $list) 1", list=...)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from transplate.gotmpl.nodes import (
    Action,
    Body,
    Bool,
    Chain,
    Command,
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
    Text,
    Variable,
    With,
)
from transplate.gotmpl.parser import parse
from transplate.gotmpl.quoting import quote
from transplate.ollama.functions import FUNCTIONS

NONE: Operand = Pipeline((Command((Identifier("or"), Nil())),))
"""Python's None where Go wants a value that is nil: ``(or nil)``."""
UNDEFINED: Operand = Number("0i", 0j)
"""Jinja's undefined in a variable: false, and of a type that nothing else has."""

_PARAMETER = re.compile(r"\$([a-z_]\w*)")


def string(value: str) -> String:
    """Return a string constant."""
    return String(quote(value), value)


def number(value: int) -> Number:
    """Return an integer constant."""
    return Number(str(value), value)


def boolean(value: bool) -> Bool:
    """Return ``true`` or ``false``."""
    return Bool(value)


def call(function: str, *arguments: Operand) -> Pipeline:
    """Return a call of a function, as an operand."""
    return Pipeline((Command((Identifier(function), *arguments)),))


def action(operand: Operand) -> Action:
    """Return an action that prints an operand."""
    return Action(pipeline(operand))


def declare(variable: Variable, value: Operand) -> Action:
    """Return ``{{ $variable := value }}``."""
    return Action(Pipeline(pipeline(value).commands, (variable,)))


def assign(variable: Variable, value: Operand) -> Action:
    """Return ``{{ $variable = value }}``."""
    return Action(Pipeline(pipeline(value).commands, (variable,), is_assignment=True))


def pipeline(operand: Operand) -> Pipeline:
    """Return an operand as a pipeline of its own."""
    return operand if isinstance(operand, Pipeline) else Pipeline((Command((operand,)),))


def when(condition: Operand, body: Body, orelse: Body = ()) -> If:
    """Return an if; an else that is one if alone is chained."""
    if not orelse:
        return If(pipeline(condition), body)
    if len(orelse) == 1 and isinstance(orelse[0], If):
        inner = orelse[0]
        chained = If(inner.pipeline, inner.body, inner.orelse, end=None)
        return If(pipeline(condition), body, chained)
    return If(pipeline(condition), body, Else(orelse))


def field(operand: Operand, *names: str) -> Operand:
    """Return a field of an operand."""
    if isinstance(operand, Variable):
        return Variable(operand.name, operand.fields + names)
    if isinstance(operand, Field):
        return Field(operand.names + names)
    if isinstance(operand, Chain):
        return Chain(operand.operand, operand.fields + names)
    return Chain(operand, names)


def go(text: str, **operands: Operand) -> Operand:
    """Return an expression written as Go, with operands in the place of its variables."""
    found = _expression(text, tuple(operands))
    made = _filled(found, operands)
    if isinstance(made, Pipeline) and len(made.commands) == 1 and len(made.commands[0].operands) == 1:
        return made.commands[0].operands[0]
    return made


def statements(text: str, fresh: Callable[[str], Variable], **operands: Operand) -> Body:
    """Return statements written as Go.

    Args:
        text: The statements.
        fresh: Gives a new variable for a name; called for each variable that the text declares.
        operands: What stands for the other variables.
    """
    names = dict.fromkeys(_PARAMETER.findall(text))
    filled = {name: operands[name] if name in operands else fresh(name) for name in names}
    return tuple(_filled_item(item, filled) for item in _statements(text, tuple(operands)))


def filled(body: Body, operands: Mapping[str, Operand]) -> Body:
    """Return statements with operands in the place of variables, which are given by their names."""
    named = {name.removeprefix("$"): operand for name, operand in operands.items()}
    return tuple(_filled_item(item, named) for item in body) if named else body


@lru_cache(maxsize=1024)
def _expression(text: str, names: tuple[str, ...]) -> Operand:
    items = _statements(f"{{{{ if {text} }}}}{{{{ end }}}}", names)
    found = items[0]
    assert isinstance(found, If)  # noqa: S101
    return found.pipeline


@lru_cache(maxsize=512)
def _statements(text: str, names: tuple[str, ...]) -> Body:
    declared = "".join(f"{{{{ ${name} := 0 }}}}" for name in names)
    return parse(declared + text, functions=FUNCTIONS).body[len(names) :]


def _filled(operand: Operand, operands: Mapping[str, Operand]) -> Operand:
    if isinstance(operand, Variable):
        found = operands.get(operand.name[1:])
        if found is None:
            return operand
        return field(found, *operand.fields) if operand.fields else found
    if isinstance(operand, Chain):
        return Chain(_filled(operand.operand, operands), operand.fields)
    if isinstance(operand, Pipeline):
        return _filled_pipeline(operand, operands)
    return operand


def _filled_pipeline(found: Pipeline, operands: Mapping[str, Operand]) -> Pipeline:
    commands = tuple(
        Command(tuple(_filled(operand, operands) for operand in command.operands))
        for command in found.commands
    )
    declarations = []
    for variable in found.declarations:
        named = _filled(variable, operands)
        assert isinstance(named, Variable)  # noqa: S101
        declarations.append(named)
    if len(commands) == 1 and len(commands[0].operands) == 1 and not declarations:
        only = commands[0].operands[0]
        if isinstance(only, Pipeline):
            return only
    return Pipeline(commands, tuple(declarations), found.is_assignment)


def _filled_item(item: Item, operands: Mapping[str, Operand]) -> Item:
    def body(items: Body) -> Body:
        return tuple(_filled_item(one, operands) for one in items)

    if isinstance(item, Action):
        return Action(_filled_pipeline(item.pipeline, operands))
    if isinstance(item, TemplateCall) and item.pipeline is not None:
        return TemplateCall(item.name, _filled_pipeline(item.pipeline, operands))
    if isinstance(item, Range):
        orelse = None if item.orelse is None else Else(body(item.orelse.body))
        return Range(_filled_pipeline(item.pipeline, operands), body(item.body), orelse)
    if isinstance(item, If):
        if isinstance(item.orelse, If):
            chained = _filled_item(item.orelse, operands)
            assert isinstance(chained, If)  # noqa: S101
            return If(_filled_pipeline(item.pipeline, operands), body(item.body), chained, end=item.end)
        alternative = None if item.orelse is None else Else(body(item.orelse.body))
        return If(_filled_pipeline(item.pipeline, operands), body(item.body), alternative, end=item.end)
    if isinstance(item, With):
        raise NotImplementedError("no encoding has a with")
    return Text(item.value, item.value) if isinstance(item, Text) else item
