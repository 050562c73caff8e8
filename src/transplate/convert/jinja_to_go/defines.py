"""JSON as Python writes it, in Go: templates that a converted template defines, and scans for values."""

from __future__ import annotations

from collections.abc import Callable

from transplate.gotmpl.quoting import quote

_ESCAPES = '{{ if eq $c "<" ">" "&" "\\u2028" "\\u2029" }}'

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

_LIST = '[{{ range $i, $v := . }}{{ if $i }}, {{ end }}{{ template "json" $v }}{{ end }}]'
_MAP = (
    '{{ $more := false }}{{ "{" }}{{ range $k, $v := RANGE }}{{ if $more }}, {{ end }}{{ $more = true }}'
    '{{ template "json string" $k }}: {{ template "json" $v }}{{ end }}}'
)


def _record(*fields: tuple[str, str, str]) -> str:
    """Return a struct as JSON: for each key its Go field, and the condition that it is there, if any."""
    text = '{{ $more := false }}{{ "{" }}'
    for key, path, condition in fields:
        piece = f'{{{{ if $more }}}}, {{{{ end }}}}{{{{ $more = true }}}}"{key}": {{{{ template "json" {path} }}}}'  # noqa: E501
        text += f"{{{{ if {condition} }}}}{piece}{{{{ end }}}}" if condition else piece
    return text + "}"


_PROPERTY = _record(
    ("anyOf", ".AnyOf", ".AnyOf"),
    ("type", ".Type", ".Type"),
    ("items", ".Items", 'ne (printf "%T" .Items) "<nil>"'),
    ("description", ".Description", ".Description"),
    ("enum", ".Enum", ".Enum"),
    ("properties", ".Properties", ".Properties"),
)
# Only newer versions of Ollama have the list in a property; there the struct prints with it at its end.
_REQUIRED = (
    '{{ $p := printf "%v" . }}{{ if eq (slice $p (len (slice $p 2))) "]}" }}{{ if .Required }}'
    '{{ if $more }}, {{ end }}"required": {{ template "json" .Required }}{{ end }}{{ end }}}'
)

VALUE = (
    '{{ $t := printf "%T" . }}'
    '{{ if eq $t "string" }}{{ template "json string" . }}'
    '{{ else if eq $t "float64" }}{{ template "number" . }}'
    '{{ else if eq $t "[]interface {}" "[]string" "[]api.ToolProperty" "template.templateTools" }}'
    + _LIST
    + '{{ else if eq $t "map[string]interface {}" "template.templateArgs" }}'
    + _MAP.replace("RANGE", ".")
    + '{{ else if eq $t "template.templateProperties" }}{{ if eq (json .) "null" }}null{{ else }}'
    + _MAP.replace("RANGE", ".")
    + "{{ end }}"
    '{{ else if eq $t "*api.ToolPropertiesMap" }}'
    + _MAP.replace("RANGE", ".All")
    + '{{ else if eq $t "api.PropertyType" }}'
    '{{ if eq (len .) 1 }}{{ template "json string" (index . 0) }}{{ else }}' + _LIST + "{{ end }}"
    '{{ else if eq $t "api.ToolProperty" }}'
    + _PROPERTY[:-1]
    + _REQUIRED
    + '{{ else if eq $t "template.templateTool" }}'
    + _record(
        ("type", ".Type", ""),
        ("items", ".Items", 'ne (printf "%T" .Items) "<nil>"'),
        ("function", ".Function", ""),
    )
    + '{{ else if eq $t "template.templateToolFunction" }}'
    + _record(("name", ".Name", ""), ("description", ".Description", ""), ("parameters", ".Parameters", ""))
    + '{{ else if eq $t "template.templateToolFunctionParameters" }}'
    + _record(
        ("type", ".Type", ""),
        ("$defs", ".Defs", 'ne (printf "%T" .Defs) "<nil>"'),
        ("items", ".Items", 'ne (printf "%T" .Items) "<nil>"'),
        ("required", ".Required", ".Required"),
        ("properties", ".Properties", ""),
    )
    + '{{ else if eq $t "<nil>" }}null'
    "{{ else }}{{ json . }}{{ end }}"
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
    '{{ else if and (eq $c "e") (eq (printf "%.2s" $t) "e-") }}{{ $b := printf "%.4s" $t }}'
    '{{ if or (lt (len $b) 4) (lt (slice $b 3) "0") (gt (slice $b 3) "9") }}{{ $c = "e-0" }}{{ $n = 2 }}{{ end }}'  # noqa: E501
    '{{ else if and (eq (printf "%.6s" $t) "0.0000") (or (not $p) (lt $p "0") (gt $p "9")) }}'
    # 0.0000123 is 1.23e-05: at most one zero more, for smaller numbers have an exponent in Go too.
    '{{ $e := "5" }}{{ $n = 6 }}{{ if eq (slice $t 6 7) "0" }}{{ $e = "6" }}{{ $n = 7 }}{{ end }}'
    '{{ $c = slice $t $n (len (printf "%*s " $n "")) }}{{ $n = len (printf "%*s " $n "") }}{{ $b := "" }}'
    '{{ range 20 }}{{ $o := printf "%.1s" (slice $t $n) }}'
    '{{ if or (lt $o "0") (gt $o "9") }}{{ break }}{{ end }}{{ $b = print $b $o }}'
    '{{ $n = len (printf "%*s " $n "") }}{{ end }}'
    '{{ if $b }}{{ $c = print $c "." $b }}{{ end }}{{ $c = print $c "e-0" $e }}'
    '{{ else if and (eq $c "-") (eq (printf "%.2s" $t) "-0") (ne (printf "%.3s" $t) "-0.") }}{{ $c = "" }}'
)
"""Numbers that Python writes in another way: 1e-7 as 1e-07, 0.00001 as 1e-05, -0 as 0."""


