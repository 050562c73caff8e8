"""JSON as ``tojson`` writes it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from transplate.convert.jinja_to_go import build, defines
from transplate.convert.jinja_to_go.attributes import key_of, record
from transplate.convert.jinja_to_go.build import call
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.values import (
    TEXT,
    Built,
    Cat,
    Chosen,
    Const,
    DictOf,
    Go,
    Int,
    Joined,
    Json,
    ListOf,
    Loop,
    Split,
    Undefined,
    Value,
)
from transplate.gotmpl.nodes import (
    Operand,
)
from transplate.jinja import nodes as j


class JsonText(Interface):
    """JSON as ``tojson`` writes it."""

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
            self.write(value)
        elif isinstance(value, Cat | Json):
            self._write_json_text(self.text_operand(value))
        elif isinstance(value, Go):
            self._write_json_go(value, indent, level, compact)
        elif isinstance(value, DictOf):
            pairs = [(self.as_text(key), found) for key, found in self.items_in(value)]
            self._write_json_items("{", "}", pairs, indent, level, compact)
        elif isinstance(value, ListOf):
            self._write_json_items("[", "]", [(None, item) for item in value.items], indent, level, compact)
        elif isinstance(value, Chosen) and not value.is_list:
            self.fail("Object of type generator is not JSON serializable")
        elif isinstance(value, Chosen | Joined | Split | Built):
            self._write_json_walk(value, indent, level, compact)
        else:
            raise Refused(f"JSON of {self._name_of(value)}")

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
            self.print(self.run(defines.STRING_VALUE, "JSON as Python writes it", "json", s=operand))

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
            value = self.there(value)
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
            if kind == "calls":
                self._write_json_walk(value, indent, level, compact)
                return
            if kind in ("message", "messages"):
                raise Refused(f"JSON of {kind}")
        if value.kinds & {"undefined", "message", "messages", "calls", "call", "called"}:
            raise self.split_kinds(value, f"JSON of {self._name_of(value)}")
        self.writes_arguments |= "arguments" in value.kinds
        if indent is None and self.takes("go-json"):
            if "arguments" in value.kinds:
                source: Operand = self.captured_json(self._kept_go(value, "arguments").expr)
            else:
                source = call("json", value.expr)
            self.print(source if self.sink is None else self._kept_operand(source))
            return
        if self.sink is None and indent is None and not compact:
            self._call_define("json", value.expr)
            return
        is_plain = self.takes("plain-json")
        scan = defines.scan(indent, compact=compact, level=level, is_plain=is_plain)
        source = self._kept_go(value, "value").expr
        self.print(self.run_long(scan, "JSON as Python writes it", "json", source=source))

    def captured_json(self, operand: Operand) -> Operand:
        """Return Go's JSON of arguments."""
        return self.run('{{ $d := "{}" }}{{ if $s }}{{ $d = json $s }}{{ end }}', s=operand)

    def _to_json(self, value: Value, node: j.Filter) -> Value:
        indent: int | None = None
        compact = is_ascii = False
        arguments = dict(node.keywords)
        for name, argument in zip(("ensure_ascii", "indent", "separators"), node.arguments, strict=False):
            arguments[name] = argument  # noqa: PERF403
        for name, argument in arguments.items():
            found = self.value(argument)
            if name == "ensure_ascii" and isinstance(found, Const):
                is_ascii = bool(found.value)
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
        made = Json(self.kept(value, "value"), indent, compact)
        if is_ascii:
            return Go(
                TEXT,
                self.run(defines.ASCII, "with other characters escaped", "ascii", s=self.text_operand(made)),
            )
        return made
