"""Templates for the tests of the parser, and our answers in the form of those of ``tests/oracle/parse``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from transplate.errors import TemplateSyntaxError
from transplate.gotmpl.compiler.positions import offset_of
from transplate.gotmpl.nodes import (
    Action,
    Block,
    Body,
    Break,
    Chain,
    Comment,
    Continue,
    Define,
    Else,
    If,
    Number,
    Operand,
    Pipeline,
    Range,
    String,
    TemplateCall,
    Text,
    With,
)
from transplate.gotmpl.numbers import format_float
from transplate.gotmpl.parser import parse
from transplate.gotmpl.printer import Node, print_node

FUNCTIONS = ("json", "currentDate")
"""The functions that the oracle knows besides Go's builtins."""

ROWS: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "templates.json").read_text(encoding="utf-8")
)
"""Templates by topic; the topics are those of the tables of Go's own tests."""

HUGE = tuple(
    f"{{{{{number}}}}}"
    for number in (
        *("1" * 5000, "0" * 5000 + "7", "0x" + "0" * 5000 + "f", "0." + "1" * 5000, "1" * 5000 + ".5"),
        *("0x" + "f" * 5000, "1" * 5000 + "i", "1_" * 3000 + "1", '"' + "a" * 9000, "." + "a" * 9000 + "+"),
    )
)
"""Constants that are longer than Python's ``int`` reads, and more that is long."""

_CONTEXTS = """\
{{
{{if
{{with
{{range
{{range $i,
{{else
{{if .X}}{{else if
{{with .X}}{{else with
{{end
{{if .X}}{{end
{{break
{{template
{{template "x"
{{block
{{block "x"
{{define
{{define "x"
{{(
{{.X (\\n
{{print |
{{$x :=
{{$x
{{.X
{{"s"
{{(1)
"""
_TOKENS = """
. .F $ $v print nope nil true 1 1i 1+2i 'c' "s" `r` ( ) | , := = @ \x00 " \\n}} -}}
if else end range with define block template break continue
"""


def templates() -> Iterator[tuple[str, str]]:
    """Yield the topic and text of every template: the rows, and every token in every context."""
    for topic, rows in (*ROWS.items(), ("huge", HUGE)):
        for row in rows:
            yield topic, row
    for context in _CONTEXTS.splitlines():
        for token in _TOKENS.split():
            for template in (f"{context}{token}}}}}", f"{context} {token} .Y}}}}a{{{{end}}}}"):
                yield "token in context", template.replace("\\n", "\n")


def ask(template: str) -> dict[str, Any]:
    """Return what we make of a template, in the form of the oracle's answer."""
    try:
        tree = parse(template, functions=FUNCTIONS)
    except TemplateSyntaxError as error:
        return {"error": error.message}
    bodies = {"": tree.body, **tree.templates}
    return {
        "templates": [
            [
                encode(name),
                encode("".join(map(print_node, bodies[name]))),
                [
                    [_position(template, node), encode(print_node(node)), _value(node)]
                    for node in _walk(bodies[name])
                ],
            ]
            for name in sorted(bodies, key=lambda name: name.encode("utf-8", "surrogateescape"))
        ]
    }


def encode(text: str) -> Any:
    """Return a text as the oracle writes it."""
    data = text.encode("utf-8", "surrogateescape")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"x": data.hex()}


def decode(notation: Any) -> str:
    """Return the text that the oracle wrote."""
    return (
        notation
        if isinstance(notation, str)
        else bytes.fromhex(notation["x"]).decode("utf-8", "surrogateescape")
    )


def _position(template: str, node: Node) -> int | None:
    if isinstance(node, Text | Break | Continue):
        return None
    return len(template[: offset_of(node)].encode("utf-8", "surrogateescape"))


def _value(node: Node) -> Any:
    if isinstance(node, String):
        return encode(node.value)
    if isinstance(node, Number):
        value = node.value
        if isinstance(value, complex):
            return ["complex", _hexadecimal(value.real), _hexadecimal(value.imag)]
        return ["float", _hexadecimal(value)] if isinstance(value, float) else ["int", str(value)]
    return None


def _hexadecimal(value: float) -> str:
    return format_float(value, "x")


def _walk(body: Iterable[Any]) -> Iterator[Node]:
    """Yield the nodes that Go's tree has, in its order."""
    for item in body:
        if isinstance(item, Comment | Define) or (isinstance(item, Text) and not item.value):
            continue
        yield item
        if isinstance(item, Action | If | With | Range | TemplateCall | Block) and item.pipeline is not None:
            yield from _walk_operand(item.pipeline)
        if isinstance(item, If | With | Range):
            yield from _walk(item.body)
            orelse: Body = (
                ()
                if item.orelse is None
                else item.orelse.body
                if isinstance(item.orelse, Else)
                else (item.orelse,)
            )
            yield from _walk(orelse)


def _walk_operand(operand: Operand) -> Iterator[Node]:
    yield operand
    if isinstance(operand, Chain):
        yield from _walk_operand(operand.operand)
    if isinstance(operand, Pipeline):
        yield from operand.declarations
        for command in operand.commands:
            yield command
            for inner in command.operands:
                yield from _walk_operand(inner)
