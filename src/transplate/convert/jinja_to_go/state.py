"""What the compiler knows at a point of a template, and the Go that it has written so far."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import call, go, number, string
from transplate.convert.jinja_to_go.layout import Encoding
from transplate.convert.jinja_to_go.operands import (
    call_operands,
    constant,
    is_simple,
    mentions,
    type_test,
    variables_of,
)
from transplate.convert.jinja_to_go.refusals import Ambiguous, Refused, TooLong
from transplate.convert.jinja_to_go.values import (
    GO_TYPES,
    Built,
    Cat,
    Const,
    Either,
    Go,
    Int,
    Json,
    Packed,
    Poison,
    Undefined,
    Value,
    kinds_of,
)
from transplate.gotmpl.nodes import (
    Action,
    Chain,
    Command,
    Identifier,
    Item,
    Operand,
    Pipeline,
    String,
    TemplateCall,
    Text,
    Variable,
)
from transplate.gotmpl.printer import print_node

_CUT = re.compile(r"%\.([0-9]{1,4})s")
_SHORT = 256
"""Characters of a text that is short."""


@dataclass
class State:
    """The variables and what is known.

    Attributes:
        scopes: Variables by name, the outermost scope first.
        attributes: Attributes of namespaces, by the namespace's number and the name.
        facts: Conditions that are known to hold or not, by their text.
        decoded: What has been taken out of a text, by the text's expression.
    """

    scopes: list[dict[str, Value]] = field(default_factory=lambda: [{}])
    attributes: dict[tuple[int, str], Value] = field(default_factory=dict)
    facts: dict[str, bool] = field(default_factory=dict)
    decoded: dict[str, Value] = field(default_factory=dict)

    def copy(self) -> State:
        """Return a copy that changes apart."""
        return State(
            [dict(scope) for scope in self.scopes],
            dict(self.attributes),
            dict(self.facts),
            dict(self.decoded),
        )


class Writer:
    """Writes Go statements and keeps the state."""

    def __init__(self, *, allowed: frozenset[str], budget: int) -> None:
        self.allowed, self.budget = allowed, budget
        self.taken: set[str] = set()
        """The assumptions that may be relied on, and those that are."""
        self.broken: frozenset[str] = frozenset()
        """Those that the template's own texts do not meet."""
        self.unpacked_as: int | None = None
        """Whether ``|safe`` may have made what is taken out of built lists, None until something is."""
        self.cuts_anywhere = False
        """Whether texts are cut at other places than at constants."""
        self.items: list[Item] = []
        self.sink: Variable | None = None
        self.state = State()
        self.dead = False
        self.homes: set[str] = set()
        """Variables that are assigned to while others may hold what they gave."""
        self.losses: list[tuple[str, int | None]] = []
        self.failures: set[str] = set()
        """The messages that the template may stop with."""
        self._numbers: dict[str, int] = {}
        self.indexes: dict[str, Operand] = {}
        """Variables that count a loop, and the list that it goes over."""
        self.short_texts: set[str] = set()
        """Variables that hold texts of a few characters."""
        self.encodings: dict[str, Encoding] = {}
        """Variables of statements that belong together."""
        self.serials: dict[str, int] = {}
        """Variables in the order in which they were made."""
        self.same_as: dict[str, str] = {}
        """Conditions that hold where others do, both as Go's text."""

    def takes(self, name: str) -> bool:
        """Return whether an assumption may be relied on; if so, note that it is."""
        if name in self.allowed:
            self.taken.add(name)
        return name in self.allowed

    def takes_of(self, name: str, text: Operand) -> bool:
        """Return whether an assumption may be relied on for a text, which may hold one of the template's."""
        is_field = isinstance(text, Variable | Chain) and bool(text.fields)
        return (is_field or name not in self.broken) and self.takes(name)

    # --- writing --------------------------------------------------------------------------------------

    @contextmanager
    def block(self, items: list[Item] | None = None) -> Iterator[list[Item]]:
        """Collect what is written, behind some items; what is computed there is not known outside."""
        outer, self.items = self.items, [] if items is None else items
        known = self.state.decoded
        self.state.decoded = dict(known)
        try:
            yield self.items
        finally:
            self.items = outer
            inside = self.state.decoded
            self.state.decoded = {text: value for text, value in known.items() if text in inside}

    @contextmanager
    def only_if(self, condition: Operand) -> Iterator[None]:
        """Write what is done only where a condition holds; what is known there is not known behind it."""
        facts = dict(self.state.facts)
        with self.block() as items:
            yield
        inside = self.state.facts
        self.state.facts = {text: holds for text, holds in facts.items() if inside.get(text) is holds}
        self.items.append(build.when(condition, tuple(items)))

    def fresh(self, name: str) -> Variable:
        """Return a variable that is not in use, with a name like this."""
        count = self._numbers[name] = self._numbers.get(name, 0) + 1
        made = Variable(f"${name}_{count}")
        self.serials[made.name] = len(self.serials)
        if len(self.serials) > self.budget:
            raise TooLong
        return made

    def text(self, text: str) -> None:
        """Print a constant."""
        if not text:
            return
        if self.sink is not None:
            self._accumulate(string(text))
        elif self.items and isinstance(self.items[-1], Text):
            whole = self.items[-1].value + text
            self.items[-1] = Text(whole, whole)
        else:
            self.items.append(Text(text, text))

    def print(self, operand: Operand) -> None:
        """Print what an expression gives, a string or a whole number."""
        if isinstance(operand, String):
            self.text(operand.value)
        elif self.sink is not None:
            self._accumulate(operand)
        else:
            self.items.append(build.action(operand))

    def _accumulate(self, operand: Operand) -> None:
        sink = self.sink
        assert sink is not None  # noqa: S101
        if self.items and isinstance(self.items[-1], Action):
            last = self.items[-1].pipeline
            if last.is_assignment and last.declarations == (sink,):
                operands = last.commands[0].operands
                if operands[0] == Identifier("print") and operands[1] == sink:
                    kept: tuple[Operand, ...] = operands
                    if isinstance(operand, String) and isinstance(kept[-1], String):
                        operand = string(kept[-1].value + operand.value)
                        kept = kept[:-1]
                    made = Pipeline((Command((*kept, operand)),), (sink,), is_assignment=True)
                    self.items[-1] = Action(made)
                    return
        self.items.append(build.assign(sink, call("print", sink, operand)))

    def declare(self, name: str, value: Operand) -> Variable:
        """Put what an expression gives into a new variable."""
        variable = self.fresh(name)
        if self.is_short(value):
            self.short_texts.add(variable.name)
        self.items.append(build.declare(variable, value))
        return variable

    def is_short(self, value: Operand) -> bool:
        """Tell whether a text is known to have but a few characters."""
        if isinstance(value, Variable):
            return value.name in self.short_texts and not value.fields
        operands = call_operands(value)
        if operands[:1] != (Identifier("printf"),) or not isinstance(operands[1], String):
            return False
        found = _CUT.fullmatch(operands[1].value)
        return found is not None and int(found[1]) <= _SHORT

    def run(self, text: str, said: str = "", name: str = "d", **operands: Operand) -> Variable:
        """Write statements that compute something, unless it has been already.

        Args:
            text: The statements; their ``$d`` is the result.
            said: What they compute, for a comment.
            name: What to call the result.
            operands: What stands for their other variables.
        """
        stable = all(self.is_stable(operand) for operand in operands.values())
        key = " ".join((text, *(print_node(operand) for operand in operands.values())))
        found = self.state.decoded.get(key)
        if found is not None and stable:
            assert isinstance(found, Go)  # noqa: S101
            assert isinstance(found.expr, Variable)  # noqa: S101
            return found.expr
        result = self.fresh(name)
        self.encode(text, said, d=result, **operands)
        if stable:
            self.state.decoded[key] = Go(frozenset({"str"}), result)
        return result

    def encode(self, text: str, said: str, **operands: Operand) -> None:
        """Write statements that belong together; ``$d``, ``$t`` and ``$f`` are their results."""
        encoding = Encoding(len(self.serials), said)
        made = operands.get("d")
        if operands.keys() == {"s", "d"} and isinstance(made, Variable):
            encoding = Encoding(len(self.serials), said, text, operands["s"], made.name)

        def fresh(name: str) -> Variable:
            made = self.fresh(name)
            self.encodings[made.name] = encoding
            return made

        for name in "dtf":  # results; what they are made of has other names
            result = operands.get(name)
            if isinstance(result, Variable):
                self.encodings[result.name] = encoding
        self.items.extend(build.statements(text, fresh, **operands))

    def fail(self, message: str) -> None:
        """Stop with an error that holds a message, as ``raise_exception`` does."""
        self.failures.add(message)
        while self.items and isinstance(self.items[-1], Text):
            self.items.pop()  # nothing is printed where the template fails
        self.items.append(TemplateCall(string(message), build.pipeline(Variable("$"))))
        self.dead = True

    # --- facts ----------------------------------------------------------------------------------------

    def learn(self, condition: Operand, holds: bool) -> None:
        """Note that a condition holds, or that it does not."""
        operands = call_operands(condition)
        if operands and operands[0] == Identifier("not") and len(operands) == 2:
            self.learn(operands[1], not holds)
            return
        if operands and operands[0] == Identifier("and" if holds else "or"):
            for operand in operands[1:]:
                self.learn(operand, holds)
        if operands and operands[0] == Identifier("ne") and len(operands) == 3:
            self.state.facts[print_node(call("eq", *operands[1:]))] = not holds
        if operands and operands[0] == Identifier("eq") and len(operands) > 2:
            self._learn_equal(operands[1], operands[2:], holds)
        self.state.facts[print_node(condition)] = holds

    def _learn_equal(self, operand: Operand, others: Sequence[Operand], holds: bool) -> None:
        """Note that a value is one of some others, or none of them; of types, which those leave."""
        if not holds:
            for other in others:
                self.state.facts[print_node(call("eq", operand, other))] = False
        elif len(others) > 1 and isinstance(operand, Pipeline):
            command = operand.commands[0].operands
            if command[:2] == (Identifier("printf"), string("%T")):
                for name in dict.fromkeys(GO_TYPES.values()):
                    if string(name) not in others:
                        self.state.facts[print_node(call("eq", operand, string(name)))] = False

    def is_known(self, condition: Operand) -> bool | None:
        """Return whether a condition holds, None if that is not known."""
        found = self._fact(condition)
        if found is None:
            operands = call_operands(condition)
            if operands and operands[0] == Identifier("not") and len(operands) == 2:
                inner = self.is_known(operands[1])
                return None if inner is None else not inner
            if operands and operands[0] == Identifier("ne"):
                equal = self._fact(call("eq", *operands[1:]))
                return None if equal is None else not equal
        return found

    def _fact(self, condition: Operand) -> bool | None:
        text = print_node(condition)
        found = self.state.facts.get(text)
        return found if found is not None else self.state.facts.get(self.same_as.get(text, ""))

    def forget(self, variable: Variable) -> None:
        """Drop what is known of a variable that is assigned to."""
        name = variable.name
        self.state.facts = {
            text: holds for text, holds in self.state.facts.items() if not mentions(text, name)
        }
        self.state.decoded = {
            text: value for text, value in self.state.decoded.items() if not mentions(text, name)
        }

    # --- values in Go ---------------------------------------------------------------------------------

    def known(self, value: Value) -> Value:
        """Return a value as what is known of it: narrowed by the facts."""
        if isinstance(value, Poison):
            raise Refused(value.reason)
        if isinstance(value, Packed):
            raise Refused("a value that is of different kinds")
        if isinstance(value, Either):
            holds = self.is_known(value.test)
            if holds is None:
                raise Ambiguous(value.test, "a value that is of different kinds")
            return self.known(value.first if holds else value.second)
        if not isinstance(value, Go):
            return value
        if value.present is not None:
            present = self.is_known(value.present)
            if present is None:
                return value
            if not present:
                return Const(None) if value.absent == "none" else Undefined()
            value = Go(value.kinds, value.expr, markup=value.markup)
        if len(value.kinds) > 1:
            value = self._narrowed(value)
        if value.kinds == {"type"}:
            single = self.is_known(call("eq", call("len", value.expr), number(1)))
            if single is not None:
                return (
                    Go(frozenset({"str"}), call("index", value.expr, number(0)))
                    if single
                    else Go(frozenset({"strings"}), value.expr)
                )
        if value.kinds == {"undefined"}:
            return Undefined()
        if value.kinds == {"none"}:
            return Const(None)
        if value.kinds == {"int"}:
            return Int(value.expr)
        return value

    def _narrowed(self, value: Go) -> Go:
        kept = []
        for kind in value.kinds:
            holds = self.is_known(type_test(value.expr, kind))
            if holds:
                return Go(frozenset({kind}), value.expr, markup=value.markup)
            if holds is None:
                kept.append(kind)
        truthy = self.is_known(value.expr)
        if truthy:
            kept = [kind for kind in kept if kind not in ("none", "undefined")]
        return Go(frozenset(kept), value.expr, markup=value.markup) if kept else value

    def int_operand(self, value: Int) -> Operand:
        """Return a whole number as a Go expression, which fails if it is negative."""
        if value.offset == 0:
            return value.expr
        if value.offset > 0:
            return go(f'len (printf "%*s{" " * value.offset}" $x "")', x=value.expr)
        operands = call_operands(value.expr)
        if operands and operands[0] == Identifier("len"):
            return call("len", call("slice", operands[1], number(-value.offset)))
        return go('len (slice (printf "%*s" $x "") $n)', x=value.expr, n=number(-value.offset))

    def operand(self, value: Value) -> Operand:
        """Return a value as a Go expression.

        Raises:
            Refused: It cannot be in one.
        """
        value = self.known(value)
        if isinstance(value, Const):
            return constant(value.value)
        if isinstance(value, Undefined):
            return build.UNDEFINED
        if isinstance(value, Int):
            return self.int_operand(value)
        if isinstance(value, Cat):
            return call("print", *(self.operand(part) for part in value.parts))
        if isinstance(value, Go):
            if value.present is None:
                return value.expr
            absent = build.UNDEFINED if value.absent == "undefined" else build.NONE
            if value.present == value.expr:
                return call("or", value.expr, absent)
            home = self.declare("value", absent)
            self.items.append(build.when(value.present, (build.assign(home, value.expr),)))
            return home
        if isinstance(value, Json):
            return self.json_operand(value)
        raise Refused(f"a {type(value).__name__} as a value at run time")

    def json_operand(self, value: Json) -> Operand:
        """Return JSON text as an expression."""
        raise NotImplementedError

    def split_kinds(self, value: Go, reason: str) -> Exception:
        """Return what to raise where something cannot be said of all that a value can be."""
        if value.present is not None:
            test = value.present
        elif value.kinds == {"type"}:
            test = call("eq", call("len", value.expr), number(1))
        elif len(value.kinds) > 1:
            test = type_test(value.expr, min(value.kinds))
        else:
            return Refused(reason)
        return Ambiguous(test, reason) if self.is_stable(test) else Refused(reason)

    def is_stable(self, operand: Operand) -> bool:
        """Tell whether an expression gives the same for ever."""
        return not any(variable in self.homes for variable in variables_of(operand))

    def kept(self, value: Value, name: str) -> Value:
        """Return a value that may be used again and again: in a variable, if it is more than a name."""
        if isinstance(value, Go):
            if value.present is not None and not (
                self.is_stable(value.present) and self.is_stable(value.expr)
            ):
                kinds = kinds_of(value)
                assert kinds is not None  # noqa: S101
                return Go(kinds, self.declare(name, self.operand(value)), markup=value.markup)
            if is_simple(value.expr) and self.is_stable(value.expr):
                return value
            variable = self.declare(name, value.expr)
            present = variable if value.present == value.expr else value.present
            return Go(value.kinds, variable, present, value.absent, value.markup)
        if isinstance(value, Int):
            if is_simple(value.expr) and self.is_stable(value.expr):
                return value
            return Int(self.declare(name, value.expr), value.offset, value.low)
        if isinstance(value, Cat):
            return Go(frozenset({"str"}), self.declare(name, self.operand(value)))
        if isinstance(value, Built | Packed) and not (is_simple(value.expr) and self.is_stable(value.expr)):
            return replace(value, expr=self.declare(name, value.expr))
        return value
