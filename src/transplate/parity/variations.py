"""Conversations in which one thing at a time is driven further than people usually do.

White space in every text, many calls at once, schemas with every keyword at every depth, capitals in names:
what templates treat alike until one of them is changed. Whoever compares templates tries them all, but speaks
of one only if it shows a kind of difference that nothing else shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any

from transplate.conversation import Conversation, Message, Part, Think, ToolCall
from transplate.parity.conversations import examples
from transplate.parity.experiments.texts import as_parts

_PADDINGS = ("  {} ", "\n{}\n\n", "\t{}\r\n", "{} \n \n x", "{}{}")
_BLANKS = (" ", "\n\n")
_SPACED = ("Be brief.", "Hello!", "Look it up.", "Seven degrees.")
_COUNTS = (2, 3, 5, 9)
_THINKS: tuple[Think, ...] = (None, False, True, "low", "medium", "high")
_KINDS = ("string", "integer", "number", "boolean", "array", "object", "null")
_TURNS = (1, 2, 3, 4, 5, 8, 12)
_TOGETHER = 7
"""How many keywords of a schema stand in one conversation."""
_KEYWORDS: Mapping[str, Any] = {
    "title": "Title",
    "description": "Text.",
    "default": "a",
    "examples": ["a", "b"],
    "const": "a",
    "enum": ["a", "b", "A", "c", "a "],
    "format": "date-time",
    "pattern": "^a+$",
    "minLength": 1,
    "maxLength": 64,
    "minimum": 0,
    "maximum": 100000,
    "exclusiveMinimum": 0.5,
    "multipleOf": 2,
    "nullable": True,
    "minItems": 1,
    "maxItems": 8,
    "uniqueItems": True,
    "deprecated": False,
    "readOnly": True,
    "items": {"type": "string", "enum": ["x", "y"], "description": "An item."},
    "anyOf": [{"type": "string"}, {"type": "null"}],
    "oneOf": [{"type": "integer"}],
    "$ref": "#/$defs/a",
    "allOf": [{"type": "object"}],
    "not": {"type": "null"},
    "additionalProperties": False,
    "strict": True,
    "$defs": {"a": {"type": "string"}},
    "required": ["a"],
    "properties": {"a": {"type": "string"}},
    "x-order": 1,
    "X-Unit": "m",
    "_note": "n",
}


@lru_cache(maxsize=1)
def variations() -> tuple[Conversation, ...]:
    """Return the conversations, each once."""
    made = (
        *(*_white_space(), *_calls(), *_arguments(), *_schemas(), *_names(), *_parts()),
        *(*_thinking(), *_sequences()),
    )
    found = {repr(conversation): conversation for conversation in made}
    return tuple(found.values())


def tool(name: str, properties: Mapping[str, Any] | None = None, **others: Any) -> dict[str, Any]:
    """Return a tool.

    Args:
        name: Its name.
        properties: The schemas of its parameters; one of a text if None.
        others: Other keywords of the schema of all of them.
    """
    properties = {"city": {"type": "string", "description": "A city"}} if properties is None else properties
    parameters = {"type": "object", "properties": dict(properties), **others}
    return {"type": "function", "function": {"name": name, "description": "Do it.", "parameters": parameters}}


def tool_round(
    calls: tuple[ToolCall, ...],
    *,
    content: str | None = "",
    reasoning: str = "",
    results: tuple[str, ...] = ("7",),
    answer: str | None = None,
    tools: tuple[Mapping[str, Any], ...] | None = None,
) -> Conversation:
    """Return a question, calls, their results and perhaps the answer and the next question.

    Args:
        calls: The calls.
        content: The text beside them.
        reasoning: The thinking before them.
        results: The results, the last for all further calls too.
        answer: The answer; None if the results are last.
        tools: The tools; those that are called if None.
    """
    messages = [Message("user", "Look it up."), Message("assistant", content, reasoning, calls)]
    for at, call in enumerate(calls):
        result = results[min(at, len(results) - 1)]
        messages.append(Message("tool", result, name=call.name, tool_call_id=call.id))
    if answer is not None:
        messages += [Message("assistant", answer), Message("user", "Thanks!")]
    called = tuple(tool(name) for name in dict.fromkeys(call.name for call in calls))
    return Conversation(tuple(messages), called if tools is None else tools)


def call(number: int = 0, arguments: Mapping[str, Any] | None = None, name: str = "get_weather") -> ToolCall:
    """Return a call of a tool, the number of which is in its id."""
    return ToolCall(name, {"city": "Oslo"} if arguments is None else arguments, f"call{number:05}")


def in_parts(conversation: Conversation, *roles: str) -> Conversation:
    """Return a conversation whose texts are typed parts.

    Args:
        conversation: The conversation.
        roles: Whose; everyone's if none is given.
    """
    messages = [
        as_parts(message) if not roles or message.role in roles else message
        for message in conversation.messages
    ]
    return replace(conversation, messages=tuple(messages))


def _white_space() -> Iterator[Conversation]:
    """Yield conversations with white space around every text, and with nothing else in them."""
    for padding in (*_PADDINGS, *_BLANKS):
        system, user, asked, answer = (padding.format(text, text) for text in _SPACED)
        thought = padding.format("Hm.", "Hm.")
        front = Message("system", system)
        turns = (Message("user", user), Message("assistant", answer, thought), Message("user", asked))
        yield Conversation((front, *turns))
        yield Conversation((*turns, Message("assistant", answer)))
        padded = tool("look_up", {"what": {"type": "string", "description": padding.format("It", "It")}})
        described: dict[str, Any] = {**padded["function"], "description": system}
        yield replace(
            tool_round(
                (call(1, {"what": answer}, "look_up"),),
                content=answer if answer.strip() else "",
                reasoning=thought,
                results=(user,),
                answer=answer,
            ),
            tools=({**padded, "function": described},),
        )
        yield tool_round((call(1), call(2)), content=answer, reasoning=thought, results=(user, answer))


def _calls() -> Iterator[Conversation]:
    """Yield conversations with several calls at once, several tools and several rounds."""
    for count in _COUNTS:
        calls = tuple(call(number, {"city": f"City {number}"}) for number in range(count))
        others = tuple(call(number, {"a": number}, f"tool_{number}") for number in range(count))
        yield tool_round(calls, results=("1", "2", "3", "4"), answer="So.")
        yield tool_round(others, content=None, results=("1", "2", "3"), answer="So.")
        yield tool_round(others, content="Wait.", reasoning="Which?", results=("1", "2", "3"))
        yield Conversation(
            (Message("user", "Look it up."), Message("assistant", "", "", others), Message("user", "Stop!"))
        )
    unsaid = tool_round((call(1), call(2)), content=None)
    yield replace(unsaid, messages=(*unsaid.messages, *unsaid.messages[1:]))
    yield replace(unsaid, messages=(*unsaid.messages, Message("assistant", "So."), *unsaid.messages))
    one, two = tool_round((call(1),), reasoning="First this."), tool_round((call(2),), content="Then that.")
    yield replace(one, messages=one.messages + two.messages[1:])
    done = tool_round((call(1), call(2)), content="Both.", reasoning="Now.", answer="Done.")
    again = tool_round((call(3),), reasoning="Once more.")
    yield replace(done, messages=(Message("system", "Be brief."), *done.messages, *again.messages[1:]))
    yield replace(done, messages=done.messages[:-1] + again.messages)
    yield replace(one, messages=(*one.messages, Message("user", "No, that one."), *two.messages[1:]))
    yield replace(one, messages=(*one.messages, Message("user", "And?")))
    yield replace(one, messages=(*one.messages, Message("user", "And?"), Message("user", "Well?")))
    yield Conversation(done.messages)


def _arguments() -> Iterator[Conversation]:
    """Yield calls with arguments of every kind, and results that look like data."""
    values: tuple[tuple[Any, ...], ...] = (
        ("", "x", " x ", "7", "true", "null", '{"a": 1}', "a\nb", "it's", 'a "b"', "Ünï", "<b>&"),
        (0, 1, -1, 99999, 100000, 1234567, 0.5, 7.0, 1e6, 3.14159265, -0.001),
        (True, False, None),
        ([], ["a", "b"], [1, 2.5], [True, None], [[1], []], [{"x": "y"}]),
        ({}, {"b": 1, "a": {"B": [1], "A": None}}, {"k": ["v"], "e": {}}),
    )
    for some in values:
        yield tool_round((call(1, {f"v{number}": value for number, value in enumerate(some)}),))
        yield tool_round((call(1, {"value": some[0]}), call(2, {"value": some[-1]})))
    yield tool_round((call(1, {"b": 1, "A": 2, "a": 3, "B": 4, "10": 5, "9": 6, "_x": 7, "é": 8}),))
    yield tool_round((call(1, {}), call(2, {"a": 1})))
    for result in ("7.0", "[1, 2]", "true", "null", '"x"', "<r>1</r>", "a\n\nb\n", "{}", "0"):
        yield tool_round((call(1),), results=(result,), answer="So.")


def _schemas() -> Iterator[Conversation]:
    """Yield tools whose schemas have every keyword at every depth."""
    kinds: dict[str, Any] = {}
    for kind in _KINDS:
        kinds[kind] = {"type": kind}
        kinds[f"{kind}_described"] = {"type": kind, "description": f"A {kind}."}
        kinds[f"{kind}_optional"] = {"type": [kind, "null"], "description": "Perhaps."}
        kinds[f"{kind}_list"] = {"type": "array", "items": {"type": kind, "description": "Each."}}
        kinds[f"{kind}_map"] = {"type": "object", "additionalProperties": {"type": kind}}
    kinds |= {"none": {}, "only_described": {"description": "Anything."}}
    kinds |= {
        "chosen": {"enum": ["a", "B", "b", "A", "a", ""]},
        "number_chosen": {"type": "integer", "enum": [1, 2, 3]},
        "one": {"type": "string", "enum": ["a"]},
    }
    kinds |= {"defaults": {"type": "string", "default": ""}, "zero": {"type": "number", "default": 0}}
    kinds |= {
        "on": {"type": "boolean", "default": True},
        "empty": {"type": "array", "default": [], "items": {}},
    }
    kinds |= {"undescribed": {"type": "string", "description": ""}, "closed": {"type": "string", "enum": []}}
    yield _asking(tool("all_kinds", kinds, required=list(kinds)[::2]))
    yield _asking(tool("all_kinds", kinds))
    pieces = {
        "a": {"type": "string", "description": "A."},
        "b": {"type": "array", "items": {"type": "integer"}},
    }
    deep = {"type": "object", "description": "Deep.", "properties": pieces, "required": ["b"]}
    deepest = {
        "type": "object",
        "properties": {"deep": deep, "e": {"enum": ["x", "y"]}},
        "required": ["deep"],
    }
    nested = {"deep": deep, "deepest": deepest, "list": {"type": "array", "items": deep}}
    yield _asking(tool("nested", nested, required=["deepest", "list"]))
    yield _asking(tool("first"), tool("nested", {"list": {"type": "array", "items": deepest}}), tool("last"))
    for start in range(0, len(_KEYWORDS), _TOGETHER):
        some = dict(islice(_KEYWORDS.items(), start, start + _TOGETHER))
        outer = {name: {"type": "string", name: value} for name, value in some.items()}
        inner = {"type": "object", "properties": outer}
        yield _asking(tool("outer", outer), tool("inner", {"inner": inner}), tool("whole", **some))
        yield _asking(tool("list", {"list": {"type": "array", "items": {**inner, **some}}}))
    bare = tool("bare")
    function = bare["function"]
    for changed in (
        {**bare, "function": {"name": "bare"}},
        {**bare, "function": {"name": "bare", "description": ""}},
        {**bare, "function": {"name": "bare", "description": "Do it."}},
        {
            **bare,
            "function": {**function, "strict": True, "return": {"type": "string", "description": "It."}},
        },
        {**bare, "function": {**function, "response": {"type": "object"}, "parameters": {}}},
        {
            **bare,
            "function": {**function, "parameters": {"type": "object", "properties": {}, "required": []}},
        },
        {"function": function},
        {**bare, "type": "custom"},
    ):
        yield _asking(changed)
        yield _asking(tool("first"), changed)


def _asking(*tools: Mapping[str, Any]) -> Conversation:
    return Conversation((Message("user", "Look it up."),), tools)


def _names() -> Iterator[Conversation]:
    """Yield names, ids and roles in capitals and small letters, and names that come twice."""
    names = ("Get_Weather", "get-weather", "get.weather", "GETWEATHER", "ns:get", "get_weather")
    for name in names:
        asked = tool_round((ToolCall(name, {"City": "OSLO"}, "Call_ABC-9"),), answer="So.")
        yield asked
        unnamed = [replace(message, name="") for message in asked.messages]
        yield replace(asked, messages=tuple(unnamed), tools=tuple(map(tool, names)))
    twice = (tool("same"), tool("Same"), tool("same", {"other": {"type": "integer"}}))
    yield _asking(*twice)
    yield _asking(*twice[::-1], tool("a"), tool("B"), tool("b"), tool("A"))
    ids = ("", "call_0", "9", "abcdefghi", "toolu_01ABC", "Call-ÄB")
    for identifier in ids:
        yield tool_round((ToolCall("get_weather", {"city": "Oslo"}, identifier),))
    for speaker in ("Ann", "ann", "assistant"):
        yield Conversation(
            (
                *(Message("user", "Hi", name=speaker), Message("assistant", "Hello.", name=speaker)),
                Message("user", "Go on."),
            )
        )
    for role in ("User", "SYSTEM", "Assistant", "TOOL", "Developer", "developer", "function", "ipython"):
        yield Conversation((Message(role, "One."), Message("user", "Two.")))
        yield Conversation((Message("user", "One."), Message(role, "Two."), Message("user", "Three.")))


def _parts() -> Iterator[Conversation]:
    """Yield texts in one part, two and three, of everyone and of one alone; and messages without text."""
    for texts in (("One.",), ("One.", "Two."), ("One.\n", "", " Two."), ("1", "2", "3", "4")):
        content = tuple(Part("text", {"type": "text", "text": text}) for text in texts)
        yield Conversation((Message("user", content),))
        yield Conversation(
            (
                *(Message("system", content), Message("user", content)),
                *(Message("assistant", content, "Hm."), Message("user", content)),
            )
        )
        asked = tool_round((call(1),))
        yield replace(asked, messages=(*asked.messages[:2], replace(asked.messages[2], content=content)))
    turns = (Message("user", "Hi"), Message("assistant", "Hello."), Message("user", "Go on."))
    plain = Conversation((Message("system", "Be brief."), *turns))
    asked = tool_round((call(1),), content="Wait.", answer="So.")
    for role in ("system", "user", "assistant", "tool"):
        for base in (plain, asked):
            yield in_parts(base, role)
            messages = [
                replace(message, content=None) if message.role == role else message
                for message in base.messages
            ]
            yield replace(base, messages=tuple(messages))


def _thinking() -> Iterator[Conversation]:
    """Yield the built-in conversations with thinking in every answer, and all ways to ask for thinking."""
    for example in examples():
        conversation = example.conversation
        messages = tuple(
            replace(message, reasoning="Let me think.")
            if message.role == "assistant" and not message.reasoning
            else message
            for message in conversation.messages
        )
        if messages != conversation.messages:
            yield replace(conversation, messages=messages, name="")
    system, user = Message("system", "Be brief."), Message("user", "Hi")
    thought = (user, Message("assistant", "Hello.", "Who is it?"), user)
    asked = tool_round((call(1),), reasoning="Where?")
    for think in _THINKS:
        yield Conversation((user,), think=think)
        yield Conversation((system, *thought), think=think)
        yield replace(asked, think=think)
        yield Conversation((system, user), asked.tools, think=think)
        yield Conversation((user, Message("assistant", "", "Well")), think=think)
    for text in ("<think>\nOne.\n</think>\n\nTwo.", "One.</think>Two.", "<think></think>Two.", "a<think>b"):
        yield Conversation((user, Message("assistant", text), user))
        yield Conversation((user, Message("assistant", text, "Hm."), user))


def _sequences() -> Iterator[Conversation]:
    """Yield long conversations with everyone at every place, and their beginnings."""
    asked = tool_round((call(1),), reasoning="Hm.").messages
    both = tool_round((call(1), call(2)), content="Both.").messages
    turn = (Message("user", "Hi"), Message("assistant", "Hello."))
    answer = Message("assistant", "So.", "Thus.")
    tools = (tool("get_weather"),)
    for first in ((), (Message("system", "Be brief."),), turn, (Message("system", "Be brief."), *turn)):
        messages = [
            *first,
            *asked,
            answer,
            *both,
            answer,
            *turn,
            *asked,
            *asked[1:],
            answer,
            *both,
            answer,
            *turn,
        ]
        yield Conversation((*messages, Message("user", "And now?")), tools)
    for turns in _TURNS:
        yield Conversation((*turn * turns, Message("user", "Well?")))
    late = Message("system", "Now rhyme.")
    yield Conversation((*asked, late))
    yield Conversation((Message("user", "Hi"), late))
    yield Conversation((*turn, late, Message("user", "Go on."), late))
