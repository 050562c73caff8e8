"""Where Go says a node is: the offset and the text that its execution errors show."""

from __future__ import annotations

from transplate.gotmpl.nodes import (
    Action,
    Block,
    Break,
    Chain,
    Comment,
    Continue,
    Define,
    Field,
    If,
    Pipeline,
    Range,
    TemplateCall,
    Variable,
    With,
)
from transplate.gotmpl.printer import Node, print_node
from transplate.source import Source


def offset_of(node: Node) -> int:
    """Return the character offset of a node as Go records it.

    A chain of fields is at its second field, behind whatever it starts with; an action is at its pipeline,
    that at its first token behind any parenthesis, and a template call at the template's name (Go 1.26,
    ``text/template/parse``).
    """
    if isinstance(node, Action | If | Range | With):
        node = node.pipeline
    if isinstance(node, Pipeline):
        return (node.declarations or node.commands)[0].span.start
    if isinstance(node, Field) and len(node.names) > 1:
        return node.span.start + 1 + len(node.names[0])
    if isinstance(node, Variable) and node.fields:
        return node.span.start + len(node.name)
    if isinstance(node, Chain):
        return node.span.end - sum(len(name) + 1 for name in node.fields)
    if isinstance(node, TemplateCall | Define | Block):
        return node.name.span.start
    if isinstance(node, Comment | Break | Continue):
        return node.clause.span.start
    return node.span.start


def error_text(source: Source, quoted: str, node: Node, message: str) -> str:
    """Return the text of an execution error.

    Args:
        source: The template file; its name is the one it was parsed under.
        quoted: Name of the template that was executing, in Go's quotes.
        node: The node at fault.
        message: What is wrong.
    """
    offset = offset_of(node)
    line = source.text.count("\n", 0, offset)
    start = source.text.rfind("\n", 0, offset) + 1
    column = len(source.text[start:offset].encode("utf-8", "surrogateescape"))
    return (
        f"template: {source.name}:{line + 1}:{column}: executing {quoted} at <{print_node(node)}>: {message}"
    )
