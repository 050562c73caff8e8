"""The marks of :mod:`transplate.parity.coverage` change nothing, and tell which branches were taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.convert.cases import make_case, ollama_values
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle
from transplate import OllamaTemplate, Values
from transplate.parity.coverage import GoCoverage, read_marks

TEMPLATES = sorted((Path(__file__).parents[2] / "templates" / "gotmpl").glob("*.gotmpl"))
REQUESTS = [ollama_values(make_case(seed), thinks=seed % 2 == 0) for seed in range(40)]
CONSTRUCTS = (
    "{{ define `t` }}{{ if .Thinking }}T{{ else }}-{{ end }}{{ end -}}\n"
    "{{ range $i, $m := .Messages }}{{ template `t` $m }}{{ with .ToolCalls }}{{ len . }}"
    "{{ else with $.System }}{{ . }}{{ else }}none{{ end }}"
    "{{ if and (eq .Role `user`) (or (gt $i 1) .Content) }}a{{ continue }}"
    "{{ else if $x := .Content }}{{ $x }}"
    "{{ else if eq .Role `tool` }}b{{ break }}{{ end }}{{- /* note */ -}}\n c"
    "{{ block `b` . }}{{ .Role }}{{ if and .Content .Thinking }}d{{ end }}{{ end }}{{ else }}nobody{{ end }}"
)
LEGACY = (
    "{{ if .System }}S{{ .System }}{{ end }}{{ if and .Prompt .Response }}P{{ end }}"
    "{{ .Prompt }}:{{ .Response }}!"
)


def arms(coverage: GoCoverage, taken: frozenset[int]) -> list[tuple[str, str, bool]]:
    """Return arms as construct, condition, outcome."""
    chosen = [coverage.arms[number] for number in sorted(taken)]
    return [(arm.construct, arm.text, arm.outcome) for arm in chosen]


def test_arms_of_every_construct() -> None:
    coverage = GoCoverage(CONSTRUCTS)
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "content": ""}]
    taken = coverage.take(Values(messages))
    assert taken.output == OllamaTemplate(CONSTRUCTS).execute(Values(messages))
    assert arms(coverage, taken.arms) == [
        ("if", ".Thinking", False),
        ("range", "$i, $m := .Messages", True),
        ("with", ".ToolCalls", False),
        ("with", "$.System", False),
        ("and", "eq .Role `user`", True),
        ("and", "eq .Role `user`", False),
        ("or", "gt $i 1", False),
        ("or", ".Content", True),
        ("and", "or (gt $i 1) .Content", True),
        ("if", "and (eq .Role `user`) (or (gt $i 1) .Content)", True),
        ("if", "and (eq .Role `user`) (or (gt $i 1) .Content)", False),
        ("if", "$x := .Content", False),
        ("if", "eq .Role `tool`", False),
        ("and", ".Content", False),
        ("if", "and .Content .Thinking", False),
    ]
    assert arms(coverage, coverage.take(Values([])).arms) == [("range", "$i, $m := .Messages", False)]


def test_an_arm_knows_the_arm_around_it() -> None:
    coverage = GoCoverage(
        "{{ if .System }}{{ else if or .Think .Tools }}{{ range .Messages }}{{ end }}{{ end }}"
    )
    parents = [None if arm.parent is None else coverage.arms[arm.parent] for arm in coverage.arms]
    assert [parent and (parent.text, parent.outcome) for parent in parents] == [
        None,
        None,
        (".System", False),
        (".System", False),
        (".Think", False),
        (".Think", False),
        (".System", False),
        (".System", False),
        ("or .Think .Tools", True),
        ("or .Think .Tools", True),
    ]


def test_arms_before_an_error() -> None:
    coverage = GoCoverage("{{ if .Messages }}a{{ index .Messages 7 }}{{ end }}")
    taken = coverage.take(Values([{"role": "user", "content": "x"}]))
    assert taken.error is not None
    assert "index out of range" in taken.error.message
    assert taken.output == "a"
    assert arms(coverage, taken.arms) == [("if", ".Messages", True)]


@pytest.mark.parametrize(
    "source",
    [CONSTRUCTS, LEGACY, *(path.read_bytes().decode() for path in TEMPLATES)],
    ids=["constructs", "legacy", *(path.stem for path in TEMPLATES)],
)
def test_marks_change_nothing_in_ollama(source: str, go_oracle: GoOracle) -> None:
    coverage = GoCoverage(source, ollama=OLLAMA_VERSION)
    plain = go_oracle.render_all(source, REQUESTS)
    marked = go_oracle.render_all(coverage.marked, REQUESTS)
    for request, with_marks, without in zip(REQUESTS, marked, plain, strict=True):
        read = read_marks(with_marks.output.decode())
        assert (read.output, with_marks.stage) == (without.output.decode(), without.stage)
        taken = coverage.take(Values(**request))
        assert taken.arms == read.arms
        assert (taken.error is None) == (without.error is None)
