"""Jinja's statements, written in Go."""

from __future__ import annotations

import re

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.defines import DEFINES
from transplate.convert.jinja_to_go.interface import Interface, Scope
from transplate.convert.jinja_to_go.reads import GENERATOR, is_generator, is_read_again
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.values import (
    Const,
    MacroOf,
    Value,
    text_value,
)
from transplate.gotmpl.nodes import (
    Break,
    Continue,
    Range,
)
from transplate.jinja import nodes as j


class Statements(Interface):
    """Jinja's statements, written in Go."""

    def body(self, nodes: j.Body) -> None:
        """Write statements."""
        for node in nodes:
            if self.dead:
                return
            outer, self.place = self.place, self.tree.places.get(id(node), self.place)
            self.by_cases(lambda node=node: self.statement(node))  # type: ignore[misc]
            self.place = outer

    def statement(self, node: j.Statement) -> None:
        """Write a statement."""
        match node:
            case j.Output(parts):
                for part in parts:
                    if not self.dead:
                        self.place = self.tree.places.get(id(part), self.place)
                        self.by_cases(lambda part=part: self.output(part))  # type: ignore[misc]
            case j.If(test, body, orelse):
                found = self.decided(lambda: self.condition(test))
                if isinstance(found, bool):
                    self.body(body if found else orelse)
                elif not self.dead:
                    self.branch(found, lambda: self.body(body), lambda: self.body(orelse))
            case j.For():
                self._for(node)
            case j.Set(target, value):
                found_value = self.value(value)
                if is_generator(value, found_value) and not (
                    isinstance(target, j.Name) and not is_read_again(self.tree.body, target.name, 2)
                ):
                    raise Refused(GENERATOR)
                self._set(target, found_value)
            case j.SetBlock(target, body):
                with self.scope():
                    captured = self.captured(lambda: self.body(body))
                self._set(target, text_value(captured))
            case j.Macro():
                self.state.scopes[-1][node.name] = MacroOf(node)
            case j.Scope(body):
                with self.scope():
                    self.body(body)
            case j.Break() | j.Continue():
                self._leave(Break() if isinstance(node, j.Break) else Continue())
            case _:
                raise Refused(f"the statement {type(node).__name__}")

    def scope(self) -> Scope:
        """Open a scope of variables."""
        return Scope(self)

    def fail_with(self, value: Value) -> None:
        """Stop with an error that holds a text."""
        text = self.as_text(value)
        if isinstance(text, Const) and not _is_name_of_template(str(text.value)):
            self.fail(str(text.value))
            return
        self.items.append(Range(build.pipeline(self.operand(text)), ()))
        self.dead = True


def _is_name_of_template(message: str) -> bool:
    """Whether a template may have this name: the whole has an empty one, a macro's its own and a number."""
    return message in DEFINES or re.fullmatch(r"(\w+( \d+)?)?", message) is not None
