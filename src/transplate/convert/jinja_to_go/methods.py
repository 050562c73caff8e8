"""Python's string methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from string import Formatter
from typing import Any

from markupsafe import Markup, escape

from transplate.convert.jinja_to_go import build, cases, strings
from transplate.convert.jinja_to_go.build import call, go, string
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.operands import is_content, is_named
from transplate.convert.jinja_to_go.refusals import LONGEST, Refused, TooLong
from transplate.convert.jinja_to_go.truths import any_of, truth_value
from transplate.convert.jinja_to_go.values import (
    TEXT,
    TRUTH,
    Cat,
    Const,
    Go,
    Int,
    ListOf,
    Split,
    Undefined,
    Value,
    concatenated,
    marked,
    markup_of,
)
from transplate.gotmpl.nodes import Chain, Operand, Variable

_OF_MARKUP = frozenset({"replace", "upper", "lower", "capitalize", "title", "removeprefix", "removesuffix"})
"""The methods that of a text that is marked safe give another one; what is put into it is escaped."""


class StringMethods(Interface):
    """Python's string methods."""

    def _call_string(self, value: Value, name: str, arguments: list[Value]) -> Value:
        fixed = [argument.value if isinstance(argument, Const) else None for argument in arguments]
        if name == "format" and isinstance(value, Const) and not value.markup:
            return self._filled(value.value, arguments)
        markup = markup_of(value)
        if markup and name in _OF_MARKUP:
            if any(not isinstance(one, Const) for one in arguments[1:]) or (
                markup > 1 and len(arguments) > 1
            ):
                raise Refused(f"the method {name} of a text that is marked safe")
            assert isinstance(value, Go | Const)  # noqa: S101
            escaped = [Const(str(escape(one))) for one in fixed[1:2]]
            bare = replace(value, markup=0)
            made = self._call_string(bare, name, [*arguments[:1], *escaped, *arguments[2:]])
            return marked(Go(TEXT, self.operand(made)) if isinstance(made, Cat) else made, markup)
        if isinstance(value, Const) and all(isinstance(argument, Const) for argument in arguments):
            return self._constant_method(value.value, name, fixed, markup)
        if name in ("split", "rsplit") and (len(arguments) <= 1 or fixed[1] == 1):
            separator: str | Variable | None = fixed[0] if arguments else None
            if arguments and arguments[0] != Const(None) and not separator:
                if fixed[0] == "":
                    raise Refused("a split at nothing")
                separator = self._name_for(arguments[0])
                self.cuts_anywhere = True
            limit = 1 if len(arguments) > 1 else None
            return Split(
                self.kept(value, "text"), separator, limit=limit, from_right=name == "rsplit" and limit == 1
            )
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
        if name == "replace" and len(arguments) == 2:
            if fixed[0] == "":
                raise Refused("a replacement of nothing")
            if fixed[0] is not None and fixed[0] == fixed[1]:
                return value
            searched = self.text_operand(value)
            self.cuts_anywhere |= fixed[0] is None
            unknown = {
                letter: self._name_for(argument)
                for letter, argument, known in zip("pq", arguments, fixed, strict=True)
                if known is None
            }
            return Go(TEXT, self.replaced(fixed[0], fixed[1], {"s": searched, **unknown}))
        if name in ("find", "index") and len(arguments) == 1 and fixed[0] != "":
            unknown = {} if fixed[0] is not None else {"p": self._name_for(arguments[0])}
            found = self.run(
                strings.place(fixed[0]), "where it begins", "place", s=self.text_operand(value), **unknown
            )
            if name == "index":
                with self.block() as items:
                    self.fail("substring not found")
                self.dead = False
                self.items.append(build.when(call("not", found), tuple(items)))
                return Int(found, -1, low=1)
            return Int(found, -1)
        if name in ("rfind", "rindex") and len(arguments) == 1 and fixed[0] != "":
            return self._last_place(value, name, arguments[0])
        if markup and name in ("partition", "rpartition", "join"):
            raise Refused(f"the method {name} of a text that is marked safe")
        if name in ("partition", "rpartition") and len(arguments) == 1 and fixed[0] != "":
            self.cuts_anywhere |= fixed[0] is None
            return self._parted(value, arguments[0], from_right=name == "rpartition")
        if name == "join" and len(arguments) == 1:
            return self.joined(arguments[0], self.as_text(value), convert=False)
        if name in ("removeprefix", "removesuffix") and len(arguments) == 1 and fixed[0]:
            return self._without(value, name == "removeprefix", fixed[0])
        if name in ("upper", "lower") and not arguments:
            if name == "lower" and isinstance(value, Go) and is_role(value.expr):
                return value
            return Go(TEXT, self._cased(self.text_operand(value), lower=name == "lower"))
        if name in ("capitalize", "title") and not arguments:
            return self._capitalized(value, name)
        if name in ("items", "keys", "values", "get", "append"):
            self.fail(f"'str object' has no attribute '{name}'")
            return Undefined()
        raise Refused(f"the method {name} of a string")

    def _constant_method(self, text: str, name: str, arguments: list[Any], markup: int) -> Value:
        """Return what a method gives where all is known; where Python fails, so does the template."""
        size = text.count("\t") if name == "expandtabs" else 1
        if any(isinstance(one, int) and size * one > LONGEST for one in arguments):
            raise TooLong
        try:
            found = getattr(Markup(text) if markup else text, name)(*arguments)  # noqa: S704
        except (TypeError, ValueError, LookupError) as error:
            self.fail(str(error))
            return Undefined()
        if isinstance(found, list | tuple):
            items = tuple(Const(str(item), markup) for item in found)
            return ListOf(items, isinstance(found, tuple))
        if not isinstance(found, str | int):
            raise Refused(f"the method {name} of a string")
        return Const(str(found), markup) if isinstance(found, str) else Const(found)

    def _filled(self, form: str, arguments: list[Value]) -> Value:
        """Return ``'{} {}'.format(…)`` with fields that are empty or numbers."""
        parts: list[Value] = []
        try:
            pieces = list(Formatter().parse(form))
        except ValueError as error:
            self.fail(str(error))
            return Const("")
        automatic = count()
        for text, field, spec, conversion in pieces:
            parts.append(Const(text))
            if field is None:
                continue
            place = field or str(next(automatic))
            if not place.isdecimal() or int(place) >= len(arguments) or spec or conversion:
                raise Refused("this format")
            parts.append(self.as_text(arguments[int(place)]))
        if len({bool(field) for _, field, _, _ in pieces if field is not None}) > 1:
            raise Refused("this format")
        return concatenated(parts)

    def _without(self, value: Value, at_start: bool, affix: str) -> Value:
        """Return a text without what it may begin or end with."""
        source = Go(TEXT, self.text_operand(value))
        has = self.settled(self.truth(self._affix(source, at_start, Const(affix))))
        size = len(affix)
        if isinstance(has, bool):
            raise Refused("a text without an end that is known")
        return self.choose(
            has,
            lambda: self.slice_text(source, size if at_start else None, None if at_start else -size),
            lambda: source,
        )

    def _parted(self, value: Value, part: Value, *, from_right: bool) -> Value:
        """Return what stands before a text in another, that text, and what stands behind it."""
        source = self.kept(self.as_text(value, convert=False), "text")
        separator = part.value if isinstance(part, Const) else self._name_for(part)
        is_in = self.settled(self.contains(source, part))
        once = Split(source, separator, limit=1, from_right=from_right)

        def found(make: Callable[[], Value], otherwise: Value) -> Value:
            if isinstance(is_in, bool):
                return make() if is_in else otherwise
            return self.choose(is_in, make, lambda: otherwise)

        middle = found(lambda: part, Const(""))
        if from_right:
            before = found(lambda: self.split_item(once, 0), Const(""))
            behind = found(lambda: self.split_item(once, -1), source)
        else:
            before = found(lambda: self.split_item(once, 0), source)
            behind = found(lambda: self.split_item(once, 1), Const(""))
        return ListOf((before, middle, behind), is_tuple=True)

    def _last_place(self, value: Value, name: str, part: Value) -> Value:
        """Return where a text is in another for the last time: as long as what stands before it."""
        source = self.kept(self.as_text(value, convert=False), "text")
        separator = part.value if isinstance(part, Const) else self._name_for(part)

        def behind() -> Value:
            before = self.split_item(Split(source, separator, limit=1, from_right=True), 0)
            return self._arithmetic("+", self.length(before), Const(1))

        def missing() -> Value:
            if name == "rindex":
                self.fail("substring not found")
            return Const(0)

        is_in = self.settled(self.contains(source, part))
        if isinstance(is_in, bool):
            return self._arithmetic("-", behind() if is_in else missing(), Const(1))
        return self._arithmetic("-", self.choose(is_in, behind, missing), Const(1))

    def _name_for(self, value: Value) -> Variable:
        """Return a variable that holds a text."""
        operand = self.text_operand(value)
        if isinstance(operand, Variable) and self.is_stable(operand):
            return operand
        return self.declare("part", operand)

    def _cased(self, operand: Operand, *, lower: bool) -> Operand:
        is_ascii = self.takes_ascii_letters(operand)
        said = "in small letters" if lower else "in capital letters"
        made = self.run(
            cases.change_case(lower=lower, is_ascii=is_ascii), said, "lower" if lower else "upper", s=operand
        )
        if self.is_short(operand):
            self.short_texts.add(made.name)
        return made

    def takes_ascii_letters(self, operand: Operand) -> bool:
        """Return whether a text whose case is changed may be taken to be ASCII; a content may not."""
        if is_content(operand):
            return False
        return self.takes_of("ascii-names" if is_named(operand) else "ascii-letters", operand)

    def _capitalized(self, value: Value, name: str) -> Value:
        if name == "title":
            return Go(TEXT, self.run(cases.TITLE, s=self.text_operand(value)))
        source = self.text_operand(value)
        head: Operand = call("printf", string("%.1s"), source)
        if not self.takes_ascii_letters(source):
            head = self.run(cases.TITLECASE, "a letter that is its own capital", "head", s=head)
        tail = self._cased(call("slice", source, call("len", head)), lower=True)
        capital = cases.capital(is_ascii=self.takes_ascii_letters(head))
        first = self.run(capital, "a capital letter", "capital", s=head)
        self.short_texts.add(first.name)
        return Cat((Go(TEXT, first), Go(TEXT, tail)))

    def _strip(self, value: Value, name: str, characters: str | None) -> Value:
        if characters == "":
            return value
        whole = source = self.text_operand(value)
        ascii_only = characters is None and self.takes_of("ascii-space", source)
        if name in ("strip", "lstrip"):
            source = self.run(
                strings.left_strip(characters, ascii_only=ascii_only), "cut at the start", "cut", s=source
            )
        if name in ("strip", "rstrip"):
            source = self.run(
                strings.right_strip(characters, ascii_only=ascii_only), "cut at the end", "cut", s=source
            )
        self.derive(source, whole)
        return Go(TEXT, source, markup=isinstance(value, Go | Const) and value.markup)

    def _affix(self, value: Value, at_start: bool, affix: Value) -> Value:
        source = self.text_operand(value)
        if not isinstance(affix, Const):
            part = self._name_for(affix)
            ends = go(
                "slice $s 0 (len $p)" if at_start else "slice $s (len (slice $s (len $p)))", s=source, p=part
            )
            return Go(TRUTH, go("and (ge (len $s) (len $p)) (eq $e $p)", s=source, p=part, e=ends))
        if not isinstance(affix.value, str):
            self.fail("first arg must be str or a tuple of str")
            return Const(False)
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


def is_role(operand: Operand) -> bool:
    """Tell whether an expression is the role of a message, which is in small letters."""
    return isinstance(operand, Variable | Chain) and operand.fields[-1:] == ("Role",)
