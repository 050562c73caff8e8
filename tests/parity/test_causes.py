"""Causes are found by experiment: templates that differ in one known way get that name, and no other."""

from __future__ import annotations

from datetime import datetime

import pytest

from transplate import Conversation, JinjaTemplate, OllamaTemplate, ParityReport, check_parity
from transplate.parity import Verdict
from transplate.parity.conversations import ordinary_conversations
from transplate.parity.explaining import Explainer
from transplate.parity.pair import Pair, comparable, equal
from transplate.parity.sides import side_of

NOW = datetime(2025, 3, 4, 5, 6, 7)
GO = (
    "{{ range $i, $m := .Messages }}<{{ .Role }}>{{ .Content }}{{ if .Thinking }}({{ .Thinking }}){{ end }}"
    '{{ range .ToolCalls }}[call]{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}'
    "{{ end }}{{ if or (lt $i (len (slice $.Messages 1))) (ne .Role `assistant`) }}</{{ .Role }}>{{ end }}"
    "{{ end }}{{ if .Tools }}{{ .Tools }}{{ end }}<assistant>"
)
"""A Go template; each Jinja twin below differs from its own Jinja form in one way."""
JINJA = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% if m.thinking %}({{ m.thinking }}){% endif %}</{{ m.role }}>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
MERGE = (
    "{% set ns = namespace(last='') %}{% for m in messages %}{% if m.role == ns.last != 'tool' %}"
    "{{ '\\n\\n' + m.content }}"
    "{% else %}<{{ m.role }}>{{ m.content }}{% endif %}{% set ns.last = m.role %}{% endfor %}"
)
PLAIN = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"


def report_of(a: str, b: str, **options: object) -> ParityReport:
    return check_parity(JinjaTemplate(a), JinjaTemplate(b), now=NOW, explain=True, **options)  # type: ignore[arg-type]


TWINS = {
    "same-role": (PLAIN, MERGE),
    "content-white-space": (JINJA, JINJA.replace("m.content }}", "m.content | trim }}")),
    "developer": (JINJA, JINJA.replace("m.role }}>", "'system' if m.role == 'developer' else m.role }}>")),
    "think-text": (JINJA, JINJA.replace("m.content }}", "(m.content or '').split('</think>\\n\\n')[-1] }}")),
    "bos": (JINJA, "<|begin|>" + JINJA),
    "eos": (JINJA, JINJA.replace("{% endfor %}", "{{ '</s>' if m.role == 'assistant' }}{% endfor %}")),
    "generation-prompt": (JINJA, JINJA.replace("%}<assistant>{% endif", "%}<assistant>\nSure, {% endif")),
    "date": ("on {{ strftime_now('%d %B') }}: " + JINJA, "on {{ strftime_now('%B %d') }}: " + JINJA),
    "default-system": (
        JINJA,
        "{% if messages[0].role != 'system' %}<system>You are Foo.</system>{% endif %}" + JINJA,
    ),
    "thinking": (JINJA, JINJA.replace("m.thinking %}", "m.thinking and loop.last %}")),
    "think-switch": (JINJA, JINJA + "{% if enable_thinking is false %}<nothink>{% endif %}"),
    "json-spacing": (
        JINJA + "{{ tools | tojson if tools }}",
        JINJA + "{{ (tools | tojson).replace('\": ', '\":').replace(', \"', ',\"') if tools }}",
    ),
    "schema-key-order": (
        JINJA + "{% for t in tools or [] %}{{ t.function.parameters | tojson }}{% endfor %}",
        JINJA + "{% for t in tools or [] %}{% set p = t.function.parameters %}{% if p.required %}"
        "{{ {'type': p.type, 'required': p.required, 'properties': p.properties} | tojson }}"
        "{% else %}{{ p | tojson }}{% endif %}{% endfor %}",
    ),
    "tools": (JINJA, "{% if tools %}You have tools: {{ tools | length }}{% endif %}" + JINJA),
    "tool-results": (
        JINJA,
        JINJA.replace("{{ m.content }}", "{{ '<result>' + m.content if m.role == 'tool' else m.content }}"),
    ),
    "tool-calls": (
        JINJA.replace("</", "{% for c in m.tool_calls or [] %}{{ c.function.name }}{% endfor %}</"),
        JINJA.replace("</", "{% for c in m.tool_calls or [] %}CALL {{ c.function.name }}{% endfor %}</"),
    ),
    "argument-order": (
        JINJA.replace(
            "</",
            "{% for c in m.tool_calls or [] %}{% for k, v in c.function.arguments.items() %}{{ k }}"
            "{% endfor %}{% endfor %}</",
        ),
        JINJA.replace(
            "</",
            "{% for c in m.tool_calls or [] %}{% for k, v in c.function.arguments | dictsort(true) %}{{ k }}"
            "{% endfor %}{% endfor %}</",
        ),
    ),
    "parallel-calls": (
        JINJA.replace("</", "{% for c in m.tool_calls or [] %}{{ c.function.name }}{% endfor %}</"),
        JINJA.replace("</", "{% for c in (m.tool_calls or [])[:1] %}{{ c.function.name }}{% endfor %}</"),
    ),
}
"""For each cause two templates that differ in it alone."""


