"""Requests from Python data and JSON text: what is refused, how it is named, and that nothing is shared."""

from __future__ import annotations

import copy
import enum
import json
from collections import OrderedDict
from datetime import date
from typing import Any

import pytest

from tests.ollama.cases import DUMP
from transplate import OllamaTemplate, RequestError, Values
from transplate.ollama.request import read_messages, read_request, read_think, read_tools
from transplate.ollama.versions import NEWEST, behaviour_of, parse_version

NEWEST_BEHAVIOUR = behaviour_of(parse_version(NEWEST))
OLD_BEHAVIOUR = behaviour_of(parse_version("0.17.4"))


def call(arguments: object) -> list[dict[str, Any]]:
    return [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}]


def tool(**property_: object) -> list[dict[str, Any]]:
    return [{"function": {"parameters": {"properties": {"p": property_}}}}]


ARGUMENTS = "messages[0].tool_calls[0].function.arguments"
BAD_MESSAGES = {
    "number": ([{"content": 5}], "messages[0].content: must be a string, not a number"),
    "second message": ([{}, {"role": True}], "messages[1].role: must be a string, not true"),
    "parts": (
        [{"role": "user", "content": [{"type": "text", "text": "x"}]}],
        "messages[0].content: must be a string, not a list",
    ),
    "no list": ({"role": "user"}, "messages: must be a list, not an object"),
    "no object": (["hi"], "messages[0]: must be an object, not a string"),
    "arguments as text": (call("{}"), f"{ARGUMENTS}: must be an object, not a string"),
    "arguments as list": (call([]), f"{ARGUMENTS}: must be an object, not a list"),
    "half a character in a key": (call({"\ud800": 1}), f"{ARGUMENTS}: has a key that is not valid Unicode"),
    "key that is no text": (call({1: 1}), f"{ARGUMENTS}: has a key that is no string but a number"),
    "inner key that is no text": (
        call({"a": {None: 1}}),
        f"{ARGUMENTS}.a: has a key that is no string but null",
    ),
    "not a number": (
        call({"a": [1, float("nan")]}),
        f"{ARGUMENTS}.a[1]: is no number that JSON and a float64 can hold",
    ),
    "infinity": (
        call({"a": float("inf")}),
        f"{ARGUMENTS}.a: is no number that JSON and a float64 can hold",
    ),
    "too large": (call({"a": 10**400}), f"{ARGUMENTS}.a: is no number that JSON and a float64 can hold"),
    "bytes": (call({"a": b"x"}), f"{ARGUMENTS}.a: is no JSON data but a Python bytes"),
    "set": (call({"a": {1}}), f"{ARGUMENTS}.a: is no JSON data but a Python set"),
    "object": (call({"a": {"b": object()}}), f"{ARGUMENTS}.a.b: is no JSON data but a Python object"),
    "date in a key that is ignored": (
        [{"role": "user", "sent": [{"at": date(2024, 1, 1)}]}],
        "messages[0].sent.at: is no JSON data but a Python date",
    ),
    "image bytes": (
        [{"images": [b"x"]}],
        "messages[0].images[0]: must be a base64 string, not a Python bytes",
    ),
    "image text": ([{"images": ["aGk"]}], "messages[0].images[0]: must be standard base64 with padding"),
    "index": (
        [{"tool_calls": [{"function": {"index": 1.5}}]}],
        "messages[0].tool_calls[0].function.index: must be an integer, 1.0, 1e3 and fractions are none",
    ),
}
BAD_TOOLS = {
    "text": (["a"], "tools[0]: must be an object, not a string"),
    "function": ([{"function": "f"}], "tools[0].function: must be an object, not a string"),
    "required": (
        [{"function": {"parameters": {"required": "a"}}}],
        "tools[0].function.parameters.required: must be a list, not a string",
    ),
    "type": (
        tool(type=1),
        "tools[0].function.parameters.properties.p.type: must be a string or a list of strings, not a number",
    ),
    "inner type": (
        tool(type=["a", 1]),
        "tools[0].function.parameters.properties.p.type[1]: must be a string, not a number",
    ),
    "any of": (
        tool(anyOf=[{}, {"description": 1}]),
        "tools[0].function.parameters.properties.p.anyOf[1].description: must be a string, not a number",
    ),
}


