"""Of which conversations the assumptions of the default form hold."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracle.ollama import OLLAMA_VERSION, GoOracle
from transplate.conversation import Conversation
from transplate.convert import to_go
from transplate.convert.jinja_to_go.assumptions import ASSUMPTIONS
from transplate.jinja import JinjaTemplate

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


@pytest.mark.parametrize(
    ("cut", "text", "is_met"),
    [
        ("m.content.strip()", "7\u00a0°C", True),
        ("m.content.split(':')[-1].strip()", "7\u00a0°C", True),
        ("m.content.split(':')[-1].strip()", "x:\u3000y", False),
        ("m.content.split('、')[-1].strip()", "x、\u3000 y", False),
        ("m.content[1:].strip()", "7\u00a0°C", False),
        ("m.content.split(m.role)[0].strip()", "7\u00a0°C", False),
        ("m.tool_call_id|trim", "x", True),
        ("('\u3000' ~ m.content).strip()", "x", True),
    ],
)
def test_white_space_is_looked_for_where_a_template_cuts_texts(
    cut: str, text: str, is_met: bool, go_oracle: GoOracle
) -> None:
    source = "{% for m in messages %}[{{ " + cut + " }}]{% endfor %}"
    made = to_go(source, ollama=OLLAMA_VERSION)
    messages = [{"role": "user", "content": text, "tool_call_id": "c\u3000" if "id" in cut else "c"}]
    is_covered = made.covers(Conversation.read(messages))
    assert is_covered is (is_met and "id" not in cut)
    (found,) = go_oracle.render_all(made.text, [{"messages": messages}])
    is_same = found.output.decode() == JinjaTemplate(source).render(messages)
    assert is_same or not is_covered


@pytest.mark.parametrize("exact", [True, False])
def test_the_next_message_of_all_but_the_last_is_there(exact: bool) -> None:
    source = (
        "{% for m in messages %}{{ m.content }}{% if loop.last or messages[loop.index0 + 1].role != 'tool' %}."  # noqa: E501
        "{% endif %}{% endfor %}"
    )
    conversion = to_go(source, exact=exact)
    assert conversion.assumptions == ()
    assert "undefined" not in conversion.text
