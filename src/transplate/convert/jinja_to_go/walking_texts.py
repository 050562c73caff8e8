"""Loops over texts and numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from transplate.convert.jinja_to_go import build, strings
from transplate.convert.jinja_to_go.build import call, go, number, string
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.operands import (
    negated,
)
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.truths import Condition
from transplate.convert.jinja_to_go.values import (
    TEXT,
    TRUTH,
    Const,
    Counting,
    Go,
    Int,
    Loop,
    Split,
    Value,
    lowest,
    marked,
)
from transplate.gotmpl.nodes import (
    Break,
)


class WalkingTexts(Interface):
    """Loops over texts and numbers."""

    def _walk_text(self, value: Go, body: Callable[..., None], wants: set[str]) -> None:
        """Write a loop over the characters of a text."""
        self.cuts_anywhere = True
        length = self._kept_operand(self.operand(self.length(value))) if "length" in wants else None
        rest = self.declare("rest", value.expr)
        self.homes.add(rest.name)
        step = self._counter()[1] if wants - {"last"} else None

        def write() -> None:
            self.items.append(build.when(negated(rest), (Break(),)))
            character = self.declare("c", call("printf", string("%.1s"), rest))
            self.items.append(build.assign(rest, call("slice", rest, call("len", character))))
            loop = self._counted_loop(step(), length) if step is not None else Loop({})
            last = self.declare("last", call("not", rest))
            loop.attributes["last"] = lambda: Go(TRUTH, last)
            body(Go(TEXT, character), loop)

        self.range((), call("len", value.expr), write)

    def _walk_numbers(self, value: Counting, body: Callable[..., None]) -> None:
        start, stop = self.known(value.start), self.known(value.stop)
        if isinstance(start, Const) and isinstance(stop, Const):
            numbers = range(start.value, stop.value)
            self._unroll([Const(index) for index in (numbers[::-1] if value.down else numbers)], body)
            return
        if value.down and start == Const(0) and isinstance(stop, Int):
            size = self._kept_operand(self.int_operand(stop))
            index = self.fresh("i")
            loop = self._counted_loop(index, size)
            back = go('len (slice (printf "%*s" $n "") (len (printf "%*s " $i "")))', n=size, i=index)
            self.range((index,), size, lambda: body(Int(back), loop))
            return
        if value.down:
            raise Refused("a range that counts down from a number that is not known")
        if start == Const(0) and isinstance(stop, Int):
            size = self._kept_operand(self.int_operand(stop))
            index = self.fresh("i")
            loop = self._counted_loop(index, size)
            self.range((index,), size, lambda: body(Int(index), loop))
            return
        if isinstance(start, Int | Const) and isinstance(stop, Int | Const) and lowest(start) >= 0:
            low = self._kept_operand(self.operand(start))
            high = self._kept_operand(self.operand(stop))
            size = self.run(
                '{{ $d := 0 }}{{ if gt $h $l }}{{ $d = len (slice (printf "%*s" $h "") $l) }}{{ end }}',
                h=high,
                l=low,
            )
            index = self.fresh("i")
            loop = self._counted_loop(index, size)
            shifted = (
                Int(index, start.value)
                if isinstance(start, Const)
                else Int(go('len (printf "%*s%*s" $a "" $b "")', a=index, b=low))
            )
            self.range((index,), size, lambda: body(shifted, loop))
            return
        raise Refused("a range between numbers that are not known")

    def _walk_split(self, value: Split, body: Callable[..., None], wants: set[str]) -> None:
        text = self.known(value.text)
        if isinstance(text, Go | Const) and text.markup:
            markup, bare = text.markup, replace(value, text=replace(text, markup=0))

            def mark(item: Value, loop: Loop, unrolled: bool = False) -> None:
                body(marked(item, markup), loop, unrolled=unrolled)

            self._walk_split(bare, mark, wants)
            return
        separator = value.separator
        if value.limit is not None and not value.from_right and not value.skip and not value.drop:
            self._walk_split_once(value, body)
            return
        if not isinstance(separator, str | None) or value.limit is not None:
            raise Refused("a loop over a text that is split so")
        if isinstance(text, Const):
            parts = text.value.split(separator)
            parts = parts[value.skip : len(parts) - value.drop]
            self._unroll([Const(part) for part in parts], body)
            return
        if separator is None:
            raise Refused("a text split at white space")
        if "length" in wants or ("last" in wants and value.drop):
            raise Refused("the end of a loop over a split text")
        source = self.text_operand(text)
        rest = self.declare("rest", source)
        more = self.declare("more", build.boolean(True))
        self.homes.update((rest.name, more.name))
        _, step = self._counter()
        _, every = self._counter()
        length = len(separator.encode())

        def write() -> None:
            self.items.append(build.when(negated(more), (Break(),)))
            part, found, tail = self.fresh("part"), self.fresh("f"), self.fresh("t")
            self.encode(
                strings.find_next(separator).replace("$d", "$f"),
                "the next part",
                s=rest,
                f=found,
                t=tail,
            )
            self.items.append(build.declare(part, rest))
            cut = call("slice", rest, number(0), call("len", call("slice", rest, call("len", tail))))
            self.items.append(
                build.when(
                    found,
                    (
                        build.assign(part, cut),
                        build.assign(rest, call("slice", tail, number(length))),
                    ),
                    (build.assign(more, build.boolean(False)),),
                )
            )
            place = every()
            tests: list[Condition] = []
            if value.skip:
                tests.append(call("ge", place, number(value.skip)))
            if value.drop > 1:
                raise Refused("this slice of a split text")
            if value.drop:
                tests.append(found)

            def inner() -> None:
                index = step()
                loop = self._counted_loop(index, None)
                loop.attributes["last"] = lambda: Go(TRUTH, negated(found))
                body(Go(TEXT, part), loop)

            test = tests[0] if tests else True
            if len(tests) > 1:
                test = call("and", *(one for one in tests if not isinstance(one, bool)))
            if isinstance(test, bool):
                inner()
            else:
                self.branch(test, inner, lambda: None)

        self.range((), call("len", call("print", source, string(" "))), write)

    def _walk_split_once(self, value: Split, body: Callable[..., None]) -> None:
        """Write a loop over the two parts of a text, or over the one if there is no separator in it."""
        second = self.split_item(value, 1)
        if not isinstance(second, Go) or second.present is None:
            raise Refused("a loop over a text that is split so")
        found, length = second.present, self.declare("length", number(1))
        self.items.append(build.when(found, (build.assign(length, number(2)),)))
        first = self.split_item(value, 0)

        def loop(index: int) -> Loop:
            attributes: dict[str, Value] = {
                "index0": Const(index),
                "index": Const(index + 1),
                "first": Const(index == 0),
                "last": Const(True) if index else Go(TRUTH, call("not", found)),
                "length": Int(length, low=1),
            }
            return Loop({name: (lambda held=held: held) for name, held in attributes.items()})  # type: ignore[misc]

        body(first, loop(0), unrolled=True)
        if not self.dead:
            self.branch(found, lambda: body(Go(TEXT, second.expr), loop(1), unrolled=True), lambda: None)
