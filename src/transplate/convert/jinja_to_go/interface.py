"""What the parts of the compiler use of one another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.guards import Guard, Origin, Search
from transplate.convert.jinja_to_go.shapes import Shape
from transplate.convert.jinja_to_go.state import State, Writer
from transplate.convert.jinja_to_go.truths import Condition
from transplate.convert.jinja_to_go.values import (
    Built,
    Counting,
    DictOf,
    Go,
    Loop,
    MacroOf,
    Packed,
    Pairs,
    Split,
    Undefined,
    Value,
)
from transplate.gotmpl.nodes import (
    Item,
    Operand,
    Variable,
)
from transplate.jinja import nodes as j
from transplate.jinja.reader import JinjaTree

Key = tuple[int, str]
"""An attribute of a namespace: the namespace's number and the name."""
Guess = frozenset[str] | Shape | None
"""What a variable is in all rounds of a loop: kinds in Go, the shape of what is kept in a text, or none."""


class LoopExit:
    """A loop that is being written: what to do at the end of a round."""

    def __init__(self, finish: Callable[[], None], *, unrolled: bool) -> None:
        self.finish = finish
        self.unrolled = unrolled


@dataclass(frozen=True)
class Decoder:
    """Statements that have taken a value out of a text, and how many variables there were before."""

    mark: int
    text: str
    items: tuple[Item, ...]
    value: Value


@dataclass
class MacroTemplate:
    """A macro as a template that Go calls, for one kind of arguments; no name where it cannot be one."""

    name: str
    items: list[Item]


@dataclass
class Argument:
    """What a macro is handed.

    Attributes:
        sort: What it is.
        operands: Expressions for what is not known of it.
        of: Makes the value from variables that hold these.
    """

    sort: object
    operands: tuple[Operand, ...]
    of: Callable[[Sequence[Variable]], Value]


@dataclass
class Variant:
    """A macro for arguments of one sort, or another computation that a loop runs.

    Attributes:
        letter: Its name in Go.
        write: Writes its body, which prints the answer, with the values of its parameters.
        arguments: How each parameter is made of what it is handed.
        items: Its body.
        texts: The variables of arguments that are texts.
    """

    letter: str
    write: Callable[[dict[str, Value]], None]
    arguments: dict[str, Argument]
    items: list[Item] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)


@dataclass
class Recursion:
    """A loop that runs macros that call one another.

    Attributes:
        macros: Their names.
        text: What the macro that runs has printed.
        rest: The answers that it has not read.
        called: The letter of what it calls, or nothing.
        variants: The macros, by name and arguments.
        slots: The variables that arguments are in, for each depth, that of the top first.
        handed: What the macro that is called gets.
        asked: How many calls have been written.
    """

    macros: frozenset[str]
    text: Variable
    rest: Variable
    called: Variable
    variants: dict[object, Variant] = field(default_factory=dict)
    slots: list[list[Variable]] = field(default_factory=list)
    handed: list[Variable] = field(default_factory=list)
    asked: int = 0


