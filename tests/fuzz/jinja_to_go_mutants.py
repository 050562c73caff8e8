"""Changes literals in converted templates, to see that the check notices.

``python -m tests.fuzz.jinja_to_go_mutants`` converts the chat templates, changes in each one literal (a piece
of text, or a string in an action) and compares as ever. A change that is not noticed is looked into. The
first value of a variable that gets another before it is read has no effect, which the tree shows. What fails,
put in the place of the literal, shows whether a request reaches it at all; requests with it in their texts
are compared as well, and with what stands next to it, in the order of characters or in the template. A
template that has a date is compared on days in all months. Where it stands in a condition that some requests
meet and others do not, and all print the same with the condition taken as never met, or as always met, the
condition is a shortcut: both ways print the same, so that no change of it can be noticed.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any

from tests.fuzz.jinja_to_go import STYLES, Reference, compared
from tests.fuzz.jinja_to_go_corpus import TOKENS, add_choice, chosen
from tests.fuzz.jinja_to_go_judge import Judge, OwnJudge, RealJudge
from tests.fuzz.jinja_to_go_requests import NOW, Generator, Request
from transplate.convert import to_go
from transplate.errors import TransplateError
from transplate.gotmpl.nodes import (
    Action,
    Break,
    Continue,
    Define,
    Else,
    Identifier,
    If,
    Pipeline,
    Range,
    String,
    TemplateCall,
    Text,
    Variable,
)
from transplate.gotmpl.parser import parse
from transplate.gotmpl.quoting import quote
from transplate.ollama.functions import FUNCTIONS

_FAILS = {True: '{{ index "" 1 }}', False: '(index "" 1)'}
"""What fails where it is reached, in the place of a text and of a string."""
_CHANGE = "~"
_DECIDING = {"eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"}
_LONG = 500
"""How much is put in the place of an empty literal: more than padding takes up."""
_AIMED = 400
"""How many requests are aimed at a literal, about."""
_DAYS = [datetime(2023 + month % 4, month, 1 + 5 * month % 28, 9, 26, 53) for month in range(1, 13)]
"""Days in all months, leap years and others, on all days of the week."""
_NEAR = 300
"""How far from a literal other words of the template are that what it decides may depend on."""
_NUMBERS = [
    -0.0,
    0,
    -5,
    -0.5,
    1e-7,
    0.000015,
    0.00001,
    1.5e-8,
    2.5e-12,
    0.0000015,
    1e21,
    1e16,
    123456789012345680,
    0.1,
    10.00001,
    100000000,
]
_STRINGS = ["", "it's", 'say "x"', "'\"", "\\n", "\b\f\v\t\r\n\0\x7f\x85\u00ad\u2028<>&\u00e9\ufeff😀"]
VERDICTS = {
    "noticed": "a request comes out otherwise",
    "noticed when aimed at": "one does that has the literal in its texts",
    "noticed on other days": "one does on another day",
    "noticed when longer": "nothing depends on its letters, but on how many they are",
    "not reached": "no request reaches the literal",
    "overwritten": "the variable gets another value before it is read",
    "shortcut": "the condition that it is in chooses between ways that print the same",
    "reached": "requests reach it, and nothing else is printed",
}


@dataclass(frozen=True)
class Literal:
    """A literal of a Go template.

    Attributes:
        start: Its offset.
        end: The offset behind it.
        value: What it stands for.
        is_text: Whether it is text outside of actions.
        condition: Where the condition begins and ends that it is in, of an if or kept in a variable.
        is_overwritten: Whether it is what a variable holds until it gets something else, unread.
    """

    start: int
    end: int
    value: str
    is_text: bool
    condition: tuple[int, int] | None = None
    is_overwritten: bool = False

    def replaced(self, source: str, by: str) -> str:
        """Return the template with something else in the place of this literal."""
        return source[: self.start] + by + source[self.end :]


def literals(source: str) -> list[Literal]:
    """Return the literals of a Go template that something may depend on."""
    found: list[Literal] = []
    pending: list[tuple[object, tuple[int, int] | None, bool]] = [
        (parse(source, functions=FUNCTIONS).body, None, False)
    ]
    while pending:
        node, condition, is_overwritten = pending.pop()
        if isinstance(node, tuple):
            overwritten = _overwritten(node)
            pending += [(one, condition, one in overwritten) for one in node]
        elif isinstance(node, Text):
            start = source.find(node.value, node.span.start, node.span.end) if node.value else -1
            if start >= 0:
                found.append(Literal(start, start + len(node.value), node.value, is_text=True))
        elif isinstance(node, String):
            start, end = node.span.start, node.span.end
            found.append(Literal(start, end, node.value, False, condition, is_overwritten))
        elif isinstance(node, TemplateCall):
            pending.append((node.pipeline, None, False))
        elif isinstance(node, Define):
            pending.append((node.body, None, False))
        elif isinstance(node, If) and not node.pipeline.declarations:
            span = node.pipeline.span
            pending += [(node.pipeline, (span.start, span.end), False), (node.body, None, False)]
            pending.append((node.orelse, None, False))
        elif isinstance(node, Action) and is_overwritten:
            (command,) = node.pipeline.commands
            pending += [(operand, None, True) for operand in command.operands]
        elif isinstance(node, Action) and node.pipeline.declarations and _decides(node.pipeline):
            span = node.pipeline.commands[0].span
            pending.append((node.pipeline.commands, (span.start, span.end), False))
        elif hasattr(node, "__slots__"):
            names = [name for name in node.__slots__ if name not in ("span", "clause")]
            pending += [(getattr(node, name), condition, False) for name in names]
    return sorted(found, key=lambda literal: literal.start)


def _decides(pipeline: Pipeline) -> bool:
    """Tell whether a pipeline is one call of a function that compares or puts conditions together."""
    operands = pipeline.commands[0].operands
    return (
        len(pipeline.commands) == 1 and isinstance(operands[0], Identifier) and operands[0].name in _DECIDING
    )


def _overwritten(items: tuple[object, ...]) -> list[object]:
    """Return the declarations among items of variables that always get another value before they are read."""
    found: list[object] = []
    for at, item in enumerate(items):
        if isinstance(item, Action) and len(item.pipeline.declarations) == 1:
            commands = item.pipeline.commands
            is_literal = len(commands) == 1 and [type(one) for one in commands[0].operands] == [String]
            if is_literal and _gets_another(items[at + 1 :], item.pipeline.declarations[0].name):
                found.append(item)
    return found


def _gets_another(items: tuple[object, ...], name: str) -> bool:
    """Tell whether a variable is given a value before anything else is done with it."""
    for item in items:
        if isinstance(item, Action) and [one.name for one in item.pipeline.declarations] == [name]:
            return item.pipeline.is_assignment and not _names(item.pipeline.commands, name)
        if not _names(item, name):
            continue
        if not isinstance(item, If) or _names(item.pipeline, name):
            return False
        orelse = item.orelse.body if isinstance(item.orelse, Else) else (item.orelse,)
        return _gets_another(item.body, name) and _gets_another(orelse, name)
    return False


def _names(node: object, name: str) -> bool:
    """Tell whether a variable occurs in a tree, or what leaves a loop that is not in it."""
    pending = [(node, False)]
    while pending:
        one, in_loop = pending.pop()
        if isinstance(one, Variable) and one.name == name:
            return True
        if isinstance(one, Break | Continue) and not in_loop:
            return True
        if isinstance(one, tuple):
            pending += [(part, in_loop) for part in one]
        elif isinstance(one, Range):
            pending += [(one.pipeline, in_loop), (one.body, True), (one.orelse, in_loop)]
        elif hasattr(one, "__slots__"):
            names = [slot for slot in one.__slots__ if slot not in ("span", "clause")]
            pending += [(getattr(one, slot), in_loop) for slot in names]
    return False


def mutant(source: str, literal: Literal, rng: Random) -> str:
    """Return a template with one character of a literal changed, or many put into an empty one."""
    at = rng.randrange(len(literal.value)) if literal.value else 0
    change = _CHANGE if literal.value else _CHANGE * _LONG
    changed = literal.value[:at] + change + literal.value[at + 1 :]
    return literal.replaced(source, changed if literal.is_text else quote(changed))


def verdict(reference: Reference, text: str, literal: Literal, rng: Random) -> str:
    """Return whether the check notices a change of a literal: one of the keys of :data:`VERDICTS`."""
    changed = mutant(text, literal, rng)
    plain = _verdicts(reference, text)
    if _verdicts(reference, changed) != plain:
        return "noticed"
    if literal.is_overwritten:
        return "overwritten"
    failing = literal.replaced(text, _FAILS[literal.is_text])
    aimed = reference.with_requests(_aimed(reference, text, literal, rng))
    aimed_at = _verdicts(aimed, text)
    if _verdicts(aimed, changed) != aimed_at:
        return "noticed when aimed at"
    if "currentDate" in text and is_noticed_on_other_days(reference, text, changed):
        return "noticed on other days"
    longer = literal.value + _CHANGE * 2
    lengthened = literal.replaced(text, longer if literal.is_text else quote(longer))
    if any(_verdicts(one, lengthened) != _verdicts(one, text) for one in (reference, aimed)):
        return "noticed when longer"
    if _verdicts(reference, failing) == plain and _verdicts(aimed, failing) == aimed_at:
        return "not reached"
    return "shortcut" if is_shortcut(reference, aimed, text, literal) else "reached"


def is_noticed_on_other_days(reference: Reference, text: str, changed: str) -> bool:
    """Tell whether a changed template prints another prompt than it did on any of some days."""
    judge = reference.judge
    printed = [at for at, wanted in enumerate(reference.wanted) if wanted.text is not None][:4]
    requests = [reference.requests[at] for at in printed]
    try:
        for day in _DAYS:
            judge.now = day
            other = reference.with_requests(requests)
            if _verdicts(other, changed) != _verdicts(other, text):
                return True
    finally:
        judge.now = NOW
    return False


def is_shortcut(reference: Reference, aimed: Reference, text: str, literal: Literal) -> bool:
    """Tell whether both ways of a condition are taken, and one of them can be taken by all requests."""
    if literal.condition is None:
        return False
    start, end = literal.condition
    condition = text[start:end]

    def is_same(other: str) -> bool:
        changed = text[:start] + other + text[end:]
        return all(_texts(one, changed) == _texts(one, text) for one in (reference, aimed))

    fails = _FAILS[False]
    is_met = not is_same(f"and ({condition}) {fails}")
    is_missed = not is_same(f"or ({condition}) {fails}")
    return is_met and is_missed and (is_same("false") or is_same("true"))


def _aimed(reference: Reference, text: str, literal: Literal, rng: Random) -> list[Request]:
    """Return requests with a literal in their texts: at the ends, in between, around and inside of words."""
    near = _near(text, literal)
    values = [literal.value] * 3 + _neighbours(literal.value)
    generator = Generator(reference.source, rng)
    marks = [word for word in generator.words if len(word) > 2 and not word.isalpha()]
    around = [word for word in generator.words if literal.value and literal.value in word]
    made: list[Request] = []
    for number in range(max(1, _AIMED // len(reference.requests)) * len(reference.requests)):
        case = copy.deepcopy(reference.requests[number % len(reference.requests)].case)
        dropped = rng.choice((None, None, None, "user", "system", "tool"))
        case["messages"] = [one for one in case["messages"] if one["role"] != dropped] or case["messages"]
        if rng.random() < 0.1:
            case["messages"] = [rng.choice(case["messages"])]
        if rng.random() < 0.2:
            role = rng.choice(values) or "user"
            rng.choice(case["messages"])["role"] = rng.choice((role, *generator.names))
        both = sorted(rng.sample(range(len(near)), 2)) if len(near) > 1 and rng.random() < 0.5 else ()
        for message in case["messages"]:
            if message["role"] == "assistant" and rng.random() < 0.5:
                message.setdefault("thinking", "Hm.")
            for key in {"content", "thinking"} & message.keys():
                if both and rng.random() < 0.5:
                    message[key] = message[key].join(near[at] for at in both)
                    continue
                one = rng.choice(values)
                message[key] = _text_with(one, message[key], marks, around, number, rng)
            for called in message.get("tool_calls", ()):
                called["id"] = rng.choice((called.get("id"), "abcdefgh1"))  # some want nine characters
                called["function"]["arguments"] = rng.choice(
                    (
                        None,
                        {},
                        {"a": _values(literal.value, rng)},
                        {"a": _values(literal.value, rng)},
                        {"a": literal.value},
                        called["function"].get("arguments"),
                    )
                )
        for tool in case.get("tools", ()):
            if near and rng.random() < 0.2:
                tool["type"] = rng.choice(near)
            parameters = tool["function"].get("parameters", {})
            if isinstance(parameters.get("properties"), dict) and rng.random() < 0.5:
                schema: dict[str, Any] = {"type": "number", "enum": _values(literal.value, rng)}
                if rng.random() < 0.5:
                    schema = {"type": "array", "items": {"type": "string", "enum": None, "a": None}}
                parameters["properties"]["a"] = {**schema, "description": literal.value}
        made.append(Request(case, ordinary=False))
    return made


def _near(text: str, literal: Literal) -> list[str]:
    """Return the words that stand near a literal in a template."""
    begin, end = literal.start - _NEAR, literal.end + _NEAR
    found = [one.value for one in literals(text) if begin <= one.start < end and one != literal]
    return [word for word in dict.fromkeys(found) if len(word) > 2 and "%" not in word and len(word) < 80]


def _neighbours(value: str) -> list[str]:
    """Return the characters before and behind one, and that with its case changed."""
    if len(value) != 1 or not "\x01" < value < "\ud000":
        return []
    return [chr(ord(value) - 1), chr(ord(value) + 1), value.swapcase()]


def _values(value: str, rng: Random) -> list[Any]:
    """Return values that are printed as JSON; of one kind, since the default form takes some for granted."""
    numbers = rng.sample(_NUMBERS, len(_NUMBERS))
    return rng.choice((numbers, numbers, rng.sample(_STRINGS, 2), ["<a> & 'b'"], [None, True, 1, value]))


def _text_with(
    value: str, text: str, marks: Sequence[str], around: Sequence[str], number: int, rng: Random
) -> str:
    """Return a text with a literal in it."""
    kind = rng.random()
    if around and kind < 0.5:  # wherever a block that is searched ends
        before = rng.choice(("", *marks))
        return before + "x" * (number % 80) + rng.choice(around) + rng.choice(("", " y", text))
    if marks and kind < 0.8:
        mark = rng.choice(marks)
        inside = text if mark in text else f"{text}{mark}{text}"
        return value + inside.replace(mark, f"{value}{mark}{value}") + value + rng.choice(("", " a < b"))
    space = rng.choice(("\n", "\n\n", " ", " \n"))
    return rng.choice(
        (value + text, text + value, value, text, text + value + text, space + text + space, space)
    )


def _texts(reference: Reference, text: str) -> list[str | None]:
    found = reference.judge.found(text, [request.case for request in reference.requests])
    return [one.text for one in found]


def _verdicts(reference: Reference, text: str) -> list[str]:
    found = reference.judge.found(text, [request.case for request in reference.requests])
    return [compared(wanted, one)[0] for wanted, one in zip(reference.wanted, found, strict=True)]


def controls(
    templates: Sequence[tuple[str, str]], judge: Judge, *, seed: int, mutants: int = 1
) -> Iterator[tuple[str, str, str, Literal]]:
    """Yield for each mutant the template's name, the style, the verdict and the literal."""
    for name, source in templates:
        rng = Random(f"{name} {seed}")
        try:
            reference = Reference(name, source, judge, seed=seed, count=60)
        except TransplateError:
            continue
        for style, exact in STYLES.items():
            try:
                text = to_go(source, special_tokens=TOKENS, exact=exact, ollama=judge.ollama).text
            except TransplateError:
                continue
            some = literals(text)
            for literal in rng.sample(some, min(mutants, len(some))):
                yield name, style, verdict(reference, text, literal, rng), literal


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    add_choice(parser)
    parser.add_argument("--mutants", type=int, default=1, help="mutants of each converted template")
    parser.add_argument("--own", action="store_true", help="let our own engines render, not the real ones")
    arguments = parser.parse_args()
    judge: Judge = OwnJudge() if arguments.own else RealJudge()
    counts: Counter[tuple[str, str]] = Counter()
    templates = chosen(arguments.corpus, part=arguments.part, only=arguments.only)
    for name, style, found, literal in controls(
        templates, judge, seed=arguments.seed, mutants=arguments.mutants
    ):
        counts[style, found] += 1
        if found == "reached":
            print(f"{name} ({style}): {literal.value[:60]!r} at {literal.start}: {VERDICTS[found]}")
    judge.close()
    for (style, found), number in sorted(counts.items()):
        print(f"{style}: {number} {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
