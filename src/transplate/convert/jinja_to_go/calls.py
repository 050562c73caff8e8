"""Calls: functions of Jinja's and methods."""

from __future__ import annotations

from dataclasses import replace

from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.truths import opposite
from transplate.convert.jinja_to_go.values import (
    TEXT,
    Cat,
    Const,
    Counting,
    DictOf,
    Go,
    Json,
    MacroOf,
    Method,
    Pairs,
    Undefined,
    Value,
    kinds_of,
    text_value,
)
from transplate.jinja import nodes as j

_CALLER = j.Name("caller")
"""What the body of a call block prints."""


class Calls(Interface):
    """Calls."""

    def call(self, node: j.Call) -> Value:
        """Return the result of a call."""
        self._called = node.function
        function = self.value(node.function)
        if node.function == _CALLER and kinds_of(function) == TEXT and not (node.arguments or node.keywords):
            return function
        if any(name.startswith("*") for name, _ in node.keywords):
            raise Refused("a call with * or **")
        if isinstance(function, MacroOf):
            return text_value(self.captured(lambda: self.call_macro(function, node)))
        if isinstance(function, Undefined):
            self.fail(f"{function.name or 'a value'} is undefined")
            return Undefined()
        if not isinstance(function, Method):
            raise Refused(f"a call of a {self._name_of(function)}")
        arguments = [self.value(argument) for argument in node.arguments]
        keywords = {name: self.value(argument) for name, argument in node.keywords}
        if function.value is None:
            return self._call_global(function.name, arguments, keywords)
        if keywords:
            raise Refused(f"{function.name} with keywords")
        return self._call_method(self.known(function.value), function.name, arguments)

    def _call_global(self, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        if name == "raise_exception":
            self.fail_with(arguments[0] if arguments else Const(""))
            return Undefined()
        if name == "namespace":
            if arguments and isinstance(arguments[0], DictOf):
                keywords = {
                    **{
                        str(key.value): found
                        for key, found in self.items_in(arguments[0])
                        if isinstance(key, Const)
                    },
                    **keywords,
                }
            return self.new_namespace(keywords)
        if name == "strftime_now":
            return self._date(arguments)
        if name == "range":
            if len(arguments) == 1:
                return Counting(Const(0), arguments[0])
            if len(arguments) == 2:
                return Counting(arguments[0], arguments[1])
            if arguments[1:] == [Const(-1), Const(-1)]:
                return Counting(Const(0), self._arithmetic("+", arguments[0], Const(1)), down=True)
        if name == "dict" and (not arguments or isinstance(arguments[0], DictOf)):
            first = arguments[0] if arguments and isinstance(arguments[0], DictOf) else DictOf(())
            merged = dict(first.items)
            merged.update({Const(key): found for key, found in keywords.items()})
            may_hold_nothing = any(
                self._is_kind(found, frozenset({"undefined"})) is not False for found in keywords.values()
            )
            is_unclear = first.is_unclear or (first.is_open and may_hold_nothing)
            return replace(first, items=tuple(merged.items()), is_unclear=is_unclear)
        raise Refused(f"the function {name}")

    def _call_method(self, value: Value, name: str, arguments: list[Value]) -> Value:
        if isinstance(value, Const | Cat | Json) or (isinstance(value, Go) and value.kinds == TEXT):
            return self._call_string(value, name, arguments)
        if name == "items":
            return Pairs(value)
        if name in ("keys", "values"):
            return Pairs(value, only=name)
        if name == "get":
            default = arguments[1] if len(arguments) > 1 else Const(None)
            found = self.held(value, arguments[0])
            test = self.settled(opposite(self._is_kind(found, frozenset({"undefined"}))))
            if isinstance(test, bool):
                return found if test else default
            if isinstance(found, Go) and found.present is not None and default == Const(None):
                return Go(found.kinds, found.expr, found.present, "none")
            if isinstance(found, Go) and found.absent == "undefined":
                whole = self.or_empty(found, default)
                if whole is not None:
                    return whole
            return self.choose(test, lambda: found, lambda: default)
        if name in ("append", "update", "pop", "extend", "insert", "setdefault"):
            self.fail(f"{name} is not safely callable")
            return Undefined()
        if isinstance(value, Go):
            raise self.split_kinds(value, f"the method {name} of a {self._name_of(value)}")
        raise Refused(f"the method {name} of a {self._name_of(value)}")