@pytest.mark.parametrize(("messages", "message"), BAD_MESSAGES.values(), ids=BAD_MESSAGES)
def test_bad_message_is_named(messages: Any, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_messages(messages)
    assert caught.value.message == message


@pytest.mark.parametrize(("tools", "message"), BAD_TOOLS.values(), ids=BAD_TOOLS)
def test_bad_tool_is_named(tools: Any, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_tools(tools)
    assert caught.value.message == message


class Role(str, enum.Enum):  # noqa: UP042 - as people had it before StrEnum
    USER = "user"


def test_subclasses_are_read_as_what_they_are() -> None:
    class Text(str):
        __slots__ = ()

        def lower(self) -> str:
            return "never called"

    class Number(int):
        def __float__(self) -> float:
            return 0.5

    messages = [
        OrderedDict(role=Role.USER, content=Text("Hi")),
        {"role": Text("USER"), "tool_calls": ({"function": {"arguments": {Text("a"): (Number(3), True)}}},)},
    ]
    first, second = read_messages(messages)
    assert first == ("user", "Hi", "", None, None, "", "")
    assert second[0] == "user"
    assert second[4] is not None
    assert json.dumps(second[4][0]).endswith('{"a": [3.0, true]}]]')
    assert type(first[0]) is type(first[1]) is str


def test_nothing_is_changed_or_shared() -> None:
    request = {
        "messages": [
            {"role": "USER", "content": "a\ud800"},
            {"role": "user", "content": "b", "images": ["aGk="]},
            *call({"a": [1, {"b": 2}]}),
        ],
        "tools": tool(enum=[1, [2]], items={"x": [3]}, required=["q"]),
    }
    before = copy.deepcopy(request)
    values = Values(**request)
    template = OllamaTemplate(DUMP)
    first = template.execute(values)
    assert request == before
    _spoil(request)
    assert template.execute(values) == first
    assert OllamaTemplate(DUMP, ollama="0.17.4").execute(values) != first


def _spoil(value: Any) -> None:
    """Change everything inside of lists and dicts."""
    for item in list(value.values() if isinstance(value, dict) else value):
        if isinstance(item, dict | list):
            _spoil(item)
    value.clear()


def test_deep_nesting_is_refused_or_read() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RequestError, match="nested too deeply"):
        read_messages(call({"a": deep}))
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    with pytest.raises(RequestError, match="nested too deeply"):
        read_messages(call({"a": cyclic}))
    with pytest.raises(RequestError, match="nested too deeply"):
        read_messages("[" * 100_000)


BAD_TEXTS = {
    "nothing": ("", 1, 1),
    "cut off": ('[{"role": "user"', 1, 17),
    "comment": ("[] // x", 1, 4),
    "single quotes": ("[{'role': 1}]", 1, 3),
    "not a number": ('[{"role": "NaN\\"", "x":\n NaN}]', 2, 2),
    "infinity": ("[-Infinity]", 1, 2),
    "control character": ('["a\nb"]', 1, 4),
    "byte order mark": ("\ufeff[]", 1, 1),
}


@pytest.mark.parametrize(("text", "line", "column"), BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_bad_json_text_has_a_position(text: str, line: int, column: int) -> None:
    for given in (text, text.encode()):
        with pytest.raises(RequestError) as caught:
            read_messages(given)
        assert caught.value.message.startswith("messages: is no JSON: ")
        assert (caught.value.line, caught.value.column) == (line, column)


def test_bytes_outside_utf8_become_replacement_characters() -> None:
    (message,) = read_messages(b'[{"content": "a\xe2\x82b\xed\xa0\x80"}]')
    assert message[1] == "a\ufffd\ufffdb\ufffd\ufffd\ufffd"


def test_long_integers() -> None:
    digits = "9" * 5000
    with pytest.raises(RequestError, match=r"arguments\.a: is no number"):
        read_messages('[{"tool_calls": [{"function": {"arguments": {"a": ' + digits + "}}}]}]")
    with pytest.raises(RequestError, match="index: is an integer beyond 64 bits"):
        read_messages('[{"tool_calls": [{"function": {"index": 99999999999999999999}}]}]')


THINKS = {"unset": None, "false": False, "true": True, "level": "high", "newest level": "max"}


@pytest.mark.parametrize("think", THINKS.values(), ids=THINKS)
def test_think_is_read(think: bool | str | None) -> None:
    assert read_think(think, NEWEST_BEHAVIOUR) is think


BAD_THINKS = [
    (
        "x",
        NEWEST_BEHAVIOUR,
        'invalid think value: "x" (must be "high", "medium", "low", "max", true, or false)',
    ),
    ("a\n", OLD_BEHAVIOUR, 'invalid think value: "a\\n" (must be "high", "medium", "low", true, or false)'),
    ("max", OLD_BEHAVIOUR, 'invalid think value: "max" (must be "high", "medium", "low", true, or false)'),
    (1, OLD_BEHAVIOUR, 'think must be a boolean or string ("high", "medium", "low", true, or false)'),
]


@pytest.mark.parametrize(("think", "behaviour", "message"), BAD_THINKS)
def test_bad_think_has_ollamas_text(think: Any, behaviour: Any, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_think(think, behaviour)
    assert caught.value.message == message


def test_bodies() -> None:
    chat = read_request(
        '{"model": "m", "messages": [{"role": "user"}], "tools": [], "think": "low", "stream": false,'
        ' "options": {"num_ctx": 1}, "keep_alive": "5m", "format": {"type": "object"}}',
        NEWEST_BEHAVIOUR,
    )
    assert (chat.is_generate, len(chat.messages), chat.tools, chat.think) == (False, 1, [], "low")
    generate = read_request(
        {"PROMPT": "p", "suffix": "s", "system": "y", "images": ["aGk="]}, NEWEST_BEHAVIOUR
    )
    assert generate.is_generate
    assert (generate.prompt, generate.suffix, generate.system, generate.images) == ("p", "s", "y", [b"hi"])
    bare = read_request([{"role": "user", "content": "x"}], NEWEST_BEHAVIOUR)
    assert (bare.is_generate, bare.tools, bare.think) == (False, None, None)


BAD_BODIES = {
    "number": (5, "a request must be an object or a list of messages, not a number"),
    "null": ("null", "a request must be an object or a list of messages, not null"),
    "empty": ({}, "a request must have messages, or a prompt"),
    "stream": ({"messages": [], "stream": "no"}, "stream: must be true or false, not a string"),
    "options": ({"messages": [], "options": []}, "options: must be an object, not a list"),
    "keep alive": (
        {"messages": [], "keep_alive": "soon"},
        "keep_alive: must be a number of seconds or a duration such as 5m",
    ),
    "raw": (
        {"prompt": "x", "raw": True},
        "raw: changes or replaces the template, which rendering does not do",
    ),
    "prompt": ({"prompt": ["x"]}, "prompt: must be a string, not a list"),
}


@pytest.mark.parametrize(("body", "message"), BAD_BODIES.values(), ids=BAD_BODIES)
def test_bad_body_is_named(body: Any, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_request(body, NEWEST_BEHAVIOUR)
    assert caught.value.message == message


def test_required_of_a_property_is_read_by_newer_versions_only() -> None:
    values = Values([{"role": "user"}], tool(required=True, properties={"q": {"required": ["a", 1]}}))
    assert OllamaTemplate(DUMP, ollama="0.17.4").execute(values)
    path = "tools[0].function.parameters.properties.p"
    with pytest.raises(RequestError) as caught:
        OllamaTemplate(DUMP, ollama="0.20.0").execute(values)
    assert caught.value.message == f"{path}.required: must be a list, not true"
    values = Values([], tool(properties={"q": {"required": ["a", 1]}}))
    with pytest.raises(RequestError) as caught:
        OllamaTemplate(DUMP).execute(values)
    assert caught.value.message == f"{path}.properties.q.required[1]: must be a string, not a number"
