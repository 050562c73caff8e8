"""Fewer variables: what a template prints stays the same."""

from __future__ import annotations

from random import Random

import pytest

from tests.convert.jinja_to_go.trees import REQUESTS, Writer, made
from tests.oracle.ollama import GoOracle
from transplate.convert.jinja_to_go.copies import without_copies
from transplate.gotmpl.parser import parse
from transplate.gotmpl.printer import print_template
from transplate.ollama.functions import FUNCTIONS


def _without_copies(text: str, *kept: str) -> str:
    return print_template(without_copies(made(parse(text, functions=FUNCTIONS).body), kept))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "{{ $a := 1 }}{{ if $.A }}{{ $b := 2 }}{{ if $.B }}{{ $b = 3 }}{{ end }}{{ $a = $b }}{{ end }}"
            "{{ $a }}",
            "{{ $a := 1 }}{{ if $.A }}{{ $a = 2 }}{{ if $.B }}{{ $a = 3 }}{{ end }}{{ end }}{{ $a }}",
        ),
        (
            "{{ $a := false }}{{ if $.A }}{{ $a = false }}{{ else }}{{ $b := false }}{{ if $.B }}"
            "{{ $b = true }}{{ end }}{{ $a = $b }}{{ end }}{{ $a }}",
            "{{ $a := false }}{{ if and (not $.A) $.B }}{{ $a = true }}{{ end }}{{ $a }}",
        ),
        ("{{ $a := $.A }}{{ $b := $a }}{{ $b }}{{ $a }}", "{{ $a := $.A }}{{ $a }}{{ $a }}"),
        (
            '{{ if eq $.T "a" }}x{{ $v := $.B }}{{ $v }}'
            '{{ else if eq $.T "b" }}x{{ $w := $.B }}{{ $w }}{{ end }}',
            '{{ if eq $.T "a" "b" }}x{{ $v := $.B }}{{ $v }}{{ end }}',
        ),
        (
            "{{ range $.L }}{{ if $.A }}x{{ else }}{{ break }}{{ end }}y{{ end }}",
            "{{ range $.L }}{{ if not $.A }}{{ break }}{{ end }}xy{{ end }}",
        ),
        (
            '{{ $a := "" }}{{ if $.A }}x{{ end }}{{ $a = $.B }}{{ $a }}',
            "{{ if $.A }}x{{ end }}{{ $a := $.B }}{{ $a }}",
        ),
        (
            "{{ if $.A }}x{{ else }}{{ if $.B }}y{{ else }}z{{ end }}{{ end }}",
            "{{ if $.A }}x{{ else if $.B }}y{{ else }}z{{ end }}",
        ),
    ],
    ids=["nested", "cascade", "second name", "ways alike", "leaves", "first value", "chain"],
)
def test_statements_are_left_out(before: str, after: str) -> None:
    assert _without_copies(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "{{ $a := $.A }}{{ $b := $a }}{{ $a = $.B }}{{ $b }}{{ $a }}",
        "{{ $a := $.A }}{{ $b := $.B }}{{ $b = $.C }}{{ $a }}{{ $a = $b }}{{ $a }}",
        "{{ $a := 0 }}{{ range $.L }}{{ $b := 1 }}{{ if . }}{{ break }}{{ end }}{{ $a = $b }}{{ end }}"
        "{{ $a }}",
        "{{ $a := 0 }}{{ range $.L }}{{ if . }}{{ $a = 0 }}{{ else }}{{ $a = 1 }}{{ end }}{{ end }}{{ $a }}",
        "{{ $a := 0 }}{{ if $.A }}{{ $a = 1 }}{{ end }}{{ $a = 0 }}{{ $a }}",
    ],
    ids=["changed later", "read before", "loop left", "loop", "perhaps changed"],
)
def test_what_is_needed_stays(text: str) -> None:
    assert _without_copies(text) == text


def test_the_statements_of_encodings_stay() -> None:
    text = "{{ $a := false }}{{ if $.A }}{{ $a = false }}{{ else }}{{ $.B }}{{ end }}{{ $b := $a }}{{ $b }}"
    assert "{{ $a = false }}" in _without_copies(text, "$a")
    assert "{{ $a = false }}" not in _without_copies(text)


def test_go_prints_the_same(go_oracle: GoOracle) -> None:
    rng = Random(12)
    changed = 0
    for _ in range(150):
        writer = Writer(rng)
        text = "".join(writer.body(["$"]) for _ in range(3))
        text = print_template(made(parse(text, functions=FUNCTIONS).body))
        other = _without_copies(text)
        changed += other != text
        answers = [
            [(answer.output, bool(answer.error)) for answer in go_oracle.render_all(one, REQUESTS)]
            for one in (text, other)
        ]
        assert answers[0] == answers[1], (text, other)
    assert changed > 50
