"""Counts what one rendering does and makes, so that no template can hang or fill the memory.

The unit is a step, about a third of a microsecond: a loop iteration, or the work of handling some hundred
characters; a call is several. What could make a value of any size (``"a" * n``, ``center(n)``, ``"%9999d" %
1``) is charged before it happens; what costs in proportion to a value that is there already is charged by
the size of that value as if it were printed, so that a small value with many paths through it (``[x, x]``
inside ``[y, y]`` …) counts as large as it prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from types import GeneratorType, MappingProxyType
from typing import Any, cast

from jinja2.runtime import Undefined
from jinja2.utils import Namespace
from markupsafe import Markup, escape

from transplate.limits import Limits

_MADE_SHIFT = 6
"""Making 64 characters is one step, so 10 million steps bound what one rendering makes to 640 MB."""
_SEEN_SHIFT = 7
"""Going through 128 characters is one step."""
_ITEM_STEPS = 4
"""What an item of a filter such as ``map`` costs, which calls a function for each."""
_SMALL = 256
"""Values of fewer characters are not charged: the step of the operation itself pays for them."""
_NODE = 8
_INTEGER_BITS = 1 << 16

_ATOMS = frozenset({int, float, bool, type(None), Undefined})
_COLLECTIONS: tuple[type, ...] = (
    list,
    tuple,
    set,
    frozenset,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
)


class LimitReached(Exception):
    """A bound of the limits was reached; the message names it."""


class Meter:
    """The budget of one rendering; each template runs with a meter of its own.

    Attributes:
        remaining: Steps that are left.
        depth: Calls inside one another at this moment.
        limits: The bounds.
        now: What the clock says, None for the time at which it is asked.
    """

    __slots__ = ("depth", "limits", "now", "remaining")

    def __init__(self, limits: Limits, now: datetime | None = None) -> None:
        self.remaining = limits.steps
        self.depth = 0
        self.limits = limits
        self.now = now

    def stop(self) -> None:
        """Raise because the steps are used up.

        Raises:
            LimitReached: Always.
        """
        raise LimitReached(f"the template takes more than {self.limits.steps} steps (limit: steps)")

    def spend(self, steps: int) -> None:
        """Use up steps.

        Raises:
            LimitReached: There are not so many left.
        """
        self.remaining -= steps
        if self.remaining < 0:
            self.stop()

    def step(self) -> bool:
        """Use up one step, and return true.

        Raises:
            LimitReached: There is none left.
        """
        self.remaining -= 1
        if self.remaining < 0:
            self.stop()
        return True

    def enter(self) -> None:
        """Go one call deeper; the caller takes one from ``depth`` when the call returns.

        Raises:
            LimitReached: The calls are nested too deeply.
        """
        self.depth += 1
        if self.depth > self.limits.depth:
            raise LimitReached(f"calls are nested more than {self.limits.depth} deep (limit: depth)")

    def reserve(self, size: int) -> None:
        """Pay for a value of a number of characters that is about to be made.

        Raises:
            LimitReached: The value is longer than any output may be, or the steps are used up.
        """
        if size > self.limits.output:
            raise LimitReached(f"a value is longer than {self.limits.output} characters (limit: output)")
        self.spend(size >> _MADE_SHIFT)

    def keep(self, text: str | bytes) -> None:
        """Pay for a text that was made, by the memory it takes.

        Raises:
            LimitReached: The text is longer than any output may be, or the steps are used up.
        """
        self.reserve(len(text))
        if not text.isascii():
            self.spend(3 * len(text) >> _MADE_SHIFT)

    def made(self, value: Any) -> Any:
        """Pay for a value that was made, and return it; a generator is returned so that its items count."""
        kind = value.__class__
        if kind is str:
            if len(value) > _SMALL:
                self.keep(value)
        elif kind is list or kind is tuple:
            self.spend(len(value) >> 1)
        elif kind is dict or kind is set:
            self.spend(len(value) << 1)
        elif kind is GeneratorType:
            counted: Any = self.counted(value)
            # A template may print a generator, which shows its name.
            counted.__name__, counted.__qualname__ = value.__name__, value.__qualname__
            return counted
        elif kind is int:
            self.check_integer(value)
        elif kind is Markup or kind is bytes:
            self.keep(value)
        return value

    def seen(self, value: Any) -> Any:
        """Pay for going through a value once, as comparing, hashing or searching it does, and return it."""
        kind = value.__class__
        if kind is str:
            if len(value) > _SMALL:
                self.spend(len(value) >> _SEEN_SHIFT)
        elif kind not in _ATOMS:
            self.spend(self.weigh(value) >> _SEEN_SHIFT)
        return value

    def weigh(self, value: Any) -> int:
        """Return about how many characters a value prints, shared parts counted as often as they print.

        What takes part more than once is walked once, so this costs no more than the value takes memory.
        """
        known: dict[int, int] = {}
        try:
            return _weigh(value, known)
        finally:
            self.spend(len(known) >> 3)

    def check_integer(self, value: int) -> None:
        """Refuse integers so large that arithmetic with them takes long.

        Raises:
            LimitReached: The integer has too many bits.
        """
        if value.bit_length() > _INTEGER_BITS:
            raise LimitReached(f"an integer has more than {_INTEGER_BITS} bits (limit: steps)")

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield items and pay for each."""
        for item in items:
            self.remaining -= _ITEM_STEPS
            if self.remaining < 0:
                self.stop()
            yield item

    # What follows stands in for the functions that compiled templates call, under the same names.

    def text(self, value: Any) -> str:
        """``str``."""
        if value.__class__ is str:
            text: str = value
            return text
        if value.__class__ not in _ATOMS:
            self.reserve(self.weigh(value))
        return str(value)

    def escape(self, value: Any) -> Markup:
        """``markupsafe.escape``."""
        return escape(self.text(value) if not hasattr(value, "__html__") else value)

    def concat(self, parts: Iterable[str]) -> str:
        """``"".join``."""
        pieces = parts if isinstance(parts, list) else list(parts)
        size = sum(map(len, pieces))
        if size > _SMALL:
            self.reserve(size)
        return "".join(pieces)

    def str_join(self, parts: Iterable[Any]) -> str:
        """``jinja2.runtime.str_join``: the operator ``~``."""
        return self.concat(list(map(self.text, parts)))

    def markup_join(self, parts: Iterable[Any]) -> str:
        """``jinja2.runtime.markup_join``: the operator ``~`` where output is escaped."""
        pieces = [part if hasattr(part, "__html__") else self.text(part) for part in parts]
        self.reserve(sum(len(str(piece)) for piece in pieces))
        if any(hasattr(piece, "__html__") for piece in pieces):
            return Markup("").join(pieces)
        return "".join(pieces)

    def add(self, left: Any, right: Any) -> Any:
        """The operator ``+``."""
        result = left + right
        kind = result.__class__
        if kind is str:
            if len(result) > _SMALL:
                self.keep(result)
            return result
        return self.made(result)


