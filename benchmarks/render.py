"""Rendering speed against Go, jinja2 and gotpl: ``python -m benchmarks.render``.

Every template meets every conversation (a cell). The peers are measured in the same run, warm, in rounds
that take turns; a cell's time is the median over the rounds. Outputs are compared before they are timed.
Real templates are used where the shared folder is, else the project's own.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import platform
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from tests.oracle.conversations import CONVERSATIONS
from tests.oracle.engines import EngineUnavailable, TransformersEngine
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle

from benchmarks.measuring import Ratios, medians, seconds_per_call
from transplate import OllamaTemplate, Values
from transplate.errors import TransplateError

REPOSITORY = Path(__file__).parent.parent
NOW = datetime(2024, 3, 1, 12, 30)
SPECIAL_TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}


@dataclass
class Subject:
    """A template under measurement: ours, its source, and its twin in Jinja where there is one."""

    name: str
    source: str
    jinja: str | None = None
    template: OllamaTemplate = field(init=False)

    def __post_init__(self) -> None:
        self.template = OllamaTemplate(self.source, ollama=OLLAMA_VERSION)

    @property
    def is_legacy(self) -> bool:
        """Whether Ollama runs the template turn by turn."""
        return "messages" not in self.template.inference.variables


@dataclass
class Cell:
    """A template with a conversation: what is called, and the times of each round."""

    subject: Subject
    conversation: str
    request: dict[str, Any]
    calls: dict[str, Callable[[], object]]
    rounds: list[dict[str, float]] = field(default_factory=list)


def subjects() -> list[Subject]:
    """Return the templates: the library's 71 where they are, else the project's own."""
    shared = Path(os.environ.get("TRANSPLATE_SHARED") or REPOSITORY.parent / "shared") / "corpus"
    pairs = shared / "ollama_library_pairs.jsonl"
    if pairs.exists():
        found: dict[str, Subject] = {}
        for line in pairs.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["gotmpl"] not in found:
                found[row["gotmpl"]] = Subject(row["model"], row["gotmpl"], row["jinja"])
        return list(found.values())
    own = []
    for path in sorted((REPOSITORY / "templates" / "gotmpl").glob("*.gotmpl")):
        twin = REPOSITORY / "templates" / "jinja" / f"{path.stem}.jinja"
        jinja = twin.read_bytes().decode() if twin.exists() else None
        own.append(Subject(path.stem, path.read_bytes().decode(), jinja))
    return own


def request_of(subject: Subject, body: dict[str, Any]) -> dict[str, Any]:
    """Return what Ollama's server hands to the template for a body: ``template.Values``."""
    abilities = subject.template.inference.abilities
    request: dict[str, Any] = {"messages": body["messages"]}
    if "tools" in abilities and "tools" in body:
        request["tools"] = body["tools"]
    if "thinking" in abilities:
        think = body.get("think", True)
        level = "medium" if think is True else think or ""
        request |= {"think": bool(think), "think_level": level, "is_think_set": True}
    elif body.get("think") is False:
        request["is_think_set"] = True
    return request


def body_of(subject: Subject, body: dict[str, Any]) -> dict[str, Any]:
    """Return the body without what the server would refuse for this template."""
    abilities = subject.template.inference.abilities
    allowed = {"messages"} | ({"tools"} if "tools" in abilities else set())
    if "thinking" in abilities or body.get("think") is False:
        allowed.add("think")
    return {key: value for key, value in body.items() if key in allowed}


def for_jinja(body: dict[str, Any]) -> dict[str, Any]:
    """Return the variables of a chat template for a body."""
    messages = []
    for message in body["messages"]:
        made = dict(message)
        if "thinking" in made:
            made["reasoning_content"] = made["thinking"]
        if "tool_calls" in made:
            made["tool_calls"] = [{"type": "function", **call} for call in made["tool_calls"]]
        if "tool_name" in made:
            made["name"] = made["tool_name"]
        messages.append(made)
    think = body.get("think")
    context = {
        "messages": messages,
        "tools": body.get("tools"),
        "add_generation_prompt": True,
        **SPECIAL_TOKENS,
    }
    if think is not None:
        context["enable_thinking"] = bool(think)
    if isinstance(think, str):
        context["reasoning_effort"] = think
    return context


