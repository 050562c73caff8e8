"""Slices of lists and texts."""

from __future__ import annotations

from typing import Any

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import call, number, string
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.values import (
    ELEMENTS,
    TEXT,
    Built,
    Cat,
    Const,
    Go,
    Int,
    Joined,
    Json,
    ListOf,
    Reversed,
    Split,
    Undefined,
    Value,
    marked,
)
from transplate.gotmpl.nodes import (
    Operand,
)
from transplate.jinja import nodes as j

_MOST_TAKEN = 8
"""Where a slice of a list that is built may begin or end: each item that is taken is written out."""


class Slices(Interface):
    """Slices of lists and texts."""

    def _slice(self, node: j.Slice) -> Value:
        value = self.value(node.value)
        start = None if node.start is None else self.value(node.start)
        stop = None if node.stop is None else self.value(node.stop)
        step = None if node.step is None else self.value(node.step)
        if step is not None and step != Const(1):
            if step == Const(-1) and start is None and stop is None:
                return self._reversed(value)
            raise Refused("a slice with this step")
        if start in (None, Const(None)) and stop in (None, Const(None)):
            return value
        if isinstance(value, Const | ListOf):
            return self._constant_slice(value, start, stop)
        if isinstance(value, Split):
            if value.limit is not None:
                raise Refused("a slice of a text split once")
            if stop is None and isinstance(start, Const) and value.drop == 0 and start.value >= 0:
                return Split(value.text, value.separator, value.skip + start.value, 0)
            if start in (None, Const(0)) and stop == Const(-1):
                return Split(value.text, value.separator, value.skip, value.drop + 1)
            raise Refused("this slice of a split text")
        if isinstance(value, Joined):
            value = self.built(value) or value
        if isinstance(value, Built):
            return self._slice_built(value, start, stop)
        if isinstance(value, Cat | Json):
            value = self.kept(Go(TEXT, self.operand(value)), "text")
        if not isinstance(value, Go):
            raise Refused(f"a slice of a {self._name_of(value)}")
        value = self.defined(value)
        if value.kinds == TEXT:
            if (start is None or isinstance(start, Const)) and (stop is None or isinstance(stop, Const)):
                found = self.slice_text(
                    value,
                    start.value if isinstance(start, Const) else None,
                    stop.value if isinstance(stop, Const) else None,
                )
            else:
                found = self._slice_text_at(value, start, stop)
            return marked(found, value.markup)
        if not value.kinds <= ELEMENTS.keys() or value.kinds == {"type"}:
            raise self.split_kinds(value, f"a slice of a {self._name_of(value)}")
        return self._slice_list(value, start, stop)

    def _slice_built(self, value: Built, start: Value | None, stop: Value | None) -> Built:
        """Return a slice of a list that is kept in a text: items are taken from its start or its end."""
        bounds: list[int] = []
        for bound in (start or Const(0), stop or Const(0)):
            if not isinstance(bound, Const) or type(bound.value) not in (int, type(None)):
                raise Refused("a slice of a list that is built at a place that is not known")
            bounds.append(bound.value or 0)
        first, end = bounds
        if max(map(abs, bounds)) >= _MOST_TAKEN or (first < 0 and end) or (first > 0 and end > 0):
            raise Refused("this slice of a list that is built")
        if first > 0:
            value = self.built_from(value, first)
        if end > 0 or (stop not in (None, Const(None)) and end == 0):
            value = self.built_to(value, end)
        if first < 0:
            return self.built_reversed(self.built_to(self.built_reversed(value), -first))
        return self.built_reversed(self.built_from(self.built_reversed(value), -end)) if end < 0 else value

    def _constant_slice(self, value: Const | ListOf, start: Value | None, stop: Value | None) -> Value:
        bounds: list[Any] = []
        for bound in (start, stop):
            if bound is not None and not isinstance(bound, Const):
                raise Refused("a slice of a constant at a place that is not known")
            bounds.append(None if bound is None else bound.value)
        chosen = slice(*bounds)
        if isinstance(value, ListOf):
            return ListOf(value.items[chosen])
        if not isinstance(value.value, str):
            return Undefined()
        return Const(value.value[chosen], value.markup)

    def _reversed(self, value: Value) -> Value:
        if isinstance(value, Const) and isinstance(value.value, str):
            return Const(value.value[::-1], value.markup)
        if isinstance(value, ListOf):
            return ListOf(value.items[::-1])
        if isinstance(value, Reversed):
            return value.value
        if isinstance(value, Joined | Built):
            made = self.built(value)
            if made is not None:
                return self.built_reversed(made)
        if isinstance(value, Go) and value.kinds <= ELEMENTS.keys():
            return Reversed(self.kept(value, "list"))
        raise Refused(f"a {self._name_of(value)} from its end")

    def _slice_list(self, value: Go, start: Value | None, stop: Value | None) -> Value:
        value = self._kept_go(value, "list")
        found: Operand = value.expr
        size = call("len", value.expr)
        if start in (None, Const(0), Const(None)):
            pass
        elif isinstance(start, Const) and start.value > 0:
            if start.value == 1 and self.is_nonempty(value):
                found = call("slice", found, number(1))
            else:
                home = self._kept_go(value, "part").expr
                cut = self.declare("part", call("slice", home, number(0), number(0)))
                self.items.append(
                    build.when(
                        call("ge", size, number(start.value)),
                        (build.assign(cut, call("slice", value.expr, number(start.value))),),
                    )
                )
                found = cut
        elif isinstance(start, Int) and start.low + start.offset >= 0:
            place = self._kept_operand(self.int_operand(start))
            cut = self.declare("part", call("slice", found, number(0), number(0)))
            self.items.append(
                build.when(call("le", place, size), (build.assign(cut, call("slice", found, place)),))
            )
            found = cut
        elif isinstance(start, Const) and start.value < 0:
            cut = self.declare("part", found)
            back = call("len", call("slice", found, number(-start.value)))
            self.items.append(
                build.when(
                    call("gt", size, number(-start.value)),
                    (build.assign(cut, call("slice", found, back)),),
                )
            )
            found = cut
        else:
            raise Refused("a slice from a place that is not known")
        if stop in (None, Const(None)):
            return Go(value.kinds, found)
        if start not in (None, Const(0), Const(None)) and not (isinstance(stop, Const) and stop.value < 0):
            raise Refused("a slice between two places")
        return self._cut_list(Go(value.kinds, found), stop)

    def _cut_list(self, value: Go, stop: Value | None) -> Value:
        size = call("len", value.expr)
        if isinstance(stop, Const) and stop.value < 0:
            cut = self.declare("part", call("slice", value.expr, number(0), number(0)))
            end = call("len", call("slice", value.expr, number(-stop.value)))
            self.items.append(
                build.when(
                    call("gt", size, number(-stop.value)),
                    (build.assign(cut, call("slice", value.expr, number(0), end)),),
                )
            )
            return Go(value.kinds, cut)
        place: Operand
        if isinstance(stop, Const):
            place = number(stop.value)
        elif isinstance(stop, Int) and stop.low + stop.offset >= 0:
            place = self._kept_operand(self.int_operand(stop))
        else:
            raise Refused("a slice to a place that is not known")
        cut = self.declare("part", value.expr)
        self.items.append(
            build.when(
                call("lt", place, size), (build.assign(cut, call("slice", value.expr, number(0), place)),)
            )
        )
        return Go(value.kinds, cut)

    def slice_text(self, value: Go, start: int | None, stop: int | None) -> Value:
        """Return a slice of a text at constant places."""
        self.cuts_anywhere = True
        value = self._kept_go(value, "text")
        if (start or 0) >= 0 and (stop is None or stop >= 0):
            found = value.expr
            if stop is not None:
                found = call("printf", string(f"%.{stop}s"), found)
            if start:
                found = self._kept_operand(found)
                head = call("printf", string(f"%.{start}s"), found)
                found = call("slice", found, call("len", head))
            return Go(TEXT, found)
        if stop is None and start is not None:
            return self._end_of_text(value, "{{ $d := $s }}", -start, "slice $s (len $h)")
        if not start and stop is not None:
            return self._end_of_text(value, '{{ $d := "" }}', -stop, "$h")
        raise Refused("a slice of a text between its ends")

    def _end_of_text(self, value: Go, otherwise: str, count: int, result: str) -> Value:
        """Return what a text is cut to so many characters before its end, if it has more."""
        length = self._kept_operand(self.operand(self.length(value)))
        return Go(
            TEXT,
            self.run(
                f"{otherwise}{{{{ if gt $l $n }}}}"
                '{{ $h := printf "%.*s" (len (slice (printf "%*s" $l "") $n)) $s }}'
                f"{{{{ $d = {result} }}}}{{{{ end }}}}",
                s=value.expr,
                l=length,
                n=number(count),
            ),
        )

    def _slice_text_at(self, value: Go, start: Value | None, stop: Value | None) -> Value:
        self.cuts_anywhere = True
        value = self._kept_go(value, "text")
        found = value.expr

        def place(bound: Value) -> Operand:
            if isinstance(bound, Go) and "int" in bound.kinds:
                bound = self._as_number(bound)
            if isinstance(bound, Int):
                return self.int_operand(bound)
            if isinstance(bound, Const) and isinstance(bound.value, int) and bound.value >= 0:
                return number(bound.value)
            raise Refused("a slice of a text at a place that is not known")

        if stop is not None:
            found = self._kept_operand(call("printf", string("%.*s"), place(stop), found))
        if start is not None:
            head = call("printf", string("%.*s"), place(start), found)
            found = call("slice", found, call("len", head))
        return Go(TEXT, found)
