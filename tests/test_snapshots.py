"""Prompts and converted templates as files: ``snapshots/<template>/<conversation>.txt``, and the two forms
``converted.jinja`` and ``converted-exact.jinja``.

A prompt is one text that all sides printed: the Go template run by this project, the converted template in
every Jinja engine that is there, and real Ollama, whose recorded answer must be the same before a snapshot is
accepted. ``pytest tests/test_snapshots.py --snapshot-update`` accepts new ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.data import Snapshot, SnapshotCollection
from syrupy.extensions.single_file import SingleFileSnapshotExtension
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from tests.oracle.conversations import CONVERSATIONS
from tests.oracle.engines import Engine
from tests.oracle.ollama import OLLAMA_VERSION
from tests.oracle.record import NOW, RECORDED, TEMPLATES
from transplate import Conversation, Conversion, JinjaTemplate, OllamaTemplate, to_jinja

SNAPSHOTS = Path(__file__).parent.parent / "snapshots"
STEMS = sorted(path.stem for path in TEMPLATES.glob("*.gotmpl"))
FORMS = {"converted": False, "converted-exact": True}
PROMPTS = [pytest.param(stem, name, id=f"{stem}/{name}") for stem in STEMS for name in CONVERSATIONS]


class SnapshotFile(SingleFileSnapshotExtension):
    """A file in the folder of a template; the test's parameters say which."""

    of_test: ClassVar[str]

    @classmethod
    def _parameters(cls, test_location: PyTestLocation) -> Mapping[str, str]:
        parameters: Mapping[str, str] = test_location.item.callspec.params  # type: ignore[attr-defined]
        return parameters

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(SNAPSHOTS / cls._parameters(test_location)["stem"])

    @classmethod
    def get_file_basename(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:  # noqa: ARG003
        return cls._parameters(test_location)["name"]

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        return snapshot_location == cls.get_location(test_location=test_location, index=0)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        return cls._name_of(Path(cls.get_location(test_location=test_location, index=index)))

    @classmethod
    def _name_of(cls, path: Path) -> str:
        return f"{cls.of_test}[{path.parent.name}/{path.stem}]"

    def read_snapshot_collection(self, *, snapshot_location: str) -> SnapshotCollection:
        collection = SnapshotCollection(location=snapshot_location)
        collection.add(Snapshot(name=self._name_of(Path(snapshot_location))))
        return collection


class PromptFile(SnapshotFile):
    file_extension = "txt"
    of_test = "test_prompt"


class ConvertedFile(SnapshotFile):
    file_extension = "jinja"
    of_test = "test_converted_text"


@cache
def source_of(stem: str) -> str:
    return (TEMPLATES / f"{stem}.gotmpl").read_bytes().decode()


@cache
def recorded(stem: str) -> dict[str, dict[str, str]]:
    lines = (RECORDED / f"{stem}.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["conversation"]: row for row in map(json.loads, lines[1:])}


@cache
def converted(stem: str, *, exact: bool) -> Conversion:
    return to_jinja(source_of(stem), exact=exact, ollama=OLLAMA_VERSION)


def forms(stem: str, name: str) -> list[str]:
    """Return the forms of a converted template that must print a conversation right."""
    exact, readable = converted(stem, exact=True), converted(stem, exact=False)
    assert not exact.assumptions
    is_covered = readable.covers(Conversation.read(CONVERSATIONS[name]))
    return [exact.text, readable.text] if is_covered else [exact.text]


def test_most_conversations_are_covered_by_what_is_assumed() -> None:
    forms_of = {(stem, name): len(forms(stem, name)) for stem in STEMS for name in CONVERSATIONS}
    assert sum(number == 2 for number in forms_of.values()) > len(forms_of) / 2


def ollama_arguments(template: OllamaTemplate, name: str) -> dict[str, Any]:
    """Return a conversation as a request that the server does not refuse for this template."""
    abilities = template.inference.abilities
    body = CONVERSATIONS[name]
    return {
        "messages": body["messages"],
        "tools": body.get("tools") if "tools" in abilities else None,
        "think": body.get("think") if "thinking" in abilities or body.get("think") is False else None,
    }


@pytest.mark.parametrize(("stem", "name"), PROMPTS)
def test_prompt(stem: str, name: str, snapshot: SnapshotAssertion) -> None:
    template = OllamaTemplate(source_of(stem), ollama=OLLAMA_VERSION)
    prompt = template.render(**ollama_arguments(template, name), now=NOW)
    assert prompt == recorded(stem)[name]["output"], "real Ollama"
    chat = Conversation.read(CONVERSATIONS[name]).to_hf() | {"now": NOW}
    for text in forms(stem, name):
        assert JinjaTemplate(text).render(**chat) == prompt
    assert prompt.encode() == snapshot(extension_class=PromptFile)


@pytest.mark.parametrize(("stem", "name"), [one for one in PROMPTS if "prefill" not in str(one.id)])
@pytest.mark.parametrize("engine", ["transformers_engine", "minijinja_engine", "node_engine"])
def test_engine_prints_the_snapshot(
    stem: str, name: str, engine: str, request: pytest.FixtureRequest
) -> None:
    # All but prefill, for which the host cuts what the engine prints.
    chat = Conversation.read(CONVERSATIONS[name]).to_hf()
    shared = ("messages", "tools", "add_generation_prompt")
    context = {**chat["variables"], **{key: chat[key] for key in shared}}
    real: Engine = request.getfixturevalue(engine)
    prompt = (SNAPSHOTS / stem / f"{name}.txt").read_bytes().decode()
    for text in forms(stem, name):
        rendered = real.render(text, context, now=NOW)
        assert (rendered.error, rendered.text) == (None, prompt)


@pytest.mark.parametrize("stem", STEMS)
@pytest.mark.parametrize("name", FORMS)
def test_converted_text(stem: str, name: str, snapshot: SnapshotAssertion) -> None:
    text = to_jinja(source_of(stem), exact=FORMS[name]).text
    assert text.encode() == snapshot(extension_class=ConvertedFile)


def test_every_snapshot_has_its_test() -> None:
    expected = {f"{stem}/{name}.txt" for stem in STEMS for name in CONVERSATIONS}
    expected |= {f"{stem}/{name}.jinja" for stem in STEMS for name in FORMS}
    assert {
        path.relative_to(SNAPSHOTS).as_posix() for path in SNAPSHOTS.rglob("*") if path.is_file()
    } == expected
