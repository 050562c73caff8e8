"""The parser against recorded and live answers of Go, where its errors point, and odd and huge texts."""

from __future__ import annotations

import gc
import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.syntax import differences
from tests.gotmpl.parsing import FUNCTIONS, ROWS, ask, decode, templates
from tests.oracle.engines import EngineUnavailable
from tests.oracle.parse.oracle import ParseOracle, go_tables, letters
from tests.oracle.parse.record import RECORDING, recording
from transplate.errors import ErrorKind, TemplateSyntaxError
from transplate.gotmpl import lexer
from transplate.gotmpl.builtins import BUILTINS
from transplate.gotmpl.letters import is_word_character
from transplate.gotmpl.names import BUILTIN_NAMES
from transplate.gotmpl.nodes import Action, Else, If, Number, String, TemplateTree, Text, With
from transplate.gotmpl.parser import is_empty, parse
from transplate.gotmpl.printer import print_node, print_template
from transplate.gotmpl.quoting import quote
from transplate.limits import Limits
from transplate.source import Source


@pytest.fixture(scope="module")
def oracle(parse_oracle: ParseOracle) -> ParseOracle:
    return parse_oracle


def refuse(text: str, **options: Any) -> TemplateSyntaxError:
    with pytest.raises(TemplateSyntaxError) as caught:
        parse(text, **options)
    return caught.value


# --- the same as Go -----------------------------------------------------------------------------------------


def test_recorded_answers() -> None:
    rows = [json.loads(line) for line in RECORDING.read_text(encoding="utf-8").splitlines()]
    found = [(topic, template, answer) for topic, template, answer in rows if ask(decode(template)) != answer]
    assert found == []
    assert [(topic, decode(template)) for topic, template, _ in rows] == list(templates())
    answers = Counter(next(iter(answer)) for _, _, answer in rows)
    assert min(answers["error"], answers["templates"]) > 200


def test_the_recording_is_what_go_answers_now(oracle: ParseOracle) -> None:
    assert recording(oracle) == RECORDING.read_text(encoding="utf-8")


def test_fresh_templates(oracle: ParseOracle) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    counts: Counter[str] = Counter()
    assert list(differences(oracle, 5_000, seed, counts)) == []
    assert counts["valid"] > 500
    assert sum(name.startswith("error") for name in counts) > 40


