"""Pipelines in their fast form: Python expressions of static types, without positions and checks.

Whatever goes wrong in them, the caller runs the exact form again, so they need not fail as Go fails, but
where Go fails they must. What has no fast form raises :class:`Unsupported` while it is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from transplate.gotmpl.builtins import BUILTINS
from transplate.gotmpl.compiler.static import (
    BOOL,
    FLOAT,
    GO,
    INT,
    MIXED,
    NIL,
    RAW,
    SCALARS,
    STRING,
    StaticType,
    TypedFunction,
    Unsupported,
    Value,
    evaluated,
)
from transplate.gotmpl.costs import SMALL
from transplate.gotmpl.functions import ideal, wrong_count
from transplate.gotmpl.nodes import (
    Bool,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Nil,
    Number,
    Operand,
    Pipeline,
    String,
    Variable,
)
from transplate.gotmpl.quoting import is_valid

FEW: Final = 8
"""Texts that may be joined before anyone looks how long they are."""
_BOUNDED: Final = ("'", '"', "str(", "padded(")
"""How the source of texts begins that are short, or counted already."""
_LONGEST: Final = 10_000
"""Characters of one expression, so that expressions within one another are not copied for ever."""
_COMPARISONS: Final = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}


class TypedExpressions:
    """Translates pipelines of one template.

    Attributes:
        root: The data that the template is given, by field.
        dot: The cursor.
        variables: What each variable in scope is, the innermost last; ``$`` is not among them.
    """

    def __init__(self, root: StaticType, functions: Mapping[str, TypedFunction]) -> None:
        self._root_type = root
        self.root = Value("", root)
        self.dot = self.root
        self.variables: list[tuple[str, Value]] = []
        self._functions = functions
        self._builtins: dict[str, Callable[[Sequence[Value]], Value]] = {
            "and": self._and,
            "or": self._or,
            "not": self._not,
            "eq": self._eq,
            "ne": self._ne,
            "len": self._len,
            "index": self._index,
            "slice": self._slice,
            "print": self._print,
            "printf": self._printf,
        }

    # --- pipelines ----------------------------------------------------------------------------------------

    def pipeline(self, node: Pipeline) -> Value:
        """Translate a pipeline without its declarations."""
        value: Value | None = None
        for command in node.commands:
            value = self._command(command, value)
            if len(value.code) > _LONGEST and value.constant is None:
                raise Unsupported("a long expression")
        assert value is not None  # noqa: S101 - the parser refuses an empty pipeline
        return value

    def _command(self, node: Command, final: Value | None) -> Value:
        first, *rest = node.operands
        if isinstance(first, Identifier):
            arguments = [self._operand(operand) for operand in rest]
            if final is None:
                return self._call(first.name, arguments, len(rest), False)
            value = self._call(first.name, [*arguments, final], len(rest), True)
            return evaluated((final,), value) if first.name in ("and", "or") else value
        if rest or final is not None:
            raise Unsupported("arguments of what is no function")
        if isinstance(first, Nil):
            raise Unsupported("nil as a command")
        return self._operand(first)

    def _operand(self, node: Operand) -> Value:
        if isinstance(node, Dot):
            return self.dot
        if isinstance(node, Field):
            return self._fields(self.dot, node.names)
        if isinstance(node, Variable):
            return self._fields(self.variable(node.name), node.fields)
        if isinstance(node, Bool | Number | String):
            return self._constant(node)
        if isinstance(node, Nil):
            return Value("None", NIL, (None,))
        if isinstance(node, Chain):
            return self._fields(self._operand(node.operand), node.fields)
        if isinstance(node, Identifier):
            return self._call(node.name, [], 0, False)
        if node.declarations:
            raise Unsupported("a declaration inside a pipeline")
        return self.pipeline(node)

    def variable(self, name: str) -> Value:
        """Return the variable that a name means."""
        for known, value in reversed(self.variables):
            if known == name:
                return value
        if name != "$":
            raise Unsupported("an undefined variable")
        return self.root

    @staticmethod
    def _constant(node: Bool | Number | String) -> Value:
        value, problem = ideal(node)
        if problem is not None or type(value) not in _CONSTANT_TYPES:
            raise Unsupported("a constant that is too large or complex")
        if type(value) is str and not is_valid(value):
            raise Unsupported("a string with invalid bytes")
        return Value(repr(value), _CONSTANT_TYPES[type(value)], (value,))

    def _fields(self, value: Value, names: Sequence[str]) -> Value:
        for name in names:
            found = value.type.fields.get(name)
            if found is not None:
                code, kind = found
                value = Value("''", STRING, ("",)) if code == "''" else Value(code.format(value.code), kind)
            elif value.type is self._root_type:
                value = Value("None", NIL)
            elif value.type.entry is not None and value.type.elem is not None:
                value = Value(value.type.entry.format(value.code, repr(name)), value.type.elem)
            else:
                raise Unsupported(f"the field {name} of {value.type!r}")
        return value

    # --- functions ----------------------------------------------------------------------------------------

    def _call(self, name: str, arguments: Sequence[Value], given: int, has_final: bool) -> Value:
        function = self._functions.get(name)
        if function is not None:
            return function(arguments)
        signature = BUILTINS.get(name)
        if signature is None or wrong_count(signature, name, given, has_final) is not None:
            raise Unsupported("a call that always fails")
        if name in _COMPARISONS:
            return self._compare(name, arguments)
        builtin = self._builtins.get(name)
        return builtin(arguments) if builtin is not None else self._exactly(name, arguments)

    def _exactly(self, name: str, arguments: Sequence[Value]) -> Value:
        """Translate a call into one of the function that the exact form uses."""
        if name == "call":
            raise Unsupported("a call of a function value")
        code = f"call(s, {', '.join((f'go_{name}', *(argument.go for argument in arguments)))})"
        result = _RESULTS.get(name)
        return Value(code, result) if result is not None else Value(f"settle({code})", GO)

    def _and(self, arguments: Sequence[Value]) -> Value:
        return self._decide("and", arguments)

    def _or(self, arguments: Sequence[Value]) -> Value:
        return self._decide("or", arguments)

    @staticmethod
    def _decide(word: str, arguments: Sequence[Value]) -> Value:
        """Translate ``and`` and ``or``, whose value is one of their arguments."""
        types = {argument.type for argument in arguments}
        condition = f"({f' {word} '.join(argument.truth for argument in arguments)})"
        if len(types) == 1 and arguments[0].type.truth == "{0}":
            return Value(condition, arguments[0].type)
        if types <= SCALARS - {GO}:
            return Value(condition, MIXED)
        return Value(condition, _CONDITION)

    @staticmethod
    def _not(arguments: Sequence[Value]) -> Value:
        return Value(f"(not {arguments[0].truth})", BOOL)

    def _eq(self, arguments: Sequence[Value]) -> Value:
        first, *others = arguments
        if not others:
            raise Unsupported("a comparison with nothing")
        if len(others) == 1:
            return self._equality("==", first, others[0])
        if all(other.type is first.type and first.type in _COMPARABLE for other in others):
            values = ", ".join(other.code for other in others)
            code = first.code if all(map(_is_short, others)) else _seen(first)
            return Value(f"({code} in ({values}))", BOOL)
        return self._exactly("eq", arguments)

    def _ne(self, arguments: Sequence[Value]) -> Value:
        return self._equality("!=", *arguments)

    def _equality(self, operator: str, left: Value, right: Value) -> Value:
        if (left.type is right.type and left.type in _COMPARABLE) or {left.type, right.type} <= _STRINGS:
            if not (_is_short(left) or _is_short(right)):
                left = Value(_seen(left), left.type)
            return _comparison(operator, left, right)
        return self._exactly("eq" if operator == "==" else "ne", (left, right))

    def _compare(self, name: str, arguments: Sequence[Value]) -> Value:
        left, right = arguments
        if left.type is INT and right.type is INT:
            return _comparison(_COMPARISONS[name], left, right)
        return self._exactly(name, arguments)

    def _len(self, arguments: Sequence[Value]) -> Value:
        (value,) = arguments
        if value.type.length is None:
            return self._exactly("len", arguments)
        if value.remaining is not None:
            left = value.remaining
            return Value(f"({left.length} - {left.index})", INT)
        if value.parts:
            return Value(f"byte_length(s, {value.code})", INT)
        return Value(value.length, INT)

    def _index(self, arguments: Sequence[Value]) -> Value:
        value, *positions = arguments
        if not positions:
            return self._exactly("index", arguments)
        for position in positions:
            kind = value.type
            if kind.position is None or kind.elem is None or position.type is not INT:
                return self._exactly("index", arguments)
            code = kind.position.format(value.code, position.code)
            if position.constant is None:
                code = kind.position.format(value.code, f"natural({position.code})")
            elif isinstance(position.constant[0], int) and position.constant[0] < 0:
                raise Unsupported("an index that is always out of range")
            value = Value(code, kind.elem)
        return value

    def _slice(self, arguments: Sequence[Value]) -> Value:
        value, *bounds = arguments
        if any(bound.type is not INT for bound in bounds):
            return self._exactly("slice", arguments)
        code = ", ".join((value.code, *(bound.code for bound in bounds)))
        if value.type in _STRINGS and len(bounds) <= 2:
            return Value(f"slice_text(s, {code})", RAW)
        if value.type.position is not None and len(bounds) <= 1:
            remaining = None
            if bounds and bounds[0].remaining is not None and bounds[0].remaining.length == f"n_{value.code}":
                remaining = bounds[0].remaining
            return Value(f"slice_list(s, {code})", value.type, remaining=remaining)
        return self._exactly("slice", arguments)

    def _print(self, arguments: Sequence[Value]) -> Value:
        parts: list[str] = []
        after_string = True
        for argument in arguments:
            if argument.type not in _VERBS and not argument.type.prints_itself:
                return self._exactly("print", arguments)
            is_string = argument.type in _STRINGS
            if not is_string and not after_string:
                parts.append("' '")
            parts.append(argument.text)
            after_string = is_string
        return _concatenation(parts)

    def _printf(self, arguments: Sequence[Value]) -> Value:
        layout, *values = arguments
        if layout.type is not STRING:
            return self._exactly("printf", arguments)
        parts = None if layout.constant is None else _simple_layout(str(layout.constant[0]), values)
        return self._exactly("printf", arguments) if parts is None else _concatenation(parts)


_CONDITION: Final = StaticType("condition")
"""What ``and`` and ``or`` of records give: something that can only be tested."""
_CONSTANT_TYPES: Final[Mapping[type, StaticType]] = {bool: BOOL, int: INT, float: FLOAT, str: STRING}
_STRINGS: Final = frozenset({STRING, RAW})
_COMPARABLE: Final = frozenset({STRING, INT, BOOL})
_VERBS: Final = {STRING: "sv", RAW: "sv", INT: "dv", BOOL: "tv"}
_RESULTS: Final[Mapping[str, StaticType]] = {
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge", "not"), BOOL),
    **dict.fromkeys(("print", "printf", "println", "html", "js", "urlquery"), STRING),
    "len": INT,
}


def _comparison(operator: str, left: Value, right: Value) -> Value:
    return Value(f"({left.code} {operator} {right.code})", BOOL)


def _is_short(value: Value) -> bool:
    """Whether comparing with a value costs next to nothing, whatever the other is."""
    if value.constant is None:
        return value.type not in _STRINGS
    return not isinstance(value.constant[0], str) or len(value.constant[0]) <= SMALL


def _seen(value: Value) -> str:
    return f"seen(s, {value.code})" if value.type in _STRINGS else value.code


def _concatenation(parts: Sequence[str]) -> Value:
    if len(parts) <= 1:
        return Value(parts[0] if parts else "''", STRING)
    if len(parts) > FEW:
        return Value(f"concatenated(s, {', '.join(parts)})", STRING, parts=tuple(parts))
    if all(part.startswith(_BOUNDED) for part in parts):
        return Value(f"({' + '.join(parts)})", STRING, parts=tuple(parts))
    return Value(f"made(s, {' + '.join(parts)})", STRING, parts=tuple(parts))


def _simple_layout(layout: str, values: Sequence[Value]) -> list[str] | None:
    """Return the parts of a format that has only ``%s``, ``%d``, ``%v``, ``%t`` and ``%*s`` in it."""
    first, *pieces = layout.split("%")
    parts = [repr(first)] if first else []
    waiting = list(values)
    for piece in pieces:
        width = waiting.pop(0) if piece.startswith("*s") and waiting else None
        if not waiting or not piece:
            return None
        value = waiting.pop(0)
        if width is not None:
            if width.type is not INT or value.type is not STRING:
                return None
            parts.append(f"padded(s, {value.code}, {width.code})")
        elif piece[0] in ("sv" if value.type.prints_itself else _VERBS.get(value.type, "")):
            parts.append(value.text)
        else:
            return None
        rest = piece[2:] if width is not None else piece[1:]
        if rest:
            parts.append(repr(rest))
    return None if waiting else parts
