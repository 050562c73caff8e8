"""Macros that call themselves, where what they print is a value: a loop that keeps the calls on a stack.

A template of Go's can call itself, but gives nothing back. Here a loop runs a macro's body. Where the body
calls a macro it takes the next of the answers that it has; if there is none it is left, the call goes on top
of the stack, and its answer is added when the loop comes back to the caller, which starts anew; what loops it
has go on in the round in which they were left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import call, number, string
from transplate.convert.jinja_to_go.interface import Argument, Interface, Recursion, Variant
from transplate.convert.jinja_to_go.operands import constant, variable_name
from transplate.convert.jinja_to_go.packing import TAKE
from transplate.convert.jinja_to_go.reads import names_in
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.resuming import Answers, resumed
from transplate.convert.jinja_to_go.state import State
from transplate.convert.jinja_to_go.values import (
    ANY,
    TEXT,
    Const,
    DictOf,
    Go,
    ListOf,
    MacroOf,
    Method,
    Packed,
    Pairs,
    Poison,
    Reversed,
    Undefined,
    Value,
    kinds_of,
    markup_of,
    together,
)
from transplate.gotmpl.nodes import Body, Break, Comment, Operand, Range, Variable

_DEEPEST = 12
"""How often macros may be called in one another at run time."""
_BESIDES = 4
"""How many other long things may be called in these."""
_MOST_VARIANTS = 26
_ROUNDS = 1_000_000_000
_ANSWER = "the next item of a list in a text"


class Recursions(Interface):
    """Runs macros that call themselves."""

    @property
    def _deepest(self) -> int:
        return _DEEPEST + _BESIDES if self.is_compact else _DEEPEST

    def cycle_of(self, macro: MacroOf) -> frozenset[str]:
        """Return the macros that a macro can call and that can call it; none if it cannot call itself."""
        name = macro.node.name
        return frozenset(one for one in self._reached(macro) if name in self._reached(self._macro(one)))

    def _recursive_in(self, macro: MacroOf) -> frozenset[str]:
        """Return the macros that a macro can call and that can call themselves."""
        return frozenset(one for one in self._reached(macro) if one in self._reached(self._macro(one)))

    def _macro(self, name: str) -> MacroOf:
        found = self.state.scopes[0].get(name)
        assert isinstance(found, MacroOf)  # noqa: S101
        return found

    def _reached(self, macro: MacroOf) -> set[str]:
        seen: set[str] = set()
        pending = [macro.node]
        while pending:
            for name in names_in(pending.pop().body):
                called = self.state.scopes[0].get(name)
                if isinstance(called, MacroOf) and name not in seen:
                    seen.add(name)
                    pending.append(called.node)
        return seen

    def answer_of(self, macro: MacroOf, values: dict[str, Value]) -> Operand:
        """Return what a macro prints: it calls itself."""
        running = self.recursion
        if running is not None and macro.node.name in running.macros:
            return self.asked(macro, values)
        return self._run(macro, values)

    # --- calls ----------------------------------------------------------------------------------------

    def asked(self, macro: MacroOf, values: dict[str, Value]) -> Variable:
        """Return the answer to a call in a macro that runs; where there is none yet the macro is left."""
        assert self.recursion is not None  # noqa: S101
        return self._ask(self.recursion, *self._variant_of(self.recursion, macro, values))

    def run_long(self, text: str, said: str = "", name: str = "d", *, source: Operand) -> Variable:
        """Write statements that compute a text of another value; they are long."""
        running = self.recursion
        if running is None or not self.is_compact:
            return self.run(text, said, name, s=source)
        argument = Argument("", (source,), lambda homes: Go(ANY, homes[0]))

        def write(values: dict[str, Value]) -> None:
            self.print(self.run(text, said, name, s=self.operand(values["value"])))

        return self._ask(running, *self._variant(running, text, {"value": argument}, write))

    def _ask(self, running: Recursion, variant: Variant, operands: list[Operand]) -> Variable:
        answer = self.declare("answer", string(""))
        with self.block() as ask:
            for home, operand in zip(running.handed, operands, strict=False):
                self.items.append(build.assign(home, operand))
            self.items.append(build.assign(running.called, string(variant.letter)))
            self.items.append(Break())
        with self.block() as take:
            self.items.append(build.assign(answer, self.run(TAKE, _ANSWER, "kept", r=running.rest)))
        self.items.append(build.when(running.rest, tuple(take), tuple(ask)))
        running.asked += 1
        return answer

    def _variant_of(
        self, running: Recursion, macro: MacroOf, values: dict[str, Value]
    ) -> tuple[Variant, list[Operand]]:
        """Return what runs a macro with some arguments, and the arguments."""
        arguments = {name: self._argument(values[name]) for name in sorted(values)}
        return self._variant(
            running, macro.node.name, arguments, lambda given: self.write_macro(macro.node, given)
        )

    def _variant(
        self,
        running: Recursion,
        name: str,
        arguments: dict[str, Argument],
        write: Callable[[dict[str, Value]], None],
    ) -> tuple[Variant, list[Operand]]:
        key = (name, *((name, one.sort) for name, one in arguments.items()))
        found = running.variants.get(key)
        if found is None:
            if len(running.variants) >= _MOST_VARIANTS:
                raise Refused(f"the macro {name}, which calls itself with too many kinds of arguments")
            found = Variant(chr(ord("a") + len(running.variants)), write, arguments)
            running.variants[key] = found
        operands = [(name, operand) for name, one in arguments.items() for operand in one.operands]
        for name, _ in operands[len(running.slots) :]:
            running.slots.append([self._home(variable_name(name)) for _ in range(self._deepest)])
            running.handed.append(self._home("handed"))
        return found, [operand for _, operand in operands]

    def _home(self, name: str) -> Variable:
        home = self.fresh(name)
        self.homes.add(home.name)
        return home

    def _argument(self, value: Value) -> Argument:
        value = value if isinstance(value, Packed) else self.known(value)
        if isinstance(value, Undefined | MacroOf) or (
            isinstance(value, Const) and not isinstance(value.value, str) and type(value.value) is not int
        ):
            return Argument(repr(value), (), lambda _: value)
        if isinstance(value, Const):
            return _in_go(frozenset({type(value.value).__name__}), constant(value.value), value)
        kinds = kinds_of(value)
        if kinds is not None and "minus" not in kinds:
            is_one = self.is_compact and len(kinds) == 1  # what is asked of it again is decided
            if kinds & {"list", "map"} and kinds <= ANY | {"undefined"} and not is_one:
                kinds = ANY | {"undefined"}  # fewer variants
            return _in_go(kinds, self.operand(value), value)
        if isinstance(value, Method):
            uncalled = Method(Poison("a method that a macro is handed"), value.name)
            return Argument(("method", value.name), (), lambda _: uncalled)
        if isinstance(value, Pairs | Reversed):
            outer, inner = value, self._argument(value.value)
            outer_sort = (type(outer).__name__, repr(replace(outer, value=Undefined())), inner.sort)
            return Argument(outer_sort, inner.operands, lambda homes: replace(outer, value=inner.of(homes)))
        if isinstance(value, DictOf):
            whole, keys = value, tuple(key for key, _ in value.items)
            if not all(isinstance(key, Const) for key in keys):
                raise Refused("a dict with such keys for a macro that calls itself")
            sort, operands, made = self._arguments([found for _, found in value.items])

            def as_dict(homes: Sequence[Variable]) -> Value:
                return replace(whole, items=tuple(zip(keys, made(homes), strict=True)))

            return Argument(("dict", repr(keys), value.is_open, value.is_unclear, sort), operands, as_dict)
        shape = None if value == ListOf(()) else self.shape_of(value)
        if shape is not None:
            kept = together(string(""), shape)
            return Argument(shape, (self.kept_in(kept, value),), lambda homes: together(homes[0], shape))
        if isinstance(value, ListOf):
            sort, operands, made = self._arguments(value.items)
            return Argument(("list", sort), operands, lambda homes: ListOf(made(homes)))
        raise Refused(f"a {self._name_of(value)} for a macro that calls itself")

    def _arguments(
        self, values: Sequence[Value]
    ) -> tuple[object, tuple[Operand, ...], Callable[[Sequence[Variable]], tuple[Value, ...]]]:
        """Return what several values are, expressions for what is not known, and what makes them of these."""
        found = [self._argument(value) for value in values]

        def made(homes: Sequence[Variable]) -> tuple[Value, ...]:
            left = iter(homes)
            return tuple(one.of(list(islice(left, len(one.operands)))) for one in found)

        operands = tuple(operand for one in found for operand in one.operands)
        return tuple(one.sort for one in found), operands, made

    # --- the loop -------------------------------------------------------------------------------------

    def _run(self, macro: MacroOf, values: dict[str, Value]) -> Variable:
        """Write the loop that runs a macro, and return what it prints."""
        running = Recursion(
            self._recursive_in(macro), self._home("text"), self._home("answers"), self._home("called")
        )
        outer, self.recursion = self.recursion, running
        self.has_run = True
        try:
            first, operands = self._variant_of(running, macro, values)
            written = 0
            while written < len(running.variants):
                self._write_variant(running, list(running.variants.values())[written])
                written += 1
        finally:
            self.recursion = outer
        self._write_loop(running, macro.node.name, first, operands)
        return running.text

    def _write_variant(self, running: Recursion, variant: Variant) -> None:
        state, sink, loops, dead = self.state, self.sink, self._loops, self.dead
        attributes: dict[tuple[int, str], Value] = {
            place: Poison("a namespace in a macro that calls itself", True) for place in state.attributes
        }
        self.state = State([dict(state.scopes[0]), {}], attributes, dict(state.facts))
        self.sink, self._loops, self.dead = running.text, [], False
        try:
            with self.block() as items:
                values: dict[str, Value] = {}
                slots = iter(running.slots)
                for name, argument in variant.arguments.items():
                    tops = [next(slots)[0] for _ in argument.operands]
                    homes = [self.declare(variable_name(name), top) for top in tops]
                    value = values[name] = argument.of(homes)
                    if isinstance(value, Go) and value.kinds == TEXT and value.present is None:
                        variant.texts.update(home.name for home in homes)
                self.state.scopes[1] = values
                variant.write(values)
        finally:
            self.state, self.sink, self._loops, self.dead = state, sink, loops, dead
        variant.items = items

    def _write_loop(self, running: Recursion, name: str, first: Variant, operands: list[Operand]) -> None:
        text, rest, called = running.text, running.rest, running.called
        depth, stack, done, variant = (self._home(one) for one in ("depth", "stack", "done", "variant"))
        said = f"{name} calls itself: what it calls goes on a stack, and it starts anew with each answer"
        self.items.append(Comment(f"/* {said} */"))
        empty = (text, rest, called, depth, stack, done, *running.handed)
        self.items += [build.declare(one, string("")) for one in empty]
        self.items.append(build.declare(variant, string(first.letter)))
        for index, slot in enumerate(running.slots):
            given = operands[index] if index < len(operands) else string("")
            self.items.append(build.declare(slot[0], given))
            self.items += [build.declare(one, string("")) for one in slot[1:]]
        with self.block() as round_:
            self._assign((rest, done), (text, string("")), (called, string("")))
            own = Answers(done, rest, called, running.handed, self.fresh)
            bodies = [
                (one.letter, resumed(tuple(one.items), own, one.texts)) for one in running.variants.values()
            ]
            self.items.append(Range(build.pipeline(number(1)), _one_of(bodies, variant)))
            with self.block() as push:
                with self.block() as fails:
                    reason = f"the macro {name}, which calls itself more than {self._deepest} deep"
                    dead = self.dead
                    self.fail(f"not converted: {reason}")
                    self.dead = dead
                    self.losses.append((reason, self.place))
                self.items.append(
                    build.when(call("eq", call("len", depth), number(self._deepest - 1)), tuple(fails))
                )
                kept = call("print", variant, done)
                self._assign(
                    (depth, call("print", depth, string("."))),
                    (stack, call("printf", string("%08d%s%s"), call("len", kept), kept, stack)),
                    (variant, called),
                    (done, string("")),
                )
                for slot, handed in zip(running.slots, running.handed, strict=True):
                    self._assign(*zip(slot[:0:-1], slot[-2::-1], strict=True), (slot[0], handed))
            with self.block() as pop:
                caller = self.run(TAKE, _ANSWER, "caller", r=stack)
                answers = call("slice", caller, number(1))
                self._assign(
                    (depth, call("slice", depth, number(1))),
                    (variant, call("slice", caller, number(0), number(1))),
                    (done, call("printf", string("%s%08d%s"), answers, call("len", text), text)),
                )
                for slot in running.slots:
                    self._assign(*pairwise(slot))
            back = build.when(stack, tuple(pop), (Break(),))
            self.items.append(build.when(called, tuple(push), (back,)))
        self.items.append(Range(build.pipeline(number(_ROUNDS)), tuple(round_)))

    def _assign(self, *pairs: tuple[Variable, Operand]) -> None:
        self.items += [build.assign(home, operand) for home, operand in pairs]


def _in_go(kinds: frozenset[str], operand: Operand, value: Value) -> Argument:
    markup = markup_of(value)
    return Argument((kinds, markup), (operand,), lambda homes: Go(kinds, homes[0], markup=markup))


def _one_of(bodies: Sequence[tuple[str, Body]], variant: Variable) -> Body:
    """Return the body of the macro that runs."""
    *others, (_, made) = bodies
    for letter, body in reversed(others):
        made = (build.when(call("eq", variant, string(letter)), body, made),)
    return made
