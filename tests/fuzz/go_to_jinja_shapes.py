"""Goes through what each function and statement of Go makes of each sort of value, one after the other.

``python -m tests.fuzz.go_to_jinja_shapes`` converts a small template for each use of each value and, with
``--pairs``, for each use of two of them, and compares what transformers prints with the live oracle. Fuzzing
finds what is likely; this finds what is not.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import product

from tests.convert.cases import Case, chat_context, make_case, meets, ollama_values
from tests.oracle.engines import Engine, TransformersEngine
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle
from transplate import OllamaTemplate, TransplateError, UnsupportedTemplate, to_jinja

CASES = [*(make_case(seed) for seed in range(5000, 5008)), Case(0, [], None, None)]

_MESSAGE = "{{ range $.Messages }}"
_CALL = _MESSAGE + "{{ range .ToolCalls }}"
_TOOL = "{{ range $.Tools }}"
_PROPERTY = _TOOL + "{{ range .Function.Parameters.Properties }}"
_VALUES = {
    "": (
        *("$", "$.System", "$.Messages", "$.Tools", "$.Think", "$.ThinkLevel", "$.Prompt", "$.Response"),
        *("nil", "true", "1", "-1", "1.5", "2.0", '"ab"', '""'),
    ),
    _MESSAGE: (".", ".Role", ".ToolName", ".Thinking", ".Images", ".ToolCalls"),
    "{{ range $i, $m := $.Messages }}": ("$i",),
    _CALL: (".", ".Function", ".Function.Arguments", ".Function.Index"),
    _CALL + "{{ range $key, $value := .Function.Arguments }}": (".", "$key"),
    _TOOL: (
        *(".", ".Items", ".Function", ".Function.Parameters", ".Function.Parameters.Required"),
        *(".Function.Parameters.Properties", ".Function.Parameters.Defs"),
    ),
    _PROPERTY: (".", ".Type", ".Enum", ".AnyOf", ".Properties", ".Items"),
}
"""The values by what stands around them."""

_ONE = (
    *("{{ V }}", "{{ json V }}", "{{ len V }}", "{{ not V }}", "{{ print V }}", "{{ print V 1 }}"),
    *(
        "{{ print V V }}",
        "{{ println V }}",
        '{{ printf "%s" V }}',
        '{{ printf "%v" V }}',
        '{{ printf "%d" V }}',
    ),
    *(
        '{{ printf "%q" V }}',
        '{{ printf "%5s" V }}',
        '{{ printf "%x" V }}',
        "{{ printf V }}",
        '{{ printf "a" V }}',
    ),
    *('{{ printf "%s%s" V }}', '{{ printf "%*s" 2 V }}', "{{ html V }}", "{{ js V }}", "{{ urlquery V }}"),
    *(
        "{{ index V 0 }}",
        '{{ index V "a" }}',
        "{{ index V }}",
        "{{ index $.Messages V }}",
        "{{ index V 0 0 }}",
    ),
    *(
        '{{ index V "a" "b" }}',
        "{{ (index V 0).Role }}",
        "{{ slice V 0 1 }}",
        "{{ slice V 1 }}",
        "{{ slice V }}",
    ),
    *("{{ slice $.Messages V }}", "{{ slice V 0 0 1 }}", "{{ slice V -1 }}", "{{ slice V 2 1 }}"),
    *(
        "{{ slice V 0 1 | len }}",
        "{{ if V }}T{{ else }}F{{ end }}",
        "{{ with V }}T{{ . }}{{ else }}F{{ end }}",
    ),
    *("{{ range V }}R{{ else }}N{{ end }}", "{{ range $a, $b := V }}{{ $a }};{{ else }}N{{ end }}"),
    *("{{ range $a := V }}{{ $a }};{{ end }}", "{{ range $a, $b := V }}{{ $b }};{{ end }}"),
    *("{{ range $a := V }}{{ if $a }}{{ break }}{{ end }}{{ $a }}{{ end }}", "{{ and V 1 }}", "{{ or V 1 }}"),
    *("{{ and 1 V }}", "{{ or 0 V }}", "{{ if and V V }}T{{ end }}", '{{ eq V "user" }}', "{{ eq V 1 }}"),
    *("{{ eq V nil }}", "{{ eq V true }}", "{{ eq V 1.5 }}", "{{ eq V V }}", '{{ ne V "user" }}'),
    *(
        "{{ ne V nil }}",
        "{{ eq 1 V 2 }}",
        '{{ eq "user" V }}',
        "{{ eq V }}",
        "{{ lt V 1 }}",
        '{{ lt V "b" }}',
    ),
    *(
        "{{ gt V 1.5 }}",
        "{{ le V V }}",
        "{{ $x := V }}{{ $x }}{{ $x }}",
        '{{ $x := "" }}{{ $x = V }}{{ $x }}',
    ),
    *("{{ $x := 1 }}{{ if $.System }}{{ $x = V }}{{ end }}{{ $x }}", "{{ V | print }}", "{{ V | json }}"),
    *("{{ V | len }}", "{{ (V).String }}", "{{ (V).Foo }}", "{{ (V).Foo.Bar }}", "{{ (V).Role }}"),
    *(
        "{{ (V).Name }}",
        "{{ (V).Type }}",
        "{{ (V).a }}",
        "{{ (V).items }}",
        "{{ (V).Len }}",
        "{{ (V).ToMap }}",
    ),
    *("{{ (V).ToMap.a }}", "{{ (V).ToTypeScriptType }}", "{{ toTypeScriptType V }}", "{{ currentDate V }}"),
    *(
        '{{ template "t" V }}{{ define "t" }}<{{ . }}>{{ end }}',
        "{{ V 1 }}",
        "{{ true V }}",
        "{{ (V).Foo 1 }}",
    ),
    *('{{ template "t" V }}{{ define "t" }}{{ .Foo.Bar }}{{ end }}', "{{ $x := V }}{{ $x.Foo.Bar }}"),
    *('{{ block "b" V }}[{{ . }}{{ $ }}]{{ end }}', "{{ json (print V) }}", "{{ len (print V) }}"),
    *('{{ (or V "z") | print }}', '{{ (and V "z") | json }}', '{{ printf "%s %s" V (print 1) }}'),
)
_TWO = (
    *("{{ eq V W }}", "{{ ne V W }}", "{{ lt V W }}", "{{ and V W }}", "{{ or V W }}", "{{ json (or V W) }}"),
    *(
        "{{ print V W }}",
        "{{ if or V W }}T{{ end }}",
        "{{ (or V W).Role }}",
        "{{ index V W }}",
        "{{ slice V W }}",
    ),
    *("{{ range or V W }}{{ . }};{{ else }}N{{ end }}", '{{ eq (or V W) "user" }}', "{{ eq 1 V W }}"),
    *(
        "{{ $x := V }}{{ if $.System }}{{ $x = W }}{{ end }}" + use
        for use in (
            *("{{ $x }}", "{{ json $x }}", "{{ if $x }}T{{ end }}", "{{ range $x }}R{{ else }}N{{ end }}"),
            *(
                "{{ len $x }}",
                '{{ eq $x "user" }}',
                "{{ $x.Role }}",
                "{{ print $x 1 }}",
                '{{ printf "%v" $x }}',
            ),
            *("{{ with $x }}{{ . }}{{ end }}", "{{ $y := $x }}{{ $y }}", "{{ eq $x 1 }}", "{{ or $x 1 }}"),
            *("{{ not $x }}", "{{ slice $x 1 }}", "{{ $x.Function.Name }}"),
        )
    ),
)


def templates(*, pairs: bool) -> Iterator[str]:
    """Yield a template for each use of each value, or for each use of two values at one place."""
    outside = _VALUES[""]
    for around, values in _VALUES.items():
        for value in values:
            for other in dict.fromkeys((*values, *outside)) if pairs else ("",):
                for use in _TWO if pairs else _ONE:
                    yield _template(around, use.replace("V", value).replace("W", other))


def legacy_templates() -> Iterator[str]:
    """Yield a template without messages for each use of each value, in front of the cut and behind."""
    for value in (".", "$", ".System", ".Prompt", ".Response", ".Think", ".ThinkLevel", ".Nope", ".Nope.A"):
        for use in _ONE:
            used = use.replace("V", value).replace("$.System", ".System").replace("$.Messages", ".System")
            yield from (used, f"{{{{ .Prompt }}}}{used}<a>{{{{ .Response }}}}", f"{{{{ .Response }}}}{used}")


def _template(around: str, use: str) -> str:
    source = around + use + "{{ end }}" * around.count("range")
    return source if ".Messages" in source else source + "{{ range .Messages }}{{ end }}"


def differences(source: str, oracle: GoOracle, engine: Engine, counts: Counter[str]) -> Iterator[str]:
    """Yield where a converted template does not print what Ollama prints, in both styles."""
    try:
        template = OllamaTemplate(source, ollama=OLLAMA_VERSION)
        styles = [to_jinja(source, exact=exact, ollama=OLLAMA_VERSION) for exact in (True, False)]
    except UnsupportedTemplate:
        counts["refused"] += 1
        return
    except TransplateError:
        counts["invalid"] += 1
        return
    counts["converted"] += 1
    thinks = "thinking" in template.inference.abilities
    answers = oracle.render_all(source, [ollama_values(case, thinks=thinks) for case in CASES])
    for (case, answer), style in product(zip(CASES, answers, strict=True), styles):
        if not meets(case, (each.name for each in style.assumptions)):
            continue
        rendered = engine.render(style.text, chat_context(case, thinks=thinks))
        wanted = answer.output.decode("utf-8", "replace")
        if answer.error is not None and rendered.error is not None:
            counts["failing in both"] += 1
        elif answer.error is not None and style is not styles[0]:
            counts["failing in Ollama alone"] += 1  # the default form need not fail
        elif answer.error is None and rendered.text == wanted:
            counts["equal"] += 1
        else:
            got = rendered.text if rendered.error is None else f"error: {rendered.error}"
            yield f"{source}\n  seed {case.seed}\n  Ollama {answer.error or wanted!r}\n  engine {got!r}"


def main() -> int:
    """Run from the command line; the exit status is 1 if anything differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", action="store_true", help="two values at a time")
    parser.add_argument("--legacy", action="store_true", help="templates that do not name the messages")
    parser.add_argument("--part", default="1/1", help="the first of seven parts is 1/7")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    begin = time.monotonic()
    oracle, engine = GoOracle(), TransformersEngine()
    counts: Counter[str] = Counter()
    found = 0
    sources = legacy_templates() if options.legacy else templates(pairs=options.pairs)
    for number, source in enumerate(sources):
        if number % parts == part - 1:
            for difference in differences(source, oracle, engine, counts):
                found += 1
                print(difference, flush=True)
    oracle.close()
    engine.close()
    print(dict(counts))
    print(f"{found} differences, {time.monotonic() - begin:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
