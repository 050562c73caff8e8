"""Makes the generation prompt depend on ``add_generation_prompt``, so that without it a prefix is printed.

The generation prompt is what a template prints behind the last message when that is not the assistant's: the
longest ending that prints nothing of a message, without the part that would follow the message anyhow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja.assumptions import Assumptions
from transplate.convert.go_to_jinja.facts import Facts
from transplate.convert.go_to_jinja.simplify import loop_name, simplify_body
from transplate.jinja import nodes as j
from transplate.jinja import walk

WANTED = j.Name("add_generation_prompt")
_MESSAGES = j.Name("messages")
_ASSISTANT = j.Literal("assistant")
_LONGEST_HEADER = 200


def gate(body: j.Body, assumptions: Assumptions) -> j.Body:
    """Return a body whose generation prompt, where it has one that can be told, is printed only if wanted."""
    quiet = quiet_ending(body)
    loud, ending = body[: len(body) - quiet], body[len(body) - quiet :]
    if ending:
        return (*loud, *_gate_ending(ending, assumptions)) if loud else body
    match body[-1] if body else None:
        case j.For(_, iterable) as loop if _runs_over_messages(iterable):
            return (*body[:-1], *_gate_loop(loop, assumptions))
        case j.If(test, then, orelse):
            return (*body[:-1], j.If(test, gate(then, assumptions), gate(orelse, assumptions)))
        case _:
            return body


def _runs_over_messages(iterable: j.Expression) -> bool:
    return iterable in (_MESSAGES, j.Or((_MESSAGES, j.ListLiteral(()))))


# --- behind the loop over the messages ------------------------------------------------------------------


def _gate_ending(ending: j.Body, assumptions: Assumptions) -> j.Body:
    """Gate what stands behind the messages; Ollama prints it behind a final assistant message, too."""
    text = _constant(ending)
    if text is None or len(text) > _LONGEST_HEADER or not text:
        return ending
    if assumptions.use("open-prefill"):
        return (j.If(WANTED, ending),)
    last = j.Attribute(j.Item(_MESSAGES, j.Literal(-1)), "role")
    prefill = b.and_(_MESSAGES, j.Binary("==", last, _ASSISTANT))
    return (j.If(b.or_(WANTED, prefill), ending),)


# --- at the end of the last iteration -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A generation prompt within the loop: when the last message is followed by it, and what it prints."""

    condition: j.Expression
    body: j.Body


def _gate_loop(loop: j.For, assumptions: Assumptions) -> j.Body:
    """Gate the prompts at the end of the last iteration, behind the loop if they are one and the same."""
    found: list[_Prompt] = []
    name, message = loop_name(loop), loop.targets[-1]

    def take_out(prompt: _Prompt) -> j.Body:
        found.append(prompt)
        return ()

    def keep_here(prompt: _Prompt) -> j.Body:
        return (j.If(b.and_(j.Attribute(name, "last"), prompt.condition, WANTED), prompt.body),)

    without = _Gating(name, message, take_out).body(loop.body, j.TRUE, Facts())
    if not found:
        return (loop,)
    if _can_follow(found, message) and assumptions.use("some-message"):

        def of_last(expression: j.Expression) -> j.Expression:
            last = j.Item(_MESSAGES, j.Literal(-1))
            return walk.substitute(expression, lambda part: last if part == message else part)

        condition = of_last(b.or_(*(prompt.condition for prompt in found)))
        prompt = walk.map_expressions(found[0].body, of_last)
        behind = j.If(b.and_(WANTED, Facts().condition(condition)), prompt)
        return (replace(loop, body=without), behind)
    return (replace(loop, body=_Gating(name, message, keep_here).body(loop.body, j.TRUE, Facts())),)


def _can_follow(found: list[_Prompt], message: j.Name) -> bool:
    """Return whether prompts can stand behind the loop: all alike, with nothing that only the loop has."""
    first = found[0].body
    parts = {part for prompt in found for part in walk.parts(prompt.condition)} | set(walk.all_parts(first))
    return all(prompt.body == first for prompt in found) and not any(
        isinstance(part, j.Name) and part != message and ("#" in part.name or " " in part.name)
        for part in parts
    )


