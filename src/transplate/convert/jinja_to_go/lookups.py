"""Expressions as values: names, attributes and items of dicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import GeneratorType

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.attributes import key_of
from transplate.convert.jinja_to_go.build import call, go, string
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.operands import (
    type_test,
)
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.truths import truth_value
from transplate.convert.jinja_to_go.values import (
    ANY,
    ELEMENTS,
    MAPPED,
    MAPPINGS,
    RECORDS,
    TEXT,
    Built,
    Cat,
    Chosen,
    Const,
    Counting,
    DictOf,
    Either,
    Go,
    Int,
    Joined,
    Json,
    ListOf,
    Loop,
    MacroOf,
    Method,
    Namespace,
    Packed,
    Pairs,
    Split,
    Undefined,
    Value,
    concatenated,
    is_lazy,
    kinds_of,
)
from transplate.gotmpl.nodes import Operand, Variable
from transplate.gotmpl.printer import print_node
from transplate.jinja import nodes as j

_STRING_METHODS, _DICT_METHODS, _LIST_METHODS = (
    frozenset(name for name in dir(kind) if not name.startswith("_")) for kind in (str, dict, list)
)
_OTHER_ATTRIBUTES = frozenset(name for kind in (int, float) for name in dir(kind) if not name.startswith("_"))
_OF_ITEMS = _LIST_METHODS.union(dir({}.items()), dir(GeneratorType), dir(range))
"""What the items of a dict may have, which are a view, a generator or a list; or a range."""
_NOT_CONVERTED = frozenset({"cycler", "joiner", "lipsum", "self"})
"""Names that Jinja gives templates, and that chat templates do not use."""
_OF_MACROS = frozenset({"varargs", "kwargs"})


class Lookups(Interface):
    """Expressions as values."""

    def lookup(self, name: str) -> Value:
        """Return the value of a name."""
        for scope in reversed(self.state.scopes):
            if name in scope:
                found = scope[name]
                return self.unpacked(found) if isinstance(found, Packed) else found
        if name in ("namespace", "raise_exception", "strftime_now", "range", "dict"):
            return Method(None, name)
        if name in _NOT_CONVERTED or (name in _OF_MACROS and len(self.state.scopes) > 1):
            raise Refused(name)
        if name.endswith("_token"):
            self.tokens_not_given.add(name)
        return Undefined(name)

    def value(self, node: j.Expression) -> Value:
        """Return the value of an expression."""
        outer, self.place = self.place, self.tree.places.get(id(node), self.place)
        found = self.known(self._value(node))
        self.place = outer  # not where this is refused: then the place is what the error is about
        return found

    def _value(self, node: j.Expression) -> Value:
        if id(node) in self._evaluated:
            return self._evaluated[id(node)]
        found = self._found_value(node)
        if isinstance(found, Either) and not isinstance(node, j.Name):
            self._evaluated[id(node)] = found
        return found

    def _found_value(self, node: j.Expression) -> Value:
        match node:
            case j.Literal(value):
                return Const(value)
            case j.Name(name):
                return self.lookup(name)
            case j.ListLiteral(items, is_tuple):
                return ListOf(tuple(self.value(item) for item in items), is_tuple)
            case j.DictLiteral(items):
                return DictOf(tuple((self.value(key), self.value(value)) for key, value in items))
            case j.Attribute(inner, name):
                is_called = node is self._called
                return self._of_either(node, inner, lambda held: self.attribute(held, name, is_called))
            case j.Item(inner, key):
                return self._of_either(node, inner, lambda held: self.item(held, self.value(key)))
            case j.Slice():
                return self._slice(node)
            case j.Not() | j.Test():
                return truth_value(self._test(node) if isinstance(node, j.Test) else self.condition(node))
            case j.And(operands) | j.Or(operands):
                return self._logical(operands, isinstance(node, j.And))
            case j.Conditional(test, then, otherwise):
                return self._conditional(test, then, otherwise)
            case j.Concat(operands):
                parts = [self.as_text(self.value(operand)) for operand in operands]
                return concatenated(parts)
            case j.Negative(inner):
                return self._arithmetic("-", Const(0), self.value(inner))
            case j.Binary():
                return self._binary(node)
            case j.Filter():
                return self.filter(node)
            case j.Call():
                return self.call(node)
        raise Refused(f"the expression {type(node).__name__}")

    def attribute(self, value: Value, name: str, is_called: bool = False) -> Value:
        """Return ``value.name``, of which it may be known that it is called."""
        value = self.known(value)
        if isinstance(value, Namespace):
            held = self.state.attributes.get((value.number, name), Undefined(name))
            return self.unpacked(held) if isinstance(held, Packed) else held
        if isinstance(value, Loop):
            found = value.attributes.get(name)
            if found is None:
                raise Refused(f"loop.{name}")
            return found()
        if (
            isinstance(value, Go | DictOf)
            and name in _DICT_METHODS
            and self._is_kind(value, MAPPINGS) is True
        ):
            return Method(value, name)
        if isinstance(value, Go) and value.kinds == TEXT and value.absent == "undefined":
            value = self.defined(value)
        if kinds_of(value) == TEXT or (isinstance(value, Go) and value.kinds == TEXT):
            return _method_or_undefined(value, name, _STRING_METHODS)
        if isinstance(value, Go) and name in _DICT_METHODS and value.kinds & MAPPINGS:
            return Method(self.only(value, frozenset(MAPPINGS)), name)
        if isinstance(value, Go) and name in _STRING_METHODS and "str" in value.kinds:
            if is_called or not value.kinds & MAPPINGS:
                return Method(self.only(value, TEXT), name)
            value = self.only(self.there(value), value.kinds - TEXT)  # a string's method is of no use
        return self._key(value, name)

    def _or_method(self, value: Go, name: str, found: Value) -> Value:
        """Return an item of a dict, the dict's method of that name where there is no such item."""
        if name not in _DICT_METHODS:
            return found
        method = Method(value, name)
        if not isinstance(found, Go):
            return method
        if found.present is None or found.absent != "undefined":
            return found
        is_there = self.is_known(found.present)
        if is_there is None:
            raise self.split_kinds(found, "an item, or the method of that name")
        return replace(found, present=None) if is_there else method

    def _of_either(self, node: j.Expression, inner: j.Expression, find: Callable[[Value], Value]) -> Value:
        """Return what is found in a value; in each of the two where it is one or the other."""

        def of(held: Value) -> Value:
            if isinstance(held, Either) and self.is_known(held.test) is None:
                return self.choose(held.test, lambda: of(held.first), lambda: of(held.second))
            return find(self.known(held))

        held = self._value(inner)
        found = of(held)
        if isinstance(held, Either):
            self._evaluated[id(node)] = found
        return found

    def item(self, value: Value, key: Value) -> Value:
        """Return ``value[key]``."""
        if isinstance(key, Const) and isinstance(key.value, str):
            if isinstance(value, Namespace):
                return self.attribute(value, key.value)
            return self._key(value, key.value)
        if is_lazy(value):
            return Undefined()
        if isinstance(key, Const | Int) and not (isinstance(key, Const) and isinstance(key.value, bool)):
            return self.at(value, key)
        return self._dynamic_item(value, key)

    def held(self, value: Value, key: Value) -> Value:
        """Return what a dict's ``get`` finds, which unlike ``value[key]`` never is a method."""
        if not (isinstance(key, Const) and isinstance(key.value, str)):
            return self.item(value, key)
        name = key.value
        if isinstance(value, DictOf):
            return dict(value.items).get(key, Undefined(name))
        if not isinstance(value, Go) or not value.kinds <= MAPPINGS or value.present is not None:
            return self.item(value, key)
        (kind, *others) = sorted(value.kinds)
        if others:
            inner, rest = Go(frozenset({kind}), value.expr), Go(frozenset(others), value.expr)
            return self.choose(
                type_test(value.expr, kind), lambda: self.held(inner, key), lambda: self.held(rest, key)
            )
        return key_of(kind, value.expr, name) if kind in RECORDS else self._entry(value, string(name))

    def _dynamic_item(self, value: Value, key: Value) -> Value:
        value = self.known(value)
        if isinstance(key, Go) and key.kinds > TEXT and "type" not in key.kinds and _has_texts_as_keys(value):
            is_text = self._is_kind(key, TEXT)
            bare = Go(TEXT, key.expr, markup=key.markup)
            if not isinstance(is_text, bool):
                return self.choose(is_text, lambda: self._dynamic_item(value, bare), lambda: Undefined())
        if isinstance(value, DictOf) and isinstance(key, Go) and key.kinds == TEXT and key.present is None:
            texts = [held.value for pair in value.items for held in pair if isinstance(held, Const)]
            if len(texts) == 2 * len(value.items) > 8 and all(isinstance(text, str) for text in texts):
                return self._text_table(list(zip(texts[::2], texts[1::2], strict=True)), key)
            return self._lookup_table(value.items, key)
        if isinstance(value, Go) and isinstance(key, Go) and key.kinds == TEXT and key.present is None:
            value = self.defined(value)
            if len(value.kinds) == 1 and value.kinds <= MAPPED.keys():
                return self._entry(value, key.expr)
        if isinstance(key, Undefined) and isinstance(value, DictOf):
            return Undefined()
        if isinstance(key, Go) and (key.present is not None or len(key.kinds) > 1 or key.kinds == {"type"}):
            raise self.split_kinds(key, "an item whose key is not known")
        if isinstance(key, Go) and key.kinds <= ELEMENTS.keys() | MAPPINGS:
            return Undefined()  # no key: Jinja takes the TypeError for a missing item
        if isinstance(key, Cat | Json) and isinstance(value, DictOf | Go):
            return self._dynamic_item(value, Go(TEXT, self.text_operand(key)))
        raise Refused("an item whose key is not known")

    def _text_table(self, items: Sequence[tuple[str, str]], key: Go) -> Value:
        """Return an item of a dict of many texts."""
        kept = self._kept_go(key, "key")
        home = self.declare("entry", build.UNDEFINED)
        names: dict[str, list[Operand]] = {}
        for name, text in dict(items).items():
            names.setdefault(text, []).append(string(name))
        for text, keys in names.items():
            test = call("eq", kept.expr, *keys)
            self.items.append(build.when(test, (build.assign(home, string(text)),)))
        return Go(frozenset({"str", "undefined"}), home)

    def _lookup_table(self, items: Sequence[tuple[Value, Value]], key: Go) -> Value:
        if not items:
            return Undefined()
        (first, found), *rest = items
        test = self.equal(first, key)
        if isinstance(test, bool):
            return found if test else self._lookup_table(rest, key)
        return self.choose(test, lambda: found, lambda: self._lookup_table(rest, key))

    def _entry(self, value: Go, key: Operand) -> Value:
        """Return what a dict with any keys holds under a key; Go's ``index`` tells not if there is none."""
        inside, entry = self._full_entry(value, key)
        if isinstance(key, Variable) and print_node(value.expr) in self.keys_of.get(key.name, ()):
            return replace(entry, present=None)
        if self.takes("no-nulls"):
            return entry
        assert entry.present is not None  # noqa: S101
        there = self.run(
            "{{ $d := $x }}{{ if not $d }}{{ range $k, $v := $m }}{{ if eq $k $n }}{{ $d = true }}{{ end }}"
            "{{ end }}{{ end }}",
            "whether the key is there",
            "has",
            x=entry.present,
            m=inside,
            n=key,
        )
        return replace(entry, present=there)

    def _full_entry(self, value: Go, key: Operand) -> tuple[Operand, Go]:
        """Return a dict with any keys as Go's map, and what it holds under a key unless that is null."""
        (kind,) = value.kinds
        inside = build.field(value.expr, "ToMap") if kind == "ordered" else value.expr
        found = call("index", inside, key)
        is_full = 'ne (printf "%T" $x) "<nil>"' if MAPPED[kind] == ANY else 'ne (json $x) "{}"'
        return inside, Go(MAPPED[kind], found, go(is_full, x=found))

    def _entry_or_method(self, value: Go, name: str) -> Value:
        """Return what a dict with any keys holds under a method's name: the method where it is not there.

        A null is told from no key only where that stops the prompt: the condition has to be one expression.
        """
        inside, entry = self._full_entry(value, string(name))
        found = self._or_method(value, name, entry)
        if isinstance(found, Method) and not self.takes("no-nulls"):
            self.encode(
                "{{ range $k, $v := $m }}{{ if eq $k $n }}"
                '{{ template "not converted: an item that holds nothing" $v }}{{ end }}{{ end }}',
                "stop where the key is there",
                m=inside,
                n=string(name),
            )
        return found

    def _key(self, value: Value, name: str) -> Value:
        value = self.known(value)
        if isinstance(value, DictOf):
            for key, found in value.items:
                if key == Const(name):
                    return found
            return _method_or_undefined(value, name, _DICT_METHODS)
        if isinstance(value, Undefined):
            self._fail_undefined(value)
            return Undefined(name)
        if kinds_of(value) == TEXT:
            return _method_or_undefined(value, name, _STRING_METHODS)
        if isinstance(value, ListOf | Built | Joined | Split | Chosen):
            return _method_or_undefined(value, name, _LIST_METHODS)
        if not isinstance(value, Go):
            is_one = isinstance(value, Counting | Pairs) and name in _OF_ITEMS
            if name in _OTHER_ATTRIBUTES or isinstance(value, MacroOf) or is_one:
                raise Refused(f"the attribute {name} of a {self._name_of(value)}")
            return Undefined(name)
        if value.present is not None and value.absent == "none":  # None has no keys, and does not fail
            bare = Go(value.kinds, value.expr, markup=value.markup)
            return self.choose(value.present, lambda: self._key(bare, name), lambda: Undefined(name))
        value = self.there(value)
        if len(value.kinds) == 1:
            (kind,) = value.kinds
            if kind in RECORDS:
                return self._or_method(value, name, key_of(kind, value.expr, name))
            if kind in MAPPED:
                is_method = name in _DICT_METHODS
                return self._entry_or_method(value, name) if is_method else self._entry(value, string(name))
            if kind in ELEMENTS:
                return _method_or_undefined(value, name, _LIST_METHODS)
            return _method_or_undefined(value, name, _STRING_METHODS if kind == "str" else frozenset())
        if not value.kinds & MAPPINGS:
            if name in _STRING_METHODS | _LIST_METHODS:
                raise self.split_kinds(value, "an item that is a method of some types")
            return Undefined(name)
        if name in _DICT_METHODS:
            raise self.split_kinds(value, "an item that is a method of some types")
        kind = min(value.kinds & MAPPINGS)
        others = Go(value.kinds - {kind}, value.expr)
        inner = Go(frozenset({kind}), value.expr)
        is_stable = self.is_stable(value.expr)
        text = f"{name} of {sorted(value.kinds)} {print_node(value.expr)}"
        if is_stable and text in self.state.decoded:
            return self.state.decoded[text]
        found = self.choose(
            type_test(value.expr, kind), lambda: self._key(inner, name), lambda: self._key(others, name)
        )
        if is_stable:
            self.state.decoded[text] = found
        return found


def _method_or_undefined(value: Value, name: str, methods: frozenset[str]) -> Value:
    """Return what Jinja takes for an item that is not there: the method of that name if there is one."""
    return Method(value, name) if name in methods else Undefined(name)


def _has_texts_as_keys(value: Value) -> bool:
    """Tell whether a value is a dict whose keys are all strings."""
    if isinstance(value, DictOf):
        return all(isinstance(key, Const) and isinstance(key.value, str) for key, _ in value.items)
    return isinstance(value, Go) and value.kinds <= MAPPED.keys()
