"""Values in a text: what a template collects in lists and dicts while it runs.

A list is a text of items. An item is the length of what follows in eight digits, a letter for its kind, and
what it holds: a string itself, the number of a message, a list's or a dict's items.
"""

from __future__ import annotations

from collections.abc import Callable

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import call, go, number, string
from transplate.convert.jinja_to_go.interface import Decoder, Interface
from transplate.convert.jinja_to_go.operands import negated, type_test
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.shapes import NOTHING, SCALARS, Shape, fits, list_of, merged
from transplate.convert.jinja_to_go.truths import as_operand
from transplate.convert.jinja_to_go.values import (
    ELEMENTS,
    TEXT,
    TRUTH,
    Built,
    Chosen,
    Const,
    DictOf,
    Either,
    Go,
    Int,
    Joined,
    ListOf,
    Loop,
    Packed,
    Split,
    Undefined,
    Value,
    kinds_of,
    lowest,
    markup_of,
)
from transplate.gotmpl.nodes import Break, If, Operand, String, Variable
from transplate.gotmpl.printer import print_node

TAKE = (
    '{{ $n := printf (printf "%%8s%%%ss" (slice $r 2 8)) "" "" }}'
    '{{ range len (printf (printf "%%%ss" (slice $r 0 2)) "") }}'
    '{{ $n = printf "%s%1000000s" $n "" }}{{ end }}'
    "{{ $d := slice $r 8 (len $n) }}{{ $r = slice $r (len $n) }}"
)
"""Takes the first item from a list: its length, which is in digits, becomes a width.

A width may be a million at most, so that there are millions besides.
"""

_PLACE_OF_CALLS = (
    '{{ $d := "u" }}{{ $j := json $x }}{{ range $i, $m := $.Messages }}{{ if eq (json $m.ToolCalls) $j }}'
    '{{ $d = printf "c%08d" $i }}{{ break }}{{ end }}{{ end }}'
)
_PLACE_OF_CALL = (
    '{{ $d := "u" }}{{ $j := json $x }}{{ range $i, $m := $.Messages }}{{ range $k, $c := $m.ToolCalls }}'
    '{{ if eq (json $c) $j }}{{ $d = printf "k%08d%d" $i $k }}{{ break }}{{ end }}{{ end }}{{ end }}'
)
"""Tool calls are known by what they are: two that are alike are not told apart in Jinja either."""
_NUMBER_OF_MESSAGE = (
    '{{ $d := "" }}{{ range $i, $m := $.Messages }}{{ if eq $m $x }}{{ $d = printf "%08d" $i }}{{ break }}'
    "{{ end }}{{ end }}"
)
_MESSAGE = (
    "{{ $d := 0i }}{{ range $i, $m := $.Messages }}"
    '{{ if eq (printf "%08d" $i) (slice $p 1 9) }}{{ $d = $m }}{{ break }}{{ end }}{{ end }}'
)
_CALL = (
    "{{ $d := 0i }}{{ range $i, $m := $.Messages }}"
    '{{ if eq (printf "%08d" $i) (slice $p 1 9) }}{{ range $j, $c := $m.ToolCalls }}'
    "{{ if eq (print $j) (slice $p 9) }}{{ $d = $c }}{{ break }}"
    "{{ end }}{{ end }}{{ break }}{{ end }}{{ end }}"
)
_WHOLE_NUMBER = (
    '{{ $t := slice $p 1 }}{{ $n := "" }}{{ range $j := 8 }}'
    '{{ $n = print $n $n $n $n $n $n $n $n $n $n (slice (printf "%*s" (index $t $j) "") 48) }}{{ end }}'
    "{{ $d := len $n }}"
)

_LETTERS = {
    "str": "s",
    "none": "n",
    "undefined": "u",
    "message": "m",
    "calls": "c",
    "call": "k",
    "int": "i",
    "record": "r",
    "list": "l",
}


