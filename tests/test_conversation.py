"""A conversation is read from every style of JSON, and each side gets what the table says."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from tests.fuzz.conversations import Conversations
from tests.oracle.engines import EngineUnavailable
from tests.oracle.ollama import build_program
from transplate import Conversation, JinjaTemplate, OllamaTemplate
from transplate.errors import RequestError

USER = {"role": "user", "content": "hi"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"b": 1, "a": {"x": [2]}}'}}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
PNG = "aGVsbG8="
NOW = datetime(2026, 3, 14, 9, 26)


def read(*messages: Any, **others: Any) -> Conversation:
    return Conversation.read({"messages": list(messages), **others})


# --- what each side gets --------------------------------------------------------------------------------


def test_text_json_and_bare_list_are_the_same() -> None:
    conversation = read(USER)
    assert Conversation.read([USER]) == conversation
    assert Conversation.read(json.dumps([USER])) == conversation
    assert Conversation.read(json.dumps({"messages": [USER], "model": "x", "stream": False})) == conversation
    assert conversation.to_ollama() == {"messages": [USER]}
    assert conversation.to_hf() == {
        "messages": [USER],
        "tools": None,
        "add_generation_prompt": True,
        "continue_final_message": False,
        "variables": {},
        "now": None,
    }


def test_tool_calls_of_every_style() -> None:
    arguments = {"b": 1, "a": {"x": [2]}}
    openai = read(USER, {"role": "assistant", "content": None, "tool_calls": [CALL]})
    ollama = read(
        USER,
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": arguments}}],
        },
    )
    flat = read(
        USER, {"role": "assistant", "tool_calls": [{"id": "c1", "name": "f", "arguments": arguments}]}
    )
    assert openai == ollama == flat
    function = {"name": "f", "arguments": arguments}
    assert openai.to_ollama()["messages"][1] == {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "function": function}],
    }
    assert openai.to_hf()["messages"][1] == {
        "role": "assistant",
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }
    assert list(openai.to_ollama()["messages"][1]["tool_calls"][0]["function"]["arguments"]) == ["b", "a"]


@pytest.mark.parametrize("name", ["reasoning_content", "thinking", "reasoning"])
def test_reasoning_under_every_name(name: str) -> None:
    conversation = read(USER, {"role": "assistant", "content": "a", name: "hm"}, USER)
    assert conversation.to_ollama()["messages"][1] == {"role": "assistant", "content": "a", "thinking": "hm"}
    assert conversation.to_hf()["messages"][1] == {
        "role": "assistant",
        "content": "a",
        "reasoning_content": "hm",
    }


def test_empty_reasoning_is_none() -> None:
    conversation = read(USER, {"role": "assistant", "content": "a", "reasoning_content": ""}, USER)
    assert conversation.to_ollama()["messages"][1] == {"role": "assistant", "content": "a"}
    assert conversation.to_hf()["messages"][1] == {"role": "assistant", "content": "a"}


def test_tool_result() -> None:
    named = read(USER, {"role": "tool", "name": "f", "tool_call_id": "c1", "content": "r"})
    ollama = read(USER, {"role": "tool", "tool_name": "f", "tool_call_id": "c1", "content": "r"})
    for conversation in (named, ollama):
        assert conversation.to_ollama()["messages"][1] == {
            "role": "tool",
            "content": "r",
            "tool_name": "f",
            "tool_call_id": "c1",
        }
        assert conversation.to_hf()["messages"][1] == {
            "role": "tool",
            "content": "r",
            "name": "f",
            "tool_call_id": "c1",
        }


def test_tool_name_is_looked_up_for_ollama() -> None:
    conversation = read(
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
        {"role": "tool", "tool_call_id": "other", "content": "r"},
    )
    messages = conversation.to_ollama()["messages"]
    assert messages[1]["tool_name"] == "f"
    assert "tool_name" not in messages[2]
    assert "name" not in conversation.to_hf()["messages"][1]


def test_parts() -> None:
    parts = [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "image", "base64": PNG},
        {"type": "text", "text": "b"},
    ]
    conversation = read({"role": "user", "content": parts})
    assert conversation.to_ollama()["messages"] == [
        {"role": "user", "content": "a"},
        {"role": "user", "content": "", "images": [PNG]},
        {"role": "user", "content": "", "images": [PNG]},
        {"role": "user", "content": "b"},
    ]
    assert conversation.to_hf()["messages"] == [{"role": "user", "content": parts}]


def test_text_parts_are_joined_by_a_blank_line() -> None:
    template = OllamaTemplate("{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}")
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert template.render(read({"role": "user", "content": parts}).to_ollama()["messages"]) == "<user>a\n\nb"


def test_images_of_ollama() -> None:
    conversation = read({"role": "user", "content": "a", "images": [PNG]})
    assert conversation.to_ollama()["messages"] == [{"role": "user", "content": "a", "images": [PNG]}]
    assert conversation.to_hf()["messages"] == [
        {"role": "user", "content": [{"type": "image", "base64": PNG}, {"type": "text", "text": "a"}]}
    ]


def test_content_that_is_missing() -> None:
    for message in ({"role": "user"}, {"role": "user", "content": None}):
        conversation = read(message)
        assert conversation.to_ollama()["messages"] == [{"role": "user", "content": ""}]
        assert conversation.to_hf()["messages"] == [{"role": "user"}]


def test_other_fields_reach_a_chat_template() -> None:
    message = {"role": "User", "content": "a", "name": "Bo", "weight": 0.5}
    conversation = read(message)
    assert conversation.to_hf()["messages"] == [message]
    assert conversation.to_ollama()["messages"] == [{"role": "User", "content": "a"}]


def test_tools() -> None:
    conversation = read(USER, tools=[TOOL])
    assert conversation.to_ollama()["tools"] == [TOOL]
    assert conversation.to_hf()["tools"] == [TOOL]
    for none in (None, []):
        conversation = read(USER, tools=none)
        assert "tools" not in conversation.to_ollama()
        assert conversation.to_hf()["tools"] is None


@pytest.mark.parametrize(
    ("asked", "think", "variables"),
    [
        ({}, None, {}),
        ({"think": None}, None, {}),
        ({"think": False}, False, {"enable_thinking": False}),
        ({"think": True}, True, {"enable_thinking": True}),
        ({"think": "high"}, "high", {"enable_thinking": True, "reasoning_effort": "high"}),
        ({"think": "max"}, "max", {"enable_thinking": True, "reasoning_effort": "max"}),
        ({"reasoning_effort": "low"}, "low", {"enable_thinking": True, "reasoning_effort": "low"}),
        ({"reasoning_effort": "none"}, False, {"enable_thinking": False}),
        ({"reasoning": {"effort": "low"}}, "low", {"enable_thinking": True, "reasoning_effort": "low"}),
        ({"enable_thinking": False}, False, {"enable_thinking": False}),
        (
            {"chat_template_kwargs": {"enable_thinking": True, "x": 1}},
            True,
            {"enable_thinking": True, "x": 1},
        ),
        ({"variables": {"y": [1]}, "documents": []}, None, {"y": [1], "documents": []}),
    ],
)
def test_thinking_and_variables(asked: dict[str, Any], think: Any, variables: dict[str, Any]) -> None:
    conversation = read(USER, **asked)
    assert conversation.think == think
    assert conversation.to_ollama().get("think") == think
    assert conversation.to_hf()["variables"] == variables


@pytest.mark.parametrize(
    ("last", "continued"),
    [
        ({"content": "The"}, True),
        ({"content": ""}, True),
        ({"content": [{"type": "text", "text": "The"}]}, True),
        ({"reasoning": "hm"}, "reasoning_content"),
        ({"tool_calls": [CALL]}, False),
    ],
)
def test_last_message_of_the_assistant_stays_open(last: dict[str, Any], continued: bool | str) -> None:
    arguments = read(USER, {"role": "Assistant"} | last).to_hf()
    assert arguments["continue_final_message"] == continued
    assert arguments["add_generation_prompt"] is False


def test_prefill_on_both_sides() -> None:
    conversation = read(USER, {"role": "assistant", "content": "The answer is "})
    jinja = JinjaTemplate(
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}"
        "{% if add_generation_prompt %}<assistant>{% endif %}"
    )
    gotmpl = OllamaTemplate(
        "{{ range $i, $m := .Messages }}<{{ .Role }}>{{ .Content }}"
        "{{ if ne (len (slice $.Messages $i)) 1 }}</>{{ end }}{{ end }}"
    )
    prompt = "<user>hi</><assistant>The answer is "
    assert jinja.render(**conversation.to_hf()) == prompt
    assert gotmpl.render(**conversation.to_ollama()) == prompt


def test_date() -> None:
    assert read(USER, date="2026-03-14T09:26").now == NOW
    assert read(USER, date="2026-03-14").to_hf()["now"] == datetime(2026, 3, 14)


def test_generate_request() -> None:
    conversation = Conversation.read({"prompt": "hi", "system": "s", "images": [PNG], "think": True})
    assert conversation.to_ollama() == {
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "hi", "images": [PNG]},
        ],
        "think": True,
    }


def test_nothing_of_the_caller_is_shared() -> None:
    given = {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}], "x": {"y": []}}]}
    conversation = Conversation.read(given)
    conversation.to_hf()["messages"][0]["x"]["y"].append(1)
    conversation.to_hf()["messages"][0]["content"].append(1)
    given["messages"][0]["x"]["y"].append(2)  # type: ignore[index]
    assert conversation.to_hf()["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "a"}], "x": {"y": []}}
    ]


# --- bad input ------------------------------------------------------------------------------------------


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{", "the conversation: is not JSON"),
        (b"\xff", "the conversation: is not JSON"),
        ("", "the conversation: is not JSON"),
        ("3", "a conversation is a list of messages or an object, not a number"),
        (None, "a conversation is a list of messages or an object, not null"),
        ({}, "messages: at least one message is needed"),
        ([], "messages: at least one message is needed"),
        ({"messages": "hi"}, "messages: a list is needed, not a text"),
        ([3], "messages[0]: an object is needed, not a number"),
        ([{"content": "a"}], "messages[0].role: is missing"),
        ([USER, {"role": 3}], "messages[1].role: a text is needed, not a number"),
        (
            [{"role": "user", "content": 3}],
            "messages[0].content: a text or a list of parts is needed, not a number",
        ),
        ([{"role": "user", "content": ["a"]}], "messages[0].content[0]: an object is needed, not a text"),
        ([{"role": "user", "content": [{"text": "a"}]}], "messages[0].content[0].type: a part needs a type"),
        (
            [{"role": "user", "content": [{"type": "text"}]}],
            "messages[0].content[0].text: a text is needed, not null",
        ),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}],
            "messages[0].content[0].image_url: a URL is needed, not null",
        ),
        ([{"role": "user", "images": ["%"]}], "messages[0].images[0]: is not base64"),
        ([{"role": "user", "images": "x"}], "messages[0].images: a list is needed, not a text"),
        ([{"role": "a", "tool_calls": {}}], "messages[0].tool_calls: a list is needed, not an object"),
        ([{"role": "a", "tool_calls": [3]}], "messages[0].tool_calls[0]: an object is needed, not a number"),
        (
            [{"role": "a", "tool_calls": [{"function": {}}]}],
            "messages[0].tool_calls[0].function.name: a text",
        ),
        (
            [{"role": "a", "tool_calls": [{"function": {"name": "f", "arguments": [1]}}]}],
            "messages[0].tool_calls[0].function.arguments: an object is needed, not a list",
        ),
        (
            [{"role": "a", "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}],
            "messages[0].tool_calls[0].function.arguments: is not JSON",
        ),
        (
            [{"role": "a", "tool_calls": [{"function": {"name": "f", "arguments": "3"}}]}],
            "messages[0].tool_calls[0].function.arguments: an object is needed, not a number",
        ),
        (
            [{"role": "a", "tool_calls": [{"function": {"name": "f", "arguments": {"x": float("nan")}}}]}],
            "messages[0].tool_calls[0].function.arguments.x: nan is no number of JSON",
        ),
        (
            [{"role": "a", "tool_calls": [{"function": {"name": "f", "arguments": '{"x": NaN}'}}]}],
            "messages[0].tool_calls[0].function.arguments: is not JSON: NaN is no number of JSON",
        ),
        (
            [{"role": "a", "tool_calls": [{"function": {"name": "f", "arguments": '{"x": 1e999}'}}]}],
            "messages[0].tool_calls[0].function.arguments.x: inf is no number of JSON",
        ),
        ([{"role": "a", "x": 10**400}], "messages[0].x: the number is too large"),
        ([{"role": "a", "x": {1: 2}}], "messages[0].x: the key 1 is no text"),
        ([{"role": "a", "x": {1, 2}}], "messages[0].x: set is no type of JSON"),
        ([{"role": "a", "x": b"x"}], "messages[0].x: bytes is no type of JSON"),
        ([{"role": "a", "reasoning": 3}], "messages[0].reasoning: a text is needed, not a number"),
        ([{"role": "a", "x": _nested(5000)}], "the conversation: is nested too deeply"),
        ("[" * 100_000, "the conversation: is nested too deeply"),
        ({"messages": [USER], "tools": {}}, "tools: a list is needed, not an object"),
        ({"messages": [USER], "tools": [3]}, "tools[0]: an object is needed, not a number"),
        ({"messages": [USER], "tools": [{"type": "function"}]}, "tools[0].function: is missing"),
        ({"messages": [USER], "tools": [{"name": "f"}]}, "tools[0].function: is missing"),
        (
            {"messages": [USER], "tools": [TOOL, {"function": {}}]},
            "tools[1].function.name: a text is needed, not null",
        ),
        (
            {"messages": [USER], "think": "much"},
            "think: true, false or one of low, medium, high, max is needed",
        ),
        ({"messages": [USER], "think": 1.5}, "think: true, false or one of"),
        ({"messages": [USER], "reasoning_effort": "much"}, "reasoning_effort: true, false or one of"),
        ({"messages": [USER], "date": "today"}, "date: a date such as 2026-03-14 is needed"),
        ({"messages": [USER], "variables": []}, None),
        ({"messages": [USER], "variables": [1]}, "variables: an object is needed, not a list"),
        ({"messages": [USER], "name": 3}, "name: a text is needed, not a number"),
        ({"prompt": "a", "suffix": "b"}, "suffix: a conversation has no text after the answer"),
        ({"prompt": 3}, "prompt: a text is needed, not a number"),
    ],
)
def test_bad_input_names_the_field(data: Any, message: str | None) -> None:
    if message is None:
        Conversation.read(data)
        return
    with pytest.raises(RequestError) as caught:
        Conversation.read(data)
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"type": "video"}, "messages[0].content[0].type: Ollama takes text and images, not 'video'"),
        ({"type": "image"}, "messages[0].content[0]: Ollama needs the image itself, as base64"),
        (
            {"type": "image_url", "image_url": "http://x/y.png"},
            "messages[0].content[0].image_url: Ollama fetches",
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:image/gif;base64,aGk="}},
            "messages[0].content[0].image_url.url: an image is a data URL",
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,?"}},
            "messages[0].content[0].image_url.url: is not base64",
        ),
    ],
)
def test_part_that_ollama_cannot_take(part: dict[str, Any], message: str) -> None:
    conversation = read({"role": "user", "content": [part]})
    assert conversation.to_hf()["messages"][0]["content"] == [part]
    with pytest.raises(RequestError) as caught:
        conversation.to_ollama()
    assert caught.value.message.startswith(message)


def test_unknown_roles_are_kept() -> None:
    conversation = read({"role": "Wizard", "content": "a"}, {"role": "", "content": "b"})
    template = OllamaTemplate("{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}")
    assert template.render(**conversation.to_ollama()) == "<wizard>a<>b"
    assert [message["role"] for message in conversation.to_hf()["messages"]] == ["Wizard", ""]


def test_lone_surrogates_are_replaced() -> None:
    conversation = Conversation.read('[{"role": "user", "content": "a\\ud800b\\ud83d\\ude00", "\\udfff": 1}]')
    assert conversation.messages[0].content == "a\ufffdb😀"
    assert conversation.messages[0].extra == {"\ufffd": 1}
    assert read({"role": "user", "content": "\ud83d\ude00\udc00"}).messages[0].content == "😀\ufffd"


def test_long_message() -> None:
    content = "a ü\n" * 2_500_000
    conversation = Conversation.read(json.dumps([{"role": "user", "content": content}]))
    assert conversation.to_ollama()["messages"][0]["content"] == content
    assert conversation.to_hf()["messages"][0]["content"] == content


# --- with the real Ollama -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def openai_endpoint() -> Callable[[list[Any]], list[dict[str, Any]]]:
    """What Ollama's endpoint for OpenAI's clients makes of requests."""
    try:
        program = build_program("./openai", name="openai")
    except EngineUnavailable as reason:
        if os.environ.get("TRANSPLATE_REQUIRE_ORACLE") == "1":
            pytest.fail(f"required by TRANSPLATE_REQUIRE_ORACLE: {reason}", pytrace=False)
        pytest.skip(str(reason))

    def answers(requests: list[Any]) -> list[dict[str, Any]]:
        lines = "".join(json.dumps(request) + "\n" for request in requests)
        done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    return answers


def _random_request(rng: random.Random) -> dict[str, Any]:
    """Return a request as OpenAI's clients send it, with mistakes now and then."""
    words = ("a", "", " b\n", "ü<&>", "\u2028")

    def text() -> str:
        return rng.choice(words)

    def part() -> dict[str, Any]:
        return rng.choice(
            (
                {"type": "text", "text": text()},
                {"type": "text", "text": text()},
                {"type": "image_url", "image_url": f"data:image/jpeg;base64,{PNG}"},
                {"type": "image_url", "image_url": {"url": f"data:;base64,{PNG}"}},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk"}},
                {"type": "video", "video": "x"},
            )[: rng.choice((4, 4, 4, 7))]
        )

    def call() -> dict[str, Any]:
        arguments = rng.choice(('{"b": 1.5, "a": [null, {"x": "y"}]}', "{}", '{"a": "\\ud800"}'))
        if rng.random() < 0.05:
            arguments = rng.choice(("", "[1]", "{", '{"a": NaN}'))
        return {
            "id": rng.choice(("c1", "c2", "")),
            "type": "function",
            "function": {"name": rng.choice(("f", "g")), "arguments": arguments},
        }

    def message() -> dict[str, Any]:
        made: dict[str, Any] = {"role": rng.choice(("user", "assistant", "tool", "Tool", "system", "Ä"))}
        made["content"] = text() if rng.random() < 0.5 else [part() for _ in range(rng.randrange(1, 4))]
        if rng.random() < 0.3:
            made["tool_calls"] = [call() for _ in range(rng.randrange(1, 3))]
            if made["role"] == "assistant" and rng.random() < 0.5:
                made["content"] = None
        if rng.random() < 0.3:
            made["reasoning"] = text()
        if rng.random() < 0.3:
            made["tool_call_id"] = rng.choice(("c1", "c2", ""))
        if rng.random() < 0.2:
            made["name"] = rng.choice(("f", "Bo", ""))
        return made

    request: dict[str, Any] = {"messages": [message() for _ in range(rng.randint(1, 4))]}
    if rng.random() < 0.3:
        request["reasoning_effort"] = rng.choice(("none", "low", "medium", "high"))
    return request


