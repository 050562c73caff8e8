"""The engine on plain data: constructs of each kind against real Go, and the bounds of an execution."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from tests.oracle.ollama import Answer, GoOracle
from transplate.errors import ErrorKind, TemplateExecutionError, TemplateSyntaxError
from transplate.gotmpl.template import GoError, GoTemplate
from transplate.limits import Limits

# --- the same functions as the oracle gives to templates in its mode "text" -----------------------------


def add(*numbers: int) -> int:
    return sum(numbers)


def echo(value: Any) -> Any:
    return value


def one_arg(a: str) -> str:
    return f"oneArg={a}"


def two_args(a: str, b: str) -> str:
    return f"twoArgs={a}{b}"


def ddd_arg(a: int, *b: str) -> str:
    return f"{a} [{' '.join(b)}]\n"


def die() -> bool:
    raise GoError("die")


FUNCTIONS = {
    "add": add,
    "echo": echo,
    "zeroArgs": lambda: "zeroArgs",
    "oneArg": one_arg,
    "twoArgs": two_args,
    "dddArg": ddd_arg,
    "returnInt": lambda: 7,
    "die": die,
}

DATA: dict[str, Any] = {
    "True": True,
    "False": False,
    "I": 17,
    "U16": 16,
    "X": "x",
    "S": "xyz",
    "U": {"V": "v"},
    "F": 2.5,
    "SI": [3, 4, 5],
    "SIEmpty": [],
    "SB": [True, False],
    "SMSI": [{"one": 1, "two": 2}, {"eleven": 11, "twelve": 12}],
    "MSI": {"one": 1, "two": 2, "three": 3},
    "MSIone": {"one": 1},
    "MSIEmpty": {},
    "Empty0": None,
    "Empty1": 3,
    "Empty2": "empty2",
    "Empty3": [7, 8],
    "Empty4": {"V": "UinEmpty"},
    "NonEmptyInterface": {"X": "x"},
    "PI": 23,
    "PS": "a string",
    "PSI": [21, 22, 23],
    "NIL": None,
    "é": "ü",
    "Bytes": "日本",
}
DOTS: Sequence[Any] = (DATA, None, 0, 1, "text", True, 2.5, [], [1, "b", None, [2.0]], {})

CONSTRUCTS = [
    "{{.}}",
    "{{.X}}{{.Nope}}{{.Nope.A}}{{.Nope.A.B}}",
    "{{.X.Y}}",
    "{{.X.Y.Z}}",
    "{{.Empty0.A}}",
    "{{(.Empty0).A}}",
    "{{$x := .Empty0}}{{$x.A}}",
    "{{(index .SMSI 0).one}}{{(index .SMSI 0).X}}",
    "{{(index .SI 0).X}}",
    "{{range .}}{{.}},{{end}}",
    "{{range $i := .}}{{$i}},{{end}}",
    "{{range $i, $x := .}}{{$i}}={{$x}},{{else}}none {{$x}}{{$i}}{{end}}",
    "{{$i := 7}}{{range $i = .SI}}{{$i}}{{end}}{{$i}}",
    "{{$i := 7}}{{$x := 8}}{{range $i, $x = .MSI}}{{$i}}{{$x}}{{end}}{{$i}}{{$x}}",
    "{{range $i, $x = .MSI}}{{$i}}{{end}}",
    "{{range .X}}{{end}}",
    "{{range or .X .I}}{{end}}",
    "{{range and .X 3 (print 4)}}{{end}}",
    "{{range .I}}{{.}}{{end}}",
    "{{range $k, $v := .I}}{{end}}",
    "{{range .MSI}}{{.}}{{break}}{{end}}{{range .MSI}}{{if eq . 3}}{{continue}}{{end}}{{.}}{{end}}",
    "{{range .SI}}{{range $.SB}}{{if .}}{{continue}}{{end}}{{break}}{{end}}{{.}}{{end}}",
    "{{with .X}}{{.}}{{else}}no{{end}}{{with .SIEmpty}}{{.}}{{else with .U}}{{.V}}{{else}}no{{end}}",
    "{{with $x := .X}}{{$x}}{{.}}{{$.I}}{{end}}",
    "{{if $x := .X}}{{$x}}{{else}}{{$x}}{{end}}{{if $x := .SIEmpty}}{{$x}}{{else}}{{$x}}{{end}}",
    "{{if and .X (not .NIL) (or .False .I)}}yes{{end}}",
    "{{and}}",
    "{{or .False .SIEmpty}}{{and .True .X}}{{or .NIL}}{{.X | and 1}}{{.X | or 0}}{{.X | or 1}}",
    "{{and .X (index .SI 9)}}",
    "{{and .False (index .SI 9)}}",
    "{{or true ($x := 1)}}{{$x}}",
    "{{or false ($x := 1)}}{{$x}}",
    "{{$x := 0}}{{or true ($x := 1)}}{{$x}}",
    "{{$x := 0}}{{range .SI}}{{and . ($x := 1)}}{{or . ($x := 2)}}{{$x}}{{end}}{{$x}}",
    "{{and false ($x = 1)}}{{$x}}",
    "{{$x = 1}}",
    "{{$ = 5}}{{$}}{{.X}}",
    "{{print ($x := 1) $x}}{{$x}}",
    "{{index}}",
    "{{index .SI}}{{index .SI 1}}{{index .MSI `two`}}{{index .MSI `no`}}{{index .SMSI 0 `two`}}",
    "{{index .SI 3}}",
    "{{index .SI 4}}",
    "{{index .SI -1}}",
    "{{index .SI `a`}}",
    "{{index .SI nil}}",
    "{{index .MSI 1}}",
    "{{index .MSI nil}}",
    "{{index nil 1}}",
    "{{index .I 1}}",
    "{{index .Bytes 0}}{{index .Bytes 6}}",
    "{{index .Bytes 7}}",
    "{{slice .Bytes 0 1}}{{slice .Bytes 1 3}}{{slice .SI 1}}{{slice .SI 1 2}}{{slice .SI 1 2 3}}",
    "{{slice .Bytes 0 1 | printf `%q %x` 1}}",
    "{{eq (print (slice .Bytes 0 1) (slice .Bytes 1 3)) `日`}}",
    "{{slice .SI 2 1}}",
    "{{slice .X 0 1 1}}",
    "{{slice .SI 0 1 2 3}}",
    "{{slice (slice .SI 0 1) 0 3}}",
    "{{slice (slice .SI 0 1 1) 0 3}}",
    "{{slice .I}}",
    "{{slice .NIL}}",
    "{{len .Bytes}}{{len .SI}}{{len .MSI}}",
    "{{len 3}}",
    "{{len .NIL}}",
    "{{$x := .NIL}}{{len $x}}",
    "{{len nil}}",
    "{{eq 1 1}}{{eq 1 2 1}}{{eq .X `x`}}{{eq .NIL nil}}{{eq .U16 16}}{{eq 1.5 1.5}}{{eq true false}}",
    "{{eq 1 1.0}}",
    "{{eq 1}}",
    "{{eq .SI .SI}}",
    "{{eq .SI nil}}{{eq nil .SI}}",
    "{{eq .MSI 1}}",
    "{{eq .MSI .SI}}",
    "{{eq 1 2 `a`}}",
    "{{ne 1 2}}{{lt 1 2}}{{le 2 2}}{{gt `b` `a`}}{{ge 1.5 2.5}}",
    "{{lt true false}}",
    "{{lt 1 `a`}}",
    "{{lt .SI 1}}",
    "{{gt .NIL 1}}",
    "{{lt 1i 2i}}",
    "{{index `abc` 0 | eq 97}}{{lt -1 (index `abc` 0)}}{{eq (index `abc` 0) 97}}",
    "{{not .X}}{{not nil}}{{not .NIL}}",
    "{{print 1 2 `a` 3 4}}{{println 1 2}}{{print nil}}{{print .NIL .SI .MSI}}",
    "{{printf `%d %v %T` 3 .X .F}}{{printf `%s` 1}}{{3 | printf `%d %d` 4}}",
    "{{printf 3}}",
    "{{printf .I}}",
    "{{.I | printf}}",
    "{{printf nil}}",
    "{{html `<&>` .NIL}}{{js `'a'` 1}}{{urlquery `a b` 1}}",
    "{{.X | html | print 1}}",
    "{{call .X}}",
    "{{call nil}}",
    "{{call}}",
    "{{.X | call}}",
    "{{oneArg .I}}",
    "{{oneArg .X}}{{oneArg `a`}}{{`p` | oneArg}}{{twoArgs `a` .X}}{{.X | twoArgs `a`}}",
    "{{oneArg}}",
    "{{oneArg 1 2}}",
    "{{1 | oneArg 2}}",
    "{{oneArg 1}}",
    "{{oneArg nil}}",
    "{{oneArg .NIL}}",
    "{{$x := .NIL}}{{oneArg $x}}",
    "{{oneArg (or .X .I)}}{{oneArg (or .I .X)}}",
    "{{3 | dddArg (or 1 `b`)}}",
    "{{dddArg 1 .X `b`}}{{dddArg}}",
    "{{.X | dddArg 1 `b`}}{{.I | dddArg}}{{.X | dddArg}}",
    "{{add 1 2 .I}}{{add}}{{add 1.0}}",
    "{{add 1.5}}",
    "{{add `a`}}",
    "{{add 1e3 0x10 'a' 1+0i}}",
    "{{add 18446744073709551615}}",
    "{{die}}",
    "{{if die}}{{end}}",
    "{{print (die)}}",
    "{{zeroArgs}}{{zeroArgs 1}}",
    "{{zeroArgs.X}}",
    "{{echo .NIL}}{{echo nil}}{{echo .SI | len}}{{print echo}}",
    "{{(echo .U).V}}{{(echo .NIL).V}}",
    "{{echo .U | index}}",
    "{{nil}}",
    "{{3 4}}",
    "{{.X 4}}",
    "{{.I.J 4}}",
    "{{$ 4}}",
    "{{$x := 1}}{{$x 4}}",
    "{{.X | .X}}",
    "{{.X | ($.X)}}",
    "{{(.X) 3}}",
    "{{.MSI.one}}{{.MSI.nope}}{{.MSI.one 3}}",
    "{{(nil).X}}",
    "{{1.5}} {{1e3}} {{0x1p4}} {{'a'}} {{1i}} {{1+2i}} {{-0.0}} {{1_000}} {{0b101}} {{0o17}} {{`r`}}",
    "{{18446744073709551615}}",
    "{{1e400}}",
    '{{define "a"}}<{{.}}{{$}}>{{end}}{{template "a" .X}}{{template "a"}}{{template "a" $x := 3}}{{$x}}',
    '{{define "a"}}{{.A.B}}{{end}}a{{template "a" .X}}',
    '{{define "a"}}{{if .}}{{template "a" (slice . 1)}}{{len .}}{{end}}{{end}}{{template "a" .S}}',
    '{{template "nope"}}',
    '{{block "b" .U}}[{{.V}}]{{end}}{{define "b"}}({{.V}}){{end}}',
    '{{block "b" .U}}[{{.V.W}}]{{end}}',
    "line\n  {{\n .X.Y.Z }}",
    "日本{{len 3}}",
    "日本\n日{{len 3}}",
    "{{.é}}{{len .é}}",
    "{{/* c */}}a{{- /* c */ -}} b {{- .X -}} c",
    "{{with .U}}{{$.X}}{{.V}}{{with $y := .V}}{{$y}}{{end}}{{end}}",
    "{{range $i, $x := .SMSI}}{{range $k, $v := $x}}{{$i}}{{$k}}{{$v}}{{end}}{{end}}",
    "{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{$x = 3}}{{$x}}{{end}}{{$x}}{{if true}}{{$x = 4}}{{end}}{{$x}}",
    "{{range .SI}}{{$y := .}}{{if eq $y 4}}{{$y = 0}}{{end}}{{$y}}{{end}}",
    "{{.SI}}{{.MSI}}{{.SMSI}}{{.NIL}}{{.Empty0}}{{.F}}{{.True}}",
]


def answer(source: str, data: Any, **options: Any) -> Answer:
    """Return what we make of a template, in the oracle's terms."""
    try:
        return Answer(GoTemplate(source, functions=FUNCTIONS, **options).render(data).encode())
    except TemplateSyntaxError as error:
        return Answer(b"", error.message, "parse")
    except TemplateExecutionError as error:
        return Answer(error.output.encode(), error.message, "exec")


