"""Macros that ``to_jinja`` writes for what Go prints itself: where they come back, Go prints it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from transplate.convert.go_to_jinja.conversations import has_long_numbers
from transplate.convert.go_to_jinja.macros import variants
from transplate.convert.jinja_to_go.build import call
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.values import TEXT, Go, MacroOf, Value
from transplate.convert.report import Loss
from transplate.jinja import nodes as j
from transplate.jinja.reader import read

_ANY_JSON = frozenset({"str", "float", "bool", "list", "map", "strings", "type"})
_MARSHALLED: Mapping[str, frozenset[str]] = {
    "json_string": TEXT,
    "json": _ANY_JSON | {"arguments"},
    "arguments_json": frozenset({"arguments"}),
    "tools_json": frozenset({"tools"}),
    "tool_json": frozenset({"tool"}),
    "function_json": frozenset({"function"}),
    "parameters_json": frozenset({"parameters"}),
    "properties_json": frozenset({"properties"}),
    "property_json": frozenset({"property"}),
    "tool_calls_json": frozenset({"calls"}),
    "tool_call_json": frozenset({"call"}),
}
"""The macros that print what ``json`` does, and of what."""
_PRINTED: Mapping[str, frozenset[str]] = {
    "value_text": (_ANY_JSON - {"type"}) | {"arguments"},
    "type_text": frozenset({"type"}),
    "tool_text": frozenset({"tool"}),
    "function_text": frozenset({"function"}),
    "parameters_text": frozenset({"parameters"}),
    "properties_text": frozenset({"properties"}),
    "tool_calls_text": frozenset({"calls"}),
    "tool_call_text": frozenset({"call"}),
}
"""The macros that print what Go prints of a value as it is."""

_GRANTED = frozenset({"object-arguments"})
"""What holds of all that Ollama hands to a template."""


@dataclass(frozen=True)
class _Variant:
    node: j.Macro
    needs: frozenset[str]
    calls: tuple[str, ...]


@cache
def _library() -> dict[str, tuple[_Variant, ...]]:
    """Return the macros of ``to_jinja`` as trees."""
    return {
        name: tuple(
            _Variant(_macro(source), needs, tuple(callee for callee in calls if callee != name))
            for source, needs, calls in found
        )
        for name, found in variants().items()
    }


def _macro(source: str) -> j.Macro:
    (node,) = (one for one in read(source).body if isinstance(one, j.Macro))
    return node


class Recognised(Interface):
    """Macros that are ``to_jinja``'s own."""

    def written_by_go(self, macro: MacroOf, values: Mapping[str, Value]) -> bool:
        """Write what one of ``to_jinja``'s macros prints as Go prints it; False if the macro is none."""
        name = macro.node.name
        kinds = _MARSHALLED.get(name) or _PRINTED.get(name)
        if kinds is None or len(values) != 1:
            return False
        (value,) = values.values()
        value = self.known(value)
        if not isinstance(value, Go) or value.markup or not value.kinds <= kinds or not self._is_ours(macro):
            return False
        if "arguments" in value.kinds and value.kinds != {"arguments"}:
            return False  # none are an empty dict, and anything else is nothing
        present = None if value.kinds == {"calls"} else value.present  # no calls at all are Go's nil
        if present is not None and self.settled(present) is not True:
            if name not in ("json", "tools_json") or value.absent != "none":
                return False
            bare = Go(value.kinds, value.expr)
            self.branch(present, lambda: self._write_as_go(name, bare), lambda: self.text("null"))
            return True
        self._write_as_go(name, Go(value.kinds, value.expr))
        return True

    def _write_as_go(self, name: str, value: Go) -> None:
        if "arguments" in value.kinds and value.kinds != {"arguments"}:
            value = self._kept_go(value, "value")
        prints_json = value.kinds == {"arguments"} or name in _PRINTED
        self.print(
            self._printable(value.expr) if prints_json else self._kept_operand(call("json", value.expr))
        )

    def _is_ours(self, macro: MacroOf) -> bool:
        """Tell whether a macro and all that it calls are ``to_jinja``'s, and what they need may be taken."""
        needs: set[str] = set()
        pending, seen = [macro.node], {macro.node.name}
        while pending:
            node = pending.pop()
            found = next((one for one in _library().get(node.name, ()) if one.node == node), None)
            if found is None or not found.needs <= self.allowed | self.features | _GRANTED:
                return False
            needs |= found.needs
            for name in found.calls:
                called = self.lookup(name)
                if not isinstance(called, MacroOf):
                    return False
                if name not in seen:
                    seen.add(name)
                    pending.append(called.node)
        for need in needs & self.allowed:
            self.takes(need)
        if "decimal" in seen:
            self.prints_numbers = True
        return True


NUMBERS = Loss(
    "numbers of more than 15 digits, below 1e-14 or from 1e30 on are printed as Go prints them, which the "
    "macro json does not",
    name="long-numbers",
    affects=has_long_numbers,
)
"""Where the macros do not print quite what Go does."""
