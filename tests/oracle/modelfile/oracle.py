"""Ollama's Modelfile parser as an oracle: bytes in, its commands or its error out."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from tests.oracle.engines import EngineUnavailable
from tests.oracle.fmt.oracle import FmtOracle

SOURCE = Path(__file__).parent
OLLAMA_VERSION = "0.17.4"

Reading: TypeAlias = list[tuple[str, str]] | str
"""Commands as (name, args), or the text of the error."""


class ModelfileOracle(FmtOracle):
    """The running program.

    Raises:
        EngineUnavailable: It cannot be built (no network for its modules).
    """

    def __init__(self) -> None:
        try:
            super().__init__(SOURCE)
        except subprocess.CalledProcessError as error:
            raise EngineUnavailable(
                f"the Modelfile oracle cannot be built: {error.stderr.decode()}"
            ) from error

    def readings(self, files: Iterable[bytes]) -> Iterator[tuple[bytes, Reading]]:
        """Yield each file with what Ollama reads in it."""
        questions = ({"data": base64.b64encode(data).decode()} for data in files)
        for question, answer in self.answers(questions):
            commands = [(name, args) for name, args in answer.get("commands", ())]
            yield base64.b64decode(question["data"]), answer.get("error", commands)

    def options(self, options: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any] | str]:
        """Yield for parameters as JSON what Ollama reads, where that is not zero, or its error."""
        for _, answer in self.answers({"options": one} for one in options):
            yield answer.get("error") or answer["values"]

    def refusals(self, parameters: Iterable[tuple[str, str]]) -> Iterator[str]:
        """Yield for each name and value of a PARAMETER why Ollama refuses it, empty where it takes it."""
        for _, answer in self.answers({"parameter": list(one)} for one in parameters):
            yield answer.get("error", "")
