"""Templates that do not name the messages: one run a turn, the last of them cut at ``.Response``."""

from __future__ import annotations

from itertools import pairwise

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja.assumptions import Assumptions
from transplate.convert.go_to_jinja.collation import text_content
from transplate.convert.go_to_jinja.generation_prompt import WANTED, common_prefix, quiet_ending
from transplate.convert.go_to_jinja.simplify import loop_name
from transplate.jinja import nodes as j
from transplate.jinja import walk

SYSTEM, PROMPT, RESPONSE = j.Name("system"), j.Name("prompt"), j.Name("response")
IS_LAST = j.Name("is_last_turn")
TURN = "turn"
_MESSAGES, _MESSAGE = j.Name("messages"), j.Name("message")
_ROLE, _CONTENT, _WALK = j.Name("role"), j.Name("content"), j.Name("walk")
_BLANK_LINE = j.Literal("\n\n")


def merge(full: j.Body, cut: j.Body) -> j.Body:
    """Return one body that prints ``cut`` in the last turn and ``full`` in all others.

    The two come from one template and are alike up to the place of the cut.
    """
    merged: list[j.Statement] = []
    for at, statement in enumerate(full):
        counterpart = cut[at] if at < len(cut) else None
        if statement == counterpart:
            merged.append(statement)
            continue
        match statement, counterpart:
            case j.If(test, then, orelse), j.If(other, cut_then, cut_orelse) if test == other:
                merged.append(j.If(test, merge(then, cut_then), merge(orelse, cut_orelse)))
                continue
            case _:
                rest, cut_rest = full[at:], cut[at:]
                return (*merged, j.If(IS_LAST, cut_rest, rest))
    return tuple(merged)


def walk_turns(assumptions: Assumptions, body: j.Body) -> j.Body:
    """Return the macro that prints one turn and the walk over the messages that calls it.

    The walk is Ollama's: a system message ends a turn that has a prompt or a response, a user message one
    that has a response; neighbours of one role are joined first.
    """
    system, prompt, response = (j.Attribute(_WALK, name.name) for name in (SYSTEM, PROMPT, RESPONSE))
    role_before = j.Attribute(_WALK, "role")
    turn = j.Macro(TURN, (SYSTEM.name, PROMPT.name, RESPONSE.name, IS_LAST.name), body)

    def ends_turn(*texts: j.Expression) -> j.Statement:
        reset = tuple(j.Set(target, j.EMPTY) for target in (system, prompt, response))
        return j.If(b.or_(*texts), (j.Output((b.call(TURN, system, prompt, response, j.FALSE),)), *reset))

    joins = j.Binary("==", _ROLE, role_before)

    def extended(target: j.Attribute) -> j.Statement:
        return j.Set(
            target, j.Concat((j.Conditional(joins, j.Concat((target, _BLANK_LINE)), j.EMPTY), _CONTENT))
        )

    arms: j.Body = (
        j.If(
            j.Binary("==", _ROLE, j.Literal("system")),
            (ends_turn(prompt, response), extended(system)),
            (
                j.If(
                    j.Binary("==", _ROLE, j.Literal("user")),
                    (ends_turn(response), extended(prompt)),
                    (j.If(j.Binary("==", _ROLE, j.Literal("assistant")), (extended(response),)),),
                ),
            ),
        ),
    )
    fields = tuple((name, j.EMPTY) for name in ("role", SYSTEM.name, PROMPT.name, RESPONSE.name))
    return (
        turn,
        j.Comment(
            "As Ollama does: a turn is printed when the next one begins; neighbours of one role are joined."
        ),
        j.Set(_WALK, j.Call(j.Name("namespace"), keywords=fields)),
        j.For(
            (_MESSAGE,),
            _MESSAGES,
            (
                j.Set(_ROLE, j.Filter(j.Attribute(_MESSAGE, "role"), "lower")),
                j.Set(_CONTENT, text_content(assumptions, _MESSAGE)),
                *arms,
                j.Set(role_before, _ROLE),
            ),
        ),
        j.Output((b.call(TURN, system, prompt, response, j.TRUE),)),
    )


# --- ordinary conversations: one arm for the user, one for the assistant --------------------------------


