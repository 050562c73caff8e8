"""The real Jinja engines behind one interface: transformers, @huggingface/jinja and minijinja."""

from __future__ import annotations

import importlib.util
import json
import queue
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from tests.oracle.worker import LineWorker

_HFJS = Path(__file__).parent / "hfjs"


class EngineUnavailable(Exception):
    """A real engine that cannot be run here; the text says why."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a Jinja engine made of a template: its text, or the text of its error."""

    text: str | None = None
    error: str | None = None


class Engine(Protocol):
    """A real Jinja engine."""

    name: str

    def render(self, template: str, context: Mapping[str, Any], *, now: datetime | None = None) -> Rendered:
        """Render a template on a context that is JSON data; ``now`` fixes the engine's clock."""
        ...

    def close(self) -> None:
        """End what runs in the background."""
        ...


def _require(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise EngineUnavailable(f"the Python package {package} is not installed")


class TransformersEngine:
    """transformers' own compiled template, and ``apply_chat_template`` around it."""

    name = "transformers"

    def __init__(self) -> None:
        """Import transformers.

        Raises:
            EngineUnavailable: It is not installed.
        """
        _require("transformers")
        from transformers.tokenization_utils_base import PreTrainedTokenizerBase
        from transformers.utils import chat_template_utils

        self.version = version("transformers")
        self._utils: Any = chat_template_utils
        self._tokenizer_class: Any = PreTrainedTokenizerBase

    def render(self, template: str, context: Mapping[str, Any], *, now: datetime | None = None) -> Rendered:
        """Render with the template as transformers compiles it, without what it does to messages."""
        return self._at(now, lambda: self.compile(template).render(**context))

    def compile(self, template: str) -> Any:
        """Return a template as transformers compiles and keeps it."""
        return self._utils._compile_jinja_template(template)

    def compile_afresh(self, template: str) -> Any:
        """Compile a template as transformers does when it has not met it before."""
        return self._utils._cached_compile_jinja_template(template)

    def apply_chat_template(
        self,
        template: str,
        messages: Sequence[Any],
        tools: Sequence[Any] | None = None,
        *,
        special_tokens: Mapping[str, str] | None = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
        variables: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> Rendered:
        """Return ``tokenizer.apply_chat_template(..., tokenize=False)`` of a tokenizer without a model."""
        return self._at(
            now,
            lambda: self._tokenizer_class(**(special_tokens or {})).apply_chat_template(
                messages,
                tools=tools,
                chat_template=template,
                tokenize=False,
                add_generation_prompt=add_generation_prompt,
                continue_final_message=continue_final_message,
                **(variables or {}),
            ),
        )

    def _at(self, now: datetime | None, render: Any) -> Rendered:
        real = self._utils.datetime
        if now is not None:
            self._utils.datetime = _clock(now)
        try:
            return Rendered(text=render())
        except Exception as error:
            return Rendered(error=str(error))
        finally:
            self._utils.datetime = real

    def close(self) -> None:
        """Do nothing: the engine runs in this process."""


@lru_cache(maxsize=16)
def _clock(fixed: datetime) -> type[datetime]:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return fixed if tz is None else fixed.astimezone(tz)

    return Clock


class HostedTransformersEngine(TransformersEngine):
    """transformers' ``apply_chat_template``, which changes messages before the template sees them."""

    name = "apply_chat_template"

    def render(self, template: str, context: Mapping[str, Any], *, now: datetime | None = None) -> Rendered:
        """Render as the tokenizer does, with what is no parameter of it as a variable of the template."""
        parameters = dict(context)
        return self.apply_chat_template(
            template,
            parameters.pop("messages"),
            parameters.pop("tools", None),
            special_tokens={
                name: parameters.pop(name) for name in ("bos_token", "eos_token") if name in context
            },
            add_generation_prompt=parameters.pop("add_generation_prompt", False),
            variables=parameters,
            now=now,
        )


class MinijinjaEngine:
    """minijinja with the options that Rust hosts of chat templates use: Python's methods, trimmed blocks."""

    name = "minijinja"

    def __init__(self, *, trims: bool = True) -> None:
        """Import minijinja.

        Args:
            trims: Whether white space around blocks is trimmed, as all hosts but one do.

        Raises:
            EngineUnavailable: It is not installed.
        """
        _require("minijinja")
        import minijinja

        self.version = version("minijinja")
        if not trims:
            self.name += ", not trimming"
        self._now: datetime | None = None
        self._environment = minijinja.Environment(
            trim_blocks=trims,
            lstrip_blocks=trims,
            pycompat=True,
            auto_escape_callback=lambda _: False,
            globals={"raise_exception": _raise_exception, "strftime_now": self._strftime_now},
        )

    def _strftime_now(self, layout: str) -> str:
        return (self._now or datetime.now()).strftime(layout)

    def render(self, template: str, context: Mapping[str, Any], *, now: datetime | None = None) -> Rendered:
        """Render a template on a context."""
        self._now = now
        try:
            return Rendered(text=self._environment.render_str(template, **context))
        except Exception as error:
            return Rendered(error=str(error))

    def close(self) -> None:
        """Do nothing: the engine runs in this process."""


def _raise_exception(message: str) -> None:
    raise ValueError(message)


class ProcessEngine:
    """An engine in a process of its own, which answers lines ``{template, context, now}``."""

    name: str

    def __init__(self, command: Sequence[str | Path], *, seconds: float) -> None:
        """Start the process.

        Args:
            command: The program and its arguments.
            seconds: Time that one rendering may take before it counts as an error.
        """
        self._command = command
        self._seconds = seconds
        self._worker = LineWorker(command)

    def render(self, template: str, context: Mapping[str, Any], *, now: datetime | None = None) -> Rendered:
        """Render a template on a context."""
        question: dict[str, Any] = {"template": template, "context": context}
        if now is not None:
            question["now"] = now.isoformat()
        self._worker.questions.put(json.dumps(question).encode() + b"\n")
        try:
            line = self._worker.answers.get(timeout=self._seconds)
        except queue.Empty:
            line = None
        if line is None:
            said = self._worker.close(patience=0.1)
            self._worker = LineWorker(self._command)
            return Rendered(error=said.strip() or f"no answer within {self._seconds:.0f} seconds")
        return Rendered(**json.loads(line))

    def close(self) -> None:
        """End the process."""
        self._worker.close()


class NodeEngine(ProcessEngine):
    """@huggingface/jinja in a Node process."""

    name = "@huggingface/jinja"

    def __init__(self, *, seconds: float = 60.0) -> None:
        """Install the locked packages if need be and start Node.

        Raises:
            EngineUnavailable: There is no Node, or the packages cannot be installed.
        """
        node = shutil.which("node")
        if node is None:
            raise EngineUnavailable("Node is not installed")
        _install_node_packages()
        self.version = json.loads((_HFJS / "package.json").read_text())["dependencies"][self.name]
        super().__init__((node, _HFJS / "worker.js"), seconds=seconds)


def _install_node_packages() -> None:
    wanted = json.loads((_HFJS / "package-lock.json").read_text())["packages"][
        "node_modules/@huggingface/jinja"
    ]
    installed = _HFJS / "node_modules" / "@huggingface" / "jinja" / "package.json"
    if installed.exists() and json.loads(installed.read_text())["version"] == wanted["version"]:
        return
    npm = shutil.which("npm")
    if npm is None:
        raise EngineUnavailable("npm is not installed")
    done = subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=_HFJS, capture_output=True, text=True)
    if done.returncode:
        raise EngineUnavailable(f"npm ci failed: {done.stderr.strip()[-2000:]}")
