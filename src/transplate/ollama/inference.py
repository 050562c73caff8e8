"""What Ollama infers from the shape of a template: variables, thinking tags, tool-call tag, abilities.

Everything is found in the tree, as Ollama finds it in Go's; where the two trees differ (comments, empty
texts, definitions, chained else-if), the walks here see what Go's have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from transplate.errors import TemplateSyntaxError
from transplate.gotmpl.compiler.trampoline import Task, run
from transplate.gotmpl.nodes import (
    Action,
    Block,
    Body,
    Branch,
    Command,
    Comment,
    Define,
    Else,
    Field,
    If,
    Item,
    Operand,
    Pipeline,
    Range,
    TemplateCall,
    TemplateTree,
    Text,
    Variable,
    With,
)
from transplate.ollama.text import lower, shown, trim_space
from transplate.ollama.usage import Usage, find_usage

RESPONSE_ACTION = Action(Pipeline((Command((Field(("Response",)),)),)))
"""What Ollama puts at the end of a template that does not say where the response goes."""

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
        since: The version that brought each of those that were not there from the beginning.
    """

    variables: tuple[str, ...]
    thinking_tags: tuple[str, str] | None
    tool_tag: str
    abilities: tuple[str, ...]
    functions: tuple[str, ...]
    fields: tuple[str, ...]
    roles: tuple[str, ...]
    oldest_ollama: str
    since: Mapping[str, str]


def running_body(tree: TemplateTree) -> Body:
    """Return the body that Ollama runs.

    It is the file's own, unless a definition of ``""`` replaced it; one that neither names the messages nor
    the response gets ``{{ .Response }}`` at its end (``Parse`` in Ollama's template.go).

    Raises:
        TemplateSyntaxError: A template is called without an argument, which Ollama does not accept.
    """
    body = tree.templates.get("", tree.body)
    names = _variables(tree)
    return body if "messages" in names or "response" in names else (*body, RESPONSE_ACTION)


def infer(tree: TemplateTree) -> Inference:
    """Return what Ollama infers from a template, and what the template uses.

    Raises:
        TemplateSyntaxError: As :func:`running_body`.
    """
    body = running_body(tree)
    names = _variables(tree)
    variables = tuple(sorted(names if "messages" in names else names | {"response"}))
    opening, closing = infer_thinking_tags(body)
    tags = (shown(opening), shown(closing))
    has_ability = {
        "tools": "tools" in variables,
        "insert": "suffix" in variables,
        "thinking": all(tags),
    }
    usage: Usage = find_usage(tree, body)
    return Inference(
        variables=variables,
        thinking_tags=tags if any(tags) else None,
        tool_tag=shown(infer_tool_tag(body)),
        abilities=tuple(ability for ability, has in has_ability.items() if has),
        functions=usage.functions,
        fields=usage.fields,
        roles=tuple(sorted(map(shown, usage.roles))),
        oldest_ollama=usage.oldest_ollama,
        since=usage.since,
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


def _pipeline_of(item: Item) -> Pipeline | None:
    """Return the pipeline of an item, if it is one that has a pipeline."""
    return item.pipeline if isinstance(item, Action | Block | If | With | Range | TemplateCall) else None


def _operands(pipeline: Pipeline) -> Iterator[Operand]:
    """Yield the operands of a pipeline, of those in parentheses too, in order."""
    waiting: list[Operand] = [pipeline]
    while waiting:
        operand = waiting.pop()
        if isinstance(operand, Pipeline):
            waiting += reversed([inner for command in operand.commands for inner in command.operands])
        else:
            yield operand


# --- variables ------------------------------------------------------------------------------------------


def _variables(tree: TemplateTree) -> set[str]:
    """Return the names in the template's fields and variables (``Vars`` in Ollama's template.go)."""
    names: set[str] = set()
    waiting = [tree.body, *tree.templates.values()]
    while waiting:
        for item in _nodes(waiting.pop()):
            pipeline = _pipeline_of(item)
            if pipeline is not None:
                names.update(_identifiers(pipeline))
            elif isinstance(item, TemplateCall):
                start = item.clause.span.start
                raise TemplateSyntaxError("undefined template specified", source=tree.source, offset=start)
            if isinstance(item, If | With | Range):
                waiting += (item.body, _else_body(item) or ())
    return {lower(name) for name in names}


def _identifiers(pipeline: Pipeline) -> Iterator[str]:
    for operand in _operands(pipeline):
        if isinstance(operand, Field):
            yield from operand.names
        elif isinstance(operand, Variable):
            yield operand.name
            yield from operand.fields


# --- thinking tags --------------------------------------------------------------------------------------


def infer_thinking_tags(body: Body) -> tuple[str, str]:
    """Return the texts around the thinking (``InferTags`` in Ollama's thinking/template.go).

    They are the first and the last text of the list that holds a ``.Thinking`` within a range over messages;
    of several such places, the last that has one counts.
    """
    opening = closing = ""
    for siblings in run(_thinking_places(body, is_in_messages=False)):
        first, last = siblings[0], siblings[-1]
        if isinstance(first, Text):
            opening = trim_space(first.value)
        if isinstance(last, Text):
            closing = trim_space(last.value)
    return opening, closing


def _thinking_places(body: Body, *, is_in_messages: bool) -> Task[list[list[Item]]]:
    """Return, for each field that begins with ``.Thinking``, the list of items that it is in.

    Args:
        body: Where to look.
        is_in_messages: Whether the innermost range around goes over the messages.
    """
    nodes = _nodes(body)
    places: list[list[Item]] = []
    for item in nodes:
        pipeline = _pipeline_of(item)
        first_names = [] if pipeline is None else _first_names(pipeline)
        is_inside = "Messages" in first_names if isinstance(item, Range) else is_in_messages
        if is_inside:
            places += [nodes] * first_names.count("Thinking")
        if isinstance(item, If | With | Range):
            for inner in (item.body, _else_body(item) or ()):
                places += yield _thinking_places(inner, is_in_messages=is_inside)
    return places


def _first_names(pipeline: Pipeline) -> list[str]:
    return [operand.names[0] for operand in _operands(pipeline) if isinstance(operand, Field)]


# --- tool-call tag --------------------------------------------------------------------------------------


def infer_tool_tag(body: Body) -> str:
    """Return the text that starts a tool call (``parseTag`` in Ollama's tools/template.go)."""
    condition = run(_find_tool_calls(body))
    text = None if condition is None else run(_find_text(condition.body))
    if text is None:
        return _NO_TAG
    before_brace = text.value.replace("\r\n", "\n").partition("{")[0]
    return trim_space(before_brace) or _NO_TAG


def _find_tool_calls(body: Body) -> Task[If | None]:
    """Return the first if whose condition names ``.ToolCalls`` as an operand of its own."""
    for item in _nodes(body):
        if isinstance(item, If) and any(
            isinstance(operand, Field) and "ToolCalls" in operand.names
            for command in item.pipeline.commands
            for operand in command.operands
        ):
            return item
        if isinstance(item, If | With | Range):
            for inner in (item.body, _else_body(item) or ()):
                found: If | None = yield _find_tool_calls(inner)
                if found is not None:
                    return found
    return None


def _find_text(body: Body) -> Task[Text | None]:
    """Return the first text that is no white space, not looking behind the first action or branch."""
    for item in _nodes(body):
        if isinstance(item, Text):
            if trim_space(item.value):
                return item
        elif isinstance(item, If | With | Range):
            found: Text | None = yield _find_text(item.body)
            if found is None:
                found = yield _find_text(_else_body(item) or ())
            return found
        elif isinstance(item, Action):
            return None
    return None
