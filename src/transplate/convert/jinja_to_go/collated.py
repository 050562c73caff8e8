"""Leaves out what Ollama has done before any template runs: the joining of neighbouring messages.

A chat template may walk over the messages and build a list of records of them, where a message that has the
role of the one before it is added to its record. No two neighbours that Ollama gives to a template have one
role, but for the results of tools. So every message becomes a record of its own, the list is read as the
messages themselves, and a field of a record as what it was made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from transplate.jinja import nodes as j
from transplate.jinja import walk

_MESSAGES = j.Name("messages")


class _NotPlain(Exception):
    """The records are used in a way in which messages cannot stand for them."""


@dataclass(frozen=True)
class _Collation:
    """A loop that makes records of messages.

    Attributes:
        message: The variable of the loop.
        records: The attribute of a namespace that holds the list.
        fields: What the fields of a record are made of, of ``message`` alone.
        rest: What else the loop does.
    """

    message: j.Name
    records: j.Attribute
    fields: Mapping[str, j.Expression]
    rest: j.Body


def without_collation(body: j.Body) -> j.Body:
    """Return a body that takes messages as they are where it would join those of one role.

    It prints the same for every request of which Ollama has joined the messages. A body that does something
    else with them is returned as it is.
    """
    for index, statement in enumerate(body):
        if isinstance(statement, j.Set) and statement.target == _MESSAGES:
            return body
        if isinstance(statement, j.For) and statement.iterable == _MESSAGES:
            try:
                found = _collation(statement)
                if found is not None:
                    loop = j.For(statement.targets, statement.iterable, found.rest)
                    if {found.records, _MESSAGES} & set(walk.all_parts(body[:index])):
                        return body
                    return (*body[:index], loop, *_Reader(found, body[index + 1 :]).read())
            except _NotPlain:
                return body
    return body


def _collation(loop: j.For) -> _Collation | None:
    """Return what a loop over the messages makes of them, None if it joins none.

    Raises:
        _NotPlain: It makes more of them than one record of each.
    """
    if len(loop.targets) != 1 or loop.orelse or loop.condition is not None:
        return None
    (message,) = loop.targets
    finder = _Finder(message)
    rest = finder.walk(loop.body)
    if finder.records is None:
        return None
    for field in finder.fields.values():
        if any(isinstance(part, j.Name) and part != message for part in walk.parts(field)):
            raise _NotPlain
    parts = set(walk.all_parts(rest))
    if finder.records in parts or (finder.previous is not None and finder.previous in parts):
        raise _NotPlain
    for statement in walk.statements(rest):
        if isinstance(statement, j.Break | j.Continue) or (
            isinstance(statement, j.Set | j.SetBlock) and statement.target == finder.records
        ):
            raise _NotPlain
    return _Collation(message, finder.records, finder.fields, rest)


class _Finder:
    """Looks in a loop for the one place where a message becomes a record."""

    def __init__(self, message: j.Name) -> None:
        self.message = message
        self.values: dict[j.Expression, j.Expression | None] = {}
        """What the loop's variables are made of; None for what depends on the way taken."""
        self.records: j.Attribute | None = None
        self.previous: j.Name | None = None
        self.fields: dict[str, j.Expression] = {}

    def walk(self, body: j.Body) -> j.Body:
        """Return a body without what makes the record."""
        kept: list[j.Statement] = []
        for statement in body:
            match statement:
                case j.Set(j.Name() as name, value):
                    self.values[name] = self.resolved(value)
                    kept.append(statement)
                case j.For((part,), iterable, inner, (), None):
                    only = self.only_item(iterable)
                    if only is None:
                        kept.append(statement)
                        continue
                    self.values[part] = only
                    kept.append(j.For((part,), iterable, self.walk(inner)))
                case j.If(test, _, (j.Set(j.Attribute() as records, j.Binary("+", left, right)),)) if (
                    records == left and self.joins(test, records)
                ):
                    if self.records is not None or not isinstance(right, j.ListLiteral):
                        raise _NotPlain
                    self.records, self.fields = records, self.record(right)
                    kept = [
                        one for one in kept if not (isinstance(one, j.Set) and one.target == self.previous)
                    ]
                case _:
                    for inner_statement in walk.statements((statement,)):
                        if isinstance(inner_statement, j.Set) and isinstance(inner_statement.target, j.Name):
                            self.values[inner_statement.target] = None
                    kept.append(statement)
        return tuple(kept)

    def resolved(self, expression: j.Expression) -> j.Expression | None:
        """Return an expression in terms of the message alone, None if it cannot be said in them."""
        parts = list(walk.parts(expression))
        if any(part in self.values and self.values[part] is None for part in parts):
            return None
        return walk.substitute(expression, lambda part: _simplified(self.values.get(part) or part))

    def only_item(self, iterable: j.Expression) -> j.Expression | None:
        """Return the item of a list that has one, for a message whose content is a text."""
        content = j.Attribute(self.message, "content")
        match iterable:
            case j.Conditional(j.Or(tests), value) if j.Test(content, "string") in tests:
                iterable = value
        match self.resolved(iterable):
            case j.ListLiteral((item,)):
                return item
        return None

    def joins(self, test: j.Expression, records: j.Attribute) -> bool:
        """Tell whether a condition is that the record before has the role of this message, no tool's."""
        held_together = list(_conditions(test))
        role = j.Attribute(self.message, "role")
        for condition in held_together:
            match condition:
                case j.Binary("==", j.Attribute(j.Name() as previous, "role"), own):
                    is_own = self.resolved(own) in (role, j.Filter(role, "lower"))
                    last = j.Item(records, j.Literal(-1))
                    held = (last, j.Conditional(records, last, j.Literal(None)))
                    if is_own and self.values.get(previous) in held:
                        self.previous = previous
                        return j.Binary("!=", own, j.Literal("tool")) in held_together
        return False

    def record(self, items: j.ListLiteral) -> dict[str, j.Expression]:
        """Return the fields of the record that is put into the list."""
        match items.items:
            case (j.Call(j.Name("namespace"), (), keywords),):
                fields = {name: self.resolved(value) for name, value in keywords}
            case _:
                raise _NotPlain
        role = j.Attribute(self.message, "role")
        made = {name: value for name, value in fields.items() if value is not None}
        if len(made) != len(fields) or made.get("role") not in (role, j.Filter(role, "lower")):
            raise _NotPlain
        return made


