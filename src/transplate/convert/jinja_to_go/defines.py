"""JSON as Python writes it, in Go: templates that a converted template defines, and scans for values."""

from __future__ import annotations

from collections.abc import Callable

from transplate.convert.jinja_to_go import cases
from transplate.gotmpl.quoting import quote

STRING = (
    '{{ $j := json . }}{{ if eq $j (print "\\"" . "\\"") }}{{ $j }}{{ else }}"{{ $t := . }}{{ range len . }}'
    '{{ if not $t }}{{ break }}{{ end }}{{ $b := printf "%.40s" $t }}{{ $j = json $b }}'
    '{{ if eq $j (print "\\"" $b "\\"") }}{{ $b }}{{ $t = slice $t (len $b) }}'
    '{{ else }}{{ range 40 }}{{ if not $t }}{{ break }}{{ end }}{{ $c := printf "%.1s" $t }}'
    '{{ if eq $c "<" ">" "&" "\\u2028" "\\u2029" }}{{ $c }}'
    "{{ else }}{{ $j = json $c }}{{ slice $j 1 (len (slice $j 1)) }}{{ end }}"
    '{{ $t = slice $t (len $c) }}{{ end }}{{ end }}{{ end }}"{{ end }}'
)

NUMBER = (
    "{{ if eq . 0.0 }}0{{ else if and (lt . 0.0001) (gt . -0.0001) }}{{ . }}{{ else }}{{ json . }}{{ end }}"
)

STRING_VALUE = (
    '{{ $d := "\\"" }}{{ $t := $s }}{{ range len $s }}{{ if not $t }}{{ break }}{{ end }}'
    '{{ $b := printf "%.40s" $t }}{{ $j := json $b }}'
    '{{ if eq $j (print "\\"" $b "\\"") }}{{ $d = print $d $b }}{{ $t = slice $t (len $b) }}{{ else }}'
    '{{ range 40 }}{{ if not $t }}{{ break }}{{ end }}{{ $c := printf "%.1s" $t }}'
    '{{ if eq $c "<" ">" "&" "\\u2028" "\\u2029" }}{{ $d = print $d $c }}'
    "{{ else }}{{ $j = json $c }}{{ $d = print $d (slice $j 1 (len (slice $j 1))) }}{{ end }}"
    "{{ $t = slice $t (len $c) }}{{ end }}{{ end }}{{ end }}"
    '{{ $d = print $d "\\"" }}'
)
"""A string as JSON."""

NUMBER_VALUE = (
    '{{ $d := json $s }}{{ if eq $s 0.0 }}{{ $d = "0" }}'
    '{{ else if and (lt $s 0.0001) (gt $s -0.0001) }}{{ $d = printf "%v" $s }}{{ end }}'
)
"""A number as Python prints it."""


_NUMBERS = (
    '{{ else if eq $c "e" }}{{ if eq (printf "%.2s" $t) "e-" }}{{ $b := printf "%.4s" $t }}'
    '{{ if or (lt (len $b) 4) (lt (slice $b 3) "0") (gt (slice $b 3) "9") }}{{ $c = "e-0" }}{{ $n = 2 }}'
    "{{ end }}{{ end }}"
    '{{ else if eq $c "0" }}'
    '{{ if and (eq (printf "%.6s" $t) "0.0000") (or (not $p) (lt $p "0") (gt $p "9")) }}'
    # 0.0000123 is 1.23e-05: at most one zero more, for smaller numbers have an exponent in Go too.
    '{{ $e := "5" }}{{ $n = 6 }}{{ if eq (slice $t 6 7) "0" }}{{ $e = "6" }}{{ $n = 7 }}{{ end }}'
    '{{ $c = slice $t $n (len (printf "%*s " $n "")) }}{{ $n = len (printf "%*s " $n "") }}{{ $b := "" }}'
    '{{ range 20 }}{{ $o := printf "%.1s" (slice $t $n) }}'
    '{{ if or (lt $o "0") (gt $o "9") }}{{ break }}{{ end }}{{ $b = print $b $o }}'
    '{{ $n = len (printf "%*s " $n "") }}{{ end }}'
    '{{ if $b }}{{ $c = print $c "." $b }}{{ end }}{{ $c = print $c "e-0" $e }}{{ end }}'
    '{{ else if eq $c "-" }}'
    '{{ if and (eq (printf "%.2s" $t) "-0") (ne (printf "%.3s" $t) "-0.") }}{{ $c = "" }}{{ end }}'
)
"""Numbers that Python writes in another way: 1e-7 as 1e-07, 0.00001 as 1e-05, -0 as 0."""


