"""What is open and what is declared at one point of a template while it is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class OpenBlock:
    """A control structure or definition that waits for its ``{{end}}``.

    Attributes:
        kind: ``if``, ``with``, ``range``, ``define`` or ``block``.
        start: Offset of the action that opened it.
        clause_end: Offset of the right delimiter of that action.
        declared: How many variables were declared before it.
        has_else: Whether its ``{{else}}`` has been read.
    """

    kind: str
    start: int
    clause_end: int
    declared: int
    has_else: bool = False


class Scopes:
    """The open blocks, and the variables and loops that can be seen from inside them.

    A variable lives to the end of the block in whose clause or body it is declared; the body of an if or
    range is no block of its own, so ``else`` sees its variables. A definition sees only ``$``, and no loop.
    """

    def __init__(self) -> None:
        self.blocks: list[OpenBlock] = []
        self._declared: list[str] = []
        self._count: dict[str, int] = {}
        self._loops = 0
        self._before_action = 0
        self._outer: list[tuple[list[str], dict[str, int], int]] = []

    @property
    def in_loop(self) -> bool:
        """Whether ``{{break}}`` and ``{{continue}}`` have a loop to act on."""
        return self._loops > 0

    def declare(self, variable: str) -> None:
        """Make a variable known; an assignment to an unknown one does so too, as in Go."""
        self._declared.append(variable)
        self._count[variable] = self._count.get(variable, 0) + 1

    def knows(self, variable: str) -> bool:
        """Return whether a variable can be used here."""
        return variable == "$" or self._count.get(variable, 0) > 0

    def end_action(self) -> None:
        """Note that an action is complete, and its variables with it."""
        self._before_action = len(self._declared)

    def open(self, kind: str, start: int, clause_end: int) -> None:
        """Open a block at the end of its clause, whose variables are its own but for those of a ``block``."""
        self.blocks.append(OpenBlock(kind, start, clause_end, self._before_action))
        if kind in ("define", "block"):
            self._outer.append((self._declared, self._count, self._loops))
            self._declared, self._count, self._loops = [], {}, 0
        elif kind == "range":
            self._loops += 1
        self.end_action()

    def begin_else(self) -> None:
        """Go on to the else part of the innermost block, which is outside of its loop."""
        block = self.blocks[-1]
        block.has_else = True
        if block.kind == "range":
            self._loops -= 1

    def close(self) -> None:
        """Close the innermost block."""
        block = self.blocks.pop()
        if block.kind in ("define", "block"):
            self._declared, self._count, self._loops = self._outer.pop()
        else:
            if block.kind == "range" and not block.has_else:
                self._loops -= 1
            for variable in self._declared[block.declared :]:
                self._count[variable] -= 1
            del self._declared[block.declared :]
        self.end_action()
