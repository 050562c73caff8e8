"""The fast form of a template: one Python function for data whose types are known beforehand.

It prints what the exact form prints, or raises something, upon which the caller runs the exact form; so it
holds no positions, makes no messages and is free in its order of evaluation.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from transplate.gotmpl.compiler.emit import Function, Module
from transplate.gotmpl.compiler.loops import else_holds_break
from transplate.gotmpl.compiler.sizes import size_of
from transplate.gotmpl.compiler.static import (
    GO,
    INT,
    RAW,
    SCALARS,
    STRING,
    UNREADABLE,
    Remaining,
    StaticType,
    TypedFunction,
    Unsupported,
    Value,
)
from transplate.gotmpl.compiler.typed import FEW, TypedExpressions
from transplate.gotmpl.costs import SMALL
from transplate.gotmpl.nodes import (
    Action,
    Block,
    Body,
    Break,
    Continue,
    Else,
    If,
    Item,
    Pipeline,
    Range,
    TemplateCall,
    Text,
    With,
)
from transplate.gotmpl.quoting import is_valid

_PASSES: Final = 8
"""How often the types of variables are worked out before giving up."""
_MANY: Final = 100
"""Printed values from which on the output is measured before it is joined."""
_HUGE: Final = 50_000
"""Items and operands from which on a template is not compiled twice."""
_LARGE: Final = 2_000
"""Items and operands of a loop from which on even a loop over the data counts its steps."""
_NODES_PER_STEP: Final = 8
_DEEPEST: Final = 80
"""Blocks inside one another; Python allows 100 levels of indentation."""
_MOST_LOOPS: Final = 18
"""Loops inside one another; Python allows 20."""
_LONGEST_CHAIN: Final = 500
"""Alternatives in a row; Python allows about 2,900."""
_PLAIN: Final = re.compile(r"[\w.\[\]()]+")
_VARIABLE: Final = re.compile(r"v\d+")


@dataclass(frozen=True, slots=True)
class Shape:
    """The data of one way of running a template, in the fast form.

    Attributes:
        parameters: Names of the parameters of the function, single capital letters.
        root: What ``.`` and ``$`` are; the source of its fields names the parameters.
        functions: The functions that have a fast form.
        helpers: What the source of types and functions refers to by name.
        before: Statements that the function begins with.
        after: Statements that stand behind the template's own.
    """

    parameters: Sequence[str]
    root: StaticType
    functions: Mapping[str, TypedFunction]
    helpers: Mapping[str, object]
    before: Sequence[str] = ()
    after: Sequence[str] = ()


def fast_source(templates: Mapping[str, Body], name: str, shape: Shape) -> str:
    """Return the source of a module with a function ``run_0`` that executes a template.

    The function takes the parameters of the shape and the limits, and returns the output.

    Raises:
        Unsupported: The template has no fast form.
    """
    if sum(map(size_of, templates.values())) > _HUGE:
        raise Unsupported("a template that takes long to compile")
    types: dict[int, StaticType] = {}
    for _ in range(_PASSES):
        compiler = _FastCompiler(templates, shape, types)
        source = compiler.compile(name)
        if compiler.types == types:
            if compiler.reason is not None:
                raise compiler.reason
            return source
        types = compiler.types
    raise Unsupported("variables whose types do not settle")


class _FastCompiler:
    """One pass over a template, with what the passes before have found out about its variables.

    Attributes:
        types: The type of each variable by the number of its declaration, as found out so far.
        reason: Why the fast form would be of no use, because it always gives up.
    """

    def __init__(self, templates: Mapping[str, Body], shape: Shape, types: Mapping[int, StaticType]) -> None:
        self.types = dict(types)
        self.reason: Unsupported | None = None
        self._templates = templates
        self._shape = shape
        self._module = Module()
        self._expressions = TypedExpressions(shape.root, shape.functions)
        self._assigned = {name for body in templates.values() for name in _assigned(body)}
        self._declared = 0
        self._parts: list[tuple[str, bool]] = []
        self._printed = 0
        self._called: dict[tuple[str, StaticType], str] = {}
        self._waiting: list[tuple[str, Value, Function]] = []
        self._out: Function
        self._as_list = False
        self._loops: list[tuple[str, ...]] = []
        self._is_linear = True
        self._measures = False

    def compile(self, name: str) -> str:
        """Return the source of the module."""
        body = self._templates[name]
        self._as_list = _repeats(body) or size_of(body) > _MANY
        main = self._out = self._module.function("run", ", ".join((*self._shape.parameters, "L")))
        self._body(body)
        while self._waiting:
            called, dot, self._out = self._waiting.pop()
            self._expressions.root = self._expressions.dot = dot
            self._expressions.variables.clear()
            self._loops, self._is_linear = [()], False
            self._body(self._templates[called])
        main.prologue = [*self._shape.before, "p = []" if self._as_list else "o = ''"]
        main.epilogue = [*self._shape.after]
        if self._as_list:
            many = self._measures or self._printed > _MANY
            main.epilogue.append("o = measured(p, L)" if many else "o = ''.join(p)")
        main.epilogue += ["if len(o) > L.output: within(o, L)", "return o"]
        if "(s, " in self._module.text:
            main.prologue.append("s = [L.steps, L.output]")
        return self._module.text

    # --- output -------------------------------------------------------------------------------------------

    def _print(self, value: Value) -> None:
        if value.constant is not None and isinstance(value.constant[0], str):
            self._parts.append((value.constant[0], True))
            return
        for text in value.parts or (value.text,):
            if text.startswith(("'", '"')) and value.parts:
                self._parts.append((literal_eval(text), True))
                continue
            self._parts.append((text, False))
            self._printed += 1
            if self._loops and not _mentions(text, self._loops[-1]):
                self._measures = True

    def _flush(self) -> None:
        """Write the code that prints what has been gathered."""
        pieces: list[str] = []
        text = ""
        for code, constant in self._parts:
            if constant:
                text += code
                continue
            if text:
                pieces.append(repr(text))
                text = ""
            pieces.append(code)
        if text:
            pieces.append(repr(text))
        self._parts.clear()
        if not pieces:
            return
        if not self._as_list:
            self._out.line(f"o += {_concatenated(pieces)}")
        elif len(pieces) == 1:
            self._out.line(f"p.append({pieces[0]})")
        else:
            self._out.line(f"p += ({', '.join(pieces)})")

    # --- variables ----------------------------------------------------------------------------------------

    def _bind(self, name: str, kind: StaticType, *, remaining: Remaining | None = None) -> str:
        """Bring a variable into scope, and return its local."""
        slot = self._declared
        self._declared += 1
        self.types[slot] = _merged(self.types.get(slot, kind), kind)
        if name in self._assigned:
            remaining = None
        local = f"v{slot}"
        self._expressions.variables.append((name, Value(local, self.types[slot], None, remaining)))
        return local

    def _set(self, local: str, value: Value) -> None:
        code = value.go if self.types[int(local[1:])] is GO else value.code
        if 0 < len(value.parts) <= FEW:
            self._out.line(f"{local} = {' + '.join(value.parts)}")
            self._out.line(f"if len({local}) > {SMALL}: made(s, {local})")
        else:
            self._out.line(f"{local} = {code}")

    def _assign(self, name: str, value: Value) -> None:
        local = self._expressions.variable(name).code
        if not _VARIABLE.fullmatch(local):
            raise Unsupported("an assignment to what is no variable of its own")
        slot = int(local[1:])
        self.types[slot] = _merged(self.types[slot], value.type)
        self._set(local, value)

    def _evaluate(self, node: Pipeline) -> Value:
        """Translate a pipeline, with its declaration or assignment."""
        value = self._expressions.pipeline(node)
        if not node.declarations:
            return value
        if value.type is RAW:
            value = Value(value.text, STRING)
        (variable,) = node.declarations
        self._flush()
        if node.is_assignment:
            self._assign(variable.name, value)
        else:
            self._set(self._bind(variable.name, value.type, remaining=value.remaining), value)
        return self._expressions.variable(variable.name)

    def _local(self, value: Value) -> Value:
        """Keep a value in a local, so that using it again costs nothing."""
        if value.code.isidentifier():
            return value
        local = self._module.name("d")
        self._out.line(f"{local} = {value.code}")
        return Value(local, value.type, None, value.remaining)

    @contextmanager
    def _scope(self) -> Iterator[None]:
        """Take variables out of scope, and dot back, at the end of a block."""
        mark, dot = len(self._expressions.variables), self._expressions.dot
        try:
            yield
        finally:
            del self._expressions.variables[mark:]
            self._expressions.dot = dot

    # --- items --------------------------------------------------------------------------------------------

    def _body(self, body: Body) -> None:
        with self._scope():
            for item in body:
                try:
                    self._item(item)
                except Unsupported as unsupported:
                    self._parts.clear()
                    self._out.line("give_up()")
                    if self._out.depth == 0:
                        self.reason = unsupported
            self._flush()

    def _item(self, item: Item) -> None:
        if isinstance(item, Text):
            if not is_valid(item.value):
                raise Unsupported("text with invalid bytes")
            self._parts.append((item.value, True))
        elif isinstance(item, Action):
            value = self._evaluate(item.pipeline)
            if not item.pipeline.declarations:
                self._print(value)
        elif isinstance(item, If | With):
            self._branch(item)
        elif isinstance(item, Range):
            self._range(item)
        elif isinstance(item, TemplateCall | Block):
            self._call(item)
        elif isinstance(item, Break | Continue):
            self._flush()
            self._out.line("break" if isinstance(item, Break) else "continue")

    def _branch(self, node: If | With) -> None:
        self._check_depth()
        with self._scope():
            outer = self._expressions.dot
            value = self._evaluate(node.pipeline)
            self._flush()
            if isinstance(node, With):
                value = self._local(value)
                self._expressions.dot = value
            with self._out.block(f"if {value.truth}:"):
                self._body(node.body)
            self._expressions.dot = outer
            self._otherwise(node.orelse)

    def _otherwise(self, orelse: Else | If | With | None) -> None:
        """Translate what follows an if or with: an ``elif`` where no statements are needed before it."""
        for _ in range(_LONGEST_CHAIN):
            if not isinstance(orelse, If) or orelse.pipeline.declarations:
                break
            try:
                condition = self._expressions.pipeline(orelse.pipeline).truth
            except Unsupported:
                break
            with self._out.block(f"elif {condition}:"):
                self._body(orelse.body)
            orelse = orelse.orelse
        if orelse is not None:
            with self._out.block("else:"):
                self._body((orelse,) if isinstance(orelse, If | With) else orelse.body)

    def _check_depth(self) -> None:
        """Give up where Python allows no more blocks inside one another."""
        if self._out.depth >= _DEEPEST or self._out.loops >= _MOST_LOOPS:
            raise Unsupported("blocks too deep for Python")

    def _range(self, node: Range) -> None:
        if node.pipeline.is_assignment:
            raise Unsupported("a loop that assigns")
        if else_holds_break(node):
            raise Unsupported("a break in the else of a loop")
        self._flush()
        with self._scope():
            outer = self._expressions.dot
            names = [variable.name for variable in node.pipeline.declarations]
            value = self._expressions.pipeline(node.pipeline)
            outer_is_linear = self._is_linear
            if self._loops and not _mentions(value.code, self._loops[-1]):
                self._is_linear = False
            value = self._local(value)
            size = size_of(node.body)
            if not self._is_linear or size > _LARGE:
                self._spend(size, f"{value.length} * ")
            head, elem, *position = self._loop(value, names)
            more = value.type.loop
            if more is not None:
                self._out.line(more.before.format(elem))
            with self._out.block(head, loop=True):
                for line in more.each if more is not None else ():
                    self._out.line(line.format(elem))
                self._loops.append((elem, *position))
                self._body(node.body)
                self._loops.pop()
            self._is_linear = outer_is_linear
            if more is not None:
                self._out.line(more.after.format(elem))
            if node.orelse is not None:
                self._expressions.variables += [(name, Value("None", UNREADABLE)) for name in names]
                self._expressions.dot = outer
                with self._out.block(f"if not {value.truth}:"):
                    self._body(node.orelse.body)

    def _loop(self, value: Value, names: Sequence[str]) -> Sequence[str]:
        """Bring the variables and the dot of a loop into scope.

        Returns:
            The loop's head; the local of its element; that of its key or index, if it has one.
        """
        kind = value.type
        if kind.elem is None or kind.items is None:
            raise Unsupported(f"a loop over {kind!r}")
        items = kind.items.format(value.code)
        elem = self._module.name("d")
        self._expressions.dot = Value(elem, kind.elem)
        if len(names) < 2:
            if names:
                self._bind_element(names[0], elem, kind.elem)
            return (f"for {elem} in {items}:", elem)
        if kind.key is not None:
            if kind.pairs is None:
                raise Unsupported(f"a loop over the keys of {kind!r}")
            key = self._module.name("k")
            self._bind_element(names[0], key, kind.key)
            self._bind_element(names[1], elem, kind.elem)
            return (f"for {key}, {elem} in {kind.pairs.format(value.code)}:", elem, key)
        if names[0] in self._assigned:
            index = self._bind(names[0], INT)
        else:
            index = self._module.name("i")
            length = f"n_{value.code}"
            self._out.line(f"{length} = {value.length}")
            remaining = Remaining(length, index)
            self._expressions.variables.append((names[0], Value(index, INT, None, remaining)))
        self._bind_element(names[1], elem, kind.elem)
        return (f"for {index}, {elem} in enumerate({items}):", elem, index)

    def _bind_element(self, name: str, local: str, kind: StaticType) -> None:
        """Bring a variable of a loop into scope, which is the loop's own local."""
        if name in self._assigned:
            raise Unsupported("an assignment to a variable of a loop")
        self._expressions.variables.append((name, Value(local, kind)))

    def _spend(self, size: int, times: str = "") -> None:
        """Count the steps of bodies of a size that run again: in a loop inside another, or when called."""
        self._out.line(f"spend(s, p, {times}{1 + size // _NODES_PER_STEP})")

    def _call(self, node: TemplateCall | Block) -> None:
        self._flush()
        name = node.name.value
        if name not in self._templates or node.pipeline is None:
            raise Unsupported("a call of a template without data or definition")
        value = self._evaluate(node.pipeline)
        is_root = value.type is self._shape.root
        key = (name, value.type)
        self._spend(size_of(self._templates[name]))
        passed = ("p", "s", *self._shape.parameters, "L")
        if key not in self._called:
            function = self._module.function("template", ", ".join(("d", *passed)))
            self._called[key] = function.name
            self._waiting.append((name, Value("" if is_root else "d", value.type), function))
        self._out.line(f"{self._called[key]}({', '.join(('None' if is_root else value.code, *passed))})")


