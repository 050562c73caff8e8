"""How much there is to do in a body each time it runs."""

from __future__ import annotations

from typing import Final

from transplate.gotmpl.nodes import (
    Action,
    Block,
    Body,
    Chain,
    Identifier,
    If,
    Operand,
    Pipeline,
    Range,
    TemplateCall,
    With,
)

_CALL: Final = 3


def steps_of(body: Body) -> int:
    """Return the steps that a body takes when it runs once, its inner loops not included."""
    return 2 + size_of(body)


def size_of(body: Body) -> int:
    """Return how many items and operands a body has, without the bodies of its loops."""
    size = 0
    bodies = [body]
    while bodies:
        for item in bodies.pop():
            size += 1
            if isinstance(item, Action | If | With | Range | TemplateCall | Block):
                if item.pipeline is not None:
                    size += _operands(item.pipeline)
                if isinstance(item, If | With):
                    bodies.append(item.body)
                if isinstance(item, If | With | Range) and item.orelse is not None:
                    orelse = item.orelse
                    bodies.append((orelse,) if isinstance(orelse, If | With) else orelse.body)
    return size


def _operands(pipeline: Pipeline) -> int:
    count = 0
    waiting: list[Operand] = [pipeline]
    while waiting:
        operand = waiting.pop()
        if isinstance(operand, Pipeline):
            for command in operand.commands:
                waiting += command.operands
        elif isinstance(operand, Chain):
            waiting.append(operand.operand)
            count += len(operand.fields)
        else:
            count += _CALL if isinstance(operand, Identifier) else 1
    return count
