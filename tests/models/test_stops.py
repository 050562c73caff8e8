"""Stops are what ends an answer in prompts; what opens turns is none."""

from __future__ import annotations

from typing import Any

import pytest

from transplate import JinjaTemplate, Model, OllamaTemplate
from transplate.models.model import Tokens
from transplate.models.stops import find_stops, opens_a_turn

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
WITH_DEFAULT = (
    "{% if messages[0].role != 'system' %}{{ '<|im_start|>system\nBe kind.<|im_end|>\n' }}{% endif %}"
    + CHATML
)
ALWAYS_OPEN = (
    "{% for m in messages %}<|head|>{{ m.role }}<|/head|>{{ m.content }}<|eot|>{% endfor %}"
    "<|head|>assistant<|/head|>"
)
LAST_IS_OTHER = (
    "{% for m in messages %}<|start|>{{ m.role }}<|message|>{{ m.content }}"
    "{% if loop.last and m.role == 'assistant' %}<|return|>{% else %}<|end|>{% endif %}{% endfor %}"
)
TWO_ENDS = (
    "{% for m in messages %}<|TURN|><|{{ m.role }}|>{{ m.content }}"
    "{% if m.role == 'assistant' %}<|END_TEXT|>{% endif %}<|END_TURN|>{% endfor %}"
)
LAST_STAYS_OPEN = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}"
    "{% if not loop.last %}<|end|>{% endif %}{% endfor %}"
)
INSTRUCTIONS = (
    "{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]"
    "{% elif m.role == 'assistant' %} {{ m.content }}</s>{% endif %}{% endfor %}"
)
NO_END = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
WORDS = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
CALLS = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}"
    "<call>{{ c.function.name }}</call>{% endfor %}{{ '<|eom|>' if m.tool_calls else '<|eot|>' }}{% endfor %}"
)


def rendering(template: str) -> Any:
    return lambda messages: JinjaTemplate(template).render(messages, add_generation_prompt=False)


@pytest.mark.parametrize(
    ("template", "stops"),
    [
        (CHATML, ["<|im_end|>"]),
        (WITH_DEFAULT, ["<|im_end|>"]),
        (ALWAYS_OPEN, ["<|eot|>"]),
        (LAST_IS_OTHER, ["<|return|>"]),
        (TWO_ENDS, ["<|END_TURN|>"]),
        (LAST_STAYS_OPEN, ["<|end|>"]),
        (INSTRUCTIONS, ["</s>"]),
        (NO_END, ["<|user|>"]),
        (WORDS, []),
        (CALLS, ["<|eot|>"]),
        ("{{ raise_exception('no') }}", []),
    ],
)
def test_what_ends_answers_in_prompts(template: str, stops: list[str]) -> None:
    found = find_stops(Model("m", "GGUF"), rendering(template))
    assert [stop.text for stop in found] == stops
    assert all("in prompts" in stop.reason for stop in found)


def test_tokens_that_end_a_generation() -> None:
    tokens = Tokens(eos="</s>", others={"eom_token": "<|eom|>"}, ends=((2, "</s>"), (7, "<|x|>"), (8, None)))
    model = Model("m", "GGUF", tokens=tokens, generation={"stop_strings": ["User:", ""]})
    assert [(one.text, one.reason) for one in find_stops(model, rendering(CALLS))] == [
        ("</s>", "the eos token"),
        ("<|x|>", "token 7, which ends a generation"),
        ("User:", "in the stop strings of the generation configuration"),
        ("<|eot|>", "ends the assistant's turns in prompts"),
        ("<|eom|>", "ends a turn with tool calls in prompts"),
    ]


@pytest.mark.parametrize(
    ("template", "stop", "opens"),
    [
        (CHATML, "<|im_start|>", True),
        (CHATML, "<|im_end|>", False),
        (WITH_DEFAULT, "<|im_start|>", True),
        (WITH_DEFAULT, "<|im_end|>", False),
        (INSTRUCTIONS, "[INST]", True),
        (INSTRUCTIONS, "[/INST]", False),
        (INSTRUCTIONS, "</s>", False),
        (LAST_IS_OTHER, "<|message|>", True),
    ],
)
def test_what_opens_a_turn(template: str, stop: str, opens: bool) -> None:
    assert opens_a_turn(stop, rendering(template)) is opens


EMPTY_SYSTEM = """<|im_start|>system
{{ .System }}<|im_end|>
<|im_start|>user
{{ .Prompt }}<|im_end|>
<|im_start|>assistant
"""


@pytest.mark.parametrize(("stop", "opens"), [("<|im_start|>", True), ("<|im_end|>", False)])
def test_what_ends_an_empty_system_turn_opens_none(stop: str, opens: bool) -> None:
    assert opens_a_turn(stop, OllamaTemplate(EMPTY_SYSTEM).render) is opens