def _weigh(value: Any, known: dict[int, int]) -> int:
    kind = value.__class__
    if kind is str:
        return len(value) + _NODE
    if kind in _ATOMS:
        return _NODE
    key = id(value)
    weight = known.get(key)
    if weight is None:
        # A value that holds itself is counted once inside itself, as printing it does.
        known[key] = _NODE
        weight = known[key] = _NODE + sum(_weigh(part, known) for part in _parts(value))
    return weight


def _parts(value: Any) -> Iterable[Any]:
    """Return what a value holds that is printed, compared or hashed with it."""
    if isinstance(value, dict | MappingProxyType):
        return (part for item in value.items() for part in item)
    if isinstance(value, _COLLECTIONS):
        return cast("Iterable[Any]", value)
    if isinstance(value, str | bytes | range):
        return (None,) * (len(value) // _NODE)
    if isinstance(value, Namespace):
        attributes: Mapping[str, Any] = object.__getattribute__(value, "_Namespace__attrs")
        return (part for item in attributes.items() for part in item)
    return ()


def depth_of(value: Any) -> int:
    """Return how many containers a value has inside one another."""
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list | tuple):
        return 1 + max(map(depth_of, value), default=0)
    return 0


Guard = Callable[[Meter, tuple[Any, ...], Mapping[str, Any]], None]
"""Pays for a call before it happens: the meter, the positional and the named arguments."""
