"""Which place of a chat template printed what: the template with a mark before each piece of output."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from jinja2 import nodes
from jinja2.compiler import Frame

from transplate.errors import TransplateError
from transplate.jinja.compiler import LocatingCodeGenerator, MeteredCodeGenerator
from transplate.jinja.positions import offset_of
from transplate.jinja.template import JinjaTemplate
from transplate.limits import Limits

_OPEN, _CLOSE = "\U0010fff2", "\U0010fff3"
"""What a mark stands between: two characters that nobody uses."""
_MARK = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")

_CAPTURING = (nodes.AssignBlock, nodes.FilterBlock, nodes.CallBlock, nodes.Macro)


class JinjaTrace:
    r"""A chat template that tells where what it prints comes from.

    Args:
        source: The template.
        special_tokens: As for :class:`JinjaTemplate`.
        limits: As for :class:`JinjaTemplate`.

    Example:
        >>> trace = JinjaTrace("a\n{{ messages[0].content }}")
        >>> trace.pieces({"messages": [{"role": "user", "content": "Hi"}]})
        [(0, 0), (2, 5)]
    """

    def __init__(
        self, source: str, *, special_tokens: Mapping[str, Any] = {}, limits: Limits | None = None
    ) -> None:
        """Read and compile the template."""
        self._plain = JinjaTemplate(source, special_tokens=special_tokens, limits=limits)
        # Marks inside of a text that the template goes on to work with may change what it makes of it.
        self._marked: list[JinjaTemplate] = []
        for kind in (_MarkedTemplate, _OuterMarkedTemplate):
            with suppress(
                TransplateError
            ):  # nested so deeply that it can only just be compiled without marks
                self._marked.append(kind(source, special_tokens=special_tokens, limits=limits))

    def pieces(
        self, arguments: Mapping[str, Any], now: datetime | None = None
    ) -> list[tuple[int, int]] | None:
        """Return where each piece of the prompt begins, and the offset in the template that printed it.

        Args:
            arguments: The arguments of :meth:`JinjaTemplate.render`, by name.
            now: As for :meth:`JinjaTemplate.render`.

        Returns:
            The pieces in the order of the prompt; None if the marks would change it.
        """
        plain = _printed(self._plain, arguments, now)
        for template in self._marked:
            text = _printed(template, arguments, now)
            if _MARK.sub("", text) == plain:
                return _read(text, self._plain.source.text)
        return None


def _printed(template: JinjaTemplate, arguments: Mapping[str, Any], now: datetime | None) -> str:
    try:
        return template.render(**{**arguments, "now": now})
    except TransplateError as error:
        return getattr(error, "output", "")


def _read(text: str, source: str) -> list[tuple[int, int]]:
    found = []
    removed = 0
    for mark in _MARK.finditer(text):
        found.append((mark.start() - removed, offset_of(source, int(mark[1]))))
        removed += len(mark[0])
    return found


class _MarkingCodeGenerator(MeteredCodeGenerator):
    """Generates code that prints the place of each piece of output before it."""

    _spared: tuple[type[nodes.Node], ...] = ()

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:  # noqa: N802
        """Generate the module of a template."""
        spared = {
            id(inner)
            for kind in self._spared
            for part in node.find_all(kind)
            for inner in part.find_all(nodes.Output)
        }
        for output in node.find_all(nodes.Output):
            if id(output) not in spared:
                output.nodes = [piece for child in output.nodes for piece in (_mark(child), child)]
        super().visit_Template(node, frame)


def _mark(node: nodes.Node) -> nodes.TemplateData:
    return nodes.TemplateData(f"{_OPEN}{node.lineno}{_CLOSE}", lineno=node.lineno)


class _OuterMarkingCodeGenerator(_MarkingCodeGenerator):
    _spared = _CAPTURING


class _LocatingMarkingCodeGenerator(LocatingCodeGenerator, _MarkingCodeGenerator):
    """Generates the marking code and remembers which node each piece of it came from."""


class _LocatingOuterMarkingCodeGenerator(LocatingCodeGenerator, _OuterMarkingCodeGenerator):
    """The same for the code that spares texts that the template goes on to work with."""


class _MarkedTemplate(JinjaTemplate):
    _generator = _MarkingCodeGenerator
    _locating_generator = _LocatingMarkingCodeGenerator


class _OuterMarkedTemplate(JinjaTemplate):
    _generator = _OuterMarkingCodeGenerator
    _locating_generator = _LocatingOuterMarkingCodeGenerator
