"""Record what Go prints for fixed questions, for the tests to use where there is no Go.

``python -m tests.oracle.fmt.record`` writes ``tests/gotmpl/*.jsonl``: a question and its answer a line.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.fuzz.printing import VERBS, Generator
from tests.oracle.fmt.oracle import FmtOracle

FOLDER = Path(__file__).parent.parent.parent / "gotmpl"
_SEED = 20260821

_INTEGERS = (
    "0",
    "1",
    "-1",
    "42",
    "-255",
    "65",
    "233",
    "8203",
    "128512",
    "55296",
    "1114112",
    "-9223372036854775808",
)
_FLOATS = (
    "0x0p+0",
    "-0x0p+0",
    "0x1p+0",
    "-0x1.8p+1",
    "inf",
    "-inf",
    "NaN",
    "1e6",
    "1e21",
    "1e-7",
    "123456.7",
)
_STRINGS: tuple[Any, ...] = ("", "hi", "é日🎉", 'q"\\\n\t', "\u200b\x7f", "`", {"x": "61ff62c3"})
_DIRECTIVES = (
    *("", "+", "-", "#", " ", "0", "+#", "# ", "+0", "12", "-12", "012", "+012", "#012", " 012", "-012"),
    *(".0", ".1", ".3", "#.3", "+.3", "8.3", "-8.3", "08.3", "#08.3", "0.0", ".20"),
)
_FORMATS: tuple[Any, ...] = (
    *(
        "",
        "%",
        "%%",
        "100%",
        "%d",
        "%d %d",
        "%!",
        "%!d",
        "%z",
        "%d%",
        "%-",
        "%5",
        "%.",
        "%.5",
        "%é",
        "%[1]d %[1]d",
    ),
    *(
        "%[2]d %[1]d",
        "%[3]d",
        "%[0]d",
        "%[x]d",
        "%[1",
        "%[1]",
        "%[]d",
        "%[]",
        "%[-1]d",
        "%[99999999]d",
        "%[1]2d",
    ),
    *("%[1].2d", "%[1]*d", "%[2]*[1]d", "%[1]*.[2]*[1]d", "%*d", "%.*d", "%*.*d", "%-*d", "%0*d", "%.[1]*d"),
    *(
        "%99999999d",
        "%99999999999999999999d",
        "%.99999999d",
        "%[1]v %v",
        "%v %[1]v %v",
        "%w",
        "%.d",
    ),
    *("% d", "%+-d", "%#+x", "%08b", "%+08d", "%s %s %s", "%d %s %", {"x": "25ff"}, {"x": "ff2564ff"}),
)


def _value_samples() -> Iterator[Any]:
    point = ["3", "0x1.8p+0", "p", "7"]
    yield from (None, True, False)
    yield from ({"i": text} for text in _INTEGERS)
    yield from ({"f": text} for text in _FLOATS)
    yield from _STRINGS
    yield from (
        [],
        ["a", {"i": "1"}, None],
        [[{"f": "0x1p+0"}], {"m": []}],
        {"m": [["b", {"i": "1"}], ["a", None]]},
    )
    typed: dict[str, Any] = {
        "uint8": "200",
        "int8": "-128",
        "uint64": "18446744073709551615",
        "main.Count": "5",
        "main.Level": "2",
        "complex128": ["0x1p+0", "-0x1p+1"],
        "[]uint8": "6869ff",
        "main.Image": "00",
        "[][]uint8": ["6869", None],
        "[]string": ["x", ""],
        "main.Words": ["x", "y"],
        "main.Coded": ["x"],
        "main.Table": [["k", {"f": "0x1p+0"}]],
        "map[int]string": [["2", "b"], ["-1", "a"]],
        "map[string]string": [[{"x": "80"}, "1"], ["é", "2"], ["\ue000", "3"], ["a", "4"]],
        "map[bool]int": [[True, "1"], [False, "0"]],
        "main.Point": point,
        "*main.Point": point,
        "*main.Words": ["x"],
        "**main.Point": None,
        "main.Secret": [["a"], ["b"], {"t": ["main.Fault", ["1"]]}, ["2"]],
        "main.Boxed": ["v"],
        "*main.Boxed": ["v"],
        "main.Fault": ["7"],
        "main.Boom": ["ouch"],
        "[]main.Boom": [["one"], ["two"]],
    }
    yield from ({"t": [name, content]} for name, content in typed.items() if name != "**main.Point")
    nilable = (
        "[]string",
        "[]uint8",
        "main.Words",
        "main.Table",
        "map[string]int",
        "*main.Point",
        "*main.Boxed",
    )
    yield from ({"t": [name, None]} for name in (*nilable, "*main.Level", "*main.Fault"))


def _fmt_questions() -> Iterator[dict[str, Any]]:
    for value in _value_samples():
        for verb in VERBS:
            layout = "|".join(f"%[1]{directive}{verb}" for directive in _DIRECTIVES)
            yield {"op": "sprintf", "format": layout, "values": [value]}
        yield {"op": "sprint", "format": "", "values": [value, value, "s", {"i": "1"}, value]}
        yield {"op": "sprintln", "format": "", "values": [value, "s", value]}
        yield {"op": "print", "format": "", "values": [value]}
    for layout in _FORMATS:
        for values in (
            [],
            [{"i": "7"}],
            ["s", {"i": "3"}],
            [{"i": "4"}, {"i": "2"}, {"f": "0x1.8p+1"}],
            [None],
        ):
            yield {"op": "sprintf", "format": layout, "values": values}


def _number_questions() -> Iterator[dict[str, Any]]:
    pick = random.Random(_SEED)
    numbers = [math.ldexp(1.0, exponent) for exponent in range(-1074, 1024, 29)]
    numbers += [10.0**exponent for exponent in range(-30, 31)]
    numbers += [float(f"{pick.randrange(10**17)}e{pick.randrange(-330, 290)}") for _ in range(80)]
    numbers += [pick.randrange(2**53, 2**70) * 1.0 for _ in range(20)]
    numbers += [0.5, 1.5, 2.5, 0.125, 0.375, 1.25, 9.5, 99.5, 999999.5, 1e6 - 1, 0.00001, 123456789.0]
    layouts = (
        "%[1]v %[1]e %[1]g %[1]b %[1]x",
        "%[1].3e %[1].0f %[1].3g %[1].2x %[1].0x %[1].17g %[1].25e %[1].1f",
    )
    for number in numbers:
        for layout in layouts:
            yield {"op": "sprintf", "format": layout, "values": [{"f": number.hex()}]}
        yield {"op": "marshal", "format": "", "values": [{"f": (-number).hex()}]}
    for code in (
        *range(0x180),
        *range(0x300, 0x3100, 151),
        *range(0xFE00, 0x10000, 31),
        *range(0x10000, 0x110000, 9973),
    ):
        if not 0xD800 <= code < 0xE000:
            values = [chr(code), {"i": str(code)}]
            layout = "%[1]q %+[1]q %#[1]q %[2]q %+[2]q %[2]c %#[2]U"
            yield {"op": "sprintf", "format": layout, "values": values}


def _random_questions(ops: tuple[str, ...], count: int) -> Iterator[dict[str, Any]]:
    generator = Generator(_SEED)
    while count:
        question = generator.question()
        if question["op"] in ops:
            count -= 1
            yield question


def _json_questions() -> Iterator[dict[str, Any]]:
    for value in _value_samples():
        yield {"op": "marshal", "format": "", "values": [value]}
    yield from _random_questions(("marshal", "wire"), 1200)


def _escape_questions() -> Iterator[dict[str, Any]]:
    for op in ("html", "js", "urlquery"):
        for value in _value_samples():
            yield {"op": op, "format": "", "values": [value]}
        for code in (
            *range(0x180),
            *range(0x2000, 0x2100),
            0xFEFF,
            0xFFFD,
            0xFFFE,
            0x1F389,
            0xE0001,
            0x10FFFF,
        ):
            yield {"op": op, "format": "", "values": [chr(code)]}
        yield {"op": op, "format": "", "values": []}
    yield from _random_questions(("html", "js", "urlquery"), 500)


RECORDINGS = {
    "fmt": _fmt_questions,
    "numbers": _number_questions,
    "json": _json_questions,
    "escape": _escape_questions,
}


def recording(oracle: FmtOracle, name: str) -> str:
    """Return a recording's text as the oracle gives it now.

    What shows an address is left out, since it changes from run to run.
    """
    lines = []
    for question, answer in oracle.answers(RECORDINGS[name]()):
        containers = answer.pop("containers", ())
        shows_containers = containers and "p" in str(question["format"])
        if "addresses" in answer or shows_containers:
            continue
        if "error" in answer:
            answer = {"error": True}
        lines.append(json.dumps([question, answer], separators=(",", ":")) + "\n")
    return "".join(lines)


def main() -> None:
    """Write every recording."""
    oracle = FmtOracle()
    for name in RECORDINGS:
        (FOLDER / f"{name}.jsonl").write_text(recording(oracle, name), encoding="utf-8", newline="\n")
    oracle.close()


if __name__ == "__main__":
    main()
