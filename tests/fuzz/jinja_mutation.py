"""Mutants of chat templates: small changes that a template's author could have made.

What real templates do not happen to say is tried so: another test, filter, operator, attribute or literal in
the place of one, a method or slice behind a value, a part of another template.
"""

from __future__ import annotations

from random import Random

from jinja2 import Environment, TemplateError

from transplate.jinja.environment import GenerationTag

_FAMILIES: tuple[tuple[str, ...], ...] = (
    ("==", "!="),
    ("and", "or"),
    ("<", "<=", ">", ">=", "==", "!="),
    ("+", "~"),
    ("-", "+", "*", "//", "%"),
    ("in", "not in", "=="),
    ("true", "false", "none"),
    ("True", "False", "None"),
    (
        *("content", "role", "name", "tool_calls", "tool_call_id", "reasoning_content", "arguments"),
        *("function", "parameters", "properties", "required", "description", "type", "enum", "items"),
    ),
    ("first", "last", "index", "index0", "revindex", "revindex0", "length", "previtem", "nextitem"),
    ("defined", "none", "string", "mapping", "sequence", "iterable", "undefined", "number", "boolean"),
    ("true", "false", "odd", "even", "none"),
    (
        *("trim", "upper", "lower", "capitalize", "title", "length", "string", "tojson", "safe", "list"),
        *("first", "last", "escape", "reverse", "count", "indent", "int", "sort", "unique", "e"),
    ),
    ("startswith", "endswith"),
    ("strip", "lstrip", "rstrip", "upper", "lower", "title", "capitalize"),
    ("selectattr", "rejectattr"),
    ("items", "keys", "values"),
    ("messages", "tools"),
    ("add_generation_prompt", "enable_thinking", "tools"),
)
_BEHIND = (
    *("|trim", "|upper", "|lower", "|tojson", "|string", "|length", "|list", "|first", "|last", "|safe"),
    *("|replace('a', 'b')", "|default('x')", "|default('x', true)", "|title", "|capitalize", "|reverse"),
    *("|tojson(indent=2)", "|indent(2)", "|e", "|join(', ')", "|sort", "|batch(2)|list", "|select|list"),
    *("[0]", "[-1]", "[:10]", "[1:]", "[:-1]", "[::-1]", "[2:5]", ".strip()", ".strip('\\n')", ".lstrip()"),
    *(".rstrip('x ')", ".split('x')[0]", ".split('</think>')[-1]", ".split()|length", ".upper()", ".title()"),
    *(".replace('e', '')", ".startswith('A')", ".endswith('.')", ".split('\\n')|join(' ')", ".find('a')"),
    *(" + ''", " ~ 1", " or 'x'", " and 'x'", " is defined", " is string", " is none", " in 'xyz'", " == ''"),
    *(".splitlines()|length", ".count('e')", ".items()|list", ".get('type')", ".get('x', 'y')", "['name']"),
    *("|map(attribute='role')|join(' ')", "|selectattr('role', 'equalto', 'user')|list|length"),
    *("|rejectattr('content')|list|length", "|dictsort", "|items|list", "|wordcount", "|abs", "|int"),
)
OPERATIONS = ("kin", "behind", "literal", "number", "trim", "not", "splice", "delete", "swap")
_ENVIRONMENT = Environment(extensions=["jinja2.ext.loopcontrols", GenerationTag])
_BEGINS, _ENDS = ("block_begin", "variable_begin"), ("block_end", "variable_end")

Token = tuple[str, str]


def tokens(source: str) -> list[Token]:
    """Return the kinds and texts of a template's tokens, white space included; their texts join to it."""
    return [(kind, text) for _, kind, text in _ENVIRONMENT.lex(source)]


def mutate(source: str, other: str, random: Random) -> tuple[str, list[str]]:
    """Return a mutant of a chat template that Jinja parses, and the operations that made it; or as it was.

    Args:
        source: The template.
        other: Another one, to take parts of.
        random: What chooses.
    """
    for _ in range(30):
        pieces, done = tokens(source), []
        for _ in range(random.choice((1, 1, 2, 3))):
            operation = random.choice(OPERATIONS)
            pieces = _apply(operation, pieces, other, random)
            done.append(operation)
        made = "".join(text for _, text in pieces)
        try:
            _ENVIRONMENT.parse(made)
        except (TemplateError, RecursionError):
            continue
        if made != source:
            return made, done
    return source, ["none"]


