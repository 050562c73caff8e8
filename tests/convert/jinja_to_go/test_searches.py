"""Searches for constants in texts, against Python."""

from __future__ import annotations

from random import Random

import pytest

from transplate.convert import to_go
from transplate.ollama import OllamaTemplate, Values

PARTS = (
    " ",
    ". ",
    " x",
    "a ",
    "</think>",
    "<|a ",
    "ab",
    "é",
    "é ",
    "\n\n",
    ", ",
    "#$% _~",
    "abcdefghijklmnop",
)
CALLS = {
    "in": ("PART in text", lambda text, part: str(part in text)),
    "before": ("text.split(PART)[0]", lambda text, part: text.split(part)[0]),
    "after": ("text.split(PART)[-1]", lambda text, part: text.split(part)[-1]),
    "place": ("text.find(PART)", lambda text, part: str(text.find(part))),
    "replaced": ("text.replace(PART, '-')", lambda text, part: text.replace(part, "-")),
}


@pytest.mark.parametrize("call", CALLS)
def test_searches_find_what_python_finds(call: str) -> None:
    rng = Random(call)
    expression, wanted = CALLS[call]
    for part in PARTS:
        source = f"{{% for message in messages %}}{{% set text = message.content %}}{{{{ {expression.replace('PART', repr(part))} }}}}{{% endfor %}}"  # noqa: E501
        template = OllamaTemplate(to_go(source, exact=True).text)
        pieces = (part, part[:-1], part[1:], part[:3], "x", " ", "é", "<", "ab", "y" * 11)
        for _ in range(12):
            text = "".join(rng.choices(pieces, k=rng.randint(0, 9)))
            printed = template.execute(Values([{"role": "user", "content": text}])) if text else ""
            assert printed == (wanted(text, part) if text else ""), (part, text)
