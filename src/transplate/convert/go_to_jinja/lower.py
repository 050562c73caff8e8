"""Lowers the statements of a Go template to a Jinja tree: variables, loops and called templates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja import printing
from transplate.convert.go_to_jinja.context import Context, snake_case
from transplate.convert.go_to_jinja.expressions import Expressions, check_text, held
from transplate.convert.go_to_jinja.resolve import Declaration
from transplate.convert.go_to_jinja.shapes import ELEMENTS, MAP_ELEMENTS, Shape, Value
from transplate.convert.go_to_jinja.typetests import as_list
from transplate.gotmpl import nodes as go
from transplate.jinja import nodes as j
from transplate.jinja import walk
from transplate.source import Span

_LOOP_NAMES = {
    Shape.MESSAGES: "message",
    Shape.CALLS: "tool_call",
    Shape.TOOLS: "tool",
    Shape.PROPERTY_LIST: "property",
    Shape.PROPERTIES: "property",
    Shape.ARGUMENTS: "argument",
    Shape.PROPERTY_TYPE: "type",
}


@dataclass(frozen=True)
class _Place:
    """Where a body stands: dot, ``$``, and what follows it in the innermost loop's body.

    ``rest`` is lowered behind the body, so that a ``continue`` inside the body can leave it out.
    """

    dot: Value
    root: Value
    rest: _Rest | None = None
    leaves: j.Attribute | None = None


@dataclass(frozen=True)
class _Rest:
    items: go.Body
    place: _Place


def lower(c: Context, body: go.Body) -> j.Body:
    """Return the Jinja statements that print what a Go template's body prints.

    Raises:
        UnsupportedTemplate: Something in it cannot be said in Jinja in the same way.
    """
    root = Value(Shape.ROOT, j.Name("root"))
    return tuple(_Lowering(c).body(body, _Place(root, root)))


class _Lowering:
    def __init__(self, c: Context) -> None:
        self.c = c

    def body(self, items: go.Body, place: _Place) -> list[j.Statement]:
        """Lower the items of a body and, behind them, the rest of the loop's body around it."""
        done: list[j.Statement] = []
        for number, item in enumerate(items):
            following = items[number + 1 :]
            self.c.count_statement(item.span if isinstance(item, go.Text) else item.clause.span)
            match item:
                case go.Break() | go.Continue():
                    if isinstance(item, go.Break) and place.leaves is not None:
                        done.append(j.Set(place.leaves, j.TRUE))
                    return done
                case go.If() | go.With() if _leaves_loop(item):
                    rest = _Rest(following, place)
                    done += self.branch(item, place, rest)
                    return done
                case _:
                    done += self.item(item, place)
        if place.rest is not None:
            done += self.body(place.rest.items, place.rest.place)
        return done

    def item(self, item: go.Item, place: _Place) -> list[j.Statement]:
        match item:
            case go.Text(_, value, span):
                check_text(self.c, value, span)
                return [j.Output((j.Literal(value),))] if value else []
            case go.Action(pipeline):
                return self.action(pipeline, place)
            case go.If() | go.With():
                return self.branch(item, place, None)
            case go.Range():
                return self.range(item, place)
            case go.TemplateCall(name, pipeline) | go.Block(name, pipeline):
                return self.template_call(name, pipeline, place)
            case _:
                return []

    def expressions(self, place: _Place) -> Expressions:
        return Expressions(self.c, place.dot, place.root)

    def action(self, pipeline: go.Pipeline, place: _Place) -> list[j.Statement]:
        value = self.expressions(place).pipeline(pipeline)
        if pipeline.declarations:
            return [*self.c.take_pending(), *self.declare(pipeline, held(value))]
        text = printing.printed(self.c, value, pipeline.span)
        return [*self.c.take_pending(), j.Output((text,))]

    # --- variables ------------------------------------------------------------------------------------

    def declare(self, pipeline: go.Pipeline, value: Value) -> list[j.Statement]:
        """Give the variable of a pipeline its value."""
        return [
            statement
            for variable in pipeline.declarations
            for statement in self.assign(variable, value, is_declaration=not pipeline.is_assignment)
        ]

    def assign(self, variable: go.Variable, value: Value, *, is_declaration: bool) -> list[j.Statement]:
        c = self.c
        declaration = c.resolution.declarations[variable.span]
        if not declaration.assigned_in:
            return self.bind(declaration, value)
        shapes = c.shapes.setdefault(declaration, set())
        shapes.update(value.shapes)
        if value.shape is Shape.INT and not c.is_natural(value.expression):
            c.negatives.add(declaration)
        if value.shape is Shape.TEXT and not (value.is_ascii or c.is_ascii(value.expression)):
            c.wide.add(declaration)
        target = c.targets.get(declaration)
        if is_declaration or target is None:
            target = c.targets[declaration] = self.target(declaration)
            c.variables[declaration] = Value(value.shape, target)
            c.mutable.add(target)
        if value.shape is Shape.TEXT:
            return [j.Set(target, printing.as_text(value))]
        if value.shape is Shape.INT:
            return [j.Set(target, printing.as_integer(value))]
        if value.shape is Shape.CALLS and value.optional and Shape.COMPLEX in shapes:
            return [j.Set(target, b.or_empty(value.expression, j.ListLiteral(())))]
        if value.optional and value.shape is not Shape.ANY:
            c.optionals.add(declaration)
        return [j.Set(target, _settled(value))]

    def bind(self, declaration: Declaration, value: Value) -> list[j.Statement]:
        """Declare a variable that is never assigned: it stands for its value, or for a copy of it."""
        c = self.c
        if c.is_stable(value.expression) and (declaration.reads < 2 or _is_short(value.expression)):
            c.variables[declaration] = value
            return []
        copy = c.symbol(snake_case(declaration.name))
        absent = j.FALSE if value.absent == j.FALSE else b.is_nil(copy)
        c.variables[declaration] = replace(value, expression=copy, absent=absent)
        if value.shape is Shape.INT and c.is_natural(value.expression):
            c.naturals.add(copy)
        return [j.Set(copy, _settled(value))]

    def target(self, declaration: Declaration) -> j.Name | j.Attribute:
        """Return what holds an assigned variable: a name, or an attribute where it outlives a loop."""
        symbol = self.c.symbol(snake_case(declaration.name))
        return j.Attribute(self.c.state, symbol.name) if declaration.outlives_a_loop else symbol

    # --- if and with ----------------------------------------------------------------------------------

    def branch(self, branch: go.If | go.With, place: _Place, rest: _Rest | None) -> list[j.Statement]:
        """Lower a conditional; ``rest``, if given, is what follows it in each of its arms."""
        c = self.c
        value = self.expressions(place).pipeline(branch.pipeline)
        test = printing.condition(c, value, branch.pipeline.span)
        before = c.take_pending()
        if branch.pipeline.declarations:
            before += self.declare(branch.pipeline, held(value))
            value = self.expressions(place).variable(branch.pipeline.declarations[0])
            test = printing.condition(c, value, branch.pipeline.span)
        elif isinstance(branch, go.With) and not (
            c.is_stable(value.expression) and _is_short(value.expression)
        ):
            copy = c.symbol(_noun(value))
            before.append(j.Set(copy, value.expression))
            value = Value(value.shape, copy, value.optional, value.size)
            test = printing.condition(c, value, branch.pipeline.span)
        inside = _Place(
            value if isinstance(branch, go.With) else place.dot, place.root, rest or None, place.leaves
        )
        outside = _Place(place.dot, place.root, rest, place.leaves)
        body = self.body(branch.body, inside)
        match branch.orelse:
            case go.If() | go.With() as chained:
                orelse = self.branch(chained, place, rest)
            case go.Else(items):
                orelse = self.body(items, outside)
            case None:
                orelse = self.body((), outside)
        return [*before, j.If(test, tuple(body), tuple(orelse))]

    # --- range ----------------------------------------------------------------------------------------

    def range(self, loop: go.Range, place: _Place) -> list[j.Statement]:
        c = self.c
        value = self.expressions(place).pipeline(loop.pipeline)
        before = c.take_pending()
        if loop.pipeline.is_assignment:
            raise c.refusal(loop.pipeline.span, "a range that assigns to variables cannot be said in Jinja")
        orelse: j.Body = ()
        if loop.orelse is not None:
            if any(isinstance(item, go.Continue) for item in _items(loop.orelse.body)):
                raise c.refusal(loop.orelse.clause.span, "a continue in the else of a range")
            # Where there is nothing to range over, Go leaves the list itself in the variables.
            unset = self.declare(loop.pipeline, value)
            orelse = (*unset, *self.body(loop.orelse.body, _inner(place, place.dot)))
        if value.shape is Shape.ANY:
            return [*before, *self.dynamic_range(loop, value, place, orelse)]
        value = as_list(c, value, loop.pipeline.span)
        before += c.take_pending()
        return [*before, *self.typed_range(loop, value, place, orelse)]

    def dynamic_range(self, loop: go.Range, value: Value, place: _Place, orelse: j.Body) -> list[j.Statement]:
        """Lower a range over a value of the JSON, whose type is known only when the template runs."""
        subject = value.expression
        if not _is_short(subject) or not self.c.is_stable(subject):
            copy = self.c.symbol("values")
            return [j.Set(copy, subject), *self.dynamic_range(loop, Value(Shape.ANY, copy), place, orelse)]
        over_map = self.typed_range(loop, Value(Shape.ARGUMENTS, subject), place, orelse)
        self.c.lists.add(subject)
        over_list = self.typed_range(loop, Value(Shape.ANY_LIST, subject, optional=True), place, orelse)
        self.c.lists.discard(subject)
        scalar = b.or_(*(j.Test(subject, test) for test in ("string", "boolean", "number")))
        return [
            j.If(
                j.Test(subject, "mapping"),
                tuple(over_map),
                (j.If(scalar, (b.raise_("range can't iterate over a value"),)), *over_list),
            )
        ]

    def typed_range(self, loop: go.Range, value: Value, place: _Place, orelse: j.Body) -> list[j.Statement]:
        c = self.c
        shape = value.only_shape
        declared = loop.pipeline.declarations
        if shape is Shape.NIL:
            return list(orelse)
        names = [variable.name for variable in declared]
        if shape in ELEMENTS:
            item = c.symbol(_element_name(shape, names))
            target: tuple[j.Name, ...] = (item,)
            iterable = value.expression
            if shape is Shape.PROPERTY_TYPE:
                text = j.ListLiteral((iterable,))
                iterable = j.Conditional(
                    j.Test(iterable, "string"), text, b.or_empty(iterable, j.ListLiteral(()))
                )
            elif value.optional:
                iterable = b.or_empty(iterable, j.ListLiteral(()))
            element = Value(ELEMENTS[shape], item)
            key = Value(Shape.INT, j.Attribute(j.Name(f"loop of {item.name}"), "index0"))
        elif shape in MAP_ELEMENTS:
            item = c.symbol(_element_name(shape, names))
            name = c.symbol("name")
            target = (name, item)
            owner = b.or_empty(value.expression, j.DictLiteral(())) if value.optional else value.expression
            c.keys[name] = value.expression
            iterable = j.Filter(owner, "dictsort", keywords=(("case_sensitive", j.TRUE),))
            element = Value(MAP_ELEMENTS[shape], item)
            key = Value(Shape.TEXT, name)
        elif shape is Shape.TEXT:
            # Go fails and names the text, which is how a message is raised that is not constant.
            return [j.Output((b.call("raise_exception", printing.as_text(value)),))]
        elif shape is Shape.INT:
            if len(declared) > 1:
                raise c.refusal(
                    loop.pipeline.span, "a range over an integer with two variables fails in Ollama"
                )
            item = c.symbol(snake_case(names[0]) if names else "number")
            target = (item,)
            iterable = b.call("range", printing.as_integer(value))
            c.naturals.add(item)
            element = key = Value(Shape.INT, item)
        else:
            kind = " or ".join(sorted(each.value for each in value.shapes))
            raise c.refusal(
                loop.pipeline.span, f"a range over a value of type {kind} cannot be said in Jinja"
            )
        values = (key, element)[-len(declared) :] if declared else ()
        opening = [
            statement
            for variable, given in zip(declared, values, strict=True)
            for statement in self.assign(variable, given, is_declaration=True)
        ]
        return self.loop(loop, target, iterable, element, opening, place, orelse)

    def loop(
        self,
        loop: go.Range,
        targets: tuple[j.Name, ...],
        iterable: j.Expression,
        element: Value,
        opening: list[j.Statement],
        place: _Place,
        orelse: j.Body,
    ) -> list[j.Statement]:
        if not any(isinstance(item, go.Break) for item in _items(loop.body)):
            body = [*opening, *self.body(loop.body, _inner(place, element))]
            return [j.For(targets, iterable, tuple(body), orelse)]
        left = j.Attribute(self.c.state, self.c.symbol("left").name)
        self.c.mutable.add(left)
        body = [*opening, *self.body(loop.body, _inner(place, element, left))]
        guarded = j.If(j.Not(left), tuple(body))
        return [j.Set(left, j.FALSE), j.For(targets, iterable, (guarded,), orelse)]

    # --- called templates -----------------------------------------------------------------------------

    def template_call(
        self, name: go.String, pipeline: go.Pipeline | None, place: _Place
    ) -> list[j.Statement]:
        """Lower a call: the body stands in its place, or is a macro where it calls itself."""
        c = self.c
        items = c.calls.body_of(name.value)
        if items is None or c.last_turn:
            c.check(j.TRUE, f'template "{name.value}" not defined')
            return c.take_pending()
        dot = Value(Shape.NIL, j.Literal(None))
        if pipeline is not None:
            dot = held(self.expressions(place).pipeline(pipeline))
        before = c.take_pending()
        if c.calls.calls_itself(name.value) or (c.calls.is_shared(name.value) and "Messages" in c.root):
            return [*before, self.macro_call(name.value, items, dot, name.span)]
        if not _is_short(dot.expression) or not c.is_stable(dot.expression):
            copy = c.symbol(_noun(dot))
            before.append(j.Set(copy, dot.expression))
            dot = held(Value(dot.shape, copy, dot.optional, dot.size))
        return [*before, *self.body(items, _Place(dot, dot))]

    def macro_call(self, name: str, items: go.Body, dot: Value, span: Span) -> j.Statement:
        """Return the call of the macro that a template becomes, one for each sort of dot."""
        c = self.c
        is_recursive = c.calls.calls_itself(name)
        if is_recursive and (dot.shape is Shape.ROOT or "Messages" not in c.root):
            raise c.refusal(span, "a template that calls itself with the whole data cannot be said in Jinja")
        # The whole data is what the names of the template itself stand for.
        is_root = dot.shape is Shape.ROOT
        key = (name, dot.shape, dot.optional)
        if key not in c.macros:
            symbol = c.macro_symbols[key] = c.symbol(snake_case(name))
            c.macros[key] = None
            parameter = c.symbol(_noun(dot))
            inside = dot if is_root else held(Value(dot.shape, parameter, dot.optional))
            outside = c.state
            c.state = c.symbol("state") if is_recursive else outside
            body = self.body(items, _Place(inside, inside))
            if is_recursive:
                body = with_namespace(c.state, body)
            c.state = outside
            del c.macros[key]
            c.macros[key] = j.Macro(symbol.name, () if is_root else (parameter.name,), tuple(body))
        return j.Output((j.Call(c.macro_symbols[key], () if is_root else (dot.expression,)),))


