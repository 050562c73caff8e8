"""Searches for constants in texts, and replacements of them."""

from __future__ import annotations

from collections.abc import Sequence

from transplate.convert.jinja_to_go import build, strings
from transplate.convert.jinja_to_go.guards import Guard, Origin, Search
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.truths import Condition, any_of
from transplate.convert.jinja_to_go.values import TEXT, TRUTH, Go, ListOf, Value
from transplate.gotmpl.nodes import Body, Operand, Variable
from transplate.gotmpl.printer import print_node
from transplate.gotmpl.quoting import quote
from transplate.jinja import nodes as j

_FEWEST = 3
"""Constants that are looked for together where only whether any is there is asked: where there are two, it is
likely to be asked for one of them again."""


class Searches(Interface):
    """Searches for constants in texts."""

    def located(self, part: str | None, operands: dict[str, Operand]) -> tuple[Variable, Variable]:
        """Return whether a constant is in a text, or ``p`` is, and the text from there on."""
        key = _place_of(part, *operands.values())
        stable = all(self.is_stable(operand) for operand in operands.values())
        held = self.state.decoded.get(key) if stable else None
        if held is None:
            found, rest = self.fresh("found"), self.fresh("rest")
            said = f"whether {shown(part)} is in it, and where"
            source = operands["s"]
            search = self._search_in(source, part) if stable else None
            if search is None:
                self.encode(strings.find(part), said, d=found, t=rest, **operands)
            else:
                search.found.append(found)
                guard = self.fresh("from")

                def write() -> Body:
                    text = guard if search.is_shared else source
                    search_for = strings.find(part, is_likely=search.is_shared)
                    if search.is_shared and self.is_short(source):
                        search_for = strings.find_by_byte(part)
                    with self.block() as items:
                        self.encode(search_for, said, d=found, t=rest, s=text)
                    return tuple(items)

                self._guard(Guard(search, source, 2, write), guard, found, rest)
            held = ListOf((Go(TRUTH, found), Go(TEXT, rest)))
            if stable:
                self.state.decoded[key] = held
        assert isinstance(held, ListOf)  # noqa: S101
        variables = [item.expr for item in held.items if isinstance(item, Go)]
        assert isinstance(variables[0], Variable)  # noqa: S101
        assert isinstance(variables[1], Variable)  # noqa: S101
        return variables[0], variables[1]

    def any_found(self, nodes: Sequence[j.Expression]) -> tuple[Condition, Sequence[j.Expression]]:
        """Return whether any of several constants is in one text, and what is left of the operands of ``or``.

        What is asked together takes one search, in place of one for each constant.
        """
        together = asked_together(nodes)
        by_sort: dict[str | None, list[str]] = {}
        for part in dict.fromkeys(together):
            by_sort.setdefault(strings.sort_of(part), []).append(part)
        groups = [parts for sort, parts in by_sort.items() if sort is not None and len(parts) >= _FEWEST]
        if not groups or not isinstance(nodes[0], j.Binary):
            return False, nodes
        text = self.known(self.value(nodes[0].right))
        if not (isinstance(text, Go) and text.kinds == TEXT and text.present is None):
            return False, nodes
        found = [self._has_any(text.expr, parts) for parts in groups]
        rest = [
            node
            for node, part in zip(nodes, together, strict=False)
            if not any(part in parts for parts in groups)
        ]
        return any_of(*found), [*rest, *nodes[len(together) :]]

    def _has_any(self, text: Operand, parts: Sequence[str]) -> Operand:
        key = f"any of {parts!r} in {print_node(text)}"
        held = self.state.decoded.get(key)
        if isinstance(held, Go):
            return held.expr
        found = self.run(strings.has_any(parts), _any_of(parts), "found", s=text)
        if self.is_stable(text):
            self.state.decoded[key] = Go(TRUTH, found)
        return found

    def replaced(self, old: str | None, new: str | None, operands: dict[str, Operand]) -> Variable:
        """Return a text with a constant, or ``p``, replaced by another, or ``q``."""
        said, source = "with another text in its place", operands["s"]
        stable = all(map(self.is_stable, operands.values()))
        search = self._search_in(source, old) if stable else None
        if search is None:
            is_likely = old is not None and self._is_found(old, source)
            return self.run(strings.replace(old, new, is_likely=is_likely), said, "replaced", **operands)
        key = " ".join(("replaced", repr((old, new)), *map(print_node, operands.values())))
        held = self.state.decoded.get(key)
        if isinstance(held, Go) and isinstance(held.expr, Variable):
            return held.expr
        result, guard = self.fresh("replaced"), self.fresh("from")

        def write() -> Body:
            with self.block() as items:
                if search.is_shared:
                    likely = strings.replace(old, new, is_likely=True)
                    made = self.run(likely, said, "replaced", **operands)
                    self.items.append(build.assign(result, made))
                else:
                    self.encode(strings.replace(old, new), said, d=result, **operands)
            if not search.is_shared:
                return tuple(items)
            return build.declare(result, source), build.when(guard, tuple(items))

        self._guard(Guard(search, source, 1, write), guard, result)
        self.made_of[result.name] = Origin(search.source, search)
        self.state.decoded[key] = Go(TEXT, result)
        return result

    def _is_found(self, part: str, text: Operand) -> bool:
        """Tell whether it is known that a constant is in a text."""
        held = self.state.decoded.get(_place_of(part, text))
        found = held.items[0] if isinstance(held, ListOf) else None
        return isinstance(found, Go) and self.is_known(found.expr) is True

    def derive(self, made: Operand, source: Operand) -> None:
        """Note that a text was cut out of another."""
        if isinstance(made, Variable) and made != source and self.is_stable(source):
            self.made_of[made.name] = self._origin(source)

    def derive_merged(self, made: Variable, test: Operand, first: Value, second: Value) -> None:
        """Note that a text is one of two: the first if a test holds."""
        one, other = (
            self._origin(value.expr) if isinstance(value, Go) and self.is_stable(value.expr) else None
            for value in (first, second)
        )
        search = next((one for one in self.searches.values() if test in one.found), None)
        if search is not None and other is not None and other.text == search.source:
            if other.search in (None, search):  # the first is not there where no constant is found
                self.made_of[made.name] = Origin(other.text, search)
        elif one is not None and other is not None and one.text == other.text:
            searches = [origin.search for origin in (one, other) if origin.search is not None]
            if all(search is searches[0] for search in searches):
                self.made_of[made.name] = Origin(one.text, searches[0] if searches else None)

    def _origin(self, text: Operand) -> Origin:
        found = self.made_of.get(text.name) if isinstance(text, Variable) and not text.fields else None
        return found if found is not None else Origin(text)

    def _search_in(self, text: Operand, part: str | None) -> Search | None:
        """Return the searches that one is to be among, None if it is apart."""
        sort = strings.sort_of(part)
        if part is None or sort is None:
            return None
        origin = self._origin(text)
        for source in (origin.text, text):
            key = f"searches {sort} {print_node(source)}"
            held = self.state.decoded.get(key)
            search = self.searches.get(print_node(held.expr)) if isinstance(held, Go) else None
            if source == text or origin.search is None or (search is not None and search is origin.search):
                break
        if search is None:
            search = Search(source, self.fresh("from"), self._search_for_any)
            self.searches[search.home.name] = search
            self.items.append(build.declare(search.home, source))
            self.state.decoded[key] = Go(TEXT, search.home)
        elif any(self.is_known(found) for found in search.found):
            return None  # one that is there already tells that this one may be
        if part not in search.parts:
            search.parts.append(part)
        return search

    def _guard(self, guard: Guard, home: Variable, *results: Variable) -> None:
        self.guards[home.name] = guard
        self.items += [build.declare(home, guard.text), *(build.declare(result, home) for result in results)]

    def _search_for_any(self, search: Search) -> Body:
        with self.block() as items:
            self.encode(strings.from_any(search.parts), _any_of(search.parts), s=search.source, d=search.home)
        return tuple(items)


def asked_together(nodes: Sequence[j.Expression]) -> list[str]:
    """Return the constants that the first expressions look for in one thing, if they are many."""
    container = nodes[0].right if isinstance(nodes[0], j.Binary) else None
    parts: list[str] = []
    for node in nodes:
        match node:
            case j.Binary("in", j.Literal(str(part)), right) if right == container:
                parts.append(part)
            case _:
                break
    return parts if len(parts) >= _FEWEST else []


def _place_of(part: str | None, *operands: Operand) -> str:
    return " ".join(("place of", repr(part), *map(print_node, operands)))


def _any_of(parts: Sequence[str]) -> str:
    return f"whether any of {', '.join(map(shown, parts))} is in it"


def shown(part: str | None) -> str:
    """Return a part of a text for a comment."""
    return "a text" if part is None else quote(part).replace("*/", "*\\/")
