"""Messages mode for ordinary chats: each message is read where the template's loop comes to it.

The fast form of messages mode is given messages that have been read, checked and collated. The form for which
this is the shape is given the caller's own, and reads and checks them in the template's loop over them. It
returns None where messages would have to be joined, or anything else is not ordinary.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeAlias

from transplate.gotmpl.compiler.fast import Shape
from transplate.gotmpl.compiler.program import FastForm
from transplate.gotmpl.compiler.static import STRING, Loop, StaticType, list_of
from transplate.limits import Limits
from transplate.ollama.inference import Inference
from transplate.ollama.quick import ROLES, check_more, read_more
from transplate.ollama.quick_body import is_faithful
from transplate.ollama.shapes import CALL, ToolForms, messages_shape
from transplate.ollama.versions import Behaviour

QuickRun: TypeAlias = Callable[
    [list[Any], ToolForms | None, bool, str, bool, str | None, int, Limits], str | None
]
"""Renders messages as the caller has them: messages, tools, the thinking, the JSON text that all this was
read from (None if from none), how many keys of that text's objects are not in the messages, and the limits.
It returns None, or raises anything at all, where the messages have to be read with more care."""

_FIELDS: Final = {"Role": ("{0}_role", STRING), "Content": ("{0}_content", STRING)}
_MORE_FIELDS: Final = {
    "Thinking": ("{0}_thinking", STRING),
    "ToolCalls": ("{0}_calls", list_of(CALL)),
    "ToolName": ("{0}_tool", STRING),
    "ToolCallID": ("{0}_id", STRING),
}
_LOCALS: Final = tuple(source.removeprefix("{0}") for source, _ in (_FIELDS | _MORE_FIELDS).values())
_SHAPING: Final = frozenset({"System", "Arguments", *_MORE_FIELDS})
"""The fields on which it depends how messages are read."""
_REFUSED: Final = ("give_up()", "slice_list(", "def template", "spend(")
"""Among these a loop inside another, which would read the messages again each time."""


def quick_chat(
    form: Callable[[Shape], FastForm | None], inference: Inference, behaviour: Behaviour
) -> QuickRun | None:
    """Return the form of a template that reads messages as it goes, None if it is not made for that.

    It is not where a message is needed outside of a loop over the messages, or kept in a variable.

    Args:
        form: Returns the fast form for a shape.
        inference: What is known of the template.
        behaviour: How the version of Ollama behaves.
    """
    made = form(_shape(behaviour, frozenset(inference.fields) & _SHAPING))
    if made is None or any(mark in made.python_source for mark in _REFUSED):
        return None
    run: QuickRun = made.run
    free = made.run.__code__.co_names
    return None if any(name.endswith(_LOCALS) for name in free) else run


def _reading(fields: frozenset[str]) -> Loop:
    """Return what a loop over messages does to read them, and to give up where Ollama would join some.

    What it keeps of each are the locals that the fields of a message name; and in ``N_all``, when all have
    been read, how many keys there are besides those of the messages themselves.
    """
    reads_more = not fields.isdisjoint(_MORE_FIELDS)
    each = [
        "if type({0}) is not dict: return",
        "{0}_role = ROLES[{0}['role']]",
        "if len({0}) == 2:",
        "    {0}_content = {0}['content']",
    ]
    if reads_more:
        names = "{0}_content, {0}_thinking, {0}_calls, {0}_tool, {0}_id, {0}_more"
        each += [
            "    {0}_thinking = {0}_tool = {0}_id = ''",
            "    {0}_calls = None",
            "else:",
            f"    {names} = read_more({{0}}, {'Arguments' in fields})",
            "    {0}_keys += {0}_more",
        ]
    else:
        each += ["else:", "    {0}_keys += check_more({0})", "    {0}_content = {0}.get('content', '')"]
    each += [
        "if type({0}_content) is not str: return",
        "if not {0}_content.isascii(): {0}_content.encode()",
        "if {0}_role == {0}_last:",
        "    if {0}_role != 'tool': return",
    ]
    if "System" in fields:
        each += ["elif {0}_role == 'system':", "    if {0}_last: return"]
    return Loop(
        before="{0}_last = None; {0}_keys = N",
        each=(*each, "{0}_last = {0}_role"),
        after="else: N_all = {0}_keys",
    )


@lru_cache(maxsize=64)
def _shape(behaviour: Behaviour, fields: frozenset[str]) -> Shape:
    """Return the shape for a template that names these fields.

    Its parameters are those of a :data:`QuickRun`.
    """
    more = {} if fields.isdisjoint(_MORE_FIELDS) else _MORE_FIELDS
    message = StaticType("message that is being read", fields=_FIELDS | more)
    messages = StaticType(
        "messages that are being read",
        length="len({0})",
        items="{0}",
        elem=message,
        position="give_up()",
        loop=_reading(fields),
    )
    usual = messages_shape(behaviour)
    before = ["if not M: return", "N_all = None"]
    if "System" in fields:
        before += ["d = M[0]", "S = d['content'] if d['role'] == 'system' else ''"]
    return Shape(
        ("M", "T", "K", "E", "B", "J", "N"),
        StaticType("data", truth="True", fields={**usual.root.fields, "Messages": ("M", messages)}),
        usual.functions,
        {**usual.helpers, **_HELPERS},
        before=before,
        after=["if N_all is None or (J is not None and not has_all(J, N_all, M)): return"],
    )


def _has_all(text: str, keys: int, messages: list[Any]) -> bool:
    """Whether messages have all that the text has that they were read from."""
    return is_faithful(text, keys + sum(map(len, messages)))


_HELPERS: Final = {
    "ROLES": ROLES,
    "check_more": check_more,
    "dict": dict,
    "has_all": _has_all,
    "read_more": read_more,
    "type": type,
}
