"""A sample of the mutants that ``python -m tests.fuzz.parity`` judges the check by."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.parity import Mutant, check, make_template, mutate
from tests.portability.subjects import project_subjects
from transplate import check_parity

GO = next(subject.source for subject in project_subjects() if "tools-thinking" in subject.name)
HARD = (
    (
        '{{ if and (eq .Role "control") (eq .Content "deep thinking") }}A{{ end }}',
        '"deep thinking"',
        '"deep"',
    ),
    (
        "{{ if and (ge (len .Role) 9) (eq (slice .Role 0 8) `document`) }}A{{ end }}",
        "8) `document`",
        "7) `documen`",
    ),
    ("{{ if gt (len .Content) 40 }}A{{ end }}", "40", "41"),
    ("{{ if and .Thinking .ToolCalls .Content }}A{{ end }}", " .Content }}A", " }}A"),
    ("{{ range .ToolCalls }}{{ if eq .Function.Name `ping` }}A{{ end }}{{ end }}", "`ping`", "`pong`"),
)
"""Conditions that chance hardly meets, each with a change of one thing in it."""


@pytest.mark.parametrize(("condition", "old", "new"), HARD)
def test_hard_mutants_are_found(condition: str, old: str, new: str) -> None:
    source = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}" + condition + "{{ end }}{{ .Tools }}"
    report = check(Mutant(source, source.replace(old, new), "gotmpl", "string"))
    assert report.differences
    assert min(len(kind.smallest.conversation.messages) for kind in report.kinds) <= 3


def test_ordinary_mutants_are_found() -> None:
    random = Random(5)
    found = []
    while len(found) < 6:
        mutant = mutate(GO, "gotmpl", random)
        if mutant is not None and mutant.change in ("text", "string"):
            found.append(bool(check(mutant).differences))
    assert sum(found) >= 5


def test_a_reformatted_template_is_equal() -> None:
    respelled = GO.replace("{{ ", "{{  ").replace("{{- ", "{{-  ")
    assert respelled != GO
    one, other = make_template(GO, "gotmpl"), make_template(respelled, "gotmpl")
    assert check_parity(one, other, explain=True, generate=True, unusual=True).equal
