"""Changes of one thing that ordinary conversations do not show; the check finds each without long search."""

from __future__ import annotations

from datetime import datetime

import pytest

from transplate import ParityReport, check_parity
from transplate.parity.conversations import usual_conversations
from transplate.parity.generate import Effort, Search
from transplate.parity.pair import Pair, comparable, equal
from transplate.parity.sides import side_of

LITTLE = Effort(patience=20, most=20, rare=0)
NOW = datetime(2025, 3, 4, 5, 6, 7)
JINJA = (
    "{%- macro schema(s) %}{{ s.type }}{% for key in ['enum', 'items', 'description', 'required'] %}"
    "{% if s is mapping and key in s %}{{ key ~ s[key] | tojson }}{% endif %}{% endfor %}"
    "{% for name, p in (s.properties or {}).items() %}{{ name }}({{ schema(p) }}){% if not loop.last %}, "
    "{% endif %}{% endfor %}{% endmacro -%}"
    "{% for t in tools or [] %}{{ t.function.name }}:{{ schema(t.function.parameters or {}) }};{% endfor %}"
    "{% for m in messages %}<|{{ m.role }}|>"
    "{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}"
    "{{ m.content if m.content is string else (m.content or []) | map(attribute='text') | join('\\n\\n') }}"
    "{% for c in m.tool_calls or [] %}<call>{{ c.function.name }}"
    "{% for k, v in c.function.arguments | dictsort(case_sensitive=true) %}{{ k }}={{ v }},{% endfor %}"
    "{% endfor %}"
    "{% if m.role == 'tool' and m.tool_call_id %}#{{ m.tool_call_id }}{% endif %}"
    "{% if m.role == 'user' and loop.previtem and loop.previtem.role != 'user' %}>{% endif %}\n"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>"
    "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}{% endif %}"
)
GO = (
    "{{ range .Messages }}<|{{ .Role }}|>{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}"
    "{{ .Content }}"
    "{{ range .ToolCalls }}<call>{{ .Function.Name }}{{ .Function.Arguments }}{{ end }}"
    "{{ if .ToolName }}#{{ .ToolName }}{{ end }}\n{{ end }}"
    "{{ range .Tools }}{{ .Function.Name }}: {{ .Function.Description }};{{ end }}<|assistant|>"
)
ROLE = "<|{{ m.role }}|>"
JINJA_CHANGES = (
    ("{{ m.reasoning_content }}", "{{ m.reasoning_content | trim }}"),
    ("m.tool_calls or []", "(m.tool_calls or [])[:2]"),
    ("m.tool_calls or []", "(m.tool_calls or [])[:4]"),
    ("t in tools or []", "t in (tools or [])[:8]"),
    ("t in tools or []", "t in (tools or []) | unique(attribute='function.name')"),
    ("join('\\n\\n')", "join('\\n')"),
    ("loop.previtem.role != 'user'", "loop.previtem.role not in ['user', 'tool']"),
    (", 'required']", "]"),
    ("['enum', 'items',", "['enum',"),
    ("not loop.last", "(not loop.last or loop.length > 12)"),
    ("else (m.content or [])", "else (m.content or [])[:2]"),
    ("m.content if m.content is string", "m.content[:4000] if m.content is string"),
    (ROLE, ROLE + "{% if m.content is string and m.content | length >= 1024 %}x{% endif %}"),
    (ROLE, ROLE + "{% if m.content is string and m.content.split('\\n') | length > 40 %}x{% endif %}"),
    (ROLE, ROLE + "{% if m.content is string and m.content | wordcount > 300 %}x{% endif %}"),
    (ROLE, ROLE + "{% if loop.index0 > 6 and m.role == 'tool' %}x{% endif %}"),
    (ROLE, ROLE + "{% if m.content is string and 'zebra' in m.content and m.role == 'tool' %}x{% endif %}"),
    (ROLE, ROLE + "{% if m.content is string and m.content.endswith('STOP!') %}x{% endif %}"),
    (ROLE, "<|{{ m.role | lower }}|>"),
    ("={{ v }}", "={{ v if v is not number or v < 100000 else 'many' }}"),
    ("#{{ m.tool_call_id }}", "#{{ m.tool_call_id | lower }}"),
    ("{{ k }}=", "{{ k | trim }}="),
    ("dictsort(case_sensitive=true)", "dictsort"),
    ("<|assistant|>", "{% if documents %}x{% endif %}<|assistant|>"),
    ("<|assistant|>", "{% if my_switch %}x{% endif %}<|assistant|>"),
    ("<|assistant|>", "{% if mood == 'gloomy' %}x{% endif %}<|assistant|>"),
    ("<|assistant|>", "{% if messages | length > 19 %}x{% endif %}<|assistant|>"),
    ("{% endif %}{% endif %}", "{% elif reasoning_effort == 'high' %}x{% endif %}{% endif %}"),
)
DATED = (
    "{% for m in messages %}{% if loop.first and m.role != 'system' %}Today is {{ strftime_now('%d') }} "
    "{{ strftime_now('%B %d, %Y, %H:%M:%S') }}{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}"
)
DATE_CHANGES = (
    ("%B %d", "%B %-d"),
    ("%B %d", "%B %e"),
    ("%B", "%b"),
    ("%B", "%m"),
    ("%Y", "%G"),
    ("%H", "%I"),
    ("%H", "%-H"),
    ("%M", "%-M"),
    ("%S", "%-S"),
)
MEDIA = (
    "{% set ns = namespace(images=0) %}{% for m in messages %}<{{ m.role }}>"
    "{{ m.reasoning_content if m.reasoning_content and m.role == 'assistant' }}"
    "{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content or [] %}"
    "{% if p.type == 'image' or 'image' in p %}{% set ns.images = ns.images + 1 %}"
    "{% if numbered %}Picture {{ ns.images }}{% endif %}<image>"
    "{% elif p.type == 'video' or 'video' in p %}{% if numbered %}Video {{ loop.index }}{% endif %}<video>"
    "{% elif 'text' in p %}{{ p.text }}{% endif %}{% endfor %}{% endif %}"
    "{% if numbered is false and m.content is string and not m.content.endswith('/still') %}/still{% endif %}"
    "{% endfor %}"
    "{% for t in tools or [] %}{{ t.function.description }}"
    "{% for name, p in (t.function.parameters.properties or {}).items() %}{{ name }}: {{ p.description }}"
    "{{ (p.enum or []) | join('|') }}{% for key in p if key not in ['type', 'enum'] %}{{ key }}{% endfor %}"
    "{% endfor %}{% endfor %}"
    "{% for d in documents or [] %}{{ d.title }}: {{ d.text }}{% endfor %}"
)
MEDIA_CHANGES = (
    ("{{ t.function.description }}", "{{ (t.function.description or '')[:1024] }}"),
    ("{{ p.description }}", "{{ p.description if p.description and p.description | length < 400 }}"),
    ("m.reasoning_content and m", "m.reasoning_content and m.reasoning_content | length < 20000 and m"),
    ("{{ d.text }}", "{{ d.text[:6000] }}"),
    ("in documents or []", "in (documents or [])[:10]"),
    ("in tools or []", "in (tools or [])[:64]"),
    ("{{ p.text }}", "{{ p.text if loop.index <= 8 }}"),
    ("<image>", "<image>{{ '!' if ns.images > 6 }}"),
    ("<image>", "<image>{{ '!' if loop.nextitem and loop.nextitem.type == 'image' }}"),
    ("<image>", "<image>{{ '!' if m.role == 'tool' }}"),
    ("Picture {{ ns.images }}", "Picture {{ ns.images if ns.images < 10 else 'many' }}"),
    ("Video {{ loop.index }}", "{% if not loop.first %}Video {{ loop.index }}{% endif %}"),
    (" or 'video' in p", ""),
    ("m.content.endswith", "m.content.rstrip().endswith"),
    ("(p.enum or [])", "(p.enum or []) | unique"),
    ("['type', 'enum'] %}", "['type', 'enum'] and not key.startswith('x-') %}"),
)
GO_CHANGES = (
    ("{{ .Content }}", "{{ if gt (len .Content) 1023 }}x{{ end }}{{ .Content }}"),
    ("{{ .Content }}", "{{ if gt (len .ToolCalls) 2 }}x{{ end }}{{ .Content }}"),
    ("{{ .Content }}", '{{ if eq .Content "gloomy" }}x{{ end }}{{ .Content }}'),
    ("{{ range .Messages }}", "{{ range $i, $m := .Messages }}{{ if gt $i 17 }}x{{ end }}"),
    ("#{{ .ToolName }}", '#{{ if eq .ToolName "Weather" }}x{{ end }}{{ .ToolName }}'),
    ("{{ range .Tools }}", "{{ range $i, $t := .Tools }}{{ if eq $i 11 }}x{{ end }}"),
)


