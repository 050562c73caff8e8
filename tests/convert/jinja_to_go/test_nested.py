"""Namespaces in namespaces, read as attributes of the outer one; left alone where that is not the same."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.jinja_to_go_judge import OwnJudge
from tests.fuzz.jinja_to_go_round_trips import go_trip
from transplate.convert.jinja_to_go.nested import without_nested_namespaces
from transplate.jinja.reader import read

TURN = "{{ if .System }}<s>{{ .System }}</s>{{ end }}{{ if .Prompt }}U{{ .Prompt }}{{ end }}A{{ .Response }}"
NESTED = (
    "{% macro show(turn) %}{{ turn.a }}{% endmacro %}"
    "{% set ns = namespace(turn=namespace(a='', b=''), n=0) %}{% for m in messages %}"
    "{% if ns.turn.b %}{{ show(ns.turn) }}{% set ns.turn = namespace(a='', b='x') %}{% endif %}"
    "{% set turn = ns.turn %}{% set turn.a = turn.a ~ m.content %}{% set turn.b = m.role %}"
    "{% endfor %}{{ show(ns.turn) }}"
)


def test_a_template_of_turns_comes_back_from_exact_jinja() -> None:
    trip = go_trip(TURN, OwnJudge(), exact=True, rng=Random(1), count=30)
    assert (trip.status, trip.reason) == ("exact", "")


def test_attributes_take_the_place_of_a_namespace() -> None:
    assert (
        without_nested_namespaces(read(NESTED).body)
        == read(
            "{% macro show() %}{{ ns.turn_a }}{% endmacro %}"
            "{% set ns = namespace(turn_a='', turn_b='', n=0) %}{% for m in messages %}"
            "{% if ns.turn_b %}{{ show() }}{% set ns.turn_a = '' %}{% set ns.turn_b = 'x' %}{% endif %}"
            "{% set ns.turn_a = ns.turn_a ~ m.content %}{% set ns.turn_b = m.role %}"
            "{% endfor %}{{ show() }}"
        ).body
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("namespace(a='', b='x')", "namespace(a=ns.turn.b, b=ns.turn.a)"),
        ("namespace(a='', b='x')", "namespace(a='')"),
        ("{% set turn.b", "{% set ns.turn = namespace(a='', b='') %}{% set turn.b"),
        ("{% set turn = ns.turn %}", "{{ turn.a }}{% set turn = ns.turn %}"),
        ("{% endfor %}", "{{ turn }}{% endfor %}"),
        ("{% endfor %}", "{% if turn %}.{% endif %}{% endfor %}"),
        ("{{ turn.a }}{% endmacro", "{{ turn }}{% endmacro"),
        ("{% endfor %}", "{% endfor %}{{ show(messages[0]) }}"),
        ("n=0", "turn_a=0"),
        ("{% endfor %}", "{% endfor %}{% set ns = namespace(turn=namespace(a='', b='')) %}"),
    ],
)
def test_what_is_used_in_another_way_stays(before: str, after: str) -> None:
    assert before in NESTED
    body = read(NESTED.replace(before, after)).body
    assert without_nested_namespaces(body) == body
