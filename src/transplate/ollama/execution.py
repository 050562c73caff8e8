"""Running a template in Ollama's three modes: in a fast form for ordinary data, and in the exact form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import date, datetime
from functools import cached_property, partial
from typing import TypeAlias

from transplate.errors import ErrorKind, TemplateExecutionError
from transplate.gotmpl.compiler.program import FastForm, fast_form
from transplate.gotmpl.costs import LimitReached, Meter
from transplate.gotmpl.nodes import Body, TemplateTree
from transplate.gotmpl.quoting import joined
from transplate.gotmpl.template import MissingKey, Program
from transplate.gotmpl.types import GoValue
from transplate.limits import Limits
from transplate.ollama.functions import FUNCTIONS, clock
from transplate.ollama.inference import Inference
from transplate.ollama.legacy import Run, by_turns, cut_at_response
from transplate.ollama.model import messages_of, tool_types
from transplate.ollama.quick_chat import QuickRun, quick_chat
from transplate.ollama.quick_turns import quick_turns
from transplate.ollama.shapes import (
    LAST_TURN_SHAPE,
    LEGACY_SHAPE,
    SUFFIX_SHAPE,
    messages_shape,
)
from transplate.ollama.values import Call, Values
from transplate.ollama.versions import Behaviour

Now: TypeAlias = datetime | date | None
"""What the date functions take for now; None for the computer's clock."""


class Execution:
    """A template as Ollama's ``template.Template`` holds it, with all its compiled forms.

    Each form is made when it is first needed. Fast forms give text without invalid bytes.

    Args:
        tree: The parsed template.
        body: The body that Ollama runs.
        has_messages: Whether the template names the messages, and so runs once on all of them.
        functions: The functions that it calls.
        behaviour: How the version of Ollama behaves.
        limits: Bounds on each execution.
    """

    def __init__(
        self,
        tree: TemplateTree,
        body: Body,
        *,
        has_messages: bool,
        functions: Sequence[str],
        behaviour: Behaviour,
        limits: Limits,
    ) -> None:
        """Keep what the forms are made of."""
        self.has_messages = has_messages
        self._tree = tree
        self._templates: Mapping[str, Body] = {**tree.templates, "": body}
        self.uses_clock = "currentDate" in functions or "yesterdayDate" in functions
        self._behaviour = behaviour
        self.limits = limits

    @property
    def python_source(self) -> str:
        """The Python source of the form that ordinary requests run."""
        return self._program.python_source if self._form is None else self._form.python_source

    # --- the fast forms -----------------------------------------------------------------------------------

    def call_on(self, values: Values) -> Call:
        """Return the fast form that executes the template on values, and its arguments.

        Raises:
            RequestError: A field is one that this version of Ollama does not read.
        """
        thinking = (values.think, values.think_level, values.is_think_set, self.limits)
        messages, tools = values.fast_form(self._behaviour)
        if values.prompt and values.suffix:
            return self, self._run_suffix, (values.prompt, values.suffix, *thinking)
        return self, self.run_chat, (values.system, messages, tools, *thinking)

    def run_fast(self, run: Run | None, data: tuple[object, ...], now: Now) -> str | None:
        """Run a fast form; return None if there is none, or if it leaves the data to the exact form."""
        if run is None:
            return None
        try:
            if self.uses_clock:
                with clock(now):
                    return run(*data)
            return run(*data)
        except Exception:
            return None  # whatever it is, the exact form makes of it what Go makes of it

    @cached_property
    def _form(self) -> FastForm | None:
        """The fast form of messages mode or, for a template that does not name them, of a turn."""
        shape = messages_shape(self._behaviour) if self.has_messages else LEGACY_SHAPE
        return fast_form(self._templates, "", shape)

    @cached_property
    def _last_turn_form(self) -> FastForm | None:
        try:
            return fast_form(self._last_turn.templates, "", LAST_TURN_SHAPE)
        except TemplateExecutionError:  # Ollama panics as it cuts the tree, once it gets there
            return None

    @cached_property
    def run_chat(self) -> Run | None:
        """The fast form of messages mode or of legacy mode, whichever the template runs in, if it has one."""
        if self._form is None:
            return None
        if self.has_messages:
            return self._form.run
        last = self._last_turn_form
        return None if last is None else by_turns(self._form.run, last.run)

    def quick_chat(self, inference: Inference) -> QuickRun | None:
        """Return what renders chats that are yet to be read, as :attr:`run_chat` does those that have been.

        Args:
            inference: What is known of the template.
        """
        if self.has_messages:
            return quick_chat(partial(fast_form, self._templates, ""), inference, self._behaviour)
        last = self._last_turn_form
        return None if self._form is None or last is None else quick_turns(self._form.run, last.run)

    @cached_property
    def _run_suffix(self) -> Run | None:
        form = fast_form(self._templates, "", SUFFIX_SHAPE)
        return None if form is None else form.run

    # --- the exact form -----------------------------------------------------------------------------------

    def run_exact(self, values: Values, now: Now) -> str:
        """Execute the template on values, as ``Execute`` in Ollama's template.go does.

        Returns:
            The output as a Go string.

        Raises:
            TemplateExecutionError: The template fails, with Go's message, or a limit is reached.
        """
        timed: AbstractContextManager[None] = clock(now) if self.uses_clock else nullcontext()
        with timed:
            if values.prompt and values.suffix:
                return self._exact(
                    self._program, values, Prompt=values.prompt, Suffix=values.suffix, Response=""
                )
            if self.has_messages:
                return self._exact(
                    self._program,
                    values,
                    System=values.system,
                    Messages=messages_of(values.messages),
                    Tools=tool_types(self._behaviour).tools_of(values.tools),
                    Response="",
                )
            return self._exact_turns(values)

    def _exact_turns(self, values: Values) -> str:
        meter = Meter(self.limits.steps)

        def execute(program: Program, system: str, prompt: str, response: str, *_: object) -> str:
            return self._exact(program, values, meter, System=system, Prompt=prompt, Response=response)

        run = by_turns(
            lambda *data: execute(self._program, *data), lambda *data: execute(self._last_turn, *data)
        )
        thinking = (values.think, values.think_level, values.is_think_set)
        try:
            return joined([run("", values.messages, None, *thinking, self.limits)])
        except LimitReached as reached:
            raise TemplateExecutionError(
                str(reached), kind=ErrorKind.LIMIT, source=self._tree.source
            ) from None
        except TemplateExecutionError as error:
            error.output = ""  # Ollama writes the turns only when all of them are done
            raise

    def _exact(self, program: Program, values: Values, meter: Meter | None = None, **data: GoValue) -> str:
        data["Think"] = values.think
        data["ThinkLevel"] = values.think_level
        data["IsThinkSet"] = values.is_think_set
        return program.execute(data, limits=self.limits, meter=meter)

    @cached_property
    def _program(self) -> Program:
        return Program(self._templates, self._tree.source, functions=FUNCTIONS, missing_key=MissingKey.ZERO)

    @cached_property
    def _last_turn(self) -> Program:
        """The program of a legacy template's last turn: cut, and with nothing but Go's own functions."""
        return Program({"": cut_at_response(self._templates[""])}, self._tree.source)
