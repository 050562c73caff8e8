"""Hunt for differences between our printing (fmt, JSON, escaping) and Go's.

Run it as ``python -m tests.fuzz.printing --cases 100000 [--seed N]``; it ends with status 1 at a difference.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from tests.gotmpl.printing import TYPES, ask, text_of
from tests.oracle.fmt.oracle import FmtOracle
from transplate.gotmpl.types import ANY, ANY_MAP, ANY_SLICE, GoType, Kind

VERBS = "vTtbcdoOqxXUeEfFgGspw"
FLAGS = "+-# 0"
COMPLAINTS = (
    *(
        "(BADINDEX)",
        "%!(EXTRA ",
        "(MISSING)",
        "%!(NOVERB)",
        "%!(BADPREC)",
        "%!(BADWIDTH)",
        "(PANIC=String method: ",
    ),
    *(f"%!{verb}(" for verb in VERBS if verb not in "vT"),
)
"""What Go prints where a format or a method is wrong; a hunt must meet each of them."""
_ENOUGH_FOR_ALL = 10_000
_WORDS = (
    "",
    "a",
    "hi",
    "tool",
    "x y",
    "<b>&'\"`",
    "C:\\n",
    "line\nline\t\r\b\f\v\a\0",
    "\x7f",
    "e-5",
    "1.0",
    "=/~_-.",
)
_CHARACTERS = (
    "aZ09 \t\n\"'\\`<>&\0\x1b\x7fé ÿĀʼn日本語\u200b\u2028\u2029\ufeff\ufffd\ufffe"
    "🎉\U000e0001\U0010ffff𠀀\u0378\U00011f00\U0001e030"
)
_HOSTILE_BYTES = (
    b"\x80",
    b"\xff",
    b"\xc3",
    b"\xa9",
    b"\xe6\x97",
    b"\xa5",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xc0\xaf",
    b"\xf0\x9f",
)
_FLOATS = """
0x0p+0 -0x0p+0 0x1p+0 -0x1.8p+1 inf -inf NaN 0x1p-1074 0x1.fffffffffffffp+1023 1e6 999999 999999.5 1e20 1e21
1e22 123456789 1e-4 1e-5 1e-6 1e-7 0.1 2.5 0.5 1.5e300 100000 123456.7 1234567.8 5e-324 9007199254740993 1e15
1e16 1e17 0.000123 0.3 1.2345678901234567e20
""".split()  # noqa: SIM905 - a list of them is hard to read
_JSON_NUMBERS = """
12345678901234567890 9007199254740993 1e21 1E+2 1e-7 -0 -0.0 1.0 0.1e1 1e400 -1e999 1e-400 123456789012345678
9007199254740992
""".split()  # noqa: SIM905
_SPECIAL_CODES = (
    0,
    7,
    10,
    34,
    39,
    65,
    92,
    127,
    128,
    255,
    0xD7FF,
    0xD800,
    0xDFFF,
    0xE000,
    0xFFFD,
    0x10FFFF,
    0x110000,
)
_BITS = {
    Kind.INT: 64, Kind.INT8: 8, Kind.INT16: 16, Kind.INT32: 32, Kind.INT64: 64, Kind.UINT: -64,
    Kind.UINT8: -8, Kind.UINT16: -16, Kind.UINT32: -32, Kind.UINT64: -64, Kind.UINTPTR: -64,
}  # fmt: skip
_NAMES = sorted(name for name, go_type in TYPES.items() if go_type.kind is not Kind.INTERFACE)
_ADDRESSED = ("*", "func", "[]*")


class Generator:
    """A source of random questions, which are the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.kinds: Counter[str] = Counter()

    def question(self) -> dict[str, Any]:
        """Return a question."""
        operations: dict[str, tuple[int, Callable[[], dict[str, Any]]]] = {
            "sprintf": (60, self._sprintf),
            "marshal": (14, self._one_value),
            "print": (6, self._one_value),
            "sprint": (5, self._some_values),
            "sprintln": (2, self._some_values),
            "html": (3, self._some_values),
            "js": (3, self._some_values),
            "urlquery": (2, self._some_values),
            "wire": (8, self._wire),
        }
        weights = [weight for weight, _ in operations.values()]
        op = self.random.choices(list(operations), weights)[0]
        self.kinds[op] += 1
        return {"op": op, "format": "", **operations[op][1]()}

    def _one_value(self) -> dict[str, Any]:
        return {"values": [self.value()]}

    def _some_values(self) -> dict[str, Any]:
        return {"values": [self.value() for _ in range(self.random.choice((0, 1, 1, 1, 2, 3)))]}

    def _wire(self) -> dict[str, Any]:
        return {"values": [self._json_text(0)]}

    def _sprintf(self) -> dict[str, Any]:
        pick = self.random
        values = [self.value() for _ in range(pick.choice((0, 1, 1, 1, 1, 1, 2, 2, 3)))]
        directives = []
        for _ in range(max(len(values), 1) + pick.choice((-1, 0, 0, 0, 0, 0, 0, 1))):
            if pick.random() < 0.15:
                directives.append(self._plain_format())
            directives.append(self._directive(values))
        if pick.random() < 0.1:
            directives.append(self._plain_format())
        text = b"".join(directives)
        if pick.random() < 0.03 and text:
            position = pick.randrange(len(text))
            text = text[:position] + text[position + 1 :]
        return {"format": _bytes_notation(text), "values": values}

    def _plain_format(self) -> bytes:
        return self.random.choice((b" ", b"|", b"%%", b"[1]", "é".encode(), b"\xff", b"=", b"0", b"."))

    def _directive(self, values: list[Any]) -> bytes:
        pick = self.random
        flags = "".join(flag for flag in FLAGS if pick.random() < 0.2)
        width = pick.choice(("",) * 8 + ("1", "3", "5", "8", "12", "20", "40", "0"))
        precision = pick.choice(
            ("",) * 8 + (".", ".0", ".1", ".2", ".3", ".5", ".7", ".10", ".16", ".20", ".30")
        )
        index = ""
        if pick.random() < 0.06:
            index = pick.choice(("[1]", "[2]", "[3]", "[0]", "[99]", "[", "[]", "[x]", "[-1]", "[1", "[é]"))
        if pick.random() < 0.06:
            width = pick.choice(("*", "[1]*", "[2]*", "[5]*"))
            if pick.random() < 0.8:
                values.insert(
                    0, pick.choice((self._int("5"), self._int("-7"), self._int("0"), self._sized()))
                )
        if pick.random() < 0.05:
            precision = pick.choice((".*", ".[1]*", ".[2]*", ".[7]*", ".[1]"))
            if pick.random() < 0.8:
                values.insert(
                    0, pick.choice((self._int("3"), self._int("-1"), self._int("0"), self._sized()))
                )
        if pick.random() < 0.004:
            width = pick.choice(("1000000000000000000000", "99999999", "10000010", "12345678[1]"))
        if pick.random() < 0.002:
            precision = pick.choice((".10000000000000000", ".99999999"))
        verb = pick.choice(VERBS) if pick.random() < 0.94 else pick.choice("%!zyéD日. \U0001f389")
        if pick.random() < 0.01:
            verb = ""
        encoded = pick.choice((b"\xff", b"\xe6\x97")) if pick.random() < 0.005 else verb.encode()
        first, second = (index, "") if pick.random() < 0.5 else ("", index)
        return f"%{flags}{first}{width}{precision}{second}".encode() + encoded

    # --- values -----------------------------------------------------------------------------------------

    def value(self, depth: int = 0) -> Any:
        """Return the notation of a value of any type."""
        pick = self.random
        roll = pick.random()
        if depth > 3 or roll < 0.35:
            return self._plain_scalar()
        if roll < 0.43:
            return [self.value(depth + 1) for _ in range(pick.choice((0, 1, 2, 3)))]
        if roll < 0.51:
            return {"m": self._pairs(lambda: self._text(), lambda: self.value(depth + 1))}
        while True:
            name = pick.choice(_NAMES)
            if not name.startswith(_ADDRESSED) or pick.random() < 0.3:
                break
        return {"t": [name, self._content(TYPES[name], depth + 1)]}

    def _plain_scalar(self) -> Any:
        kind = self.random.randrange(10)
        if kind < 3:
            return self._text()
        if kind < 5:
            return {"i": self._integer(64)}
        if kind < 8:
            return {"f": self._float()}
        if kind == 8:
            return self.random.choice((None, None, True, False))
        return {"t": ["complex128", [self._float(), self._float()]]}

    def _int(self, text: str) -> Any:
        return {"i": text}

    def _sized(self) -> Any:
        name = self.random.choice(
            ("int8", "uint16", "uint64", "main.Count", "main.Level", "bool", "string", "float64")
        )
        return {"t": [name, self._content(TYPES[name], 9)]}

    def _text(self) -> Any:
        pick = self.random
        roll = pick.random()
        if roll < 0.4:
            return pick.choice(_WORDS)
        if roll < 0.7:
            return "".join(pick.choice(_CHARACTERS) for _ in range(pick.randrange(6)))
        if roll < 0.8:
            return "".join(_rune(pick) for _ in range(pick.randrange(5)))
        if roll < 0.9:
            return _bytes_notation(
                b"".join(pick.choice((*_HOSTILE_BYTES, b"a", "é".encode())) for _ in range(pick.randrange(5)))
            )
        return _bytes_notation(bytes(pick.randrange(256) for _ in range(pick.randrange(4))))

    def _integer(self, bits: int) -> str:
        pick = self.random
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if bits > 0 else (0, (1 << -bits) - 1)
        roll = pick.random()
        if roll < 0.4:
            number = pick.randrange(-20, 130)
        elif roll < 0.55:
            number = pick.choice(_SPECIAL_CODES)
        elif roll < 0.7:
            number = pick.choice((low, high, 1_000_000, 1_000_001, -1_000_001, 40, -40))
        else:
            number = pick.getrandbits(pick.randrange(1, 65)) * pick.choice((1, -1))
        return str(min(max(number, low), high))

    def _float(self) -> str:
        pick = self.random
        roll = pick.random()
        if roll < 0.4:
            text = pick.choice(_FLOATS)
            return text if text in ("NaN", "inf", "-inf") or "x" in text else float(text).hex()
        if roll < 0.55:
            number = round(pick.uniform(-1000, 1000), pick.randrange(5))
        elif roll < 0.7:
            number = (
                pick.choice((1, -1))
                * pick.randrange(1, 10 ** pick.randrange(1, 8))
                * 10.0 ** pick.randrange(-12, 26)
            )
        elif roll < 0.8:
            number = math.ldexp(pick.choice((1.0, 1.5, 1 + 2**-52, 2 - 2**-52)), pick.randrange(-1074, 1023))
        else:
            number = struct.unpack("<d", pick.randbytes(8))[0]
        return "NaN" if number != number else number.hex()

    def _pairs(self, key: Callable[[], Any], item: Callable[[], Any]) -> list[list[Any]]:
        made = {}
        for _ in range(self.random.choice((0, 1, 1, 2, 3))):
            name = key()
            made[json.dumps(name)] = [name, item()]
        return list(made.values())

    def _content(self, go_type: GoType, depth: int) -> Any:
        """Return the content of a value of a type."""
        pick = self.random
        elem, key = go_type.elem or ANY, go_type.key or ANY
        match go_type.kind:
            case Kind.INTERFACE:
                return self.value(depth) if go_type is ANY else None
            case Kind.BOOL:
                return pick.random() < 0.5
            case Kind.STRING:
                return self._text()
            case Kind.FLOAT64:
                return self._float()
            case Kind.COMPLEX128:
                return [self._float(), self._float()]
            case Kind.FUNC:
                return None
            case Kind.POINTER:
                if depth > 4 or pick.random() < 0.25:
                    return None
                content = self._content(elem, depth + 1)
                return "" if content is None and elem is ANY else content
            case Kind.STRUCT:
                return [self._content(field.type, depth + 1) for field in go_type.fields]
            case Kind.SLICE:
                if pick.random() < 0.15 and go_type is not ANY_SLICE:
                    return None
                size = 0 if depth > 5 else pick.choice((0, 1, 2, 3))
                if elem.kind is Kind.UINT8 and elem.name == "uint8":
                    return pick.randbytes(size * 2).hex()
                return [self._content(elem, depth + 1) for _ in range(size)]
            case Kind.MAP:
                if pick.random() < 0.15 and go_type is not ANY_MAP:
                    return None
                if key is ANY:
                    # Go has no order of its own among keys of several types.
                    name = pick.choice(("main.Count", "string", "bool"))
                    return self._pairs(
                        lambda: {"t": [name, self._content(TYPES[name], 9)]},
                        lambda: self._content(elem, depth + 1),
                    )
                return self._pairs(lambda: self._key(key), lambda: self._content(elem, depth + 1))
        return self._integer(_BITS[go_type.kind])

    def _key(self, key: GoType) -> Any:
        # NaN is a key as often as it is put in, in Go alone.
        made = self._content(key, 9)
        return "0x1p+0" if made == "NaN" or made == "-0x0.0p+0" or made == "-0x0p+0" else made

    def _json_text(self, depth: int) -> str:
        pick = self.random
        roll = pick.random()
        if depth < 4 and roll < 0.25:
            return "[" + ",".join(self._json_text(depth + 1) for _ in range(pick.randrange(4))) + "]"
        if depth < 4 and roll < 0.55:
            pairs = (f"{self._json_string()}:{self._json_text(depth + 1)}" for _ in range(pick.randrange(4)))
            return "{" + ",".join(pairs) + "}"
        if roll < 0.7:
            return self._json_string()
        if roll < 0.75:
            return pick.choice(("true", "false", "null"))
        if roll < 0.9:
            return _json_number(self._float())
        if roll < 0.95:
            return self._integer(64)
        return pick.choice(_JSON_NUMBERS)

    def _json_string(self) -> str:
        pick = self.random
        parts = []
        for _ in range(pick.randrange(5)):
            roll = pick.random()
            if roll < 0.6:
                parts.append(json.dumps(pick.choice(_CHARACTERS), ensure_ascii=pick.random() < 0.5)[1:-1])
            elif roll < 0.8:
                parts.append(
                    pick.choice(
                        ("\\ud800", "\\udc00", "\\ud83d\\ude00", "\\udbff", "\\udfff", "\\ud800\\u0041")
                    )
                )
            else:
                parts.append(
                    pick.choice(
                        ("<", ">", "&", "key", "e-5", ".0", ",1.0]", ":1e5", "\\/", "\\u0008", "\\u000c")
                    )
                )
        return '"' + "".join(parts) + '"'


