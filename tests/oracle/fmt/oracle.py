"""Go's fmt, encoding/json and escaping as an oracle: builds the program in this folder and asks it."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.oracle.engines import EngineUnavailable
from tests.oracle.worker import LineWorker

SOURCE = Path(__file__).parent
_IN_FLIGHT = 500


class FmtOracle:
    """The running program, or another that answers questions as it does, by the folder of its source."""

    def __init__(self, source: Path = SOURCE) -> None:
        self._worker = LineWorker([build_program(source)])

    def answers(self, questions: Iterable[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Yield each question with its answer."""
        waiting: deque[dict[str, Any]] = deque()
        for question in questions:
            self._worker.questions.put(json.dumps(question).encode() + b"\n")
            waiting.append(question)
            if len(waiting) == _IN_FLIGHT:
                yield self._next(waiting)
        while waiting:
            yield self._next(waiting)

    def _next(self, waiting: deque[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
        answer = self._worker.answers.get()
        if answer is None:
            raise RuntimeError(f"the oracle ended at {waiting[0]}: {self._worker.close()}")
        return waiting.popleft(), json.loads(answer)

    def close(self) -> None:
        """End the program."""
        self._worker.close()


def build_program(source: Path = SOURCE) -> Path:
    """Return the path of the program in a folder, built from its sources if it has not been yet."""
    go = shutil.which("go")
    if go is None:
        raise EngineUnavailable("go is not installed")
    sources = b"".join(path.read_bytes() for path in sorted(source.glob("*.go")))
    name = f"transplate-{source.name}-oracle-{hashlib.sha256(sources).hexdigest()[:16]}"
    program = Path(tempfile.gettempdir()) / name
    if not program.exists():
        built = program.with_suffix(".new")
        subprocess.run([go, "build", "-o", built, "."], cwd=source, check=True, capture_output=True)
        built.rename(program)
    return program
