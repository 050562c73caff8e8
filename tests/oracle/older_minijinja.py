"""minijinja 2.14, which hosts written in Rust still have, beside the newer one: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

from tests.oracle.engines import EngineUnavailable, MinijinjaEngine, ProcessEngine
from tests.oracle.ollama import cache_folder

VERSION = "2.14.0"
_REPOSITORY = Path(__file__).parents[2]


class OlderMinijinjaEngine(ProcessEngine):
    """minijinja 2.14 with the options of :class:`~tests.oracle.engines.MinijinjaEngine`."""

    name = "minijinja 2.14"
    version = VERSION

    def __init__(self, *, seconds: float = 60.0) -> None:
        """Install it into a folder of its own if need be and start the process.

        Raises:
            EngineUnavailable: It cannot be installed.
        """
        # The folder goes first on the path, so that it is this version that the process imports.
        path = [str(_installed()), str(_REPOSITORY)]
        start = f"import sys; sys.path[:0] = {path!r}; from {__name__} import main; main()"
        super().__init__((sys.executable, "-c", start), seconds=seconds)


def _installed() -> Path:
    """Return the folder with the package; it is installed the first time."""
    folder = cache_folder() / f"minijinja-{VERSION}"
    if (folder / "minijinja").is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        target = Path(work) / "packages"
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--only-binary", ":all:"]
        done = subprocess.run(
            [*command, "--target", target, f"minijinja=={VERSION}"],
            env=environment,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise EngineUnavailable(f"minijinja {VERSION} cannot be installed: {done.stderr.strip()[-500:]}")
        try:
            target.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was quicker
                raise
    return folder


def main() -> None:
    """Answer the questions of the standard input until it ends."""
    engine = MinijinjaEngine()
    if engine.version != VERSION:
        raise SystemExit(f"minijinja {engine.version} was imported in place of {VERSION}")
    for line in sys.stdin.buffer:
        question = json.loads(line)
        now = question.get("now")
        rendered = engine.render(
            question["template"], question["context"], now=datetime.fromisoformat(now) if now else None
        )
        answer = {"text": rendered.text} if rendered.error is None else {"error": rendered.error}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