def check(oracle: GoOracle, sources: Sequence[str], dots: Sequence[Any]) -> int:
    """Compare with the oracle; return how many cases agreed."""
    for source in sources:
        oracle.submit(source, dots, mode="text")
    differences = []
    for source in sources:
        for data, wanted in zip(dots, oracle.answers(), strict=True):
            found = answer(source, data)
            shown = Answer(wanted.output.decode("utf-8", "replace").encode(), wanted.error, wanted.stage)
            if found != shown:
                differences.append(f"{source!r} on {str(data)[:60]}\n  Go: {shown}\n  we: {found}")
    assert not differences, "\n".join([str(len(differences)), *differences[:10]])
    return len(sources) * len(dots)


def test_constructs(go_oracle: GoOracle) -> None:
    assert check(go_oracle, CONSTRUCTS, DOTS) == len(CONSTRUCTS) * len(DOTS)


# --- bounds ---------------------------------------------------------------------------------------------


def limit_of(source: str, data: Any = None, **limits: int) -> str:
    with pytest.raises(TemplateExecutionError) as caught:
        GoTemplate(source, limits=Limits(**limits)).render(data)
    assert caught.value.kind is ErrorKind.LIMIT
    return caught.value.message


def test_limits_are_named() -> None:
    assert "(limit: output)" in limit_of("{{range 1000}}0123456789{{end}}", output=5_000)
    assert "(limit: steps)" in limit_of("{{range 1000}}{{range 1000}}{{end}}{{end}}", steps=5_000)
    assert "(limit: depth)" in limit_of('{{define "a"}}{{template "a"}}{{end}}{{template "a"}}', depth=50)
    assert "(limit: depth)" in limit_of('{{define "a"}}{{template "a"}}{{end}}{{template "a"}}')
    assert "limit" in limit_of(
        '{{$x := "0123456789"}}{{range 100}}{{$x = print $x $x}}{{end}}', output=1 << 20
    )
    steps = '{{define "a"}}{{template "b"}}{{template "b"}}{{end}}{{define "b"}}{{template "a"}}{{end}}'
    assert "limit" in limit_of(steps + '{{template "a"}}', steps=10_000, depth=40)


