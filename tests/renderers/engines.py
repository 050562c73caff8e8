"""The renderers' templates in the real Jinja engines, on the vectors, as hosts give them conversations.

``python -m tests.renderers.engines [--engines node,minijinja] [--renderers qwen3.5] [--every 1]``
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.oracle.engines import Engine, NodeEngine, Rendered
from tests.oracle.llama import LlamaEngine
from tests.portability import hosts
from tests.portability.__main__ import ENGINES
from tests.renderers.vectors import Vector, read_vectors
from transplate import Conversation, RequestError
from transplate.renderers import template_text

REPOSITORY = Path(__file__).parents[2]


def host_context(vector: Vector) -> dict[str, Any]:
    """Return what a host gives a chat template of a request: the table of ``docs/conversations.md``.

    Raises:
        RequestError: It is no conversation that a host takes.
    """
    arguments = Conversation.read(vector.request).to_hf()
    return {
        "messages": arguments["messages"],
        "tools": arguments["tools"],
        "add_generation_prompt": arguments["add_generation_prompt"],
        **arguments["variables"],
    }


@dataclass
class Outcome:
    """What a run gave, by engine and renderer.

    Attributes:
        equal: Number of vectors that came out equal.
        left_out: Number of vectors that say nothing, by engine and reason.
        differences: The others, with what came out.
    """

    equal: Counter[tuple[str, str]] = field(default_factory=Counter)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    differences: list[tuple[str, Vector, Rendered]] = field(default_factory=list)

    def compare(self, engine: Engine, vectors: Iterable[Vector]) -> None:
        """Render some vectors in an engine."""
        for vector in vectors:
            text = template_text(vector.renderer)
            try:
                context = host_context(vector)
            except RequestError as error:
                self.left_out[engine.name, f"is no conversation: {error.message}"] += 1
                continue
            if isinstance(engine, LlamaEngine):
                context = _for_openai(context)
            rendered = engine.render(
                text, context, now=None if isinstance(engine, LlamaEngine) else vector.now
            )
            if _is_equal(vector, rendered):
                self.equal[engine.name, vector.renderer] += 1
                continue
            reason = hosts.refuses(engine, rendered) or _changes(engine, text, context)
            if reason is not None:
                self.left_out[engine.name, reason] += 1
            else:
                self.differences.append((engine.name, vector, rendered))


def _is_equal(vector: Vector, rendered: Rendered) -> bool:
    if vector.error is not None:
        return rendered.error is not None and vector.error in rendered.error
    return rendered.text == vector.output


def _for_openai(context: dict[str, Any]) -> dict[str, Any]:
    """Return a conversation as OpenAI's API has it, where every message has a content."""
    messages = [{**message, "content": message.get("content", "")} for message in context["messages"]]
    return {**context, "messages": messages}


def _changes(engine: Engine, template: str, context: dict[str, Any]) -> str | None:
    """Return how a host changes a conversation before the template sees it; None if it does not."""
    if isinstance(engine, NodeEngine) and _is_reordered([context["messages"], context["tools"]]):
        return "JavaScript moves keys that look like integers to the front"
    if isinstance(engine, LlamaEngine):
        if any(isinstance(message["content"], list) for message in context["messages"]):
            return "llama-server needs a model for images"
        if "enable_thinking" not in context and "enable_thinking" in template:
            return "llama-server always says whether to think"
        if any("type" not in tool for tool in context["tools"] or ()):
            return "llama-server refuses a tool without a type"
        if _has_long_number([context["messages"], context["tools"]]):
            return "llama-server has numbers of more than 15 digits or very small ones in another way"
    return hosts.changes(engine, template, context)


def _has_long_number(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_long_number, value))
    if isinstance(value, dict):
        return any(map(_has_long_number, value.values()))
    if isinstance(value, bool) or not isinstance(value, int | float) or value == 0:
        return False
    return float(f"{value:.15g}") != value or not 1e-14 < abs(value) < 1e30


def _is_reordered(value: Any) -> bool:
    """Return whether JavaScript has the keys of some object in another order."""
    if isinstance(value, list):
        return any(map(_is_reordered, value))
    if not isinstance(value, dict):
        return False
    indices = [key for key in value if key.isdecimal() and str(int(key)) == key]
    first = [*sorted(indices, key=int), *(key for key in value if key not in indices)]
    return list(value) != first or any(map(_is_reordered, value.values()))


def shared_data() -> Path:
    """Return the folder with outside data."""
    return Path(os.environ.get("TRANSPLATE_SHARED") or REPOSITORY.parent / "shared")


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; the exit status is 1 if anything differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--renderers", default="")
    parser.add_argument("--every", type=int, default=1, help="take each so-manyth vector")
    parser.add_argument("--show", type=int, default=3)
    options = parser.parse_args(arguments)
    wanted = set(filter(None, options.renderers.split(",")))
    vectors = [v for v in read_vectors(shared_data()) if not wanted or v.renderer in wanted][:: options.every]
    outcome = Outcome()
    for name in options.engines.split(","):
        engine = ENGINES[name]()
        outcome.compare(engine, vectors)
        engine.close()
        equal = sum(number for (one, _), number in outcome.equal.items() if one == engine.name)
        differing = [found for found in outcome.differences if found[0] == engine.name]
        print(
            f"{engine.name} {getattr(engine, 'version', '')}: {equal} equal, {len(differing)} differ",
            flush=True,
        )
        for (one, reason), number in outcome.left_out.items():
            if one == engine.name:
                print(f"  {number} left out: {reason}")
        by_renderer = Counter(vector.renderer for _, vector, _ in differing)
        if by_renderer:
            print(f"  differing: {dict(by_renderer)}")
        for _, vector, rendered in differing[: options.show]:
            print(_shown(vector, rendered))
    return 1 if outcome.differences else 0


def _shown(vector: Vector, rendered: Rendered) -> str:
    wanted, got = vector.output or "", rendered.text or ""
    pairs = enumerate(zip(wanted, got, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), min(len(wanted), len(got)))
    start = max(0, at - 60)
    return (
        f"  {vector.id}, from character {start}: {rendered.error or ''}\n"
        f"    Ollama {vector.error or repr(wanted[start : at + 60])}\n    engine {got[start : at + 60]!r}"
    )


if __name__ == "__main__":
    sys.exit(main())
