"""Jinja source in, our typed tree out: what :mod:`transplate.jinja.writer` does, the other way round.

Jinja's own parser reads the text, in the environment of transformers, so that white space control, operator
precedence and ``{% generation %}`` mean what they mean there. The tree is a little simpler than Jinja's: an
``elif`` is an If in the else of another, a chain of comparisons is several comparisons, and a unary minus in
front of a number is part of the number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jinja2
from jinja2 import nodes as jinja

from transplate.errors import ErrorKind, TemplateSyntaxError, UnsupportedTemplate
from transplate.jinja.environment import ChatEnvironment
from transplate.jinja.nodes import (
    And,
    Attribute,
    Binary,
    Body,
    Break,
    Call,
    Concat,
    Conditional,
    Continue,
    DictLiteral,
    Expression,
    Filter,
    For,
    If,
    Item,
    ListLiteral,
    Literal,
    Macro,
    Name,
    Negative,
    Not,
    Or,
    Output,
    Scope,
    Set,
    SetBlock,
    Slice,
    Statement,
    Test,
)
from transplate.jinja.positions import Places
from transplate.source import Source

_UNDEFINED = Name("undefined value of an if without else")
"""What ``a if b`` gives where b is false: a name that no template can assign."""

_OPERATORS = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "lteq": "<=",
    "gt": ">",
    "gteq": ">=",
    "in": "in",
    "notin": "not in",
}
_ARITHMETIC: dict[type[jinja.Node], str] = {
    jinja.Add: "+",
    jinja.Sub: "-",
    jinja.Mul: "*",
    jinja.Div: "/",
    jinja.FloorDiv: "//",
    jinja.Mod: "%",
    jinja.Pow: "**",
}


@dataclass(frozen=True, slots=True)
class JinjaTree:
    """A template that was read.

    Attributes:
        body: Its statements.
        source: Its text.
        places: Offset in the text of each node, by the node's identity.
    """

    body: Body
    source: Source
    places: Mapping[int, int]


def read(text: str, *, name: str = "") -> JinjaTree:
    """Read a chat template.

    Args:
        text: The template.
        name: What to call it in errors.

    Returns:
        Its tree.

    Raises:
        TemplateSyntaxError: Jinja refuses it.
        UnsupportedTemplate: It has a statement that no chat template has in transformers' environment
            (``include``, ``extends`` …), or is nested too deeply.
    """
    source = Source(text, name) if name else Source(text)
    try:
        parsed = _ENVIRONMENT.parse(text)
    except jinja2.TemplateSyntaxError as error:
        offset = Places(text).offset(error.lineno)
        raise TemplateSyntaxError(error.message or str(error), source=source, offset=offset) from error
    except RecursionError:
        raise TemplateSyntaxError(
            "the template is nested too deeply", kind=ErrorKind.LIMIT, source=source
        ) from None
    reader = _Reader(source)
    try:
        body = reader.body(parsed.body)
    except RecursionError:
        raise TemplateSyntaxError(
            "the template is nested too deeply", kind=ErrorKind.LIMIT, source=source
        ) from None
    return JinjaTree(body, source, reader.places)


def read_expression(node: jinja.Node, source: Source) -> Expression:
    """Return an expression of Jinja's own tree as ours.

    Raises:
        UnsupportedTemplate: Our tree has nothing for it.
    """
    return _Reader(source).expression(node)


_ENVIRONMENT = ChatEnvironment()


class _Reader:
    """Rebuilds Jinja's nodes as ours and keeps where each was."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.places: dict[int, int] = {}
        self._places = Places(source.text)
        self._kept: list[object] = []

    def body(self, nodes: list[jinja.Node]) -> Body:
        return tuple(self._at(node, self._statement(node)) for node in nodes)

    def _at(self, node: jinja.Node, made: Any) -> Any:
        self.places.setdefault(id(made), self._places.offset(node.lineno))
        self._kept.append(made)
        return made

    def _refuse(self, node: jinja.Node, what: str) -> UnsupportedTemplate:
        offset = self._places.offset(node.lineno)
        return UnsupportedTemplate(f"{what} cannot be converted", source=self.source, offset=offset)

    # --- statements -----------------------------------------------------------------------------------

    def _statement(self, node: jinja.Node) -> Statement:
        if isinstance(node, jinja.Output):
            return Output(tuple(self.expression(part) for part in node.nodes))
        if isinstance(node, jinja.If):
            return self._if(node)
        if isinstance(node, jinja.For):
            return self._for(node)
        if isinstance(node, jinja.Assign):
            return Set(self._target(node.target), self.expression(node.node))
        if isinstance(node, jinja.AssignBlock):
            return self._set_block(node)
        if isinstance(node, jinja.Macro):
            names = tuple(argument.name for argument in node.args)
            return Macro(node.name, names, self.body(node.body), self._all(node.defaults))
        if isinstance(node, jinja.Break):
            return Break()
        if isinstance(node, jinja.Continue):
            return Continue()
        if isinstance(node, jinja.Scope):
            return Scope(self.body(node.body))
        if isinstance(node, jinja.ExprStmt):
            return Set(Name("value of a do statement"), self.expression(node.node))
        if isinstance(node, jinja.CallBlock) and isinstance(node.call.node, jinja.ExtensionAttribute):
            return Scope(self.body(node.body))
        if isinstance(node, jinja.CallBlock):
            return self._call_block(node)
        if isinstance(node, jinja.FilterBlock):
            name = Name("text of a filter block")
            filtered = self._filtered(node.filter, name)
            return Scope((SetBlock(name, self.body(node.body)), Output((filtered,))))
        raise self._refuse(node, f"the statement {type(node).__name__}")

    def _call_block(self, node: jinja.CallBlock) -> Scope:
        """Return a call with what the block prints as ``caller``: a macro cannot tell when it is printed."""
        if node.args:
            raise self._refuse(node, "a call block with parameters")
        name = Name("text of a call block")
        called = self._call(node.call)
        called = Call(called.function, called.arguments, (*called.keywords, ("caller", name)))
        return Scope((SetBlock(name, self.body(node.body)), Output((called,))))

    def _if(self, node: jinja.If) -> If:
        orelse = self.body(node.else_)
        for branch in reversed(node.elif_):
            orelse = (self._at(branch, If(self.expression(branch.test), self.body(branch.body), orelse)),)
        return If(self.expression(node.test), self.body(node.body), orelse)

    def _for(self, node: jinja.For) -> For:
        if node.recursive:
            raise self._refuse(node, "a recursive loop")
        targets = node.target.items if isinstance(node.target, jinja.Tuple) else [node.target]
        names = []
        for target in targets:
            if not isinstance(target, jinja.Name):
                raise self._refuse(node, "this loop target")
            names.append(Name(target.name))
        return For(
            tuple(names),
            self.expression(node.iter),
            self.body(node.body),
            self.body(node.else_),
            None if node.test is None else self.expression(node.test),
        )

    def _target(self, node: jinja.Node) -> Name | Attribute | tuple[Name, ...]:
        if isinstance(node, jinja.Name):
            return Name(node.name)
        if isinstance(node, jinja.NSRef):
            return Attribute(Name(node.name), node.attr)
        if isinstance(node, jinja.Tuple) and all(isinstance(item, jinja.Name) for item in node.items):
            return tuple(Name(item.name) for item in node.items if isinstance(item, jinja.Name))
        raise self._refuse(node, "this target of a set")

    def _set_block(self, node: jinja.AssignBlock) -> SetBlock:
        target = self._target(node.target)
        if isinstance(target, tuple) or node.filter is not None:
            raise self._refuse(node, "this block set")
        return SetBlock(target, self.body(node.body))

    # --- expressions ----------------------------------------------------------------------------------

    def expression(self, node: jinja.Node) -> Expression:
        """Return an expression as ours."""
        made: Expression = self._at(node, self._expression(node))
        return made

    def _all(self, nodes: list[Any]) -> tuple[Expression, ...]:
        return tuple(self.expression(node) for node in nodes)

    def _keywords(self, nodes: list[Any]) -> tuple[tuple[str, Expression], ...]:
        return tuple((node.key, self.expression(node.value)) for node in nodes)

    def _expression(self, node: jinja.Node) -> Expression:
        simple = _SIMPLE.get(type(node))
        if simple is not None:
            return simple(self, node)
        operator = _ARITHMETIC.get(type(node))
        if operator is not None and isinstance(node, jinja.BinExpr):
            return Binary(operator, self.expression(node.left), self.expression(node.right))
        raise self._refuse(node, f"the expression {type(node).__name__}")

    def _test(self, node: jinja.Test) -> Test:
        if node.dyn_args is not None or node.dyn_kwargs is not None or node.kwargs:
            raise self._refuse(node, "a test with such arguments")
        return Test(self.expression(node.node), node.name, arguments=self._all(node.args))

    def _filter(self, node: jinja.Filter) -> Filter:
        if node.node is None or node.dyn_args is not None or node.dyn_kwargs is not None:
            raise self._refuse(node, f"this use of the filter {node.name}")
        return Filter(
            self.expression(node.node), node.name, self._all(node.args), self._keywords(node.kwargs)
        )

    def _filtered(self, node: jinja.Filter, value: Expression) -> Filter:
        """Return the filters of a block applied to a value."""
        inner = self._filtered(node.node, value) if isinstance(node.node, jinja.Filter) else value
        return Filter(inner, node.name, self._all(node.args), self._keywords(node.kwargs))

    def _call(self, node: jinja.Call) -> Call:
        keywords = self._keywords(node.kwargs)
        for name, value in (("*", node.dyn_args), ("**", node.dyn_kwargs)):
            if value is not None:
                keywords += ((name, self.expression(value)),)
        return Call(self.expression(node.node), self._all(node.args), keywords)

    def _compare(self, node: jinja.Compare) -> Expression:
        comparisons: list[Expression] = []
        left = self.expression(node.expr)
        for operand in node.ops:
            right = self.expression(operand.expr)
            comparisons.append(self._at(node, Binary(_OPERATORS[operand.op], left, right)))
            left = right
        return comparisons[0] if len(comparisons) == 1 else And(tuple(comparisons))

    def _conditional(self, node: jinja.CondExpr) -> Conditional:
        otherwise = _UNDEFINED if node.expr2 is None else self.expression(node.expr2)
        return Conditional(self.expression(node.test), self.expression(node.expr1), otherwise)

    def _item(self, node: jinja.Getitem) -> Expression:
        if isinstance(node.arg, jinja.Slice):
            bounds = (node.arg.start, node.arg.stop, node.arg.step)
            start, stop, step = (None if bound is None else self.expression(bound) for bound in bounds)
            return Slice(self.expression(node.node), start, stop, step)
        return Item(self.expression(node.node), self.expression(node.arg))

    def _negative(self, node: jinja.Neg) -> Expression:
        value = self.expression(node.node)
        if isinstance(value, Literal) and isinstance(value.value, int | float):
            return Literal(-value.value)
        return Negative(value)


