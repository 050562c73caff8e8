"""Jinja's code generator with the meter built into what it emits.

Compiled templates run the code that Jinja would give them, save that loops, macros and blocks pay for each
run of their body, and that operators which bypass the environment (``+``, ``~``, comparisons, slices,
output) go through functions of the meter. Line numbers in the syntax tree are places in the source (see
:mod:`transplate.jinja.positions`), so what Jinja records about lines leads to columns as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, nodes
from jinja2.compiler import CodeGenerator, Frame, operators, optimizeconst
from jinja2.optimizer import Optimizer
from jinja2.runtime import BlockReference, TemplateReference
from markupsafe import Markup

from transplate.jinja.positions import line_of

_NODES_PER_STEP = 2
_CHARACTERS_PER_NODE = 256
_PAID_BODIES: tuple[type[Any], ...] = (nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block)
_METER_FUNCTIONS = ("add", "concat", "escape", "made", "markup_join", "seen", "str_join")
_ARITHMETIC = (nodes.Const, nodes.BinExpr, nodes.UnaryExpr, nodes.Compare, nodes.Test)
"""Expressions whose value is a scalar, or is paid for where it is made."""


class MeteredTemplateReference(TemplateReference):
    """``self`` in a template; its blocks pay for what they print."""

    def __getitem__(self, name: str) -> MeteredBlockReference:
        context = self._TemplateReference__context  # type: ignore[attr-defined]
        return MeteredBlockReference(name, context, context.blocks[name], 0)


class MeteredBlockReference(BlockReference):
    """A block that a template calls by its name."""

    def __call__(self) -> str:
        """Return what the block prints."""
        context: Any = self._context
        text: str = context.meter.concat(self._stack[self._depth](context))
        return Markup(text) if context.eval_ctx.autoescape else text  # noqa: S704


class _OnceOptimizer(Optimizer):
    """Folds constants as Jinja does, but looks at each expression once.

    Jinja's generator asks again at each level of a nested expression, which takes time in the cube of its
    depth.
    """

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._done: dict[int, nodes.Node] = {}

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        """Return a node with what is constant in it folded."""
        if id(node) in self._done:
            return node
        folded = super().visit(node, *args, **kwargs)
        self._done[id(folded)] = folded
        return folded


class MeteredCodeGenerator(CodeGenerator):
    """Generates Python from a syntax tree, with the meter's functions where a template could do much work.

    Args:
        environment: The environment that the code will run in.
        source: The template, for the line numbers that Jinja writes into messages.
    """

    _step_costs: Mapping[int, int] = {}
    _loop_tests: frozenset[int] = frozenset()

    def __init__(self, environment: Environment, source: str) -> None:
        super().__init__(environment, None, None)
        self.source = source
        self.optimizer = _OnceOptimizer(environment)

    def code(self) -> str:
        """Return what was generated."""
        text: str = self.stream.getvalue()  # type: ignore[attr-defined]
        return text

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:  # noqa: N802
        """Generate the module of a template."""
        self._step_costs = {
            id(body): 2 + _count_nodes(body) // _NODES_PER_STEP
            for kind in _PAID_BODIES
            for body in (part.body for part in node.find_all(kind))
        }
        self._loop_tests = frozenset(
            id(part.test) for part in node.find_all(nodes.For) if part.test is not None
        )
        super().visit_Template(node, frame)

    def write_commons(self) -> None:
        """Bind the names that generated code uses; some stand for functions of Python and Jinja."""
        super().write_commons()
        self.writeline("meter = context.meter")
        self.writeline("str = meter.text")
        for name in _METER_FUNCTIONS:
            self.writeline(f"{name} = meter.{name}")
        self.writeline("TemplateReference = environment.template_reference")

    def blockvisit(self, nodes: list[nodes.Node], frame: Frame) -> None:  # type: ignore[override]
        """Generate the statements of a body, which pays for a step where it can run again."""
        cost = self._step_costs.get(id(nodes))
        if cost is not None:
            self.writeline(f"meter.remaining -= {cost}")
            self.writeline("if meter.remaining < 0: meter.stop()")
        super().blockvisit(nodes, frame)

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        """Generate a node; the condition of a filtered loop pays for each item it looks at."""
        if id(node) not in self._loop_tests:
            return super().visit(node, *args, **kwargs)
        self.write("(meter.step() and ")
        super().visit(node, *args, **kwargs)
        self.write(")")
        return None

    def position(self, node: nodes.Node) -> str:
        """Return the line of a node for a message."""
        return f"line {line_of(self.source, node.lineno)}"

    @optimizeconst
    def visit_Add(self, node: nodes.BinExpr, frame: Frame) -> None:  # noqa: N802
        """Generate ``+``."""
        self.write("add(")
        self.visit(node.left, frame)
        self.write(", ")
        self.visit(node.right, frame)
        self.write(")")

    @optimizeconst
    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:  # noqa: N802
        """Generate a comparison; comparing with a constant costs nothing that needs counting."""
        operands = [node.expr, *(part.expr for part in node.ops)]
        constant = [isinstance(operand, nodes.Const) for operand in operands]
        paid = [False] * len(operands)
        for index, part in enumerate(node.ops):
            if part.op in ("in", "notin"):
                paid[index] |= not constant[index]
                paid[index + 1] |= not constant[index + 1]
            elif not constant[index] and not constant[index + 1]:
                paid[index] = True
        self.write("(")
        for index, operand in enumerate(operands):
            if index:
                self.write(f" {operators[node.ops[index - 1].op]} ")
            self._visit_paid(operand, frame, paid=paid[index])
        self.write(")")

    @optimizeconst
    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802
        """Generate an index or a slice; a slice makes a value, an index may be hashed."""
        if isinstance(node.arg, nodes.Slice):
            # Python itself warns of a constant that is subscripted, so a function stands in between.
            self.write("made(identity(" if isinstance(node.node, nodes.Const) else "made((")
            self.visit(node.node, frame)
            self.write(")[")
            self.visit(node.arg, frame)
            self.write("])")
            return
        self.write("environment.getitem(")
        self.visit(node.node, frame)
        self.write(", ")
        self._visit_paid(node.arg, frame, paid=not isinstance(node.arg, _ARITHMETIC))
        self.write(")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802
        """Generate a dict, whose keys are hashed."""
        self.write("{")
        for item in node.items:
            self._visit_paid(item.key, frame, paid=not isinstance(item.key, _ARITHMETIC))
            self.write(": ")
            self.visit(item.value, frame)
            self.write(", ")
        self.write("}")

    def _visit_paid(self, node: nodes.Expr, frame: Frame, *, paid: bool) -> None:
        if paid:
            self.write("seen(")
        self.visit(node, frame)
        if paid:
            self.write(")")


class LocatingCodeGenerator(MeteredCodeGenerator):
    """Generates the same code and remembers which node each piece of it came from."""

    def __init__(self, environment: Environment, source: str) -> None:
        super().__init__(environment, source)
        self.pieces: list[tuple[int, int, int]] = []

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        """Generate a node."""
        start = self.stream.tell()
        result = super().visit(node, *args, **kwargs)
        self.pieces.append((start, self.stream.tell(), _place_of(node)))
        return result


def _place_of(node: nodes.Node) -> int:
    """Return the place of a node; of a call, that of the name it calls."""
    while isinstance(node, nodes.Call):
        node = node.node
    return node.lineno


def _count_nodes(body: list[nodes.Node]) -> int:
    """Return the size of a body without the bodies in it that pay for themselves."""
    count = 0
    pending: list[nodes.Node] = list(body)
    while pending:
        node = pending.pop()
        count += 1
        text = node.data if isinstance(node, nodes.TemplateData) else getattr(node, "value", None)
        if isinstance(text, str):
            count += len(text) // _CHARACTERS_PER_NODE
        if isinstance(node, _PAID_BODIES):
            pending.extend(node.iter_child_nodes(exclude=("body",)))
        else:
            pending.extend(node.iter_child_nodes())
    return count
