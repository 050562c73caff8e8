"""Loops that cut a text at a constant, a part in each round: loops over the text split."""

from __future__ import annotations

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
{{- $found := contains $rest hole_c }}{{ $from := from_first $rest hole_c }}{{ $part := $rest }}
{{- if $found }}{{ $part = slice $rest 0 (len (slice $rest (len $from))) }}{{ $rest = slice $from hole_n }}
{{- else }}{{ $more = false }}{{ end }}{{ end -}}
"""


@lru_cache(maxsize=1)
def _loop() -> go.Body:
    holes = (f"{HOLE}{name}" for name in "scn")
    return parse(_LOOP, functions={*FUNCTIONS, *holes, "contains", "from_first"}).body


def over_parts(items: go.Body, resolution: Resolution) -> go.Body:
    """Return a body with loops over the parts of texts for what takes them off one by one."""
    return _body(items, items, resolution)


def _body(items: go.Body, whole: go.Body, resolution: Resolution) -> go.Body:
    made: list[go.Item] = []
    rest = items
    while rest:
        first, rest = rest[0], rest[1:]
        following = said(rest)[:2]
        loop = _split(first, following, whole, resolution)
        if loop is not None:
            rest = rest[rest.index(following[1]) + 1 :]
            first = loop
        made.append(inside(first, lambda body: _body(body, whole, resolution)))
    return tuple(made)


def _split(first: go.Item, following: go.Body, whole: go.Body, resolution: Resolution) -> go.Item | None:
    """Return the loop over the parts of a text that three statements are, if they are."""
    match (first, *following):
        case go.Action(), go.Action(), go.Range(orelse=None) as loop:
            pass
        case _:
            return None
    steps = said(loop.body)
    count = len(said(_range_of(_loop()).body))
    if len(steps) <= count:
        return None
    inner = loop.body[loop.body.index(steps[count - 1]) + 1 :]
    taken = (first, following[0], replace(loop, body=steps[:count]))
    found = match(_loop(), taken, 0, resolution)
    if found is None or not _is_whole(found) or reads_own_dot(inner):
        return None
    part = declared_by(steps[3])
    for helper in (first, following[0], steps[1], steps[2]):
        declaration = resolution.of(declared_by(helper))
        uses = [
            sum(resolution.of(one) is declaration for one in variables_in(tree)) for tree in (taken, whole)
        ]
        if uses[0] != uses[1]:
            return None
    span = loop.pipeline.span
    command = go.Command((go.Identifier(SPLIT, span), found.holes["s"], found.holes["c"]), span)
    return replace(loop, pipeline=go.Pipeline((command,), (part,), span=span), body=inner)


def _range_of(body: go.Body) -> go.Range:
    return next(item for item in body if isinstance(item, go.Range))


def _is_whole(found: Match) -> bool:
    """Tell whether what is cut off behind a part is the constant, all of it."""
    match found.holes["c"], found.holes["n"]:
        case go.String(_, constant), go.Number(_, int(size)):
            return bool(constant) and len(constant.encode(errors="surrogateescape")) == size
        case _:
            return False
