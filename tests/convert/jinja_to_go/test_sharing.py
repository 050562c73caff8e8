"""What is written once for several places, and printed at once: it must print what it printed before."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from markupsafe import escape

from tests.convert.jinja_to_go.trees import made
from tests.oracle.ollama import GoOracle
from transplate.convert import to_go
from transplate.convert.jinja_to_go import cases, defines
from transplate.convert.jinja_to_go.collected import printed_at_once
from transplate.convert.jinja_to_go.tables import with_tables
from transplate.gotmpl.parser import parse
from transplate.gotmpl.printer import print_template
from transplate.ollama.functions import FUNCTIONS

_TRIM = (
    "{% for m in messages %}{{ m.role }}: {{ m.content | trim }}{% endfor %}{{ messages[0].content | trim }}"
)


def _at_once(text: str, *printing: str) -> str:
    return print_template(printed_at_once(made(parse(text, functions=FUNCTIONS).body), printing))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '{{ $t := "" }}{{ if .A }}{{ $t = print $t "a" .A }}{{ else }}{{ $t = print $t "b" }}{{ end }}'
            "{{ $t }}",
            "{{ if .A }}a{{ .A }}{{ else }}b{{ end }}",
        ),
        (
            '{{ $t := "" }}{{ if .A }}{{ $t = print $t .A }}{{ else }}{{ $t = print $t "b" }}{{ end }}'
            '{{ template "x" $t }}',
            '{{ if .A }}{{ template "x" print .A }}{{ else }}{{ template "x" "b" }}{{ end }}',
        ),
        (
            '{{ $o := "" }}{{ $t := "" }}{{ $t = print $t .A }}{{ $o = print $o $t }}{{ $o }}',
            "{{ .A }}",
        ),
        ("{{ $v := json .A }}{{ $v }}", "{{ json .A }}"),
    ],
)
def test_what_is_collected_only_to_be_printed_is_printed_at_once(before: str, after: str) -> None:
    assert _at_once(before, "x") == after


@pytest.mark.parametrize(
    "text",
    [
        '{{ $t := "" }}{{ $t = print $t .A }}x{{ $t }}',
        '{{ $t := "" }}{{ $t = print $t .A }}{{ if $t }}y{{ end }}{{ $t }}',
        '{{ $t := "" }}{{ if .A }}{{ $t = .A }}{{ end }}{{ $t }}',
        '{{ range .L }}{{ $t := "" }}{{ $t = print $t .A }}{{ if .B }}{{ break }}{{ end }}{{ $t }}{{ end }}',
        '{{ $t := "" }}{{ if .A }}{{ $t = print $t .A }}{{ end }}{{ template "x" $t }}',
        '{{ $t := "" }}{{ range .L }}{{ $t = print $t .A }}{{ end }}{{ template "x" $t }}',
        '{{ $t := "" }}{{ $t = print $t .A }}{{ template "x" . }}{{ $t }}',
        "{{ $v := json .A }}{{ $v }}{{ $v }}",
    ],
)
def test_what_would_print_something_else_stays(text: str) -> None:
    assert _at_once(text, "x") == text


def test_an_encoding_of_several_places_is_one_template() -> None:
    text = to_go(_TRIM, exact=True).text
    assert text.count('{{ template "trim"') == 2
    assert text.count("3000") == 2  # one list of white space for each end


def test_a_long_text_is_there_once() -> None:
    table = "ab" * 200
    body = parse(
        f'{{{{ $u := "{table}" }}}}{{{{ if . }}}}{{{{ $u = "{table}" }}}}{{{{ end }}}}{{{{ $u }}}}'
    ).body
    assert print_template(with_tables(body)).count(table) == 1


# --- against real Go --------------------------------------------------------------------------------------

_PIECES = [*"ab\"\\<>&\u2028\u2029é😀\n\t\x01\x7f:,{}[]1' ", "e-", "0.0000", "-0", "word and more words"]
_NUMBERS = [0, -0.0, 1, -1, 5.5, 1e-7, 1.5e-8, 0.00001, 0.0000123, 0.000012345, 0.0001, -0.00001, 1e20, 1e-10]


def _value(rng: Random, depth: int = 0) -> Any:
    kind = rng.randrange(10)
    text = "".join(rng.choices(_PIECES, k=rng.randrange(12)))
    if kind < 4 or depth > 3:
        return text
    if kind < 6:
        return rng.choice([*_NUMBERS, True, False, None])
    inner = [_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return inner if kind < 8 else {f"{text}{index}": item for index, item in enumerate(inner)}


def _as_python_has_it(value: Any) -> Any:
    """Return a value as Ollama's view gives it: keys in order, whole floats as integers."""
    if isinstance(value, float) and value == int(value):
        return int(value)
    if isinstance(value, list):
        return [_as_python_has_it(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_python_has_it(value[key]) for key in sorted(value)}
    return value


def test_json_and_repr_are_python_s(go_oracle: GoOracle) -> None:
    scans = {
        "json": defines.scan(None),
        "compact": defines.scan(None, compact=True),
        "indented": defines.scan(2),
        "further in": defines.scan(4, level=1),
        "repr": defines.scan_repr(),
    }
    template = "".join(
        f'{{{{ define "{name}" }}}}{text}{{{{ end }}}}' for name, text in defines.DEFINES.items()
    )
    template += '{{ range .Messages }}{{ range .ToolCalls }}{{ $s := index .Function.Arguments "v" }}'
    template += '{{ template "json" $s }}\x00{{ template "repr" $s }}\x00'
    template += "".join(f"{{{{ if true }}}}{text}{{{{ $d }}}}{{{{ end }}}}\x00" for text in scans.values())
    rng = Random(5)
    values = [value for value in (_value(rng) for _ in range(300)) if not isinstance(value, str | float)]
    cases_ = [
        {"messages": [{"role": "assistant", "content": "", "tool_calls": [_call({"v": value})]}]}
        for value in values
    ]
    for value, answer in zip(
        values, go_oracle.render_all(template + "{{ end }}{{ end }}", cases_), strict=True
    ):
        seen = _as_python_has_it(value)
        text = json.dumps(seen, ensure_ascii=False)
        deeper = json.dumps(seen, ensure_ascii=False, indent=4).replace("\n", "\n    ")
        wanted = [text, repr(seen), text, json.dumps(seen, ensure_ascii=False, separators=(",", ":"))]
        wanted += [json.dumps(seen, ensure_ascii=False, indent=2), deeper, repr(seen)]
        assert answer.error is None
        if isinstance(seen, dict | list):
            assert answer.output.decode().split("\x00")[:-1] == wanted


def _call(arguments: Any) -> dict[str, Any]:
    return {"function": {"name": "f", "arguments": arguments}}


def test_a_call_without_arguments_has_an_empty_dict(go_oracle: GoOracle) -> None:
    source = "{% for c in messages[0].tool_calls %}{{ c.function.arguments | tojson }}{% endfor %}"
    request = {
        "messages": [{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f"}}]}]
    }
    for exact in (True, False):
        assert go_oracle.render_all(to_go(source, exact=exact).text, [request])[0].output == b"{}"


@pytest.mark.parametrize("lower", [True, False])
def test_letters_change_as_in_python_or_stop(lower: bool, go_oracle: GoOracle) -> None:
    template = "".join(
        f'{{{{ define "{name}" }}}}{text}{{{{ end }}}}' for name, text in cases.DEFINES.items()
    )
    template += (
        f"{{{{ range .Messages }}}}{{{{ $s := .Content }}}}{cases.change_case(lower=lower, is_ascii=False)}"
    )
    letters = [*map(chr, range(0x21, 0x530)), *"\u0590\u05d0中😀\u2028ﬁẞ\u10d0"]
    requests = [{"messages": [{"role": "user", "content": f"x{letter}Y"}]} for letter in letters]
    stopped = 0
    for letter, answer in zip(
        letters, go_oracle.render_all(template + "{{ $d }}{{ end }}", requests), strict=True
    ):
        text = f"x{letter}Y"
        stopped += answer.error is not None
        assert answer.error is not None or answer.output.decode() == (text.lower() if lower else text.upper())
    assert stopped < 30


def test_escaping_for_html_leaves_nul_alone(go_oracle: GoOracle) -> None:
    source = "{% for m in messages %}{{ ('<b>' | safe) + m.content }}{% endfor %}"
    text = "\0a<b>&'\"\0\0é" * 3 + "x" * 20 + "\0"
    request = {"messages": [{"role": "user", "content": text}]}
    printed = go_oracle.render_all(to_go(source, exact=True).text, [request])[0].output.decode()
    assert printed == "<b>" + str(escape(text))
    assert [one.name for one in to_go(source).assumptions] == ["no-nul"]