def scan(indent: int | None, *, compact: bool = False, level: int = 0) -> str:
    """Return the statements that turn Go's JSON text into Python's.

    Args:
        indent: Spaces a level, None for one line.
        compact: Whether there is no space behind commas and colons.
        level: The level that the text stands at.
    """
    comma, colon = (",", ":") if compact else (", ", ": ")
    text = (
        '{{ $d := "" }}{{ $t := $s }}{{ $q := false }}{{ $p := "" }}{{ range len $s }}'
        "{{ if not $t }}{{ break }}{{ end }}{{ $c := slice $t 0 1 }}{{ $n := 1 }}"
        '{{ if $q }}{{ if eq $c "\\\\" }}{{ $n = 2 }}{{ $c = slice $t 0 2 }}'
        '{{ if eq $c "\\\\u" }}{{ $n = 6 }}{{ $c = slice $t 0 6 }}'
    )
    for index, (escape, character) in enumerate(
        (("003c", "<"), ("003e", ">"), ("0026", "&"), ("2028", "\\u2028"), ("2029", "\\u2029"))
    ):
        word = "else if" if index else "if"
        text += f'{{{{ {word} eq $c "\\\\u{escape}" }}}}{{{{ $c = "{character}" }}}}'
    text += (
        '{{ end }}{{ end }}{{ else if eq $c "\\"" }}{{ $q = false }}'
        '{{ else }}{{ $b := printf "%.24s" $t }}{{ if eq (json $b) (print "\\"" $b "\\"") }}'
        "{{ $c = $b }}{{ $n = len $b }}{{ end }}{{ end }}"
        '{{ else if eq $c "\\"" }}{{ $q = true }}'
        f'{{{{ else if eq $c ":" }}}}{{{{ $c = "{colon}" }}}}'
    )
    if indent is None:
        text += f'{{{{ else if eq $c "," }}}}{{{{ $c = "{comma}" }}}}'
    else:
        step = " " * indent
        text = f'{{{{ $pad := "\\n{step * level}" }}}}' + text
        text += (
            '{{ else if eq $c "," }}{{ $c = print $c $pad }}'
            '{{ else if eq $c "{" "[" }}{{ $b := slice $t 0 2 }}{{ if eq $b "{}" "[]" }}{{ $c = $b }}{{ $n = 2 }}'  # noqa: E501
            f'{{{{ else }}}}{{{{ $pad = print $pad "{step}" }}}}{{{{ $c = print $c $pad }}}}{{{{ end }}}}'
            f'{{{{ else if eq $c "}}" "]" }}}}{{{{ $pad = slice $pad 0 (len (slice $pad {indent})) }}}}'
            "{{ $c = print $pad $c }}"
        )
    text += _NUMBERS
    return text + "{{ end }}{{ $d = print $d $c }}{{ $p = $c }}{{ $t = slice $t $n }}{{ end }}"


