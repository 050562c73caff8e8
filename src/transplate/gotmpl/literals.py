"""Go's literals: the text of a constant in, its value out.

The rules are those of Go's package strconv and of the constants in text/template/parse (Go 1.26).
"""

from __future__ import annotations

import re
from typing import cast

from transplate.gotmpl.quoting import from_bytes, quote, to_bytes

_MAX_UINT64 = 2**64 - 1
_MIN_INT64, _MAX_INT64 = -(2**63), 2**63 - 1

# What the template lexer takes for a number (scanNumber): more than is one, and maybe nothing at all.
_SHAPE = re.compile(
    r"""
    [+-]? (?:
        0[xX] [0-9a-fA-F_]* (?: \. [0-9a-fA-F_]* )? (?: [pP] [+-]? [0-9_]* )?
    |   0[oO] [0-7_]* (?: \. [0-7_]* )?
    |   0[bB] [01_]* (?: \. [01_]* )?
    |   [0-9_]* (?: \. [0-9_]* )? (?: [eE] [+-]? [0-9_]* )?
    ) i?
    """,
    re.VERBOSE,
)
_INTEGER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F_]+)|0[bB]([01_]+)|0[oO]?([0-7_]+)|([0-9][0-9_]*))")
_FLOAT = re.compile(
    r"""
    [+-]? (?:
        (?P<hex> 0[xX] ) (?= _* \.? _* [0-9a-fA-F] ) [0-9a-fA-F_]* (?: \. [0-9a-fA-F_]* )?
        [pP] [+-]? [0-9] [0-9_]*
    |   (?= _* \.? _* [0-9] ) [0-9_]* (?: \. [0-9_]* )? (?: [eE] [+-]? [0-9] [0-9_]* )?
    )
    """,
    re.VERBOSE,
)
_LOST_UNDERSCORE = re.compile(r"(?<![0-9])_|_(?![0-9])")
_LOST_HEX_UNDERSCORE = re.compile(r"(?<![0-9a-fA-FxX])_|_(?![0-9a-fA-F])")

# How fmt's scanner cuts a part of a complex number; the i is the beginning of an infinity that never comes.
_COMPLEX_PART = (
    r"[+-]? i? (?: 0[xX] [0-9a-fA-F_]* (?: \. [0-9a-fA-F_]* )? (?: [pP] [+-]? [0-9_]* )?"
    r" | [0-9_]* (?: \. [0-9_]* )? (?: [eEpP] [+-]? [0-9_]* )? )"
)
_COMPLEX = re.compile(rf"(?> ({_COMPLEX_PART}) ) (?> ( [+-] {_COMPLEX_PART}) ) i", re.VERBOSE)

_STRAY_BYTE = re.compile("[\udc80-\udcff]")
_ESCAPE = re.compile(
    r"""\\(?:([abfnrtv\\"'])|x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"""
)
_ESCAPED = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, '"': 34, "'": 39}


class LiteralError(ValueError):
    """A constant that Go refuses; the message is Go's."""


def number_end(text: str, at: int) -> int:
    """Return where the thing that Go's template lexer takes for a number at ``at`` ends."""
    return cast("re.Match[str]", _SHAPE.match(text, at)).end()  # the pattern may be empty


def parse_number(text: str) -> int | float | complex:
    """Return the value of a numeric or character constant in the type that it has by itself.

    That is an int unless it looks like a float or is complex (``parse.newNumber``, and ``idealConstant`` in
    text/template/exec.go). An integer above Go's int keeps its value.

    Raises:
        LiteralError: It is no number, or takes more than 64 bits.
    """
    if text.startswith("'"):
        return _parse_character(text)
    if number_end(text, 0) < len(text):
        return _parse_complex(text)
    if text.endswith("i"):
        try:
            return complex(0.0, parse_float(text[:-1]))
        except LiteralError:
            raise _illegal(text) from None
    integer = parse_integer(text)
    if integer is not None:
        # Go takes the e of a signed hexadecimal integer for an exponent when it chooses the type.
        return float(integer) if text[0] in "+-" and "e" in text.lower() else integer
    try:
        number = parse_float(text)
    except LiteralError:
        raise _illegal(text) from None
    if not any(mark in text for mark in ".eEpP"):
        raise LiteralError(f"integer overflow: {quote(text)}")
    return number


