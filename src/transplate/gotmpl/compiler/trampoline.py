"""Recursion without Python's stack, so that no template is too deep to compile."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

_T = TypeVar("_T")

Task: TypeAlias = Generator["Task[Any]", Any, _T]
"""A function in pieces: it yields the calls it makes, is sent their results, and returns its own."""


def done(value: _T) -> Task[_T]:
    """Return a task that is finished already."""
    return value
    yield  # makes this a generator


def run(task: Task[_T]) -> _T:
    """Run a task and all that it calls, and return its result."""
    waiting: list[Task[Any]] = []
    current: Task[Any] = task
    value: Any = None
    while True:
        try:
            called = current.send(value)
        except StopIteration as finished:
            value = finished.value
            if not waiting:
                return value  # type: ignore[no-any-return]
            current = waiting.pop()
        else:
            waiting.append(current)
            current, value = called, None
