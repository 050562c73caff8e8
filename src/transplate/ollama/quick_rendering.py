"""Rendering of ordinary chats without detours: requests read quickly, run in the fast form.

Whatever is not ordinary gives None, and is read and rendered with care by the caller, who alone complains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from transplate.ollama.execution import Execution, Now
from transplate.ollama.functions import NOW
from transplate.ollama.inference import Inference
from transplate.ollama.quick import is_faithful, quick_messages, tool_reader
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
    run = execution.run_chat
    if run is None:
        return _render_nothing
    limits, uses_clock = execution.limits, execution.uses_clock
    thinks = "thinking" in inference.abilities
    takes_tools = "tools" in inference.abilities
    read_tools = tool_reader(behaviour).read
    with_json = "Arguments" in inference.fields
    levels = behaviour.think_levels

    def render(
        messages: Any, tools: Any, system: Any, think: Any, now: Now, text: str | None, keys: int
    ) -> str | None:
        if think is None:
            think, level, is_set = (True, "medium", True) if thinks else (False, "", False)
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
        if system:
            if type(system) is not str or not messages or type(messages[0]) is not dict:
                return None
            if messages[0].get("role") != "system":
                messages = [{"role": "system", "content": system}, *messages]
                keys -= 2
        elif system is not None and system != "":
            return None
        read = quick_messages(messages, with_json)
        if read is None:
            return None
        all_system, fast_messages, call_keys = read
        fast_tools: ToolForms | None = None
        if tools is not None:
            found = read_tools(tools) if takes_tools and type(tools) is list else None
            if found is None:
                return None
            fast_tools, tool_keys = found
            keys += tool_keys
        if text is not None and not is_faithful(text, keys + call_keys + sum(map(len, messages))):
            return None
        token = NOW.set(now) if uses_clock else None
        try:
            return run(all_system, fast_messages, fast_tools, think, level, is_set, limits)
        except Exception:
            return None  # whatever it is, the exact form makes of it what Go makes of it
        finally:
            if token is not None:
                NOW.reset(token)

    return render


def _render_nothing(*_: object) -> None:
    """Leave everything to the caller, for a template that has no fast form."""
