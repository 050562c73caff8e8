"""The opening lines that make ``messages`` and ``system``, as Ollama gives them, of a host's messages.

Ollama gathers the system texts and joins the contents of neighbours that have the same role (``collate`` in
its template.go), reads roles in lower case and content parts as messages of their own.
"""

from __future__ import annotations

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja.assumptions import Assumptions
from transplate.jinja import nodes as j
from transplate.jinja import walk

MESSAGES = j.Name("messages")
SYSTEM = j.Name("system")
_MESSAGE = j.Name("message")
_GATHERED = j.Name("gathered")
_PREVIOUS = j.Name("last")
_ROLE = j.Name("role")
_CONTENT = j.Name("content")
_PART = j.Name("part")
_BLANK_LINE = j.Literal("\n\n")


def needs_collation(assumptions: Assumptions, *, system: bool) -> bool:
    """Return whether the messages must be rebuilt, and are not taken as the host gives them."""
    names = ("alternating-roles", "text-content", *(("leading-system",) if system else ()))
    return not all(name in assumptions.allowed for name in names)


def collate(assumptions: Assumptions, body: j.Body, *, keys: frozenset[str]) -> j.Body:
    """Return a body behind the statements that define ``system`` and ``messages`` as it reads them.

    Args:
        assumptions: What may be taken for granted; those relied on are noted.
        body: The body.
        keys: The keys that the body reads of messages.
    """
    parts = list(walk.all_parts(body))
    system, reads = SYSTEM in parts, parts.count(MESSAGES)
    if not needs_collation(assumptions, system=system):
        return (*_as_given(assumptions, system=system, messages=reads > 0), *body)
    rebuilt = j.Attribute(_GATHERED, "messages")
    prelude = _rebuilt(assumptions, system=system, messages=keys if reads else None)
    if reads != 1:
        named = (j.Set(MESSAGES, rebuilt),) if reads else ()
        return (*prelude, *named, *body)
    return (
        *prelude,
        *walk.map_expressions(
            body, lambda each: walk.substitute(each, lambda part: rebuilt if part == MESSAGES else part)
        ),
    )


def _as_given(assumptions: Assumptions, *, system: bool, messages: bool) -> j.Body:
    if messages:
        assumptions.use("alternating-roles")
    if messages or system:
        assumptions.use("text-content")
    if not system:
        return ()
    assumptions.use("leading-system")
    first = j.Item(MESSAGES, j.Literal(0))
    leads: j.Expression = j.Binary("==", j.Attribute(first, "role"), j.Literal("system"))
    if not assumptions.use("some-message"):
        leads = b.and_(MESSAGES, leads)
    return (j.Set(SYSTEM, j.Conditional(leads, j.Attribute(first, "content"), j.EMPTY)),)


def _rebuilt(assumptions: Assumptions, *, system: bool, messages: frozenset[str] | None) -> j.Body:
    gathered: list[tuple[str, j.Expression]] = []
    body: list[j.Statement] = []
    end: list[j.Statement] = []
    if system:
        texts = j.Attribute(_GATHERED, "system")
        gathered.append(("system", j.ListLiteral(())))
        more = j.Set(texts, j.Binary("+", texts, j.ListLiteral((_CONTENT,))))
        body.append(j.If(j.Binary("==", _ROLE, j.Literal("system")), (more,)))
        end.append(j.Set(SYSTEM, j.Filter(texts, "join", (_BLANK_LINE,))))
    if messages is not None:
        gathered.insert(0, ("messages", j.ListLiteral(())))
        body += _join(assumptions, messages)
    if not gathered:
        return ()
    namespace = j.Call(j.Name("namespace"), keywords=(*gathered, *image_count(assumptions)))
    what = [
        *(["system texts are gathered"] if system else []),
        *(["neighbours of one role are joined"] if messages is not None else []),
    ]
    return (
        j.Comment(f"As Ollama does: {' and '.join(what)}."),
        j.Set(_GATHERED, namespace),
        j.For(
            (_MESSAGE,),
            MESSAGES,
            (
                j.Set(_ROLE, j.Filter(j.Attribute(_MESSAGE, "role"), "lower")),
                *for_each_content(assumptions, _GATHERED, tuple(body)),
            ),
        ),
        *end,
    )