class Packing(Interface):
    """Puts values into texts and takes them out again."""

    # --- shapes ---------------------------------------------------------------------------------------

    def shape_of(self, value: Value) -> Shape | None:
        """Return what a value is kept as in a text, None if it cannot be."""
        if isinstance(value, Either):
            one, other = self.shape_of(value.first), self.shape_of(value.second)
            return None if one is None or other is None else merged(one, other)
        if isinstance(value, Packed):
            return value.shape
        if isinstance(value, DictOf):
            return self._shape_of_dict(value)
        item = self._shape_of_items(value)
        if item is not None:
            return list_of(item)
        kinds = kinds_of(value)
        if kinds is None or not kinds <= SCALARS:
            return None
        return Shape(kinds)

    def _shape_of_dict(self, value: DictOf) -> Shape | None:
        fields: list[tuple[str, Shape]] = []
        for key, held in value.items:
            found = self.shape_of(held)
            if found is None or not isinstance(key, Const) or not isinstance(key.value, str):
                return None
            if value.is_open and "undefined" in found.kinds:
                unclear = found.kinds if value.is_unclear else found.kinds - {"undefined"}
                found = Shape(unclear | {"absent"}, found.fields, found.item)
            fields.append((key.value, found))
        return Shape(frozenset({"record"}), tuple(fields))

    def _shape_of_items(self, value: Value) -> Shape | None:
        """Return what the items of a list are, None if it is no list or they cannot be kept."""
        if isinstance(value, Built):
            return value.item
        if isinstance(value, ListOf | Joined):
            found = NOTHING
            for part in value.items if isinstance(value, ListOf) else value.parts:
                own = self.shape_of(part) if isinstance(value, ListOf) else self._shape_of_items(part)
                if own is None:
                    return None
                found = merged(found, own)
            return found
        if isinstance(value, Split):
            return Shape(TEXT)
        if (
            isinstance(value, Go)
            and value.present is None
            and value.kinds <= {"strings", "messages", "calls"}
        ):
            return Shape(frozenset().union(*(ELEMENTS[kind] for kind in value.kinds)))
        if isinstance(value, Chosen) and value.change is None:
            return self._shape_of_items(value.value)
        if isinstance(value, Chosen) and value.is_list:
            return self._shape_of_changed(value)
        return None

    def _shape_of_changed(self, value: Chosen) -> Shape | None:
        """Return what the items of a list are that a function has changed: written on trial."""
        found: list[Shape | None] = []
        restore = self._checkpoint()
        with self.block():
            self.walk(value, lambda one, _: found.append(self.shape_of(one)))
        restore()
        made = NOTHING
        for one in found:
            if one is None:
                return None
            made = merged(made, one)
        return made

    def _message_of(self, operand: Operand) -> Operand | None:
        """Return the message that a list of calls, or a call of a loop, belongs to."""
        if isinstance(operand, Variable) and operand.fields[-1:] == ("ToolCalls",):
            return Variable(operand.name, operand.fields[:-1])
        if isinstance(operand, Variable) and operand.name in self.origins:
            return self._message_of(self.origins[operand.name][0])
        return None

    # --- into texts -----------------------------------------------------------------------------------

    def built(self, value: Value, item: Shape | None = None) -> Built | None:
        """Return a list as one that is kept in a text, None if its items cannot be.

        Args:
            value: The list.
            item: What the items of the result can be; those of the list at least.
        """
        own = self._shape_of_items(value)
        if own is None:
            return None
        item = own if item is None else item
        if not fits(own, item):
            return None
        texts: list[Operand] = []
        for part in value.parts if isinstance(value, Joined) else (value,):
            texts += self._items_of(part, item)
        if not texts:
            return Built(string(""), item)
        return Built(texts[0] if len(texts) == 1 else call("print", *texts), item)

    def _items_of(self, value: Value, item: Shape) -> list[Operand]:
        if isinstance(value, Built) and _alike(value.item, item):
            return [value.expr]
        if isinstance(value, ListOf):
            return [self._item(one, item) for one in value.items]
        home = self.declare("items", string(""))
        self.homes.add(home.name)

        def add(one: Value, _: Loop) -> None:
            self.items.append(build.assign(home, call("print", home, self._item(one, item))))

        self.walk(value, add)
        return [home]

    def _item(self, value: Value, shape: Shape) -> Operand:
        """Return a value as an item of a list."""
        payload = self.packed(value, shape)
        if isinstance(payload, String):
            return string(f"{len(payload.value.encode()):08}{payload.value}")
        payload = self._kept_operand(payload)
        return as_item(payload)

    def packed(self, value: Value, shape: Shape) -> Operand:
        """Return a value as a text."""
        if isinstance(value, Either):
            either = value
            return self._one_of(
                either.test,
                lambda: self.packed(either.first, shape),
                lambda: self.packed(either.second, shape),
            )
        if isinstance(value, Packed):
            if _alike(value.shape, shape):
                return value.expr
            return self.packed(self.unpacked(value), shape)
        value = self.known(value)
        if isinstance(value, Undefined):
            return string("u")
        if isinstance(value, DictOf):
            held = {key.value: found for key, found in value.items if isinstance(key, Const)}
            items = [self._item(held.get(name, Undefined()), found) for name, found in shape.fields]
            return _text(string("r"), *items)
        made = self.built(value, shape.item) if shape.item is not None else None
        if made is not None:  # a list that is none of these is a message's calls, which are kept as its place
            return _text(string("l"), made.expr)
        if isinstance(value, Go) and value.present is not None:
            present = value.present
            bare = Go(value.kinds, value.expr)
            absent = string("n" if value.absent == "none" else "u")
            return self._one_of(present, lambda: self.packed(bare, shape), lambda: absent)
        return self._packed_scalar(value, shape)

    def _packed_scalar(self, value: Value, shape: Shape) -> Operand:
        kinds = kinds_of(value)
        if kinds is None or not kinds <= SCALARS:
            raise Refused(f"a {self._name_of(value)} in a list that is built")
        if isinstance(value, Go) and len(kinds) > 1:
            kind, *rest = sorted(kinds)
            expr = self._kept_operand(value.expr)
            return self._one_of(
                type_test(expr, kind),
                lambda: self.packed(Go(frozenset({kind}), expr), shape),
                lambda: self.packed(Go(frozenset(rest), expr), shape),
            )
        (kind,) = kinds
        if kind == "str":
            if markup_of(value):
                if self.unpacked_as == 0:
                    raise Refused("a text that is marked safe in a list that is read before")
                self.unpacked_as = 2
            return _text(string("s"), self.operand(value))
        if kind == "bool":
            return self._one_of(as_operand(self.truth(value)), lambda: string("t"), lambda: string("f"))
        if kind == "int":
            return call("printf", string("i%08d"), self.operand(value))
        if kind in ("none", "undefined"):
            return string(_LETTERS[kind])
        assert isinstance(value, Go)  # noqa: S101
        if kind == "message":
            return _text(
                string("m"), self.run(_NUMBER_OF_MESSAGE, "the number of the message", "number", x=value.expr)
            )
        message = self._message_of(value.expr)
        if message is None:
            return self.run(_PLACE_OF_CALLS if kind == "calls" else _PLACE_OF_CALL, x=value.expr)
        place = self.run(_NUMBER_OF_MESSAGE, "the number of the message", "number", x=message)
        if kind == "calls":
            return _text(string("c"), place)
        assert isinstance(value.expr, Variable)  # noqa: S101
        return call("print", string("k"), place, self.origins[value.expr.name][1])

    def fits_in(self, target: Built | Packed, value: Value) -> bool:
        """Tell whether a variable like the target can hold a value."""
        own = self.shape_of(value)
        return own is not None and fits(own, _shape_in(target))

    def kept_in(self, target: Built | Packed, value: Value) -> Operand:
        """Return a value as the text that a variable like the target holds."""
        if isinstance(target, Packed):
            return self.packed(value, target.shape)
        made = self.built(value, target.item)
        if made is None:
            raise Refused("this list in a variable that holds another")
        return made.expr

    def _one_of(self, test: Operand, first: Callable[[], Operand], second: Callable[[], Operand]) -> Operand:
        known = self.settled(test)
        if isinstance(known, bool):
            return first() if known else second()
        home = self.declare("packed", string(""))
        self.branch(
            test,
            lambda: self.items.append(build.assign(home, first())),
            lambda: self.items.append(build.assign(home, second())),
        )
        return home

    # --- out of texts ---------------------------------------------------------------------------------

    def unpacked(self, value: Packed) -> Value:
        """Return a value that is kept in a text as what it is."""

        def decode() -> Value:
            return self._unpacked(self.declare("packed", value.expr), value.shape)

        return self._once(print_node(value.expr), decode)

    def _once(self, text: str, decode: Callable[[], Value]) -> Value:
        """Return what is taken out of a text; what has been already is not again."""
        found = self.state.decoded.get(text)
        if found is not None:
            return found
        mark = len(self.serials)
        with self.block() as items:
            found = decode()
        self.items.extend(items)
        self.state.decoded[text] = found
        for name in list(self.serials)[mark:]:
            self.decoders[name] = Decoder(mark, text, tuple(items), found)
        return found

    def _unpacked(self, payload: Variable, shape: Shape) -> Value:
        scalars = (shape.kinds - {"list", "record", "absent"}) | (
            {"undefined"} if "absent" in shape.kinds else frozenset()
        )
        choices: list[tuple[str, Callable[[], Value]]] = []
        if "record" in shape.kinds:
            choices.append(("r", lambda: self._record(payload, shape)))
        if "list" in shape.kinds:
            item = shape.item or NOTHING
            choices.append(("l", lambda: Built(call("slice", payload, number(1)), item)))
        if scalars:
            choices.append(("", lambda: self._scalar(payload, scalars)))
        return self._first_of(payload, choices)

    def _first_of(self, payload: Variable, choices: list[tuple[str, Callable[[], Value]]]) -> Value:
        if not choices:
            return Undefined()
        (letter, make), *rest = choices
        if not rest:
            return make()
        return self.choose(_begins(payload, letter), make, lambda: self._first_of(payload, rest))

    def _scalar(self, payload: Variable, kinds: frozenset[str]) -> Value:
        if len(kinds) == 1:
            (kind,) = kinds
            return self._single(payload, kind)
        home = self.declare("value", build.UNDEFINED)
        ways: list[tuple[str, str]] = []
        for kind in sorted(kinds - {"undefined"}):
            ways += [("bool", "t"), ("bool", "f")] if kind == "bool" else [(kind, _LETTERS[kind])]
        whole: tuple[If, ...] = ()
        for kind, letter in reversed(ways):
            with self.block() as items:
                found = self._single(payload, kind)
                self.items.append(build.assign(home, self.operand(found)))
            whole = (build.when(_begins(payload, letter), tuple(items), whole),)
        self.items.extend(whole)
        return Go(kinds, home)

    def _single(self, payload: Variable, kind: str) -> Value:
        if kind == "str":
            self.unpacked_as = self.unpacked_as or 0
            return Go(TEXT, call("slice", payload, number(1)), markup=self.unpacked_as)
        if kind == "bool":
            return Go(TRUTH, call("eq", payload, string("t")))
        if kind == "none":
            return Const(None)
        if kind == "undefined":
            return Undefined()
        if kind == "int":
            return Int(self.run(_WHOLE_NUMBER, p=payload))
        if kind == "call":
            return Go(frozenset({kind}), self.run(_CALL, "the tool call of these numbers", "call", p=payload))
        found = self.run(_MESSAGE, "the message of this number", "message", p=payload)
        return Go(frozenset({kind}), build.field(found, "ToolCalls") if kind == "calls" else found)

    def _record(self, payload: Variable, shape: Shape) -> DictOf:
        rest = self.declare("rest", call("slice", payload, number(1)))
        self.homes.add(rest.name)
        items: list[tuple[Value, Value]] = []
        is_open = is_unclear = False
        for name, found in shape.fields:
            is_open |= "absent" in found.kinds
            is_unclear |= {"absent", "undefined"} <= found.kinds
            held = self.run(TAKE, "the next item of a list in a text", "kept", r=rest)
            items.append((Const(name), self._unpacked(held, found)))
        return DictOf(tuple(items), is_open, is_unclear)

    # --- lists that are kept in texts -----------------------------------------------------------------

    def walk_raw(self, value: Built, body: Callable[[Variable], None]) -> None:
        """Write a loop over the items of a list as they are kept."""
        rest = self.declare("rest", value.expr)
        self.homes.add(rest.name)

        def write() -> None:
            self.items.append(build.when(call("not", rest), (Break(),)))
            body(self.run(TAKE, "the next item of a list in a text", "kept", r=rest))

        self.range((), call("len", value.expr), write)

    def unpacked_item(self, payload: Variable, value: Built) -> Value:
        """Return an item of a list."""
        return self._unpacked(payload, value.item)

    def built_at(self, value: Built, index: Value) -> Value:
        """Return an item of a list, Undefined where there is none."""
        shape = Shape(value.item.kinds | {"undefined"}, value.item.fields, value.item.item)
        text = f"{print_node(value.expr)} {print_node(self.operand(index))}"
        return self._once(text, lambda: self._unpacked(self._payload_at(value, index), shape))

    def _payload_at(self, value: Built, index: Value) -> Variable:
        found = self.declare("found", string("u"))
        if index == Const(-1):
            self._find_last(value, found)
        elif isinstance(index, Int) and lowest(index) == -1:
            with self.block() as last:
                self._find_last(value, found)
            with self.block() as other:
                self._find(value, self.operand(index), found)
            self.items.append(build.when(negated(index.expr), tuple(last), tuple(other)))
        else:
            self._find(value, self.operand(index), found)
        return found

    def _find_last(self, value: Built, found: Variable) -> None:
        self.walk_raw(value, lambda item: self.items.append(build.assign(found, item)))

    def _find(self, value: Built, index: Operand, found: Variable) -> None:
        place = self._kept_operand(index)
        count = self.declare("count", string(""))
        self.homes.add(count.name)

        def look(item: Variable) -> None:
            test = call("eq", call("len", count), place)
            self.items.append(build.when(test, (build.assign(found, item), Break())))
            self.items.append(build.assign(count, call("print", count, string(" "))))

        self.walk_raw(value, look)

    def built_reversed(self, value: Built) -> Built:
        """Return a list from its end."""
        home = self.declare("items", string(""))
        self.homes.add(home.name)
        self.walk_raw(
            value,
            lambda item: self.items.append(
                build.assign(home, call("printf", string("%08d%s%s"), call("len", item), item, home))
            ),
        )
        return Built(home, value.item)

    def built_from(self, value: Built, start: int) -> Built:
        """Return a list without its first items."""
        rest = self.declare("items", value.expr)
        self.homes.add(rest.name)
        for _ in range(start):
            with self.block() as items:
                self.run(TAKE, "the next item of a list in a text", "kept", r=rest)
            self.items.append(build.when(rest, tuple(items)))
        return Built(rest, value.item)

    def built_to(self, value: Built, stop: int) -> Built:
        """Return the first items of a list."""
        whole = self._kept_operand(value.expr)
        rest = self.built_from(Built(whole, value.item), stop).expr
        return Built(go("slice $l 0 (len (slice $l (len $r)))", l=whole, r=rest), value.item)


def as_item(payload: Operand) -> Operand:
    """Return a text as an item of a list that is kept in a text."""
    return call("printf", string("%08d%s"), call("len", payload), payload)


def _shape_in(target: Built | Packed) -> Shape:
    return list_of(target.item) if isinstance(target, Built) else target.shape


def _begins(payload: Variable, letter: str) -> Operand:
    return call("eq", call("slice", payload, number(0), number(1)), string(letter))


def _text(*operands: Operand) -> Operand:
    """Return texts put together."""
    flat: list[Operand] = []
    for operand in operands:
        if isinstance(operand, String) and flat and isinstance(flat[-1], String):
            flat[-1] = string(flat[-1].value + operand.value)
        else:
            flat.append(operand)
    return flat[0] if len(flat) == 1 else call("print", *flat)


def _alike(one: Shape, other: Shape) -> bool:
    """Tell whether what has one shape is written as if it had the other, which is wider."""
    if one.fields and [name for name, _ in one.fields] != [name for name, _ in other.fields]:
        return False
    for (_, mine), (_, its) in zip(one.fields, other.fields, strict=False):
        if not _alike(mine, its):
            return False
    return one.item is None or other.item is None or _alike(one.item, other.item)
