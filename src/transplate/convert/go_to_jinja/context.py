"""What the lowering of one template shares: its options, its variables and the checks still to write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja.assumptions import Assumptions
from transplate.convert.go_to_jinja.calls import Calls
from transplate.convert.go_to_jinja.resolve import Declaration, Resolution
from transplate.convert.go_to_jinja.shapes import Shape, Value
from transplate.convert.report import Loss
from transplate.errors import UnsupportedTemplate
from transplate.jinja import nodes as j
from transplate.jinja import walk
from transplate.source import Source, Span

STATE = j.Name("state")
"""The namespace that holds the variables which a loop assigns and which outlive it."""

_MacroKey: TypeAlias = tuple[str, Shape | frozenset[Shape], bool]
"""A template that is a macro: its name, and the shape of its dot and whether that may be missing."""

_MOST_STATEMENTS = 4_000
"""Statements that a conversion may come to; the largest template of Ollama's library has 80."""


@dataclass
class Context:
    """The state of one lowering.

    Attributes:
        source: The template, for errors.
        resolution: Which declaration each variable means.
        assumptions: What may be taken for granted.
        collated: Whether ``messages`` is what the prelude rebuilt, with every field that is read filled in.
        calls: The templates that the template calls.
        last_turn: Whether this is the last turn of the legacy mode, which Ollama runs without its own
            functions, without other templates and with Go's own rule for missing fields.
        tool_calls_read: Whether the template knows messages without content.
        property_required: Whether this Ollama keeps the ``required`` list of a property.
        tool_prints_json: Whether this Ollama prints a single tool as JSON.
        root: The fields of the data that a template starts with.
        shapes: The shapes that each assigned variable was seen to have; grows from one lowering to the next.
        negatives: The assigned variables that may hold a negative integer; grows likewise.
        optionals: The assigned variables that may be undefined or none; grows likewise.
        wide: The assigned variables that may hold a text which is not ASCII; grows likewise.
        naturals: The names that hold the numbers of a range over an integer.
        keys: The names that hold the keys of a map in a range over it, and that map.
        lists: The values of the JSON that are known to be lists where a part is lowered.
        pending: Checks to write in front of the statement that is being lowered.
        state: The namespace that holds the variables of what is lowered; one that calls itself has its own.
        refusals: Operations that the target cannot express, by expression; refused if they survive.
    """

    source: Source
    resolution: Resolution
    assumptions: Assumptions
    root: dict[str, Value]
    calls: Calls
    collated: bool = False
    last_turn: bool = False
    tool_calls_read: bool = False
    property_required: bool = True
    tool_prints_json: bool = True
    shapes: dict[Declaration, set[Shape]] = field(default_factory=dict)
    negatives: set[Declaration] = field(default_factory=set)
    optionals: set[Declaration] = field(default_factory=set)
    wide: set[Declaration] = field(default_factory=set)
    naturals: set[j.Expression] = field(default_factory=set)
    keys: dict[j.Expression, j.Expression] = field(default_factory=dict)
    lists: set[j.Expression] = field(default_factory=set)
    variables: dict[Declaration, Value] = field(default_factory=dict)
    targets: dict[Declaration, j.Name | j.Attribute] = field(default_factory=dict)
    mutable: set[j.Expression] = field(default_factory=set)
    pending: list[j.Statement] = field(default_factory=list)
    refusals: dict[j.Expression, tuple[Span, str]] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    macros: dict[_MacroKey, j.Macro | None] = field(default_factory=dict)
    macro_symbols: dict[_MacroKey, j.Name] = field(default_factory=dict)
    state: j.Name = STATE
    _symbols: int = 0
    _statements: int = 0

    def begin(self) -> None:
        """Forget all but what is known of variables, to lower the template once more."""
        self.pending.clear()
        for kept in (self.variables, self.targets, self.refusals, self.macros, self.macro_symbols):
            kept.clear()
        self.mutable.clear()
        self.losses.clear()
        self._statements = 0

    def count_statement(self, span: Span) -> None:
        """Count a statement that is lowered.

        Raises:
            UnsupportedTemplate: There are too many, as where parts stand twice in parts that stand twice.
        """
        self._statements += 1
        if self._statements > _MOST_STATEMENTS:
            raise self.refusal(
                span, f"this template comes to more than {_MOST_STATEMENTS} statements in Jinja"
            )

    def refusal(self, span: Span, message: str) -> UnsupportedTemplate:
        """Return the error that refuses the template for what stands at ``span``."""
        return UnsupportedTemplate(message, source=self.source, offset=span.start)

    def refuse_later(self, expression: j.Expression, span: Span, message: str) -> None:
        """Refuse the template unless an expression turns out to be dead or sayable."""
        self.refusals.setdefault(expression, (span, message))

    def lose(self, span: Span, message: str) -> None:
        """Note something that can come out differently."""
        position = self.source.position(span.start)
        loss = Loss(message, position.line, position.column)
        if loss not in self.losses:
            self.losses.append(loss)

    def check(self, fails_if: j.Expression, message: str) -> None:
        """Have the rendering fail, as Ollama's does, if a condition holds where the value is needed."""
        known = b.truth(fails_if)
        if known is False:
            return
        failure = b.raise_(message)
        self.pending.append(failure if known else j.If(fails_if, (failure,)))

    def take_pending(self) -> list[j.Statement]:
        """Return the checks that stand in front of the current statement, and start afresh."""
        pending, self.pending = self.pending, []
        return pending

    @contextmanager
    def only_if(self, condition: j.Expression) -> Iterator[None]:
        """Make the checks of what is lowered inside depend on a condition."""
        before, self.pending = self.pending, []
        try:
            yield
        finally:
            inside, self.pending = self.pending, before
            if inside:
                self.pending.append(j.If(condition, tuple(inside)))

    def symbol(self, base: str) -> j.Name:
        """Return a name that nothing else has; ``base`` is what it would like to be called in the end."""
        self._symbols += 1
        return j.Name(f"{base}#{self._symbols}")

    def is_natural(self, number: j.Expression) -> bool:
        """Return whether an integer is known not to be negative."""
        match number:
            case j.Literal(int(value)):
                return value >= 0
            case j.Filter(_, "length"):
                return True
            case j.Attribute(j.Name(loop)) if loop.startswith("loop of "):
                return True
            case j.Binary("+", left, right):
                return self.is_natural(left) and self.is_natural(right)
            case _:
                holders = [declaration for declaration, target in self.targets.items() if target == number]
                return number in self.naturals or (bool(holders) and not self.negatives & set(holders))

    def is_ascii(self, text: j.Expression) -> bool:
        """Return whether a text is known to be ASCII."""
        match text:
            case j.Literal(str(value)):
                return value.isascii()
            case j.Concat(operands):
                return all(map(self.is_ascii, operands))
            case _:
                holders = [declaration for declaration, target in self.targets.items() if target == text]
                return bool(holders) and not self.wide & set(holders)

    def is_stable(self, expression: j.Expression) -> bool:
        """Return whether an expression has the same value wherever it is read."""
        return not any(part in self.mutable for part in walk.parts(expression))


def snake_case(name: str) -> str:
    """Return a Go name as Jinja names are written: ``$lastUserIdx`` becomes ``last_user_idx``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.lstrip("$"))
    ascii_only = re.sub(r"\W", "_", words, flags=re.ASCII).lower().strip("_")
    return ascii_only if ascii_only and not ascii_only[0].isdigit() else f"value_{ascii_only}".rstrip("_")
