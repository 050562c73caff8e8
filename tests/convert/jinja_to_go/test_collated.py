"""The joining of neighbours, which Ollama has done already: left out where it is that, else kept."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.jinja_to_go_judge import OwnJudge
from tests.fuzz.jinja_to_go_round_trips import go_trip
from transplate.convert.jinja_to_go.collated import without_collation
from transplate.jinja.reader import read

TURNS = (
    "{{ if .System }}<sys>{{ .System }}</sys>{{ end }}{{ range $i, $m := .Messages }}"
    '{{ if eq .Role "user" }}U{{ .Content }}{{ else if eq .Role "assistant" }}A{{ .Content }}'
    "{{ range .ToolCalls }}{{ .Function.Name }}{{ end }}{{ else }}{{ .Role }}{{ .Content }}{{ end }}"
    "{{ if eq (len (slice $.Messages $i)) 1 }}.{{ end }}{{ end }}"
)
JOINED = (
    "{% set ns = namespace(all=[]) %}{% for m in messages %}"
    "{% set last = ns.all[-1] if ns.all else none %}"
    "{% if last and last.role == m.role and m.role != 'tool' %}"
    "{% set last.text = last.text ~ '\\n\\n' ~ m.content %}"
    "{% else %}{% set ns.all = ns.all + [namespace(role=m.role, text=m.content)] %}{% endif %}"
    "{% endfor %}{% for turn in ns.all %}{{ turn.role }}: {{ turn.text }}{% endfor %}"
)


def test_a_go_template_comes_back_from_exact_jinja() -> None:
    trip = go_trip(TURNS, OwnJudge(), exact=True, rng=Random(1), count=30)
    assert (trip.status, trip.reason) == ("exact", "")


def test_joining_is_left_out() -> None:
    plain = "{% for m in messages %}{% endfor %}{% for turn in messages %}{{ turn.role }}: {{ turn.content }}{% endfor %}"  # noqa: E501
    made = without_collation(read(JOINED).body)
    assert made[1:] == read(plain).body


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (" and m.role != 'tool'", ""),
        ("last.role == m.role", "last.role != m.role"),
        ("ns.all[-1]", "ns.all[0]"),
        ("role=m.role,", "role=m.name,"),
        ("{% set last =", "{% if m.content == '' %}{% continue %}{% endif %}{% set last ="),
        ("in ns.all %}", "in ns.all %}{{ turn }}"),
        ("in ns.all %}", "in ns.all %}{% set turn.text = 'x' %}"),
        ("in ns.all %}", "in ns.all %}{{ turn.name }}"),
        ("in ns.all %}", "in ns.all %}{{ loop.previtem.text }}"),
        ("text=m.content)", "text=m.content, size=ns.all|length)"),
    ],
)
def test_what_is_more_than_joining_stays(before: str, after: str) -> None:
    assert before in JOINED
    body = read(JOINED.replace(before, after)).body
    assert without_collation(body) == body
