"""A sample of the vectors in every Jinja engine; ``python -m tests.renderers.engines`` runs all of them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.engines import Engine
from tests.renderers.engines import Outcome, host_context
from tests.renderers.vectors import Vector, read_vectors
from transplate.renderers import names, template_text


def sample(shared: Path, every: int) -> list[Vector]:
    return list(read_vectors(shared))[::every]


@pytest.mark.parametrize(
    ("engine_name", "every"),
    [
        ("transformers_engine", 29),
        ("node_engine", 29),
        ("minijinja_engine", 29),
        ("older_minijinja_engine", 29),
        ("llama_engine", 199),
    ],
)
def test_engine(request: pytest.FixtureRequest, shared_folder: Path, engine_name: str, every: int) -> None:
    engine: Engine = request.getfixturevalue(engine_name)
    outcome = Outcome()
    outcome.compare(engine, sample(shared_folder, every))
    assert not [(vector.id, rendered.error) for _, vector, rendered in outcome.differences]
    assert sum(outcome.equal.values()) > 2


@pytest.mark.parametrize("name", names())
def test_every_engine_reads_it(name: str, node_engine: Engine, older_minijinja_engine: Engine) -> None:
    """Without data: a conversation with a tool, a call and its result is the same in both engines."""
    vector = Vector("", name, _WEATHER, None, None)
    prompts = {
        engine.render(template_text(name), host_context(vector), now=datetime(2026, 3, 14)).text
        for engine in (node_engine, older_minijinja_engine)
    }
    assert len(prompts) == 1
    assert "Paris" in (prompts.pop() or "")


_WEATHER: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather in Paris?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "1", "function": {"name": "weather", "arguments": {"city": "Paris"}}}],
        },
        {"role": "tool", "content": "21 degrees", "tool_name": "weather", "tool_call_id": "1"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "The weather",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
        }
    ],
    "think": True,
}