def _as_decoded(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message of a request as Go writes it again once it has read it."""
    made = {key: value for key, value in message.items() if value not in ("", []) or key == "content"}
    for call in made.get("tool_calls", ()):
        call["function"] = {"index": 0} | call["function"]
    return made


def test_openai_requests_become_what_ollama_makes_of_them(
    openai_endpoint: Callable[[list[Any]], list[dict[str, Any]]],
) -> None:
    rng = random.Random(7)
    requests = [_random_request(rng) for _ in range(2_000)]
    counts = {"requests": 0, "refused": 0}
    for request, answer in zip(requests, openai_endpoint(requests), strict=True):
        try:
            ours = Conversation.read(request).to_ollama()
        except RequestError:
            counts["refused"] += 1
            assert answer.get("error"), request
            continue
        assert "error" not in answer, (request, answer)
        counts["requests"] += 1
        assert [_as_decoded(message) for message in ours["messages"]] == (answer["messages"] or []), request
        assert ours.get("think") == answer.get("think")
    assert counts["requests"] > 1_000
    assert counts["refused"] > 100


def test_requests_of_ollama_stay_what_they_are() -> None:
    """Ollama's own requests, read and written again, print the same in a template that prints everything.

    Calls have no id here, by which a result would find its name; an empty list is none, and missing
    arguments are empty.
    """
    template = OllamaTemplate(
        "{{ json .Messages }}{{ range .Messages }}{{ .Thinking }}{{ .ToolName }}{{ .ToolCallID }}{{ end }}"
        "{{ json .Tools }}"
    )
    made = Conversations(random.Random(11), lone_surrogates=True)
    compared = 0
    for _ in range(500):
        messages = made.messages()
        if not messages:
            continue
        for message in messages:
            for name in ("images", "tool_calls"):
                if message.get(name) == []:
                    del message[name]
            for call in message.get("tool_calls", ()):
                call.pop("id", None)
                call["function"].setdefault("arguments", {})
        tools = [made.tool() for _ in range(made.rng.randrange(3))]
        ours = Conversation.read({"messages": messages, "tools": tools}).to_ollama()
        assert template.render(**ours) == template.render(messages, tools or None)
        compared += 1
    assert compared > 400
