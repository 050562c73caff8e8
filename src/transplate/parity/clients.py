"""Conversations as real clients send them: agents, editors and chat programs."""

from __future__ import annotations

from typing import Any

_READ = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file of the workspace.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string", "description": "Path from the root"}},
            "required": ["path"],
        },
    },
}


def _said(role: str, content: str | None, **others: Any) -> dict[str, Any]:
    return {"role": role, "content": content} | others


def _called(path: str, number: int, content: str | None = None, **others: Any) -> dict[str, Any]:
    call = {"name": "read_file", "arguments": {"path": path}}
    identifier = f"call0000{number}"
    return _said(
        "assistant", content, tool_calls=[{"id": identifier, "type": "function", "function": call}], **others
    )


def _read(content: str, number: int) -> dict[str, Any]:
    return _said("tool", content, name="read_file", tool_call_id=f"call0000{number}")


CLIENT_EXAMPLES: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    # name, tags, what it brings out, the conversation
    (
        "developer-first",
        "client odd-role turns",
        "OpenAI's newer clients: the system prompt comes from the developer",
        {
            "messages": [
                _said("developer", "Answer in one word."),
                *(
                    _said("user", "Capital of Norway?"),
                    _said("assistant", "Oslo."),
                    _said("user", "Of Chile?"),
                ),
            ]
        },
    ),
    (
        "reminder",
        "client system several-systems late-system turns",
        "agents: a system message in the middle reminds the model of something",
        {
            "messages": [
                *(_said("system", "You are an agent."), _said("user", "Fix the test.")),
                *(_said("assistant", "Done."), _said("system", "The file was changed on disk.")),
                _said("user", "Try again."),
            ]
        },
    ),
    (
        "context-in-front",
        "client system several-systems same-role",
        "editors: rules and workspace as two system messages, file and question as two of the user",
        {
            "messages": [
                *(_said("system", "You help with code."), _said("system", "Workspace: /src")),
                *(_said("user", "File main.py:\nprint(1)"), _said("user", "What does it do?")),
            ]
        },
    ),
    (
        "compacted",
        "client system several-systems late-system",
        "agents after compaction: the history has become one system message",
        {
            "messages": [
                _said("system", "You are an agent."),
                _said("system", "Summary of the conversation so far: the user asked for a fix; it was made."),
                _said("user", "Now add a test."),
            ]
        },
    ),
    (
        "truncated",
        "client no-user system prefill",
        "a history cut to fit: what the user said is gone",
        {"messages": [_said("system", "Be brief."), _said("assistant", "So the answer")]},
    ),
    (
        "truncated-tools",
        "client no-user tools tool-calls tool-results",
        "a history cut to fit: it begins with a call",
        {"messages": [_called("a.py", 1), _read("print(1)", 1)], "tools": [_READ]},
    ),
    (
        "reasoning-lost",
        "client tools tool-calls tool-results thinking null turns",
        "a replayed history: only the last of two answers still has its reasoning",
        {
            "messages": [
                *(_said("user", "What is in a.py and b.py?"), _called("a.py", 1), _read("print(1)", 1)),
                *(_called("b.py", 2, reasoning_content="Now the other one."), _read("print(2)", 2)),
            ],
            "tools": [_READ],
        },
    ),
    (
        "results-first",
        "client no-user system tools tool-calls tool-results null",
        "agents that look around before anybody asks",
        {
            "messages": [_said("system", "You are an agent."), _called("README", 1), _read("# Readme", 1)],
            "tools": [_READ],
        },
    ),
    (
        "agent-loop",
        "client system tools tool-calls tool-results null turns",
        "an agent that calls, reads, calls again and answers",
        {
            "messages": [
                *(_said("system", "You are an agent."), _said("user", "Compare a.py and b.py.")),
                *(_called("a.py", 1), _read("print(1)", 1), _called("b.py", 2), _read("print(2)", 2)),
                *(_said("assistant", "They differ."), _said("user", "How?")),
            ],
            "tools": [_READ],
        },
    ),
)
