"""What is inferred from a template: real Ollama's own inference on mutants, and what it does not tell."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.mutation import mutate
from tests.fuzz.templates import Templates
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle
from tests.oracle.ollama import Inference as Inferred
from transplate import OllamaTemplate, TemplateSyntaxError
from transplate.ollama.inference import Inference

THINKS = "{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}"
CALLS = "{{ if .ToolCalls }}[CALLS]{{ range .ToolCalls }}{{ .Function.Name }}{{ end }}{{ end }}"
SHAPES = [
    "{{ range .Messages }}%s%s{{ end }}",
    "{{ range .Messages }}{{ if .Content }}%s{{ else }}%s{{ end }}{{ end }}",
    "{{ range $i, $m := .Messages }}{{ with . }}%s{{ else with $ }}%s{{ end }}{{ end }}",
    "{{ if true }}{{ range (print .Messages) }}a{{ range .X }}%s{{ end }}%s{{ end }}{{ end }}",
    "{{ define `x` }}%s{{ end }}{{ range .Messages }}{{ template `x` . }}{{ else }}%s{{ end }}",
    "{{ range (index .Messages 0).ToolCalls }}%s{{ end }}{{ range .Messages.X }}%s{{ else if 1 }}{{ end }}",
    "{{ range .Messages }}{{- /* c */ -}} {{ if 1 }}{{ else if 2 }}%s{{ else }}%s{{ end }}{{ break }}{{end}}",
]
PARTS = [
    THINKS,
    CALLS,
    "{{ .Thinking }}",
    "{{ $.Thinking }}{{ .Thinking.X }}",
    "\u3000<a>\x1f{{ print (print .Thinking) }}\u00a0</a>\x85",
    "{{/* c */}}<a>{{ .X.Thinking }}{{ .Thinking }}{{ block `b` .Thinking }}x{{ end }}</a>{{ break }}",
    '{{ if and .ToolCalls 1 }}  {{ if .X }}\r\n\t{ {{ else }}[T] {"{{ end }}{{ end }}',
    "{{ if (.ToolCalls) }}[NOT]{{ end }}{{ if .X.ToolCalls }}{{ template `t` . }}\r\n<x> {{ end }}",
    "{{ if .ToolCalls }} {{ .X }}[NOT]{{ end }}{{ if .ToolCalls }}[NOT]{{ end }}",
    "{{ if .ToolCalls }}{{ range .ToolCalls }} {{ else }}<e>{{ end }}[NOT]{{ end }}",
]


def shapes() -> list[str]:
    """Return templates of many shapes around the two fields that the tags are inferred from."""
    return [shape % (first, second) for shape in SHAPES for first in PARTS for second in PARTS]


def compare(oracle: GoOracle, sources: list[str]) -> int:
    """Return how many of the templates Ollama takes; fail where it infers something else than we do."""
    taken = 0
    for source in sources:
        wanted = oracle.infer(source)
        ours: Inferred | str | None
        try:
            found = OllamaTemplate(source, ollama=OLLAMA_VERSION).inference
            ours = Inferred(found.variables, found.thinking_tags or ("", ""), found.tool_tag, found.functions)
        except TemplateSyntaxError as error:
            ours = error.message
        assert ours == (wanted if isinstance(wanted, Inferred) else wanted.error), source
        taken += isinstance(wanted, Inferred)
    return taken


def test_shapes(go_oracle: GoOracle) -> None:
    assert compare(go_oracle, shapes()) > 0.8 * len(shapes())


def test_mutants(go_oracle: GoOracle) -> None:
    rng = Random(7)
    sources = shapes()
    mutants = [mutate(rng.choice(sources), rng.choice(sources), rng)[0] for _ in range(600)]
    assert compare(go_oracle, mutants) > 100


def test_generated(go_oracle: GoOracle) -> None:
    rng = Random(8)
    assert compare(go_oracle, [Templates(rng).template().source for _ in range(200)]) > 50


def infer(source: str) -> Inference:
    return OllamaTemplate(source).inference


def test_abilities_come_in_ollamas_order() -> None:
    assert infer(
        "{{ .Suffix }}{{ .Tools }}{{ range .Messages }}<a>{{ .Thinking }}</a>{{ end }}"
    ).abilities == ("tools", "insert", "thinking")
    assert infer("{{ range .Messages }}<a>{{ .Thinking }}{{ end }}").abilities == ()
    assert infer("{{ range .Messages }}<a>{{ .Thinking }}{{ end }}").thinking_tags == ("<a>", "")
    assert infer("{{ .Prompt }}").thinking_tags is None


ROLES = {
    "field": "{{ range .Messages }}{{ if eq .Role `user` `tool` }}{{ else if ne `a` .Role }}{{ end }}{{end}}",
    "variable": "{{ range $m := .Messages }}{{ $r := $m.Role }}{{ print (eq $r `a` `user`) }}{{ end }}"
    '{{ if eq (index .Messages 0).Role "tool" }}{{ end }}',
    "pipe": '{{ range .Messages }}{{ with .Role }}{{ . | eq "a" "user" "tool" }}{{ end }}{{ end }}'
    '{{ eq .System "b" }}',
    "template": '{{ define "x" }}{{ eq .Role "a" "user" "tool" }}{{ end }}'
    '{{ range .Messages }}{{ template "x" . }}{{ end }}',
}


@pytest.mark.parametrize("source", ROLES.values(), ids=ROLES)
def test_roles(source: str) -> None:
    assert infer(source).roles == ("a", "tool", "user")


def test_fields_and_functions() -> None:
    found = infer("{{ range .Messages }}{{ (json .ToolCalls).X }}{{ $.Tools | len }}{{ end }}")
    assert found.fields == ("Messages", "ToolCalls", "Tools", "X")
    assert found.functions == ("json", "len")


PROPERTIES = "{{ range .Tools }}{{ range .Function.Parameters.Properties }}%s{{ end }}{{ end }}"
OLDEST = {
    "{{ .System }}{{ .Prompt }}{{ .Response }}": "0.1.24",
    "{{ .Prompt }}{{ .Suffix }}": "0.2.6",
    "{{ range .Messages }}{{ .Role }}{{ .Content }}{{ .Images }}{{ end }}": "0.2.2",
    "{{ range .Messages }}{{ .ToolCalls }}{{ end }}": "0.2.6",
    "{{ range .Messages }}{{ range .ToolCalls }}{{ .Function.Index }}{{ end }}{{ end }}": "0.4.7",
    "{{ range .Messages }}{{ range .ToolCalls }}{{ .ID }}{{ end }}{{ end }}": "0.12.10",
    "{{ range .Messages }}{{ .Thinking }}{{ end }}": "0.9.0",
    "{{ range .Messages }}{{ .ToolName }}{{ end }}": "0.9.6",
    "{{ (index .Messages 0).ToolCallID }}{{ .Messages }}": "0.12.10",
    "{{ .Messages }}{{ if .ThinkLevel }}{{ end }}": "0.11.1",
    "{{ .Messages }}{{ currentDate }}": "0.11.1",
    "{{ .Messages }}{{ yesterdayDate }}": "0.13.3",
    "{{ json .Messages }}": "0.2.6",
    "{{ range .Tools }}{{ .Function.Parameters.Required }}{{ end }}": "0.2.6",
    "{{ range .Tools }}{{ .Function.Parameters.Items }}{{ end }}": "0.6.6",
    "{{ range .Tools }}{{ .String }}{{ end }}": "0.30.0",
    PROPERTIES % "{{ .Type }}{{ .Description }}{{ .Enum }}": "0.2.6",
    PROPERTIES % "{{ $p := . }}{{ $p.Required }}": "0.20.0",
    PROPERTIES % "{{ .ToTypeScriptType }}": "0.11.3",
    PROPERTIES % "{{ .Properties.Len }}": "0.14.0",
    "{{ with .System }}{{ else with .Prompt }}{{ end }}": "0.5.2",
}


@pytest.mark.parametrize(("source", "version"), OLDEST.items())
def test_oldest_ollama(source: str, version: str) -> None:
    assert infer(source).oldest_ollama == version


def test_a_deep_template_is_no_danger() -> None:
    depth = 3000
    source = "{{ if .Messages }}" * depth + "{{ .Response }}{{ json .Tools }}" + "{{ end }}" * depth
    found = infer(source)
    assert (found.variables, found.functions) == (("messages", "response", "tools"), ("json",))
