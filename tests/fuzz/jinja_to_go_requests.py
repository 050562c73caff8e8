"""Requests for a chat template: ordinary ones, odd ones, and ones aimed at branches not yet taken.

A request is Ollama's ``template.Values`` as data. What is ordinary is decided by how it is made: the shapes
and texts that applications send. Odd requests have texts with the template's own words and think tags in
them, white space around texts, roles in any order, and values of every type.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

from jinja2 import nodes

from tests.fuzz.conversations import Conversations
from tests.oracle.ollama import OLLAMA_VERSION
from transplate.convert.jinja_to_go.view import view
from transplate.errors import TransplateError
from transplate.jinja.coverage import Arm, JinjaCoverage
from transplate.jinja.template import parse
from transplate.ollama import Values

NOW = datetime(2026, 3, 4, 9, 26, 53)
"""What the clock says in all runs, in Jinja and in Go."""

Case = dict[str, Any]
_MARKER = re.compile(r"<[^<>\s]{1,30}>|\[[A-Z_/]{2,30}\]|[「」]|<｜[^｜]{1,30}｜>")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")
TRIES = 1000
"""How many requests are tried for the branches of a template."""

_TEXTS = (
    *("Hello!", "What is the weather in Oslo?", "It is 7 °C and raining.", "Be brief.", "2 + 2 = 4", "Why?"),
    *("Réponds en français, s’il te plaît.", "日本語で答えてください。", "Thanks 😀", "naïve Straße", "Да."),
    "First line.\nSecond line.\n\n- one\n- two",
    "```python\ndef f(x):\n    return {'a': x}\n```",
    '<p class="x">a &amp; b</p> is HTML, "quoted" and \'single\'',
    'Return {"city": "Oslo", "list": [1, 2.5, null, true]} as JSON.',
    "Use C:\\temp\\new & 100% of $HOME, a=b&c=d+e",
    "{{ mustache }} and {% tag %}",
)
_ASCII_TEXTS = tuple(text for text in _TEXTS if text.isascii())
_THOUGHTS = (
    "The user wants the weather.",
    "2 and 2 make 4.\nSo 4.",
    "Let me think: é, 日本.",
    "I should call a tool.",
)
_SPACES = (
    "",
    " ",
    "\n",
    "\n\n",
    "\t",
    " \n ",
    "\r\n",
    "\u00a0",
    "\u2028",
    "\u3000",
    "\x85",
    "\x1c",
    "\u200b",
    "\ufeff",
)
_ODD = (
    *(
        "<think>a</think>b",
        "</think>",
        "<think>",
        "a</think>\n\nb",
        "\n<think>\na\n</think>\n\nb",
        "</think></think>x",
    ),
    *(
        "x<think>",
        "a</think>b</think>c",
        "<think></think>",
        "<think>\n\n</think>\n\nanswer",
        "<|channel>a<channel|>b",
    ),
    *(
        "<tool_response>x</tool_response>",
        "<tool_response>",
        "</tool_response>",
        '<tool_call>{"name": "f"}</tool_call>',
    ),
    *(
        "[INST]",
        "<|im_end|>",
        "</s>",
        "%s %d %!s(MISSING) %%",
        "\\n \\u0041",
        "'",
        '"',
        'it\'s "x"',
        "ÀÉÎ ß ﬁ İ ǆ Σς",
    ),
    *(
        "None",
        "True",
        "0",
        "[]",
        "{}",
        "null",
        "-1",
        "a, b",
        "/think",
        "/no_think",
        "hi /no_think",
        "system",
        "user",
    ),
)
_CITY = {"type": "string", "description": "Name of the city"}
_SCHEMAS: tuple[dict[str, Any], ...] = (
    _CITY,
    {"type": "string", "enum": ["celsius", "fahrenheit"], "description": "The unit"},
    {"type": "integer", "description": "How many days – e.g. 3"},
    {"type": "number"},
    {"type": "boolean", "description": 'Say "yes" or <no> & why'},
    {"type": "array", "items": {"type": "string"}, "description": "Tags"},
    {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}},
    {
        "type": "object",
        "description": "A place",
        "properties": {"name": {"type": "string"}, "at": {"type": "array", "items": {"type": "number"}}},
        "required": ["name"],
    },
    {"type": ["string", "null"], "description": "Maybe a note"},
    {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "One or the other"},
    {"type": "string", "description": "First line\nsecond line", "default": "x"},
)
_ODD_SCHEMAS: tuple[dict[str, Any], ...] = (
    {},
    {"description": ""},
    {"type": "array"},
    {"type": "object"},
    {"type": "object", "properties": {}},
    {"type": "array", "items": {"type": "array", "items": {"type": "object", "properties": {"x": _CITY}}}},
    {"type": "string", "enum": []},
    {"type": "integer", "enum": [1, 2.5, None, True, "a", [1], {"b": 2}]},
    {"type": []},
    {"type": ["integer"]},
    {"anyOf": []},
    {
        "type": "object",
        "properties": {"b": {"type": "object", "properties": {"c": {"enum": ["é"]}}}, "a": {}},
    },
    {"items": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "type": "array"},
)
_ARGUMENTS: tuple[dict[str, Any], ...] = (
    {},
    {"city": "Oslo"},
    {"city": "Paris", "unit": "celsius", "days": 3},
    {"query": 'say "hi" <b>&</b> it\'s é\n日本', "limit": 10},
    {"exact": True, "fuzzy": False, "none": None, "weight": 2.5},
    {"tags": ["a", "b"], "place": {"name": "Oslo", "at": [59.9, 10.75], "deep": {"list": [{"x": 1}]}}},
    {"code": "def f():\n    return {}\n", "empty": "", "zero": 0, "list": [], "object": {}},
    {"population": 21000000, "id": 1234567890123, "price": 19.99, "share": 0.000015, "below": -3},
)
_NAMES = ("get_weather", "search", "get_time", "run")


@dataclass(frozen=True)
class Request:
    """A request, and whether it is an ordinary one."""

    case: Case
    ordinary: bool


@dataclass
class Chosen:
    """The requests for a template.

    Attributes:
        requests: The requests.
        arms: How many branches the template has.
        missed: Branches that none of the requests takes, in words.
    """

    requests: list[Request]
    arms: int
    missed: list[str] = field(default_factory=list)


class Generator:
    """Makes requests for one template.

    Args:
        source: The template.
        rng: The source of chance.
    """

    def __init__(self, source: str, rng: Random) -> None:
        self.rng = rng
        self.odd = Conversations(rng)
        self.texts: tuple[str, ...] = _TEXTS
        tree = parse(source)
        constants = {node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)}
        data = {mark for node in tree.find_all(nodes.TemplateData) for mark in _MARKER.findall(node.data)}
        marks = {mark for constant in constants for mark in _MARKER.findall(constant)}
        self.words = sorted(word for word in constants | data | marks if 0 < len(word) <= 60)
        self.pairs = [
            (word, word.replace("<", "</", 1))
            for word in self.words
            if word.replace("<", "</", 1) in self.words
        ]
        self.names = sorted(word for word in constants if re.fullmatch(r"[A-Za-z_]{2,20}", word))

    # --- texts ----------------------------------------------------------------------------------------

    def text(self, ordinary: bool, hints: tuple[str, ...] = ()) -> str:
        """Return a text; an odd one may hold hints or the template's own words."""
        rng = self.rng
        if ordinary:
            texts = self.texts
            return rng.choice(texts) if rng.random() < 0.8 else " ".join(rng.sample(texts, 2))
        kind = rng.random()
        words = hints or self.words
        if self.pairs and 0.35 < kind < 0.45:
            opening, closing = rng.choice(self.pairs)
            inside = rng.choice(("", rng.choice(_TEXTS), rng.choice(_SPACES), opening, closing))
            return opening + inside + closing + rng.choice(("", "", rng.choice(_SPACES), rng.choice(_TEXTS)))
        if words and (kind < 0.35 or hints):
            pieces = (rng.choice(words), rng.choice(words), rng.choice(_TEXTS), rng.choice(_SPACES))
            return "".join(rng.choices(pieces, (3, 2, 2, 1), k=rng.randint(1, 4)))
        if kind < 0.55:
            return rng.choice(_ODD)
        if kind < 0.6:
            # Searches and cuts that go by blocks must be right wherever a block ends.
            filler = rng.choice(("word ", "é", "日本 ", "x<y & ", "a\n", "\U0001f600-"))
            before, after = (filler * (rng.randint(0, 1400) // len(filler)) for _ in range(2))
            return before[rng.randint(0, 3) :] + rng.choice((*_ODD, *self.words)) + after
        if kind < 0.75:
            core = rng.choice((*_TEXTS[:4], *_ODD, ""))
            return (
                rng.choice(_SPACES) + rng.choice(_SPACES) + core + rng.choice(_SPACES) + rng.choice(_SPACES)
            )
        return self.odd.text()

    # --- messages -------------------------------------------------------------------------------------

    def assistant(self, ordinary: bool, *, calls: int = 0, thinks: float = 0.4) -> dict[str, Any]:
        """Return a message of the assistant."""
        rng = self.rng
        made: dict[str, Any] = {"role": "assistant", "content": self.text(ordinary)}
        if rng.random() < thinks:
            made["thinking"] = rng.choice((*_THOUGHTS, *self.texts[:4])) if ordinary else self.text(False)
        if calls:
            named = rng.random() < 0.5
            made["tool_calls"] = [
                {
                    **({"id": f"call0000{index}"} if named else {}),
                    "function": {"name": rng.choice(_NAMES), "arguments": self.arguments(ordinary)},
                }
                for index in range(calls)
            ]
            if rng.random() < 0.6:
                made["content"] = ""
        return made

    def answers(self, ordinary: bool, calls: int) -> list[dict[str, Any]]:
        """Return the results of some calls."""
        rng = self.rng
        named, known = rng.random() < 0.6, rng.random() < 0.5
        return [
            {
                "role": "tool",
                "content": rng.choice(('{"temperature": 7}', "7 degrees", "[1, 2]", self.text(ordinary))),
                **({"tool_name": rng.choice(_NAMES)} if named else {}),
                **({"tool_call_id": f"call0000{index}"} if known else {}),
            }
            for index in range(calls)
        ]

    def arguments(self, ordinary: bool) -> dict[str, Any]:
        """Return the arguments of a call."""
        rng = self.rng
        if ordinary:
            return rng.choice([one for one in _ARGUMENTS if self.texts is _TEXTS or str(one).isascii()])
        if rng.random() < 0.4:
            return {
                rng.choice(("city", "items", "name", "é", *self.names)): self.odd.value() for _ in range(2)
            }
        return self.odd.object() if rng.random() < 0.6 else rng.choice(_ARGUMENTS)

    def tool(self, ordinary: bool) -> dict[str, Any]:
        """Return a tool."""
        rng = self.rng
        if not ordinary and rng.random() < 0.3:
            return self.odd.tool()
        schemas = _SCHEMAS if ordinary else (*_SCHEMAS, *_ODD_SCHEMAS)
        names = rng.sample(
            ("city", "unit", "days", "query", "tags", "place", "Zone", "a", "limit"), rng.randint(0, 4)
        )
        properties = {
            name: self.schema(2)
            if not ordinary and rng.random() < 0.4
            else copy.deepcopy(rng.choice(schemas))
            for name in names
        }
        parameters: dict[str, Any] = {"type": "object", "properties": properties}
        required = rng.sample(names, rng.randint(0, len(names)))
        if required or rng.random() < 0.5:
            parameters["required"] = required
        function = {"name": rng.choice(_NAMES), "description": self.text(ordinary), "parameters": parameters}
        if not ordinary:
            for key in ("description", "parameters"):
                if rng.random() < 0.1:
                    del function[key]
        return {"type": "function", "function": function}

    def schema(self, depth: int, hints: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return a schema of any shape, with hints among its types and keys."""
        rng = self.rng
        types = (*hints, *hints, "string", "integer", "number", "boolean", "array", "object", "null")
        made: dict[str, Any] = {}
        if rng.random() < 0.85:
            several = rng.random() < 0.15
            made["type"] = rng.sample(types, rng.randint(0, 3)) if several else rng.choice(types)
        if rng.random() < 0.5:
            made["description"] = rng.choice(("", self.text(True), self.text(False)))
        if rng.random() < 0.2:
            made["enum"] = rng.choice(([], ["a"], ["b", "é"], [1, 2.5, None, True], [[1]], [*hints, "x"]))
        if rng.random() < 0.15 or made.get("type") == "array":
            items: Any = self.schema(depth - 1, hints) if depth > 0 else {}
            odd_items = (
                None,
                "string",
                [],
                [items],
                True,
                {**items, rng.choice(("default", *self.names)): 1},
            )
            made["items"] = items if rng.random() < 0.7 else rng.choice(odd_items)
        if depth > 0 and (rng.random() < 0.15 or made.get("type") == "object"):
            names = ("b", "a", "name", *hints)
            inner = {rng.choice(names): self.schema(depth - 1, hints) for _ in range(rng.randrange(3))}
            made["properties"] = inner
            if rng.random() < 0.5:
                made["required"] = [name for name in inner if rng.random() < 0.5]
        if depth > 0 and rng.random() < 0.1:
            made["anyOf"] = [self.schema(depth - 1, hints) for _ in range(rng.randrange(3))]
        return made

    def messages(self, ordinary: bool, tools: bool) -> list[dict[str, Any]]:
        """Return a conversation of the usual course."""
        rng = self.rng
        made: list[dict[str, Any]] = []
        if rng.random() < 0.5:
            made.append({"role": "system", "content": self.text(ordinary)})
        thinks = rng.choice((0.0, 0.3, 0.9))
        turns = (
            rng.choice((0, 0, 1, 1, 2, 3))
            if rng.random() < 0.96
            else rng.choice((12, 15 if ordinary else 70))
        )
        for _ in range(turns):
            made.append({"role": "user", "content": self.text(ordinary)})
            made += self.round(ordinary, thinks) if tools and rng.random() < 0.6 else []
            made.append(self.assistant(ordinary, thinks=thinks))
        end = rng.random()
        if end < 0.9 or not made:
            made.append({"role": "user", "content": self.text(ordinary)})
        if (tools and 0.4 < end < 0.8) or 0.78 < end < 0.8:
            made += self.round(ordinary, thinks)
        return made

    def round(self, ordinary: bool, thinks: float) -> list[dict[str, Any]]:
        """Return calls and their results, once or twice."""
        made: list[dict[str, Any]] = []
        for _ in range(self.rng.choice((1, 1, 1, 2))):
            calls = self.rng.choice((1, 1, 2, 3))
            made += [self.assistant(ordinary, calls=calls, thinks=thinks), *self.answers(ordinary, calls)]
        return made

    def request(self, ordinary: bool) -> Case:
        """Return a request."""
        rng = self.rng
        tools = rng.random() < 0.45
        self.texts = _TEXTS if rng.random() < 0.5 else _ASCII_TEXTS
        messages = self.messages(ordinary, tools)
        made: Case = {"messages": messages}
        if not ordinary:
            made["messages"] = self.spoiled(messages)
        if tools and rng.random() < 0.9:
            made["tools"] = [self.tool(ordinary) for _ in range(rng.choice((1, 1, 2, 3)))]
        kind = rng.random()
        if kind < 0.35:
            made |= {"think": rng.random() < 0.5, "is_think_set": True}
        elif kind < 0.5:
            level = rng.choice(
                ("high", "medium", "low") if ordinary else ("high", "max", "none", *self.names)
            )
            made |= {"think": True, "think_level": level, "is_think_set": True}
        return made

    def spoiled(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return messages in a less usual order, some of them empty or of other roles."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.1:
            return self.odd.messages(most=6) or messages
        if kind < 0.2:
            rng.shuffle(messages)
        elif kind < 0.3:
            messages.insert(rng.randint(0, len(messages)), {"role": "system", "content": self.text(False)})
        elif kind < 0.38:
            messages[:0] = self.answers(False, rng.randint(1, 2))
        elif kind < 0.46:
            messages.insert(rng.randint(0, len(messages)), copy.deepcopy(rng.choice(messages)))
        elif kind < 0.54:
            roles = ("developer", "function", "ipython", "User", *self.names)
            rng.choice(messages)["role"] = rng.choice(roles)
        elif kind < 0.7:
            rng.choice(messages)["content"] = ""
        elif kind < 0.75:
            messages.append(self.assistant(False, calls=rng.choice((0, 0, 2))))
        return messages

    # --- aiming ---------------------------------------------------------------------------------------

    def aimed(self, case: Case, arm: Arm) -> Case:
        """Return a changed copy of a request, changed towards a branch: with what its condition names."""
        rng = self.rng
        case = copy.deepcopy(case)
        hints = tuple(word.encode().decode("unicode_escape", "ignore") for word in _QUOTED.findall(arm.text))
        for _ in range(rng.randint(1, 3)):
            rng.choice(self._changes())(case, hints)
        return case

    def _changes(self) -> tuple[Callable[[Case, tuple[str, ...]], None], ...]:
        rng = self.rng

        def content(case: Case, hints: tuple[str, ...]) -> None:
            message = rng.choice(case["messages"])
            key = rng.choice(("content", "content", "content", "thinking"))
            message[key] = self.text(False, hints)

        def role(case: Case, hints: tuple[str, ...]) -> None:
            roles = (*hints, "user", "assistant", "system", "tool", "developer")
            rng.choice(case["messages"])["role"] = rng.choice(roles)

        def order(case: Case, _: tuple[str, ...]) -> None:
            messages = case["messages"]
            at, to = rng.randrange(len(messages)), rng.randrange(len(messages))
            messages[at], messages[to] = messages[to], messages[at]

        def fewer(case: Case, _: tuple[str, ...]) -> None:
            if len(case["messages"]) > 1:
                del case["messages"][rng.randrange(len(case["messages"]))]

        def more(case: Case, _: tuple[str, ...]) -> None:
            made = rng.choice(
                (
                    [{"role": "system", "content": self.text(True)}],
                    [{"role": "user", "content": self.text(True)}],
                    [self.assistant(True, calls=rng.choice((0, 1, 2)))],
                    self.answers(True, rng.randint(1, 2)),
                    self.round(True, 0.3),
                )
            )
            at = rng.choice((0, len(case["messages"]), rng.randint(0, len(case["messages"]))))
            case["messages"][at:at] = made

        def tools(case: Case, hints: tuple[str, ...]) -> None:
            if rng.random() < 0.3:
                case.pop("tools", None)
                return
            tool = self.tool(rng.random() < 0.5)
            parameters = tool["function"].setdefault("parameters", {})
            if hints and rng.random() < 0.2:
                tool["function"]["name"] = rng.choice(hints)
            if rng.random() < 0.6:
                names = ("a", "city", *hints)
                properties = {rng.choice(names): self.schema(3, hints) for _ in range(rng.randint(1, 2))}
                parameters["properties"] = properties
                parameters["required"] = [name for name in properties if rng.random() < 0.5]
            case["tools"] = [*case.get("tools", ()), tool]

        def think(case: Case, hints: tuple[str, ...]) -> None:
            for key in ("think", "think_level", "is_think_set"):
                case.pop(key, None)
            kind = rng.random()
            if kind < 0.6:
                case |= {"think": kind < 0.3, "is_think_set": True}
            elif kind < 0.9:
                level = rng.choice(("low", "medium", "high", *hints))
                case |= {"think": True, "think_level": level, "is_think_set": True}

        def call(case: Case, hints: tuple[str, ...]) -> None:
            made = self.assistant(True, calls=1)
            function = made["tool_calls"][0]["function"]
            if hints and rng.random() < 0.5:
                function["name"] = rng.choice(hints)
            elif hints:
                value = rng.choice((self.text(True), True, 3, 2.5, None, ["a"], {"b": 1}))
                function["arguments"] = {rng.choice(hints): value}
            answer = self.answers(True, 1)[0]
            if hints and rng.random() < 0.5:
                answer["tool_name"] = rng.choice(hints)
            case["messages"] += [made, answer]

        return (content, content, role, order, fewer, more, more, tools, tools, think, call)


class Runner:
    """Tells which branches of a template a request takes, on Ollama's view of it."""

    def __init__(self, source: str, tokens: Mapping[str, str]) -> None:
        self.coverage = JinjaCoverage(source, special_tokens=tokens)

    def arms(self, case: Case) -> frozenset[int] | None:
        """Return the branches, None for what is no request."""
        try:
            messages, tools, variables = view(Values(**case), OLLAMA_VERSION)
        except TransplateError:
            return None
        if not messages:
            return None
        generation = messages[-1]["role"] != "assistant"
        return self.coverage.take(
            messages, tools, add_generation_prompt=generation, variables=variables, now=NOW
        ).arms


def choose(source: str, tokens: Mapping[str, str], rng: Random, count: int, *, tries: int = TRIES) -> Chosen:
    """Choose requests for a template that take its branches, half of them ordinary.

    Args:
        source: The template.
        tokens: Its special tokens.
        rng: The source of chance.
        count: How many requests, at least.
        tries: How many to try; no more after a quarter of them that found nothing new.

    Raises:
        TemplateSyntaxError: Jinja refuses the template.
    """
    runner = Runner(source, tokens)
    generator = Generator(source, rng)
    arms = runner.coverage.arms
    taken: dict[bool, set[int]] = {True: set(), False: set()}
    kept: list[tuple[Request, frozenset[int]]] = []
    spare: dict[bool, list[Request]] = {True: [], False: []}
    idle = 0
    for number in range(tries):
        reached = taken[True] | taken[False]
        missing = [arm for arm in range(len(arms)) if arm not in reached]
        if number > count and (not missing or idle > tries // 4):
            break
        ordinary = number % 2 == 0
        if missing and kept and number > count:
            ordinary = False
            case = generator.aimed(*_target(arms, missing, kept, rng))
        else:
            case = generator.request(ordinary)
        found = runner.arms(case)
        if found is None:
            continue
        request = Request(case, ordinary)
        idle += 1
        known = taken[True] if ordinary else reached
        if not found <= known:
            idle = 0
            kept.append((request, found))
        else:
            spare[ordinary].append(request)
        taken[ordinary] |= found
    requests = [request for request, _ in kept]
    for is_ordinary in (True, False):
        have = sum(request.ordinary is is_ordinary for request in requests)
        requests += spare[is_ordinary][: max(0, count // 2 - have)]
    both = [one for pair in zip(spare[True], spare[False], strict=False) for one in pair]
    requests += [one for one in both if one not in requests][: max(0, count - len(requests))]
    reached = taken[True] | taken[False]
    return Chosen(
        requests, len(arms), [_place(arms, n, source) for n in range(len(arms)) if n not in reached]
    )


def _target(
    arms: tuple[Arm, ...], missing: list[int], kept: list[tuple[Request, frozenset[int]]], rng: Random
) -> tuple[Case, Arm]:
    """Return a request to change and the branch to aim at: one that some request came close to."""
    close = [n for n in missing if any(n ^ 1 in found for _, found in kept)]
    number = rng.choice(close or missing)
    near = [request for request, found in kept if number ^ 1 in found] or [request for request, _ in kept]
    return rng.choice(near).case, arms[number]


def _place(arms: tuple[Arm, ...], number: int, source: str) -> str:
    arm = arms[number]
    return f"line {source.count(chr(10), 0, arm.offset) + 1}: {arm}"


def requests_of(chosen: Chosen) -> Iterator[Case]:
    """Yield the data of the chosen requests."""
    return (request.case for request in chosen.requests)
