"""Sixteen ordinary conversations with names, as bodies of ``/api/chat``, for recordings and benchmarks."""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]


def _user(content: str) -> Body:
    return {"role": "user", "content": content}


def _system(content: str) -> Body:
    return {"role": "system", "content": content}


def _assistant(content: str, **more: Any) -> Body:
    return {"role": "assistant", "content": content, **more}


def _call(name: str, arguments: Body, **more: Any) -> Body:
    return {"function": {"name": name, "arguments": arguments}, **more}


def _result(content: str, name: str) -> Body:
    return {"role": "tool", "content": content, "tool_name": name}


WEATHER: Body = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The city's name"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "description": "The unit"},
                "days": {"type": "integer"},
            },
            "required": ["city"],
        },
    },
}
SEARCH: Body = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Search the web for pages & <titles>",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": 'What to look for, "quoted" or not'},
                "sites": {"type": "array", "items": {"type": "string"}, "description": "Where to look"},
                "limit": {"type": ["integer", "null"], "description": "How many"},
            },
            "required": ["query", "sites"],
        },
    },
}

CONVERSATIONS: dict[str, Body] = {
    "question": {"messages": [_user("What is the capital of France?")]},
    "system": {"messages": [_system("You answer in one word."), _user("What is the capital of France?")]},
    "several-systems": {
        "messages": [
            _system("Be brief."),
            _user("Hi"),
            _system("Be polite."),
            _assistant("Good day."),
            _user("Who are you?"),
        ]
    },
    "several-turns": {
        "messages": [
            _system("You are a helpful assistant."),
            _user("Name a colour."),
            _assistant("Blue."),
            _user("Another."),
            _assistant("Green."),
            _user("And one more, please."),
        ]
    },
    "same-role-twice": {
        "messages": [
            _user("First."),
            _user("Second."),
            _assistant("One."),
            _assistant("Two."),
            _user("Go on."),
        ]
    },
    "empty-content": {"messages": [_system(""), _user(""), _assistant(""), _user("Still there?")]},
    "unicode": {
        "messages": [
            _system("日本語で答えてください。"),
            _user("Café, naïve, e\u0301, 😀👩\u200d💻, שלום, \u202eabc\u202c"),
            _assistant("了解しました\u2028。"),
            _user("ありがとう"),
        ]
    },
    "markup": {
        "messages": [
            _user("<b>bold</b> & \"quoted\" 'single' {{ .Prompt }} {% if x %} 100% \\n"),
            _assistant("<|im_end|>\n</s> [INST] 1 < 2 && 3 > 2"),
            _user("  spaces around  \n\n"),
        ]
    },
    "prefill": {"messages": [_user("Write a haiku."), _assistant("Old pond\n")]},
    "tools": {"messages": [_user("What is the weather in Paris?")], "tools": [WEATHER, SEARCH]},
    "tool-call": {
        "messages": [
            _system("Use the tools."),
            _user("What is the weather in Paris?"),
            _assistant("", tool_calls=[_call("get_weather", {"city": "Paris", "unit": "celsius"})]),
            _result('{"temperature": 21.5, "sky": "clear"}', "get_weather"),
        ],
        "tools": [WEATHER],
    },
    "parallel-calls": {
        "messages": [
            _user("Paris and Rome?"),
            _assistant(
                "Let me look.",
                tool_calls=[
                    _call("get_weather", {"city": "Paris", "days": 3}, id="call_1"),
                    _call("get_weather", {"city": "Rome", "days": 3}, id="call_2"),
                ],
            ),
            {**_result("21", "get_weather"), "tool_call_id": "call_1"},
            {**_result("25", "get_weather"), "tool_call_id": "call_2"},
            _assistant("Paris 21, Rome 25."),
            _user("And tomorrow?"),
        ],
        "tools": [WEATHER, SEARCH],
    },
    "nested-arguments": {
        "messages": [
            _user("Search."),
            _assistant(
                "",
                tool_calls=[
                    _call(
                        "search",
                        {
                            "query": 'a <b> & "c" é\n',
                            "sites": ["x.org", {"deep": [1, 2.5, True, None, 1e21, 12345678]}],
                            "limit": None,
                            "options": {"zeta": {}, "Alpha": [], "été": "日本"},
                        },
                    )
                ],
            ),
            _result("[]", "search"),
            _user("Nothing?"),
        ],
        "tools": [SEARCH],
    },
    "thinking": {
        "messages": [
            _user("What is 17 times 23?"),
            _assistant("391", thinking="17 * 23 = 17 * 20 + 17 * 3 = 391"),
            _user("And times two?"),
        ],
        "think": True,
    },
    "no-thinking": {
        "messages": [_system("Answer at once."), _user("What is 17 times 23?")],
        "think": False,
    },
    "thinking-with-tools": {
        "messages": [
            _system("You are a careful assistant."),
            _user("What is the weather in Paris?"),
            _assistant(
                "",
                thinking="The user wants the weather.\nI call the tool.",
                tool_calls=[_call("get_weather", {"city": "Paris"})],
            ),
            _result("sunny", "get_weather"),
            _assistant("It is sunny."),
            _user("Thanks! And in Rome?"),
        ],
        "tools": [WEATHER],
        "think": "high",
    },
}
