"""Simplifies a Jinja tree without changing what it prints: decided tests, dead branches, unread variables."""

from __future__ import annotations

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja.context import STATE
from transplate.convert.go_to_jinja.facts import Facts
from transplate.convert.go_to_jinja.text import concat
from transplate.jinja import nodes as j
from transplate.jinja import walk


def simplify(body: j.Body, facts: Facts | None = None) -> j.Body:
    """Return a body that prints the same and has nothing that is never reached or never used."""
    facts = facts or Facts()
    while True:
        simpler = drop_unread(simplify_body(body, facts))
        if simpler == body:
            return body
        body = simpler


def simplify_body(body: j.Body, facts: Facts) -> j.Body:
    """Return a body simplified with what is known before it."""
    kept: list[j.Statement] = []
    for statement in body:
        for simpler in _statement(statement, facts):
            _append(kept, simpler)
            facts = _after(simpler, facts)
            if always_fails(simpler):
                return tuple(kept)
    return tuple(kept)


def _statement(statement: j.Statement, facts: Facts) -> j.Body:
    match statement:
        case j.Output(parts):
            pieces = concat(tuple(facts.value(part) for part in parts))
            shown = pieces.operands if isinstance(pieces, j.Concat) else (pieces,)
            return (j.Output(shown),) if shown != (j.EMPTY,) else ()
        case j.If(test, body, orelse):
            return _if(facts.condition(test), body, orelse, facts)
        case j.For():
            return _for(statement, facts)
        case j.Set(target, value):
            return (j.Set(target, facts.value(value)),)
        case j.SetBlock(target, body):
            return (j.SetBlock(target, simplify_body(body, facts)),)
        case j.Macro(name, parameters, body):
            return (j.Macro(name, parameters, simplify(body)),)
        case _:
            return (statement,)


def _if(test: j.Expression, body: j.Body, orelse: j.Body, facts: Facts) -> j.Body:
    decided = b.truth(test)
    if decided is not None:
        return simplify_body(body if decided else orelse, facts)
    body = simplify_body(body, facts.assuming(test))
    orelse = simplify_body(orelse, facts.assuming(test, holds=False))
    if body == orelse:
        return body
    if not body:
        test, body, orelse = b.not_(test), orelse, ()
    match body, orelse:
        case (j.If(inner, nested, ()),), ():
            return (j.If(b.and_(test, inner), nested),)
        case (j.Output((text,)),), () if text == test:
            return (j.Output((b.or_empty(text, j.EMPTY),)),)
        case (j.For(targets, iterable, inside, ()) as loop,), () if iterable == test:
            return (j.For(targets, b.or_empty(iterable, j.ListLiteral(())), inside, (), loop.condition),)
        case _, (j.If(inner, nested, rest),) if nested == body:
            either = min(
                (facts.condition(b.or_(*both)) for both in ((test, inner), (inner, test))),
                key=lambda condition: sum(1 for _ in walk.parts(condition)),
            )
            return _if(either, body, rest, facts)
        case _:
            return (j.If(test, body, orelse),)


def _for(loop: j.For, facts: Facts) -> j.Body:
    iterable = facts.value(loop.iterable)
    changed = assigned(loop.body) | set(loop.targets)
    inside = facts.without(changed).inside(loop_name(loop), _list_of(iterable))
    condition = None if loop.condition is None else facts.condition(loop.condition)
    body = simplify_body(loop.body, inside)
    orelse = simplify_body(loop.orelse, facts)
    if not body and not orelse:
        return ()
    return (j.For(loop.targets, iterable, body, orelse, condition),)


def loop_name(loop: j.For) -> j.Name:
    """Return the symbol that stands for a loop's ``loop`` variable until names are chosen."""
    return j.Name(f"loop of {loop.targets[-1].name}")


def _list_of(iterable: j.Expression) -> j.Expression:
    """Return the list itself of ``list or []``."""
    match iterable:
        case j.Or((value, j.ListLiteral(()))):
            return value
        case _:
            return iterable


