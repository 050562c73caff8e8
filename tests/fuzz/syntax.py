"""Hunt for templates that we and Go's own parser read differently, or refuse in other words.

``python -m tests.fuzz.syntax [CASES] [--seed N]`` compares the texts of errors, and the nodes with their
offsets and values, and requires that every valid template prints back to itself.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.fuzz.gotmpl import corpus
from tests.fuzz.mutation import mutate
from tests.gotmpl.parsing import FUNCTIONS, ROWS, ask, decode, encode
from tests.oracle.parse.oracle import ParseOracle
from transplate.gotmpl.parser import parse
from transplate.gotmpl.printer import print_template

_VOCABULARY: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "syntax.json").read_text(encoding="utf-8")
)
_NUMBER_CHARACTERS = "01234567890123456789__..eEpPxXoObBiaAfF+-+-"


class Generator:
    """Templates, valid and faulty, by their seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._corpus = corpus() + [row for rows in ROWS.values() for row in rows]
        self._kinds: dict[str, Callable[[], str]] = {
            "mutant": self._mutant,
            "part": self._part,
            "tokens": self._token_soup,
            "number": self._number,
            "string": self._string,
            "character": self._character,
        }

    def template(self) -> tuple[str, str]:
        """Return a template and what kind it is."""
        kind = self._random.choices([*self._kinds], (5, 3, 8, 2, 2, 2))[0]
        text = self._kinds[kind]()
        return kind, text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")

    def _one(self, of: str) -> str:
        return self._random.choice(_VOCABULARY[of])

    def _mutant(self) -> str:
        pick = self._random
        return mutate(pick.choice(self._corpus), pick.choice(self._corpus), pick)[0]

    def _part(self) -> str:
        """Return a part of a template, with a token put somewhere."""
        pick = self._random
        text = pick.choice(self._corpus)
        start = pick.randrange(len(text) + 1)
        text = text[start : start + pick.randrange(20, 400)] if pick.random() < 0.5 else text[:start]
        at = pick.randrange(len(text) + 1)
        return text[:at] + pick.choice((self._one("tokens"), self._one("spaces"))) + text[at:]

    def _token_soup(self) -> str:
        pick = self._random
        soup = [self._one("openings")]
        for _ in range(pick.choice((1, 2, 3, 4, 6, 8, 12, 20))):
            soup += self._one("tokens"), self._one("spaces")
            if pick.random() < 0.1:
                soup += self._one("closings"), self._one("openings")
        return "".join(soup) + self._one("closings")

    def _number(self) -> str:
        pick = self._random
        length = pick.choice((1, 2, 3, 4, 5, 6, 8, 12, 25, 309))
        if pick.random() < 0.5:
            number = "".join(pick.choices(_NUMBER_CHARACTERS, k=length))
        else:
            digits = "".join(pick.choices("0123456789", k=length))
            number = pick.choice(("", "+", "-")) + self._one("number beginnings") + digits
        return "{{" + number + self._one("number endings") + pick.choice(("}}", " }}", "", ".X}}", "(1)}}"))

    def _string(self) -> str:
        pick = self._random
        mark = pick.choice('"""`\'')
        inside = "".join(pick.choices(_VOCABULARY["string pieces"], k=pick.choice((0, 1, 1, 2, 3, 5, 8))))
        return f"{self._one('openings')}{mark}{inside}{mark}{self._one('closings')}"

    def _character(self) -> str:
        pick = self._random
        code = pick.randrange(pick.choice((0x80, 0x800, 0x10000, 0x20000, 0x110000)))
        character = "\udc80" if 0xD800 <= code < 0xE000 else chr(code)
        return self._one("character places").replace("%", character)


def shape(error: str) -> str:
    """Return an error's text without what it quotes."""
    return re.sub(r"""constant: .*|"(\\.|[^"\\])*"|\d+|U\+\S+( '.*')?|<\S+>""", "_", error, flags=re.DOTALL)


def differences(
    oracle: ParseOracle, cases: int, seed: int, counts: Counter[str]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the template, Go's answer and ours wherever they differ; count kinds and errors in ``counts``."""
    generator = Generator(seed)

    def questions() -> Iterator[dict[str, Any]]:
        for _ in range(cases):
            kind, template = generator.template()
            counts[f"kind {kind}"] += 1
            yield {"template": encode(template)}

    for question, expected in oracle.answers(questions()):
        template = decode(question["template"])
        counts["valid" if "templates" in expected else f"error {shape(expected['error'])}"] += 1
        ours = ask(template)
        if ours == expected and "templates" in ours:
            ours["printed"] = encode(print_template(parse(template, functions=FUNCTIONS)))
            expected["printed"] = question["template"]
        if ours != expected:
            yield template, expected, ours


def main() -> int:
    """Compare and report; the exit status says whether all were equal."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("cases", type=int, nargs="?", default=200_000)
    arguments.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = arguments.parse_args()
    counts: Counter[str] = Counter()
    oracle = ParseOracle()
    found = 0
    for template, expected, ours in differences(oracle, options.cases, options.seed, counts):
        found += 1
        if found <= 20:
            print(f"{template!a}\n  Go:   {expected!a}\n  ours: {ours!a}")
    oracle.close()
    for name, count in counts.most_common():
        print(f"{count:8} {name}")
    print(f"seed {options.seed}: {options.cases} templates, {found} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
