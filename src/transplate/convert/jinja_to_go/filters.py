"""Jinja's filters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from jinja2.filters import do_int, do_title

from transplate.convert.jinja_to_go import build, cases, strings
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.truths import Condition, opposite
from transplate.convert.jinja_to_go.values import (
    ELEMENTS,
    MAPPED,
    MAPPINGS,
    SCALARS,
    TEXT,
    Built,
    Chosen,
    Const,
    DictOf,
    Go,
    Int,
    Json,
    ListOf,
    Loop,
    Pairs,
    Reversed,
    Split,
    Undefined,
    Value,
    concatenated,
    kinds_of,
    text_value,
)
from transplate.jinja import nodes as j


class Filters(Interface):
    """Jinja's filters."""

    def filter(self, node: j.Filter) -> Value:
        """Return the result of a filter."""
        name = node.name
        if name in ("default", "d"):
            return self._default(node)
        value = self.value(node.value)
        if name == "tojson":
            return self._to_json(value, node)
        if name in ("selectattr", "rejectattr", "select", "reject"):
            return self._select(value, node)
        if name == "map":
            return self._map(value, node)
        if name == "join":
            return self._join(value, node)
        if name == "sort":
            return self.sorted(value, node)
        if name == "unique":
            return self.unique(value, node)
        simple = _FILTERS.get(name)
        if simple is None and name not in ("min", "max", "format"):
            raise Refused(f"the filter {name}")
        arguments = [self.value(argument) for argument in node.arguments]
        if name in ("min", "max") and not arguments and not node.keywords:
            return self.extreme(value, name == "min")
        if name == "format" and not node.keywords:
            return self._format(value, arguments)
        if name == "dictsort" and [keyword for keyword, _ in node.keywords] == ["case_sensitive"]:
            arguments.append(self.value(node.keywords[0][1]))
        elif node.keywords:
            raise Refused(f"the filter {name} with keywords")
        assert simple is not None  # noqa: S101
        return simple(self, value, arguments)

    def _format(self, value: Value, arguments: list[Value]) -> Value:
        """Return ``'%s' % (…)``."""
        if not (isinstance(value, Const) and isinstance(value.value, str)) or value.markup:
            raise Refused("a format that is not known")
        *pieces, last = value.value.split("%s")
        if len(pieces) != len(arguments) or "%" in value.value.replace("%s", ""):
            raise Refused("this format")
        parts: list[Value] = []
        for piece, argument in zip(pieces, arguments, strict=True):
            parts += [Const(piece), self.as_text(argument)]
        return concatenated([*parts, Const(last)])

    def _default(self, node: j.Filter) -> Value:
        value = self.value(node.value)
        boolean = [self.value(argument) for argument in node.arguments[1:]]
        boolean += [self.value(found) for name, found in node.keywords if name == "boolean"]
        if boolean == [Const(True)]:
            test = self.settled(self.truth(value))
        else:
            test = self.settled(opposite(self._is_kind(value, frozenset({"undefined"}))))
        given = [found for name, found in node.keywords if name == "default_value"]
        fallback: j.Expression = (*node.arguments[:1], *given, j.EMPTY)[0]
        if isinstance(test, bool):
            return value if test else self.value(fallback)
        if isinstance(value, Go) and value.absent == "undefined":
            default = self._default_of(value, fallback)
            if default is not None and value.present == value.expr:
                return default
        return self.choose(test, lambda: value, lambda: self.value(fallback))

    def _select(self, value: Value, node: j.Filter) -> Value:
        negative = node.name in ("reject", "rejectattr")
        arguments = list(node.arguments)
        attribute = self.value(arguments.pop(0)) if node.name in ("selectattr", "rejectattr") else None
        if attribute is not None and not (isinstance(attribute, Const) and isinstance(attribute.value, str)):
            raise Refused(f"{node.name} with this attribute")
        test_name = self.value(arguments.pop(0)) if arguments else None
        others = tuple(arguments)

        def keep(item: Value) -> Condition:
            found = item
            if attribute is not None:
                for name in str(attribute.value).split("."):
                    found = self.item(found, Const(name))
            if test_name is None:
                held = self.truth(found)
            else:
                assert isinstance(test_name, Const)  # noqa: S101
                held = self.test(self.known(found), j.Test(j.EMPTY, str(test_name.value), arguments=others))
            return opposite(held) if negative else held

        return Chosen(self._kept_list(value), keep)

    def _kept_list(self, value: Value) -> Value:
        """Return a list that is walked later; to these filters None is an empty one."""
        if isinstance(value, Go):
            value = self._kept_go(value, "list")
            return replace(value, absent="undefined") if value.present is not None else value
        return value

    def _map(self, value: Value, node: j.Filter) -> Value:
        keywords = dict(node.keywords)
        if "attribute" in keywords and not node.arguments:
            attribute = self.value(keywords["attribute"])
            if not (isinstance(attribute, Const) and isinstance(attribute.value, str)):
                raise Refused("map with this attribute")
            names = attribute.value.split(".")

            def change(item: Value) -> Value:
                for name in names:
                    item = self.item(item, Const(name))
                return self.known(item)

            if "default" in keywords:
                raise Refused("map with a default")
            return Chosen(self._kept_list(value), None, change)
        if node.arguments:
            name = self.value(node.arguments[0])
            rest = node.arguments[1:]
            if isinstance(name, Const) and isinstance(name.value, str):
                filtered = name.value

                def apply(item: Value) -> Value:
                    simple = _FILTERS.get(filtered)
                    if filtered == "tojson":
                        return self._to_json(item, j.Filter(j.EMPTY, "tojson", rest, node.keywords))
                    if simple is None:
                        raise Refused(f"map with the filter {filtered}")
                    return simple(self, item, [self.value(one) for one in rest])

                return Chosen(self._kept_list(value), None, apply)
        raise Refused("this map")

    def _join(self, value: Value, node: j.Filter) -> Value:
        separator = self.as_text(self.value(node.arguments[0])) if node.arguments else Const("")
        attribute = [found for name, found in node.keywords if name == "attribute"] + list(node.arguments[1:])
        if attribute:
            wanted = self.value(attribute[0])

            def change(item: Value) -> Value:
                return self.item(item, wanted)

            value = Chosen(value, None, change)
        return self.joined(value, separator)

    def joined(self, value: Value, separator: Value, *, convert: bool = True) -> Value:
        """Return the items of a list as one text; without ``convert`` they are texts already."""
        if isinstance(value, ListOf):
            parts: list[Value] = []
            for index, item in enumerate(value.items):
                parts += [separator] if index else []
                parts.append(self.as_text(item, convert=convert))
            return concatenated(parts)
        if isinstance(value, Undefined):
            return Const("")
        if isinstance(value, Go) and value.kinds == {"type"}:
            raise self.split_kinds(value, "a join of a type")
        if isinstance(value, Split) and _joins(value, separator):
            return self.behind_separator(value)
        if isinstance(value, Split) and value.separator is not None and _is_whole(value):
            old = value.separator
            return self._call_string(
                value.text, "replace", [Const(old) if isinstance(old, str) else Go(TEXT, old), separator]
            )
        separator = self.kept(separator, "separator")

        def write() -> None:
            more = self.declare("more", build.boolean(False))
            self.homes.add(more.name)

            def item(one: Value, _: Loop) -> None:
                with self.block() as between:
                    self.write(separator)
                if between:
                    self.items.append(build.when(more, tuple(between)))
                    self.items.append(build.assign(more, build.boolean(True)))
                self.write(self.as_text(one, convert=convert))

            self.walk(value, item)

        return text_value(self.captured(write))


