"""The environment in which transformers 5.24 runs chat templates, with bounds on top.

The rules are those of ``transformers.utils.chat_template_utils``: an immutable sandbox that trims blocks,
loop controls, ``{% generation %}``, a ``tojson`` that escapes nothing, ``raise_exception`` and
``strftime_now``, and a ``dict`` and a ``namespace`` that give no way out. On top come bounds
(:mod:`transplate.jinja.meter`), which change no output.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from string import Formatter
from types import BuiltinMethodType, MethodType
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes, pass_context, pass_eval_context
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.lexer import TokenStream
from jinja2.nodes import EvalContext
from jinja2.parser import Parser
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEscapeFormatter, SandboxedFormatter
from jinja2.utils import Namespace, generate_lorem_ipsum
from markupsafe import Markup

from transplate.jinja import guards
from transplate.jinja.compiler import MeteredTemplateReference
from transplate.jinja.meter import Meter
from transplate.jinja.positions import located_tokens

_FEW = 16
_CALL_STEPS = 8
"""What a call of a macro costs more than one of a method."""


class ChatContext(Context):
    """A context that carries the meter of its rendering."""

    meter: Meter

    def derived(self, locals: dict[str, Any] | None = None) -> ChatContext:  # noqa: A002
        """Return a context with some variables more, for a function that is given the context."""
        context = super().derived(locals)
        assert isinstance(context, ChatContext)  # noqa: S101
        context.meter = self.meter
        return context


class GenerationTag(Extension):
    """``{% generation %}``: marks what the model wrote, which training masks need; it prints its body."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node:
        """Return a call block, because in transformers the body has the scope of one."""
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("body"), [], [], body).set_lineno(lineno)

    @pass_eval_context
    def body(self, context: EvalContext, caller: Callable[[], str]) -> str:  # noqa: ARG002
        """Return the body as it is."""
        return caller()


class ChatNamespace(Namespace):
    """A namespace whose names do not begin with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        # Without a parameter named self, so that a template may call namespace(self=...).
        self, *rest = args
        attributes = dict(*rest, **kwargs)
        for name in attributes:
            _check_name(name)
        Namespace.__init__(self, attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(
            "Chat templates cannot store underscore-prefixed attributes on a namespace, but got "
            f"{name!r}. Please rename the attribute."
        )


class ChatDict:
    """``dict``: makes dicts, and has no attribute of the type but ``fromkeys``."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        """Return ``dict(...)``."""
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        """``dict.fromkeys``."""
        return dict.fromkeys(*args, **kwargs)


def tojson(
    x: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Return a value as JSON, without the escaping for HTML that Jinja's own filter does."""
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@pass_context
def raise_exception(context: ChatContext, message: Any) -> NoReturn:
    """Stop with a message of the template's own."""
    context.meter.seen(message)
    raise jinja2.TemplateError(message)


@pass_context
def strftime_now(context: ChatContext, format: Any) -> str:  # noqa: A002
    """Return the time of the rendering in a format of ``strftime``."""
    context.meter.spend(len(format) if isinstance(format, str) else 0)
    return (context.meter.now or datetime.now()).strftime(format)


@pass_context
def _lipsum(
    context: ChatContext,
    n: int = 5,
    html: bool = True,
    min: int = 20,  # noqa: A002
    max: int = 100,  # noqa: A002
) -> str:
    context.meter.spend(n * max)
    return generate_lorem_ipsum(n, html, min, max)