def make_cells(
    found: list[Subject], oracle: GoOracle, engine: TransformersEngine | None
) -> tuple[list[Cell], list[str]]:
    """Return the cells on which Go succeeds and we print the same, and words on those left out."""
    cells, notes = [], []
    no_twin = 0
    for subject in found:
        requests = [request_of(subject, body) for body in CONVERSATIONS.values()]
        answers = oracle.render_all(subject.source, requests, now=NOW)
        compiled = _compile_jinja(engine, subject.jinja)
        rows = zip(CONVERSATIONS.items(), requests, answers, strict=True)
        for (name, body), request, answer in rows:
            if answer.error is not None:
                notes.append(f"left out, Go fails: {subject.name} on {name}: {answer.error[:90]}")
                continue
            calls = _calls(subject, body_of(subject, body), request)
            expected = answer.output.decode()
            for kind, call in calls.items():
                if call() != expected:
                    raise AssertionError(f"{subject.name} on {name}: {kind} differs from Go")
            if compiled is not None:
                jinja = partial(compiled.render, **for_jinja(body))
                with contextlib.suppress(Exception):
                    jinja()
                    calls["jinja2"] = jinja
            no_twin += "jinja2" not in calls
            gotpl = _gotpl_call(subject.source, body, request)
            if gotpl is not None:
                calls["gotpl"] = gotpl
            cells.append(Cell(subject, name, request, calls))
    if no_twin:
        notes.append(f"{no_twin} cells have no time of jinja2: the twin raises on the conversation")
    return cells, notes


def _calls(
    subject: Subject, body: dict[str, Any], request: dict[str, Any]
) -> dict[str, Callable[[], object]]:
    template = subject.template
    prepared = Values(**request)
    text = json.dumps(request)
    body_text = json.dumps(body)
    return {
        "execute": lambda: template.execute(prepared, now=NOW),
        "values": lambda: template.execute(Values(**request), now=NOW),
        "render": partial(template.render, **body, now=NOW),
        "json values": lambda: template.execute(Values(**json.loads(text)), now=NOW),
        "json render": lambda: template.render_request(body_text, now=NOW),
    }


def _compile_jinja(engine: TransformersEngine | None, source: str | None) -> Any:
    if engine is None or source is None:
        return None
    try:
        return engine.compile(source)
    except Exception:
        return None


def _gotpl_call(source: str, body: dict[str, Any], request: dict[str, Any]) -> Callable[[], object] | None:
    """Return a rendering by gotpl on data of the same shape, None where it fails."""
    try:
        from gotpl import Template
    except ImportError:
        return None
    functions = {
        "json": lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False),
        "currentDate": lambda *_: NOW.strftime("%Y-%m-%d"),
        "yesterdayDate": lambda *_: "2024-02-29",
        "toTypeScriptType": lambda _: "any",
    }
    data = _gotpl_data(body, request)
    try:
        template = Template(source, functions=functions)
        template.render(data)
    except Exception:
        return None
    return lambda: template.render(data)


def _gotpl_data(body: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    systems = [message["content"] for message in body["messages"] if message["role"] == "system"]
    messages = [
        {
            "Role": message["role"],
            "Content": message["content"],
            "Thinking": message.get("thinking", ""),
            "ToolName": message.get("tool_name", ""),
            "ToolCallID": message.get("tool_call_id", ""),
            "Images": [],
            "ToolCalls": [
                {"ID": call.get("id", ""), "Function": _titled(call["function"])}
                for call in message.get("tool_calls", ())
            ],
        }
        for message in body["messages"]
    ]
    return {
        "System": "\n\n".join(systems),
        "Messages": messages,
        "Tools": [_tool(tool) for tool in request.get("tools") or ()],
        "Prompt": next((m["content"] for m in reversed(body["messages"]) if m["role"] == "user"), ""),
        "Response": "",
        "Think": request.get("think", False),
        "ThinkLevel": request.get("think_level", ""),
        "IsThinkSet": request.get("is_think_set", False),
    }


def _titled(value: dict[str, Any]) -> dict[str, Any]:
    return {key.title(): item for key, item in value.items()}


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    function = _titled(tool["function"])
    parameters = _titled(function["Parameters"])
    properties = {name: _titled(schema) for name, schema in parameters["Properties"].items()}
    return {
        "Type": "function",
        "Function": {**function, "Parameters": {**parameters, "Properties": properties}},
    }


def measure_cells(cells: list[Cell], oracle: GoOracle, rounds: int, budget: float) -> None:
    """Measure every cell in rounds; in each, Go takes its turn on a template, then the others do."""
    by_subject: dict[str, list[Cell]] = {}
    for cell in cells:
        by_subject.setdefault(cell.subject.source, []).append(cell)
    for number in range(rounds):
        for source, mine in by_subject.items():
            timings = oracle.measure(source, [cell.request for cell in mine], seconds=budget)
            for cell, timing in zip(mine, timings, strict=True):
                assert timing is not None
                times = {"go execute": timing.execute / 1e9, "go json": timing.unmarshal_execute / 1e9}
                for kind, call in cell.calls.items():
                    slow = kind in {"gotpl", "jinja2"}
                    if kind != "gotpl" or number < 2:
                        times[kind] = seconds_per_call(call, budget=budget / 2 if slow else budget)
                cell.rounds.append(times)
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)