def _json_number(text: str) -> str:
    return "0" if text in ("NaN", "inf", "-inf") else repr(float.fromhex(text))


def _rune(pick: random.Random) -> str:
    code = pick.randrange(0x110000) if pick.random() < 0.3 else pick.randrange(0x3000)
    return "?" if 0xD800 <= code < 0xE000 else chr(code)


def _bytes_notation(data: bytes) -> Any:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"x": data.hex()}


def differences(oracle: FmtOracle, cases: int, seed: int, counts: Counter[str]) -> Iterator[dict[str, Any]]:
    """Yield every difference among random cases: the question, Go's answer and ours.

    Args:
        oracle: The running oracle.
        cases: How many cases.
        seed: Where the random numbers start.
        counts: Gets the number of equal cases by kind, and how often Go printed each complaint.
    """
    generator = Generator(seed)
    questions = (generator.question() for _ in range(cases))
    for question, expected in oracle.answers(questions):
        addresses = set(expected.pop("addresses", ()))
        containers = set(expected.pop("containers", ()))
        if "p" in text_of(question["format"]):
            addresses |= containers
        ours = ask(question, sorted(addresses))
        shown = str(expected.get("text"))
        counts.update(complaint for complaint in COMPLAINTS if complaint in shown)
        if "error" in expected:
            expected = {"error": True}
        if ours == expected:
            counts[question["op"]] += 1
        elif len(addresses) > 1:
            counts["left out: several addresses"] += 1
        else:
            yield {"question": question, "go": expected, "ours": ours}


def main() -> int:
    """Run the hunt; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--show", type=int, default=20, help="differences to print before giving up")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    counts: Counter[str] = Counter()
    found = 0
    oracle = FmtOracle()
    for difference in differences(oracle, arguments.cases, arguments.seed, counts):
        print(json.dumps(difference, ensure_ascii=False))
        found += 1
        if found >= arguments.show:
            break
    oracle.close()
    complaints = {complaint: counts.pop(complaint, 0) for complaint in COMPLAINTS}
    print(f"complaints met: {complaints}")
    print(f"{sum(counts.values()) + found} cases, {found} differences; equal: {dict(counts)}")
    missed = [complaint for complaint, times in complaints.items() if not times]
    if missed and arguments.cases >= _ENOUGH_FOR_ALL:
        print(f"never met: {missed}")
    return 1 if found or (missed and arguments.cases >= _ENOUGH_FOR_ALL) else 0


if __name__ == "__main__":
    sys.exit(main())
