"""Python's string methods."""

from __future__ import annotations

from typing import Any

from transplate.convert.jinja_to_go import build, strings
from transplate.convert.jinja_to_go.build import call, go, string
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.truths import any_of, truth_value
from transplate.convert.jinja_to_go.values import (
    TEXT,
    Cat,
    Const,
    Go,
    ListOf,
    Split,
    Undefined,
    Value,
)


class StringMethods(Interface):
    """Python's string methods."""

    def _call_string(self, value: Value, name: str, arguments: list[Value]) -> Value:
        fixed = [argument.value if isinstance(argument, Const) else None for argument in arguments]
        if isinstance(value, Const) and all(isinstance(argument, Const) for argument in arguments):
            return _constant_method(value.value, name, fixed)
        if name == "split" and (len(arguments) <= 1 or fixed[1] == 1):
            separator = fixed[0] if arguments else None
            if arguments and not separator:
                raise Refused("a split at a separator that is not known")
            return Split(self.kept(value, "text"), separator, limit=1 if len(arguments) > 1 else None)
        if name in ("strip", "lstrip", "rstrip") and len(arguments) <= 1:
            if arguments and fixed[0] is None and arguments[0] != Const(None):
                raise Refused(f"{name} of characters that are not known")
            return self._strip(value, name, fixed[0] if arguments else None)
        if name in ("startswith", "endswith") and len(arguments) == 1:
            if isinstance(arguments[0], ListOf):
                source = self.kept(self.as_text(value, convert=False), "text")
                return truth_value(
                    any_of(
                        *(self.truth(self._call_string(source, name, [one])) for one in arguments[0].items)
                    )
                )
            return self._affix(value, name == "startswith", arguments[0])
        if name == "replace" and len(arguments) == 2 and all(isinstance(one, str) for one in fixed):
            if not fixed[0]:
                raise Refused("a replacement of nothing")
            return Go(
                TEXT, self.run(strings.replace(str(fixed[0]), str(fixed[1])), s=self.text_operand(value))
            )
        if name in ("upper", "lower") and not arguments:
            return Go(TEXT, self.run(strings.change_case(name == "lower"), s=self.text_operand(value)))
        if name in ("capitalize", "title") and not arguments:
            return self._capitalized(value, name)
        if name in ("items", "keys", "values", "get", "append"):
            self.fail(f"'str object' has no attribute '{name}'")
            return Undefined()
        raise Refused(f"the method {name} of a string")

    def _capitalized(self, value: Value, name: str) -> Value:
        if name == "title":
            return Go(TEXT, self.run(strings.TITLE, s=self.text_operand(value)))
        source = self.text_operand(value)
        head = call("printf", string("%.1s"), source)
        first = self.run(strings.change_case(False), s=head)
        tail = self.run(strings.change_case(True), s=call("slice", source, call("len", head)))
        return Cat((Go(TEXT, first), Go(TEXT, tail)))

    def _strip(self, value: Value, name: str, characters: str | None) -> Value:
        if characters == "":
            return value
        source = self.text_operand(value)
        ascii_only = not self.exact
        if ascii_only and characters is None:
            self.assumptions["ascii-space"] = "the white space around texts is ASCII"
        if name in ("strip", "lstrip"):
            source = self.run(strings.left_strip(characters, ascii_only=ascii_only), s=source)
        if name in ("strip", "rstrip"):
            source = self.run(strings.right_strip(characters, ascii_only=ascii_only), s=source)
        return Go(TEXT, source, markup=isinstance(value, Go | Const) and value.markup)

    def _affix(self, value: Value, at_start: bool, affix: Value) -> Value:
        source = self.text_operand(value)
        if not isinstance(affix, Const) or not isinstance(affix.value, str):
            raise Refused("startswith or endswith of a text that is not known")
        if not affix.value:
            return Const(True)
        if at_start:
            head = call("printf", string(f"%.{len(affix.value)}s"), source)
            return Go(frozenset({"bool"}), call("eq", head, string(affix.value)))
        size = build.number(len(affix.value.encode()))
        return Go(
            frozenset({"bool"}),
            go(
                "and (ge (len $s) $n) (eq (slice $s (len (slice $s $n))) $a)",
                s=source,
                n=size,
                a=string(affix.value),
            ),
        )


def _constant_method(text: str, name: str, arguments: list[Any]) -> Value:
    found = getattr(text, name)(*arguments)
    if isinstance(found, list):
        return ListOf(tuple(Const(item) for item in found))
    return Const(found)