NO_ARGUMENTS = '{{ if eq (printf "%s %T" $t $s) "null template.templateArgs" }}{{ $t = "{}" }}{{ end }}'
"""A call without arguments has an empty dict of them."""


def scan(
    indent: int | None,
    *,
    compact: bool = False,
    level: int = 0,
    is_plain: bool = False,
    may_be_arguments: bool = True,
) -> str:
    """Return the statements that turn Go's JSON text into Python's.

    Inside of a string all up to the next quotation mark or backslash is taken at once.

    Args:
        indent: Spaces a level, None for one line.
        compact: Whether there is no space behind commas and colons.
        level: The level that the text stands at.
        is_plain: Whether the JSON has no numbers that Python writes in another way, and no line separators.
        may_be_arguments: Whether it may be of a call's arguments, which are never null.
    """
    begin, space, others = "", "", ""
    if not compact:
        both = '"," ":"' if indent is None else '":"'
        space = f'{{{{ if eq $c {both} }}}}{{{{ $c = print $c " " }}}}'
    if indent is not None:
        step = " " * indent
        begin = f'{{{{ $pad := "\\n{step * level}" }}}}'
        others = (
            '{{ else if eq $c "," }}{{ $c = print $c $pad }}'
            '{{ else if eq $c "{" "[" }}{{ $b := slice $t 0 2 }}{{ if eq $b "{}" "[]" }}{{ $c = $b }}{{ $n = 2 }}'  # noqa: E501
            f'{{{{ else }}}}{{{{ $pad = print $pad "{step}" }}}}{{{{ $c = print $c $pad }}}}{{{{ end }}}}'
            f'{{{{ else if eq $c "}}" "]" }}}}{{{{ $pad = slice $pad 0 (len (slice $pad {indent})) }}}}'
            "{{ $c = print $pad $c }}"
        )
    if not is_plain:
        others += _NUMBERS
    outside = (space + others).replace("{{ else if", "{{ if", not space)
    escapes = (("003c", "<"), ("003e", ">"), ("0026", "&"), ("2028", "\\u2028"), ("2029", "\\u2029"))
    unescaped = "".join(
        f'{{{{ {"else if" if index else "if"} eq $c "\\\\u{escape}" }}}}{{{{ $c = "{character}" }}}}'
        for index, (escape, character) in enumerate(escapes[:3] if is_plain else escapes)
    )
    return (
        begin
        + '{{ $d := "" }}{{ $t := json $s }}'
        + (NO_ARGUMENTS if may_be_arguments else "")
        + '{{ $q := false }}{{ $p := "" }}{{ range len $t }}'
        "{{ if not $t }}{{ break }}{{ end }}{{ $c := slice $t 0 1 }}{{ $n := 1 }}"
        '{{ if eq $c "\\"" }}{{ $q = not $q }}'
        f"{{{{ else if not $q }}}}{outside}{'{{ end }}' if outside else ''}"
        '{{ else if eq $c "\\\\" }}{{ $c = slice $t 0 2 }}'
        '{{ if eq $c "\\\\u" }}{{ $c = slice $t 0 6 }}{{ end }}'
        f"{{{{ $n = len $c }}}}{unescaped}{{{{ end }}}}"
        "{{ else }}{{ $r := $t }}{{ range len $t }}"
        '{{ if eq (slice $r 0 1) "\\"" "\\\\" }}{{ break }}{{ end }}{{ $r = slice $r 1 }}{{ end }}'
        "{{ $c = slice $t 0 (len (slice $t (len $r))) }}{{ $n = len $c }}{{ end }}"
        "{{ $d = print $d $c }}{{ $p = $c }}{{ $t = slice $t $n }}{{ end }}"
    )


def scan_repr(*, is_plain: bool = False) -> str:
    """Return the statements that turn Go's JSON text into Python's repr; ``is_plain`` as for ``scan``."""
    numbers = _NUMBERS.replace("$c =", "$o =").replace("print $c ", "print $o ")
    return _REPR.replace("NUMBERS", "" if is_plain else numbers)


