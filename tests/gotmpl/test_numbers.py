"""Go's text of numbers and quoted strings, against recorded and live answers of Go."""

from __future__ import annotations

import math
import subprocess

from tests.gotmpl.printing import ask, recorded_differences
from tests.oracle.fmt.oracle import FmtOracle, build_program
from transplate.gotmpl.printable import is_print
from transplate.gotmpl.quoting import can_backquote, joined, quote


def test_recorded_answers() -> None:
    count, found = recorded_differences("numbers")
    assert count > 1000
    assert found == []


def test_every_power_of_two_and_its_neighbours(fmt_oracle: FmtOracle) -> None:
    questions = []
    for exponent in range(-1074, 1024):
        power = math.ldexp(1.0, exponent)
        numbers = (power, math.nextafter(power, 0.0), math.nextafter(power, math.inf))
        values = [{"f": number.hex()} for number in numbers]
        questions.append({"op": "sprintf", "format": "%v %e %[1]x %[2]b %[3].17g %[3].3x", "values": values})
    found = [question for question, expected in fmt_oracle.answers(questions) if ask(question) != expected]
    assert found == []


def test_the_table_of_printable_characters_is_that_of_go(fmt_oracle: FmtOracle) -> None:
    del fmt_oracle  # only to skip without Go
    printed = subprocess.run(
        [build_program(), "printable"], check=True, capture_output=True, text=True
    ).stdout
    turns = [int(turn, 16) for turn in printed.split()]
    printable = {
        code for start, end in zip(turns[::2], turns[1::2], strict=True) for code in range(start, end)
    }
    assert printable == {code for code in range(0x110000) if is_print(code)}


def test_stray_bytes_that_form_a_character_become_it() -> None:
    assert joined(["\udcc3", "\udca9"]) == "é"
    assert joined(["\udcc3", "x"]) == "\udcc3x"


def test_quoting() -> None:
    assert quote('a"b\\\udcff\u200b') == r'"a\"b\\\xff\u200b"'
    assert not can_backquote("\udcff")
    assert can_backquote("é\t")
