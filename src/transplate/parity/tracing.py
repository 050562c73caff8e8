"""Which place of a Go template printed what: the template with a mark before each piece of output."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from transplate.errors import TransplateError
from transplate.gotmpl.nodes import (
    Action,
    Block,
    Body,
    Clause,
    Comment,
    Define,
    Else,
    If,
    Item,
    Range,
    TemplateCall,
    Text,
    With,
)
from transplate.gotmpl.parser import parse
from transplate.gotmpl.printer import print_template
from transplate.ollama.functions import FUNCTIONS
from transplate.ollama.template import OllamaTemplate
from transplate.ollama.values import Values

_OPEN, _CLOSE = "\U0010fff2", "\U0010fff3"
"""What a mark's number stands between: two characters that nobody uses."""
_MARK = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")


class GoTrace:
    """A Go template that tells where what it prints comes from.

    Args:
        template: The template.

    Attributes:
        marked: The source of the marked template; None if it cannot be marked.

    Example:
        >>> trace = GoTrace(OllamaTemplate("{{ range .Messages }}<{{ .Role }}>{{ end }}"))
        >>> trace.pieces(Values([{"role": "user", "content": "Hi"}]))
        [(0, 21), (1, 22), (5, 33)]
    """

    def __init__(self, template: OllamaTemplate) -> None:
        """Mark the template."""
        self._plain = template
        self.marked: str | None = None
        self._marked: OllamaTemplate | None = None
        try:
            tree = parse(template.source, functions=FUNCTIONS, limits=template.limits)
            self.marked = print_template(_marked(tree.body))
            self._marked = OllamaTemplate(self.marked, ollama=template.ollama, limits=template.limits)
        except (RecursionError, TransplateError):
            pass

    def pieces(self, values: Values, now: datetime | None = None) -> list[tuple[int, int]] | None:
        """Return where each piece of the prompt begins, and the offset in the template that printed it.

        Args:
            values: What the template gets.
            now: What the date functions take for now.

        Returns:
            The pieces in the order of the prompt; None if the marks would change it.
        """
        if self._marked is None:
            return None
        text, found = read_marks(_printed(self._marked, values, now))
        return found if text == _printed(self._plain, values, now) else None


def read_marks(output: str) -> tuple[str, list[tuple[int, int]]]:
    """Return what a marked template printed, and where in it the pieces begin with what printed them."""
    found = []
    removed = 0
    for mark in _MARK.finditer(output):
        found.append((mark.start() - removed, int(mark[1])))
        removed += len(mark[0])
    return _MARK.sub("", output), found


def _printed(template: OllamaTemplate, values: Values, now: datetime | None) -> str:
    try:
        return template.execute(values, now=now)
    except TransplateError as error:
        return getattr(error, "output", "")


def _mark(offset: int) -> Text:
    mark = f"{_OPEN}{offset}{_CLOSE}"
    return Text(mark, mark)


def _marked(body: Body) -> Body:
    """Return a body with a mark before each text and each action that prints, all white space settled."""
    made: list[Item] = []
    for item in body:
        match item:
            case Text():
                if item.value:
                    start = item.span.start + max(0, item.raw.find(item.value))
                    made += [_mark(start), Text(item.value, item.value)]
            case Comment():
                pass
            case Action():
                if not item.pipeline.declarations:
                    made.append(_mark(item.clause.span.start))
                made.append(replace(item, clause=Clause()))
            case TemplateCall():
                made.append(replace(item, clause=Clause()))
            case If() | With() | Range():
                made.append(_branch(item))
            case Define():
                made.append(Define(item.name, _marked(item.body)))
            case Block():
                made.append(Block(item.name, item.pipeline, _marked(item.body)))
            case _:
                made.append(type(item)())
    return tuple(made)


def _branch(branch: If | With | Range) -> If | With | Range:
    orelse: Else | If | With | None = None
    if isinstance(branch.orelse, Else):
        orelse = Else(_marked(branch.orelse.body))
    elif branch.orelse is not None:
        orelse = replace(_branch(branch.orelse), end=None)  # type: ignore[arg-type,assignment]
    return type(branch)(branch.pipeline, _marked(branch.body), orelse)  # type: ignore[arg-type]
