"""Null in arguments and generators that are read again: as in transformers, in real Ollama."""

from __future__ import annotations

import pytest

from tests.fuzz.jinja_to_go import STYLES, covers
from tests.fuzz.jinja_to_go_corpus import TOKENS
from tests.fuzz.jinja_to_go_judge import Printed, RealJudge
from tests.fuzz.jinja_to_go_requests import Case
from transplate.convert import to_go
from transplate.errors import UnsupportedTemplate

CALLS = (
    "{% for m in messages %}{% for c in m.tool_calls or [] %}{% set a = c.function.arguments %}"
    "ARGUMENTS{% endfor %}{% endfor %}"
)
READS = [
    "{{ a.city }}{{ a['city'] is none }}",
    "{{ a.city is defined }}{{ a.city is undefined }}{{ a.city == none }}{{ a.city in ['x', none] }}",
    "{{ a.get('city', 'D') }}{{ a.get('city') }}",
    "{{ a.l == a.m }}{{ a.l != a.city }}{{ a.m == a.n }}{% if a.l == [] %}{% endif %}",
    "{% if a.n is mapping and a.n.m %}{{ a.n.m|join('|') }}{% endif %}",
    "{{ a.get('items', 'D') }}{{ a.get('keys') }}",
    "{{ a.city|default('D') }}{{ a.city|default('D', true) }}{{ a.city ~ 'x' }}",
    "{% if 'city' in a %}{{ a.city|tojson }}{% endif %}",
    "{% for k in a %}{{ k }}={{ a[k] }}{{ a[k]|tojson }}{% endfor %}",
    "{{ a[m.content] }}{{ a[m.content]|default('D') }}",
    "{% if a.n is defined %}{{ a.n.city }}{% endif %}",
    "{% set ns = namespace(x=1) %}{% set ns.x = a.city %}{{ ns.x }}",
    "{% macro f(v) %}[{{ v }}{{ v is defined }}]{% endmacro %}{{ f(a.city) }}",
]
ARGUMENTS = [
    {},
    {"city": None},
    {"city": "x"},
    {"n": {"city": None}, "city": 3},
    {"n": {}, "city": ""},
    {"n": None},
    {"items": [1], "keys": None},
    {"content": None},
    {"l": [1, "x"], "m": [1, "x"], "n": {}},
    {"l": [1], "m": [2], "n": [2]},
    {"n": {"m": ["x", 2]}},
    {"n": {"m": "text"}},
    {"n": {"m": {"k": 1}}},
    {"l": {"a": [1]}, "m": {"a": [2]}, "n": {"a": [2]}},
    {"l": 1, "m": True, "n": [True]},
    {"l": True, "m": 1, "n": 1.5},
]
FIRST = "{% set u = messages|map(attribute='role') %}"
TWICE = [
    FIRST + "{{ u|join(',') }}{{ u|join(',') }}",
    FIRST + "{% for m in messages %}{{ u|join(',') }}{% endfor %}",
    FIRST + "{% macro f() %}{{ u|join(',') }}{% endmacro %}{{ f() }}{{ f() }}",
    FIRST + "{% set v = u %}{{ v|join(',') }}{{ v|join(',') }}",
    "{% set ns = namespace(u=messages|map(attribute='role')) %}{{ ns.u|join(',') }}{{ ns.u|join(',') }}",
    "{% set u = messages|reverse %}{% for m in u %}{{ m.role }}{% endfor %}{% for m in u %}{{ m.role }}{% endfor %}",  # noqa: E501
    "{% set u = messages[0]|items %}{% for k, v in u %}{{ k }}{% endfor %}{% for k, v in u %}{{ k }}{% endfor %}",  # noqa: E501
    "{% macro f(u) %}{{ u|join(',') }}|{{ u|join(',') }}{% endmacro %}{{ f(messages|map(attribute='role')) }}",  # noqa: E501
]
ONCE = [
    FIRST + "{{ u|join(',') }}",
    "{% for m in messages %}" + FIRST + "{{ u|join(',') }}{% endfor %}",
    "{% set u = messages|map(attribute='role')|list %}{{ u|join(',') }}{{ u|join(',') }}",
    "{% set u = messages[0].items() %}{% for k, v in u %}{{ k }}{% endfor %}{% for k, v in u %}{{ k }}{% endfor %}",  # noqa: E501
    "{% macro f(u) %}{{ u|join(',') }}{% endmacro %}{{ f(messages|map(attribute='role')) }}",
]


def case(arguments: object) -> Case:
    call = {"function": {"name": "f", "arguments": arguments}}
    assistant = {"role": "assistant", "content": "content", "tool_calls": [call]}
    return {"messages": [{"role": "user", "content": "q"}, assistant]}


def prompts(judge: RealJudge, source: str, text: str, cases: list[Case]) -> list[tuple[Printed, Printed]]:
    views = [view for view in judge.views(cases) if view is not None]
    assert len(views) == len(cases)
    return list(zip(judge.wanted(source, TOKENS, views), judge.found(text, cases), strict=True))


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("style", STYLES)
def test_null_is_none_and_not_undefined(judge: RealJudge, read: str, style: str) -> None:
    source = CALLS.replace("ARGUMENTS", read)
    made = to_go(source, special_tokens=TOKENS, exact=STYLES[style], ollama=judge.ollama)
    cases = [case(arguments) for arguments in ARGUMENTS]
    pairs = prompts(judge, source, made.text, cases)
    # What the default form takes for granted must say so of each request that it is wrong for.
    right = [one for one, (wanted, found) in zip(cases, pairs, strict=True) if wanted.text == found.text]
    wrong = [one for one in cases if one not in right]
    assert len({wanted.text for wanted, _ in pairs}) > 1
    assert [one for one in wrong if style == "exact" or covers(made, one)] == []


@pytest.mark.parametrize("source", TWICE)
def test_a_generator_that_is_read_twice_is_refused(source: str) -> None:
    with pytest.raises(UnsupportedTemplate, match="a generator that may be read twice"):
        to_go(source)


@pytest.mark.parametrize("source", ONCE)
def test_what_is_read_once_or_is_a_list_prints_the_same(judge: RealJudge, source: str) -> None:
    text = to_go(source, special_tokens=TOKENS, exact=True, ollama=judge.ollama).text
    ((wanted, found),) = prompts(judge, source, text, [case({})])
    assert wanted.text
    assert found.text == wanted.text
