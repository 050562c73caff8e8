"""Templates from strangers cannot hang a comparison; a sample of ``python -m tests.fuzz.hostile_pairs``."""

from __future__ import annotations

import time
from random import Random, SystemRandom

import pytest

from tests.fuzz.hostile_pairs import SMALL, compared, pair
from transplate import ParityReport, check_parity
from transplate.errors import ErrorKind, TransplateError
from transplate.limits import Limits
from transplate.parity.generate import Effort

PLAIN = "{% for m in messages %}{{ m.role }}{{ m.content }}{% endfor %}"
GO = "{{ range .Messages }}{{ .Role }}{{ .Content }}{{ end }}"
ENDLESS = "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}"
SLOW = "{% for i in range(30000) %}{% endfor %}"
GROWING = '{{ $x := "a" }}{{ range .Messages }}' + "{{ $x = print $x $x }}" * 40 + "{{ $x }}{{ end }}"


def test_hostile_pairs_end_and_raise_only_own_errors() -> None:
    seed = SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # which pytest shows where this fails
    for number in range(8):
        start = time.thread_time()
        outcome = compared(pair(Random(f"{seed}/{number}")), SMALL, 1.0)
        assert isinstance(outcome, ParityReport | TransplateError)
        assert time.thread_time() - start < 15


@pytest.mark.parametrize(("one", "other"), [(PLAIN, PLAIN + ENDLESS), (GO, GROWING)])
def test_a_side_that_reaches_its_limits_is_not_asked_for_ever(one: str, other: str) -> None:
    start = time.thread_time()
    report = check_parity(one, other, explain=True, generate=True, effort=Effort(seconds=3))
    assert time.thread_time() - start < 30
    assert report.stopped
    assert report.differences
    assert report.kinds
    assert not report.equal


def test_what_takes_too_long_is_neither_equal_nor_different() -> None:
    sources = [("jinja", PLAIN + SLOW), ("jinja", PLAIN + SLOW + "{# the same #}")]
    outcome = compared(sources, Limits(), 0.5)
    assert isinstance(outcome, TransplateError)
    assert outcome.kind is ErrorKind.LIMIT
    assert "could not compare" in outcome.message


def test_branches_that_cannot_be_counted_are_compared_all_the_same() -> None:
    deep = "{% if messages %}" * 90 + PLAIN + "{% endif %}" * 90
    report = check_parity(PLAIN, deep, explain=True, generate=True, effort=Effort(patience=5, most=5, rare=0))
    assert report.equal
