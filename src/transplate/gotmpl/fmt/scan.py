"""``fmt.Sprintf``: reading the format, with every complaint that Go prints about it."""

from __future__ import annotations

from dataclasses import dataclass, field

from transplate.gotmpl import quoting
from transplate.gotmpl.fmt.values import Output, print_argument, print_plainly
from transplate.gotmpl.fmt.verbs import Flags
from transplate.gotmpl.types import GoValue, SizedInt, type_of
from transplate.limits import DEFAULT_LIMITS

_TOO_LARGE = 1_000_000
_SIMPLE_VERBS = {"v": None, "s": str, "d": int}
"""Verbs, each with the type of Python that it prints as ``%v`` does; ``%v`` itself prints any."""
_FLAG_CHARACTERS = frozenset("#0+- ")


@dataclass(slots=True)
class _Scan:
    """A format that is being read, and which of the values comes next."""

    format: str
    values: list[GoValue]
    offset: int = 0
    argument: int = 0
    reordered: bool = False
    good_index: bool = True
    after_index: bool = False
    flags: Flags = field(default_factory=Flags)


def sprintf(format: str, values: list[GoValue], *, limit: int = DEFAULT_LIMITS.output) -> str:  # noqa: A002
    """Return ``fmt.Sprintf(format, values...)``.

    Args:
        format: The format, a Go string.
        values: What it prints.
        limit: Characters that may be printed.

    Raises:
        TemplateExecutionError: Of kind LIMIT, if more would be printed.
    """
    scan = _Scan(format, values)
    output = Output(limit)
    while True:
        percent = format.find("%", scan.offset)
        if percent < 0:
            output.write(format[scan.offset :])
            break
        output.write(format[scan.offset : percent])
        scan.offset = percent + 1
        if not _print_directive(scan, output):
            break
    if not scan.reordered and scan.argument < len(values):
        _print_extra(values[scan.argument :], output)
    return output.text()


def _print_directive(scan: _Scan, output: Output) -> bool:
    """Print one directive, whose percent sign has been read; return whether the format goes on."""
    format_, values = scan.format, scan.values
    verb = format_[scan.offset : scan.offset + 1]
    if verb in _SIMPLE_VERBS and scan.argument < len(values):
        value = values[scan.argument]
        if _SIMPLE_VERBS[verb] is type(value) or verb == "v":
            scan.argument += 1
            scan.offset += 1
            print_plainly(value, output)
            return True
    scan.flags = flags = Flags()
    scan.good_index = True
    while format_[scan.offset : scan.offset + 1] in _FLAG_CHARACTERS:
        _set_flag(flags, format_[scan.offset])
        scan.offset += 1
    _read_index(scan)
    _read_width(scan, output)
    # Go reads a precision only if something follows the point.
    if format_[scan.offset : scan.offset + 1] == "." and scan.offset + 1 < len(format_):
        _read_precision(scan, output)
    if not scan.after_index:
        _read_index(scan)
    if scan.offset >= len(format_):
        output.write("%!(NOVERB)")
        return False
    verb = format_[scan.offset]
    scan.offset += 1
    if "\ud800" <= verb <= "\udfff":
        verb = quoting.REPLACEMENT
    if verb == "%":
        output.write("%")
    elif not scan.good_index:
        output.write(f"%!{verb}(BADINDEX)")
    elif scan.argument >= len(values):
        output.write(f"%!{verb}(MISSING)")
    else:
        if verb in "vw":
            flags.sharp_v, flags.sharp = flags.sharp, False
            flags.plus_v, flags.plus = flags.plus, False
        print_argument(values[scan.argument], verb, flags, output)
        scan.argument += 1
    return True


def _set_flag(flags: Flags, character: str) -> None:
    match character:
        case "#":
            flags.sharp = True
        case "0":
            flags.zero = True
        case "+":
            flags.plus = True
        case "-":
            flags.minus = True
        case " ":
            flags.space = True


def _read_index(scan: _Scan) -> None:
    """Read an argument index such as ``[3]``, if one comes next."""
    scan.after_index = False
    if scan.format[scan.offset : scan.offset + 1] != "[":
        return
    scan.reordered = True
    close = scan.format.find("]", scan.offset)
    # Go does not look for the bracket in fewer than three bytes.
    if close < 0 or len(scan.format) - scan.offset < 3:
        scan.good_index = False
        scan.offset += 1
        return
    number, end = _read_number(scan.format, scan.offset + 1, close)
    scan.after_index = number is not None and end == close
    if scan.after_index and number is not None and 1 <= number <= len(scan.values):
        scan.argument = number - 1
    else:
        scan.good_index = False
    scan.offset = close + 1


def _read_width(scan: _Scan, output: Output) -> None:
    flags = scan.flags
    if scan.format[scan.offset : scan.offset + 1] != "*":
        flags.width, scan.offset = _read_number(scan.format, scan.offset, len(scan.format))
        if scan.after_index and flags.width is not None:
            scan.good_index = False
        return
    scan.offset += 1
    flags.width = _next_integer(scan)
    if flags.width is None:
        output.write("%!(BADWIDTH)")
    elif flags.width < 0:
        flags.width = -flags.width
        flags.minus = True
        flags.zero = False
    scan.after_index = False


def _read_precision(scan: _Scan, output: Output) -> None:
    """Read a precision, whose point comes next."""
    flags = scan.flags
    scan.offset += 1
    if scan.after_index:
        scan.good_index = False
    _read_index(scan)
    if scan.format[scan.offset : scan.offset + 1] != "*":
        number, scan.offset = _read_number(scan.format, scan.offset, len(scan.format))
        flags.precision = number or 0
        return
    scan.offset += 1
    flags.precision = _next_integer(scan)
    if flags.precision is None or flags.precision < 0:
        flags.precision = None
        output.write("%!(BADPREC)")
    scan.after_index = False


def _read_number(text: str, start: int, end: int) -> tuple[int | None, int]:
    """Return the number at ``start`` and the offset after it.

    Without a number it is None. A number above the bound is None, too, and takes everything up to ``end``.
    """
    number = None
    offset = start
    while offset < end and "0" <= text[offset] <= "9":
        if number is not None and number > _TOO_LARGE:
            return None, end
        number = (number or 0) * 10 + int(text[offset])
        offset += 1
    return number, offset


def _next_integer(scan: _Scan) -> int | None:
    """Return the next value for a ``*``, or None where it is no integer within the bound."""
    if scan.argument >= len(scan.values):
        return None
    value = scan.values[scan.argument]
    scan.argument += 1
    if type(value) not in (int, SizedInt) or abs(value) > _TOO_LARGE:
        return None
    return int(value)


def _print_extra(values: list[GoValue], output: Output) -> None:
    output.write("%!(EXTRA ")
    for position, value in enumerate(values):
        if position:
            output.write(", ")
        go_type = type_of(value)
        if go_type is None:
            output.write("<nil>")
        else:
            output.write(go_type.name + "=")
            print_plainly(value, output)
    output.write(")")