REPR = (
    '{{ $d := "" }}{{ $t := $s }}{{ $q := false }}{{ $p := "" }}{{ $x := "" }}{{ $y := "" }}'
    "{{ $one := false }}{{ $two := false }}"
    "{{ range len $s }}{{ if not $t }}{{ break }}{{ end }}"
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
    + _NUMBERS.replace("$c =", "$o =").replace("print $c ", "print $o ")
    + "{{ end }}{{ end }}{{ $d = print $d $o }}{{ $p = $c }}{{ $t = slice $t $n }}{{ end }}"
)
"""Go's JSON text as Python's repr."""


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

DEFINES = {
    "json": VALUE,
    "json string": STRING,
    "number": NUMBER,
    "repr": "{{ $s := json . }}"
    + REPR.replace('{{ $d := "" }}', "").replace("{{ $d = print $d $o }}", "{{ $o }}"),
}
"""The templates by name."""
USES: dict[str, tuple[str, ...]] = {
    "json": ("json string", "number"),
    "json string": (),
    "number": (),
    "repr": (),
}
"""The templates that each of them needs."""

ORDINARY = (
    "{{ $t := json . }}{{ $quoted := false }}{{ range len $t }}{{ if not $t }}{{ break }}{{ end }}"
    '{{ $n := 1 }}{{ $c := slice $t 0 1 }}{{ if $quoted }}{{ $b := printf "%.24s" $t }}'
    '{{ if eq (json $b) (print "\\"" $b "\\"") }}{{ $c = $b }}{{ $n = len $b }}'
    '{{ else if eq $c "\\"" }}{{ $quoted = false }}'
    '{{ else if eq $c "\\\\" }}{{ $n = 2 }}{{ $c = slice $t 0 2 }}'
    '{{ if eq $c "\\\\u" }}{{ $n = 6 }}{{ $c = slice $t 0 6 }}{{ if eq $c "\\\\u003c" }}{{ $c = "<" }}'
    '{{ else if eq $c "\\\\u003e" }}{{ $c = ">" }}{{ else if eq $c "\\\\u0026" }}{{ $c = "&" }}{{ end }}{{ end }}'  # noqa: E501
    "{{ end }}"
    '{{ else if eq $c "\\"" }}{{ $quoted = true }}{{ else if eq $c "," ":" }}{{ $c = print $c " " }}{{ end }}'
    "{{ $c }}{{ $t = slice $t $n }}{{ end }}"
)
"""JSON as Python writes it, but for numbers and line separators that hardly occur; shorter than the whole."""


def _hexadecimal(change: Callable[[int], int]) -> str:
    """Return a table from the code of a hexadecimal digit to a number made of it."""
    values = {ord(f"{digit:x}"): change(digit) for digit in range(16)}
    return quote("".join(chr(values.get(code, 32)) for code in range(ord("f") + 1)))


ASCII = (
    '{{ $d := "" }}{{ $t := $s }}{{ range len $s }}{{ if not $t }}{{ break }}{{ end }}'
    '{{ $b := printf "%.24s" $t }}'
    # Go quotes with backquotes what has no DEL in it, and no backquote.
    '{{ if and (eq (len (printf "%24s" $b)) 24) (eq (slice (printf "%#q" $b) 0 1) "`") }}'
    "{{ $t = slice $t (len $b) }}"
    '{{ else }}{{ $b = printf "%.1s" $t }}{{ $t = slice $t (len $b) }}{{ if gt (len $b) 1 }}'
    '{{ $q := printf "%+q" $b }}{{ if eq (len $q) 8 }}{{ $b = slice $q 1 7 }}'
    '{{ else if eq (slice $q 5 7) "01" }}'
    f'{{{{ $n := len (printf "%*s%*s" (index {_hexadecimal(lambda x: (x & 3) << 2)} (index $q 7)) ""'
    f' (index {_hexadecimal(lambda x: x >> 2)} (index $q 8)) "") }}}}'
    f'{{{{ $b = printf "\\\\ud8%x%x\\\\ud%x%s" (index {_hexadecimal(lambda x: x >> 2)} (index $q 7)) $n'
    f" (index {_hexadecimal(lambda x: 12 + (x & 3))} (index $q 8)) (slice $q 9 11) }}}}"
    '{{ else }}{{ template "not converted: a character beyond U+1FFFF as ASCII" $b }}{{ end }}'
    '{{ else if eq $b "\\x7f" }}{{ $b = "\\\\u007f" }}{{ end }}{{ end }}'
    "{{ $d = print $d $b }}{{ end }}"
)
"""JSON text with every other character escaped, those of four bytes as two surrogates."""
