"""Macros: written out where they are called; those that call themselves are templates that Go calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import string
from transplate.convert.jinja_to_go.defines import DEFINES
from transplate.convert.jinja_to_go.interface import Interface, MacroTemplate
from transplate.convert.jinja_to_go.operands import variable_name, variables_of, with_variable
from transplate.convert.jinja_to_go.reads import GENERATOR, is_generator, is_read_again, names_in
from transplate.convert.jinja_to_go.refusals import Ambiguous, ReadInItself, Refused
from transplate.convert.jinja_to_go.state import State
from transplate.convert.jinja_to_go.values import (
    ANY,
    Const,
    DictOf,
    Go,
    ListOf,
    MacroOf,
    Namespace,
    Poison,
    Undefined,
    Value,
)
from transplate.gotmpl.nodes import Operand, TemplateCall, Variable
from transplate.gotmpl.printer import print_node
from transplate.jinja import nodes as j

_MOST_VARIANTS = 12
_LONG_MACRO = 4
"""Names in a macro that is not written out again and again where the result is to be short."""
_DOLLAR = Variable("$")


class Macros(Interface):
    """Writes what macros print."""

    def call_macro(self, macro: MacroOf, node: j.Call) -> None:
        """Write what a macro prints."""
        found = macro.node
        values: dict[str, Value] = {}
        read = set(_names_read(found))
        if "caller" in dict(node.keywords) and "caller" not in read:
            self.fail(f"macro {found.name!r} was invoked with two values for the special caller argument")
            return
        for name, argument in (*zip(found.parameters, node.arguments, strict=False), *node.keywords):
            if name in read:
                given = self.value(argument)
                if is_generator(argument, given) and is_read_again(found.body, name, 1):
                    raise Refused(GENERATOR)
                values[name] = self.kept(given, variable_name(name))
            else:
                values[name] = Undefined(name)
        if len(node.arguments) > len(found.parameters):
            raise Refused("a macro with more arguments than parameters")
        if self.written_by_go(macro, values):
            return
        if self.cycle_of(macro):
            defaults = zip(reversed(found.parameters), reversed(found.defaults), strict=False)
            constant = {name: Const(node.value) for name, node in defaults if isinstance(node, j.Literal)}
            self._call_itself(macro, {**constant, **values})
            return
        if (
            self.is_compact
            and self.recursion is not None
            and sum(1 for _ in names_in(found.body)) > _LONG_MACRO
        ):
            self.print(self.asked(macro, values))
            return
        self._write_inline(macro, values)

    def _write_inline(self, macro: MacroOf, values: dict[str, Value]) -> None:
        """Write a macro out where it is called."""
        scopes, depth = self.state.scopes, self._depth_of(macro)
        self.state.scopes = [*scopes[:depth], values]
        loops, self._loops = self._loops, []
        try:
            self.write_macro(macro.node, values)
        finally:
            self._loops = loops
            self.state.scopes = [*self.state.scopes[:depth], *scopes[depth:]]

    def _depth_of(self, macro: MacroOf) -> int:
        """Return how many scopes a macro sees: those that it is defined in."""
        name = macro.node.name
        for depth, scope in reversed(list(enumerate(self.state.scopes, 1))):
            if scope.get(name) == macro:
                if depth > 1 and name in names_in(macro.node.body):
                    raise Refused(f"the macro {name}, which calls itself in a loop")
                return depth
        raise Refused(f"the macro {name}, called out of the scope that it is defined in")

    def write_macro(self, macro: j.Macro, values: dict[str, Value]) -> None:
        """Write the body of a macro with its arguments."""
        defaults = dict(zip(reversed(macro.parameters), reversed(macro.defaults), strict=False))
        for name in macro.parameters:
            if name not in values:
                values[name] = self.value(defaults[name]) if name in defaults else Undefined(name)
        self.body(macro.body)

    def _call_itself(self, macro: MacroOf, values: dict[str, Value]) -> None:
        """Write what a macro prints that can come to call itself."""
        if self.sink is None and self._call_template(macro, values):
            return
        if self.recursion is None and macro.node.name in self._printing:
            raise ReadInItself(macro.node.name)
        if self.sink is None and self._written_out(macro, values):
            return
        self.print(self.answer_of(macro, values))

    def _written_out(self, macro: MacroOf, values: dict[str, Value]) -> bool:
        """Write a macro out, whose arguments no template can have; False if what it calls cannot be one."""
        name, kept = macro.node.name, dict(self.macro_templates)
        if name in self._read_in_itself:
            return False
        restore = self._checkpoint()
        printing, self._printing = self._printing, self._printing | {name}
        try:
            self._write_inline(macro, dict(values))
        except ReadInItself as found:
            if found.name not in self.cycle_of(macro):
                raise
            self.macro_templates = kept
            restore()
            return False
        finally:
            self._printing = printing
        return True

    # --- templates that Go calls ----------------------------------------------------------------------

    def _call_template(self, macro: MacroOf, values: dict[str, Value]) -> bool:
        """Write a call of a template that prints what a macro does; False if it cannot be one."""
        for name, value in values.items():
            if isinstance(value, Go) and value.present is not None:
                present = self.settled(value.present)
                absent: Value = Const(None) if value.absent == "none" else Undefined(name)
                there = Go(value.kinds, value.expr, markup=value.markup)
                if isinstance(present, bool):
                    return self._call_template(macro, {**values, name: there if present else absent})
                self.branch(
                    present,
                    self._called_with(macro, {**values, name: there}),
                    self._called_with(macro, {**values, name: absent}),
                )
                return True
        return self._call_with(macro, values)

    def _called_with(self, macro: MacroOf, values: dict[str, Value]) -> Callable[[], None]:
        def write() -> None:
            narrowed = {
                name: self.known(value) if isinstance(value, Go) else value for name, value in values.items()
            }
            self._call_itself(macro, narrowed)

        return write

    def _call_with(self, macro: MacroOf, values: dict[str, Value]) -> bool:
        values = {name: _widened(value) for name, value in values.items()}
        if any(_is_bound(value) for value in values.values()):
            return False
        dot, moved = _handed(values)
        if dot is None:
            return False
        key = (macro.node.name, tuple(sorted((name, _text_of(value)) for name, value in moved.items())))
        made = self.macro_templates.get(key)
        if made is None:
            made = self._macro_template(macro, moved, key)
        if not made.name:
            return False
        self.items.append(TemplateCall(string(made.name), build.pipeline(dot)))
        return True

    def _macro_template(
        self, macro: MacroOf, values: dict[str, Value], key: tuple[str, object]
    ) -> MacroTemplate:
        """Return a macro as a template; its arguments are parts of dot."""
        name = macro.node.name
        variants = sum(1 for one in self.macro_templates if one[0] == name)
        number = variants + 1 + (name in DEFINES)  # the names of our own templates are taken
        made = MacroTemplate(name if number == 1 else f"{name} {number}", [])
        if variants >= _MOST_VARIANTS:
            return MacroTemplate("", [])
        kept = dict(self.macro_templates)
        self.macro_templates[key] = made
        restore = self._checkpoint()
        try:
            self.state = State(
                [{name: _outside(value) for name, value in self.state.scopes[0].items()}, values],
                {
                    place: Poison("a namespace in a macro that calls itself", True)
                    for place in self.state.attributes
                },
            )
            self._loops, self.indexes = [], {}
            with self.block() as items:
                self._write_template(macro, values)
        except (Refused, Ambiguous):
            self.macro_templates = {**kept, key: MacroTemplate("", [])}
            restore()
            return self.macro_templates[key]
        except ReadInItself as found:
            cycle = self.cycle_of(macro)
            if found.name not in cycle:
                raise
            self.macro_templates = kept
            restore()
            self._read_in_itself |= cycle
            return self._macro_template(macro, values, key)
        losses = self.losses
        restore()
        self.losses = losses
        made.items = items
        return made

    def _write_template(self, macro: MacroOf, values: dict[str, Value]) -> None:
        name = macro.node.name
        if name in self._read_in_itself:
            self.print(self.answer_of(macro, values))
            return
        printing, self._printing = self._printing, self._printing | {name}
        try:
            self.write_macro(macro.node, values)
        finally:
            self._printing = printing


def _names_read(macro: j.Macro) -> Iterator[str]:
    """Yield the names that a macro reads, but for parameters that it only hands to itself."""
    pending: list[Any] = [macro.body, macro.defaults]
    while pending:
        part = pending.pop()
        if isinstance(part, j.Name):
            yield part.name
        elif isinstance(part, j.Call) and part.function == j.Name(macro.name):
            handed = (*zip(macro.parameters, part.arguments, strict=False), *part.keywords)
            pending.extend(argument for name, argument in handed if argument != j.Name(name))
        elif isinstance(part, tuple):
            pending.extend(part)
        elif is_dataclass(part):
            pending.extend(getattr(part, one.name) for one in fields(part))


def _variables(value: Value) -> Iterator[str]:
    if isinstance(value, Go):
        yield from variables_of(value.expr)


def _is_bound(value: Value) -> bool:
    """Tell whether a value cannot be handed to a template."""
    if isinstance(value, ListOf):
        return any(_is_bound(item) or isinstance(item, Go) for item in value.items)
    if isinstance(value, DictOf):
        return any(_is_bound(item) or isinstance(item, Go) for pair in value.items for item in pair)
    return not isinstance(value, Const | Undefined | Go | MacroOf)


def _widened(value: Value) -> Value:
    """Return a value as what it may be with others of its sort, so that fewer templates are needed."""
    if isinstance(value, Go) and value.kinds & {"list", "map"} and value.kinds <= ANY | {"undefined"}:
        return replace(value, kinds=ANY | {"undefined"})
    return value


def _handed(values: dict[str, Value]) -> tuple[Operand | None, dict[str, Value]]:
    """Return what a template is called with, and the values as parts of it; None if it is not one thing."""
    given = {print_node(value.expr): value.expr for value in values.values() if isinstance(value, Go)}
    if len(given) == 1:
        (dot,) = given.values()
        return dot, {
            name: replace(value, expr=_DOLLAR) if isinstance(value, Go) else value
            for name, value in values.items()
        }
    names = {name for value in values.values() for name in _variables(value)}
    if len(names) > 1:
        return None, values
    variable = Variable(names.pop()) if names else _DOLLAR
    return variable, {name: _moved(value, variable) for name, value in values.items()}


def _moved(value: Value, dot: Variable) -> Value:
    if not isinstance(value, Go):
        return value
    return replace(value, expr=with_variable(value.expr, dot.name, _DOLLAR))


def _text_of(value: Value) -> str:
    if isinstance(value, Go):
        return f"{sorted(value.kinds)} {print_node(value.expr)} {value.markup}"
    return repr(value)


def _outside(value: Value) -> Value:
    """Return a variable of the template as a macro's template sees it: only what is no Go."""
    if isinstance(value, MacroOf | Const | Undefined | Namespace) or not _is_bound(value):
        return value if not isinstance(value, Go) else Poison("a variable in a macro that calls itself")
    return Poison("a variable in a macro that calls itself")