def test_the_shared_vectors(shared_folder: Path) -> None:
    import gzip

    functions = ("json", "currentDate", "yesterdayDate", "toTypeScriptType")
    checked = 0
    for name in ("errors", "fuzz", "library", "inference"):
        with gzip.open(shared_folder / "vectors" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                vector = json.loads(line)
                # That a called template is given no data is a fault for Ollama, not for Go.
                expected = vector["error"] if vector.get("stage") == "parse" else None
                if expected == "undefined template specified":
                    expected = None
                try:
                    parse(vector["template"], functions=functions)
                    message = None
                except TemplateSyntaxError as error:
                    message = error.message
                assert message == expected, vector["id"]
                checked += 1
    assert checked > 7_000


@pytest.fixture(scope="module")
def tables() -> dict[str, list[list[Any]]]:
    try:
        return go_tables("text/template/parse/parse_test.go")
    except EngineUnavailable as reason:
        if os.environ.get("TRANSPLATE_REQUIRE_ORACLE") == "1":
            pytest.fail(f"required by TRANSPLATE_REQUIRE_ORACLE: {reason}", pytrace=False)
        pytest.skip(str(reason))


def test_gos_own_parse_table(tables: dict[str, list[list[Any]]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexer, "MAX_PAREN_DEPTH", 3)
    assert len(tables["parseTests"]) > 100
    for name, text, ok, printed in tables["parseTests"]:
        if ok == {"name": "hasError"}:
            refuse(text, name="test", functions=("contains",))
        else:
            body = parse(text, name="test", functions=("contains",)).body
            assert "".join(map(print_as_tested, body)) == printed, name


def print_as_tested(item: Any) -> str:
    """Return an item as Go's tests print it: with texts in quotes."""
    if isinstance(item, Text):
        return quote(item.value) if item.value else ""
    printed = print_node(item)
    pieces = [piece for piece in texts(item) if piece.value]
    assert len({piece.value for piece in pieces}) == len(pieces)
    for piece in pieces:
        # The texts of Go's rows are words that occur nowhere else in them.
        printed = printed.replace(f"}}}}{piece.value}{{{{", f"}}}}{quote(piece.value)}{{{{")
    return printed


def texts(item: Any) -> Iterator[Text]:
    for inner in getattr(item, "body", ()):
        if isinstance(inner, Text):
            yield inner
        yield from texts(inner)
    if getattr(item, "orelse", None) is not None:
        yield from texts(item.orelse)


def test_gos_own_error_table(tables: dict[str, list[list[Any]]]) -> None:
    assert len(tables["errorTests"]) > 30
    for name, text, _, part in tables["errorTests"]:
        # Go runs them without any function; ours knows the builtins, of which the rows have none.
        assert part in refuse(text, name=name).message, name


def test_gos_own_table_of_empty_bodies(tables: dict[str, list[list[Any]]]) -> None:
    for name, text, empty in tables["isEmptyTests"]:
        assert is_empty(parse(text).body) is (empty == {"name": "true"}), name


def test_gos_own_number_table(tables: dict[str, list[list[Any]]]) -> None:
    """The types that a number can have by itself; which others it fits is for who uses it to say."""
    assert len(tables["numberTests"]) > 50
    for text, *cells in tables["numberTests"]:
        fits = [cell == {"name": "true"} for cell in cells[:4]] or [False] * 4
        try:
            (action,) = parse(f"{{{{{text}}}}}").body
        except TemplateSyntaxError:
            assert not any(fits), text
            continue
        assert any(fits), text
        assert isinstance(action, Action)
        (number,) = action.pipeline.commands[0].operands
        assert isinstance(number, Number)
        kind = {int: fits[0] or fits[1], float: fits[2], complex: fits[3]}[type(number.value)]
        assert kind, text


def test_letters_and_digits_are_those_of_go(oracle: ParseOracle) -> None:
    del oracle  # only to skip without Go
    turns = letters()
    beyond_ascii = {
        code for start, end in zip(turns[::2], turns[1::2], strict=True) for code in range(start, end)
    }
    assert beyond_ascii == {code for code in range(0x80, 0x110000) if is_word_character(chr(code))}
    assert "".join(filter(is_word_character, map(chr, range(0x80)))) == (
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
    )


def test_the_builtins_are_those_that_run() -> None:
    assert BUILTINS.keys() == BUILTIN_NAMES


# --- trees --------------------------------------------------------------------------------------------------


def test_a_chained_else_has_no_end_of_its_own() -> None:
    (outer,) = parse("{{if .A}}a{{else if .B}}b{{else}}c{{end}}").body
    assert isinstance(outer, If)
    assert isinstance(outer.orelse, If)
    assert outer.orelse.end is None
    assert isinstance(outer.orelse.orelse, Else)
    (outer_with,) = parse("{{with .A}}a{{else with .B}}b{{end}}").body
    assert isinstance(outer_with, With)
    assert isinstance(outer_with.orelse, With)
    assert outer_with.orelse.end is None
    assert outer_with.orelse.orelse is None


def test_spans_are_of_the_text_that_nodes_were_read_from() -> None:
    text = "é{{- if (index .A 0).B.C }}x{{ end -}} "
    tree = parse(text)
    branch = tree.body[1]
    assert isinstance(branch, If)
    (chain,) = branch.pipeline.commands[0].operands
    assert text[slice(*chain.span)] == "(index .A 0).B.C"
    assert text[slice(*branch.clause.span)] == "{{- if (index .A 0).B.C }}"
    assert branch.end is not None
    assert text[slice(*branch.end.span)] == "{{ end -}}"
    assert branch.end.trim_right
    assert branch.clause.spacing == (" ", " ", "", " ", " ", "", "", " ")
    assert [item.value for item in tree.body if isinstance(item, Text)] == ["é", ""]


def test_definitions_in_the_order_in_which_they_are_added() -> None:
    twice = '{{define "b"}} {{end}}{{define "a"}}x{{end}}{{define "b"}}y{{end}}'
    tree = parse(twice + '{{block "c" .}}{{block "d" .}}{{end}}{{end}}')
    assert {name: print_template(body) for name, body in tree.templates.items()} == {
        "b": "y",
        "a": "x",
        "d": "",
        "c": '{{block "d" .}}{{end}}',
    }
    assert list(tree.templates) == ["b", "a", "d", "c"]


def test_a_definition_takes_the_place_of_an_empty_file_of_its_name() -> None:
    assert parse('{{define ""}}x{{end}} \n').templates.keys() == {""}
    assert parse('{{define ""}} {{end}}x').templates == {}
    assert parse('{{define ""}} {{end}}').templates == {}
    assert parse('{{define "main"}}x{{end}}', name="main").templates.keys() == {"main"}
    message = 'template: main:2: template: multiple definition of template "main"'
    assert refuse('{{define "main"}}x{{end}}y\n', name="main").message == message


def test_break_and_continue_may_name_functions() -> None:
    tree = parse("{{break}}{{print continue 1}}", functions=("break", "continue"))
    assert print_template(tree) == "{{break}}{{print continue 1}}"
    assert all(isinstance(item, Action) for item in tree.body)
    assert refuse("{{break}}", functions=("continue",)).message == "template: :1: {{break}} outside {{range}}"
    assert (
        refuse("{{1 continue 2}}{{end}}", functions=("continue",)).message
        == "template: :1: unexpected {{end}}"
    )


# --- where an error is --------------------------------------------------------------------------------------

PLACES = (
    ("ab\n  {{nope .X}}", "nope"),
    ("{{print\n $x\n}}", "$x"),
    ("{{$x\n\n.Y}}", "$x"),
    ('{{print "a\\q"}}', '"a\\q"'),
    ("{{print 08}}", "08"),
    ("{{1 | 2}}\n", "2}}\n"),
    ("{{.X ,}}", ",}}"),
    ("{{if }}", "}}"),
    ("é{{.X\n + }}", "+ }}"),
    ("{{.Abc+}}", "+}}"),
    ("{{ \x01 }}", "\x01"),
    ("{{if .X}}{{if .Y}}\nabc{{end}}\n", "{{if .X}}"),
    ("{{if .X}}\n{{range .Y}}\nabc\n", "{{range .Y}}"),
    ("a\n{{ .X\n", "{{ .X"),
    ("{{.A (.B (.C) }}", "(.B"),
    ("a {{/* b", "/* b"),
    ("a {{/* b */ }}", " }}"),
    ('{{print "abc}}', '"abc'),
    ("{{.X) }}", ") }}"),
    ("a\n{{end}}", "{{end}}"),
    ("a\n{{else if .X}}", "{{else if"),
    ("{{range .X}}{{else}}{{break}}{{end}}", "break"),
    ('{{define "a"}}b{{end}}\n{{define "a"}}c{{end}}', '"a"}}c'),
    ("{{if .X}}{{ define `a` }}", "define"),
    ("{{if .X}}{{else with .Y}}", "with .Y"),
    ('{{("a".B)}}', ".B"),
    ("{{range $i, .X}}", ".X"),
)


@pytest.mark.parametrize(("text", "place"), PLACES)
def test_an_error_points_to_the_fault(text: str, place: str) -> None:
    error = refuse(text)
    offset = text.rindex(place)
    assert error.offset == offset
    before = text[:offset].split("\n")
    assert (error.line, error.column) == (len(before), len(before[-1]) + 1)
    assert str(error).splitlines()[0] == error.message.splitlines()[0]


def test_an_error_knows_its_source() -> None:
    source = Source("{{end}}", "chat.gotmpl")
    error = refuse(source)  # type: ignore[arg-type]
    assert error.source is source
    assert error.kind is ErrorKind.SYNTAX
    assert "chat.gotmpl:1:1" in str(error)


# --- any text -----------------------------------------------------------------------------------------------


def test_surrogates_are_bytes_or_replaced() -> None:
    tree = parse("\udcc3\udca9 \udcff \ud800{{`\udcc3\udca9`}}")
    assert tree.source.text == "é \udcff \ufffd{{`é`}}"
    text, action = tree.body
    assert isinstance(text, Text)
    assert text.value == "é \udcff \ufffd"
    assert isinstance(action, Action)
    (string,) = action.pipeline.commands[0].operands
    assert isinstance(string, String)
    assert string.value == "é"


def test_a_source_longer_than_the_limit() -> None:
    error = refuse("x" * 11, limits=Limits(source=10))
    assert error.kind is ErrorKind.LIMIT
    assert "10 characters" in error.message
    assert parse("x" * 10, limits=Limits(source=10)).body


def test_parentheses_up_to_gos_limit() -> None:
    def nested(depth: int) -> str:
        return "{{" + "(" * depth + "1" + ")" * depth + "}}"

    assert print_template(parse(nested(10_000))) == nested(10_000)
    (action,) = parse(nested(10_000)).body
    assert print_node(action) == nested(10_000)
    error = refuse(nested(10_001))
    assert error.message == "template: :1: max expression depth exceeded"
    assert error.offset == 2 + 10_000
    assert refuse("{{" + "(" * 50_000).message == "template: :1: max expression depth exceeded"


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("{{if .X}}", "{{end}}"),
        ("{{range $i, $x := .X}}{{$i}}", "{{end}}"),
        ("{{with .X}}{{else}}", "{{end}}"),
        ('{{block "a" .}}{{if .}}', "{{end}}{{end}}"),
    ],
)
def test_blocks_nested_without_end(opening: str, closing: str) -> None:
    depth = 10_000 if "block" not in opening else 2_000
    text = opening * depth + closing * depth
    if "block" in opening:
        assert "multiple definition" in refuse(text).message
    else:
        tree = parse(text)
        assert print_template(tree) == text
        assert len(print_node(tree.body[0])) > len(opening) * depth
    error = refuse(opening * depth)
    assert error.message == "template: :1: unexpected EOF"


