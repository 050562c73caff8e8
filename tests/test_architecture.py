"""Imports go one way: the picture in docs/architecture.md says which, and this walks the code and checks."""

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "transplate"
MODULES = sorted(PACKAGE.rglob("*.py"))

BASE = {"errors", "source", "limits", "language", "files"}

THIRD_PARTY = {
    "lark": ("gotmpl/grammar.py", "gotmpl/parser.py", "gotmpl/lexer.py"),
    "jinja2": ("jinja/", "convert/jinja_to_go", "cli/formats/html.py"),
    "markupsafe": ("jinja/", "convert/jinja_to_go"),  # the strings of jinja2
    "click": ("cli/",),
    "pytest": ("pytest_plugin.py",),
    "huggingface_hub": ("models/hub.py",),
}


def name_of(module: Path) -> str:
    parts = module.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(module) for module in MODULES}


def part_of(module: Path) -> str:
    """The part of the picture that a module belongs to."""
    first = module.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "base" if first in BASE else {"__main__": "cli"}.get(first, first)


def imported(module: Path, *, at_import: bool = False) -> Iterator[str]:
    """Every module that a module imports, by its full name; not for type checking alone.

    With ``at_import`` only what is imported when the module is, not inside functions.
    """
    tree = ast.parse(module.read_bytes())
    for_types: set[ast.AST] = set()
    for node in ast.walk(tree):
        types_only = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if types_only or (at_import and inside):
            for_types.update(ast.walk(node))
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in NAMES else node.module or ""


def allowed_imports() -> dict[str, set[str]]:
    """Part → the parts it may import, from the solid arrows of the picture, arrows of arrows included."""
    picture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    arrows = re.findall(r"^ +(\w+) --> (\w+)$", picture, re.MULTILINE)
    assert arrows
    direct: dict[str, set[str]] = {}
    for source, target in arrows:
        direct.setdefault(target, set()).add(source)
        direct.setdefault(source, set())
    closed: dict[str, set[str]] = {}
    for part in TopologicalSorter(direct).static_order():
        closed[part] = direct[part].union(*(closed[below] for below in direct[part]))
    return closed


ALLOWED = allowed_imports()


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(module: Path) -> None:
    part = part_of(module)
    if part == "__init__":
        assert not [name for name in imported(module) if name.startswith("transplate")]
        return
    for name in imported(module):
        segments = name.split(".")
        if segments[0] != "transplate" or len(segments) == 1:
            continue
        if segments[1] in ("__version__", "grammar"):
            continue
        target = "base" if segments[1] in BASE else segments[1]
        assert target == part or target in ALLOWED[part], f"{part} may not import {name}"


def test_no_two_modules_import_each_other() -> None:
    graph = {name_of(module): NAMES.intersection(imported(module, at_import=True)) for module in MODULES}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_dependencies_stay_in_their_place(module: Path) -> None:
    place = module.relative_to(PACKAGE).as_posix()
    for name in imported(module):
        package = name.split(".")[0]
        if package in sys.stdlib_module_names or package in ("transplate", "__future__"):
            continue
        assert package in THIRD_PARTY, f"{place} imports {package}, which is no dependency"
        assert place.startswith(THIRD_PARTY[package]), f"{place} may not import {package}"


def test_the_check_sees_a_backward_import(tmp_path: Path) -> None:
    module = tmp_path / "wrong.py"
    module.write_text("def f():\n    from transplate.ollama import OllamaTemplate\n")
    assert "transplate.ollama" in set(imported(module))
    assert "transplate.ollama" not in set(imported(module, at_import=True))
    assert "ollama" not in ALLOWED["gotmpl"] | ALLOWED["jinja"]
    assert "cli" not in set().union(*(ALLOWED[part] for part in ALLOWED if part != "pytest_plugin"))
