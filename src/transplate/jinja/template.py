"""A chat template compiled once, and the prompt that transformers would make with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import islice
from types import CodeType
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.meta import find_undeclared_variables

from transplate.errors import (
    ErrorKind,
    RequestError,
    TemplateExecutionError,
    TemplateSyntaxError,
    TransplateError,
)
from transplate.jinja.compiler import LocatingCodeGenerator, MeteredCodeGenerator
from transplate.jinja.data import REASONING_FIELDS, chat_messages, documents_data, plain_data, tool_schemas
from transplate.jinja.environment import ChatContext, ChatEnvironment
from transplate.jinja.meter import LimitReached, Meter
from transplate.jinja.positions import TEMPLATE_FILE, LocatedCode, failing_place, offset_of
from transplate.limits import DEFAULT_LIMITS, Limits
from transplate.source import Source, check_text

_OWN_PARAMETERS = frozenset({"messages", "tools", "add_generation_prompt"})
_CONTINUED = "CONTINUE_FINAL_MESSAGE_TAG "
"""Marks the end of the message to continue, under transformers' name: a template may look at it."""
_MOST_BRANCHES_BY_NAMES = 20_000_000
_BATCH = 512
_LONGEST_MESSAGE = 10_000


class JinjaTemplate:
    """A Hugging Face chat template.

    Args:
        source: The template.
        special_tokens: Names and texts of the tokenizer's special tokens, such as ``{"bos_token": "<s>"}``.
        limits: Bounds for reading and rendering it; the defaults of :class:`transplate.Limits` if None.

    Raises:
        TemplateSyntaxError: Jinja refuses the template, or it is longer than the limits allow.
    """

    _generator: type[MeteredCodeGenerator] = MeteredCodeGenerator
    _locating_generator: type[LocatingCodeGenerator] = LocatingCodeGenerator

    def __init__(
        self,
        source: str,
        *,
        special_tokens: Mapping[str, Any] = {},
        limits: Limits | None = None,
    ) -> None:
        check_text(source, "JinjaTemplate")
        self.source = Source(source)
        self.special_tokens: Mapping[str, Any] = plain_data(dict(special_tokens))
        self.limits = limits or DEFAULT_LIMITS
        self._template = _compiled(self.source, self.limits, self._generator)
        self._failed: dict[tuple[int, int], int | None] = {}

    def __repr__(self) -> str:
        return f"JinjaTemplate({self.source.text[:60]!r})"

    @property
    def variables(self) -> frozenset[str]:
        """The variables that the template reads and does not set itself, what every template has left out."""
        names: set[str] = find_undeclared_variables(parse(self.source.text))
        return frozenset(names - _environment().globals.keys())

    def render(
        self,
        messages: Sequence[Any],
        tools: Sequence[Any] | None = None,
        *,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
        variables: Mapping[str, Any] = {},
        now: datetime | None = None,
    ) -> str:
        """Return the prompt, as ``apply_chat_template(..., tokenize=False)`` of transformers 5.24 returns it.

        Args:
            messages: The conversation: dicts, dataclasses or pydantic models. Fields that are None are left
                out, and reasoning is given under all its names.
            tools: JSON schemas, or functions with type hints and a Google-style docstring.
            add_generation_prompt: Whether the prompt ends with the start of the assistant's turn.
            continue_final_message: Whether the prompt ends with the last message, left open for the model to
                continue; a string names the field to continue, by default ``content``. Not together with
                ``add_generation_prompt``.
            variables: What else the template gets; over special tokens of the same name. ``documents`` is
                None unless it is here.
            now: What ``strftime_now`` tells the template; the time of the call if None.

        Returns:
            The prompt.

        Raises:
            RequestError: The conversation or another argument cannot be used; the message names the field.
            TemplateExecutionError: The template fails on this conversation, raises an exception of its own,
                or goes beyond the limits.
        """
        for name in variables:
            if name in _OWN_PARAMETERS:
                raise RequestError(f"variables[{name!r}]: {name} is an argument of its own")
        chat = chat_messages(messages)
        if continue_final_message and add_generation_prompt:
            raise RequestError("continue_final_message and add_generation_prompt cannot both be set")
        context = {
            **self.special_tokens,
            **plain_data(dict(variables)),
            "messages": chat,
            "tools": tool_schemas(tools),
            "documents": documents_data(variables.get("documents")),
            "add_generation_prompt": add_generation_prompt,
        }
        if not continue_final_message:
            return self.execute(context, now=now)
        name = continue_final_message if isinstance(continue_final_message, str) else "content"
        final = _mark_end(chat[-1], name, self.source.text)
        return _cut_at_mark(self.execute(context, now=now), final)

    def execute(self, variables: dict[str, Any], *, now: datetime | None = None) -> str:
        """Return what the template prints, without anything that a host does around it.

        Args:
            variables: All that the template gets, as plain data; nothing is added or changed.
            now: What ``strftime_now`` tells the template; the time of the call if None.

        Raises:
            TemplateExecutionError: As for :meth:`render`.
        """
        meter = self._meter(now)
        parts: list[str] = []
        try:
            context = self._template.new_context(variables)
            assert isinstance(context, ChatContext)  # noqa: S101
            context.meter = meter
            running = self._template.root_render_func(context)
            size = done = 0
            while True:
                # A list keeps what it took from a generator that fails, so the output so far is not lost.
                parts.extend(islice(running, _BATCH))
                if len(parts) == done:
                    break
                size += sum(map(len, islice(parts, done, None)))
                done = len(parts)
                if size > self.limits.output:
                    raise LimitReached(
                        f"the prompt is longer than {self.limits.output} bytes (limit: output)"
                    )
            text = "".join(parts)
            if size * 4 > self.limits.output and len(text.encode("utf-8", "replace")) > self.limits.output:
                raise LimitReached(f"the prompt is longer than {self.limits.output} bytes (limit: output)")
        except Exception as error:
            self._fail(error, _joined(parts, self.limits.output))
        return text

    def _meter(self, now: datetime | None) -> Meter:
        return Meter(self.limits, now)

    def _fail(self, error: Exception, output: str) -> NoReturn:
        place = failing_place(error.__traceback__, lambda: self._located_code, self._failed)
        message, kind = _described(error)
        raise TemplateExecutionError(
            message,
            kind=kind,
            output=output,
            source=self.source,
            offset=None if place is None else offset_of(self.source.text, place),
        ) from error

    @cached_property
    def _located_code(self) -> LocatedCode:
        tree = parse(self.source.text)
        generator = self._locating_generator(_environment(), self.source.text)
        generator.visit(tree)
        return LocatedCode(generator.code(), generator.pieces)


