"""Prints at once what is collected in a variable only to be printed.

``{{ $text := "" }}`` … ``{{ $text = print $text $x }}`` … ``{{ $text }}`` prints what ``{{ $x }}`` in the
place of the assignment does, where nothing else is printed in between. Where each way puts one thing into the
variable, it can be handed to a template at once too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.trees import bodies_of, items_within, reads_of, with_bodies
from transplate.gotmpl.nodes import (
    Action,
    Body,
    Break,
    Continue,
    Identifier,
    If,
    Item,
    Operand,
    Pipeline,
    Range,
    String,
    TemplateCall,
    Text,
    Variable,
)


def printed_at_once(body: Body, printing: Collection[str]) -> Body:
    """Return a body without the variables that only collect what is printed.

    Args:
        body: The tree.
        printing: The names of the templates that print; a call of another one fails.
    """
    while True:
        reads = Counter(name for item in items_within(body) for name in reads_of(item))
        made = _Pass(reads, frozenset(printing)).over(body)
        if made == body:
            return body
        body = made


class _Pass:
    def __init__(self, reads: Counter[str], printing: frozenset[str]) -> None:
        self.reads, self.printing = reads, printing

    def over(self, body: Body) -> Body:
        items = [with_bodies(item, self.over) for item in body]
        index = 0
        while index < len(items):
            if self.is_printed_next(items, index):
                declared = items[index]
                assert isinstance(declared, Action)  # noqa: S101
                items[index : index + 2] = [Action(Pipeline(declared.pipeline.commands))]
                continue
            name = _begun(items[index])
            end = None if name is None else self.end_of(name, items, index)
            if name is not None and end is not None:
                items[index : end + 1] = _replaced(tuple(items[index + 1 : end]), name, items[end])
            else:
                index += 1
        return tuple(_joined(items))

    def end_of(self, name: str, items: list[Item], begin: int) -> int | None:
        """Return where a variable is printed, or put behind another one, if that is all that it is for."""
        for index in range(begin + 1, len(items)):
            item = items[index]
            target = _appended_to(item, name)
            is_handed = _is_handed(item, name) and self.prints(item)
            if target is None and not is_handed and item != build.action(Variable(name)):
                if self.prints(item) or _leaves((item,)):
                    return None
                continue
            between = tuple(items[begin + 1 : index])
            found = list(items_within(between))
            appends = sum(_parts(one, name) is not None for one in found)
            sets = sum(_is_set(one, name) for one in found)
            if (
                sets != appends
                or self.reads[name] != appends + 1
                or (is_handed and not _puts_one(between, name))
            ):
                return None
            is_other = target is not None and any(
                target in reads_of(one) or _is_set(one, target) for one in found
            )
            return None if is_other else index
        return None

    def is_printed_next(self, items: list[Item], index: int) -> bool:
        """Tell whether an item declares a variable that the next one prints, and that nothing else reads."""
        item = items[index]
        if not isinstance(item, Action) or not item.pipeline.declarations or item.pipeline.is_assignment:
            return False
        variable = Variable(item.pipeline.declarations[0].name)
        following = items[index + 1 : index + 2]
        return following == [build.action(variable)] and self.reads[variable.name] == 1

    def prints(self, item: Item) -> bool:
        """Tell whether an item prints, or something inside of it does."""
        return any(
            isinstance(one, Text)
            or (isinstance(one, Action) and not one.pipeline.declarations)
            or (isinstance(one, TemplateCall) and one.name.value in self.printing)
            for one in items_within((item,))
        )


def _begun(item: Item) -> str | None:
    """Return the variable that an item declares as an empty text."""
    if isinstance(item, Action) and item.pipeline.declarations and not item.pipeline.is_assignment:
        operands = item.pipeline.commands[0].operands
        if len(operands) == 1 and isinstance(operands[0], String) and not operands[0].value:
            return item.pipeline.declarations[0].name
    return None


def _is_set(item: Item, name: str) -> bool:
    return isinstance(item, Action) and any(one.name == name for one in item.pipeline.declarations)


def _parts(item: Item, name: str) -> tuple[Operand, ...] | None:
    """Return what an item puts behind a variable, None if it does something else."""
    if isinstance(item, Action) and item.pipeline.is_assignment and _is_set(item, name):
        operands = item.pipeline.commands[0].operands
        if operands[:2] == (Identifier("print"), Variable(name)):
            return operands[2:]
    return None


def _appended_to(item: Item, name: str) -> str | None:
    """Return the variable that an item puts another one behind, and nothing else."""
    if isinstance(item, Action) and item.pipeline.is_assignment:
        target = item.pipeline.declarations[0].name
        if target != name and _parts(item, target) == (Variable(name),):
            return target
    return None


def _leaves(body: Body) -> bool:
    """Tell whether a body leaves a loop that it is in."""
    return any(
        isinstance(item, Break | Continue)
        or (not isinstance(item, Range) and any(map(_leaves, bodies_of(item))))
        for item in body
    )


def _is_handed(item: Item, name: str) -> bool:
    return isinstance(item, TemplateCall) and item.pipeline == build.pipeline(Variable(name))


def _puts_one(body: Body, name: str) -> bool:
    """Tell whether each way through a body puts one thing into an empty variable."""
    putting = [item for item in body if any(_parts(one, name) is not None for one in items_within((item,)))]
    if len(putting) != 1:
        return False
    (item,) = putting
    if isinstance(item, If):
        ways = list(bodies_of(item))
        return _has_else(item) and all(_puts_one(way, name) for way in ways)
    return len(_parts(item, name) or ()) == 1


def _has_else(item: If) -> bool:
    while isinstance(item.orelse, If):
        item = item.orelse
    return item.orelse is not None


def _replaced(body: Body, name: str, last: Item) -> Body:
    """Return a body that does at once with what it puts behind a variable what is done with that at last."""
    target = _appended_to(last, name)
    made: list[Item] = []
    for item in body:
        parts = _parts(item, name)
        if parts is None:
            made.append(with_bodies(item, lambda inner: _replaced(inner, name, last)))
        elif target is not None:
            variable = Variable(target)
            made.append(build.assign(variable, build.call("print", variable, *parts)))
        elif isinstance(last, TemplateCall):
            (part,) = parts
            text = part if isinstance(part, String) else build.call("print", part)
            made.append(TemplateCall(last.name, build.pipeline(text)))
        else:
            made.extend(
                Text(part.value, part.value) if isinstance(part, String) else build.action(part)
                for part in parts
            )
    return tuple(made)


def _joined(items: list[Item]) -> list[Item]:
    """Return items with neighbouring texts as one."""
    made: list[Item] = []
    for item in items:
        before = made[-1] if made else None
        if isinstance(item, Text) and isinstance(before, Text):
            whole = before.value + item.value
            made[-1] = Text(whole, whole)
        elif not (isinstance(item, Text) and not item.value):
            made.append(item)
    return made
