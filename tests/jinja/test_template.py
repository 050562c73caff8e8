"""JinjaTemplate's arguments, errors and places, apart from any engine to compare with."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import pytest

from transplate import JinjaTemplate
from transplate.errors import ErrorKind, RequestError, TemplateExecutionError, TemplateSyntaxError

USER = [{"role": "user", "content": "hi"}]


def render(source: str, **arguments: Any) -> str:
    return JinjaTemplate(source).render(USER, **arguments)


@pytest.mark.parametrize(
    ("source", "message", "line", "column"),
    [
        ("{{ a b }}", "expected token 'end of print statement', got 'b'", 1, 6),
        ("é\n  {{ 'x }}", 'unexpected char "\'" at 7', 2, 6),
        ("x\r\n  {{ foo( }}", "unexpected '}', expected ')'", 2, 11),
        ("x\ry\r\n {{ a | nosuch }}", "No filter named 'nosuch'.", 2, 9),
        ("\n\n   {%- foo %}", "Encountered unknown tag 'foo'.", 3, 8),
        ("a {{ 1 is nosuch }}", "No test named 'nosuch'.", 1, 8),
        ("{% if x %}\n  {% break %}{% endif %}", "'break' outside loop", 2, 6),
        ("{% for loop in x %}{% endfor %}", "Can't assign to special loop variable in for-loop target", 1, 8),
    ],
)
def test_syntax_error_has_place(source: str, message: str, line: int, column: int) -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        JinjaTemplate(source)
    error = caught.value
    assert (error.message, error.line, error.column) == (message, line, column)
    assert error.kind is ErrorKind.SYNTAX
    assert error.source_line is not None
    assert error.source_line in str(error)
    assert error.__cause__ is None


@pytest.mark.parametrize(
    ("source", "message", "line", "column"),
    [
        ("{{ x.y }}", "'x' is undefined", 1, 5),
        ("a\n\n {{ 'ü' ~ messages[0].nope.deeper }}", "'dict object' has no attribute 'nope'", 3, 27),
        (
            "{% set a = 1 %}\n{{ a + 'x' }}",
            "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
            2,
            4,
        ),
        ("{% for m in messages %}\r\n{{ raise_exception('no') }}{% endfor %}", "no", 2, 4),
        ("{% macro m() %}\n{{ 1 // 0 }}{% endmacro %}{{ m() }}", "ZeroDivisionError: ", 2, 4),
        ("{% if x is defined or y.z %}{% endif %}", "'y' is undefined", 1, 24),
        (
            "{{ {}|tojson }}{{ x|tojson }}",
            "TypeError: Object of type Undefined is not JSON serializable",
            1,
            21,
        ),
        ("{% include 'x' %}", "TypeError: no loader for this environment specified", 1, 4),
    ],
)
def test_execution_error_has_place(source: str, message: str, line: int, column: int) -> None:
    with pytest.raises(TemplateExecutionError) as caught:
        render(source)
    error = caught.value
    assert error.message.startswith(message)
    assert (error.line, error.column, error.kind) == (line, column, ErrorKind.EXECUTION)


def test_error_keeps_the_output_before_it() -> None:
    with pytest.raises(TemplateExecutionError) as caught:
        render("one {{ 'two' }} {% for i in range(3) %}{{ i }}{{ 6 // (2 - i) }}{% endfor %}")
    assert caught.value.output == "one two 03162"


def test_line_numbers_in_messages_of_jinja() -> None:
    with pytest.raises(TemplateExecutionError, match="the inline if-expression on line 3 evaluated to false"):
        render("a\nb\n{{ (1 if false).x }}")


def test_now_fixes_the_clock() -> None:
    now = datetime(2024, 2, 29, 13, 5)
    assert render("{{ strftime_now('%d %b %Y %H:%M') }}", now=now) == "29 Feb 2024 13:05"
    assert render("{{ strftime_now('%Y') }}") == str(datetime.now().year)


def test_variables_come_over_special_tokens() -> None:
    template = JinjaTemplate(
        "{{ bos_token }}{{ eos_token }}", special_tokens={"bos_token": "B", "eos_token": "E"}
    )
    assert template.render(USER) == "BE"
    assert template.render(USER, variables={"bos_token": "X"}) == "XE"


@pytest.mark.parametrize("name", ["messages", "tools", "add_generation_prompt"])
def test_variables_cannot_be_other_arguments(name: str) -> None:
    with pytest.raises(RequestError, match=name):
        render("", variables={name: 1})


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"messages": []}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": None}, "messages"),
        ({"messages": {"role": "user"}}, "messages"),
        ({"messages": [USER[0], "x"]}, r"messages\[1\]"),
        ({"messages": [[USER[0]]]}, r"messages\[0\]"),
        ({"tools": {"a": 1}}, "tools"),
        ({"tools": [USER[0], 1]}, r"tools\[1\]"),
        ({"tools": [len]}, r"tools\[0\]"),
        ({"tools": [lambda x: x]}, r"tools\[0\]"),
        ({"variables": {"documents": ["x"]}}, r"documents\[0\]"),
        ({"continue_final_message": True}, "add_generation_prompt"),
        ({"continue_final_message": "name", "add_generation_prompt": False}, r"messages\[-1\]\.name"),
        (
            {
                "messages": [{"role": "a", "content": [{"type": "image"}]}],
                "continue_final_message": True,
                "add_generation_prompt": False,
            },
            r"messages\[-1\]\.content",
        ),
    ],
)
def test_bad_argument_is_named(arguments: dict[str, Any], field: str) -> None:
    template = JinjaTemplate("{{ messages[0].content }}")
    with pytest.raises(RequestError, match=field) as caught:
        template.render(**{"messages": USER} | arguments)
    assert caught.value.kind is ErrorKind.INPUT


def test_deep_and_endless_data_is_refused() -> None:
    deep: list[Any] = []
    deep.append(deep)
    with pytest.raises(RequestError, match="nested too deeply"):
        JinjaTemplate("").render([{"role": "user", "content": deep}])


def test_continued_field_must_be_in_the_template() -> None:
    with pytest.raises(RequestError, match="content"):
        JinjaTemplate("x").render(USER, add_generation_prompt=False, continue_final_message=True)


def test_continued_message_must_be_in_the_prompt() -> None:
    with pytest.raises(TemplateExecutionError, match="final message"):
        JinjaTemplate("{{ 'content'[:0] }}").render(
            USER, add_generation_prompt=False, continue_final_message=True
        )


class Colour(StrEnum):
    RED = "red"


@dataclass
class Message:
    role: str
    content: Any
    name: str | None = None


class Dangerous:
    def __init__(self) -> None:
        self.model_dump = None

    def delete(self) -> None:
        raise AssertionError("a template reached an object of the caller")


def test_template_sees_plain_data_only() -> None:
    messages = [Message("user", Colour.RED), {"role": "user", "content": (Dangerous(), 1.5, {"a": {1, 2}})}]
    template = JinjaTemplate("{% for m in messages %}{{ m }}{% endfor %}")
    assert template.render(messages) == (
        "{'role': 'user', 'content': 'red'}{'role': 'user', 'content': ('<Dangerous>', 1.5, {'a': '<set>'})}"
    )


def test_caller_data_is_left_alone() -> None:
    messages = [{"role": "assistant", "content": [{"type": "text", "text": "a"}], "thinking": "t", "x": None}]
    before = repr(messages)
    template = JinjaTemplate("{{ messages[0].content[0].text }}{{ messages[0].reasoning_content }}")
    assert template.render(messages, add_generation_prompt=False, continue_final_message=True) == "a"
    assert repr(messages) == before


def test_threads_share_a_template() -> None:
    template = JinjaTemplate(
        "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + m.content %}{% endfor %}"
        "{{ ns.n }}"
    )
    results: dict[int, set[str]] = {}

    def run(number: int) -> None:
        messages = [{"role": "user", "content": number}] * 50
        results[number] = {template.render(messages) for _ in range(50)}

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: {str(50 * number)} for number in range(6)}


def test_nothing_warns() -> None:
    """Python warns of some code that Jinja generates; a template of a stranger must not print that."""
    for source in ("{{ 1[0:] }}", "{{ none[:1] }}", "{{ 'a'[1.5:] }}", "{{ 1(2) }}", "{{ 1 is none }}"):
        with pytest.raises(TemplateExecutionError):
            render(source + "{{ x.y }}")
