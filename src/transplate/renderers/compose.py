"""The Jinja text of a renderer, made of its family's template, its switches and shared macros."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent.parent
_HEADING = re.compile(r"^### (?P<name>\w+)\n", re.MULTILINE)
_USE = re.compile(r"\b([a-z_]+)\(|\b(opens_answer)\b")


@cache
def templates_folder() -> Path:
    """Return the folder of the renderers' templates: in the wheel, or at the top of a source tree.

    Raises:
        FileNotFoundError: It is in neither.
    """
    for folder in (_PACKAGE / "templates" / "renderers", _PACKAGE.parent.parent / "templates" / "renderers"):
        if (folder / "families" / "shared.jinja").is_file():
            return folder
    raise FileNotFoundError(f"templates/renderers is neither in {_PACKAGE} nor in a source tree around it")


def compose(header: str, family: str, switches: Mapping[str, bool | str]) -> str:
    """Return a whole template.

    Args:
        header: What its first comment says.
        family: The family's template.
        switches: Variables that the templates of the family differ in; those it does not use are left out.
    """
    body = (templates_folder() / "families" / f"{family}.jinja").read_text(encoding="utf-8")
    macros = _macros_for(body)
    text = "\n\n".join([*macros, body])
    settings = [
        f"{{%- set {name} = {_literal(value)} -%}}"
        for name, value in switches.items()
        if re.search(rf"\b{name}\b", text)
    ]
    comment = "{#- " + "\n    ".join(header.splitlines()) + " -#}"
    return "\n".join([comment, *settings, "", text]) if settings else f"{comment}\n\n{text}"


def _literal(value: bool | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def _macros_for(body: str) -> list[str]:
    """Return the shared macros that a text calls, each behind those that it calls itself."""
    library = _library()
    chosen: dict[str, str] = {}
    entered: set[str] = set()

    def choose(name: str) -> None:
        if name in entered or name not in library:
            return
        entered.add(name)
        for callee in _used(library[name]):
            choose(callee)
        chosen[name] = library[name]

    for name in _used(body):
        choose(name)
    return list(chosen.values())


def _used(text: str) -> list[str]:
    return [call or variable for call, variable in _USE.findall(text)]


@cache
def _library() -> dict[str, str]:
    text = (templates_folder() / "families" / "shared.jinja").read_text(encoding="utf-8")
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    return {
        heading["name"]: text[heading.end() : end].strip("\n")
        for heading, end in zip(headings, ends, strict=True)
    }
