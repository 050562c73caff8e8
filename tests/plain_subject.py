"""What ``GoTemplate`` answers to the oracle's questions about plain text/template."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.oracle.ollama import Answer
from transplate import GoTemplate, Limits
from transplate.errors import ErrorKind, TemplateExecutionError, TemplateSyntaxError
from transplate.limits import DEFAULT_LIMITS


def _add(*numbers: int) -> int:
    return sum(numbers)


def _one_arg(a: str) -> str:
    return "oneArg=" + a


def _two_args(a: str, b: str) -> str:
    return "twoArgs=" + a + b


def _ddd_arg(a: int, *b: str) -> str:
    return f"{a} [{' '.join(b)}]\n"


def _makemap(*pairs: str) -> dict[str, str]:
    return dict(zip(pairs[::2], pairs[1::2], strict=False))


def _joined(separator: str, *parts: str) -> str:
    return separator.join(parts)


def _value_string(_: str) -> str:
    return "value is ignored"


def _current_date(*_: str) -> str:
    return "2024-03-01"


def _yesterday_date(*_: str) -> str:
    return "2024-02-29"


def _die() -> bool:
    raise RuntimeError("die")


def _fails() -> str:
    raise RuntimeError("always fails")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": _add,
    "echo": lambda value: value,
    "zeroArgs": lambda: "zeroArgs",
    "oneArg": _one_arg,
    "twoArgs": _two_args,
    "dddArg": _ddd_arg,
    "makemap": _makemap,
    "mapOfThree": lambda: {"three": 3},
    "returnInt": lambda: 7,
    "valueString": _value_string,
    "joined": _joined,
    "die": _die,
    "json": lambda value: value,
    "currentDate": _current_date,
    "yesterdayDate": _yesterday_date,
    "toTypeScriptType": lambda _: "any",
    "fails": _fails,
}
"""The same functions as the oracle's ``textFunctions``."""


def parse(source: str, *, limits: Limits = DEFAULT_LIMITS) -> GoTemplate | Answer:
    """Return the template, or the answer that says why it is refused."""
    try:
        return GoTemplate(source, functions=FUNCTIONS, limits=limits)
    except TemplateSyntaxError as error:
        return Answer(b"", error.message, "parse")


def execute(template: GoTemplate, data: Any) -> Answer:
    """Return what a template makes of data; bytes outside UTF-8 are U+FFFD."""
    try:
        return Answer(template.render(data).encode())
    except TemplateExecutionError as error:
        stage = "limit" if error.kind is ErrorKind.LIMIT else "exec"
        return Answer(error.output.encode(), error.message, stage)


def render(source: str, data: Any) -> Answer:
    """Parse and execute in one step."""
    template = parse(source)
    return template if isinstance(template, Answer) else execute(template, data)
