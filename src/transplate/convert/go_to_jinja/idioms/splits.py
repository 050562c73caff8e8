"""Loops that cut a text at a constant, a part in each round: loops over the text split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from transplate.convert.go_to_jinja.idioms.matching import (
    HOLE,
    Match,
    declared_by,
    inside,
    match,
    reads_own_dot,
    said,
    variables_in,
)
from transplate.convert.go_to_jinja.resolve import Resolution
from transplate.gotmpl import nodes as go
from transplate.gotmpl.parser import parse
from transplate.ollama.functions import FUNCTIONS

SPLIT = "split"
"""The parts of a text between the places where a constant is."""

_LOOP = """
{{- $rest := hole_s }}{{ $more := true }}{{ range len (print hole_s " ") }}
{{- if not $more }}{{ break }}{{ end }}
{{- $found := contains $rest hole_c }}{{ $from := from_first $rest hole_c }}PART
{{- if $found }}CUT{{ $rest = slice $from hole_n }}
{{- else }}{{ $more = false }}{{ end }}{{ end -}}
"""
_PART = "{{ $part := $rest }}"
_CUT = "{{ $part = slice $rest 0 (len (slice $rest (len $from))) }}"


@lru_cache(maxsize=1)
def _loops() -> tuple[go.Body, go.Body]:
    """Return the loop that has the part in a variable, and the one that only counts the parts."""
    holes = (f"{HOLE}{name}" for name in "scn")
    functions = {*FUNCTIONS, *holes, "contains", "from_first"}
    texts = (_LOOP.replace("PART", part).replace("CUT", cut) for part, cut in ((_PART, _CUT), ("", "")))
    with_part, without = (parse(text, functions=functions).body for text in texts)
    return with_part, without


def over_parts(items: go.Body, resolution: Resolution) -> go.Body:
    """Return a body with loops over the parts of texts for what takes them off one by one."""
    return _body(items, items, resolution)


def _body(items: go.Body, whole: go.Body, resolution: Resolution) -> go.Body:
    made: list[go.Item] = []
    rest = items
    while rest:
        first, rest = rest[0], rest[1:]
        more, *following = said(rest)[:3] or (None,)
        counter = following[:1] if _is_counter(following) else []
        taken = (first, more, *following[len(counter) :][:1])
        splits = (_split(pattern, taken, whole, resolution) for pattern in _loops())
        loop = next((one for one in splits if one is not None), None)
        if loop is not None:
            rest = rest[rest.index(following[len(counter)]) + 1 :]
            made += counter
            first = loop
        made.append(inside(first, lambda body: _body(body, whole, resolution)))
    return tuple(made)


def _is_counter(following: Sequence[go.Item]) -> bool:
    """Tell whether a text that counts the rounds is declared in front of a loop."""
    match following:
        case [go.Action(go.Pipeline((go.Command((go.String(_, ""),)),), (_,), False)), go.Range()]:
            return True
        case _:
            return False


def _split(
    pattern: go.Body, statements: Sequence[go.Item | None], whole: go.Body, resolution: Resolution
) -> go.Item | None:
    """Return the loop over the parts of a text that three statements are, if they are such as a pattern."""
    match statements:
        case (go.Action() as first, go.Action() as more, go.Range(orelse=None) as loop):
            pass
        case _:
            return None
    steps = said(loop.body)
    count = len(said(_range_of(pattern).body))
    if len(steps) <= count:
        return None
    inner = loop.body[loop.body.index(steps[count - 1]) + 1 :]
    taken = (first, more, replace(loop, body=steps[:count]))
    found = match(pattern, taken, 0, resolution)
    if found is None or not _is_whole(found) or reads_own_dot(inner):
        return None
    parts = tuple(declared_by(step) for step in steps[3 : count - 1])
    for helper in (first, more, steps[1], steps[2]):
        declaration = resolution.of(declared_by(helper))
        uses = [
            sum(resolution.of(one) is declaration for one in variables_in(tree)) for tree in (taken, whole)
        ]
        if uses[0] != uses[1]:
            return None
    span = loop.pipeline.span
    command = go.Command((go.Identifier(SPLIT, span), found.holes["s"], found.holes["c"]), span)
    return replace(loop, pipeline=go.Pipeline((command,), parts, span=span), body=inner)


def _range_of(body: go.Body) -> go.Range:
    return next(item for item in body if isinstance(item, go.Range))


def _is_whole(found: Match) -> bool:
    """Tell whether what is cut off behind a part is the constant, all of it."""
    match found.holes["c"], found.holes["n"]:
        case go.String(_, constant), go.Number(_, int(size)):
            return bool(constant) and len(constant.encode(errors="surrogateescape")) == size
        case _:
            return False
