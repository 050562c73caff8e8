"""The project's own templates against recordings of real Ollama, and the recordings against Ollama."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import subject
from tests.oracle import record
from tests.oracle.conversations import CONVERSATIONS
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle, Inference
from transplate import OllamaTemplate

RECORDINGS = list(record.recordings())


def load(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    head, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return head, rows


@pytest.mark.parametrize(("template", "recorded"), RECORDINGS, ids=[path.stem for path, _ in RECORDINGS])
def test_recorded_outputs(template: Path, recorded: Path) -> None:
    source = template.read_bytes().decode()
    head, rows = load(recorded)
    parsed = OllamaTemplate(source, ollama=OLLAMA_VERSION)
    inferred = parsed.inference
    assert list(inferred.variables) == head["variables"]
    assert list(inferred.thinking_tags or ("", "")) == head["thinking_tags"]
    assert inferred.tool_tag == head["tool_tag"]
    assert [row["conversation"] for row in rows] == [*CONVERSATIONS, "insert"]
    for row in rows:
        if row["conversation"] == "insert":
            request: dict[str, Any] = {"prompt": "def f(", "suffix": "    return 1\n"}
        else:
            tags = (head["thinking_tags"][0], head["thinking_tags"][1])
            inference = Inference(tuple(head["variables"]), tags, head["tool_tag"], ())
            request = record.request_of(CONVERSATIONS[row["conversation"]], inference)
        answer = subject.execute(parsed, request, now=record.NOW)
        assert answer.error == row.get("error"), row["conversation"]
        assert answer.output.decode() == row["output"], row["conversation"]


@pytest.mark.parametrize(("template", "recorded"), RECORDINGS, ids=[path.stem for path, _ in RECORDINGS])
def test_a_fresh_recording_is_the_same(go_oracle: GoOracle, template: Path, recorded: Path) -> None:
    assert record.record(template, go_oracle) == recorded.read_text(encoding="utf-8")


def test_every_recording_has_its_template() -> None:
    assert {path.name for path in record.RECORDED.glob("*.jsonl")} == {path.name for _, path in RECORDINGS}
