"""What can be changed about a conversation to see whether a difference goes away: the experiments.

Each change takes one property away from a conversation. If two templates differ on a conversation and no more
once it is changed, that property is a cause. Changes that leave the conversation as it is return that very
object, so that nobody compares what is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from transplate.conversation import Conversation, Message, Part, ToolCall

SENTINEL = "Qx0"
"""A text that no template compares anything with."""
_TALKING = ("user", "assistant", "system")
_SHORT = 2
_KNOWN_ROLES = (*_TALKING, "tool")
_THOUGHT = re.compile(r"(?s)<think>.*?</think>\s*|^.*</think>\s*")
_ODD_CHARACTERS = re.compile(r"[^A-Za-z0-9 .,:;_?!\n-]")
_PROPERTY_ORDER = ("type", "items", "description", "enum", "properties", "required")
_PARAMETERS_ORDER = ("type", "$defs", "items", "required", "properties")


@dataclass(frozen=True, slots=True)
class Change:
    """An experiment.

    Attributes:
        name: The name of the cause that it shows.
        title: The cause in a few words.
        condition: What holds of conversations that it leaves alone; empty if that is no condition to name.
        apply: Makes the changed conversation; the same object if there is nothing to change.
        blind: What a side does that prints the same with and without the change.
        sees: What the other side does then.
        coarse: Whether it takes away what the conversation says, not only how it says it.
    """

    name: str
    title: str
    condition: str
    apply: Callable[[Conversation], Conversation]
    blind: str = "does not show it"
    sees: str = "shows it"
    coarse: bool = False


Each = Callable[[Message], Message]


def _each(change: Each) -> Callable[[Conversation], Conversation]:
    """Return the change of a conversation that changes each of its messages."""

    def apply(conversation: Conversation) -> Conversation:
        changed = tuple(change(message) for message in conversation.messages)
        if all(one is other for one, other in zip(changed, conversation.messages, strict=True)):
            return conversation
        return replace(conversation, messages=changed)

    return apply


def _kept(conversation: Conversation, keep: Callable[[Message], bool]) -> Conversation:
    """Return a conversation of the messages to keep, or of a plain question if none would be left."""
    kept = tuple(message for message in conversation.messages if keep(message))
    if len(kept) == len(conversation.messages):
        return conversation
    return replace(conversation, messages=kept or (Message("user", SENTINEL),))


# --- what is said stays ---------------------------------------------------------------------------------


def _merge(conversation: Conversation) -> Conversation:
    """Join neighbours of one role, as Ollama does: of all but the first only the content is kept."""
    messages: list[Message] = []
    for message in conversation.messages:
        last = messages[-1] if messages else None
        if last is not None and last.role == message.role and last.role != "tool":
            content = _text(last) + "\n\n" + _text(message)
            messages[-1] = replace(last, content=content, images=last.images + message.images)
        else:
            messages.append(message)
    if len(messages) == len(conversation.messages):
        return conversation
    return replace(conversation, messages=tuple(messages))


def _text(message: Message) -> str:
    if isinstance(message.content, tuple):
        return "\n\n".join(part.given["text"] for part in message.content if part.kind == "text")
    return message.content or ""


def _hoist(conversation: Conversation) -> Conversation:
    """Put all system messages in front, as one, if one comes behind another message."""
    messages = conversation.messages
    systems = [message for message in messages if message.role == "system"]
    others = tuple(message for message in messages if message.role != "system")
    if all(message.role == "system" for message in messages[: len(systems)]):
        return conversation
    text = "\n\n".join(filter(None, map(_text, systems)))
    return replace(conversation, messages=(Message("system", text), *others))


def _stripped(message: Message) -> Message:
    if not isinstance(message.content, str):
        return message
    content, reasoning = message.content.strip(), message.reasoning.strip()
    if (content, reasoning) == (message.content, message.reasoning):
        return message
    return replace(message, content=content, reasoning=reasoning)


def _developer(message: Message) -> Message:
    return replace(message, role="system") if message.role == "developer" else message


def _lower_role(message: Message) -> Message:
    role = message.role.lower()
    return message if role == message.role else replace(message, role=role)


def _null(message: Message) -> Message:
    return replace(message, content="") if message.content is None else message


def _filled(message: Message) -> Message:
    """Give a message without text one, unless it has calls: those often have none."""
    if message.tool_calls or not (message.content is None or message.content == ""):
        return message
    return replace(message, content=SENTINEL)


def _whole(message: Message) -> Message:
    """Make one text of typed parts, if they are all text."""
    if not isinstance(message.content, tuple) or any(part.kind != "text" for part in message.content):
        return message
    return replace(message, content=_text(message))


def _in_parts(message: Message) -> Message:
    """Make a typed part of a text."""
    if not isinstance(message.content, str):
        return message
    return replace(message, content=(Part("text", {"type": "text", "text": message.content}),))


def _plain_text(message: Message) -> Message:
    if not isinstance(message.content, str):
        return message
    made: str = _plain_json(message.content)
    return message if made == message.content else replace(message, content=made)


def _think_cut(message: Message) -> Message:
    if message.role != "assistant" or not isinstance(message.content, str):
        return message
    content = _THOUGHT.sub("", message.content)
    return message if content == message.content else replace(message, content=content)


def _ended(conversation: Conversation) -> Conversation:
    """Let the user speak after a last message of the assistant."""
    if conversation.messages[-1].role != "assistant":
        return conversation
    return replace(conversation, messages=(*conversation.messages, Message("user", SENTINEL)))


def _asked(conversation: Conversation) -> Conversation:
    """Let the user speak where he does not."""
    if any(message.role == "user" for message in conversation.messages):
        return conversation
    at = 0
    while at < len(conversation.messages) and conversation.messages[at].role in ("system", "developer"):
        at += 1
    messages = list(conversation.messages)
    messages.insert(at, Message("user", SENTINEL))
    return replace(conversation, messages=tuple(messages))


def _user_first(conversation: Conversation) -> Conversation:
    """Let the user speak before anyone else but the system does."""
    for at, message in enumerate(conversation.messages):
        if message.role in ("system", "developer"):
            continue
        if message.role == "user":
            return conversation
        messages = list(conversation.messages)
        messages.insert(at, Message("user", SENTINEL))
        return replace(conversation, messages=tuple(messages))
    return conversation


# --- JSON -----------------------------------------------------------------------------------------------


def _calls(change: Callable[[ToolCall], ToolCall]) -> Each:
    def apply(message: Message) -> Message:
        if not message.tool_calls:
            return message
        changed = tuple(map(change, message.tool_calls))
        if all(one is other for one, other in zip(changed, message.tool_calls, strict=True)):
            return message
        return replace(message, tool_calls=changed)

    return apply


def _sorted_arguments(call: ToolCall) -> ToolCall:
    made = _sorted(call.arguments)
    return call if _same_order(made, call.arguments) else replace(call, arguments=made)


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in value]
    return value


def _same_order(one: Any, other: Any) -> bool:
    """Compare data with the order of its keys, which Python's own comparison leaves out."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(_same_order(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same_order, one, other))
    return type(one) is type(other) and bool(one == other)


