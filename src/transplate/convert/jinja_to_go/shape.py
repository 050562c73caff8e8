"""Lets Ollama see the markers of thinking and of tool calls, which it looks for in a template's shape.

Ollama reads them from ``.Thinking`` and ``.ToolCalls`` with literal text around them inside of a range over
``.Messages``. Where exact bytes took another shape, a block that never runs has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from transplate.convert.jinja_to_go.view import print_view
from transplate.errors import TransplateError
from transplate.gotmpl.nodes import Body, Comment
from transplate.gotmpl.parser import parse
from transplate.jinja import JinjaTemplate
from transplate.ollama import OllamaTemplate, Values
from transplate.ollama.functions import FUNCTIONS
from transplate.ollama.roads import abilities_of_jinja, abilities_of_template

_THINKING, _NAME, _CONTENT = "Some thinking of the model", "name_of_a_tool", "Some content of the model"
_TAG_BEFORE = re.compile(r"((?:<[^<>]*>|\[[^\[\]]*\])(?!assistant|model)\w*)\s*\Z")
"""A tag, with a word behind it that names what begins; that of who speaks begins a turn, not thinking."""
_TAG_BEHIND = re.compile(r"\s*(<[^<>]*>|\[[^\[\]]*\])")
_Prints: TypeAlias = Callable[[Values], str]
"""What prints a request."""
_USUAL_TAGS = ("<think>", "</think>")
_USER = {"role": "user", "content": "A question"}
_ID = "call00001"
_CALL: dict[str, Any] = {"id": _ID, "function": {"name": _NAME, "arguments": {"key": "value"}}}
_TOOL = {
    "type": "function",
    "function": {
        "name": "another_name",
        "description": "",
        "parameters": {"type": "object", "properties": {}},
    },
}


@dataclass(frozen=True, slots=True)
class ShapeBlock:
    """A block that never runs, and shows Ollama what it looks for.

    Attributes:
        body: The block, with a comment in front; empty if Ollama finds all without it.
        hidden: Fields that the rest of the template may not show, for Ollama takes the first or the last.
    """

    body: Body
    hidden: frozenset[str]


def shape_block(text: str, chat: JinjaTemplate, ollama: str, *, is_whole: bool) -> ShapeBlock:
    """Return a block that shows Ollama what it does not infer from a template.

    That is the markers of thinking and of tool calls, that there are messages, and the abilities that it
    takes the chat template to have: with fewer than that it would not use the converted one where a model
    has both.

    Args:
        text: The template.
        chat: The chat template that it was made from.
        ollama: The version of Ollama.
        is_whole: Whether all of that is converted; otherwise the chat template may print what it does not.
    """
    template = OllamaTemplate(text, ollama=ollama)
    wanted, found = abilities_of_jinja(chat.source.text), abilities_of_template(template)
    shows: dict[str, None] = {}
    inside = ""
    if "messages" not in template.inference.variables:
        # Hidden in a parenthesis: Ollama would hand over System and Prompt.
        shows["that the template takes messages"] = None
        template = OllamaTemplate(f"{{{{ if false }}}}{{{{ .Messages }}}}{{{{ end }}}}{text}", ollama=ollama)
    seen = template.inference
    thinking, tool_tag = _thinking_tags(template.execute), _tool_tag(template.execute)
    if not is_whole:
        prints = partial(print_view, chat, ollama=ollama)
        thinking, tool_tag = thinking or _thinking_tags(prints), tool_tag or _tool_tag(prints)
    is_seen = (thinking is None or seen.thinking_tags == thinking) and (
        tool_tag is None or seen.tool_tag == tool_tag
    )
    # What stands around a question for .Thinking can look like tags of it.
    is_misread = thinking is None and "thinking" in seen.abilities and not _is_pair(seen.thinking_tags)
    hidden = frozenset({"Thinking", "ToolCalls"} if not is_seen else {"Thinking"} if is_misread else ())
    if is_seen:
        thinking = tool_tag = None
    else:
        shows["the markers of thinking and tool calls"] = None
    thinks = thinking is not None or ("thinking" in found.names and not hidden)
    if "thinking" in wanted.names and not thinks:
        shows["what the chat template can do"] = None
        thinking = _USUAL_TAGS
    if thinking is not None:
        inside += f"{{{{ if .Thinking }}}}{thinking[0]}{{{{ .Thinking }}}}{thinking[1]}{{{{ end }}}}"
    if tool_tag is not None:
        inside += f"{{{{ if .ToolCalls }}}}{tool_tag}{{{{ range .ToolCalls }}}}{{{{ .Function }}}}{{{{ end }}}}{{{{ end }}}}"  # noqa: E501
    if wanted.tool_round_trip and not found.tool_round_trip:
        shows["what the chat template can do"] = None
        inside += '{{ if eq .Role "tool" }}{{ .ToolCalls }}{{ end }}'
    tools = ""
    if "tools" in wanted.names and "tools" not in found.names:
        shows["what the chat template can do"] = None
        tools = "{{ .Tools }}"
    if not shows:
        return ShapeBlock((), hidden)
    messages = f"{{{{ range .Messages }}}}{inside}{{{{ end }}}}" if inside else ""
    if not inside and "that the template takes messages" in shows:
        messages = "{{ .Messages }}"
    whole = f"{{{{ if false }}}}{tools}{messages}{{{{ end }}}}"
    said = f"/* This never runs: it shows Ollama {' and '.join(shows)}. */"
    body = (Comment(said), *parse(whole, functions=FUNCTIONS).body)
    return ShapeBlock(body, hidden)


def _is_pair(tags: tuple[str, str] | None) -> bool:
    """Tell whether tags are alike, as ``<think>`` and ``</think>``."""
    return tags is not None and tags[1] == f"{tags[0][:1]}/{tags[0][1:]}"


def _printed(prints: _Prints, messages: list[dict[str, Any]], *, tools: bool = False) -> str:
    """Return what a template prints, with a level of thinking, or without if it fails for that."""
    level: dict[str, Any] = {"think": True, "think_level": "medium", "is_think_set": True}
    for think in (level, {}):
        try:
            return prints(Values(messages, [_TOOL] if tools else None, **think))
        except TransplateError:
            continue
    return ""


def _thinking_tags(prints: _Prints) -> tuple[str, str] | None:
    """Return the tags that stand around the thinking where it is printed."""
    turn: dict[str, Any] = {"role": "assistant", "content": _CONTENT, "thinking": _THINKING}
    called = {**turn, "tool_calls": [_CALL]}
    result = {"role": "tool", "content": "A result", "tool_name": _NAME, "tool_call_id": _ID}
    for messages in ([_USER, turn], [_USER, turn, _USER], [_USER, called, result], [_USER, called]):
        printed = _printed(prints, messages)
        at = printed.rfind(_THINKING)
        if at >= 0:
            before = _TAG_BEFORE.search(printed[:at])
            behind = _TAG_BEHIND.match(printed[at + len(_THINKING) :])
            if before and behind and "{{" not in before[1] + behind[1]:
                return before[1], behind[1]
    return None


def _tool_tag(prints: _Prints) -> str | None:
    """Return the marker in front of a tool call."""
    for messages in ([_USER], [_USER, {"role": "assistant", "content": _CONTENT}, _USER]):
        with_call = _printed(
            prints,
            [*messages, {"role": "assistant", "content": "", "tool_calls": [_CALL]}],
            tools=True,
        )
        plain = _printed(prints, [*messages, {"role": "assistant", "content": _CONTENT}], tools=True)
        at = with_call.rfind(_NAME)
        if at < 0:
            continue
        # Up to the question, and for a while behind it, both print the same.
        question = str(_USER["content"])
        after = with_call.rfind(question, 0, at) + len(question)
        after = after if after >= len(question) else 0
        behind = with_call[after : with_call.find(_NAME, after)]
        other = plain[plain.rfind(question) + len(question) :] if question in plain else plain
        alike = next(
            (n for n, pair in enumerate(zip(behind, other, strict=False)) if pair[0] != pair[1]), len(behind)
        )
        # The marker may begin as what stands there otherwise does.
        for opening, closing in (("<", ">"), ("[", "]")):
            opened = behind.rfind(opening, 0, alike)
            if opened >= 0 and closing not in behind[opened:alike]:
                alike = opened
        marker = behind[alike:].partition(_ID)[0].strip()
        marker = re.split(r"[{\n]|\[\{|\[$", marker, maxsplit=1)[0].strip()
        marker = marker.removesuffix("[").strip()
        if re.search(r"<[^<>]*>|\[[^\[\]]*\]", marker):
            return marker
    return None