def parse_integer(text: str) -> int | None:
    """Return the value of an integer constant of at most 64 bits, else None.

    It is what ``strconv.ParseUint(text, 0, 64)`` reads, or ``ParseInt`` of a number with a sign.
    """
    match = _INTEGER.fullmatch(text)
    if match is None or not _underscores_are_right(text):
        return None
    sign, hexadecimal, binary, octal, decimal = match.groups()
    if hexadecimal is not None:
        magnitude = int(hexadecimal.replace("_", ""), 16)
    elif binary is not None:
        magnitude = int(binary.replace("_", ""), 2)
    elif octal is not None:
        magnitude = int(octal.replace("_", ""), 8)
    else:
        digits = decimal.replace("_", "")
        if len(digits) > 20 or (len(digits) > 1 and digits[0] == "0"):
            return None
        magnitude = int(digits)
    if not sign:
        return magnitude if magnitude <= _MAX_UINT64 else None
    value = -magnitude if sign == "-" else magnitude
    return value if _MIN_INT64 <= value <= _MAX_INT64 else None


def parse_float(text: str) -> float:
    """Return ``strconv.ParseFloat(text, 64)`` of the text of a constant.

    Raises:
        LiteralError: It is no float, or too large for one; the message is strconv's.
    """
    match = _FLOAT.fullmatch(text)
    if match is None or not _underscores_are_right(text):
        raise _float_error(text, "invalid syntax")
    digits = text.replace("_", "")
    try:
        value = float.fromhex(digits) if match["hex"] else float(digits)
    except OverflowError:
        raise _float_error(text, "value out of range") from None
    if value in (float("inf"), float("-inf")):
        raise _float_error(text, "value out of range")
    return value


def unquote(text: str) -> str:
    """Return the value of a quoted or raw string constant (``strconv.Unquote``).

    Raises:
        LiteralError: It has an escape that Go does not know.
    """
    inside = text[1:-1]
    if text[0] == "`":
        return from_bytes(to_bytes(inside.replace("\r", ""))) if "\r" in inside else inside
    if inside.isascii() and "\\" not in inside:
        return inside
    value = bytearray()
    position = 0
    while (backslash := inside.find("\\", position)) >= 0:
        value += _valid(inside[position:backslash])
        code, is_character, position = _unescape(inside, backslash, '"')
        value += chr(code).encode() if is_character else bytes([code])
    return from_bytes(bytes(value + _valid(inside[position:])))


def _valid(text: str) -> bytes:
    """Return the bytes of a piece of a quoted string; Go reads each stray byte as U+FFFD."""
    return _STRAY_BYTE.sub("\ufffd", text).encode()


def _unescape(text: str, at: int, quotation_mark: str) -> tuple[int, bool, int]:
    """Return what an escape stands for, whether that is a character or one byte, and where it ends."""
    match = _ESCAPE.match(text, at)
    if match is None:
        raise LiteralError("invalid syntax")
    short, byte, octal, *long = match.groups()
    if short is not None:
        if short in "\"'" and short != quotation_mark:
            raise LiteralError("invalid syntax")
        code = _ESCAPED[short]
    elif byte is not None:
        code = int(byte, 16)
    elif octal is not None:
        code = int(octal, 8)
        if code > 0xFF:
            raise LiteralError("invalid syntax")
    else:
        code = int(long[0] or long[1], 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise LiteralError("invalid syntax")
        return code, True, match.end()
    return code, False, match.end()


def _parse_character(text: str) -> int:
    """Return the code of a character constant (``strconv.UnquoteChar``)."""
    first = text[1]
    if first == "'":
        raise LiteralError("invalid syntax")
    if first == "\\":
        code, _, end = _unescape(text, 1, "'")
    else:
        code, end = (0xFFFD if "\udc80" <= first <= "\udcff" else ord(first)), 2
    if text[end:] != "'":
        raise LiteralError(f"malformed character constant: {text}")
    return code


def _parse_complex(text: str) -> complex:
    """Return the value of a complex constant, which Go reads with ``fmt.Sscan``."""
    match = _COMPLEX.match(text)
    if match is None:
        raise LiteralError("syntax error scanning complex number")
    return complex(parse_float(match[1]), parse_float(match[2]))


def _underscores_are_right(text: str) -> bool:
    """Return whether every underscore separates digits, or a digit from the prefix of a base."""
    if "_" not in text:
        return True
    digits = text.lstrip("+-")
    prefix = digits[:2].lower()
    if prefix == "0x":
        return _LOST_HEX_UNDERSCORE.search(digits) is None
    if prefix in ("0b", "0o"):
        digits = "0" + digits[2:]
    return _LOST_UNDERSCORE.search(digits) is None


def _illegal(text: str) -> LiteralError:
    return LiteralError(f"illegal number syntax: {quote(text)}")


def _float_error(text: str, reason: str) -> LiteralError:
    return LiteralError(f"strconv.ParseFloat: parsing {quote(text)}: {reason}")
