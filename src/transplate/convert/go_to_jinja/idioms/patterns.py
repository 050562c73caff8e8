"""The encodings that ``to_go`` writes, as patterns, made by what writes them for constants that may be meant.

A pattern is the tree that ``to_go`` would print for the constants found in a piece of code. Whether the code
is that tree is for :mod:`matching` to say; how the constants were guessed means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from transplate.convert.go_to_jinja.idioms.matching import HOLE, parts_of, variables_in
from transplate.convert.go_to_jinja.idioms.searches import FROM_ANY, HAS_ANY
from transplate.convert.jinja_to_go import cases, defines, strings
from transplate.convert.jinja_to_go.cleanup import cleaned
from transplate.convert.jinja_to_go.copies import without_copies
from transplate.convert.jinja_to_go.unread import without_unread
from transplate.gotmpl import nodes as go
from transplate.gotmpl.parser import parse
from transplate.ollama.functions import FUNCTIONS

_TAKEN = re.compile(r"\$([spq])\b")


@dataclass(frozen=True, eq=False)
class Idiom:
    """An encoding.

    Attributes:
        text: The statements; ``$s``, ``$p`` and ``$q`` are what they take.
        results: The variables that they compute, each with the function whose result it is.
        constants: The constants that the functions take behind ``$s``, ``$p`` and ``$q``.
    """

    text: str
    results: tuple[tuple[str, str], ...]
    constants: tuple[str, ...] = ()

    @cached_property
    def patterns(self) -> tuple[go.Body, ...]:
        """The trees as ``to_go`` prints them, where they stand and in templates, with holes."""

        def hole(found: re.Match[str]) -> str:
            return found[0] if f"{found[0]} :=" in self.text else HOLE + found[1]

        reads = "".join(f"{{{{ ${name} }}}}" for name, _ in self.results)
        body = _parsed(_TAKEN.sub(hole, self.text) + reads)
        names = {variable.name for variable in variables_in(body)}
        made: list[go.Body] = []
        for variant in (without_copies(without_unread(body), names), body):
            said = [item for item in cleaned(variant, {}) if not isinstance(item, go.Text) or item.value]
            made.append(tuple(said[: len(said) - len(self.results)]))
        return tuple(made)


@lru_cache(maxsize=8)
def printing_patterns() -> tuple[tuple[str, go.Body], ...]:
    """Return the bodies of the templates that ``to_go`` defines, and the function whose result they print."""
    return (
        *(
            (name, _parsed(defines.texts_of(is_plain=is_plain, may_be_arguments=may_be)["json"]))
            for is_plain, name in ((True, "spaced_json"), (False, "python_json"))
            for may_be in (True, False)
        ),
        ("python_json", _parsed(defines.DEFINES["json string"])),
        ("python_number", _parsed(defines.DEFINES["number"])),
        ("spaced_repr", _parsed(defines.ORDINARY["repr"])),
        ("python_repr", _parsed(defines.DEFINES["repr"])),
    )


def _parsed(text: str) -> go.Body:
    return parse(text, functions={*FUNCTIONS, *(HOLE + name for name in "spq")}).body


def candidates(items: go.Body) -> Iterator[Idiom]:
    """Yield the idioms that may be the beginning of a body, those first that have others in them."""
    at = next((at for at, item in enumerate(items) if isinstance(item, go.Range | go.If)), None)
    if at is None or not _may_compute(items[at]):
        return
    loop, items = items[at], items[: at + _BEHIND]
    for part in _parts(items):
        for new in _replacements(items):
            yield from _replacements_of(part, new)
        yield from _searches(part)
    parts = tuple(_sought(loop))
    if len(parts) > 1:
        yield from _any_of(parts)
    yield from _on_lines(items)
    yield from _cuts("".join(dict.fromkeys(_compared(loop))))
    yield from _others()


_BEHIND = 4
"""Items of an idiom from its first loop or branch on, at most."""


_DEEPEST = 3
"""Branches around the first loop of an idiom, at most."""


def _may_compute(item: go.Item) -> bool:
    """Tell whether a loop or a branch may be the first of an idiom."""
    match item:
        case go.If(go.Pipeline((go.Command((go.Identifier("eq"), one, other)),))) if isinstance(
            one, go.Pipeline
        ) or isinstance(other, go.Number):
            return True
        case go.If(go.Pipeline((go.Command((go.Identifier("and"), go.Pipeline((one,)), *_)),))) if _is_order(
            one
        ):
            return True
        case _:
            return _has_scan((item,), _DEEPEST)


def _is_order(command: go.Command) -> bool:
    """Tell whether a command is the first comparison of an idiom for one letter."""
    match command:
        case go.Command((go.Identifier("ge"), go.Variable(), go.String())):
            return True
        case _:
            return False


def _has_scan(items: go.Body, depth: int) -> bool:
    """Tell whether there is a loop as often as a text has bytes, in a few branches."""
    for item in items:
        match item:
            case go.Range(go.Pipeline((go.Command((go.Identifier("len"), _)),))):
                return True
            case go.If() if depth and _has_scan(item.body, depth - 1):
                return True
    return False


@lru_cache(maxsize=256)
def _replacements_of(part: str, new: str) -> tuple[Idiom, ...]:
    return tuple(
        Idiom(strings.replace(part, new, is_likely=is_likely), (("d", "replaced"),), (part, new))
        for is_likely in (False, True)
    )


@lru_cache(maxsize=256)
def _searches(part: str) -> tuple[Idiom, ...]:
    both = (("d", "contains"), ("t", "from_first"))
    return (
        Idiom(strings.after_last(part), (("d", "after_last"),), (part,)),
        Idiom(strings.before(part), (("d", "before_first"),), (part,)),
        *(
            Idiom(search, results, (part,))
            for search in dict.fromkeys(
                (
                    strings.find(part),
                    strings.find(part, is_likely=True),
                    strings.find_next(part),
                    strings.find_by_byte(part),
                )
            )
            for results in (both, both[:1], both[1:])
        ),
    )


@lru_cache(maxsize=256)
def _any_of(parts: tuple[str, ...]) -> tuple[Idiom, ...]:
    return (
        Idiom(strings.from_any(parts), (("d", FROM_ANY),), parts),
        Idiom(strings.has_any(parts), (("d", HAS_ANY),), parts),
    )


@lru_cache(maxsize=256)
def _cuts(characters: str) -> tuple[Idiom, ...]:
    """Return what cuts characters off: white space, or those that something is compared with."""
    made: list[Idiom] = []
    sets: list[tuple[str, str | None, bool]] = [("_ascii_space", None, True), ("_space", None, False)]
    for kind, given, ascii_only in [*sets, *([("", characters, False)] if characters else [])]:
        left = strings.left_strip(given, ascii_only=ascii_only)
        right = strings.right_strip(given, ascii_only=ascii_only)
        both = f"{left}{{{{ $x = $d }}}}{right}".replace("$s", "$x")
        constants = () if given is None else (given,)
        made += (
            Idiom("{{ $x := $s }}" + both, (("d", f"strip{kind}"),), constants),
            Idiom(left, (("d", f"lstrip{kind}"),), constants),
            Idiom(right, (("d", f"rstrip{kind}"),), constants),
        )
    return tuple(made)


def _on_lines(items: go.Body) -> Iterator[Idiom]:
    """Yield what writes JSON on lines, if a body begins with a line break and some spaces."""
    match items[0]:
        case go.Action(go.Pipeline((go.Command((go.String(_, begin),)),))) if begin[:1] == "\n":
            steps = {
                one.value
                for name, arguments in _commands(items)
                for one in arguments[1:]
                if name == "print" and isinstance(one, go.String) and one.value and not one.value.strip(" ")
            }
            for step in sorted(steps, key=len, reverse=True):
                yield from _indented(begin, step)
        case _:
            pass


@lru_cache(maxsize=64)
def _indented(begin: str, step: str) -> tuple[Idiom, ...]:
    level = (len(begin) - 1) // len(step)
    return tuple(
        Idiom(
            defines.scan(len(step), level=level, is_plain=is_plain, may_be_arguments=may_be),
            (("d", name),),
            (begin, step),
        )
        for is_plain, name in ((True, "spaced_json"), (False, "python_json"))
        for may_be in (True, False)
    )


@lru_cache(maxsize=1)
def _others() -> tuple[Idiom, ...]:
    return (
        Idiom(strings.LENGTH.removesuffix("{{ $d := len $n }}"), (("n", "characters"),)),
        Idiom(strings.find_any(), (("d", "contains"),)),
        Idiom(strings.PARITY, (("d", "parity"),)),
        *(
            Idiom(cases.change_case(lower=name == "lower", is_ascii=is_ascii), (("d", name),))
            for name in ("lower", "upper")
            for is_ascii in (True, False)
        ),
        *(Idiom(cases.capital(is_ascii=is_ascii), (("d", "upper"),)) for is_ascii in (True, False)),
        *_written_json(may_be_arguments=True),
        *_written_json(may_be_arguments=False),
        Idiom(defines.STRING_VALUE, (("d", "python_json"),)),
        Idiom(defines.NUMBER_VALUE, (("d", "python_number"),)),
        Idiom(defines.scan_repr(is_plain=True), (("d", "spaced_repr"),)),
        Idiom(defines.scan_repr(is_plain=False), (("d", "python_repr"),)),
        Idiom(defines.STRING_REPR, (("d", "python_repr"),)),
    )


def _written_json(*, may_be_arguments: bool) -> Iterator[Idiom]:
    """Yield what writes JSON in one line."""
    for compact, is_plain, name in (
        (False, True, "spaced_json"),
        (False, False, "python_json"),
        (True, True, "compact_json"),
        (True, False, "python_compact_json"),
    ):
        scan = defines.scan(None, compact=compact, is_plain=is_plain, may_be_arguments=may_be_arguments)
        yield Idiom(scan, (("d", name),))


# --- constants ------------------------------------------------------------------------------------------


def _commands(node: object) -> Iterator[tuple[str, tuple[go.Operand, ...]]]:
    """Yield the calls in a tree: the name of the function and the arguments."""
    for part in parts_of(node):
        match part:
            case go.Command((go.Identifier(name), *arguments)):
                yield name, tuple(arguments)
            case _:
                pass


def _compared(loop: go.Item) -> Iterator[str]:
    """Yield the single characters that something is compared with."""
    for name, (_, *others) in ((name, found) for name, found in _commands(loop) if found):
        if name in ("eq", "ne"):
            yield from (one.value for one in others if isinstance(one, go.String) and len(one.value) == 1)


def _parts(items: go.Body) -> list[str]:
    """Return the constants that something is compared with which is as long."""
    found: dict[str, None] = {}
    for name, arguments in _commands(items):
        match name, arguments:
            case "eq", (
                go.Pipeline(
                    (go.Command((go.Identifier("slice"), go.Pipeline(), go.Number(), go.Number(_, size))),)
                ),
                go.String(_, part),
            ) if len(part.encode(errors="surrogateescape")) == size:
                found[part] = None
            case _:
                pass
    return list(found)


def _sought(loop: go.Item) -> list[str]:
    """Return the constants that one text is compared with at once, in the order in which they were meant.

    That is the order in which the pieces of them stand that were not there before.
    """
    found: dict[str, None] = {}
    pieces: list[bytes] = []
    for name, arguments in _commands(loop):
        match name, arguments:
            case "eq", (
                go.Pipeline(
                    (go.Command((go.Identifier("slice"), subject, go.Number(), go.Number(_, size))),)
                ),
                *others,
            ) if isinstance(others[0], go.String):
                words = [one.value for one in others if isinstance(one, go.String)]
                encoded = [word.encode(errors="surrogateescape") for word in words]
                if isinstance(subject, go.Pipeline) and all(len(word) == size for word in encoded):
                    found.update(dict.fromkeys(words))
                elif not pieces:
                    pieces = encoded
            case _:
                pass

    wholes = {part: part.encode(errors="surrogateescape") for part in found}
    width = len(pieces[0]) if pieces else 0
    looked_at = min(map(len, wholes.values()), default=0) - width + 1

    def last_piece(part: str) -> int:
        own = (wholes[part][at : at + width] for at in range(looked_at))
        return max((pieces.index(piece) for piece in own if piece in pieces), default=-1)

    return sorted(found, key=last_piece)


def _replacements(items: go.Body) -> list[str]:
    """Return the constants that are printed behind two other things."""
    found: dict[str, None] = {}
    for name, arguments in _commands(items):
        match name, arguments:
            case "print", (_, _, go.String(_, text)):
                found[text] = None
            case _:
                pass
    return list(found)
