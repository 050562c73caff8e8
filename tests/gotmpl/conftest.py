"""The oracle for printing, where Go is installed."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.oracle.engines import EngineUnavailable
from tests.oracle.fmt.oracle import FmtOracle


@pytest.fixture(scope="session")
def fmt_oracle() -> Iterator[FmtOracle]:
    """Go's fmt, encoding/json and escaping."""
    try:
        oracle = FmtOracle()
    except EngineUnavailable as reason:
        if os.environ.get("TRANSPLATE_REQUIRE_ORACLE") == "1":
            pytest.fail(f"required by TRANSPLATE_REQUIRE_ORACLE: {reason}", pytrace=False)
        pytest.skip(str(reason))
    yield oracle
    oracle.close()