@dataclass(frozen=True)
class _Gating:
    """The walk to the ends of an iteration; ``place`` says what becomes of a prompt found there."""

    loop: j.Name
    message: j.Name
    place: Callable[[_Prompt], j.Body]

    def body(self, body: j.Body, path: j.Expression, facts: Facts) -> j.Body:
        quiet = quiet_ending(body)
        loud, ending = body[: len(body) - quiet], body[len(body) - quiet :]
        if ending:
            return (*loud, *self.ending(ending, path, facts))
        match body[-1] if body else None:
            case j.If(test, then, orelse):
                negated = b.not_(test)
                inside = self.body(then, b.and_(path, test), facts.assuming(test))
                outside = self.body(orelse, b.and_(path, negated), facts.assuming(negated))
                return (*body[:-1], j.If(test, inside, outside))
            case _:
                return body

    def ending(self, ending: j.Body, path: j.Expression, facts: Facts) -> j.Body:
        """Take the prompt out of an ending that differs between the last message and the others."""
        last = j.Attribute(self.loop, "last")
        others = facts.condition(j.Binary("!=", j.Attribute(self.message, "role"), _ASSISTANT))
        reached = b.and_(last, others)
        if facts.decide(reached) is False or any(map(_can_fail, walk.all_parts(ending))):
            return ending
        prompt = simplify_body(ending, facts.assuming(reached))
        usual = simplify_body(ending, facts.assuming(b.not_(last)))
        if not prompt or prompt == usual:
            return ending
        closing, prompt = _split(prompt, usual)
        rest = simplify_body((j.If(reached, closing, ending),), facts)
        placed = self.place(_Prompt(_without(b.and_(path, others), last), prompt))
        return (*rest, *simplify_body(placed, facts))


def _can_fail(part: j.Expression) -> bool:
    return isinstance(part, j.Call) and part.function == j.Name("raise_exception")


def _without(condition: j.Expression, known: j.Expression) -> j.Expression:
    """Return a condition as it is where another one is known to hold."""
    return Facts().assuming(known).condition(condition)


def _split(prompt: j.Body, usual: j.Body) -> tuple[j.Body, j.Body]:
    """Split off what the last message has in common with the others: the end of its turn."""
    match prompt[0], usual[0] if usual else None:
        case j.Output((j.Literal(str(text)), *rest)), j.Output((j.Literal(str(other)), *_)):
            same = common_prefix(text, other)
            if not same:
                return (), prompt
            left = (j.Literal(text[len(same) :]), *rest) if text != same else tuple(rest)
            return (j.Output((j.Literal(same),)),), ((j.Output(left),) if left else ()) + prompt[1:]
        case _:
            return (), prompt


def common_prefix(text: str, other: str) -> str:
    """Return the common beginning of two texts, not ending within a tag."""
    size = next(
        (at for at, (a, c) in enumerate(zip(text, other, strict=False)) if a != c), min(len(text), len(other))
    )
    same = text[:size]
    opened = max(same.rfind("<"), same.rfind("["))
    if size < len(text) and opened >= 0 and not any(close in same[opened:] for close in ">]"):
        return same[:opened]
    return same


# --- what prints nothing of a message -------------------------------------------------------------------


def quiet_ending(body: j.Body) -> int:
    """Return how many statements at the end of a body print nothing of a message."""
    count = 0
    for statement in reversed(body):
        if not _is_quiet(statement):
            break
        count += 1
    return count


def _is_quiet(statement: j.Statement) -> bool:
    match statement:
        case j.Output(parts):
            return all(isinstance(part, j.Literal) for part in parts)
        case j.If(_, body, orelse):
            return all(map(_is_quiet, (*body, *orelse)))
        case _:
            return False


def _constant(body: j.Body) -> str | None:
    """Return what a body always prints, None where that depends on something."""
    texts: list[str] = []
    for statement in body:
        match statement:
            case j.Output(parts) if all(isinstance(part, j.Literal) for part in parts):
                texts += [str(part.value) for part in parts if isinstance(part, j.Literal)]
            case _:
                return None
    return "".join(texts)
