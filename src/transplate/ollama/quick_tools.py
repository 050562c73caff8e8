"""Tools read once for all requests that bring the same ones."""

from __future__ import annotations

import marshal
from collections import OrderedDict
from functools import lru_cache
from typing import Any, Final, TypeAlias

from transplate.errors import RequestError
from transplate.ollama.quick import NotOrdinary, check_data
from transplate.ollama.request import check_required, read_tools
from transplate.ollama.shapes import ToolForms, prepared_tools
from transplate.ollama.versions import Behaviour

QuickTools: TypeAlias = tuple[ToolForms | None, int]
"""Tools in the fast form, and how many keys the objects in them have."""

_KEPT_TOOLS: Final = 64
_SHARING_VERSION: Final = 4
"""A version of the bytes that tells also which strings are shared: quick, but not the same for all equals."""
_PLAIN_VERSION: Final = 2
"""The newest version whose bytes depend on the content alone."""

_Kept: TypeAlias = OrderedDict[bytes, QuickTools]


class ToolReader:
    """Reads tools, and finds those with the same content that were read before.

    They are known by all of their content, types and order included, so that no change goes unnoticed.

    Args:
        behaviour: How the version of Ollama behaves.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        """Start without any."""
        self._behaviour = behaviour
        self._known: _Kept = OrderedDict()
        self._shared: _Kept = OrderedDict()

    def read(self, tools: list[Any]) -> QuickTools | None:
        """Return tools in the fast form, and how many keys the objects in them have."""
        try:
            key = marshal.dumps(tools, _SHARING_VERSION)
            found = self._shared.get(key)
            if found is None:
                found = self._read(tools, marshal.dumps(tools, _PLAIN_VERSION))
                if found is not None:
                    _keep(self._shared, key, found)
        except ValueError:  # too deep to be written; what holds itself is so in one version only
            return None
        return found

    def _read(self, tools: list[Any], key: bytes) -> QuickTools | None:
        found = self._known.get(key)
        if found is None:
            try:
                keys = check_data(tools)
                records = read_tools(tools)
                if records and self._behaviour.property_required:
                    check_required(records)
            except (NotOrdinary, UnicodeEncodeError, RecursionError, RequestError):
                return None
            found = (prepared_tools(records, self._behaviour), keys)
            _keep(self._known, key, found)
        return found


def _keep(kept: _Kept, key: bytes, tools: QuickTools) -> None:
    """Keep tools, and drop the oldest of too many."""
    kept[key] = tools
    while len(kept) > _KEPT_TOOLS:
        kept.popitem(last=False)


@lru_cache(maxsize=8)
def tool_reader(behaviour: Behaviour) -> ToolReader:
    """Return the reader of tools for the version of Ollama that behaves so."""
    return ToolReader(behaviour)
