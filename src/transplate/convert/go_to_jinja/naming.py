"""Gives every symbol of a lowered template its name, and an outer loop's ``loop`` a variable."""

from __future__ import annotations

from collections.abc import Iterable

from transplate.convert.go_to_jinja.simplify import loop_name
from transplate.jinja import nodes as j
from transplate.jinja import walk

_HOST_VARIABLES = frozenset(
    (
        *("messages", "tools", "documents", "system", "bos_token", "eos_token", "unk_token", "pad_token"),
        *("add_generation_prompt", "enable_thinking", "reasoning_effort"),
    )
)
"""Names that a host gives a meaning, or that converted templates have in common."""

_WORDS = frozenset(
    (
        *("and", "or", "not", "is", "in", "if", "else", "elif", "endif", "for", "endfor", "set", "endset"),
        *("macro", "endmacro", "true", "false", "none", "True", "False", "None", "loop", "namespace"),
        *("range", "dict", "lipsum", "cycler", "joiner", "raise_exception", "strftime_now", "self"),
        *("super", "varargs", "kwargs", "caller", "length", "items", "keys", "values", "get", "string"),
        *("count", "first", "last", "list", "map"),
    )
)
"""Names that an engine gives a meaning, or that are methods of a namespace in one of them."""

_LOOP_WORDS = {
    "index0": "{}_index",
    "index": "{}_number",
    "revindex": "{}s_left",
    "revindex0": "{}s_behind",
    "first": "is_first_{}",
    "last": "is_last_{}",
    "length": "{}_count",
    "previtem": "previous_{}",
    "nextitem": "next_{}",
}


def name_symbols(body: j.Body, taken: Iterable[str]) -> j.Body:
    """Return a body whose symbols (``message#3``) have become names that do not clash.

    A loop's own ``loop`` keeps its name inside that loop; where an inner loop reads it, its value is set
    beforehand.
    """
    naming = _Naming(frozenset(taken) | _HOST_VARIABLES | _WORDS)
    macros: dict[str, str] = {}
    for statement in body:
        if isinstance(statement, j.Macro):
            naming.declare(statement.name, macros)
    return naming.body(_with_outer_loops(body), macros)


# --- loop variables that are read inside an inner loop --------------------------------------------------


def _with_outer_loops(body: j.Body) -> j.Body:
    return tuple(_with_outer_loop(statement) for statement in body)


def _with_outer_loop(statement: j.Statement) -> j.Statement:
    match statement:
        case j.If(test, body, orelse):
            return j.If(test, _with_outer_loops(body), _with_outer_loops(orelse))
        case j.Macro(name, parameters, body):
            return j.Macro(name, parameters, _with_outer_loops(body))
        case j.SetBlock(target, body):
            return j.SetBlock(target, _with_outer_loops(body))
        case j.For(targets, iterable, body, orelse, condition):
            inner = _with_outer_loops(body)
            own = loop_name(statement)
            names: dict[j.Expression, j.Expression] = {}
            base = targets[-1].name.partition("#")[0]
            for attribute in _read_inside_loops(inner, own):
                word = _LOOP_WORDS[attribute.name].format(base)
                names[attribute] = j.Name(f"{word}#{own.name}")
            if names:
                inner = walk.map_expressions(
                    inner, lambda expression: walk.substitute(expression, lambda part: names.get(part, part))
                )
            opening = tuple(
                j.Set(target, value) for value, target in names.items() if isinstance(target, j.Name)
            )
            return j.For(targets, iterable, (*opening, *inner), _with_outer_loops(orelse), condition)
        case _:
            return statement


def _read_inside_loops(body: j.Body, own: j.Name) -> list[j.Attribute]:
    """Return the attributes of a loop that loops inside its body read, each once, in order."""
    found: dict[j.Attribute, None] = {}
    for statement in walk.statements(body):
        if isinstance(statement, j.For):
            for part in walk.all_parts((*statement.body, *statement.orelse)):
                if isinstance(part, j.Attribute) and part.value == own:
                    found[part] = None
    return list(found)