_REPR = (
    '{{ $d := "" }}{{ $t := json $s }}{{ $q := false }}{{ $p := "" }}{{ $x := "" }}{{ $y := "" }}'
    "{{ $one := false }}{{ $two := false }}"
    "{{ range len $t }}{{ if not $t }}{{ break }}{{ end }}"
    '{{ $c := printf "%.1s" $t }}{{ $n := len $c }}{{ $o := "" }}'
    "{{ if $q }}"
    '{{ if eq $c "\\\\" }}{{ $n = 2 }}{{ $c = slice $t 0 2 }}'
    '{{ if eq $c "\\\\\\"" }}{{ $c = "\\"" }}{{ $two = true }}'
    '{{ else if eq $c "\\\\b" }}{{ $c = "\\\\x08" }}{{ else if eq $c "\\\\f" }}{{ $c = "\\\\x0c" }}'
    '{{ else if eq $c "\\\\u" }}{{ $n = 6 }}{{ $c = slice $t 0 6 }}'
    '{{ if eq $c "\\\\u003c" }}{{ $c = "<" }}{{ else if eq $c "\\\\u003e" }}{{ $c = ">" }}'
    '{{ else if eq $c "\\\\u0026" }}{{ $c = "&" }}'
    '{{ else if eq (slice $c 0 4) "\\\\u00" }}{{ $c = print "\\\\x" (slice $c 4) }}{{ end }}'
    "{{ end }}{{ $x = print $x $c }}{{ $y = print $y $c }}"
    '{{ else if eq $c "\\"" }}{{ $q = false }}'
    '{{ if and $one $two }}{{ $o = print "\'" $y "\'" }}'
    '{{ else if $one }}{{ $o = print "\\"" $x "\\"" }}{{ else }}{{ $o = print "\'" $x "\'" }}{{ end }}'
    '{{ else if eq $c "\'" }}{{ $one = true }}{{ $x = print $x $c }}{{ $y = print $y "\\\\\'" }}'
    '{{ else }}{{ $b := printf "%q" $c }}{{ if ne $b (print "\\"" $c "\\"") }}'
    "{{ $c = slice $b 1 (len (slice $b 1)) }}"
    '{{ if eq (printf "%.4s" $c) "\\\\u00" }}{{ $c = print "\\\\x" (slice $c 4) }}{{ end }}{{ end }}'
    "{{ $x = print $x $c }}{{ $y = print $y $c }}{{ end }}"
    "{{ else }}{{ $o = $c }}"
    '{{ if eq $c "\\"" }}{{ $q = true }}{{ $o = "" }}{{ $x = "" }}{{ $y = "" }}{{ $one = false }}{{ $two = false }}'  # noqa: E501
    '{{ else if eq $c ":" }}{{ $o = ": " }}{{ else if eq $c "," }}{{ $o = ", " }}'
    '{{ else if eq (printf "%.4s" $t) "true" }}{{ $n = 4 }}{{ $o = "True" }}'
    '{{ else if eq (printf "%.5s" $t) "false" }}{{ $n = 5 }}{{ $o = "False" }}'
    '{{ else if eq (printf "%.4s" $t) "null" }}{{ $n = 4 }}{{ $o = "None" }}'
    "NUMBERS{{ end }}{{ end }}{{ $d = print $d $o }}{{ $p = $c }}{{ $t = slice $t $n }}{{ end }}"
)

STRING_REPR = (
    '{{ $x := "" }}{{ $y := "" }}{{ $one := false }}{{ $two := false }}{{ $t := $s }}{{ range len $s }}'
    '{{ if not $t }}{{ break }}{{ end }}{{ $c := printf "%.1s" $t }}{{ $t = slice $t (len $c) }}'
    '{{ if eq $c "\'" }}{{ $one = true }}{{ $x = print $x $c }}{{ $y = print $y "\\\\\'" }}{{ continue }}'
    '{{ else if eq $c "\\"" }}{{ $two = true }}'
    '{{ else if eq $c "\\a" "\\b" "\\f" "\\v" }}{{ $c = printf "\\\\x%02x" $c }}'
    '{{ else }}{{ $b := printf "%q" $c }}{{ $c = slice $b 1 (len (slice $b 1)) }}'
    '{{ if eq (printf "%.4s" $c) "\\\\u00" }}{{ $c = print "\\\\x" (slice $c 4) }}{{ end }}{{ end }}'
    "{{ $x = print $x $c }}{{ $y = print $y $c }}{{ end }}"
    '{{ $d := print "\'" $x "\'" }}{{ if and $one $two }}{{ $d = print "\'" $y "\'" }}'
    '{{ else if $one }}{{ $d = print "\\"" $x "\\"" }}{{ end }}'
)
"""A string as Python's repr."""


