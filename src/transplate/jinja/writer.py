"""Writes a Jinja tree as text that reads well and that every engine reads in the same way.

Every tag trims the white space on both sides, so that layout never prints. Constant text is a string literal,
or, where it is prose of several lines, stands as it is between two tags. What the engines read differently
(see ``docs/portability.md``) is never written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from transplate.jinja import nodes as j

_INDENT = "    "
_WIDTH = 120
_PROSE_LINES = 3
_PROSE_LENGTH = 160

# Binding strength, loosest first. Operators that engines rank differently share a level, so that mixing them
# always takes parentheses.
_CONDITIONAL, _OR, _AND, _NOT, _COMPARE, _ARITHMETIC, _FILTER, _POSTFIX = range(8)
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "not in"})

_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
_UNSAFE_PROSE = re.compile(r"\{\{|\{%|\{#|[-%#]\}\n|^[ \t]*\{-|[\r\v\f]", re.MULTILINE)


def write_template(body: j.Body) -> str:
    """Return a whole template as text; it opens with a tag and ends without a line break."""
    text = "\n".join(_lines(body, 0))
    return text if text.startswith("{") else f"{{{{- '' -}}}}\n{text}"


def write_expression(expression: j.Expression) -> str:
    """Return an expression as text."""
    return _write(expression, _CONDITIONAL)


def write_string(text: str) -> str:
    """Return a string literal that all engines read as ``text``.

    NUL has no such literal and must be refused before.
    """
    quote = '"' if "'" in text and '"' not in text else "'"
    escaped = "".join(_ESCAPES.get(character, character) for character in text)
    return f"{quote}{escaped.replace(quote, chr(92) + quote)}{quote}"


# --- expressions ----------------------------------------------------------------------------------------


def _write(expression: j.Expression, strength: int) -> str:
    text, own = _expression(expression)
    return f"({text})" if own < strength else text


def _expression(expression: j.Expression) -> tuple[str, int]:
    """Return the text of an expression and how strongly its outermost operator binds."""
    match expression:
        case j.Literal(value):
            return _literal(value)
        case j.Name(name):
            return name, _POSTFIX
        case j.ListLiteral(items, is_tuple):
            if is_tuple:
                return f"({_list(items)}{',' if len(items) == 1 else ''})", _POSTFIX
            return f"[{_list(items)}]", _POSTFIX
        case j.DictLiteral(pairs):
            inside = ", ".join(f"{write_expression(key)}: {_write(value, _OR)}" for key, value in pairs)
            return f"{{{inside}}}", _POSTFIX
        case j.Attribute(value, name):
            return f"{_write(value, _POSTFIX)}.{name}", _POSTFIX
        case j.Item(value, key):
            return f"{_write(value, _POSTFIX)}[{write_expression(key)}]", _POSTFIX
        case j.Slice(value, start, stop, step):
            given = (start, stop) if step is None else (start, stop, step)
            bounds = ":".join("" if bound is None else write_expression(bound) for bound in given)
            return f"{_write(value, _POSTFIX)}[{bounds}]", _POSTFIX
        case j.Filter(value, name, arguments, keywords):
            call = f"({_list(arguments, keywords)})" if arguments or keywords else ""
            return f"{_write(value, _FILTER)}|{name}{call}", _FILTER
        case j.Test(value, name, negated, arguments):
            call = f"({_list(arguments)})" if arguments else ""
            return f"{_write(value, _FILTER)} is {'not ' if negated else ''}{name}{call}", _COMPARE
        case j.Call(function, arguments, keywords):
            return f"{_write(function, _POSTFIX)}({_list(arguments, keywords)})", _POSTFIX
        case j.Not(value):
            return f"not {_write(value, _COMPARE)}", _NOT
        case j.Negative(value):
            return f"-{_write(value, _POSTFIX)}", _ARITHMETIC
        case j.And(operands):
            return " and ".join(_write(operand, _NOT) for operand in operands), _AND
        case j.Or(operands):
            return " or ".join(_write(operand, _NOT) for operand in operands), _OR
        case j.Binary(operator, left, right):
            own = _COMPARE if operator in _COMPARISONS else _ARITHMETIC
            return f"{_write(left, own + 1)} {operator} {_write(right, own + 1)}", own
        case j.Concat(operands):
            return " ~ ".join(_write(operand, _FILTER) for operand in operands), _ARITHMETIC
        case j.Conditional(test, value, otherwise):
            text = f"{_write(value, _OR)} if {_write(test, _OR)} else {_write(otherwise, _CONDITIONAL)}"
            return text, _CONDITIONAL


def _literal(value: str | int | float | bool | None) -> tuple[str, int]:
    if isinstance(value, str):
        return write_string(value), _POSTFIX
    if value is None:
        return "none", _POSTFIX
    if isinstance(value, bool):
        return str(value).lower(), _POSTFIX
    return str(value), _POSTFIX if value >= 0 else _ARITHMETIC


def _list(arguments: tuple[j.Expression, ...], keywords: tuple[tuple[str, j.Expression], ...] = ()) -> str:
    # minijinja 2 takes no bare conditional expression for an argument.
    given = [_write(argument, _OR) for argument in arguments]
    named = [f"{name}={_write(value, _OR)}" for name, value in keywords]
    return ", ".join([*given, *named])


# --- statements -----------------------------------------------------------------------------------------


def _lines(body: j.Body, depth: int) -> Iterator[str]:
    for statement in body:
        yield from _statement(statement, depth)


def _statement(statement: j.Statement, depth: int) -> Iterator[str]:
    indent = _INDENT * depth
    match statement:
        case j.Output(parts):
            yield from _output(parts, depth)
        case j.If():
            yield from _if(statement, depth)
        case j.For(targets, iterable, inner, orelse, condition):
            names = ", ".join(target.name for target in targets)
            filtered = f" if {write_expression(condition)}" if condition is not None else ""
            yield from _block(
                f"for {names} in {_write(iterable, _OR)}{filtered}", inner, orelse, "endfor", depth
            )
        case j.Set(target, value):
            yield f"{indent}{_tag(f'set {_target(target)} = {write_expression(value)}')}"
        case j.SetBlock(target, inner):
            yield from _block(f"set {_target(target)}", inner, (), "endset", depth)
        case j.Macro(name, parameters, inner, defaults):
            bare = parameters[: len(parameters) - len(defaults)]
            pairs = zip(parameters[len(bare) :], defaults, strict=True)
            written = [*bare, *(f"{parameter}={_write(default, _OR)}" for parameter, default in pairs)]
            yield from _block(f"macro {name}({', '.join(written)})", inner, (), "endmacro", depth)
        case j.Scope(inner):
            yield from _block("generation", inner, (), "endgeneration", depth)
        case j.Break():
            yield indent + _tag("break")
        case j.Continue():
            yield indent + _tag("continue")
        case j.Comment(text):
            first, *rest = text.split("\n")
            yield f"{indent}{{#- {first}" + ("" if rest else " -#}")
            for number, line in enumerate(rest, 1):
                yield f"{indent}    {line}" + (" -#}" if number == len(rest) else "")
        case j.Verbatim(source):
            for line in source.split("\n"):
                yield f"{indent}{line}" if line else line


def _target(target: j.Name | j.Attribute | tuple[j.Name, ...]) -> str:
    return ", ".join(name.name for name in target) if isinstance(target, tuple) else write_expression(target)


def _tag(text: str) -> str:
    return f"{{%- {text} -%}}"


def _block(opening: str, body: j.Body, orelse: j.Body, closing: str, depth: int) -> Iterator[str]:
    indent = _INDENT * depth
    inner = list(_lines(body, depth + 1))
    line = f"{indent}{_tag(opening)}{''.join(inner).lstrip()}{_tag(closing)}"
    if not orelse and _is_short(body, inner) and len(line) <= _WIDTH:
        yield line
        return
    yield indent + _tag(opening)
    yield from inner
    if orelse:
        yield indent + _tag("else")
        yield from _lines(orelse, depth + 1)
    yield indent + _tag(closing)


def _is_short(body: j.Body, lines: list[str]) -> bool:
    """Return whether a body can stand on the line of the tag that opens it."""
    if len(body) != 1 or len(lines) != 1 or not lines[0].lstrip().startswith("{"):
        return False
    match body[0]:
        case j.Output() | j.Set():
            return True
        case j.For(_, _, (j.Output(),), ()):
            return True
        case _:
            return False


def _if(statement: j.If, depth: int) -> Iterator[str]:
    """Write a conditional; where every arm is one short statement, as a table of one line an arm."""
    indent = _INDENT * depth
    arms: list[tuple[str, j.Body]] = []
    orelse: j.Body = (statement,)
    while len(orelse) == 1 and isinstance(orelse[0], j.If):
        chained = orelse[0]
        arms.append((f"{'elif' if arms else 'if'} {_write(chained.test, _OR)}", chained.body))
        orelse = chained.orelse
    if len(arms) == 1 and not orelse:
        yield from _block(*arms[0], (), "endif", depth)
        return
    if orelse:
        arms.append(("else", orelse))
    written = [(indent + _tag(opening), body, list(_lines(body, depth + 1))) for opening, body in arms]
    if all(
        _is_short(body, lines) and len(opening) + len(lines[0].lstrip()) <= _WIDTH
        for opening, body, lines in written
    ):
        *rows, last = (opening + lines[0].lstrip() for opening, _, lines in written)
        yield from rows
        if len(last) + len(_tag("endif")) <= _WIDTH:
            yield last + _tag("endif")
            return
        yield last
    else:
        for opening, _, lines in written:
            yield opening
            yield from lines
    yield indent + _tag("endif")


# --- what is printed ------------------------------------------------------------------------------------


def _output(parts: tuple[j.Expression, ...], depth: int) -> Iterator[str]:
    """Write pieces as ``{{- … -}}`` lines, prose of several lines between them as it is."""
    pending: list[j.Expression] = []
    for part in parts:
        if isinstance(part, j.Literal) and isinstance(part.value, str) and _is_prose(part.value):
            inner = part.value.strip(" \t\n")
            before, after = part.value.split(inner, 1)
            if before:
                pending.append(j.Literal(before))
            yield from _expressions(pending, depth)
            yield inner
            pending = [j.Literal(after)] if after else []
        else:
            pending.append(part)
    yield from _expressions(pending, depth)


def _is_prose(text: str) -> bool:
    inner = text.strip(" \t\n")
    return (
        inner.count("\n") >= _PROSE_LINES - 1
        and len(inner) >= _PROSE_LENGTH
        and inner == inner.strip()
        and _UNSAFE_PROSE.search(inner) is None
        and not inner.endswith("{")
    )


def _expressions(parts: list[j.Expression], depth: int) -> Iterator[str]:
    if not parts:
        return
    indent = _INDENT * depth
    line = f"{indent}{{{{- {_concat(parts)} -}}}}"
    if len(line) <= _WIDTH:
        yield line
        return
    group: list[j.Expression] = []
    for part in _split_lines(parts):
        if group and _ends_line(group[-1]) and len(indent) + len(_concat([*group, part])) + 8 > _WIDTH:
            yield f"{indent}{{{{- {_concat(group)} -}}}}"
            group = []
        group.append(part)
    yield f"{indent}{{{{- {_concat(group)} -}}}}"


def _split_lines(parts: list[j.Expression]) -> Iterator[j.Expression]:
    for part in parts:
        if isinstance(part, j.Literal) and isinstance(part.value, str):
            yield from (j.Literal(line) for line in part.value.splitlines(keepends=True) or [""])
        else:
            yield part


def _ends_line(part: j.Expression) -> bool:
    return isinstance(part, j.Literal) and isinstance(part.value, str) and part.value.endswith("\n")


def _concat(parts: list[j.Expression]) -> str:
    """Join pieces with ``~``, neighbouring constants made one."""
    merged: list[j.Expression] = []
    for part in parts:
        previous = merged[-1] if merged else None
        if (
            isinstance(part, j.Literal)
            and isinstance(part.value, str)
            and isinstance(previous, j.Literal)
            and isinstance(previous.value, str)
        ):
            merged[-1] = j.Literal(previous.value + part.value)
        else:
            merged.append(part)
    return write_expression(j.Concat(tuple(merged)) if len(merged) > 1 else merged[0])
