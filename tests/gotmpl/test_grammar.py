"""The grammar and its tables: free of conflicts, never stale, and read by our automaton as by Lark's own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lark import Lark, Token
from lark.exceptions import UnexpectedToken

from tests.gotmpl.parsing import FUNCTIONS, decode
from tests.oracle.parse.record import RECORDING
from transplate.gotmpl import grammar
from transplate.gotmpl.lexer import tokenize

GRAMMAR = Path(grammar.grammar_folder()) / grammar.GRAMMAR


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a copy of the grammar and its tables, where the package looks for them."""
    copy = tmp_path / grammar.GRAMMAR
    copy.write_bytes(GRAMMAR.read_bytes())
    grammar.write_tables(copy, tmp_path / grammar.TABLES)
    monkeypatch.setattr(grammar, "grammar_folder", lambda: str(tmp_path))
    return tmp_path


def test_strict_lark_finds_no_conflict() -> None:
    pytest.importorskip("interegular", reason="strict mode of Lark needs interegular")
    Lark(GRAMMAR.read_text(encoding="utf-8"), parser="lalr", lexer="basic", start=grammar.START, strict=True)


def test_every_terminal_has_its_token() -> None:
    rules = grammar.build_tables(GRAMMAR.read_text(encoding="utf-8")).rules
    terminals = {symbol for _, symbols in rules for symbol in symbols if symbol.isupper()}
    seen = {
        token.type
        for line in RECORDING.read_text(encoding="utf-8").splitlines()
        for token in tokenize(decode(json.loads(line)[1]))
    }
    assert terminals <= seen
    assert seen - terminals == {"$END", "ERROR", "GLUED", "OTHER"}


def test_tables_are_read_as_they_were_built(folder: Path) -> None:
    built = grammar.build_tables(GRAMMAR.read_text(encoding="utf-8"))
    kept = grammar.load_tables()
    assert json.dumps(kept) == json.dumps(built)
    assert folder.joinpath(grammar.TABLES).exists()


@pytest.mark.parametrize("spoil", ["remove", "truncate", "older grammar", "other format"])
def test_tables_that_do_not_belong_to_the_grammar_are_built_anew(folder: Path, spoil: str) -> None:
    built = grammar.load_tables()
    tables = folder / grammar.TABLES
    match spoil:
        case "remove":
            tables.unlink()
        case "truncate":
            tables.write_bytes(tables.read_bytes()[:-100])
        case "older grammar":
            text = (folder / grammar.GRAMMAR).read_text(encoding="utf-8")
            (folder / grammar.GRAMMAR).write_text(text + "// more\n", encoding="utf-8", newline="")
        case "other format":
            tables.write_text("{}")
    assert json.dumps(grammar.load_tables()) == json.dumps(built)


def test_no_grammar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "__file__", str(tmp_path / "a/b/c/d.py"))
    with pytest.raises(FileNotFoundError, match=r"gotmpl\.lark"):
        grammar.grammar_folder()


def test_a_template_is_read_without_lark(folder: Path) -> None:
    del folder  # the tables that it builds are those of the source tree's grammar
    grammar.write_tables(GRAMMAR, GRAMMAR.with_name(grammar.TABLES))
    program = "import sys, transplate.gotmpl.parser as p; p.parse('{{.X}}'); print('lark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


def test_larks_own_parser_takes_and_refuses_the_same() -> None:
    """Ours stops at more: at faults that no grammar can see. It must never go on where Lark's stops."""
    lark = Lark(GRAMMAR.read_text(encoding="utf-8"), parser="lalr", lexer="basic", start=grammar.START)
    valid = refused = 0
    for line in RECORDING.read_text(encoding="utf-8").splitlines():
        _, template, answer = json.loads(line)
        state = lark.parse_interactive("").parser_state
        try:
            for token in tokenize(decode(template), FUNCTIONS):
                state.feed_token(Token(token.type, token.text), token.type == "$END")
            valid += 1
        except UnexpectedToken:
            refused += 1
            assert "error" in answer, template
    assert min(valid, refused) > 300
