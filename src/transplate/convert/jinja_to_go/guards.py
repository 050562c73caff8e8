"""Searches for constants in texts; several in one text look first, and only once, whether any is there.

Whether there are several is known at the end. Until then what a search begins with is a variable of its own,
a guard, that is declared as the text, and its results are declared alone. ``with_searches`` writes the
statements: they search the text from the first place of any of the constants on, or all of it where there
is one search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import call
from transplate.convert.jinja_to_go.trees import with_bodies
from transplate.gotmpl.nodes import Action, Body, Item, Operand, Variable


@dataclass(eq=False)
class Search:
    """The searches in one text.

    Attributes:
        source: The text.
        home: The variable that holds the text from the first place of any constant on, or nothing.
        parts: The constants.
        found: Variables that tell whether one is there.
        write: Writes the search for any of them.
    """

    source: Operand
    home: Variable
    write: Callable[[Search], Body]
    parts: list[str] = field(default_factory=list)
    found: list[Variable] = field(default_factory=list)

    @property
    def is_shared(self) -> bool:
        """Whether there are several."""
        return len(self.parts) > 1


@dataclass(frozen=True)
class Guard:
    """What a search begins with.

    Attributes:
        search: The searches that it is one of.
        text: The text to search, which is made of that of ``search``.
        results: How many results are declared behind the guard, in place of the statements that give them.
        write: Writes these statements; they search the guard where there are several searches.
    """

    search: Search
    text: Operand
    results: int
    write: Callable[[], Body]


@dataclass(frozen=True)
class Origin:
    """What a text was made of by cutting, and by replacing constants.

    Attributes:
        text: The other text.
        search: The searches in that for the constants, None if nothing was replaced.
    """

    text: Operand
    search: Search | None = None


def with_searches(body: Body, searches: Mapping[str, Search], guards: Mapping[str, Guard]) -> Body:
    """Return a tree with guards written as what they stand for."""
    if not searches:
        return body
    filled: dict[str, Operand] = {
        name: guard.search.home
        for name, guard in guards.items()
        if guard.search.is_shared and guard.text == guard.search.source
    }

    def changed(items: Body) -> Body:
        made: list[Item] = []
        rest = iter(items)
        for item in rest:
            name = _declared(item)
            guard, search = guards.get(name), searches.get(name)
            if search is not None:
                made += search.write(search) if search.is_shared else ()
            elif guard is None:
                made.append(with_bodies(item, changed))
            else:
                for _ in range(guard.results):
                    next(rest)
                if guard.search.is_shared and name not in filled:
                    made.append(build.declare(Variable(name), call("and", guard.search.home, guard.text)))
                made += guard.write()
        return tuple(made)

    return build.filled(changed(body), filled)


def _declared(item: Item) -> str:
    """Return the variable that a statement declares."""
    if isinstance(item, Action) and item.pipeline.declarations and not item.pipeline.is_assignment:
        return item.pipeline.declarations[0].name
    return ""
