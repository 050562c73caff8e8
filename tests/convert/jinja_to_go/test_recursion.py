"""Macros that call themselves and read what that prints: as in transformers, in real Ollama."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.fuzz.jinja_to_go import STYLES
from tests.fuzz.jinja_to_go_corpus import TOKENS
from tests.fuzz.jinja_to_go_judge import RealJudge
from tests.fuzz.jinja_to_go_requests import Case
from transplate.convert import to_go
from transplate.convert.jinja_to_go import convert

CALLED = (
    "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}[CALL]{% endfor %}{% endfor %}"
)
TYPED = (
    "{% macro f(v) %}{% if v is string %}{{ v|length }}{% elif v is mapping %}"
    "{% for k, w in v.items() %}{{ k }}:{% set x = f(w) %}{{ x ~ '!' if x|length > 3 else x }};{% endfor %}"
    "{% elif v is iterable %}{% for w in v %}{{ f(w) + ',' }}{% endfor %}{% else %}-{% endif %}{% endmacro %}"
)
INDENTED = (
    "{% macro f(v, depth=0, pad='') %}{% if v is mapping %}{% for k, w in v.items() %}\n"
    "{{ '  ' * depth }}{{ pad }}{{ k }}={% set x = f(w, depth + 1, pad ~ '.') %}{{ x|trim }}{{ x == '' }}"
    "{% endfor %}{% else %}{{ depth }}{% endif %}{% endmacro %}"
)
MUTUAL = (
    "{% macro f(v) %}{% set s = 'F' ~ g(v) %}{{ s }}{% endmacro %}"
    "{% macro g(v) %}{% if v is mapping %}{% for k, w in v.items() %}{% set t = f(w) %}{{ t|upper }}"
    "{% endfor %}{% else %}{{ v is string }}{% endif %}{% endmacro %}"
)
FLAGS = (
    "{% macro f(v, last=false) %}{% if v is mapping %}{% set ns = namespace(n=0, out='') %}"
    "{% for k, w in v.items() %}{% if k == 'skip' %}{% continue %}{% endif %}{% set ns.n = ns.n + 1 %}"
    "{% set ns.out = ns.out ~ f(w, loop.last) %}{% if f(w) == 'True' %}{% break %}{% endif %}{% endfor %}"
    "{{ ns.n }}{{ ns.out }}{% else %}{{ last }}{% endif %}{% endmacro %}"
)
RAISES = (
    "{% macro f(v) %}{% if v is mapping %}{% for k, w in v.items() %}{% set x = f(w) %}{{ x }}{% endfor %}"
    "{% elif v is string %}{{ raise_exception('no ' ~ v) }}{% else %}{{ v is none }}{% endif %}{% endmacro %}"
)
LISTS = (
    "{% macro f(v, names) %}{% if v is mapping %}{% for k, w in v.items() %}"
    "{% if k not in names %}{% set x = f(w, names + [k]) %}<{{ x }}>{% endif %}{% endfor %}"
    "{% else %}{{ names|join('/') }}{% endif %}{% endmacro %}"
)
DICTS = (
    "{% macro f(v) %}{% if v.inner is mapping %}{% for k, w in v.inner.items() %}"
    "{% set x = f({'inner': w, 'key': k}) %}<{{ x }}>{% endfor %}"
    "{% else %}{{ v.key }}={{ v.inner is string }}{% endif %}{% endmacro %}"
)
CALLER = (
    "{% macro f(v) %}{% set before = caller() %}{% if v is mapping %}{% for k, w in v.items() %}"
    "{% set x %}{% call f(w) %}{{ k|length }}{{ k }},{% endcall %}{% endset %}{{ before }}{{ x|trim }}"
    "{% endfor %}{% else %}{{ before }}{% endif %}{% endmacro %}"
)
METHODS = (
    "{% macro f(v, n=0) %}{% if n < 1 %}{% set x = f(v['items'], n + 1) %}<{{ x }}>{% endif %}"
    "{{ v is mapping }}{{ v.type is defined }}{{ v is string }}{% endmacro %}"
)
LONG = (
    "{% macro name(k, w) %}{% if w is mapping %}{{ k|title }}{% elif w is string %}{{ w|tojson }}{% else %}"
    "{{ w }}{{ k }}{{ w is none }}{{ k|length }}{% endif %}{% endmacro %}"
    "{% macro f(v) %}{% set ns = namespace(out='') %}{% if v is mapping %}{% for k, w in v.items() %}"
    "{% set x = f(w) %}{% set ns.out = ns.out ~ name(k, w) ~ x ~ name(k ~ '-b', x) %}{% endfor %}"
    "{% elif v is not string and v is iterable %}{% for w in v %}{% set ns.out = ns.out ~ w|tojson ~ w %}"
    "{% endfor %}{% else %}{% set ns.out = name('é' ~ v, v) %}{% endif %}{{ ns.out }}{% endmacro %}"
)
MACROS = {
    "typed": TYPED + CALLED.replace("CALL", "{{ f(c.function.arguments) }}"),
    "read": TYPED + CALLED.replace("CALL", "{% set x = f(c.function.arguments) %}{{ x|length }}{{ x }}"),
    "indented": INDENTED + CALLED.replace("CALL", "{{ f(c.function.arguments) }}"),
    "mutual": MUTUAL + CALLED.replace("CALL", "{{ f(c.function.arguments) }}"),
    "flags": FLAGS + CALLED.replace("CALL", "{{ f(c.function.arguments)|trim }}"),
    "raises": RAISES + CALLED.replace("CALL", "{{ f(c.function.arguments) }}"),
    "lists": LISTS + CALLED.replace("CALL", "{{ f(c.function.arguments, []) }}"),
    "dicts": DICTS + CALLED.replace("CALL", "{{ f({'inner': c.function.arguments, 'key': m.role}) }}"),
    "methods": METHODS + CALLED.replace("CALL", "{{ f(c.function.arguments) }}"),
    "long": LONG + CALLED.replace("CALL", "{{ f(c.function.arguments) }}"),
    "caller": CALLER + CALLED.replace("CALL", "{% call f(c.function.arguments) %}{{ m.role }}{% endcall %}"),
}
LEAVES: list[Any] = ["", "x", "long text", None, 3, True, [], {}, "é<&"]


def tree(random: Random, depth: int) -> Any:
    """Return JSON that is nested so deep, or less."""
    if depth == 0 or random.random() < 0.2:
        return random.choice(LEAVES)
    if random.random() < 0.3:
        return [tree(random, depth - 1) for _ in range(random.randrange(3))]
    return {random.choice("abcskip"): tree(random, depth - 1) for _ in range(random.randrange(4))}


def case(arguments: object) -> Case:
    call = {"function": {"name": "f", "arguments": arguments}}
    return {
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "", "tool_calls": [call, call]},
        ]
    }


def chain(depth: int) -> dict[str, Any]:
    """Return dicts in one another."""
    made: dict[str, Any] = {"a": None}
    for _ in range(depth):
        made = {"skip": 1, "z": made}
    return made


@pytest.mark.parametrize("name", MACROS)
@pytest.mark.parametrize("style", STYLES)
def test_what_they_print_is_read(judge: RealJudge, name: str, style: str) -> None:
    check(judge, name, style)


@pytest.mark.parametrize("name", ["long", "typed", "mutual", "lists"])
@pytest.mark.parametrize("style", STYLES)
def test_what_they_print_is_read_in_short_results_too(
    judge: RealJudge, name: str, style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let the loop run what else is long too, as where a result would be long."""
    usual = check(judge, name, style)
    monkeypatch.setattr(convert, "_LONG", 0)
    short = check(judge, name, style)
    assert (len(short) < len(usual) - 2_000) if name == "long" else (short != usual)


