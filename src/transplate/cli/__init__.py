"""The command line: arguments in, text and an exit status out."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

FINE = 0
NO = 1
"""The question has an answer, and it is no: the templates differ, the template cannot be converted."""
BAD = 2
"""Bad usage or bad input."""
INTERRUPTED = 128 + signal.SIGINT


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command ``transplate`` and exit with its status."""
    _open_streams()
    # So that what is half-written is taken away again.
    signal.signal(signal.SIGTERM, _end)
    if hasattr(signal, "SIGPIPE"):
        # A reader that went away ends the program as it ends other filters, without a word.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        from transplate.cli.commands import run

        status = run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        status = INTERRUPTED
    sys.exit(status)


def _end(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)


def _open_streams() -> None:
    """Open what the caller closed: standard error leads nowhere, standard output fails when it is used."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - as long as the process
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
