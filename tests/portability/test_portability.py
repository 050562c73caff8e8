"""A sample of the portability run: the project's templates in every engine."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

import pytest

from tests.oracle.engines import Engine
from tests.oracle.llama import LlamaEngine
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle
from tests.portability.comparing import STYLES, Result, Subject, prepare
from tests.portability.covering import Covering, cover
from tests.portability.data import Maker
from tests.portability.dead import reasons
from tests.portability.subjects import project_subjects
from transplate import OllamaTemplate, to_jinja

ENGINES = (
    "transformers_engine",
    "node_engine",
    "minijinja_engine",
    "older_minijinja_engine",
    "llama_engine",
)
SUBJECTS = project_subjects()


@lru_cache
def prepared(subject: Subject) -> Result:
    """Return a project template's forms and conversations, which serve all engines."""
    return prepare(subject, least=50)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_project_template_is_portable(
    subject: Subject, engine: str, go_oracle: GoOracle, request: pytest.FixtureRequest
) -> None:
    running: Engine = request.getfixturevalue(engine)
    result = replace(
        prepared(subject), equal=Counter(), failing=Counter(), differences=[], left_out=Counter()
    )
    assert result.refusal is None
    result.compare(go_oracle, [running], datetime.now().replace(microsecond=0))
    assert [str(difference) for difference in result.differences] == []
    for style in STYLES:
        compared = result.equal[style, running.name] + result.failing[style, running.name]
        assert compared + result.left_out.total() >= 40
        assert compared >= 30


BELOW_SYSTEM = (
    "{{ if .System }}{{ .System }}{{ range .Tools }}{{ . }}{{ end }}{{ end }}"
    "{{ range .Messages }}{{ .Content }}{{ range .ToolCalls }}{{ .Function.Name }}{{ end }}{{ end }}"
)


@pytest.mark.parametrize(
    "source",
    [*(subject.source for subject in SUBJECTS), BELOW_SYSTEM],
    ids=[*(subject.name for subject in SUBJECTS), "tools below a system text"],
)
def test_llama_server_sees_what_a_template_supports(source: str, llama_engine: LlamaEngine) -> None:
    abilities = OllamaTemplate(source).inference.abilities
    for exact in (True, False):
        seen = llama_engine.abilities(to_jinja(source, exact=exact).text)
        assert isinstance(seen, dict), seen
        assert seen["supports_tools"] is ("tools" in abilities)
        assert seen["supports_tool_calls"] is ("tools" in abilities)
        assert seen["supports_system_role"]


@pytest.mark.parametrize("least", [5, 150])
def test_there_are_as_many_conversations_as_asked_for(least: int) -> None:
    covering = cover("{{ range .Messages }}{{ .Content }}{{ end }}", ollama=OLLAMA_VERSION, least=least)
    assert len(covering.cases) == least


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_every_branch_is_taken_or_dead(subject: Subject) -> None:
    covering = prepared(subject).forms["exact"].covering
    why = reasons(covering)
    assert set(why) == set(covering.untaken)
    assert [str(covering.coverage.arms[number]) for number, reason in why.items() if reason is None] == []


def _reasons_of_all(source: str) -> dict[str, str | None]:
    """Return why the arms of a template would be dead if no conversation had taken any."""
    covering = cover(source, ollama=OLLAMA_VERSION, patience=0)
    none = Covering((), covering.coverage, frozenset(), frozenset(), covering.thinks, covering.legacy, False)
    return {str(covering.coverage.arms[number]): reason for number, reason in reasons(none).items()}


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_no_arm_that_is_taken_is_called_dead(subject: Subject) -> None:
    covering = prepared(subject).forms["exact"].covering
    thinks, legacy, empty = covering.thinks, covering.legacy, covering.needs_messages
    nothing = Covering((), covering.coverage, frozenset(), frozenset(), thinks, legacy, empty)
    why = reasons(nothing)
    assert [str(covering.coverage.arms[number]) for number in covering.taken if why[number] is not None] == []


@pytest.mark.parametrize(
    ("source", "arm", "reason"),
    [
        (
            "{{ if .Tools }}{{ range .Tools }}{{ end }}{{ end }}{{ .Messages }}",
            "range .Tools over nothing",
            "decided",
        ),
        (
            "{{ if or .System .Tools }}{{ if .Tools }}{{ else if .System }}{{ end }}{{ end }}{{ .Messages }}",
            "if .System being false",
            "decided",
        ),
        (
            "{{ range .Messages }}{{ if eq .Role `a` }}{{ if eq .Role `b` }}{{ end }}{{ end }}{{ end }}",
            "if eq .Role `b` being true",
            "decided",
        ),
        ("{{ .Messages }}{{ if .Suffix }}{{ end }}", "if .Suffix being true", "never sets .Suffix"),
        ("{{ .Messages }}{{ if false }}{{ end }}", "if false being true", "decided"),
        (
            "{{ if .Messages }}{{ else }}{{ if .System }}{{ end }}{{ end }}",
            "if .System being true",
            "no system",
        ),
    ],
)
def test_dead_arms(source: str, arm: str, reason: str) -> None:
    why = _reasons_of_all(source)
    assert reason in (why[arm] or "")
    assert sum(found is not None for found in why.values()) == 1


@pytest.mark.parametrize(
    "source",
    [
        # Dot is another in the loop, and a variable another after it is assigned.
        "{{ if .Role }}{{ range .Messages }}{{ if .Role }}{{ end }}{{ end }}{{ end }}",
        "{{ $x := `` }}{{ if $x }}{{ $x = .System }}{{ if $x }}{{ end }}{{ end }}{{ .Messages }}",
    ],
)
def test_conditions_that_only_look_the_same(source: str) -> None:
    assert set(_reasons_of_all(source).values()) == {None}


def test_conversations_stay_within_their_limits() -> None:
    maker = Maker(random.Random(1))
    for _ in range(2000):
        number = maker.number()
        assert number == 0 or 1e-14 <= abs(number) < 1e30
        assert float(f"{number:.14e}") == float(number)
    for _ in range(500):
        text = json.dumps(maker.case().messages, ensure_ascii=False)
        assert text.encode()
        assert not re.search(r'"(0|[1-9][0-9]*)":', text)
