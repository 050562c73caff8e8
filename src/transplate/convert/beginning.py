"""The beginning of a conversation inside a chat template: SYSTEM and MESSAGEs of a Modelfile in, Jinja out.

Hugging Face has no place for them but the template. Ollama puts SYSTEM in front unless the request's first
message is a system message, and MESSAGEs before those of the request (ChatHandler in server/routes.go).
"""

from __future__ import annotations

from collections.abc import Sequence

from transplate.jinja.writer import write_string


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


def without_beginning(template: str, system: str, messages: Sequence[tuple[str, str]]) -> str | None:
    """Return the chat template that :func:`with_beginning` was given to get this one; None if there is none.

    Args:
        template: A chat template.
        system: The Modelfile's SYSTEM, empty for none.
        messages: Its MESSAGEs, as (role, content).
    """
    for first in "x ":
        beginning = with_beginning(first, system, messages)[:-1]
        body = template.removeprefix(beginning)
        if with_beginning(body, system, messages) == template:
            return body
    return None


def _message(role: str, content: str) -> str:
    return f"{{'role': {write_string(role)}, 'content': {write_string(content)}}}"
