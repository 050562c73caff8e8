"""Jinja's filters, functions and methods, and what is printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from transplate.convert.jinja_to_go import build, defines, strings
from transplate.convert.jinja_to_go.attributes import key_of, record
from transplate.convert.jinja_to_go.build import call, go, string
from transplate.convert.jinja_to_go.expressions import (
    Condition,
    Expressions,
    any_of,
    opposite,
    text_value,
    truth_value,
)
from transplate.convert.jinja_to_go.state import Refused, type_test
from transplate.convert.jinja_to_go.values import (
    ELEMENTS,
    MAPPED,
    TEXT,
    Cat,
    Chosen,
    Const,
    Counting,
    DictOf,
    Go,
    Int,
    Joined,
    Json,
    ListOf,
    Loop,
    MacroOf,
    Method,
    Pairs,
    Split,
    Undefined,
    Value,
)
from transplate.gotmpl.nodes import Operand, TemplateCall
from transplate.jinja import nodes as j

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


class Functions(Expressions):
    """Evaluates filters and calls, and prints."""

    place: int | None = None

    # --- printing -------------------------------------------------------------------------------------

    def output(self, node: j.Expression) -> None:
        """Print an expression."""
        if isinstance(node, j.Conditional):
            test = self.condition(node.test)
            if isinstance(test, bool):
                self.output(node.value if test else node.otherwise)
            else:
                self.branch(test, lambda: self.output(node.value), lambda: self.output(node.otherwise))
            return
        if isinstance(node, j.Concat):
            for operand in node.operands:
                self.output(operand)
            return
        if isinstance(node, j.Binary) and node.operator == "+":
            leaves = _leaves(node)
            if any(isinstance(leaf, j.Literal) and isinstance(leaf.value, str) for leaf in leaves) and any(
                isinstance(leaf, j.Call) and isinstance(leaf.function, j.Name) for leaf in leaves
            ):
                for leaf in leaves:
                    if isinstance(leaf, j.Call):
                        self._output_text(leaf)
                    else:
                        self.write(self.as_text(self.value(leaf), convert=False))
                return
        if isinstance(node, j.Call) and isinstance(node.function, j.Name):
            macro = self.lookup(node.function.name)
            if isinstance(macro, MacroOf):
                self.call_macro(macro, node)
                return
        self.write(self.value(node))

    def _output_text(self, node: j.Call) -> None:
        macro = self.lookup(node.function.name) if isinstance(node.function, j.Name) else None
        if isinstance(macro, MacroOf):
            self.call_macro(macro, node)
        else:
            self.write(self.as_text(self.value(node), convert=False))

    def branch(self, condition: Operand, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """Write an if."""
        raise NotImplementedError

    def call_macro(self, macro: MacroOf, node: j.Call) -> None:
        """Write what a macro prints."""
        raise NotImplementedError

    def write(self, value: Value) -> None:
        """Print a value as Jinja prints it."""
        if self.dead:
            return
        value = self.known(value)
        if isinstance(value, Const):
            self.text(str(value.value))
        elif isinstance(value, Undefined):
            return
        elif isinstance(value, Int):
            self.print(self._printable(self.int_operand(value)))
        elif isinstance(value, Cat):
            for part in value.parts:
                self.write(part)
        elif isinstance(value, Json):
            self.write_json(value.value, value.indent, 0, value.compact)
        elif isinstance(value, Go):
            self._write_go(value)
        elif isinstance(value, ListOf):
            self._write_list(value.items)
        elif isinstance(value, Split | Chosen | Joined | DictOf):
            raise Refused(f"a {self._name_of(value)} printed as Python")
        else:
            raise Refused(f"a {self._name_of(value)} printed")

    def _printable(self, operand: Operand) -> Operand:
        return call("print", operand) if self.sink is not None else operand

    def _write_list(self, items: Sequence[Value]) -> None:
        self.text("[")
        for index, item in enumerate(items):
            if index:
                self.text(", ")
            item = self.known(item)
            if isinstance(item, Const):
                self.text(repr(item.value))
            else:
                self._write_repr(item)
        self.text("]")

    def _write_repr(self, value: Value) -> None:
        """Print a string as Python's repr does, if it is a plain one."""
        self._write_repr_of(call("json", self.text_operand(value)))

    def _write_repr_of(self, json_text: Operand) -> None:
        text = self.declare("json", json_text)
        self.print(self.run(defines.REPR, s=text))

    def _write_go(self, value: Go) -> None:
        if value.present is not None:
            if value.absent == "undefined" and value.kinds == TEXT and value.present == value.expr:
                self.print(value.expr)
                return
            absent = "" if value.absent == "undefined" else "None"
            bare = Go(value.kinds, value.expr, markup=value.markup)
            self.branch(value.present, lambda: self.write(bare), lambda: self.text(absent))
            return
        if len(value.kinds) > 1:
            self._write_one_of(value)
            return
        (kind,) = value.kinds
        if kind == "str":
            self.print(value.expr)
        elif kind == "bool":
            self.branch(value.expr, lambda: self.text("True"), lambda: self.text("False"))
        elif kind == "float":
            self._write_number(value.expr)
        elif kind == "type":
            one = call("eq", call("len", value.expr), build.number(1))
            self.branch(
                one,
                lambda: self.print(call("index", value.expr, build.number(0))),
                lambda: self._write_strings(value),
            )
        elif kind == "strings":
            self._write_strings(value)
        elif kind == "arguments":
            self._write_repr_of(self.captured_json(value.expr))
        elif kind in ("calls", "call", "called", "message", "messages", "texts", "picks"):
            raise Refused(f"a {kind} printed as Python")
        else:
            self._write_repr_of(call("json", value.expr))

    def _write_strings(self, value: Go) -> None:
        self.text("[")

        def item(one: Value, loop: Loop) -> None:
            index = loop.attributes["index0"]()
            test = self.truth(index)
            if not isinstance(test, bool):
                self.branch(test, lambda: self.text(", "), lambda: None)
            self._write_repr(one)

        self.walk(Go(frozenset({"strings"}), value.expr), item)
        self.text("]")

    def _write_one_of(self, value: Go) -> None:
        order: list[str] = [
            kind for kind in ("str", "undefined", "none", "bool", "float", "int") if kind in value.kinds
        ]
        order += sorted(value.kinds.difference(order))
        kind, rest = order[0], frozenset(order[1:])
        if value.kinds == {"str", "undefined"}:
            self.branch(value.expr, lambda: self.write(Go(TEXT, value.expr)), lambda: None)
            return
        self.branch(
            type_test(value.expr, kind),
            lambda: self.write(self.known(Go(frozenset({kind}), value.expr))),
            lambda: self.write(self.known(Go(rest, value.expr))),
        )

    def _write_number(self, operand: Operand) -> None:
        if self.sink is None:
            self._call_define("number", operand)
        else:
            self.print(self.run(defines.NUMBER_VALUE, s=operand))

    def _call_define(self, name: str, operand: Operand) -> None:
        if not self.exact and name != "number":
            self.defines.add("json")
            self.assumptions["plain-json"] = "JSON has no numbers that Go and Python write in different ways"
            self.items.append(TemplateCall(string("json"), build.pipeline(operand)))
            return
        pending = [name]
        while pending:
            one = pending.pop()
            self.defines.add(one)
            pending.extend(defines.USES[one])
        self.items.append(TemplateCall(string(name), build.pipeline(operand)))

    # --- JSON -----------------------------------------------------------------------------------------

    def json_operand(self, value: Json) -> Operand:
        """Return JSON text as an expression."""
        return self.captured(lambda: self.write_json(value.value, value.indent, 0, value.compact))

    def write_json(self, value: Value, indent: int | None, level: int, compact: bool = False) -> None:
        """Print a value as JSON."""
        value = self.known(value)
        if isinstance(value, Const):
            self.text(json.dumps(value.value, ensure_ascii=False))
        elif isinstance(value, Undefined):
            self.fail("Object of type Undefined is not JSON serializable")
        elif isinstance(value, Int):
            self.print(self._printable(self.int_operand(value)))
        elif isinstance(value, Cat | Json):
            self._write_json_text(self.text_operand(value))
        elif isinstance(value, Go):
            self._write_json_go(value, indent, level, compact)
        elif isinstance(value, DictOf):
            pairs = [(self.as_text(key), found) for key, found in value.items]
            self._write_json_items("{", "}", pairs, indent, level, compact)
        elif isinstance(value, ListOf):
            self._write_json_items("[", "]", [(None, item) for item in value.items], indent, level, compact)
        elif isinstance(value, Chosen | Joined | Split):
            self._write_json_walk(value, indent, level, compact)
        else:
            raise Refused(f"the JSON of a {self._name_of(value)}")

    def _write_json_call(self, call: Operand, indent: int | None, level: int, compact: bool) -> None:
        identity = key_of("call", call, "id")
        assert isinstance(identity, Go)  # noqa: S101
        assert identity.present is not None  # noqa: S101
        rest = record("call", call)
        assert rest is not None  # noqa: S101
        whole = DictOf(((Const("id"), Go(TEXT, identity.expr)), *rest.items))
        self.branch(
            identity.present,
            lambda: self.write_json(whole, indent, level, compact),
            lambda: self.write_json(rest, indent, level, compact),
        )

    def _write_json_walk(self, value: Value, indent: int | None, level: int, compact: bool) -> None:
        more = self.declare("more", build.boolean(False))
        self.homes.add(more.name)
        line = "" if indent is None else "\n" + " " * (indent * (level + 1))
        self.text("[")

        def item(one: Value, _: Loop) -> None:
            with self.block() as comma:
                self.text("," if compact or indent is not None else ", ")
            self.items.append(build.when(more, tuple(comma)))
            self.items.append(build.assign(more, build.boolean(True)))
            self.text(line)
            self.write_json(one, indent, level + 1, compact)

        self.walk(value, item)
        if indent is not None:
            with self.block() as end:
                self.text("\n" + " " * (indent * level))
            self.items.append(build.when(more, tuple(end)))
        self.text("]")

    def _write_json_items(
        self,
        opening: str,
        closing: str,
        items: Sequence[tuple[Value | None, Value]],
        indent: int | None,
        level: int,
        compact: bool,
    ) -> None:
        if not items:
            self.text(opening + closing)
            return
        line = "" if indent is None else "\n" + " " * (indent * (level + 1))
        comma = "," if compact or indent is not None else ", "
        self.text(opening)
        for index, (key, item) in enumerate(items):
            self.text((comma if index else "") + line)
            if key is not None:
                self.write_json(key, None, 0)
                self.text(":" if compact else ": ")
            self.write_json(item, indent, level + 1, compact)
        self.text(("" if indent is None else "\n" + " " * (indent * level)) + closing)

    def _write_json_text(self, operand: Operand) -> None:
        if self.sink is None:
            self._call_define("json string", operand)
        else:
            self.print(self.run(defines.STRING_VALUE, s=operand))

    def _write_json_go(self, value: Go, indent: int | None, level: int, compact: bool) -> None:
        if value.present is not None:
            bare = Go(value.kinds, value.expr)
            if value.absent == "none":
                self.branch(
                    value.present,
                    lambda: self.write_json(bare, indent, level, compact),
                    lambda: self.text("null"),
                )
                return
            value = self.defined(value)
        if value.kinds == TEXT:
            self._write_json_text(value.expr)
            return
        if value.kinds == {"bool"}:
            self.print(self._printable(value.expr))
            return
        if len(value.kinds) == 1:
            (kind,) = value.kinds
            if kind == "call":
                self._write_json_call(value.expr, indent, level, compact)
                return
            made = record(kind, value.expr)
            if made is not None:
                self.write_json(made, indent, level, compact)
                return
            if kind in ("texts", "picks", "calls"):
                self._write_json_walk(value, indent, level, compact)
                return
            if kind in ("message", "messages"):
                raise Refused(f"the JSON of a {kind}")
        if value.kinds & {"undefined", "message", "messages", "calls", "call", "called"}:
            raise self.split_kinds(value, f"the JSON of a {self._name_of(value)}")
        if value.kinds == {"arguments"} or "arguments" in value.kinds:
            # A map that is nil is an empty dict.
            value = self._kept_go(value, "arguments")
            source = self.captured_json(value.expr)
        else:
            source = call("json", value.expr)
        if self.sink is None and indent is None and not compact:
            self._call_define("json", value.expr)
            return
        text = self.declare("json", source)
        self.print(self.run(defines.scan(indent, compact=compact, level=level), s=text))

    def captured_json(self, operand: Operand) -> Operand:
        """Return Go's JSON of arguments."""
        return self.run('{{ $d := "{}" }}{{ if $s }}{{ $d = json $s }}{{ end }}', s=operand)

    # --- filters --------------------------------------------------------------------------------------

    def filter(self, node: j.Filter) -> Value:
        """Return the result of a filter."""
        name = node.name
        if name in ("default", "d"):
            return self._default(node)
        value = self.value(node.value)
        if name == "tojson":
            return self._to_json(value, node)
        if name in ("selectattr", "rejectattr", "select", "reject"):
            return self._select(value, node)
        if name == "map":
            return self._map(value, node)
        if name == "join":
            return self._join(value, node)
        simple = _FILTERS.get(name)
        if simple is None:
            raise Refused(f"the filter {name}")
        return simple(self, value, [self.value(argument) for argument in node.arguments])

    def _default(self, node: j.Filter) -> Value:
        value = self.value(node.value)
        boolean = [self.value(argument) for argument in node.arguments[1:]]
        boolean += [self.value(found) for name, found in node.keywords if name == "boolean"]
        if boolean == [Const(True)]:
            test = self.settled(self.truth(value))
        else:
            test = self.settled(opposite(self._is_kind(value, frozenset({"undefined"}))))
        given = [found for name, found in node.keywords if name == "default_value"]
        fallback: j.Expression = (*node.arguments[:1], *given, j.EMPTY)[0]
        if isinstance(test, bool):
            return value if test else self.value(fallback)
        if isinstance(value, Go) and value.absent == "undefined":
            default = self._default_of(value, fallback)
            if default is not None and value.present == value.expr:
                return default
        return self.choose(test, lambda: value, lambda: self.value(fallback))

    def _to_json(self, value: Value, node: j.Filter) -> Value:
        indent: int | None = None
        compact = False
        arguments = dict(node.keywords)
        for name, argument in zip(("ensure_ascii", "indent", "separators"), node.arguments, strict=False):
            arguments[name] = argument  # noqa: PERF403
        for name, argument in arguments.items():
            found = self.value(argument)
            if name == "ensure_ascii" and found == Const(False):
                continue
            if (
                name == "indent"
                and isinstance(found, Const)
                and (found.value is None or type(found.value) is int)
            ):
                indent = found.value
            elif name == "separators" and found in (
                ListOf((Const(","), Const(":"))),
                ListOf((Const(", "), Const(": "))),
            ):
                compact = found == ListOf((Const(","), Const(":")))
            elif name == "sort_keys" and found == Const(False):
                continue
            else:
                raise Refused(f"tojson with this {name}")
        if isinstance(value, Undefined):
            self.fail("Object of type Undefined is not JSON serializable")
        return Json(self.kept(value, "value"), indent, compact)

    def _select(self, value: Value, node: j.Filter) -> Value:
        negative = node.name in ("reject", "rejectattr")
        arguments = list(node.arguments)
        attribute = self.value(arguments.pop(0)) if node.name in ("selectattr", "rejectattr") else None
        if attribute is not None and not (isinstance(attribute, Const) and isinstance(attribute.value, str)):
            raise Refused(f"{node.name} with this attribute")
        test_name = self.value(arguments.pop(0)) if arguments else None
        others = tuple(arguments)

        def keep(item: Value) -> Condition:
            found = item
            if attribute is not None:
                for name in str(attribute.value).split("."):
                    found = self.item(found, Const(name))
            if test_name is None:
                held = self.truth(found)
            else:
                assert isinstance(test_name, Const)  # noqa: S101
                held = self.test(self.known(found), j.Test(j.EMPTY, str(test_name.value), arguments=others))
            return opposite(held) if negative else held

        return Chosen(self._kept_list(value), keep)

    def _kept_list(self, value: Value) -> Value:
        return self._kept_go(value, "list") if isinstance(value, Go) else value

    def _map(self, value: Value, node: j.Filter) -> Value:
        keywords = dict(node.keywords)
        if "attribute" in keywords and not node.arguments:
            attribute = self.value(keywords["attribute"])
            if not (isinstance(attribute, Const) and isinstance(attribute.value, str)):
                raise Refused("map with this attribute")
            names = attribute.value.split(".")

            def change(item: Value) -> Value:
                for name in names:
                    item = self.item(item, Const(name))
                return self.known(item)

            if "default" in keywords:
                raise Refused("map with a default")
            return Chosen(self._kept_list(value), None, change)
        if node.arguments:
            name = self.value(node.arguments[0])
            rest = node.arguments[1:]
            if isinstance(name, Const) and isinstance(name.value, str):
                filtered = name.value

                def apply(item: Value) -> Value:
                    simple = _FILTERS.get(filtered)
                    if filtered == "tojson":
                        return self._to_json(item, j.Filter(j.EMPTY, "tojson", rest, node.keywords))
                    if simple is None:
                        raise Refused(f"map with the filter {filtered}")
                    return simple(self, item, [self.value(one) for one in rest])

                return Chosen(self._kept_list(value), None, apply)
        raise Refused("this map")

    def _join(self, value: Value, node: j.Filter) -> Value:
        separator = self.as_text(self.value(node.arguments[0])) if node.arguments else Const("")
        attribute = [found for name, found in node.keywords if name == "attribute"] + list(node.arguments[1:])
        if attribute:
            wanted = self.value(attribute[0])

            def change(item: Value) -> Value:
                return self.item(item, wanted)

            value = Chosen(value, None, change)
        if isinstance(value, ListOf):
            parts: list[Value] = []
            for index, item in enumerate(value.items):
                parts += [separator] if index else []
                parts.append(self.as_text(item))
            return _joined_text(parts)
        if isinstance(value, Undefined):
            return Const("")
        if isinstance(value, Go) and value.kinds == {"type"}:
            raise self.split_kinds(value, "a join of a type")
        separator = self.kept(separator, "separator")

        def write() -> None:
            more = self.declare("more", build.boolean(False))
            self.homes.add(more.name)

            def item(one: Value, _: Loop) -> None:
                outer = self.items
                self.items = []
                self.write(separator)
                between = tuple(self.items)
                self.items = outer
                if between:
                    self.items.append(build.when(more, between))
                    self.items.append(build.assign(more, build.boolean(True)))
                self.write(self.as_text(one))

            self.walk(value, item)

        return text_value(self.captured(write))

    # --- calls ----------------------------------------------------------------------------------------

    def call(self, node: j.Call) -> Value:
        """Return the result of a call."""
        function = self.value(node.function)
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

    def new_namespace(self, attributes: dict[str, Value]) -> Value:
        """Return a new namespace."""
        raise NotImplementedError

    def fail_with(self, value: Value) -> None:
        """Stop with an error that holds a text."""
        raise NotImplementedError

    def _call_global(self, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        if name == "raise_exception":
            self.fail_with(arguments[0] if arguments else Const(""))
            return Undefined()
        if name == "namespace":
            if arguments and isinstance(arguments[0], DictOf):
                keywords = {
                    **{str(key.value): found for key, found in arguments[0].items if isinstance(key, Const)},
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
            first = arguments[0].items if arguments and isinstance(arguments[0], DictOf) else ()
            merged = dict(first)
            merged.update({Const(key): found for key, found in keywords.items()})
            return DictOf(tuple(merged.items()))
        raise Refused(f"the function {name}")

    def _date(self, arguments: list[Value]) -> Value:
        if len(arguments) != 1 or not isinstance(arguments[0], Const):
            raise Refused("strftime_now with this format")
        form = str(arguments[0].value)
        today = call("currentDate")
        if form == "%Y-%m-%d":
            return Go(TEXT, today)
        date = self.declare("date", today)
        parts: list[Value] = []
        at = 0
        while at < len(form):
            if form[at] != "%":
                parts.append(Const(form[at]))
                at += 1
                continue
            parts.append(self._date_part(form[at + 1 : at + 2], date))
            at += 2
        return _joined_text(parts)

    def _date_part(self, letter: str, date: Operand) -> Value:
        places = {"Y": (0, 4), "m": (5, 7), "d": (8, 10)}
        if letter in places:
            start, stop = places[letter]
            return Go(TEXT, call("slice", date, build.number(start), build.number(stop)))
        if letter == "%":
            return Const("%")
        if letter not in ("B", "b"):
            raise Refused(f"strftime_now with %{letter}")
        names = [name if letter == "B" else name[:3] for name in _MONTHS]
        text = f'{{{{ $m := slice $s 5 7 }}}}{{{{ $d := "{names[11]}" }}}}'
        for index, name in enumerate(names[:11], 1):
            word = "if" if index == 1 else "else if"
            text += f'{{{{ {word} eq $m "{index:02}" }}}}{{{{ $d = "{name}" }}}}'
        return Go(TEXT, self.run(text + "{{ end }}", s=date))

    def _call_method(self, value: Value, name: str, arguments: list[Value]) -> Value:
        if isinstance(value, Const | Cat | Json) or (isinstance(value, Go) and value.kinds == TEXT):
            return self._call_string(value, name, arguments)
        if name == "items":
            return Pairs(value)
        if name in ("keys", "values"):
            return Pairs(value, only=name)
        if name == "get":
            default = arguments[1] if len(arguments) > 1 else Const(None)
            found = self.item(value, arguments[0])
            test = self.settled(opposite(self._is_kind(found, frozenset({"undefined"}))))
            if isinstance(test, bool):
                return found if test else default
            if isinstance(found, Go) and found.present is not None and default == Const(None):
                return Go(found.kinds, found.expr, found.present, "none")
            return self.choose(test, lambda: found, lambda: default)
        if name in ("append", "update", "pop", "extend", "insert", "setdefault"):
            self.fail(f"{name} is not safely callable")
            return Undefined()
        if isinstance(value, Go):
            raise self.split_kinds(value, f"the method {name} of a {self._name_of(value)}")
        raise Refused(f"the method {name} of a {self._name_of(value)}")

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


def _joined_text(parts: Sequence[Value]) -> Value:
    kept = tuple(part for part in parts if part != Const(""))
    if not kept:
        return Const("")
    return kept[0] if len(kept) == 1 else Cat(kept)


def _leaves(node: j.Expression) -> list[j.Expression]:
    if isinstance(node, j.Binary) and node.operator == "+":
        return [*_leaves(node.left), *_leaves(node.right)]
    return [node]


# --- filters that need nothing but values ----------------------------------------------------------------


def _trim(self: Functions, value: Value, arguments: list[Value]) -> Value:
    if arguments:
        raise Refused("trim of given characters")
    text = self.as_text(value)
    if isinstance(text, Const):
        return Const(str(text.value).strip())
    return self._strip(text, "strip", None)


def _string(self: Functions, value: Value, _: list[Value]) -> Value:
    return self.as_text(value)


def _safe(self: Functions, value: Value, _: list[Value]) -> Value:
    text = self.as_text(value)
    if isinstance(text, Const):
        return Const(text.value, markup=1)
    kept = self.kept(text, "text")
    if isinstance(kept, Json):
        kept = Go(TEXT, self.operand(kept))
    assert isinstance(kept, Go)  # noqa: S101
    return Go(kept.kinds, kept.expr, kept.present, kept.absent, markup=1)


def _length(self: Functions, value: Value, _: list[Value]) -> Value:
    return self.length(value)


def _list(self: Functions, value: Value, _: list[Value]) -> Value:
    if isinstance(value, Undefined):
        return ListOf(())
    if isinstance(value, Go) and value.kinds <= MAPPED.keys():
        return Pairs(value, only="keys")
    if isinstance(value, Go) and not value.kinds <= ELEMENTS.keys():
        raise self.split_kinds(value, f"the list of a {self._name_of(value)}")
    return value


def _items(_: Functions, value: Value, __: list[Value]) -> Value:
    if isinstance(value, Undefined):
        return ListOf(())
    return Pairs(value)


def _dictsort(_: Functions, value: Value, arguments: list[Value]) -> Value:
    if arguments and arguments != [Const(False)]:
        if arguments == [Const(True)]:
            return Pairs(value)
        raise Refused("dictsort with arguments")
    return Pairs(value, sorted=True)


def _first(self: Functions, value: Value, _: list[Value]) -> Value:
    return self.at(value, Const(0))


def _last(self: Functions, value: Value, _: list[Value]) -> Value:
    return self.at(value, Const(-1))


def _method(name: str) -> Callable[[Functions, Value, list[Value]], Value]:
    def apply(self: Functions, value: Value, arguments: list[Value]) -> Value:
        return self._call_string(self.as_text(value), name, arguments)

    return apply


def _int(self: Functions, value: Value, _: list[Value]) -> Value:
    if isinstance(value, Int) or (isinstance(value, Const) and type(value.value) is int):
        return value
    raise Refused(f"the number in a {self._name_of(value)}")


def _reverse(self: Functions, value: Value, _: list[Value]) -> Value:
    return self._reversed(value)


_FILTERS: dict[str, Callable[[Functions, Value, list[Value]], Value]] = {
    "trim": _trim,
    "string": _string,
    "safe": _safe,
    "length": _length,
    "count": _length,
    "list": _list,
    "items": _items,
    "dictsort": _dictsort,
    "first": _first,
    "last": _last,
    "upper": _method("upper"),
    "lower": _method("lower"),
    "capitalize": _method("capitalize"),
    "title": _method("title"),
    "replace": _method("replace"),
    "int": _int,
    "reverse": _reverse,
}
