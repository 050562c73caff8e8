"""What a template is executed on: Ollama's ``template.Values``, read once and ready to be rendered often."""

from __future__ import annotations

from typing import Any, NamedTuple

from transplate.ollama.collate import collate
from transplate.ollama.decoding import decode, read_bool, read_string
from transplate.ollama.legacy import split_turns
from transplate.ollama.request import Message, Tool, check_required, read_messages, read_tools
from transplate.ollama.shapes import prepared_messages, prepared_tools
from transplate.ollama.versions import Behaviour


class Prepared(NamedTuple):
    """What the fast forms of a template are run on.

    Attributes:
        behaviour: How the version of Ollama behaves that this is for.
        is_suffix: Whether it is for suffix mode.
        data: What the form of suffix mode or of messages mode is given.
        turns: What the forms of legacy mode are given, turn by turn.
    """

    behaviour: Behaviour
    is_suffix: bool
    data: tuple[object, ...]
    turns: list[tuple[object, ...]]


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
        "is_think_set",
        "messages",
        "prepared",
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
        self.prepared: Prepared | None = None

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
        values.prepared = None
        return values

    def prepare(self, behaviour: Behaviour) -> Prepared:
        """Make what the fast forms are run on, and keep it.

        Args:
            behaviour: How the version of Ollama behaves.

        Raises:
            RequestError: A property's required list is no list of strings, and this version reads it.
        """
        self.check(behaviour)
        thinking = (self.think, self.think_level, self.is_think_set)
        is_suffix = bool(self.prompt and self.suffix)
        data: tuple[object, ...]
        if is_suffix:
            data = (self.prompt, self.suffix, *thinking)
        else:
            tools = prepared_tools(self.tools, behaviour)
            data = (self.system, prepared_messages(self.messages), tools, *thinking)
        turns: list[tuple[object, ...]] = [(*turn, *thinking) for turn in split_turns(self.messages)]
        self.prepared = Prepared(behaviour, is_suffix, data, turns)
        return self.prepared

    def check(self, behaviour: Behaviour) -> None:
        """Check what only some versions of Ollama read.

        Raises:
            RequestError: A property's required list is no list of strings, and this version reads it.
        """
        if self.tools and behaviour.property_required:
            check_required(self.tools)
