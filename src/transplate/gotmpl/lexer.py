"""Text of a template in, tokens out: the only place where text is cut from actions and white space trimmed.

Token types are the terminals of ``grammar/gotmpl.lark``, and four that no rule of the grammar takes:

* ``GLUED``: a term that touches the term before it;
* ``OTHER``: a character or keyword that has no place inside an action;
* ``TOO_DEEP``: an opening parenthesis inside more of them than Go allows; always the last token;
* ``ERROR``: where Go's own lexer gives up; always the last token, and its text is Go's message.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple, cast

from transplate.gotmpl.letters import is_word_character
from transplate.gotmpl.literals import number_end
from transplate.gotmpl.names import KEYWORDS, OPTIONAL_KEYWORDS
from transplate.gotmpl.nodes import Clause
from transplate.gotmpl.printable import is_print
from transplate.gotmpl.quoting import quote
from transplate.source import Span

MAX_PAREN_DEPTH = 10_000
"""Parentheses inside one another that Go reads (``maxStackDepth`` in text/template/parse)."""

SPACE = " \t\r\n"
"""The characters that separate operands, and that trim markers remove."""

TERMS = frozenset(
    ["DOT", "NIL", "BOOL", "NUMBER", "STRING", "FIELD", "VARIABLE", "IDENTIFIER", "CHAIN", "RIGHT_PAREN"]
)
"""Tokens that end a term."""


class Token(NamedTuple):
    """One token.

    Attributes:
        type: A terminal of the grammar, or one of the types named above.
        text: The token as written; of an ERROR, Go's message.
        start: Offset of the text; of an ERROR, that of the item that Go was reading.
        value: Of a TEXT, what is left of it after trimming; of an opener, the offset of its last keyword; of
            a RIGHT_DELIM or COMMENT, the action's :class:`Clause`; of an ERROR, the offset of the fault; of
            any other token of an action, the type that it would have if it stood alone.
    """

    type: str
    text: str
    start: int
    value: Any = None

    @property
    def end(self) -> int:
        """The offset behind the token."""
        return self.start + len(self.text)


_TERMINATOR = r"(?:[ \t\r\n.,|:)(]|\}\}|\Z)"
"""What may follow a word."""

_AT_TERMINATOR = re.compile(_TERMINATOR)

_OPENER = re.compile(
    rf"""
    \{{\{{ (?P<TRIM> - (?= [ \t\r\n] ) )?
    (?:
        [ \t\r\n]* (?:
            (?P<ELSE> else ) [ \t\r\n]+ (?P<AFTER_ELSE> if | with )
        |   (?P<KEYWORD> if | with | range | else | end | define | block | template | break | continue )
        ) (?= {_TERMINATOR} )
    |   (?(TRIM) [ \t\r\n] ) (?P<COMMENT> /\* )?
    )
    """,
    re.VERBOSE,
)

# Every token that is well formed and all ASCII but for numbers; the rest is left to _scan. A group is atomic
# where a shorter match would be a different token.
_TOKEN = re.compile(
    rf"""
    [ \t\r\n]+ (?P<TRIMMING> -\}}\}} )
    | [ \t\r\n]* (?:
        (?P<FIELD> (?> (?: \. [A-Za-z_] [A-Za-z0-9_]* )+ ) (?= {_TERMINATOR} ) (?! \. [^\x00-\x7f] ) )
    |   (?P<IDENTIFIER> (?> [A-Za-z_] [A-Za-z0-9_]* ) (?= {_TERMINATOR} ) )
    |   (?P<RIGHT_DELIM> \}}\}} )
    |   (?P<VARIABLE> \$ (?> [A-Za-z0-9_]* ) (?= {_TERMINATOR} ) )
    |   (?P<STRING> " (?: [^"\\\n] | \\ [^\n] )*+ " | ` [^`]* ` )
    |   (?P<CHARACTER> ' (?: [^'\\\n] | \\ [^\n] )*+ ' )
    |   (?P<PIPE> \| )
    |   (?P<DECLARE> := )
    |   (?P<LEFT_PAREN> \( )
    |   (?P<RIGHT_PAREN> \) )
    |   (?P<DOT> \. (?= [ \t\r\n.,|:)(] | \}}\}} ) )
    |   (?P<ASSIGN> = )
    |   (?P<COMMA> , )
    |   (?P<OTHER> [\s\S] | \Z )
    )
    """,
    re.VERBOSE,
)

_WORDS = {"true": "BOOL", "false": "BOOL", "nil": "NIL"} | dict.fromkeys(KEYWORDS - {"nil"}, "OTHER")
_NAMED = frozenset({"TEMPLATE", "BLOCK", "DEFINE"})
_TERM_STARTS = (TERMS - {"CHAIN", "RIGHT_PAREN"}) | {"LEFT_PAREN"}
_UNTERMINATED = {
    '"': "unterminated quoted string",
    "`": "unterminated raw quoted string",
    "'": "unterminated character constant",
}
_DIGITS = frozenset("0123456789")


class TooManyTokens(Exception):
    """A template has more tokens than it may have; ``offset`` is where the last of them is."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


