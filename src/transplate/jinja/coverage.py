"""Which branches of a chat template a conversation takes: the template compiled with a counter at each.

Branches are both outcomes of every ``if``, ``elif`` and inline ``if``, of every loop (whether its body ran)
and its filter, and of every operand of ``and`` and ``or``. A condition that is constant is no branch. The
counters change nothing that the template prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jinja2 import Environment, nodes
from jinja2.compiler import Frame
from jinja2.nodes import EvalContext, Impossible

from transplate.errors import TemplateExecutionError, TransplateError
from transplate.jinja.compiler import LocatingCodeGenerator, MeteredCodeGenerator
from transplate.jinja.meter import Meter
from transplate.jinja.nodes import Expression
from transplate.jinja.positions import offset_of
from transplate.jinja.reader import read_expression
from transplate.jinja.template import JinjaTemplate, parse
from transplate.jinja.writer import write_expression
from transplate.limits import Limits
from transplate.source import Source

_EXCERPT = 60


@dataclass(frozen=True, slots=True)
class Arm:
    """One of the ways that a chat template can go at one place.

    Attributes:
        construct: What is there: ``if`` (``elif`` too), ``inline if``, ``for``, ``for if`` for a loop's
            filter, or ``and`` or ``or`` for an operand of theirs.
        text: The condition, or what the loop goes over.
        outcome: Whether it is true there, or the loop's body ran.
        parent: Number of the arm that it is in; None outside of all, and in macros.
        offset: Where the condition begins in the source.
        expression: The condition as a tree; None if it is one that the tree has no nodes for.
    """

    construct: str
    text: str
    outcome: bool
    parent: int | None
    offset: int
    expression: Expression | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        """Return the arm in words."""
        if self.construct == "for":
            return f"for over {self.text} with {'something' if self.outcome else 'nothing'} in it"
        operand = "operand " if self.construct in ("and", "or") else ""
        return f"{self.construct} {operand}{self.text} being {'true' if self.outcome else 'false'}"


@dataclass(frozen=True, slots=True)
class Taken:
    """What a template, of either language, made of a conversation.

    Attributes:
        output: The prompt, without any marks; up to the error if there is one.
        arms: The numbers of the arms that were taken.
        error: The error that ended it.
    """

    output: str
    arms: frozenset[int]
    error: TemplateExecutionError | None = None


class JinjaCoverage:
    """The arms of a chat template, and which of them conversations take.

    Not for use by several threads at once.

    Args:
        source: The template.
        special_tokens: As for :class:`JinjaTemplate`.
        limits: As for :class:`JinjaTemplate`.

    Attributes:
        arms: All arms, in the order of the source.

    Raises:
        TemplateSyntaxError: Jinja refuses the template.

    Example:
        >>> coverage = JinjaCoverage("{% for m in messages %}{{ m.content if m.content }}{% endfor %}")
        >>> len(coverage.arms)
        4
        >>> taken = coverage.take([{"role": "user", "content": "Hi"}])
        >>> taken.output, [str(coverage.arms[number]) for number in sorted(taken.arms)]
        ('Hi', ['for over messages with something in it', 'inline if m.content being true'])
    """

    def __init__(
        self, source: str, *, special_tokens: Mapping[str, Any] = {}, limits: Limits | None = None
    ) -> None:
        """Read and compile the template."""
        self._template = _CountingTemplate(source, special_tokens=special_tokens, limits=limits)
        tree = parse(source)
        self.arms: tuple[Arm, ...] = tuple(_Marking(tree, self._template.source).arms)

    def take(
        self,
        messages: Sequence[Any],
        tools: Sequence[Any] | None = None,
        *,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
        variables: Mapping[str, Any] = {},
        now: datetime | None = None,
    ) -> Taken:
        """Render a conversation, as :meth:`JinjaTemplate.render` does, and say which arms it took.

        Raises:
            RequestError: As :meth:`JinjaTemplate.render`.
        """
        error = None
        try:
            output = self._template.render(
                messages,
                tools,
                add_generation_prompt=add_generation_prompt,
                continue_final_message=continue_final_message,
                variables=variables,
                now=now,
            )
        except TemplateExecutionError as raised:
            output, error = raised.output, raised
        return Taken(output, frozenset(self._template.taken), error)


class _CountingMeter(Meter):
    """A meter that notes which arms are taken."""

    __slots__ = ("taken",)

    def __init__(self, limits: Limits, now: datetime | None = None) -> None:
        super().__init__(limits, now)
        self.taken: set[int] = set()

    def took(self, number: int, value: Any) -> Any:
        """Note the arm that a condition leads to, and return its value; a false one leads to the next arm."""
        self.taken.add(number if value else number + 1)
        return value


class _CountingCodeGenerator(MeteredCodeGenerator):
    """Generates the same code, in which conditions and the bodies of loops note that they were there."""

    def __init__(self, environment: Environment, source: str) -> None:
        super().__init__(environment, source)
        self._marking: _Marking | None = None

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:  # noqa: N802
        """Generate the module of a template."""
        self._marking = _Marking(node, Source(self.source))
        super().visit_Template(node, frame)

    def write_commons(self) -> None:
        """Bind the names that generated code uses."""
        super().write_commons()
        self.writeline("took = meter.took")

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        """Generate a node; a condition goes through the counter."""
        number = None if self._marking is None else self._marking.conditions.get(id(node))
        if number is None:
            return super().visit(node, *args, **kwargs)
        self.write(f"took({number}, ")
        super().visit(node, *args, **kwargs)
        self.write(")")
        return None

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802
        """Generate a loop, and after it the note that its body did not run."""
        number = self._marking.loops.get(id(node.body)) if self._marking is not None else None
        if number is None:
            super().visit_For(node, frame)
            return
        self.writeline(f"ran_{number} = False")
        super().visit_For(node, frame)
        self.writeline(f"if not ran_{number}: took({number}, False)")

    def blockvisit(self, nodes: list[nodes.Node], frame: Frame) -> None:  # type: ignore[override]
        """Generate the statements of a body."""
        number = self._marking.loops.get(id(nodes)) if self._marking is not None else None
        if number is not None:
            self.writeline(f"ran_{number} = took({number}, True)")
        super().blockvisit(nodes, frame)


class _LocatingCountingCodeGenerator(LocatingCodeGenerator, _CountingCodeGenerator):
    """Generates the counting code and remembers which node each piece of it came from."""


class _CountingTemplate(JinjaTemplate):
    """A chat template whose last rendering tells which arms it took."""

    _generator = _CountingCodeGenerator
    _locating_generator = _LocatingCountingCodeGenerator
    taken: set[int]

    def _meter(self, now: datetime | None) -> Meter:
        meter = _CountingMeter(self.limits, now)
        self.taken = meter.taken
        return meter


class _Marking:
    """The walk over a tree.

    Attributes:
        arms: What was found.
        conditions: The number of the true arm of each condition, by the identity of its node.
        loops: The same of each loop, by the identity of the list that is its body.
    """

    def __init__(self, tree: nodes.Template, source: Source) -> None:
        self.arms: list[Arm] = []
        self.conditions: dict[int, int] = {}
        self.loops: dict[int, int] = {}
        self._source = source
        self._constants = EvalContext(_environment_of(tree))
        self._bodies(tree.body, None)

    def _bodies(self, body: list[nodes.Node], parent: int | None) -> None:
        for node in body:
            self._walk(node, parent)

    def _walk(self, node: nodes.Node, parent: int | None) -> None:
        if isinstance(node, nodes.If):
            self._if(node, parent)
        elif isinstance(node, nodes.For):
            self._for(node, parent)
        elif isinstance(node, nodes.CondExpr):
            true, false = self._condition("inline if", node.test, parent)
            self._walk(node.expr1, true)
            if node.expr2 is not None:
                self._walk(node.expr2, false)
        elif isinstance(node, nodes.And | nodes.Or):
            construct = type(node).__name__.lower()
            for operand in _operands(node):
                true, false = self._condition(construct, operand, parent)
                parent = true if construct == "and" else false
        elif isinstance(node, nodes.Macro):
            self._bodies(node.body, None)
        else:
            for child in node.iter_child_nodes():
                self._walk(child, parent)

    def _if(self, node: nodes.If, parent: int | None) -> None:
        for branch in (node, *node.elif_):
            true, parent = self._condition("if", branch.test, parent)
            self._bodies(branch.body, true)
        self._bodies(node.else_, parent)

    def _for(self, node: nodes.For, parent: int | None) -> None:
        self._walk(node.iter, parent)
        if node.test is not None:
            self._condition("for if", node.test, parent)
        some, none = parent, parent
        # The body of a recursive loop is a function of its own, in which the count would be another.
        if not node.recursive:
            some, none = self._arms("for", node.iter, parent)
            self.loops[id(node.body)] = some
        self._bodies(node.body, some)
        self._bodies(node.else_, none)

    def _condition(
        self, construct: str, node: nodes.Node, parent: int | None
    ) -> tuple[int | None, int | None]:
        """Return the numbers of a condition's arms, those of the arm around it if it has none."""
        self._walk(node, parent)
        assert isinstance(node, nodes.Expr)  # noqa: S101
        try:
            node.as_const(self._constants)
        except Impossible:
            true, false = self._arms(construct, node, parent)
            self.conditions[id(node)] = true
            return true, false
        return parent, parent

    def _arms(self, construct: str, node: nodes.Node, parent: int | None) -> tuple[int, int]:
        number = len(self.arms)
        places = [part.lineno for part in (node, *node.find_all(nodes.Node)) if part.lineno is not None]
        offset = offset_of(self._source.text, min(places, default=1))
        expression: Expression | None = None
        try:
            read = read_expression(node, self._source)
            text, expression = write_expression(read), read
        except TransplateError:
            text = self._source.text[offset : offset + _EXCERPT].split("%}")[0].strip()
        self.arms += [Arm(construct, text, outcome, parent, offset, expression) for outcome in (True, False)]
        return number, number + 1


def _environment_of(tree: nodes.Template) -> Environment:
    assert tree.environment is not None  # noqa: S101
    return tree.environment


def _operands(node: nodes.And | nodes.Or) -> Iterator[nodes.Expr]:
    """Yield the operands of a chain of one operator, which Jinja nests to the left."""
    if isinstance(node.left, type(node)):
        yield from _operands(node.left)
    else:
        yield node.left
    yield node.right
