"""The exceptions of the public interface: what went wrong, of which kind, and where in the source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from transplate.source import Source


class ErrorKind(Enum):
    """What sort of thing went wrong; callers match on this, never on the wording."""

    SYNTAX = "syntax"
    """The template is refused when it is read."""
    EXECUTION = "execution"
    """The template is valid and failed on this conversation."""
    PANIC = "panic"
    """Real Ollama crashes here; the message is the panic's text."""
    LIMIT = "limit"
    """A bound of :class:`transplate.Limits` was reached."""
    UNSUPPORTED = "unsupported"
    """The other language cannot say this in the same way."""
    INPUT = "input"
    """A request, conversation or file that cannot be read."""


class TransplateError(Exception):
    """Base of everything this package raises on purpose.

    Attributes:
        message: The error in one line. For template errors exactly the text that Go prints.
        kind: What sort of error it is.
        source: The text the error is about, or None when it is about no text.
        offset: Character offset of the fault in ``source``, or None.
    """

    kind: ErrorKind = ErrorKind.INPUT

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind | None = None,
        source: Source | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        if kind is not None:
            self.kind = kind
        self.source = source
        self.offset = offset

    @property
    def line(self) -> int | None:
        """Line of the fault, from 1."""
        if self.source is None or self.offset is None:
            return None
        return self.source.position(self.offset).line

    @property
    def column(self) -> int | None:
        """Column of the fault in characters, from 1."""
        if self.source is None or self.offset is None:
            return None
        return self.source.position(self.offset).column

    @property
    def source_line(self) -> str | None:
        """The line of the source that holds the fault, without its line ending."""
        if self.source is None or self.offset is None:
            return None
        return self.source.line_at(self.offset)

    def __str__(self) -> str:
        if self.source is None:
            return self.message
        if self.offset is None:
            name = self.source.name
            return f"{name}: {self.message}" if name and name not in self.message else self.message
        return f"{self.message}\n{self.source.excerpt(self.offset)}"


class TemplateSyntaxError(TransplateError):
    """A template that its own engine refuses to read."""

    kind = ErrorKind.SYNTAX


class TemplateExecutionError(TransplateError):
    """A template that fails, or that Ollama crashes on, while it renders.

    Attributes:
        output: What had been printed before the failure, as Go leaves it.
    """

    kind = ErrorKind.EXECUTION

    def __init__(
        self,
        message: str,
        *,
        output: str = "",
        kind: ErrorKind | None = None,
        source: Source | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(message, kind=kind, source=source, offset=offset)
        self.output = output


class UnsupportedTemplate(TransplateError):
    """A valid template that the other language cannot express exactly; nothing was written."""

    kind = ErrorKind.UNSUPPORTED


class RequestError(TransplateError):
    """A request or conversation that cannot be read; the message names the bad field."""


def unreadable(name: str, error: Exception) -> RequestError:
    """Return what to raise where an object of the caller's raises as it is read.

    Args:
        name: What is read.
        error: What the object raised.
    """
    return RequestError(f"{name}: cannot be read: a Python object in it raises {type(error).__name__}")


@contextmanager
def naming(source: Source) -> Iterator[None]:
    """Give the errors that are about a text the name of the file that the text is from."""
    try:
        yield
    except TransplateError as error:
        if error.source is not None and error.source.text == source.text:
            error.source = source
        raise
