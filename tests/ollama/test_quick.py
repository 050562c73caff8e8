"""The quick reading of ordinary requests gives what the careful reading gives, or leaves it to that.

A tuple of messages, and JSON text as bytes, are always read carefully.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from transplate import Limits, OllamaTemplate
from transplate.errors import TransplateError
from transplate.ollama.quick import quick_messages

SOURCES = (
    "{{ .System }}|{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ .Thinking }}{{ .ToolName }}"
    "{{ .ToolCallID }}{{ range .ToolCalls }}{{ .ID }}{{ .Function.Index }}{{ .Function.Name }}"
    "{{ .Function.Arguments }}{{ json .Function.Arguments }}{{ range $k, $v := .Function.Arguments }}"
    "{{ $k }}={{ $v }}{{ end }}{{ end }}{{ end }}{{ .Tools }}{{ .Think }}{{ .ThinkLevel }}",
    "{{ range .Messages }}{{ json . }}{{ end }}{{ json .Tools }}<t>{{ range .Messages }}a{{ .Thinking }}b"
    "{{ end }}{{ range .Tools }}{{ .Function.Name }}{{ range $k, $p := .Function.Parameters.Properties }}"
    "{{ $k }}{{ $p.Type }}{{ $p.Description }}{{ json $p }}{{ end }}{{ end }}",
    "[{{ .System }}|{{ .Prompt }}|{{ .Response }}]",
    # of each message no more is read than the template names
    "{{ range .Messages }}{{ .Role }}:{{ .Content }};{{ end }}",
    "{{ .System }}{{ range $i, $m := .Messages }}{{ if eq (len (slice $.Messages $i)) 1 }}!{{ end }}"
    "{{ $m.Content }}{{ end }}{{ with .Tools }}{{ . }}{{ end }}",
    "{{ range .Messages }}{{ with .Thinking }}<think>{{ . }}</think>{{ end }}{{ .Content }}{{ end }}",
    "{{ range .Messages }}{{ range .ToolCalls }}{{ .Function.Name }}{{ .ID }},{{ end }}{{ end }}{{ .Tools }}",
    # more than one loop, some of which do not come to all messages
    "{{ $last := 0 }}{{ range $i, $m := .Messages }}{{ if eq .Role `user` }}{{ $last = $i }}{{ end }}"
    "{{ end }}{{ range $i, $m := .Messages }}{{ if gt $i $last }}{{ .Thinking }}{{ end }}{{ .Content }}"
    "{{ end }}",
    "{{ range .Messages }}{{ .Role }}{{ break }}{{ end }}{{ .System }}",
    "{{ range .Messages }}{{ if eq .Role `tool` }}{{ break }}{{ end }}{{ .Role }}{{ end }}"
    "{{ if .System }}{{ range .Messages }}{{ .Content }}{{ end }}{{ end }}",
    "{{ range .Messages }}{{ range $.Messages }}{{ if eq .Role `user` }}{{ break }}{{ end }}{{ .Content }}"
    "{{ end }}{{ .Role }}{{ end }}",
    "{{ if and .Messages .System }}{{ range .Messages }}{{ .Content }}{{ end }}{{ else }}{{ .System }}"
    "{{ end }}",
    # messages outside of the loop over all of them
    '{{ $kept := "" }}{{ range .Messages }}{{ $kept = . }}{{ .Content }}{{ end }}{{ $kept.Role }}',
    "{{ range .Messages }}{{ $m := . }}{{ $m.Role }}{{ $m.Content }}{{ end }}",
    "{{ (index .Messages 0).Role }}{{ range slice .Messages 1 }}{{ .Content }}{{ end }}{{ len .Messages }}",
    "{{ $all := .Messages }}{{ range $all }}{{ with . }}{{ .Content }}{{ end }}{{ end }}{{ .System }}",
    '{{ define "m" }}<{{ .Role }}{{ .Content }}>{{ end }}{{ range .Messages }}{{ template "m" . }}{{ end }}',
    # errors that depend on the conversation
    "{{ range .Messages }}{{ slice .Content 0 2 }}{{ .Content.Nope }}{{ end }}",
    "{{ range .Messages }}{{ slice .Content 0 2 }}{{ end }}",
    "{{ if .System }}S{{ .System }}{{ end }}{{ if .Prompt }}P{{ .Prompt }}{{ end }}<think></think>",
    "{{ .Prompt }}{{ slice .Prompt 0 2 }}{{ .Response }}{{ .System }}",
)
TEMPLATES = [OllamaTemplate(source, ollama=version) for source in SOURCES for version in ("0.17.4", "0.33.0")]


class Text(str):
    """A text of the caller's own class, which Python prints otherwise than it is."""

    __slots__ = ()

    def __str__(self) -> str:
        return "printed"

    def __format__(self, _: str) -> str:
        return "formatted"


class Record(dict[str, Any]):
    """An object of the caller's own class, which has other entries than it has."""

    def __getitem__(self, _: str) -> Any:
        return "other"


