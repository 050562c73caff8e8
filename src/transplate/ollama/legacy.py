"""Ollama's way with templates that do not name the messages: one run a turn, the last one cut short."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, TypeAlias

from transplate.errors import ErrorKind, TemplateExecutionError
from transplate.gotmpl.compiler.trampoline import Task, run
from transplate.gotmpl.costs import output_too_long
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
from transplate.limits import Limits
from transplate.ollama.request import Message
from transplate.ollama.shapes import FastMessage

RESPONSE = "Response"
"""The field behind which the last turn ends."""
FEW: Final = 8
"""Messages each of which may take all the steps in the fast form."""


Run: TypeAlias = Callable[..., str]
"""Executes a template on the parts of its data, the last of which are the thinking and the limits."""


def by_turns(run_turn: Run, run_last: Run) -> Run:
    """Return what executes a template turn by turn, as ``Execute`` in Ollama's template.go does.

    A system message ends a turn that has a prompt or a response, a user message one that has a response.
    Other roles than system, user and assistant are passed over.

    Args:
        run_turn: Executes the template on system, prompt and response.
        run_last: Does so for the last turn, which the model is to continue.

    Returns:
        What takes the arguments that the fast form of messages mode takes. It raises
        :class:`~transplate.gotmpl.costs.LimitReached` if the turns together print too much.
    """

    def run(
        _system: str,
        messages: Sequence[FastMessage | Message],
        _tools: object,
        think: bool,
        level: str,
        is_set: bool,
        limits: Limits,
    ) -> str:
        outputs: list[str] = []
        room = limits.output
        if len(messages) > FEW:
            limits = shared(limits, len(messages))
        system = prompt = response = ""
        for role, content, _, _, _, _, _ in messages:
            if (role == "user" and response) or (role == "system" and (prompt or response)):
                output = run_turn(system, prompt, response, think, level, is_set, limits)
                room -= len(output)
                if room < 0:
                    raise output_too_long(limits)
                outputs.append(output)
                system = prompt = response = ""
            if role == "user":
                prompt = content
            elif role == "assistant":
                response = content
            elif role == "system":
                system = content
        output = run_last(system, prompt, response, think, level, is_set, limits)
        if not outputs:
            return output
        outputs.append(output)
        if len(output) > room:
            raise output_too_long(limits)
        return "".join(outputs)

    return run


@lru_cache(maxsize=64)
def shared(limits: Limits, turns: int) -> Limits:
    """Return the limits of each of many turns."""
    return replace(limits, steps=limits.steps // turns)


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
