"""The exact form of a template: Python functions that walk it as Go's engine does.

Values are of any type and go through :class:`~transplate.gotmpl.runtime.Execution`; each step carries the
number of the node that Go would name if it failed. Variables live in a list, the frame, so that a block or
an expression too deep for Python can move into a function of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from transplate.gotmpl.compiler.emit import Module
from transplate.gotmpl.compiler.expressions import Code, Expressions
from transplate.gotmpl.compiler.loops import else_holds_break
from transplate.gotmpl.compiler.sizes import steps_of
from transplate.gotmpl.compiler.trampoline import Task, run
from transplate.gotmpl.nodes import (
    Action,
    Block,
    Body,
    Break,
    Continue,
    If,
    Item,
    Pipeline,
    Range,
    TemplateCall,
    Text,
    With,
)
from transplate.gotmpl.quoting import quote
from transplate.gotmpl.types import Method

_DEEPEST_BLOCK: Final = 10
"""Blocks inside one another in one Python function; Python itself allows twenty loops."""


class ExactCompiler:
    """Writes the exact form of some templates that can call one another."""

    def __init__(self, templates: Mapping[str, Body], functions: Mapping[str, Method]) -> None:
        self.module = Module()
        self.expressions = Expressions(self.module, functions)
        self._functions = {name: self.module.function("template", "x, d") for name in templates}
        self._steps = {name: steps_of(body) for name, body in templates.items()}
        self._pending: list[str] = []
        self._exits = False
        for name, body in templates.items():
            self._out = self._functions[name]
            self._template(name, body)

    def entry(self, name: str) -> str:
        """Return the name of the function of a template."""
        return self._functions[name].name

    def _template(self, name: str, body: Body) -> None:
        expressions = self.expressions
        expressions.template = name
        expressions.scope = type(expressions.scope)()
        expressions.scope.declare("$")
        expressions.dot = "d"
        run(self._body(body))
        undeclared = ["U"] * (expressions.scope.slots - 1)
        self._functions[name].prologue = [f"f = [{', '.join(['d', *undeclared])}]", "w = x.write"]

    # --- items --------------------------------------------------------------------------------------------

    def _body(self, body: Body) -> Task[None]:
        for item in body:
            if isinstance(item, Text):
                self._pending.append(item.value)
            else:
                yield self._item(item)
        self._flush()

    def _item(self, item: Item) -> Task[None]:
        if isinstance(item, Action):
            self._flush()
            yield self._action(item)
        elif isinstance(item, If | With):
            self._flush()
            yield self._branch(item)
        elif isinstance(item, Range):
            self._flush()
            yield self._range(item)
        elif isinstance(item, TemplateCall | Block):
            self._flush()
            yield self._call(item)
        elif isinstance(item, Break | Continue):
            self._flush()
            self._leave("break" if isinstance(item, Break) else "continue")

    def _flush(self) -> None:
        """Print the text gathered so far."""
        text = "".join(self._pending)
        self._pending.clear()
        if text:
            self._out.line(f"w({text!r})")

    def _evaluate(self, node: Pipeline) -> Task[Code]:
        """Translate the pipeline of a statement."""
        code: Code = yield self.expressions.pipeline(node)
        for slot in self.expressions.undeclared:
            self._out.line(f"f[{slot}] = U")
        self.expressions.undeclared.clear()
        return code

    def _action(self, node: Action) -> Task[None]:
        code: Code = yield self._evaluate(node.pipeline)
        if node.pipeline.declarations:
            self._out.line(code.text)
        else:
            self._out.line(f"x.print({code.text}, {self.expressions.number(node)})")

    def _branch(self, node: If | With) -> Task[None]:
        expressions = self.expressions
        mark, dot = expressions.scope.mark(), expressions.dot
        code: Code = yield self._evaluate(node.pipeline)
        condition = code.text
        if isinstance(node, With):
            condition = self.module.name("d")
            self._out.line(f"{condition} = {code.text}")
            expressions.dot = condition
        with self._out.block(f"if is_true({condition}):"):
            yield self._nested(node.body)
        expressions.dot = dot
        yield self._otherwise(node)
        expressions.scope.leave(mark)

    def _otherwise(self, node: If | With | Range) -> Task[None]:
        if node.orelse is None:
            return
        body: Body = (node.orelse,) if isinstance(node.orelse, If | With) else node.orelse.body
        with self._out.block("else:"):
            yield self._nested(body)

    def _nested(self, body: Body, *, stops_break: bool = False) -> Task[None]:
        """Translate the body of a block, in a function of its own where it is too deep.

        With ``stops_break`` it is in one in any case, and a break inside ends the body alone.
        """
        mark = self.expressions.scope.mark()
        outer = self._out
        if outer.depth < _DEEPEST_BLOCK and not stops_break:
            yield self._body(body)
            self.expressions.scope.leave(mark)
            return
        dot, exits = self.expressions.dot, self._exits
        part = self._out = self.module.function("part", "x, f, d")
        part.prologue = ["w = x.write"]
        self.expressions.dot, self._exits = "d", False
        yield self._body(body)
        self.expressions.scope.leave(mark)
        self.expressions.dot, self._out = dot, outer
        if not self._exits:
            outer.line(f"{part.name}(x, f, {dot})")
        elif outer.loops:
            outer.line(f"r = {part.name}(x, f, {dot})")
            if not stops_break:
                outer.line("if r == 'break': break")
            outer.line("if r == 'continue': continue")
        else:
            outer.line(f"r = {part.name}(x, f, {dot})")
            outer.line("if r == 'continue': return r" if stops_break else "if r is not None: return r")
            exits = True
        self._exits = exits

    def _leave(self, how: str) -> None:
        """Leave or repeat the innermost loop, which may be in the function that called this one."""
        if self._out.loops:
            self._out.line(how)
        else:
            self._out.line(f"return {how!r}")
            self._exits = True

    def _range(self, node: Range) -> Task[None]:
        expressions = self.expressions
        mark, dot = expressions.scope.mark(), expressions.dot
        names = [variable.name for variable in node.pipeline.declarations]
        code: Code = yield self._evaluate(node.pipeline)
        value, items = self.module.name("t"), self.module.name("t")
        self._out.line(f"{value} = {code.text}")
        last = code.last
        index, elem = self.module.name("i"), self.module.name("d")
        sets = []
        if len(names) == 2 and not node.pipeline.is_assignment:
            slots = [expressions.declare(name) for name in names]
            self._out.line(f"f[{slots[0]}] = f[{slots[1]}] = {value}")
            sets = [f"f[{slots[0]}] = {index}", f"f[{slots[1]}] = {elem}"]
        elif len(names) == 2:
            self._out.line(expressions.assignment(names[0], value, last=last))
            self._out.line(expressions.assignment(names[1], value, last=last))
            sets = [
                expressions.assignment(names[0], index, last=last),
                expressions.assignment(names[1], elem, last=last),
            ]
        elif names:
            sets = [expressions.assignment(names[0], elem, last=last)]
        kind, target = ("pairs", f"{index}, {elem}") if len(names) == 2 else ("elements", elem)
        self._out.line(f"{items} = x.{kind}({value}, {last})")
        expressions.dot = elem
        with self._out.block(f"for {target} in {items}:", loop=True):
            self._out.line(f"x.spend({steps_of(node.body)})")
            for line in sets:
                self._out.line(line)
            yield self._nested(node.body)
        expressions.dot = dot
        if node.orelse is not None:
            with self._out.block(f"if not {items}:"):
                yield self._nested(node.orelse.body, stops_break=else_holds_break(node))
        expressions.scope.leave(mark)

    def _call(self, node: TemplateCall | Block) -> Task[None]:
        if isinstance(node, Block):
            node = TemplateCall(node.name, node.pipeline, node.clause)
        number = self.expressions.number(node)
        name = node.name.value
        if name not in self._functions:
            self._out.line(f"x.fail({number}, {f'template {quote(name)} not defined'!r})")
            return
        self._out.line(f"x.enter({number}, {self._steps[name]})")
        dot = "None"
        if node.pipeline is not None:
            code: Code = yield self._evaluate(node.pipeline)
            dot = code.text
        self._out.line(f"{self._functions[name].name}(x, {dot})")
        self._out.line("x.depth -= 1")
