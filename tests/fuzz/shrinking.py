"""Making a failing case small: the template and the request, as long as it keeps failing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.fuzz.mutation import tokens

Fails = Callable[[str, Any], bool]
_NOTHING = object()


def shrink(template: str, request: Any, fails: Fails, *, budget: int = 1500) -> tuple[str, Any]:
    """Return a smaller case that fails too.

    Args:
        template: The template.
        request: Its request.
        fails: Whether a case still has the failure that is looked for.
        budget: How many cases may be tried.
    """
    tries = iter(range(budget))

    def still_fails(text: str, data: Any) -> bool:
        return next(tries, None) is not None and fails(text, data)

    while True:
        before = (template, request)

        def block_fails(text: str, data: Any = request) -> bool:
            return still_fails(text, data)

        template = _shrink_value(template, block_fails, _unwrapped)
        for cut in (tokens, list):

            def text_fails(pieces: list[str], data: Any = request) -> bool:
                return still_fails("".join(pieces), data)

            template = "".join(_shrink_sequence(cut(template), text_fails))

        def data_fails(data: Any, text: str = template) -> bool:
            return still_fails(text, data)

        request = _shrink_value(request, data_fails, _smaller_values)
        if (template, request) == before:
            return before


def _shrink_value(value: Any, fails: Callable[[Any], bool], variants: Callable[[Any], Iterator[Any]]) -> Any:
    """Replace a value by the first of its variants that fails too, as long as there is one."""
    while (smaller := next(filter(fails, variants(value)), _NOTHING)) is not _NOTHING:
        value = smaller
    return value


_BLOCK = re.compile(r"\{\{-?\s*(?:(if|with|range|define|block)\b|(end)\b)[^{}]*\}\}")


def _unwrapped(template: str) -> Iterator[str]:
    """Yield the template without one of its blocks, and with a block's body alone."""
    opened: list[re.Match[str]] = []
    blocks = []
    for action in _BLOCK.finditer(template):
        if action[1]:
            opened.append(action)
        elif opened:
            blocks.append((opened.pop(), action))
    blocks.sort(key=lambda pair: pair[0].start() - pair[1].end())
    for head, tail in blocks:
        yield template[: head.start()] + template[tail.end() :]
    for head, tail in blocks:
        yield template[: head.start()] + template[head.end() : tail.start()] + template[tail.end() :]


def _shrink_sequence(pieces: list[str], fails: Callable[[list[str]], bool]) -> list[str]:
    """Remove runs of pieces, long ones first."""
    size = max(1, len(pieces) // 2)
    while pieces:
        at = 0
        removed = False
        while at < len(pieces):
            candidate = pieces[:at] + pieces[at + size :]
            if fails(candidate):
                pieces, removed = candidate, True
            else:
                at += size
        if size == 1 and not removed:
            break
        if not removed or size > 1:
            size = max(1, size // 2)
    return pieces


def _smaller_values(value: Any) -> Iterator[Any]:
    """Yield simpler variants of JSON data, the simplest first."""
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
        for key, item in value.items():
            for smaller in _smaller_values(item):
                yield {**value, key: smaller}
    elif isinstance(value, list):
        if len(value) > 3:
            yield value[: len(value) // 2]
            yield value[len(value) // 2 :]
        for i in range(len(value)):
            yield value[:i] + value[i + 1 :]
        for i, item in enumerate(value):
            for smaller in _smaller_values(item):
                yield [*value[:i], smaller, *value[i + 1 :]]
    elif isinstance(value, str) and value:
        yield ""
        if len(value) > 1:
            yield value[: len(value) // 2]
            yield value[len(value) // 2 :]
            if len(value) <= 8:
                for i in range(len(value)):
                    yield value[:i] + value[i + 1 :]
    elif isinstance(value, bool | int | float) and value not in (0, 1):
        yield 1
