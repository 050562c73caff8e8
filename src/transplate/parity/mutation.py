"""Small random changes of conversations, with the texts and names that templates ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from random import Random
from typing import Any

from transplate.conversation import Conversation, Message, Part, Think, ToolCall

ROLES = ("system", "user", "assistant", "tool")
_THINKS: tuple[Think, ...] = (None, False, True, "low", "medium", "high")
_TYPES: tuple[Any, ...] = ("string", "array", "object", "integer", "number", "boolean", ["string", "null"])
_MOST_MESSAGES = 14
_FILLER = "\n\nsome text that is longer than what templates compare"
_TEXTS = (
    *("", " ", "x", "Qx0", " padded \n", "line\nline"),
    *("<think>\nhm\n</think>\n\nyes", '{"a": 1}', "a<b>&'\"\\é"),
)
_FIELDS = frozenset({field.name for field in fields(Message)} | {"thinking", "reasoning_content"})
_IMAGE = "iVBORw0KGgo="
_SCHEMA_NAMES = (
    *("enum", "default", "title", "minimum", "items", "properties", "required", "anyOf", "nullable"),
)


class Mutator:
    """Makes conversations of others.

    Args:
        random: Where chance comes from.
        words: The texts that the templates compare with.
        names: The names that chat templates ask for: variables and fields.
    """

    def __init__(self, random: Random, words: Sequence[str], names: Sequence[str]) -> None:
        self.random = random
        self.words = list(words) or ["x"]
        self.names = list(names)

    def mutant(
        self,
        conversation: Conversation,
        other: Conversation,
        words: Sequence[str] = (),
        names: Sequence[str] = (),
    ) -> Conversation:
        """Return a conversation with some changes.

        Args:
            conversation: The conversation.
            other: Another one, parts of which may go into it.
            words: Texts to use rather than any.
            names: Names to use rather than any.
        """
        outer = self.words, self.names
        if words and self.random.random() < 0.8:
            self.words = list(words)
        if names and self.random.random() < 0.8:
            self.names = list(names)
        made = replace(conversation, name="")
        for _ in range(self.random.choice((1, 1, 2, 3))):
            change: Callable[[Conversation, Conversation], Conversation] = self.random.choice(
                (
                    *(self._message, self._message, self._message, self._sequence, self._sequence),
                    *(self._tools, self._think, self._variables),
                )
            )
            made = change(made, other)
        self.words, self.names = outer
        return made

    def text(self) -> str:
        """Return a text: mostly one that the templates ask for."""
        random = self.random
        if random.random() < 0.3:
            return random.choice(_TEXTS)
        word, other = random.choice(self.words), random.choice(self.words)
        texts = (
            word,
            word,
            f"{word} x",
            f"x {word}",
            f"{word}{_FILLER}",
            f"a{word}b{word}c",
            f"{word}x{other}",
        )
        return random.choice(texts)

    def role(self) -> str:
        """Return a role, mostly one in common use."""
        if self.random.random() < 0.75:
            return self.random.choice(ROLES)
        word = self.random.choice(self.words)
        return self.random.choice(("developer", word or "x", word.strip() or "x", f"{word} 7"))

    def value(self) -> Any:
        """Return a value for a variable or an argument."""
        word = self.text()
        return self.random.choice(
            (
                *(True, False, None, 1, 0, 2.5, word, word, [word], {word: word}, [], {}, [{"type": word}]),
                *(["get_weather", "f"], [word, 1], {word: [word], "b": {"c": 1}}),
            )
        )

    def call(self, identifier: str = "call_0") -> ToolCall:
        """Return a call of a tool."""
        name = self.random.choice(("get_weather", self.text()))
        keys = (self.text(), self.random.choice(self.names) if self.names else "a", "b", "A")
        arguments = {key: self.value() for key in self.random.sample(keys, self.random.randint(0, 3))}
        return ToolCall(name, arguments, identifier if self.random.random() < 0.8 else "")

    # --- changes ----------------------------------------------------------------------------------------

    def _message(self, conversation: Conversation, other: Conversation) -> Conversation:
        """Change a message."""
        messages = list(conversation.messages)
        at = self.random.randrange(len(messages))
        messages[at] = self._changed(messages[at], other)
        return replace(conversation, messages=tuple(messages))

    def _changed(self, message: Message, other: Conversation) -> Message:
        random = self.random
        match random.randrange(12):
            case 0 | 1:
                return replace(message, content=self.text())
            case 2:
                return replace(message, role=self.role())
            case 3:
                return replace(message, role=self.role(), content=self.text())
            case 4:
                return replace(message, reasoning="" if message.reasoning else self.text())
            case 5 if message.tool_calls:
                return replace(message, tool_calls=())
            case 5 | 6:
                calls = tuple(self.call(f"call_{number}") for number in range(random.choice((1, 1, 2))))
                content = message.content if random.random() < 0.3 else random.choice(("", None))
                return replace(message, role="assistant", content=content, tool_calls=calls)
            case 7 if message.tool_calls:
                calls = tuple(replace(call, arguments=self.call().arguments) for call in message.tool_calls)
                return replace(message, tool_calls=calls)
            case 7 | 8:
                name, identifier = random.choice(((self.text(), ""), ("", self.text()), ("", "")))
                if name or identifier:
                    return replace(message, name=name, tool_call_id=identifier)
                return replace(message, content=None)
            case 9 if isinstance(message.content, str):
                count = random.choice((1, 1, 2))
                parts = [Part("text", {"type": "text", "text": self.text()}) for _ in range(count)]
                if random.random() < 0.4:
                    parts.insert(random.randint(0, count), Part("image", {"type": "image", "base64": _IMAGE}))
                return replace(message, content=tuple(parts))
            case 10 if self.names and (name := random.choice(self.names)) not in _FIELDS:
                return replace(message, extra={**message.extra, name: self.value()})
            case _:
                return random.choice(other.messages)

    def _sequence(self, conversation: Conversation, other: Conversation) -> Conversation:
        """Change the order of the messages, drop some or add some."""
        random = self.random
        messages = list(conversation.messages)
        match random.randrange(8):
            case 0:
                del messages[random.randrange(len(messages))]
            case 1:
                del messages[random.randrange(len(messages)) :]
            case 2 | 3:
                messages.insert(random.randint(0, len(messages)), Message(self.role(), self.text()))
            case 4:
                messages.append(Message(random.choice(ROLES), self.text()))
            case 5:
                random.shuffle(messages)
            case 6:
                messages.insert(random.randint(0, len(messages)), random.choice(messages))
            case _:
                start = random.randrange(len(other.messages))
                messages += other.messages[start : start + random.randint(1, 3)]
                if random.random() < 0.5:
                    conversation = replace(conversation, tools=other.tools)
        if not messages:
            messages = [Message(self.role(), self.text())]
        return replace(conversation, messages=tuple(messages[:_MOST_MESSAGES]))

    def _tools(self, conversation: Conversation, other: Conversation) -> Conversation:
        """Change whether there are tools, or one of them."""
        random = self.random
        if not conversation.tools or random.random() < 0.25:
            given = random.choice((other.tools, other.tools, (self._tool(),), ()))
            return replace(conversation, tools=given)
        tools = list(conversation.tools)
        at = random.randrange(len(tools))
        tool = dict(tools[at])
        function = _object(tool["function"])
        parameters = _object(function.get("parameters")) or {"type": "object"}
        match random.randrange(9):
            case 0:
                function["name"] = self.text()
            case 1:
                function["description"] = self.text()
            case 2:
                function.pop(random.choice(("parameters", "description")), None)
            case 3:
                parameters.pop(random.choice(("required", "properties", "type")), None)
                function["parameters"] = parameters
            case 4:
                holder = random.choice((tool, function, parameters))
                holder[random.choice(self.names or ["strict"])] = self.value()
                if holder is parameters:
                    function["parameters"] = parameters
            case 5:
                tools.append(self._tool())
            case 6:
                del tools[at]
                return replace(conversation, tools=tuple(tools))
            case _:
                properties = _object(parameters.get("properties"))
                properties[random.choice(("city", "a", self.text()))] = self._schema(2)
                parameters["properties"] = properties
                parameters["required"] = random.choice((["a"], ["city"], [], ["a", "city"]))
                function["parameters"] = parameters
        tools[at] = {**tool, "function": function}
        return replace(conversation, tools=tuple(tools))

    def _tool(self) -> dict[str, Any]:
        parameters = {"type": "object", "properties": {"a": self._schema(1)}, "required": ["a"]}
        function = {"name": self.random.choice(("f", self.text())), "description": self.text()}
        return {"type": "function", "function": {**function, "parameters": parameters}}

    def _schema(self, depth: int) -> dict[str, Any]:
        """Return the schema of a parameter."""
        random = self.random
        made: dict[str, Any] = {}
        if random.random() < 0.9:
            made["type"] = random.choice((*_TYPES, self.random.choice(self.words)))
        if random.random() < 0.6:
            made["description"] = self.text()
        for name in random.sample((*_SCHEMA_NAMES, *self.names), random.choice((0, 0, 1, 2))):
            made[name] = random.choice(([self.text()], self.value(), self._inner(depth)))
        return made

    def _inner(self, depth: int) -> Any:
        if depth == 0:
            return {"type": "string"}
        inner = self._schema(depth - 1)
        return self.random.choice((inner, {"a": inner}, [inner]))

    def _think(self, conversation: Conversation, _other: Conversation) -> Conversation:
        return replace(conversation, think=self.random.choice(_THINKS))

    def _variables(self, conversation: Conversation, _other: Conversation) -> Conversation:
        """Set or unset a variable of chat templates."""
        if conversation.variables and self.random.random() < 0.3:
            return replace(conversation, variables={})
        if not self.names:
            return conversation
        name = self.random.choice(self.names)
        value = self.value()
        if name == "documents":
            value = [{"title": self.text(), "text": self.text()} for _ in range(self.random.choice((1, 2)))]
        return replace(conversation, variables={**conversation.variables, name: value})


def _object(value: Any) -> dict[str, Any]:
    """Return a copy of an object, which an earlier change may have made anything else: then it is empty."""
    return dict(value) if isinstance(value, Mapping) else {}