def _joined(parts: list[str], limit: int) -> str:
    """Return what a stopped rendering printed, up to the limit."""
    size = 0
    for count, part in enumerate(parts):
        size += len(part)
        if size > limit:
            return "".join(parts[:count])
    return "".join(parts)


@lru_cache(maxsize=1)
def _environment() -> ChatEnvironment:
    return ChatEnvironment()


def parse(text: str) -> nodes.Template:
    """Return the syntax tree of a template, whose line numbers are places.

    Raises:
        jinja2.TemplateSyntaxError: Jinja refuses the template.
    """
    return _environment()._parse(text, None, None)


def _compiled(source: Source, limits: Limits, generator: type[MeteredCodeGenerator]) -> jinja2.Template:
    if len(source.text) > limits.source:
        raise TemplateSyntaxError(
            f"the template has more than {limits.source} characters (limit: source)",
            kind=ErrorKind.LIMIT,
            source=source,
            offset=limits.source,
        )
    environment = _environment()
    _check_tokens(environment, source, limits)
    try:
        code = _code(source.text, generator)  # type: ignore[arg-type]  # a class can be hashed
    except Exception as error:
        raise _syntax_error(error, source) from None
    return jinja2.Template.from_code(environment, code, environment.make_globals(None))


def _check_tokens(environment: ChatEnvironment, source: Source, limits: Limits) -> None:
    """Refuse a template of very many tokens, each of which takes Jinja long.

    Raises:
        TemplateSyntaxError: It has too many.
    """
    if len(source.text) <= limits.tokens:
        return
    tokens = environment.lexer.tokeniter(source.text, None)
    try:
        reached = next(islice(tokens, limits.tokens, None), None)
    except jinja2.TemplateSyntaxError:
        return  # which is told when the template is parsed
    if reached is not None:
        raise TemplateSyntaxError(
            f"the template has more than {limits.tokens} tokens (limit: source)",
            kind=ErrorKind.LIMIT,
            source=source,
        )


