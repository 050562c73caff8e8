"""Variables and namespaces."""

from __future__ import annotations

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.interface import Interface, Key
from transplate.convert.jinja_to_go.operands import (
    variable_name,
)
from transplate.convert.jinja_to_go.reads import GENERATOR
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.values import (
    Built,
    Chosen,
    Go,
    Int,
    ListOf,
    Namespace,
    Packed,
    Poison,
    Value,
    kinds_of,
    markup_of,
    shifted,
)
from transplate.gotmpl.nodes import (
    Variable,
)
from transplate.jinja import nodes as j


class Variables(Interface):
    """Variables and namespaces."""

    def _set(self, target: j.Name | j.Attribute | tuple[j.Name, ...], value: Value) -> None:
        if isinstance(target, tuple):
            value = self.known(value)
            if isinstance(value, ListOf) and len(value.items) == len(target):
                for one, item in zip(target, value.items, strict=True):
                    self._set(one, item)
                return
            raise Refused("a set of several variables")
        if isinstance(target, j.Name):
            self.state.scopes[-1][target.name] = self.kept(value, variable_name(target.name))
            return
        space = self.value(target.value)
        if not isinstance(space, Namespace):
            raise Refused("a set of an attribute of what is no namespace")
        self.assign((space.number, target.name), value)

    def assign(self, key: Key, value: Value) -> None:
        """Set an attribute of a namespace."""
        current = self.state.attributes.get(key)
        if isinstance(current, Poison) and current.is_out_of_reach:
            raise Refused(current.reason)
        home, shift = self._home_of(current)
        if home is not None and isinstance(current, Built | Packed):
            if self.fits_in(current, value):
                self.items.append(build.assign(home, self.kept_in(current, value)))
                self.forget(home)
                self._assigned.add(home.name)
                return
            home = None
        kinds = kinds_of(value)
        if home is not None and kinds is not None and ("minus" not in kinds or shift):  # noqa: SIM102
            if not shift or kinds <= {"int", "minus"}:
                self.items.append(build.assign(home, self.operand(shifted(value, shift))))
                self.forget(home)
                self._assigned.add(home.name)
                self.state.attributes[key] = (
                    Int(home, -shift) if shift else Go(kinds, home, markup=markup_of(value))
                )
                return
        self.state.attributes[key] = self.kept(value, variable_name(key[1]))

    def _home_of(self, value: Value | None) -> tuple[Variable | None, int]:
        """Return the variable that a value is kept up to date in, and by how much it is more there."""
        if isinstance(value, Go) and value.present is None:
            home, shift = value.expr, 0
        elif isinstance(value, Int) and value.offset <= 0:
            home, shift = value.expr, -value.offset
        elif isinstance(value, Built | Packed):
            home, shift = value.expr, 0
        else:
            return None, 0
        if isinstance(home, Variable) and not home.fields and home.name in self.homes:
            return home, shift
        return None, 0

    def new_namespace(self, attributes: dict[str, Value]) -> Value:
        """Return a new namespace."""
        self._namespaces += 1
        for name, value in attributes.items():
            if isinstance(value, Chosen) and not value.is_list:
                raise Refused(GENERATOR)
            self.state.attributes[(self._namespaces, name)] = self.kept(value, variable_name(name))
        return Namespace(self._namespaces)
