"""Makes the generation prompt depend on ``add_generation_prompt``, so that without it a prefix is printed.

The generation prompt is what a template prints behind the last message when that is not the assistant's: the
longest ending that prints nothing of a message, without the part that would follow the message anyhow.
"""

from __future__ import annotations

from dataclasses import replace

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
        case j.For(targets, iterable) as loop if _runs_over_messages(iterable):
            gated = _gate_iteration(loop.body, loop_name(loop), targets[-1], Facts())
            return (*body[:-1], replace(loop, body=gated))
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


def _gate_iteration(body: j.Body, loop: j.Name, message: j.Name, facts: Facts) -> j.Body:
    quiet = quiet_ending(body)
    loud, ending = body[: len(body) - quiet], body[len(body) - quiet :]
    if ending:
        return (*loud, *_gate_quiet(ending, loop, message, facts))
    match body[-1] if body else None:
        case j.If(test, then, orelse):
            return (
                *body[:-1],
                j.If(
                    test,
                    _gate_iteration(then, loop, message, facts.assuming(test)),
                    _gate_iteration(orelse, loop, message, facts.assuming(test, holds=False)),
                ),
            )
        case _:
            return body


def _gate_quiet(ending: j.Body, loop: j.Name, message: j.Name, facts: Facts) -> j.Body:
    """Gate an ending that differs between the last message and the others."""
    last = j.Attribute(loop, "last")
    others = j.Binary("!=", j.Attribute(message, "role"), _ASSISTANT)
    reached = b.and_(last, facts.condition(others))
    if facts.decide(reached) is False:
        return ending
    prompt = simplify_body(ending, facts.assuming(reached))
    usual = simplify_body(ending, facts.assuming(b.not_(last)))
    if not prompt or prompt == usual:
        return ending
    closing, prompt = _split(prompt, usual)
    rest = simplify_body((j.If(reached, closing, ending),), facts)
    gated = j.If(b.and_(reached, WANTED), prompt)
    if any(
        isinstance(part, j.Call) and part.function == j.Name("raise_exception")
        for part in walk.all_parts(ending)
    ):
        return ending
    return simplify_body((*rest, gated), facts)


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
