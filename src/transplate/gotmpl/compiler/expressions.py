"""Pipelines in their exact form: Python expressions that evaluate as Go's engine does, error for error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from transplate.gotmpl.builtins import BUILTINS
from transplate.gotmpl.compiler.emit import Module
from transplate.gotmpl.compiler.scope import Scope
from transplate.gotmpl.compiler.trampoline import Task, done
from transplate.gotmpl.functions import bad_results, constant_for, parameter_types, wrong_count
from transplate.gotmpl.nodes import (
    Bool,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Nil,
    Number,
    Operand,
    Pipeline,
    String,
    Variable,
)
from transplate.gotmpl.printer import Node, print_node
from transplate.gotmpl.quoting import quote
from transplate.gotmpl.types import ANY, REFLECT_VALUE, GoType, Kind, Method
from transplate.gotmpl.values import can_be_nil

_DEEPEST_EXPRESSION: Final = 10
"""Pipelines inside one another in one Python expression; Python itself allows 200 parentheses."""
_LONGEST_CHAIN: Final = 20
"""Fields of a chain in one expression; Python has a bound on parentheses inside one another."""
_DYNAMIC: Final = "x.node"
"""The node that was evaluated last, where that depends on the data."""


@dataclass(frozen=True, slots=True)
class Code:
    """A Python expression.

    Attributes:
        text: The expression.
        last: The node that Go's engine is at once it has been evaluated, as Python source.
        is_interface: Whether its value may be an empty interface.
        is_place: Whether its value may be a :class:`~transplate.gotmpl.values.Place`.
        is_constant: Whether it can be evaluated earlier or later without a difference.
    """

    text: str
    last: str
    is_interface: bool = False
    is_place: bool = False
    is_constant: bool = False


class Expressions:
    """Translates the pipelines of one template after another.

    Attributes:
        module: Where functions are added for expressions that are too deep.
        scope: The variables in scope.
        dot: The Python expression for the cursor.
        template: Name of the template.
        nodes: For each node number in the code, the template and the node.
        objects: What the code refers to by name: functions and types.
        undeclared: Slots that must be reset before the statement that is being translated.
    """

    def __init__(self, module: Module, functions: Mapping[str, Method]) -> None:
        self.module = module
        self.scope = Scope()
        self.dot = "d"
        self.template = ""
        self.nodes: list[tuple[str, Node]] = []
        self.objects: dict[str, object] = {}
        self.undeclared: list[int] = []
        self._functions = functions
        self._depth = 0
        self._conditional = 0

    def number(self, node: Node) -> int:
        """Return a number for a node that errors name."""
        self.nodes.append((self.template, node))
        return len(self.nodes) - 1

    # --- pipelines and commands ---------------------------------------------------------------------------

    def pipeline(self, node: Pipeline) -> Task[Code]:
        """Translate a pipeline with its declarations of variables."""
        self._depth += 1
        dot = self.dot
        deep = self._depth % _DEEPEST_EXPRESSION == 0
        if deep:
            self.dot = "d"
        code: Code = yield self._commands(node)
        if deep:
            function = self.module.function("expression", "x, f, d")
            function.line(f"return {code.text}")
            code = replace(code, text=f"{function.name}(x, f, {dot})")
            self.dot = dot
        self._depth -= 1
        return code

    def _commands(self, node: Pipeline) -> Task[Code]:
        steps: list[str] = []
        last = str(self.number(node))
        final: Code | None = None
        for position, command in enumerate(node.commands):
            code: Code = yield self._command(command, final, last)
            if code.is_interface:
                code = replace(code, text=f"settle({code.text})", is_interface=False)
            last = code.last
            if position == len(node.commands) - 1 or code.is_constant:
                final = code
            else:
                name = self.module.name("t")
                steps.append(f"{name} := {code.text}")
                final = Code(name, last, is_place=code.is_place)
        assert final is not None  # noqa: S101 - the parser refuses an empty pipeline
        if steps:
            final = replace(final, text=f"({', '.join(steps)}, {final.text})[-1]", is_constant=False)
        if len(node.declarations) == 1:
            final = self._declaration(node, final)
        return final

    def _declaration(self, node: Pipeline, value: Code) -> Code:
        (variable,) = node.declarations
        if node.is_assignment:
            return replace(
                value, text=self.assignment(variable.name, value.text, last=value.last), is_constant=False
            )
        slot = self.declare(variable.name)
        return replace(value, text=f"declare(f, {slot}, {value.text})", is_constant=False)

    def declare(self, name: str) -> int:
        """Bring a variable into scope and return its slot."""
        declaration = self.scope.declare(name, conditional=self._conditional > 0)
        if declaration.conditional:
            self.undeclared.append(declaration.slot)
        return declaration.slot

    def assignment(self, name: str, value: str, *, last: str) -> str:
        """Return the expression that assigns to a variable and gives the value."""
        found = self.scope.find(name)
        if found and not found[0].conditional:
            return f"declare(f, {found[0].slot}, {value})"
        slots = tuple(declaration.slot for declaration in found)
        return f"x.assign(f, {slots!r}, {value}, {name!r}, {last})"

    def _command(self, node: Command, final: Code | None, last: str) -> Task[Code]:
        first = node.operands[0]
        arguments = node.operands[1:]
        if isinstance(first, Field):
            return self._chain(first, f"{self.dot}", first.names, arguments, final)
        if isinstance(first, Chain):
            return self._chained(first, arguments, final)
        if isinstance(first, Identifier):
            return self._function(first, node, arguments, final)
        if isinstance(first, Variable) and first.fields:
            return self._chain(first, self._variable(first).text, first.fields, arguments, final)
        if not isinstance(first, Pipeline):
            last = str(self.number(first))
        if arguments or final is not None:
            message = f"can't give argument to non-function {print_node(first)}"
            if isinstance(first, Variable):
                return done(self._fail(last, message, self._variable(first)))
            return done(self._fail(last, message, final))
        if isinstance(first, Pipeline):
            return self.pipeline(first)
        if isinstance(first, Variable):
            return done(self._variable(first))
        if isinstance(first, Dot):
            return done(Code(self.dot, last, is_interface=True, is_place=True))
        if isinstance(first, Nil):
            return done(self._fail(last, "nil is not a command", None))
        return done(self._constant(first, REFLECT_VALUE, last))

    # --- operands -----------------------------------------------------------------------------------------

    def _argument(self, node: Operand, go_type: GoType) -> Task[Code]:
        """Translate an argument for a parameter of a type."""
        if isinstance(node, Nil):
            last = str(self.number(node))
            if go_type is REFLECT_VALUE or go_type is ANY:
                return Code("None", last, is_constant=True)
            if can_be_nil(go_type):
                return Code(f"nil({self._object('type', go_type)})", last, is_constant=True)
            return self._fail(last, f"cannot assign nil to {go_type.name}", None)
        if isinstance(node, Bool | Number | String):
            return self._constant(node, go_type, str(self.number(node)))
        code: Code = yield self._operand(node)
        if go_type is REFLECT_VALUE:
            return code
        if go_type is ANY:
            return _plain(code)
        return Code(self._validated(code, go_type), code.last)

    def _operand(self, node: Operand) -> Task[Code]:
        """Translate an argument whose value does not depend on the parameter."""
        if isinstance(node, Dot):
            return done(Code(self.dot, str(self.number(node)), is_interface=True, is_place=True))
        if isinstance(node, Field):
            return self._chain(node, self.dot, node.names, (), None)
        if isinstance(node, Variable):
            variable = self._variable(node)
            return self._chain(node, variable.text, node.fields, (), None) if node.fields else done(variable)
        if isinstance(node, Pipeline):
            return self.pipeline(node)
        if isinstance(node, Chain):
            return self._chained(node, (), None)
        assert isinstance(node, Identifier)  # noqa: S101 - constants and nil are dealt with
        return self._function(node, node, (), None)

    def _constant(self, node: Bool | Number | String, go_type: GoType, last: str) -> Code:
        value, problem = constant_for(node, go_type, print_node(node))
        if problem is not None:
            return self._fail(last, problem, None)
        if type(value) in (bool, int, str):
            return Code(repr(value), last, is_constant=True)
        return Code(self._object("constant", value), last, is_constant=True)

    def _variable(self, node: Variable) -> Code:
        last = str(self.number(node))
        found = self.scope.find(node.name)
        if found and not found[0].conditional:
            return Code(f"f[{found[0].slot}]", last, is_interface=True, is_place=True)
        candidates = "".join(f"f[{declaration.slot}], " for declaration in found)
        return Code(
            f"x.variable(({candidates}), {node.name!r}, {last})", last, is_interface=True, is_place=True
        )

    def _chained(self, node: Chain, arguments: Sequence[Operand], final: Code | None) -> Task[Code]:
        """Translate a chain of fields on a parenthesised pipeline or a function's result."""
        if isinstance(node.operand, Nil):
            message = f"indirection through explicit nil in {print_node(node)}"
            return self._fail(str(self.number(node)), message, final)
        operand: Code = yield self._operand(node.operand)
        code: Code = yield self._chain(node, operand.text, node.fields, arguments, final, operand.last)
        return code

    def _chain(
        self,
        node: Operand,
        receiver: str,
        names: Sequence[str],
        arguments: Sequence[Operand],
        final: Code | None,
        last: str | None = None,
    ) -> Task[Code]:
        """Translate fields of a receiver, the last of which may be a method with arguments."""
        if last is None:
            last = str(self.number(node))
        text = receiver
        plain_names = names if not arguments and final is None else names[:-1]
        steps: list[str] = []
        for position, name in enumerate(plain_names, start=1):
            text = f"x.field({text}, {name!r}, {last})"
            if position % _LONGEST_CHAIN == 0:
                step = self.module.name("t")
                steps.append(f"{step} := {text}")
                text = step
        if steps:
            text = f"({', '.join(steps)}, {text})[-1]"
        if plain_names is names:
            return Code(text, last, is_interface=True, is_place=True)
        lazy = ""
        for argument in arguments:
            lazy += f"{(yield self._lazy(argument))}, "
        extra = "False" if final is None else f"True, {final.text}"
        text = f"x.select({text}, {names[-1]!r}, {last}, ({lazy}), {extra})"
        return Code(text, _DYNAMIC, is_interface=True, is_place=True)

    def _lazy(self, node: Operand) -> Task[str]:
        """Translate an argument of what may be a method, whose parameters are not known yet."""
        number = self.number(node)
        if isinstance(node, Nil):
            return f"Argument({number}, 'nil', None, True, None)"
        if isinstance(node, Bool | Number | String):
            return f"Argument({number}, {print_node(node)!r}, {self._object('constant', node)}, False, None)"
        self._conditional += 1
        code: Code = yield self._operand(node)
        self._conditional -= 1
        return f"Argument({number}, '', None, False, lambda: {self._noted(code)})"

    # --- functions ----------------------------------------------------------------------------------------

    def _function(
        self,
        node: Identifier,
        command: Command | Identifier,
        arguments: Sequence[Operand],
        final: Code | None,
    ) -> Task[Code]:
        """Translate the call of a function."""
        name = node.name
        last = str(self.number(node))
        function = self._functions.get(name)
        is_builtin = function is None
        if function is None:
            function = BUILTINS.get(name)
        if function is None:
            return self._fail(last, f"{quote(name)} is not a defined function", final)
        problem = wrong_count(function, name, len(arguments), final is not None)
        problem = problem or bad_results(function, name)
        if problem is not None:
            return self._fail(last, problem, final)
        if is_builtin and name in ("and", "or"):
            decided: Code = yield self._short_circuit(name, arguments, final, last)
            return decided
        types = parameter_types(function, len(arguments) + (final is not None))
        parts = []
        if is_builtin and name == "call":
            parts.append(
                repr(print_node(arguments[0])) if arguments else f"callee({final.text if final else None})"
            )
        for argument, go_type in zip(arguments, types, strict=False):
            code: Code = yield self._argument(argument, go_type)
            parts.append(code.text)
            last = code.last
        if final is not None:
            parts.append(self._final(final, types[-1], last))
        shown = self.number(command)
        text = f"x.call({shown}, {name!r}, {self._object('function', function)}, {', '.join(parts)})"
        result = function.results[0]
        anything = result is REFLECT_VALUE or result.kind is Kind.INTERFACE
        return Code(text, last, is_interface=anything, is_place=anything)

    def _final(self, code: Code, go_type: GoType, last: str) -> str:
        """Return the value of the command before as the last argument."""
        if go_type is REFLECT_VALUE:
            return code.text
        if go_type is ANY:
            return _plain(code).text
        return self._validated(replace(code, last=last), go_type)

    def _short_circuit(
        self, name: str, arguments: Sequence[Operand], final: Code | None, last: str
    ) -> Task[Code]:
        """Translate ``and`` and ``or``, which stop at the argument that decides."""
        result = self.module.name("t")
        tests = []
        for argument in arguments:
            code: Code = yield self._argument(argument, REFLECT_VALUE)
            tests.append(f"is_true({result} := {self._noted(code)})")
            self._conditional += 1
        self._conditional -= len(arguments)
        if final is not None:
            tests.append(f"is_true({result} := {final.text})")
        text = f"({f' {name} '.join(tests)}, {result})[1]"
        return Code(text, _DYNAMIC if arguments else last, is_interface=True, is_place=True)

    def _noted(self, code: Code) -> str:
        """Return an expression that notes at run time which node was evaluated last."""
        return code.text if code.last == _DYNAMIC else f"x.at({code.last}, {code.text})"

    def _validated(self, code: Code, go_type: GoType) -> str:
        return f"x.validate({code.text}, {self._object('type', go_type)}, {code.last})"

    def _fail(self, last: str, message: str, final: Code | None) -> Code:
        before = "" if final is None else f", {final.text}"
        return Code(f"x.fail({last}, {message!r}{before})", last)

    def _object(self, kind: str, value: object) -> str:
        """Return the name under which the code finds an object."""
        for name, known in self.objects.items():
            if known is value:
                return name
        name = f"{kind}_{len(self.objects)}"
        self.objects[name] = value
        return name


def _plain(code: Code) -> Code:
    """Return a value as it is passed to an ``any``."""
    return Code(f"plain({code.text})", code.last) if code.is_place else code
