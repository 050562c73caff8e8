"""The conditions of chat templates as formulas, and what holds of every chat that a template is given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from transplate.jinja import nodes
from transplate.jinja.coverage import Arm
from transplate.jinja.writer import write_expression
from transplate.parity.formulas import FALSE, TRUE, Formula

_STATEMENT = re.compile(r"\{%[-+]?\s*(?:set\s+(\w+)|for\s+([\w, ]+?)\s+in\b|(endfor)\b)")
_MESSAGES = re.compile(r"\{%-?\s*for\s+(\w+)\s+in\s+(?:loop_)?messages\b")
_NAME = re.compile(r"(?<![\w.'\"])[A-Za-z_]\w*")
_GIVEN = (
    *("messages", "messages is defined", "messages is iterable", "messages[0]", "messages[0] is defined"),
    *("messages[::-1]", "messages|reverse"),
)
_DEFINED = ("tools", "documents", "add_generation_prompt", "strftime_now", "raise_exception", "namespace")
_NO_TOOLS: Formula = (
    *("and", ("not", ("atom", "tools")), ("atom", "tools is none")),
    ("not", ("atom", "tools is iterable")),
)
_PLACE = re.compile(r" at \d+")
_LENGTH_ABOVE_0 = {(">", 0), (">=", 1), ("!=", 0)}


class JinjaConditions:
    """The conditions of a chat template.

    Args:
        source: The template.
        arms: Its arms.
    """

    def __init__(self, source: str, arms: Sequence[Arm]) -> None:
        self._arms = arms
        self._sets: dict[str, list[int]] = {}
        self._loops: list[tuple[int, int, frozenset[str]]] = []
        open_loops: list[tuple[int, frozenset[str]]] = []
        for found in _STATEMENT.finditer(source):
            if found[1]:
                self._sets.setdefault(found[1], []).append(found.start())
            elif found[2]:
                names = {name.strip() for name in found[2].split(",")} | {"loop"}
                open_loops.append((source.find("%}", found.end()), frozenset(names)))
            elif open_loops:
                start, targets = open_loops.pop()
                self._loops.append((start, found.start(), targets))
        self._messages = set(_MESSAGES.findall(source))

    def holding(self, chain: Sequence[int]) -> list[Formula]:
        """Return what holds where an arm and those around it are taken.

        Args:
            chain: The numbers of the arm and of those around it.
        """
        arms = [self._arms[number] for number in chain]
        places: dict[str, list[int]] = {}
        for arm in arms:
            for name in _NAME.findall(arm.text):
                places.setdefault(name, []).append(arm.offset)
        volatile = {
            name for name, offsets in places.items() if self._varies(name, min(offsets), max(offsets))
        }
        found = []
        for arm in arms:
            if arm.expression is not None:
                formula = self._formula(arm.expression, volatile)
                found.append(formula if arm.outcome else ("not", formula))
        return found

    def _varies(self, name: str, first: int, last: int) -> bool:
        """Return whether a name may have another value at a place than at an earlier one around it."""
        inner = [loop for loop in self._loops if first < loop[0] <= last < loop[1]]
        if any(name in targets for _, _, targets in inner):
            return True
        return any(
            first < place < last or any(start < place < end for start, end, _ in inner)
            for place in self._sets.get(name, ())
        )

    def axioms(self, formulas: Sequence[Formula]) -> Iterator[tuple[str, Formula]]:
        """Yield what holds of every chat and bears on formulas, each with the words that say so."""
        atoms = _atoms(formulas)
        for text in atoms:
            if text in _GIVEN:
                yield "a chat has messages", ("atom", text)
            name, _, test = _PLACE.sub("", text).partition(" is ")
            if test == "defined" and name in _DEFINED:
                yield f"a chat template is always given {name}", ("atom", text)
            holder, _, field = name.partition(".")
            if holder in self._messages or holder.startswith("messages["):
                yield from self._of_field(text, field, test)
        if any(text.startswith("tools") for text in atoms):
            some: Formula = ("atom", "tools")
            kinds = (
                "or",
                ("not", some),
                ("and", ("atom", "tools is iterable"), ("atom", "tools is defined")),
            )
            none = ("or", ("and", some, ("not", ("atom", "tools is none"))), _NO_TOOLS)
            yield "tools are a list of some or none", ("and", kinds, none)

    def _of_field(self, text: str, field: str, test: str) -> Iterator[tuple[str, Formula]]:
        """Yield what holds of a field of every message."""
        if test == "none":
            yield "fields that are null are left out", ("not", ("atom", text))
        if field == "role" and test in ("defined", "string"):
            yield "a message has a role", ("atom", text)
        if field == "content" and test == "iterable":
            yield "content is a text, a list or missing", ("atom", text)
        if field == "content" and test == "mapping":
            yield "content is a text, a list or missing", ("not", ("atom", text))
        if field == "tool_calls":
            holder = text.partition(".tool_calls")[0]
            calls = ("atom", f"{holder}.tool_calls")
            there = [f"{holder}.tool_calls is defined", f"'tool_calls' in {holder}"]
            for atom in there:
                yield "a message has calls or no field for them", ("or", ("not", ("atom", atom)), calls)
            for kind in ("iterable", "sequence", "defined"):
                atom = f"{holder}.tool_calls is {kind}"
                yield "calls are a list", ("or", ("not", calls), ("atom", atom))

    def _formula(self, node: nodes.Expression, volatile: set[str]) -> Formula:
        match node:
            case nodes.Literal(value):
                return TRUE if value else FALSE
            case nodes.Not(value):
                return ("not", self._formula(value, volatile))
            case nodes.And(operands):
                return ("and", *(self._formula(operand, volatile) for operand in operands))
            case nodes.Or(operands):
                return ("or", *(self._formula(operand, volatile) for operand in operands))
            case nodes.Test(value, name, negated, ()):
                name, negated = ("defined", not negated) if name == "undefined" else (name, negated)
                atom: Formula = ("atom", f"{self._text(value, volatile)} is {name}")
                return ("not", atom) if negated else atom
            case nodes.Binary("==" | "!=", left, nodes.Literal(str() as text)):
                equal: Formula = ("is", self._text(left, volatile), text)
                return equal if node.operator == "==" else ("not", equal)
            case nodes.Binary(operator, nodes.Filter(value, "length" | "count"), nodes.Literal(number)):
                if (operator, number) in _LENGTH_ABOVE_0:
                    return ("atom", self._text(value, volatile))
                if (operator, number) == ("==", 0):
                    return ("not", ("atom", self._text(value, volatile)))
            case nodes.Filter(value, "length" | "count"):
                return ("atom", self._text(value, volatile))
            case _:
                pass
        return ("atom", self._text(node, volatile))

    def _text(self, node: nodes.Expression, volatile: set[str]) -> str:
        """Return what names a value: its text, and which place it stands at if it varies."""
        text = re.sub(r"\['(\w+)'\]", r".\1", write_expression(node))
        return f"{text} at {id(node)}" if volatile & set(_NAME.findall(text)) else text


def _atoms(formulas: Sequence[Formula]) -> set[str]:
    found: set[str] = set()
    waiting = list(formulas)
    while waiting:
        kind, *parts = waiting.pop()
        if kind in ("atom", "is"):
            found.add(parts[0])
        else:
            waiting += parts
    return found