def plain_loop(full: j.Body, cut: j.Body) -> j.Body | None:
    """Return a loop over strictly alternating messages, None where the template is not made for one.

    It is where ``.Response`` is printed in one place, and what stands in front of it does not depend on it:
    then a user message prints all up to the response, and the assistant's message the rest.

    Args:
        full: What is printed of a turn.
        cut: What is printed of the last turn.
    """
    parts = _at_response(full, cut)
    if parts is None:
        return None
    head, tail = parts
    if any(name in walk.all_parts(tail) for name in (SYSTEM, PROMPT)) or RESPONSE in walk.all_parts(head):
        return None
    content = j.Attribute(_MESSAGE, "content")
    loop = loop_name(j.For((_MESSAGE,), _MESSAGES, ()))
    is_last = j.Attribute(loop, "last")
    system_arm, head = _system_arm(head)
    closings = [*_texts_behind(system_arm, content), *_first_text(tail)]
    head = gate_turn(head, b.or_(b.not_(is_last), WANTED), closings)
    head = _replaced(head, PROMPT, content)
    if SYSTEM in walk.all_parts(head):
        second = j.Binary("==", j.Attribute(loop, "index0"), j.Literal(1))
        first = j.Attribute(j.Item(_MESSAGES, j.Literal(0)), "content")
        head = (j.Set(SYSTEM, j.Conditional(second, first, j.EMPTY)), *head)
    answer: j.Body = (j.Output((content,)),)
    if tail:
        answer = (*answer, j.If(b.not_(is_last), _replaced(tail, RESPONSE, content)))
    role = j.Attribute(_MESSAGE, "role")
    arms: j.Body = (
        j.If(
            j.Binary("==", role, j.Literal("user")),
            head,
            (j.If(j.Binary("==", role, j.Literal("assistant")), answer),),
        ),
    )
    if system_arm:
        arms = (j.If(j.Binary("==", role, j.Literal("system")), system_arm, arms),)
    return (j.For((_MESSAGE,), _MESSAGES, arms),)


def _at_response(full: j.Body, cut: j.Body) -> tuple[j.Body, j.Body] | None:
    """Split a turn into what stands in front of the response and what stands behind it."""
    match cut[-1] if cut else None:
        case j.Output((*before, last)) if last == RESPONSE:
            head = (*cut[:-1], j.Output(tuple(before))) if before else cut[:-1]
        case _:
            return None
    match full[len(cut) - 1]:
        case j.Output(pieces) if pieces[: len(before) + 1] == (*before, RESPONSE):
            behind = pieces[len(before) + 1 :]
            tail = (*((j.Output(behind),) if behind else ()), *full[len(cut) :])
        case _:
            return None
    return (head, tail) if full[: len(cut) - 1] == cut[:-1] else None


def _system_arm(head: j.Body) -> tuple[j.Body, j.Body]:
    """Split off an opening that only the system text prints, as the arm for system messages."""
    match head:
        case (j.If(test, body, ()), *rest) if test == SYSTEM and SYSTEM not in walk.all_parts(tuple(rest)):
            return _replaced(body, SYSTEM, j.Attribute(_MESSAGE, "content")), tuple(rest)
        case _:
            return (), head


def _replaced(body: j.Body, name: j.Name, value: j.Expression) -> j.Body:
    return walk.map_expressions(
        body, lambda expression: walk.substitute(expression, lambda part: value if part == name else part)
    )


# --- the generation prompt ------------------------------------------------------------------------------


def gate_turn(head: j.Body, wanted: j.Expression, closings: list[str]) -> j.Body:
    """Make what stands between the prompt and the response depend on a condition.

    Where it is one text with the end of the user's turn, ``closings``, how other turns of this template end,
    tell the two apart.
    """
    quiet = quiet_ending(head)
    loud, ending = head[: len(head) - quiet], head[len(head) - quiet :]
    if not loud:
        return head
    if ending:
        return (*loud, j.If(wanted, ending))
    match loud[-1]:
        case j.Output((*parts, j.Literal(str(text)))) if parts:
            closing = max((common_prefix(text, other) for other in closings), key=len, default="")
            if not closing or closing == text:
                return head
            kept = j.Output((*parts, j.Literal(closing)))
            return (*loud[:-1], kept, j.If(wanted, (j.Output((j.Literal(text[len(closing) :]),)),)))
        case _:
            return head


def _texts_behind(body: j.Body, value: j.Expression) -> list[str]:
    """Return the constant texts that stand directly behind a value."""
    found: list[str] = []
    for statement in walk.statements(body):
        if isinstance(statement, j.Output):
            for part, after in pairwise(statement.parts):
                if part == value and isinstance(after, j.Literal):
                    found.append(str(after.value))
    return found


def _first_text(body: j.Body) -> list[str]:
    match body[0] if body else None:
        case j.Output((j.Literal(str(text)), *_)):
            return [text]
        case _:
            return []
