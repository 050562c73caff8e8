"""Whatever is given as a request: a prompt or one of our errors, nothing else."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from transplate import OllamaTemplate, TransplateError, Values

TEMPLATE = OllamaTemplate("{{ .System }}{{ json .Messages }}{{ .Tools }}{{ json .Tools }}{{ .Suffix }}")

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.binary(max_size=8)
    | st.sampled_from(["user", "aGk=", 10**400, -(2**63) - 1, object(), {1}, "string", "[img]"])
)
NAMES = ["role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id", "id", "function"]
NAMES += [
    "index",
    "name",
    "arguments",
    "type",
    "items",
    "description",
    "parameters",
    "properties",
    "required",
]
NAMES += ["enum", "anyOf", "$defs", "ROLE", "Content"]
KEYS = st.sampled_from(NAMES) | st.text(st.characters(), max_size=3) | st.integers()
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=300, deadline=None)
@given(messages=ANYTHING, tools=ANYTHING, more=ANYTHING)
def test_rendering(messages: Any, tools: Any, more: Any) -> None:
    for request in (messages, [messages], [{"tool_calls": [{"function": {"arguments": messages}}]}]):
        with contextlib.suppress(TransplateError):
            TEMPLATE.render(request, tools)
        with contextlib.suppress(TransplateError):
            TEMPLATE.execute(Values(request, [{"function": {"parameters": {"properties": tools}}}], more))
        with contextlib.suppress(TransplateError):
            TEMPLATE.render_request({"messages": request, "tools": tools, "think": more}, system=more)
    with contextlib.suppress(TransplateError):
        TEMPLATE.render([], prompt=messages, suffix=tools, think=more, system=more)


@settings(max_examples=200, deadline=None)
@given(text=st.text(st.characters(), max_size=60) | st.binary(max_size=60))
def test_texts(text: str | bytes) -> None:
    inside = b'[{"role": "%s"}]' % text if isinstance(text, bytes) else f'[{{"role": "{text}"}}]'
    for given_text in (text, inside):
        with contextlib.suppress(TransplateError):
            TEMPLATE.render(given_text, given_text)
        with contextlib.suppress(TransplateError):
            TEMPLATE.render_request(given_text)
