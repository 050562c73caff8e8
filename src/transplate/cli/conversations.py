"""Conversations as the command line takes them: JSON files, one conversation each, or JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from transplate.cli.files import name_of, read_text
from transplate.cli.requests import naming_request, read_json
from transplate.errors import RequestError
from transplate.source import Source

if TYPE_CHECKING:
    from transplate import Conversation


def told_apart(conversations: Iterable[Conversation]) -> list[Conversation]:
    """Return conversations, those with the name of one before them under that name and a number."""
    found: dict[str, Conversation] = {}
    for conversation in conversations:
        name, number = conversation.name, 1
        while name in found:
            number += 1
            name = f"{conversation.name} ({number})"
        found[name] = conversation.named(name)
    return list(found.values())


def read_conversations(path: str) -> Iterator[Conversation]:
    """Yield the conversations of a file: one of a JSON file, one a line of a file whose name ends in .jsonl.

    Those without a name get that of the file, and of the line.

    Raises:
        TransplateError: The file cannot be read, or holds no conversations; the error names the line.
    """
    from transplate import Conversation

    source = read_text(path)
    if not path.lower().endswith((".jsonl", ".ndjson")):
        with naming_request(name_of(path)):
            conversation = Conversation.read(read_json(source))
        yield conversation if conversation.name else conversation.named(name_of(path))
        return
    lines = [(number, line) for number, line in enumerate(source.text.splitlines(), 1) if line.strip()]
    if not lines:
        raise RequestError(f"{name_of(path)}: there is no conversation in it")
    for number, line in lines:
        name = f"{name_of(path)}:{number}"
        with naming_request(name):
            conversation = Conversation.read(read_json(Source(line, name)))
        yield conversation if conversation.name else conversation.named(name)
