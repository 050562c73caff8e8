"""Running a template in Ollama's three modes: in a fast form for ordinary data, and in the exact form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import date, datetime
from functools import cached_property
from typing import TypeAlias

from transplate.errors import ErrorKind, TemplateExecutionError
from transplate.gotmpl.compiler.fast import Shape
from transplate.gotmpl.compiler.program import FastForm, fast_form
from transplate.gotmpl.nodes import Body, TemplateTree
from transplate.gotmpl.quoting import joined
from transplate.gotmpl.runtime import LimitReached
from transplate.gotmpl.template import MissingKey, Program
from transplate.gotmpl.types import GoValue
from transplate.limits import Limits
from transplate.ollama.functions import FUNCTIONS, clock
from transplate.ollama.legacy import Turn, cut_at_response, split_turns
from transplate.ollama.model import messages_of, tool_types
from transplate.ollama.shapes import (
    LAST_TURN_SHAPE,
    LEGACY_SHAPE,
    SUFFIX_SHAPE,
    FastMessage,
    Thinking,
    ToolForms,
    messages_shape,
)
from transplate.ollama.values import Values
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
        self._uses_clock = "currentDate" in functions or "yesterdayDate" in functions
        self._behaviour = behaviour
        self._limits = limits

    @property
    def python_source(self) -> str:
        """The Python source of the form that ordinary requests run."""
        form = self._messages_form if self.has_messages else self._turn_form
        return self._program.python_source if form is None else form.python_source

    # --- the fast forms -----------------------------------------------------------------------------------

    def run_fast(self, values: Values, now: Now) -> str | None:
        """Execute the template on values in a fast form; return None where it takes the exact form.

        Raises:
            RequestError: A field is one that this version of Ollama does not read.
            TemplateExecutionError: A limit is reached.
        """
        prepared = values.prepared
        if prepared is None or prepared.behaviour is not self._behaviour:
            prepared = values.prepare(self._behaviour)
        if prepared.is_suffix:
            return self._run(self._suffix_form, prepared.data, now)
        if self.has_messages:
            return self._run(self._messages_form, prepared.data, now)
        return self._run_turns(prepared.turns, now)

    def run_fast_messages(
        self,
        system: str,
        messages: Sequence[FastMessage],
        tools: ToolForms | None,
        thinking: Thinking,
        now: Now,
    ) -> str | None:
        """Execute the template on data in the fast form, as :meth:`run_fast` but never in suffix mode."""
        if self.has_messages:
            return self._run(self._messages_form, (system, messages, tools, *thinking), now)
        return self._run_turns([(*turn, *thinking) for turn in split_turns(messages)], now)

    def _run(self, form: FastForm | None, data: tuple[object, ...], now: Now) -> str | None:
        """Run a fast form; return None if there is none, or if it gives up."""
        if form is None:
            return None
        try:
            if self._uses_clock:
                with clock(now):
                    output = form.run(*data, self._limits)
            else:
                output = form.run(*data, self._limits)
        except LimitReached as reached:
            raise self._limit_reached(str(reached)) from None
        except Exception:
            return None  # whatever it is, the exact form makes of it what Go makes of it
        if len(output) > self._limits.output:
            raise self._limit_reached(f"output is longer than {self._limits.output} bytes (limit: output)")
        return output

    def _run_turns(self, turns: Sequence[tuple[object, ...]], now: Now) -> str | None:
        """Run the turns of a legacy template, as :meth:`_run`."""
        output = self._run(self._last_turn_form, turns[-1], now)
        if len(turns) == 1 or output is None:
            return output
        outputs = [self._run(self._turn_form, turn, now) for turn in turns[:-1]]
        return None if None in outputs else "".join([*outputs, output])  # type: ignore[list-item]

    def _limit_reached(self, message: str) -> TemplateExecutionError:
        return TemplateExecutionError(message, kind=ErrorKind.LIMIT, source=self._tree.source)

    @cached_property
    def _messages_form(self) -> FastForm | None:
        return self._form(messages_shape(self._behaviour))

    @cached_property
    def _suffix_form(self) -> FastForm | None:
        return self._form(SUFFIX_SHAPE)

    @cached_property
    def _turn_form(self) -> FastForm | None:
        return self._form(LEGACY_SHAPE)

    @cached_property
    def _last_turn_form(self) -> FastForm | None:
        try:
            return fast_form(self._last_turn.templates, "", LAST_TURN_SHAPE)
        except TemplateExecutionError:  # Ollama panics as it cuts the tree, once it gets there
            return None

    def _form(self, shape: Shape) -> FastForm | None:
        return fast_form(self._templates, "", shape)

    # --- the exact form -----------------------------------------------------------------------------------

    def run_exact(self, values: Values, now: Now) -> str:
        """Execute the template on values, as ``Execute`` in Ollama's template.go does.

        Returns:
            The output as a Go string.

        Raises:
            TemplateExecutionError: The template fails, with Go's message, or a limit is reached.
        """
        timed: AbstractContextManager[None] = clock(now) if self._uses_clock else nullcontext()
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
        *complete, last = split_turns(values.messages)
        parts: list[str] = []
        room = self._limits.output
        try:
            for turn in complete:
                parts.append(self._exact_turn(self._program, values, turn))
                room -= len(parts[-1])
                if room < 0:
                    message = f"output is longer than {self._limits.output} bytes (limit: output)"
                    raise self._limit_reached(message)
            parts.append(self._exact_turn(self._last_turn, values, last))
        except TemplateExecutionError as error:
            error.output = ""  # Ollama writes the turns only when all of them are done
            raise
        return joined(parts)

    def _exact_turn(self, program: Program, values: Values, turn: Turn) -> str:
        system, prompt, response = turn
        return self._exact(program, values, System=system, Prompt=prompt, Response=response)

    def _exact(self, program: Program, values: Values, **data: GoValue) -> str:
        data["Think"] = values.think
        data["ThinkLevel"] = values.think_level
        data["IsThinkSet"] = values.is_think_set
        return program.execute(data, limits=self._limits)

    @cached_property
    def _program(self) -> Program:
        return Program(self._templates, self._tree.source, functions=FUNCTIONS, missing_key=MissingKey.ZERO)

    @cached_property
    def _last_turn(self) -> Program:
        """The program of a legacy template's last turn: cut, and with nothing but Go's own functions."""
        return Program({"": cut_at_response(self._templates[""])}, self._tree.source)
