"""Versions of Ollama and what differs between them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from transplate import OllamaTemplate, TransplateError, Values
from transplate.ollama.versions import NEWEST, OLDEST, behaviour_of, parse_version

TOOLS = [
    {"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {"required": ["b"]}}}}}
]


def test_versions_are_ordered() -> None:
    texts = ["0.9.6", "0.11.10", "0.17.4", "0.30.0-rc1", "0.30.0-rc12", "0.30.0", "v0.30.1", "1.0.0"]
    versions = [parse_version(text) for text in texts]
    assert all(earlier < later for earlier, later in pairwise(versions))
    assert [str(version) for version in versions] == [text.removeprefix("v") for text in texts]


@pytest.mark.parametrize(
    "text", ["", "latest", "0.17", "0.17.4.1", "01.2.3", "0.17.4-beta", "0.17.4\n", "٠.1.2"]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(TransplateError, match="is no version of Ollama"):
        OllamaTemplate("x", ollama=text)


def test_unknown_versions_are_refused() -> None:
    with pytest.raises(TransplateError, match=f"0.17.3 is older than {OLDEST}"):
        OllamaTemplate("x", ollama="0.17.3")
    with pytest.raises(TransplateError, match=f"99.0.0 is newer than {NEWEST}"):
        OllamaTemplate("x", ollama="99.0.0")


CHANGES = [
    ("0.17.4", "{function <nil> {f  {", False, False),
    ("0.20.0-rc1", "{function <nil> {f  {", False, False),
    ("0.20.0", "{function <nil> {f  {", True, False),
    ("0.22.0", "{function <nil> {f  {", True, True),
    ("0.30.0", '{"type":"function"', True, True),
    (NEWEST, '{"type":"function"', True, True),
]


@pytest.mark.parametrize(("version", "tool", "has_required", "has_max"), CHANGES)
def test_changes(version: str, tool: str, has_required: bool, has_max: bool) -> None:
    template = OllamaTemplate(
        "{{ range .Tools }}{{ . }}|{{ json . }}{{ end }}{{ .Messages }}", ollama=version
    )
    printed, _, marshalled = template.execute(Values((), TOOLS)).partition("|")
    assert printed.startswith(tool)
    assert ('"required":["b"]' in marshalled) is has_required
    assert ("max" in behaviour_of(parse_version(version)).think_levels) is has_max
