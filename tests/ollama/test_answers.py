"""Our answers to the recorded cases, and whether real Ollama still answers as it was recorded."""

from __future__ import annotations

import pytest

from tests import subject
from tests.ollama.cases import NOW, Case, ask, cases, recorded
from tests.oracle.ollama import OLLAMA_VERSION, Answer, GoOracle
from transplate.ollama.decoding import parse_json

CASES = list(cases())


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    return recorded()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_answer(case: Case, answers: dict[str, Answer]) -> None:
    wanted = answers[case.name]
    template = subject.parse(case.template, ollama=OLLAMA_VERSION)
    if isinstance(template, Answer):
        assert subject.agrees(template, wanted)
        return
    answer = subject.execute(template, parse_json(case.request), now=NOW)
    if wanted.stage == "request":
        assert answer.stage == "request"
    else:
        assert subject.agrees(answer, wanted)


def test_names_are_distinct() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def test_recorded_answers_are_those_of_real_ollama(go_oracle: GoOracle, answers: dict[str, Answer]) -> None:
    assert ask(go_oracle) == answers
