"""A Modelfile that is read once and edited in place: what is not edited stays as its author wrote it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple, TypeAlias

from transplate.errors import ErrorKind
from transplate.ollama.modelfile.encoding import Encoding, decode, encode
from transplate.ollama.modelfile.reader import (
    COMMANDS,
    Command,
    ModelfileError,
    Statement,
    read_statements,
    unprintable,
)
from transplate.ollama.modelfile.writer import (
    command_name,
    keyword_of,
    text_of_value,
    written,
    written_value,
)
from transplate.ollama.parameters import NAMES, WITH_DRAFTS, refusal_of
from transplate.ollama.versions import NEWEST, behaviour_of, parse_version
from transplate.source import Source

Value: TypeAlias = str | int | float
"""What a command can be given; numbers and truth values are written as PARAMETERs have them."""


class Modelfile:
    """A Modelfile as Ollama reads it. ``str()`` gives its text, ``bytes()`` its bytes, in its own encoding.

    Names are those of Ollama's own commands, in any case: ``from`` (or ``model``), ``template``, ``system``,
    ``adapter``, ``license``, ``message``, ``renderer``, ``parser``, ``requires``, ``draft``; every other name
    is that of a PARAMETER, whose case counts.

    Attributes:
        source: Its text and the name it is shown under.
        statements: The commands with their places in the text.
    """

    def __init__(self, source: Source, *, encoding: Encoding = "utf-8", ollama: str = NEWEST) -> None:
        """Read a Modelfile.

        Args:
            source: Its text.
            encoding: What :func:`bytes` writes.
            ollama: The version of Ollama.

        Raises:
            ModelfileError: Ollama refuses it; the message is Ollama's.
            TransplateError: The version is not known.
        """
        self._behaviour = behaviour_of(parse_version(ollama))
        self._ollama = ollama
        self._encoding: Encoding = encoding
        self.source = source
        self.statements = read_statements(source, encoding, self._behaviour)

    @classmethod
    def parse(cls, text: str | bytes, *, name: str = "", ollama: str = NEWEST) -> Modelfile:
        """Read a Modelfile from its text or its bytes (UTF-8, or UTF-16 with a byte order mark).

        Args:
            text: The text or bytes.
            name: What to call it in errors.
            ollama: The version of Ollama.

        Raises:
            ModelfileError: Ollama refuses it; the message is Ollama's.
            TransplateError: The version is not known.
        """
        decoded, encoding = decode(text) if isinstance(text, bytes) else (text, "utf-8")
        return cls(Source(decoded, name), encoding=encoding, ollama=ollama)

    @property
    def commands(self) -> list[Command]:
        """The commands, as Ollama's parser gives them."""
        return [statement.command for statement in self.statements]

    def __str__(self) -> str:
        return self.source.text

    def __bytes__(self) -> bytes:
        return encode(self.source.text, self._encoding)

    def __repr__(self) -> str:
        return f"<Modelfile {self.source.name or 'of'} {len(self.statements)} commands>"

    def values(self, name: str) -> list[str]:
        """Return the values of all commands of a name, in order; those of MESSAGE as ``role: content``."""
        name = command_name(name)
        return [command.args for command in self.commands if command.name == name]

    def get(self, name: str) -> str | None:
        """Return the value that counts of a name: the last one; None where there is none."""
        return next(reversed(self.values(name)), None)

    def value_offset(self, name: str) -> int | None:
        """Return where in the text the value that counts of a name begins, behind what quotes it.

        None where there is none, or where the value is not in the text as it is: Ollama deletes some of it.
        """
        name = command_name(name)
        for statement in reversed(self.statements):
            if statement.command.name == name:
                start, end = statement.value
                found = self.source.text.find(statement.command.args, start, end)
                return None if found < 0 else found
        return None

    @property
    def deleted_characters(self) -> list[int]:
        """Offsets in the text of the characters inside values that Ollama deletes without a word."""
        found: list[int] = []
        for statement in self.statements:
            start, end = statement.value
            value = self.source.text[start:end]
            deleted = {one for one in unprintable(value) if not "\ud800" <= one <= "\udfff"}
            if deleted:
                found.extend(start + at for at, character in enumerate(value) if character in deleted)
        return found

    @property
    def refusals(self) -> list[str]:
        """Why Ollama's ``create`` refuses PARAMETERs that its parser takes, one text for each of them."""
        drafts = self._behaviour.draft_command
        parameters = (one.command for one in self.statements if one.keyword == "parameter")
        return list(filter(None, (refusal_of(*parameter, drafts=drafts) for parameter in parameters)))

    # --- edits ------------------------------------------------------------------------------------------

    def set(self, name: str, value: Value | Iterable[Value]) -> None:
        """Let a name have exactly this value, or these, by rewriting, adding and removing its commands.

        Args:
            name: The name, as in :class:`Modelfile`.
            value: One value, or several; ``role: content`` for MESSAGE.

        Raises:
            ModelfileError: A Modelfile cannot say it, or Ollama knows no PARAMETER of this name. Nothing is
                changed.
        """
        name = command_name(name)
        values = [text_of_value(one) for one in ([value] if isinstance(value, Value) else value)]
        there = self._named(name)
        edits = [
            self._rewriting(statement, new)
            for statement, new in zip(there, values, strict=False)
            if statement.command.args != new
        ]
        edits += [self._removal(statement) for statement in there[len(values) :]]
        edits += self._additions(name, values[len(there) :])
        self._apply(edits, name, values)

    def add(self, name: str, value: Value) -> None:
        """Add a command behind those of its name, or where it belongs when it is the first.

        Raises:
            ModelfileError: As :meth:`set`. Nothing is changed.
        """
        name, text = command_name(name), text_of_value(value)
        self._apply(self._additions(name, [text]), name, [*self.values(name), text])

    def remove(self, name: str, value: str | None = None) -> None:
        """Remove all commands of a name, or those with one value; none there is no error.

        Raises:
            ModelfileError: It was the last FROM, without which there is no Modelfile. Nothing is changed.
        """
        name = command_name(name)
        gone = [one for one in self._named(name) if value is None or one.command.args == value]
        kept = [] if value is None else [args for args in self.values(name) if args != value]
        self._apply([self._removal(statement) for statement in gone], name, kept)

    def _named(self, name: str) -> list[Statement]:
        return [statement for statement in self.statements if statement.command.name == name]

    def _rewriting(self, statement: Statement, value: str) -> _Edit:
        """Return the edit that gives a statement another value; a message may get another role."""
        text = self.source.text
        command = Command(statement.command.name, value)
        start, end = statement.value
        if statement.keyword == "message":
            return _Edit(statement.span.start, end, written("message", command, self._behaviour))
        start += len(text[start:end]) - len(text[start:end].lstrip(" \t"))
        return _Edit(start, end, written_value(statement.keyword, command, self._behaviour))

    def _removal(self, statement: Statement) -> _Edit:
        text = self.source.text
        start, end = statement.span
        while start > 0 and text[start - 1] in " \t":
            start -= 1
        return _Edit(start, _behind_line_ending(text, end), "")

    def _additions(self, name: str, values: list[str]) -> list[_Edit]:
        """Return the edit that adds commands behind their like, a parameter behind others, or at the end."""
        if not values:
            return []
        keyword = keyword_of(name, self._behaviour)
        drafts = self._behaviour.draft_command
        is_known = name in NAMES and (drafts or name not in WITH_DRAFTS)
        if keyword == "parameter" and not is_known and not self._named(name):
            raise _unknown(name)
        like = self._named(name) or [one for one in self.statements if one.keyword == keyword]
        text = self.source.text
        line_ending = "\r\n" if "\r\n" in text else "\n"
        at = _behind_line_ending(text, (like or self.statements)[-1].span.end)
        lines = "".join(
            written(keyword, Command(name, value), self._behaviour) + line_ending for value in values
        )
        return [_Edit(at, at, lines if text[at - 1] in "\r\n" else line_ending + lines)]

    def _apply(self, edits: list[_Edit], name: str, values: list[str]) -> None:
        """Make the edits if the commands of a name then have these values, and all others are as before."""
        text = self.source.text
        for edit in sorted(edits, reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        edited = Modelfile(Source(text, self.source.name), encoding=self._encoding, ollama=self._ollama)
        others = [command for command in self.commands if command.name != name]
        if edited.values(name) != values or others != [one for one in edited.commands if one.name != name]:
            raise ModelfileError(
                f"{name}: the edit would change what Ollama reads elsewhere", source=self.source
            )
        self.source, self.statements = edited.source, edited.statements


class _Edit(NamedTuple):
    """Part of the text, and what takes its place."""

    start: int
    end: int
    text: str


def _unknown(name: str) -> ModelfileError:
    close = get_close_matches(name.lower(), (*NAMES, *COMMANDS), 1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    return ModelfileError(f"Ollama knows no PARAMETER {name!r}{hint}", kind=ErrorKind.UNSUPPORTED)


def _behind_line_ending(text: str, end: int) -> int:
    """Return where the line after the one that ends at an offset begins."""
    if text.startswith("\r\n", end):
        return end + 2
    return min(end + 1, len(text))
