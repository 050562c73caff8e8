"""One verb on one number or string: what Go's fmt prints, None where the verb does not suit the value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from transplate.gotmpl import quoting
from transplate.gotmpl.numbers import format_float, format_shortest
from transplate.gotmpl.printable import is_print

_DEFAULT_FLOAT_PRECISION = 6
_SIXTY_FOUR_BITS = (1 << 64) - 1


@dataclass(slots=True)
class Flags:
    """Flags, width and precision of one verb.

    ``plus_v`` and ``sharp_v`` are ``+`` and ``#`` of a ``%v``, which ask for another notation of composite
    values and say nothing to the numbers in them. ``plain`` is set where nothing but ``%v`` is asked for.
    """

    minus: bool = False
    plus: bool = False
    sharp: bool = False
    space: bool = False
    zero: bool = False
    plus_v: bool = False
    sharp_v: bool = False
    width: int | None = None
    precision: int | None = None
    plain: bool = False


NO_FLAGS = Flags()
PLAIN_TEXTS: dict[type, Callable[[Any], str]] = {
    str: lambda text: text,
    int: int.__repr__,
    float: format_shortest,
    bool: lambda value: "true" if value else "false",
    type(None): lambda _: "<nil>",
}
"""What ``%v`` prints, without flags, for values of Python types that hold nothing else."""


def pad(text: str, flags: Flags) -> str:
    """Return text at the width asked for, counted in characters; a stray byte is one."""
    if not flags.width:
        return text
    if flags.minus:
        return text.ljust(flags.width)
    return text.rjust(flags.width, "0" if flags.zero else " ")


def pad_with_spaces(text: str, flags: Flags) -> str:
    """Return text at the width asked for, never padded with zeros."""
    if not flags.width:
        return text
    return text.ljust(flags.width) if flags.minus else text.rjust(flags.width)


def truncate(text: str, flags: Flags) -> str:
    """Return text cut to the precision asked for, counted in characters."""
    return text if flags.precision is None else text[: flags.precision]


def format_boolean(value: bool, verb: str, flags: Flags) -> str | None:
    """Return a boolean as ``%t`` and ``%v`` print it."""
    if verb not in "tv":
        return None
    return pad("true" if value else "false", flags)


def format_integer(value: int, verb: str, flags: Flags, *, signed: bool) -> str | None:
    """Return an integer as Go prints it with one of ``v d b o O x X c q U``."""
    match verb:
        case "v":
            if flags.sharp_v and not signed:
                return digits(value, 16, verb, flags, sharp=True)
            return digits(value, 10, verb, flags, sharp=flags.sharp)
        case "d":
            return digits(value, 10, verb, flags, sharp=flags.sharp)
        case "b":
            return digits(value, 2, verb, flags, sharp=flags.sharp)
        case "o" | "O":
            return digits(value, 8, verb, flags, sharp=flags.sharp)
        case "x" | "X":
            return digits(value, 16, verb, flags, sharp=flags.sharp)
        case "c":
            return pad(quoting.rune(value), flags)
        case "q":
            quoted = quoting.quote_rune_to_ascii(value) if flags.plus else quoting.quote_rune(value)
            return pad(quoted, flags)
        case "U":
            return _unicode(value & _SIXTY_FOUR_BITS, flags)
    return None


_BASES = {2: "b", 8: "o", 10: "d", 16: "x"}


def digits(value: int, base: int, verb: str, flags: Flags, *, sharp: bool) -> str:
    """Return an integer in a base, with the sign, prefix and zeros that the flags ask for."""
    if flags.precision == 0 and value == 0:
        return " " * (flags.width or 0)
    signed = value < 0 or flags.plus or flags.space
    if flags.precision is not None:
        least = flags.precision
    elif flags.zero and not flags.minus and flags.width is not None:
        least = flags.width - signed
    else:
        least = 0
    text = format(abs(value), _BASES[base]).rjust(least, "0")
    if sharp and base == 2:
        text = "0b" + text
    elif sharp and base == 8 and text[0] != "0":
        text = "0" + text
    elif sharp and base == 16:
        text = "0x" + text
    if verb == "O":
        text = "0o" + text
    if verb == "X":
        text = text.upper()
    if signed:
        text = ("-" if value < 0 else "+" if flags.plus else " ") + text
    return pad_with_spaces(text, flags)


def _unicode(code: int, flags: Flags) -> str:
    text = f"U+{code:0{max(flags.precision or 0, 4)}X}"
    if flags.sharp and code <= quoting.MAX_RUNE and is_print(code):
        text += f" '{chr(code)}'"
    return pad_with_spaces(text, flags)


def format_floating(value: float, verb: str, flags: Flags) -> str | None:
    """Return a float64 as Go prints it with one of ``v b g G x X f F e E``."""
    match verb:
        case "v":
            return _floating(value, "g", flags, None)
        case "b" | "g" | "G" | "x" | "X":
            return _floating(value, verb, flags, None)
        case "f" | "e" | "E":
            return _floating(value, verb, flags, _DEFAULT_FLOAT_PRECISION)
        case "F":
            return _floating(value, "f", flags, _DEFAULT_FLOAT_PRECISION)
    return None


def _floating(value: float, verb: str, flags: Flags, precision: int | None) -> str:
    if flags.precision is not None:
        precision = flags.precision
    text = format_float(value, verb, precision)
    sign, number = (text[0], text[1:]) if text[0] in "+-" else ("+", text)
    if flags.space and sign == "+" and not flags.plus:
        sign = " "
    if number == "NaN" and not flags.space and not flags.plus:
        return pad_with_spaces(number, flags)
    if number in ("Inf", "NaN"):
        return pad_with_spaces(sign + number, flags)
    if flags.sharp and verb != "b":
        number = _with_point(number, verb, precision)
    if not flags.plus and sign == "+":
        return pad(number, flags)
    if flags.zero and not flags.minus and flags.width is not None:
        return sign + number.rjust(flags.width - 1, "0")
    return pad(sign + number, flags)


def _with_point(number: str, verb: str, precision: int | None) -> str:
    """Return a number as the flag ``#`` has it: with a decimal point and its trailing zeros."""
    exponent_mark = "pP" if verb in "xX" else "eE"
    end = next((index for index, character in enumerate(number) if character in exponent_mark), len(number))
    number, tail = number[:end], number[end:]
    wanted = 0
    if verb in "gGx":
        wanted = 6 if precision is None else precision
    # The x of the prefix 0x counts as a digit, as it does in Go.
    wanted -= len(number.lstrip("0.").replace(".", ""))
    if "." not in number:
        if number == "0":
            wanted -= 1
        number += "."
    return number + "0" * wanted + tail


