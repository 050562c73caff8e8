"""Printing: the identity on what was parsed, one canonical style for what was made."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.gotmpl.parsing import FUNCTIONS, decode
from tests.oracle.parse.record import RECORDING
from transplate.gotmpl.nodes import (
    Action,
    Body,
    Bool,
    Chain,
    Clause,
    Command,
    Comment,
    Define,
    Dot,
    Else,
    Field,
    Identifier,
    If,
    Item,
    Nil,
    Number,
    Operand,
    Pipeline,
    Range,
    String,
    TemplateCall,
    Text,
    Variable,
    With,
)
from transplate.gotmpl.parser import parse
from transplate.gotmpl.printer import Node, print_node, print_template

REPOSITORY = Path(__file__).parents[2]


def valid_templates() -> list[str]:
    rows = [json.loads(line) for line in RECORDING.read_text(encoding="utf-8").splitlines()]
    return [decode(template) for _, template, answer in rows if "templates" in answer]


def test_parse_and_print_is_the_identity() -> None:
    templates = valid_templates()
    assert len(templates) > 300
    for template in templates:
        assert print_template(parse(template, functions=FUNCTIONS)) == template


@pytest.mark.parametrize(
    "path", sorted((REPOSITORY / "templates" / "gotmpl").glob("*.gotmpl")), ids=lambda path: path.stem
)
def test_the_identity_on_our_own_templates(path: Path) -> None:
    text = path.read_bytes().decode()
    assert print_template(parse(text, functions=("json", "currentDate"))) == text


def test_the_identity_on_the_shared_templates(shared_folder: Path) -> None:
    functions = ("json", "currentDate", "yesterdayDate", "toTypeScriptType")
    templates: set[str] = set()
    with gzip.open(shared_folder / "corpus/gotmpl_public.jsonl.gz", "rt", encoding="utf-8") as lines:
        templates.update(json.loads(line)["gotmpl"] for line in lines)
    library = (shared_folder / "corpus/ollama_library_pairs.jsonl").read_text(encoding="utf-8")
    templates.update(json.loads(line)["gotmpl"] for line in library.splitlines())
    for name in ("errors", "fuzz", "library", "inference"):
        with gzip.open(shared_folder / f"vectors/{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            vectors = [json.loads(line) for line in lines]
        templates.update(vector["template"] for vector in vectors if vector.get("stage") != "parse")
    assert len(templates) > 5_000
    for template in templates:
        assert print_template(parse(template, functions=functions)) == template


# --- trees that were made -----------------------------------------------------------------------------------


def pipeline(*commands: tuple[Operand, ...], declare: str = "") -> Pipeline:
    declarations = (Variable(declare),) if declare else ()
    return Pipeline(tuple(Command(operands) for operands in commands), declarations)


X = Field(("X",))
ONE = Number("1", 1)
CANONICAL: list[tuple[Item, str]] = [
    (Text("a\n", "a\n"), "a\n"),
    (Comment("/* c */"), "{{/* c */}}"),
    (Comment("/* c */", Clause(trim_left=True, trim_right=True)), "{{- /* c */ -}}"),
    (Action(pipeline((X,))), "{{ .X }}"),
    (Action(pipeline((X,)), Clause(trim_left=True)), "{{- .X }}"),
    (Action(pipeline((X,)), Clause(trim_right=True)), "{{ .X -}}"),
    (Action(pipeline((Identifier("print"), Nil(), Bool(value=True), Dot()))), "{{ print nil true . }}"),
    (
        Action(pipeline((Identifier("eq"), Field(("A", "B")), String('"s"', "s")), (Identifier("not"),))),
        '{{ eq .A.B "s" | not }}',
    ),
    (
        Action(pipeline((Chain(pipeline((Identifier("index"), X, ONE)), ("A", "B")),))),
        "{{ (index .X 1).A.B }}",
    ),
    (Action(pipeline((Variable("$x", ("A", "B")),), declare="$y")), "{{ $y := $x.A.B }}"),
    (
        Action(replace(pipeline((X,), declare="$y"), is_assignment=True, trailing_pipe=True)),
        "{{ $y = .X | }}",
    ),
    (
        Range(Pipeline((Command((X,)),), (Variable("$i"), Variable("$e"))), (Text("a", "a"),), Else(())),
        "{{ range $i, $e := .X }}a{{ else }}{{ end }}",
    ),
    (
        Range(Pipeline((Command((X,)),), (Variable("$i"),), comma_only=True), ()),
        "{{ range $i, .X }}{{ end }}",
    ),
    (
        If(pipeline((X,)), (), If(pipeline((ONE,)), (), Else(()), end=None)),
        "{{ if .X }}{{ else if 1 }}{{ else }}{{ end }}",
    ),
    (
        If(pipeline((X,)), (), Else((If(pipeline((ONE,)), ()),))),
        "{{ if .X }}{{ else }}{{ if 1 }}{{ end }}{{ end }}",
    ),
    (
        With(pipeline((X,)), (), With(pipeline((ONE,)), (), end=None), end=Clause(trim_left=True)),
        "{{ with .X }}{{ else with 1 }}{{- end }}",
    ),
    (TemplateCall(String('"t"', "t")), '{{ template "t" }}'),
    (TemplateCall(String("`t`", "t"), pipeline((Dot(),))), "{{ template `t` . }}"),
    (Define(String('"t"', "t"), (Text("a", "a"),)), '{{ define "t" }}a{{ end }}'),
]


@pytest.mark.parametrize(("item", "text"), CANONICAL, ids=[text for _, text in CANONICAL])
def test_the_canonical_style(item: Item, text: str) -> None:
    assert print_template((item,)) == text


@pytest.mark.parametrize(
    "text", [text for _, text in CANONICAL if "$x" not in text and "range $i, .X" not in text]
)
def test_the_canonical_style_can_be_read(text: str) -> None:
    assert print_template(parse(text)) == text


def test_spacing_that_no_longer_fits_gives_way() -> None:
    (item,) = parse("{{-   .X}}").body
    assert isinstance(item, Action)
    changed = replace(item, pipeline=pipeline((Identifier("print"), X)))
    assert print_template((changed,)) == "{{- print .X }}"
    clause = replace(item.clause, trim_right=True)
    assert print_template((replace(item, clause=clause),)) == "{{- .X -}}"
    assert print_template((replace(item, pipeline=pipeline((ONE,))),)) == "{{-   1}}"


NODES: list[tuple[str, str]] = [
    ("{{if .X}}a{{else if .Y}}b{{end}}", "{{if .X}}a{{else}}{{if .Y}}b{{end}}{{end}}"),
    (
        "{{- range $i , $e:=.X -}} a {{- /* c */ -}} b {{- break -}} {{end}}",
        "{{range $i, $e := .X}}ab{{break}}{{end}}",
    ),
    ("{{$v := 1}}{{range $i, $v}}{{end}}", "{{$v := 1}}{{range $i := $v}}{{end}}"),
    ("{{ block `a\tb` .X| print|  }}x{{end}}", r'{{template "a\tb" .X | print}}'),
    ("{{template `é\udcff`}}{{define `d`}}{{end}}", r'{{template "é\xff"}}'),
    ("{{( ( print ).X.Y ) . 'a' 0x1F }}", "{{((print).X.Y) . 'a' 0x1F}}"),
    (
        "{{with $x :=1}}{{continue}}{{else with 2}}{{end}}",
        "{{with $x := 1}}{{continue}}{{else}}{{with 2}}{{end}}{{end}}",
    ),
]


@pytest.mark.parametrize(("template", "printed"), NODES)
def test_nodes_as_gos_errors_show_them(template: str, printed: str) -> None:
    """The expected texts are Go's; the recorded answers hold some thousand more."""
    body: Body = parse(template.replace("{{continue}}", "")).body
    shown = "".join(map(print_node, body))
    assert shown == printed.replace("{{continue}}", "")


def test_a_pipeline_is_shown_without_parentheses() -> None:
    (item,) = parse("{{print (len .X)}}").body
    assert isinstance(item, Action)
    nodes: list[Node] = [item.pipeline, item.pipeline.commands[0], item.pipeline.commands[0].operands[1]]
    assert [print_node(node) for node in nodes] == ["print (len .X)", "print (len .X)", "len .X"]