@lru_cache(maxsize=64)
def _code(text: str, code_generator: type[MeteredCodeGenerator]) -> CodeType:
    """Return a template as Python; those of Ollama's renderers are asked for again and again."""
    tree = parse(text)
    _check_branches(tree)
    generator = code_generator(_environment(), text)
    generator.visit(tree)
    try:
        return compile(generator.code(), TEMPLATE_FILE, "exec")
    except SyntaxError as error:
        # Such as a break outside a loop, which Jinja lets pass.
        before = [place for place, line in generator.debug_info if line <= (error.lineno or 0)]
        raise jinja2.TemplateSyntaxError(error.msg, before[-1] if before else 1) from None


def _check_branches(tree: nodes.Template) -> None:
    """Refuse a template of very many branches and names: Jinja copies all names at each branch.

    Raises:
        LimitReached: It has too many branches and names.
    """
    branches = sum(1 + len(branch.elif_) for branch in tree.find_all(nodes.If))
    names = len({name.name for name in tree.find_all(nodes.Name)})
    if branches * names > _MOST_BRANCHES_BY_NAMES:
        raise LimitReached(f"the template has {branches} branches and {names} names (limit: source)")


def _syntax_error(error: Exception, source: Source) -> TransplateError:
    """Return what to raise for an error of Jinja, or of Python when it compiles what Jinja generated."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return TemplateSyntaxError(
            error.message or "the template is not valid",
            source=source,
            offset=offset_of(source.text, error.lineno),
        )
    if isinstance(error, LimitReached):
        return TemplateSyntaxError(str(error), kind=ErrorKind.LIMIT, source=source)
    if isinstance(error, RecursionError | MemoryError):
        return TemplateSyntaxError(
            "the template is nested too deeply for Python", kind=ErrorKind.LIMIT, source=source
        )
    return TemplateSyntaxError(f"{type(error).__name__}: {error}", source=source)


def _described(error: Exception) -> tuple[str, ErrorKind]:
    """Return the message and kind of an error that stopped a rendering."""
    if isinstance(error, LimitReached):
        return str(error), ErrorKind.LIMIT
    if isinstance(error, RecursionError):
        return "calls or values are nested too deeply for Python", ErrorKind.LIMIT
    if isinstance(error, MemoryError):
        return "the template needs more memory than there is", ErrorKind.LIMIT
    try:
        message = str(error)
    except Exception:
        message = "an error without a text"
    if not isinstance(error, jinja2.TemplateError):
        message = f"{type(error).__name__}: {message}"
    return message[:_LONGEST_MESSAGE], ErrorKind.EXECUTION


def _mark_end(message: dict[str, Any], name: str, template: str) -> str:
    """Mark the end of the field of the last message that the model is to continue, and return its text.

    Raises:
        RequestError: There is no such field, no text in it, or the template never names it.
    """
    value = message.get(name)
    if value is None:
        raise RequestError(f"messages[-1].{name}: there is nothing for continue_final_message to continue")
    same = [name]
    if name in REASONING_FIELDS:
        same = [other for other in REASONING_FIELDS if message.get(other) == value]
    if not any(other in template for other in same):
        raise RequestError(f"continue_final_message: the template does not use the field {name!r}")
    if isinstance(value, list | tuple):
        for part in reversed(value):
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                text: str = part["text"]
                part["text"] = text + _CONTINUED
                return text
        raise RequestError(f"messages[-1].{name}: there is no text for continue_final_message to continue")
    if not isinstance(value, str):
        raise RequestError(f"messages[-1].{name}: a text is needed, not {type(value).__name__}")
    for other in same:
        message[other] = value + _CONTINUED
    return value


def _cut_at_mark(prompt: str, final: str) -> str:
    """Return a prompt up to the end of the message to continue.

    Raises:
        TemplateExecutionError: The template did not print that message.
    """
    at = prompt.rfind(_CONTINUED.strip())
    if at < 0 or final.strip() not in prompt:
        raise TemplateExecutionError(
            "continue_final_message is set, but the prompt does not hold the final message", output=prompt
        )
    # A template that trims messages cut the space after the mark, and would have cut the message's own.
    kept = prompt[:at]
    return kept if prompt.startswith(_CONTINUED, at) else kept.rstrip()
