"""Parity reports: what is equal, what differs and where, and what cannot be compared."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from transplate import Conversation, JinjaTemplate, OllamaTemplate, check_parity, to_jinja
from transplate.errors import (
    ErrorKind,
    RequestError,
    TemplateExecutionError,
    TemplateSyntaxError,
    TransplateError,
)
from transplate.parity import Difference

TEMPLATES = Path(__file__).parent.parent.parent / "templates"
PAIRS = sorted(
    path.stem
    for path in (TEMPLATES / "gotmpl").glob("*")
    if (TEMPLATES / "jinja" / f"{path.stem}.jinja").exists()
)
HELLO = Conversation.read({"messages": [{"role": "user", "content": "hello"}], "name": "hello"})
ANSWER = Conversation.read(
    {
        "messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "x"}],
        "name": "answer",
    }
)
GOTMPL = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}"
JINJA = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"


def only_difference(a: object, b: object, conversation: Conversation = HELLO) -> Difference:
    report = check_parity(a, b, [conversation])  # type: ignore[arg-type]
    assert (report.equal, report.checked, len(report.differences)) == (False, 1, 1)
    return report.differences[0]


@pytest.mark.parametrize("stem", PAIRS)
def test_own_pairs_agree_on_all_ordinary_conversations(stem: str) -> None:
    report = check_parity(TEMPLATES / "gotmpl" / f"{stem}.gotmpl", TEMPLATES / "jinja" / f"{stem}.jinja")
    assert report.differences == ()
    assert report.equal
    assert report.checked >= 30


def test_everything_that_stands_for_a_template(tmp_path: Path) -> None:
    path = tmp_path / "template.jinja"
    path.write_text(JINJA)
    unnamed = tmp_path / "template"
    unnamed.write_text(JINJA)
    ways = [JINJA, path, str(path), unnamed, str(unnamed), JinjaTemplate(JINJA), to_jinja(GOTMPL), GOTMPL]
    for way in ways:
        report = check_parity(OllamaTemplate(GOTMPL), way, [HELLO])
        assert (report.equal, report.checked, report.differences, report.refused) == (True, 1, (), ())


@pytest.mark.parametrize("wrong", [3, None, b"x", Path("nowhere.jinja"), Path(__file__).parent])
def test_what_is_no_template(wrong: object) -> None:
    with pytest.raises(TransplateError):
        check_parity(GOTMPL, wrong)  # type: ignore[arg-type]


def test_template_that_is_refused() -> None:
    with pytest.raises(TemplateSyntaxError):
        check_parity(GOTMPL, "{% for %}")
    with pytest.raises(TemplateSyntaxError):
        check_parity("{{ range }}", JINJA)


def test_binary_file(tmp_path: Path) -> None:
    path = tmp_path / "template.jinja"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(TransplateError, match="not a text file"):
        check_parity(path, JINJA)


def test_where_prompts_part() -> None:
    difference = only_difference(GOTMPL, JINJA.replace("content }}", "content }}!"))
    assert difference.prompts == ("<user>hello", "<user>hello!")
    assert (difference.position, difference.cause) == (11, "only the second goes on at the end")
    assert difference.errors == (None, None)
    assert difference.conversation is HELLO
    difference = only_difference(GOTMPL, JINJA.replace("<", "("))
    assert (difference.position, difference.cause) == (0, "text differs")
    difference = only_difference(GOTMPL, JINJA.replace("}}{%", "}} \n{%"))
    assert (difference.position, difference.cause) == (11, "white space differs")


def test_one_side_fails() -> None:
    jinja = "{% if messages|length > 1 %}{{ raise_exception('too long') }}{% endif %}" + JINJA
    report = check_parity(GOTMPL, "a" + jinja, [ANSWER])
    (difference,) = report.differences
    assert difference.cause == "only the second fails: too long"
    assert difference.prompts == ("<user>hello<assistant>x", "a")
    assert difference.errors[0] is None
    assert isinstance(difference.errors[1], TemplateExecutionError)
    assert not report.equal
    assert report.checked == 1


def test_both_sides_fail() -> None:
    gotmpl = '{{ range .Messages }}{{ if eq .Role "assistant" }}{{ index .Content 99 }}{{ end }}x{{ end }}'
    jinja = "{% for m in messages %}{{ raise_exception('no') if m.role == 'assistant' }}x{% endfor %}"
    report = check_parity(gotmpl, jinja, [HELLO, ANSWER])
    assert (report.equal, report.checked, report.differences, report.refused) == (True, 1, (), ("answer",))
    report = check_parity(gotmpl, jinja, [ANSWER])
    assert (report.equal, report.checked, report.differences, report.refused) == (False, 0, (), ("answer",))


def test_request_that_ollama_refuses_is_not_compared() -> None:
    tool = {"type": "function", "function": {"name": "f"}}
    with_tools = Conversation.read({"messages": [{"role": "user", "content": "a"}], "tools": [tool]})
    thinking = Conversation.read({"messages": [{"role": "user", "content": "a"}], "think": True})
    image = Conversation.read([{"role": "user", "content": [{"type": "image"}]}])
    for conversation in (with_tools, thinking, image):
        with pytest.raises(RequestError) as caught:
            OllamaTemplate(GOTMPL).render(**conversation.to_ollama())
        assert caught.value.kind is ErrorKind.INPUT
    report = check_parity(GOTMPL, JINJA, [with_tools, thinking, image, HELLO])
    assert (report.equal, report.checked) == (True, 1)
    assert report.refused == ("conversation 1", "conversation 2", "conversation 3")


def test_no_conversation_is_no_agreement() -> None:
    report = check_parity(GOTMPL, JINJA, [])
    assert (report.equal, report.checked) == (False, 0)


def test_conversations_as_json() -> None:
    report = check_parity(
        GOTMPL, JINJA, ['[{"role": "user", "content": "a"}]', [{"role": "user", "content": "b"}]]
    )
    assert (report.equal, report.checked) == (True, 2)
    with pytest.raises(RequestError, match=r"messages\[0\]\.role"):
        check_parity(GOTMPL, JINJA, [[{"content": "b"}]])


def test_clock() -> None:
    gotmpl, jinja = (
        "{{ currentDate }}{{ range .Messages }}{{ .Content }}{{ end }}",
        "{{ strftime_now('%Y-%m-%d') }}{{ messages[0].content }}",
    )
    dated = Conversation.read({"messages": [{"role": "user", "content": "a"}], "date": "2024-02-29"})
    report = check_parity(gotmpl, jinja + "!", [HELLO, dated], now=datetime(2030, 1, 2, 23, 59))
    assert [difference.prompts[0] for difference in report.differences] == ["2030-01-02hello", "2024-02-29a"]
    assert check_parity(gotmpl, jinja, [HELLO, dated]).equal


def test_two_templates_of_one_language() -> None:
    assert check_parity(JINJA, JINJA.replace("m", "message").replace("messageessages", "messages")).equal
    assert not check_parity(GOTMPL, GOTMPL + "x").equal
