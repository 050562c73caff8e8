"""Conversations aimed at the constants of two templates: what stands in their code is met and just missed.

A number may bound a length, a count, a place or a value; each of these is tried just below it, at it and just
above it. A text may be looked for, split at, replaced or compared with; it is put, whole and in part, where
templates look for texts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import floor

from transplate.conversation import Conversation, Message, ToolCall
from transplate.parity.literals import Literals
from transplate.parity.media import media_in, of_parts
from transplate.parity.variations import call, in_parts, tool, tool_round

_LETTERS = "qwertyuiopasdfghjklzxcvbnm0123456789"
_LONGEST_NAME, _LONGEST_PARTS, _LONGEST_TEXT, _LONGEST_QUESTION = 200, 20_000, 100_000, 200_000
_MOST_LINES = 2_000
_MOST_MESSAGES = 300
_MOST_ITEMS = 60
_MOST_TOOLS = 300
_MOST_PARTS = 40
_LEAST_PLACES = 12
_MOST_NUMBERS = 24
_LONGEST_WORD = 60
_MOST_WORDS = 250
_FEW_WORDS = 6
_MOST_ROLES = 16
_MOST_VARIABLES = 12
_DOCUMENT = ("id", "doc_id", "title", "source", "text", "content", "contents", "snippet")
"""The fields that documents have in one template or another."""
_LISTS = re.compile("document|context|tools")
"""Names of variables that hold documents or tools, not texts or switches."""
_ROLE = re.compile(r"[a-z_]{3,}")
_ROLES = ("system", "user", "assistant", "tool")


def aimed_at(
    literals: Literals, variables: Collection[str] = (), roles: Sequence[str] = _ROLES
) -> Iterator[Conversation]:
    """Yield conversations for the constants of templates.

    Args:
        literals: The constants.
        variables: The variables that the templates read.
        roles: The roles in which a text is tried alone.
    """
    media = media_in(literals.texts)
    numbers = sorted(literals.numbers, key=lambda number: (number <= 1, number))[:_MOST_NUMBERS]
    sizes = {floor(number) + more for number in numbers for more in (-1, 0, 1)}
    for size in sorted(sizes | {2} if media else sizes):
        yield from _of_length(size)
        yield from _of_count(size)
        yield from _in_variables(size, sorted(variables)[:_MOST_VARIABLES])
        for kind in ("text", *media) if 0 < size <= _MOST_PARTS else ():
            for made in of_parts(kind, size):
                yield made
                for name in sorted(variables)[:_MOST_VARIABLES] if kind != "text" else ():
                    yield replace(made, variables={name: True})
    for number in numbers:
        yield _with_value(number)
    words = sorted(literals.compared, key=lambda text: (len(text), text))
    yield from _with_everyone_everywhere(max(map(floor, numbers), default=0))
    for role in [word for word in words if _ROLE.fullmatch(word)][:_MOST_ROLES]:
        said, user = Message(role, "One."), Message("user", "Two.")
        yield Conversation((said, user) * _LEAST_PLACES)
        yield Conversation((user, said) * _LEAST_PLACES + (user,))
    switches = {name: False for name in variables if not _LISTS.search(name)}
    yield from _with_texts(words, roles, switches)


# --- numbers --------------------------------------------------------------------------------------------


def _of_length(size: int) -> Iterator[Conversation]:
    """Yield conversations whose texts are of a length, in characters, and in lines and words."""
    if 0 < size <= _LONGEST_QUESTION:
        text = _text_of(size)
        yield Conversation((Message("user", text),))
        if size <= _LONGEST_TEXT:
            for filled in _filled(text):
                yield filled
                for role in _ROLES if size <= _LONGEST_PARTS else ():
                    yield in_parts(filled, role)
            yield _described(text)
        if size <= _LONGEST_NAME:
            named = tool_round((ToolCall(text, {text: text}, text),), tools=(tool(text, {text: {}}),))
            yield replace(named, messages=(*named.messages, Message("user", "So?", name=text)))
    if 0 < size <= _MOST_LINES:
        for separator in ("\n", "\n\n", " ") if size > 1 else ():
            text = separator.join(f"w{number}" for number in range(size))
            yield from _filled(text)
            yield _described(text)


def _text_of(size: int) -> str:
    return (_LETTERS * (size // len(_LETTERS) + 1))[:size]


def _filled(text: str) -> tuple[Conversation, ...]:
    """Return conversations with one text in all places that there are for texts."""
    answer = Message("assistant", text, text)
    plain = Conversation((Message("system", text), Message("user", text), answer, Message("user", text)))
    asked = tool_round((call(1, {"value": text}),), content=text, reasoning=text, results=(text,))
    return plain, asked, replace(asked, messages=(*asked.messages, answer, Message("user", text)))


def _described(text: str) -> Conversation:
    """Return a conversation with a tool that has one text in all places that there are for texts."""
    described = {"type": "string", "description": text}
    nested = {"type": "object", "description": text, "properties": {"p": described}}
    listed = {"type": "array", "description": text, "items": {**nested, "title": text}}
    chosen = {**described, "enum": [text, "x"], "default": text}
    made = tool("look", {"p": described, "nested": nested, "list": listed, "chosen": chosen})
    function = {**made["function"], "description": text, "return": described}
    return Conversation((Message("user", "Hi"),), ({**made, "function": function},))


def _in_variables(size: int, names: Sequence[str]) -> Iterator[Conversation]:
    """Yield conversations whose variables are texts of a length, and lists and documents of a count."""
    base = Conversation((Message("user", "Hi"),))
    text = _text_of(size)
    for name in names if 0 < size <= _LONGEST_TEXT else ():
        if _LISTS.search(name):
            yield replace(base, variables={name: [dict.fromkeys(_DOCUMENT, text)] * 2})
            if size <= _MOST_ITEMS:
                documents = [dict.fromkeys(_DOCUMENT, f"d{number}") for number in range(size)]
                yield replace(base, variables={name: documents})
        else:
            yield replace(base, variables={name: text})
            if size <= _MOST_ITEMS:
                yield replace(base, variables={name: [f"v{number}" for number in range(size)]})


def _of_count(size: int) -> Iterator[Conversation]:
    """Yield conversations that have a number of messages, calls, tools, parameters and items."""
    turn = (Message("user", "Hi"), Message("assistant", "Hello."))
    if 0 < size <= _MOST_MESSAGES:
        question, system = Message("user", "Well?"), Message("system", "Be brief.")
        turns = turn * (size // 2)
        yield Conversation((*turns, question) if size % 2 else (*(system, *turns)[: size - 1], question))
    if _MOST_ITEMS < size <= _MOST_TOOLS:
        yield Conversation((Message("user", "Hi"),), tuple(tool(f"tool_{number}") for number in range(size)))
    if not 0 <= size <= _MOST_ITEMS:
        return
    names = [f"p{number}" for number in range(size)]
    schema = {"type": "string", "enum": names, "items": {"type": "string", "enum": names}}
    properties = {name: {"type": "string", "description": name} for name in names} | {"last": schema}
    inner = {"type": "object", "properties": properties, "required": names}
    tools = [tool("wide", properties, required=names), tool("deep", {"inner": inner})]
    tools += [tool(f"tool_{number}") for number in range(size)]
    yield Conversation((Message("user", "Hi"),), tuple(tools[:size]))
    yield Conversation((Message("user", "Hi"),), tuple(tools[:2]))
    if not size:
        return
    values = {name: number for number, name in enumerate(names)}
    yield tool_round((call(1, values), call(2, {"list": names, "map": values, "lists": [names]})))
    if size > 1:
        calls = tuple(call(number, {"number": number}) for number in range(size))
        yield tool_round(calls, results=tuple(names), reasoning="Hm.", answer="So.")


def _with_value(number: float) -> Conversation:
    """Return a conversation with a number, its neighbours, and numbers between, as values of all kinds."""
    values = [number - 1, number, number + 1, -number, number + 0.5, number - 0.5]
    values += [float(value) for value in values[:4]] + [number * 10]
    named = {f"v{at}": value for at, value in enumerate(values)}
    limits = {"type": "number", "enum": values}
    schemas = {f"p{at}": {**limits, "default": value, "minimum": value} for at, value in enumerate(values)}
    asked = tool_round((call(1, named), call(2, {"list": values, "texts": [str(value) for value in values]})))
    return replace(asked, tools=(*asked.tools, tool("bounded", schemas)))


def _with_everyone_everywhere(furthest: int) -> Iterator[Conversation]:
    """Yield conversations in which everyone speaks at every place up to some number, as well as may be."""
    places = min(max(furthest + 3, _LEAST_PLACES), _MOST_ITEMS)
    turn = (Message("user", "Hi"), Message("assistant", "Hello."))
    one = tool_round((call(1),), reasoning="Hm.").messages
    both = tool_round((call(1), call(2)), content="Both.").messages
    answer, system = Message("assistant", "So.", "Thus."), Message("system", "Be brief.")
    plain = (*turn, Message("user", "Go on."), answer)
    single = (*one, answer, *turn, *one, *one[1:], answer)
    mixed = (*one, answer, *both, answer, *one, *one[1:], answer, *turn)
    fronts: tuple[tuple[Message, ...], ...] = ((), (system,), turn, (*one[:3], answer))
    for rounds, tools in ((plain, ()), (single, (tool("get_weather"),)), (mixed, (tool("get_weather"),))):
        for front in fronts if tools else fronts[:2]:
            messages = (*front, *rounds * (places // len(rounds) + 1))
            longest = Conversation((*messages, Message("user", "And now?")), tools)
            yield longest
            yield in_parts(longest)
            kept = messages[: max(3, places)]
            while kept[-1].role == "assistant":
                kept = kept[:-1]
            yield Conversation(kept, tools)


# --- texts ----------------------------------------------------------------------------------------------


def _with_texts(
    words: Sequence[str], roles: Sequence[str], switches: Mapping[str, bool]
) -> Iterator[Conversation]:
    """Yield conversations with texts that hold words, or nearly, in all places that there are for texts.

    Many texts stand in one conversation: where two templates agree on it, they agree on all of them.
    """
    texts = list(dict.fromkeys(islice(_around(words), _MOST_WORDS)))
    if not texts:
        return
    count = len(texts)
    for at in range(count):
        one, two, three, four = (texts[(at + more * step) % count] for more, step in enumerate((0, 1, 3, 7)))
        answer = Message("assistant", three, four)
        named = Message("user", four, name=two)
        said = Conversation((Message("system", one), Message("user", two), answer, named))
        yield from (said, replace(said, think=False))
        if switches:
            yield replace(said, variables=switches)
        value = {"value": two, three or "key": one}
        described = {one or "p": {"type": "string", "description": two, "enum": [three, four]}}
        asked = tool_round(
            (call(1, value, name=four or "f"),),
            content=three,
            reasoning=one,
            results=(two,),
            tools=(tool(four or "f", described, required=[one or "p"]),),
        )
        yield replace(asked, messages=(*asked.messages, Message("assistant", one), Message("user", three)))
    for word in words:
        for role in roles:
            yield Conversation((Message(role, word), Message("user", "Hi")))
            if role != "system":
                yield Conversation((Message("user", "Hi"), Message(role, word)))
        for role in _near(word) if word.strip() and len(word) > 1 else ():
            yield Conversation((Message(role, "One."), Message("user", "Two."), Message(role, "Three.")))


def _near(word: str) -> tuple[str, ...]:
    """Return a word and what is nearly it."""
    return word, word[:-1], f"{word}x", f"{word[:-1]}~~", word.swapcase()


def _around(words: Sequence[str]) -> Iterator[str]:
    """Yield texts with words in all ways in which they may be looked for."""
    for word in words:
        if not word or len(word) > _LONGEST_WORD:
            continue
        yield from (word, f"{word}x", f"x{word}", f"x {word} y", f"{word}a{word}b{word}", f" {word}\n")
        yield from (f"x {word} \n", f"\n\t{word} x", f"{word} {word}")
        yield from (word.swapcase(), word[:-1] or "x", word[1:] or "x", f"{word[:-1]}~")
    for word in words if len(words) <= _FEW_WORDS else ():
        for other in words:
            yield from (f"{word}x{other}", f"{word}x{other[:-1]}") if other != word else ()
