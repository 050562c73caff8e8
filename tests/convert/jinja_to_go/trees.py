"""Trees of Go templates for tests."""

from __future__ import annotations

from random import Random
from typing import Any

from transplate.gotmpl.nodes import Clause

REQUESTS: list[dict[str, Any]] = [
    {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "thinking": "b"}]},
    {"messages": [{"role": "tool", "content": "c", "tool_name": "d"}]},
]
"""What the templates of a :class:`Writer` can be rendered with."""

_CONSTANTS = ("true", "false", '"t"', "0i")


def made(node: Any) -> Any:
    """Return a part of a tree as if it had been made, not parsed."""
    if isinstance(node, tuple):
        return tuple(map(made, node))
    if isinstance(node, Clause):
        return Clause()
    slots = getattr(type(node), "__slots__", ())
    if "span" not in slots and "clause" not in slots:
        return node
    return type(node)(**{name: made(getattr(node, name)) for name in slots if name != "span"})


class Writer:
    """Writes templates that say the same again and again."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._number = 0

    def _fresh(self, name: str) -> str:
        self._number += 1
        return f"${name}_{self._number}"

    def body(self, scope: list[str], *, in_loop: bool = False, depth: int = 0) -> str:
        """Return some statements.

        Args:
            scope: The variables that there are.
            in_loop: Whether they are in a loop.
            depth: How many statements are around them.
        """
        scope = list(scope)
        return "".join(self._item(scope, in_loop, depth) for _ in range(self._rng.randrange(1, 5)))

    def _operand(self, scope: list[str]) -> str:
        name = self._rng.choice(scope)
        if name == "$":
            return self._rng.choice(["$.Messages", "$.Messages", "(len $.Messages)"])
        if name.startswith("$m"):
            return name + self._rng.choice([".Role", ".Content", ".Thinking", ".ToolName"])
        return name

    def _item(self, scope: list[str], in_loop: bool, depth: int) -> str:
        kind = self._rng.randrange(9)
        operand = self._operand(scope)
        if kind < 2:
            return self._rng.choice(["a text ", "another text ", "x"])
        if kind == 2 or depth > 3:
            return f"{{{{ json {operand} }}}}"
        if kind == 3:
            name = self._fresh("v")
            found = f"{{{{ {name} := {self._rng.choice([operand, *_CONSTANTS])} }}}}"
            scope.append(name)
            return found
        if kind == 4:
            targets = [name for name in scope if name.startswith("$v")]
            value = self._rng.choice([operand, *targets, *_CONSTANTS])
            return f"{{{{ {self._rng.choice(targets)} = {value} }}}}" if targets else ""
        if kind == 5:
            name = self._fresh("m")
            inner = self.body([*scope, name], in_loop=True, depth=depth + 1)
            return f"{{{{ range {name} := $.Messages }}}}{inner}{{{{ end }}}}"
        if kind == 6 and in_loop:
            leave = self._rng.choice(["break", "continue"])
            return f"{{{{ if {operand} }}}}{{{{ {leave} }}}}{{{{ end }}}}"
        then = self.body(scope, in_loop=in_loop, depth=depth + 1)
        again = self._rng.choice([then, self.body(scope, in_loop=in_loop, depth=depth + 1)])
        test = self._rng.choice([operand, f"and {operand} {self._operand(scope)}"])
        return f"{{{{ if {test} }}}}{then}{{{{ else }}}}{again}{{{{ end }}}}"
