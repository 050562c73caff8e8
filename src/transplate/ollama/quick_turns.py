"""Legacy mode for ordinary chats: messages are read, joined and rendered in one loop."""

from __future__ import annotations

from typing import Any

from transplate.limits import Limits
from transplate.ollama.collate import SEPARATOR
from transplate.ollama.legacy import FEW, Run, shared
from transplate.ollama.quick import ROLES, check_more
from transplate.ollama.quick_body import is_faithful
from transplate.ollama.quick_chat import QuickRun


def quick_turns(run_turn: Run, run_last: Run) -> QuickRun:
    """Return what executes a template turn by turn, as :func:`~transplate.ollama.legacy.by_turns` tells.

    Args:
        run_turn: Executes the template on system, prompt and response.
        run_last: Does so for the last turn, which the model is to continue.
    """

    def run(
        messages: list[Any],
        _tools: object,
        think: bool,
        level: str,
        is_set: bool,
        text: str | None,
        keys: int,
        limits: Limits,
    ) -> str | None:
        outputs: list[str] = []
        room = limits.output
        if len(messages) > FEW:
            limits = shared(limits, len(messages))
        system = prompt = response = ""
        last: str | None = None
        for message in messages:
            role = ROLES[message["role"]]
            if len(message) == 2 and type(message) is dict:
                content = message["content"]
            else:
                keys += check_more(message)
                content = message.get("content", "")
            if type(content) is not str:
                return None
            if not content.isascii():
                content.encode()
            if role == "user":
                if role == last:
                    prompt += SEPARATOR + content
                    continue
                if response:
                    output = run_turn(system, prompt, response, think, level, is_set, limits)
                    room -= len(output)
                    if room < 0:
                        return None
                    outputs.append(output)
                    system = response = ""
                prompt = content
            elif role == "assistant":
                if role == last:
                    response += SEPARATOR + content
                else:
                    response = content
            elif role == "system":
                if role == last:
                    system += SEPARATOR + content
                    continue
                if prompt or response:
                    output = run_turn(system, prompt, response, think, level, is_set, limits)
                    room -= len(output)
                    if room < 0:
                        return None
                    outputs.append(output)
                    prompt = response = ""
                system = content
            last = role
        if last is None or (text is not None and not is_faithful(text, keys + sum(map(len, messages)))):
            return None
        output = run_last(system, prompt, response, think, level, is_set, limits)
        if not outputs:
            return output
        outputs.append(output)
        return None if len(output) > room else "".join(outputs)

    return run