def report_cells(cells: list[Cell]) -> Iterator[str]:
    """Yield the ratios of all cells and the slowest ones."""
    times = [(cell, medians(cell.rounds)) for cell in cells]

    def ratios(ours: str, theirs: str) -> Ratios:
        return Ratios([t[ours] / t[theirs] for _, t in times if ours in t and theirs in t])

    yield f"execute on prepared Values ÷ Go's Execute:        {ratios('execute', 'go execute')}"
    yield f"render from dicts ÷ Go's Execute:                 {ratios('render', 'go execute')}"
    for label, is_legacy in (("messages", False), ("legacy", True)):
        own = [t for cell, t in times if cell.subject.is_legacy is is_legacy]
        mean = Ratios([t["render"] / t["go execute"] for t in own])
        yield f"  of templates in {label} mode:".ljust(50) + str(mean)
    yield f"execute on fresh Values of dicts ÷ Go's Execute:  {ratios('values', 'go execute')}"
    yield f"JSON body to prompt ÷ Go's Unmarshal + Execute:   {ratios('json render', 'go json')}"
    yield f"json.loads, Values, execute ÷ the same:           {ratios('json values', 'go json')}"
    yield f"render from dicts ÷ jinja2 in HF's sandbox:       {ratios('render', 'jinja2')}"
    yield f"execute on prepared Values ÷ gotpl:               {ratios('execute', 'gotpl')}"
    yield f"render from dicts ÷ gotpl:                        {ratios('render', 'gotpl')}"
    yield f"jinja2 in HF's sandbox ÷ Go's Execute:            {ratios('jinja2', 'go execute')}"
    worst = sorted(times, key=lambda item: item[1]["execute"] / item[1]["go execute"], reverse=True)[:5]
    for cell, t in worst:
        yield (
            f"  slowest execute: {cell.subject.name} on {cell.conversation}: "
            f"{t['execute'] * 1e6:.1f} µs, Go {t['go execute'] * 1e6:.1f} µs"
        )


def measure_parsing(
    found: list[Subject], oracle: GoOracle, engine: TransformersEngine | None
) -> Iterator[str]:
    """Yield the times of parsing and compiling the templates."""
    body = CONVERSATIONS["question"]
    ours, parse_only, go, jinja = [], [], [], []
    for subject in found:
        values = Values(**request_of(subject, body))

        def first_rendering(subject: Subject = subject, values: Values = values) -> None:
            OllamaTemplate(subject.source).execute(values)

        parse_only.append(min(_timed(partial(OllamaTemplate, subject.source)) for _ in range(3)))
        ours.append(min(_timed(first_rendering) for _ in range(3)))
        timing = oracle.measure(subject.source, [request_of(subject, body)])[0]
        if timing is not None:
            go.append(timing.parse / 1e9)
        if engine is not None and subject.jinja is not None:
            with contextlib.suppress(Exception):
                jinja.append(min(_timed(partial(engine.compile_afresh, subject.jinja)) for _ in range(2)))
    for name, times in (
        ("OllamaTemplate(source)", parse_only),
        ("and its first rendering, compiling included", ours),
        ("Go's template.Parse", go),
        ("jinja2 in HF's sandbox, parse and compile", jinja),
    ):
        if times:
            times.sort()
            shown = ", ".join(
                f"{label} {times[min(len(times) - 1, int(q * len(times)))] * 1e3:.2f}"
                for label, q in (("median", 0.5), ("p90", 0.9), ("max", 1.0))
            )
            yield f"{name}: {shown} ms"