def test_chained_elses_without_end() -> None:
    text = "{{if .X}}a" + "{{else if .Y}}b" * 10_000 + "{{else}}c{{end}}"
    tree = parse(text)
    assert print_template(tree) == text
    assert print_node(tree.body[0]).count("{{if .Y}}") == 10_000


def test_reading_takes_time_linear_in_the_size() -> None:
    block = (
        next(row for row in ROWS["if"] if "else if" in row and "{{end}}" in row) + "{{ $x := print .A 1 }}é\n"
    )

    def seconds(size: int) -> float:
        text = block * (size // len(block))
        best = float("inf")
        gc.disable()  # what the tests before have left is looked through over and over else
        try:
            for _ in range(3):
                start = time.process_time()
                parse(text)
                best = min(best, time.process_time() - start)
        finally:
            gc.enable()
        return best

    # Sixteen times the text in not much more than sixteen times the time; a square would take 256 times.
    assert seconds(400_000) < 64 * seconds(25_000)


_PIECES = st.sampled_from(
    [piece for rows in ROWS.values() for row in rows for piece in (row, *re.findall(r"\w+|[^\w]", row))]
)


@given(st.lists(st.one_of(_PIECES, st.text(max_size=5)), max_size=30).map("".join))
@settings(deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    """Surrogates included: nothing but our own error comes out, and what is valid prints back to itself."""
    result = outcome(text)
    if isinstance(result, TemplateSyntaxError):
        assert result.offset is not None
        assert 0 <= result.offset <= len(text)
        assert re.match(r"template: :\d+: ", result.message)
        assert str(result).startswith(result.message)
    else:
        assert print_template(result) == result.source.text
        assert parse(result.source, functions=FUNCTIONS).body == result.body


def outcome(text: str) -> TemplateTree | TemplateSyntaxError:
    try:
        return parse(text, functions=FUNCTIONS)
    except TemplateSyntaxError as error:
        return error


def test_binary_input() -> None:
    pick = random.Random(7)
    for _ in range(300):
        data = bytes(pick.choices(range(256), k=200)) + b"{{" + bytes(pick.choices(range(256), k=40))
        assert refuse(data.decode("utf-8", "surrogateescape")).message.startswith("template: :")