def format_complex(value: complex, verb: str, flags: Flags) -> str | None:
    """Return a complex128 as Go prints it: both parts by the same verb, the second always signed."""
    real = format_floating(value.real, verb, flags)
    plus, flags.plus = flags.plus, True
    imaginary = format_floating(value.imag, verb, flags)
    flags.plus = plus
    return None if real is None or imaginary is None else f"({real}{imaginary}i)"


def format_string(value: str, verb: str, flags: Flags) -> str | None:
    """Return a string as Go prints it with one of ``v s x X q``."""
    if verb == "v":
        verb = "q" if flags.sharp_v else "s"
    match verb:
        case "s":
            return pad(truncate(value, flags), flags)
        case "x" | "X":
            # Cut before as after: a character has at least a byte.
            return format_hexadecimal(quoting.to_bytes(truncate(value, flags)), verb, flags)
        case "q":
            return _quoted(truncate(value, flags), flags)
    return None


def _quoted(text: str, flags: Flags) -> str:
    if flags.sharp and quoting.can_backquote(text):
        return pad(f"`{text}`", flags)
    return pad(quoting.quote_to_ascii(text) if flags.plus else quoting.quote(text), flags)


def format_hexadecimal(data: bytes, verb: str, flags: Flags) -> str:
    """Return bytes in hexadecimal, with the prefix (``#``) and the spaces between them that the flags say."""
    pairs = truncate_bytes(data, flags).hex(" ") if flags.space else truncate_bytes(data, flags).hex()
    if flags.sharp and pairs:
        pairs = "0x" + pairs.replace(" ", " 0x")
    return pad(pairs.upper() if verb == "X" else pairs, flags)


def truncate_bytes(data: bytes, flags: Flags) -> bytes:
    """Return data cut to the precision asked for, counted in bytes."""
    return data if flags.precision is None else data[: flags.precision]


def format_bytes(data: bytes, verb: str, flags: Flags) -> str:
    """Return a slice of bytes as Go prints it with one of ``s x X q``."""
    if verb in "xX":
        return format_hexadecimal(data, verb, flags)
    text = truncate(quoting.from_bytes(data), flags)
    return pad(text, flags) if verb == "s" else _quoted(text, flags)
