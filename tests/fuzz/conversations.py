"""A seeded generator of conversations and requests, ordinary and odd, as Ollama's API takes them."""

from __future__ import annotations

import base64
from collections.abc import Callable
from random import Random
from typing import Any

WORDS = (
    *("the", "city", "to", "why", "Paris", "42", "weather", "user", "answer", "alpha", "beta", "model"),
    *("token", "and", "how", "list", "3.14", "x", "y", "hello", "world", "a"),
)

PIECES = (
    # white space, control and separator characters
    *(
        "\n",
        "\n\n",
        "\t",
        "  ",
        " lead",
        "trail ",
        "\r\n",
        "a\rb",
        "\x00",
        "\x01\x02\x1f",
        "bell\x07",
        "\x0b\f",
    ),
    *("\x7fdel", "\x85nel", "\xa0nbsp", "line\u2028sep", "para\u2029sep", "zero\u200bwidth", "\ufeffbom"),
    # scripts, combining and astral characters
    *(
        "café",
        "e\u0301te",
        "日本語テスト",
        "한국어",
        "\u202eRTL\u202c",
        "שלום",
        "😀👩\u200d💻",
        "𝐀𝐁",
        "\ue000pua",
    ),
    *("\ufffd", "\ufffe", "\U000e0001tag", "İı", "ΣΑΣ", "ß", "ǅ"),
    # markup, quoting and escapes of every side
    *(
        "<b>bold</b> & \"q\" 'p'",
        "&amp;&lt;",
        "back\\slash\\\\",
        "tick ` tick",
        '{"a": 1}',
        "[1, 2]",
        "a=b&c=d+e f",
    ),
    *(
        "{{ .Prompt }}",
        "{% if x %}",
        "{# no #}",
        "}}",
        "{{",
        "%}",
        "100%",
        "$var %d %s %%",
        "</s>",
        "\\n",
        "\\u0041",
    ),
    *("<|im_start|>user", "<|im_end|>", "[INST]", "<think>", "</think>", "[img-0]", "[img]", "<tool_call>"),
)

ROLES = ("user", "assistant", "system", "tool")
ODD_ROLES = ("User", "ASSISTANT", "System", "developer", "function", "ipython", "", "TOOL", "İ", "ΣΣ")
KEYS = (
    *(
        "city",
        "unit",
        "days",
        "q",
        "a",
        "b",
        "Zed",
        "A",
        "10",
        "9",
        "a.b",
        "with space",
        "été",
        "日本",
        "k&v",
        "<k>",
    ),
    *("", "items", "String", "Len", "😀", "\ue000", "\u2028", 'quo"te', "back\\", "nested", "list", "name"),
)
NAMES = ("get_weather", "search.web", "GetX", "fn", "a<b", 'say "hi"', "名前", "", "f1")
SCHEMA_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null", "custom", "")
NUMBERS: tuple[int | float, ...] = (
    *(0, 1, -1, 2, 3, 7, 10, 42, 100, 255, 1000, 65536, 100000, 1000000, 12345678, 2147483648, -2147483649),
    *(20999999, 21000000, 9007199254740993, 999999999999999900000, 10**20, 10**21, 12345678901234567890),
    *(
        0.5,
        1.5,
        -2.5,
        3.14,
        0.1,
        1e-5,
        1e-6,
        1e-7,
        5e-324,
        1.7976931348623157e308,
        1e20,
        1e21,
        1e22,
        -0.0,
        5.0,
    ),
    *(
        0.30000000000000004,
        2.3522219999,
        123456.789,
        1234567.89,
        1e100,
        3e5,
        1.0000000000000002,
        100000000000000.5,
    ),
)
LEVELS = ("high", "medium", "low", "max", "odd")


