"""Asks real Ollama whether it finds the markers of thinking and of tool calls in converted templates.

``python -m tests.fuzz.jinja_to_go_inference`` converts the chat templates, sees where they print reasoning
between markers and tool calls behind one, and prints for how many of these Ollama's own packages ``thinking``
and ``tools`` infer markers that stand there. What is expected comes from what the Jinja prints. Besides, the
abilities that Ollama derives must be those that it derives from the Jinja (thinking in any case where the
markers are printed), and of a model that has both templates it must run the converted one.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from tests.fuzz.jinja_to_go_corpus import TOKENS, add_choice, chosen
from tests.fuzz.jinja_to_go_judge import RealJudge
from tests.fuzz.jinja_to_go_requests import NOW
from transplate.convert import to_go
from transplate.errors import TransplateError
from transplate.jinja import JinjaTemplate
from transplate.ollama.roads import abilities_of_jinja, choose_road

_THINKING, _NAME, _CONTENT, _QUESTION = (
    "sentinel thinking",
    "sentinel_name",
    "sentinel answer",
    "sentinel question",
)
_MARKER = r"(?:<[^<>\s][^<>\n]{0,40}>|\[/?[A-Z_ ]{2,30}\]|<｜[^｜]+｜>)"
_BEFORE = re.compile(rf"{_MARKER}(?!assistant|model)\w*\s*\Z")
_BEHIND = re.compile(rf"\s*({_MARKER})")
_USER = {"role": "user", "content": _QUESTION}
_CALLS = [
    {"id": "call00001", "type": "function", "function": {"name": _NAME, "arguments": {"sentinel_key": "x"}}}
]
_TOOL = {
    "type": "function",
    "function": {
        "name": "another",
        "description": "",
        "parameters": {"type": "object", "properties": {"sentinel_key": {"type": "string"}}},
    },
}


@dataclass(frozen=True)
class Markers:
    """What a chat template prints around reasoning and in front of a tool call.

    Attributes:
        around_thinking: What stands before and behind the reasoning, None without a marker on each side.
        before_calls: What stands between the turn's beginning and the call's name, None without a marker.
    """

    around_thinking: tuple[str, str] | None
    before_calls: str | None


def printed_markers(source: str) -> Markers:
    """Return the markers that a chat template prints.

    Raises:
        TemplateSyntaxError: Jinja refuses it.
    """
    template = JinjaTemplate(source, special_tokens=TOKENS)
    return Markers(_around_thinking(template), _before_calls(template))


def _printed(
    template: JinjaTemplate,
    messages: list[dict[str, Any]],
    *,
    thinks: bool | None = None,
    has_tool: bool = True,
) -> str:
    try:
        return template.render(
            messages,
            [_TOOL] if has_tool else None,
            add_generation_prompt=messages[-1]["role"] != "assistant",
            variables={} if thinks is None else {"enable_thinking": thinks},
            now=NOW,
        )
    except TransplateError:
        return ""


def _around_thinking(template: JinjaTemplate) -> tuple[str, str] | None:
    turn = {"role": "assistant", "content": _CONTENT, "reasoning_content": _THINKING}
    called = {**turn, "tool_calls": _CALLS}
    result = {"role": "tool", "content": "sentinel result", "name": _NAME, "tool_call_id": "call00001"}
    conversations = ([_USER, turn], [_USER, turn, _USER], [_USER, called, result], [_USER, called])
    for messages, thinks, has_tool in product(conversations, (None, True), (True, False)):
        printed = _printed(template, messages, thinks=thinks, has_tool=has_tool)
        before, found, behind = printed.rpartition(_THINKING)
        if found and _BEFORE.search(before) and _BEHIND.match(behind):
            return before, behind
    return None


def _before_calls(template: JinjaTemplate) -> str | None:
    called = {"role": "assistant", "content": "", "tool_calls": _CALLS}
    plain = {"role": "assistant", "content": _CONTENT}
    for before in ([_USER], [{"role": "system", "content": "x"}, _USER]):
        with_call, without = (_printed(template, [*before, turn]) for turn in (called, plain))
        start = with_call.find(_QUESTION)
        at = with_call.find(_NAME, start)
        if min(start, at) < 0:
            continue
        same = next((i for i in range(at) if without[i : i + 1] != with_call[i]), at)
        # A marker may begin as what the other turn has in its place.
        opening = max(with_call.rfind("<", start, same), with_call.rfind("[", start, same))
        if opening >= 0 and not re.search(r"[>\]]", with_call[opening:same]):
            same = opening
        region = with_call[same:at]
        if re.search(_MARKER, region):
            return region
    return None


def judged(judge: RealJudge, source: str, text: str, markers: Markers) -> Iterator[tuple[str, bool, str]]:
    """Yield of each thing that Ollama is to find what it is, whether Ollama finds it, and what it finds."""
    seen = judge.infer(text)
    (opening, closing), tag = seen.thinking_tags, seen.tool_tag
    has = {"tools": "tools" in seen.variables, "insert": "suffix" in seen.variables}
    has["thinking"] = bool(opening and closing)
    abilities = {name for name, there in has.items() if there}
    expected = abilities_of_jinja(source).names
    more = {"thinking"} if markers.around_thinking is not None else set()
    yield "abilities", expected <= abilities <= expected | more, ", ".join(sorted(abilities))
    road = choose_road(text, source)
    yield "road", road.name == "go_template", f"{road.name}, {road.reason}"
    if markers.around_thinking is not None:
        before, behind = markers.around_thinking
        found = before.rstrip().endswith(opening) and behind.lstrip().startswith(closing)
        yield "thinking", bool(opening and closing and found), f"{opening} {closing}"
    if markers.before_calls is not None:
        is_marker = re.search(_MARKER, tag) is not None
        yield "tool calls", is_marker and tag in markers.before_calls, tag


def _shown(source: str, markers: Markers, what: str) -> Any:
    if what in ("abilities", "road"):
        return sorted(abilities_of_jinja(source).names)
    if what == "thinking" and markers.around_thinking is not None:
        before, behind = markers.around_thinking
        return before[-40:], behind[:40]
    return markers.before_calls


def main() -> int:
    """Run from the command line; the exit status is 1 if Ollama misses any marker."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_choice(parser)
    arguments = parser.parse_args()
    judge = RealJudge()
    counts: Counter[tuple[str, str, bool]] = Counter()
    for name, source in chosen(arguments.corpus, part=arguments.part, only=arguments.only):
        for style, exact in (("exact", True), ("default", False)):
            try:
                markers = printed_markers(source)
                text = to_go(source, special_tokens=TOKENS, exact=exact, ollama=judge.ollama).text
            except TransplateError:
                continue
            for what, found, inferred in judged(judge, source, text, markers):
                counts[what, style, found] += 1
                if not found:
                    print(f"{name} ({style}): Ollama infers {inferred!r} for {what} from what prints")
                    print(f"    {_shown(source, markers, what)!r}")
    judge.close()
    for what in ("thinking", "tool calls", "abilities", "road"):
        for style in ("exact", "default"):
            found, missed = counts[what, style, True], counts[what, style, False]
            share = 100 * found / max(1, found + missed)
            print(f"{what}, style {style}: right in {found} of {found + missed} ({share:.1f} %)")
    return 1 if any(not found for _, _, found in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
