"""Builds the parse tables when the package is built, so that no user waits for it."""

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ParseTables(BuildHookInterface):
    """Writes the tables beside the grammar, from where they go into the wheel with it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - as hatch calls it
        """Build the tables with the package's own module, which needs nothing of the package."""
        root = Path(self.root)
        spec = importlib.util.spec_from_file_location("grammar", root / "src/transplate/gotmpl/grammar.py")
        if spec is None or spec.loader is None:
            raise FileNotFoundError("src/transplate/gotmpl/grammar.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        folder = root / "grammar"
        module.write_tables(folder / module.GRAMMAR, folder / module.TABLES)
