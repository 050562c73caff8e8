"""Templates that do not name the messages: one run a turn, the last of them cut at ``.Response``."""

from __future__ import annotations

from itertools import pairwise

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja.assumptions import Assumptions
from transplate.convert.go_to_jinja.collation import for_each_content, image_count
from transplate.convert.go_to_jinja.generation_prompt import WANTED, common_prefix, quiet_ending
from transplate.convert.go_to_jinja.simplify import loop_name
from transplate.jinja import nodes as j
from transplate.jinja import walk

SYSTEM, PROMPT, RESPONSE = j.Name("system"), j.Name("prompt"), j.Name("response")
IS_LAST, OPENS_RESPONSE = j.Name("is_last"), j.Name("opens_response")
TURN_TEXT = "turn_text"
_MESSAGES, _MESSAGE = j.Name("messages"), j.Name("message")
_ROLE, _CONTENT = j.Name("role"), j.Name("content")
_WALK, _TURN, _JOINS = j.Name("walk"), j.Name("turn"), j.Name("joins")
_BLANK_LINE = j.Literal("\n\n")


def merge(full: j.Body, cut: j.Body) -> j.Body:
    """Return one body that prints ``cut`` in the last turn and ``full`` in all others.

    The two come from one template and are alike up to the place of the cut, but that the last turn may fail
    where the others print nothing.
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
    failing = cut[len(full) :]
    return (*merged, j.If(IS_LAST, failing)) if failing else tuple(merged)


def walk_turns(assumptions: Assumptions, full: j.Body, cut: j.Body) -> j.Body:
    """Return the macro that prints one turn and the walk over the messages that calls it.

    The walk is Ollama's: a system message ends a turn that has a prompt or a response, a user message one
    that has a response; neighbours of one role are joined first.

    Args:
        assumptions: What may be taken for granted.
        full: What is printed of a turn.
        cut: What is printed of the last turn.
    """
    body, parameters = _turn_body(full, cut)
    for text in (SYSTEM, PROMPT, RESPONSE):
        body = _replaced(body, text, j.Attribute(_TURN, text.name))
    opened = j.Attribute(_WALK, "turn")
    empty = j.Call(
        j.Name("namespace"), keywords=tuple((text.name, j.EMPTY) for text in (SYSTEM, PROMPT, RESPONSE))
    )
    is_user = j.Binary("==", _ROLE, j.Literal("user"))
    is_system = j.Binary("==", _ROLE, j.Literal("system"))
    is_assistant = j.Binary("==", _ROLE, j.Literal("assistant"))
    prompt, response = j.Attribute(opened, PROMPT.name), j.Attribute(opened, RESPONSE.name)
    ends = j.Or((j.And((is_user, response)), j.And((is_system, j.Or((prompt, response))))))

    def extended(text: j.Name) -> j.Statement:
        target = j.Attribute(_TURN, text.name)
        before = j.Conditional(_JOINS, j.Concat((target, _BLANK_LINE)), j.EMPTY)
        return j.Set(target, j.Concat((before, _CONTENT)))

    def printed(**flags: j.Expression) -> j.Statement:
        given = tuple(flags[name] for name in parameters)
        return j.Output((b.call(TURN_TEXT, opened, *given),))

    each: j.Body = (
        j.If(ends, (printed(is_last=j.FALSE, opens_response=j.TRUE), j.Set(opened, empty))),
        j.Set(_TURN, opened),
        j.Set(_JOINS, j.Binary("==", _ROLE, j.Attribute(_WALK, "role"))),
        j.If(
            is_system,
            (extended(SYSTEM),),
            (j.If(is_user, (extended(PROMPT),), (j.If(is_assistant, (extended(RESPONSE),)),)),),
        ),
        j.Set(j.Attribute(_WALK, "role"), _ROLE),
    )
    prefilled = j.Binary("==", j.Attribute(_WALK, "role"), j.Literal("assistant"))

    return (
        j.Macro(TURN_TEXT, (_TURN.name, *parameters), body),
        j.Comment("As Ollama does: a turn is printed when the next begins; neighbours are joined."),
        j.Set(
            _WALK,
            j.Call(
                j.Name("namespace"), keywords=(("role", j.EMPTY), ("turn", empty), *image_count(assumptions))
            ),
        ),
        j.For(
            (_MESSAGE,),
            _MESSAGES,
            (
                j.Set(_ROLE, j.Filter(j.Attribute(_MESSAGE, "role"), "lower")),
                *for_each_content(assumptions, _WALK, each),
            ),
        ),
        printed(is_last=j.TRUE, opens_response=j.Or((WANTED, prefilled, response))),
    )


def _turn_body(full: j.Body, cut: j.Body) -> tuple[j.Body, tuple[str, ...]]:
    """Return what prints a turn, and the flags that it depends on."""
    parts = _at_response(full, cut)
    if parts is None:
        body = merge(full, cut)
    else:
        head, tail = parts
        system_arm, _ = _system_arm(head)
        closings = [*_texts_behind(system_arm, j.Attribute(_MESSAGE, "content")), *_first_text(tail)]
        head = gate_turn(head, OPENS_RESPONSE, closings)
        body = (*head, j.Output((RESPONSE,)), *((j.If(b.not_(IS_LAST), tail),) if tail else ()))
    read = set(walk.all_parts(body))
    return body, tuple(flag.name for flag in (IS_LAST, OPENS_RESPONSE) if flag in read)


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
    match cut[-1] if 0 < len(cut) <= len(full) else None:
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
        case (j.If(test, body, ()), *rest) if (
            test == SYSTEM
            and SYSTEM not in walk.all_parts(tuple(rest))
            and PROMPT not in walk.all_parts(body)
        ):
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
