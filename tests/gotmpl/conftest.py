"""The oracles for printing and for syntax, where Go is installed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from tests.oracle.engines import EngineUnavailable
from tests.oracle.fmt.oracle import FmtOracle
from tests.oracle.parse.oracle import ParseOracle

Oracle = TypeVar("Oracle", bound=FmtOracle)


def _started(start: Callable[[], Oracle]) -> Iterator[Oracle]:
    try:
        oracle = start()
    except EngineUnavailable as reason:
        if os.environ.get("TRANSPLATE_REQUIRE_ORACLE") == "1":
            pytest.fail(f"required by TRANSPLATE_REQUIRE_ORACLE: {reason}", pytrace=False)
        pytest.skip(str(reason))
    yield oracle
    oracle.close()


@pytest.fixture(scope="session")
def fmt_oracle() -> Iterator[FmtOracle]:
    """Go's fmt, encoding/json and escaping."""
    yield from _started(FmtOracle)


@pytest.fixture(scope="session")
def parse_oracle() -> Iterator[ParseOracle]:
    """Go's template parser."""
    yield from _started(ParseOracle)
