"""What compiled templates run on: one execution's state, and the evaluation rules of Go's engine.

The functions here are called by generated code. Each follows the rules of ``text/template`` (Go 1.26,
``exec.go``) for one construct and fails with a :class:`Fault` that names the node Go would name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final, NoReturn

from transplate.gotmpl import costs, fmt
from transplate.gotmpl.costs import LimitReached
from transplate.gotmpl.functions import (
    Argument,
    bad_results,
    constant_for,
    parameter_types,
    returned,
    wrong_count,
)
from transplate.gotmpl.ordering import sorted_keys
from transplate.gotmpl.quoting import joined, quote
from transplate.gotmpl.types import (
    ANY,
    REFLECT_VALUE,
    STRING,
    GoFunc,
    GoPointer,
    GoStruct,
    GoType,
    GoValue,
    Kind,
    Method,
    pointer_to,
)
from transplate.gotmpl.values import (
    GoError,
    Place,
    byte_length,
    can_be_nil,
    element,
    find_method,
    indirect,
    is_assignable,
    is_interface,
    map_items,
    map_types,
    plain,
    read,
    sized,
    slice_items,
    static_type,
    zero,
)
from transplate.limits import Limits

MAXIMUM_DEPTH: Final = 100_000
"""Go's own bound on template calls inside one another (``maxExecDepth``)."""
_MANY: Final = 100_000
"""Printed pieces from which on they are joined, for many small ones take much memory."""


class MissingKey(Enum):
    """The option ``missingkey``: what a map gives for a key that it does not have."""

    DEFAULT = "default"
    """An invalid value, which prints as ``<no value>`` and whose fields are invalid too."""
    ZERO = "zero"
    """The zero value of the map's element type."""
    ERROR = "error"
    """An error that ends the execution."""


class Fault(Exception):
    """A failure of the execution.

    Attributes:
        node: Number of the node that Go's message names.
        message: What is wrong.
        shows_node: Whether ``message`` holds a ``%s`` for the node as Go prints it.
    """

    def __init__(self, node: int, message: str, *, shows_node: bool = False) -> None:
        super().__init__(message)
        self.node = node
        self.message = message
        self.shows_node = shows_node


class Undefined(Enum):
    """The mark of a variable whose declaration has not been reached."""

    UNDEFINED = "undefined"


UNDEFINED: Final = Undefined.UNDEFINED


