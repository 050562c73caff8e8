"""Rules about tools."""

from __future__ import annotations

from collections.abc import Iterator

from transplate.lint.finding import Fault, Rule
from transplate.lint.subject import QUESTION, SYSTEM, Subject, assistant, system, user

_TOOL, _ABOUT, _PARAMETER = "look_at_the_sky", "Looks up and tells what is there.", "direction"
_CALLED = "measure_the_light"
_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": _TOOL,
            "description": _ABOUT,
            "parameters": {
                "type": "object",
                "properties": {_PARAMETER: {"type": "string", "description": "Where to look."}},
                "required": [_PARAMETER],
            },
        },
    }
]
_RESULT = "It is 400 lux."


def _exchange(identifier: str = "call00001") -> list[dict[str, object]]:
    """Return a question, a call and its result; the called function is not among the tools."""
    function = {"name": _CALLED, "arguments": {"unit": "lux"}}
    call = {"id": identifier, "type": "function", "function": function}
    result = {"role": "tool", "name": _CALLED, "tool_call_id": identifier, "content": _RESULT}
    return [user(QUESTION), assistant("", tool_calls=[call]), result]


def _conversations() -> Iterator[list[dict[str, object]]]:
    yield [user(QUESTION)]
    yield [system(SYSTEM), user(QUESTION)]
    yield _exchange()
    yield [*_exchange(), assistant("Bright."), user(QUESTION)]


def _shows_calls(subject: Subject) -> bool:
    """Return whether the name of a called function gets into a prompt, with or without tools."""
    return any(_CALLED in subject.printed(_exchange(), tools).prompt for tools in ((), _TOOLS))


def _shows_tools(subject: Subject) -> bool:
    return any(_TOOL in subject.printed(messages, _TOOLS).prompt for messages in _conversations())


def _tools_not_shown(subject: Subject) -> Iterator[Fault]:
    if _shows_tools(subject) or not _shows_calls(subject):
        return
    go = subject.go
    refused = go is not None and "tools" not in go.inference.abilities
    why = "so that Ollama refuses requests with tools" if refused else "whatever conversation there is"
    yield Fault(
        f"calls of tools are printed, but the tools that may be called are not, {why}",
        subject.find(r"tool_calls", r"\.ToolCalls"),
    )


def _results_not_shown(subject: Subject) -> Iterator[Fault]:
    if not _shows_calls(subject):
        return
    tried = [subject.printed(_exchange(), tools) for tools in ((), _TOOLS)]
    if any(_RESULT in printed.prompt for printed in tried) or all(printed.error for printed in tried):
        return
    yield Fault(
        "calls of tools are printed, but the results, which are messages of the role tool, are not",
        subject.find(r"tool_calls", r"\.ToolCalls"),
    )


RULES = (
    Rule(
        "tools-not-shown",
        "error",
        "Calls of tools are printed, the tools are not: the model never learns what it may call.",
        _tools_not_shown,
    ),
    Rule(
        "tool-results-not-shown",
        "error",
        "Calls of tools are printed, their results are not: the model calls again and again.",
        _results_not_shown,
    ),
)
