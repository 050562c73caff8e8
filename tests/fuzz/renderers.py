"""Fuzzing of the renderers' templates against Ollama's own renderers, with failing cases made small.

``python -m tests.fuzz.renderers --cases 20000 --seed 1``
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.fuzz.conversations import Conversations
from tests.fuzz.shrinking import shrink
from tests.oracle.ollama import OLLAMA_VERSION
from tests.oracle.renderers import NAMES, Printed, RendererOracle
from transplate import TransplateError
from transplate.renderers import Renderer

Case = tuple[str, dict[str, Any], bool]
"""A renderer, a request to it, and whether images are Ollama's tags."""

_MARKS = (
    *("<think>", "</think>", "<think>inner</think>", "a</think>\n\nb", "<tool_response>", "</tool_response>"),
    *("<tool_response>x</tool_response>", "[img]", "[img-0]", "[img][img]", "<image>", "/nothink", "/think"),
    *(
        "/no_think",
        "<|tool_call_start|>",
        "<|tool_response_start|>",
        "\u3000 wide \u2003",
        " \u0085 ",
        "\n\n",
    ),
    *(
        "You can do function calling with the following functions:",
        "\ufeff",
        "\x1c",
        " \x1f",
        "\n",
        "\xa0x\xa0",
    ),
)


class RendererConversations(Conversations):
    """Conversations with what renderers look for in texts, and with more images."""

    def text(self, *, most: int = 8) -> str:
        """Return a text, often with a mark of some renderer at an end of it or alone."""
        kind = self.rng.random()
        if kind < 0.75:
            return super().text(most=most)
        mark = self.rng.choice(_MARKS)
        return mark if kind < 0.85 else mark + super().text() if kind < 0.92 else super().text() + mark

    def message(self, role: str) -> dict[str, Any]:
        """Return one message of a role."""
        made = super().message(role)
        if self.rng.random() < 0.08:
            made["images"] = ["aGk="] * self.rng.randint(1, 3)
        return made

    def case(self) -> Case:
        """Return a renderer and a request to it."""
        rng = self.rng
        request: dict[str, Any] = {"messages": self.messages()}
        if rng.random() < 0.5:
            request["tools"] = [self.tool() for _ in range(rng.randrange(4))]
        if rng.random() < 0.6:
            request["think"] = rng.choice((True, False, "high", "medium", "low"))
        return rng.choice(NAMES), request, rng.random() < 0.5


def is_ordered(renderer: str, request: dict[str, Any]) -> bool:
    """Return whether what real Ollama prints of a request is the same in every run.

    ``qwen3-coder`` prints the less usual fields of a schema in the order of a Go map, which is random.
    """
    if renderer != "qwen3-coder":
        return True
    for tool in request.get("tools") or ():
        parameters = tool["function"].get("parameters") or {}
        if _count(parameters, ("$defs", "items", "required")) > 1:
            return False
        for found in (parameters.get("properties") or {}).values():
            if _count(found, ("anyOf", "enum", "items")) + ("properties" in found) > 1:
                return False
    return True


def _count(schema: dict[str, Any], names: Sequence[str]) -> int:
    return sum(1 for name in names if schema.get(name) is not None)


@dataclass
class Outcome:
    """What a run gave.

    Attributes:
        cases: Number of cases by renderer.
        failing: Those of them that both sides refuse.
        left_out: Cases left out because Ollama prints them in random order.
        differences: The others.
    """

    cases: Counter[str] = field(default_factory=Counter)
    failing: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    differences: list[tuple[Case, Printed, Printed]] = field(default_factory=list)


class Comparison:
    """Our renderers beside Ollama's."""

    def __init__(self) -> None:
        """Start the oracle.

        Raises:
            EngineUnavailable: It cannot be built.
        """
        self.oracle = RendererOracle()
        self._ours = {name: Renderer(name, ollama=OLLAMA_VERSION) for name in NAMES}

    def close(self) -> None:
        """End the oracle."""
        self.oracle.close()

    def ours(self, case: Case) -> Printed:
        """Return what our renderer makes of a case."""
        name, request, image_tags = case
        try:
            output = self._ours[name].render(
                request.get("messages") or [],
                request.get("tools"),
                think=request.get("think"),
                image_tags=image_tags,
            )
        except TransplateError as error:
            return Printed(error=error.message)
        return Printed(output=output)

    def run(self, cases: int, seed: int) -> Outcome:
        """Compare a number of fresh cases."""
        outcome = Outcome()
        asked: list[Case] = []

        def questions() -> Iterator[Case]:
            conversations = RendererConversations(Random(seed))
            while len(asked) < cases:
                case = conversations.case()
                if not is_ordered(case[0], case[1]):
                    outcome.left_out += 1
                    continue
                asked.append(case)
                yield case

        for number, real in enumerate(self.oracle.render_many(questions())):
            case = asked[number]
            ours = self.ours(case)
            outcome.cases[case[0]] += 1
            if real.error is not None and ours.error is not None:
                outcome.failing[case[0]] += 1
            elif ours != real:
                outcome.differences.append((case, real, ours))
        return outcome

    def shrunk(self, case: Case) -> Case:
        """Return a smaller case that differs, too."""
        name, request, image_tags = case

        def differs(_: str, smaller: Any) -> bool:
            try:
                if not is_ordered(name, smaller):
                    return False
            except (AttributeError, KeyError, TypeError):
                return False
            real = self.oracle.render(name, smaller, image_tags=image_tags)
            ours = self.ours((name, smaller, image_tags))
            return ours != real and real.error is None

        return name, shrink("", request, differs)[1], image_tags


def main(arguments: list[str] | None = None) -> int:
    """Run the fuzzer and return 1 if there are differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=3)
    options = parser.parse_args(arguments)
    comparison = Comparison()
    begin = time.monotonic()
    outcome = comparison.run(options.cases, options.seed)
    seconds = time.monotonic() - begin
    failing = sum(outcome.failing.values())
    print(
        f"{sum(outcome.cases.values())} cases with {len(outcome.cases)} renderers, seed {options.seed}:"
        f" {len(outcome.differences)} differences, {failing} refused by both,"
        f" {outcome.left_out} left out (random order in Ollama), {seconds:.0f} s"
    )
    for case, _, _ in outcome.differences[: options.show]:
        name, request, image_tags = comparison.shrunk(case)
        real = comparison.oracle.render(name, request, image_tags=image_tags)
        ours = comparison.ours((name, request, image_tags))
        print(f"{name}, image_tags={image_tags}: {json.dumps(request)}\n  Ollama {real}\n  ours   {ours}")
    comparison.close()
    return 1 if outcome.differences else 0


if __name__ == "__main__":
    sys.exit(main())
