"""A seeded, grammar-driven generator of Ollama Go templates that knows the types of Ollama's data.

Most of what it writes is meaningful: fields exist, functions get arguments they can take. A share of wild
operands, and the faults in :mod:`tests.fuzz.faults`, see to the errors. Every construct that it writes is
recorded as a feature, so that a run can tell what it never tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

Option = TypeVar("Option")

# --- Ollama's data as a template sees it: fields and methods of each type, with their types ---------------

ROOT = {
    "System": "string",
    "Messages": "messages",
    "Tools": "tools",
    "Response": "string",
    "Prompt": "string",
    "Suffix": "string",
    "Think": "bool",
    "ThinkLevel": "string",
    "IsThinkSet": "bool",
    "Nope": "nil",
}
LEGACY_ROOT = {name: kind for name, kind in ROOT.items() if name not in {"Messages", "Tools"}}
FIELDS: dict[str, dict[str, str]] = {
    "root": ROOT,
    "legacy": LEGACY_ROOT,
    "message": {
        "Role": "string",
        "Content": "string",
        "Thinking": "string",
        "Images": "images",
        "ToolCalls": "toolcalls",
        "ToolName": "string",
        "ToolCallID": "string",
    },
    "toolcall": {"ID": "string", "Function": "callfunction"},
    "callfunction": {"Index": "int", "Name": "string", "Arguments": "arguments"},
    "tool": {"Type": "string", "Items": "any", "Function": "toolfunction"},
    "toolfunction": {"Name": "string", "Description": "string", "Parameters": "parameters"},
    "parameters": {
        "Type": "string",
        "Defs": "any",
        "Items": "any",
        "Required": "strings",
        "Properties": "properties",
    },
    "property": {
        "AnyOf": "propertylist",
        "Type": "propertytype",
        "Items": "any",
        "Description": "string",
        "Enum": "list",
        "Properties": "propertymap",
        "Required": "strings",
    },
}
METHODS: dict[str, dict[str, str]] = {
    "tools": {"String": "string"},
    "tool": {"String": "string"},
    "arguments": {"String": "string"},
    "properties": {"String": "string"},
    "property": {"ToTypeScriptType": "string"},
    "propertytype": {"String": "string", "MarshalJSON": "bytes", "UnmarshalJSON": "nil"},
    "propertymap": {
        "All": "sequence",
        "Len": "int",
        "ToMap": "plainproperties",
        "MarshalJSON": "bytes",
        "Get": "property",
        "Set": "nil",
        "UnmarshalJSON": "nil",
        "om": "any",
    },
}
ELEMENTS: dict[str, tuple[str, str]] = {
    "messages": ("int", "message"),
    "tools": ("int", "tool"),
    "toolcalls": ("int", "toolcall"),
    "arguments": ("string", "any"),
    "properties": ("string", "property"),
    "plainproperties": ("string", "property"),
    "sequence": ("string", "property"),
    "propertylist": ("int", "property"),
    "propertytype": ("int", "string"),
    "strings": ("int", "string"),
    "list": ("int", "any"),
    "images": ("int", "image"),
    "image": ("int", "uint8"),
    "bytes": ("int", "uint8"),
    "int": ("int", "int"),
    "any": ("any", "any"),
}
INDEXED = (
    "messages",
    "tools",
    "toolcalls",
    "propertylist",
    "propertytype",
    "strings",
    "list",
    "images",
    "image",
)
SCALARS = ("string", "int", "float", "bool", "complex", "nil", "any", "uint8")
PRINTED = ("string", "int", "float", "bool", "complex", "nil", "string", "uint8")
"""What is printed to try out a verb: nothing that holds a pointer, of which Go prints the address."""
DEEP = ("if", "with", "range", "mixed", "else-if", "parentheses", "calls", "arguments", "pipes")
RANGED = (*ELEMENTS, *SCALARS)

FUNCTIONS = (
    *("and", "or", "not", "len", "index", "slice", "print", "printf", "println", "html", "js", "urlquery"),
    *("call", "eq", "ne", "lt", "le", "gt", "ge", "json", "currentDate", "yesterdayDate", "toTypeScriptType"),
)

_IN_PROPERTIES = "{{range .Tools}}{{range .Function.Parameters.Properties}}"
CONTEXTS: dict[str, tuple[str, int]] = {
    "root": ("", 0),
    "legacy": ("", 0),
    "message": ("{{range .Messages}}", 1),
    "toolcall": ("{{range .Messages}}{{range .ToolCalls}}", 2),
    "callfunction": ("{{range .Messages}}{{range .ToolCalls}}{{with .Function}}", 3),
    "arguments": ("{{range .Messages}}{{range .ToolCalls}}{{with .Function.Arguments}}", 3),
    "tools": ("{{with .Tools}}", 1),
    "tool": ("{{range .Tools}}", 1),
    "toolfunction": ("{{range .Tools}}{{with .Function}}", 2),
    "parameters": ("{{range .Tools}}{{with .Function.Parameters}}", 2),
    "properties": ("{{range .Tools}}{{with .Function.Parameters.Properties}}", 2),
    "property": (_IN_PROPERTIES, 2),
    "propertytype": (_IN_PROPERTIES + "{{with .Type}}", 3),
    "propertymap": (_IN_PROPERTIES + "{{with .Properties}}", 3),
}
"""For each type with fields or methods: what to open so that dot is of it, and how many ends that takes."""

# --- literals -------------------------------------------------------------------------------------------

LITERALS: dict[str, tuple[str, tuple[str, ...]]] = {
    "int-decimal": (
        "int",
        ("0", "1", "2", "3", "-1", "+1", "7", "10", "127", "1000", "65536", "1_000", "-0"),
    ),
    "int-big": ("int", ("2147483648", "9223372036854775807", "-9223372036854775808", "1000000", "12345678")),
    "int-hex": ("int", ("0x1F", "0XaB", "0x_1", "-0x10")),
    "int-octal": ("int", ("0o17", "0O7", "017", "0_7", "-017")),
    "int-binary": ("int", ("0b101", "0B1", "-0b11", "0b_1")),
    "int-overflow": ("int", ("9223372036854775808", "18446744073709551615", "0xffffffffffffffff")),
    "float-point": ("float", ("1.0", "1.5", "-0.0", ".5", "2.", "3.14", "1_0.5", "08.5", "-2.50", "+.5")),
    "float-exponent": ("float", ("1e3", "1E-3", "1e21", "1.5e300", "1e-7", "5e-324", "1e+2", "1e5", "-1e20")),
    "float-max": ("float", ("1.7976931348623157e308", "1e308", "-1e308", "1e-400")),
    "float-hex": ("float", ("0x1p-2", "0x1.8p1", "0X.8P1", "0x1p+10", "-0x1p3", "0x_1p4")),
    "imaginary": ("complex", ("1i", "0i", "1.5i", "-2i", "1e3i", "1_0i", "0i", "-.5i")),
    "complex": ("complex", ("1+2i", "1.5-0.5i", "3-0i", "-1e3+1e-3i", "+1+1i", "0+0i", "1.5+0i")),
    "char": ("int", ("'a'", "'é'", "'日'", "'😀'", "' '", "'\"'", "'{'")),
    "char-escape": (
        "int",
        (r"'\n'", r"'\''", r"'\\'", r"'\x41'", r"'\xff'", r"'\101'", r"'\u00e9'", r"'\U0001F600'"),
    ),
    "bool": ("bool", ("true", "false")),
    "nil": ("nil", ("nil",)),
    "string": ("string", ('""', '"a"', '"user"', '"assistant"', '"é日😀"', '"100%"', '"a b  c"', '"<&>\'"')),
    "string-escape": (
        "string",
        (
            r'"\n"',
            r'"\t|\x41\101\u00e9\U0001F600"',
            r'"\a\b\f\r\v\\\""',
            r'"\xff\xc3"',
            r'"\u2028"',
            r'"\x00"',
        ),
    ),
    "string-raw": ("string", ("``", "`raw`", "`a\nb`", "`\\n`", '`"q"`', "`}} {{`", "`é\r\n`")),
    "string-bytes": ("string", ('"\udcff"', "`\udce9é`", '"a\udcc3("')),
    "string-delimiters": ("string", ('"}}"', '"{{"', '"/* */"', "`{{/*`")),
    "string-key": ("string", ('"city"', '"unit"', '"a"', '"b"', '"é"', '"items"', '"days"', '"String"')),
}
BY_TYPE: dict[str, list[tuple[str, str]]] = {}
for _form, (_type, _texts) in LITERALS.items():
    BY_TYPE.setdefault(_type, []).extend((_form, _text) for _text in _texts)

# --- printf -----------------------------------------------------------------------------------------------

VERBS = "vTtbcdoOqxXUeEfFgGspw"
FLAGS = ("", "", "", "", "+", "-", "#", " ", "0", "+#", "-0", "# ", "+0", "0-", "##", "+ ")
WIDTHS = ("", "", "", "1", "3", "6", "12", "30", "*", "[1]*", "1000")
PRECISIONS = ("", "", "", ".", ".0", ".1", ".2", ".3", ".6", ".20", ".*", ".[2]*", ".-1")
INDEXES = ("", "", "", "", "", "[1]", "[2]", "[3]", "[0]", "[9]", "[x]", "[", "[]", "[-1]", "[1][2]")
COMPLAINTS = (
    *("%", "%!", "%z", "%é", "%d", "%[", "%[1", "%[1]", "%*", "%.*d", "%-", "%5", "%.", "%[5]d", "%[x]d"),
    *(
        "%[1]*d",
        "%*[2]d",
        "%[3]*.[2]*[1]f",
        "%1000001d",
        "%1000000d",
        "%%",
        "%5%",
        "%-5%|",
        "%+q",
        "%#q",
        "%#U",
        "% x",
        "%# X",
        "%x",
    ),
)

TEXTS = (
    *(
        "x",
        "\udcffbyte\udcc3",
        " ",
        "\n",
        "  a  ",
        "\n  indented\n",
        "a\r\nb\r\n",
        "\tb\n",
        "text",
        ".",
        "}",
        "} }",
        "\\n",
    ),
    *(
        '"q"',
        "$x",
        "/* no */",
        "<|im_start|>",
        "<|im_end|>\n",
        "[INST]",
        "é",
        "日本",
        "😀",
        "\u2003em ",
        "\u00a0nb",
    ),
    *("%d", "<b>&amp;", "\x00", "\v\f", "\ufeff", "\u0301", " - ", "\n\n", "#}", "`"),
)
SPACES = (" ", " ", " ", "  ", "\n", "\t", "\r\n", "\n\t ")
VARIABLES = ("$x", "$i", "$e", "$last", "$m", "$_", "$é", "$messages", "$x1", "$Response2", "$system")
TEMPLATE_NAMES = ("a", "T.1", "b c", "é1", "x")


@dataclass
class Scope:
    """What is visible at one place of a template: the type of dot, of ``$``, and of each variable."""

    dot: str
    root: str
    variables: dict[str, str] = field(default_factory=dict)
    loops: int = 0

    def inner(self, dot: str | None = None, *, loops: int = 0) -> Scope:
        """Return the scope of a block inside this one."""
        return Scope(self.dot if dot is None else dot, self.root, dict(self.variables), self.loops + loops)


@dataclass(frozen=True, slots=True)
class Generated:
    """A template and the features that it uses."""

    source: str
    features: frozenset[str]


def _paths() -> dict[str, dict[str, list[str]]]:
    """Return, for every type, the field paths of up to three steps that lead to every other type."""
    found: dict[str, dict[str, list[str]]] = {}
    for start in {*FIELDS, *METHODS}:
        reached = [("", start)]
        for _ in range(3):
            reached = [
                (f"{path}.{name}", kind)
                for path, at in reached
                for name, kind in {**FIELDS.get(at, {}), **METHODS.get(at, {})}.items()
                if name not in {"Get", "Set", "UnmarshalJSON", "om"}
            ]
            for path, kind in reached:
                found.setdefault(start, {}).setdefault(kind, []).append(path)
    return found


PATHS = _paths()


class Templates:
    """Writes templates from one random source.

    Attributes:
        rng: The source.
        wildness: The share of operands that are of no particular type.
    """

    def __init__(self, rng: Random, *, wildness: float = 0.04, turn: int = 0) -> None:
        """Start writing.

        Args:
            rng: The random source.
            wildness: The share of operands of no particular type.
            turn: Where to begin with the options that are taken in turn; see :meth:`_pick`.
        """
        self.rng = rng
        self.wildness = wildness
        self._first_turn = turn
        self._turns: dict[int, int] = {}
        self.features: set[str] = set()
        self._defined: dict[str, str] = {}
        self._called: dict[str, str] = {}
        self._mode = "messages"

    def _use(self, feature: str) -> None:
        self.features.add(feature)

    def _pick(self, options: Sequence[Option]) -> Option:
        """Choose one option; half of the time in turn, so that rare ones come up in every run."""
        if self.rng.random() < 0.5:
            turn = self._turns.get(id(options), self._first_turn)
            self._turns[id(options)] = turn + 1
            return options[turn % len(options)]
        return self.rng.choice(options)

    # --- whole templates --------------------------------------------------------------------------------

    def template(self) -> Generated:
        """Return a template with its features."""
        rng = self.rng
        self.features = set()
        self._defined, self._called = {}, {}
        self._mode = rng.choices(("messages", "legacy", "suffix"), (80, 15, 5))[0]
        self._use(f"template:{self._mode}")
        root = "root" if self._mode == "messages" else "legacy"
        scope = Scope(root, root)
        parts = [self.body(scope, depth=rng.choice((1, 2, 2, 3, 3, 4)), most=rng.randint(1, 6))]
        if self._mode == "messages" and rng.random() < 0.7:
            parts.append(self._message_loop(scope))
        if self._mode == "messages" and rng.random() < 0.15:
            parts.append(self._tool_loop(scope))
        if self._mode == "messages" and rng.random() < 0.1:
            parts.append(self._call_loop(scope))
        if self._mode == "legacy" and rng.random() < 0.7:
            parts.append(self._legacy_form(scope))
        if rng.random() < 0.2:
            parts.append(self.body(scope, depth=1, most=3))
        for name, dot in list(self._called.items()):
            if name not in self._defined and rng.random() < 0.9:
                parts.insert(rng.choice((0, len(parts))), self._define(name, dot))
        if rng.random() < 0.03:
            parts.insert(0, self._define("", "root") if rng.random() < 0.2 else self._define("unused", "any"))
        return Generated("".join(parts), frozenset(self.features))

    def focused(self, feature: str) -> Generated:
        """Return a small template that has a feature, one of :data:`FOCUSED`."""
        rng = self.rng
        self.features = {feature}
        self._defined, self._called = {}, {}
        self._mode = "messages"
        group, _, name = feature.partition(":")
        owner, _, member = name.rpartition(".")
        holders = [holder for holder in CONTEXTS if name in PATHS.get(holder, {})]
        place = owner if group in {"field", "method"} else rng.choice(holders or ["root"])
        opening, ends = CONTEXTS[place]
        scope = Scope(place, "root", loops=opening.count("{{range"))
        if group in {"field", "method"}:
            arguments = [self.operand(scope, None, 0) for _ in range(rng.choice((0, 0, 0, 1, 2)))]
            inside = self.action(" ".join([f".{member}", *arguments]))
        elif group == "range":
            over = (
                f".{rng.choice(PATHS[place][name]).lstrip('.')}" if holders else self.operand(scope, name, 0)
            )
            inside = self.action(f"range {over}") + self.action(".") + self.action("end")
        elif group == "deep":
            inside = self._deep(scope, kind=name)
        elif group == "literal":
            inside = self.action(f"print {rng.choice(LITERALS[name][1])}")
        elif group == "function":
            count = rng.choice((1, 1, 2, 3))
            inside = self.action(" ".join([name, *(self.operand(scope, None, 0) for _ in range(count))]))
        else:
            printed = self.operand(scope, rng.choice(PRINTED), 0)
            inside = self.action(f'printf "{self._focused_verb(group, name)}" {printed}')
        around = self.action("with .Messages") + self.action("end")
        return Generated(around + opening + inside + "{{end}}" * ends, frozenset(self.features))

    def _focused_verb(self, group: str, name: str) -> str:
        verb = self.rng.choice(VERBS)
        forms = {
            "complaint": name,
            "verb": f"%{self._pick(FLAGS)}{name}",
            "flag": f"%{name.replace('space', ' ')}{verb}",
        }
        return forms.get(group, f"%{name}{verb}")

    def _message_loop(self, scope: Scope) -> str:
        inner = scope.inner("message", loops=1)
        inner.variables |= {"$i": "int", "$m": "message"}
        head = self.action(
            "range $i, $m := .Messages" if scope.dot == "root" else "range $i, $m := $.Messages"
        )
        last = self.action("$last := eq (len (slice $.Messages $i)) 1") if self.rng.random() < 0.5 else ""
        if last:
            inner.variables["$last"] = "bool"
        return head + last + self.body(inner, depth=2, most=4) + self.action("end")

    def _tool_loop(self, scope: Scope) -> str:
        tool = scope.inner("tool", loops=1)
        tool.variables["$tool"] = "tool"
        inner = tool.inner("property", loops=1)
        inner.variables |= {"$name": "string", "$property": "property"}
        return "".join(
            [
                self.action("range $tool := $.Tools"),
                self.body(tool, depth=1, most=2),
                self.action("range $name, $property := .Function.Parameters.Properties"),
                self.body(inner, depth=2, most=4),
                self.action("end"),
                self.action("end"),
            ]
        )

    def _call_loop(self, scope: Scope) -> str:
        inner = scope.inner("toolcall", loops=2)
        inner.variables["$message"] = "message"
        heads = self.action("range $message := $.Messages") + self.action("range .ToolCalls")
        return heads + self.body(inner, depth=2, most=4) + self.action("end") * 2

    def _legacy_form(self, scope: Scope) -> str:
        rng = self.rng
        pieces = [
            self.action("if .System") + self.text() + self.action(".System") + self.action("end"),
            self.action("if .Prompt") + self.text() + self.action(".Prompt") + self.action("end"),
        ]
        rng.shuffle(pieces)
        if rng.random() < 0.7:
            pieces.append(self.action(".Response"))
            self._use("mode:response")
        if rng.random() < 0.4:
            pieces.append(self.body(scope, depth=1, most=2))
        return "".join(pieces)

    def body(self, scope: Scope, *, depth: int, most: int) -> str:
        """Return some items in a row."""
        return "".join(self.item(scope, depth) for _ in range(self.rng.randint(0, most)))

    def text(self) -> str:
        """Return text outside of actions."""
        self._use("action:text")
        return self.rng.choice(TEXTS)

    def action(self, inside: str) -> str:
        """Wrap the inside of an action into delimiters, with trim markers and spaces as they come."""
        rng = self.rng
        left = right = ""
        if rng.random() < 0.25:
            self._use("action:trim-left")
            left = "-" + rng.choice(SPACES)
        elif rng.random() < 0.15 or inside.startswith("-"):
            left = rng.choice(SPACES)
        if rng.random() < 0.2:
            self._use("action:trim-right")
            right = rng.choice(SPACES) + "-"
        elif rng.random() < 0.15:
            right = rng.choice(SPACES)
        return "{{" + left + inside + right + "}}"

    # --- items ------------------------------------------------------------------------------------------

    def item(self, scope: Scope, depth: int) -> str:
        """Return one item: text, an action or a whole block."""
        rng = self.rng
        writers: list[tuple[int, Callable[[Scope, int], str]]] = [
            (6, lambda _scope, _depth: self.text()),
            (9, self._print),
            (2, self._declare),
            (1, self._assign),
            (1, self._comment),
        ]
        if depth > 0:
            writers += [
                (5, self._if),
                (3, self._with),
                (4, self._range),
                (1, self._template_call),
                (1, self._block),
                (1, self._deep),
            ]
        if scope.loops:
            writers.append((1, self._leave))
        (chosen,) = rng.choices(writers, [weight for weight, _ in writers])
        return chosen[1](scope, depth)

    def _comment(self, _scope: Scope, _depth: int) -> str:
        self._use("action:comment")
        left, right = self.rng.choice((("{{", "}}"), ("{{- ", " -}}"), ("{{- ", "}}"), ("{{", " -}}")))
        if left != "{{":
            self._use("action:comment-trimmed")
        inside = self.rng.choice((" c ", "", " a\nb ", " {{.X}} ", " 日 "))
        return f"{left}/*{inside}*/{right}"

    def _print(self, scope: Scope, _depth: int = 0) -> str:
        return self.action(self.pipeline(scope, None, 2))

    def _declare(self, scope: Scope, _depth: int = 0) -> str:
        self._use("action:declare")
        name, kind = self.rng.choice(VARIABLES), self._any_type(scope)
        made = self.action(f"{name}{self._gap()}:={self._gap()}{self.pipeline(scope, kind, 2)}")
        scope.variables[name] = kind
        return made

    def _assign(self, scope: Scope, _depth: int) -> str:
        if not scope.variables:
            return self._declare(scope)
        self._use("action:assign")
        name = self.rng.choice(list(scope.variables))
        kind = scope.variables[name] if self.rng.random() < 0.7 else self._any_type(scope)
        made = self.action(f"{name} = {self.pipeline(scope, kind, 2)}")
        scope.variables[name] = kind
        return made

    def _gap(self) -> str:
        return self.rng.choice((" ", " ", "", "\t"))

    def _condition(self, scope: Scope) -> str:
        rng = self.rng
        if rng.random() < 0.15:
            self._use("action:declare-in-condition")
            name, kind = rng.choice(VARIABLES), self._any_type(scope)
            made = f"{name} := {self.pipeline(scope, kind, 2)}"
            scope.variables[name] = kind
            return made
        return self.pipeline(scope, rng.choice(("bool", "bool", None)), 2)

    def _if(self, scope: Scope, depth: int) -> str:
        rng = self.rng
        self._use("action:if")
        inner = scope.inner()
        parts = [
            self.action(f"if {self._condition(inner)}"),
            self.body(inner.inner(), depth=depth - 1, most=3),
        ]
        while rng.random() < 0.25:
            self._use("action:else-if")
            parts += [
                self.action(f"else if {self._condition(inner)}"),
                self.body(inner.inner(), depth=depth - 1, most=2),
            ]
        if rng.random() < 0.4:
            self._use("action:else")
            parts += [self.action("else"), self.body(inner.inner(), depth=depth - 1, most=2)]
        return "".join(parts) + self.action("end")

    def _with(self, scope: Scope, depth: int) -> str:
        rng = self.rng
        self._use("action:with")
        inner = scope.inner()
        kind = self._any_type(scope)
        pipeline = self.pipeline(inner, kind, 2)
        if rng.random() < 0.2:
            name = rng.choice(VARIABLES)
            pipeline = f"{name} := {pipeline}"
            inner.variables[name] = kind
        parts = [self.action(f"with {pipeline}"), self.body(inner.inner(kind), depth=depth - 1, most=3)]
        if rng.random() < 0.2:
            self._use("action:else-with")
            kind = self._any_type(scope)
            parts += [
                self.action(f"else with {self.pipeline(inner, kind, 2)}"),
                self.body(inner.inner(kind), depth=depth - 1, most=2),
            ]
        if rng.random() < 0.3:
            self._use("action:with-else")
            parts += [self.action("else"), self.body(inner.inner(), depth=depth - 1, most=2)]
        return "".join(parts) + self.action("end")

    def _range(self, scope: Scope, depth: int) -> str:
        rng = self.rng
        kinds = sorted(self._reachable(scope) & ELEMENTS.keys()) or ["int"]
        kind = rng.choice(kinds) if rng.random() < 0.94 else self._pick(RANGED)
        if kind == "int":
            over = rng.choice(
                ("0", "1", "2", "3", "4", "-1", "'\\x02'", f"len {self.operand(scope, 'list', 1)}")
            )
        else:
            over = self.pipeline(scope, kind, 2)
        self._use(f"range:{kind}")
        key, element = ELEMENTS.get(kind, ("any", "any"))
        inner = scope.inner(element, loops=1)
        form = rng.choices(("none", "one", "two", "assign-one", "assign-two"), (5, 3, 6, 1, 1))[0]
        first, second = rng.sample(VARIABLES, 2)
        if form.startswith("assign"):
            known = list(scope.variables)
            if len(known) < 2:
                form = "two"
            else:
                first, second = rng.sample(known, 2)
        self._use(f"range:variables-{form}")
        if form in {"one", "assign-one"}:
            head = f"range {first} {':=' if form == 'one' else '='} {over}"
            inner.variables[first] = element
        elif form in {"two", "assign-two"}:
            comma = rng.choice((", ", ",", " , "))
            head = f"range {first}{comma}{second} {':=' if form == 'two' else '='} {over}"
            inner.variables |= {first: key, second: element}
        else:
            head = f"range {over}"
        parts = [self.action(head), self.body(inner, depth=depth - 1, most=4)]
        if rng.random() < 0.25:
            self._use("action:range-else")
            parts += [self.action("else"), self.body(scope.inner(), depth=depth - 1, most=2)]
        return "".join(parts) + self.action("end")

    def _deep(self, scope: Scope, _depth: int = 0, *, kind: str | None = None) -> str:
        """Return blocks inside one another, or an expression, deeper than hand-written ones ever are."""
        rng = self.rng
        kind = kind or self._pick(DEEP)
        count = rng.choice((12, 19, 20, 21, 22, 30, 60, 101))
        self._use(f"deep:{kind}")
        if kind == "parentheses":
            return self.action("(" * count + self.expression(scope, "int", 0) + ")" * count)
        if kind == "arguments":
            function = rng.choice(("and", "or", "print", "eq"))
            operands = (self.operand(scope, "int", 0) for _ in range(count))
            return self.action(" ".join([function, *operands]))
        if kind == "calls":
            return self.action("(not " * count + self.operand(scope, "bool", 0) + ")" * count)
        if kind == "pipes":
            return self.action(self.operand(scope, "string", 0) + " | print" * count)
        if kind == "else-if":
            chain = (
                self.action(f"else if {self.expression(scope, 'bool', 1)}") + self.text()
                for _ in range(count)
            )
            return "".join([self.action("if false"), *chain, self.action("end")])
        inner = scope.inner()
        heads = [
            self._deep_head(inner, kind, number) + (self.text() if rng.random() < 0.2 else "")
            for number in range(min(count, 60))
        ]
        tails = [self.action("end") + (self.text() if rng.random() < 0.1 else "") for _ in heads]
        return "".join([*heads, self.body(inner, depth=1, most=3), *tails])

    def _deep_head(self, inner: Scope, kind: str, number: int) -> str:
        """Return the opening of one of many nested blocks; it seldom stops what stands inside."""
        word = self.rng.choice(("if", "with", "range")) if kind == "mixed" else kind
        if word == "if":
            return self.action(
                "if true" if self.rng.random() < 0.9 else f"if {self.expression(inner, 'bool', 1)}"
            )
        if word == "with":
            inner.dot = "int"
            return self.action(f"with {number + 1}" if self.rng.random() < 0.7 else f"with $x{number} := 1")
        inner.dot = "int"
        inner.loops += 1
        return self.action("range 1" if self.rng.random() < 0.7 else f"range $i{number} := 1")

    def _leave(self, scope: Scope, _depth: int = 0) -> str:
        word = self.rng.choice(("break", "continue"))
        self._use(f"action:{word}")
        leave = self.action(word)
        if self.rng.random() < 0.8:
            return self.action(f"if {self.pipeline(scope, 'bool', 1)}") + leave + self.action("end")
        return leave

    def _template_call(self, scope: Scope, _depth: int = 0) -> str:
        rng = self.rng
        self._use("action:template")
        name = rng.choice(TEMPLATE_NAMES)
        kind = self._called.get(name) or self._any_type(scope)
        self._called.setdefault(name, kind)
        quoted = f'"{name}"' if rng.random() < 0.9 else f"`{name}`"
        data = "." if scope.dot == kind and rng.random() < 0.7 else self.pipeline(scope, kind, 1)
        return self.action(f"template {quoted} {data}")

    def _define(self, name: str, dot: str) -> str:
        self._use("action:define")
        self._defined[name] = dot
        called = self._called
        # No call inside a definition, so that no template calls itself without end.
        self._called = dict.fromkeys(TEMPLATE_NAMES, dot)
        inside = self.body(Scope(dot, dot), depth=0, most=4)
        self._called = called
        return self.action(f'define "{name}"') + inside + self.action("end")

    def _block(self, scope: Scope, _depth: int = 0) -> str:
        name = f"block{len(self._defined)}"
        self._use("action:block")
        kind = self._any_type(scope)
        self._defined[name] = kind
        head = self.action(f'block "{name}" {self.pipeline(scope, kind, 1)}')
        return head + self.body(Scope(kind, kind), depth=0, most=3) + self.action("end")

    # --- expressions ------------------------------------------------------------------------------------

    def _any_type(self, scope: Scope) -> str:
        rng = self.rng
        if rng.random() < self.wildness:
            return rng.choice((*SCALARS, *ELEMENTS, *FIELDS))
        holder = rng.choice((scope.dot, scope.dot, scope.root, *scope.variables.values()))
        if rng.random() < 0.25:
            return rng.choice(SCALARS)
        return rng.choice((holder, *PATHS.get(holder, {})))

    def _reachable(self, scope: Scope) -> set[str]:
        """Return the types of all values that fields lead to from this place."""
        holders = {scope.dot, scope.root, *scope.variables.values()}
        return holders.union(*(PATHS.get(holder, {}) for holder in holders))

    def pipeline(self, scope: Scope, kind: str | None, depth: int) -> str:
        """Return a pipeline whose value is, mostly, of a type; None is any type."""
        rng = self.rng
        if kind is None:
            kind = self._any_type(scope)
        if depth > 0 and rng.random() < 0.2:
            self._use("action:pipe")
            final = rng.choice(
                ("print", "printf", "json", "html", "js", "urlquery", "len", "not", "eq", "and", "or")
            )
            first = self.pipeline(scope, None, depth - 1)
            self._use(f"function:{final}")
            if final == "printf":
                return f"{first} | printf {self._format(1)}"
            if final in {"eq", "and", "or"}:
                return f"{first} | {final} {self.operand(scope, None, 1)}"
            if final == "print" and rng.random() < 0.3:
                return f"{first} | print {self.operand(scope, None, 1)} | len"
            return f"{first} | {final}"
        made = self.expression(scope, kind, depth)
        if made == "nil" and rng.random() < 0.95:
            made = "print nil"
        if rng.random() < 0.01:
            self._use("action:pipe-trailing")
            made += " |"
        return made

    def operand(self, scope: Scope, kind: str | None, depth: int) -> str:
        """Return an expression that can stand as an argument: in parentheses where it needs them."""
        made = self.expression(scope, kind or self._any_type(scope), depth)
        if any(character in made for character in " \t\n|"):
            self._use("action:parentheses")
            return f"({made})"
        if self.rng.random() < 0.03:
            self._use("action:parentheses")
            return f"({made})"
        return made

    def expression(self, scope: Scope, kind: str, depth: int) -> str:
        """Return a value of a type from dot, ``$``, a variable, a literal or a function."""
        rng = self.rng
        if rng.random() < self.wildness:
            return self._wild(scope, depth)
        choices: list[Callable[[], str | None]] = [
            lambda: self._path(scope, kind),
            lambda: self._path(scope, kind),
            lambda: self._variable(scope, kind),
            lambda: self._literal(kind),
        ]
        if depth > 0:
            choices += [lambda: self._computed(scope, kind, depth)] * (2 if kind in SCALARS else 1)
        rng.shuffle(choices)
        for choose in choices:
            made = choose()
            if made is not None:
                return made
        return self._fallback(scope, kind)

    def _fallback(self, scope: Scope, kind: str) -> str:
        """Return a value of a type the long way, from the root of the data."""
        found = PATHS.get(scope.root, {}).get(kind)
        if found:
            return "$" + self._seen(scope.root, self.rng.choice(found))
        if kind in ELEMENTS:
            return self.rng.choice((".", "$", *scope.variables))
        return self._literal(self.rng.choice(("string", "int"))) or "1"

    def _path(self, scope: Scope, kind: str) -> str | None:
        rng = self.rng
        if scope.dot == kind and rng.random() < 0.4:
            return "."
        found = PATHS.get(scope.dot, {}).get(kind)
        if found:
            return self._seen(scope.dot, rng.choice(found))
        found = PATHS.get(scope.root, {}).get(kind)
        if found:
            return "$" + self._seen(scope.root, rng.choice(found))
        return None

    def _variable(self, scope: Scope, kind: str) -> str | None:
        rng = self.rng
        exact = [name for name, has in scope.variables.items() if has == kind]
        if exact:
            return rng.choice(exact)
        for name, has in scope.variables.items():
            found = PATHS.get(has, {}).get(kind)
            if found:
                return name + self._seen(has, rng.choice(found))
        return None

    def _seen(self, start: str, path: str) -> str:
        """Count the fields and methods of a path and return it."""
        at = start
        for name in path.split(".")[1:]:
            if name in METHODS.get(at, {}):
                self._use(f"method:{at}.{name}")
                at = METHODS[at][name]
            else:
                self._use(f"field:{at}.{name}")
                at = FIELDS.get(at, {}).get(name, "any")
        return path

    def _literal(self, kind: str) -> str | None:
        forms = BY_TYPE.get(kind if kind not in {"any", "uint8"} else "int")
        if not forms:
            return None
        form, text = self._pick(forms)
        if form == "int-overflow" and self.rng.random() < 0.8:
            form, text = self.rng.choice(forms)
        self._use(f"literal:{form}")
        return text

    def _wild(self, scope: Scope, depth: int) -> str:
        """Return an operand of no particular type, often wrong where it stands."""
        rng = self.rng
        kind = rng.randrange(8)
        if kind == 0:
            return "." + ".".join(
                rng.choices(("Nope", "Role", "Content", "Function", "X", "String", "om", "Len"), k=2)
            )
        if kind == 1:
            return rng.choice(VARIABLES if rng.random() < 0.2 else list(scope.variables) or ["$"])
        if kind == 2:
            self._use("action:chain")
            inner = self.pipeline(scope, None, depth - 1)
            chain = ".".join(
                rng.choices(("Role", "Content", "Name", "Function", "Nope", "String"), k=rng.randint(1, 2))
            )
            return f"({inner}).{chain}"
        if kind == 3:
            owner = rng.choice([owner for owner in METHODS for _ in METHODS[owner]])
            method = rng.choice(list(METHODS[owner]))
            self._use(f"method:{owner}.{method}")
            holder = self.operand(scope, owner, depth - 1)
            arguments = "".join(f" {self.operand(scope, None, 0)}" for _ in range(rng.choice((0, 0, 1, 2))))
            if holder.startswith("(") or holder[0] in "$.":
                return f"{holder if holder != '.' else ''}.{method}{arguments}"
            return f"({holder}).{method}{arguments}"
        if kind == 4:
            function = rng.choice(FUNCTIONS)
            self._use(f"function:{function}")
            arguments = "".join(f" {self.operand(scope, None, 0)}" for _ in range(rng.randrange(4)))
            return function + arguments
        if kind == 5:
            return f"{self.operand(scope, None, 0)} {self.operand(scope, None, 0)}"
        return self._literal(rng.choice(list(BY_TYPE))) or "nil"

    # --- functions --------------------------------------------------------------------------------------

    def _computed(self, scope: Scope, kind: str, depth: int) -> str | None:
        """Return a call whose result is of a type, None if there is no such function."""
        makers: dict[str, tuple[Callable[[Scope, int], str], ...]] = {
            "string": (
                *(self._call_printf, self._call_printf, self._call_print, self._call_escape, self._call_json),
                *(self._call_slice_string, self._call_typescript, self._call_date, self._call_index_string),
            ),
            "int": (self._call_len, self._call_len),
            "bool": (self._call_compare, self._call_compare, self._call_order, self._call_not),
            "uint8": (self._call_index_byte,),
            "any": (self._call_index_any, self._call_and_or),
            "sequence": (lambda scope, _depth: f"call {self.operand(scope, 'sequence', 0)}",),
        }
        choices: list[Callable[[Scope, int], str]] = [
            *makers.get(kind, ()),
            lambda scope, depth: self._call_and_or(scope, depth, kind),
        ]
        reachable = self._reachable(scope)
        if kind == "string" or (kind in INDEXED and kind in reachable):
            choices.append(lambda scope, depth: self._call_slice(scope, depth, kind))
        holders = [
            h for h, (_, element) in ELEMENTS.items() if element == kind and h != "int" and h in reachable
        ]
        if holders and kind != "any":
            choices.append(lambda scope, depth: self._call_index(scope, depth, self.rng.choice(holders)))
        owners = [o for o, fields in FIELDS.items() if kind in fields.values() and o in reachable]
        if owners:
            choices.append(lambda scope, depth: self._call_chain(scope, depth, self.rng.choice(owners), kind))
        return self.rng.choice(choices)(scope, depth - 1)

    def _call_chain(self, scope: Scope, depth: int, owner: str, kind: str) -> str:
        holder = self.expression(scope, owner, depth)
        name = self.rng.choice([name for name, has in FIELDS[owner].items() if has == kind])
        self._use("action:chain")
        self._use(f"field:{owner}.{name}")
        return f"({holder}).{name}"

    def _call_printf(self, scope: Scope, depth: int) -> str:
        self._use("function:printf")
        count = self.rng.choice((0, 1, 1, 1, 2, 3))
        arguments = [self.operand(scope, None, depth) for _ in range(count)]
        return " ".join(["printf", self._format(count), *arguments])

    def _format(self, count: int) -> str:
        """Return a quoted format with about as many verbs as there are arguments."""
        rng = self.rng
        pieces = []
        for _ in range(max(0, count + rng.choice((-1, 0, 0, 0, 0, 1)))):
            if rng.random() < 0.25:
                complaint = self._pick(COMPLAINTS)
                self._use(f"complaint:{complaint}")
                pieces.append(complaint)
                continue
            flags, width, precision = self._pick(FLAGS), self._pick(WIDTHS), self._pick(PRECISIONS)
            index, verb = rng.choice(INDEXES), self._pick(VERBS)
            self._use(f"verb:{verb}")
            for flag in flags:
                self._use(f"flag:{flag if flag != ' ' else 'space'}")
            if width:
                self._use(f"width:{width}")
            if precision:
                self._use(f"precision:{precision}")
            if index:
                self._use(f"index:{index}")
            pieces.append(f"%{flags}{width}{precision}{index}{verb}")
        separator = rng.choice(("", " ", "|", "é"))
        return '"' + separator.join(pieces) + rng.choice(("", "", separator, "x")) + '"'

    def _call_print(self, scope: Scope, depth: int) -> str:
        function = self.rng.choice(("print", "println"))
        self._use(f"function:{function}")
        count = self.rng.randrange(4)
        return " ".join([function, *(self.operand(scope, None, depth) for _ in range(count))])

    def _call_escape(self, scope: Scope, depth: int) -> str:
        function = self.rng.choice(("html", "js", "urlquery"))
        self._use(f"function:{function}")
        kinds = self.rng.choice((("string",), ("string",), (None,), (None, None), ()))
        return " ".join([function, *(self.operand(scope, kind, depth) for kind in kinds)])

    def _call_json(self, scope: Scope, depth: int) -> str:
        self._use("function:json")
        return f"json {self.operand(scope, None, depth)}"

    def _call_typescript(self, scope: Scope, depth: int) -> str:
        self._use("function:toTypeScriptType")
        return (
            f"toTypeScriptType {self.operand(scope, self.rng.choice(('property', 'property', None)), depth)}"
        )

    def _call_date(self, _scope: Scope, _depth: int) -> str:
        function = self.rng.choice(("currentDate", "yesterdayDate"))
        self._use(f"function:{function}")
        return " ".join([function, *self.rng.choice(((), (), ('"2006"',), ('"a"', '"b"'), (".System",)))])

    def _call_index_string(self, scope: Scope, depth: int) -> str:
        return self._call_index(scope, depth, self.rng.choice(("strings", "propertytype")))

    def _call_index_byte(self, scope: Scope, depth: int) -> str:
        self._use("function:index")
        return f"index {self.operand(scope, 'string', depth)} {self._position()}"

    def _call_index_any(self, scope: Scope, depth: int) -> str:
        self._use("function:index")
        if self.rng.random() < 0.2:
            return f'index {self.operand(scope, "arguments", depth)} "list" {self._position()}'
        return f"index {self.operand(scope, 'arguments', depth)} {self.operand(scope, 'string', 0)}"

    def _call_index(self, scope: Scope, depth: int, holder: str) -> str:
        self._use("function:index")
        key = ELEMENTS[holder][0]
        position = self._position() if key == "int" else self.operand(scope, "string", 0)
        return f"index {self.operand(scope, holder, depth)} {position}"

    def _position(self) -> str:
        return self.rng.choice(
            (*("0",) * 12, *("1",) * 6, "2", "3", "-1", "9", "'\\x00'", "1.0", "0x1", "nil", '"a"')
        )

    def _call_slice(self, scope: Scope, depth: int, kind: str) -> str:
        self._use("function:slice")
        count = self.rng.choices((0, 1, 2, 3, 4), (10, 60, 20, 8 if kind != "string" else 2, 1))[0]
        positions = [
            self.rng.choice((*("0",) * 10, *("1",) * 8, "2", "3", "-1", "9", "nil")) for _ in range(count)
        ]
        if count and self.rng.random() < 0.3:
            positions[0] = self.operand(scope, "int", 0)
        return " ".join(["slice", self.operand(scope, kind, depth), *positions])

    def _call_slice_string(self, scope: Scope, depth: int) -> str:
        return self._call_slice(scope, depth, "string")

    def _call_len(self, scope: Scope, depth: int) -> str:
        self._use("function:len")
        sized = self._reachable(scope) & ELEMENTS.keys() - {"int", "any", "sequence"}
        kind = self.rng.choice(("string", None, *sorted(sized)))
        return f"len {self.operand(scope, kind, depth)}"

    def _call_compare(self, scope: Scope, depth: int) -> str:
        rng = self.rng
        function = rng.choice(("eq", "eq", "ne"))
        self._use(f"function:{function}")
        kind = rng.choice(("string", "string", "int", "bool", "any", "float", "complex", None))
        count = rng.choices((2, 3, 4, 1), (80, 8, 8, 4) if function == "eq" else (97, 1, 1, 1))[0]
        if function == "eq" and count > 2:
            self._use("function:eq-many")
        operands = [self.operand(scope, kind if rng.random() < 0.93 else None, depth) for _ in range(count)]
        return " ".join([function, *operands])

    def _call_order(self, scope: Scope, depth: int) -> str:
        rng = self.rng
        function = rng.choice(("lt", "le", "gt", "ge"))
        self._use(f"function:{function}")
        kind = rng.choice(("int", "int", "string", "float", "uint8", None))
        return f"{function} {self.operand(scope, kind, depth)} {self.operand(scope, kind, depth)}"

    def _call_not(self, scope: Scope, depth: int) -> str:
        self._use("function:not")
        return f"not {self.operand(scope, self.rng.choice(('bool', None)), depth)}"

    def _call_and_or(self, scope: Scope, depth: int, kind: str | None = None) -> str:
        function = self.rng.choice(("and", "or"))
        self._use(f"function:{function}")
        count = self.rng.choice((1, 2, 2, 2, 3))
        operands = [
            self.operand(scope, kind if self.rng.random() < 0.7 else None, depth) for _ in range(count)
        ]
        return " ".join([function, *operands])


FEATURES: frozenset[str] = frozenset(
    {
        *(f"template:{mode}" for mode in ("messages", "legacy", "suffix")),
        *(
            f"action:{name}"
            for name in (
                *(
                    "text",
                    "comment",
                    "comment-trimmed",
                    "trim-left",
                    "trim-right",
                    "declare",
                    "assign",
                    "if",
                    "else",
                ),
                *("declare-in-condition", "else-if", "with", "else-with", "with-else", "range-else", "break"),
                *("continue", "template", "define", "block", "pipe", "pipe-trailing", "parentheses", "chain"),
            )
        ),
        *(f"range:{kind}" for kind in RANGED),
        *(f"deep:{kind}" for kind in DEEP),
        *(f"range:variables-{form}" for form in ("none", "one", "two", "assign-one", "assign-two")),
        *(f"literal:{form}" for form in LITERALS),
        *(f"function:{name}" for name in (*FUNCTIONS, "eq-many")),
        *(f"verb:{verb}" for verb in VERBS),
        *(f"complaint:{complaint}" for complaint in COMPLAINTS),
        *(f"flag:{flag}" for flag in ("+", "-", "#", "space", "0")),
        *(f"width:{width}" for width in WIDTHS if width),
        *(f"precision:{precision}" for precision in PRECISIONS if precision),
        *(f"index:{index}" for index in INDEXES if index),
        *(f"field:{owner}.{name}" for owner, fields in FIELDS.items() for name in fields),
        *(f"method:{owner}.{name}" for owner, methods in METHODS.items() for name in methods),
        "mode:response",
    }
)
"""Everything that the generator can write; a run must have reached all of it."""

_FOCUSED_GROUPS = (
    *("complaint:", "verb:", "flag:", "width:", "precision:", "index:", "field:", "method:", "deep:"),
    *("literal:", "range:", "function:"),
)
FOCUSED: tuple[str, ...] = tuple(
    feature
    for feature in sorted(FEATURES)
    if feature.startswith(_FOCUSED_GROUPS) and not feature.startswith(("range:variables", "function:eq-many"))
)
"""The features that :meth:`Templates.focused` writes templates for."""
