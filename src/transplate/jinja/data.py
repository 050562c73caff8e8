"""What a chat template sees: the caller's objects rebuilt as plain data, as transformers 5.24 does it.

A template may come from a stranger, so none of the caller's objects reaches it, only copies of exact JSON
types.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from types import FunctionType, MethodType
from typing import Any, ParamSpec, TypeVar

from transplate.errors import RequestError, unreadable
from transplate.jinja.function_schema import function_schema

REASONING_FIELDS = ("reasoning_content", "thinking", "reasoning")
"""The names under which the reasoning of a message is passed; the first that is set wins."""

_EXACT = frozenset({str, int, float, bool, type(None)})


def plain_data(value: Any) -> Any:
    """Return a copy of a value made of dicts, lists, tuples and exact JSON scalars only.

    Subclasses of the scalars lose what they add, dataclasses and pydantic models become dicts, and what is
    none of these becomes the name of its type, ``"<ndarray>"``.

    Args:
        value: Anything a caller puts into messages, tools or variables.

    Returns:
        The copy.

    Raises:
        RequestError: The value is nested too deeply, or holds itself.
    """
    try:
        return _plain(value)
    except RecursionError:
        raise RequestError("the data is nested too deeply") from None
    except RequestError:
        raise
    except Exception as error:
        raise unreadable("the data", error) from error


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in _EXACT:
        return value
    if kind is dict:
        return {_plain(key): _plain(item) for key, item in value.items()}
    if kind is list:
        return [_plain(item) for item in value]
    return _plain_object(value)


def _plain_object(value: Any) -> Any:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    if _is_numpy_scalar(value):
        return _plain(value.item())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if callable(getattr(value, "model_dump", None)):
        return _plain(value.model_dump())
    return f"<{type(value).__name__}>"


def _is_numpy_scalar(value: Any) -> bool:
    """Tell whether a value is a numpy scalar, without importing numpy."""
    return any(base.__module__ == "numpy" and base.__name__ == "generic" for base in type(value).__mro__)


_P = ParamSpec("_P")
_T = TypeVar("_T")


def _reads(name: str) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Return a decorator for what reads an argument, whose objects may raise anything."""

    def decorate(function: Callable[_P, _T]) -> Callable[_P, _T]:
        @wraps(function)
        def read(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            try:
                return function(*args, **kwargs)
            except RequestError:
                raise
            except Exception as error:
                raise unreadable(name, error) from error

        return read

    return decorate


@_reads("messages")
def chat_messages(messages: Any) -> list[dict[str, Any]]:
    """Return the messages as a template sees them: plain, without null fields, reasoning under all its names.

    A null field of a message is dropped, because APIs return ``content: null`` where templates expect no
    content. The reasoning is found under any of :data:`REASONING_FIELDS`, and given as
    ``reasoning_content``, and as ``thinking`` unless the message has that.

    Args:
        messages: A list of dicts, dataclasses or pydantic models.

    Returns:
        Fresh dicts; the caller's are left alone.

    Raises:
        RequestError: There is no message, or one that is none of these.
    """
    messages = getattr(messages, "messages", messages)
    if isinstance(messages, str | bytes | Mapping) or not hasattr(messages, "__iter__"):
        raise RequestError(f"messages: a list of objects is needed, not {type(messages).__name__}")
    seen = []
    for index, message in enumerate(messages):
        plain = plain_data(message)
        if not isinstance(plain, dict):
            raise RequestError(f"messages[{index}]: an object is needed, not {type(message).__name__}")
        seen.append(_with_reasoning({key: item for key, item in plain.items() if item is not None}))
    if not seen:
        raise RequestError("messages: at least one message is needed")
    return seen


def _with_reasoning(message: dict[str, Any]) -> dict[str, Any]:
    for name in REASONING_FIELDS:
        if name in message:
            reasoning = message[name]
            return {"thinking": reasoning, **message, "reasoning_content": reasoning}
    return message


@_reads("tools")
def tool_schemas(tools: Any) -> list[Any] | None:
    """Return the tools as a template sees them: schemas as given, functions described by their signature.

    Args:
        tools: A list of JSON schemas and Python functions, or None.

    Returns:
        The schemas as plain data; None stays None, as a template is told that there are no tools.

    Raises:
        RequestError: A tool is neither a dict nor a function, or a function cannot be described.
    """
    if tools is None:
        return None
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Sequence):
        raise RequestError(f"tools: a list is needed, not {type(tools).__name__}")
    schemas = []
    for index, tool in enumerate(tools):
        if isinstance(tool, dict):
            schemas.append(plain_data(tool))
        elif inspect.isfunction(tool) or inspect.ismethod(tool):
            schemas.append(_schema_of(tool, index))
        else:
            raise RequestError(
                f"tools[{index}]: a JSON schema or a function is needed, not {type(tool).__name__}"
            )
    return schemas


def _schema_of(tool: FunctionType | MethodType, index: int) -> Any:
    try:
        return plain_data(function_schema(tool))
    except RequestError as error:
        raise RequestError(f"tools[{index}]: {error.message}") from error


@_reads("documents")
def documents_data(documents: Any) -> Any:
    """Return the documents of a retrieval template as plain data.

    Raises:
        RequestError: It is no list, or a document is not a dict.
    """
    if documents is None:
        return None
    if not isinstance(documents, Iterable):
        raise RequestError(f"documents: a list is needed, not {type(documents).__name__}")
    for index, document in enumerate(documents):
        if not isinstance(document, dict):
            raise RequestError(f"documents[{index}]: an object is needed, not {type(document).__name__}")
    return plain_data(documents)
