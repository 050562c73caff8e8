"""A real Ollama server on loopback, with a store of its own in a temporary folder."""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.oracle.engines import EngineUnavailable
from tests.oracle.llama import write_tiny_model
from tests.oracle.server.build import program

_START_SECONDS = 30.0
_ANSWER_SECONDS = 60.0


class ServerRefusal(Exception):
    """What the server, or ``ollama create``, said when it refused."""


class OllamaServer:
    """The running server.

    Attributes:
        url: Its address.
        store: The folder with its models, as OLLAMA_MODELS names it.
        weights: A GGUF without a chat template that it loads in no time.
    """

    def __init__(self) -> None:
        """Start it.

        Raises:
            EngineUnavailable: It is not built, or does not start.
        """
        if importlib.util.find_spec("gguf") is None:
            raise EngineUnavailable("the Python package gguf is not installed")
        self._program = program(build=False)
        self._folder = tempfile.TemporaryDirectory(prefix="transplate-ollama-")
        root = Path(self._folder.name)
        self.store = root / "models"
        self.weights = root / "tiny.gguf"
        write_tiny_model(self.weights)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        self.url = f"http://{address}"
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("OLLAMA_")},
            "HOME": str(root),
            "OLLAMA_HOST": address,
            "OLLAMA_MODELS": str(self.store),
            "OLLAMA_MAX_LOADED_MODELS": "1",
            "OLLAMA_CONTEXT_LENGTH": "512",
            "NO_PROXY": "127.0.0.1",
        }
        self._log = root / "log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [self._program, "serve"], env=self._environment, stdout=log, stderr=log
            )
        atexit.register(self.close)
        self._wait()

    def create(self, name: str, modelfile: str | Path) -> None:
        """Make a model, as a user does, by ``ollama create``.

        Args:
            name: The model's name.
            modelfile: The Modelfile's path, or its text, in which ``./tiny.gguf`` is :attr:`weights`.

        Raises:
            ServerRefusal: Ollama refuses it.
        """
        if isinstance(modelfile, str):
            path = Path(self._folder.name) / "Modelfile"
            path.write_bytes(modelfile.encode())
        else:
            path = modelfile
        command = [self._program, "create", name, "-f", str(path)]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True)
        if done.returncode:
            raise ServerRefusal(done.stderr.strip().splitlines()[-1])

    def show(self, name: str) -> dict[str, Any]:
        """Return what ``/api/show`` says of a model."""
        return self.post("/api/show", {"model": name})

    def prompt(self, name: str, request: Mapping[str, Any]) -> str:
        """Return the prompt that the server builds of a request to ``/api/chat``, or to ``/api/generate``.

        Raises:
            ServerRefusal: It refuses the request.
        """
        path = "/api/chat" if "messages" in request else "/api/generate"
        options = {"stream": False, "truncate": False, "_debug_render_only": True}
        answer = self.post(path, {"model": name, **options, **request})
        prompt: str = answer["_debug_info"]["rendered_template"]
        return prompt

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request.

        Raises:
            ServerRefusal: The answer is an error.
        """
        request = urllib.request.Request(self.url + path, json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=_ANSWER_SECONDS) as answer:
                # A stream's last line is what counts.
                found: dict[str, Any] = json.loads(answer.read().strip().splitlines()[-1])
        except urllib.error.HTTPError as error:
            raise ServerRefusal(json.loads(error.read())["error"]) from error
        if "error" in found:
            raise ServerRefusal(found["error"])
        return found

    def close(self) -> None:
        """End the server."""
        atexit.unregister(self.close)
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                with opener.open(f"{self.url}/api/version", timeout=_ANSWER_SECONDS):
                    return
            except OSError:
                time.sleep(0.05)
        said = self._log.read_text(errors="replace").strip()[-1500:]
        self.close()
        raise EngineUnavailable(f"the Ollama server does not start: {said}")
