"""What a search reaches, and that what is said to be out of reach is never reached."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from tests.parity.library import library_pairs
from transplate import check_parity
from transplate.parity.conversations import examples
from transplate.parity.generate import Effort, Search
from transplate.parity.pair import Pair
from transplate.parity.reach import reach_of
from transplate.parity.sides import side_of

NOW = datetime(2025, 3, 4, 5, 6, 7)
TEMPLATES = Path(__file__).parents[2] / "templates"


def searched(a: str, b: str, effort: Effort | None = None) -> tuple[Pair, Search]:
    pair = Pair(side_of(a), side_of(b), NOW)
    search = Search(pair, effort=effort)
    for _ in search.run([example.conversation for example in examples()]):
        pass
    return pair, search


DEAD = {
    "{% for m in messages %}x{% endfor %}": {"for over messages with nothing in it": "a chat has messages"},
    "{% if tools is defined %}x{% endif %}": {
        "if tools is defined being false": "a chat template is always given tools"
    },
    "{% if tools %}{% for t in tools %}x{% endfor %}{% endif %}": {
        "for over tools with nothing in it": "the conditions around it have decided it"
    },
    "{% for m in messages %}{% if m.role == 'user' %}{% if m.role == 'tool' %}x{% endif %}{% endif %}"
    "{% endfor %}": {
        "for over messages with nothing in it": "a chat has messages",
        "if m.role == 'tool' being true": "the conditions around it have decided it",
    },
    "{{ .Content }}{{ range .Messages }}{{ if .Suffix }}x{{ end }}{{ if $.Suffix }}y{{ end }}{{ end }}": {
        "range .Messages over nothing": "a chat has messages",
        "if $.Suffix being true": "a chat never sets .Suffix",
    },
}


@pytest.mark.parametrize("source", DEAD)
def test_branches_out_of_reach(source: str) -> None:
    pair, search = searched(source, source)
    for reach in reach_of(pair, search):
        assert {name: why for name, why in dict(reach.dead).items() if name in DEAD[source]} == DEAD[source]
        assert reach.taken + len(reach.dead) + len(reach.open) == reach.arms


@pytest.mark.parametrize(
    "source",
    [
        # What is set in between may decide otherwise.
        "{% if tools %}{% set tools = [] %}{% for t in tools %}x{% endfor %}{% endif %}",
        "{% for m in messages %}{% if m.role == 'user' %}{% for m in messages %}"
        "{% if m.role == 'tool' %}x{% endif %}{% endfor %}{% endif %}{% endfor %}",
    ],
)
def test_names_that_are_set_again_decide_nothing(source: str) -> None:
    pair, search = searched(source, source)
    dead = dict(reach_of(pair, search)[0].dead)
    assert not set(dead) & {"for over tools with nothing in it", "if m.role == 'tool' being true"}


def test_hard_conditions_are_reached() -> None:
    source = (
        "{% for m in messages %}{% if m.role == 'control' and m.content == 'thinking' %}A{% endif %}"
        "{% if m.content.startswith('<a>') and m.content.endswith('</a>') %}B{% endif %}"
        "{% if mode is defined and mode == 'deep' %}C{% endif %}{% endfor %}"
        "{% if documents %}{% for d in documents %}{{ d.title }}{% endfor %}{% endif %}"
    )
    pair, search = searched(source, source)
    (reach, _) = reach_of(pair, search)
    assert [name for name in reach.open if "nothing" not in name] == []


def test_what_is_dead_is_never_taken() -> None:
    """A long search takes no arm that was said to be out of reach."""
    for stem in ("chatml-tools-thinking", "mistral"):
        a, b = TEMPLATES / "gotmpl" / f"{stem}.gotmpl", TEMPLATES / "jinja" / f"{stem}.jinja"
        _, search = searched(str(a), str(b), Effort(patience=800, most=800, rare=400))
        assert search.dead
        assert not search.dead.keys() & search.hits.keys()


def test_the_library() -> None:
    pairs = library_pairs()[::12]
    if not pairs:
        pytest.skip("the library's pairs are not here")
    arms = [0, 0]
    out = [0, 0]
    for library_pair in pairs:
        report = check_parity(library_pair.go, library_pair.jinja, now=NOW, explain=True, generate=True)
        for number, reach in enumerate(report.reach):
            arms[number] += reach.arms
            out[number] += len(reach.open)
        ordinary = [kind for kind in report.kinds if not kind.unusual]
        assert "unexplained" not in {kind.name for kind in ordinary}, library_pair.model
    assert out[0] / arms[0] < 0.03
    assert out[1] / arms[1] < 0.06
