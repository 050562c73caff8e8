"""Requests and templates that are not as they should be: Ollama's result, or a clear error."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from tests.oracle.ollama import GoOracle
from transplate import (
    Conversation,
    ErrorKind,
    GoTemplate,
    JinjaTemplate,
    OllamaTemplate,
    RequestError,
    TemplateExecutionError,
    TemplateSyntaxError,
    TransplateError,
    UnsupportedTemplate,
    Values,
    to_jinja,
)

ECHO = "{{ range .Messages }}[{{ .Role }}|{{ .Content }}|{{ json .ToolCalls }}]{{ end }}{{ json .Tools }}"


def call(arguments: object) -> dict[str, Any]:
    function = {"name": "f", "arguments": arguments}
    return {"messages": [{"role": "assistant", "content": "", "tool_calls": [{"function": function}]}]}


TAKEN = {
    "unknown role": (
        {"messages": [{"role": "wizard", "content": "x"}]},
        "[wizard|x|null]null",
    ),
    "no role": (
        {"messages": [{"content": "x"}]},
        "[|x|null]null",
    ),
    "missing content": (
        {"messages": [{"role": "user"}]},
        "[user||null]null",
    ),
    "null content": (
        {"messages": [{"role": "user", "content": None}]},
        "[user||null]null",
    ),
    "tool without a function": (
        {"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "function"}]},
        '[user|x|null][{"type":"function","function":'
        '{"name":"","description":"","parameters":{"type":"","properties":null}}}]',
    ),
    "arguments that are null": (
        call(None),
        '[assistant||[{"ID":"","Function":{"Index":0,"Name":"f","Arguments":null}}]]null',
    ),
    "tool call without a function": (
        {"messages": [{"role": "assistant", "content": "", "tool_calls": [{}]}]},
        '[assistant||[{"ID":"","Function":{"Index":0,"Name":"","Arguments":null}}]]null',
    ),
    "lone surrogate": (
        {"messages": [{"role": "user", "content": "a\ud800b"}]},
        "[user|a\ufffdb|null]null",
    ),
}
"""Requests that Ollama takes, and what it makes of them."""

REFUSED = {
    "number as content": ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
    "tool that is a text": ({"messages": [], "tools": ["a"]}, "tools[0]"),
    "arguments that are a text": (call("{}"), "messages[0].tool_calls[0].function.arguments"),
    "arguments that are a list": (call([1]), "messages[0].tool_calls[0].function.arguments"),
    "messages that are an object": ({"messages": {"role": "user"}}, "messages"),
    "message that is a text": ({"messages": ["hi"]}, "messages[0]"),
}
"""Requests that Ollama refuses, and the field at fault."""


@pytest.mark.parametrize(("request_", "expected"), TAKEN.values(), ids=TAKEN)
def test_taken_as_ollama_takes_it(request_: dict[str, Any], expected: str) -> None:
    assert OllamaTemplate(ECHO).execute(Values(**request_)) == expected


@pytest.mark.parametrize(("request_", "field"), REFUSED.values(), ids=REFUSED)
def test_refused_with_the_name_of_the_field(request_: dict[str, Any], field: str) -> None:
    with pytest.raises(RequestError) as caught:
        OllamaTemplate(ECHO).execute(Values(**request_))
    assert caught.value.message.startswith(f"{field}: ")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have(number: str) -> None:
    text = f'[{{"role": "user", "content": {number}}}]'
    with pytest.raises(RequestError) as caught:
        OllamaTemplate(ECHO).render(text)
    error = caught.value
    assert (error.line, error.column, error.source_line) == (1, text.index(number) + 1, text)
    for value in (float("nan"), float("inf")):
        with pytest.raises(RequestError, match=r"^messages\[0\]\.tool_calls\[0\]\.function\.arguments"):
            OllamaTemplate(ECHO).execute(Values(**call({"x": value})))


def test_ollama_says_so_too(go_oracle: GoOracle) -> None:
    for name, (request, expected) in TAKEN.items():
        if name != "lone surrogate":
            assert go_oracle.render(ECHO, request).output.decode() == expected, name
    for name, (request, _) in REFUSED.items():
        assert go_oracle.render(ECHO, request).stage == "request", name


def test_a_message_of_ten_megabytes() -> None:
    content = "<é>&" * 2_000_000
    template = OllamaTemplate(
        "{{ range .Messages }}{{ .Content }}|{{ len .Content }}|{{ json .Content }}{{ end }}"
    )
    escaped = content.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    expected = f'{content}|{len(content.encode())}|"{escaped}"'
    assert template.render([{"role": "user", "content": content}]) == expected


@pytest.mark.parametrize(
    "opening", ["{{ if .System }}", "{{ with $.System }}", "{{ range $i, $m := $.Messages }}"]
)
def test_a_thousand_nested_blocks(opening: str) -> None:
    template = OllamaTemplate(
        opening * 1_000 + "{{ len .Messages }}" * opening.count("if") + "x" + "{{ end }}" * 1_000
    )
    prompt = template.render([{"role": "system", "content": "s"}])
    assert prompt == ("1x" if "if" in opening else "x")


def test_a_thousand_open_blocks() -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        OllamaTemplate("{{ if .System }}" * 1_000)
    assert caught.value.message == "template: :1: unexpected EOF"


def test_an_empty_template_prints_what_ollama_prints() -> None:
    assert OllamaTemplate("").render([{"role": "user", "content": "x"}]) == ""


def test_control_characters_are_text() -> None:
    assert OllamaTemplate("\0\x01").render([{"role": "user", "content": "x"}]) == "\0\x01"


def test_endless_recursion_ends() -> None:
    template = OllamaTemplate('{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" .Messages }}')
    with pytest.raises(TemplateExecutionError):
        template.render([{"role": "user", "content": "x"}])


class TestChatTemplates:
    """The same for chat templates, and for conversations that both sides are given."""

    def test_unknown_role(self) -> None:
        assert (
            JinjaTemplate("{{ messages[0].role }}").render([{"role": "wizard", "content": "x"}]) == "wizard"
        )

    def test_missing_content(self) -> None:
        assert JinjaTemplate("{{ messages[0].content }}").render([{"role": "user"}]) == ""

    def test_lone_surrogate(self) -> None:
        conversation = Conversation.read([{"role": "user", "content": "a\ud800b"}])
        for prompt in (
            JinjaTemplate("{{ messages[0].content }}").render(**conversation.to_hf()),
            OllamaTemplate("{{ range .Messages }}{{ .Content }}{{ end }}").render(**conversation.to_ollama()),
        ):
            assert prompt == "a\ufffdb"

    @pytest.mark.parametrize(
        ("conversation", "message"),
        [
            ([], "messages: at least one message is needed"),
            ([{"content": "x"}], "messages[0].role: is missing"),
            ([{"role": "user", "content": 5}], "messages[0].content: a text or a list of parts is needed"),
            ([{"role": "user", "content": float("nan")}], "messages[0].content: nan is no number of JSON"),
            (call("{"), "messages[0].tool_calls[0].function.arguments: is not JSON"),
            (call([1]), "messages[0].tool_calls[0].function.arguments: an object is needed"),
            (
                {"messages": [{"role": "user"}], "tools": [{"type": "function"}]},
                "tools[0].function: is missing",
            ),
            ('[{"role": "user", "content": NaN}]', "the conversation: is not JSON: NaN"),
            ("", "the conversation: is not JSON"),
            ("[" * 100_000, "the conversation: is nested too deeply"),
        ],
    )
    def test_conversation_that_cannot_be_read(self, conversation: Any, message: str) -> None:
        with pytest.raises(RequestError) as caught:
            Conversation.read(conversation)
        assert caught.value.message.startswith(message)

    def test_a_message_of_ten_megabytes(self) -> None:
        content = "<é>&" * 2_000_000
        template = JinjaTemplate("{{ messages[0].content }}|{{ messages[0].content | tojson }}")
        assert template.render([{"role": "user", "content": content}]) == f'{content}|"{content}"'

    def test_a_thousand_nested_blocks(self) -> None:
        with pytest.raises(TransplateError) as caught:
            JinjaTemplate("{% if messages %}" * 1_000 + "x" + "{% endif %}" * 1_000)
        assert caught.value.kind is ErrorKind.LIMIT

    def test_an_empty_template(self) -> None:
        assert JinjaTemplate("").render([{"role": "user", "content": "x"}]) == ""


@pytest.mark.parametrize(
    "source",
    [
        "{{ " + "(not " * 200 + "1" + ")" * 200 + " }}",
        "{{ if 1 }}" * 500 + "{{ end }}" * 500,
        "{{ if 1 }}" + "{{ else if 1 }}x" * 1000 + "{{ end }}",
    ],
    ids=["parentheses", "blocks", "alternatives"],
)
def test_deep_templates_are_converted_or_refused(source: str) -> None:
    with suppress(UnsupportedTemplate):
        assert to_jinja(source, exact=True).text


def test_a_chain_longer_than_python_can_nest() -> None:
    data: dict[str, Any] = {"z": 7}
    for _ in range(300):
        data = {"a": data}
    chain = ".a" * 300 + ".z"
    assert GoTemplate(f"{{{{ {chain} }}}} {{{{ $x := . }}}}{{{{ $x{chain} }}}}").render(data) == "7 7"


def test_tools_that_hold_themselves() -> None:
    tool: dict[str, Any] = {"type": "function"}
    tool["function"] = tool
    template = OllamaTemplate("{{ range .Messages }}{{ .Role }}{{ end }}{{ .Tools }}")
    with pytest.raises(RequestError, match="nested too deeply"):
        template.render([{"role": "user", "content": "Hi"}], tools=[tool])
