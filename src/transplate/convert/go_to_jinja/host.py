"""What the hosts of chat templates need beyond an exact prompt, each behind an assumption of its own."""

from __future__ import annotations

from dataclasses import replace

from transplate.convert.go_to_jinja.simplify import simplify
from transplate.jinja import nodes as j
from transplate.jinja import walk

_BOS = (
    "<s>",
    "<bos>",
    "<|begin_of_text|>",
    "<|startoftext|>",
    "<｜begin▁of▁sentence｜>",
    "<BOS_TOKEN>",
    "[gMASK]",
)


def ignores_system(body: j.Body) -> bool:
    """Return whether a template prints nothing of system messages.

    llama-server puts the text of a system message into the user's where it sees that the template does not
    read it.
    """
    parts = set(walk.all_parts(body))
    if j.Name("system") in parts or j.Name("messages") not in parts:
        return False

    def with_system_role(part: j.Expression) -> j.Expression:
        match part:
            case j.Binary("==" | "!=" as operator, j.Attribute(_, "role"), j.Literal(str(role))):
                return j.Literal((role == "system") is (operator == "=="))
            case _:
                return part

    only_system = walk.map_expressions(body, lambda each: walk.substitute(each, with_system_role))
    return not any(
        isinstance(part, j.Attribute) and part.name == "content"
        for part in walk.all_parts(simplify(only_system))
    )


def complete_tool_calls(body: j.Body) -> j.Body:
    """Return a body whose tool calls close every brace that they open.

    llama-server does not start with a template whose tool calls look like JSON and are none.
    """
    return tuple(_completed(statement) for statement in body)


def _completed(statement: j.Statement) -> j.Statement:
    match statement:
        case j.For(_, iterable, inner, orelse) if _are_tool_calls(iterable):
            missing = _open_braces(inner)
            closing = (j.Output((j.Literal("}" * missing),)),) if missing > 0 else ()
            return replace(statement, body=(*inner, *closing), orelse=orelse)
        case j.For(_, _, inner, orelse):
            return replace(statement, body=complete_tool_calls(inner), orelse=complete_tool_calls(orelse))
        case j.If(test, inner, orelse):
            return j.If(test, complete_tool_calls(inner), complete_tool_calls(orelse))
        case _:
            return statement


def _are_tool_calls(iterable: j.Expression) -> bool:
    return any(isinstance(part, j.Attribute) and part.name == "tool_calls" for part in walk.parts(iterable))


def _open_braces(body: j.Body) -> int:
    """Return how many braces the constant texts of a body open and do not close."""
    texts = [
        part.value
        for statement in body
        if isinstance(statement, j.Output)
        for part in statement.parts
        if isinstance(part, j.Literal) and isinstance(part.value, str)
    ]
    return sum(text.count("{") - text.count("}") for text in texts)


def read_tools(tool: j.Name, name: j.Name) -> j.Body:
    """Return statements that read the tools and print nothing.

    llama-server calls a template one without tools if it reads none of them for a lone question.
    """
    function = j.Attribute(tool, "function")
    return (
        j.Comment("Shows llama-server that there can be tools, though they are not printed in every prompt."),
        j.For(
            (tool,),
            j.Or((j.Name("tools"), j.ListLiteral(()))),
            (j.Set(name, j.Attribute(function, "name")),),
        ),
    )


def opens_with_bos(body: j.Body) -> bool:
    """Return whether a template itself prints a token that begins every prompt."""
    for statement in body:
        match statement:
            case j.Output((j.Literal(str(text)), *_)):
                return text.startswith(_BOS)
            case j.Output() | j.If() | j.For():
                return False
            case _:
                pass
    return False
