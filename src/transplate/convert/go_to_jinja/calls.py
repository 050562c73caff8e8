"""The templates that a template calls: which of them call themselves, and which are best said only once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property

from transplate.gotmpl import nodes as go

_MOST_INLINED = 200
"""Statements up to which every call is replaced by what it calls."""


class Calls:
    """Who calls whom in one file."""

    def __init__(self, body: go.Body, templates: Mapping[str, go.Body]) -> None:
        """Keep the main template's body and those of the templates that it can call, by name."""
        self._body = body
        self._templates = templates

    def body_of(self, name: str) -> go.Body | None:
        """Return the body of a template, None where there is none of that name."""
        return self._templates.get(name)

    def calls_itself(self, name: str) -> bool:
        """Return whether a template calls itself, directly or through others."""
        return name in self._recursive

    def is_shared(self, name: str) -> bool:
        """Return whether a template is better written once than wherever it is called."""
        return self._is_large and self._sites[name] > 1

    @cached_property
    def _recursive(self) -> frozenset[str]:
        return frozenset(name for name in self._templates if name in self._reached_from(name))

    def _reached_from(self, name: str) -> set[str]:
        reached: set[str] = set()
        waiting = list(_called(self._templates[name]))
        while waiting:
            callee = waiting.pop()
            if callee not in reached:
                reached.add(callee)
                waiting += _called(self._templates.get(callee, ()))
        return reached

    @cached_property
    def _sites(self) -> Counter[str]:
        """How many calls of each template stand in the file."""
        bodies = (self._body, *self._templates.values())
        return Counter(name for body in bodies for name in _called(body))

    @cached_property
    def _is_large(self) -> bool:
        """Whether the file gets long where all calls are replaced by what they call."""
        sizes: dict[str, int] = {}

        def size_of(body: go.Body) -> int:
            return sum(1 for _ in _statements(body)) + sum(map(size, _called(body)))

        def size(name: str) -> int:
            if name in self._recursive or name not in self._templates:
                return 1
            if name not in sizes:
                sizes[name] = size_of(self._templates[name])
            return sizes[name]

        return size_of(self._body) > _MOST_INLINED


def _statements(body: go.Body) -> Iterator[go.Item]:
    """Yield all statements of a body, those of inner bodies included."""
    for item in body:
        yield item
        match item:
            case go.If() | go.With() | go.Range():
                yield from _statements(item.body)
                orelse = item.orelse
                if orelse is not None:
                    yield from _statements(orelse.body if isinstance(orelse, go.Else) else (orelse,))
            case _:
                pass


def _called(body: go.Body) -> Iterator[str]:
    for item in _statements(body):
        match item:
            case go.TemplateCall(name) | go.Block(name):
                yield name.value
            case _:
                pass