def _conditions(test: j.Expression) -> Iterator[j.Expression]:
    """Yield the conditions that must all hold for a test."""
    if isinstance(test, j.And):
        for operand in test.operands:
            yield from _conditions(operand)
    else:
        yield test


def _simplified(expression: j.Expression) -> j.Expression:
    """Return an item of a dict literal as what it is, and a choice as what is chosen."""
    match expression:
        case j.Attribute(j.DictLiteral(items), name):
            return dict(items).get(j.Literal(name), expression)
        case j.Binary("in", _, j.Attribute(j.DictLiteral())):
            return j.FALSE  # in a key that is not there
        case j.Conditional(j.Literal(False), _, otherwise):
            return otherwise
    return expression


class _Reader:
    """Reads a body with the messages in the place of their records."""

    def __init__(self, found: _Collation, body: j.Body) -> None:
        self.found, self.body = found, body
        self.lists: set[j.Expression] = {found.records}
        named = j.Set(_MESSAGES, found.records)
        if named in body:
            self.body = tuple(one for one in body if one != named)
            self.lists.add(_MESSAGES)
        self.names: set[j.Name] = set()

    def read(self) -> j.Body:
        """Return the body.

        Raises:
            _NotPlain: A record is used as a whole, or changed.
        """
        changed = True
        while changed:
            before = len(self.names)
            for statement in walk.statements(self.body):
                match statement:
                    case j.For((name,), iterable) if self.is_list(iterable):
                        self.names.add(name)
                    case j.Set(j.Name() as name, value) if self.is_record(value):
                        self.names.add(name)
            changed = len(self.names) != before
        self.check_targets()
        return self.statements(self.body)

    def check_targets(self) -> None:
        for statement in walk.statements(self.body):
            match statement:
                case j.For(targets, iterable):
                    if self.names & set(targets) and not self.is_list(iterable):
                        raise _NotPlain
                case j.Set(j.Attribute(owner) as target, _):
                    if target in self.lists or self.is_record(owner):
                        raise _NotPlain
                case j.Set(target, value):
                    given: set[j.Expression] = set(target) if isinstance(target, tuple) else {target}
                    if self.lists & given or (self.names & given and not self.is_record(value)):
                        raise _NotPlain
                case j.SetBlock(target) if target in self.names or target in self.lists:
                    raise _NotPlain
                case j.Macro(_, parameters):
                    if {name.name for name in self.names}.intersection(parameters):
                        raise _NotPlain

    def statements(self, body: j.Body) -> j.Body:
        made: list[j.Statement] = []
        for statement in body:
            match statement:
                case j.For(targets, iterable, inner, orelse, condition):
                    over = self.as_messages(iterable) if self.is_list(iterable) else self.change(iterable)
                    test = None if condition is None else self.test(condition)
                    made.append(j.For(targets, over, self.statements(inner), self.statements(orelse), test))
                case j.If(test, then, orelse):
                    made.append(j.If(self.test(test), self.statements(then), self.statements(orelse)))
                case j.Set(target, value):
                    is_record = self.is_record(value)
                    made.append(j.Set(target, self.as_message(value) if is_record else self.change(value)))
                case j.SetBlock(target, inner):
                    made.append(j.SetBlock(target, self.statements(inner)))
                case j.Scope(inner):
                    made.append(j.Scope(self.statements(inner)))
                case j.Macro(name, parameters, inner, defaults):
                    made.append(
                        j.Macro(name, parameters, self.statements(inner), tuple(map(self.change, defaults)))
                    )
                case _:
                    made.extend(walk.map_expressions((statement,), self.change))
        return tuple(made)

    def is_list(self, expression: j.Expression) -> bool:
        while isinstance(expression, j.Slice):
            expression = expression.value
        return expression in self.lists

    def is_record(self, expression: j.Expression) -> bool:
        if isinstance(expression, j.Item):
            is_key = isinstance(expression.key, j.Literal) and isinstance(expression.key.value, str)
            return not is_key and self.is_list(expression.value)
        return expression in self.names

    def as_messages(self, expression: j.Expression) -> j.Expression:
        if isinstance(expression, j.Slice):
            bounds = (expression.start, expression.stop, expression.step)
            return j.Slice(
                self.as_messages(expression.value),
                *(None if bound is None else self.change(bound) for bound in bounds),
            )
        return _MESSAGES

    def as_message(self, expression: j.Expression) -> j.Expression:
        if isinstance(expression, j.Item):
            return j.Item(self.as_messages(expression.value), self.change(expression.key))
        return expression

    def test(self, expression: j.Expression) -> j.Expression:
        """Return a condition, in which a record or the list may stand for its being there."""
        if self.is_record(expression):
            return self.as_message(expression)
        if self.is_list(expression):
            return self.as_messages(expression)
        if isinstance(expression, j.And | j.Or | j.Not):
            return walk.rebuild(expression, self.test)
        return self.change(expression)

    def change(self, expression: j.Expression) -> j.Expression:
        match expression:
            case j.Attribute(value, name) | j.Item(value, j.Literal(str(name))) if self.is_record(value):
                if name not in self.found.fields:
                    raise _NotPlain
                message = self.as_message(value)
                return walk.substitute(
                    self.found.fields[name], lambda part: message if part == self.found.message else part
                )
            case j.Attribute(j.Name("loop"), "previtem" | "nextitem"):
                raise _NotPlain
            case j.Filter(value, "length", (), ()) if self.is_list(value):
                return j.Filter(self.as_messages(value), "length")
            case j.Conditional(test, value, otherwise):
                return j.Conditional(self.test(test), self.change(value), self.change(otherwise))
            case j.Not(value):
                return j.Not(self.test(value))
        if self.is_record(expression) or self.is_list(expression):
            raise _NotPlain
        return walk.rebuild(expression, self.change)
