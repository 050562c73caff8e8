"""Of which conversations the assumptions of the default form hold."""

from __future__ import annotations

from typing import Any

import pytest

from transplate.conversation import Conversation
from transplate.convert import to_go
from transplate.convert.jinja_to_go.assumptions import ASSUMPTIONS

BREAKING: dict[str, list[dict[str, Any]]] = {
    "no-think-tags": [{"role": "user", "content": "a</think>b"}],
    "ascii-letters": [{"role": "user", "content": "é"}],
    "ascii-names": [{"role": "assistant", "tool_calls": [{"function": {"name": "é", "arguments": {}}}]}],
    "sorted-keys": [
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1, "B": 2}}}]}
    ],
    "no-nulls": [
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"a": [{"b": None}]}}}]}
    ],
    "ascii-space": [{"role": "user", "content": "x\u3000"}],
    "no-nul": [{"role": "user", "content": "x\0"}],
    "plain-json": [
        {"role": "user", "content": "x"},
        {
            "role": "assistant",
            "tool_calls": [{"function": {"name": "f", "arguments": {"a": [{"b": 1e-05}]}}}],
        },
    ],
}


@pytest.mark.parametrize("name", BREAKING)
def test_assumptions_hold_of_ordinary_conversations_only(name: str) -> None:
    ordinary = [
        {"role": "system", "content": " Be brief.\n"},
        {"role": "user", "content": "2 < 3 & <b>"},
        {
            "role": "assistant",
            "content": "",
            "thinking": "So.",
            "tool_calls": [{"function": {"name": "f", "arguments": {"a": 21000000, "b": 0.5, "c": [None]}}}],
        },
    ]
    assert ASSUMPTIONS[name].holds(Conversation.read(ordinary))
    assert not ASSUMPTIONS[name].holds(Conversation.read(BREAKING[name]))


@pytest.mark.parametrize("number", [10**21, -(10**21), 1e-05, 1e22, -0.0])
def test_numbers_that_go_writes_in_another_way_are_not_plain(number: float) -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"x": {"enum": [number]}}}}]
    read = Conversation.read({"messages": [{"role": "user", "content": "x"}], "tools": tools})
    assert not ASSUMPTIONS["plain-json"].holds(read)


def test_needed_values_are_those_without_which_the_source_fails() -> None:
    source = (
        "{% for m in messages %}{{ 'from ' + m.name }}{% endfor %}"
        "{% if tools %}{{ raise_exception('no') }}{% endif %}"
    )
    made = to_go(source)
    assert [one.name for one in made.assumptions] == ["needed-values"]
    named = {"role": "tool", "content": "x", "tool_name": "f"}
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    assert made.covers(Conversation.read([named]))
    assert not made.covers(Conversation.read([{"role": "user", "content": "x"}]))
    # What the template raises itself is raised by the Go too.
    assert made.covers(Conversation.read({"messages": [named], "tools": tools}))
    assert to_go(source, exact=True).covers(Conversation.read([{"role": "user", "content": "x"}]))
