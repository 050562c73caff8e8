"""What is printed in several places by the same statements is a template: it prints what they printed."""

from __future__ import annotations

from random import Random

import pytest

from tests.convert.jinja_to_go.trees import REQUESTS, Writer, made
from tests.oracle.ollama import GoOracle
from transplate.convert import to_go
from transplate.convert.jinja_to_go import build, outlined
from transplate.gotmpl.nodes import Define
from transplate.gotmpl.parser import parse
from transplate.gotmpl.printer import print_template
from transplate.ollama.functions import FUNCTIONS


def _outlined(text: str) -> str:
    body = made(parse(text, functions=FUNCTIONS).body)
    bodies, definitions = outlined.outlined([body], {"taken"}, {"stop"})
    return print_template((*definitions, *bodies[0]))


@pytest.fixture
def _short_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlined, "_SHORTEST", 30)
    monkeypatch.setattr(outlined, "_CALL", 28)


_LONG = "a text that is long enough to be there only once, " * 6


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            f"{{{{ if $.A }}}}{_LONG}{{{{ else if $.B }}}}{_LONG}{{{{ end }}}}",
            f'{{{{ define "part" }}}}{_LONG}{{{{ end }}}}'
            '{{ if $.A }}{{ template "part" $ }}{{ else if $.B }}{{ template "part" $ }}{{ end }}',
        ),
        (
            f"{{{{ range $a_1 := $.A }}}}{{{{ range $x_1 := $a_1.L }}}}{{{{ $x_1 }}}}{_LONG}{{{{ end }}}}"
            f"{{{{ end }}}}{{{{ range $y_2 := $.Long.List }}}}{{{{ $y_2 }}}}{_LONG}{{{{ end }}}}",
            f'{{{{ define "list" }}}}{{{{ range $y_2 := $ }}}}{{{{ $y_2 }}}}{_LONG}{{{{ end }}}}{{{{ end }}}}'
            '{{ range $a_1 := $.A }}{{ template "list" $a_1.L }}{{ end }}{{ template "list" $.Long.List }}',
        ),
        (
            f'{{{{ if $.A }}}}{{{{ if $.B }}}}{{{{ template "stop" $ }}}}{{{{ end }}}}{{{{ $.B.C }}}}{_LONG}'
            f'{{{{ else }}}}{{{{ if $.B }}}}{{{{ template "stop" $ }}}}{{{{ end }}}}{{{{ $.B.C }}}}{_LONG}'
            "{{ end }}",
            f'{{{{ define "b" }}}}{{{{ if $ }}}}{{{{ template "stop" $ }}}}{{{{ end }}}}{{{{ $.C }}}}{_LONG}'
            '{{ end }}{{ if $.A }}{{ template "b" $.B }}{{ else }}{{ template "b" $.B }}{{ end }}',
        ),
    ],
    ids=["text", "lists", "failures"],
)
def test_what_is_printed_twice_is_one_template(before: str, after: str) -> None:
    assert _outlined(before) == after


@pytest.mark.parametrize(
    "text",
    [
        f"{{{{ if $.A }}}}{_LONG}{{{{ end }}}}",
        "{{ range $m := $.M }}x{{ end }}".replace("x", "{{ $m.ToolCalls }}" * 20) * 2,
    ],
    ids=["once", "what Ollama looks for"],
)
def test_the_rest_stays(text: str) -> None:
    assert _outlined(text) == text


@pytest.mark.usefixtures("_short_ones_too")
@pytest.mark.parametrize(
    "text",
    [
        "{{ $v := 0 }}{{ if $.A }}{{ $v = len $.A }}{{ else }}{{ $v = len $.A }}{{ end }}{{ $v }}",
        "{{ range $.A }}{{ if $.B }}{{ break }}{{ end }}{{ if $.B }}{{ break }}{{ end }}{{ end }}",
        "{{ range $.A }}{{ if .Bcdef }}x{{ end }}{{ end }}{{ with $.A }}{{ if .Bcdef }}x{{ end }}{{ end }}",
        "{{ range $x := $.A }}{{ range $y := $.B }}{{ eq $x $y }}{{ end }}{{ end }}{{ eq $.A $.B }}",
    ],
    ids=["sets", "leaves", "dot", "two"],
)
def test_what_cannot_be_a_template_stays(text: str) -> None:
    assert 'define "' not in _outlined(text)


# --- against real Go --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_short_ones_too")
def test_go_prints_the_same(go_oracle: GoOracle) -> None:
    rng = Random(11)
    changed = 0
    for _ in range(120):
        text = Writer(rng).body(["$"]) * 2
        text = text + Writer(rng).body(["$"])
        other = _outlined(text)
        changed += other != text
        answers = [
            [(answer.output, bool(answer.error)) for answer in go_oracle.render_all(one, REQUESTS)]
            for one in (text, other)
        ]
        assert answers[0] == answers[1], (text, other)
    assert changed > 40


def test_a_macro_s_variants_share_what_they_print() -> None:
    source = (
        "{% macro show(fields, only=false) %}{% for key, value in fields.items() %}"
        "{% if not only or key != 'type' %}{{ key }}: {% if value.type %}{{ value.type | upper }}{% endif %}"
        "{{ value | tojson(indent=2) }}{{ value | tojson(indent=4) }}"
        "{% if value is mapping %}{{ show(value, true) }}{% endif %}{% endif %}{% endfor %}{% endmacro %}"
        "{% for m in messages %}{% for c in m.tool_calls %}{{ show(c.function.arguments) }}"
        "{% endfor %}{{ m.content }}{% endfor %}"
    )
    text = to_go(source, exact=True).text
    assert text.count('define "show') > 1
    assert text.count('{{ template "value" . }}') == 2


def test_definitions_are_named_apart() -> None:
    text = f"{{{{ if $.A }}}}{_LONG}{{{{ end }}}}{_LONG}"
    body = made(parse(text).body)
    _, definitions = outlined.outlined([body], {"part", "part 2"}, {"part 3"})
    assert [one.name for one in definitions if isinstance(one, Define)] == [build.string("part 4")]
