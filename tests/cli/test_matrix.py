"""``transplate check`` of many pairs at once: a folder, Ollama's store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_formats import GO, JINJA, TALK, WRONG
from tests.models.stores import lay_out_store
from tests.models.test_sources import ENTRIES, gguf
from transplate.cli.comparing import Job, compare_all
from transplate.cli.matrix import pairs_in

EQUAL = JINJA.replace("\n\n", "\n")
DIFFERENT = WRONG.replace("\n\n", "\n")


@pytest.fixture
def models(folder: Path) -> Path:
    """A folder with pairs of each kind, and with what is none."""
    for name, text in {
        "m/one/chat.gotmpl": GO,
        "m/one/chat.jinja": EQUAL,
        "m/gotmpl/far.gotmpl": GO,
        "m/jinja/far.jinja": DIFFERENT,
        "m/two/chat.gotmpl": GO,  # two of the name have only one chat template between them
        "m/hub/template": GO,
        "m/hub/chat_template.jinja": EQUAL,
        "m/own/Modelfile": f'FROM x\nTEMPLATE """{GO}"""\n',
        "m/own/chat_template.jinja": DIFFERENT,
        "m/.venv/no.gotmpl": GO,
        "m/.venv/no.jinja": EQUAL,
        "talk.jsonl": TALK % ("loud", "HI") + TALK % ("hello", "Hello"),
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.usefixtures("models")
def test_the_pairs_of_a_folder() -> None:
    assert pairs_in("m") == [
        ("m/gotmpl/far.gotmpl", "m/jinja/far.jinja"),
        ("m/one/chat.gotmpl", "m/one/chat.jinja"),
        ("m/hub/template", "m/hub/chat_template.jinja"),
        ("m/own/Modelfile", "m/own/chat_template.jinja"),
    ]


@pytest.mark.usefixtures("models")
def test_a_folder(run: Run) -> None:
    result = run("check", "m", "--quick")
    assert result.status == 1
    lines = result.output.splitlines()
    assert lines[-1].endswith("of 4 pairs pass")
    # Of many pairs only the verdicts are shown.
    assert [line.split()[0] for line in lines[1:-1:2]] == ["DIFFERENT", "EQUAL", "EQUAL", "DIFFERENT"]


def test_what_cannot_be_read_is_said_and_the_rest_compared(run: Run, models: Path) -> None:
    (models / "m" / "hub" / "template").write_text("{{ if }}")
    result = run("check", "m", "--quick", "--format", "junit", "--output", "x.xml")
    assert result.status == 2
    assert "missing value for if" in result.errors
    assert (models / "x.xml").read_text().count("<testsuite ") == 3


def test_no_pairs(run: Run, folder: Path) -> None:
    (folder / "empty").mkdir()
    result = run("check", "empty")
    assert result.status == 2
    assert "there are no pairs" in result.errors
    (folder / "a.gotmpl").write_text(GO)
    assert "Missing argument 'B'" in run("check", "a.gotmpl").errors


def test_ollamas_store(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = ("registry.ollama.ai", "me", "Mine", "7b")
    model = gguf({**ENTRIES, "tokenizer.chat_template": EQUAL})
    store = lay_out_store(folder / "models", name, {}, {"model": model, "template": GO.encode()})
    manifest = store.joinpath("manifests", *name)
    alone = json.loads(manifest.read_text())
    alone["layers"] = [layer for layer in alone["layers"] if not layer["mediaType"].endswith("template")]
    (manifest.parent.parent / "Other").mkdir()
    (manifest.parent.parent / "Other" / "1b").write_text(json.dumps(alone))
    monkeypatch.setenv("OLLAMA_MODELS", str(store))
    assert pairs_in("ollama:") == [
        (f"ollama:me/{one}", f"ollama:me/{one} (GGUF)") for one in ("Mine:7b", "Other:1b")
    ]
    result = run("check", "ollama:", "--quick")
    assert result.output.splitlines()[0] == "ollama:me/Mine:7b ~ ollama:me/Mine:7b (GGUF)"
    assert result.output.splitlines()[-1].endswith("of 1 pair passes")
    monkeypatch.setenv("OLLAMA_MODELS", str(folder / "none"))
    assert run("check", "ollama:").status == 2


@pytest.mark.usefixtures("models")
def test_several_processes_find_what_one_finds() -> None:
    from transplate.cli.conversations import read_conversations

    given = tuple(read_conversations("talk.jsonl"))
    jobs = [Job(pair, given, generate=False) for pair in pairs_in("m")]
    jobs.append(Job(("m/none", "m/own/Modelfile")))
    one, two = (list(compare_all(jobs, processes=count)) for count in (1, 2))
    assert [result.job for result in two] == jobs
    for alone, beside in zip(one[:-1], two[:-1], strict=True):
        assert alone.checked is not None
        assert beside.checked is not None
        assert beside.checked.report.equal == alone.checked.report.equal
        assert [kind.name for kind in beside.checked.report.kinds] == [
            kind.name for kind in alone.checked.report.kinds
        ]
    assert str(one[-1].error) == str(two[-1].error)
    assert "m/none" in str(two[-1].error)
