"""Go templates on plain Python data, and the interface through which other packages run templates.

Two levels:

* :class:`GoTemplate` parses a source and renders it against plain Python data.
* :class:`~transplate.gotmpl.compiler.program.Program` (re-exported here) runs parsed templates on Go values
  with a given table of functions. ``Program.from_tree(tree, functions=..., missing_key=...)`` takes a parsed
  file; ``Program(templates, source, ...)`` takes bodies by name, such as a copy of a tree that was cut.
  ``program.execute(data, limits=...)`` returns the output or raises
  :class:`~transplate.errors.TemplateExecutionError` with Go's message and the partial output.

A function of the table is a :class:`~transplate.gotmpl.types.Method` (its ``name`` is not used): ``call``
takes arguments as plain Go values that fit ``parameters`` and returns the result alone; to return a Go error
it raises :class:`~transplate.gotmpl.values.GoError`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from transplate.gotmpl.builtins import BUILTINS
from transplate.gotmpl.compiler.program import Program
from transplate.gotmpl.parser import parse
from transplate.gotmpl.runtime import MissingKey
from transplate.gotmpl.types import (
    ANY,
    ANY_MAP,
    ANY_SLICE,
    BOOL,
    ERROR,
    FLOAT64,
    INT,
    STRING,
    GoFunc,
    GoMap,
    GoPointer,
    GoSlice,
    GoStruct,
    GoType,
    GoValue,
    Method,
    SizedInt,
    slice_of,
)
from transplate.gotmpl.values import GoError
from transplate.limits import DEFAULT_LIMITS, Limits
from transplate.source import check_text

__all__ = ["GoError", "GoTemplate", "MissingKey", "Program", "function_of"]

_TYPES: Mapping[object, GoType] = {
    bool: BOOL,
    int: INT,
    float: FLOAT64,
    str: STRING,
    list: ANY_SLICE,
    dict: ANY_MAP,
    "bool": BOOL,
    "int": INT,
    "float": FLOAT64,
    "str": STRING,
    "list": ANY_SLICE,
    "dict": ANY_MAP,
}


class GoTemplate:
    """A template of Go's ``text/template``, rendered against plain Python data.

    A Python ``int`` is a Go ``int``, a ``float`` a ``float64``, a ``dict`` a ``map[string]any``, a ``list`` a
    ``[]any``, ``str`` and ``bool`` are what they are called, and ``None`` is nil.

    Args:
        source: The template.
        name: Its name, as errors show it.
        functions: Python functions by the name that the template calls them by. Parameters annotated with a
            Python type above take only that; others take anything. An exception is an error of the call.
        missing_key: What a dict gives for a key that it does not have.
        limits: Bounds on reading and rendering.

    Raises:
        TemplateSyntaxError: Go would refuse the template, with Go's message.
    """

    def __init__(
        self,
        source: str,
        *,
        name: str = "",
        functions: Mapping[str, Callable[..., Any]] | None = None,
        missing_key: MissingKey = MissingKey.DEFAULT,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        check_text(source, "GoTemplate")
        table = {key: function_of(function) for key, function in (functions or {}).items()}
        tree = parse(source, name=name, functions={*BUILTINS, *table}, limits=limits)
        self._limits = limits
        self._program = Program.from_tree(tree, name=name, functions=table, missing_key=missing_key)

    def render(self, data: Any = None) -> str:
        """Render the template against data.

        Args:
            data: What ``.`` and ``$`` are.

        Returns:
            The text; bytes that are no valid UTF-8 are shown as U+FFFD.

        Raises:
            TemplateExecutionError: The template failed, with Go's message and what had been printed.
            TypeError: The data holds something else than the types that are described above.
        """
        _check(data)
        output = self._program.execute(data, limits=self._limits)
        return output.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    @property
    def python_source(self) -> str:
        """The Python source that the template was compiled to."""
        return self._program.python_source


def function_of(function: Callable[..., Any]) -> Method:
    """Return a Python function as one that templates can call, typed by its annotations."""
    parameters: list[GoType] = []
    variadic = False
    for parameter in inspect.signature(function).parameters.values():
        go_type = _TYPES.get(parameter.annotation, ANY)
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            variadic = True
            parameters.append(slice_of(go_type))
        elif parameter.default is inspect.Parameter.empty:
            parameters.append(go_type)

    def call(*arguments: GoValue) -> GoValue:
        try:
            result = function(*arguments)
        except Exception as error:
            raise GoError(str(error)) from error
        try:
            _check(result, *_GO_VALUES)
        except TypeError as error:
            raise GoError(str(error)) from error
        return result

    return Method("", call, tuple(parameters), variadic, (ANY, ERROR))


_GO_VALUES = (SizedInt, GoSlice, GoMap, GoStruct, GoPointer, GoFunc)
"""What a function may be given and may give back, besides plain data."""


def _check(data: Any, *others: type) -> None:
    """Refuse data that is no Go value, so that no Python object can get into a template.

    Args:
        data: Plain data.
        others: Further types that are let through.
    """
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            if any(type(key) is not str for key in value):
                raise TypeError("a dict given to a template must have str keys only")
            waiting.extend(value.values())
        elif type(value) is list:
            waiting.extend(value)
        elif type(value) is int and not -(1 << 63) <= value < 1 << 63:
            raise TypeError(f"{value} does not fit Go's int")
        elif type(value) not in (str, int, float, bool, complex, *others) and value is not None:
            raise TypeError(f"a template cannot work on a Python {type(value).__name__}")
