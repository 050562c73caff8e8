"""Macros of to_jinja that come back: Go prints itself what they print, and the same."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.fuzz.jinja_to_go_judge import RealJudge
from tests.fuzz.jinja_to_go_round_trips import go_trip
from transplate.conversation import Conversation
from transplate.convert import to_go, to_jinja

_TEMPLATES = Path(__file__).parents[3] / "templates" / "gotmpl"
_ARGUMENTS = "{{ range .Messages }}{{ range .ToolCalls }}{{ .Function.Arguments }}{{ end }}{{ end }}"


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", ["chatml-tools-thinking", "mistral"])
def test_templates_come_back_short_and_print_the_same(name: str, exact: bool, judge: RealJudge) -> None:
    source = (_TEMPLATES / f"{name}.gotmpl").read_text(encoding="utf-8")
    back = to_go(to_jinja(source, exact=exact).text, exact=exact)
    assert len(back.text) < 3 * len(source)
    assert "json .Content" in back.text or "json ." in back.text
    assert go_trip(source, judge, exact=exact, rng=Random(3), count=20).status == "exact"


def test_a_macro_that_was_changed_is_no_longer_one_of_ours() -> None:
    jinja = to_jinja(_ARGUMENTS, exact=True).text
    assert "{{ .Function.Arguments }}" in to_go(jinja, exact=True).text
    changed = jinja.replace("{{- '{' -}}", "{{- '{ ' -}}", 1)
    assert changed != jinja
    assert "{{ .Function.Arguments }}" not in to_go(changed, exact=True).text


def test_numbers_that_the_macro_writes_in_another_way_are_a_loss() -> None:
    made = to_go(to_jinja(_ARGUMENTS, exact=True).text, exact=True)
    assert [loss.name for loss in made.losses] == ["long-numbers"]
    for number, is_same in ((0.5, True), (123456789012345, True), (1.2345678901234567, False), (1e30, False)):
        call = {"function": {"name": "f", "arguments": {"a": [number]}}}
        conversation = Conversation.read([{"role": "assistant", "content": "", "tool_calls": [call]}])
        assert made.covers(conversation) is is_same


def test_what_the_default_form_needs_is_needed_again() -> None:
    source = "{{ range .Messages }}{{ .Content }}{{ end }}{{ range .Tools }}{{ json . }}{{ end }}"
    jinja = to_jinja(source).text
    assert '{"type":' not in to_go(jinja).text
    assert "plain-schemas" in [one.name for one in to_go(jinja).assumptions]
    assert '{"type":' in to_go(jinja, exact=True).text
