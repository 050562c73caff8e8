"""Makes templates of what is computed only to be printed: they are there once for all places.

An encoding whose result is printed where it is computed, or handed to a template, and used for nothing else,
becomes a call of a template; two in a row, of which the second takes the result of the first, become one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from transplate.convert.jinja_to_go import build, defines
from transplate.convert.jinja_to_go.layout import Encoding, encoding_of
from transplate.convert.jinja_to_go.trees import bodies_of, items_within, reads_of, with_bodies
from transplate.convert.jinja_to_go.unread import without_unread
from transplate.gotmpl.nodes import Action, Body, Define, Item, Operand, TemplateCall, Text, Variable
from transplate.gotmpl.parser import parse
from transplate.gotmpl.quoting import quote
from transplate.ollama.functions import FUNCTIONS

Key: TypeAlias = tuple[str, ...]
"""The texts of the encodings that a template is made of, and the template that the result is handed to."""


_NAMES = {
    "cut at the start": "lstrip",
    "cut at the end": "rstrip",
    "in capital letters": "upper",
    "in small letters": "lower",
    "as Python prints it": "repr",
    "as Python prints a number": "number",
    "as Python quotes it": "quote",
    "JSON as Python writes it": "json",
}
"""What the templates are called, after Python's words for what they do."""


@dataclass(frozen=True)
class _Unit:
    """An encoding of which only what it prints is needed.

    Attributes:
        begin: Where its statements begin.
        end: Where they end.
        printed: Where its result is printed.
        key: The texts of what computes it.
        name: What to call a template of them.
        source: What they take.
    """

    begin: int
    end: int
    printed: int
    key: Key
    name: str
    source: Operand


class _Uses:
    """Who reads the variables of encodings."""

    def __init__(self, bodies: Sequence[Body], encodings: Mapping[str, Encoding]) -> None:
        self._encodings = encodings
        self._readers: dict[int, list[int | None]] = {}
        for body in bodies:
            self._note(body)

    def readers(self, encoding: Encoding) -> list[int | None]:
        """Return for each place where a variable is read the number of the encoding there, None for none."""
        return self._readers.get(encoding.number, [])

    def _note(self, body: Body) -> None:
        for item in body:
            found = encoding_of(item, self._encodings)
            for one in (item,) if found is None else items_within((item,)):
                for name in reads_of(one):
                    read = self._encodings.get(name)
                    if read is not None and read is not found:
                        number = None if found is None else found.number
                        self._readers.setdefault(read.number, []).append(number)
            for inner in bodies_of(item) if found is None else ():
                self._note(inner)


def shared(
    bodies: Sequence[Body], encodings: Mapping[str, Encoding], taken: Collection[str], *, is_plain: bool
) -> tuple[list[Body], list[Define]]:
    """Return bodies that call templates for what they only print.

    Args:
        bodies: The trees of a template and of its macros.
        encodings: The variables of encodings.
        taken: The names of the templates that there are.
        is_plain: Whether JSON may be taken to be plain.

    Returns:
        The bodies, and the definitions that they need besides.
    """
    uses = _Uses(bodies, encodings)
    known = _known(is_plain=is_plain)
    counts: Counter[Key] = Counter()
    called: dict[Key, str] = {}
    for body in bodies:
        for unit in _all_units(body, encodings, uses):
            counts[unit.key] += 1
            called[unit.key] = unit.name
    names: dict[Key, str] = {}
    for key, count in counts.items():
        if key in known:
            names[key] = known[key]
        elif count > 1:
            used = {*taken, *names.values()}
            others = (f"{called[key]} {number}" for number in range(2, len(used) + 3))
            names[key] = next(name for name in (called[key], *others) if name not in used)
    made = [_called(body, encodings, uses, names) for body in bodies]
    return made, [_definition(name, key) for key, name in names.items() if key not in known]


def _known(*, is_plain: bool) -> dict[Key, str]:
    """Return what is a template already, by what computes it."""
    return {
        (defines.scan(None, is_plain=is_plain), ""): "json",
        (defines.scan_repr(is_plain=is_plain), ""): "repr",
        (defines.NUMBER_VALUE, ""): "number",
        (defines.STRING_VALUE, ""): "json" if is_plain else "json string",
    }


