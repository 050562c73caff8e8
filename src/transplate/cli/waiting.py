"""A line on a terminal that says what is going on, where nobody can say how far it is."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_AFTER, _EVERY = 1.0, 0.5


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show what is going on, and for how many seconds, until it is done.

    It is shown where standard error is a terminal and it takes longer than a second, and leaves no trace.

    Args:
        what: What is going on.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(what, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(what: str, done: threading.Event) -> None:
    started = time.monotonic()
    if done.wait(_AFTER):
        return
    try:
        while True:
            sys.stderr.write(f"\r{what} ({time.monotonic() - started:.0f} s)")
            sys.stderr.flush()
            if done.wait(_EVERY):
                break
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
    except OSError:
        return  # which the command itself will find out
