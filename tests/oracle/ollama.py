"""Real Ollama and real Go as an oracle: builds the program in ``go/``, runs it, asks it in batches."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.oracle.engines import EngineUnavailable
from tests.oracle.worker import LineWorker

SOURCE = Path(__file__).parent / "go"
OLLAMA_VERSION = next(
    line.split()[-1].removeprefix("v")
    for line in (SOURCE / "go.mod").read_text(encoding="utf-8").splitlines()
    if "github.com/ollama/ollama" in line
)
"""The version of Ollama that the oracle is built on."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one request gave.

    Attributes:
        output: What was printed, in case of an error before it.
        error: The error's text, None if there is none; bytes outside UTF-8 are surrogate escapes.
        stage: Where it failed: ``request``, ``parse``, ``exec``, ``panic``; ``crash`` when it ended the
            oracle itself (out of stack, time or memory, which ``error`` tells).
    """

    output: bytes = b""
    error: str | None = None
    stage: str | None = None


@dataclass(frozen=True, slots=True)
class Inference:
    """What Ollama derives from the shape of a template."""

    variables: tuple[str, ...]
    thinking_tags: tuple[str, str]
    tool_tag: str
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Timing:
    """Nanoseconds that one warm run takes in Go."""

    parse: float
    execute: float
    unmarshal_execute: float


def cache_folder() -> Path:
    """Return the folder that built programs are kept in."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "transplate" / "oracle"


