"""Go's JSON, against recorded and live answers of Go."""

from __future__ import annotations

import json
import math

import pytest

from tests.gotmpl.printing import recorded_differences
from transplate.gotmpl.json import (
    MAXIMUM_DEPTH,
    MarshalError,
    NotJSON,
    from_wire,
    marshal,
    marshal_ordered,
    marshal_wire,
)


def test_recorded_answers() -> None:
    count, found = recorded_differences("json")
    assert count > 1000
    assert found == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "json: unsupported value: NaN"),
        ({"a": [1.0, -math.inf]}, "json: unsupported value: -Inf"),
        ([1j], "json: unsupported type: complex128"),
    ],
)
def test_what_go_cannot_marshal(value: object, message: str) -> None:
    with pytest.raises(MarshalError) as refused:
        marshal(value)
    assert str(refused.value) == message


def test_ints_of_a_go_value_are_exact_and_those_of_wire_data_float64() -> None:
    assert marshal([2**63 - 1]) == "[9223372036854775807]"
    assert marshal_wire([2**63 - 1]) == "[9223372036854775807]".replace("5807", "6000")


def test_wire_data_shares_nothing_with_its_original() -> None:
    data = {"a": [{"b": 1}], "\ud800": "\udfff"}
    made = from_wire(data)
    data["a"][0]["b"] = 2  # type: ignore[index]
    assert made == {"a": [{"b": 1.0}], "\ufffd": "\ufffd"}
    assert type(made["a"][0]["b"]) is float


@pytest.mark.parametrize("value", [{1: 2}, {"a": {1, 2}}, [10**400], [math.inf], (1,), b"x"])
def test_what_is_no_wire_data(value: object) -> None:
    with pytest.raises(NotJSON):
        from_wire(value)


def test_depth() -> None:
    deepest: list[object] = []
    for _ in range(MAXIMUM_DEPTH - 1):
        deepest = [deepest]
    assert marshal(from_wire(deepest)) == "[" * MAXIMUM_DEPTH + "]" * MAXIMUM_DEPTH
    assert marshal_wire(deepest) == "[" * MAXIMUM_DEPTH + "]" * MAXIMUM_DEPTH
    with pytest.raises(NotJSON):
        from_wire([deepest])


def test_keys_of_an_ordered_object_keep_their_order_and_escapes() -> None:
    # Recorded from api.ToolPropertiesMap of Ollama v0.17.4, whose go-ordered-map leaves keys to easyjson.
    made = marshal_ordered({"b\b<\f\n\\b\\\b\u2028\udcff\x7f": 1.0, 'a"\0': ["\b"]})
    assert made == (r'{"b\u0008\u003c\u000c\n\\b\\\u0008\u2028\ufffd' + "\x7f" + r'":1,"a\"\u0000":["\b"]}')


def test_marshalled_text_is_json_of_the_value() -> None:
    value = {"é\u2028<": [1.5, True, None, '\0\b"\\'], "z": {"y": -0.0, "x": 1e300}}
    assert json.loads(marshal(value)) == value