def _plain_json(value: Any) -> Any:
    """Return data whose texts hold nothing that needs escaping, and whose numbers are small integers."""
    if isinstance(value, str):
        return _ODD_CHARACTERS.sub("x", value)
    if isinstance(value, Mapping):
        return {_plain_json(key): _plain_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_json(item) for item in value]
    return value


def _simple_numbers(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return value if isinstance(value, int) and abs(value) < 100_000 else 7
    if isinstance(value, Mapping):
        return {key: _simple_numbers(item) for key, item in value.items()}
    return [_simple_numbers(item) for item in value]


def _flat(value: Any) -> Any:
    """Return a text in place of anything that is not a text."""
    return value if isinstance(value, str) else SENTINEL


def _arguments(change: Callable[[Any], Any]) -> Callable[[Conversation], Conversation]:
    def changed(call: ToolCall) -> ToolCall:
        made = change(call.arguments)
        return call if _same_order(made, call.arguments) else replace(call, arguments=made)

    return _each(_calls(changed))


def _tools(change: Callable[[Any], Any]) -> Callable[[Conversation], Conversation]:
    def apply(conversation: Conversation) -> Conversation:
        if not conversation.tools:
            return conversation
        made = tuple(change(tool) for tool in conversation.tools)
        return conversation if _same_order(made, conversation.tools) else replace(conversation, tools=made)

    return apply


def _both(
    one: Callable[[Conversation], Conversation], other: Callable[[Conversation], Conversation]
) -> Callable[[Conversation], Conversation]:
    return lambda conversation: other(one(conversation))


def _of_function(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Any], Any]:
    def apply(tool: Any) -> Any:
        return {**tool, "function": change(dict(tool["function"]))}

    return apply


