"""Searches for any of some constants, behind which others look for one of them: each said of the whole text.

``to_go`` looks for several constants at once, and for each of them only from the first place of any on. What
is asked of that text, whether it is there and whether and where a constant is in it, is the same of the whole
text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from transplate.convert.go_to_jinja.idioms.matching import inside, parts_of, reads_dot, rebuilt, variables_in
from transplate.convert.go_to_jinja.resolve import Declaration, Resolution
from transplate.gotmpl import nodes as go

FROM_ANY = "from_any"
"""The text from the first place of any constant on; empty where there is none."""
HAS_ANY = "has_any"
"""Whether any constant is in a text."""
TEXT_IF = "text_if"
"""A text if something holds, else an empty one."""

_SEARCHES = ("contains", "from_first")


def said_of_the_whole(items: go.Body, resolution: Resolution) -> go.Body:
    """Return a body in which searches for any of some constants tell whether there is one, if they can."""
    made: list[go.Item] = []
    rest = items
    while rest:
        item, rest = rest[0], rest[1:]
        search = _search(item, resolution)
        if search is not None and search.is_replaceable(rest):
            item, rest = rebuilt(item, _renamed), tuple(rebuilt(one, search.replaced) for one in rest)
        made.append(inside(item, lambda body: said_of_the_whole(body, resolution)))
    return tuple(made)


def _renamed(node: object) -> object:
    return replace(node, name=HAS_ANY) if isinstance(node, go.Identifier) and node.name == FROM_ANY else node


@dataclass(frozen=True)
class _Search:
    """The variable that holds a text from any of some constants on, that text, and the constants."""

    home: Declaration
    text: go.Operand
    parts: frozenset[str]
    resolution: Resolution

    def is_replaceable(self, items: go.Body) -> bool:
        """Tell whether items ask only what is the same of the whole text, which is the same text there."""
        reads = sum(self.resolution.of(one) is self.home for one in variables_in(items))
        if reads != sum(map(self.is_use, parts_of(items))):
            return False
        last = max((at for at, item in enumerate(items) if self._is_read(item)), default=-1)
        read = items[: last + 1]
        names = {one.name for one in variables_in(self.text)}
        declared = {
            one.name for part in parts_of(read) if isinstance(part, go.Pipeline) for one in part.declarations
        }
        if names & declared:
            return False
        moved = (part.body for part in parts_of(read) if isinstance(part, go.Range | go.With))
        return not (reads_dot(self.text) and any(map(self._is_read, moved)))

    def _is_read(self, node: object) -> bool:
        return any(self.resolution.of(one) is self.home for one in variables_in(node))

    def is_use(self, node: object) -> bool:
        """Tell whether a node asks whether there is any, or something of one of the constants."""
        match node:
            case go.If(go.Pipeline((go.Command((go.Variable() as variable,)),), ())):
                pass
            case go.Command((go.Identifier("and"), go.Variable() as variable, _)):
                pass
            case go.Command((go.Identifier(name), go.Variable() as variable, go.String(_, part))) if (
                name in _SEARCHES and part in self.parts
            ):
                pass
            case _:
                return False
        return self.resolution.of(variable) is self.home and not variable.fields

    def replaced(self, node: object) -> object:
        """Return what a node says when the variable tells whether there is any."""
        if not isinstance(node, go.Command) or not self.is_use(node) or len(node.operands) != 3:
            return node
        function, home, other = node.operands
        if isinstance(function, go.Identifier) and function.name == "and":
            return replace(node, operands=(replace(function, name=TEXT_IF), home, other))
        return replace(node, operands=(function, self.text, other))


def _search(item: go.Item, resolution: Resolution) -> _Search | None:
    match item:
        case go.Action(go.Pipeline((go.Command((go.Identifier(name), text, *parts)),), (variable,))) if (
            name == FROM_ANY
        ):
            home = resolution.of(variable)
            if home is None or home.assigned_in:
                return None
            constants = frozenset(part.value for part in parts if isinstance(part, go.String))
            return _Search(home, text, constants, resolution)
        case _:
            return None
