"""Converted templates in the real engines against real Ollama."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.convert.cases import Case, chat_context, make_case, meets, ollama_values
from tests.oracle.engines import Engine, MinijinjaEngine, TransformersEngine
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle
from transplate import OllamaTemplate, UnsupportedTemplate, to_jinja

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


def test_an_unknown_assumption_is_named() -> None:
    with pytest.raises(ValueError, match="no assumption is called 'plain'"):
        to_jinja("{{ .Prompt }}", assume=["plain"])