def _is_whole(value: Split) -> bool:
    """Tell whether all parts of a split text are there."""
    return value == Split(value.text, value.separator)


def _joins(value: Split, separator: Value) -> bool:
    """Tell whether a split text is joined by what it is split at, all of it or all but its first part."""
    if not _is_whole(replace(value, skip=max(0, value.skip - 1))):
        return False
    if isinstance(separator, Go):
        return value.separator is not None and separator.expr == value.separator
    return isinstance(separator, Const) and separator.value == value.separator


def _trim(self: Interface, value: Value, arguments: list[Value]) -> Value:
    return self._call_string(self.as_text(value), "strip", arguments)


def _string(self: Interface, value: Value, _: list[Value]) -> Value:
    return self.as_text(value)


def _safe(self: Interface, value: Value, _: list[Value]) -> Value:
    text = self.as_text(value)
    if isinstance(text, Const):
        return Const(text.value, markup=1)
    kept = self.kept(text, "text")
    if isinstance(kept, Json):
        kept = Go(TEXT, self.operand(kept))
    assert isinstance(kept, Go)  # noqa: S101
    return Go(kept.kinds, kept.expr, kept.present, kept.absent, markup=1)


def _escape(self: Interface, value: Value, _: list[Value]) -> Value:
    if isinstance(value, Go | Const) and value.markup:
        raise Refused("what is marked safe, escaped")
    return self.escaped(self.as_text(value))


def _length(self: Interface, value: Value, _: list[Value]) -> Value:
    return self.length(value)


def _same(item: Value) -> Value:
    return item