TEXTS = [
    "",
    Text("own"),
    "a",
    "é",
    "\ud800",
    "\u2028",
    "x" * 50,
    "USER",
    "<&>",
    'say ":" : -0',
    None,
    5,
    True,
    ["a"],
    {},
]
NUMBERS = [
    0,
    -0.0,
    1,
    1.5,
    5.0,
    2**53,
    2**53 + 1,
    -(2**70),
    1e21,
    1e-7,
    True,
    None,
    "3",
    float("nan"),
    10**400,
]
ROLES = [
    "user",
    "assistant",
    "system",
    "tool",
    "ipython",
    Text("user"),
    "User",
    "",
    "wizard",
    "é",
    "İ",
    5,
    None,
    " user",
]


def chosen(rng: Random, options: list[Any], usual: Any) -> Any:
    """Return the usual value mostly, else any of the options."""
    return usual if rng.random() < 0.85 else rng.choice(options)


def data(rng: Random, depth: int = 0) -> Any:
    kind = rng.random()
    if kind < 0.3 or depth > 3:
        return chosen(rng, TEXTS, "text")
    if kind < 0.6:
        return chosen(rng, NUMBERS, 3)
    if kind < 0.7:
        return [data(rng, depth + 1) for _ in range(rng.randrange(3))]
    return {chosen(rng, ["é", "\ud800", "", "b"], "a"): data(rng, depth + 1) for _ in range(rng.randrange(3))}


def call(rng: Random) -> Any:
    function = {"name": chosen(rng, TEXTS, "f"), "arguments": chosen(rng, [None, [], "{}"], {"a": data(rng)})}
    if rng.random() < 0.2:
        function["index"] = chosen(rng, NUMBERS, 2)
    if rng.random() < 0.05:
        function["Name"] = "other"
    made = {"function": chosen(rng, [None, []], function)}
    if rng.random() < 0.3:
        made["id"] = chosen(rng, TEXTS, "1")
    if rng.random() < 0.3:
        made["type"] = chosen(rng, TEXTS, "function")
    return made


def message(rng: Random) -> Any:
    made = {"role": chosen(rng, ROLES, rng.choice(ROLES[:4])), "content": chosen(rng, TEXTS, "hi")}
    if rng.random() < 0.1:
        del made[rng.choice(["role", "content"])]
    for key in ("thinking", "tool_name", "tool_call_id"):
        if rng.random() < 0.15:
            made[key] = chosen(rng, TEXTS, "t")
    if rng.random() < 0.3:
        made["tool_calls"] = chosen(rng, [None, {}, "x"], [call(rng) for _ in range(rng.randrange(3))])
    if rng.random() < 0.03:
        made[rng.choice(["Role", "CONTENT", "images", "name", "ſ"])] = rng.choice(TEXTS)
    if rng.random() < 0.02:
        made = Record(made)
    return chosen(rng, [None, [], "x"], made) if rng.random() < 0.05 else made


def tool(rng: Random) -> Any:
    kind = {"type": chosen(rng, [["a", "b"], [], None, 5], "string"), "description": chosen(rng, TEXTS, "d")}
    if rng.random() < 0.2:
        kind[rng.choice(["enum", "items", "properties", "required", "anyOf", "default"])] = data(rng)
    parameters = {
        "type": "object",
        "properties": {"p": kind, "a": {}},
        "required": chosen(rng, [None, "p"], ["p"]),
    }
    function = {"name": chosen(rng, TEXTS, "f"), "parameters": chosen(rng, [None, []], parameters)}
    return chosen(rng, [None, "x"], {"type": "function", "function": function})


def answer(render: Callable[[], str]) -> tuple[str, str]:
    try:
        return "prompt", render()
    except TransplateError as error:
        return type(error).__name__, error.message


@pytest.mark.parametrize("seed", range(4))
def test_quick_and_careful_agree(seed: int) -> None:
    rng = Random(seed)
    prompts = quick = 0
    for _ in range(1500):
        template = rng.choice(TEMPLATES)
        messages = [message(rng) for _ in range(rng.randrange(5))]
        if messages and rng.random() < 0.1:
            messages.append(rng.choice(messages))
        tools = chosen(rng, [[]], [tool(rng) for _ in range(2)]) if rng.random() < 0.3 else None
        more: dict[str, Any] = {}
        if rng.random() < 0.3:
            more["system"] = chosen(rng, TEXTS, "be")
        if rng.random() < 0.3:
            more["think"] = rng.choice([True, False, "low", "max", "x", 1])
        wanted = answer(lambda: template.render(tuple(messages), tools, **more))  # noqa: B023
        assert answer(lambda: template.render(messages, tools, **more)) == wanted  # noqa: B023
        quick += quick_messages(messages) is not None
        prompts += wanted[0] == "prompt"
        body = {"messages": messages, "tools": tools, "think": more.get("think")}
        text = json.dumps(body, ensure_ascii=rng.random() < 0.5)
        system = more.get("system")
        raw = text.encode("utf-8", "replace")
        text = raw.decode()
        wanted = answer(lambda: template.render_request(raw, system=system))  # noqa: B023
        assert answer(lambda: template.render_request(text, system=system)) == wanted  # noqa: B023
    assert quick > 200
    assert prompts > 200


