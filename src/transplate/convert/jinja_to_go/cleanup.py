"""Makes a tree that was written by rule one that reads well; no pass changes what is printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.layout import Encoding, laid_out
from transplate.convert.jinja_to_go.operands import base_name
from transplate.convert.jinja_to_go.tables import with_tables
from transplate.convert.jinja_to_go.trees import with_bodies, with_parts, with_variables
from transplate.convert.jinja_to_go.unread import without_unread
from transplate.gotmpl.nodes import (
    Action,
    Body,
    Chain,
    Command,
    Dot,
    Field,
    If,
    Item,
    Operand,
    Pipeline,
    Range,
    Text,
    Variable,
)

_ARGUMENTS = build.string("null template.templateArgs")


def cleaned(body: Body, encodings: Mapping[str, Encoding], *, hidden: frozenset[str] = frozenset()) -> Body:
    """Return the tree without variables that nothing reads, and with all text such that Go reads it.

    Args:
        body: The tree.
        encodings: The variables of encodings.
        hidden: Fields that are not written as fields of dot, so that Ollama does not see them.
    """
    body = _with_dot(body, "$", hidden)
    body = with_tables(without_unread(body))
    body = _safe_text(body)
    names = _new_names(body)
    renamed = tuple(
        with_variables(item, lambda one: Variable(names.get(one.name, one.name), one.fields)) for item in body
    )
    return laid_out(renamed, {names.get(name, name): found for name, found in encodings.items()})


def without_argument_checks(body: Body) -> Body:
    """Return a body in which no JSON is of a call's arguments without what is there for those."""
    return tuple(
        with_bodies(item, without_argument_checks)
        for item in body
        if not (isinstance(item, If) and _ARGUMENTS in item.pipeline.commands[0].operands)
    )


def _safe_text(body: Body) -> Body:
    """Write braces that Go would read as the start of an action as constants."""
    made: list[Item] = []
    for item in body:
        if isinstance(item, Text):
            made.extend(_split_braces(item.value))
        else:
            made.append(with_bodies(item, _safe_text))
    return tuple(made)


def _split_braces(text: str) -> list[Item]:
    """Return text as items, with every ``{{``, and every ``{`` at its end, in a constant."""
    made: list[Item] = []
    rest = text
    while (at := rest.find("{{")) >= 0:
        if rest[:at]:
            made.append(Text(rest[:at], rest[:at]))
        end = at
        while end < len(rest) and rest[end] == "{":
            end += 1
        made.append(build.action(build.string(rest[at:end])))
        rest = rest[end:]
    if rest.endswith("{"):
        if rest[:-1]:
            made.append(Text(rest[:-1], rest[:-1]))
        made.append(build.action(build.string("{")))
    elif rest:
        made.append(Text(rest, rest))
    return made


# --- fields of dot --------------------------------------------------------------------------------------


def _with_dot(body: Body, dot: str, hidden: frozenset[str]) -> Body:
    """Write the variable that dot is as dot: ``.Role`` for ``$message.Role`` at the level of its loop."""

    def operand(one: Operand) -> Operand:
        if isinstance(one, Variable) and one.name == dot and not hidden.intersection(one.fields):
            return Field(one.fields) if one.fields else (Dot() if dot != "$" else one)
        if isinstance(one, Chain):
            inner = operand(one.operand)
            return Chain(inner, one.fields)
        return pipeline(one) if isinstance(one, Pipeline) else one

    def pipeline(one: Pipeline) -> Pipeline:
        commands = tuple(
            Command(tuple(operand(item) for item in command.operands)) for command in one.commands
        )
        return Pipeline(commands, one.declarations, one.is_assignment)

    def changed(item: Item) -> Item:
        inside = dot
        if isinstance(item, Range):
            names = item.pipeline.declarations
            inside = names[-1].name if names else "nothing"
        return with_parts(item, pipeline, lambda body: _with_dot(body, inside, hidden))

    return tuple(map(changed, body))


# --- names ----------------------------------------------------------------------------------------------


def _new_names(body: Body) -> dict[str, str]:
    """Return names for variables that have a number only where several have one name."""
    names: dict[str, str] = {}
    taken: dict[str, int] = {}
    for name in _declared(body):
        base = base_name(name) or "v"
        if name in ("$", "$_") or name in names:
            continue
        count = taken[base] = taken.get(base, 0) + 1
        names[name] = f"${base}" if count == 1 else f"${base}{count}"
    return names


def _declared(body: Body) -> Iterator[str]:
    for item in body:
        if isinstance(item, Action) and not item.pipeline.is_assignment:
            yield from (variable.name for variable in item.pipeline.declarations)
        elif isinstance(item, If | Range):
            yield from (variable.name for variable in item.pipeline.declarations)
            yield from _declared(item.body)
            if isinstance(item.orelse, If):
                yield from _declared((item.orelse,))
            elif item.orelse is not None:
                yield from _declared(item.orelse.body)