class Scope:
    """A scope of variables, closed at the end of a with."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.count = len(writer.state.scopes)

    def __enter__(self) -> None:
        self.writer.state.scopes.append({})

    def __exit__(self, *_: object) -> None:
        del self.writer.state.scopes[self.count :]


class Interface(Writer):
    """The methods that are called across modules; each is in the module named above it."""

    place: int | None = None

    def __init__(
        self,
        tree: JinjaTree,
        variables: dict[str, Value],
        *,
        allowed: frozenset[str],
        budget: int = 40_000,
        features: frozenset[str] = frozenset(),
        is_compact: bool = False,
    ) -> None:
        super().__init__(allowed=allowed, budget=budget)
        self.is_compact = is_compact
        """Whether loops that run macros run other long things too, rather than have them in each place."""
        self.features = features
        """What this Ollama does, in the words of the macros of ``to_jinja``."""
        self.writes_arguments = False
        """Whether it writes the arguments of a call as JSON."""
        self.prints_numbers = False
        """Whether Go prints numbers in the place of such a macro."""
        self.tree = tree
        self.variables = variables
        self.state.scopes[0].update(variables)
        self.item_name = "item"
        self.macro_templates: dict[tuple[str, object], MacroTemplate] = {}
        """Macros as templates that Go calls, by their names and arguments."""
        self.tokens_not_given: set[str] = set()
        """Special tokens that the template reads, and that the conversion was not told."""
        self.decoders: dict[str, Decoder] = {}
        """Variables that were made to take values out of texts."""
        self.searches: dict[str, Search] = {}
        """The searches in each text, by the variable that holds it from the first find on."""
        self.guards: dict[str, Guard] = {}
        """Variables that searches begin with."""
        self.made_of: dict[str, Origin] = {}
        """Texts that were cut out of others, or are those with constants replaced."""
        self.origins: dict[str, tuple[Operand, Variable]] = {}
        """Variables of loops: the list that they go over, and the variable that counts."""
        self.keys_of: dict[str, frozenset[str]] = {}
        """Variables of loops that are keys, and the dicts that they are keys of, as Go."""
        self._loops: list[LoopExit] = []
        self._guesses: dict[object, dict[Key, Guess]] = {}
        self._assigned_in: dict[object, set[str]] = {}
        self._assigned: set[str] = set()
        self._namespaces = 0
        self.has_run = False
        """Whether there is a loop that runs macros."""
        self.recursion: Recursion | None = None
        """The macros that call themselves whose bodies are being written."""
        self._printing: frozenset[str] = frozenset()
        """The macros that are being written as templates."""
        self._read_in_itself: frozenset[str] = frozenset()
        """Macros that call themselves and read what that prints."""
        self._deciding: Operand = build.boolean(True)
        self._tests: set[Operand] = set()
        self._called: j.Expression | None = None
        """The function of the call that is being written."""
        self._evaluated: dict[int, Value] = {}
        """What expressions have given in the statement that is being written, by the node."""

    # --- conditions.py

    def condition(self, node: j.Expression) -> Condition:
        """Return whether an expression is true, in Python's sense."""
        raise NotImplementedError

    def settled(self, condition: Condition) -> Condition:
        """Return a condition as True or False where that is known."""
        raise NotImplementedError

    def _after(
        self, condition: Operand, holds: bool, evaluate: Callable[[], Condition]
    ) -> tuple[Condition, list[Item]]:
        """Evaluate something where a condition holds, or where it does not."""
        raise NotImplementedError

    def _choose(
        self, test: Operand, then: Callable[[], Condition], otherwise: Callable[[], Condition]
    ) -> Condition:
        raise NotImplementedError

    def truth(self, value: Value) -> Condition:
        """Return whether a value is true."""
        raise NotImplementedError

    def _conditional(self, test: j.Expression, then: j.Expression, otherwise: j.Expression) -> Value:
        raise NotImplementedError

    def _logical(self, operands: Sequence[j.Expression], is_and: bool) -> Value:
        raise NotImplementedError

    def _default_of(self, left: Value, node: j.Expression) -> Value | None:
        """Return ``left or node`` where an empty list, dict or string is what Go has there anyway."""
        raise NotImplementedError

    def or_empty(self, left: Value, empty: Value) -> Go | None:
        """Return a value or something empty of its kind, where that is what Go has there anyway."""
        raise NotImplementedError

    # --- kinds.py

    def keys_in(self, value: DictOf) -> list[Condition]:
        """Return of each key of a dict whether it is there, as far as it holds something."""
        raise NotImplementedError

    def is_there(self, value: DictOf, *held: Condition) -> Condition:
        """Return whether any of some keys of a dict is there, told which of them hold something."""
        raise NotImplementedError

    def items_in(self, value: DictOf) -> tuple[tuple[Value, Value], ...]:
        """Return the keys of a dict that are there, and what they hold."""
        raise NotImplementedError

    def _test(self, node: j.Test) -> Condition:
        raise NotImplementedError

    def test(self, value: Value, node: j.Test) -> Condition:
        """Return whether a value passes a test."""
        raise NotImplementedError

    def _is_kind(self, value: Value, kinds: frozenset[str]) -> Condition:
        """Return whether a value is of one of some kinds."""
        raise NotImplementedError

    def defined(self, value: Value) -> Go:
        """Return a value without its being undefined or None, for which the template fails."""
        raise NotImplementedError

    def there(self, value: Go) -> Go:
        """Return a value without its being undefined, for which the template fails; it may be None."""
        raise NotImplementedError

    def only(self, value: Go, kinds: frozenset[str]) -> Go:
        """Return a value as of some of its kinds; the template fails for the others."""
        raise NotImplementedError

    def _name_of(self, value: Value) -> str:
        raise NotImplementedError

    def _fail_undefined(self, value: Undefined) -> None:
        raise NotImplementedError

    # --- lookups.py

    def lookup(self, name: str) -> Value:
        """Return the value of a name."""
        raise NotImplementedError

    def value(self, node: j.Expression) -> Value:
        """Return the value of an expression."""
        raise NotImplementedError

    def _value(self, node: j.Expression) -> Value:
        """Return the value of an expression, which may be one thing or another."""
        raise NotImplementedError

    def item(self, value: Value, key: Value) -> Value:
        """Return ``value[key]``."""
        raise NotImplementedError

    def held(self, value: Value, key: Value) -> Value:
        """Return what a dict's ``get`` finds, which unlike ``value[key]`` never is a method."""
        raise NotImplementedError

    # --- lists.py

    def length(self, value: Value) -> Value:
        """Return ``value|length``."""
        raise NotImplementedError

    def is_nonempty(self, value: Go) -> bool:
        """Tell whether a list is known to have an item."""
        raise NotImplementedError

    def at(self, value: Value, index: Value) -> Value:
        """Return ``value[index]`` for a whole number."""
        raise NotImplementedError

    def _kept_operand(self, operand: Operand) -> Operand:
        raise NotImplementedError

    def _kept_go(self, value: Go, name: str) -> Go:
        raise NotImplementedError

    # --- slices.py

    def _slice(self, node: j.Slice) -> Value:
        raise NotImplementedError

    def _reversed(self, value: Value) -> Value:
        raise NotImplementedError

    def slice_text(self, value: Go, start: int | None, stop: int | None) -> Value:
        """Return a slice of a text at constant places."""
        raise NotImplementedError

    # --- texts.py

    def text_operand(self, value: Value) -> Operand:
        """Return a text as an expression that can be used again."""
        raise NotImplementedError

    def as_text(self, value: Value, *, convert: bool = True) -> Value:
        """Return ``str(value)``; without ``convert`` a value that is a string already."""
        raise NotImplementedError

    def captured(self, write: Callable[[], None]) -> Operand:
        """Return what something prints, in a variable unless it is but one thing."""
        raise NotImplementedError

    # --- dates.py

    def _date(self, arguments: list[Value]) -> Value:
        """Return ``strftime_now(format)``."""
        raise NotImplementedError

    # --- arithmetic.py

    def _binary(self, node: j.Binary) -> Value:
        raise NotImplementedError

    def _format(self, value: Value, arguments: list[Value]) -> Value:
        """Return ``value % (argument, …)``."""
        raise NotImplementedError

    def _arithmetic(self, operator: str, left: Value, right: Value) -> Value:
        raise NotImplementedError

    def escaped(self, value: Value) -> Value:
        """Return a text as ``|escape`` makes it."""
        raise NotImplementedError

    def _as_number(self, value: Value) -> Value:
        raise NotImplementedError

    def compare(self, operator: str, left: Value, right: Value) -> Condition:
        """Return an order of two values."""
        raise NotImplementedError

    # --- comparing.py

    def equal(self, left: Value, right: Value) -> Condition:
        """Return whether two values are equal in Python."""
        raise NotImplementedError

    def contains(self, container: Value, item: Value) -> Condition:
        """Return ``item in container``."""
        raise NotImplementedError

    # --- printing.py

    def output(self, node: j.Expression) -> None:
        """Print an expression."""
        raise NotImplementedError

    def write(self, value: Value) -> None:
        """Print a value as Jinja prints it."""
        raise NotImplementedError

    def _printable(self, operand: Operand) -> Operand:
        raise NotImplementedError

    def _call_define(self, name: str, operand: Operand) -> None:
        raise NotImplementedError

    # --- recognised.py

    def written_by_go(self, macro: MacroOf, values: Mapping[str, Value]) -> bool:
        """Write what one of ``to_jinja``'s macros prints as Go prints it; False if the macro is none."""
        raise NotImplementedError

    # --- jsontext.py

    def write_json(self, value: Value, indent: int | None, level: int, compact: bool = False) -> None:
        """Print a value as JSON."""
        raise NotImplementedError

    def captured_json(self, operand: Operand) -> Operand:
        """Return Go's JSON of arguments."""
        raise NotImplementedError

    def _to_json(self, value: Value, node: j.Filter) -> Value:
        raise NotImplementedError

    # --- filters.py

    def filter(self, node: j.Filter) -> Value:
        """Return the result of a filter."""
        raise NotImplementedError

    # --- sorting.py

    def sorted(self, value: Value, node: j.Filter) -> Value:
        """Return the list that ``|sort`` gives."""
        raise NotImplementedError

    def unique(self, value: Value, node: j.Filter) -> Value:
        """Return the generator that ``|unique`` gives."""
        raise NotImplementedError

    def joined(self, value: Value, separator: Value, *, convert: bool = True) -> Value:
        """Return the items of a list as one text."""
        raise NotImplementedError

    # --- calls.py

    def call(self, node: j.Call) -> Value:
        """Return the result of a call."""
        raise NotImplementedError

    # --- methods.py

    def _call_string(self, value: Value, name: str, arguments: list[Value]) -> Value:
        raise NotImplementedError

    def _strip(self, value: Value, name: str, characters: str | None) -> Value:
        raise NotImplementedError

    # --- branches.py

    def by_cases(self, write: Callable[[], None], depth: int = 0) -> None:
        """Write something; where it can be said only for one outcome of a test, twice in an if."""
        raise NotImplementedError

    def decided(self, find: Callable[[], Condition], depth: int = 0) -> Condition:
        """Return a condition; where it can be said only for one outcome of a test, for each apart."""
        raise NotImplementedError

    def branch(self, condition: Operand, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """Write an if, and bring what both ways know together."""
        raise NotImplementedError

    def _or_fail(self, write: Callable[[], None]) -> None:
        """Write something that may not be reached; if it cannot be converted, fail there."""
        raise NotImplementedError

    def choose(self, test: Operand, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """Return one of two values, made where they are used."""
        raise NotImplementedError

    # --- merging.py

    def _merged(
        self,
        before: State,
        first: tuple[list[Item], State],
        second: tuple[list[Item], State],
        test: Operand,
    ) -> State:
        raise NotImplementedError

    # --- loops.py

    def _for(self, node: j.For) -> None:
        raise NotImplementedError

    def walk(self, value: Value, body: Callable[[Value, Loop], None]) -> None:
        """Write a loop that changes no variable of Jinja's."""
        raise NotImplementedError

    def range(self, declarations: tuple[Variable, ...], over: Operand, write: Callable[[], None]) -> None:
        """Write a range; what is known in it is not known behind it."""
        raise NotImplementedError

    def _leave(self, item: Item) -> None:
        raise NotImplementedError

    def stop_loop(self) -> None:
        """Leave the loop that is being written."""
        raise NotImplementedError

    # --- walking.py

    def _walk(self, value: Value, body: Callable[..., None], wants: set[str]) -> None:
        raise NotImplementedError

    def _unroll(self, items: Any, body: Callable[..., None]) -> None:
        raise NotImplementedError

    def _counter(self) -> tuple[Variable, Callable[[], Variable]]:
        """Return a counter, and what writes the statements that count a round and gives its number."""
        raise NotImplementedError

    def _counted_loop(self, index: Variable, length: Operand | None) -> Loop:
        raise NotImplementedError

    # --- walking_dicts.py

    def _walk_pairs(self, value: Pairs, body: Callable[..., None], wants: set[str]) -> None:
        raise NotImplementedError

    # --- walking_texts.py

    def _walk_text(self, value: Go, body: Callable[..., None], wants: set[str]) -> None:
        """Write a loop over the characters of a text."""
        raise NotImplementedError

    def _walk_numbers(self, value: Counting, body: Callable[..., None]) -> None:
        raise NotImplementedError

    def _walk_split(self, value: Split, body: Callable[..., None], wants: set[str]) -> None:
        raise NotImplementedError

    # --- variables.py

    def _set(self, target: j.Name | j.Attribute | tuple[j.Name, ...], value: Value) -> None:
        raise NotImplementedError

    def _home_of(self, value: Value | None) -> tuple[Variable | None, int]:
        """Return the variable that a value is kept up to date in, and by how much it is more there."""
        raise NotImplementedError

    def new_namespace(self, attributes: dict[str, Value]) -> Value:
        """Return a new namespace."""
        raise NotImplementedError

    # --- macros.py and statements.py

    def body(self, nodes: j.Body) -> None:
        """Write statements."""
        raise NotImplementedError

    def scope(self) -> Scope:
        """Open a scope of variables."""
        raise NotImplementedError

    def call_macro(self, macro: MacroOf, node: j.Call) -> None:
        """Write what a macro prints."""
        raise NotImplementedError

    def write_macro(self, macro: j.Macro, values: dict[str, Value]) -> None:
        """Write the body of a macro with its arguments."""
        raise NotImplementedError

    def fail_with(self, value: Value) -> None:
        """Stop with an error that holds a text."""
        raise NotImplementedError

    # --- recursion.py

    def asked(self, macro: MacroOf, values: dict[str, Value]) -> Variable:
        """Return the answer to a call in a macro that runs; where there is none yet the macro is left."""
        raise NotImplementedError

    def run_long(self, text: str, said: str = "", name: str = "d", *, source: Operand) -> Variable:
        """Write statements that compute a text of another value; they are long."""
        raise NotImplementedError

    def cycle_of(self, macro: MacroOf) -> frozenset[str]:
        """Return the macros that a macro can call and that can call it; none if it cannot call itself."""
        raise NotImplementedError

    def answer_of(self, macro: MacroOf, values: dict[str, Value]) -> Operand:
        """Return what a macro prints: it calls itself."""
        raise NotImplementedError

    # --- packing.py

    def shape_of(self, value: Value) -> Shape | None:
        """Return what a value is kept as in a text, None if it cannot be."""
        raise NotImplementedError

    def built(self, value: Value, item: Shape | None = None) -> Built | None:
        """Return a list as one that is kept in a text, None if its items cannot be."""
        raise NotImplementedError

    def packed(self, value: Value, shape: Shape) -> Operand:
        """Return a value as a text."""
        raise NotImplementedError

    def unpacked(self, value: Packed) -> Value:
        """Return a value that is kept in a text as what it is."""
        raise NotImplementedError

    def walk_raw(self, value: Built, body: Callable[[Variable], None]) -> None:
        """Write a loop over the items of a list as they are kept."""
        raise NotImplementedError

    def unpacked_item(self, payload: Variable, value: Built) -> Value:
        """Return an item of a list."""
        raise NotImplementedError

    def built_at(self, value: Built, index: Value) -> Value:
        """Return an item of a list, Undefined where there is none."""
        raise NotImplementedError

    def built_reversed(self, value: Built) -> Built:
        """Return a list from its end."""
        raise NotImplementedError

    def built_from(self, value: Built, start: int) -> Built:
        """Return a list without its first items."""
        raise NotImplementedError

    def built_to(self, value: Built, stop: int) -> Built:
        """Return the first items of a list."""
        raise NotImplementedError

    def kept_in(self, target: Built | Packed, value: Value) -> Operand:
        """Return a value as the text that a variable like the target holds."""
        raise NotImplementedError

    def fits_in(self, target: Built | Packed, value: Value) -> bool:
        """Tell whether a variable like the target can hold a value."""
        raise NotImplementedError

    def extreme(self, value: Value, is_least: bool) -> Value:
        """Return the least or the greatest of some whole numbers."""
        raise NotImplementedError

    def _checkpoint(self) -> Callable[[], None]:
        raise NotImplementedError

    def takes_ascii_letters(self, operand: Operand) -> bool:
        """Return whether a text whose case is changed may be taken to be ASCII."""
        raise NotImplementedError

    # --- searches.py

    def located(self, part: str | None, operands: dict[str, Operand]) -> tuple[Variable, Variable]:
        """Return whether a constant is in a text, or ``p`` is, and the text from there on."""
        raise NotImplementedError

    def any_found(self, nodes: Sequence[j.Expression]) -> tuple[Condition, Sequence[j.Expression]]:
        """Return whether any of several constants is in a text, and what is left of the operands of `or`."""
        raise NotImplementedError

    def replaced(self, old: str | None, new: str | None, operands: dict[str, Operand]) -> Variable:
        """Return a text with a constant, or ``p``, replaced by another, or ``q``."""
        raise NotImplementedError

    def derive(self, made: Operand, source: Operand) -> None:
        """Note that a text was cut out of another."""
        raise NotImplementedError

    def derive_merged(self, made: Variable, test: Operand, first: Value, second: Value) -> None:
        """Note that a text is one of two: the first if a test holds."""
        raise NotImplementedError

    # --- lists.py

    def behind_separator(self, value: Split) -> Value:
        """Return a split text put together again: the text, or what stands behind the first separator."""
        raise NotImplementedError

    def split_item(self, value: Split, fixed: int) -> Value:
        """Return an item of a split text."""
        raise NotImplementedError
