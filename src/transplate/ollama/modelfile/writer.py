"""A value in, the text out by which a Modelfile says it: the first kind of quotes that reads back."""

from __future__ import annotations

import json
import math
import re

from transplate.errors import ErrorKind
from transplate.gotmpl.quoting import quote
from transplate.ollama.modelfile.reader import (
    COMMANDS,
    ROLES,
    Command,
    ModelfileError,
    commands_of,
    read_statements,
    unprintable,
)
from transplate.ollama.versions import Behaviour
from transplate.source import Source

_SURROGATE = re.compile("[\ud800-\udfff]")


def command_name(name: str) -> str:
    """Return a name as Ollama spells it: FROM as ``model``, others in lower case, parameters as they are."""
    lowered = name.lower()
    if lowered == "from":
        return "model"
    return lowered if lowered == "model" or lowered in COMMANDS else name


def text_of_value(value: object) -> str:
    """Return a value as a Modelfile writes it; a truth value is in lower case.

    Raises:
        ModelfileError: It is a number that Ollama takes from no Modelfile, such as NaN.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise _unsayable(f"a PARAMETER cannot be {json.dumps(value)}")
    return str(value).lower() if isinstance(value, bool) else str(value)


def keyword_of(name: str, behaviour: Behaviour) -> str:
    """Return the keyword that a command of a name is written with.

    Raises:
        ModelfileError: This version of Ollama does not know the command.
    """
    if name == "model":
        return "from"
    if name not in COMMANDS or name == "parameter":
        return "parameter"
    if name not in commands_of(behaviour):
        raise _unsayable(f"{name.upper()}: this version of Ollama does not know the command")
    return name


def written(keyword: str, command: Command, behaviour: Behaviour) -> str:
    """Return a line, or several, that Ollama reads as a command; without a line ending behind it.

    Args:
        keyword: The command's keyword in lower case.
        command: What Ollama shall read.
        behaviour: The version of Ollama.

    Raises:
        ModelfileError: No Modelfile can say it.
    """
    return head_of(keyword, command) + written_value(keyword, command, behaviour)


def head_of(keyword: str, command: Command) -> str:
    """Return all of a command that stands before its value.

    Raises:
        ModelfileError: The role is none.
    """
    match keyword:
        case "parameter":
            return f"PARAMETER {command.name} "
        case "message":
            role = command.args.partition(": ")[0]
            if role not in ROLES:
                raise _unsayable(
                    f"{command.args!r} is no message, such as 'user: Hello' (roles: {', '.join(ROLES)})"
                )
            return f"MESSAGE {role} "
    return f"{keyword.upper()} "


def written_value(keyword: str, command: Command, behaviour: Behaviour) -> str:
    """Return the value of a command in the quotes that it needs.

    Raises:
        ModelfileError: No quotes let Ollama read this value.
    """
    value = command.args.partition(": ")[2] if keyword == "message" else command.args
    if _SURROGATE.search(value):
        raise _unsayable("the value has a lone surrogate, which is no text")
    deleted = sorted(unprintable(value))
    if deleted:
        names = ", ".join(f"U+{ord(character):04X}" for character in deleted)
        raise _unsayable(
            f"{_label(keyword, command)}: Ollama deletes characters that are not printable ({names})"
        )
    for text in _candidates(value):
        if _reads_back(keyword, command, text, behaviour):
            return text
    raise _unsayable(
        f"{_label(keyword, command)}: a Modelfile has no escapes and cannot say {quote(value)}, "
        "in which a line ends with quotation marks that would end the value"
    )


def _candidates(value: str) -> list[str]:
    quoted, tripled = f'"{value}"', f'"""{value}"""'
    if "\n" in value:
        return [tripled, quoted]
    bare = [value] if value else []
    return [*bare, tripled, quoted] if '"' in value else [*bare, quoted]


def _reads_back(keyword: str, command: Command, text: str, behaviour: Behaviour) -> bool:
    line = head_of(keyword, command) + text
    # The model in front keeps the reader from missing a FROM, the one behind shows that the value ends.
    source = Source(f"FROM a\n{line}\nFROM b\n")
    try:
        commands = [statement.command for statement in read_statements(source, "utf-8", behaviour)]
    except ModelfileError:
        return False
    return commands == [Command("model", "a"), command, Command("model", "b")]


def _label(keyword: str, command: Command) -> str:
    return f"PARAMETER {command.name}" if keyword == "parameter" else keyword.upper()


def _unsayable(message: str) -> ModelfileError:
    return ModelfileError(message, kind=ErrorKind.UNSUPPORTED)