class ChatEnvironment(ImmutableSandboxedEnvironment):
    """The environment of chat templates.

    One serves all templates and threads, for what varies is in the context of each rendering.
    """

    context_class = ChatContext
    intercepted_binops = frozenset({"-", "*", "**", "//", "%"})
    template_reference = MeteredTemplateReference

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, loopcontrols])
        self.filters["tojson"] = tojson
        self.filters.update(guards.metered_filters(self.filters))
        self.tests.update(guards.metered_tests(self.tests))
        self.globals |= {
            "raise_exception": raise_exception,
            "strftime_now": strftime_now,
            "dict": ChatDict(),
            "namespace": ChatNamespace,
            "lipsum": _lipsum,
        }

    def _tokenize(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> TokenStream:
        """Return the tokens, each with its offset where Jinja has its line, so that errors have columns."""
        tokens = located_tokens(source, self.lexer.tokeniter(source, name, filename, state))
        return TokenStream(self.lexer.wrap(tokens, name, filename), name, filename)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Return the result of an operator that could make a large value."""
        assert isinstance(context, ChatContext)  # noqa: S101
        meter = context.meter
        if operator == "*":
            guards.multiplied(meter, left, right)
        elif operator == "**":
            guards.raised(meter, left, right)
        elif operator == "-":
            meter.seen(left)
            meter.seen(right)
        else:
            guards.divided(meter, left, right)
        return meter.made(self.binop_table[operator](left, right))

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return an item, or an attribute that the sandbox allows."""
        if argument.__class__ is str:
            try:
                return obj[argument]
            except (TypeError, LookupError):
                pass
        return super().getitem(obj, argument)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return a sandboxed ``str.format`` that can pay for what it makes, None for any other value."""
        if not isinstance(value, MethodType | BuiltinMethodType) or value.__name__ not in (
            "format",
            "format_map",
        ):
            return None
        return _formatter(self, value) if isinstance(value.__self__, str) else None

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        """Call something from a template, within the bounds."""
        meter: Meter = __context.meter  # type: ignore[attr-defined]
        meter.remaining -= 1 if len(args) < _FEW else len(args)
        if meter.remaining < 0:
            meter.stop()
        kind = __obj.__class__
        if kind is BuiltinMethodType or kind is MethodType:
            receiver = __obj.__self__
            if receiver.__class__ is str and len(receiver) > 256:
                meter.spend(len(receiver) >> 8)
            guard = guards.METHODS.get(__obj.__name__)
            if guard is not None:
                if guard is guards.METHODS["join"]:
                    args = guards.held(args)
                guard(meter, receiver, args, kwargs)
            if kind is BuiltinMethodType:
                return meter.made(__context.call(__obj, *args, **kwargs))
        elif kind is not Macro:
            for argument in args:
                meter.seen(argument)
        if not __self.is_safe_callable(__obj):
            meter.seen(__obj)
            raise SecurityError(f"{__obj!r} is not safely callable")
        meter.remaining -= _CALL_STEPS
        meter.enter()
        try:
            return meter.made(__context.call(__obj, *args, **kwargs))
        finally:
            meter.depth -= 1


def _formatter(environment: ChatEnvironment, method: Any) -> Callable[..., str]:
    """Return what stands for a ``format`` or ``format_map`` method in a template."""
    pattern: str = method.__self__
    is_map = method.__name__ == "format_map"

    @pass_context
    def formatted(context: ChatContext, /, *args: Any, **kwargs: Any) -> str:
        if is_map:
            if kwargs:
                raise TypeError("format_map() takes no keyword arguments")
            if len(args) != 1:
                raise TypeError(f"format_map() takes exactly one argument ({len(args)} given)")
            (kwargs,), args = args, ()
        formatter = (
            _EscapeFormatter(environment, escape=pattern.escape)
            if isinstance(pattern, Markup)
            else _Formatter(environment)
        )
        formatter.meter = context.meter
        return type(pattern)(formatter.vformat(pattern, args, kwargs))

    return formatted


class _MeteredFormatter(Formatter):
    """Pays for each field before and after it is made."""

    meter: Meter

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """Apply ``!r``, ``!s`` or ``!a``."""
        return self.meter.made(super().convert_field(self.meter.seen(value), conversion))

    def format_field(self, value: Any, format_spec: str) -> Any:
        """Write a value in a width and precision."""
        guards.check_format_spec(self.meter, format_spec)
        return self.meter.made(super().format_field(self.meter.seen(value), format_spec))


class _Formatter(_MeteredFormatter, SandboxedFormatter):
    pass


class _EscapeFormatter(_MeteredFormatter, SandboxedEscapeFormatter):
    pass
