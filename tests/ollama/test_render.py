"""What the server puts around a template: system prompt, history, image tags, thinking, refusals.

The expected prompts are those of a real Ollama server, v0.17.4, asked with ``_debug_render_only``.
"""

from __future__ import annotations

import json
import threading
from datetime import date, datetime
from typing import Any

import pytest

from transplate import Limits, OllamaTemplate, RequestError, TemplateExecutionError, Values
from transplate.errors import ErrorKind

ECHO = (
    "S={{ .System }};{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }};T={{ .Tools }}"
    ";{{ .Think }},{{ .ThinkLevel }},{{ .IsThinkSet }};{{ if .Suffix }}{{ .Prompt }}{{ .Suffix }}{{ end }}"
)
"""Shows all that a template gets, and has the abilities tools and insert."""
THINKING = "{{ range .Messages }}<t>{{ .Thinking }}</t>{{ end }}" + ECHO
LEGACY = "[{{ .System }}|{{ .Prompt }}|{{ .Response }}]"
USER = [{"role": "user", "content": "hi"}]
TOOL = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
TOOL_TEXT = (
    '[{"type":"function","function":{"name":"f","description":"",'
    '"parameters":{"type":"object","properties":{}}}}]'
)

PROMPTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "chat": (ECHO, {"messages": USER}, "S=;<user>hi;T=null;false,,false;"),
    "tools": (ECHO, {"messages": USER, "tools": TOOL}, f"S=;<user>hi;T={TOOL_TEXT};false,,false;"),
    "no tools": (ECHO, {"messages": USER, "tools": []}, "S=;<user>hi;T=[];false,,false;"),
    "system": (
        ECHO,
        {"messages": USER, "system": "be"},
        "S=be;<system>be<user>hi;T=null;false,,false;",
    ),
    "system, and a system message first": (
        ECHO,
        {"messages": [{"role": "System", "content": "own"}, *USER], "system": "be"},
        "S=own;<system>own<user>hi;T=null;false,,false;",
    ),
    "system, and a system message later": (
        ECHO,
        {"messages": [*USER, {"role": "system", "content": "own"}], "system": "be"},
        "S=be\n\nown;<system>be<user>hi<system>own;T=null;false,,false;",
    ),
    "empty system": (ECHO, {"messages": USER, "system": ""}, "S=;<user>hi;T=null;false,,false;"),
    "think false": (ECHO, {"messages": USER, "think": False}, "S=;<user>hi;T=null;false,,true;"),
    "thinking by default": (
        THINKING,
        {"messages": USER},
        "<t></t>S=;<user>hi;T=null;true,medium,true;",
    ),
    "thinking asked for": (
        THINKING,
        {"messages": USER, "think": True},
        "<t></t>S=;<user>hi;T=null;true,medium,true;",
    ),
    "thinking declined": (
        THINKING,
        {"messages": USER, "think": False},
        "<t></t>S=;<user>hi;T=null;false,,true;",
    ),
    "thinking at a level": (
        THINKING,
        {"messages": USER, "think": "low"},
        "<t></t>S=;<user>hi;T=null;true,low,true;",
    ),
    "image tags": (
        ECHO,
        {
            "messages": [
                {"role": "user", "content": "a[img]b[img]c", "images": ["aGk=", "aGk=", "aGk="]},
                {"role": "assistant", "content": "[img]"},
                {"role": "user", "content": "d", "images": ["aGk=", "aGk="]},
            ]
        },
        "S=;<user>[img-2]a[img-0]b[img-1]c<assistant>[img]<user>[img-3][img-4]d;T=null;false,,false;",
    ),
    "image tags and joining": (
        ECHO,
        {
            "messages": [
                {"role": "user", "content": "a", "images": ["aGk="]},
                {"role": "user", "content": "b", "images": ["aGk="]},
            ]
        },
        "S=;<user>[img-0]a\n\n[img-1]b;T=null;false,,false;",
    ),
    "prefill": (
        LEGACY,
        {"messages": [*USER, {"role": "assistant", "content": "so"}]},
        "[|hi|so",
    ),
    "generate": (ECHO, {"messages": [], "prompt": "p"}, "S=;<user>p;T=[];false,,false;"),
    "generate with a system prompt": (
        ECHO,
        {"messages": [], "prompt": "p", "system": "be"},
        "S=be;<system>be<user>p;T=[];false,,false;",
    ),
    "generate with history": (
        ECHO,
        {"messages": [*USER, {"role": "assistant", "content": "yes"}], "prompt": "p", "system": "be"},
        "S=be;<system>be<user>hi<assistant>yes<user>p;T=[];false,,false;",
    ),
    "generate, legacy": (LEGACY, {"messages": [], "prompt": "p", "system": "be"}, "[be|p|"),
    "suffix": (
        ECHO,
        {"messages": [], "prompt": "p", "suffix": "s"},
        "S=<no value>;;T=<no value>;false,,false;ps",
    ),
    "suffix and system": (
        ECHO,
        {"messages": [], "prompt": "p", "suffix": "s", "system": "be", "think": False},
        "S=<no value>;;T=<no value>;false,,true;ps",
    ),
}


