"""The errors that Go and Ollama can raise on Ollama's data, each with templates that bring it about.

The kinds are those of Go's lexer, parser and executor, of its built-in functions, of reflect and of
Ollama's own template package. Errors that no template can reach on this data are not listed: channels,
parameters of types that no function here has, a missing entry under another ``missingkey`` option.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of error.

    Attributes:
        kind: A name for it.
        stage: Where it comes up: ``parse``, ``exec`` or ``panic``.
        pattern: What its text looks like.
        examples: Template text that has it; execution faults stand anywhere in messages mode, unless they
            are ``whole``.
        whole: Whether the examples are whole templates.
    """

    kind: str
    stage: str
    pattern: str
    examples: tuple[str, ...]
    whole: bool = False


_PROPERTIES = "{{range $.Tools}}{{range $name, $property := .Function.Parameters.Properties}}"
_END = "{{end}}{{end}}"

FAULTS: tuple[Fault, ...] = (
    # --- lexer
    Fault("unclosed action", "parse", r"^unclosed action$", ("{{.X", "{{", '{{"a" ', "{{if .X")),
    Fault(
        "unclosed action started",
        "parse",
        r"unclosed action started at :\d+",
        ("{{.X\n", "{{\n\n.X", "{{if\n.X\n"),
    ),
    Fault("unclosed comment", "parse", r"^unclosed comment", ("{{/* x", "{{- /* x", "{{/*\n*")),
    Fault(
        "comment ends",
        "parse",
        r"comment ends before closing delimiter",
        ("{{/* x */ }}", "{{/* x */.X}}", "{{- /* x */"),
    ),
    Fault("unclosed left paren", "parse", r"^unclosed left paren", ("{{(.X}}", "{{print (print (1) }}")),
    Fault("unexpected right paren", "parse", r"unexpected right paren", ("{{.X)}}", "{{)}}", "{{print 1)}}")),
    Fault("expected :=", "parse", r"^expected :=", ("{{: 1}}", "{{$x := 1}}{{$x : 1}}", "{{.X :}}")),
    Fault(
        "unrecognized character",
        "parse",
        r"unrecognized character in action",
        ("{{§}}", "{{\x01}}", "{{.X \x7f}}"),
    ),
    Fault(
        "bad character",
        "parse",
        r"bad character U\+",
        ("{{.X#}}", "{{$x!}}", "{{print\u00a7 1}}", "{{true%}}"),
    ),
    Fault(
        "unterminated character", "parse", r"unterminated character constant", ("{{'a}}", "{{'", "{{'\n'}}")
    ),
    Fault(
        "unterminated quoted",
        "parse",
        r"unterminated quoted string",
        ('{{"a}}', '{{"\n"}}', '{{print "\\"}}'),
    ),
    Fault("unterminated raw", "parse", r"unterminated raw quoted string", ("{{`a}}", "{{print `")),
    Fault("bad number", "parse", r"bad number syntax", ("{{1a}}", "{{0x1G}}", "{{1+2}}", "{{3k}}")),
    Fault("in action started", "parse", r"in action started at", ("{{\n1a}}", '{{print\n"a}}', "{{.X\n §}}")),
    # --- numbers and strings
    Fault("malformed character", "parse", r"malformed character constant", ("{{'ab'}}", r"{{'\n\n'}}")),
    Fault(
        "integer overflow", "parse", r"integer overflow", ("{{08}}", "{{99999999999999999999}}", "{{089}}")
    ),
    Fault(
        "illegal number",
        "parse",
        r"illegal number syntax",
        ("{{1e309}}", "{{0b1i}}", "{{0o7i}}", "{{1__0}}", "{{0x}}"),
    ),
    Fault("complex number", "parse", r"strconv\.ParseFloat|illegal number", ("{{0x1+1i}}", "{{1+0x1i}}")),
    Fault(
        "invalid string",
        "parse",
        r"invalid syntax",
        ('{{"\\q"}}', r"{{'\q'}}", '{{"\\400"}}', r"{{'\ud800'}}"),
    ),
    # --- parser
    Fault(
        "unexpected end",
        "parse",
        r"unexpected \{\{end\}\}",
        ("{{end}}", "a{{end}}b", "{{if true}}{{end}}{{end}}"),
    ),
    Fault("unexpected else", "parse", r"unexpected \{\{else\}\}", ("{{else}}", "a{{- else -}}b")),
    Fault(
        "else in block clause",
        "parse",
        r"unexpected \{\{else\}\} in (block|define) clause",
        ('{{block "q" .}}{{else}}{{end}}', '{{define "q"}}{{else}}{{end}}'),
    ),
    Fault(
        "expected end",
        "parse",
        r"expected end; found",
        ("{{if .X}}{{else}}a{{else}}b{{end}}", "{{range .X}}{{else}}{{else}}{{end}}"),
    ),
    Fault("unexpected EOF", "parse", r"^unexpected EOF", ("{{if .X}}a", "{{range .X}}", '{{define "q"}}')),
    Fault(
        "unexpected in command",
        "parse",
        r"unexpected .* in command",
        ("{{, 1}}", "{{|}}", "{{| print}}", "{{=}}"),
    ),
    Fault(
        "unexpected in operand",
        "parse",
        r"unexpected .* in operand",
        ("{{.X =1}}", "{{print .X,1}}", "{{print 1 := 2}}"),
    ),
    Fault("unexpected in if", "parse", r"unexpected .* in if", ("{{if ,}}{{end}}", "{{if |}}{{end}}")),
    Fault(
        "unexpected in range",
        "parse",
        r"unexpected .* in range",
        ("{{range ,}}{{end}}", "{{range |}}{{end}}"),
    ),
    Fault(
        "unexpected in with", "parse", r"unexpected .* in with", ("{{with |}}{{end}}", "{{with ,}}{{end}}")
    ),
    Fault(
        "unexpected in end",
        "parse",
        r"unexpected .* in end",
        ("{{if .X}}{{end .X}}", "{{range .X}}{{end 1}}"),
    ),
    Fault("unexpected in else", "parse", r"unexpected .* in else", ("{{if .X}}{{else .X}}{{end}}",)),
    Fault(
        "unexpected in clauses",
        "parse",
        r"unexpected .* in (template|block|define) clause",
        (
            "{{template}}",
            "{{template .X}}",
            "{{block}}{{end}}",
            "{{define .X}}{{end}}",
            '{{define "q" .}}{{end}}',
        ),
    ),
    Fault(
        "unexpected in break",
        "parse",
        r"unexpected .* in \{\{(break|continue)\}\}",
        ("{{range .X}}{{break 1}}{{end}}",),
    ),
    Fault("unexpected in input", "parse", r"unexpected .* in input", ("{{if .X}}{{else with .X}}{{end}}",)),
    Fault("define inside", "parse", r"unexpected .*define", ('{{if .X}}{{define "q"}}{{end}}{{end}}',)),
    Fault(
        "unexpected in parentheses",
        "parse",
        r"in parenthesized pipeline",
        ("{{(,)}}", "{{print (|)}}", "{{(=)}}"),
    ),
    Fault(
        "missing value",
        "parse",
        r"missing value for",
        ("{{}}", "{{if}}{{end}}", "{{with}}{{end}}", "{{range}}{{end}}", "{{()}}", "{{$x := }}"),
    ),
    Fault(
        "non executable",
        "parse",
        r"non executable command in pipeline stage",
        ("{{1 | 2}}", "{{print | nil | len}}"),
    ),
    Fault("unexpected dot", "parse", r"unexpected \. after term", ("{{nil.X}}", "{{true.X}}", '{{"a".X}}')),
    Fault(
        "undefined function",
        "parse",
        r'function "\w+" not defined',
        ("{{foo}}", "{{print foo}}", "{{upper .X}}"),
    ),
    Fault("undefined variable", "parse", r"undefined variable", ("{{$q}}", "{{$q.X}}", "{{print $q}}")),
    Fault("break outside", "parse", r"\{\{break\}\} outside", ("{{break}}", "{{if .X}}{{break}}{{end}}")),
    Fault(
        "continue outside",
        "parse",
        r"\{\{continue\}\} outside",
        ("{{continue}}", "{{with .X}}{{continue}}{{end}}"),
    ),
    Fault(
        "range initializes",
        "parse",
        r"range can only initialize variables",
        ("{{range $i, 1 := .X}}{{end}}",),
    ),
    Fault(
        "too many declarations",
        "parse",
        r"too many declarations",
        ("{{$a, $b := .X}}", "{{if $a, $b := 1}}{{end}}"),
    ),
    Fault(
        "multiple definition",
        "parse",
        r"multiple definition of template",
        ('{{define "q"}}a{{end}}{{define "q"}}b{{end}}', '{{block "q" .}}a{{end}}{{define "q"}}b{{end}}'),
    ),
    Fault(
        "undefined template",
        "parse",
        r"undefined template specified",
        ('{{template "q"}}', '{{define "q"}}{{end}}{{template "q"}}'),
    ),
    # --- execution
    Fault(
        "no field",
        "exec",
        r"can't evaluate field \w+ in type",
        ("{{$.System.X}}", "{{range .Messages}}{{.X}}{{end}}{{$.Think.X}}"),
    ),
    Fault(
        "nil pointer",
        "exec",
        r"nil pointer evaluating",
        ("{{$.Nope.X}}", "{{$.Nope.X.Y}}", "{{(index $ `Nope`).X}}{{$.Nope.X}}"),
    ),
    Fault(
        "field with arguments",
        "exec",
        r"has arguments but cannot be invoked",
        ("{{range $.Messages}}{{.Role 1}}{{end}}", "{{range $.Messages}}{{.Role | .Content}}{{end}}"),
    ),
    Fault(
        "map entry with arguments",
        "exec",
        r"is not a method but has arguments",
        ("{{$.System 1}}", "{{1 | $.System}}", "{{$.Nope 1}}"),
    ),
    Fault(
        "argument for a value",
        "exec",
        r"can't give argument to non-function",
        ("{{1 2}}", '{{"a" .}}', "{{$ 1}}", "{{nil 1}}"),
    ),
    Fault("nil command", "exec", r"nil is not a command", ("{{nil}}", "{{(nil)}}", "{{nil | print}}")),
    Fault(
        "overflows int", "exec", r"overflows int", ("{{9223372036854775808}}", "{{print 0xffffffffffffffff}}")
    ),
    Fault(
        "unexported field",
        "exec",
        r"unexported field",
        (_PROPERTIES + "{{with .Properties}}{{.om}}{{end}}" + _END,),
    ),
    Fault(
        "results of a method",
        "exec",
        r"return values; should be 1 or 2|second return value should be error",
        (
            _PROPERTIES + "{{with .Properties}}{{.Get `a`}}{{end}}" + _END,
            _PROPERTIES + "{{with .Properties}}{{.Set `a` $property}}{{end}}" + _END,
        ),
    ),
    Fault(
        "arguments at least",
        "exec",
        r"wrong number of args for \S+ want at least",
        ("{{printf}}", "{{index}}", "{{and}}", "{{slice}}"),
    ),
    Fault(
        "arguments exactly",
        "exec",
        r"wrong number of args for \S+ want \d+ got",
        ("{{len}}", "{{len 1 2}}", "{{not}}", "{{json}}", "{{lt 1}}"),
    ),
    Fault(
        "expected string",
        "exec",
        r"expected string; found",
        ("{{currentDate 1}}", "{{printf 1}}", "{{yesterdayDate true}}"),
    ),
    Fault(
        "nil for a string", "exec", r"cannot assign nil to string", ("{{currentDate nil}}", "{{printf nil}}")
    ),
    Fault(
        "wrong type",
        "exec",
        r"wrong type for value; expected",
        ("{{currentDate $.Messages}}", "{{printf $.Nope}}", "{{$.Think | printf}}", "{{printf $}}"),
    ),
    Fault(
        "invalid value",
        "exec",
        r"invalid value; expected",
        ("{{$.Nope | printf}}", "{{$.Nope | currentDate}}"),
    ),
    Fault(
        "no constant of the type",
        "exec",
        r"can't handle .* for arg of type",
        (
            _PROPERTIES + "{{.Properties.UnmarshalJSON `x`}}" + _END,
            _PROPERTIES + "{{range .AnyOf}}{{.Type.UnmarshalJSON `x`}}{{end}}" + _END,
        ),
    ),
    Fault(
        "no template",
        "exec",
        r'template "[^"]*" not defined',
        ('{{template "q" .}}', '{{if true}}{{template "q r" 1}}{{end}}'),
    ),
    Fault(
        "undefined variable at work", "exec", r"undefined variable: ", ("{{$q = 1}}", "{{if $q = .}}{{end}}")
    ),
    Fault(
        "range over",
        "exec",
        r"range can't iterate over",
        ('{{range "abc"}}{{end}}', "{{range 1.5}}{{end}}", "{{range $.Nope}}{{end}}{{range true}}{{end}}"),
    ),
    Fault(
        "range variables",
        "exec",
        r"to iterate over more than one variable",
        ("{{range $i, $e := 3}}{{end}}", "{{range $i, $e := len $.System}}{{end}}"),
    ),
    Fault(
        "cannot print", "exec", r"can't print", (_PROPERTIES + "{{with .Properties}}{{.All}}{{end}}" + _END,)
    ),
    # --- functions
    Fault(
        "len of nil",
        "exec",
        r"error calling len: (len of nil|reflect: call)",
        ("{{len nil}}", "{{len $.Nope}}"),
    ),
    Fault("len of a type", "exec", r"len of type", ("{{len 3}}", "{{len true}}", "{{len 1.5}}")),
    Fault("index of nil", "exec", r"index of untyped nil", ("{{index nil 1}}", "{{index $.Nope 1}}")),
    Fault(
        "index of nil pointer",
        "exec",
        r"index of nil pointer",
        (_PROPERTIES + "{{index .Properties 1}}" + _END,),
    ),
    Fault(
        "index of a type",
        "exec",
        r"can't index item of type",
        ("{{index 3 1}}", "{{index true 0}}", "{{index $.Messages 0 0}}"),
    ),
    Fault(
        "index by a type",
        "exec",
        r"cannot index slice/array with type",
        ('{{index $.Messages "a"}}', "{{index $.System 1.0}}", "{{slice $.System `a`}}"),
    ),
    Fault(
        "index by nil",
        "exec",
        r"cannot index slice/array with nil",
        ("{{index $.Messages nil}}", "{{slice $.System nil}}"),
    ),
    Fault(
        "index out of range",
        "exec",
        r"index out of range: -?\d+",
        ("{{index $.Messages 99}}", '{{index "abc" -1}}', "{{slice $.System 9999}}"),
    ),
    Fault(
        "reflect index",
        "exec",
        r"reflect: \w+ index out of range",
        ('{{index "abc" 3}}', "{{index $.Messages (len $.Messages)}}"),
    ),
    Fault(
        "map key",
        "exec",
        r"value has type \S+ should be string",
        (
            "{{range $.Messages}}{{range .ToolCalls}}{{index .Function.Arguments 1}}{{end}}{{end}}",
            "{{index $ 1}}",
        ),
    ),
    Fault(
        "map key nil", "exec", r"value is nil; should be of type", ("{{index $ nil}}", "{{index $ $.Nope}}")
    ),
    Fault("slice of nil", "exec", r"slice of untyped nil", ("{{slice nil}}", "{{slice $.Nope 1}}")),
    Fault("slice of a type", "exec", r"can't slice item of type", ("{{slice 3 1}}", "{{slice $ 1}}")),
    Fault(
        "slice of nil pointer",
        "exec",
        r"slice of nil pointer",
        (_PROPERTIES + "{{slice .Properties 1}}" + _END,),
    ),
    Fault("too many indexes", "exec", r"too many slice indexes", ("{{slice $.Messages 0 0 0 0}}",)),
    Fault("three indexes", "exec", r"cannot 3-index slice a string", ('{{slice "abc" 0 1 2}}',)),
    Fault(
        "slice order",
        "exec",
        r"invalid slice index: \d+ > \d+",
        ('{{slice "abc" 2 1}}', "{{slice $.Messages 0 1 0}}"),
    ),
    Fault("call of nil", "exec", r"call of nil", ("{{call nil}}", "{{call $.Nope 1}}")),
    Fault(
        "call of a value",
        "exec",
        r"non-function \S+ of type",
        ("{{call 1}}", "{{call $.System}}", '{{call "a" 1}}'),
    ),
    Fault(
        "call of an iterator",
        "exec",
        r"error calling call",
        (_PROPERTIES + "{{with .Properties}}{{call .All 1}}{{end}}" + _END,),
    ),
    Fault(
        "incompatible types",
        "exec",
        r"incompatible types for comparison: \S+ and",
        ('{{eq 1 "a"}}', "{{lt 1 1.5}}", "{{eq true 1}}"),
    ),
    Fault("no second operand", "exec", r"missing argument for comparison", ("{{eq 1}}", "{{eq $.System}}")),
    Fault(
        "invalid comparison",
        "exec",
        r"invalid type for comparison",
        ("{{lt true false}}", "{{lt nil nil}}", "{{lt $.Messages $.Messages}}"),
    ),
    Fault(
        "non-comparable", "exec", r"non-comparable types? ", ("{{eq $.Messages $.Messages}}", "{{eq $ $}}")
    ),
    # --- Ollama
    Fault(
        "legacy function",
        "exec",
        r'"\w+" is not a defined function',
        ("{{.Prompt}}{{json .Prompt}}{{.Response}}", "{{currentDate}}{{.Response}}"),
        whole=True,
    ),
    Fault(
        "legacy template",
        "exec",
        r'template "[^"]*" not defined',
        ('{{define "q"}}x{{end}}{{template "q" .}}{{.Response}}',),
        whole=True,
    ),
    Fault(
        "legacy panic",
        "panic",
        r"interface conversion: parse\.Node is nil",
        ("{{if .Response}}a{{.Response}}{{else}}b{{end}}", "{{range .Response}}{{.Response}}{{else}}{{end}}"),
        whole=True,
    ),
)

