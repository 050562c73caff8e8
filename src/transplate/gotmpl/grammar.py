"""The LALR tables of ``gotmpl.lark``: built by Lark, kept as JSON beside the grammar that they belong to.

Importing Lark and building the tables takes longer than all the rest of a short run, so the wheel holds them
ready made. Where they are missing, or were built from another text than the grammar has now, they are built
in memory. This module needs nothing of the package, so that the build of the wheel can run it alone.
"""

from __future__ import annotations

import json
import os.path  # pathlib is slow to import, and this runs whenever a template is read
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from os import PathLike

GRAMMAR = "gotmpl.lark"
TABLES = "gotmpl.tables.json"
START = "file"


class Tables(NamedTuple):
    """An LALR automaton.

    Attributes:
        rules: Each rule's name and the symbols that it is made of.
        states: For each state its actions by symbol: a state to go to, or ``~rule`` to reduce by; where one
            rule is all that a state can do, that rule's number, so that it is reduced without looking ahead.
        start: The state to start in.
        end: The state in which the end of the input is accepted.
    """

    rules: list[tuple[str, list[str]]]
    states: list[dict[str, int] | int]
    start: int
    end: int


def grammar_folder() -> str:
    """Return the folder of the grammar files: in the wheel, or at the top of a source tree."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    source_tree = os.path.dirname(os.path.dirname(package))
    for folder in (os.path.join(package, "grammar"), os.path.join(source_tree, "grammar")):
        if os.path.isfile(os.path.join(folder, GRAMMAR)):
            return folder
    raise FileNotFoundError(f"{GRAMMAR} is neither in {package} nor in a source tree around it")


def load_tables() -> Tables:
    """Return the tables of the grammar, ready made if they belong to its present text."""
    folder = grammar_folder()
    grammar = _read(os.path.join(folder, GRAMMAR))
    try:
        kept = json.loads(_read(os.path.join(folder, TABLES)))
    except (FileNotFoundError, ValueError):
        return build_tables(grammar)
    if kept.pop("grammar", None) != grammar:
        return build_tables(grammar)
    return Tables(**kept)


def write_tables(grammar: str | PathLike[str], target: str | PathLike[str]) -> None:
    """Write the tables of a grammar file, with the text that they were built from."""
    text = _read(grammar)
    tables = {"grammar": text, **build_tables(text)._asdict()}
    with open(target, "w", encoding="utf-8", newline="\n") as file:
        json.dump(tables, file, separators=(",", ":"))


def build_tables(grammar: str) -> Tables:
    """Let Lark build the tables of a grammar.

    Raises:
        lark.exceptions.GrammarError: The grammar has a mistake or a conflict.
    """
    from lark import Lark
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    lark = Lark(grammar, parser="lalr", lexer="basic", start=START, maybe_placeholders=False)
    data, memo = lark.memo_serialize([TerminalDef, Rule])
    automaton = data["parser"]["parser"]
    symbols: dict[int, str] = automaton["tokens"]
    made = {
        number: (entry["origin"]["name"], [symbol["name"] for symbol in entry["expansion"]])
        for number, entry in memo.items()
        if entry["__type__"] == "Rule"
    }
    rules = sorted(made.values())
    # Lark numbers its states at random; here they are numbered in the order in which they can be reached.
    reached = [automaton["start_states"][START]]
    order = {reached[0]: 0}
    states: list[dict[str, int] | int] = []
    for state in reached:  # which grows meanwhile
        row: dict[str, int] = {}
        for symbol in sorted(automaton["states"][state], key=symbols.__getitem__):
            is_reduction, argument = automaton["states"][state][symbol]
            if is_reduction:
                row[symbols[symbol]] = ~rules.index(made[argument["@"]])
                continue
            if argument not in order:
                order[argument] = len(order)
                reached.append(argument)
            row[symbols[symbol]] = order[argument]
        only = set(row.values())
        states.append(~only.pop() if len(only) == 1 and min(only) < 0 else row)
    return Tables(rules, states, 0, order[automaton["end_states"][START]])


def _read(path: str | PathLike[str]) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()
