# ruff: noqa: ARG001
"""Functions become the tool schemas that transformers makes of them."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, Literal, Optional, Union

import pytest

from tests.oracle.engines import TransformersEngine
from transplate.errors import RequestError
from transplate.jinja.function_schema import function_schema


class Colour(enum.Enum):
    RED = "r"
    GREEN = "g"


class Mixed(enum.Enum):
    ONE = 1
    X = "x"


class Empty(enum.Enum):
    pass


def plain(x: int, y: float = 3.0, *, z: Optional[str] = None) -> str:  # noqa: UP045
    """Do it.

    More text
    here.

    Args:
        x: First (choices: [1, 2])
        y (float, optional): Second line
            continues: with a colon
            and more.
        z: (Choices: ["a ", "b"])

    Returns:
        A text.
    """
    return f"{x}{y}{z}"


def types(
    a: Colour,
    b: Mixed,
    c: list[int],
    d: tuple[int, str],
    e: dict[str, list[float]],
    f: Union[int, str, None],  # noqa: UP007
    g: int | None,
    h: list[int] | str,
    i: Literal["a", 1],
    j: list,  # type: ignore[type-arg]
    k: dict,  # type: ignore[type-arg]
    m: bool,
    n: Any,
    o: None,
    p: list | tuple,  # type: ignore[type-arg]
) -> dict[str, int]:
    """Take all types.

    Args:
      a: a
      b: b

      c: c
      d: d
      e: e
      f: f
      g: g
      h: h
      i: i
      j: j
      k: k
      m: m
      n: n
      o: o
      p: p
    Raises:
      ValueError: never
    """
    raise ValueError


class Holder:
    def method(self, a: Any) -> None:
        """Be a method.
        Args:
            a: A
        Returns: int
        """

    @classmethod
    def of_class(cls, a: bool) -> None:
        """Be a class method.

        Args:

            a: A
        Returns:
            nothing
        """


def undescribed_result() -> object:
    """Only this."""


def no_hint(x):  # type: ignore[no-untyped-def]
    """Lack a hint.

    Args:
        x: x
    """


def no_docstring(x: int) -> None: ...


def no_description(x: int) -> None:
    """Lack a description."""


def odd_type(x: object) -> None:
    """Take an object.

    Args:
        x: x
    """


def short_tuple(x: tuple[int]) -> None:
    """Take a tuple.

    Args:
        x: x
    """


def long_tuple(x: tuple[int, ...]) -> None:
    """Take a tuple.

    Args:
        x: x
    """


def no_choices(x: Empty) -> None:
    """Take a choice of none.

    Args:
        x: x
    """


def bad_choices(x: int) -> None:
    """Take choices that are no JSON.

    Args:
        x: x (choices: [1,)
    """


def unresolved(x: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821, UP037
    """Take a type that is not there.

    Args:
        x: x
    """


GOOD = [plain, types, Holder().method, Holder.of_class, undescribed_result]
BAD = [
    *(no_hint, no_docstring, no_description, odd_type, short_tuple, long_tuple, no_choices, bad_choices),
    *(unresolved, Holder.method),
]


@pytest.mark.parametrize("function", GOOD, ids=lambda function: function.__name__)
def test_schema_is_that_of_transformers(
    transformers_engine: TransformersEngine, function: Callable[..., Any]
) -> None:
    from transformers.utils import get_json_schema

    assert transformers_engine.name == "transformers"
    assert function_schema(function) == get_json_schema(function)


@pytest.mark.parametrize("function", BAD, ids=lambda function: function.__name__)
def test_function_that_cannot_be_described(
    transformers_engine: TransformersEngine, function: Callable[..., Any]
) -> None:
    from transformers.utils import get_json_schema

    assert transformers_engine.name == "transformers"
    if function is not Holder.method:
        with pytest.raises(Exception):  # noqa: B017, PT011
            get_json_schema(function)
        with pytest.raises(RequestError, match=function.__name__):
            function_schema(function)
    else:
        assert function_schema(function) == get_json_schema(function)


def test_schema_without_any_engine() -> None:
    assert function_schema(plain) == {
        "type": "function",
        "function": {
            "name": "plain",
            "description": "Do it.\n\nMore text\nhere.",
            "parameters": {
                "type": "object",
                "properties": {
                    "x": {"type": "integer", "enum": [1, 2], "description": "First"},
                    "y": {"type": "number", "description": "Second line continues: with a colon and more."},
                    "z": {"type": "string", "nullable": True, "enum": ["a", "b"], "description": ""},
                },
                "required": ["x"],
            },
            "return": {"type": "string", "description": "A text."},
        },
    }
