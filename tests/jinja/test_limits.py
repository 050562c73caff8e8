"""No template hangs, fills the memory, reaches Python, or raises anything but the errors of this package."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.jinja.hostile import HOSTILE, NESTED
from transplate import JinjaTemplate, Limits
from transplate.errors import ErrorKind, TemplateExecutionError, TemplateSyntaxError, TransplateError

MESSAGES = [{"role": "user", "content": "hi"}]
SMALL = Limits(steps=1_000_000, output=32 * 1024 * 1024)
HARMLESS = {"value in itself", "printed graph, attr", "division of large integers", "range", "strftime"}
"""Templates in the list that Jinja itself ends, or that end well."""


def _failure(source: str, limits: Limits, *, generation_prompt: bool = True) -> TransplateError | None:
    """Render a template; return its error, None if it gives a prompt. Any other exception gets through."""
    try:
        text = JinjaTemplate(source, limits=limits).render(MESSAGES, add_generation_prompt=generation_prompt)
    except (TemplateSyntaxError, TemplateExecutionError) as error:
        return error
    assert isinstance(text, str)
    return None


@pytest.fixture
def _half_a_gigabyte() -> Iterator[None]:
    """Let the process have half a gigabyte more than it has, where the system can say so."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (512 << 20), hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.mark.usefixtures("_half_a_gigabyte")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_template_reaches_a_limit(name: str) -> None:
    start = time.process_time()
    error = _failure(HOSTILE[name], SMALL)
    if name not in HARMLESS:
        assert error is not None
        assert error.kind is ErrorKind.LIMIT, error.message
        assert "(limit: " in error.message or "too deeply" in error.message
    assert time.process_time() - start < 20


@pytest.mark.parametrize("name", NESTED)
def test_strained_parser_gives_only_own_errors(name: str) -> None:
    start = time.process_time()
    error = _failure(NESTED[name], Limits())
    assert error is None or (error.message and "<chat template>" not in error.message)
    assert time.process_time() - start < 20


def test_defaults_let_ordinary_work_through() -> None:
    template = JinjaTemplate(
        "{% for m in messages %}{% for n in messages %}{{ m.content if loop.first }}{% endfor %}{% endfor %}"
    )
    assert template.render([{"role": "user", "content": "x"}] * 600) == "x" * 600


def test_long_message_passes() -> None:
    content = "abc ü\n" * 2_000_000
    template = JinjaTemplate(
        "{% set text = messages[0].content %}{{ text|trim + 'a' ~ text }}{% if 'q' in text %}!{% endif %}"
    )
    assert template.render([{"role": "user", "content": content}]) == content.strip() + "a" + content


@pytest.mark.parametrize(
    ("limits", "named"),
    [(Limits(steps=100), "steps"), (Limits(output=1000), "output"), (Limits(depth=5), "depth")],
)
def test_limits_are_named(limits: Limits, named: str) -> None:
    source = "{% macro m(n) %}{{ 'x' * n }}{% if n %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}"
    with pytest.raises(TemplateExecutionError, match=rf"limit: {named}") as caught:
        JinjaTemplate(source, limits=limits).render(MESSAGES)
    assert caught.value.kind is ErrorKind.LIMIT
    assert caught.value.line == 1


def test_output_before_the_limit_is_kept() -> None:
    template = JinjaTemplate("{% for i in range(99) %}{{ 'abc' }}{% endfor %}", limits=Limits(output=30))
    with pytest.raises(TemplateExecutionError) as caught:
        template.render(MESSAGES)
    assert caught.value.output == "abc" * 10


def test_output_counts_bytes() -> None:
    template = JinjaTemplate("{{ messages[0].content }}", limits=Limits(output=30))
    assert template.render([{"role": "user", "content": "ü" * 15}]) == "ü" * 15
    with pytest.raises(TemplateExecutionError, match="limit: output"):
        template.render([{"role": "user", "content": "ü" * 16}])


def test_long_source_is_refused() -> None:
    with pytest.raises(TemplateSyntaxError, match="limit: source") as caught:
        JinjaTemplate("x" * 101, limits=Limits(source=100))
    assert caught.value.kind is ErrorKind.LIMIT


def test_source_of_many_branches_and_names_is_refused() -> None:
    source = "".join(f"{{% set a{i} = 1 %}}" for i in range(5000)) + "{% if a1 %}{% endif %}" * 5000
    with pytest.raises(TemplateSyntaxError, match="limit: source"):
        JinjaTemplate(source)


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages.append(1) }}",
        "{{ messages[0].update({'a': 1}) }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ ''['__class__']['__mro__'] }}",
        "{{ (''|attr('__class__'))|attr('__mro__') }}",
        "{{ '{0.__class__.__mro__}'.format('') }}",
        "{{ '{a.__class__.__mro__}'.format_map({'a': ''}) }}",
        "{{ ('{0.__class__.__mro__}'|safe).format('') }}",
        "{{ raise_exception.__globals__['x'] }}",
        "{{ lipsum.__globals__['os'] }}",
        "{{ cycler.__init__.__globals__['os'] }}",
        "{{ namespace.__init__.__globals__['x'] }}",
        "{{ dict.__call__.__globals__['x'] }}",
        "{{ dict.__class__.__base__.__subclasses__() }}",
        "{{ ''.format.__globals__['x'] }}",
        "{{ self.__class__.__base__ }}",
        "{{ self._TemplateReference__context.environment }}",
        "{{ joiner.__init__.__code__.co_code }}",
        "{{ (messages|map('upper')).gi_frame.f_globals }}",
        "{% set ns = namespace(__class__=1) %}",
        "{% set ns = namespace() %}{% set ns._x = 1 %}",
        "{{ namespace({'__getattribute__': 1}) }}",
    ],
)
def test_nothing_of_python_is_reachable(source: str) -> None:
    messages = [{"role": "user", "content": "hi"}]
    try:
        text = JinjaTemplate(source).render(messages)
    except TemplateExecutionError as error:
        text = error.output
    assert text == ""
    assert messages == [{"role": "user", "content": "hi"}]


PIECES = st.sampled_from(
    [
        *(
            "{{",
            "}}",
            "{%",
            "%}",
            "{#",
            "#}",
            "-",
            "+",
            "|",
            ".",
            "[",
            "]",
            "(",
            ")",
            "~",
            "*",
            "%",
            "'",
            '"',
            ",",
        ),
        *(
            " for x in ",
            " if ",
            " endif ",
            " endfor ",
            " set ",
            " macro m() ",
            " endmacro ",
            " x ",
            " messages ",
        ),
        *(
            " in ",
            " is ",
            " not ",
            "1",
            "10",
            "'a'",
            "role",
            "loop",
            " = ",
            "==",
            "**",
            "//",
            "upper",
            "tojson",
        ),
        *(
            "join",
            "m()",
            "namespace()",
            "range(9)",
            " generation ",
            " endgeneration ",
            "\n",
            "é",
            "\ud800",
            "\0",
        ),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join), st.booleans())
def test_any_text_gives_a_prompt_or_an_own_error(source: str, generation_prompt: bool) -> None:
    error = _failure(source, Limits(steps=100_000, output=1_000_000), generation_prompt=generation_prompt)
    assert error is None or (error.message and str(error))
