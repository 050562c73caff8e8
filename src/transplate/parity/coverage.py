"""Which branches of a Go template a request takes: the template with marks in it, rendered as ever.

Marks are texts that stand in both arms of a test put in front of each branch: of every if, with and range,
and of every operand of ``and`` and ``or``. Nothing that is there is changed, and a test has no effects, so
that the marked template prints what the template prints, and the marks, in real Ollama as well. It may differ
in the texts of errors, and where a condition assigns variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime

from transplate.errors import TemplateExecutionError
from transplate.gotmpl.compiler.trampoline import Task, run
from transplate.gotmpl.nodes import (
    Action,
    Block,
    Body,
    Break,
    Chain,
    Clause,
    Command,
    Comment,
    Continue,
    Define,
    Else,
    Identifier,
    If,
    Item,
    Operand,
    Pipeline,
    Range,
    TemplateCall,
    TemplateTree,
    Text,
    With,
)
from transplate.gotmpl.parser import parse
from transplate.gotmpl.printer import print_node, print_template
from transplate.jinja.coverage import Taken
from transplate.limits import DEFAULT_LIMITS, Limits
from transplate.ollama.functions import FUNCTIONS
from transplate.ollama.template import OllamaTemplate
from transplate.ollama.values import Values
from transplate.ollama.versions import NEWEST

_OPEN, _CLOSE = "\U0010fff0", "\U0010fff1"
"""What a mark's number stands between: two characters that nobody uses."""
_MARK = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")


@dataclass(frozen=True, slots=True)
class Arm:
    """One of the ways that a template can go at one place.

    Attributes:
        construct: What is there: ``if``, ``with``, ``range``, or ``and`` or ``or`` for an operand of theirs.
        condition: The pipeline or operand.
        outcome: Whether it is true there, or the range has elements.
        parent: Number of the arm that it is in; None outside of all.
        dot: Whose dot it sees: the number of the arm of a range or with, a negative number for a definition,
            None for the data that the template is given.
    """

    construct: str
    condition: Pipeline | Operand
    outcome: bool
    parent: int | None
    dot: int | None

    @property
    def text(self) -> str:
        """The condition as Go prints it."""
        return print_node(self.condition)

    def __str__(self) -> str:
        """Return the arm in words."""
        if self.construct == "range":
            return f"range {self.text} over {'something' if self.outcome else 'nothing'}"
        operand = "" if self.construct in ("if", "with") else "operand "
        return f"{self.construct} {operand}{self.text} being {'true' if self.outcome else 'false'}"


class GoCoverage:
    """The arms of an Ollama template, and which of them requests take.

    Args:
        source: The template.
        ollama: The version of Ollama to behave like.
        limits: The limits of the template; the marks get as much again.

    Attributes:
        arms: All arms, in the order of the source.
        marked: The source of the marked template.

    Raises:
        TemplateSyntaxError: Ollama refuses the template.

    Example:
        >>> coverage = GoCoverage("{{ range .Messages }}{{ if .Thinking }}…{{ end }}{{ .Content }}{{ end }}")
        >>> len(coverage.arms)
        4
        >>> taken = coverage.take(Values([{"role": "user", "content": "Hi"}]))
        >>> taken.output, [str(coverage.arms[number]) for number in sorted(taken.arms)]
        ('Hi', ['range .Messages over something', 'if .Thinking being false'])
    """

    def __init__(self, source: str, *, ollama: str = NEWEST, limits: Limits = DEFAULT_LIMITS) -> None:
        """Read the template and mark it."""
        marking = _Marking(parse(source, functions=FUNCTIONS, limits=limits))
        self.arms: tuple[Arm, ...] = tuple(marking.arms)
        self.body: Body = marking.body
        self.marked: str = print_template(marking.body)
        doubled = replace(limits, source=limits.source * 4, steps=limits.steps * 2, output=limits.output * 2)
        self._template = OllamaTemplate(self.marked, ollama=ollama, limits=doubled)

    def take(self, values: Values, *, now: datetime | date | None = None) -> Taken:
        """Execute the marked template on values.

        Args:
            values: What the template gets.
            now: What the date functions take for now.

        Raises:
            RequestError: As :meth:`OllamaTemplate.execute`.
        """
        try:
            return read_marks(self._template.execute(values, now=now))
        except TemplateExecutionError as error:
            return replace(read_marks(error.output), error=error)


def read_marks(output: str) -> Taken:
    """Return what a marked template printed, and the arms that it took."""
    return Taken(_MARK.sub("", output), frozenset(map(int, _MARK.findall(output))))


