"""Questions about printing as the oracle in ``tests/oracle/fmt`` reads them, put to our own code.

A question is ``{"op", "format", "values"}``. A value is written as

=============================  ==================================================
notation                       value
=============================  ==================================================
``null``, ``true``, ``"text"``  nil, a bool, a string
``{"x": "c3"}``                a string of these bytes, in hexadecimal
``{"i": "5"}``, ``{"f": "0x1p+0"}``  an int, a float64
``[…]``, ``{"m": [[k, v], …]}``  a ``[]any``, a ``map[string]any``
``{"t": [type, content]}``     a value of a type of ``TYPES``, by its Go name
=============================  ==================================================

In the content of a typed value only what an interface holds says its type.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from transplate.gotmpl import builtins, fmt
from transplate.gotmpl import json as gojson
from transplate.gotmpl.fmt import values as fmt_values
from transplate.gotmpl.types import (
    ANY,
    ANY_MAP,
    ANY_SLICE,
    BOOL,
    BYTES,
    COMPLEX128,
    FLOAT64,
    INT,
    INT32,
    STRING,
    STRING_SLICE,
    UINT8,
    GoFunc,
    GoMap,
    GoPointer,
    GoSlice,
    GoStruct,
    GoType,
    GoValue,
    Kind,
    Method,
    SizedInt,
    StructField,
    pointer_to,
    slice_of,
)
from transplate.gotmpl.values import GoError

TYPES: dict[str, GoType] = {}


def _text_method(name: str, call: Any, *, pointer_receiver: bool = False) -> dict[str, Method]:
    return {name: Method(name, call, results=(STRING,), pointer_receiver=pointer_receiver)}


def _panic(value: GoStruct) -> str:
    raise GoError(value.values[0])


def _table_text(value: GoMap) -> str:
    if value.items is None:
        return "{}"
    try:
        return gojson.marshal(value)
    except gojson.MarshalError:
        return ""


def _coded_json(value: GoSlice) -> str:
    items = list(value.items or ())
    if len(items) == 1:
        return gojson.marshal(items[0])
    return gojson.marshal(GoSlice(STRING_SLICE, None if value.items is None else items))


COUNT = GoType("main.Count", Kind.INT)
LEVEL = GoType("main.Level", Kind.UINT8, methods=_text_method("String", lambda level: f"level {int(level)}"))
WORDS = GoType(
    "main.Words",
    Kind.SLICE,
    elem=STRING,
    methods=_text_method("String", lambda words: fmt.sprint(["words:" + ",".join(words.items or ())])),
)
CODED = GoType(
    "main.Coded",
    Kind.SLICE,
    elem=STRING,
    methods=_text_method("String", lambda coded: fmt.sprint(["|".join(coded.items or ())])),
    marshal_json=_coded_json,
)
TABLE = GoType("main.Table", Kind.MAP, elem=ANY, key=STRING, methods=_text_method("String", _table_text))
IMAGE = GoType("main.Image", Kind.SLICE, elem=UINT8)
POINT = GoType(
    "main.Point",
    Kind.STRUCT,
    fields=(
        StructField("X", INT, "X"),
        StructField("Y", FLOAT64, "y", omit_empty=True),
        StructField("Name", STRING, "name"),
        StructField("hidden", LEVEL),
    ),
)
FAULT = GoType(
    "main.Fault",
    Kind.STRUCT,
    fields=(StructField("Code", INT, "Code"),),
    methods=_text_method("Error", lambda fault: f"fault {fault.values[0]}"),
)
SECRET = GoType(
    "main.Secret",
    Kind.STRUCT,
    fields=(
        StructField("text", WORDS),
        StructField("Shown", WORDS, "Shown"),
        StructField("inner", ANY),
        StructField("Fault", FAULT, "Fault"),
    ),
)
BOXED = GoType(
    "main.Boxed",
    Kind.STRUCT,
    fields=(StructField("Value", STRING, "value"),),
    methods=_text_method(
        "String",
        lambda box: "no box" if box.target is None else fmt.sprint(["[", box.target.values[0], "]"]),
        pointer_receiver=True,
    ),
)
BOOM = GoType(
    "main.Boom",
    Kind.STRUCT,
    fields=(StructField("Text", STRING, "Text"),),
    methods=_text_method("String", _panic),
)
NODE = GoType("main.Node", Kind.STRUCT)


def _map_type(key: GoType, elem: GoType) -> GoType:
    return GoType(f"map[{key.name}]{elem.name}", Kind.MAP, elem=elem, key=key)


def _register(go_type: GoType) -> None:
    in_map = ANY_MAP if go_type is ANY else _map_type(STRING, go_type)
    derived = (pointer_to(go_type), slice_of(go_type), slice_of(pointer_to(go_type)), in_map)
    TYPES.update((made.name, made) for made in (go_type, *derived))


for _type in (COUNT, LEVEL, WORDS, CODED, TABLE, IMAGE, POINT, SECRET, BOXED, FAULT, BOOM, NODE):
    _register(_type)
for _type in (STRING, INT, BOOL, FLOAT64, COMPLEX128, INT32, UINT8, ANY, ANY_MAP, ANY_SLICE, STRING_SLICE):
    _register(_type)
for _kind in (
    Kind.INT8,
    Kind.INT16,
    Kind.INT64,
    Kind.UINT,
    Kind.UINT16,
    Kind.UINT32,
    Kind.UINT64,
    Kind.UINTPTR,
):
    _register(GoType(_kind.value, _kind))
for _key, _elem in ((INT, STRING), (LEVEL, INT), (BOOL, INT), (FLOAT64, INT), (COUNT, INT), (ANY, INT)):
    _register(_map_type(_key, _elem))
for _type in (BYTES, pointer_to(POINT), GoType("func()", Kind.FUNC)):
    _register(_type)

# A node points to a node, so that its fields can be told only now.
object.__setattr__(
    NODE,
    "fields",
    (
        StructField("Kind", STRING, "kind"),
        StructField("Next", pointer_to(NODE), "next", omit_empty=True),
        StructField("Items", ANY, "items", omit_empty=True),
        StructField("Tags", STRING_SLICE, "tags", omit_empty=True),
        StructField("Words", WORDS, "words", omit_empty=True),
        StructField("Coded", CODED, "coded", omit_empty=True),
        StructField("Props", TYPES["map[string]main.Point"], "<props>"),
        StructField("Data", BYTES, "data", omit_empty=True),
        StructField("Flag", BOOL, "flag", omit_empty=True),
        StructField("Ratio", FLOAT64, "ratio", omit_empty=True),
        StructField("Skip", INT),
        StructField("Level", LEVEL, "Level", omit_empty=True),
        StructField("Box", BOXED, "box", omit_empty=True),
        StructField("Count", pointer_to(INT), "count"),
    ),
)


def text_of(notation: Any) -> str:
    """Return the Go string of a notation, which may be given in hexadecimal."""
    if isinstance(notation, str):
        return notation
    return bytes.fromhex(notation["x"]).decode("utf-8", "surrogateescape")


def decode(notation: Any) -> GoValue:
    """Return the value that a notation stands for."""
    if notation is None or isinstance(notation, bool | str):
        return notation
    if isinstance(notation, list):
        return [decode(item) for item in notation]
    ((tag, content),) = notation.items()
    match tag:
        case "x":
            return text_of(notation)
        case "i":
            return int(content)
        case "f":
            return _float(content)
        case "m":
            return {text_of(key): decode(value) for key, value in content}
    return build(TYPES[content[0]], content[1])


def _float(text: str) -> float:
    return float.fromhex(text) if "0x" in text else float(text)


def build(go_type: GoType, content: Any) -> GoValue:
    """Return the value of a type that has this content."""
    elem, key = go_type.elem or ANY, go_type.key or ANY
    match go_type.kind:
        case Kind.INTERFACE:
            return decode(content)
        case Kind.BOOL:
            return content
        case Kind.STRING:
            return text_of(content)
        case Kind.FLOAT64:
            return _float(content)
        case Kind.COMPLEX128:
            return complex(_float(content[0]), _float(content[1]))
        case Kind.FUNC:
            return GoFunc(go_type, lambda: None, Method("", lambda: None))
        case Kind.POINTER:
            return GoPointer(go_type, None if content is None else build(elem, content))
        case Kind.STRUCT:
            pairs = zip(go_type.fields, content, strict=True)
            return GoStruct(go_type, [build(field.type, item) for field, item in pairs])
        case Kind.SLICE:
            if go_type is ANY_SLICE and content is not None:
                return decode(content)
            if content is None:
                return GoSlice(go_type, None)
            if elem.kind is Kind.UINT8 and isinstance(content, str):
                return GoSlice(go_type, bytes.fromhex(content))
            return GoSlice(go_type, [build(elem, item) for item in content])
        case Kind.MAP:
            if content is None:
                return GoMap(go_type, None)
            items = {build(key, name): build(elem, item) for name, item in content}
            return items if go_type is ANY_MAP else GoMap(go_type, items)
    return int(content) if go_type is INT else SizedInt(go_type, int(content))


def ask(question: dict[str, Any], addresses: Sequence[int] = ()) -> dict[str, Any]:
    """Return our answer to a question, in the form of the oracle's.

    Args:
        question: The question.
        addresses: What the oracle found to be the address of a value, used instead of our placeholder.
    """
    values = [decode(value) for value in question["values"]]
    address = addresses[0] if addresses else fmt.ADDRESS
    with mock.patch.object(fmt_values, "ADDRESS", address):
        try:
            return {"text": encode_text(_run(question, values))}
        except (gojson.MarshalError, gojson.NotJSON, fmt.UnprintableValue):
            return {"error": True}


def _run(question: dict[str, Any], values: list[GoValue]) -> str:
    match question["op"]:
        case "sprintf":
            return fmt.sprintf(text_of(question["format"]), values)
        case "sprint":
            return fmt.sprint(values)
        case "sprintln":
            return fmt.sprintln(values)
        case "marshal":
            return gojson.marshal(values[0])
        case "html":
            return builtins.html(*values)
        case "js":
            return builtins.js(*values)
        case "urlquery":
            return builtins.urlquery(*values)
        case "print":
            return "<no value>" if values[0] is None else fmt.print_value(fmt.printable_value(values[0]))
        case "wire":
            data = json.loads(values[0], parse_int=_read_integer, object_pairs_hook=_read_object)
            made = gojson.from_wire(data)
            text = gojson.marshal_wire(data)
            assert text == gojson.marshal(made)
            return f"{text}\n{fmt.sprint([made])}"
    raise AssertionError(question["op"])


def _read_integer(text: str) -> float:
    return -0.0 if text == "-0" else int(text)


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, having checked the values that later ones of the same key replace."""
    gojson.from_wire([value for _, value in pairs])
    return dict(pairs)


def encode_text(text: str) -> Any:
    """Return a Go string as the oracle writes it, and require it to be in the form that its bytes have."""
    data = text.encode("utf-8", "surrogateescape")
    assert data.decode("utf-8", "surrogateescape") == text, "stray bytes that form a character"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return {"x": data.hex()}
    return text


def recorded_differences(name: str) -> tuple[int, list[dict[str, Any]]]:
    """Compare our answers with a recording of the oracle's; return their number and the differences."""
    lines = (Path(__file__).parent / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    found = []
    for line in lines:
        question, expected = json.loads(line)
        ours = ask(question)
        if ours != expected:
            found.append({"question": question, "go": expected, "ours": ours})
    return len(lines), found