def tokenize(text: str, functions: Collection[str] = (), *, most: int | None = None) -> list[Token]:
    """Cut a template into tokens; the last is ``$END``, or where Go gives up an ERROR or TOO_DEEP.

    Args:
        text: The template.
        functions: Names of functions; ``break`` and ``continue`` are keywords unless they are among them.
        most: How many tokens it may have, at the end of an action; None for any number.

    Raises:
        TooManyTokens: It has more.
    """
    words = {
        word: kind for word, kind in _WORDS.items() if word not in OPTIONAL_KEYWORDS or word not in functions
    }
    tokens: list[Token] = []
    position = 0
    trims = False
    while (start := text.find("{{", position)) >= 0:
        opener = cast("re.Match[str]", _OPENER.match(text, start))  # all behind the delimiter is optional
        if start > position:
            tokens.append(_text(text[position:start], position, left=trims, right=bool(opener["TRIM"])))
        last = _comment(text, opener) if opener["COMMENT"] else _action(text, opener, words, tokens)
        tokens.append(last)
        if last.type in ("ERROR", "TOO_DEEP"):
            return tokens
        position = last.value.span.end
        trims = last.value.trim_right
        if most is not None and len(tokens) > most:
            raise TooManyTokens(last.start)
    if position < len(text):
        tokens.append(_text(text[position:], position, left=trims, right=False))
    tokens.append(Token("$END", "", len(text)))
    return tokens


def _text(raw: str, start: int, *, left: bool, right: bool) -> Token:
    """Return a text, its value trimmed on the sides where a trim marker stands."""
    value = raw.lstrip(SPACE) if left else raw
    return Token("TEXT", raw, start, value.rstrip(SPACE) if right else value)


def _comment(text: str, opener: re.Match[str]) -> Token:
    """Return the comment that ``opener`` opens, or an ERROR."""
    start = opener.start("COMMENT")
    close = text.find("*/", start + 2)
    if close < 0:
        return Token("ERROR", "unclosed comment", start, start)
    close += 2
    trims = text.startswith("-}}", close + 1) and text[close] in SPACE
    if not trims and not text.startswith("}}", close):
        return Token("ERROR", "comment ends before closing delimiter", start, close)
    spacing = (text[start - 1] if opener["TRIM"] else "", text[close] if trims else "")
    span = Span(opener.start(), close + (4 if trims else 2))
    return Token("COMMENT", text[start:close], start, Clause(span, bool(opener["TRIM"]), trims, spacing))


