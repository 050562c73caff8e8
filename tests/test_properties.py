"""Laws for any template and any request: our own errors only, an end within the limits, no stale bytes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from random import Random
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings

from tests.fuzz import mutation
from tests.fuzz.conversations import Conversations
from tests.fuzz.templates import Templates
from transplate import Limits, OllamaTemplate, Values
from transplate.errors import TransplateError

LIMITS = Limits(source=200_000, output=1 << 20, steps=20_000, depth=50)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.text(st.characters(), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "tool_calls", "function", "name", "arguments", "Role", "x", ""]
            )
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
"""Any JSON value, and what Python's reader takes beyond JSON: NaN, infinities, lone surrogates."""

pieces = st.one_of(
    st.sampled_from(
        ["{{", "}}", "{{-", "-}}", "{{if .X}}", "{{end}}", "{{range .Messages}}", "{{else}}", "/*", "*/"]
    ),
    st.sampled_from(
        ["$x", ":=", "|", "(", ")", ".", ".Messages", ".Content", '"', "`", "'", "1e9", "0x", "nil", " "]
    ),
    st.sampled_from(
        ["printf", "index", "slice", "len", "json", "template", "define", "block", "break", "\n", "%s"]
    ),
    st.text(max_size=6),
)
template_texts = st.lists(pieces, max_size=20).map("".join) | st.text(max_size=60)
seeds = st.integers(0, 2**32)


def generated(seed: int) -> tuple[str, dict[str, Any]]:
    """Return a template, mutated half of the time, and a request from a seed."""
    rng = Random(seed)
    source = Templates(rng, wildness=0.15).template().source
    if rng.random() < 0.5:
        source, _ = mutation.mutate(source, Templates(rng).template().source, rng)
    return source, Conversations(rng, lone_surrogates=True).request()


def attempt(render: Callable[[], str]) -> tuple[str, str]:
    """Return the output or the error; anything but our own errors goes through."""
    try:
        return "output", render()
    except TransplateError as error:
        shown = str(error)
        kind, message = type(error).__name__, error.message
    assert shown
    assert message
    return kind, message


def execute(template: OllamaTemplate, request: dict[str, Any]) -> tuple[str, str]:
    """Execute a template on a fresh reading of a request."""
    return attempt(lambda: template.execute(Values(**request)))


def outcome(source: str, request: dict[str, Any]) -> tuple[str, str]:
    """Parse and execute within the limits."""
    return attempt(lambda: OllamaTemplate(source, limits=LIMITS).execute(Values(**request)))


@settings(max_examples=400, deadline=10_000, suppress_health_check=[HealthCheck.too_slow])
@given(template_texts, json_values)
def test_any_text_and_any_messages(source: str, messages: Any) -> None:
    outcome(source, {"messages": messages})


@settings(max_examples=300, deadline=10_000, suppress_health_check=[HealthCheck.too_slow])
@given(seeds)
def test_generated_templates_and_requests(seed: int) -> None:
    source, request = generated(seed)
    first = outcome(source, request)
    assert outcome(source, request) == first


@settings(max_examples=300, deadline=10_000, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "messages": json_values,
            "tools": json_values,
            "prompt": json_values,
            "suffix": json_values,
            "think": json_values,
            "system": json_values,
            "model": json_values,
        },
    )
    | json_values,
    st.sampled_from(
        ["{{range .Messages}}{{.Role}}{{.Content}}{{.ToolCalls}}{{end}}{{.Tools}}", "{{.Prompt}}"]
    ),
)
def test_any_request_body(body: Any, source: str) -> None:
    template = OllamaTemplate(source, limits=LIMITS)
    attempt(lambda: template.render_request(body))


@settings(max_examples=200, deadline=10_000)
@given(st.text(max_size=200) | json_values.map(lambda value: json.dumps(value)))
def test_any_request_text(text: str) -> None:
    template = OllamaTemplate("{{range .Messages}}{{.Content}}{{end}}", limits=LIMITS)
    attempt(lambda: template.render_request(text))


@settings(max_examples=150, deadline=10_000, suppress_health_check=[HealthCheck.too_slow])
@given(seeds)
def test_requests_are_not_changed_and_caches_not_stale(seed: int) -> None:
    """Rendering leaves the caller's data alone, and a changed dict gives what a fresh one gives."""
    source, request = generated(seed)
    before = json.dumps(request)
    outcome(source, request)
    assert json.dumps(request) == before
    try:
        template = OllamaTemplate(source, limits=LIMITS)
    except TransplateError:
        return
    for change in range(3):
        execute(template, request)
        Conversations(Random(seed + change)).spoil(request)
        assert execute(template, request) == outcome(source, json.loads(json.dumps(request)))


def test_threads_share_a_template() -> None:
    rng = Random(11)
    template = OllamaTemplate(
        "{{range $i, $m := .Messages}}{{$i}}{{$m.Role}}{{$m.Content}}"
        "{{range .ToolCalls}}{{.Function}}{{end}}{{end}}"
    )
    requests = [Conversations(rng).request() for _ in range(40)]
    expected = [execute(template, request) for request in requests]
    wrong: list[int] = []

    def work() -> None:
        for _ in range(5):
            wrong.extend(i for i, request in enumerate(requests) if execute(template, request) != expected[i])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
