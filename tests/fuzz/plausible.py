"""A seeded generator of templates as people could write them: every construct, typed, over Ollama's data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

_FIELDS: dict[str, dict[str, str]] = {
    "root": {
        "System": "text",
        "Messages": "messages",
        "Tools": "tools",
        "Response": "text",
        "Think": "bool",
        "ThinkLevel": "text",
        "IsThinkSet": "bool",
        "Prompt": "nil",
        "Suffix": "nil",
        "First": "nil",
    },
    "turn": {
        "System": "text",
        "Prompt": "text",
        "Response": "text",
        "Think": "bool",
        "IsThinkSet": "bool",
        "ThinkLevel": "text",
        "First": "nil",
    },
    "message": {
        "Role": "text",
        "Content": "text",
        "Thinking": "text",
        "ToolCalls": "calls",
        "ToolName": "text",
        "ToolCallID": "text",
        "Images": "images",
    },
    "call": {"ID": "text", "Function": "call function"},
    "call function": {"Name": "text", "Arguments": "arguments", "Index": "int"},
    "tool": {"Type": "text", "Function": "function", "Items": "any"},
    "function": {"Name": "text", "Description": "text", "Parameters": "parameters"},
    "parameters": {
        "Type": "text",
        "Required": "texts",
        "Properties": "properties",
        "Defs": "any",
        "Items": "any",
    },
    "property": {
        "Type": "property type",
        "Description": "text",
        "Enum": "values",
        "Items": "any",
        "AnyOf": "property list",
        "Properties": "ordered properties",
    },
}
_ELEMENTS = {
    "messages": "message",
    "calls": "call",
    "tools": "tool",
    "texts": "text",
    "values": "any",
    "property list": "property",
    "property type": "text",
    "properties": "property",
    "arguments": "any",
    "int": "int",
}
_KEYED = frozenset({"properties", "arguments"})
_PRINTED = (
    "text",
    "text",
    "text",
    "int",
    "bool",
    "nil",
    "any",
    "tools",
    "tool",
    "function",
    "parameters",
    "properties",
    "property type",
    "arguments",
    "texts",
)
_JSON = (
    *_PRINTED,
    "messages",
    "message",
    "calls",
    "call",
    "call function",
    "property",
    "values",
    "property list",
)
_TEXTS = (
    *(
        "user",
        "assistant",
        "system",
        "tool",
        "<|im_start|>",
        "<|im_end|>\n",
        "\n",
        "\n\n",
        " ",
        "[INST] ",
        ": ",
    ),
    *(
        '{"name": "',
        '"}',
        "</s>",
        "### Response:\n",
        "a\n  b\n\n c\n",
        "# Tools\n\nYou may\ncall\n",
        "'\"",
        "\\n",
    ),
    *(
        "{%- x -%}",
        "{# y #}",
        "-}\n",
        "%}\n",
        "日本\n",
        "{",
        "}",
        "\t",
        "<tool_call>\n",
        "line\n{- z\n",
        "\r\n",
    ),
)
_ROLES = ("user", "assistant", "system", "tool", "document", "control", "")
_NAMES = ("$x", "$y", "$last", "$role", "$lastUserIdx", "$system", "$i", "$message", "$tool_json")


@dataclass(frozen=True)
class _Scope:
    """What can be named at one place: dot, the root, the variables in reach and whether a loop is around."""

    dot: str
    root: str
    variables: dict[str, str] = field(default_factory=dict)
    in_loop: bool = False
    depth: int = 0


class Plausible:
    """The generator."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.defined: dict[str, str] = {}

    def template(self) -> str:
        """Return a template."""
        root = "turn" if self.random.random() < 0.25 else "root"
        self.defined = {}
        defines = ""
        for number in range(self.random.choice((0, 0, 0, 1, 2))):
            name = f"part{number}"
            kind = self.random.choice(("message", "tool", "text", "call", root, "property"))
            body = self.body(_Scope(kind, kind, depth=2))
            self.defined[name] = kind
            if kind == "property" and self.random.random() < 0.5:
                body += f'{{{{ range .AnyOf }}}}|{{{{ template "{name}" . }}}}{{{{ end }}}}'
            if self.random.random() < 0.3:
                body += f"{{{{ if {self.condition(_Scope(kind, kind))} }}}}{{{{ end }}}}"
            defines += f'{{{{ define "{name}" }}}}{body}{{{{ end }}}}'
        scope = _Scope(root, root)
        pieces = [self.body(scope)]
        if root == "root":
            pieces.append(self.range(scope, "messages", ".Messages"))
            pieces.append(self.body(scope))
        elif self.random.random() < 0.8:
            pieces.append("{{ .Prompt }}" + self.text() + "{{ .Response }}" + self.text())
        return defines + "".join(pieces)

    def body(self, scope: _Scope) -> str:
        inner = replace(scope, variables=dict(scope.variables), depth=scope.depth + 1)
        count = self.random.randint(1, 4 if scope.depth < 3 else 2)
        return "".join(self.statement(inner) for _ in range(count))

    def statement(self, scope: _Scope) -> str:
        choices: list[Callable[[_Scope], str]] = [
            self.plain,
            self.plain,
            self.output,
            self.output,
            self.output,
        ]
        if scope.depth < 6:
            choices += [self.branch, self.branch, self.branch, self.some_range, self.with_, self.call]
        choices += [self.declare, self.assign, self.comment]
        if scope.in_loop and self.random.random() < 0.3:
            choices.append(self.leave)
        return self.random.choice(choices)(scope)

    # --- statements -----------------------------------------------------------------------------------

    def action(self, inside: str) -> str:
        left = self.random.choice(("{{ ", "{{- ", "{{"))
        right = self.random.choice((" }}", " -}}", "}}"))
        if left == "{{" and inside.startswith("-"):
            left = "{{ "
        return left + inside + right

    def text(self) -> str:
        chosen = "".join(self.random.choice(_TEXTS) for _ in range(self.random.randint(1, 3)))
        # A brace in front of an action would open it.
        return chosen.replace("{{", "{ {") + ("." if chosen.endswith("{") else "")

    def plain(self, _: _Scope) -> str:
        return self.text()

    def comment(self, _: _Scope) -> str:
        return "{{- /* note */ -}}" if self.random.random() < 0.3 else ""

    def output(self, scope: _Scope) -> str:
        for kind in self.random.sample(_PRINTED, len(_PRINTED)):
            expression = self.expression(scope, kind)
            if expression is not None:
                return self.action(expression)
        return self.text()

    def branch(self, scope: _Scope) -> str:
        condition = self.condition(scope)
        inner = scope
        if self.random.random() < 0.15:
            kind = self.random.choice(("text", "calls", "tools", "any", "int", "properties", "nil"))
            tested = self.expression(scope, kind)
            if tested is not None:
                name = self.random.choice(_NAMES)
                condition = f"{name} := {tested}"
                inner = replace(scope, variables={**scope.variables, name: kind})
        pieces = [self.action(f"if {condition}"), self.body(inner)]
        while self.random.random() < 0.3:
            pieces += [self.action(f"else if {self.condition(scope)}"), self.body(scope)]
        if self.random.random() < 0.4:
            pieces += [self.action("else"), self.body(inner)]
        return "".join([*pieces, self.action("end")])

    def with_(self, scope: _Scope) -> str:
        kind = self.random.choice(
            ("text", "calls", "tools", "message", "function", "arguments", "any", "properties")
        )
        expression = self.expression(scope, kind)
        if expression is None:
            return self.text()
        pieces = [self.action(f"with {expression}"), self.body(replace(scope, dot=kind))]
        if self.random.random() < 0.3:
            pieces += [self.action("else"), self.body(scope)]
        return "".join([*pieces, self.action("end")])

    def some_range(self, scope: _Scope) -> str:
        for kind in self.random.sample(sorted(_ELEMENTS), len(_ELEMENTS)):
            expression = self.expression(scope, kind) if kind != "int" else "3"
            if expression is not None and (kind != "int" or self.random.random() < 0.1):
                return self.range(scope, kind, expression)
        return self.text()

    def range(self, scope: _Scope, kind: str, expression: str) -> str:
        element = _ELEMENTS[kind]
        key = "text" if kind in _KEYED else "int"
        variables = dict(scope.variables)
        head = expression
        form = self.random.random()
        if form < 0.45 and kind != "int":
            names = self.random.choice((("$i", "$_"), ("$i", "$m"), ("$key", "$value"), ("$index", "$x")))
            variables |= {names[0]: key}
            if names[1] != "$_":
                variables |= {names[1]: element}
            head = f"{names[0]}, {names[1]} := {expression}"
        elif form < 0.6:
            variables["$e"] = element
            head = f"$e := {expression}"
        inner = replace(scope, dot=element, variables=variables, in_loop=True)
        pieces = [self.action(f"range {head}")]
        if "$i" in variables and kind == "messages" and scope.dot == "root" and self.random.random() < 0.5:
            inner = replace(inner, variables={**variables, "$last": "bool"})
            pieces.append(self.action("$last := eq (len (slice $.Messages $i)) 1"))
            if scope.root != "root":
                pieces.pop()
        pieces.append(self.body(inner))
        if self.random.random() < 0.15:
            pieces += [self.action("else"), self.body(scope)]
        return "".join([*pieces, self.action("end")])

    def call(self, scope: _Scope) -> str:
        for name, kind in self.defined.items():
            expression = self.expression(scope, kind)
            if expression is not None and self.random.random() < 0.7:
                return self.action(f'template "{name}" {expression}')
        if self.random.random() < 0.1:
            return (
                self.action(f'block "b{self.random.randrange(10**6)}" .') + self.text() + self.action("end")
            )
        return self.text()

    def declare(self, scope: _Scope) -> str:
        kind = self.random.choice(("text", "text", "bool", "int", "message", "calls", "any", "tools", "nil"))
        expression = self.expression(scope, kind)
        if expression is None:
            return self.text()
        name = self.random.choice(_NAMES)
        scope.variables[name] = kind
        return self.action(f"{name} := {expression}")

    def assign(self, scope: _Scope) -> str:
        if not scope.variables:
            return self.declare(scope)
        name = self.random.choice(sorted(scope.variables))
        kind = scope.variables[name]
        if self.random.random() < 0.1:
            kind = self.random.choice(("text", "int", "message"))
        expression = self.expression(scope, kind)
        if expression is None:
            return self.text()
        return self.action(f"{name} = {expression}")

    def leave(self, scope: _Scope) -> str:
        word = self.random.choice(("continue", "continue", "break"))
        if self.random.random() < 0.8:
            return self.action(f"if {self.condition(scope)}") + self.action(word) + self.action("end")
        return self.action(word)

    # --- expressions ----------------------------------------------------------------------------------

    def paths(self, scope: _Scope, kind: str) -> list[str]:
        """Return the ways to a value of a kind by names and fields alone."""
        starts = [("", scope.dot)] if scope.dot in _FIELDS else []
        found = ["."] if scope.dot == kind else []
        starts += [(name, given) for name, given in scope.variables.items()]
        found += [name for name, given in scope.variables.items() if given == kind]
        starts.append(("$", scope.root))
        for prefix, given in starts:
            found += [f"{prefix}.{path}" for path in _paths_from(given, kind, 4)]
        return found

    def expression(self, scope: _Scope, kind: str, depth: int = 0) -> str | None:
        """Return an expression of a kind as an operand or a call, None where there is none here."""
        made: list[str] = [path for path in self.paths(scope, kind) for _ in range(2)]
        operand = self.operand
        if depth < 3:
            match kind:
                case "text":
                    made += [
                        f'"{self.random.choice(_ROLES)}"',
                        f"`{self.random.choice(('a', 'x y', '{{', 'é'))}`",
                    ]
                    made += self._texts(scope, depth)
                case "bool":
                    made += ["true", "false", self.condition(scope, depth + 1)]
                case "int":
                    made += [str(self.random.randint(-1, 3))]
                    messages = self.paths(scope, "messages")
                    if messages:
                        made += [f"len {self.random.choice(messages)}"] * 2
                        made.append(f"len (slice {self.random.choice(messages)} 1)")
                    index = operand(scope, "int", depth)
                    made.append(f'len (printf "a%*s" {index} "")')
                case "any":
                    for path in self.paths(scope, "arguments")[:2]:
                        made += [f'index {path} "city"', f"{path}.unit".replace("..", "."), f"({path}).a"]
                    for path in self.paths(scope, "any")[:1]:
                        made.append(f"({path}).a")
                case "message" | "call" | "tool":
                    lists = self.paths(scope, f"{kind}s")
                    if lists:
                        at = self.random.choice(("0", "0", "1", operand(scope, "int", depth)))
                        made.append(f"index {self.random.choice(lists)} {at}")
                case "messages" | "calls" | "tools":
                    lists = self.paths(scope, kind)
                    if lists:
                        made.append(
                            f"slice {self.random.choice(lists)} {self.random.choice(('0', '1', '0 1'))}"
                        )
                case _:
                    pass
            if kind in ("text", "any", "calls", "tools", "messages") and self.random.random() < 0.2:
                either = self.paths(scope, kind)
                if len(either) > 1:
                    word = self.random.choice(("or", "and"))
                    made.append(f"{word} {' '.join(self.random.sample(either, 2))}")
        return self.random.choice(made) if made else None

    def _texts(self, scope: _Scope, depth: int) -> list[str]:
        def operand(kind: str) -> str:
            return self.operand(scope, kind, depth)

        made = [
            f"print {operand('text')} {operand('text')}",
            f"print {operand('int')} {operand('int')} {operand('text')} {operand('bool')}",
            f'printf "%s-%s" {operand("text")} {operand("text")}',
            f'printf "%d: %v" {operand("int")} {operand("text")}',
            f'printf "<%s>%%" {operand("text")}',
            f"println {operand('text')}",
            f'{operand("text")} | printf "%s."',
            "currentDate",
            "yesterdayDate",
        ]
        for kind in self.random.sample(_JSON, 3):
            paths = self.paths(scope, kind)
            if paths:
                made.append(f"json {self.random.choice(paths)}")
        properties = self.paths(scope, "property")
        if properties:
            made.append(f"{self.random.choice(properties)}.ToTypeScriptType".replace("..", "."))
            made.append(f"toTypeScriptType {self.random.choice(properties)}")
        roles = [path for path in self.paths(scope, "text") if path.endswith("Role")]
        if roles and self.random.random() < 0.2:
            made.append(f"slice {self.random.choice(roles)} 0 4")
        return self.random.sample(made, 3)

    def operand(self, scope: _Scope, kind: str, depth: int) -> str:
        """Return an expression that can stand as an argument."""
        expression = self.expression(scope, kind, depth + 1)
        if expression is None:
            return {"int": "0", "bool": "true"}.get(kind, '""')
        is_simple = " " not in expression or expression[0] in '"`'
        return (
            expression
            if is_simple and expression not in ("currentDate", "yesterdayDate")
            else f"({expression})"
        )

    def condition(self, scope: _Scope, depth: int = 0) -> str:
        kind = self.random.random()

        def operand(wanted: str) -> str:
            return self.operand(scope, wanted, depth)

        if depth > 2 or kind < 0.2:
            for wanted in self.random.sample(
                ("text", "calls", "tools", "bool", "any", "properties", "texts"), 7
            ):
                paths = self.paths(scope, wanted)
                if paths:
                    return self.random.choice(paths)
            return "true"
        if kind < 0.4:
            return f"{self.random.choice(('eq', 'eq', 'ne'))} {operand('text')} {operand('text')}"
        if kind < 0.5:
            roles = [path for path in self.paths(scope, "text") if path.endswith("Role")]
            if roles:
                role = self.random.choice(roles)
                if self.random.random() < 0.3:
                    prefix = self.random.choice(("user", "docu"))
                    return f'and (ge (len {role}) 4) (eq (slice {role} 0 4) "{prefix}")'
                return f'eq {role} "{self.random.choice(_ROLES)}"' + self.random.choice(("", ' "tool"'))
        if kind < 0.53:
            value = self.expression(scope, "any", depth + 1)
            if value is not None:
                word, other = self.random.choice(("eq", "ne")), self.random.choice(("nil", "`x`", "true"))
                return f"{word} ({value}) {other}"
        if kind < 0.56:
            name = self.random.choice(("len", "not"))
            wanted = self.random.choice(("calls", "tools", "messages", "texts", "arguments", "images"))
            return f"eq ({name} {operand(wanted)}) {'0' if name == 'len' else 'true'}"
        if kind < 0.65:
            word = self.random.choice(("eq", "ne", "lt", "le", "gt", "ge"))
            return f"{word} {operand('int')} {operand('int')}"
        if kind < 0.75:
            return f"not {self.nested(scope, depth)}"
        word = self.random.choice(("and", "or"))
        return f"{word} {self.nested(scope, depth)} {self.nested(scope, depth)}"

    def nested(self, scope: _Scope, depth: int) -> str:
        inner = self.condition(scope, depth + 1)
        return f"({inner})" if " " in inner else inner


def _paths_from(kind: str, wanted: str, depth: int) -> list[str]:
    found: list[str] = []
    for name, given in _FIELDS.get(kind, {}).items():
        if given == wanted:
            found.append(name)
        if depth:
            found += [f"{name}.{rest}" for rest in _paths_from(given, wanted, depth - 1)]
    return found