@pytest.mark.parametrize(("source", "arguments", "prompt"), PROMPTS.values(), ids=PROMPTS)
def test_prompt(source: str, arguments: dict[str, Any], prompt: str) -> None:
    template = OllamaTemplate(source, ollama="0.17.4")
    assert template.render(**arguments) == prompt
    assert template.render_bytes(**arguments) == prompt.encode()


@pytest.mark.parametrize(("source", "arguments", "prompt"), PROMPTS.values(), ids=PROMPTS)
def test_body(source: str, arguments: dict[str, Any], prompt: str) -> None:
    body = dict(arguments)
    system = body.pop("system", None)
    if body.get("prompt"):
        if body.pop("messages"):
            pytest.skip("the history is in the Modelfile")
        body["system"] = system or ""
        system = "the Modelfile's" if system else None
    template = OllamaTemplate(source, ollama="0.17.4")
    assert template.render_request(body, system=system) == prompt
    assert template.render_request(json.dumps(body), system=system) == prompt


PLAIN = "{{ range .Messages }}{{ .Content }}{{ end }}"
REFUSALS: dict[str, tuple[str, dict[str, Any], str]] = {
    "tools": (PLAIN, {"messages": USER, "tools": TOOL}, "tools: the template does not support tools"),
    "thinking": (PLAIN, {"messages": USER, "think": True}, "think: the template does not support thinking"),
    "level": (PLAIN, {"messages": USER, "think": "low"}, "think: the template does not support thinking"),
    "bad level": (
        PLAIN,
        {"messages": USER, "think": "lots"},
        'invalid think value: "lots" (must be "high", "medium", "low", "max", true, or false)',
    ),
    "suffix": (
        PLAIN,
        {"messages": [], "prompt": "p", "suffix": "s"},
        "suffix: the template does not support insert",
    ),
    "no messages": (PLAIN, {"messages": []}, "messages: there are none, for which Ollama builds no prompt"),
    "no prompt": (
        PLAIN + "{{ .Suffix }}",
        {"messages": [], "suffix": "s"},
        "prompt: is empty, for which Ollama builds no prompt",
    ),
    "system": (PLAIN, {"messages": USER, "system": 5}, "system: must be a string, not a number"),
    "prompt": (PLAIN, {"messages": USER, "prompt": [1]}, "prompt: must be a string, not a list"),
}


@pytest.mark.parametrize(("source", "arguments", "message"), REFUSALS.values(), ids=REFUSALS)
def test_refusal(source: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError) as caught:
        OllamaTemplate(source).render(**arguments)
    assert caught.value.message == message


def test_an_empty_tool_list_asks_for_no_ability() -> None:
    assert OllamaTemplate(PLAIN).render(USER, []) == "hi"