def _mentions(code: str, names: Sequence[str]) -> bool:
    """Whether an expression names one of some locals, or of those that their parts are kept in."""
    return any(re.search(rf"\b{name}(?:_\w+)?\b", code) for name in names)


def _concatenated(pieces: Sequence[str]) -> str:
    """Return the source that joins texts: a formatted string where Python 3.11 can have the pieces in one."""
    if len(pieces) == 1:
        return pieces[0]
    parts = []
    for piece in pieces:
        if piece.startswith(("'", '"')):
            text = repr('"' + literal_eval(piece))[2:-1]
            parts.append(text.replace("{", "{{").replace("}", "}}"))
        elif _PLAIN.fullmatch(piece):
            parts.append(f"{{{piece}}}")
        else:
            return " + ".join(pieces)
    return f"f'{''.join(parts)}'"


_UNIONS: dict[StaticType, StaticType] = {}
"""For each type of records the type of variables that hold such a record or a string."""


def _merged(left: StaticType, right: StaticType) -> StaticType:
    """Return the type of a variable that holds values of two types."""
    if left is right:
        return left
    if left in SCALARS and right in SCALARS:
        return GO
    for first, second in ((left, right), (right, left)):
        if first is STRING and second in _UNIONS.values():
            return second
        if first is STRING and second.fields:
            return _union(second)
        if _UNIONS.get(first) is second:
            return second
    raise Unsupported(f"a variable of {left!r} and {right!r}")


def _union(record: StaticType) -> StaticType:
    """Return the type of a variable that holds a string or a record."""
    if record not in _UNIONS:
        fields = {
            name: (source.replace("{0}", "record({0})"), kind)
            for name, (source, kind) in record.fields.items()
        }
        _UNIONS[record] = StaticType(f"string or {record.name}", fields=fields)
    return _UNIONS[record]


def _repeats(body: Body) -> bool:
    """Whether a body has a loop or a template call in it."""
    return any(isinstance(item, Range | TemplateCall | Block) for item in _all_items(body))


def _assigned(body: Body) -> Iterator[str]:
    """Return the names of the variables that are assigned to."""
    for item in _all_items(body):
        if isinstance(item, Action | If | With | Range) and item.pipeline.is_assignment:
            yield from (variable.name for variable in item.pipeline.declarations)


def _all_items(body: Body) -> Iterator[Item]:
    waiting: list[Item] = list(body)
    while waiting:
        item = waiting.pop()
        yield item
        if isinstance(item, If | With | Range):
            waiting.extend(item.body)
            if isinstance(item.orelse, If | With):
                waiting.append(item.orelse)
            elif item.orelse is not None:
                waiting.extend(item.orelse.body)
