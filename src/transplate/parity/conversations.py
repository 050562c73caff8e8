"""The built-in conversations on which two templates are compared, each with its name, tags and purpose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from transplate.conversation import Conversation
from transplate.parity.clients import CLIENT_EXAMPLES


@dataclass(frozen=True, slots=True)
class Example:
    """A built-in conversation.

    Attributes:
        conversation: The conversation; its name is the example's.
        about: What it brings out, in one line.
        tags: What is in it, for choosing among the examples.
    """

    conversation: Conversation
    about: str
    tags: frozenset[str]


SPECIAL = "special"
"""Tag of examples that templates are seldom written for; they are compared only when asked for."""

_IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="

_WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather for a city.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Name of the city"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            },
            "required": ["city"],
        },
    },
}
_TIME = {
    "type": "function",
    "function": {
        "name": "get_time",
        "description": "Tell the time.",
        "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}},
    },
}
_NO_PARAMETERS = {
    "type": "function",
    "function": {
        "name": "ping",
        "description": "Answer.",
        "parameters": {"type": "object", "properties": {}},
    },
}
_RICH = {
    "type": "function",
    "function": {
        "name": "search",
        "description": 'Search <b>everything</b> & more: "quotes", \\backslashes\\ and\nlines.',
        "parameters": {
            "type": "object",
            "required": ["query", "limit"],
            "properties": {
                "query": {"type": "string", "description": "What to look for – e.g. 日本"},
                "limit": {"type": "integer", "description": "How many"},
                "fuzzy": {"type": "boolean"},
                "weight": {"type": "number", "description": "How much it counts"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
        },
    },
}


_UNION = {
    "type": "function",
    "function": {
        "name": "set_level",
        "description": "Set a level.",
        "parameters": {
            "type": "object",
            "properties": {"level": {"type": ["number", "null"], "description": "The level, or none"}},
        },
    },
}


def _turn(role: str, content: str | None, **others: Any) -> dict[str, Any]:
    return {"role": role, "content": content} | others


def _user(content: str) -> dict[str, Any]:
    return _turn("user", content)


def _assistant(content: str | None, **others: Any) -> dict[str, Any]:
    return _turn("assistant", content, **others)


def _system(content: str) -> dict[str, Any]:
    return _turn("system", content)


def _call(name: str, arguments: dict[str, Any], identifier: str = "call00001") -> dict[str, Any]:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def _result(content: str, name: str = "get_weather", identifier: str = "call00001") -> dict[str, Any]:
    return _turn("tool", content, name=name, tool_call_id=identifier)


_ASKED = [_user("What is the weather in Oslo?")]
_OSLO = _call("get_weather", {"city": "Oslo"})
_CALLED = [*_ASKED, _assistant("", tool_calls=[_OSLO])]
_ANSWERED = [*_CALLED, _result('{"temperature": 7}')]
_PARALLEL = [
    _user("Weather in Oslo and the time there?"),
    _assistant("", tool_calls=[_OSLO, _call("get_time", {"zone": "Europe/Oslo"}, "call00002")]),
]
_PARALLEL_RESULTS = [
    *_PARALLEL,
    _result("7 degrees"),
    _result("12:30", "get_time", "call00002"),
]
_THOUGHT = _assistant("It is 4.", reasoning_content="2 and 2 make 4.")


def _made_with(value: Any) -> list[dict[str, Any]]:
    """Return a tool round whose call has one argument of a value."""
    return [
        _user("Search."),
        _assistant("", tool_calls=[_call("search", {"query": value})]),
        _result("found", "search"),
    ]


_EXAMPLES: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    # name, tags, what it brings out, the conversation
    ("user", "user", "the shortest conversation", {"messages": [_user("Hello!")]}),
    (
        "system",
        "system",
        "a system message in front",
        {"messages": [_system("Be brief."), _user("Hello!")]},
    ),
    (
        "turns",
        "turns",
        "an answer in the middle",
        {"messages": [_user("Hi"), _assistant("Hello."), _user("Who are you?")]},
    ),
    (
        "system-turns",
        "system turns",
        "a system message before several turns",
        {
            "messages": [
                _system("Be brief."),
                *(_user("One"), _assistant("1"), _user("Two"), _assistant("2"), _user("Three")),
            ]
        },
    ),
    (
        "two-systems",
        "system several-systems",
        "two system messages in front",
        {"messages": [_system("Be brief."), _system("Be kind."), _user("Hello!")]},
    ),
    (
        "late-system",
        "system several-systems late-system turns",
        "a system message between turns",
        {
            "messages": [
                *(_system("Be brief."), _user("Hi"), _assistant("Hello.")),
                *(_system("Now rhyme."), _user("Go on.")),
            ]
        },
    ),
    (
        "only-late-system",
        "system late-system turns",
        "a system message that is not in front",
        {"messages": [_user("Hi"), _assistant("Hello."), _system("Rhyme."), _user("Go on.")]},
    ),
    (
        "empty-system",
        "system empty",
        "an empty system message",
        {"messages": [_system(""), _user("Hello!")]},
    ),
    (
        "only-system",
        "system no-user",
        "nothing but a system message",
        {"messages": [_system("Be brief.")]},
    ),
    (
        "same-role-user",
        "same-role",
        "two user messages in a row",
        {"messages": [_user("One."), _user("Two.")]},
    ),
    (
        "same-role-assistant",
        "same-role turns",
        "two answers in a row",
        {"messages": [_user("Hi"), _assistant("One."), _assistant("Two."), _user("Go on.")]},
    ),
    (
        "assistant-first",
        "turns",
        "the assistant speaks first",
        {"messages": [_assistant("How can I help?"), _user("Hello!")]},
    ),
    ("empty-user", "empty", "an empty user message", {"messages": [_user("")]}),
    (
        "empty-assistant",
        "empty turns",
        "an empty answer in the middle",
        {"messages": [_user("Hi"), _assistant(""), _user("Hello?")]},
    ),
    (
        "null-content",
        "null turns",
        "an answer without content",
        {"messages": [_user("Hi"), _assistant(None), _user("Hello?")]},
    ),
    (
        "white-space",
        "white-space system turns",
        "white space at the ends of every text",
        {
            "messages": [
                *(
                    _system("  Be brief.\n"),
                    _user("\n\n Hi \t"),
                    _assistant(" Hello. \n\n"),
                    _user(" Go on. "),
                ),
            ]
        },
    ),
    (
        "line-ends",
        "white-space",
        "line ends of all kinds",
        {"messages": [_user("one\r\ntwo\rthree\n\nfour\u2028five\u2029six")]},
    ),
    (
        "unicode",
        "unicode system",
        "characters of one to four bytes, combined and from right to left",
        {
            "messages": [
                _system("Réponds en français."),
                _user("naïve Straße 日本語 👩\u200d👩\u200d👧 e\u0301 שלום \u00a0x"),
            ]
        },
    ),
    (
        "html",
        "escapes",
        "what HTML and JSON escape",
        {"messages": [_user("<b>a & b</b> \"quoted\" 'single' \\ / \x08 \x7f")]},
    ),
    (
        "markers",
        "escapes",
        "what looks like a template or a special token",
        {"messages": [_user("{{ .Prompt }} {% if x %} {# c #} <|im_start|>user [INST] </s>")]},
    ),
    (
        "markdown",
        "long",
        "code and lists over many lines",
        {"messages": [_user("Fix:\n\n```python\ndef f(x):\n    return {'a': x}\n```\n\n- one\n- two\n")]},
    ),
    (
        "long",
        "long system turns",
        "long texts and many turns",
        {
            "messages": [
                _system("You know much. " * 60),
                *(
                    turn
                    for number in range(12)
                    for turn in (_user(f"Question {number}? " * 20), _assistant(f"Answer {number}. " * 20))
                ),
                _user("And now?"),
            ]
        },
    ),
    (
        "developer",
        "odd-role",
        "the role developer",
        {"messages": [_turn("developer", "Be brief."), _user("Hi")]},
    ),
    (
        "upper-case-role",
        "special odd-role",
        "roles in capitals",
        {"messages": [_turn("System", "Be brief."), _turn("USER", "Hi")]},
    ),
    ("tools", "tools", "tools, none of them called", {"messages": _ASKED, "tools": [_WEATHER, _TIME]}),
    (
        "tools-system",
        "tools system",
        "tools beside a system message",
        {"messages": [_system("Be brief."), *_ASKED], "tools": [_WEATHER]},
    ),
    (
        "tools-turns",
        "tools turns",
        "tools in a conversation of several turns",
        {"messages": [_user("Hi"), _assistant("Hello."), *_ASKED], "tools": [_WEATHER]},
    ),
    (
        "tool-without-parameters",
        "tools",
        "a tool that takes nothing",
        {"messages": _ASKED, "tools": [_NO_PARAMETERS]},
    ),
    (
        "rich-tool",
        "tools escapes unicode",
        "a tool with all kinds of properties and characters",
        {"messages": _ASKED, "tools": [_RICH]},
    ),
    (
        "union-type",
        "tools",
        "a property of one of two types",
        {"messages": _ASKED, "tools": [_UNION]},
    ),
    (
        "no-tools",
        "turns",
        "an empty list of tools",
        {"messages": _ASKED, "tools": []},
    ),
    (
        "tool-result",
        "tools tool-calls tool-results",
        "a call and its result",
        {"messages": _ANSWERED, "tools": [_WEATHER, _TIME]},
    ),
    (
        "tool-round",
        "tools tool-calls tool-results turns",
        "a call, its result, the answer and the next question",
        {"messages": [*_ANSWERED, _assistant("7 °C."), _user("Thanks!")], "tools": [_WEATHER]},
    ),
    (
        "tool-round-system",
        "tools tool-calls tool-results system",
        "a call and its result after a system message",
        {"messages": [_system("Be brief."), *_ANSWERED], "tools": [_WEATHER]},
    ),
    (
        "two-tool-rounds",
        "tools tool-calls tool-results turns",
        "a second call after the first result",
        {
            "messages": [
                *_ANSWERED,
                _assistant("", tool_calls=[_call("get_time", {"zone": "Europe/Oslo"}, "call00002")]),
                _result("12:30", "get_time", "call00002"),
            ],
            "tools": [_WEATHER, _TIME],
        },
    ),
    (
        "parallel-calls",
        "tools tool-calls tool-results parallel-calls",
        "two calls at once and their results",
        {"messages": _PARALLEL_RESULTS, "tools": [_WEATHER, _TIME]},
    ),
    (
        "parallel-round",
        "tools tool-calls tool-results parallel-calls turns system",
        "two calls at once, their results, the answer and the next question",
        {
            "messages": [
                *(_system("Be brief."), *_PARALLEL_RESULTS),
                *(_assistant("7 degrees, half past twelve."), _user("Thanks!")),
            ],
            "tools": [_WEATHER, _TIME],
        },
    ),
    (
        "content-beside-call",
        "tools tool-calls tool-results",
        "text beside a call",
        {
            "messages": [*_ASKED, _assistant("Let me look.", tool_calls=[_OSLO]), _result("7 degrees")],
            "tools": [_WEATHER],
        },
    ),
    (
        "null-content-call",
        "tools tool-calls tool-results null",
        "a call without content",
        {
            "messages": [*_ASKED, _assistant(None, tool_calls=[_OSLO]), _result("7 degrees")],
            "tools": [_WEATHER],
        },
    ),
    (
        "call-without-arguments",
        "tools tool-calls tool-results empty",
        "a call that passes nothing",
        {
            "messages": [
                _user("Ping."),
                _assistant("", tool_calls=[_call("ping", {})]),
                _result("pong", "ping"),
            ],
            "tools": [_NO_PARAMETERS],
        },
    ),
    (
        "call-without-tools",
        "tool-calls tool-results",
        "a call and its result where the tools are not listed",
        {"messages": [*_ANSWERED, _assistant("7 °C."), _user("Thanks!")]},
    ),
    (
        "call-without-id",
        "tools tool-calls tool-results",
        "a call and a result that nothing but their order connects",
        {
            "messages": [
                *_ASKED,
                _assistant("", tool_calls=[{"function": _OSLO["function"]}]),
                _turn("tool", "7 degrees", name="get_weather"),
            ],
            "tools": [_WEATHER],
        },
    ),
    (
        "empty-result",
        "tools tool-calls tool-results empty",
        "an empty result",
        {"messages": [*_CALLED, _result("")], "tools": [_WEATHER]},
    ),
    (
        "json-result",
        "tools tool-calls tool-results escapes",
        "a result that is JSON with characters to escape",
        {
            "messages": [*_CALLED, _result('{"html": "<p>7 & rain</p>", "list": [1, 2.5, null, true]}')],
            "tools": [_WEATHER],
        },
    ),
    (
        "user-beside-result",
        "tools tool-calls tool-results turns",
        "a question right after a result",
        {"messages": [*_ANSWERED, _user("In Fahrenheit, please.")], "tools": [_WEATHER]},
    ),
    (
        "escaped-arguments",
        "tools tool-calls tool-results escapes unicode",
        "arguments with characters that JSON or HTML escape",
        {"messages": _made_with('<a href="x">&\'é\n\\ 😀</a>'), "tools": [_RICH]},
    ),
    (
        "nested-arguments",
        "tools tool-calls tool-results json",
        "arguments inside arguments",
        {
            "messages": _made_with(
                {"all": [{"field": "a", "in": [1, 2]}, {}], "none": [], "deep": {"x": {"y": None}}}
            ),
            "tools": [_RICH],
        },
    ),
    (
        "unsorted-arguments",
        "tools tool-calls tool-results json",
        "several arguments, not in alphabetical order",
        {
            "messages": [
                _user("Search."),
                _assistant(
                    "", tool_calls=[_call("search", {"query": "b", "limit": 3, "fuzzy": True, "Any": "x"})]
                ),
                _result("found", "search"),
            ],
            "tools": [_RICH],
        },
    ),
    (
        "numbers",
        "tools tool-calls tool-results json",
        "numbers as arguments",
        {"messages": _made_with([0, -1, 2.5, 12345678, 0.1]), "tools": [_RICH]},
    ),
    (
        "thinking",
        "thinking turns",
        "reasoning with an earlier answer",
        {"messages": [_user("2 + 2?"), _THOUGHT, _user("And 3 + 3?")]},
    ),
    (
        "thinking-on",
        "thinking think",
        "thinking asked for",
        {"messages": [_user("2 + 2?")], "think": True},
    ),
    (
        "thinking-off",
        "thinking think system",
        "thinking switched off",
        {"messages": [_system("Be brief."), _user("2 + 2?")], "think": False},
    ),
    (
        "thinking-high",
        "thinking think",
        "much thinking asked for",
        {"messages": [_user("2 + 2?")], "think": "high"},
    ),
    (
        "thinking-turns",
        "thinking think turns",
        "thinking asked for after answers with and without reasoning",
        {
            "messages": [
                *(_user("2 + 2?"), _THOUGHT, _user("Sure?"), _assistant("Yes.")),
                _user("3 + 3?"),
            ],
            "think": True,
        },
    ),
    (
        "thinking-tools",
        "thinking tools tool-calls tool-results",
        "reasoning before a call",
        {
            "messages": [
                *_ASKED,
                _assistant("", reasoning_content="I need the weather.", tool_calls=[_OSLO]),
                _result("7 degrees"),
            ],
            "tools": [_WEATHER],
        },
    ),
    (
        "thinking-in-text",
        "thinking turns",
        "reasoning between tags in the text of an answer",
        {"messages": [_user("2 + 2?"), _assistant("<think>\nEasy.\n</think>\n\n4"), _user("3 + 3?")]},
    ),
    (
        "prefill",
        "prefill",
        "an answer to be continued",
        {"messages": [_user("Capital of Norway?"), _assistant("The capital is")]},
    ),
    (
        "prefill-turns",
        "prefill turns system",
        "an answer to be continued after several turns",
        {
            "messages": [
                *(_system("Be brief."), _user("Hi"), _assistant("Hello.")),
                *(_user("Capital of Norway?"), _assistant("The capital is")),
            ]
        },
    ),
    (
        "leap-day",
        "date",
        "a date with one digit to pad",
        {"messages": [_user("What day is it?")], "date": "2024-02-29T08:05:09"},
    ),
    (
        "new-year",
        "date system tools",
        "the first day of a year, with tools",
        {"messages": [_system("Be brief."), *_ASKED], "tools": [_WEATHER], "date": "2027-01-01T00:00:00"},
    ),
    (
        "text-parts",
        "special parts",
        "a message of two typed parts",
        {"messages": [_turn("user", [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}])]},  # type: ignore[arg-type]
    ),
    (
        "image",
        "special parts image",
        "a message of text and an image",
        {
            "messages": [
                _turn(
                    "user",
                    [  # type: ignore[arg-type]
                        {"type": "text", "text": "What is this?"},
                        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_IMAGE}"}},
                    ],
                )
            ]
        },
    ),
    (
        "extreme-numbers",
        "special tools tool-calls tool-results json",
        "numbers as arguments that the two languages write in their own ways",
        {"messages": _made_with([1e21, 1e-7, -0.0, 5.0, 2**53 + 1]), "tools": [_RICH]},
    ),
    (
        "line-separators",
        "special tools tool-calls tool-results escapes",
        "characters in arguments that only Go's JSON escapes",
        {"messages": _made_with("a\u2028b\u2029c"), "tools": [_RICH]},
    ),
    (
        "unknown-role",
        "special odd-role",
        "a role that no template knows",
        {"messages": [_user("Hi"), _turn("narrator", "It rains."), _user("Go on.")]},
    ),
)


@lru_cache(maxsize=1)
def examples() -> tuple[Example, ...]:
    """Return all built-in conversations, the special ones too."""
    return tuple(
        Example(Conversation.read(data | {"name": name}), about, frozenset(tags.split()))
        for name, tags, about, data in (*_EXAMPLES, *CLIENT_EXAMPLES)
    )


def chosen_conversations(tag: str) -> tuple[Conversation, ...]:
    """Return the built-in conversations that have a tag, or this name."""
    return tuple(
        example.conversation
        for example in examples()
        if tag in example.tags or tag == example.conversation.name
    )


def ordinary_conversations() -> tuple[Conversation, ...]:
    """Return the conversations on which two templates are compared by the way, as after a conversion."""
    return tuple(example.conversation for example in examples() if not example.tags & {SPECIAL, "client"})


def usual_conversations() -> tuple[Conversation, ...]:
    """Return the conversations on which templates are compared to find what they differ in."""
    return tuple(example.conversation for example in examples() if SPECIAL not in example.tags)
