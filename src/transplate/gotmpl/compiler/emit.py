"""Python source in the making: functions made of lines, and the module that holds them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Function:
    """One function that is being written.

    Attributes:
        name: Its name.
        prologue: What it begins with; may be set when the rest is written.
        epilogue: What it ends with, likewise.
        depth: How many blocks are open.
        loops: How many of them are loops.
    """

    def __init__(self, name: str, parameters: str) -> None:
        self.name = name
        self.prologue: list[str] = []
        self.epilogue: list[str] = []
        self.depth = 0
        self.loops = 0
        self._head = f"def {name}({parameters}):"
        self._lines: list[str] = []

    def line(self, text: str) -> None:
        """Add one statement."""
        self._lines.append(f"{'    ' * (self.depth + 1)}{text}")

    @contextmanager
    def block(self, head: str, *, loop: bool = False) -> Iterator[None]:
        """Open a block for what is added inside; an empty one gets a ``pass``."""
        self.line(head)
        self.depth += 1
        self.loops += loop
        start = len(self._lines)
        yield
        if len(self._lines) == start:
            self.line("pass")
        self.depth -= 1
        self.loops -= loop

    @property
    def text(self) -> str:
        """The source of the function."""
        first, last = ([f"    {line}" for line in lines] for lines in (self.prologue, self.epilogue))
        lines = [*first, *self._lines, *last]
        return "\n".join([self._head, *(lines or ["    pass"])]) + "\n"


class Module:
    """All functions of one compiled template, and the names that are free in them."""

    def __init__(self) -> None:
        self._functions: list[Function] = []
        self._names = 0

    def function(self, kind: str, parameters: str) -> Function:
        """Start a function named after its kind."""
        function = Function(f"{kind}_{len(self._functions)}", parameters)
        self._functions.append(function)
        return function

    def name(self, kind: str) -> str:
        """Return a name for a local that no other has."""
        self._names += 1
        return f"{kind}{self._names}"

    @property
    def text(self) -> str:
        """The source of the module."""
        return "\n\n".join(function.text for function in self._functions)
