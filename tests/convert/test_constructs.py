"""Each construct of Go's templates and each assumption, converted and compared with real Ollama."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.convert.cases import Case, chat_context, make_case, meets, ollama_values
from tests.oracle.engines import Engine, MinijinjaEngine, NodeEngine, TransformersEngine
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle
from transplate import Conversation, OllamaTemplate, to_jinja
from transplate.convert.go_to_jinja.assumptions import ASSUMPTIONS, OPT_IN

NOW = datetime(2024, 3, 1, 9, 30)
CASES = [make_case(seed) for seed in range(2000, 2040)]

_TEXT = (Path(__file__).parent / "constructs.txt").read_bytes().decode()
CONSTRUCTS = {
    name: template.removesuffix("\n")
    for name, template in (block.split("\n", 1) for block in _TEXT.split("### ")[1:])
}


@pytest.fixture(scope="module")
def engines(
    transformers_engine: TransformersEngine, minijinja_engine: MinijinjaEngine, node_engine: NodeEngine
) -> list[Engine]:
    return [transformers_engine, minijinja_engine, node_engine]


def _check(source: str, oracle: GoOracle, engines: list[Engine], cases: list[Case], **options: Any) -> int:
    """Compare a template with real Ollama; return on how many conversations."""
    conversion = to_jinja(source, ollama=OLLAMA_VERSION, **options)
    thinks = "thinking" in OllamaTemplate(source).inference.abilities
    names = [assumption.name for assumption in conversion.assumptions]
    covered = [case for case in cases if meets(case, names)]
    answers = oracle.render_all(source, [ollama_values(case, thinks=thinks) for case in covered], now=NOW)
    for case, answer in zip(covered, answers, strict=True):
        for engine in engines:
            rendered = engine.render(conversion.text, chat_context(case, thinks=thinks), now=NOW)
            if answer.error is None:
                assert (rendered.error, rendered.text) == (None, answer.output.decode()), (
                    engine.name,
                    case.seed,
                )
            elif options.get("exact"):
                assert rendered.error is not None, (engine.name, case.seed, answer.error)
    return len(covered)


@pytest.mark.parametrize("source", CONSTRUCTS.values(), ids=CONSTRUCTS.keys())
def test_construct(source: str, go_oracle: GoOracle, engines: list[Engine]) -> None:
    assert _check(source, go_oracle, engines, CASES, exact=True) == len(CASES)
    assert _check(source, go_oracle, engines, CASES)


TOOLS = (
    "{{ if or .System .Tools }}<sys>{{ .System }}{{ range .Tools }}{{ . }}{{ .Function }}{{ end }}{{ end }}"
    "{{ range $i, $_ := .Messages }}<{{ .Role }}>{{ .Content }}"
    "{{ range .ToolCalls }}{{ .Function.Arguments }}{{ end }}"
    '{{ if eq (len (slice $.Messages $i)) 1 }}{{ if ne .Role "assistant" }}</end><assistant>{{ end }}'
    "{{ else }}</end>{{ end }}{{ end }}"
)


@pytest.mark.parametrize("name", [name for name in ASSUMPTIONS if name not in OPT_IN])
def test_assumption_alone(name: str, go_oracle: GoOracle, engines: list[Engine]) -> None:
    for source in (TOOLS, CONSTRUCTS["legacy"], CONSTRUCTS["index and slice"]):
        assert _check(source, go_oracle, engines, CASES, exact=True, assume=[name])


def test_without_generation_prompt_a_prefix_is_printed(transformers_engine: TransformersEngine) -> None:
    shorter = 0
    for source in (TOOLS, CONSTRUCTS["legacy"], CONSTRUCTS["legacy, cut in a branch"]):
        for exact in (True, False):
            text = to_jinja(source, exact=exact).text
            for case in CASES:
                without, with_it = (
                    transformers_engine.render(
                        text, chat_context(case, thinks=False, add_generation_prompt=wanted)
                    )
                    for wanted in (False, True)
                )
                if with_it.text is not None:
                    assert with_it.text.startswith(str(without.text))
                    shorter += with_it.text != without.text
    assert shorter


def test_a_final_assistant_message_is_continued(
    transformers_engine: TransformersEngine, go_oracle: GoOracle
) -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello, I"}]
    for exact in (True, False):
        text = to_jinja(TOOLS, exact=exact).text
        rendered = transformers_engine.apply_chat_template(
            text, messages, add_generation_prompt=False, continue_final_message=True
        )
        assert rendered.text == go_oracle.render(TOOLS, {"messages": messages}).output.decode()


@pytest.mark.parametrize("tools", [None, []])
def test_tools_none_or_empty(tools: list[Any] | None, engines: list[Engine]) -> None:
    text = to_jinja(TOOLS).text
    context = {"messages": [{"role": "user", "content": "Hi"}], "add_generation_prompt": True}
    expected = engines[0].render(text, context).text
    assert expected == "<user>Hi</end><assistant>"
    for engine in engines:
        assert engine.render(text, {**context, "tools": tools}).text == expected


def test_arguments_as_json_text(engines: list[Engine]) -> None:
    call = {"type": "function", "function": {"name": "f", "arguments": '{"b": 1}'}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    context = {"messages": [message], "add_generation_prompt": False}
    text = to_jinja(TOOLS, exact=True).text
    for engine in engines:
        assert engine.render(text, context).text == '<assistant>{"b": 1}'


def test_hf_json_prints_tools_as_the_vendor_does(engines: list[Engine]) -> None:
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}}
    context = {"messages": [{"role": "user", "content": "x"}], "tools": [tool], "add_generation_prompt": True}
    text = to_jinja(
        "{{ range .Tools }}{{ .Function }}{{ end }}{{ range .Messages }}{{ end }}", assume=["hf-json"]
    ).text
    for engine in engines:
        assert engine.render(text, context).text == '{"name": "f", "description": "d", "parameters": {}}'


@pytest.mark.parametrize("exact", [True, False])
def test_hf_json_prints_arguments_as_the_vendor_does(exact: bool, engines: list[Engine]) -> None:
    function = {"name": "f", "arguments": {"b": "x", "a": [1, True]}}
    message = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}
    context = {"messages": [message], "add_generation_prompt": False}
    source = "{{ range .Messages }}{{ range .ToolCalls }}{{ .Function.Arguments }}{{ end }}{{ end }}"
    text = to_jinja(source, exact=exact, assume=["hf-json"]).text
    for engine in engines:
        assert engine.render(text, context).text == '{"b": "x", "a": [1, true]}', engine.name


def test_bos_token_is_printed_unless_the_template_does() -> None:
    assert "bos_token" in to_jinja(TOOLS, assume=["bos-token"]).text
    assert "bos_token" not in to_jinja(f"<s>{TOOLS}", assume=["bos-token"]).text


def test_a_tool_call_that_is_no_json_is_completed_only_when_asked_for() -> None:
    source = '{{ range .Messages }}{{ range .ToolCalls }}{"name":"{{ .Function.Name }}"{{ end }}{{ end }}'
    plain, completed = to_jinja(source), to_jinja(source, assume=["llama-server"])
    assert any("llama-server" in loss.message for loss in plain.losses)
    assert "~ '\"}'" in completed.text
    assert "llama-server" in {assumption.name for assumption in completed.assumptions}


def test_which_conversations_are_covered() -> None:
    conversion = to_jinja(TOOLS)
    assert conversion.covers(Conversation.read([{"role": "user", "content": "Hi"}]))
    for role in ("user", "system"):
        twice = [
            {"role": role, "content": "a"},
            {"role": "user", "content": "b"},
            {"role": role, "content": "c"},
        ]
        assert conversion.covers(Conversation.read(twice[1:])) is False
    assert to_jinja(TOOLS, exact=True).covers(Conversation.read(twice))


PARTS = [
    {"type": "image"},
    {"type": "text", "text": "What?"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
]


@pytest.mark.parametrize("source", [TOOLS, CONSTRUCTS["legacy"]])
def test_images_are_numbered_where_ollama_puts_their_tags(
    source: str, go_oracle: GoOracle, engines: list[Engine], older_minijinja_engine: Engine
) -> None:
    conversation = Conversation.read(
        [
            {"role": "system", "content": "x"},
            {"role": "user", "content": [{**PARTS[0], "base64": "AA=="}, *PARTS[1:]]},
            {"role": "assistant", "content": "y"},
            {"role": "user", "content": PARTS[1:]},
        ]
    )
    text = to_jinja(source, exact=True).text
    context = {**conversation.to_hf(), "add_generation_prompt": True}
    expected = go_oracle.render(source, {"messages": _tagged(conversation)}).output.decode()
    assert "[img-0]\n\nWhat?\n\n[img-1]" in expected
    assert "What?\n\n[img-2]" in expected
    for engine in (*engines, older_minijinja_engine):
        rendered = engine.render(text, {"messages": context["messages"], "add_generation_prompt": True})
        assert (rendered.error, rendered.text) == (None, expected), engine.name


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": ""}])
def test_a_message_without_content_is_one_of_no_text(
    content: dict[str, Any], go_oracle: GoOracle, engines: list[Engine], older_minijinja_engine: Engine
) -> None:
    calls = [{"type": "function", "function": {"name": "f", "arguments": {}}}]
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", **content, "tool_calls": calls}]
    for source in (TOOLS, CONSTRUCTS["legacy"]):
        answer = go_oracle.render(source, {"messages": [messages[0], {**messages[1], "content": ""}]})
        text = to_jinja(source, exact=True).text
        for engine in (*engines, older_minijinja_engine):
            rendered = engine.render(text, {"messages": messages, "add_generation_prompt": False})
            assert (rendered.error, rendered.text) == (None, answer.output.decode()), engine.name


REASONING = (
    "{{ range .Messages }}<{{ .Role }}>{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}"
    "{{ .Content }}{{ .ToolName }}{{ .ToolCallID }}{{ end }}"
)


@pytest.mark.parametrize(
    ("hosts", "ollamas"),
    [
        ({"reasoning_content": "Hm."}, {"thinking": "Hm."}),
        ({"thinking": "Hm."}, {"thinking": "Hm."}),
        ({"reasoning_content": "Hm.", "thinking": "Hm."}, {"thinking": "Hm."}),
        ({"reasoning_content": None}, {}),
        ({"role": "tool", "name": "f", "tool_call_id": "1"}, {"tool_name": "f", "tool_call_id": "1"}),
        ({"role": "tool", "tool_name": "f"}, {"tool_name": "f"}),
        ({"role": "tool", "name": None, "tool_call_id": None}, {}),
    ],
)
def test_names_that_hosts_give_to_fields(
    hosts: dict[str, Any],
    ollamas: dict[str, Any],
    go_oracle: GoOracle,
    engines: list[Engine],
    older_minijinja_engine: Engine,
) -> None:
    beside = {"role": hosts.get("role", "assistant"), "content": "x"}
    messages = [{"role": "user", "content": "Hi"}]
    wanted = go_oracle.render(REASONING, {"messages": [*messages, beside | ollamas]}).output.decode()
    context = {"messages": [*messages, beside | hosts], "add_generation_prompt": False}
    # The default form reads the one name of the two that every host gives.
    is_usual = not hosts.keys() & {"thinking", "tool_name"} or hosts.keys() & {"reasoning_content", "name"}
    for exact in (True, False) if is_usual else (True,):
        text = to_jinja(REASONING, exact=exact).text
        for engine in (*engines, older_minijinja_engine):
            rendered = engine.render(text, context)
            assert (rendered.error, rendered.text) == (None, wanted), (engine.name, exact)


def test_the_bos_token_in_all_engines(engines: list[Engine], older_minijinja_engine: Engine) -> None:
    text = to_jinja(TOOLS, assume=["bos-token"]).text
    context = {
        "messages": [{"role": "user", "content": "x"}],
        "bos_token": "<s>",
        "add_generation_prompt": False,
    }
    for engine in (*engines, older_minijinja_engine):
        assert engine.render(text, context).text == "<s><user>x</end>", engine.name


def _tagged(conversation: Conversation) -> list[dict[str, Any]]:
    """Return messages as Ollama's server gives them to a template: an image is a tag in the text."""
    messages: list[dict[str, Any]] = []
    number = 0
    for message in conversation.to_ollama()["messages"]:
        tag = ""
        if message.get("images"):
            tag = f"[img-{number}]"
            number += 1
        messages.append({"role": message["role"], "content": tag + message["content"]})
    return messages