def _all_units(body: Body, encodings: Mapping[str, Encoding], uses: _Uses) -> list[_Unit]:
    found = _units(body, encodings, uses)

    def note(inner: Body) -> Body:
        found.extend(_all_units(inner, encodings, uses))
        return inner

    for item in body:
        if encoding_of(item, encodings) is None:
            with_bodies(item, note)
    return found


def _units(body: Body, encodings: Mapping[str, Encoding], uses: _Uses) -> list[_Unit]:
    """Return the encodings of a body, not of what is inside, of which only what they print is needed."""
    found: list[_Unit] = []
    before: tuple[int, int, Encoding] | None = None
    index = 0
    while index < len(body):
        encoding = encoding_of(body[index], encodings)
        end = index + 1
        if encoding is None:
            index, before = end, None
            continue
        while end < len(body) and encoding_of(body[end], encodings) is encoding:
            end += 1
        unit = _unit(body, uses, (index, end, encoding), before)
        if unit is not None:
            found.append(unit)
        before = (index, end, encoding)
        index = end
    return found


def _unit(
    body: Body,
    uses: _Uses,
    here: tuple[int, int, Encoding],
    before: tuple[int, int, Encoding] | None,
) -> _Unit | None:
    begin, end, encoding = here
    if encoding.source is None or not encoding.said or uses.readers(encoding) != [None]:
        return None
    result = Variable(encoding.result)
    printed = next((at for at in range(end, len(body)) if _uses(body[at], result)), None)
    if printed is None:
        return None
    texts: tuple[str, ...] = (encoding.text,)
    names, source = [_NAMES.get(encoding.said, encoding.said)], encoding.source
    last = body[printed]
    if before is not None and before[2].source is not None and before[2].said:
        first = before[2]
        readers = uses.readers(first)
        if source == Variable(first.result) and set(readers) == {encoding.number}:
            assert first.source is not None  # noqa: S101
            begin, texts, source = before[0], (first.text, encoding.text), first.source
            names = [_NAMES.get(first.said, first.said), *names]
    then = last.name.value if isinstance(last, TemplateCall) else ""
    names = ["trim"] if names == ["lstrip", "rstrip"] else names
    key, name = (*texts, then), " ".join([*names, then] if then else names)
    if not all(map(_is_harmless, body[end:printed])):
        return None
    return _Unit(begin, end, printed, key, name, source)


def _uses(item: Item, result: Variable) -> bool:
    """Tell whether an item prints a result or hands it to a template, and does nothing else."""
    handed = (build.pipeline(result), build.call("print", result))
    return item == build.action(result) or (isinstance(item, TemplateCall) and item.pipeline in handed)


def _is_harmless(item: Item) -> bool:
    """Tell whether what stands between the computing of a result and its printing may be in front of both."""
    return isinstance(item, Text) or (isinstance(item, Action) and not item.pipeline.declarations)


def _called(body: Body, encodings: Mapping[str, Encoding], uses: _Uses, names: Mapping[Key, str]) -> Body:
    units = [unit for unit in _units(body, encodings, uses) if unit.key in names]
    left_out = {index for unit in units for index in range(unit.begin, unit.end)}
    calls = {
        unit.printed: TemplateCall(build.string(names[unit.key]), build.pipeline(unit.source))
        for unit in units
    }
    made: list[Item] = []
    for index, item in enumerate(body):
        if index in calls:
            made.append(calls[index])
        elif encoding_of(item, encodings) is not None:
            if index not in left_out:
                made.append(item)
        else:
            made.append(with_bodies(item, lambda inner: _called(inner, encodings, uses, names)))
    return tuple(made)


def _definition(name: str, key: Key) -> Define:
    *texts, then = key
    end = f"{{{{ template {quote(then)} $d }}}}" if then else "{{ $d }}"
    text = "{{ $s := . }}" + "{{ $s = $d }}".join(texts) + end
    return Define(build.string(name), without_unread(parse(text, functions=FUNCTIONS).body))
