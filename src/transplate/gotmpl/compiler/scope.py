"""Template variables by the rules of Go: declared to the end of the block, found from the innermost out."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Declaration:
    """One declaration of a variable.

    Attributes:
        name: The variable with its dollar sign.
        slot: Where its value is kept in the frame.
        conditional: Whether execution may pass it by, in the arguments of ``and`` and ``or``; then a
            declaration further out can be meant instead.
    """

    name: str
    slot: int
    conditional: bool


@dataclass(slots=True)
class Scope:
    """The variables of one template that are in scope while it is compiled.

    Attributes:
        declarations: Those in scope, the innermost last.
        slots: How many slots the template's frame needs.
    """

    declarations: list[Declaration] = field(default_factory=list)
    slots: int = 0

    def declare(self, name: str, *, conditional: bool = False) -> Declaration:
        """Bring a variable into scope."""
        made = Declaration(name, self.slots, conditional)
        self.declarations.append(made)
        self.slots += 1
        return made

    def mark(self) -> int:
        """Return the state to go back to at the end of a block."""
        return len(self.declarations)

    def leave(self, mark: int) -> None:
        """Take out of scope what was declared since a mark."""
        del self.declarations[mark:]

    def find(self, name: str) -> list[Declaration]:
        """Return the declarations that a name can mean, the innermost first; all but the last conditional."""
        found = []
        for declaration in reversed(self.declarations):
            if declaration.name == name:
                found.append(declaration)
                if not declaration.conditional:
                    break
        return found
