"""Whether a conversation is as ordinary as a converted template takes it to be: one question a function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from transplate.conversation import Conversation, Message

_LARGEST_PLAIN_INTEGER = 10**15
_DECIMALS = 6


def has_alternating_roles(conversation: Conversation) -> bool:
    """Return whether roles are in lower case and only tool messages follow one of their kind."""
    roles = _roles(conversation)
    return all(role == role.lower() for role in roles) and not any(
        role == after != "tool" for role, after in pairwise(roles)
    )


def has_alternating_turns(conversation: Conversation) -> bool:
    """Return whether user and assistant take turns, after a system message at most, and no text is empty."""
    roles = _roles(conversation)
    turns = roles[1:] if roles[:1] == ["system"] else roles
    return (
        bool(turns)
        and all(role == ("user", "assistant")[at % 2] for at, role in enumerate(turns))
        and all(message.content for message in conversation.messages)
    )


def leads_with_system(conversation: Conversation) -> bool:
    """Return whether no message but the first is a system message, and its role is in lower case."""
    systems = [(at, role) for at, role in enumerate(_roles(conversation)) if role.lower() == "system"]
    return systems in ([], [(0, "system")])


def has_no_system(conversation: Conversation) -> bool:
    """Return whether no message is a system message."""
    return "system" not in [role.lower() for role in _roles(conversation)]


def has_text_content(conversation: Conversation) -> bool:
    """Return whether every content is text."""
    return all(isinstance(message.content, str) and not message.images for message in conversation.messages)


def has_odd_parts(conversation: Conversation) -> bool:
    """Return whether a message of typed parts comes to Ollama as messages that a chat template cannot tell.

    Such are parts of a tool's result, reasoning or calls beside parts, none at all, parts that are neither
    text nor image, and images that belong to one text.
    """
    return any(
        bool(message.images)
        or (
            isinstance(message.content, tuple)
            and (
                not message.content
                or bool(message.tool_calls or message.reasoning)
                or message.role.lower() == "tool"
                or any(part.kind not in ("text", "image", "image_url") for part in message.content)
            )
        )
        for message in conversation.messages
    )


def has_messages(conversation: Conversation) -> bool:
    """Return whether there is a message."""
    return bool(conversation.messages)


def ends_without_assistant(conversation: Conversation) -> bool:
    """Return whether the last message is not the assistant's, in whatever case its role is written."""
    return [role.lower() for role in _roles(conversation)[-1:]] != ["assistant"]


def has_no_tools(conversation: Conversation) -> bool:
    """Return whether there are neither tools nor calls of them."""
    return not conversation.tools and has_no_tool_calls(conversation)


def has_no_tool_calls(conversation: Conversation) -> bool:
    """Return whether no message calls a tool."""
    return not any(message.tool_calls for message in conversation.messages)


def has_plain_numbers(conversation: Conversation) -> bool:
    """Return whether the numbers in arguments and tools are printed alike by all engines and by Go."""
    arguments = [call.arguments for message in conversation.messages for call in message.tool_calls]
    return _plain_numbers(arguments) and _plain_numbers(conversation.tools)


def _plain_numbers(value: Any) -> bool:
    match value:
        case bool() | None | str():
            return True
        case int():
            return abs(value) < _LARGEST_PLAIN_INTEGER
        case float():
            text = repr(value)
            return not value.is_integer() and "e" not in text and len(text.split(".")[-1]) <= _DECIMALS
        case Mapping():
            return all(map(_plain_numbers, value.values()))
        case Sequence():
            return all(map(_plain_numbers, value))
        case _:
            return False


_PLAIN_SPACE = frozenset(" \t\n\v\f\r")
_ODD_SPACE = frozenset("\x1c\x1d\x1e\x1f\x85\ufeff\u180e\u200b")


def has_plain_space(conversation: Conversation) -> bool:
    """Return whether all white space is ASCII's without separators, which all engines cut off."""
    return not any(
        character in _ODD_SPACE or (character.isspace() and character not in _PLAIN_SPACE)
        for text in _texts(conversation)
        for character in text
    )


def has_ascii_texts(conversation: Conversation) -> bool:
    """Return whether all texts are ASCII, so that characters, UTF-16 units and bytes are the same."""
    return all(map(str.isascii, _texts(conversation)))


def _texts(conversation: Conversation) -> Iterator[str]:
    """Yield every text of messages, calls and tools."""
    for message in conversation.messages:
        yield from content_texts(message)
        held = [message.role, message.reasoning, message.name]
        calls = [[call.id, call.name, call.arguments] for call in message.tool_calls]
        yield from (leaf for leaf in leaves([held, calls]) if isinstance(leaf, str))
    yield from (leaf for leaf in leaves(conversation.tools) if isinstance(leaf, str))


def content_texts(message: Message) -> Iterator[str]:
    """Yield the texts of a message's content."""
    if isinstance(message.content, str):
        yield message.content
    else:
        yield from (str(part.given.get("text", "")) for part in message.content or ())


def leaves(value: Any) -> Iterator[Any]:
    """Yield what is in a value and is no list or object, keys included."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, list | tuple):
            pending.extend(part)
        elif isinstance(part, Mapping):
            pending += [*part.keys(), *part.values()]
        else:
            yield part


def has_long_numbers(conversation: Conversation) -> bool:
    """Return whether a tool or a call has a number that the macros may print in another way than Go."""
    calls = [call.arguments for message in conversation.messages for call in message.tool_calls]
    return any(map(_is_long, leaves([conversation.tools, calls])))


def _is_long(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    digits = f"{abs(value):.20g}".replace(".", "").split("e")[0].strip("0")
    return len(digits) > 15 or not (value == 0 or 1e-14 <= abs(value) < 1e30)


def has_plain_schemas(conversation: Conversation) -> bool:
    """Return whether tools are complete and their properties simple."""
    return all(map(_is_plain_tool, conversation.tools))


def _is_plain_tool(tool: Mapping[str, Any]) -> bool:
    function = tool.get("function")
    parameters = function.get("parameters") if isinstance(function, Mapping) else None
    return (
        isinstance(function, Mapping)
        and isinstance(parameters, Mapping)
        and bool(tool.get("type"))
        and "items" not in tool
        and bool(function.get("description"))
        and bool(parameters.get("type"))
        and isinstance(parameters.get("properties"), Mapping)
        and not {"$defs", "items"} & parameters.keys()
        and all(map(_is_plain_property, parameters["properties"].values()))
    )


def _is_plain_property(schema: Any) -> bool:
    return (
        isinstance(schema, Mapping)
        and isinstance(schema.get("type"), str)
        and not {"anyOf", "properties", "required"} & schema.keys()
        and schema.get("description") != ""
        and schema.get("enum") != []
        and schema.get("items", ()) is not None
    )


def _roles(conversation: Conversation) -> list[str]:
    return [message.role for message in conversation.messages]