def _list(self: Interface, value: Value, _: list[Value]) -> Value:
    if isinstance(value, Undefined):
        return ListOf(())
    if isinstance(value, Chosen) and value.change is _same:
        return value.value
    if isinstance(value, Chosen | Reversed):
        return replace(value, is_list=True)
    if isinstance(value, Pairs):
        return replace(value, form="list")
    if isinstance(value, Go) and value.kinds <= MAPPED.keys():
        return Pairs(value, only="keys", form="list")
    if isinstance(value, Go) and value.kinds - {"undefined"} <= ELEMENTS.keys():
        value = self._kept_go(value, "list")
        missing = self.settled(self._is_kind(value, frozenset({"undefined"})))
        if not isinstance(missing, bool):
            bare = Go(value.kinds - {"undefined"}, value.expr)
            return self.choose(missing, lambda: ListOf(()), lambda: bare)
        return self.defined(value)
    if isinstance(value, Go) and not value.kinds <= ELEMENTS.keys():
        raise self.split_kinds(value, f"the list of a {self._name_of(value)}")
    return value


def _items(_: Interface, value: Value, __: list[Value]) -> Value:
    if isinstance(value, Undefined):
        return Chosen(ListOf(()), change=_same)
    return Pairs(value, form="generator")


def _dictsort(_: Interface, value: Value, arguments: list[Value]) -> Value:
    if arguments and arguments != [Const(False)]:
        if arguments == [Const(True)]:
            return Pairs(value, sorted=True, folds=False, form="list")
        raise Refused("dictsort with arguments")
    return Pairs(value, sorted=True, form="list")


def _at_end(index: int, name: str) -> Callable[[Interface, Value, list[Value]], Value]:
    """Return the filter for the first or the last item: what is undefined has none, for None it fails."""

    def found(self: Interface, value: Value) -> Value:
        value = self.known(value)
        if isinstance(value, Undefined):
            return value
        if isinstance(value, DictOf):
            raise Refused(f"the {name} key of a dict")
        if isinstance(value, Go):
            missing = self.settled(self._is_kind(value, frozenset({"undefined"})))
            if not isinstance(missing, bool):
                bare = Go(value.kinds - {"undefined"}, value.expr, markup=value.markup)
                return self.choose(missing, Undefined, lambda: found(self, bare))
            if value.absent == "none":
                value = self.defined(value)
            rest = value.kinds - SCALARS
            if rest and rest != value.kinds:
                value = self.only(value, rest)
            if value.kinds & MAPPINGS:
                raise self.split_kinds(value, f"the {name} key of a dict")
        if index == 0 and isinstance(value, Go | Const) and value.markup:
            value = replace(value, markup=0)  # a loop over what is marked safe gives letters that are not
        return self.at(value, Const(index))

    return lambda self, value, _: found(self, value)


def _method(name: str) -> Callable[[Interface, Value, list[Value]], Value]:
    def apply(self: Interface, value: Value, arguments: list[Value]) -> Value:
        return self._call_string(self.as_text(value), name, arguments)

    return apply


def _replace(self: Interface, value: Value, arguments: list[Value]) -> Value:
    """Return ``|replace``, which unlike the method is never marked safe."""
    text = self.as_text(value)
    if isinstance(text, Const | Go) and text.markup:
        text = replace(text, markup=0)
    return self._call_string(text, "replace", arguments)


def _title(self: Interface, value: Value, _: list[Value]) -> Value:
    text = self.as_text(value)
    if isinstance(text, Const):
        return Const(do_title(text.value))
    source = self.text_operand(text)
    is_ascii = self.takes_ascii_letters(source)
    return Go(TEXT, self.run_long(cases.title(is_ascii=is_ascii), source=source))


def _int(self: Interface, value: Value, arguments: list[Value]) -> Value:
    if isinstance(value, Int) or (isinstance(value, Const) and type(value.value) is int):
        return value
    if isinstance(value, Const) and isinstance(value.value, str) and not arguments:
        return Const(do_int(value.value))
    if kinds_of(value) == TEXT and not arguments:
        return Int(self.run(strings.NUMBER, "the number in a text", "number", s=self.text_operand(value)))
    raise Refused(f"the number in a {self._name_of(value)}")


def _reverse(self: Interface, value: Value, _: list[Value]) -> Value:
    found = self._reversed(value)
    if isinstance(found, Reversed):
        return replace(found, is_list=False)
    return Chosen(found, change=_same) if isinstance(found, ListOf | Built) else found


_FILTERS: dict[str, Callable[[Interface, Value, list[Value]], Value]] = {
    "trim": _trim,
    "string": _string,
    "escape": _escape,
    "e": _escape,
    "safe": _safe,
    "length": _length,
    "count": _length,
    "list": _list,
    "items": _items,
    "dictsort": _dictsort,
    "first": _at_end(0, "first"),
    "last": _at_end(-1, "last"),
    "upper": _method("upper"),
    "lower": _method("lower"),
    "capitalize": _method("capitalize"),
    "title": _title,
    "replace": _replace,
    "int": _int,
    "reverse": _reverse,
}
