"""Compiled templates: what a parsed template becomes, ready to be executed on Go values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from transplate.errors import ErrorKind, TemplateExecutionError
from transplate.gotmpl.compiler.exact import ExactCompiler
from transplate.gotmpl.compiler.fast import Shape, fast_source
from transplate.gotmpl.compiler.positions import error_text, offset_of
from transplate.gotmpl.compiler.static import Unsupported
from transplate.gotmpl.costs import LimitReached, Meter
from transplate.gotmpl.fastruntime import FAST_RUNTIME
from transplate.gotmpl.functions import Argument
from transplate.gotmpl.nodes import Body, TemplateTree
from transplate.gotmpl.printer import print_node
from transplate.gotmpl.quoting import quote, to_bytes
from transplate.gotmpl.runtime import (
    UNDEFINED,
    Execution,
    Fault,
    MissingKey,
    callee,
    declare,
    nil,
)
from transplate.gotmpl.types import GoValue, Method
from transplate.gotmpl.values import is_true, plain, settle
from transplate.limits import DEFAULT_LIMITS, Limits
from transplate.source import Source

_RUNTIME: dict[str, object] = {
    "__builtins__": {},
    "Argument": Argument,
    "U": UNDEFINED,
    "callee": callee,
    "declare": declare,
    "is_true": is_true,
    "nil": nil,
    "plain": plain,
    "settle": settle,
}
"""All that generated code can name besides its own functions."""


class FastForm:
    """The fast form of a template for data of one shape.

    Attributes:
        python_source: Its source.
        run: The function. It takes the parameters of the shape and the limits, and returns the output. It
            raises anything where only the exact form knows what is to be done, as it does at a limit.
    """

    __slots__ = ("python_source", "run")

    def __init__(self, python_source: str, run: Callable[..., str]) -> None:
        self.python_source = python_source
        self.run = run


def fast_form(templates: Mapping[str, Body], name: str, shape: Shape) -> FastForm | None:
    """Return the fast form of a template, None if it has none.

    Args:
        templates: The bodies of all templates by name.
        name: The template to run.
        shape: The data that it will be given.
    """
    try:
        source = fast_source(templates, name, shape)
        namespace: dict[str, Any] = {**FAST_RUNTIME, **shape.helpers}
        exec(compile(source, "<template>", "exec"), namespace)  # noqa: S102 - our own source
    except (Unsupported, SyntaxError, RecursionError, MemoryError):
        return None
    return FastForm(source, namespace["run_0"])


class Program:
    """A template and those associated with it, as Go's ``*template.Template`` holds them.

    Compiled when first executed; threads may share it.

    Attributes:
        templates: The bodies of all templates by name, the main one included.
        source: The text they came from; its name is what Go calls the parse name.
        name: Name of the main template.
        functions: Functions besides the builtins, which they override.
        missing_key: The option ``missingkey``.
    """

    def __init__(
        self,
        templates: Mapping[str, Body],
        source: Source,
        *,
        name: str = "",
        functions: Mapping[str, Method] | None = None,
        missing_key: MissingKey = MissingKey.DEFAULT,
    ) -> None:
        self.templates = templates
        self.source = source
        self.name = name
        self.functions = functions or {}
        self.missing_key = missing_key

    @classmethod
    def from_tree(
        cls,
        tree: TemplateTree,
        *,
        name: str = "",
        functions: Mapping[str, Method] | None = None,
        missing_key: MissingKey = MissingKey.DEFAULT,
    ) -> Program:
        """Return the program of a parsed file, whose own body is the template called ``name``."""
        templates = {name: tree.body, **tree.templates}
        return cls(templates, tree.source, name=name, functions=functions, missing_key=missing_key)

    def execute(self, data: GoValue, *, limits: Limits = DEFAULT_LIMITS, meter: Meter | None = None) -> str:
        """Execute the main template on a value.

        Args:
            data: What ``.`` and ``$`` are.
            limits: The bounds of this execution.
            meter: The steps that several executions have together; None if this one has all of them.

        Returns:
            The output as a Go string: bytes outside valid UTF-8 are surrogate escapes.

        Raises:
            TemplateExecutionError: The template failed, with Go's message and what had been printed, or a
                limit was reached.
        """
        execution = Execution(self.missing_key, limits)
        if meter is not None:
            execution.steps = meter.steps
        try:
            self._entry(execution, data)
        except Fault as fault:
            template, node = self._compiler.expressions.nodes[fault.node]
            message = fault.message
            if fault.shows_node:
                message = message.replace("%s", print_node(node), 1)
            message = error_text(self.source, quote(template), node, message)
            raise self._error(execution, message, None, offset_of(node)) from None
        except LimitReached as reached:
            raise self._error(execution, str(reached), ErrorKind.LIMIT, None) from None
        except TemplateExecutionError as error:
            raise self._error(execution, error.message, error.kind, None) from None
        except RecursionError:
            message = "template calls nest deeper than Python can follow (limit: depth)"
            raise self._error(execution, message, ErrorKind.LIMIT, None) from None
        finally:
            if meter is not None:
                meter.steps = execution.steps
        return execution.output

    @property
    def python_source(self) -> str:
        """The Python source that the templates were compiled to."""
        return self._compiler.module.text

    @cached_property
    def _compiler(self) -> ExactCompiler:
        return ExactCompiler(self.templates, self.functions)

    @cached_property
    def _entry(self) -> Callable[[Execution, GoValue], Any]:
        namespace = {**_RUNTIME, **self._compiler.expressions.objects}
        exec(compile(self.python_source, "<template>", "exec"), namespace)  # noqa: S102 - our own source
        entry: Callable[[Execution, GoValue], Any] = namespace[self._compiler.entry(self.name)]  # type: ignore[assignment]
        return entry

    def _error(
        self, execution: Execution, message: str, kind: ErrorKind | None, offset: int | None
    ) -> TemplateExecutionError:
        output = to_bytes(execution.output).decode("utf-8", "replace")
        return TemplateExecutionError(message, output=output, kind=kind, source=self.source, offset=offset)