def _ordered(value: Mapping[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    names = [name for name in order if name in value]
    return {name: value[name] for name in (*names, *(name for name in value if name not in order))}


def _schema_order(tool: Any) -> Any:
    """Return a tool with its keys in the order in which Ollama writes them."""

    def of_function(function: dict[str, Any]) -> dict[str, Any]:
        function = _ordered(function, ("name", "description", "parameters"))
        if isinstance(function.get("parameters"), Mapping):
            parameters = _ordered(function["parameters"], _PARAMETERS_ORDER)
            if isinstance(parameters.get("properties"), Mapping):
                parameters["properties"] = {
                    name: _ordered(schema, _PROPERTY_ORDER) if isinstance(schema, Mapping) else schema
                    for name, schema in parameters["properties"].items()
                }
            function["parameters"] = parameters
        return function

    return _ordered(_of_function(of_function)(tool), ("type", "items", "function"))


def _sorted_properties(tool: Any) -> Any:
    def of_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
        properties = parameters.get("properties")
        if isinstance(properties, Mapping):
            parameters["properties"] = {name: properties[name] for name in sorted(properties)}
        return parameters

    return _parameters(of_parameters)(tool)


def _parameters(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Any], Any]:
    """Return the change of a tool that changes its parameters, if it has some."""

    def of_function(function: dict[str, Any]) -> dict[str, Any]:
        if isinstance(function.get("parameters"), Mapping):
            function["parameters"] = change(dict(function["parameters"]))
        return function

    return _of_function(of_function)


def _properties(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Any], Any]:
    def of_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
        properties = parameters.get("properties")
        if isinstance(properties, Mapping):
            parameters["properties"] = {
                name: change(dict(schema)) if isinstance(schema, Mapping) else schema
                for name, schema in properties.items()
            }
        return parameters

    return _parameters(of_parameters)


