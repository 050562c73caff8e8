"""Why a token is refused, in Go's words (``text/template/parse``, Go 1.26)."""

from __future__ import annotations

from transplate.gotmpl.lexer import TERMS, Token
from transplate.gotmpl.names import KEYWORDS
from transplate.gotmpl.quoting import quote, to_bytes
from transplate.gotmpl.scopes import Scopes
from transplate.source import Source

_CONTEXTS = {
    "LEFT_DELIM": "command",
    "IF": "if",
    "ELSE_IF": "if",
    "WITH": "with",
    "ELSE_WITH": "with",
    "RANGE": "range",
    "ELSE": "else",
    "END": "end",
    "BREAK": "{{break}}",
    "CONTINUE": "{{continue}}",
    "TEMPLATE": "template clause",
    "BLOCK": "block clause",
    "DEFINE": "define clause",
}
"""What Go says it was reading, by the token that opened the action."""

_BEFORE_PIPELINE = (_CONTEXTS.keys() - {"TEMPLATE", "BLOCK", "DEFINE"}) | {"LEFT_PAREN", "NAME", "COMMA"}
_BEFORE_VALUE = _BEFORE_PIPELINE | {"DECLARE", "ASSIGN"}
_SHOWN_WHOLE = 10


class Fault(Exception):
    """A syntax error before it is given its line.

    Attributes:
        message: What is wrong, as Go words it.
        offset: Where it is wrong.
        furthest: The offset up to which Go has read; its line is the one that Go reports.
    """

    def __init__(self, message: str, offset: int, furthest: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.furthest = offset if furthest is None else furthest


def refusal(tokens: list[Token], index: int, scopes: Scopes, source: Source, name: str) -> Fault:
    """Return the fault of the token that the grammar refuses, in the template ``name``."""
    token = tokens[index]
    if token.type == "$END":
        return Fault("unexpected EOF", scopes.blocks[-1].start, token.start)
    if token.type == "DEFINE":
        return Fault("unexpected <define> in command", token.value)
    if token.type in ("END", "ELSE") and tokens[index + 1].type != "RIGHT_DELIM":
        return refusal(tokens, index + 1, scopes, source, name)
    if token.type == "END":
        return Fault("unexpected {{end}}", token.start, tokens[index + 1].start)
    if token.type.startswith("ELSE"):
        return _else_refusal(tokens, index, scopes)
    previous = tokens[index - 1] if index else None
    if previous is not None and previous.type == "VARIABLE" and tokens[index - 2].type in _BEFORE_PIPELINE:
        if token.type == "COMMA":
            return Fault(f"too many declarations in {_context(tokens, index)}", token.start)
        if not scopes.knows(previous.text):
            return undefined_variable(previous, token.start)
    if token.type == "ERROR":
        return Fault(token.text + _started(tokens, index, source, name), token.value, token.start)
    return _operand_refusal(tokens, index)


def undefined_variable(variable: Token, furthest: int) -> Fault:
    """Return the fault of using a variable that is not known."""
    return Fault(f"undefined variable {quote(variable.text)}", variable.start, furthest)


def _else_refusal(tokens: list[Token], index: int, scopes: Scopes) -> Fault:
    """Return the fault of an else that does not belong where it stands."""
    token = tokens[index]
    chained = token.type != "ELSE"
    furthest = token.value if chained else tokens[index + 1].start
    block = scopes.blocks[-1] if scopes.blocks else None
    if block is None:
        return Fault("unexpected {{else}}", token.start, furthest)
    if block.kind == "define":
        return Fault("unexpected {{else}} in define clause", token.start, furthest)
    if block.kind == "block":
        return Fault("unexpected {{else}} in block clause", token.start, block.clause_end)
    if block.has_else:
        return Fault("expected end; found {{else}}", token.start, furthest)
    return Fault(f"unexpected <{token.type[5:].lower()}> in input", token.value)


def _operand_refusal(tokens: list[Token], index: int) -> Fault:
    """Return the fault of a token that has no place in a clause or pipeline."""
    token, previous = tokens[index], tokens[index - 1]
    context = _context(tokens, index)
    if token.type == "TOO_DEEP":
        return Fault("max expression depth exceeded", token.start)
    if token.type == "CHAIN":
        furthest = _next_item(token, tokens[index + 1])
        return Fault(f"unexpected . after term {quote(previous.text)}", token.start, furthest)
    if token.type in ("RIGHT_DELIM", "RIGHT_PAREN") and previous.type in _BEFORE_VALUE:
        return Fault(f"missing value for {context}", token.start)
    if previous.type in TERMS:
        context = "operand"
    return Fault(f"unexpected {_shown(token)} in {context}", token.start)


def _context(tokens: list[Token], index: int) -> str:
    """Return what Go says it was reading when it met a token."""
    depth = 0
    for token in reversed(tokens[:index]):
        if token.type == "RIGHT_PAREN":
            depth -= 1
        elif token.type == "LEFT_PAREN":
            depth += 1
        elif token.type in _CONTEXTS:
            return "parenthesized pipeline" if depth > 0 else _CONTEXTS[token.type]
    raise AssertionError("every token of an action follows an opener")


def _started(tokens: list[Token], index: int, source: Source, name: str) -> str:
    """Return what Go adds to a message of its lexer: on which other line the action started.

    Go forgets where an action started at its end; for an if, with or range that is the ``{{end}}``, unless
    another action comes before that. In the clause of a define or of a chained else it does not know yet.
    """
    inside = True
    for token in reversed(tokens[:index]):
        if token.type == "RIGHT_DELIM":
            inside = False
        elif token.type in _CONTEXTS:
            remembered = (
                token.type not in ("DEFINE", "ELSE_IF", "ELSE_WITH")
                if inside
                else token.type in ("IF", "WITH", "RANGE")
            )
            line = source.position(token.start).line
            if not remembered or line == source.position(tokens[index].start).line:
                return ""
            return (
                f" {'' if tokens[index].text.endswith(' action') else 'in action '}started at {name}:{line}"
            )
    return ""


def _next_item(token: Token, following: Token) -> int:
    """Return where Go's next item begins: white space is one, but for the single space of a trim marker."""
    gap = following.start - token.end
    return following.start if gap == 0 or (gap == 1 and following.text == "-}}") else token.end


def _shown(token: Token) -> str:
    """Return a token as Go shows it."""
    text = token.text
    if token.type == "RIGHT_DELIM":
        text = "}}"
    elif token.value in ("DOT", "NIL") or (token.value == "OTHER" and text in KEYWORDS):
        return f"<{text}>"
    elif token.value == "FIELD":
        text = "." + text[1:].partition(".")[0]
    if len(to_bytes(text)) > _SHOWN_WHOLE:
        return quote(text[:_SHOWN_WHOLE]) + "..."
    return quote(text)