def check(judge: RealJudge, name: str, style: str) -> str:
    """Compare what a template prints in real Ollama and in transformers, and return it."""
    random = Random(name)
    trees = [{"a": tree(random, depth), "b": tree(random, depth)} for depth in (0, 1, 1, 2, 2, 3, 3, 4, 5)]
    deepest = 4 if name == "mutual" else 9  # there each level is two calls
    cases = [case(found) for found in (*trees, chain(3), chain(deepest))]
    cases += [case({"items": {"type": 1, "items": 3}, "a": 1}), case({"items": {"items": {"a": 1}}})]
    source = MACROS[name]
    text = to_go(source, special_tokens=TOKENS, exact=STYLES[style]).text
    views = [view for view in judge.views(cases) if view is not None]
    assert len(views) == len(cases)
    found = judge.found(text, cases)
    assert sum(one.text is not None for one in found) >= (4 if name == "raises" else len(cases))
    for wanted, one in zip(judge.wanted(source, TOKENS, views), found, strict=True):
        assert one.text == wanted.text, one.error
        if wanted.own:
            assert wanted.error is not None
            assert one.error is not None
            assert wanted.error in one.error
    return text


def test_calls_that_are_too_deep_stop_with_an_error(judge: RealJudge) -> None:
    made = to_go(MACROS["indented"], special_tokens=TOKENS, exact=True)
    assert any("more than 12 deep" in loss.message for loss in made.losses)
    (found,) = judge.found(made.text, [case(chain(14))])
    assert found.text is None
    assert found.error is not None
    assert "calls itself more than 12 deep" in found.error