@pytest.mark.parametrize(
    ("source", "data", "output"),
    [
        ("{{if true}}" * 1000 + "x" + "{{end}}" * 1000, None, "x"),
        ("{{range $i := 1}}" * 300 + "{{$i}}" + "{{end}}" * 300, None, "0"),
        ("{{range 3}}{{.}}" + "{{with 1}}" * 100 + "{{break}}" + "{{end}}" * 101, None, "0"),
        ("{{range 3}}" + "{{with 1}}" * 100 + "{{continue}}" + "{{end}}" * 100 + "{{.}}{{end}}", None, ""),
        ("{{" + "(" * 300 + "." + ")" * 300 + "}}", 5, "5"),
        ("{{" + "(print " * 300 + "($x := 3)" + ")" * 300 + "}}{{$x}}", None, "33"),
        (
            "{{if false}}" + "".join(f"{{{{else if eq . {n}}}}}{n}" for n in range(2000)) + "{{end}}",
            1999,
            "1999",
        ),
        ("{{." + " | print" * 2000 + "}}", 7, "7"),
        ("{{and " + "1 " * 5000 + "}}", None, "1"),
    ],
)
def test_templates_deeper_than_python(source: str, data: Any, output: str) -> None:
    assert GoTemplate(source).render(data) == output


def test_threads_share_a_template() -> None:
    template = GoTemplate("{{range $i, $x := .}}{{$y := $x}}{{if $i}},{{end}}{{$y}}{{end}}")
    results: list[bool] = []

    def work(number: int) -> None:
        data = [number] * 50
        wanted = ",".join([str(number)] * 50)
        results.extend(template.render(data) == wanted for _ in range(50))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 400


# --- Python's objects stay out of reach -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["__class__", "__init__", "keys", "upper", "real", "go_type", "value"])
@pytest.mark.parametrize("data", [{}, [], "text", 1, 1.5])
def test_no_attribute_of_python_is_reachable(name: str, data: Any) -> None:
    for source in (f"{{{{.{name}}}}}", f"{{{{(echo .).{name}}}}}", f"{{{{$x := .}}}}{{{{$x.{name}}}}}"):
        found = answer(source, data)
        assert found == Answer(b"<no value>") if data == {} else "can't evaluate field" in str(found.error)


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize("data", [object(), {"a": {1}}, [b"x"], {1: 2}, Text("a"), 1 << 63, {"f": print}])
def test_other_python_objects_are_refused(data: Any) -> None:
    with pytest.raises(TypeError):
        GoTemplate("{{.}}").render(data)
