"""The fast form of a template prints what the exact form prints, or leaves the request to it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.fuzz.conversations import Conversations
from tests.oracle.conversations import CONVERSATIONS
from transplate import Limits, OllamaTemplate, Values
from transplate.errors import ErrorKind, TemplateExecutionError, TransplateError

TEMPLATES = Path(__file__).parent.parent.parent / "templates" / "gotmpl"
MESSAGES = "{{ range .Messages }}"

FAST = [
    "{{ .System }}{{ range $i, $m := .Messages }}{{ if eq (len (slice $.Messages $i)) 1 }}!{{ end }}"
    "{{ $m.Role }}{{ end }}",
    '{{ $last := "" }}{{ range .Messages }}{{ $last = . }}{{ end }}{{ if $last }}{{ $last.Role }}{{ end }}',
    '{{ range .Messages }}{{ if eq (slice .Role 0 2) "us" }}{{ .Content }}{{ end }}{{ end }}',
    '{{ range .Messages }}{{ if ge (len .Content) 3 }}{{ eq (slice .Content 0 3) "日" }}{{ end }}{{ end }}',
    '{{ $n := 0 }}{{ range .Messages }}{{ $n = len (printf "%*s " $n "") }}{{ $n }}{{ end }}',
    "{{ $s := .System }}{{ range .Messages }}{{ $s = print $s .Role 1 2 true }}{{ end }}{{ $s }}",
    '{{ range .Messages }}{{ or .Content .Thinking "none" }}{{ and .Content (eq .Role "user") }}{{ end }}',
    "{{ range .Messages }}{{ range .ToolCalls }}{{ .Function.Index }}{{ .Function.Arguments }}"
    "{{ range $k, $v := .Function.Arguments }}{{ $k }}={{ $v }};{{ end }}{{ .Function.Arguments.city }}"
    "{{ end }}{{ end }}",
    "{{ .Tools }}{{ range $i, $t := .Tools }}{{ . }}{{ json .Function.Parameters }}{{ .Function }}"
    "{{ range $n, $p := .Function.Parameters.Properties }}{{ $n }}:{{ $p.Type }}{{ toTypeScriptType $p }}"
    "{{ range $p.Enum }}{{ . }},{{ end }}{{ end }}{{ end }}{{ range .Messages }}{{ end }}",
    "{{ with .Tools }}{{ len . }}{{ else }}{{ .Nope }}{{ end }}{{ range .Messages }}{{ break }}{{ end }}",
    '{{ define "m" }}<{{ .Role }}>{{ end }}{{ range .Messages }}{{ template "m" . }}{{ end }}',
    '{{ define "s" }}{{ .System }}{{ range .Messages }}{{ .Role }}{{ end }}{{ end }}{{ template "s" . }}',
    "{{ range .Messages }}{{ html .Content }}{{ printf `%q` .Content }}{{ len .Content }}{{ lt .Role `u` }}"
    "{{ end }}",
    '{{ if .Think }}{{ .ThinkLevel }}{{ else if eq .ThinkLevel "" }}{{ .IsThinkSet }}{{ else }}x{{ end }}'
    "{{ range .Messages }}{{ end }}",
    "[{{ .System }}|{{ .Prompt }}|{{ .Response }}]",
    "{{ if .Prompt }}{{ .Prompt }}{{ else }}none{{ end }}{{ .Suffix }}",
]


def compare(template: OllamaTemplate, values: Values) -> bool:
    """Compare both forms; return whether the fast one did it."""
    execution = template._execution
    _, run, data = execution.call_on(values)
    fast = execution.run_fast(run, data, None)
    if fast is not None:
        assert fast == execution.run_exact(values, None), template.python_source
    return fast is not None


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.gotmpl")), ids=lambda path: str(path.stem))
def test_own_templates_on_ordinary_conversations(path: Path) -> None:
    template = OllamaTemplate(path.read_bytes().decode())
    for body in CONVERSATIONS.values():
        assert compare(template, Values(body["messages"], body.get("tools")))


@pytest.mark.parametrize("source", FAST)
@pytest.mark.parametrize("ollama", ["0.17.4", "0.33.0"])
def test_constructs_on_odd_conversations(source: str, ollama: str) -> None:
    template = OllamaTemplate(source, ollama=ollama)
    conversations = Conversations(Random(source))
    done = 0
    for _ in range(60):
        try:
            values = Values(**conversations.request())
        except TransplateError:
            continue
        done += compare(template, values)
    assert done > 10


@pytest.mark.parametrize(
    "source",
    [
        MESSAGES + "{{ . }}{{ end }}",
        MESSAGES + "{{ .Nope }}{{ end }}",
        MESSAGES + "{{ slice .Content 1 900 }}{{ end }}",
        MESSAGES + "{{ index $.Messages 9 }}{{ end }}",
        "{{ range .Messages }}{{ eq .Content 1 }}{{ end }}",
        '{{ range .Messages }}{{ slice "日" 0 1 }}{{ end }}',
        "{{ range .Messages }}{{ $x := index $.Messages 9 }}{{ end }}",
        "{{ range .Messages }}{{ if and (index $.Messages 9) false }}{{ end }}{{ end }}",
        "{{ range .Messages }}{{ currentDate (index $.Messages 9) }}{{ end }}",
    ],
)
def test_what_the_fast_form_cannot_do_is_left_to_the_exact_one(source: str) -> None:
    template = OllamaTemplate(source)
    execution = template._execution
    _, run, data = execution.call_on(Values([{"role": "user", "content": "hello"}]))
    assert execution.run_fast(run, data, None) is None


def test_source_can_be_read() -> None:
    source = OllamaTemplate("{{ range .Messages }}<{{ .Role }}>{{ end }}").python_source
    assert "for " in source
    compile(source, "<template>", "exec")


@pytest.mark.parametrize(
    ("source", "limits", "name"),
    [
        (MESSAGES + "{{ $.System }}{{ end }}", Limits(output=1000), "output"),
        ("{{ $x := .System }}" + MESSAGES + "{{ $x = print $x $x }}{{ end }}", Limits(output=1000), "output"),
        (MESSAGES + "{{ range $.Messages }}" * 2 + "{{ end }}" * 3, Limits(steps=100), "steps"),
        ("{{ .System }}{{ .Prompt }}", Limits(output=10), "output"),
    ],
)
def test_limits_hold(source: str, limits: Limits, name: str) -> None:
    messages = [{"role": "system", "content": "0123456789" * 10}]
    messages += [{"role": role, "content": "x" * 50} for role in ("user", "assistant") * 10]
    with pytest.raises(TemplateExecutionError, match=f"limit: {name}") as caught:
        OllamaTemplate(source, limits=limits).execute(Values(messages))
    assert caught.value.kind is ErrorKind.LIMIT


def test_long_conversations_take_linear_time() -> None:
    template = OllamaTemplate(FAST[0])
    for count in (2_000, 20_000):
        roles = ("user", "assistant") * (count // 2)
        text = template.execute(Values([{"role": role, "content": "x"} for role in roles]))
        assert text == "userassistant" * (count // 2 - 1) + "user!assistant"
