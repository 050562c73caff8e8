"""Makes a tree that was written by rule one that reads well; no pass changes what is printed."""

from __future__ import annotations

from transplate.convert.jinja_to_go import build
from transplate.gotmpl.nodes import (
    Action,
    Body,
    Chain,
    Command,
    Else,
    If,
    Item,
    Operand,
    Pipeline,
    Range,
    TemplateCall,
    Text,
    Variable,
)


def cleaned(body: Body) -> Body:
    """Return the tree without variables that nothing reads, and with all text such that Go reads it."""
    while True:
        reads: dict[str, int] = {}
        _count(body, reads)
        made = _without_unread(body, reads)
        if made == body:
            break
        body = made
    return _safe_text(body)


def _count_operand(operand: Operand | Command, reads: dict[str, int], ignored: str = "") -> None:
    if isinstance(operand, Variable):
        if operand.name != ignored:
            reads[operand.name] = reads.get(operand.name, 0) + 1
    elif isinstance(operand, Pipeline):
        for command in operand.commands:
            _count_operand(command, reads, ignored)
    elif isinstance(operand, Command):
        for one in operand.operands:
            _count_operand(one, reads, ignored)
    elif isinstance(operand, Chain):
        _count_operand(operand.operand, reads, ignored)


def _count(body: Body, reads: dict[str, int]) -> None:
    """Count how often each variable is read, other than in order to set it itself."""
    for item in body:
        if isinstance(item, Action):
            own = item.pipeline.declarations[0].name if item.pipeline.declarations else ""
            _count_operand(item.pipeline, reads, own)
        elif isinstance(item, TemplateCall) and item.pipeline is not None:
            _count_operand(item.pipeline, reads)
        elif isinstance(item, If | Range):
            _count_operand(item.pipeline, reads)
            _count(item.body, reads)
            if isinstance(item.orelse, If):
                _count((item.orelse,), reads)
            elif item.orelse is not None:
                _count(item.orelse.body, reads)


def _without_unread(body: Body, reads: dict[str, int]) -> Body:
    made: list[Item] = []
    for item in body:
        if isinstance(item, Action) and item.pipeline.declarations:  # noqa: SIM102
            if not reads.get(item.pipeline.declarations[0].name):
                continue
        if isinstance(item, If):
            found = _branch(item, reads)
            if not found.body and found.orelse is None:
                continue
            made.append(found)
        elif isinstance(item, Range):
            inner = _without_unread(item.body, reads)
            if all(isinstance(one, Action) and not one.pipeline.commands for one in inner) and not inner:  # noqa: SIM102
                if item.body:
                    continue
            made.append(Range(_range_pipeline(item.pipeline, reads), inner, item.orelse))
        else:
            made.append(item)
    return tuple(made)


def _branch(item: If, reads: dict[str, int]) -> If:
    body = _without_unread(item.body, reads)
    orelse: Else | If | None = None
    if isinstance(item.orelse, If):
        found = _branch(item.orelse, reads)
        orelse = found if found.body or found.orelse is not None else None
    elif item.orelse is not None:
        inner = _without_unread(item.orelse.body, reads)
        orelse = Else(inner) if inner else None
    return If(item.pipeline, body, orelse, end=item.end)


def _range_pipeline(pipeline: Pipeline, reads: dict[str, int]) -> Pipeline:
    names = pipeline.declarations
    if len(names) == 2 and not reads.get(names[0].name):
        if reads.get(names[1].name):
            return Pipeline(pipeline.commands, (Variable("$_"), names[1]))
        return Pipeline(pipeline.commands)
    if len(names) == 2 and not reads.get(names[1].name):
        return Pipeline(pipeline.commands, (names[0], Variable("$_")))
    if len(names) == 1 and not reads.get(names[0].name):
        return Pipeline(pipeline.commands)
    return pipeline


def _safe_text(body: Body) -> Body:
    """Write braces that Go would read as the start of an action as constants."""
    made: list[Item] = []
    for item in body:
        if isinstance(item, Text):
            made.extend(_split_braces(item.value))
        elif isinstance(item, If):
            made.append(_safe_branch(item))
        elif isinstance(item, Range):
            made.append(Range(item.pipeline, _safe_text(item.body), item.orelse))
        else:
            made.append(item)
    return tuple(made)


def _safe_branch(item: If) -> If:
    orelse: Else | If | None = None
    if isinstance(item.orelse, If):
        orelse = _safe_branch(item.orelse)
    elif item.orelse is not None:
        orelse = Else(_safe_text(item.orelse.body))
    return If(item.pipeline, _safe_text(item.body), orelse, end=item.end)


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
