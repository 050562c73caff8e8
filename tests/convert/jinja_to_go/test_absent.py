"""Values that are not there, None, or of one of several types: as in transformers, in real Ollama."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.fuzz.jinja_to_go_corpus import TOKENS
from tests.fuzz.jinja_to_go_judge import RealJudge
from tests.fuzz.jinja_to_go_requests import Case
from transplate.convert import to_go
from transplate.errors import UnsupportedTemplate

_PARAMETERS = "tools[0].function.parameters"
VALUES = {
    "tools": "tools",
    "properties": f"{_PARAMETERS}.properties if tools else 'none'",
    "required": f"{_PARAMETERS}.required if tools else 'none'",
    "enum": f"{_PARAMETERS}.properties.a.enum if tools and {_PARAMETERS}.properties else 'none'",
    "calls": "messages[-1].tool_calls",
    "get": "messages[-1].get('tool_calls')",
    "thinking": "messages[-1].reasoning_content",
    "argument": "messages[1].tool_calls[0].function.arguments.l if messages|length > 1 else 'none'",
}
USES = [
    "{{ x|length }}",
    "{% for y in x %}.{% endfor %}",
    "{{ x|join(',') }}",
    "{{ 'a' in x }}",
    "{{ x|first is defined }}{{ x|last is defined }}",
    "{{ x[0] is defined }}",
    "{% for k, v in x|items %}{{ k }}{% endfor %}",
    "{% for k, v in x.items() %}{{ k }}{% endfor %}",
    "{{ x + 'a' }}",
    "{{ x ~ 'a' }}",
    "{{ x|tojson }}",
    "{{ x == none }}{{ x is none }}{{ x is defined }}{{ x != 'a' }}",
    "{{ x is string }}{{ x is mapping }}{{ x is iterable }}{{ x is sequence }}",
    "{% for y in x[:1] %}.{% endfor %}",
    "{{ x|selectattr('type')|list|length }}",
    "{{ x.foo is defined }}",
    "{{ x.foo.bar is defined }}",
    "{{ x|default('D') is string }}{{ x|default('D', true) is string }}",
    "{{ (x or [])|length }}",
    "{% if x > 3 %}{% endif %}",
    "{% set ns = namespace(v=x) %}{{ ns.v is none }}{% for y in ns.v %}.{% endfor %}",
    "{% macro f(v) %}{{ v|length }}{% for y in v %}.{% endfor %}{% endmacro %}{{ f(x) }}",
]


def _tool(parameters: dict[str, Any] | None) -> dict[str, Any]:
    return {"function": {"name": "f", **({} if parameters is None else {"parameters": parameters})}}


def _called(arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": "c",
        "thinking": "t" if arguments["l"] else "",
        "tool_calls": [{"function": {"name": "g", "arguments": arguments}}],
    }


USER = {"role": "user", "content": "q"}
CASES: list[Case] = [
    {"messages": [USER]},
    {"messages": [USER], "tools": [_tool(None)]},
    {"messages": [USER], "tools": [_tool({"properties": {"a": {"enum": ["x"]}}, "required": ["a"]})]},
    {"messages": [USER], "tools": [_tool({"properties": {"a": {"type": "string"}}})]},
    *({"messages": [USER, _called({"l": value})]} for value in (["p"], [], {"k": 1}, "text", "", None, 3)),
]


@pytest.mark.parametrize("name", VALUES)
def test_nothing_is_printed_for_what_jinja_refuses(judge: RealJudge, name: str) -> None:
    views = [view for view in judge.views(CASES) if view is not None]
    assert len(views) == len(CASES)
    counts: Counter[str] = Counter()
    for use in USES:
        source = f"{{% set x = {VALUES[name]} %}}{use}{{{{ messages|length }}}}"
        try:
            text = to_go(source, special_tokens=TOKENS, exact=True).text
        except UnsupportedTemplate:
            continue
        for wanted, found in zip(judge.wanted(source, TOKENS, views), judge.found(text, CASES), strict=True):
            counts["printed"] += wanted.text is not None
            counts["same"] += wanted.text is not None and wanted.text == found.text
            assert found.text in (None, wanted.text), (use, wanted.error, found.text)
    assert counts["same"] > 0.7 * counts["printed"] > 60


def test_what_one_way_fails_with_does_not_end_the_other(judge: RealJudge) -> None:
    source = (
        "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}"
        "{% for k, v in c.function.arguments.items() %}{% set ns = namespace(n=[]) %}"
        "{% if v['type'] is defined and v['type'] %}{% if v['type'] is string %}"
        "{% set ns.n = [v['type']|upper] %}{% else %}"
        "{% set ns.n = v['type']|map('upper')|list %}{% endif %}{% endif %}"
        "{% if 'X' in ns.n %}!{% endif %}{{ k }}:{{ ns.n|join(',') }};{% endfor %}{% endfor %}{% endfor %}"
    )
    arguments = ({"type": "x"}, {"type": ["x", "y"]}, {"type": []}, {"type": {"x": 1}}, {}, [], 3, None)
    cases: list[Case] = [{"messages": [USER, _called({"l": one, "type": ["x"]})]} for one in arguments]
    views = [view for view in judge.views(cases) if view is not None]
    text = to_go(source, special_tokens=TOKENS, exact=True).text
    found = [one.text for one in judge.found(text, cases)]
    assert found == [one.text for one in judge.wanted(source, TOKENS, views)]
    assert None not in found


@pytest.mark.parametrize("content", ["", "\0", "a<\0\0b&'", '"', "\ufffd\0"])
def test_text_behind_markup_is_escaped(judge: RealJudge, content: str) -> None:
    source = "{% for m in messages %}{{ '<b>'|safe + m.content }}{% endfor %}"
    cases: list[Case] = [{"messages": [{"role": "user", "content": content}]}]
    (view,) = judge.views(cases)
    assert view is not None
    (wanted,) = judge.wanted(source, TOKENS, [view])
    (found,) = judge.found(to_go(source, special_tokens=TOKENS, exact=True).text, cases)
    assert wanted.text is not None
    assert found.text == wanted.text
