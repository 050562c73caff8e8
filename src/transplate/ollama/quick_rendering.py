"""Rendering of ordinary chats without detours: requests read quickly, run in the fast form.

Whatever is not ordinary gives None, and is read and rendered with care by the caller, who alone complains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from transplate.limits import Limits
from transplate.ollama.execution import Execution, Now
from transplate.ollama.functions import NOW
from transplate.ollama.inference import Inference
from transplate.ollama.quick import quick_messages
from transplate.ollama.quick_body import is_faithful
from transplate.ollama.quick_chat import QuickRun
from transplate.ollama.quick_tools import tool_reader
from transplate.ollama.shapes import ToolForms
from transplate.ollama.versions import Behaviour

QuickRenderer: TypeAlias = Callable[[Any, Any, Any, Any, Now, str | None, int], str | None]
"""Renders a chat: messages, tools, the Modelfile's SYSTEM, ``think``, the clock, the JSON text that all this
was read from (None if from none), and how many keys of that text's objects are not in messages and tools."""


def quick_renderer(execution: Execution, inference: Inference, behaviour: Behaviour) -> QuickRenderer:
    """Return what renders ordinary chats with a template.

    Args:
        execution: The template's execution.
        inference: What is known of the template.
        behaviour: How the version of Ollama behaves.
    """
    read_first = _reading_first(execution, "Arguments" in inference.fields)
    run = execution.quick_chat(inference) or read_first
    limits, uses_clock = execution.limits, execution.uses_clock
    thinks = "thinking" in inference.abilities
    takes_tools = "tools" in inference.abilities
    read_tools = tool_reader(behaviour).read
    levels = behaviour.think_levels
    unset = (True, "medium", True) if thinks else (False, "", False)

    def render(
        messages: Any, tools: Any, system: Any, think: Any, now: Now, text: str | None, keys: int
    ) -> str | None:
        if think is None:
            think, level, is_set = unset
        elif think is False:
            level, is_set = "", True
        elif not thinks:
            return None
        elif think is True:
            level, is_set = "medium", True
        elif type(think) is str and think in levels:
            think, level, is_set = True, think, True
        else:
            return None
        if type(system) is not str and system is not None:
            return None
        if system:
            if not messages or type(messages[0]) is not dict:
                return None
            role = messages[0].get("role")
            if type(role) is not str:
                return None
            if role != "system":
                messages = [{"role": "system", "content": system}, *messages]
                keys -= 2
        fast_tools: ToolForms | None = None
        if tools is not None:
            found = read_tools(tools) if takes_tools and type(tools) is list else None
            if found is None:
                return None
            fast_tools, tool_keys = found
            keys += tool_keys
        token = NOW.set(now) if uses_clock else None
        try:
            try:
                output = run(messages, fast_tools, think, level, is_set, text, keys, limits)
            except Exception:
                output = None  # whatever it is, more careful ways make of it what Ollama makes of it
            if output is None and run is not read_first:
                output = read_first(messages, fast_tools, think, level, is_set, text, keys, limits)
        finally:
            if token is not None:
                NOW.reset(token)
        return output

    return render


def _reading_first(execution: Execution, with_json: bool) -> QuickRun:
    """Return what reads and collates all messages, and then runs the fast form on them."""

    def run(
        messages: list[Any],
        tools: ToolForms | None,
        think: bool,
        level: str,
        is_set: bool,
        text: str | None,
        keys: int,
        limits: Limits,
    ) -> str | None:
        run_chat = execution.run_chat
        read = quick_messages(messages, with_json)
        if run_chat is None or read is None:
            return None
        system, read_messages, call_keys = read
        if text is not None and not is_faithful(text, keys + call_keys + sum(map(len, messages))):
            return None
        try:
            return run_chat(system, read_messages, tools, think, level, is_set, limits)
        except Exception:
            return None

    return run
