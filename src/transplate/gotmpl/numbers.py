"""Go's text of floating-point numbers (``strconv.FormatFloat``)."""

from __future__ import annotations

import math
from collections.abc import Callable

_FRACTION_BITS = 52
_LEAST_EXPONENT = -1074


def format_float(value: float, verb: str, precision: int | None = None) -> str:
    """Return ``strconv.FormatFloat(value, verb, precision, 64)``.

    Args:
        value: A float64.
        verb: One of ``b``, ``e``, ``E``, ``f``, ``g``, ``G``, ``x`` and ``X``.
        precision: Digits to print, as the verb counts them; None for as many as the value needs.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return _FORMATS[verb](value, precision)


def format_shortest(value: float) -> str:
    """Return ``strconv.FormatFloat(value, 'g', -1, 64)``, which is how fmt's ``%v`` prints a float64."""
    if 1e-4 <= value < 1e6 or -1e6 < value <= -1e-4:
        text = repr(value)
        return text[:-2] if text.endswith(".0") else text
    return format_float(value, "g")


def shortest_digits(value: float) -> tuple[str, int]:
    """Return the fewest decimal digits that stand for a finite value's magnitude, and their exponent.

    The value is 0.DIGITS times ten to the exponent; zero has no digits.
    """
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(digits) - len(fraction) + int(exponent or 0)
    digits = digits.rstrip("0")
    return (digits, point) if digits else ("", 0)


def _sign(value: float) -> str:
    return "-" if math.copysign(1.0, value) < 0 else ""


def _scientific(value: float, precision: int | None) -> str:
    if precision is not None:
        return f"{value:.{precision}e}"
    digits, point = shortest_digits(value)
    if not digits:
        return _sign(value) + "0e+00"
    fraction = "." + digits[1:] if len(digits) > 1 else ""
    return f"{_sign(value)}{digits[0]}{fraction}e{point - 1:+03d}"


def _fixed(value: float, precision: int | None) -> str:
    if precision is not None:
        return f"{value:.{precision}f}"
    digits, point = shortest_digits(value)
    if point <= 0:
        whole, fraction = "0", "0" * -point + digits
    else:
        whole, fraction = digits[:point].ljust(point, "0"), digits[point:]
    return _sign(value) + whole + ("." + fraction if fraction else "")


def _general(value: float, precision: int | None) -> str:
    if precision is not None:
        return f"{value:.{precision}g}"
    _, point = shortest_digits(value)
    return _fixed(value, None) if -4 < point <= 6 or value == 0 else _scientific(value, None)


def _binary(value: float, _precision: int | None) -> str:
    _, exponent = math.frexp(value)
    exponent = max(exponent - _FRACTION_BITS - 1, _LEAST_EXPONENT) if value else _LEAST_EXPONENT
    mantissa = int(math.ldexp(abs(value), -exponent))
    return f"{_sign(value)}{mantissa}p{exponent:+d}"


def _hexadecimal(value: float, precision: int | None) -> str:
    mantissa, exponent = math.frexp(abs(value))
    significand = int(math.ldexp(mantissa, _FRACTION_BITS + 1))
    exponent = exponent - 1 if significand else 0
    if precision is None:
        fraction = f"{significand & ((1 << _FRACTION_BITS) - 1):013x}".rstrip("0")
        leading = significand >> _FRACTION_BITS
    else:
        dropped = max(_FRACTION_BITS - 4 * precision, 0)
        significand = _half_to_even(significand, dropped)
        if significand >> (_FRACTION_BITS + 1 - dropped):
            significand >>= 1
            exponent += 1
        kept = _FRACTION_BITS - dropped
        leading = significand >> kept
        digits = f"{significand & ((1 << kept) - 1):0{kept // 4}x}" if kept else ""
        fraction = digits.ljust(precision, "0")
    point = "." if fraction else ""
    return f"{_sign(value)}0x{leading:x}{point}{fraction}p{exponent:+03d}"


def _half_to_even(number: int, bits: int) -> int:
    """Return ``number`` without its last ``bits`` bits, rounded half to even."""
    if bits == 0:
        return number
    half = 1 << (bits - 1)
    dropped = number & ((1 << bits) - 1)
    number >>= bits
    return number + (dropped > half or (dropped == half and number & 1 == 1))


_FORMATS: dict[str, Callable[[float, int | None], str]] = {
    "b": _binary,
    "e": _scientific,
    "E": lambda value, precision: _scientific(value, precision).upper(),
    "f": _fixed,
    "g": _general,
    "G": lambda value, precision: _general(value, precision).upper(),
    "x": _hexadecimal,
    "X": lambda value, precision: _hexadecimal(value, precision).upper(),
}
