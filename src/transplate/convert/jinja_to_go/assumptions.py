"""The named assumptions of the default style: what each one takes for granted."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from jinja2.exceptions import TemplateError

from transplate.conversation import Conversation
from transplate.convert.go_to_jinja.assumptions import ASSUMPTIONS as GO_TO_JINJA
from transplate.convert.go_to_jinja.conversations import content_texts, has_no_tools, leaves
from transplate.convert.jinja_to_go.view import print_view
from transplate.convert.report import Assumption
from transplate.errors import TemplateExecutionError, TransplateError
from transplate.jinja import JinjaTemplate
from transplate.ollama import Values

_LARGE = 10**21
"""From here on Go writes a number with an exponent."""
_WIDE_SPACE = re.compile(r"\s*[^\S\x00-\x7f]\s*")
"""White space that is not ASCII, with all white space around it."""


def _values(conversation: Conversation, *, contents: bool) -> Iterator[Any]:
    """Yield what a conversation holds, the texts of its messages only if asked for."""
    yield from (conversation.think, *conversation.tools)
    for message in conversation.messages:
        yield from (message.role, message.name, message.tool_name, message.tool_call_id)
        if contents:
            yield from (*content_texts(message), message.reasoning)
        for call in message.tool_calls:
            yield from (call.name, call.id, call.arguments)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value, the keys of its objects too."""
    return (leaf for leaf in leaves(value) if isinstance(leaf, str))


def _objects(value: Any) -> Iterator[Any]:
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, list | tuple):
            pending.extend(part)
        elif isinstance(part, Mapping):
            yield part
            pending.extend(part.values())


def _has_no_think_tags(conversation: Conversation) -> bool:
    contents = [text for message in conversation.messages for text in content_texts(message)]
    return not any("<think>" in text or "</think>" in text for text in contents)


def _has_ascii_letters(conversation: Conversation) -> bool:
    return all(text.isascii() for value in _values(conversation, contents=True) for text in _texts(value))


def _has_ascii_names(conversation: Conversation) -> bool:
    return all(text.isascii() for value in _values(conversation, contents=False) for text in _names(value))


def _names(value: Any) -> Iterator[str]:
    """Yield a text, or the names and types in a tool or in arguments."""
    if isinstance(value, str):
        yield value
    for one in _objects(value):
        yield from _texts([one.get("name"), one.get("type")])


def has_ascii_space(marks: Collection[str], *, anywhere: bool) -> Callable[[Conversation], bool]:
    """Return what tells whether no white space that is not ASCII is at an end of a text or of a part of one.

    Args:
        marks: The texts of the template, by which it may cut others into parts.
        anywhere: Whether it cuts texts at other places too.
    """

    def is_cut(text: str) -> bool:
        for found in _WIDE_SPACE.finditer(text):
            start, end = found.span()
            if anywhere or start == 0 or end == len(text):
                return True
            for mark in marks:
                near = text[max(0, start - len(mark)) : end + len(mark)]
                if mark in near or mark.lower() in near.lower():
                    return True
        return False

    def holds(conversation: Conversation) -> bool:
        texts = (text for value in _values(conversation, contents=True) for text in _texts(value))
        return not any(is_cut(text) for text in texts if not text.isascii())

    return holds


def broken_by(texts: Collection[str]) -> frozenset[str]:
    """Return the names of the assumptions that do not hold of the texts of a template itself."""
    whole = "".join(texts)
    broken = {
        "ascii-letters": any(letter.lower() != letter.upper() and not letter.isascii() for letter in whole),
        "ascii-space": _WIDE_SPACE.search(whole) is not None,
        "plain-json": "\u2028" in whole or "\u2029" in whole,
        "no-nul": "\0" in whole,
    }
    broken["ascii-names"] = broken["ascii-letters"]
    return frozenset(name for name, is_broken in broken.items() if is_broken)


def _has_plain_json(conversation: Conversation) -> bool:
    return all(map(_is_plain, leaves(list(_values(conversation, contents=True)))))


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return "e" not in repr(value) and repr(value) != "-0.0"
    if isinstance(value, int):
        return -_LARGE < value < _LARGE
    return not isinstance(value, str) or not ("\u2028" in value or "\u2029" in value)


def _has_sorted_keys(conversation: Conversation) -> bool:
    objects = (one for value in _values(conversation, contents=False) for one in _objects(value))
    return all(sorted(one) == sorted(one, key=lambda key: (key.lower(), key)) for one in objects)


def _has_no_nulls(conversation: Conversation) -> bool:
    objects = (one for value in _values(conversation, contents=False) for one in _objects(value))
    return not any(found is None or found == {} for one in objects for found in one.values())


def renders(
    source: str, special_tokens: Mapping[str, str], variables: Mapping[str, Any], ollama: str
) -> Callable[[Conversation], bool]:
    """Return what tells whether a chat template prints a conversation, or raises an error of its own.

    Args:
        source: The chat template.
        special_tokens: The special tokens that it was converted with.
        variables: The variables that it was converted with.
        ollama: The version of Ollama whose view of the conversation the template gets.
    """
    template = lru_cache(maxsize=1)(lambda: JinjaTemplate(source, special_tokens=special_tokens))

    def holds(conversation: Conversation) -> bool:
        think = conversation.think
        try:
            request = conversation.to_ollama()
            values = Values(
                request["messages"],
                request.get("tools"),
                think=think not in (None, False),
                think_level=think if isinstance(think, str) else "",
                is_think_set=think is not None,
            )
            print_view(template(), values, ollama, variables=variables, now=conversation.now)
        except TemplateExecutionError as error:
            return type(error.__cause__) is TemplateError
        except TransplateError:
            return False
        return True

    return holds


def _has_no_nul(conversation: Conversation) -> bool:
    return not any("\0" in text for value in _values(conversation, contents=True) for text in _texts(value))


_ALL = (
    Assumption("no-think-tags", "no text has <think> or </think> in it", _has_no_think_tags),
    Assumption(
        "ascii-letters",
        "texts that are put into capital or small letters are ASCII",
        _has_ascii_letters,
    ),
    Assumption(
        "ascii-names",
        "names, types and roles that are put into capital or small letters are ASCII",
        _has_ascii_names,
    ),
    Assumption(
        "ascii-space",
        "the white space around texts is ASCII",
        has_ascii_space((), anywhere=False),
    ),
    Assumption(
        "plain-json",
        "JSON has no numbers or line separators that Go and Python write in different ways",
        _has_plain_json,
    ),
    GO_TO_JINJA["plain-numbers"],
    GO_TO_JINJA["plain-schemas"],
    Assumption("sorted-keys", "capital letters make no difference to the order of keys", _has_sorted_keys),
    Assumption("no-nul", "no text that is escaped for HTML has the character NUL in it", _has_no_nul),
    Assumption("no-nulls", "no key in arguments or a tool holds null or an empty object", _has_no_nulls),
    Assumption("needed-values", "all that the template needs is there and of the kind it expects"),
    Assumption("go-json", "JSON may be without the spaces that the vendor's template has", has_no_tools),
)

ASSUMPTIONS = {assumption.name: assumption for assumption in _ALL}
"""Every assumption by name."""

OPT_IN = frozenset({"go-json"})
"""The assumptions that hold only where they are asked for."""