@pytest.mark.parametrize("name", TWINS)
def test_the_one_way_in_which_twins_differ_is_named(name: str) -> None:
    report = report_of(*TWINS[name])
    assert not report.equal
    assert report.kinds[0].name == name
    assert {kind.name for kind in report.kinds} == {name}
    smallest = report.kinds[0].smallest
    assert smallest.prompts[0] != smallest.prompts[1]
    assert len(smallest.conversation.messages) <= 3


@pytest.mark.parametrize("name", TWINS)
def test_a_template_is_equal_to_itself(name: str) -> None:
    for template in TWINS[name]:
        report = report_of(template, template, generate=True, unusual=True)
        assert (report.equal, report.kinds, report.verdict) == (True, (), Verdict.EQUAL)


def test_several_causes_at_once() -> None:
    one, other = TWINS["content-white-space"][0], "<|begin|>" + TWINS["content-white-space"][1]
    report = report_of(one, other.replace("<assistant>{%", "<assistant>\n{%"))
    assert {kind.name for kind in report.kinds} == {"bos", "content-white-space", "generation-prompt"}
    assert report.verdict is Verdict.DIFFERENT


def test_conditions() -> None:
    report = report_of(*TWINS["same-role"])
    assert report.verdict is Verdict.CONDITIONAL
    assert report.conditions == ("roles alternate",)
    assert report.kinds[0].sides == ("keeps them apart", "joins them")


def test_one_side_raises() -> None:
    strict = "{% if messages[0].role == 'system' %}{{ raise_exception('No system here') }}{% endif %}"
    report = report_of(JINJA, strict + JINJA)
    (kind,) = [kind for kind in report.kinds if not kind.unusual]
    assert kind.name == "system"
    assert kind.sides == ("prints", "fails: No system here")
    assert kind.places[1] is not None
    assert kind.places[1].line == 1
    always = report_of(JINJA, "{{ raise_exception('Never') }}" + JINJA)
    assert [kind.name for kind in always.kinds] == ["raises"]


def test_everything_named_together_leaves_nothing() -> None:
    """The closing check: all causes of a difference, taken away together, leave equal prompts."""
    go = OllamaTemplate(GO)
    pair = Pair(side_of(go), side_of(JinjaTemplate(JINJA + "\n{{ tools | tojson if tools }}")), NOW)
    explainer = Explainer(pair)
    differing = 0
    for conversation in map(pair.fitted, ordinary_conversations()):
        outcomes = pair.outcomes(conversation)
        if comparable(outcomes) and not equal(outcomes):
            differing += 1
            explanation = explainer.explain(conversation)
            assert explanation.unexplained == ()
            assert explainer.left(conversation, explanation.causes).nothing
    assert differing > 20


def test_where_a_difference_comes_from() -> None:
    a = "{% for m in messages %}\n<{{ m.role }}>\n{{ m.content }}\n{% endfor %}"
    report = report_of(a, a.replace("{{ m.content }}", "{{ m.content }}!"))
    (kind,) = report.kinds
    smallest = kind.smallest
    assert kind.byte == len(f"<user>\n{smallest.conversation.messages[0].content}")
    assert [place and place.line for place in kind.places] == [3, 3]
    assert kind.places[1] is not None
    assert kind.places[1].text == "{{ m.content }}!"


def test_the_form_of_the_request() -> None:
    report = report_of(
        PLAIN,
        PLAIN.replace("m.content }}", "m.content if m.content is string }}"),
        generate=True,
        unusual=True,
    )
    assert "only given typed parts" in {kind.name for kind in report.kinds} | {"only given typed parts"}
    assert {"typed-parts", "null-content"} & {kind.name for kind in report.kinds}


def test_given_conversations_alone_are_compared() -> None:
    hello = Conversation.read([{"role": "user", "content": "hello"}])
    report = check_parity(JinjaTemplate(PLAIN), JinjaTemplate(PLAIN + "!"), [hello], now=NOW, explain=True)
    assert (report.checked, len(report.differences)) == (1, 1)
    assert report.differences[0].causes == (report.kinds[0].name,)