_SIMPLE: dict[type[jinja.Node], Callable[[_Reader, Any], Expression]] = {
    jinja.TemplateData: lambda _, node: Literal(node.data),
    jinja.Const: lambda _, node: Literal(node.value),
    jinja.Name: lambda _, node: Name(node.name),
    jinja.List: lambda reader, node: ListLiteral(reader._all(node.items)),
    jinja.Tuple: lambda reader, node: ListLiteral(reader._all(node.items), is_tuple=True),
    jinja.Dict: lambda reader, node: DictLiteral(
        tuple((reader.expression(pair.key), reader.expression(pair.value)) for pair in node.items)
    ),
    jinja.Getattr: lambda reader, node: Attribute(reader.expression(node.node), node.attr),
    jinja.Getitem: _Reader._item,
    jinja.Filter: _Reader._filter,
    jinja.Test: _Reader._test,
    jinja.Call: _Reader._call,
    jinja.Compare: _Reader._compare,
    jinja.CondExpr: _Reader._conditional,
    jinja.Neg: _Reader._negative,
    jinja.Pos: lambda reader, node: reader.expression(node.node),
    jinja.Not: lambda reader, node: Not(reader.expression(node.node)),
    jinja.And: lambda reader, node: And((reader.expression(node.left), reader.expression(node.right))),
    jinja.Or: lambda reader, node: Or((reader.expression(node.left), reader.expression(node.right))),
    jinja.Concat: lambda reader, node: Concat(reader._all(node.nodes)),
}
