"""Converted templates in the real engines against real Ollama."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.convert.cases import Case, chat_context, make_case, meets, ollama_values
from tests.oracle.engines import Engine, MinijinjaEngine, NodeEngine, TransformersEngine
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle
from transplate import Conversation, JinjaTemplate, OllamaTemplate, UnsupportedTemplate, to_jinja

TEMPLATES = sorted((Path(__file__).parents[2] / "templates" / "gotmpl").glob("*.gotmpl"))
CASES = [make_case(seed) for seed in range(60)]


def _differences(source: str, oracle: GoOracle, engines: list[Engine], cases: list[Case]) -> Iterator[str]:
    template = OllamaTemplate(source)
    thinks = "thinking" in template.inference.abilities
    answers = oracle.render_all(source, [ollama_values(case, thinks=thinks) for case in cases])
    for exact in (True, False):
        conversion = to_jinja(source, exact=exact, ollama=OLLAMA_VERSION)
        assumed = [assumption.name for assumption in conversion.assumptions]
        for case, answer in zip(cases, answers, strict=True):
            if not meets(case, assumed):
                continue
            for engine in engines:
                rendered = engine.render(conversion.text, chat_context(case, thinks=thinks))
                if answer.error is not None:
                    if exact and rendered.error is None:
                        yield f"{engine.name}: seed {case.seed}: Ollama fails, {answer.error}"
                elif rendered.text != answer.output.decode():
                    yield f"{engine.name}, {exact=}: seed {case.seed}: {rendered} is not {answer.output!r}"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_project_templates_print_what_ollama_prints(
    path: Path,
    go_oracle: GoOracle,
    transformers_engine: TransformersEngine,
    minijinja_engine: MinijinjaEngine,
) -> None:
    source = path.read_bytes().decode()
    assert not list(_differences(source, go_oracle, [transformers_engine, minijinja_engine], CASES))


def test_library_templates_print_what_ollama_prints(
    shared_folder: Path,
    go_oracle: GoOracle,
    transformers_engine: TransformersEngine,
    minijinja_engine: MinijinjaEngine,
) -> None:
    lines = (shared_folder / "corpus" / "ollama_library_pairs.jsonl").read_text(encoding="utf-8").splitlines()
    sources = dict.fromkeys(json.loads(line)["gotmpl"] for line in lines)
    assert len(sources) == 71
    engines: list[Engine] = [transformers_engine, minijinja_engine]
    for source in sources:
        assert not list(_differences(source, go_oracle, engines, CASES[:30]))


@pytest.mark.parametrize(
    ("source", "column", "message"),
    [
        ("{{ range .Messages }}{{ len .Content }}{{ end }}", 25, "number of bytes"),
        ("{{ range .Messages }}{{ slice .Content 1 }}{{ end }}", 25, "sliced by bytes"),
        ('{{ range .Messages }}{{ printf "%q" .Content }}{{ end }}', 25, "%q"),
    ],
)
def test_what_cannot_be_said_is_refused_with_its_place(source: str, column: int, message: str) -> None:
    with pytest.raises(UnsupportedTemplate) as refused:
        to_jinja(source)
    assert refused.value.line == 1
    assert refused.value.column == column
    assert message in refused.value.message


def _chain(length: int, dot: str, last: str) -> str:
    """Return templates each of which calls the next one twice."""
    defines = [
        f'{{{{ define "t{n}" }}}}<{{{{ template "t{n + 1}" {dot} }}}}{{{{ template "t{n + 1}" {dot} }}}}>'
        "{{ end }}"
        for n in range(length)
    ]
    return "".join(defines) + f'{{{{ define "t{length}" }}}}{last}{{{{ end }}}}'


@pytest.mark.parametrize(
    "source",
    [
        _chain(7, ".", "{{ .Role }}:{{ .Content }}") + '{{ range .Messages }}{{ template "t0" . }}{{ end }}',
        _chain(7, "$", "{{ .System }}{{ len .Messages }}") + '{{ template "t0" . }}{{ .Messages | len }}',
        _chain(7, ".", '{{ $x := "" }}{{ range .ToolCalls }}{{ $x = .Function.Name }}{{ end }}{{ $x }}')
        + '{{ range .Messages }}{{ template "t0" . }}{{ end }}',
        # The text that is dot may be missing in one call, and not in another.
        _chain(7, ".", "[{{ . }}]")
        + '{{ template "t0" .ThinkLevel }}{{ range .Messages }}{{ template "t0" .ToolName }}{{ end }}',
    ],
)
def test_templates_called_many_times_become_macros(
    source: str,
    go_oracle: GoOracle,
    transformers_engine: TransformersEngine,
    minijinja_engine: MinijinjaEngine,
    node_engine: NodeEngine,
) -> None:
    assert len(to_jinja(source, exact=True).text.splitlines()) < 60
    engines: list[Engine] = [transformers_engine, minijinja_engine, node_engine]
    assert not list(_differences(source, go_oracle, engines, CASES[:15]))


@pytest.mark.parametrize(
    "source",
    [
        # Each loop stands twice, for an object and for a list; what follows an inner continue in two arms.
        "{{ range .Messages }}{{ range .ToolCalls }}{{ range .Function.Arguments }}"
        + "{{ range . }}" * 12
        + "{{ end }}" * 15,
        "{{ range .Messages }}"
        + "".join(
            f'{{{{ if eq .Content "{n}" }}}}{{{{ if eq .Role "{n}" }}}}{{{{ continue }}}}{{{{ end }}}}x'
            "{{ end }}"
            for n in range(20)
        )
        + "{{ end }}",
        _chain(30, ".", "{{ .Response }}") + '{{ template "t0" . }}',
        "{{ if or" + ' (eq .System "x")' * 800 + " }}{{ end }}",
        "{{ if eq .System" + ' "x"' * 800 + " }}{{ end }}",
    ],
)
def test_what_would_get_too_long_is_refused_soon(source: str) -> None:
    begin = time.monotonic()
    with pytest.raises(UnsupportedTemplate, match=r"more than (4000 statements|64 operands)"):
        to_jinja(source)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("source", [JinjaTemplate("x"), Path("x.gotmpl"), b"{{ .Prompt }}", None])
def test_something_else_than_an_ollama_template(source: Any) -> None:
    with pytest.raises(TypeError, match=f"to_jinja takes .* not a value of type {type(source).__name__}"):
        to_jinja(source)


def test_a_final_answer_that_ollama_closes() -> None:
    closing = to_jinja("{{ range .Messages }}<{{ .Role }}>{{ .Content }}</s>{{ end }}", exact=True)
    assert [loss.name for loss in closing.losses] == ["odd-parts", "closed-prefill"]
    answered = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    assert closing.covers(Conversation.read(answered[:1]))
    assert not closing.covers(Conversation.read(answered))
    open_ended = to_jinja("{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}")
    assert open_ended.losses == ()
    assert open_ended.covers(Conversation.read(answered))


def test_an_unknown_assumption_is_named() -> None:
    with pytest.raises(ValueError, match="no assumption is called 'plain'"):
        to_jinja("{{ .Prompt }}", assume=["plain"])
    with pytest.raises(TypeError, match=r"assume takes a list of names, \['hf-json'\]"):
        to_jinja("{{ .Prompt }}", assume="hf-json")
