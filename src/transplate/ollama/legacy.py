"""Ollama's way with templates that do not name the messages: one run a turn, the last one cut short."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from transplate.errors import ErrorKind, TemplateExecutionError
from transplate.gotmpl.compiler.trampoline import Task, run
from transplate.gotmpl.nodes import (
    Action,
    Block,
    Body,
    Branch,
    Command,
    Define,
    Else,
    Field,
    If,
    Item,
    Operand,
    Pipeline,
    Range,
    TemplateCall,
    With,
)

RESPONSE = "Response"
"""The field behind which the last turn ends."""


Turn: TypeAlias = tuple[str, str, str]
"""What one run of a legacy template is given: system, prompt and response."""


def split_turns(messages: Iterable[tuple[str, str, *tuple[object, ...]]]) -> list[Turn]:
    """Split collated messages into turns, as ``Execute`` in Ollama's template.go walks them.

    A system message ends a turn that has a prompt or a response, a user message one that has a response.
    Other roles than system, user and assistant are passed over.

    Returns:
        The turns, one at least; the last is the one that the model is to continue.
    """
    turns: list[Turn] = []
    system = prompt = response = ""
    for message in messages:
        role, content = message[0], message[1]
        if (role == "system" and (prompt or response)) or (role == "user" and response):
            turns.append((system, prompt, response))
            system = prompt = response = ""
        if role == "system":
            system = content
        elif role == "user":
            prompt = content
        elif role == "assistant":
            response = content
    turns.append((system, prompt, response))
    return turns


def cut_at_response(body: Body) -> Body:
    """Return the tree of the last turn: all that follows the first ``.Response`` is removed.

    The cut goes through the middle of a command, as ``deleteNode`` in Ollama's template.go makes it: the
    operands behind the field go, and a pipeline one of whose commands has lost all its operands goes with
    them. Conditions of if, with and range are not looked into, nor are fields of variables and parentheses.
    What the tree defines is not part of it, so that a call of it fails.

    Raises:
        TemplateExecutionError: Of kind PANIC, where the field stands in the first part of an if, with or
            range that has an else: Ollama crashes.
    """
    return run(_Cutter().body(body))


class _Cutter:
    """The walk that cuts; ``done`` is whether it has met the field."""

    def __init__(self) -> None:
        self.done = False

    def body(self, body: Body) -> Task[Body]:
        kept: list[Item] = []
        for item in body:
            if self.done:
                break
            left = yield self._item(item)
            if left is not None:
                kept.append(left)
        return tuple(kept)

    def _item(self, item: Item) -> Task[Item | None]:
        if isinstance(item, Action):
            pipeline = yield self._pipeline(item.pipeline)
            return None if pipeline is None else replace(item, pipeline=pipeline)
        if isinstance(item, If | With | Range):
            branch: Branch = yield self._branch(item)
            return branch
        if isinstance(item, Define):
            return None
        if isinstance(item, Block):
            return TemplateCall(item.name, item.pipeline, item.clause)
        return item

    def _branch(self, branch: Branch) -> Task[Branch]:
        body = yield self.body(branch.body)
        if branch.orelse is None:
            return replace(branch, body=body)
        if self.done:
            raise TemplateExecutionError(
                "interface conversion: parse.Node is nil, not *parse.ListNode", kind=ErrorKind.PANIC
            )
        if isinstance(branch.orelse, Else):
            orelse = replace(branch.orelse, body=(yield self.body(branch.orelse.body)))
        else:
            orelse = yield self._branch(branch.orelse)
        return replace(branch, body=body, orelse=orelse)

    def _pipeline(self, pipeline: Pipeline) -> Task[Pipeline | None]:
        commands: list[Command] = []
        for command in pipeline.commands:
            operands: list[Operand] = []
            for operand in command.operands:
                left = yield self._operand(operand)
                if left is not None:
                    operands.append(left)
            if not operands:
                return None
            commands.append(replace(command, operands=tuple(operands)))
        return replace(pipeline, commands=tuple(commands))

    def _operand(self, operand: Operand) -> Task[Operand | None]:
        if isinstance(operand, Field) and RESPONSE in operand.names:
            self.done = True
            return operand
        if self.done:
            return None
        if isinstance(operand, Pipeline):
            pipeline: Pipeline | None = yield self._pipeline(operand)
            return pipeline
        return operand
