"""What Ollama infers from the shape of a template: variables, thinking tags, tool-call tag, abilities.

Everything is found in the tree, as Ollama finds it in Go's; where the two trees differ (comments, empty
texts, definitions, chained else-if), the walks here see what Go's have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from transplate.errors import TemplateSyntaxError
from transplate.gotmpl.nodes import (
    Action,
    Block,
    Body,
    Branch,
    Comment,
    Define,
    Else,
    Field,
    If,
    Item,
    Pipeline,
    Range,
    TemplateCall,
    TemplateTree,
    Text,
    Variable,
    With,
)
from transplate.ollama.text import lower, trim_space
from transplate.ollama.usage import Usage, find_usage

_NO_TAG = "{"


@dataclass(frozen=True, slots=True)
class Inference:
    """What a template uses, and what Ollama takes its model to be able to.

    Attributes:
        variables: The names of fields and variables, lower-cased and sorted, as Ollama's ``Vars()``.
        thinking_tags: The texts around the thinking, either of which may be empty; None if both are.
        tool_tag: The text that starts a tool call; ``{`` where none was found.
        abilities: ``tools``, ``insert``, ``thinking``, as far as the template has them, in this order.
        functions: The functions that the template calls, sorted.
        fields: The fields and methods that the template names, sorted.
        roles: The texts that a role is compared with, sorted.
        oldest_ollama: The oldest version of Ollama that has all of the functions, fields and methods.
    """

    variables: tuple[str, ...]
    thinking_tags: tuple[str, str] | None
    tool_tag: str
    abilities: tuple[str, ...]
    functions: tuple[str, ...]
    fields: tuple[str, ...]
    roles: tuple[str, ...]
    oldest_ollama: str


def main_body(tree: TemplateTree) -> Body:
    """Return the body that runs: the file's own, unless a definition of ``""`` replaced it."""
    return tree.templates.get("", tree.body)


def infer(tree: TemplateTree) -> Inference:
    """Return what Ollama infers from a template, and what the template uses."""
    body = main_body(tree)
    variables = variables_of(tree)
    tags = infer_thinking_tags(body)
    has_ability = {
        "tools": "tools" in variables,
        "insert": "suffix" in variables,
        "thinking": all(tags),
    }
    usage: Usage = find_usage(tree, body)
    return Inference(
        variables=variables,
        thinking_tags=tags if any(tags) else None,
        tool_tag=infer_tool_tag(body),
        abilities=tuple(ability for ability, has in has_ability.items() if has),
        functions=usage.functions,
        fields=usage.fields,
        roles=usage.roles,
        oldest_ollama=usage.oldest_ollama,
    )


# --- Go's view of the tree ------------------------------------------------------------------------------


def _nodes(body: Body) -> list[Item]:
    """Return the items of a body that are nodes in Go's tree."""
    return [
        item
        for item in body
        if not isinstance(item, Comment | Define) and not (isinstance(item, Text) and not item.value)
    ]


def _else_body(branch: Branch) -> Body | None:
    """Return the items of a branch's else; a chained ``else if`` is one item."""
    orelse = branch.orelse
    return orelse.body if isinstance(orelse, Else) else orelse if orelse is None else (orelse,)


# --- variables ------------------------------------------------------------------------------------------


def variables_of(tree: TemplateTree) -> tuple[str, ...]:
    """Return the names in the template's fields and variables (``Vars`` in Ollama's template.go).

    Raises:
        TemplateSyntaxError: A template is called without an argument, which Ollama does not accept.
    """
    names: set[str] = set()
    for body in (tree.body, *tree.templates.values()):
        names.update(lower(name) for name in _identifiers(body, tree))
    return tuple(sorted(names))


def _identifiers(body: Body, tree: TemplateTree) -> Iterator[str]:
    for item in _nodes(body):
        if isinstance(item, TemplateCall) and item.pipeline is None:
            raise TemplateSyntaxError(
                "undefined template specified", source=tree.source, offset=item.clause.span.start
            )
        if isinstance(item, Action | Block | If | With | Range | TemplateCall):
            yield from _pipeline_identifiers(item.pipeline)
        if isinstance(item, If | With | Range):
            yield from _identifiers(item.body, tree)
            yield from _identifiers(_else_body(item) or (), tree)


def _pipeline_identifiers(pipeline: Pipeline | None) -> Iterator[str]:
    for command in pipeline.commands if pipeline is not None else ():
        for operand in command.operands:
            if isinstance(operand, Field):
                yield from operand.names
            elif isinstance(operand, Variable):
                yield operand.name
                yield from operand.fields
            elif isinstance(operand, Pipeline):
                yield from _pipeline_identifiers(operand)


# --- thinking tags --------------------------------------------------------------------------------------


def infer_thinking_tags(body: Body) -> tuple[str, str]:
    """Return the texts around the thinking (``InferTags`` in Ollama's thinking/template.go).

    They are the first and the last text of the list that holds a ``.Thinking`` within a range over messages;
    of several such places, the last that has one counts.
    """
    opening = closing = ""
    for siblings, innermost in _thinking_places(body, None):
        if innermost is None or not _names_first(innermost.pipeline, "Messages"):
            continue
        first, last = siblings[0], siblings[-1]
        if isinstance(first, Text):
            opening = trim_space(first.value)
        if isinstance(last, Text):
            closing = trim_space(last.value)
    return opening, closing


def _thinking_places(body: Body, innermost: Range | None) -> Iterator[tuple[list[Item], Range | None]]:
    """Yield, for each field that begins with ``.Thinking``, the list it is in and the range around it."""
    nodes = _nodes(body)
    for item in nodes:
        if isinstance(item, Action | Block | If | With | Range | TemplateCall):
            around = item if isinstance(item, Range) else innermost
            for field in _fields(item.pipeline):
                if field.names[0] == "Thinking":
                    yield nodes, around
        if isinstance(item, If | With | Range):
            yield from _thinking_places(item.body, around)
            yield from _thinking_places(_else_body(item) or (), around)


def _fields(pipeline: Pipeline | None) -> Iterator[Field]:
    for command in pipeline.commands if pipeline is not None else ():
        for operand in command.operands:
            if isinstance(operand, Field):
                yield operand
            elif isinstance(operand, Pipeline):
                yield from _fields(operand)


def _names_first(pipeline: Pipeline, name: str) -> bool:
    return any(field.names[0] == name for field in _fields(pipeline))


# --- tool-call tag --------------------------------------------------------------------------------------


def infer_tool_tag(body: Body) -> str:
    """Return the text that starts a tool call (``parseTag`` in Ollama's tools/template.go)."""
    condition = _find_tool_calls(body)
    text = _find_text(condition.body) if condition is not None else None
    if text is None:
        return _NO_TAG
    before_brace = text.value.replace("\r\n", "\n").partition("{")[0]
    return trim_space(before_brace) or _NO_TAG


def _find_tool_calls(body: Body) -> If | None:
    """Return the first if whose condition names ``.ToolCalls`` as an operand of its own."""
    for item in _nodes(body):
        if isinstance(item, If) and any(
            isinstance(operand, Field) and "ToolCalls" in operand.names
            for command in item.pipeline.commands
            for operand in command.operands
        ):
            return item
        if isinstance(item, If | With | Range):
            found = _find_tool_calls(item.body) or _find_tool_calls(_else_body(item) or ())
            if found is not None:
                return found
    return None


def _find_text(body: Body) -> Text | None:
    """Return the first text that is no white space, not looking behind the first action or branch."""
    for item in _nodes(body):
        if isinstance(item, Text):
            if trim_space(item.value):
                return item
        elif isinstance(item, If | With | Range):
            return _find_text(item.body) or _find_text(_else_body(item) or ())
        elif isinstance(item, Action):
            return None
    return None