def _printing(statements: str, piece: str) -> str:
    """Return statements that print the pieces of their result, and take dot."""
    text = statements.replace('{{ $d := "" }}', "").replace("$s", ".")
    return text.replace(f"{{{{ $d = print $d {piece} }}}}", f"{{{{ {piece} }}}}")


DEFINES = {
    "json": _printing(scan(None), "$c"),
    "json string": STRING,
    "number": NUMBER,
    "repr": _printing(scan_repr(), "$o"),
    **cases.DEFINES,
}
"""The templates by name."""

PRINTING = frozenset(DEFINES.keys() - cases.DEFINES.keys())
"""The names of those that print."""


def texts_of(*, is_plain: bool, may_be_arguments: bool) -> dict[str, str]:
    """Return the templates by name, for JSON as in ``scan``."""
    check = "" if may_be_arguments else NO_ARGUMENTS.replace("$s", ".")
    texts = ORDINARY if is_plain else DEFINES
    return {name: text.replace(check, "") if check else text for name, text in texts.items()}


def _without_previous(statements: str) -> str:
    return statements.replace('{{ $p := "" }}', "").replace("{{ $p = $c }}", "")


ORDINARY = DEFINES | {
    "json": _printing(_without_previous(scan(None, is_plain=True)), "$c"),
    "repr": _printing(_without_previous(scan_repr(is_plain=True)), "$o"),
}
"""The same but for numbers and line separators that hardly occur; shorter than the whole."""


def _hexadecimal(change: Callable[[int], int]) -> str:
    """Return a table from the code of a hexadecimal digit to a number made of it."""
    values = {ord(f"{digit:x}"): change(digit) for digit in range(16)}
    return quote("".join(chr(values.get(code, 32)) for code in range(ord("f") + 1)))


_HIGH_BITS = _hexadecimal(lambda x: x >> 2)
_LOW_BITS = _hexadecimal(lambda x: (x & 3) << 2)
_PLANE_HIGH = _hexadecimal(lambda x: 8 + ((x - 1 & 15) >> 2))
_PLANE_LOW = _hexadecimal(lambda x: (x - 1 & 3) << 2)
_LAST = _hexadecimal(lambda x: 12 + (x & 3))
_SUM = 'len (printf "%*s%*s" (index {} (index $q {})) "" (index {} (index $q {})) "")'

ASCII = (
    '{{ $d := "" }}{{ $t := $s }}{{ range len $s }}{{ if not $t }}{{ break }}{{ end }}'
    '{{ $b := printf "%.24s" $t }}'
    # Go quotes with backquotes what has no DEL in it, and no backquote.
    '{{ if and (eq (len (printf "%24s" $b)) 24) (eq (slice (printf "%#q" $b) 0 1) "`") }}'
    "{{ $t = slice $t (len $b) }}"
    '{{ else }}{{ $b = printf "%.1s" $t }}{{ $t = slice $t (len $b) }}{{ if gt (len $b) 1 }}'
    '{{ $q := printf "%+q" $b }}{{ if eq (len $q) 8 }}{{ $b = slice $q 1 7 }}'
    # Two surrogates; of the eight digits, the third and fourth are the plane, which counts from one here.
    f"{{{{ else }}}}{{{{ $n := {_SUM.format(_LOW_BITS, 7, _HIGH_BITS, 8)} }}}}"
    f"{{{{ $o := {_SUM.format(_PLANE_LOW, 6, _HIGH_BITS, 7)} }}}}"
    f'{{{{ $b = printf "\\\\ud%x%x%x\\\\ud%x%s" (index {_PLANE_HIGH} (index $q 6)) $o $n'
    f" (index {_LAST} (index $q 8)) (slice $q 9 11) }}}}{{{{ end }}}}"
    '{{ else if eq $b "\\x7f" }}{{ $b = "\\\\u007f" }}{{ end }}{{ end }}'
    "{{ $d = print $d $b }}{{ end }}"
)
"""JSON text with every other character escaped, those of four bytes as two surrogates."""