def check(one: str, other: str) -> ParityReport:
    return check_parity(one, other, now=NOW, explain=True, generate=True, effort=LITTLE)


@pytest.mark.parametrize(("old", "new"), JINJA_CHANGES)
def test_a_change_of_a_chat_template_is_found(old: str, new: str) -> None:
    changed = JINJA.replace(old, new, 1)
    assert changed != JINJA
    assert check_parity(JINJA, changed, generate=True, effort=LITTLE).differences


@pytest.mark.parametrize(("old", "new"), GO_CHANGES)
def test_a_change_of_a_go_template_is_found(old: str, new: str) -> None:
    changed = GO.replace(old, new, 1)
    assert changed != GO
    assert check_parity(GO, changed, generate=True, effort=LITTLE).differences


@pytest.mark.parametrize(("old", "new"), MEDIA_CHANGES)
def test_a_change_of_what_is_counted_cut_or_looked_for_is_found(old: str, new: str) -> None:
    changed = MEDIA.replace(old, new, 1)
    assert changed != MEDIA
    search = Search(Pair(side_of(MEDIA), side_of(changed), NOW), effort=LITTLE)
    tried = search.run(usual_conversations())
    assert any(comparable(each.outcomes) and not equal(each.outcomes) for each in tried)


@pytest.mark.parametrize(("old", "new"), DATE_CHANGES)
def test_a_change_of_a_date_is_found_on_any_day(old: str, new: str) -> None:
    changed = DATED.replace(old, new, 1)
    assert changed != DATED
    assert check_parity(DATED, changed).differences