class _Marking:
    """The walk over a tree: its ``body`` is the marked one, its ``arms`` are what the marks stand for."""

    def __init__(self, tree: TemplateTree) -> None:
        self.arms: list[Arm] = []
        self._parent: int | None = None
        self._dot: int | None = None
        self._definitions = 0
        self.body: Body = run(self._body(tree.body))

    # --- items ------------------------------------------------------------------------------------------

    def _body(self, body: Body) -> Task[Body]:
        marked: list[Item] = []
        for item in body:
            marked += yield self._item(item)
        return tuple(marked)

    def _within(self, arm: int, body: Body, *, sets_dot: bool = False) -> Task[Body]:
        """Mark a body that is in an arm, which may be one that sets dot."""
        marked: Body = yield self._at(arm, arm if sets_dot else self._dot, body)
        return marked

    def _definition(self, body: Body) -> Task[Body]:
        """Mark the body of a definition, which is in no arm and has a dot of its own."""
        self._definitions += 1
        marked: Body = yield self._at(None, -self._definitions, body)
        return marked

    def _at(self, parent: int | None, dot: int | None, body: Body) -> Task[Body]:
        outer = self._parent, self._dot
        self._parent, self._dot = parent, dot
        marked: Body = yield self._body(body)
        self._parent, self._dot = outer
        return marked

    def _item(self, item: Item) -> Task[Body]:
        """Return an item and the tests in front of it, with all white space settled."""
        match item:
            case Text():
                return (Text(item.value, item.value),)
            case Comment():
                return ()
            case Action() | TemplateCall():
                probes: Body = () if item.pipeline is None else (yield self._operands(item.pipeline))
                return (*probes, replace(item, clause=Clause()))
            case If() | With():
                probes, arms = yield self._condition(item)
                return (*probes, (yield self._branch(item, iter(arms))))
            case Range():
                probes, (some, none) = yield self._range(item)
                body: Body = yield self._within(some, item.body, sets_dot=True)
                orelse = None
                if item.orelse is not None:
                    orelse = Else((yield self._within(none, item.orelse.body)))
                return (*probes, Range(item.pipeline, body, orelse))
            case Define():
                return (Define(item.name, (yield self._definition(item.body))),)
            case Block():
                probes = yield self._operands(item.pipeline)
                return (*probes, Block(item.name, item.pipeline, (yield self._definition(item.body))))
            case Break() | Continue():
                return (type(item)(),)

    def _branch(self, branch: If | With, arms: Iterator[int]) -> Task[If | With]:
        """Return an if or with, its bodies marked; ``arms`` are the numbers of its arms and those chained."""
        body: Body = yield self._within(next(arms), branch.body, sets_dot=isinstance(branch, With))
        otherwise = next(arms)
        orelse: Else | If | With | None = None
        if isinstance(branch.orelse, Else):
            orelse = Else((yield self._within(otherwise, branch.orelse.body)))
        elif branch.orelse is not None:
            orelse = replace((yield self._branch(branch.orelse, arms)), end=None)
        return type(branch)(branch.pipeline, body, orelse)  # type: ignore[arg-type]

    # --- tests ------------------------------------------------------------------------------------------

    def _arm(self, construct: str, condition: Pipeline | Operand, outcome: bool) -> tuple[int, Text]:
        """Return a new arm's number and its mark."""
        number = len(self.arms)
        self.arms.append(Arm(construct, condition, outcome, self._parent, self._dot))
        mark = f"{_OPEN}{number}{_CLOSE}"
        return number, Text(mark, mark)

    def _condition(self, branch: If | With) -> Task[tuple[Body, list[int]]]:
        """Return the tests of an if or with and of those chained to it, and the numbers of their arms."""
        construct = type(branch).__name__.lower()
        probes: Body = yield self._operands(branch.pipeline)
        is_true, yes = self._arm(construct, branch.pipeline, True)
        is_false, no = self._arm(construct, branch.pipeline, False)
        chained: Body = ()
        arms = [is_true, is_false]
        if isinstance(branch.orelse, If | With):
            outer, self._parent = self._parent, is_false
            chained, others = yield self._condition(branch.orelse)
            self._parent = outer
            arms += others
        test = type(branch)(_without_assignment(branch.pipeline), (yes,), Else((no, *chained)))
        return (*probes, test), arms

    def _range(self, branch: Range) -> Task[tuple[Body, list[int]]]:
        probes: Body = yield self._operands(branch.pipeline)
        some, elements = self._arm("range", branch.pipeline, True)
        none, nothing = self._arm("range", branch.pipeline, False)
        pipeline = replace(branch.pipeline, declarations=(), is_assignment=False, comma_only=False)
        return (*probes, Range(pipeline, (elements, Break()), Else((nothing,)))), [some, none]

    def _operands(self, pipeline: Pipeline) -> Task[Body]:
        """Return the tests of the operands of each ``and`` and ``or`` in a pipeline."""
        probes: list[Item] = []
        for command in pipeline.commands:
            first, *arguments = command.operands
            if isinstance(first, Identifier) and first.name in ("and", "or"):
                probes += yield self._short_circuit(first.name, arguments)
            else:
                for operand in command.operands:
                    probes += yield self._inside(operand)
        return tuple(probes)

    def _inside(self, operand: Operand) -> Task[Body]:
        while isinstance(operand, Chain):
            operand = operand.operand
        if isinstance(operand, Pipeline):
            probes: Body = yield self._operands(operand)
            return probes
        return ()

    def _short_circuit(self, function: str, operands: list[Operand]) -> Task[Body]:
        """Return the tests of operands of which each is looked at only if those before it leave it open."""
        if not operands:
            return ()
        operand, *rest = operands
        probes: Body = yield self._inside(operand)
        is_true, yes = self._arm(function, operand, True)
        is_false, no = self._arm(function, operand, False)
        outer, self._parent = self._parent, is_true if function == "and" else is_false
        others: Body = yield self._short_circuit(function, rest)
        self._parent = outer
        then, otherwise = ((yes, *others), (no,)) if function == "and" else ((yes,), (no, *others))
        pipeline = operand if isinstance(operand, Pipeline) else Pipeline((Command((operand,)),))
        return (*probes, If(_without_assignment(pipeline), then, Else(otherwise)))


def _without_assignment(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline that assigns no variable; one that it declares is its test's own."""
    return replace(pipeline, declarations=(), is_assignment=False) if pipeline.is_assignment else pipeline
