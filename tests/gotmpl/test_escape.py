"""text/template's escaping functions, against recorded answers of Go."""

from __future__ import annotations

from tests.gotmpl.printing import recorded_differences


def test_recorded_answers() -> None:
    count, found = recorded_differences("escape")
    assert count > 2000
    assert found == []
