"""What is printed, as Jinja prints it."""

from __future__ import annotations

from transplate.convert.jinja_to_go import build, defines
from transplate.convert.jinja_to_go.build import call, go, number, string
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.operands import (
    type_test,
)
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
    MacroOf,
    Split,
    Undefined,
    Value,
    lowest,
)
from transplate.gotmpl.nodes import (
    Operand,
    TemplateCall,
    Text,
)
from transplate.jinja import nodes as j


class Printing(Interface):
    """What is printed, as Jinja prints it."""

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
        if self.sink is None and self._output_trimmed(node):
            return
        if isinstance(node, j.Call) and isinstance(node.function, j.Name):
            macro = self.lookup(node.function.name)
            if isinstance(macro, MacroOf):
                self.call_macro(macro, node)
                return
        self.write(self.value(node))

    def _output_trimmed(self, node: j.Expression) -> bool:
        """Print ``macro()|trim`` where the macro prints nothing that is cut; False if it may."""
        if not isinstance(node, j.Filter) or node.name != "trim" or node.arguments:
            return False
        called = node.value
        if not (isinstance(called, j.Call) and isinstance(called.function, j.Name)):
            return False
        macro = self.lookup(called.function.name)
        if not isinstance(macro, MacroOf):
            return False
        restore = self._checkpoint()
        with self.block() as items:
            self.call_macro(macro, called)
        first, last = (items[0], items[-1]) if items else (None, None)
        if not (isinstance(first, Text) and isinstance(last, Text)) or self.dead:
            restore()
            return False
        if first.value[0].isspace() or last.value[-1].isspace():
            restore()
            return False
        self.items.extend(items)
        return True

    def _output_text(self, node: j.Call) -> None:
        macro = self.lookup(node.function.name) if isinstance(node.function, j.Name) else None
        if isinstance(macro, MacroOf):
            self.call_macro(macro, node)
        else:
            self.write(self.as_text(self.value(node), convert=False))

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
            self._write_int(value)
        elif isinstance(value, Cat):
            for part in value.parts:
                self.write(part)
        elif isinstance(value, Json):
            self.write_json(value.value, value.indent, 0, value.compact)
        elif isinstance(value, Go):
            self._write_go(value)
        elif isinstance(value, ListOf):
            self._write_list(value)
        elif isinstance(value, Split | Chosen | Joined | DictOf | Built):
            raise Refused(f"a {self._name_of(value)} printed as Python")
        else:
            raise Refused(f"a {self._name_of(value)} printed")

    def _printable(self, operand: Operand) -> Operand:
        return call("print", operand) if self.sink is not None else operand

    def _write_list(self, value: ListOf) -> None:
        self.text("(" if value.is_tuple else "[")
        for index, item in enumerate(value.items):
            if index:
                self.text(", ")
            item = self.known(item)
            if isinstance(item, Const):
                self.text(repr(item.value))
            else:
                self._write_repr(item)
        if value.is_tuple:
            self.text(",)" if len(value.items) == 1 else ")")
        else:
            self.text("]")

    def _write_repr(self, value: Value) -> None:
        """Print a string as Python's repr does."""
        self.print(self.run(defines.STRING_REPR, "as Python quotes it", "quoted", s=self.text_operand(value)))

    def _write_repr_of(self, operand: Operand) -> None:
        """Print a list or dict of JSON values as Python's repr does."""
        if self.sink is None:
            self._call_define("repr", operand)
        else:
            scan = defines.scan_repr(is_plain=self.takes("plain-json"))
            self.print(self.run_long(scan, "as Python prints it", "printed", source=operand))

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
            self.branch(value.expr, lambda: self._write_repr_of(value.expr), lambda: self.text("{}"))
        elif kind in ("calls", "call", "called", "message", "messages"):
            raise Refused(f"a {kind} printed as Python")
        else:
            self._write_repr_of(value.expr)

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
        if value.kinds <= {"list", "map"}:
            self._write_repr_of(value.expr)
            return
        kind, rest = order[0], frozenset(order[1:])
        if value.kinds == {"str", "undefined"}:
            self.branch(value.expr, lambda: self.write(Go(TEXT, value.expr)), lambda: None)
            return
        self.branch(
            type_test(value.expr, kind),
            lambda: self.write(self.known(Go(frozenset({kind}), value.expr))),
            lambda: self.write(self.known(Go(rest, value.expr))),
        )

    def _write_int(self, value: Int) -> None:
        def print_below_zero() -> None:
            self.text("-")
            below = go('len (slice (printf "%*s" $n "") $x)', n=number(-value.offset), x=value.expr)
            self.print(self._printable(below))

        def print_it() -> None:
            self.print(self._printable(self.int_operand(value)))

        if lowest(value) < 0:
            self.branch(call("lt", value.expr, number(-value.offset)), print_below_zero, print_it)
        else:
            print_it()

    def _write_number(self, operand: Operand) -> None:
        if self.sink is None:
            self._call_define("number", operand)
        else:
            self.print(self.run(defines.NUMBER_VALUE, "as Python prints a number", "number", s=operand))

    def _call_define(self, name: str, operand: Operand) -> None:
        if name not in ("number", "repr") and self.takes("plain-json"):
            name = "json"
        self.items.append(TemplateCall(string(name), build.pipeline(operand)))


def _leaves(node: j.Expression) -> list[j.Expression]:
    if isinstance(node, j.Binary) and node.operator == "+":
        return [*_leaves(node.left), *_leaves(node.right)]
    return [node]
