"""Where in a template a piece of its prompt comes from."""

from __future__ import annotations

from datetime import datetime

from transplate.conversation import Conversation
from transplate.parity.report import Place
from transplate.parity.sides import Side
from transplate.source import Source


def place_of(
    side: Side, conversation: Conversation, now: datetime | None, prompt: str, position: int
) -> Place | None:
    """Return the place in a template that printed what is at a position of its prompt; None if unknown."""
    pieces = side.pieces(conversation, now)
    if not pieces:
        return None
    before = [piece for piece in pieces if piece[0] <= min(position, max(0, len(prompt) - 1))]
    if not before:
        return None
    start, offset = before[-1]
    if side.source.startswith(prompt[start:position], offset):
        offset += position - start
    source = Source(side.source)
    where = source.position(min(offset, len(side.source)))
    return Place(where.line, where.column, source.line_at(offset))
