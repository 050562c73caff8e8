"""What Ollama's data model loses of a request before any template sees it, and where that shows.

Each kind of loss has a request that suffers it. A chat template is rendered on the request as it was sent and
on Ollama's view of it; where the prompts differ, no template of Ollama could print the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from tests.fuzz.jinja_to_go_corpus import TOKENS
from tests.fuzz.jinja_to_go_judge import Judge, View
from tests.fuzz.jinja_to_go_requests import Case
from transplate.errors import TransplateError

_USER = {"role": "user", "content": "What is the weather in Oslo?"}


def _tool(**others: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"city": {"type": "string", "description": "A city"}}}
    function = {"name": "get_weather", "description": "Tell it.", "parameters": parameters, **others}
    return {"type": "function", "function": function}


def _called(arguments: dict[str, Any]) -> list[dict[str, Any]]:
    call = {"id": "call00001", "function": {"name": "get_weather", "arguments": arguments}}
    result = {"role": "tool", "content": "7", "tool_name": "get_weather", "tool_call_id": "call00001"}
    return [_USER, {"role": "assistant", "content": "", "tool_calls": [call]}, result]


def _properties(**properties: Any) -> list[dict[str, Any]]:
    return [_tool(parameters={"type": "object", "properties": properties, "required": ["unit"]})]


LOSSES: Mapping[str, Case] = {
    "two messages of one role in a row become one": {
        "messages": [_USER, {"role": "user", "content": "And?"}]
    },
    "the calls of the second of two assistant messages are gone": {
        "messages": [_USER, {"role": "assistant", "content": "Wait."}, *_called({"city": "Oslo"})[1:]]
    },
    "the order of a call's arguments": {"messages": _called({"unit": "c", "city": "Oslo"})},
    "the order of a tool's properties": {
        "messages": [_USER],
        "tools": _properties(unit={"type": "string"}, city={"type": "string"}),
    },
    "the order of the keys of a tool": {
        "messages": [_USER],
        "tools": _properties(unit={"description": "A unit", "type": "string"}),
    },
    "keys of a schema that Ollama does not know (`default`, `additionalProperties`)": {
        "messages": [_USER],
        "tools": _properties(unit={"type": "string", "default": "c"}),
    },
    "other keys of a tool (`strict`)": {"messages": [_USER], "tools": [_tool(strict=True)]},
    "a tool without parameters gets some that are empty": {
        "messages": [_USER],
        "tools": [{"type": "function", "function": {"name": "ping", "description": "Answer."}}],
    },
    "a number with a fraction of zero, 5.0": {"messages": _called({"days": 5.0})},
    "an integer of more than 53 bits": {"messages": _called({"days": 12345678901234567890})},
    "thinking that is empty": {
        "messages": [_USER, {"role": "assistant", "content": "7 degrees.", "thinking": ""}, _USER]
    },
    "a role in capitals": {"messages": [{"role": "User", "content": "Hi"}]},
}


def count_losses(templates: Iterable[tuple[str, str]], judge: Judge) -> Mapping[str, tuple[int, int]]:
    """Return for each kind of loss in how many templates it shows, of how many that render both."""
    shows: Counter[str] = Counter()
    both: Counter[str] = Counter()
    seen = dict(zip(LOSSES, judge.views(list(LOSSES.values())), strict=True))
    views = [
        view for name, case in LOSSES.items() for view in (_as_sent(case), seen[name]) if view is not None
    ]
    for _, source in templates:
        try:
            printed = judge.wanted(source, TOKENS, views)
        except TransplateError:
            continue
        for name, sent, got in zip(LOSSES, printed[::2], printed[1::2], strict=True):
            if sent.text is not None and got.text is not None:
                both[name] += 1
                shows[name] += sent.text != got.text
    return {name: (shows[name], both[name]) for name in LOSSES}


def _as_sent(case: Case) -> View:
    """Return a request as transformers would get it."""
    names = {"thinking": "reasoning_content", "tool_name": "name"}
    messages = [
        {names.get(key, key): value for key, value in message.items()} for message in case["messages"]
    ]
    for message in messages:
        if "tool_calls" in message:
            message["tool_calls"] = [{"type": "function", **call} for call in message["tool_calls"]]
    return messages, case.get("tools"), {}