class Conversations:
    """Makes messages, tools and requests from one random source.

    Attributes:
        rng: The source.
        lone_surrogates: Whether texts may hold them; JSON can, Python's own encoders cannot print them.
    """

    def __init__(self, rng: Random, *, lone_surrogates: bool = False) -> None:
        self.rng = rng
        self.lone_surrogates = lone_surrogates

    # --- leaves ---------------------------------------------------------------------------------------

    def text(self, *, most: int = 8) -> str:
        """Return a text: empty, plain words, or words mixed with awkward characters."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.06:
            return ""
        if kind < 0.4:
            return " ".join(rng.choices(WORDS, k=rng.randint(1, most)))
        if kind < 0.6:
            return rng.choice(PIECES)
        if self.lone_surrogates and kind < 0.605:
            return rng.choice(("\ud800", "a\udc80b", "\udfff\ud800é", "x\ud83d"))
        if kind < 0.62:
            return "".join(
                chr(rng.choice((rng.randrange(0x20), rng.randrange(0x80, 0x3000)))) for _ in range(4)
            )
        parts = [rng.choice(PIECES if rng.random() < 0.5 else WORDS) for _ in range(rng.randint(2, most))]
        return rng.choice(("", " ", "\n")).join(parts)

    def number(self) -> int | float:
        """Return a number of any form."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.7:
            return rng.choice(NUMBERS)
        if kind < 0.8:
            return rng.randint(-(10**6), 10**6)
        if kind < 0.9:
            return round(rng.uniform(-1000, 1000), rng.randint(0, 6))
        return rng.uniform(-1, 1) * 10.0 ** rng.randint(-30, 30)

    def value(self, depth: int = 2) -> Any:
        """Return any JSON value."""
        kind = self.rng.random()
        if depth <= 0 or kind < 0.6:
            choices: tuple[Callable[[], Any], ...] = (
                self.text,
                self.number,
                lambda: self.rng.random() < 0.5,
                lambda: None,
            )
            return self.rng.choices(choices, (4, 4, 1, 1))[0]()
        if kind < 0.8:
            return [self.value(depth - 1) for _ in range(self.rng.randrange(4))]
        return self.object(depth - 1)

    def object(self, depth: int = 2, *, most: int = 4) -> dict[str, Any]:
        """Return a JSON object."""
        keys = self.rng.sample(KEYS, self.rng.randint(0, most))
        return {key: self.value(depth) for key in keys}

    # --- tools ----------------------------------------------------------------------------------------

    def schema_type(self) -> Any:
        """Return the ``type`` of a schema: one name or several."""
        rng = self.rng
        if rng.random() < 0.75:
            return rng.choice(SCHEMA_TYPES)
        return rng.sample(SCHEMA_TYPES[:7], rng.randint(0, 3))

    def property(self, depth: int = 2) -> dict[str, Any]:
        """Return the schema of one property."""
        rng = self.rng
        made: dict[str, Any] = {}
        if rng.random() < 0.9:
            made["type"] = self.schema_type()
        if rng.random() < 0.7:
            made["description"] = self.text()
        if rng.random() < 0.2:
            made["enum"] = [self.value(1) for _ in range(rng.randrange(4))]
        if rng.random() < 0.15:
            made["items"] = self.value(1) if rng.random() < 0.3 else {"type": self.schema_type()}
        if depth > 0 and rng.random() < 0.2:
            made["properties"] = self.properties(depth - 1)
            if rng.random() < 0.5:
                made["required"] = self.required(made["properties"])
        if depth > 0 and rng.random() < 0.12:
            made["anyOf"] = [self.property(depth - 1) for _ in range(rng.randrange(4))]
        if rng.random() < 0.1:
            made[rng.choice(("default", "minimum", "format", "Description", "title"))] = rng.choice(
                ("x", "date") if "Description" in made else ("x", "date-time")
            )
        return made

    def properties(self, depth: int = 2) -> dict[str, Any]:
        """Return the schemas of some properties."""
        keys = self.rng.sample(KEYS, self.rng.randint(0, 4))
        return {key: self.property(depth) for key in keys}

    def required(self, properties: dict[str, Any]) -> list[str]:
        """Return names for ``required``, mostly of the given properties."""
        names = [*properties, self.rng.choice(KEYS)]
        return self.rng.sample(names, self.rng.randint(0, min(3, len(names))))

    def tool(self) -> dict[str, Any]:
        """Return one tool."""
        rng = self.rng
        function: dict[str, Any] = {"name": rng.choice(NAMES)}
        if rng.random() < 0.85:
            function["description"] = self.text()
        if rng.random() < 0.95:
            parameters: dict[str, Any] = {}
            if rng.random() < 0.9:
                parameters["type"] = rng.choice(("object", "object", "object", "string", ""))
            if rng.random() < 0.9:
                parameters["properties"] = self.properties() if rng.random() < 0.95 else None
            if rng.random() < 0.6:
                parameters["required"] = self.required(parameters.get("properties") or {})
            if rng.random() < 0.1:
                parameters["$defs"] = self.value()
            if rng.random() < 0.1:
                parameters["items"] = self.value()
            if rng.random() < 0.1:
                parameters["additionalProperties"] = False
            function["parameters"] = parameters
        made: dict[str, Any] = {"function": function}
        if rng.random() < 0.9:
            made = {"type": "function" if rng.random() < 0.9 else self.text(), **made}
        if rng.random() < 0.08:
            made["items"] = self.value()
        return made

    # --- messages -------------------------------------------------------------------------------------

    def tool_call(self) -> dict[str, Any]:
        """Return one tool call of an assistant message."""
        rng = self.rng
        function: dict[str, Any] = {"name": rng.choice(NAMES)}
        if rng.random() < 0.95:
            function["arguments"] = self.object()
        if rng.random() < 0.3:
            function["index"] = rng.randrange(4)
        made: dict[str, Any] = {"function": function}
        if rng.random() < 0.5:
            made["id"] = rng.choice(("call_1", "", "é", "a b"))
        if rng.random() < 0.3:
            made["type"] = "function"
        return made

    def message(self, role: str) -> dict[str, Any]:
        """Return one message of a role."""
        rng = self.rng
        made: dict[str, Any] = {"role": role}
        if rng.random() < 0.95:
            made["content"] = self.text()
        if role.lower() == "assistant":
            if rng.random() < 0.3:
                made["thinking"] = self.text()
            if rng.random() < 0.4:
                made["tool_calls"] = [self.tool_call() for _ in range(rng.randrange(4))]
        if role.lower() == "tool":
            if rng.random() < 0.6:
                made["tool_name"] = rng.choice(NAMES)
            if rng.random() < 0.5:
                made["tool_call_id"] = rng.choice(("call_1", "", "x"))
        if rng.random() < 0.04:
            made["images"] = [
                base64.b64encode(self.text().encode("utf-8", "surrogatepass")).decode()
                for _ in range(rng.randrange(3))
            ]
        return made

    def messages(self, *, most: int = 8) -> list[dict[str, Any]]:
        """Return a conversation: mostly of an ordinary course, sometimes of any roles in any order."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.03:
            return []
        if kind < 0.04:
            return [self.message(rng.choice(ROLES)) for _ in range(rng.randint(20, 60))]
        if kind < 0.25:
            pools = rng.choices((ROLES, ODD_ROLES), (9, 1), k=rng.randint(1, most))
            return [self.message(rng.choice(pool)) for pool in pools]
        roles = ["system"] if rng.random() < 0.5 else []
        for _ in range(rng.randint(1, 3)):
            roles += ["user", "assistant"]
            if rng.random() < 0.3:
                roles += ["tool"] * rng.randint(1, 2) + ["assistant"]
        if rng.random() < 0.7:
            roles.append("user")
        return [self.message(role) for role in roles]

    def request(self) -> dict[str, Any]:
        """Return Ollama's ``template.Values`` as data: messages, tools, prompt, suffix, think fields."""
        rng = self.rng
        made: dict[str, Any] = {}
        kind = rng.random()
        if kind < 0.93:
            made["messages"] = self.messages()
            if rng.random() < 0.5:
                made["tools"] = [self.tool() for _ in range(rng.randrange(4))]
        if kind > 0.88:
            if rng.random() < 0.9:
                made["prompt"] = self.text()
            if rng.random() < 0.7:
                made["suffix"] = self.text()
        kind = rng.random()
        if kind < 0.3:
            made |= {"think": rng.random() < 0.5, "is_think_set": True}
        elif kind < 0.55:
            made |= {"think": True, "think_level": rng.choice(LEVELS), "is_think_set": True}
        elif kind < 0.6:
            made["think"] = True
        if rng.random() < 0.01:
            self.spoil(made)
        return made

    def rich_request(self) -> dict[str, Any]:
        """Return a request that has a bit of everything: every field, every shape of a schema."""
        nested = {"properties": {"a": self.property(0), "b": self.property(0)}, "required": ["a"]}
        properties = {
            "city": {"type": "string", "description": self.text(), "enum": ["a", 1, None]},
            "unit": {"type": ["string", "null"], "items": {"type": "string"}},
            "a": {"type": "object", **nested},
            "b": {"anyOf": [{"type": "string"}, {"type": ["integer", "null"]}, self.property(1)]},
            "days": {},
        }
        tool = {
            "type": "function",
            "items": self.value(),
            "function": {
                "name": "get_weather",
                "description": self.text(),
                "parameters": {
                    "type": "object",
                    "properties": properties,
                    "required": ["city", "unit"],
                    "$defs": self.object(),
                    "items": self.value(),
                },
            },
        }
        call = {
            "id": "call_1",
            "function": {"name": "f", "index": 1, "arguments": {"a": 1, "list": [1, "x"]}},
        }
        image = base64.b64encode(b"image").decode()
        return {
            "messages": [
                {"role": "system", "content": self.text()},
                {"role": "user", "content": "question " + self.text(), "images": [image, ""]},
                {"role": "assistant", "content": self.text(), "thinking": "why", "tool_calls": [call, call]},
                {"role": "tool", "content": self.text(), "tool_name": "f", "tool_call_id": "call_1"},
                {"role": "user", "content": self.text()},
            ],
            "tools": [tool, self.tool()],
            "think": True,
            "think_level": "high",
            "is_think_set": True,
        }

    def spoil(self, request: dict[str, Any]) -> None:
        """Make something of a request unusual: null, of another type, or named in another case."""
        rng = self.rng
        places: list[tuple[dict[str, Any], str]] = []

        def collect(value: Any) -> None:
            if isinstance(value, dict):
                for key, item in value.items():
                    places.append((value, key))
                    collect(item)
            elif isinstance(value, list):
                for item in value:
                    collect(item)

        collect(request)
        if not places:
            return
        holder, key = rng.choice(places)
        if holder is not request and rng.random() < 0.4:
            holder[rng.choice((key.upper(), key.title(), key.capitalize()))] = holder.pop(key)
        else:
            holder[key] = rng.choice((None, 1, "x", True, [], {}, 1.5, [None], {"a": 1}, [1]))