def test_levels_follow_the_version() -> None:
    assert ";true,max,true;" in OllamaTemplate(THINKING).render(USER, think="max")
    with pytest.raises(RequestError, match='invalid think value: "max"'):
        OllamaTemplate(THINKING, ollama="0.17.4").render(USER, think="max")


@pytest.mark.parametrize("now", [datetime(2024, 3, 1, 0, 0), date(2024, 3, 1)])
def test_the_clock_can_be_set(now: date) -> None:
    template = OllamaTemplate("{{ currentDate }} {{ yesterdayDate }}{{ .Messages }}")
    assert template.render(USER, now=now).startswith("2024-03-01 2024-02-29[")
    assert template.execute(Values(), now=now) == "2024-03-01 2024-02-29[]"
    assert not template.render(USER).startswith("2024-03-01")
    assert template.execute(Values(), now=date.min) == "0001-01-01 0000-12-31[]"


def test_threads_may_share_a_template() -> None:
    template = OllamaTemplate("{{ range .Messages }}{{ .Content }}{{ end }}{{ currentDate }}")
    results: dict[int, set[str]] = {}

    def work(number: int) -> None:
        messages = [{"role": "user", "content": str(number)}]
        results[number] = {template.render(messages, now=date(2000 + number, 1, 1)) for _ in range(200)}

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: {f"{number}{2000 + number}-01-01"} for number in range(8)}


def test_invalid_bytes() -> None:
    template = OllamaTemplate("{{ range .Messages }}{{ slice .Content 0 1 }}{{ end }}")
    messages = [{"role": "user", "content": "é"}]
    assert template.render(messages) == "\ufffd"
    assert template.render_bytes(messages) == b"\xc3"
    assert template.execute_bytes(Values(messages)) == b"\xc3"


def test_bytes_of_turns_come_together() -> None:
    """A character may be cut in two by the end of a turn."""
    template = OllamaTemplate('{{ if .Response }}{{ "\\xc3" }}{{ else }}{{ "\\xa9" }}{{ end }}')
    messages = [*USER, {"role": "assistant", "content": "x"}, *USER]
    assert template.render(messages) == "é"


def test_output_before_an_error() -> None:
    with pytest.raises(TemplateExecutionError) as caught:
        OllamaTemplate('{{ range .Messages }}a{{ "\\xff" }}{{ len 1 }}{{ end }}').render(USER)
    assert caught.value.output == "a\ufffd"
    assert (caught.value.line, caught.value.column) == (1, 38)
    with pytest.raises(TemplateExecutionError) as caught:
        OllamaTemplate("{{ .Prompt }}{{ len 1 }}").render(USER)
    assert caught.value.output == ""


def test_a_panic_of_ollama_is_told_as_one() -> None:
    with pytest.raises(TemplateExecutionError) as caught:
        OllamaTemplate("{{ if .Prompt }}{{ .Response }}{{ else }}{{ end }}").render(USER)
    assert caught.value.kind is ErrorKind.PANIC
    assert caught.value.message == "interface conversion: parse.Node is nil, not *parse.ListNode"


def test_turns_together_are_bounded() -> None:
    template = OllamaTemplate("{{ .Prompt }}{{ .Response }}", limits=Limits(output=1000))
    turn = [{"role": "user", "content": "x" * 300}, {"role": "assistant", "content": "y" * 300}]
    assert len(template.render(turn)) == 600
    with pytest.raises(TemplateExecutionError, match="output") as caught:
        template.render(turn * 3)
    assert caught.value.kind is ErrorKind.LIMIT


def test_a_long_message_and_many_messages() -> None:
    template = OllamaTemplate(PLAIN)
    assert template.render([{"role": "user", "content": "é" * 5_000_000}]) == "é" * 5_000_000
    messages = [{"role": ("user", "assistant")[number % 2], "content": "x"} for number in range(20_000)]
    assert template.render(messages) == "x" * 20_000
    assert template.render([{"role": "user", "content": "x"}] * 20_000) == "\n\n".join("x" * 20_000)
