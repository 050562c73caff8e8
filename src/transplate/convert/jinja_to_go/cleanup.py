"""Makes a tree that was written by rule one that reads well; no pass changes what is printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.unread import without_unread
from transplate.gotmpl.nodes import (
    Action,
    Body,
    Chain,
    Clause,
    Command,
    Comment,
    Define,
    Dot,
    Else,
    Field,
    If,
    Item,
    Operand,
    Pipeline,
    Range,
    TemplateCall,
    Text,
    Variable,
)


def cleaned(body: Body, *, hidden: frozenset[str] = frozenset()) -> Body:
    """Return the tree without variables that nothing reads, and with all text such that Go reads it.

    Args:
        body: The tree.
        hidden: Fields that are not written as fields of dot, so that Ollama does not see them.
    """
    body = _with_dot(body, "$", hidden)
    body = without_unread(body)
    return _laid_out(_renamed(_safe_text(body)))


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

    def branch(item: If) -> If:
        orelse: Else | If | None = None
        if isinstance(item.orelse, If):
            orelse = branch(item.orelse)
        elif item.orelse is not None:
            orelse = Else(_with_dot(item.orelse.body, dot, hidden))
        return If(pipeline(item.pipeline), _with_dot(item.body, dot, hidden), orelse, end=item.end)

    made: list[Item] = []
    for item in body:
        if isinstance(item, Action):
            made.append(Action(pipeline(item.pipeline)))
        elif isinstance(item, TemplateCall) and item.pipeline is not None:
            made.append(TemplateCall(item.name, pipeline(item.pipeline)))
        elif isinstance(item, If):
            made.append(branch(item))
        elif isinstance(item, Range):
            names = item.pipeline.declarations
            inner = names[-1].name if names else "nothing"
            made.append(Range(pipeline(item.pipeline), _with_dot(item.body, inner, hidden), item.orelse))
        else:
            made.append(item)
    return tuple(made)


# --- names ----------------------------------------------------------------------------------------------


def _renamed(body: Body) -> Body:
    """Number variables only where several have one name."""
    names: dict[str, str] = {}
    taken: dict[str, int] = {}
    for name in _declared(body):
        base = name[1:].rsplit("_", 1)[0].rstrip("0123456789") or "v"
        if name in ("$", "$_") or name in names:
            continue
        count = taken[base] = taken.get(base, 0) + 1
        names[name] = f"${base}" if count == 1 else f"${base}{count}"
    return tuple(_renamed_item(item, names) for item in body)


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


def _renamed_item(item: Item, names: Mapping[str, str]) -> Item:
    def operand(one: Operand) -> Operand:
        if isinstance(one, Variable):
            return Variable(names.get(one.name, one.name), one.fields)
        if isinstance(one, Chain):
            return Chain(operand(one.operand), one.fields)
        return pipeline(one) if isinstance(one, Pipeline) else one

    def pipeline(one: Pipeline) -> Pipeline:
        commands = tuple(
            Command(tuple(operand(item) for item in command.operands)) for command in one.commands
        )
        declarations = tuple(Variable(names.get(item.name, item.name)) for item in one.declarations)
        return Pipeline(commands, declarations, one.is_assignment)

    def body(items: Body) -> Body:
        return tuple(_renamed_item(one, names) for one in items)

    if isinstance(item, Action):
        return Action(pipeline(item.pipeline))
    if isinstance(item, TemplateCall) and item.pipeline is not None:
        return TemplateCall(item.name, pipeline(item.pipeline))
    if isinstance(item, Range):
        return Range(pipeline(item.pipeline), body(item.body))
    if isinstance(item, If):
        orelse: Else | If | None = None
        if isinstance(item.orelse, If):
            chained = _renamed_item(item.orelse, names)
            assert isinstance(chained, If)  # noqa: S101
            orelse = chained
        elif item.orelse is not None:
            orelse = Else(body(item.orelse.body))
        return If(pipeline(item.pipeline), body(item.body), orelse, end=item.end)
    return item


# --- lines ----------------------------------------------------------------------------------------------

_BREAK = Text("\n", "")
_TRIMMED = Clause(trim_left=True)


def on_lines(items: Body) -> Body:
    """Begin a line with each of some items that print nothing."""
    made: list[Item] = []
    for item in items:
        clause = _TRIMMED if made else Clause()
        if made:
            made.append(_BREAK)
        if isinstance(item, Comment):
            made.append(Comment(item.text, clause))
        elif isinstance(item, Define):
            made.append(Define(item.name, item.body, clause))
        elif isinstance(item, If):
            made.append(If(item.pipeline, item.body, item.orelse, clause))
        else:
            made.append(item)
    return tuple(made)


def _laid_out(body: Body, *, is_start: bool = True) -> Body:
    """Begin a line at each statement, where the white space in front of it can be trimmed again."""
    made: list[Item] = []
    for item in body:
        before = made[-1] if made else None
        can_break = not is_start if before is None else _can_break(before)
        if isinstance(item, If | Range):
            laid = _laid_branch(item, can_break)
            if can_break:
                made.append(_BREAK)
            made.append(laid)
        elif isinstance(item, Action) and item.pipeline.declarations and can_break:
            made += [_BREAK, Action(item.pipeline, _TRIMMED)]
        elif isinstance(item, TemplateCall) and can_break:
            made.append(item)
        else:
            made.append(item)
    return tuple(made)


def _can_break(item: Item) -> bool:
    return not isinstance(item, Text) or not item.value[-1:].isspace()


def _laid_body(body: Body) -> tuple[Body, bool]:
    """Return a body in lines, and whether what closes it can stand on a line of its own."""
    laid = _laid_out(body, is_start=False)
    if laid and not _can_break(laid[-1]):
        return laid, False
    return (*laid, _BREAK) if laid else laid, bool(laid)


def _laid_branch(item: If | Range, can_break: bool) -> If | Range:
    clause = _TRIMMED if can_break and item.clause == Clause() else Clause()
    body, trimmed = _laid_body(item.body)
    if isinstance(item, Range):
        return Range(item.pipeline, body, None, clause, _TRIMMED if trimmed else Clause())
    orelse: Else | If | None = None
    ends = trimmed
    if isinstance(item.orelse, If):
        chained = _laid_branch(item.orelse, trimmed)
        assert isinstance(chained, If)  # noqa: S101
        orelse = chained
        ends = _last_trimmed(chained)
    elif item.orelse is not None:
        inner, ends = _laid_body(item.orelse.body)
        orelse = Else(inner, _TRIMMED if trimmed else Clause())
    end = None if item.end is None else (_TRIMMED if ends else Clause())
    return If(item.pipeline, body, orelse, clause, end)


def _last_trimmed(item: If) -> bool:
    """Tell whether the last body of a chain of ifs ends in a line break to be trimmed."""
    while isinstance(item.orelse, If):
        item = item.orelse
    body = item.body if item.orelse is None else item.orelse.body
    return bool(body) and body[-1] == _BREAK
