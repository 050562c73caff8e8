"""Record what Go's parser makes of fixed templates, for the tests to use where there is no Go.

``python -m tests.oracle.parse.record`` writes ``tests/gotmpl/parse.jsonl``: topic, template, answer a line.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.gotmpl.parsing import encode, templates
from tests.oracle.parse.oracle import ParseOracle

RECORDING = Path(__file__).parent.parent.parent / "gotmpl" / "parse.jsonl"


def recording(oracle: ParseOracle) -> str:
    """Return the recording's text as the oracle gives it now."""
    rows = list(templates())
    answers = oracle.answers({"template": encode(template)} for _, template in rows)
    return "".join(
        json.dumps([topic, question["template"], answer], separators=(",", ":")) + "\n"
        for (topic, _), (question, answer) in zip(rows, answers, strict=True)
    )


def main() -> None:
    """Write the recording."""
    oracle = ParseOracle()
    RECORDING.write_text(recording(oracle), encoding="utf-8", newline="\n")
    oracle.close()


if __name__ == "__main__":
    main()