def image_count(assumptions: Assumptions) -> tuple[tuple[str, j.Expression], ...]:
    """Return the number of the last image as the namespace begins with it, where images are read."""
    return () if assumptions.allows("text-content") else (("image", j.Literal(-1)),)


def for_each_content(assumptions: Assumptions, counter: j.Name, body: j.Body) -> j.Body:
    """Return statements that run a body with ``content`` set to the text of ``message``.

    Ollama takes the parts of one message for messages of their own; of an image, only a tag with its number
    is printed (``chatPrompt`` in its server/prompt.go).

    Args:
        assumptions: What may be taken for granted.
        counter: The namespace that counts the images.
        body: What is done with each content.
    """
    content = j.Attribute(_MESSAGE, "content")
    if assumptions.use("text-content"):
        return (j.Set(_CONTENT, j.Or((content, j.EMPTY))), *body)
    one = j.ListLiteral((j.DictLiteral(((j.Literal("text"), content),)),))
    # A message without content is one of no text, one of no parts is none.
    parts = j.Conditional(b.or_(j.Test(content, "string"), b.not_(content)), one, content)
    number = j.Attribute(counter, "image")
    is_image = j.Binary("in", j.Literal("image"), j.Attribute(_PART, "type"))
    tag = j.Concat((j.Literal("[img-"), number, j.Literal("]")))
    text = j.Or((j.Attribute(_PART, "text"), j.EMPTY))
    counted = j.If(is_image, (j.Set(number, j.Binary("+", number, j.Literal(1))),))
    return (j.For((_PART,), parts, (counted, j.Set(_CONTENT, j.Conditional(is_image, tag, text)), *body)),)


def _join(assumptions: Assumptions, keys: frozenset[str]) -> list[j.Statement]:
    gathered = j.Attribute(_GATHERED, "messages")
    filled: dict[str, j.Expression] = {
        "role": _ROLE,
        "content": _CONTENT,
        "reasoning_content": _first_of(_MESSAGE, "reasoning_content", "thinking", otherwise=j.EMPTY),
        "images": _first_of(_MESSAGE, "images", otherwise=j.ListLiteral(())),
        "tool_calls": _first_of(_MESSAGE, "tool_calls", otherwise=j.ListLiteral(())),
        "name": j.Conditional(
            j.Binary("==", _ROLE, j.Literal("tool")),
            _first_of(_MESSAGE, "tool_name", "name", otherwise=j.EMPTY),
            j.EMPTY,
        ),
        "tool_call_id": _first_of(_MESSAGE, "tool_call_id", otherwise=j.EMPTY),
    }
    fields = tuple((key, value) for key, value in filled.items() if key in keys | {"role", "content"})
    added = j.ListLiteral((j.Call(j.Name("namespace"), keywords=fields),))
    append = j.Set(gathered, j.Binary("+", gathered, added))
    if assumptions.use("alternating-roles"):
        return [append]
    joined = j.Attribute(_PREVIOUS, "content")
    same = b.and_(
        _PREVIOUS,
        j.Binary("==", j.Attribute(_PREVIOUS, "role"), _ROLE),
        j.Binary("!=", _ROLE, j.Literal("tool")),
    )
    return [
        j.Set(_PREVIOUS, j.Conditional(gathered, j.Item(gathered, j.Literal(-1)), j.Literal(None))),
        j.If(same, (j.Set(joined, j.Concat((joined, _BLANK_LINE, _CONTENT))),), (append,)),
    ]


def _first_of(message: j.Expression, *keys: str, otherwise: j.Expression) -> j.Expression:
    return j.Or((*(j.Attribute(message, key) for key in keys), otherwise))
