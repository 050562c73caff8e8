"""Walks over Jinja trees: the expressions of statements, the parts of expressions, and changed copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from transplate.jinja import nodes as j


def children(expression: j.Expression) -> tuple[j.Expression, ...]:
    """Return the direct operands of an expression."""
    match expression:
        case j.Literal() | j.Name():
            return ()
        case j.ListLiteral(items):
            return items
        case j.DictLiteral(pairs):
            return tuple(part for pair in pairs for part in pair)
        case j.Attribute(value) | j.Not(value) | j.Negative(value):
            return (value,)
        case j.Test(value, _, _, arguments):
            return (value, *arguments)
        case j.Item(value, key):
            return (value, key)
        case j.Slice(value, start, stop, step):
            return tuple(part for part in (value, start, stop, step) if part is not None)
        case j.Filter(value, _, arguments, keywords) | j.Call(value, arguments, keywords):
            return (value, *arguments, *(argument for _, argument in keywords))
        case j.And(operands) | j.Or(operands) | j.Concat(operands):
            return operands
        case j.Binary(_, left, right):
            return (left, right)
        case j.Conditional(test, value, otherwise):
            return (test, value, otherwise)


def rebuild(expression: j.Expression, change: Callable[[j.Expression], j.Expression]) -> j.Expression:
    """Return an expression with each direct operand changed."""

    def named(keywords: tuple[tuple[str, j.Expression], ...]) -> tuple[tuple[str, j.Expression], ...]:
        return tuple((name, change(value)) for name, value in keywords)

    match expression:
        case j.Literal() | j.Name():
            return expression
        case j.ListLiteral(items, is_tuple):
            return j.ListLiteral(tuple(map(change, items)), is_tuple)
        case j.DictLiteral(pairs):
            return j.DictLiteral(tuple((change(key), change(value)) for key, value in pairs))
        case j.Attribute(value, name):
            return j.Attribute(change(value), name)
        case j.Item(value, key):
            return j.Item(change(value), change(key))
        case j.Slice(value, start, stop, step):
            bounds = (None if bound is None else change(bound) for bound in (start, stop, step))
            return j.Slice(change(value), *bounds)
        case j.Filter(value, name, arguments, keywords):
            return j.Filter(change(value), name, tuple(map(change, arguments)), named(keywords))
        case j.Test(value, name, negated, arguments):
            return j.Test(change(value), name, negated, tuple(map(change, arguments)))
        case j.Call(function, arguments, keywords):
            return j.Call(change(function), tuple(map(change, arguments)), named(keywords))
        case j.Not(value):
            return j.Not(change(value))
        case j.Negative(value):
            return j.Negative(change(value))
        case j.And(operands):
            return j.And(tuple(map(change, operands)))
        case j.Or(operands):
            return j.Or(tuple(map(change, operands)))
        case j.Binary(operator, left, right):
            return j.Binary(operator, change(left), change(right))
        case j.Concat(operands):
            return j.Concat(tuple(map(change, operands)))
        case j.Conditional(test, value, otherwise):
            return j.Conditional(change(test), change(value), change(otherwise))


def substitute(expression: j.Expression, change: Callable[[j.Expression], j.Expression]) -> j.Expression:
    """Return an expression with every part changed, the innermost first."""
    return change(rebuild(expression, lambda part: substitute(part, change)))


def parts(expression: j.Expression) -> Iterator[j.Expression]:
    """Yield an expression and everything inside it."""
    yield expression
    for child in children(expression):
        yield from parts(child)


def own_expressions(statement: j.Statement) -> tuple[j.Expression, ...]:
    """Return the expressions of a statement itself, without those of the statements inside it."""
    match statement:
        case j.Output(pieces):
            return pieces
        case j.If(test):
            return (test,)
        case j.For(_, iterable, _, _, condition):
            return (iterable,) if condition is None else (iterable, condition)
        case j.Set(j.Attribute(owner), value):
            return (owner, value)
        case j.Set(_, value):
            return (value,)
        case j.SetBlock(j.Attribute(owner)):
            return (owner,)
        case j.Macro(_, _, _, defaults):
            return defaults
        case _:
            return ()


def bodies(statement: j.Statement) -> tuple[j.Body, ...]:
    """Return the bodies inside a statement."""
    match statement:
        case j.If(_, body, orelse) | j.For(_, _, body, orelse):
            return (body, orelse)
        case j.SetBlock(_, body) | j.Macro(_, _, body) | j.Scope(body):
            return (body,)
        case _:
            return ()


def statements(body: j.Body) -> Iterator[j.Statement]:
    """Yield every statement of a body and of the bodies inside it, in document order."""
    for statement in body:
        yield statement
        for inner in bodies(statement):
            yield from statements(inner)


def all_parts(body: j.Body) -> Iterator[j.Expression]:
    """Yield every expression of a body and all their parts."""
    for statement in statements(body):
        for expression in own_expressions(statement):
            yield from parts(expression)


def map_expressions(body: j.Body, change: Callable[[j.Expression], j.Expression]) -> j.Body:
    """Return a body with ``change`` made to every expression of every statement; targets stay."""
    return tuple(_mapped(statement, change) for statement in body)


def _mapped(statement: j.Statement, change: Callable[[j.Expression], j.Expression]) -> j.Statement:
    match statement:
        case j.Output(pieces):
            return j.Output(tuple(map(change, pieces)))
        case j.If(test, body, orelse):
            return j.If(change(test), map_expressions(body, change), map_expressions(orelse, change))
        case j.For(targets, iterable, body, orelse, condition):
            return j.For(
                targets,
                change(iterable),
                map_expressions(body, change),
                map_expressions(orelse, change),
                None if condition is None else change(condition),
            )
        case j.Set(target, value):
            return j.Set(target, change(value))
        case j.SetBlock(target, body):
            return j.SetBlock(target, map_expressions(body, change))
        case j.Macro(name, parameters, body, defaults):
            return j.Macro(name, parameters, map_expressions(body, change), tuple(map(change, defaults)))
        case j.Scope(body):
            return j.Scope(map_expressions(body, change))
        case _:
            return statement
