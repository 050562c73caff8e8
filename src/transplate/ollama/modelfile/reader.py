"""A Modelfile's text in, its commands with their places out: the grammar of Ollama's parser/parser.go."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from transplate.errors import ErrorKind, TransplateError
from transplate.gotmpl.printable import is_print
from transplate.ollama.modelfile.encoding import MARK, Encoding, well_formed
from transplate.ollama.text import lower
from transplate.ollama.versions import Behaviour
from transplate.source import Source, Span

COMMANDS = (
    "from",
    "license",
    "template",
    "system",
    "adapter",
    "draft",
    "renderer",
    "parser",
    "parameter",
    "message",
    "requires",
)
"""The commands, in the order of Ollama's own list of them."""

ROLES = ("system", "user", "assistant")

_BLANK = re.compile(r"[ \t\r\n]*")
_LETTERS = re.compile("[A-Za-z]*")
_PARAMETER_NAME = re.compile("[A-Za-z0-9_]*")
_LINE_END = re.compile("[\r\n]")
_SURROGATES = re.compile("[\ud800-\udfff]*")
_SPACE = " \t"
_TRIMMED = " \t\r\n"
_TRIPLE = '"""'


class Command(NamedTuple):
    """A command as Ollama's parser gives it.

    Attributes:
        name: ``model`` for FROM, the parameter's name for PARAMETER, else the command in lower case.
        args: Its value; ``role: content`` for MESSAGE.
    """

    name: str
    args: str


class ModelfileError(TransplateError):
    """A Modelfile that Ollama refuses, in Ollama's own words, or an edit that no Modelfile can say."""

    kind = ErrorKind.SYNTAX


@dataclass(frozen=True, slots=True)
class Statement:
    """A command and where it stands.

    Attributes:
        keyword: Which of :data:`COMMANDS` it is.
        command: What Ollama makes of it.
        span: From its first character to the end of its line, the line ending excepted.
        value: The part of it that holds the value, quotes and white space around it included.
    """

    keyword: str
    command: Command
    span: Span
    value: Span


def commands_of(behaviour: Behaviour) -> tuple[str, ...]:
    """Return the commands that a version of Ollama knows."""
    return tuple(name for name in COMMANDS if name != "draft" or behaviour.draft_command)


def read_statements(source: Source, encoding: Encoding, behaviour: Behaviour) -> tuple[Statement, ...]:
    """Return the statements of a Modelfile, in order.

    Args:
        source: Its text, byte order mark included.
        encoding: What the text was encoded in.
        behaviour: The version of Ollama.

    Raises:
        ModelfileError: Ollama refuses it.
    """
    statements = _Reader(source, encoding, commands_of(behaviour)).statements()
    if not any(statement.command.name == "model" for statement in statements):
        raise ModelfileError("no FROM line", source=source)
    return tuple(statements)


def unprintable(text: str) -> set[str]:
    """Return the characters of a value that Ollama deletes."""
    return {character for character in set(text) if not (is_print(ord(character)) or character in _TRIMMED)}


class _Reader:
    def __init__(self, source: Source, encoding: Encoding, known: tuple[str, ...]) -> None:
        self._source = source
        self._text = source.text
        self._encoding = encoding
        self._marked = source.text.startswith(MARK)
        self._known = known

    def statements(self) -> list[Statement]:
        text = self._text
        found: list[Statement] = []
        at = int(self._marked)
        while (at := _end(_BLANK, text, at)) < len(text):
            if text[at] == "#":
                at = self._line_end(at)
                continue
            statement = self._statement(at)
            found.append(statement)
            at = statement.span.end
        return found

    def _statement(self, start: int) -> Statement:
        text = self._text
        # Any character may begin the name, and one that is not printable is no part of it.
        letters = self._character_end(start)
        at = _end(_LETTERS, text, letters)
        keyword = lower(self._printed(start, letters) + text[letters:at])
        if at == len(text):
            self._fail("unexpected EOF", start)
        if text[at] not in _SPACE or keyword not in self._known:
            *all_but_last, last = (f'"{command}"' for command in self._known)
            self._fail(f"command must be one of {', '.join(all_but_last)}, or {last}", start, read=at + 1)
        at += 1
        if keyword == "parameter":
            name, at = self._word(_PARAMETER_NAME, at)
        elif keyword == "message":
            role, at = self._word(_LETTERS, at)
        value_end = self._value_end(at)
        value = self._value(at, value_end)
        match keyword:
            case "from":
                command = Command("model", value)
            case "parameter":
                command = Command(name, value)
            case "message":
                command = Command("message", f"{role}: {value}")
            case _:
                command = Command(keyword, value)
        return Statement(keyword, command, Span(start, value_end), Span(at, value_end))

    def _word(self, pattern: re.Pattern[str], start: int) -> tuple[str, int]:
        """Return a parameter's name or a role, and where the value behind it begins."""
        text = self._text
        end = _end(pattern, text, start)
        word = text[start:end]
        if end == len(text):
            self._fail("unexpected EOF", start)
        if text[end] not in _SPACE:
            self._fail(f"unexpected EOF: {word}", end)
        if pattern is _LETTERS and word not in ROLES:
            *all_but_last, last = (f'"{role}"' for role in ROLES)
            message = f"message role must be one of {', '.join(all_but_last)}, or {last}"
            self._fail(message, start, read=end + 1)
        return word, end + 1

    def _value_end(self, start: int) -> int:
        """Return where the line ends that ends the value: the first at which its quotes are closed."""
        text = self._text
        end = self._line_end(start)
        line = self._printed(start, end)
        if not line.startswith('"'):
            return end
        quote = _TRIPLE if line.startswith(_TRIPLE) else '"'
        # A quote cannot close itself: the first line must hold two.
        closed = line.endswith(quote) and len(line) >= 2 * len(quote)
        while not closed:
            if end == len(text):
                self._fail("unexpected EOF", text.index('"', start))
            line_start = end + 1
            end = self._line_end(line_start)
            closed = self._printed(line_start, end).endswith(quote)
        return end

    def _value(self, start: int, end: int) -> str:
        value = self._printed(start, end)
        for quote in (_TRIPLE, '"'):
            if value.startswith(quote):
                return value[len(quote) : -len(quote)]
        return value

    def _printed(self, start: int, end: int) -> str:
        """Return what Ollama keeps of a part of the text, without white space around it."""
        part = self._text[start:end]
        if not (part.isascii() and part.isprintable()):
            part = self._well_formed(part)
            part = part.translate(dict.fromkeys(map(ord, unprintable(part))))
        return part.strip(_TRIMMED)

    def _well_formed(self, part: str) -> str:
        return well_formed(part, self._encoding, marked=self._marked)

    def _character_end(self, start: int) -> int:
        """Return the end of what Ollama sees as one character, which may be several ill-formed bytes."""
        end = start + 1
        run = _end(_SURROGATES, self._text, start)
        while end < run and len(self._well_formed(self._text[start : end + 1])) == 1:
            end += 1
        return end

    def _line_end(self, at: int) -> int:
        found = _LINE_END.search(self._text, at)
        return found.start() if found else len(self._text)

    def _fail(self, message: str, offset: int, *, read: int | None = None) -> NoReturn:
        """Refuse the text as Ollama does, to which each carriage return and each line feed ends a line."""
        if read is not None:
            line = 1 + len(_LINE_END.findall(self._text, 0, read))
            message = f"(line {line}): {message}"
        raise ModelfileError(message, source=self._source, offset=offset)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return the end of what a pattern matches at an offset."""
    match = pattern.match(text, at)
    return match.end() if match else at
