"""The command line: arguments in, text and an exit status out."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

FINE = 0
NO = 1
"""The question has an answer, and it is no: the templates differ, the template cannot be converted."""
BAD = 2
"""Bad usage or bad input."""
INTERRUPTED = 128 + signal.SIGINT


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command ``transplate`` and exit with its status."""
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