def _append(kept: list[j.Statement], statement: j.Statement) -> None:
    """Add a statement, joined with the one before where the two can be one."""
    previous = kept[-1] if kept else None
    match previous, statement:
        case j.Output(before), j.Output(after):
            seam = concat((before[-1], after[0]))
            middle = seam.operands if isinstance(seam, j.Concat) else (seam,)
            kept[-1] = j.Output((*before[:-1], *middle, *after[1:]))
        case j.If(test, body, ()), j.If(other, nested, orelse) if not (
            assigned(body) & set(walk.parts(test))
        ):
            if other == test and not orelse:
                merged: list[j.Statement] = list(body)
                for inner in nested:
                    _append(merged, inner)
                kept[-1] = j.If(test, tuple(merged))
            elif other == b.not_(test):
                kept[-1] = j.If(test, body, nested) if not orelse else previous
                if orelse:
                    kept.append(statement)
            else:
                kept.append(statement)
        case _:
            kept.append(statement)


def _after(statement: j.Statement, facts: Facts) -> Facts:
    """Return what is known behind a statement."""
    facts = facts.without(assigned((statement,)))
    match statement:
        case j.If(test, body, ()) if body and always_fails(body[-1]):
            return facts.assuming(test, holds=False)
        case j.Set(j.Name() | j.Attribute() as target, j.Literal(str()) as value):
            return facts.assuming(j.Binary("==", target, value))
        case _:
            return facts


def always_fails(statement: j.Statement) -> bool:
    """Return whether a statement makes the rendering fail whenever it is reached."""
    match statement:
        case j.Output(parts):
            return any(
                isinstance(part, j.Call) and part.function == j.Name("raise_exception") for part in parts
            )
        case j.If(_, body, orelse):
            return bool(body and orelse) and always_fails(body[-1]) and always_fails(orelse[-1])
        case _:
            return False


def assigned(body: j.Body) -> set[j.Expression]:
    """Return every name and namespace attribute that a body gives a value."""
    found: set[j.Expression] = set()
    for statement in walk.statements(body):
        match statement:
            case j.Set(j.Name() | j.Attribute() as target) | j.SetBlock(target):
                found.add(target)
            case j.For(targets):
                found.update(targets)
    return found


# --- variables that nothing reads -----------------------------------------------------------------------


def drop_unread(body: j.Body) -> j.Body:
    """Return a body without the variables whose value never reaches the output."""
    live = _live(body)
    return _without_unread(body, live)


def _live(body: j.Body) -> set[j.Expression]:
    """Return the targets that are read by output, tests and loops, directly or through other targets.

    Namespaces other than the one of the template's own variables go by several names, so that any attribute
    of the same name counts as read with it.
    """
    values: dict[j.Expression, list[j.Expression]] = {}
    waiting: list[j.Expression] = []
    for statement in walk.statements(body):
        match statement:
            case j.Set(j.Name() | j.Attribute() as target, value):
                values.setdefault(target, []).append(value)
            case j.SetBlock(target, inner):
                values.setdefault(target, []).extend(walk.all_parts(inner))
            case _:
                waiting += walk.own_expressions(statement)
    live: set[j.Expression] = set()
    while waiting:
        for part in walk.parts(waiting.pop()):
            if not isinstance(part, j.Name | j.Attribute) or part in live:
                continue
            read = {part}
            if isinstance(part, j.Attribute) and part.value != STATE:
                read |= {each for each in values if isinstance(each, j.Attribute) and each.name == part.name}
            for target in read - live:
                live.add(target)
                waiting += values.get(target, [])
    return live


def _without_unread(body: j.Body, live: set[j.Expression]) -> j.Body:
    kept: list[j.Statement] = []
    for statement in body:
        match statement:
            case j.Set(target) | j.SetBlock(target) if target not in live:
                continue
            case j.If(test, inner, orelse):
                kept.append(j.If(test, _without_unread(inner, live), _without_unread(orelse, live)))
            case j.For(targets, iterable, inner, orelse, condition):
                kept.append(
                    j.For(
                        targets,
                        iterable,
                        _without_unread(inner, live),
                        _without_unread(orelse, live),
                        condition,
                    )
                )
            case j.Macro(name, parameters, inner):
                kept.append(j.Macro(name, parameters, _without_unread(inner, live)))
            case _:
                kept.append(statement)
    return tuple(kept)