def _known_keys(tool: Any) -> Any:
    """Return a tool without the keys that Ollama does not read."""

    def known(schema: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        return {name: value for name, value in schema.items() if name in names}

    def of_function(function: dict[str, Any]) -> dict[str, Any]:
        return known(function, ("name", "description", "parameters"))

    tool = known(dict(tool), ("type", "items", "function"))
    tool = _of_function(of_function)(tool)
    tool = _parameters(lambda parameters: known(parameters, _PARAMETERS_ORDER))(tool)
    return _properties(lambda schema: known(schema, ("type", "items", "description", "enum", "anyOf")))(tool)


def _complete(tool: Any) -> Any:
    """Return a tool with everything that Ollama's printing has even where the schema has it not."""

    def of_function(function: dict[str, Any]) -> dict[str, Any]:
        function.setdefault("description", SENTINEL)
        if not isinstance(function.get("parameters"), Mapping):
            function["parameters"] = {}
        return function

    def of_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
        made = {"type": "object", **parameters}
        if not made.get("properties"):
            made["properties"] = {"q": {"type": "string", "description": SENTINEL}}
        if not made.get("required"):
            made["required"] = [next(iter(made["properties"]))]
        return made

    def of_property(schema: dict[str, Any]) -> dict[str, Any]:
        made = {"type": "string", **schema}
        if not made.get("description"):
            made["description"] = SENTINEL
        return made

    made = _of_function(of_function)({"type": "function", **tool})
    made = _properties(of_property)(_parameters(of_parameters)(made))
    return tool if made == tool else _schema_order(made)


def _single_type(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if isinstance(kind, list | tuple) and kind:
        schema["type"] = kind[0]
    return schema


def _plain_property(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a property with nothing but its type and description."""
    return {"type": "string", **{name: schema[name] for name in ("description",) if name in schema}}


# --- what is said goes ----------------------------------------------------------------------------------


def _first_call(message: Message) -> Message:
    return replace(message, tool_calls=message.tool_calls[:1]) if len(message.tool_calls) > 1 else message


def _one_call(conversation: Conversation) -> Conversation:
    """Keep the first of several calls at once, and the first of several results in a row."""
    changed = _each(_first_call)(conversation)
    messages = changed.messages
    kept = tuple(
        message
        for at, message in enumerate(messages)
        if message.role != "tool" or at == 0 or messages[at - 1].role != "tool"
    )
    return changed if len(kept) == len(messages) else replace(changed, messages=kept)


def _silent_call(message: Message) -> Message:
    return replace(message, content="") if message.tool_calls and message.content else message


def _no_reasoning(message: Message) -> Message:
    return replace(message, reasoning="") if message.reasoning else message


def _no_calls(conversation: Conversation) -> Conversation:
    def change(message: Message) -> Message:
        if not message.tool_calls:
            return message
        return replace(message, tool_calls=(), content=message.content or SENTINEL)

    return _each(change)(conversation)


def _no_results(conversation: Conversation) -> Conversation:
    """Leave out tool results; a call that is last then would be one to continue."""
    kept = _kept(conversation, lambda message: message.role != "tool")
    return kept if kept is conversation else _ended(kept)


def _no_tools(conversation: Conversation) -> Conversation:
    return replace(conversation, tools=()) if conversation.tools else conversation


def _no_think(conversation: Conversation) -> Conversation:
    return conversation if conversation.think is None else replace(conversation, think=None)


def _no_system(conversation: Conversation) -> Conversation:
    return _kept(conversation, lambda message: message.role != "system")


def _no_odd_roles(conversation: Conversation) -> Conversation:
    return _kept(conversation, lambda message: message.role in _KNOWN_ROLES)


def _no_images(message: Message) -> Message:
    if isinstance(message.content, tuple) and any(part.kind != "text" for part in message.content):
        return replace(message, images=(), content=_text(message))
    return replace(message, images=()) if message.images else message


def _no_names(conversation: Conversation) -> Conversation:
    """Leave out the names of speakers and tools, the ids of calls, and what only one side can see."""

    def change(message: Message) -> Message:
        made = message
        if message.name or message.tool_name or message.tool_call_id or message.extra:
            made = replace(message, name="", tool_name="", tool_call_id="", extra={})
        if any(call.id or call.index is not None for call in message.tool_calls):
            made = replace(
                made, tool_calls=tuple(replace(call, id="", index=None) for call in message.tool_calls)
            )
        return made

    return _each(change)(conversation)


def _no_variables(conversation: Conversation) -> Conversation:
    return replace(conversation, variables={}) if conversation.variables else conversation


def _last_question(conversation: Conversation) -> Conversation:
    """Keep the system message and what the user said last, with what followed."""
    messages = conversation.messages
    last = max((at for at, message in enumerate(messages) if message.role == "user"), default=None)
    if last is None:
        return conversation
    kept = tuple(message for message in messages[:last] if message.role == "system") + messages[last:]
    return conversation if len(kept) == len(messages) else replace(conversation, messages=kept)


def plain_texts(words: frozenset[str]) -> Callable[[Conversation], Conversation]:
    """Return the change that replaces the texts that a template compares with by one that none does."""
    wanted = frozenset(word for word in words if word.strip())
    parts = tuple(word for word in wanted if len(word) > _SHORT)

    def plain(text: str) -> str:
        return SENTINEL if text.strip() in wanted or any(part in text for part in parts) else text

    def change(message: Message) -> Message:
        content = plain(message.content) if isinstance(message.content, str) else message.content
        reasoning = plain(message.reasoning)
        name = plain(message.name)
        if (content, reasoning, name) == (message.content, message.reasoning, message.name):
            return message
        return replace(message, content=content, reasoning=reasoning, name=name)

    return _each(change)


GENTLE: tuple[Change, ...] = (
    Change(
        "same-role",
        "joined same-role messages",
        "roles alternate",
        _merge,
        "joins them",
        "keeps them apart",
    ),
    Change(
        "hoisted-system",
        "hoisted system message",
        "system messages come first",
        _hoist,
        "moves them to the front as one",
        "leaves them where they are",
    ),
    Change(
        "content-white-space",
        "white space around a text",
        "no text begins or ends with white space",
        _each(_stripped),
        "cuts it off",
        "keeps it",
    ),
    Change(
        "developer",
        'role "developer"',
        "nobody is a developer",
        _each(_developer),
        "reads it as system",
        "does not read it as system",
    ),
    Change(
        "role-case",
        "capitals in a role",
        "roles are in lower case",
        _each(_lower_role),
        "reads them as lower case",
        "tells them apart",
    ),
    Change(
        "null-content",
        "a message without content",
        "every message has content",
        _each(_null),
        "reads it as empty",
        "tells it from empty",
    ),
    Change(
        "typed-parts",
        "typed parts",
        "every content is a text",
        _each(_whole),
        "reads them as one text",
        "tells them from a text",
    ),
    Change("empty-content", "an empty text", "no text is empty", _each(_filled)),
    Change(
        "ends-with-assistant",
        "an answer to be continued",
        "the assistant is not last",
        _ended,
    ),
    Change("no-user", "nobody asks", "the user speaks", _asked),
    Change("user-not-first", "the user does not speak first", "the user speaks first", _user_first),
    Change(
        "think-text",
        "thinking inside the text of an answer",
        "no answer has <think> in its text",
        _each(_think_cut),
        "drops it",
        "keeps it",
    ),
    Change(
        "argument-order",
        "order of the arguments of a call",
        "arguments are in alphabetical order",
        _each(_calls(_sorted_arguments)),
        "sorts them",
        "keeps their order",
    ),
    Change(
        "schema-key-order",
        "tool key order",
        "the keys of tools are in Ollama's order",
        _tools(_schema_order),
        "has an order of its own",
        "keeps their order",
    ),
    Change(
        "property-order",
        "order of a tool's parameters",
        "parameters are in alphabetical order",
        _tools(_sorted_properties),
        "sorts them",
        "keeps their order",
    ),
    Change(
        "schema-keys-dropped",
        "dropped schema keys",
        "tools have only the keys that Ollama reads",
        _tools(_known_keys),
        "drops them",
        "shows them",
    ),
    Change(
        "schema-incomplete",
        "missing parts of a tool's schema",
        "tools have all parts",
        _tools(_complete),
    ),
    Change(
        "type-list",
        "a parameter of several types",
        "every parameter has one type",
        _tools(_properties(_single_type)),
    ),
    Change(
        "numbers",
        "numbers that are no small integers",
        "numbers are small integers",
        _both(_arguments(_simple_numbers), _tools(_simple_numbers)),
    ),
    Change(
        "json-characters",
        "characters that JSON or HTML escapes",
        "calls and tools have plain characters",
        _both(_arguments(_plain_json), _tools(_plain_json)),
    ),
    Change(
        "text-characters",
        "characters in a text that JSON escapes",
        "texts have plain characters",
        _each(_plain_text),
        "escapes them",
        "prints them as they are",
    ),
    Change(
        "nested-arguments",
        "arguments that are no texts",
        "arguments are texts",
        _arguments(lambda arguments: {name: _flat(value) for name, value in arguments.items()}),
    ),
    Change(
        "parameter-details",
        "details of a tool's parameters",
        "parameters are described texts",
        _tools(_properties(_plain_property)),
    ),
    Change("names-and-ids", "names and ids", "there are no names and ids", _no_names),
    Change("variables", "variables of the template", "there are no variables", _no_variables),
    Change(
        "text-not-parts",
        "a text that is no list of typed parts",
        "every content is a list of typed parts",
        _each(_in_parts),
        "reads it as a part",
        "tells it from a part",
    ),
)
"""Changes of how something is said."""

COARSE: tuple[Change, ...] = (
    Change(
        "think-switch",
        "the switch for thinking",
        "thinking is left to the template",
        _no_think,
        "pays no heed to it",
        "heeds it",
        coarse=True,
    ),
    Change(
        "thinking",
        "thinking in the history",
        "answers have no thinking",
        _each(_no_reasoning),
        "drops it",
        "keeps it",
        coarse=True,
    ),
    Change(
        "text-beside-call",
        "text beside a call",
        "calls stand alone",
        _each(_silent_call),
        "drops it",
        "shows it",
        coarse=True,
    ),
    Change("parallel-calls", "several calls at once", "one call at a time", _one_call, coarse=True),
    Change(
        "odd-role",
        "a role that is not in common use",
        "roles are system, user, assistant, tool",
        _no_odd_roles,
        coarse=True,
    ),
    Change("images", "images", "there are no images", _each(_no_images), coarse=True),
    Change("tool-results", "tool result form", "there are no tool results", _no_results, coarse=True),
    Change("tool-calls", "tool call form", "there are no tool calls", _no_calls, coarse=True),
    Change("tools", "the tools", "there are no tools", _no_tools, coarse=True),
    Change("system", "the system message", "there is no system message", _no_system, coarse=True),
    Change("history", "earlier turns", "there is one question", _last_question, coarse=True),
)
"""Changes that take away what is said, the smaller first."""
