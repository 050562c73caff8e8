"""Reads a namespace that is kept in an attribute of another as so many attributes of the outer one.

``walk.turn`` that is always a ``namespace(system=…, prompt=…)`` becomes ``walk.turn_system`` and
``walk.turn_prompt``, so that what is set in a loop are texts.
"""

from __future__ import annotations

from transplate.jinja import nodes as j
from transplate.jinja import walk

_NAMESPACE = j.Name("namespace")


def without_nested_namespaces(body: j.Body) -> j.Body:
    """Return a body without namespaces in namespaces, as far as they are only read and set by attribute."""
    for statement in body:
        match statement:
            case j.Set(j.Name() as outer, j.Call(j.Name("namespace"), (), keywords)):
                for name, value in keywords:
                    keys = _keys(value)
                    if keys is not None:
                        body = _Flattening(body, j.Attribute(outer, name), keys).body()
    return body


def _keys(value: j.Expression) -> tuple[str, ...] | None:
    match value:
        case j.Call(j.Name("namespace"), (), keywords):
            return tuple(name for name, _ in keywords)
    return None


class _Flattening:
    """Takes one namespace in an attribute apart."""

    def __init__(self, body: j.Body, inner: j.Attribute, keys: tuple[str, ...]) -> None:
        self.given, self.inner, self.keys = body, inner, keys
        self.aliases = {
            one.target
            for one in walk.statements(body)
            if isinstance(one, j.Set) and isinstance(one.target, j.Name) and one.value == inner
        }
        calls = [part for part in walk.all_parts(body) if isinstance(part, j.Call)]
        macros = [one for one in walk.statements(body) if isinstance(one, j.Macro)]
        self.macros = {
            macro.name: j.Name(macro.parameters[0])
            for macro in macros
            if len(macro.parameters) > len(macro.defaults)
            and all(
                call.arguments[:1] == (inner,) and macro.parameters[0] not in dict(call.keywords)
                for call in calls
                if call.function == j.Name(macro.name)
            )
        }

    def body(self) -> j.Body:
        """Return the body, unchanged if the namespace is used in another way."""
        outer = self.inner.value
        outside = tuple(
            one for one in self.given if not (isinstance(one, j.Macro) and one.name in self.macros)
        )
        sets = [one for one in walk.statements(self.given) if isinstance(one, j.Set)]
        taken = {part.name for part in walk.all_parts(self.given) if isinstance(part, j.Attribute)}
        for one in sets:
            if one.target == outer:
                taken.update(_keys(one.value) or ())
        if (
            sum(one.target == outer for one in sets) != 1
            or any(
                sorted(_keys(one.value) or ()) != sorted(self.keys)
                for one in sets
                if one.target == self.inner
            )
            or any(
                {self.inner, *self.aliases}.intersection(walk.parts(one.value))
                for one in sets
                if one.target == self.inner  # set one after the other, they must not be made of one another
            )
            or any(self.attribute(key).name in taken for key in self.keys)
            or not all(self.is_current(outside, alias) for alias in self.aliases)
            or any(
                {j.Name(name) for name in macro.parameters} & self.aliases
                for macro in walk.statements(outside)
                if isinstance(macro, j.Macro)
            )
        ):
            return self.given
        made = self.statements(self.given, frozenset({self.inner, *self.aliases}))
        left = set(walk.all_parts(made))
        for statement in walk.statements(made):
            match statement:
                case j.Set(target) | j.SetBlock(target):
                    left.update(target if isinstance(target, tuple) else (target,))
                case j.For(targets):
                    left.update(targets)
        return self.given if left & {self.inner, *self.aliases} else made

    def attribute(self, key: str) -> j.Attribute:
        return j.Attribute(self.inner.value, f"{self.inner.name}_{key}")

    def is_current(self, body: j.Body, alias: j.Name) -> bool:
        """Tell whether a variable is read only behind its setting, and before the attribute is set anew."""
        return sum(self._reads(body, alias)) == sum(part == alias for part in walk.all_parts(body))

    def _reads(self, body: j.Body, alias: j.Name) -> list[int]:
        """Return how often the variable is read behind each of its settings, as long as it is current."""
        found = []
        for index, statement in enumerate(body):
            if isinstance(statement, j.Set) and statement.target == alias:
                rest = body[index + 1 :]
                inner = list(walk.statements(rest))
                if any(isinstance(one, j.Set) and one.target in (self.inner, alias) for one in inner):
                    return []
                found.append(sum(part == alias for part in walk.all_parts(rest)))
            for one in walk.bodies(statement):
                found += self._reads(one, alias)
        return found

    def statements(self, body: j.Body, names: frozenset[j.Expression]) -> j.Body:
        made: list[j.Statement] = []
        for statement in body:
            match statement:
                case j.Set(target, value) if target == self.inner:
                    assert isinstance(value, j.Call)  # noqa: S101
                    made += [
                        j.Set(self.attribute(key), self.change(one, names)) for key, one in value.keywords
                    ]
                case j.Set(j.Name() as target, j.Call(j.Name("namespace"), (), keywords)) if (
                    target == self.inner.value
                ):
                    made.append(j.Set(target, j.Call(_NAMESPACE, (), self.attributes(keywords))))
                case j.Set(target, value) if value == self.inner and target in names:
                    continue
                case j.Set(j.Attribute(owner, key), value) if owner in names and key in self.keys:
                    made.append(j.Set(self.attribute(key), self.change(value, names)))
                case j.Macro(name, parameters, inner, defaults) if name in self.macros:
                    read = self.statements(inner, frozenset({self.inner, self.macros[name]}))
                    if self.macros[name] in walk.all_parts(read):
                        return body
                    made.append(j.Macro(name, parameters[1:], read, defaults))
                case j.If(test, then, orelse):
                    made.append(
                        j.If(
                            self.change(test, names),
                            self.statements(then, names),
                            self.statements(orelse, names),
                        )
                    )
                case j.For(targets, iterable, inner, orelse, condition):
                    made.append(
                        j.For(
                            targets,
                            self.change(iterable, names),
                            self.statements(inner, names),
                            self.statements(orelse, names),
                            None if condition is None else self.change(condition, names),
                        )
                    )
                case _:
                    made.extend(walk.map_expressions((statement,), lambda one: self.change(one, names)))
        return tuple(made)

    def attributes(
        self, keywords: tuple[tuple[str, j.Expression], ...]
    ) -> tuple[tuple[str, j.Expression], ...]:
        made: list[tuple[str, j.Expression]] = []
        for name, value in keywords:
            if name == self.inner.name and isinstance(value, j.Call):
                made += [(self.attribute(key).name, one) for key, one in value.keywords]
            else:
                made.append((name, value))
        return tuple(made)

    def change(self, expression: j.Expression, names: frozenset[j.Expression]) -> j.Expression:
        match expression:
            case j.Attribute(owner, key) if owner in names and key in self.keys:
                return self.attribute(key)
            case j.Call(j.Name(name) as macro, (_, *others), keywords) if name in self.macros:
                rest = tuple(self.change(one, names) for one in others)
                named = tuple((key, self.change(one, names)) for key, one in keywords)
                return j.Call(macro, rest, named)
        return walk.rebuild(expression, lambda part: self.change(part, names))