# --- names ----------------------------------------------------------------------------------------------


class _Naming:
    def __init__(self, taken: frozenset[str]) -> None:
        self.taken = taken
        self.attributes: dict[str, str] = {}

    def body(self, body: j.Body, names: dict[str, str]) -> j.Body:
        """Name what a body declares; ``names`` are the symbols known here, and grow by its declarations."""
        return tuple(self.statement(statement, names) for statement in body)

    def statement(self, statement: j.Statement, names: dict[str, str]) -> j.Statement:
        def changed(expression: j.Expression) -> j.Expression:
            return walk.substitute(expression, lambda part: self.part(part, names))

        match statement:
            case j.Output(pieces):
                return j.Output(tuple(map(changed, pieces)))
            case j.If(test, body, orelse):
                # An if opens no scope, but what one arm declares means nothing to the other.
                before = dict(names)
                then = self.body(body, before)
                otherwise = dict(names)
                other = self.body(orelse, otherwise)
                names.update(otherwise)
                names.update(before)
                return j.If(changed(test), then, other)
            case j.For(targets, iterable, body, orelse, condition):
                inside = dict(names)
                over = changed(iterable)
                named = tuple(j.Name(self.declare(target.name, inside)) for target in targets)
                inside[loop_name(statement).name] = "loop"
                return j.For(
                    named,
                    over,
                    self.body(body, inside),
                    self.body(orelse, dict(names)),
                    None
                    if condition is None
                    else walk.substitute(condition, lambda part: self.part(part, inside)),
                )
            case j.Set(j.Name(symbol), value):
                new = changed(value)
                return j.Set(j.Name(self.declare(symbol, names)), new)
            case j.Set(j.Attribute(owner, symbol), value):
                return j.Set(j.Attribute(changed(owner), self.attribute(symbol)), changed(value))
            case j.SetBlock(j.Name(symbol), body):
                inner = self.body(body, dict(names))
                return j.SetBlock(j.Name(self.declare(symbol, names)), inner)
            case j.Macro(name, parameters, body):
                inside = dict(names)
                own = tuple(self.declare(parameter, inside) for parameter in parameters)
                return j.Macro(names.get(name, name), own, self.body(body, inside))
            case _:
                return statement

    def part(self, part: j.Expression, names: dict[str, str]) -> j.Expression:
        match part:
            case j.Name(symbol):
                return j.Name(names.get(symbol, symbol))
            case j.Attribute(value, name) if "#" in name:
                return j.Attribute(value, self.attribute(name))
            case j.Call(j.Name("namespace"), (), keywords):
                return j.Call(
                    j.Name("namespace"), (), tuple((self.attribute(key), value) for key, value in keywords)
                )
            case _:
                return part

    def attribute(self, symbol: str) -> str:
        """Return the name of a namespace's attribute."""
        if "#" not in symbol:
            return symbol
        if symbol not in self.attributes:
            used = set(self.attributes.values()) | _WORDS
            self.attributes[symbol] = _free(symbol.partition("#")[0], used)
        return self.attributes[symbol]

    def declare(self, symbol: str, names: dict[str, str]) -> str:
        """Return the name of a symbol and make it known; a symbol that is known keeps its name."""
        if "#" not in symbol:
            names[symbol] = symbol
        elif symbol not in names:
            names[symbol] = _free(symbol.partition("#")[0], set(names.values()) | self.taken)
        return names[symbol]


def _free(wanted: str, used: set[str] | frozenset[str]) -> str:
    """Return a name that is not used yet, as close to the wanted one as can be."""
    if wanted not in used:
        return wanted
    for word in (f"this_{wanted}", f"inner_{wanted}", f"the_{wanted}"):
        if word not in used:
            return word
    number = 2
    while f"{wanted}_{number}" in used:
        number += 1
    return f"{wanted}_{number}"