class Execution:
    """The state of one execution: its output and what is left of its limits.

    Attributes:
        parts: What has been printed last.
        node: The node evaluated last, where that depends on the data.
        missing_key: The option of that name.
        limits: The bounds of this execution.
    """

    __slots__ = ("_printed", "depth", "limits", "missing_key", "node", "parts", "room", "steps")

    def __init__(self, missing_key: MissingKey, limits: Limits) -> None:
        self._printed: list[str] = []
        self.parts: list[str] = []
        self.node = 0
        self.missing_key = missing_key
        self.limits = limits
        self.room = limits.output
        self.steps = limits.steps
        self.depth = 0

    def write(self, text: str) -> None:
        """Print text."""
        self.room -= len(text) if text.isascii() else byte_length(text)
        if self.room < 0:
            raise costs.output_too_long(self.limits)
        self.parts.append(text)

    def spend(self, steps: int) -> None:
        """Count units of work."""
        self.steps -= steps
        if self.steps < 0:
            raise costs.out_of_steps(self.limits)
        if len(self.parts) > _MANY:
            self._printed.append("".join(self.parts))
            self.parts.clear()

    @property
    def output(self) -> str:
        """What has been printed."""
        return joined([*self._printed, *self.parts])

    def at(self, node: int, value: GoValue) -> GoValue:
        """Note the node that was evaluated last, where later messages cannot know it beforehand."""
        self.node = node
        return value

    def enter(self, node: int, steps: int) -> None:
        """Count the call of a template, which ends when the caller lowers ``depth`` again."""
        self.spend(steps)
        if self.depth == MAXIMUM_DEPTH:
            raise Fault(node, f"exceeded maximum template depth ({MAXIMUM_DEPTH})")
        if self.depth == self.limits.depth:
            raise LimitReached(f"template calls nest deeper than {self.limits.depth} (limit: depth)")
        self.depth += 1

    # --- fields and methods -----------------------------------------------------------------------------

    def field(self, receiver: GoValue, name: str, node: int) -> GoValue:
        """Return a field, map entry or method result of a value, without arguments."""
        if type(receiver) is Place and type(receiver.value) is dict:
            receiver = receiver.value
        if type(receiver) is dict:
            if name in receiver:
                return Place(receiver[name], ANY)
        elif type(receiver) is GoStruct:
            go_type = receiver.go_type
            index = go_type.field_indexes.get(name)
            if index is not None and name not in go_type.methods and name[0].isupper():
                return read(receiver.values[index], go_type.fields[index].type, False)
        return self.select(receiver, name, node, (), False)

    def select(
        self,
        receiver: GoValue,
        name: str,
        node: int,
        arguments: Sequence[Argument],
        has_final: bool,
        final: GoValue = None,
    ) -> GoValue:
        """Return a field, map entry or method result of a value.

        Args:
            receiver: The value.
            name: Name of the field, key or method.
            node: Node to name in errors.
            arguments: Arguments, which only a method takes.
            has_final: Whether the value of the command before is one more argument.
            final: That value.
        """
        self.node = node
        if receiver is None:
            if self.missing_key is MissingKey.ERROR:
                raise Fault(node, f"nil data; no entry for key {quote(name)}")
            return None
        type_name = static_type(receiver).name
        value, nil, addressable = indirect(receiver)
        if nil and type(value) is Place:
            raise Fault(node, f"nil pointer evaluating {type_name}.{name}")
        found = find_method(value, name, nil, addressable)
        if found is not None:
            return self.call_method(*found, name, node, arguments, has_final, final)
        has_arguments = bool(arguments) or has_final
        if nil:
            target = value.go_type.elem
            if target.kind is not Kind.STRUCT or name in target.field_indexes:
                raise Fault(node, f"nil pointer evaluating {type_name}.{name}")
        elif type(value) is GoStruct:
            index = value.go_type.field_indexes.get(name)
            if index is not None:
                if not name[0].isupper():
                    raise Fault(node, f"{name} is an unexported field of struct type {type_name}")
                if has_arguments:
                    raise Fault(node, f"{name} has arguments but cannot be invoked as function")
                return read(value.values[index], value.go_type.fields[index].type, addressable)
        else:
            entries = map_items(value)
            if entries is not None:
                key_type, elem_type = map_types(value)
                if key_type is STRING or key_type is ANY:
                    if has_arguments:
                        raise Fault(node, f"{name} is not a method but has arguments")
                    if name in entries:
                        return read(entries[name], elem_type, False)
                    if self.missing_key is MissingKey.ZERO:
                        return zero(elem_type)
                    if self.missing_key is MissingKey.ERROR:
                        raise Fault(node, f"map has no entry for key {quote(name)}")
                    return None
        raise Fault(node, f"can't evaluate field {name} in type {type_name}")

    def call_method(
        self,
        method: Method,
        receiver: GoValue,
        name: str,
        node: int,
        arguments: Sequence[Argument],
        has_final: bool,
        final: GoValue,
    ) -> GoValue:
        """Call a method with the arguments of a command."""
        problem = wrong_count(method, name, len(arguments), has_final) or bad_results(method, name)
        if problem is not None:
            raise Fault(node, problem)
        types = parameter_types(method, len(arguments) + has_final)
        self.node = node
        values = [
            self.argument(argument, go_type) for argument, go_type in zip(arguments, types, strict=False)
        ]
        if has_final:
            values.append(self.validate(final, types[-1], self.node))
        if type(receiver) is GoPointer and receiver.target is None and not method.pointer_receiver:
            target = receiver.go_type.elem
            assert target is not None  # noqa: S101 - a pointer type has one
            short = target.name.rpartition(".")[2]
            message = f"value method {target.package}.{short}.{name} called using nil *{short} pointer"
            raise Fault(node, f"error calling {name}: {message}")
        return self.call(node, name, method, receiver, *values)

    def call(self, node: int, name: str, function: Method, *arguments: GoValue) -> GoValue:
        """Call a function whose arguments have the right number and types."""
        steps = costs.steps_before(function, arguments)
        if steps:
            self.spend(steps)
        try:
            result = costs.called(function, arguments, self.limits.output)
        except GoError as error:
            raise Fault(node, f"error calling {name}: {error}") from None
        steps = costs.steps_after(function, arguments, result)
        if steps:
            self.spend(steps)
        return result if type(result) is str else returned(result, function)

    # --- arguments --------------------------------------------------------------------------------------

    def argument(self, argument: Argument, go_type: GoType) -> GoValue:
        """Evaluate an argument for a parameter of a type."""
        self.node = argument.node
        if argument.is_nil:
            if can_be_nil(go_type) or go_type is REFLECT_VALUE:
                return plain(zero(go_type)) if go_type is not REFLECT_VALUE else None
            raise Fault(argument.node, f"cannot assign nil to {go_type.name}")
        if argument.constant is not None:
            value, problem = constant_for(argument.constant, go_type, argument.shown)
            if problem is not None:
                raise Fault(argument.node, problem)
            return value
        value = argument.value()
        return self.validate(value, go_type, self.node)

    def validate(self, value: GoValue, go_type: GoType, node: int) -> GoValue:
        """Return a value as a parameter of a type takes it, or fail because it does not fit."""
        if go_type is REFLECT_VALUE:
            return value
        if go_type is ANY:
            return plain(value)
        if value is None:
            if can_be_nil(go_type):
                return plain(zero(go_type))
            raise Fault(node, f"invalid value; expected {go_type.name}")
        found = static_type(value)
        if is_assignable(found, go_type):
            return plain(value)
        if is_interface(value) and value.value is not None:
            value = value.value
            found = static_type(value)
            if is_assignable(found, go_type):
                return value
        if found.kind is Kind.POINTER and found.elem is not None and is_assignable(found.elem, go_type):
            if value.target is None:
                raise Fault(node, f"dereference of nil pointer of type {go_type.name}")
            return value.target
        if type(value) is Place and not is_interface(value) and go_type.elem is found:
            return GoPointer(go_type, value.value)
        raise Fault(node, f"wrong type for value; expected {go_type.name}; got {found.name}")

    # --- printing and ranging ---------------------------------------------------------------------------

    def print(self, value: GoValue, node: int) -> None:
        """Print the value of an action."""
        if type(value) is str:
            self.write(value)
            return
        if value is None:
            self.write("<no value>")
            return
        try:
            text = fmt.print_value(printable(value), limit=self.limits.output)
            self.spend(costs.text_steps(text))
            self.write(text)
        except fmt.UnprintableValue as unprintable:
            message = f"can't print %s of type {unprintable.go_type.name}"
            raise Fault(node, message, shows_node=True) from None

    def elements(self, value: GoValue, node: int) -> Sequence[GoValue]:
        """Return what a range without an index variable goes over."""
        value, _, _ = indirect(value)
        items = slice_items(value)
        if items is not None:
            self.spend(len(items))
            return [element(value, index) for index in range(len(items))]
        if isinstance(value, int) and type(value) is not bool:
            return _integers(value)
        if type(value) is GoFunc and value.yields:
            return [read(first, value.yields[0], False) for first, *_ in value.call()]
        return [elem for _, elem in self.pairs(value, node)]

    def pairs(self, value: GoValue, node: int) -> Sequence[tuple[GoValue, GoValue]]:
        """Return the pairs that a range with an index variable goes over."""
        value, nil, _ = indirect(value)
        if value is None or (nil and type(value) is Place):
            return ()
        items = slice_items(value)
        if items is not None:
            self.spend(len(items))
            return [(index, element(value, index)) for index in range(len(items))]
        entries = map_items(value)
        if entries is not None:
            key_type, elem_type = map_types(value)
            self.spend(2 * len(entries))
            return [
                (read(key, key_type, False), read(entries[key], elem_type, False))
                for key in sorted_keys(entries)
            ]
        if isinstance(value, int) and type(value) is not bool:
            raise Fault(node, f"can't use {fmt.print_value(value)} to iterate over more than one variable")
        if type(value) is GoFunc and value.yields:
            if len(value.yields) == 1:
                shown = fmt.sprintf("%v", [value])
                raise Fault(node, f"can't use {shown} iterate over more than one variable")
            key_type, elem_type = value.yields
            return [
                (read(first, key_type, False), read(second, elem_type, False))
                for first, second in value.call()
            ]
        raise Fault(node, f"range can't iterate over {fmt.sprintf('%v', [value])}")

    # --- variables --------------------------------------------------------------------------------------

    def variable(self, candidates: Iterable[GoValue], name: str, node: int) -> GoValue:
        """Return the variable that is in scope, the innermost first, of which some may be undeclared."""
        for value in candidates:
            if value is not UNDEFINED:
                return value
        raise Fault(node, f"undefined variable: {name}")

    def assign(
        self, frame: list[GoValue], slots: Sequence[int], value: GoValue, name: str, node: int
    ) -> GoValue:
        """Assign to the innermost of the declared variables of a name."""
        for slot in slots:
            if frame[slot] is not UNDEFINED:
                frame[slot] = value
                return value
        raise Fault(node, f"undefined variable: {name}")

    def fail(self, node: int, message: str, *_before: GoValue) -> NoReturn:
        """Fail with a message known when the template was compiled, after evaluating what comes before."""
        raise Fault(node, message)


def declare(frame: list[GoValue], slot: int, value: GoValue) -> GoValue:
    """Set a variable inside an expression."""
    frame[slot] = value
    return value


def nil(go_type: GoType) -> GoValue:
    """Return the nil of a type."""
    return plain(zero(go_type))


def callee(value: GoValue) -> str:
    """Return what Go calls a function value that came through a pipe (``reflect.Value.String``)."""
    value = plain(value)
    if value is None:
        return "<invalid Value>"
    return value if type(value) is str else f"<{static_type(value).name} Value>"


def _integers(count: int) -> Sequence[int]:
    """Return the integers below a count, in its own type."""
    if type(count) is int:
        return range(count)
    go_type = static_type(count)
    return [sized(go_type, number) for number in range(count)]


def printable(value: GoValue) -> GoValue:
    """Return what is printed for a value; nil for an untyped nil.

    Raises:
        UnprintableValue: If the value is a function.
    """
    if type(value) is Place:
        is_address = value.go_type.kind is not Kind.INTERFACE
        value = GoPointer(pointer_to(value.go_type), value.value) if is_address else value.value
    return fmt.printable_value(value)
