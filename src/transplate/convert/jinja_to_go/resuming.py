"""Loops of macros that call themselves: one that is run anew goes on in the round in which it was left.

A macro is left where it calls one, and starts anew with the answer. What it has in a loop would be computed
as often as there are calls. So each round notes, among the answers, its number and what the rounds before it
have set, and a loop that finds such a note leaves those rounds out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import call, string
from transplate.convert.jinja_to_go.packing import TAKE
from transplate.convert.jinja_to_go.trees import assigned_in, declared_within, items_within, with_bodies
from transplate.gotmpl.nodes import (
    Action,
    Body,
    Continue,
    Identifier,
    Item,
    Operand,
    Pipeline,
    Range,
    String,
    Variable,
)


@dataclass(frozen=True)
class Answers:
    """The variables of a loop that runs macros.

    Attributes:
        done: The answers with which a macro starts.
        rest: Those that it has not read.
        called: What it calls, or nothing.
        own: Others that the loop sets itself.
        fresh: Gives a new variable.
    """

    done: Variable
    rest: Variable
    called: Variable
    own: Sequence[Variable]
    fresh: Callable[[str], Variable]


def resumed(body: Body, answers: Answers, known: Collection[str]) -> Body:
    """Return the body of a macro with loops that go on where they were left.

    Args:
        body: The body.
        answers: The variables of the loop that runs it.
        known: Variables that hold texts.
    """
    texts = _texts_of(body, {answers.rest.name, *known})

    def changed(items: Body) -> Body:
        made: list[Item] = []
        for item in items:
            inner = with_bodies(item, changed)
            if isinstance(inner, Range) and inner.orelse is None and _is_left(inner.body, answers):
                made += _resumed_loop(inner, texts, answers)
            else:
                made.append(inner)
        return tuple(made)

    return changed(body)


def _is_left(body: Body, answers: Answers) -> bool:
    return answers.called.name in assigned_in(body, ())


def _resumed_loop(loop: Range, texts: set[str], answers: Answers) -> Iterator[Item]:
    own = {one.name for one in (answers.done, answers.rest, answers.called, *answers.own)}
    inside = declared_within(loop.body, is_new=True)
    names = sorted(set(assigned_in(loop.body, ())) - own - inside - {""})
    if not texts.issuperset(names):
        yield loop
        return
    before, skip, note = (answers.fresh(name) for name in ("before", "round", "left"))
    operands: dict[str, Operand] = {"a": answers.rest, "b": before, "m": skip, "l": note}
    kept = ("l", *(f"x{index}" for index in range(len(names))))
    homes = "{{ else ".join(
        f"{{{{ if eq $i {index} }}}}{{{{ ${name} = $y }}}}".removeprefix("{{ " if index else "")
        for index, name in enumerate(kept)
    )
    take = TAKE.replace("$d", "$y").replace("$r", "$a")
    takes = f"{{{{ range $i := {len(kept)} }}}}{take}{homes}{{{{ end }}}}{{{{ end }}}}"
    operands |= {f"x{index}": Variable(name) for index, name in enumerate(names)}
    operands["z"] = answers.done
    yield from build.statements(
        '{{ $b := slice $z 0 (len (slice $z (len $a))) }}{{ $m := "" }}{{ $l := "" }}'
        f'{{{{ if eq (printf "%.1s" $a) "c" }}}}{{{{ $a = slice $a 1 }}}}{takes}{{{{ end }}}}',
        answers.fresh,
        **operands,
    )
    counted = build.assign(skip, call("print", skip, string(".")))
    is_done = call("lt", call("len", skip), call("len", note))
    values = [part for one in (skip, *map(Variable, names)) for part in (call("len", one), one)]
    form = f"%sc{'%08d%s' * (1 + len(names))}%s"
    noted = build.assign(answers.done, call("printf", string(form), before, *values, answers.rest))
    top = (counted, build.when(is_done, (Continue(),)), noted)
    yield Range(loop.pipeline, (*top, *loop.body))


def _texts_of(body: Body, known: Collection[str]) -> set[str]:
    """Return the variables that hold nothing else than texts, some of which are known."""
    given: dict[str, list[Pipeline]] = {name: [] for name in known}
    for item in items_within(body):
        if isinstance(item, Action) and item.pipeline.declarations:
            if item.pipeline.declarations[0].name in known and not item.pipeline.is_assignment:
                continue
            given.setdefault(item.pipeline.declarations[0].name, []).append(item.pipeline)
    texts = set(given)
    while others := {name for name in texts if not all(_is_text(one, texts) for one in given[name])}:
        texts -= others
    return texts


def _is_text(pipeline: Pipeline, texts: set[str]) -> bool:
    """Tell whether an expression gives a text, where some variables hold texts."""
    function, *arguments = pipeline.commands[0].operands
    if function == Identifier("slice"):
        function = arguments[0]
    if isinstance(function, Variable):
        return function.name in texts and not function.fields
    return isinstance(function, String) or function in (Identifier("print"), Identifier("printf"))
