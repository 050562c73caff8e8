"""Go's template parser as an oracle: what it refuses, and the nodes that it makes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.oracle.engines import EngineUnavailable
from tests.oracle.fmt.oracle import FmtOracle, build_program

SOURCE = Path(__file__).parent


class ParseOracle(FmtOracle):
    """The running program; :meth:`answers` takes questions ``{"template"}``."""

    def __init__(self) -> None:
        super().__init__(SOURCE)


def letters() -> list[int]:
    """Return where, beyond ASCII, Go's letters and digits begin and end, in turns."""
    printed = subprocess.run([build_program(SOURCE), "letters"], check=True, capture_output=True, text=True)
    return [int(turn, 16) for turn in printed.stdout.split()]


def go_tables(path: str) -> dict[str, list[list[Any]]]:
    """Return the tables of literals in a file of Go's own sources, by the name of the variable.

    A name in a table, such as ``true``, is ``{"name": "true"}``.

    Args:
        path: The file, in ``src`` of GOROOT.

    Raises:
        EngineUnavailable: There is no Go, or it came without its sources.
    """
    go = shutil.which("go")
    if go is None:
        raise EngineUnavailable("go is not installed")
    root = subprocess.run([go, "env", "GOROOT"], check=True, capture_output=True, text=True).stdout.strip()
    file = Path(root) / "src" / path
    if not file.exists():
        raise EngineUnavailable(f"{file} is not there")
    printed = subprocess.run(
        [build_program(SOURCE), "tables", file], check=True, capture_output=True, text=True
    )
    tables: dict[str, list[list[Any]]] = json.loads(printed.stdout)
    return tables
