"""The renderers built into Ollama: a name in, the template it comes from and what goes with it out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from transplate.errors import TransplateError
from transplate.ollama.versions import NEWEST, OLDEST, Version, behaviour_of, parse_version

Switches = Mapping[str, bool | str]


@dataclass(frozen=True, slots=True)
class Form:
    """What a renderer prints in some versions of Ollama.

    Attributes:
        family: The template that it shares with its relatives.
        switches: Variables of that template in which it differs from them.
    """

    family: str
    switches: Switches = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """A renderer.

    Attributes:
        models: The models that it is for.
        newest: What it prints.
        oldest: What Ollama 0.17.4 prints where that is something else; None where it has no such renderer.
        parser: The PARSER that reads what the models answer, one of :data:`transplate.renderers.PARSERS`.
        stops: The ends of a turn, for PARAMETER stop.
        differences: Where the vendor's template is known to print something else.
    """

    models: str
    newest: Form
    oldest: Form | None
    parser: str
    stops: tuple[str, ...]
    differences: str

    @property
    def since(self) -> str:
        """The version from which on it prints what it prints now, empty for some version after the oldest."""
        return OLDEST if self.oldest == self.newest else ""

    def form(self, version: Version) -> Form | None:
        """Return what it prints in a version.

        Two versions are known: the oldest, and the newest, which stands for all that are not the oldest.
        """
        return self.oldest if version == parse_version(OLDEST) else self.newest


def names(*, ollama: str = NEWEST) -> tuple[str, ...]:
    """Return the names of the renderers of a version, related ones beside each other.

    Raises:
        TransplateError: The version is not known.
    """
    from transplate.renderers.entries import ENTRIES

    version = parse_version(ollama)
    behaviour_of(version)
    return tuple(name for name, entry in ENTRIES.items() if entry.form(version) is not None)


def entry_of(name: str, *, ollama: str = NEWEST) -> Entry:
    """Return the renderer of a name.

    Raises:
        TransplateError: That version of Ollama has none of this name, or is not known itself.
    """
    from transplate.renderers.entries import ENTRIES

    known = names(ollama=ollama)
    if name in known:
        return ENTRIES[name]
    if name in ENTRIES:
        raise TransplateError(f"Ollama {ollama} has no renderer {name!r}, which came later")
    raise TransplateError(f"Ollama has no renderer {name!r}; it has {', '.join(known)}")


# --- gemma4 -----------------------------------------------------------------------------------------------

_SMALL = re.compile("e2b|e4b")
_LARGE = re.compile("12b|26b|31b")
_LEAST_LARGE = 12e9
_COUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)([KMB])", re.IGNORECASE)
_UNITS = {"K": 1e3, "M": 1e6, "B": 1e9}


def resolve(name: str, *, model: str = "", parameters: str = "") -> str:
    """Return the renderer that Ollama's server takes for the RENDERER of a model.

    ``gemma4`` is the small or the large one by the name of the model, else by the count of its parameters,
    and the small one where neither tells (``server/model_resolver.go``).

    Args:
        name: RENDERER.
        model: The model's name.
        parameters: The count of its parameters as Ollama shows it, such as ``30.7B``.
    """
    if name != "gemma4":
        return name
    if _SMALL.search(model.lower()):
        return "gemma4-small"
    count = _COUNT.fullmatch(parameters)
    is_large = count is not None and float(count[1]) * _UNITS[count[2].upper()] >= _LEAST_LARGE
    return "gemma4-large" if _LARGE.search(model.lower()) or is_large else "gemma4-small"