ODD_TEXTS = {
    "repeated key": '{"messages": [{"role": "user", "content": "a", "content": "b"}]}',
    "repeated messages": '{"messages": [{"role": "user", "content": "a"}], "messages": [{"role": "user"}]}',
    "repeated argument": '{"messages": [{"role": "assistant", "content": "", "tool_calls": [{"function":'
    ' {"name": "f", "arguments": {"a": {"b": 1, "b": 2}, "a": 1}}}]}]}',
    "repeated and hidden by a text": '{"messages": [{"role": "user", "content": "\\":", "content" : "b"}]}',
    "negative zero": '{"messages": [{"role": "assistant", "content": "", "tool_calls": [{"function":'
    ' {"name": "f", "arguments": {"a": [-0, -0.0, -0e1]}}}]}]}',
    "keys in other case": '{"MESSAGES": [{"role": "user", "content": "a"}], "messages": [{"role": "user"}]}',
    "number beyond float64": '{"messages": [{"role": "user", "content": "a", "x": 1e999}]}',
    "stream that is no bool": '{"messages": [{"role": "user", "content": "a"}], "stream": "yes"}',
    "not a number": '{"messages": [{"role": "user", "content": "a", "x": NaN}]}',
    "half a character": '{"messages": [{"role": "user", "content": "\\ud800"}]}',
    "empty roles": '{"messages": [{"role": "", "content": "a"}, {"role": "", "content": "b"},'
    ' {"role": "user", "content": "c"}]}',
    "no content": '{"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f",'
    ' "arguments": {}}}]}]}',
}


ORDINARY = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where?", "thinking": "é"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": {"a": 1, "b": [2.5, {}]}}},
            {"function": {"index": 3, "name": "g", "arguments": {"c": {"d": None, "e": True}}}},
        ],
    },
    {"role": "tool", "content": "<>", "tool_name": "f", "tool_call_id": "1"},
    {"role": "tool", "content": "here", "tool_name": "g"},
    {"role": "user", "content": "Thanks"},
]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each place in JSON data as the container and the key or index."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        yield value, key
        if isinstance(item, dict | list):
            yield from places(item)


ODD_VALUES = [None, 5, 2.5, True, "x", "\ud800", [], {}, ["x"], {5: "x"}, (), b"x", Text("own"), Record(a=1)]


@pytest.mark.parametrize("source", SOURCES)
def test_an_odd_value_in_every_place(source: str) -> None:
    template = OllamaTemplate(source)
    render = template._execution.quick_chat(template.inference)
    needs_whole_messages = (
        "json . ",
        "define",
        "$kept = .",
        "$m := . ",
        "index",
        ".Nope",
        "range $.Messages",
    )
    assert (render is None) == any(mark in source for mark in needs_whole_messages)
    for number in range(len(list(places(ORDINARY)))):
        for value in ODD_VALUES:
            messages = copy.deepcopy(ORDINARY)
            container, key = list(places(messages))[number]
            container[key] = value
            wanted = answer(lambda: template.render(tuple(messages)))  # noqa: B023
            assert answer(lambda: template.render(messages)) == wanted  # noqa: B023
        messages = copy.deepcopy(ORDINARY)
        container, key = list(places(messages))[number]
        if isinstance(container, dict):
            del container[key]
            container[5] = 5
            wanted = answer(lambda: template.render(tuple(messages)))  # noqa: B023
            assert answer(lambda: template.render(messages)) == wanted  # noqa: B023
            del container[5]
        else:
            container.insert(key, copy.deepcopy(container[key]))
        wanted = answer(lambda: template.render(tuple(messages)))  # noqa: B023
        assert answer(lambda: template.render(messages)) == wanted  # noqa: B023


@pytest.mark.parametrize("limits", [Limits(output=20), Limits(output=60), Limits(steps=2)])
def test_limits(limits: Limits) -> None:
    broken = [*ORDINARY, {"role": "user", "content": 5}]
    for source in SOURCES:
        template = OllamaTemplate(source, limits=limits)
        for messages in (ORDINARY, ORDINARY[1:], ORDINARY[:2], broken):
            wanted = answer(lambda: template.render(tuple(messages)))  # noqa: B023
            assert answer(lambda: template.render(messages)) == wanted  # noqa: B023


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_odd_texts(text: str) -> None:
    for template in TEMPLATES:
        wanted = answer(lambda: template.render_request(text.encode()))  # noqa: B023
        assert answer(lambda: template.render_request(text)) == wanted  # noqa: B023
