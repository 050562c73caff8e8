"""What ``docs/go-to-jinja.md`` says is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from transplate import UnsupportedTemplate, to_jinja
from transplate.convert.go_to_jinja.assumptions import ASSUMPTIONS

PAGE = (Path(__file__).parents[2] / "docs" / "go-to-jinja.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\{\{.+?)` \| (.*?) \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("source", "message"), ROWS)
def test_refused(source: str, message: str) -> None:
    with pytest.raises(UnsupportedTemplate) as refused:
        to_jinja(source)
    assert message in refused.value.message
    assert message
    assert refused.value.line


def test_every_assumption_is_explained() -> None:
    assert re.findall(r"^\| `([a-z]+-[a-z]+)` \|", PAGE, re.MULTILINE) == [
        *ASSUMPTIONS,
        "closed-prefill",
        "odd-parts",
        "long-numbers",
    ]
    assert len(ROWS) > 20
