"""Tokens: their types, what is trimmed, and the white space that is kept."""

from __future__ import annotations

import pytest

from transplate.gotmpl.lexer import tokenize
from transplate.gotmpl.nodes import Clause


def types(text: str) -> str:
    return " ".join(token.type for token in tokenize(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "$END"),
        ("a", "TEXT $END"),
        ("{{/* c */}}", "COMMENT $END"),
        ("{{.}}", "LEFT_DELIM DOT RIGHT_DELIM $END"),
        ("{{if .X}}", "IF FIELD RIGHT_DELIM $END"),
        ("{{- else  if .X -}}", "ELSE_IF FIELD RIGHT_DELIM $END"),
        ("{{else with .X}}", "ELSE_WITH FIELD RIGHT_DELIM $END"),
        ("{{else}}{{end}}", "ELSE RIGHT_DELIM END RIGHT_DELIM $END"),
        ("{{ifx}}", "LEFT_DELIM IDENTIFIER RIGHT_DELIM $END"),
        ("{{range $i, $x := .X}}", "RANGE VARIABLE COMMA VARIABLE DECLARE FIELD RIGHT_DELIM $END"),
        ('{{template "x" "y"}}', "TEMPLATE NAME STRING RIGHT_DELIM $END"),
        ("{{$x.A.B}}", "LEFT_DELIM VARIABLE CHAIN RIGHT_DELIM $END"),
        ("{{.A.B .é.C}}", "LEFT_DELIM FIELD FIELD RIGHT_DELIM $END"),
        ("{{(.A).B}}", "LEFT_DELIM LEFT_PAREN FIELD RIGHT_PAREN CHAIN RIGHT_DELIM $END"),
        ('{{1"b"}}', "LEFT_DELIM NUMBER GLUED RIGHT_DELIM $END"),
        (
            "{{print 1 -1.5 'c' 1+2i `r`}}",
            "LEFT_DELIM IDENTIFIER NUMBER NUMBER NUMBER NUMBER STRING RIGHT_DELIM $END",
        ),
        ("{{nil | true = end}}", "LEFT_DELIM NIL PIPE BOOL ASSIGN OTHER RIGHT_DELIM $END"),
        ("{{.A", "LEFT_DELIM FIELD ERROR"),
        ("{{.A.B+}}", "LEFT_DELIM FIELD ERROR"),
    ],
)
def test_types(text: str, expected: str) -> None:
    assert types(text) == expected


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (" a {{- . -}} b ", [" a", "b "]),
        ("\n\t\r {{- /* c */ -}} \n{{.}}", ["", ""]),
        ("\v{{- . -}}\xa0", ["\v", "\xa0"]),
        ("a {{.}} b", ["a ", " b"]),
        ("a{{3 -}}  {{- 4}}b", ["a", "", "b"]),
    ],
)
def test_trimming(text: str, values: list[str]) -> None:
    tokens = [token for token in tokenize(text) if token.type == "TEXT"]
    assert [token.value for token in tokens] == values
    assert all(text[token.start : token.end] == token.text for token in tokens)


@pytest.mark.parametrize(
    ("text", "spacing"),
    [
        ("{{.X}}", ("", "")),
        ("{{- .X -}}", (" ", " ")),
        ("{{ else \n if\t.X }}", (" ", " \n ", "\t", " ")),
        ("{{print .A.B  (len $x.C)|not}}", ("", " ", "  ", "", " ", "", "", "", "", "")),
        ("{{-\n/* c */\t-}}", ("\n", "\t")),
    ],
)
def test_spacing(text: str, spacing: tuple[str, ...]) -> None:
    clauses = [token.value for token in tokenize(text) if isinstance(token.value, Clause)]
    assert [clause.spacing for clause in clauses] == [spacing]
    assert clauses[0].span == (0, len(text))
    assert (clauses[0].trim_left, clauses[0].trim_right) == (text[2] == "-", text[-3] == "-")


def test_keywords_that_name_functions() -> None:
    assert [token.type for token in tokenize("{{break}}", {"break"})] == [
        "LEFT_DELIM",
        "IDENTIFIER",
        "RIGHT_DELIM",
        "$END",
    ]
    assert [token.type for token in tokenize("{{- break}}", {"continue"})] == ["BREAK", "RIGHT_DELIM", "$END"]
    assert [token.type for token in tokenize("{{end}}", {"end"})] == ["END", "RIGHT_DELIM", "$END"]