def _timed(call: Callable[[], object]) -> float:
    begin = perf_counter()
    call()
    return perf_counter() - begin


def measure_growth(found: list[Subject], oracle: GoOracle) -> Iterator[str]:
    """Yield how parsing grows with the template and rendering with the conversation."""
    longest = max(found, key=lambda subject: len(subject.source)).source
    rows = []
    for kilobytes in (25, 50, 100, 200, 400):
        source = longest * max(1, round(kilobytes * 1024 / len(longest)))
        took = min(_timed(partial(OllamaTemplate, source)) for _ in range(2))
        rows.append(f"{len(source) // 1024} KB {took * 1e3:.0f} ms")
    yield f"parsing larger templates: {', '.join(rows)}"
    subject = max(found, key=lambda one: len(one.source))
    rows = []
    for count in (250, 500, 1000, 2000, 4000):
        pair = [{"role": "user", "content": "How are you?"}, {"role": "assistant", "content": "Fine."}]
        messages = pair * (count // 2)
        request: dict[str, Any] = {"messages": messages}
        assert (
            subject.template.execute(Values(**request), now=NOW).encode()
            == oracle.render(subject.source, request, now=NOW).output
        )
        took = seconds_per_call(partial(subject.template.render, messages, now=NOW), budget=0.1)
        rows.append(f"{count} messages {took * 1e3:.2f} ms ({took / count * 1e9:.0f} ns each)")
    yield f"rendering longer conversations ({subject.name}): {', '.join(rows)}"


def measure_memory(found: list[Subject]) -> str:
    """Return what a compiled template keeps in memory, its source not counted."""
    values = Values(messages=CONVERSATIONS["several-turns"]["messages"])
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = []
    for subject in found:
        template = OllamaTemplate(subject.source)
        with contextlib.suppress(TransplateError):
            template.execute(values, now=NOW)
        kept.append(template)
    gc.collect()
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return f"memory of a compiled template, mean of {len(kept)}: {used / len(kept) / 1024:.0f} KB"


def measure_start(rounds: int) -> Iterator[str]:
    """Yield the times of starting the command line, and of importing jinja2."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    script = Path(sys.executable).parent / "transplate"
    start = [str(script)] if script.exists() else [sys.executable, "-m", "transplate"]
    with tempfile.TemporaryDirectory() as folder:
        request = Path(folder) / "request.json"
        request.write_text(json.dumps(CONVERSATIONS["tool-call"]), encoding="utf-8")
        template = str(REPOSITORY / "templates" / "gotmpl" / "cohere-tools.gotmpl")
        commands = {
            'python -c "import jinja2"': [sys.executable, "-c", "import jinja2"],
            "transplate --version": [*start, "--version"],
            "transplate render": [*start, "render", template, str(request)],
            'python -c ""': [sys.executable, "-c", ""],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, command in commands.items():
                begin = perf_counter()
                subprocess.run(command, env=environment, capture_output=True, check=True)
                times[name].append(perf_counter() - begin)
    base = median(times['python -c "import jinja2"'])
    for name, taken in times.items():
        yield f"{name}: {median(taken) * 1e3:.0f} ms, {median(taken) / base:.2f} × import jinja2"


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--milliseconds", type=float, default=2.0, help="length of one measurement")
    parser.add_argument("--templates", type=int, help="only the first so many templates")
    options = parser.parse_args()

    found = subjects()[: options.templates]
    oracle = GoOracle()
    engine: TransformersEngine | None = None
    with contextlib.suppress(EngineUnavailable):
        engine = TransformersEngine()
    print(f"Python {platform.python_version()}, Ollama {OLLAMA_VERSION}, {platform.machine()}")
    cells, notes = make_cells(found, oracle, engine)
    print(f"{len(found)} templates × {len(CONVERSATIONS)} conversations, {len(cells)} cells")
    measure_cells(cells, oracle, options.rounds, options.milliseconds / 1000)
    for line in (*notes, *report_cells(cells)):
        print(line)
    for line in (*measure_parsing(found, oracle, engine), *measure_growth(found, oracle)):
        print(line)
    print(measure_memory(found))
    for line in measure_start(10):
        print(line)
    oracle.close()


if __name__ == "__main__":
    main()
