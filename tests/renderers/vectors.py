"""What the newest Ollama's renderers printed, and what a host gives the same templates."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

_DATE = re.compile(r"Current date: (\d{4}-\d\d-\d\d)\.")


@dataclass(frozen=True, slots=True)
class Vector:
    """One request and what Ollama made of it.

    Attributes:
        id: Its name.
        renderer: The renderer.
        request: ``messages``, and perhaps ``tools`` and ``think``.
        output: The prompt, None where Ollama refused.
        error: Ollama's error.
    """

    id: str
    renderer: str
    request: dict[str, Any]
    output: str | None
    error: str | None

    @property
    def now(self) -> datetime | None:
        """The day that the prompt was made on, where it tells."""
        found = _DATE.search(self.output or "")
        return datetime.fromisoformat(found[1]) if found else None


def read_vectors(shared: Path) -> Iterator[Vector]:
    """Yield the vectors of the folder with outside data."""
    with gzip.open(shared / "vectors" / "renderers.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            data = json.loads(line)
            yield Vector(data["id"], data["renderer"], data["request"], data.get("output"), data.get("error"))
