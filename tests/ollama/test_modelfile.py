"""Modelfiles: read as Ollama's parser reads them, edited without touching what is not meant."""

import base64
import difflib
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.modelfile import hunt
from tests.oracle.engines import EngineUnavailable
from tests.oracle.modelfile.oracle import ModelfileOracle
from transplate.errors import ErrorKind
from transplate.ollama.modelfile import Command, Modelfile, ModelfileError

FILE = """FROM llama3.2
# warm
PARAMETER temperature 0.7
parameter stop "<|im_end|>"

SYSTEM \"\"\"Be
brief.\"\"\"
"""


def recorded(shared_folder: Path, name: str) -> Iterator[tuple[str | bytes, dict[str, Any]]]:
    with gzip.open(shared_folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            text = case["text"] if "text" in case else base64.b64decode(case["b64"])
            yield text, case["parsed"]


@pytest.mark.parametrize(("name", "count"), [("vectors/modelfiles", 2970), ("corpus/modelfiles_public", 248)])
def test_reads_what_the_newest_ollama_reads(shared_folder: Path, name: str, count: int) -> None:
    cases = list(recorded(shared_folder, name))
    assert len(cases) == count
    for text, parsed in cases:
        if "error" in parsed:
            with pytest.raises(ModelfileError) as caught:
                Modelfile.parse(text)
            assert caught.value.message == parsed["error"]
            continue
        modelfile = Modelfile.parse(text)
        assert [{"name": one.name, "args": one.args} for one in modelfile.commands] == parsed["commands"]
        assert (bytes(modelfile) if isinstance(text, bytes) else str(modelfile)) == text


@pytest.fixture
def _oracle() -> None:
    try:
        ModelfileOracle().close()
    except EngineUnavailable as missing:
        if os.environ.get("TRANSPLATE_REQUIRE_ORACLE") == "1":
            pytest.fail(f"required by TRANSPLATE_REQUIRE_ORACLE: {missing}", pytrace=False)
        pytest.skip(str(missing))


@pytest.mark.usefixtures("_oracle")
def test_live_ollama_reads_and_edits_the_same() -> None:
    seen = hunt(4_000, seed=20)
    assert seen["different"] == 0
    assert min(seen["valid"], seen["refused"], seen["edited"], seen["edits refused"]) > 100, seen


def changed_lines(before: str, after: str) -> list[str]:
    lines = difflib.ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True))
    return [line for line in lines if line[0] in "+-"]


def test_edits_of_real_files_change_only_their_lines(shared_folder: Path) -> None:
    count = 0
    for text, parsed in recorded(shared_folder, "corpus/modelfiles_public"):
        if "error" in parsed or isinstance(text, bytes):
            continue
        modelfile = Modelfile.parse(text)
        modelfile.add("stop", "<|stop here|>")
        added = changed_lines(text, str(modelfile))
        assert [line.rstrip() for line in added if line[0] == "+"][-1] == "+ PARAMETER stop <|stop here|>"
        assert len(added) <= (1 if text.endswith(("\n", "\r")) else 3)
        modelfile.remove("stop", "<|stop here|>")
        assert str(modelfile).rstrip("\r\n") == text.rstrip("\r\n")
        count += 1
    assert count > 200


def test_set_rewrites_adds_and_removes() -> None:
    modelfile = Modelfile.parse(FILE)
    modelfile.set("temperature", "1.0")
    modelfile.set("SYSTEM", "Be kind.")
    modelfile.set("stop", ["<|im_end|>", " x"])
    modelfile.set("template", "{{ .Prompt }}\n")
    modelfile.add("message", "user: Hello: you")
    assert str(modelfile) == (
        "FROM llama3.2\n# warm\nPARAMETER temperature 1.0\n"
        'parameter stop "<|im_end|>"\nPARAMETER stop " x"\n\nSYSTEM Be kind.\n'
        'TEMPLATE """{{ .Prompt }}\n"""\nMESSAGE user Hello: you\n'
    )
    modelfile.set("stop", [])
    modelfile.remove("system")
    modelfile.remove("nothing")
    assert modelfile.values("stop") == []
    assert modelfile.get("system") is None
    assert modelfile.get("FROM") == "llama3.2"
    assert modelfile.commands[-1] == Command("message", "user: Hello: you")


def test_numbers_and_truth_values_are_written_as_parameters_have_them() -> None:
    modelfile = Modelfile.parse("FROM x\n")
    modelfile.set("temperature", 0.7)
    modelfile.set("use_mmap", False)
    modelfile.add("top_k", 40)
    assert str(modelfile) == (
        "FROM x\nPARAMETER temperature 0.7\nPARAMETER use_mmap false\nPARAMETER top_k 40\n"
    )


