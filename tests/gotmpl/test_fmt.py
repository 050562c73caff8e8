"""Go's fmt: what values print, against recorded and live answers of Go."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.fuzz.printing import COMPLAINTS, differences
from tests.gotmpl.printing import POINT, ask, build, recorded_differences
from tests.oracle.fmt.oracle import FmtOracle
from tests.oracle.fmt.record import FOLDER, RECORDINGS, recording
from transplate.errors import ErrorKind, TemplateExecutionError
from transplate.gotmpl import fmt
from transplate.gotmpl.types import BYTES, GoFunc, GoPointer, GoSlice, GoType, Kind, Method, pointer_to

POINTER = GoPointer(pointer_to(POINT), build(POINT, ["1", "0x1p+0", "p", "2"]))
FUNCTION = GoFunc(GoType("func()", Kind.FUNC), lambda: None, Method("", lambda: None))


def test_recorded_answers() -> None:
    count, found = recorded_differences("fmt")
    assert count > 1500
    assert found == []


@pytest.mark.parametrize("name", sorted(RECORDINGS))
def test_a_fresh_recording_is_the_same(fmt_oracle: FmtOracle, name: str) -> None:
    assert recording(fmt_oracle, name) == (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")


def test_random_values_and_formats_print_as_in_go(fmt_oracle: FmtOracle) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    counts: Counter[str] = Counter()
    found = list(differences(fmt_oracle, 10_000, seed, counts))
    assert found == [], f"python -m tests.fuzz.printing --cases 10000 --seed {seed}"
    assert counts["sprintf"] > 5000
    assert [complaint for complaint in COMPLAINTS if not counts[complaint]] == []
    assert counts["left out: several addresses"] < 500


def test_the_widest_width_and_precision(fmt_oracle: FmtOracle) -> None:
    values = ["x", {"i": "7"}, {"f": "0x1.8p+0"}]
    layouts = (
        "%1000000[1]s",
        "%-1000000[2]d",
        "%.1000000[2]d",
        "%.1000000[3]f",
        "%01000000[3]v",
        "%1000001[1]s",
    )
    questions = [{"op": "sprintf", "format": layout, "values": values} for layout in layouts]
    for question, expected in fmt_oracle.answers(questions):
        assert ask(question)["text"] == expected["text"]


def test_addresses_are_a_fixed_placeholder() -> None:
    assert fmt.sprintf("%v %p %d", [[POINTER], POINTER, [POINTER]]) == (
        "[0xc000000000] 0xc000000000 [824633720832]"
    )
    assert fmt.sprint([FUNCTION]) == "0xc000000000"


def test_a_template_refuses_to_print_a_function() -> None:
    with pytest.raises(fmt.UnprintableValue) as refusal:
        fmt.printable_value(FUNCTION)
    assert refusal.value.go_type is FUNCTION.go_type


@pytest.mark.parametrize("printed", ["sprint", "sprintln"])
def test_what_is_printed_is_bounded(printed: str) -> None:
    function = {"sprint": fmt.sprint, "sprintln": fmt.sprintln}[printed]
    assert len(function(["x" * 99], limit=100)) >= 99
    with pytest.raises(TemplateExecutionError) as reached:
        function(["x" * 50, "y" * 51], limit=100)
    assert reached.value.kind is ErrorKind.LIMIT


@pytest.mark.parametrize("value", [[1] * 1_000_000, GoSlice(BYTES, bytes(1_000_000))], ids=["list", "bytes"])
def test_widths_of_many_values_are_bounded_before_they_are_made(value: object) -> None:
    with pytest.raises(TemplateExecutionError) as reached:
        fmt.sprintf("%1000000d", [value], limit=10_000_000)
    assert reached.value.kind is ErrorKind.LIMIT


def test_data_may_be_nested_deeply() -> None:
    value: list[object] = []
    for _ in range(20_000):
        value = [value]
    assert fmt.sprint([value]) == "[" * 20_001 + "]" * 20_001