def _action(text: str, opener: re.Match[str], words: dict[str, str], tokens: list[Token]) -> Token:
    """Append the tokens of the action that ``opener`` opens but its last, which is returned.

    That is its right delimiter, an ERROR or a TOO_DEEP.
    """
    start, position = opener.span()
    spacing: list[str] = []
    end = start + (3 if opener["TRIM"] else 2)
    if opener["ELSE"]:
        keyword = opener.start("AFTER_ELSE")
        spacing += text[end : opener.start("ELSE")], text[opener.end("ELSE") : keyword]
        tokens.append(Token("ELSE_" + opener["AFTER_ELSE"].upper(), text[start:position], start, keyword))
        end = position
    elif opener["KEYWORD"] in words:
        keyword = opener.start("KEYWORD")
        spacing.append(text[end:keyword])
        tokens.append(Token(opener["KEYWORD"].upper(), text[start:position], start, keyword))
        end = position
    else:
        position = end + 1 if opener["TRIM"] else end
        tokens.append(Token("LEFT_DELIM", text[start:end], start, start))
    previous = tokens[-1].type
    depth = 0
    while True:
        match = cast("re.Match[str]", _TOKEN.match(text, position))  # OTHER takes anything
        kind = match.lastgroup or "OTHER"
        at, position = match.span(kind)
        if kind == "RIGHT_DELIM" or kind == "TRIMMING":
            trims = kind == "TRIMMING"
            if depth:
                return Token("ERROR", "unclosed left paren", at - trims, _open_paren(tokens))
            spacing.append(text[end:at])
            clause = Clause(Span(start, position), bool(opener["TRIM"]), trims, tuple(spacing))
            return Token("RIGHT_DELIM", text[at:position], at, clause)
        if kind == "OTHER":
            odd = _scan(text, at)
            if odd.type == "ERROR":
                return odd._replace(value=start) if odd.value is None else odd
            kind, position = odd.type, odd.end
        elif kind == "IDENTIFIER":
            kind = words.get(match[kind], kind)
        elif kind == "CHARACTER":
            kind = "NUMBER"
        elif kind == "STRING" and previous in _NAMED:
            kind = "NAME"
        elif kind == "LEFT_PAREN":
            depth += 1
        elif kind == "RIGHT_PAREN":
            depth -= 1
            if depth < 0:
                return Token("ERROR", "unexpected right paren", at, at)
        written = kind
        if at == end and previous in TERMS and kind in _TERM_STARTS:
            kind = "CHAIN" if kind == "FIELD" else "GLUED"
        elif depth > MAX_PAREN_DEPTH and kind == "LEFT_PAREN":
            return Token("TOO_DEEP", "(", at)
        tokens.append(Token(kind, text[at:position], at, written))
        spacing.append(text[end:at])
        previous = kind
        end = position


def _open_paren(tokens: list[Token]) -> int:
    """Return the offset of the last parenthesis that is still open."""
    depth = 1
    at = len(tokens)
    while depth:
        at -= 1
        depth += {")": 1, "(": -1}.get(tokens[at].text, 0)
    return tokens[at].start


def _scan(text: str, at: int) -> Token:
    """Return the token at ``at``: a number, a name that is not all ASCII, what has no place, or an ERROR."""
    first = text[at : at + 1]
    if first == "":
        return Token("ERROR", "unclosed action", at)
    if first in _UNTERMINATED:
        return Token("ERROR", _UNTERMINATED[first], at, at)
    if first == ":":
        return Token("ERROR", "expected :=", at, at)
    following = text[at + 1 : at + 2]
    if first in _DIGITS or first in "+-" or (first == "." and (following in _DIGITS or not following)):
        return _number(text, at)
    if first in ".$" or is_word_character(first):
        return _word(text, at)
    if " " < first <= "~":
        return Token("OTHER", first, at)
    return Token("ERROR", f"unrecognized character in action: {_code_point(first)}", at, at)


def _number(text: str, at: int) -> Token:
    """Return the number at ``at``, or an ERROR."""
    end = number_end(text, at)
    good = not is_word_character(text[end : end + 1])
    if good and text[end : end + 1] in ("+", "-"):
        end = number_end(text, end)
        good = not is_word_character(text[end : end + 1])
        if good and text[end - 1] != "i":
            return Token("ERROR", f"bad number syntax: {quote(text[at:end])}", at, at)
    if good:
        return Token("NUMBER", text[at:end], at)
    return Token("ERROR", f"bad number syntax: {quote(text[at : end + 1])}", at, at)


def _word(text: str, at: int) -> Token:
    """Return the identifier, variable or chain of fields at ``at``, or an ERROR."""
    kind = {".": "FIELD", "$": "VARIABLE"}.get(text[at], "IDENTIFIER")
    end = at
    while True:
        stop = end + 1
        while is_word_character(text[stop : stop + 1]):
            stop += 1
        if _AT_TERMINATOR.match(text, stop) is None:
            if end > at:
                return Token(kind, text[at:end], at)
            return Token("ERROR", f"bad character {_code_point(text[stop])}", at, stop)
        end = stop
        following = text[end + 1 : end + 2]
        if (
            kind != "FIELD"
            or text[end : end + 1] != "."
            or following in _DIGITS
            or _AT_TERMINATOR.match(text, end + 1) is not None
        ):
            return Token(kind, text[at:end], at)


def _code_point(character: str) -> str:
    """Return a character as fmt's ``%#U`` prints it; a byte that is no UTF-8 counts as U+FFFD."""
    if "\udc80" <= character <= "\udcff":
        character = "\ufffd"
    code = ord(character)
    return f"U+{code:04X} '{character}'" if is_print(code) else f"U+{code:04X}"