def build_program(package: str = ".", *, name: str = "oracle", random_heap: bool = False) -> Path:
    """Build a Go program of the oracle's module and return its path; a build of the same sources is kept.

    Args:
        package: The package in ``go/``.
        name: What the program is called.
        random_heap: Whether its heap may lie at a random address (Go's way since 1.26).

    Raises:
        EngineUnavailable: There is no Go, or the program cannot be built (no network for its modules).
    """
    go = shutil.which("go")
    if go is None:
        raise EngineUnavailable("Go is not installed")
    version = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout
    environment = dict(os.environ)
    if not random_heap and tuple(map(int, re.findall(r"\d+", version)[:2])) >= (1, 26):
        environment["GOEXPERIMENT"] = "norandomizedheapbase64"
    digest = hashlib.sha256(f"{version} {package} {random_heap}".encode())
    for path in sorted(SOURCE.rglob("*")):
        if path.suffix in {".go", ".mod", ".sum"}:
            digest.update(path.relative_to(SOURCE).as_posix().encode() + b"\0" + path.read_bytes())
    program = cache_folder() / f"{name}-{digest.hexdigest()[:16]}{'.exe' if os.name == 'nt' else ''}"
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=program.parent) as folder:
        built = Path(folder) / program.name
        command = [go, "build", "-trimpath", "-o", str(built), package]
        done = subprocess.run(command, cwd=SOURCE, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise EngineUnavailable(f"the Go oracle cannot be built: {done.stderr.strip()[-2000:]}")
        built.replace(program)
    return program


class GoOracle:
    """The running oracle. Not for use by several threads at once."""

    def __init__(self, *, seconds: float = 10.0, other_addresses: bool = False) -> None:
        """Build the program if need be and start it.

        Args:
            seconds: Time that one question may take before it counts as a crash.
            other_addresses: Whether its heap lies elsewhere, at a random place, so that what it says of
                templates that print addresses differs from what an ordinary oracle says.

        Raises:
            EngineUnavailable: It cannot be built.
        """
        self._command = (build_program(random_heap=other_addresses), f"-timeout={seconds}s")
        self._process = LineWorker(self._command)
        self._pending: deque[dict[str, Any]] = deque()

    def __enter__(self) -> GoOracle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the oracle's process."""
        self._process.close()

    # --- any number of questions, answered in order ---------------------------------------------------

    def submit(
        self,
        template: str,
        requests: Sequence[Any] = (),
        *,
        mode: str = "render",
        now: datetime | None = None,
        nanoseconds: int = 0,
    ) -> None:
        """Send a question without waiting; :meth:`collect` gives the answers in order.

        Args:
            template: The template; surrogate escapes stand for bytes outside UTF-8.
            requests: Requests as data, or as JSON text in ``bytes``.
            mode: What to do with it; see ``go/main.go``.
            now: Fixes the clock of Ollama's date functions.
            nanoseconds: Length of a measurement of mode ``bench``.
        """
        question: dict[str, Any] = {"mode": mode, "template": template, "requests": requests}
        if now is not None:
            question["now"] = now.isoformat() if now.tzinfo else now.isoformat() + "Z"
        if nanoseconds:
            question["nanoseconds"] = nanoseconds
        self._send(question)

    def _send(self, question: dict[str, Any]) -> None:
        self._pending.append(question)
        self._process.questions.put(_encode(question))

    def collect(self) -> list[dict[str, Any]]:
        """Return the raw results of the oldest question that was sent and not collected."""
        line = self._process.answers.get()
        if line is not None:
            self._pending.popleft()
            results: list[dict[str, Any]] = json.loads(line)["results"]
            return results
        said = self._process.close()
        unanswered = list(self._pending)
        self._pending.clear()
        self._process = LineWorker(self._command)
        culprit = unanswered[0]
        requests = culprit["requests"]
        if len(requests) > 1:
            results = []
            for request in requests:
                self._send({**culprit, "requests": [request]})
                results += self.collect()
        else:
            reason = said.strip().splitlines()[0] if said.strip() else "the oracle ended without a word"
            results = [{"stage": "crash", "error": reason.removeprefix("oracle: ")}]
        for question in unanswered[1:]:
            self._send(question)
        return results

    def answers(self) -> list[Answer]:
        """Return the answers to the oldest question that was sent and not collected."""
        return [_answer(result) for result in self.collect()]

    # --- one question ---------------------------------------------------------------------------------

    def render(self, template: str, request: Any, *, now: datetime | None = None) -> Answer:
        """Return what Ollama's ``Template.Execute`` makes of one request (``template.Values``)."""
        return self.render_all(template, [request], now=now)[0]

    def render_all(
        self, template: str, requests: Sequence[Any], *, now: datetime | None = None
    ) -> list[Answer]:
        """Return what Ollama makes of several requests with one template."""
        self.submit(template, requests, now=now)
        return self.answers()

    def render_many(
        self,
        cases: Iterable[tuple[str, Sequence[Any]]],
        *,
        mode: str = "render",
        now: datetime | None = None,
        ahead: int = 200,
    ) -> Iterator[list[Answer]]:
        """Answer any number of (template, requests), working ``ahead`` questions in advance."""
        waiting = 0
        for template, requests in cases:
            self.submit(template, requests, mode=mode, now=now)
            waiting += 1
            if waiting >= ahead:
                yield self.answers()
                waiting -= 1
        for _ in range(waiting):
            yield self.answers()

    def parse(self, template: str) -> Answer:
        """Return the error that Ollama's ``template.Parse`` gives, if any."""
        self.submit(template, mode="parse")
        return self.answers()[0]

    def infer(self, template: str) -> Inference | Answer:
        """Return what Ollama infers from a template's shape, or why it cannot."""
        self.submit(template, mode="infer")
        (result,) = self.collect()
        found = result.get("inference")
        if found is None:
            return _answer(result)
        return Inference(
            variables=tuple(found["vars"]),
            thinking_tags=(found["thinking"][0], found["thinking"][1]),
            tool_tag=found["tool_tag"],
            functions=tuple(found["functions"]),
        )

    def text(self, template: str, data: Sequence[Any]) -> list[Answer]:
        """Render plain text/template, without Ollama, on several pieces of JSON data."""
        self.submit(template, data, mode="text")
        return self.answers()

    def marshal(self, values: Sequence[Any]) -> list[Answer]:
        """Return each value as Go's ``encoding/json`` writes it after reading it."""
        self.submit("", values, mode="json")
        return self.answers()

    def measure(
        self, template: str, requests: Sequence[Any], *, seconds: float = 0.002
    ) -> list[Timing | None]:
        """Return how long Go takes for each request, None where it fails."""
        self.submit(template, requests, mode="bench", nanoseconds=int(seconds * 1e9))
        return [Timing(**result["timing"]) if "timing" in result else None for result in self.collect()]


def _encode(question: dict[str, Any]) -> bytes:
    """Return a question as one line; requests that are JSON text already go in as they are."""
    requests = question["requests"]
    head = {key: value for key, value in question.items() if key != "requests"}
    try:
        head["template"].encode()
    except UnicodeEncodeError:
        raw = head.pop("template").encode("utf-8", "surrogateescape")
        head["template_b64"] = base64.b64encode(raw).decode()
    parts = (
        request.replace(b"\n", b" ") if isinstance(request, bytes) else json.dumps(request).encode()
        for request in requests
    )
    return json.dumps(head).encode()[:-1] + b', "requests": [' + b",".join(parts) + b"]}\n"


def _answer(result: dict[str, Any]) -> Answer:
    raw = result.get("output_b64")
    output = result.get("output", "").encode() if raw is None else base64.b64decode(raw)
    raw = result.get("error_b64")
    error = result.get("error") if raw is None else base64.b64decode(raw).decode("utf-8", "surrogateescape")
    stage = result.get("stage")
    return Answer(output, error if stage is None else error or "", stage)
