"""``strftime_now``: the parts of a date that Ollama's ``currentDate`` tells, as ``2026-03-04``."""

from __future__ import annotations

from datetime import date

from transplate.convert.jinja_to_go import build
from transplate.convert.jinja_to_go.build import call
from transplate.convert.jinja_to_go.interface import Interface
from transplate.convert.jinja_to_go.refusals import Refused
from transplate.convert.jinja_to_go.values import TEXT, Const, Go, Value, concatenated
from transplate.gotmpl.nodes import Operand

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PLACES = {"Y": (0, 4), "m": (5, 7), "d": (8, 10), "y": (2, 4)}
_WHOLE = {"F": "%Y-%m-%d", "D": "%m/%d/%y", "x": "%m/%d/%y", "h": "%b"}
"""What stands for several parts, in the locale of the server that all of them have."""
_WITHOUT_ZERO = {"-d": (8, 10, ""), "-m": (5, 7, ""), "e": (8, 10, " ")}
"""Numbers of two digits, and what is in the place of a first 0."""
_TIMES = ("H", "I", "M", "S", "p", "T", "R", "X", "c", "f", "z", "Z", "s", "-H", "-I", "-M", "-S")
_YEARS = range(2000, 2100)


class Dates(Interface):
    """``strftime_now``."""

    def _date(self, arguments: list[Value]) -> Value:
        if len(arguments) != 1 or not isinstance(arguments[0], Const):
            raise Refused("strftime_now with this format")
        form = str(arguments[0].value)
        today = call("currentDate")
        if form == "%Y-%m-%d":
            return Go(TEXT, today)
        return concatenated(self._date_parts(form, self.declare("date", today)))

    def _date_parts(self, form: str, day: Operand) -> list[Value]:
        parts: list[Value] = []
        at = 0
        while at < len(form):
            if form[at] != "%":
                parts.append(Const(form[at]))
                at += 1
                continue
            letter = form[at + 1 : at + (3 if form[at + 1 : at + 2] == "-" else 2)]
            if letter in _WHOLE:
                parts += self._date_parts(_WHOLE[letter], day)
            else:
                parts.append(self._date_part(letter, day))
            at += 1 + len(letter)
        return parts

    def _date_part(self, letter: str, day: Operand) -> Value:
        if letter in _PLACES:
            start, stop = _PLACES[letter]
            return Go(TEXT, call("slice", day, build.number(start), build.number(stop)))
        if letter == "%":
            return Const("%")
        if letter in _WITHOUT_ZERO:
            start, stop, zero = _WITHOUT_ZERO[letter]
            text = (
                f"{{{{ $d := slice $s {start} {stop} }}}}"
                f'{{{{ if eq (slice $d 0 1) "0" }}}}{{{{ $d = print "{zero}" (slice $d 1) }}}}{{{{ end }}}}'
            )
            return Go(TEXT, self.run(text, s=day))
        if letter in ("B", "b"):
            names = _short(_MONTHS) if letter == "b" else _MONTHS
            numbers = [f"{number:02}" for number in range(1, 13)]
            return Go(TEXT, self.run("{{ $m := slice $s 5 7 }}" + _named("$m", numbers, names), s=day))
        if letter in ("A", "a"):
            names = _short(_WEEKDAYS) if letter == "a" else _WEEKDAYS
            text = _WEEKDAY + _named("$w", list("0123456"), names)
            return Go(TEXT, self.run(text, "the day of the week", "weekday", s=day))
        without_time = " (Ollama tells the date alone)" if letter in _TIMES else ""
        raise Refused(f"strftime_now with %{letter}{without_time}")


def _short(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name[:3] for name in names)


def _named(variable: str, values: list[str], names: tuple[str, ...]) -> str:
    """Return statements that set ``$d`` to the name of the one that a variable is."""
    text = f'{{{{ $d := "{names[-1]}" }}}}'
    for index, (value, name) in enumerate(zip(values[:-1], names[:-1], strict=True)):
        word = "else if" if index else "if"
        text += f'{{{{ {word} eq {variable} "{value}" }}}}{{{{ $d = "{name}" }}}}'
    return text + "{{ end }}"


def _weekday() -> str:
    """Return statements that set ``$w`` to the number of a date's day of the week, 0 for Monday.

    Go's templates do not calculate, but what ``printf`` makes as wide as a number tells has a length; the
    digit 0 tells 48. From March on a date is as far from the next first of January as in any other year.
    """
    years = "".join(str(date(year, 1, 1).weekday()) for year in (*_YEARS, _YEARS.stop))
    firsts = [date(2001, month, 1) - date(2001 if month < 3 else 2002, 1, 1) for month in range(1, 13)]
    months = "".join(str(first.days % 7) for first in firsts)
    most = 6 + 6 + 3 * 3 + 9
    remainders = "".join(str((total - 1) % 7) for total in range(most + 1))
    two_digits = 'len (printf "' + "%[1]*[3]s" * 10 + '%[2]*[3]s" (index $s {}) (index $s {}) "")'
    before, zeros = 11 * ord("0"), 6 * ord("0")
    stop = '{{ template "not converted: the day of the week before 2000 or after 2099" $ }}'
    return (
        f'{{{{ if ne (slice $s 0 2) "20" }}}}{stop}{{{{ end }}}}'
        f"{{{{ $y := {two_digits.format(2, 3)} }}}}"
        '{{ if ge (slice $s 5 7) "03" }}{{ $y = len (printf "%*s " $y "") }}{{ end }}'
        f'{{{{ $y = index (printf "%{before + len(years)}s" "{years}") $y }}}}'
        f'{{{{ $m := index (printf "%{before + 13}s" "{months}") ({two_digits.format(5, 6)}) }}}}'
        '{{ $n := len (printf "%[1]*[5]s%[2]*[5]s%[3]*[5]s%[3]*[5]s%[3]*[5]s%[4]*[5]s" '
        '$y $m (index $s 8) (index $s 9) "") }}'
        f'{{{{ $w := slice "{remainders}" (len (slice (printf "%*s" $n "") {zeros})) }}}}'
        "{{ $w = slice $w 0 1 }}"
    )


_WEEKDAY = _weekday()
