"""A seeded generator of conversations, what each side gets of one, and which assumptions one meets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, pairwise
from random import Random
from typing import Any

_PIECES = (
    *("hello", "wörld", "日本語", "a<b>&c", "it's", '"q"', "x\ny", "tab\t.", "{{x}}", "{% y %}", "{# z #}"),
    *(
        "[INST]",
        "<|im_end|>",
        "😀",
        "é",
        "\u2028",
        "\u2029",
        "back\\slash",
        "\\n",
        "\\u0027",
        "  lead",
        "trail  ",
    ),
    *("\n", "\r", "\x7f", "\x01", "\v", "}}", "%}", "-}", "thinking", "citations", "hallucinations"),
    *("length short", "originality abstractive", "groundedness", "harm", "context_relevance"),
)
_KEYS = (
    "city",
    "unit",
    "a",
    "B",
    "été",
    "k&v",
    "_x",
    "nested",
    "z<",
    "Name",
    "with space",
    "items",
    "keys",
    "type",
)
_PLAIN_NUMBERS = (0, 1, -5, 42, 12345, 0.5, -2.25, 3.141592, 100.125)
_NUMBERS = (
    *(0, 1, -7, 3.0, 100000, 999999, 1000000, 1234567, 12345678, 123456789012345, 10**15, 10**20, 10**21),
    *(0.1, 0.25, -0.75, 1e-7, 2.5e-9, 5e-14, 0.00001234, 0.000123, 99999.5, 123456.789012345, 1e15, 1e20),
    *(1e21, 3.5e25, 7e29, -1e22, -1.5e-5, 12345.678901, 1e-5, 1e-4),
)
_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_ODD_ROLES = (
    *("control", "document", "document 7", "context", "developer", "Assistant", "USER", "System", "ipython"),
    *("assistant_tool_call", "tool_response", "tools", "observation", "Tool"),
)


@dataclass(frozen=True, slots=True)
class Case:
    """One conversation.

    Attributes:
        seed: What it was made of.
        messages: Messages; ``reasoning`` is the thinking of an assistant's.
        tools: The tools, None for none.
        think: The API's ``think``.
    """

    seed: int
    messages: list[dict[str, Any]]
    tools: list[Any] | None
    think: bool | str | None


def make_case(seed: int) -> Case:
    """Return a conversation; every other one is ordinary."""
    random = Random(seed)
    maker = _Maker(random, ordinary=random.random() < 0.5)
    messages, uses_tools = maker.conversation()
    tools = [maker.tool() for _ in range(random.choice((1, 1, 2, 3)))] if uses_tools else None
    if tools is None and not maker.ordinary and random.random() < 0.1:
        tools = []
    return Case(seed, messages, tools, random.choice((None, None, None, False, True, "low", "high")))


class _Maker:
    def __init__(self, random: Random, *, ordinary: bool) -> None:
        self.random = random
        self.ordinary = ordinary

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def odd(self, probability: float) -> bool:
        return not self.ordinary and self.chance(probability)

    def text(self) -> str:
        if self.odd(0.08):
            return ""
        if self.odd(0.05):
            return self.random.choice((" ", "\n", "\t"))
        return " ".join(self.random.choice(_PIECES) for _ in range(self.random.randint(1, 4)))

    def value(self, depth: int = 0) -> Any:
        kind = self.random.random()
        if kind < 0.35 or depth > 2:
            return self.text() if self.chance(0.9) else ""
        if kind < 0.55:
            return self.random.choice(_PLAIN_NUMBERS if self.ordinary else _NUMBERS)
        if kind < 0.65:
            return self.random.choice((True, False, None))
        if kind < 0.8:
            return [self.value(depth + 1) for _ in range(self.random.randint(0, 3))]
        return self.object(depth + 1)

    def object(self, depth: int = 1) -> dict[str, Any]:
        return {self.random.choice(_KEYS): self.value(depth) for _ in range(self.random.randint(0, 3))}

    # --- tools ----------------------------------------------------------------------------------------

    def tool(self) -> dict[str, Any]:
        function: dict[str, Any] = {"name": self.random.choice(("get_weather", "f", "añadir", "a<b"))}
        if not self.odd(0.1):
            function["description"] = self.text()
        if not self.odd(0.07):
            function["parameters"] = self.parameters()
        tool: dict[str, Any] = {"type": "x" if self.odd(0.05) else "function", "function": function}
        if self.odd(0.05):
            tool["items"] = self.value(1)
        return tool

    def parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {} if self.odd(0.1) else {"type": "object"}
        if not self.odd(0.1):
            parameters["properties"] = self.properties(0)
        if self.chance(0.6):
            parameters["required"] = [self.random.choice(_KEYS) for _ in range(self.random.randint(0, 3))]
        for key in ("$defs", "items"):
            if self.odd(0.08):
                parameters[key] = self.value(1)
        if self.odd(0.08):
            parameters["additionalProperties"] = False
        return parameters

    def properties(self, depth: int) -> dict[str, Any]:
        return {self.random.choice(_KEYS): self.property(depth) for _ in range(self.random.randint(0, 3))}

    def property(self, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if self.ordinary or self.chance(0.85):
            made["type"] = self.random.choice(_TYPES)
        if self.odd(0.2):
            made["type"] = self.random.choice(
                (self.random.sample(_TYPES, self.random.randint(0, 3)), "", "custom")
            )
        if self.chance(0.75):
            made["description"] = self.text()
        if self.chance(0.25):
            least = 1 if self.ordinary else 0
            made["enum"] = [self.value(2) for _ in range(self.random.randint(least, 3))]
        if made.get("type") == "array" or self.odd(0.2):
            made["items"] = {"type": "string"} if self.ordinary or self.chance(0.5) else self.value(1)
        if self.odd(0.15) and depth < 2:
            made["anyOf"] = [self.property(depth + 1) for _ in range(self.random.randint(0, 2))]
        if self.odd(0.15) and depth < 2:
            made["properties"] = self.properties(depth + 1)
        if self.odd(0.1):
            made["required"] = [self.random.choice(_KEYS) for _ in range(self.random.randint(0, 2))]
        if self.odd(0.1):
            made["title"] = "T"
        keys = list(made)
        self.random.shuffle(keys)
        return {key: made[key] for key in keys}

    def calls(self) -> list[dict[str, Any]]:
        return [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": self.random.choice(("get_weather", "f")), "arguments": self.object()},
            }
            for number in range(self.random.choice((1, 1, 2, 3)))
        ]

    # --- messages -------------------------------------------------------------------------------------

    def conversation(self) -> tuple[list[dict[str, Any]], bool]:
        return self.ordinary_conversation() if self.ordinary else self.odd_conversation()

    def ordinary_conversation(self) -> tuple[list[dict[str, Any]], bool]:
        messages: list[dict[str, Any]] = []
        if self.chance(0.5):
            messages.append({"role": "system", "content": self.text()})
        uses_tools = self.chance(0.6)
        for _ in range(self.random.randint(1, 3)):
            messages.append({"role": "user", "content": self.text()})
            if uses_tools and self.chance(0.6):
                calls = self.calls()
                messages.append(self.assistant(calls))
                for call in calls:
                    name, call_id = call["function"]["name"], call["id"]
                    messages.append(
                        {"role": "tool", "content": self.text(), "name": name, "tool_call_id": call_id}
                    )
                if self.chance(0.3):
                    return messages, True
            messages.append(self.assistant([]))
        if self.chance(0.8):
            messages.append({"role": "user", "content": self.text()})
        return messages, uses_tools

    def assistant(self, calls: list[dict[str, Any]]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.text()}
        if calls:
            message["tool_calls"] = calls
            if self.chance(0.6):
                message["content"] = ""
        if self.chance(0.3):
            message["reasoning"] = self.text()
        return message

    def odd_conversation(self) -> tuple[list[dict[str, Any]], bool]:
        roles = ["system", "user", "assistant", "tool", "user", "assistant", "user"]
        if self.chance(0.15):
            roles += _ODD_ROLES
        size = self.random.choice((0, 1, 1, 2, 3, 4, 5, 6, 8))
        messages = [self.odd_message(self.random.choice(roles)) for _ in range(size)]
        if not messages and self.chance(0.8):
            messages = [{"role": "user", "content": "hi"}]
        return messages, self.chance(0.5)

    def odd_message(self, role: str) -> dict[str, Any]:
        message: dict[str, Any] = {"role": role, "content": self.text()}
        match role.lower():
            case "assistant":
                message = {**self.assistant(self.calls() if self.chance(0.4) else []), "role": role}
            case "tool":
                if self.chance(0.7):
                    message["name"] = self.random.choice(("get_weather", "f"))
                if self.chance(0.7):
                    message["tool_call_id"] = "call_1"
            case _:
                if self.chance(0.1):
                    message["content"] = [self.part() for _ in range(self.random.randint(1, 3))]
        return message

    def part(self) -> dict[str, Any]:
        if self.chance(0.2):
            return self.random.choice(
                ({"type": "image"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}})
            )
        return {"type": "text", "text": self.text()}


# --- what each side gets --------------------------------------------------------------------------------


def ollama_values(case: Case, *, thinks: bool) -> dict[str, Any]:
    """Return the ``template.Values`` that Ollama's server makes of a conversation.

    Args:
        case: The conversation.
        thinks: Whether the template has the thinking ability; one without is never asked to think.
    """
    messages: list[dict[str, Any]] = []
    images = count()
    for message in case.messages:
        made: dict[str, Any] = {"role": message["role"]}
        if message.get("reasoning"):
            made["thinking"] = message["reasoning"]
        if message.get("tool_calls"):
            made["tool_calls"] = [
                {"id": call["id"], "function": call["function"]} for call in message["tool_calls"]
            ]
        if "name" in message:
            made["tool_name"] = message["name"]
        if "tool_call_id" in message:
            made["tool_call_id"] = message["tool_call_id"]
        content = message["content"]
        texts = [content]
        if not isinstance(content, str):
            texts = [part["text"] if part["type"] == "text" else f"[img-{next(images)}]" for part in content]
        messages.append({**made, "content": texts[0]})
        messages += [{"role": message["role"], "content": text} for text in texts[1:]]
    values: dict[str, Any] = {"messages": messages}
    if case.tools is not None:
        values["tools"] = case.tools
    think = _think(case, thinks=thinks)
    if think is None and thinks:
        think = True
    if think is not None:
        values |= {"think": bool(think), "is_think_set": True}
        if think:
            values["think_level"] = "medium" if think is True else think
    return values


def chat_context(case: Case, *, thinks: bool, add_generation_prompt: bool | None = None) -> dict[str, Any]:
    """Return the context that a host of chat templates makes of a conversation.

    Args:
        case: The conversation.
        thinks: Whether the template has the thinking ability.
        add_generation_prompt: None to ask for a generation prompt unless the last message is the assistant's.
    """
    messages = []
    for message in case.messages:
        made = {key: value for key, value in message.items() if key != "reasoning"}
        if message.get("reasoning"):
            made["reasoning_content"] = made["thinking"] = message["reasoning"]
        messages.append(made)
    context: dict[str, Any] = {"messages": messages, "tools": case.tools, "bos_token": "", "eos_token": ""}
    think = _think(case, thinks=thinks)
    if think is not None:
        context["enable_thinking"] = bool(think)
    if isinstance(think, str):
        context["reasoning_effort"] = think
    if add_generation_prompt is None:
        add_generation_prompt = not (case.messages and case.messages[-1]["role"].lower() == "assistant")
    return {**context, "add_generation_prompt": add_generation_prompt}


def _think(case: Case, *, thinks: bool) -> bool | str | None:
    return case.think if thinks or case.think is False else None


# --- assumptions ----------------------------------------------------------------------------------------


def meets(case: Case, assumptions: Iterable[str]) -> bool:
    """Return whether a conversation meets all of some assumptions, by their names.

    Args:
        case: The conversation.
        assumptions: The names.
    """
    return all(_meets(case, name) for name in assumptions)


def _meets(case: Case, name: str) -> bool:
    messages = case.messages
    roles = [message["role"] for message in messages]
    match name:
        case "alternating-turns":
            return _strictly_alternating(messages)
        case "alternating-roles":
            neighbours = pairwise(roles)
            return all(role == role.lower() for role in roles) and not any(
                one == other != "tool" for one, other in neighbours
            )
        case "leading-system":
            systems = [role for role in roles if role.lower() == "system"]
            return systems in ([], ["system"]) and systems == [role for role in roles[:1] if role == "system"]
        case "text-content":
            return all(isinstance(message["content"], str) for message in messages)
        case "no-system":
            return "system" not in roles
        case "some-message":
            return bool(messages)
        case "open-prefill":
            return not (roles and roles[-1].lower() == "assistant")
        case "object-arguments":
            return True
        case "plain-numbers":
            calls = [call for message in messages for call in message.get("tool_calls", ())]
            return _plain_numbers([call["function"]["arguments"] for call in calls]) and _plain_numbers(
                case.tools
            )
        case "plain-schemas":
            return case.tools is None or (bool(case.tools) and all(map(_plain_tool, case.tools)))
        case "plain-space":
            spaces = set(
                re.findall(r"[\s\x1c-\x1f\ufeff\u180e\u200b]", "".join(_all_texts([messages, case.tools])))
            )
            return spaces <= set(" \t\n\v\f\r")
        case "ascii-texts":
            return "".join(_all_texts([messages, case.tools])).isascii()
        case _:
            raise ValueError(f"nothing is known of the assumption {name}")


def _all_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from (key, *_all_texts(item))
    elif isinstance(value, list):
        for item in value:
            yield from _all_texts(item)


def _strictly_alternating(messages: list[dict[str, Any]]) -> bool:
    turns = messages[1:] if messages and messages[0]["role"] == "system" else messages
    return (
        bool(turns)
        and all(message["role"] == ("user", "assistant")[at % 2] for at, message in enumerate(turns))
        and all(message["content"] for message in messages)
    )


def _plain_numbers(value: Any) -> bool:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return True
    if isinstance(value, int):
        return abs(value) < 10**15
    if isinstance(value, float):
        text = repr(value)
        return not value.is_integer() and "e" not in text and len(text.split(".")[1]) <= 6
    return all(map(_plain_numbers, value.values() if isinstance(value, dict) else value))


def _plain_tool(tool: dict[str, Any]) -> bool:
    function = tool["function"]
    parameters = function.get("parameters") or {}
    return (
        tool.keys() == {"type", "function"}
        and bool(function.get("description"))
        and {"type", "properties"} <= parameters.keys()
        and not {"$defs", "items"} & parameters.keys()
        and all(map(_plain_property, parameters["properties"].values()))
    )


def _plain_property(schema: dict[str, Any]) -> bool:
    return (
        isinstance(schema.get("type"), str)
        and not {"anyOf", "properties", "required"} & schema.keys()
        and schema.get("description") != ""
        and schema.get("enum") != []
        and schema.get("items", ()) is not None
    )
