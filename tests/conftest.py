"""Fixtures that start the real engines; a missing one skips, or fails where it is required."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

import pytest

from tests.oracle.engines import EngineUnavailable, MinijinjaEngine, NodeEngine, TransformersEngine
from tests.oracle.llama import LlamaEngine
from tests.oracle.modelfile.oracle import ModelfileOracle
from tests.oracle.older_minijinja import OlderMinijinjaEngine
from tests.oracle.ollama import GoOracle
from tests.oracle.server.oracle import OllamaServer

REPOSITORY = Path(__file__).parent.parent


class _Closable(Protocol):
    def close(self) -> None: ...


Running = TypeVar("Running", bound=_Closable)


def _started(start: Callable[[], Running]) -> Iterator[Running]:
    missing = ""
    try:
        engine = start()
    except EngineUnavailable as reason:
        missing = str(reason)
    if missing and os.environ.get("TRANSPLATE_REQUIRE_ORACLE") == "1":
        pytest.fail(f"required by TRANSPLATE_REQUIRE_ORACLE: {missing}", pytrace=False)
    if missing:
        pytest.skip(missing)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def go_oracle() -> Iterator[GoOracle]:
    """Real Ollama and Go."""
    yield from _started(GoOracle)


@pytest.fixture(scope="session")
def ollama_server() -> Iterator[OllamaServer]:
    """A real Ollama server."""
    yield from _started(OllamaServer)


@pytest.fixture(scope="session")
def modelfile_oracle() -> Iterator[ModelfileOracle]:
    yield from _started(ModelfileOracle)


@pytest.fixture(scope="session")
def node_engine() -> Iterator[NodeEngine]:
    """The real @huggingface/jinja."""
    yield from _started(NodeEngine)


@pytest.fixture(scope="session")
def minijinja_engine() -> Iterator[MinijinjaEngine]:
    """The real minijinja."""
    yield from _started(MinijinjaEngine)


@pytest.fixture(scope="session")
def older_minijinja_engine() -> Iterator[OlderMinijinjaEngine]:
    """The real minijinja 2.14."""
    yield from _started(OlderMinijinjaEngine)


@pytest.fixture(scope="session")
def llama_engine() -> Iterator[LlamaEngine]:
    """The real llama-server."""
    yield from _started(LlamaEngine)


@pytest.fixture(scope="session")
def transformers_engine() -> Iterator[TransformersEngine]:
    """The real transformers."""
    yield from _started(TransformersEngine)


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder with outside data (corpus, vectors), which the repository does not hold."""
    folder = Path(os.environ.get("TRANSPLATE_SHARED") or REPOSITORY.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"no folder with shared data at {folder} (TRANSPLATE_SHARED names another)")
    return folder
