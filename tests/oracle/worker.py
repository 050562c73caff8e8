"""A program that answers each line of its standard input with a line, fed and drained by threads."""

from __future__ import annotations

import queue
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path


class LineWorker:
    """One run of such a program; no full pipe can block its user.

    Attributes:
        questions: Lines to be sent; None closes the program's input.
        answers: Lines that came back; None when the program has ended.
    """

    def __init__(self, command: Sequence[str | Path], *, cwd: Path | None = None) -> None:
        self.questions: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the program runs
        self._child = subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
        )
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._feed, self._drain)]
        for thread in self._threads:
            thread.start()

    def _feed(self) -> None:
        stdin = self._child.stdin
        assert stdin is not None
        try:
            while (line := self.questions.get()) is not None:
                stdin.write(line)
                if self.questions.empty():
                    stdin.flush()
            stdin.close()
        except OSError:
            # The program has ended; whoever waits for its answers sees that.
            return

    def _drain(self) -> None:
        stdout = self._child.stdout
        assert stdout is not None
        with stdout:
            for line in stdout:
                self.answers.put(line)
        self.answers.put(None)

    def close(self, *, patience: float = 15.0) -> str:
        """End the program, by force after ``patience`` seconds, and return its standard error."""
        self.questions.put(None)
        try:
            self._child.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        for thread in self._threads:
            thread.join(timeout=5)
        self._errors.seek(0)
        said = self._errors.read().decode("utf-8", "replace")
        self._errors.close()
        return said
