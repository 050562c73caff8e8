"""Marks tell which place of a template printed what, and change nothing."""

from __future__ import annotations

import pytest

from tests.oracle.ollama import GoOracle
from tests.parity.test_coverage import CONSTRUCTS, LEGACY, REQUESTS, TEMPLATES
from transplate import JinjaTemplate, OllamaTemplate, Values
from transplate.jinja.tracing import JinjaTrace
from transplate.parity.conversations import ordinary_conversations
from transplate.parity.tracing import GoTrace, read_marks


@pytest.mark.parametrize("source", [CONSTRUCTS, LEGACY, *(path.read_text() for path in TEMPLATES)])
def test_marks_change_nothing_in_ollama(source: str, go_oracle: GoOracle) -> None:
    trace = GoTrace(OllamaTemplate(source))
    assert trace.marked is not None
    plain = go_oracle.render_all(source, REQUESTS[:12])
    marked = go_oracle.render_all(trace.marked, REQUESTS[:12])
    for request, with_marks, without in zip(REQUESTS, marked, plain, strict=False):
        text, pieces = read_marks(with_marks.output.decode())
        assert text == without.output.decode()
        if without.error is None:
            assert trace.pieces(Values(**request)) == pieces


def test_lines_of_a_go_template() -> None:
    source = "{{ range .Messages }}\n<{{ .Role }}>\n{{ .Content }}{{ end }}"
    pieces = GoTrace(OllamaTemplate(source)).pieces(Values([{"role": "user", "content": "Hi"}]))
    prompt = OllamaTemplate(source).execute(Values([{"role": "user", "content": "Hi"}]))
    assert pieces is not None
    shown = [(prompt[start : start + 2], source.count("\n", 0, offset)) for start, offset in pieces]
    assert shown == [("\n<", 0), ("us", 1), (">\n", 1), ("Hi", 2)]


@pytest.mark.parametrize(
    "source",
    [
        "{% for m in messages %}\n<{{ m.role }}>{{ m.content | trim }}{% endfor %}",
        "{% macro f(x) %}[{{ x }}]{% endmacro %}{% set t %}a{{ f(1) }}{% endset %}{{ t }}{{ t | length }}",
        "{% filter upper %}abc{{ messages[0].role }}{% endfilter %}{{ messages | tojson }}",
    ],
)
def test_marks_change_nothing_in_jinja(source: str) -> None:
    trace, template = JinjaTrace(source), JinjaTemplate(source)
    for conversation in ordinary_conversations()[::7]:
        arguments = conversation.to_hf()
        pieces = trace.pieces(arguments)
        assert pieces is not None
        assert all(0 <= start <= len(template.render(**arguments)) for start, _ in pieces)
        assert [start for start, _ in pieces] == sorted(start for start, _ in pieces)
