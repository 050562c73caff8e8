"""The beginning of a conversation inside a chat template: SYSTEM and MESSAGEs of a Modelfile in, Jinja out.

Hugging Face has no place for them but the template. Ollama puts SYSTEM in front unless the request's first
message is a system message, and MESSAGEs before those of the request (ChatHandler in server/routes.go).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from transplate.jinja.writer import write_string

_STRING = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_ONE = rf"\{{'role': {_STRING}, 'content': {_STRING}\}}"
_MESSAGE = re.compile(rf"\{{'role': ({_STRING}), 'content': ({_STRING})\}}", re.DOTALL)
_SET = rf"set messages = \[(?P<NAME>{_ONE}(?:, {_ONE})*)\] \+ messages "
_NEXT = r"-%\}\s*\{%- "
_BEGINNING = re.compile(
    r"\{%- (?:if (?P<condition>not messages or messages\[0\]\.role != 'system' "
    rf"|messages and messages\[0\]\.role == 'system' {_NEXT}{_SET.replace('NAME', 'other')}{_NEXT}else )"
    rf"{_NEXT})?{_SET.replace('NAME', 'first')}(?(condition){_NEXT}endif )(?:-%\}}\s*|%\}}\n)",
    re.DOTALL,
)


def with_beginning(template: str, system: str, messages: Sequence[tuple[str, str]]) -> str:
    """Return a chat template that begins conversations as Ollama does.

    Args:
        template: A chat template.
        system: The Modelfile's SYSTEM, empty for none.
        messages: Its MESSAGEs, as (role, content).
    """
    if not system and not messages:
        return template
    # White space at the beginning of a template prints; transformers takes one line ending behind a tag away.
    end = "%}\n" if template[:1].isspace() else "-%}\n"
    history = ", ".join(_message(role, content) for role, content in messages)
    always = f"[{history}] + messages" if history else "messages"
    if not system:
        return f"{{%- set messages = {always} {end}{template}"
    first = ", ".join(filter(None, [_message("system", system), history]))
    if not history:
        return (
            "{%- if not messages or messages[0].role != 'system' -%}\n"
            f"    {{%- set messages = [{first}] + messages -%}}\n"
            f"{{%- endif {end}{template}"
        )
    return (
        "{%- if messages and messages[0].role == 'system' -%}\n"
        f"    {{%- set messages = {always} -%}}\n"
        "{%- else -%}\n"
        f"    {{%- set messages = [{first}] + messages -%}}\n"
        f"{{%- endif {end}{template}"
    )


class Beginning(NamedTuple):
    """What :func:`with_beginning` was given.

    Attributes:
        system: SYSTEM, empty for none.
        messages: The MESSAGEs.
        template: The chat template behind the beginning.
    """

    system: str
    messages: tuple[tuple[str, str], ...]
    template: str


def read_beginning(template: str) -> Beginning:
    """Return what a chat template of :func:`with_beginning` was made of, by now perhaps with other texts.

    Args:
        template: A chat template; of one that does not begin in such a way all is the template.
    """
    match = _BEGINNING.match(template)
    if match is None:
        return Beginning("", (), template)
    history, body = _messages(match["first"]), template[match.end() :]
    if not match["condition"]:
        return Beginning("", history, body)
    (role, system), *rest = history
    if role != "system" or rest != list(_messages(match["other"] or "")):
        return Beginning("", (), template)  # Conversations with a system message begin in another way.
    return Beginning(system, tuple(rest), body)


def _message(role: str, content: str) -> str:
    return f"{{'role': {write_string(role)}, 'content': {write_string(content)}}}"


def _messages(literals: str) -> tuple[tuple[str, str], ...]:
    return tuple((_text(role), _text(content)) for role, content in _MESSAGE.findall(literals))


def _text(literal: str) -> str:
    """Return the text of a string literal, which Jinja reads as Python does."""
    return literal[1:-1].encode("ascii", "backslashreplace").decode("unicode-escape")
