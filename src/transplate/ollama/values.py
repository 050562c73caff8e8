"""What a template is executed on: Ollama's ``template.Values``, read once and ready to be rendered often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from transplate.ollama.collate import collate
from transplate.ollama.decoding import decode, read_bool, read_string
from transplate.ollama.request import Message, Tool, check_required, read_messages, read_tools
from transplate.ollama.shapes import FastMessage, ToolForms, prepared_messages, prepared_tools
from transplate.ollama.versions import Behaviour

Call: TypeAlias = tuple[object, Callable[..., str] | None, tuple[object, ...]]
"""A template that values were executed with, its fast form (None if it has none), and what that takes."""


class Values:
    """Ollama's ``template.Values``: what the template gets, with nothing added.

    Messages and tools are read as Ollama's server reads them (roles lower-cased, unknown keys ignored, …) and
    copied: what the caller does to his objects later changes nothing here.

    Args:
        messages: The messages, as in ``/api/chat``: JSON text or plain Python data.
        tools: The tools, likewise; None for none.
        prompt: The prompt of suffix mode.
        suffix: The suffix of suffix mode.
        think: Whether to think.
        think_level: The level of thinking.
        is_think_set: Whether the request said anything on thinking.

    Raises:
        RequestError: Something is not what Ollama reads; the error names the field.

    Example:
        >>> Values([{"role": "USER", "content": "Hi"}]).messages
        [('user', 'Hi', '', None, None, '', '')]
    """

    __slots__ = (
        "_fast_form",
        "call",
        "is_think_set",
        "messages",
        "prompt",
        "suffix",
        "system",
        "think",
        "think_level",
        "tools",
    )

    def __init__(
        self,
        messages: Any = (),
        tools: Any = None,
        prompt: str = "",
        suffix: str = "",
        think: bool = False,
        think_level: str = "",
        is_think_set: bool = False,
    ) -> None:
        """Read and copy the parts of a request."""
        self.system, self.messages = collate(read_messages(messages))
        self.tools = read_tools(tools)
        self.prompt = decode(read_string, prompt, "", name="prompt")
        self.suffix = decode(read_string, suffix, "", name="suffix")
        self.think = decode(read_bool, think, False, name="think")
        self.think_level = decode(read_string, think_level, "", name="think_level")
        self.is_think_set = decode(read_bool, is_think_set, False, name="is_think_set")
        self.call: Call | None = None
        self._fast_form: tuple[Behaviour, list[FastMessage], ToolForms | None] | None = None

    @classmethod
    def of_records(
        cls,
        messages: list[Message],
        tools: list[Tool] | None,
        *,
        prompt: str = "",
        suffix: str = "",
        think: bool = False,
        think_level: str = "",
        is_think_set: bool = False,
    ) -> Values:
        """Return the values of records that have been read already."""
        values = cls.__new__(cls)
        values.system, values.messages = collate(messages)
        values.tools = tools
        values.prompt = prompt
        values.suffix = suffix
        values.think = think
        values.think_level = think_level
        values.is_think_set = is_think_set
        values.call = None
        values._fast_form = None
        return values

    def fast_form(self, behaviour: Behaviour) -> tuple[list[FastMessage], ToolForms | None]:
        """Return messages and tools in the form that fast templates run on, which is made once.

        Args:
            behaviour: How the version of Ollama behaves.

        Raises:
            RequestError: A property's required list is no list of strings, and this version reads it.
        """
        form = self._fast_form
        if form is None or form[0] is not behaviour:
            self.check(behaviour)
            tools = prepared_tools(self.tools, behaviour)
            form = self._fast_form = (behaviour, prepared_messages(self.messages), tools)
        return form[1:]

    def check(self, behaviour: Behaviour) -> None:
        """Check what only some versions of Ollama read.

        Raises:
            RequestError: A property's required list is no list of strings, and this version reads it.
        """
        if self.tools and behaviour.property_required:
            check_required(self.tools)
