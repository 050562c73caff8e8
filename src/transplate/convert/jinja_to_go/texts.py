"""Texts: values as strings, and what is printed as one."""

from __future__ import annotations

from collections.abc import Callable

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import call, string
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.values import (
    TEXT,
    Cat,
    Const,
    Go,
    Int,
    Json,
    Undefined,
    Value,
    lowest,
    operands_of,
    text_value,
)
from transplate.gotmpl.nodes import (
    Action,
    Identifier,
    If,
    Item,
    Operand,
    Pipeline,
    Range,
    Variable,
)
from transplate.gotmpl.printer import print_node


class Texts(Interface):
    """Texts."""

    def text_operand(self, value: Value) -> Operand:
        """Return a text as an expression that can be used again."""
        value = self.as_text(value, convert=False)
        kept = self.kept(value, "text")
        return self.operand(kept)

    def as_text(self, value: Value, *, convert: bool = True) -> Value:
        """Return ``str(value)``; without ``convert`` a value that is a string already."""
        value = self.known(value)
        if isinstance(value, Const):
            if isinstance(value.value, str):
                return value
            if convert:
                return Const(str(value.value))
        if isinstance(value, Cat | Json):
            return value
        if isinstance(value, Undefined) and convert:
            return Const("")
        if isinstance(value, Undefined):
            self._fail_undefined(value)
            return Const("")
        if isinstance(value, Go) and value.kinds == TEXT:
            if value.present is None:
                return value
            if convert and value.absent == "undefined" and value.present == value.expr:
                return Go(TEXT, value.expr, markup=value.markup)
        if isinstance(value, Go) and not convert:
            return self.only(value, TEXT)
        if isinstance(value, Int) and convert and lowest(value) >= 0:
            return Go(TEXT, call("print", self.int_operand(value)))
        if not convert:
            raise Refused(f"a {self._name_of(value)} where a string is needed")
        if not isinstance(value, Go) or not all(self.is_stable(operand) for operand in operands_of(value)):
            return text_value(self.captured(lambda: self.write(value)))
        printed = " ".join(print_node(operand) for operand in operands_of(value))
        key = f"text of {sorted(value.kinds)} {value.absent} {printed}"
        found = self.state.decoded.get(key)
        if found is None:
            found = text_value(self.captured(lambda: self.write(value)))
            self.state.decoded[key] = found
        return found

    def captured(self, write: Callable[[], None]) -> Operand:
        """Return what something prints, in a variable unless it is but one thing."""
        sink, self.sink = self.sink, self.fresh("text")
        made = self.sink
        try:
            with self.block() as items:
                write()
        finally:
            self.sink = sink
        if not items:
            return string("")
        *before, last = items
        whole = _sum_of(last, made)
        if whole is None or any(_sum_of(item, made) is not None or _sets(item, made) for item in before):
            self.items.append(build.declare(made, string("")))
            self.items.extend(items)
            return made
        self.items.extend(before)
        if len(whole) == 1 and not isinstance(whole[0], Pipeline) and self.is_stable(whole[0]):
            return whole[0]
        self.items.append(build.declare(made, whole[0] if len(whole) == 1 else call("print", *whole)))
        return made


def _sum_of(item: Item, sink: Variable) -> tuple[Operand, ...] | None:
    """Return what a statement adds to a variable that collects what is printed."""
    if not isinstance(item, Action) or item.pipeline.declarations != (sink,):
        return None
    operands = item.pipeline.commands[0].operands
    return (
        operands[2:] if item.pipeline.is_assignment and operands[:2] == (Identifier("print"), sink) else None
    )


def _sets(item: Item, variable: Variable) -> bool:
    """Tell whether a statement has an action that sets a variable in it."""
    if isinstance(item, Action):
        return variable in item.pipeline.declarations
    if isinstance(item, If | Range):
        bodies = [item.body]
        if isinstance(item.orelse, If):
            bodies.append((item.orelse,))
        elif item.orelse is not None:
            bodies.append(item.orelse.body)
        return any(_sets(one, variable) for body in bodies for one in body)
    return False