_PATTERNS = [(fault.kind, fault.stage, re.compile(fault.pattern)) for fault in FAULTS]
_PREFIX = re.compile(r"^template: [^:]*:\d+(?::\d+)?: ")


def classify(stage: str, error: str) -> list[str]:
    """Return the features (``error:…``) that an error of the oracle reaches."""
    text = _PREFIX.sub("", error)
    return [f"error:{kind}" for kind, at, pattern in _PATTERNS if at == stage and pattern.search(text)]


FEATURES: frozenset[str] = frozenset(f"error:{fault.kind}" for fault in FAULTS) | {
    f"stage:{stage}" for stage in ("output", "request", "parse", "exec", "panic")
}


def insert(source: str, fault: Fault, rng: Random) -> str:
    """Return a template with a fault in it: where nothing hides it, or between any two of its actions."""
    example = rng.choice(fault.examples)
    if fault.whole:
        return example
    if fault.stage == "exec" and "Messages" not in source:
        # Most of the examples need what only messages mode has.
        example = "{{with .Messages}}{{end}}" + example
    if rng.random() < 0.25:
        places = [match.end() for match in re.finditer(r"\}\}", source)]
        at = rng.choice(places) if places else 0
    else:
        at = 0 if fault.stage == "exec" else len(source)
    return source[:at] + example + source[at:]
