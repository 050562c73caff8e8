"""Odd but valid data: texts, numbers, objects and tools that some engine or other reads in its own way."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.convert.cases import Case
from tests.fuzz.conversations import PIECES, WORDS

_KEYS = (
    *("items", "keys", "values", "get", "pop", "update", "copy", "length", "size", "string", "first", "last"),
    *("name", "type", "role", "content", "loop", "self", "none", "true", "null", "undefined", "constructor"),
    *("__class__", "__proto__", "toString", "", " ", "a.b", "a b", "é", "日本", "k&v", "<k>", "it's", 'q"'),
    *("\\", "\n", "\u2028", "😀", "A", "a", "Z", "z", "_", "1a", "-1", "1.5", "01"),
)
_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_ROLES = ("user", "assistant", "system", "tool")
_ODD_ROLES = (
    "developer",
    "User",
    "ASSISTANT",
    "function",
    "ipython",
    "control",
    "document",
    "x y",
)
_NAMES = ("get_weather", "f", "search.web", "a<b", 'say "hi"', "名前", "it's", "x\ny")


class Maker:
    """Makes conversations within the limits of what is promised.

    That is: no lone surrogates; no capitals outside of ASCII in roles; no keys that look like integers
    (JavaScript puts them first), and no keys of which one has a character beyond U+FFFF and another one from
    U+E000 to U+FFFF (JavaScript sorts them in the other order); numbers of at most 15 digits between 1e-14
    and 1e30.
    """

    def __init__(self, random: Random) -> None:
        self.random = random

    def text(self) -> str:
        """Return a text: plain, odd or both."""
        random = self.random
        kind = random.random()
        if kind < 0.1:
            return ""
        if kind < 0.3:
            return " ".join(random.choices(WORDS, k=random.randint(1, 6)))
        if kind < 0.5:
            return random.choice(PIECES)
        parts = (random.choice(random.choice((PIECES, WORDS))) for _ in range(random.randint(2, 5)))
        return random.choice(("", " ", "\n")).join(parts)

    def number(self) -> int | float:
        """Return a number."""
        random = self.random
        sign = random.choice((1, 1, -1))
        kind = random.random()
        if kind < 0.2:
            return sign * random.choice(
                (0, 1, 2, 10, 100, 999999, 1000000, 2**31, 2**49, 10**15, 10**20, 10**21)
            )
        digits = random.randint(1, 10 ** random.randint(1, 15) - 1)
        if kind < 0.35:
            return sign * digits
        exponent = random.randint(-14, 29)
        if kind < 0.45 and exponent >= 0:
            length = len(str(digits))
            return sign * digits * 10 ** max(0, exponent - length)
        text = str(digits)
        return sign * float(f"{text[0]}.{text[1:] or '0'}e{exponent}")

    def value(self, depth: int = 3) -> Any:
        """Return any JSON value."""
        random = self.random
        kind = random.random()
        if depth == 0 or kind < 0.6:
            return random.choice((self.text, self.text, self.number, self.number, self.constant))()
        if kind < 0.8:
            return [self.value(depth - 1) for _ in range(random.randint(0, 3))]
        return self.object(depth - 1)

    def constant(self) -> bool | None:
        """Return true, false or null."""
        return self.random.choice((True, False, None))

    def object(self, depth: int = 3) -> dict[str, Any]:
        """Return a JSON object."""
        keys = self.random.sample(_KEYS, self.random.randint(0, 4))
        return {key: self.value(depth) for key in keys}

    def schema(self, depth: int = 2) -> dict[str, Any]:
        """Return the schema of a property."""
        random = self.random
        made: dict[str, Any] = {}
        if random.random() < 0.9:
            made["type"] = random.choice(
                (random.choice(_TYPES), random.choice(_TYPES), random.sample(_TYPES, random.randint(1, 3)))
            )
        if random.random() < 0.7:
            made["description"] = self.text()
        if random.random() < 0.25:
            made["enum"] = [self.value(1) for _ in range(random.randint(1, 3))]
        if random.random() < 0.2:
            made["items"] = random.choice(({"type": random.choice(_TYPES)}, self.value(2)))
        if depth and random.random() < 0.2:
            made["properties"] = self.properties(depth - 1)
        if depth and random.random() < 0.15:
            made["anyOf"] = [self.schema(depth - 1) for _ in range(random.randint(1, 2))]
        if random.random() < 0.1:
            made["default"] = self.value(1)
        return self.shuffled(made)

    def properties(self, depth: int = 2) -> dict[str, Any]:
        """Return the schemas of some properties."""
        return {key: self.schema(depth) for key in self.random.sample(_KEYS, self.random.randint(0, 3))}

    def tool(self) -> dict[str, Any]:
        """Return a tool."""
        random = self.random
        function: dict[str, Any] = {"name": random.choice(_NAMES)}
        if random.random() < 0.9:
            function["description"] = self.text()
        if random.random() < 0.9:
            parameters: dict[str, Any] = {"type": "object"}
            if random.random() < 0.9:
                parameters["properties"] = self.properties()
            if random.random() < 0.6:
                parameters["required"] = random.sample(_KEYS, random.randint(0, 2))
            if random.random() < 0.1:
                parameters["$defs"] = self.object(2)
            if random.random() < 0.1:
                parameters["items"] = self.value(2)
            if random.random() < 0.1:
                parameters["additionalProperties"] = False
            function["parameters"] = self.shuffled(parameters)
        return self.shuffled({"type": "function", "function": self.shuffled(function)})

    def shuffled(self, made: dict[str, Any]) -> dict[str, Any]:
        """Return an object with its keys in any order."""
        keys = list(made)
        self.random.shuffle(keys)
        return {key: made[key] for key in keys}

    def message(self, role: str) -> dict[str, Any]:
        """Return a message."""
        random = self.random
        made: dict[str, Any] = {"role": role, "content": self.text()}
        if role.lower() == "assistant":
            if random.random() < 0.3:
                made["reasoning"] = self.text()
            if random.random() < 0.5:
                made["tool_calls"] = [
                    {
                        "id": f"call_{number}",
                        "type": "function",
                        "function": {"name": random.choice(_NAMES), "arguments": self.object()},
                    }
                    for number in range(random.randint(1, 3))
                ]
        elif role.lower() == "tool":
            if random.random() < 0.7:
                made["name"] = random.choice(_NAMES)
            if random.random() < 0.7:
                made["tool_call_id"] = random.choice(("call_0", "", "é"))
        elif random.random() < 0.1:
            made["content"] = [{"type": "text", "text": self.text()} for _ in range(random.randint(1, 3))]
        return made

    def case(self) -> Case:
        """Return a conversation: of an ordinary course, or of any roles in any order."""
        random = self.random
        if random.random() < 0.3:
            roles = random.choices((*_ROLES, *_ROLES, random.choice(_ODD_ROLES)), k=random.randint(1, 6))
        else:
            roles = ["system"] if random.random() < 0.5 else []
            for _ in range(random.randint(1, 2)):
                roles += ["user", "assistant"]
                if random.random() < 0.4:
                    roles += ["tool"] * random.randint(1, 2) + ["assistant"]
            roles += ["user"] if random.random() < 0.7 else []
        tools = [self.tool() for _ in range(random.randint(1, 3))] if random.random() < 0.5 else None
        think = random.choice((None, None, False, True, "low", "high"))
        return Case(0, [self.message(role) for role in roles], tools, think)


def hard_numbers() -> Case:
    """Return a conversation with numbers that engines are known to print in ways of their own."""
    numbers: list[int | float] = [606 * 10**21, -51911210 * 10**21, 8676510823000000000, 123 * 10**18, 10**21]
    numbers += [606e21, 1e-14, -2.5e-9, 1e-6, 0.00001234, 999999, 1000000, 21000000, 123456.789012345, 0]
    call = {"name": "f", "arguments": {f"n{at}": number for at, number in enumerate(numbers)}}
    calls = [{"id": "call_0", "type": "function", "function": call}]
    asked = {"role": "user", "content": "x"}
    answer = {"role": "assistant", "content": "", "tool_calls": calls}
    result = {"role": "tool", "content": "1", "name": "f", "tool_call_id": "call_0"}
    schema = {"type": "number", "description": "a number", "enum": numbers}
    parameters = {"type": "object", "properties": {"n": schema}, "required": ["n"]}
    function = {"name": "f", "description": "takes numbers", "parameters": parameters}
    return Case(0, [asked, answer, result], [{"type": "function", "function": function}], None)
