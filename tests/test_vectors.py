"""What the newest Ollama answered to thousands of requests, and what real v0.17.4 answers to the same."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests import subject
from tests.oracle.ollama import OLLAMA_VERSION, Answer, GoOracle
from transplate import OllamaTemplate
from transplate.ollama import NEWEST

COUNTS = {"library": 568, "fuzz": 4998, "errors": 1198, "inference": 714}


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    with gzip.open(folder / "vectors" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    assert len(found) == COUNTS[name]
    return found


def fail_on(differences: list[str], checked: int) -> None:
    if differences:
        shown = "\n\n".join(islice(differences, 8))
        pytest.fail(f"{len(differences)} of {checked} differ:\n{shown}", pytrace=False)


@pytest.mark.parametrize("name", ["library", "fuzz", "errors"])
def test_newest_ollama(shared_folder: Path, name: str) -> None:
    """Output, or error text and stage, of every recorded request."""
    recorded = rows(shared_folder, name)
    differences = []
    for row in recorded:
        answer = subject.render(row["template"], row["request"], ollama=NEWEST)
        if "error" in row:
            equal = (answer.error, answer.stage) == (row["error"], row["stage"])
        elif row.get("lossy"):
            equal = answer.error is None and answer.output.decode("utf-8", "replace") == row["output"]
        else:
            equal = answer == Answer(row["output"].encode())
        if not equal:
            wanted = row.get("error", row.get("output"))
            differences.append(f"{row['id']} {row['template']!r}\n  Ollama: {wanted!r}\n  we:     {answer}")
    fail_on(differences, len(recorded))


@pytest.mark.parametrize("name", ["library", "fuzz", "errors"])
def test_oracle_version(shared_folder: Path, go_oracle: GoOracle, name: str) -> None:
    """The same requests, answered live by the version that the oracle runs."""
    recorded = rows(shared_folder, name)
    live = go_oracle.render_many((row["template"], [row["request"]]) for row in recorded)
    differences = []
    for row, (wanted,) in zip(recorded, live, strict=True):
        answer = subject.render(row["template"], row["request"], ollama=OLLAMA_VERSION)
        if not subject.agrees(answer, wanted):
            differences.append(f"{row['id']} {row['template']!r}\n  Ollama: {wanted}\n  we:     {answer}")
    fail_on(differences, len(recorded))


def test_inference(shared_folder: Path) -> None:
    """Variables, thinking tags and tool tag that the newest Ollama infers."""
    recorded = rows(shared_folder, "inference")
    differences = []
    for row in recorded:
        found = OllamaTemplate(row["template"], ollama=NEWEST).inference
        got = (list(found.variables), list(found.thinking_tags or ("", "")), found.tool_tag)
        wanted = (row["vars"], row["thinking"], row["tool_tag"])
        if got != wanted:
            differences.append(f"{row['id']} {row['template']!r}\n  Ollama: {wanted}\n  we:     {got}")
    fail_on(differences, len(recorded))
