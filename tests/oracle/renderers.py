"""Ollama's built-in renderers as an oracle: requests in, what real Ollama's own code prints of them out."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.oracle.ollama import build_program
from tests.oracle.worker import LineWorker

NAMES = (
    "qwen3-coder",
    "qwen3-vl-instruct",
    "qwen3-vl-thinking",
    "qwen3.5",
    "cogito",
    "deepseek3.1",
    "olmo3",
    "olmo3.1",
    "olmo3-think",
    "olmo3-32b-think",
    "nemotron-3-nano",
    "functiongemma",
    "glm-4.7",
    "glm-ocr",
    "lfm2",
    "lfm2-thinking",
)
"""The renderers that the oracle's version of Ollama has."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What a renderer made of a request: the prompt, or the text of its error."""

    output: str | None = None
    error: str | None = None


class RendererOracle:
    """The running oracle. Not for use by several threads at once."""

    def __init__(self) -> None:
        """Build the program if need be and start it.

        Raises:
            EngineUnavailable: It cannot be built.
        """
        self._worker = LineWorker([build_program("./renderers", name="renderers")])

    def close(self) -> None:
        """End the oracle's process."""
        self._worker.close()

    def render(self, renderer: str, request: dict[str, Any], *, image_tags: bool = False) -> Printed:
        """Return what a renderer makes of a request.

        Args:
            renderer: The renderer's name.
            request: ``messages``, and perhaps ``tools`` and ``think``, as in a body of /api/chat.
            image_tags: Whether images are Ollama's numbered tags, as its server has them.
        """
        return next(self.render_many([(renderer, request, image_tags)]))

    def render_many(
        self, questions: Iterable[tuple[str, dict[str, Any], bool]], *, ahead: int = 200
    ) -> Iterator[Printed]:
        """Answer any number of (renderer, request, image_tags), working ``ahead`` questions in advance."""
        waiting: deque[None] = deque()
        for renderer, request, image_tags in questions:
            question = {"renderer": renderer, "image_tags": image_tags, **request}
            self._worker.questions.put(json.dumps(question).encode() + b"\n")
            waiting.append(None)
            if len(waiting) >= ahead:
                waiting.popleft()
                yield self._answer()
        for _ in waiting:
            yield self._answer()

    def _answer(self) -> Printed:
        line = self._worker.answers.get()
        if line is None:
            raise RuntimeError(f"the oracle ended: {self._worker.close()}")
        answer = json.loads(line)
        error = answer.get("error")
        return Printed(error=error) if error else Printed(output=answer["output"])
