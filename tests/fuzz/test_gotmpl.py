"""A sample of the differential fuzzing against live Ollama, fresh in every run, and laws of its tools."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.fuzz import faults, gotmpl, mutation
from tests.fuzz.conversations import Conversations
from tests.fuzz.jsontext import request_text
from tests.fuzz.shrinking import shrink
from tests.fuzz.templates import Templates
from tests.oracle.ollama import Answer, GoOracle


@pytest.mark.parametrize("language", ["ollama", "plain"])
def test_fresh_cases(go_oracle: GoOracle, capsys: pytest.CaptureFixture[str], language: str) -> None:
    """Output, error text and stage of 20,000 cases; TRANSPLATE_FUZZ_CASES and _SEED choose others."""
    del go_oracle  # only asks for Go; the run starts oracles of its own
    cases = int(os.environ.get("TRANSPLATE_FUZZ_CASES", "20000"))
    seed = int(os.environ.get("TRANSPLATE_FUZZ_SEED") or random.SystemRandom().randrange(2**32))
    with capsys.disabled():
        print(f"\nfuzzing {cases} cases ({language}) with seed {seed}")
    begin = time.monotonic()
    outcome = gotmpl.run(cases, seed, os.cpu_count() or 1, language=language, quiet=True)
    text, good = gotmpl.report(outcome, time.monotonic() - begin, language=language)
    print(text)
    assert good, f"seed {seed}\n{text}"


@pytest.mark.parametrize("fault", faults.FAULTS, ids=lambda fault: fault.kind)
def test_every_fault_is_real(go_oracle: GoOracle, fault: faults.Fault) -> None:
    """Each example of an error brings it about in Ollama, and our answer is the same."""
    schemas = [
        {"properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}},
        {"properties": {"a": {"type": "object"}}},
        {"properties": {"a": {"anyOf": [{"type": "string"}]}}},
    ]
    call = {"function": {"name": "f", "arguments": {"a": 1}}}
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
    ]
    for example in fault.examples:
        source = example if fault.whole or fault.stage == "parse" else "{{with .Messages}}{{end}}" + example
        reached = set()
        for schema in schemas:
            tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
            request = {"messages": messages, "tools": [tool]}
            real = go_oracle.render(source, request)
            ours = gotmpl.OLLAMA.answer(gotmpl.OLLAMA.template(source), request)
            assert gotmpl.verdict(ours, real) is None, f"{source!r}\n{real}\n{ours}"
            reached.update(faults.classify(real.stage or "", real.error or ""))
        assert f"error:{fault.kind}" in reached, example


def test_same_seed_same_cases() -> None:
    def made(seed: int) -> list[object]:
        rng = Random(seed)
        return [Templates(rng).template().source, Conversations(rng).request(), rng.random()]

    assert made(7) == made(7)
    assert made(7) != made(8)


def test_tokens_join_to_the_source() -> None:
    rng = Random(3)
    for _ in range(200):
        source = Templates(rng).template().source
        assert "".join(mutation.tokens(source)) == source


def test_shrinking_keeps_the_failure() -> None:
    def fails(template: str, request: object) -> bool:
        return "{{.Content}}" in template and "x" in str(request)

    request = {"messages": [{"role": "user", "content": "a x"}, {"role": "tool"}], "think": True}
    smallest = shrink("{{if .A}}ab{{.Content}}{{end}}\n\nmore", request, fails)
    assert smallest == ("{{.Content}}", {"messages": [{"content": "x"}]})


def test_shrinking_takes_blocks_away_in_pairs() -> None:
    nested = "{{if true}}" * 12 + "{{.Content}}{{with .X}}y{{end}}" + "{{end}}" * 12

    def fails(template: str, request: object) -> bool:
        del request
        return "{{.Content}}" in template and template.count("{{end}}") == template.count("{{if") + 1

    assert shrink(nested, {}, fails) == ("{{.Content}}{{end}}", {})


def test_a_difference_is_found_and_shrunk(go_oracle: GoOracle) -> None:
    """The fuzzer sees a wrong byte: it is not blind."""
    del go_oracle

    def lying(template: Any, request: Any) -> Answer:
        answer = gotmpl.OLLAMA.execute(template, request)
        return Answer(answer.output.replace(b"user", b"User"), answer.error, answer.stage)

    fuzzer = gotmpl.Fuzzer(replace(gotmpl.OLLAMA, execute=lying))
    outcome = fuzzer.chunk(1, 0, 100)
    assert outcome.groups
    _, difference = max(outcome.groups.values(), key=lambda found: found[0])
    smallest = fuzzer.shrink(difference)
    assert len(smallest.template) <= len(difference.template)
    assert b"user" in smallest.real.output


def test_odd_json_reads_back() -> None:
    rng = Random(5)
    repeated = 0
    for _ in range(300):
        request = {"messages": Conversations(rng).messages()}
        written = request_text(request, rng)["messages"]
        repeats: list[str] = []
        read = json.loads(written, object_pairs_hook=_counting(repeats))
        repeated += len(repeats)
        if "e400" not in written and "999" not in written and "890" not in written:
            assert json.dumps(_numbers(read)) == json.dumps(_numbers(request["messages"]))
    assert repeated > 20


def _counting(repeated: list[str]) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        repeated.extend(key for key in set(keys) if keys.count(key) > 1)
        return dict(pairs)

    return read


def _numbers(value: Any) -> Any:
    """Return JSON data with sorted keys and short numbers, which all ways of writing them read back to."""
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return f"{value:.4e}" if isinstance(value, int | float) and not isinstance(value, bool) else value
