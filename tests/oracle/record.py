"""Recordings of the oracle's outputs: ``python -m tests.oracle.record [--check]``.

For each of the project's own Go templates: what real Ollama prints for each of the named conversations, its
abilities taken into account as the server takes them, and what Ollama infers from the template. Machines
without Go test against the recordings; ``--check`` fails when a fresh recording differs from them.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.oracle.conversations import CONVERSATIONS
from tests.oracle.ollama import Answer, GoOracle, Inference

REPOSITORY = Path(__file__).parent.parent.parent
TEMPLATES = REPOSITORY / "templates" / "gotmpl"
RECORDED = Path(__file__).parent / "recorded"
NOW = datetime(2024, 3, 1, 12, 30)
"""The clock of every recording."""


def request_of(body: dict[str, Any], inference: Inference) -> dict[str, Any]:
    """Return the ``template.Values`` that the server makes of a body, by the template's abilities."""
    request: dict[str, Any] = {"messages": body["messages"]}
    if "tools" in inference.variables and "tools" in body:
        request["tools"] = body["tools"]
    if all(inference.thinking_tags):
        think = body.get("think", True)
        level = "medium" if think is True else think or ""
        request |= {"think": bool(think), "think_level": level, "is_think_set": True}
    elif body.get("think") is False:
        request["is_think_set"] = True
    return request


def record(path: Path, oracle: GoOracle) -> str:
    """Return the recording of one template, JSON lines."""
    source = path.read_bytes().decode()
    inference = oracle.infer(source)
    assert isinstance(inference, Inference), inference
    head = {
        "template": path.name,
        "variables": inference.variables,
        "thinking_tags": inference.thinking_tags,
        "tool_tag": inference.tool_tag,
    }
    requests = {name: request_of(body, inference) for name, body in CONVERSATIONS.items()}
    requests["insert"] = {"prompt": "def f(", "suffix": "    return 1\n"}
    answers = oracle.render_all(source, list(requests.values()), now=NOW)
    rows = [head, *map(_row, requests, answers)]
    return "".join(json.dumps(row) + "\n" for row in rows)


def _row(name: str, answer: Answer) -> dict[str, Any]:
    row: dict[str, Any] = {"conversation": name}
    if answer.error is not None:
        row |= {"error": answer.error, "stage": answer.stage}
    # Own templates print text; a byte outside UTF-8 would not survive, so that it must not go unseen.
    return row | {"output": answer.output.decode()}


def recordings() -> Iterator[tuple[Path, Path]]:
    """Yield each template and the file of its recording."""
    for path in sorted(TEMPLATES.glob("*.gotmpl")):
        yield path, RECORDED / f"{path.stem}.jsonl"


def main() -> int:
    """Write the recordings, or compare them with fresh ones; the exit status is 1 if they differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    RECORDED.mkdir(exist_ok=True)
    stale = {path.name for path in RECORDED.glob("*.jsonl")}
    differing = []
    with GoOracle() as oracle:
        for template, recorded in recordings():
            fresh = record(template, oracle)
            stale.discard(recorded.name)
            kept = recorded.read_text(encoding="utf-8") if recorded.exists() else ""
            if not check:
                recorded.write_text(fresh, encoding="utf-8", newline="\n")
            elif fresh != kept:
                differing.append(recorded.name)
                sys.stdout.writelines(
                    difflib.unified_diff(
                        kept.splitlines(True), fresh.splitlines(True), "recorded", "fresh", n=0
                    )
                )
    for name in stale:
        if check:
            differing.append(f"{name} (no such template)")
        else:
            (RECORDED / name).unlink()
    if differing:
        print(f"recordings differ from the oracle: {', '.join(sorted(differing))}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
