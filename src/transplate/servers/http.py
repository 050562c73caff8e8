"""Asks a server: a path and JSON in, status and JSON of the answer out, in bounded time and size."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from transplate.errors import TransplateError

SCHEMES = ("http://", "https://")
"""How the address of a server begins."""
TIMEOUT = 10.0
"""Seconds that a server has for its whole answer."""
_LARGEST = 64 * 1024 * 1024
_CHUNK = 64 * 1024
_LOCAL = ("localhost", "127.0.0.1", "::1")
_FINE = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered.

    Attributes:
        status: The status of HTTP.
        data: The JSON, None where it is none.
    """

    status: int
    data: Any

    @property
    def is_fine(self) -> bool:
        """Whether the server did what it was asked for."""
        return self.status == _FINE

    @property
    def error(self) -> str:
        """Why it did not, in the words of Ollama or of llama-server."""
        said = self.data.get("error") if isinstance(self.data, dict) else None
        if isinstance(said, dict):
            said = said.get("message")
        return said if isinstance(said, str) else f"status {self.status}"


def ask(base: str, path: str, body: Any = None, *, timeout: float | None = None) -> Answer:
    """Return what a server answers.

    Args:
        base: The address of the server.
        path: What is asked for, from ``/``.
        body: JSON to send; a GET without it.
        timeout: Seconds until the whole answer has to be there; :data:`TIMEOUT` if None.

    Raises:
        TransplateError: There is no server, or no whole answer in time, or it is too large.
    """
    # Imported here: Python's HTTP client takes longer to load than most templates take to render.
    import http.client
    import urllib.error
    import urllib.request

    seconds = TIMEOUT if timeout is None else timeout
    late = TransplateError(f"{base}: no whole answer within {seconds:g} seconds")
    data = None if body is None else json.dumps(body).encode()
    deadline = time.monotonic() + seconds
    try:
        # A proxy has no business between a machine and itself.
        proxies = [urllib.request.ProxyHandler({})] if urlsplit(base).hostname in _LOCAL else []
        request = urllib.request.Request(  # noqa: S310 - the address is the user's, and http or https
            f"{base}{path}", data=data, headers={"Content-Type": "application/json"}
        )
        try:
            response = urllib.request.build_opener(*proxies).open(request, timeout=seconds)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            text = b""
            while chunk := response.read1(_CHUNK):
                text += chunk
                if len(text) > _LARGEST:
                    raise TransplateError(f"{base}: the answer is larger than {_LARGEST} bytes")
                if time.monotonic() > deadline:
                    raise late
            status = response.status
    except TimeoutError as error:
        raise late from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, TimeoutError):
            raise late from error
        raise TransplateError(f"{base}: no answer: {reason}") from error
    try:
        return Answer(status, json.loads(text))
    except (ValueError, RecursionError):
        return Answer(status, None)