def test_edits_keep_the_encoding_and_the_line_endings() -> None:
    data = b"\xff\xfe" + "FROM a\r\nSYSTEM x".encode("utf-16-le")
    modelfile = Modelfile.parse(data)
    modelfile.add("stop", "é")
    assert bytes(modelfile) == b"\xff\xfe" + "FROM a\r\nSYSTEM x\r\nPARAMETER stop é\r\n".encode("utf-16-le")
    latin = Modelfile.parse(b"# caf\xe9\nFROM a\n")
    latin.set("from", "b")
    assert bytes(latin) == b"# caf\xe9\nFROM b\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "SYSTEM plain"),
        ("", 'SYSTEM ""'),
        (" x", 'SYSTEM " x"'),
        ('"quoted" text', 'SYSTEM """"quoted" text"""'),
        ("a\nb", 'SYSTEM """a\nb"""'),
        ('"', 'SYSTEM """""""\n'),
        ('say """ x\ny "', 'SYSTEM """say """ x\ny """"\n'),
    ],
)
def test_chooses_quotes_that_read_back(value: str, text: str) -> None:
    modelfile = Modelfile.parse("FROM a\n")
    modelfile.set("system", value)
    assert modelfile.get("system") == value
    assert text in str(modelfile)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("system", "a\u200bb", r"U\+200B"),
        ("system", 'x"""\ny"\nz', "no escapes"),
        ("num-ctx", "1", "did you mean num_ctx"),
        ("message", "tool: hi", "no message"),
        ("system", "\ud800", "surrogate"),
    ],
)
def test_refuses_what_a_modelfile_cannot_say(name: str, value: str, said: str) -> None:
    modelfile = Modelfile.parse(FILE)
    with pytest.raises(ModelfileError, match=said) as caught:
        modelfile.add(name, value)
    assert caught.value.kind is ErrorKind.UNSUPPORTED
    assert str(modelfile) == FILE


def test_refuses_parameters_that_ollama_does_not_know() -> None:
    modelfile = Modelfile.parse("FROM x\nPARAMETER of_the_future 1\nPARAMETER num_ctx many\n")
    for name, said in (
        ("temprature", "did you mean temperature"),
        ("Temperature", "temperature"),
        ("zzz", "'zzz'$"),
    ):
        for change in (modelfile.set, modelfile.add):
            with pytest.raises(ModelfileError, match=said) as caught:
                change(name, "1")
            assert caught.value.kind is ErrorKind.UNSUPPORTED
    # What is there is its author's business.
    modelfile.set("of_the_future", "2")
    assert modelfile.get("of_the_future") == "2"
    assert modelfile.refusals == [
        "PARAMETER of_the_future: Ollama knows none of this name, and refuses to make the model",
        "PARAMETER num_ctx: Ollama refuses the value 'many'",
    ]
    modelfile.set("draft_num_predict", 4)
    with pytest.raises(ModelfileError, match="Ollama knows no PARAMETER"):
        Modelfile.parse("FROM x\n", ollama="0.17.4").set("draft_num_predict", 4)
    modelfile.remove("of_the_future")
    assert "of_the_future" not in str(modelfile)


def test_the_last_from_stays() -> None:
    modelfile = Modelfile.parse(FILE)
    with pytest.raises(ModelfileError, match="no FROM line"):
        modelfile.remove("from")
    assert str(modelfile) == FILE


def test_errors_have_a_place() -> None:
    with pytest.raises(ModelfileError) as caught:
        Modelfile.parse("FROM a\r\nFORM b\n", name="Modelfile")
    error = caught.value
    assert error.message.startswith('(line 3): command must be one of "from"')
    assert (error.line, error.column, error.source_line) == (2, 1, "FORM b")
    assert str(error).endswith("Modelfile:2:1 | FORM b\n                ^")
    with pytest.raises(ModelfileError, match=r"^unexpected EOF") as caught:
        Modelfile.parse('FROM a\nSYSTEM """x\n')
    assert (caught.value.line, caught.value.column) == (2, 8)


def test_tells_the_characters_that_ollama_deletes() -> None:
    modelfile = Modelfile.parse("FROM a\n# \u200b\nSYSTEM x\u200by\u00a0z\n")
    assert [str(modelfile)[at] for at in modelfile.deleted_characters] == ["\u200b", "\u00a0"]
    assert modelfile.get("system") == "xyz"


def test_draft_came_after_0_17_4() -> None:
    assert Modelfile.parse("FROM a\nDRAFT b\n").get("draft") == "b"
    with pytest.raises(ModelfileError) as caught:
        Modelfile.parse("FROM a\nDRAFT b\n", ollama="0.17.4")
    assert '"draft"' not in caught.value.message


def test_large_files_are_read_in_linear_time() -> None:
    body = 'line "with" quotes\n' * 100_000
    assert Modelfile.parse(f'FROM a\nLICENSE """{body}"""\n').get("license") == body
    with pytest.raises(ModelfileError, match="unexpected EOF"):
        Modelfile.parse(f'FROM a\nLICENSE """{body}')
