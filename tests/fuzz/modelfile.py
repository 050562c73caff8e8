"""Hunt for Modelfiles that we read or edit otherwise than Ollama's own parser reads them.

Run it as ``python -m tests.fuzz.modelfile --cases 50000 [--seed N]``; it ends with status 1 at a difference.
Each case is a file that both read, and, if it is valid, an edit of it, which Ollama must read as meant.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.oracle.modelfile.oracle import OLLAMA_VERSION, ModelfileOracle, Reading
from transplate.ollama.modelfile import Modelfile, ModelfileError

KEYWORDS = (
    *("FROM", "LICENSE", "TEMPLATE", "SYSTEM", "ADAPTER", "RENDERER", "PARSER", "PARAMETER", "MESSAGE"),
    *("REQUIRES", "DRAFT"),
)
_NAMES = (
    "temperature",
    "stop",
    "num_ctx",
    "top_p",
    "template",
    "model",
    "message",
    "from",
    "my_param",
    "9x",
    "",
)
_ROLES = ("system", "user", "assistant")
_ODD = (
    *(
        "\n",
        "\r",
        "\r\n",
        " ",
        "\t",
        '"',
        '""',
        '"""',
        '""""',
        "#",
        "# x\n",
        "'",
        "\\",
        '\\"',
        ":",
        "-",
        "_",
        "é",
    ),
    *(
        "日",
        "\u00a0",
        "\u3000",
        "\u200b",
        "\u200d",
        "\u2028",
        "\u0085",
        "\x00",
        "\x0b",
        "\x0c",
        "\x7f",
        "\ufe0f",
    ),
    *("\ufeff", "\ufffd", "\U0001f389", "\U000e0001", "\u212a", "\u0130"),
    *("FROM x\n", "SYSTEM", "MESSAGE user ", "PARAMETER "),
)
_HOSTILE = (
    *(
        b"\x80",
        b"\xff",
        b"\xc3",
        b"\xe2\x80",
        b"\xf0\x9f\x8e",
        b"\xed\xa0\x80",
        b"\xc0\xaf",
        b"\xf4\x90\x80\x80",
    ),
    *(b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x00", b"\xd8\x00", b"\xdc\x00", b"\x00\xdc\x00\xdc"),
)
_WORDS = (
    "hello",
    "{{ .Prompt }}",
    "<|im_end|>",
    "0.7",
    "./model.gguf",
    "llama3.2",
    "say",
    "it's",
    "user: hi",
    "a b",
)


@dataclass(frozen=True, slots=True)
class Edit:
    """A change to a Modelfile.

    Attributes:
        kind: ``set``, ``add`` or ``remove``.
        name: Of which commands.
        values: What they shall be, or what is added.
    """

    kind: str
    name: str
    values: tuple[str, ...]

    def apply(self, modelfile: Modelfile) -> list[tuple[str, str]]:
        """Make the change, and return the commands of its name and the others, as Ollama shall read them."""
        name = "model" if self.name == "from" else self.name
        own = modelfile.values(self.name)
        others = [tuple(one) for one in modelfile.commands if one.name != name]
        if self.kind == "set":
            modelfile.set(self.name, self.values)
            own = list(self.values)
        elif self.kind == "add":
            modelfile.add(self.name, self.values[0])
            own.append(self.values[0])
        else:
            modelfile.remove(self.name, self.values[0])
            own = [value for value in own if value != self.values[0]]
        return sorted([(name, value) for value in own] + [(key, value) for key, value in others])


class Generator:
    """A source of random files and edits, which are the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def file(self) -> bytes:
        """Return a file: plausible, plausible and damaged, or mere pieces."""
        rng = self.random
        kind = rng.random()
        if kind < 0.15:
            text = "".join(rng.choice(_ODD + KEYWORDS + _WORDS) for _ in range(rng.randrange(12)))
        else:
            text = self._plausible()
        if kind > 0.7:
            text = self._damaged(text)
        encoding = rng.choice(("utf-8",) * 8 + ("utf-8-sig", "utf-16-le", "utf-16-be"))
        data = text.encode(encoding)
        if encoding.startswith("utf-16"):
            data = (b"\xff\xfe" if encoding == "utf-16-le" else b"\xfe\xff") + data
        if rng.random() < 0.12:
            at = rng.randrange(len(data) + 1)
            data = data[:at] + rng.choice(_HOSTILE) * rng.choice((1, 1, 2, 3)) + data[at + rng.randrange(2) :]
        return data

    def _plausible(self) -> str:
        rng = self.random
        newline = rng.choice(("\n", "\n", "\n", "\r\n", "\r"))
        lines = [] if rng.random() < 0.1 else [f"FROM {rng.choice(_WORDS)}"]
        lines += [self._command() for _ in range(rng.randrange(7))]
        rng.shuffle(lines)
        text = newline.join(lines) + rng.choice(("", newline))
        if rng.random() < 0.02:
            # Go reads 4096 bytes at a time.
            text += f'{newline}LICENSE """{"ab é日" * rng.randrange(500, 1500)}"""{newline}'
        return text

    def _command(self) -> str:
        rng = self.random
        if rng.random() < 0.1:
            return rng.choice(("", "  ", "# a comment", "\t# FROM x", "#"))
        keyword = rng.choice(KEYWORDS if rng.random() < 0.1 else KEYWORDS[:-1])
        head = rng.choice((keyword, keyword, keyword.lower(), keyword.title())) + rng.choice(
            (" ", " ", "\t", "  ")
        )
        if keyword == "PARAMETER":
            head += rng.choice(_NAMES) + " "
        if keyword == "MESSAGE":
            head += rng.choice((*_ROLES * 9, "tool", "User", "")) + " "
        return head + self._quoted(self.value())

    def _quoted(self, value: str) -> str:
        rng = self.random
        quote = rng.choice(("", '"', '"""', '"""'))
        behind = rng.choice(("",) * 20 + (" ", "\t", " # c"))
        return rng.choice(("", "", " ")) + quote + value + quote + behind

    def value(self) -> str:
        """Return a value, ordinary or odd."""
        rng = self.random
        pieces = _WORDS if rng.random() < 0.7 else _WORDS + _ODD
        return rng.choice(("", " ", "\n")).join(rng.choice(pieces) for _ in range(rng.randrange(5)))

    def _damaged(self, text: str) -> str:
        rng = self.random
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice((*_ODD, "", "")) + text[at + rng.choice((0, 0, 1, 3)) :]
        return text

    def edit(self, modelfile: Modelfile) -> Edit:
        """Return an edit, often of what is in the file."""
        rng = self.random
        names = ["from", "template", "system", "message", "license", "renderer", "stop", "temperature"]
        name = rng.choice(names + [command.name for command in modelfile.commands])
        kind = rng.choice(("set", "set", "add", "remove"))
        if kind == "remove":
            return Edit(kind, name, (rng.choice([*modelfile.values(name), "nothing"]),))
        count = rng.choice((1, 1, 1, 2, 3)) if kind == "set" else 1
        role = f"{rng.choice(_ROLES)}: " if name == "message" else ""
        return Edit(kind, name, tuple(role + self.value() for _ in range(count)))


def ours(data: bytes) -> Reading:
    """Return what we read in a file."""
    try:
        return [(one.name, one.args) for one in Modelfile.parse(data, ollama=OLLAMA_VERSION).commands]
    except ModelfileError as error:
        return error.message


def edited(data: bytes, generator: Generator) -> tuple[Edit, bytes, list[tuple[str, str]]] | None:
    """Return an edit of a valid file, the file after it, and its commands, sorted; None if it was refused.

    Raises:
        AssertionError: A refused edit changed something, or an edit touched lines that it had not to.
    """
    modelfile = Modelfile.parse(data, ollama=OLLAMA_VERSION)
    half = len(data) % 2 == 1 and data[:2] in (b"\xff\xfe", b"\xfe\xff")
    assert half or bytes(modelfile) == data
    edit = generator.edit(modelfile)
    before = str(modelfile)
    try:
        commands = edit.apply(modelfile)
    except ModelfileError:
        assert str(modelfile) == before
        return None
    return edit, bytes(modelfile), commands


def hunt(cases: int, seed: int, report: Callable[[str], None] = print) -> Counter[str]:
    """Compare so many files, and an edit of each valid one; return how many of each outcome there were."""
    generator = Generator(seed)
    oracle = ModelfileOracle()
    seen: Counter[str] = Counter()
    edits: dict[bytes, tuple[Edit, list[tuple[str, str]]]] = {}

    def check(data: bytes, theirs: Reading) -> None:
        mine = ours(data)
        seen["valid" if isinstance(theirs, list) else "refused"] += 1
        if mine != theirs:
            seen["different"] += 1
            report(f"DIFFERENT {data!r}\n  Ollama: {theirs!r}\n  ours:   {mine!r}")

    def edited_files(valid: list[bytes]) -> Iterator[bytes]:
        for data in valid:
            found = edited(data, generator)
            if found is None:
                seen["edits refused"] += 1
                continue
            edit, result, commands = found
            edits[result] = (edit, commands)
            yield result

    try:
        valid = []
        for data, theirs in oracle.readings(generator.file() for _ in range(cases)):
            check(data, theirs)
            if isinstance(theirs, list) and isinstance(ours(data), list):
                valid.append(data)
        for data, theirs in oracle.readings(edited_files(valid)):
            edit, commands = edits[data]
            seen["edited"] += 1
            if isinstance(theirs, str) or sorted(theirs) != commands:
                seen["different"] += 1
                report(f"EDIT {edit} gave {data!r}\n  Ollama: {theirs!r}\n  meant:  {commands!r}")
    finally:
        oracle.close()
    return seen


def main() -> None:
    """Run the hunt from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    seen = hunt(arguments.cases, arguments.seed)
    print(f"{arguments.cases} files against Ollama {OLLAMA_VERSION}: {dict(sorted(seen.items()))}")
    sys.exit(1 if seen["different"] else 0)


if __name__ == "__main__":
    main()
