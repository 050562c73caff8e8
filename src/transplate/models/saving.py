"""What is written, or would be, when a model is saved: the files, what was decided, whether it is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from transplate.errors import TransplateError
from transplate.files import write_file, write_folder

if TYPE_CHECKING:
    from transplate.convert import Conversion
    from transplate.parity import ParityReport


@dataclass(frozen=True, slots=True)
class Saving:
    """A model as files.

    Attributes:
        target: The folder or the file to write.
        files: The contents of the files that are new or change, by name; of a single file by the empty name.
        replaced: What is there already and would be another: reasons not to write without being told to.
        notes: What was decided and why, what has no place there, what may differ.
        refused: The notes about PARAMETERs that Ollama would refuse, and for which it makes no model.
        conversion: How the template was converted; None where it was not.
        parity: Whether the model prints the same prompts as before; None where there was nothing to compare.
    """

    target: Path
    files: Mapping[str, bytes]
    replaced: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    conversion: Conversion | None = field(default=None, repr=False)
    parity: ParityReport | None = field(default=None, repr=False)

    @property
    def paths(self) -> list[Path]:
        """The paths of the files, in order."""
        return [self.target / name for name in sorted(self.files)]

    def write(self, *, force: bool = False) -> None:
        """Write the files: all of them, or none.

        Args:
            force: Whether what is there already may be replaced.

        Raises:
            TransplateError: Something would be replaced, or cannot be written.
        """
        if self.replaced and not force:
            raise TransplateError(f"{self.target}: {'; '.join(self.replaced)}")
        if "" in self.files:
            write_file(self.target, self.files[""])
        else:
            write_folder(self.target, self.files)
