"""The built-in conversations are many, named, described, and good for both sides."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from transplate import JinjaTemplate, OllamaTemplate
from transplate.errors import ErrorKind, RequestError
from transplate.parity.conversations import (
    SPECIAL,
    Example,
    chosen_conversations,
    examples,
    ordinary_conversations,
)

EXPECTED_TAGS = {
    *("user", "system", "several-systems", "late-system", "turns", "same-role", "no-user", "odd-role"),
    *("tools", "tool-calls", "parallel-calls", "tool-results", "json", "escapes", "unicode", "white-space"),
    *("empty", "null", "thinking", "think", "long", "prefill", "date", "parts", "image", "client", SPECIAL),
}


def test_there_are_enough_and_they_are_described() -> None:
    assert len(ordinary_conversations()) >= 50
    assert len(examples()) > len(ordinary_conversations())
    names = Counter(example.conversation.name for example in examples())
    assert max(names.values()) == 1
    assert all(example.about and example.tags for example in examples())
    assert {tag for example in examples() for tag in example.tags} == EXPECTED_TAGS


def test_the_page_lists_them() -> None:
    page = (Path(__file__).parents[2] / "docs" / "built-in-conversations.md").read_text(encoding="utf-8")
    rows = [
        f"| `{example.conversation.name}` | {example.about} | {', '.join(sorted(example.tags))} |"
        for example in examples()
    ]
    assert page.splitlines()[-len(rows) :] == rows


def test_a_set_of_them() -> None:
    assert len(chosen_conversations("client")) == 9
    assert [conversation.name for conversation in chosen_conversations("compacted")] == ["compacted"]
    assert chosen_conversations("nothing") == ()


def test_no_two_are_the_same() -> None:
    seen = Counter(repr(example.conversation.named("")) for example in examples())
    assert [text for text, count in seen.items() if count > 1] == []


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.conversation.name)
def test_tags_tell_what_is_in_it(example: Example) -> None:
    messages, tags = example.conversation.messages, example.tags
    assert ("tools" in tags) == bool(example.conversation.tools)
    assert ("tool-calls" in tags) == any(message.tool_calls for message in messages)
    assert ("parallel-calls" in tags) == any(len(message.tool_calls) > 1 for message in messages)
    assert ("tool-results" in tags) == any(message.role == "tool" for message in messages)
    assert ("think" in tags) == (example.conversation.think is not None)
    assert ("prefill" in tags) == (messages[-1].role == "assistant")
    assert ("date" in tags) == (example.conversation.now is not None)
    assert ("parts" in tags) == any(isinstance(message.content, tuple) for message in messages)
    systems = sum(message.role == "system" for message in messages)
    assert ("several-systems" in tags) == (systems > 1)
    if systems:
        assert "system" in tags


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.conversation.name)
def test_both_sides_can_be_given_it(example: Example) -> None:
    gotmpl = OllamaTemplate(
        "{{ .System }}{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ .Thinking }}{{ json .ToolCalls }}"
        "{{ end }}{{ if .Tools }}{{ .Tools }}{{ end }}"
    )
    jinja = JinjaTemplate(
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ m|tojson }}{% endfor %}{{ tools|tojson }}"
    )
    try:
        assert gotmpl.render(**example.conversation.to_ollama())
    except RequestError as error:
        refused = error
        assert example.conversation.think is not None
        assert refused.kind is ErrorKind.INPUT
    assert jinja.render(**example.conversation.to_hf())
