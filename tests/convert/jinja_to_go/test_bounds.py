"""What a template computes while it is converted is bounded, and fails in Go where Python fails."""

from __future__ import annotations

import pytest

from transplate import UnsupportedTemplate, to_go

MESSAGES = "{% for message in messages %}{{ message.content }}{% endfor %}"


@pytest.mark.parametrize(
    "source",
    [
        "{{ 2 ** 99999999 }}",
        "{{ 'a' * 10000000000 }}",
        "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x=3) %}{% for i in range(60) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
    ],
)
def test_what_grows_is_refused(source: str) -> None:
    with pytest.raises(UnsupportedTemplate, match="would be longer than 300,000 characters"):
        to_go(source + "{{ ns.x }}" + MESSAGES, exact=True)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ 'a' * 'b' }}", "can't multiply sequence by non-int of type 'str'"),
        ("{{ 10 ** 400 * 1.5 }}", "int too large to convert to float"),
    ],
)
def test_what_fails_in_python_fails_in_go(source: str, error: str) -> None:
    assert f'{{{{ template "{error}" $ }}}}' in to_go(source + MESSAGES, exact=True).text.replace("{{-", "{{")
