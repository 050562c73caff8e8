"""Ollama's templates: source in, prompts out, as Ollama's server makes them."""

from __future__ import annotations

from datetime import date, datetime
from functools import cached_property
from typing import Any

from transplate.errors import RequestError
from transplate.gotmpl.parser import parse
from transplate.gotmpl.quoting import to_bytes
from transplate.limits import DEFAULT_LIMITS, Limits
from transplate.ollama.collate import tag_images
from transplate.ollama.decoding import decode, read_string
from transplate.ollama.execution import Execution
from transplate.ollama.functions import FUNCTIONS
from transplate.ollama.inference import Inference, infer, running_body
from transplate.ollama.quick_body import quick_body
from transplate.ollama.quick_rendering import QuickRenderer, quick_renderer
from transplate.ollama.request import Message, Request, read_messages, read_request, read_think, read_tools
from transplate.ollama.text import shown
from transplate.ollama.values import Values
from transplate.ollama.versions import NEWEST, behaviour_of, parse_version
from transplate.source import check_text


class OllamaTemplate:
    """An Ollama template (a Modelfile's TEMPLATE), run as Ollama runs it.

    Args:
        source: The template.
        ollama: The version of Ollama to behave like.
        limits: Bounds on reading and rendering; None for the defaults.

    Raises:
        TemplateSyntaxError: Ollama refuses the template; the message is its own.
        TransplateError: The version is none whose behaviour is known.

    Example:
        >>> template = OllamaTemplate("{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}<assistant>")
        >>> template.render([{"role": "user", "content": "Hi"}])
        '<user>Hi<assistant>'
    """

    def __init__(self, source: str, *, ollama: str = NEWEST, limits: Limits | None = None) -> None:
        """Parse the template, as Ollama does when a model is loaded."""
        check_text(source, "OllamaTemplate")
        self.source = source
        self.ollama = ollama
        self._behaviour = behaviour_of(parse_version(ollama))
        self.limits = limits or DEFAULT_LIMITS
        self._tree = parse(source, functions=FUNCTIONS, limits=self.limits)
        self._body = running_body(self._tree)
        self._render_quickly: QuickRenderer = self._first_render

    @cached_property
    def inference(self) -> Inference:
        """What Ollama infers from the template, and what the template uses."""
        return infer(self._tree)

    @property
    def python_source(self) -> str:
        """The Python source that the template was compiled to."""
        return self._execution.python_source

    @cached_property
    def _execution(self) -> Execution:
        return Execution(
            self._tree,
            self._body,
            has_messages="messages" in self.inference.variables,
            functions=self.inference.functions,
            behaviour=self._behaviour,
            limits=self.limits,
        )

    # --- as the server renders --------------------------------------------------------------------------

    def render(
        self,
        messages: Any,
        tools: Any = None,
        *,
        system: str | None = None,
        think: bool | str | None = None,
        prompt: str = "",
        suffix: str = "",
        now: datetime | date | None = None,
    ) -> str:
        """Render a request as Ollama's server does.

        Without prompt and suffix it is a chat: ``system`` is the Modelfile's SYSTEM, put in front unless the
        first message is a system message. With a prompt it is a generate request: system, then the messages
        (the Modelfile's history), then the prompt as a user message; or, with a suffix, prompt and suffix
        alone. Image tags are put in.

        Args:
            messages: The messages of ``/api/chat``, as JSON text or plain Python data.
            tools: The tools, likewise.
            system: System prompt.
            think: The API's ``think``; None does what the server does: a template with the thinking ability
                thinks.
            prompt: Prompt of a generate request.
            suffix: Suffix of a generate request.
            now: What the date functions take for now; None for the computer's clock.

        Returns:
            The prompt; each byte that is no valid UTF-8 as U+FFFD.

        Raises:
            RequestError: The request cannot be read, or Ollama refuses it for this template.
            TemplateExecutionError: The template fails on it, with Go's message.
        """
        if type(messages) is list and type(prompt) is type(suffix) is str and not (prompt or suffix):
            render_quickly = self._render_quickly  # Python calls an attribute faster in two steps
            output = render_quickly(messages, tools, system, think, now, None, 0)
            if output is not None:
                return output
        request = self._request(messages, tools, system, think, prompt, suffix)
        return self.execute(self._values(request, system), now=now)

    def render_bytes(
        self,
        messages: Any,
        tools: Any = None,
        *,
        system: str | None = None,
        think: bool | str | None = None,
        prompt: str = "",
        suffix: str = "",
        now: datetime | date | None = None,
    ) -> bytes:
        """Render a request as :meth:`render` does, to the bytes that Ollama makes."""
        request = self._request(messages, tools, system, think, prompt, suffix)
        return self.execute_bytes(self._values(request, system), now=now)

    def render_request(
        self, body: Any, *, system: str | None = None, now: datetime | date | None = None
    ) -> str:
        """Render the body of a request to ``/api/chat`` or ``/api/generate``, or a bare list of messages.

        Args:
            body: JSON text or plain Python data.
            system: The Modelfile's SYSTEM.
            now: What the date functions take for now.

        Returns:
            The prompt, as :meth:`render` gives it.

        Raises:
            RequestError: The request cannot be read, or Ollama refuses it for this template.
            TemplateExecutionError: The template fails on it, with Go's message.
        """
        if type(body) is str:
            quick = quick_body(body)
            if quick is not None:
                messages, tools, think, keys = quick
                output = self._render_quickly(messages, tools, system, think, now, body, keys)
                if output is not None:
                    return output
        request = read_request(body, self._behaviour)
        return self.execute(self._values(request, system), now=now)

    def _first_render(self, *arguments: Any) -> str | None:
        """Make the quick renderer at its first use, and use it."""
        self._render_quickly = quick_renderer(self._execution, self.inference, self._behaviour)
        return self._render_quickly(*arguments)

    def _request(
        self,
        messages: Any,
        tools: Any,
        system: str | None,
        think: bool | str | None,
        prompt: str,
        suffix: str,
    ) -> Request:
        prompt = decode(read_string, prompt, "", name="prompt")
        suffix = decode(read_string, suffix, "", name="suffix")
        is_generate = bool(prompt or suffix)
        return Request(
            is_generate=is_generate,
            messages=read_messages(messages),
            tools=read_tools(tools),
            think=read_think(think, self._behaviour),
            system=decode(read_string, system, "", name="system") if is_generate else "",
            prompt=prompt,
            suffix=suffix,
        )

    def _values(self, request: Request, system: str | None) -> Values:
        """Return what the template gets for a request, as the handlers in server/routes.go make it."""
        abilities = self.inference.abilities
        system = decode(read_string, system, "", name="system")
        think = request.think
        if "thinking" in abilities:
            think = True if think is None else think
        elif think:
            raise RequestError("think: the template does not support thinking")
        thinking: dict[str, Any] = {
            "think": bool(think),
            "think_level": "medium" if think is True else think or "",
            "is_think_set": think is not None,
        }
        if not request.is_generate:
            if request.tools and "tools" not in abilities:
                raise RequestError("tools: the template does not support tools")
            if not request.messages:
                raise RequestError("messages: there are none, for which Ollama builds no prompt")
            messages = request.messages
            if system and messages[0][0] != "system":
                messages = [_message("system", system), *messages]
            return Values.of_records(tag_images(messages), request.tools, **thinking)
        if request.suffix and "insert" not in abilities:
            raise RequestError("suffix: the template does not support insert")
        if not request.prompt:
            raise RequestError("prompt: is empty, for which Ollama builds no prompt")
        if request.suffix:
            return Values.of_records([], None, prompt=request.prompt, suffix=request.suffix, **thinking)
        system = request.system or system
        messages = [_message("user", request.prompt, request.images)]
        messages = [*([_message("system", system)] if system else ()), *request.messages, *messages]
        return Values.of_records(tag_images(messages), [], **thinking)

    def values(
        self, messages: Any, tools: Any = None, *, system: str | None = None, think: bool | str | None = None
    ) -> Values:
        """Return what the template gets for a chat: what :meth:`render` executes it on.

        Raises:
            RequestError: The request cannot be read, or Ollama refuses it for this template.
        """
        return self._values(self._request(messages, tools, system, think, "", ""), system)

    # --- as the template package executes ---------------------------------------------------------------

    def execute(self, values: Values, *, now: datetime | date | None = None) -> str:
        """Execute the template on values, as ``Execute`` in Ollama's template.go does.

        Args:
            values: What the template gets.
            now: What the date functions take for now; None for the computer's clock.

        Returns:
            The output; each byte that is no valid UTF-8 as U+FFFD.

        Raises:
            RequestError: A field is one that this version of Ollama does not read.
            TemplateExecutionError: The template fails on it, with Go's message.
        """
        execution = self._execution
        call = values.call
        if call is None or call[0] is not execution:
            call = values.call = execution.call_on(values)
        _, run, data = call
        output = execution.run_fast(run, data, now)
        return output if output is not None else shown(execution.run_exact(values, now))

    def execute_bytes(self, values: Values, *, now: datetime | date | None = None) -> bytes:
        """Execute the template on values, as :meth:`execute` does, to the bytes that Ollama makes."""
        execution = self._execution
        _, run, data = execution.call_on(values)
        output = execution.run_fast(run, data, now)
        return to_bytes(output if output is not None else execution.run_exact(values, now))


def _message(role: str, content: str, images: list[bytes] | None = None) -> Message:
    return (role, content, "", images, None, "", "")