def with_namespace(state: j.Name, body: list[j.Statement]) -> list[j.Statement]:
    """Return the body of a macro behind the definition of the namespace of its own that it needs, if any.

    A macro that calls itself cannot share one with its other calls.
    """
    names = dict.fromkeys(
        statement.target.name
        for statement in walk.statements(tuple(body))
        if isinstance(statement, j.Set)
        and isinstance(statement.target, j.Attribute)
        and statement.target.value == state
    )
    if not names:
        return body
    initial = tuple((name, j.Literal(None)) for name in names)
    return [j.Set(state, j.Call(j.Name("namespace"), keywords=initial)), *body]


def _inner(place: _Place, dot: Value, leaves: j.Attribute | None = None) -> _Place:
    return _Place(dot, place.root, None, leaves)


def _settled(value: Value) -> j.Expression:
    """Return an expression to keep in a variable: a slice of no tools at all is still no tools."""
    tools, sliced = printing.unsliced(value.expression)
    if value.shape is Shape.TOOLS and tools != sliced:
        return j.Conditional(tools, sliced, tools)
    return printing.as_whole(value.expression)


def _is_short(expression: j.Expression) -> bool:
    """Return whether an expression is so short that a name for it would not help a reader."""
    match expression:
        case j.Literal(str(text)):
            return len(text) <= 20
        case j.Call(j.Name(name)):
            return name == "raise_exception"
        case j.Conditional() | j.DictLiteral() | j.ListLiteral():
            return False
        case _:
            return sum(1 for _ in walk.parts(expression)) <= 7


def _noun(value: Value) -> str:
    """Return what to call a value."""
    nouns = {
        Shape.MESSAGES: "messages",
        Shape.MESSAGE: "message",
        Shape.CALL: "tool_call",
        Shape.TOOL: "tool",
    }
    shape = value.shape if isinstance(value.shape, Shape) else Shape.ANY
    return nouns.get(shape, shape.name.lower() if shape is not Shape.ANY else "value")


def _element_name(shape: Shape, declared: list[str]) -> str:
    usual = _LOOP_NAMES.get(shape)
    if usual is not None:
        return usual
    return snake_case(declared[-1]) if declared and declared[-1] != "$_" else "item"


def _items(body: go.Body) -> Iterator[go.Item]:
    """Yield the items of a loop's body, those of inner loops left out."""
    for item in body:
        yield item
        match item:
            case go.If() | go.With():
                yield from _items(item.body)
                orelse = item.orelse
                if orelse is not None:
                    yield from _items(orelse.body if isinstance(orelse, go.Else) else (orelse,))
            case _:
                pass


def _leaves_loop(item: go.Item) -> bool:
    return any(isinstance(inner, go.Break | go.Continue) for inner in _items((item,)))