def _apply(operation: str, pieces: list[Token], other: str, random: Random) -> list[Token]:
    """Return the tokens after one change; the same if there is nothing to change."""

    def places(*kinds: str) -> list[int]:
        return [index for index, (kind, _) in enumerate(pieces) if kind in kinds]

    def replaced(index: int, *texts: str, upto: int | None = None) -> list[Token]:
        end = index + 1 if upto is None else upto
        return [*pieces[:index], *(("made", text) for text in texts), *pieces[end:]]

    if operation == "kin":
        choices = [
            (index, kin)
            for index in places("name", "operator", "string")
            for family in _FAMILIES
            if (word := pieces[index][1].strip("'\"")) in family
            for kin in family
            if kin != word
        ]
        if not choices:
            return pieces
        at = random.choice(sorted({index for index, _ in choices}))
        kin = random.choice([kin for index, kin in choices if index == at])
        old = pieces[at][1]
        return replaced(at, f"'{kin}'" if old[0] in "'\"" else kin)
    if operation == "behind":
        found = [index for index in places("name", "string") if _is_value(pieces, index)]
        if not found:
            return pieces
        at = random.choice(found)
        return replaced(at, pieces[at][1], random.choice(_BEHIND))
    if operation == "literal":
        found = places("string", "data")
        theirs = [text for kind, text in tokens(other) if kind == "string"]
        if not found:
            return pieces
        at = random.choice(found)
        kind, text = pieces[at]
        if kind == "data":
            return replaced(at, random.choice((text.strip(), f"{text}\n", f" {text}", text + "{{ '\n' }}")))
        own = [text for kind, text in pieces if kind == "string"]
        return replaced(at, random.choice((*theirs, *own, "''", "' '", "'\\n'", "'é'", "'\"'")))
    if operation == "number":
        found = places("integer")
        if not found:
            return pieces
        at = random.choice(found)
        return replaced(at, str(max(0, int(pieces[at][1]) + random.choice((-2, -1, 1, 2)))))
    if operation == "trim":
        found = places(*_BEGINS, *_ENDS)
        if not found:
            return pieces
        at = random.choice(found)
        kind, text = pieces[at]
        if kind in _BEGINS:
            return replaced(at, text.rstrip("-") if "-" in text else f"{text}-")
        return replaced(at, text.replace("-", "") if "-" in text else f"-{text}")
    if operation == "not":
        found = [index for index in places("name") if pieces[index][1] in ("if", "elif")]
        if not found:
            return pieces
        at = random.choice(found)
        end = next((index for index in places(*_ENDS) if index > at), at + 1)
        return [*pieces[: at + 1], ("made", " not ("), *pieces[at + 1 : end], ("made", ") "), *pieces[end:]]
    if operation == "splice":
        theirs_all = tokens(other)
        parts = _constructs(theirs_all)
        gaps = places(*_BEGINS)
        if not parts or not gaps:
            return pieces
        begin, end = random.choice(parts)
        at = random.choice(gaps)
        return [*pieces[:at], *theirs_all[begin:end], *pieces[at:]]
    parts = _constructs(pieces)
    if not parts:
        return pieces
    begin, end = random.choice(parts)
    if operation == "delete":
        return pieces[:begin] + pieces[end:]
    gaps = [index for index in places(*_BEGINS) if not begin <= index < end]
    if not gaps:
        return pieces
    to = random.choice(gaps)
    if to < begin:
        return pieces[:to] + pieces[begin:end] + pieces[to:begin] + pieces[end:]
    return pieces[:begin] + pieces[end:to] + pieces[begin:end] + pieces[to:]


def _is_value(pieces: list[Token], index: int) -> bool:
    """Return whether a name or string ends a value: nothing that goes on with it follows."""
    kind, text = pieces[index]
    if kind == "name" and text in _KEYWORDS:
        return False
    before = next((t for k, t in reversed(pieces[:index]) if k != "whitespace"), "")
    if before in ("|", "is", "not", "set", "for", "macro", "block", "{%", "{%-") or before == ",":
        return False
    after = next((t for k, t in pieces[index + 1 :] if k != "whitespace"), "")
    return after not in ("(", "=", ".", "[", ",", "in", ":")


_KEYWORDS = frozenset(
    (
        *("if", "elif", "else", "endif", "for", "endfor", "in", "is", "not", "and", "or", "set", "endset"),
        *("macro", "endmacro", "call", "endcall", "filter", "endfilter", "break", "continue", "generation"),
        *("endgeneration", "namespace", "raise_exception", "range", "block", "endblock", "defined", "loop"),
        *("true", "false", "none", "True", "False", "None"),
    )
)


def _constructs(pieces: list[Token]) -> list[tuple[int, int]]:
    """Return where an output, a statement or a whole block of statements stands."""
    found: list[tuple[int, int]] = []
    open_: list[tuple[int, str]] = []
    begin = 0
    for index, (kind, _) in enumerate(pieces):
        if kind in _BEGINS:
            begin = index
        elif kind == "variable_end":
            found.append((begin, index + 1))
        elif kind == "block_end":
            word = next((t for k, t in pieces[begin:index] if k == "name"), "")
            is_inline_set = word == "set" and any(t == "=" for _, t in pieces[begin:index])
            if is_inline_set:
                found.append((begin, index + 1))
            elif word.startswith("end"):
                if open_:
                    found.append((open_.pop()[0], index + 1))
            elif word in ("if", "for", "macro", "set", "call", "filter"):
                open_.append((begin, word))
    return found
