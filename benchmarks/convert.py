"""Conversion of Go templates to Jinja, beside the vendor's own Jinja: ``python -m benchmarks.convert``.

Prints the time of a conversion, the size of each form in lines that are not blank, and the time of a
rendering, all over the pairs of one model's two templates in the shared folder. A ratio is one of medians.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.measuring import seconds_per_call
from transplate import JinjaTemplate, OllamaTemplate, to_jinja

SHARED = Path(os.environ.get("TRANSPLATE_SHARED") or Path(__file__).parents[2] / "shared")
FORMS: dict[str, Callable[[str], str]] = {
    "exact": lambda source: to_jinja(source, exact=True).text,
    "default": lambda source: to_jinja(source).text,
    "hf-json": lambda source: to_jinja(source, assume=["hf-json"]).text,
}
GOALS = {"exact": 2.5, "default": 1.6, "hf-json": 1.25}
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is the weather in Paris?"},
    {"role": "assistant", "content": "Sunny."},
    {"role": "user", "content": "And tomorrow?"},
]


@dataclass(frozen=True, slots=True)
class Pair:
    """The two templates of one model.

    Attributes:
        model: Its name.
        source: Its Go template.
        vendors: The Jinja templates of all models that have this Go template.
        kind: ``json`` if it prints JSON, ``legacy`` if it does not name the messages, else ``plain``.
    """

    model: str
    source: str
    vendors: Sequence[str]
    kind: str


def pairs() -> Iterator[Pair]:
    """Yield the pairs, one for each distinct Go template."""
    models: dict[str, list[tuple[str, str]]] = defaultdict(list)
    lines = (SHARED / "corpus" / "ollama_library_pairs.jsonl").read_text(encoding="utf-8").splitlines()
    for pair in map(json.loads, lines):
        models[pair["gotmpl"]].append((pair["model"], pair["jinja"]))
    for source, both in models.items():
        is_legacy = "messages" not in OllamaTemplate(source).inference.variables
        prints_json = "macro json(" in FORMS["default"](source)
        kind = "legacy" if is_legacy else "json" if prints_json else "plain"
        yield Pair(both[0][0], source, [jinja for _, jinja in both], kind)


def lines_of(text: str) -> int:
    """Return the number of lines that are not blank."""
    return sum(1 for line in text.splitlines() if line.strip())


def rendering(text: str) -> float | None:
    """Return the seconds of one rendering, None for a template that refuses the conversation."""
    template = JinjaTemplate(text, special_tokens={"bos_token": "", "eos_token": ""})
    try:
        template.render(MESSAGES)
    except Exception:
        return None
    return seconds_per_call(lambda: template.render(MESSAGES))


def main() -> int:
    """Measure and print; the exit status is 1 if a size is above its goal."""
    if not SHARED.is_dir():
        print(f"no folder with shared data at {SHARED} (TRANSPLATE_SHARED names another)")
        return 0
    rows = list(pairs())
    print(f"{len(rows)} templates")
    print("conversion, ms:   " + "  ".join(_times(form, convert, rows) for form, convert in FORMS.items()))
    texts = {form: [convert(pair.source) for pair in rows] for form, convert in FORMS.items()}
    vendor = [median(map(lines_of, pair.vendors)) for pair in rows]
    missed = False
    for kind in ("json", "plain", "legacy", "all"):
        chosen = [at for at, pair in enumerate(rows) if kind in (pair.kind, "all")]
        base = median(vendor[at] for at in chosen)
        sizes = {form: median(lines_of(texts[form][at]) for at in chosen) for form in FORMS}
        shown = "  ".join(f"{form} {size:g} ({size / base:.2f})" for form, size in sizes.items())
        print(f"lines, {kind:6} ({len(chosen)}): vendor {base:g}  {shown}")
        missed |= kind == "all" and any(size / base > GOALS[form] for form, size in sizes.items())
    beside = [rendering(pair.vendors[0]) for pair in rows]
    for form in FORMS:
        ratios = [
            ours / theirs
            for ours, theirs in zip(map(rendering, texts[form]), beside, strict=True)
            if ours is not None and theirs is not None
        ]
        print(
            f"rendering, {form} ÷ vendor: median {median(ratios):.2f}, max {max(ratios):.2f} ({len(ratios)})"
        )
    return int(missed)


def _times(form: str, convert: Callable[[str], str], rows: Sequence[Pair]) -> str:
    seconds = [seconds_per_call(lambda pair=pair: convert(pair.source), budget=0.03) for pair in rows]
    return f"{form} median {median(seconds) * 1e3:.1f}, max {max(seconds) * 1e3:.1f}"


if __name__ == "__main__":
    sys.exit(main())