@pytest.mark.parametrize(
    "condition", ["%m') == '05'", "%Y')|int < 2027", "%p') == 'AM' and strftime_now('%I') == '12'"]
)
def test_what_happens_on_some_days_alone_is_found(condition: str) -> None:
    changed = DATED.replace("Today", "{{ '' if strftime_now('" + condition + " else 'Today' }}")
    assert check_parity(DATED, changed, generate=True, effort=LITTLE).differences


def test_a_date_is_the_same_on_every_day() -> None:
    prompts = check_parity(DATED, DATED.replace("Today", "Now")).differences[0].prompts
    assert prompts[0].startswith("Today is 03 January 03, 2027, 16:05:09")


@pytest.mark.parametrize("source", [JINJA, GO, MEDIA])
def test_a_template_is_equal_to_itself(source: str) -> None:
    respelled = source.replace("{% if ", "{%  if ").replace("{{ if ", "{{  if ").replace(" }}", "  }}")
    assert respelled != source
    report = check(source, respelled)
    assert (report.equal, report.stopped) == (True, "")


def test_a_variable_that_one_side_reads_is_a_condition_of_its_own() -> None:
    source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    go = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}"
    reading = source + "{% if documents %}{{ documents | length }}{% endif %}"
    (kind,) = (kind for kind in check(go, reading).kinds if kind.name == "variable-documents")
    assert kind.condition == "documents is not given"
    assert len(kind.smallest.conversation.messages) == 1
    assert not kind.unusual
    both = check(reading, reading + "{% if date_string %}{{ date_string }}{% endif %}")
    assert [kind.name for kind in both.kinds] == ["variable-date_string"]


def test_a_value_that_a_template_cannot_take_says_nothing_of_one_that_reads_none() -> None:
    go = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}"
    jinja = (
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
        "{% if custom %}{{ custom.split('x')[:0] | join }}{% endif %}"
    )
    assert all(kind.name != "raises" for kind in check(go, jinja).kinds)
