"""Replays of growing conversations: where the prompt cache breaks, why, and what avoids it."""

from __future__ import annotations

from datetime import datetime

import pytest

from transplate.parity.caches import CacheReport, check_cache

NOW = datetime(2025, 3, 4, 5, 6, 7)
PLAIN = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}"
    "</{{ m.role }}>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
THINKING = PLAIN.replace("{{ m.content }}", "{{ m.thinking if m.thinking and C }}{{ m.content }}")


def found(template: str) -> dict[str, str]:
    report = check_cache(template, now=NOW)
    return {each.replay: each.cause for each in report.breaks}


def test_a_template_that_only_adds() -> None:
    report = check_cache(PLAIN, now=NOW)
    assert report == CacheReport(replayed=7, skipped=(), breaks=())


CAUSES = {
    "{{ strftime_now('%d %B') }}" + PLAIN: ("chat over days", "the date is in the prompt"),
    PLAIN.replace(
        "{% for m in messages %}", "{% for m in messages %}{% if loop.last %}{{ tools if tools }}{% endif %}"
    ): (
        "agent",
        "the tools move",
    ),
    "{% for m in messages if m.role == 'system' %}{{ m.content }}{% endfor %}"
    + PLAIN.replace("in messages %}", "in messages if m.role != 'system' %}"): (
        "system message in the middle",
        "a later system message is moved to the front",
    ),
    PLAIN.replace(
        "<assistant>{% endif", "<assistant>{{ '<think>\n\n</think>' if enable_thinking is false }}{% endif"
    ): (
        "chat without thinking",
        "the prompt ends with an empty think block that the history does not have",
    ),
}


@pytest.mark.parametrize("template", CAUSES)
def test_why_it_breaks(template: str) -> None:
    replay, cause = CAUSES[template]
    causes = found(template)
    assert causes.pop(replay) == cause
    assert causes == {} or set(causes) <= {"agent with thinking", "chat without thinking"}


def test_thinking_that_is_dropped_and_the_variable_that_keeps_it() -> None:
    dropping = THINKING.replace("C", "(loop.index0 > ns.last or keep_thinking)")
    last = "{% set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == 'user' %}"
    last += "{% set ns.last = loop.index0 %}{% endif %}{% endfor %}"
    report = check_cache(last + dropping, now=NOW)
    (broken,) = [each for each in report.breaks if each.replay == "agent with thinking"]
    assert (broken.cause, broken.variable) == (
        "the thinking of earlier answers is dropped",
        "keep_thinking=true",
    )
    assert broken.after[: broken.kept] == broken.before[: broken.kept]
    assert 0 < broken.lost < 1
    assert not broken.after.startswith(broken.before)


def test_go() -> None:
    template = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}</{{ .Role }}>{{ end }}<assistant>"
    report = check_cache(template, now=NOW)
    assert (report.skipped, report.breaks) == (("chat with thinking",), ())
    only_others = "{{ .System }}{{ range .Messages }}{{ if ne .Role `system` }}"
    hoisting = template.replace("{{ range .Messages }}", only_others)
    hoisting = hoisting.replace("{{ end }}<", "{{ end }}{{ end }}<")
    assert found(hoisting) == {"system message in the middle": "a later system message is moved to the front"}
