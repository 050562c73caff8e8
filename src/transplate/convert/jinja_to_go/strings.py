"""Python's string methods in Go: the statements that compute them, checked against Python in real Ollama.

In each, ``$s`` is the text and ``$d`` the result. Go's templates count bytes in ``len`` and ``slice`` and
characters in the precision of ``%s``.
"""

from __future__ import annotations

from transplate.gotmpl.quoting import quote

_SPACES_1 = ("\t", "\n", "\v", "\f", "\r", "\x1c", "\x1d", "\x1e", "\x1f", " ")
_SPACES_2 = ("\x85", "\xa0")
_SPACES_3 = ("\u1680", *map(chr, range(0x2000, 0x200B)), "\u2028", "\u2029", "\u202f", "\u205f", "\u3000")
_ALL_SPACES = (*_SPACES_1, *_SPACES_2, *_SPACES_3)


def _words(characters: tuple[str, ...] | str) -> str:
    return " ".join(quote(character) for character in characters)


def left_strip(characters: str | None, *, ascii_only: bool) -> str:
    """Return ``lstrip``; white space if ``characters`` is None."""
    found = characters if characters is not None else _SPACES_1 if ascii_only else _ALL_SPACES
    hurry = ""
    if characters is None and not ascii_only:
        hurry = '{{ if and (gt $c " ") (lt $c "\\x7f") }}{{ break }}{{ end }}'
    is_ascii = all(character.isascii() for character in found)
    other = f"ne $c {_words(found)}" if len(found) == 1 else f"not (eq $c {_words(found)})"
    return (
        f'{{{{ $d := $s }}}}{{{{ range len $s }}}}{{{{ $c := printf "%.1s" $d }}}}{hurry}'
        f"{{{{ if {other} }}}}{{{{ break }}}}{{{{ end }}}}"
        f"{{{{ $d = slice $d {'1' if is_ascii else '(len $c)'} }}}}{{{{ end }}}}"
    )


def right_strip(characters: str | None, *, ascii_only: bool) -> str:
    """Return ``rstrip``; white space if ``characters`` is None."""
    by_length: dict[int, list[str]] = {}
    if characters is None:
        groups = (_SPACES_1,) if ascii_only else (_SPACES_1, _SPACES_2, _SPACES_3)
        by_length = {length: [*group] for length, group in enumerate(groups, 1)}
    else:
        for character in characters:
            by_length.setdefault(len(character.encode()), []).append(character)
    if set(by_length) == {1}:  # each round cuts a byte, so that none begins without one
        words = _words(tuple(by_length[1]))
        other = f"ne (slice $d $k) {words}" if len(by_length[1]) == 1 else f"not (eq (slice $d $k) {words})"
        return (
            "{{ $d := $s }}{{ range len $s }}{{ $k := len (slice $d 1) }}"
            f"{{{{ if {other} }}}}{{{{ break }}}}{{{{ end }}}}{{{{ $d = slice $d 0 $k }}}}{{{{ end }}}}"
        )
    text = "{{ $d := $s }}{{ range len $s }}{{ if not $d }}{{ break }}{{ end }}"
    if characters is None:
        text += '{{ $e := slice $d (len (slice $d 1)) }}{{ if and (gt $e " ") (lt $e "\\x7f") }}{{ break }}{{ end }}'  # noqa: E501
    for length, found in sorted(by_length.items()):
        there = "" if length == 1 else f"{{{{ if ge (len $d) {length} }}}}"
        text += (
            f"{there}{{{{ $k{length} := len (slice $d {length}) }}}}"
            f"{{{{ if eq (slice $d $k{length}) {_words(tuple(found))} }}}}"
            f"{{{{ $d = slice $d 0 $k{length} }}}}{{{{ continue }}}}{{{{ end }}}}"
            f"{'{{ end }}' if there else ''}"
        )
    return f"{text}{{{{ break }}}}{{{{ end }}}}"


def find(part: str | None) -> str:
    """Return whether a constant, or ``$p``, is in the text as ``$d``, and the text from there as ``$t``.

    A match covers a window of a few bytes in every stretch of its length, so one such window is compared with
    all pieces of the constant at once, and only a hit is looked at byte by byte. Behind the text is space,
    or another filling if the constant has spaces, so that no end has to be minded.
    """
    if part is None:
        return find_any()
    whole = part.encode()
    size = len(whole)
    width = min(3, size)
    stride = size - width + 1
    windows = max(1, 12 // stride) if stride > 1 else 12
    pieces = [whole[at : at + width] for at in range(stride)]
    try:
        words = " ".join(dict.fromkeys(quote(piece.decode()) for piece in pieces))
    except UnicodeDecodeError:  # pieces of characters
        pieces, stride, width, windows = [whole], 1, size, 8
        words = quote(part)
    places = [round_ * stride + stride - 1 for round_ in range(windows)]
    if len(pieces) == 1:
        slices = " ".join(f"(slice $w {at} {at + width})" for at in places)
        test = f"eq {words} {slices}"
    else:
        tests = [f"eq (slice $w {at} {at + width}) {words}" for at in places]
        test = tests[0] if len(tests) == 1 else f"or {' '.join(f'({one})' for one in tests)}"
    step = windows * stride
    padding = step + size
    if " " in part:  # what is behind the text must not look like a part of the constant
        filler = next((letter for letter in map(chr, range(0x23, 0x7F)) if letter not in part), "\0")
        padded = f"print $s {quote(filler * padding)}"
    else:
        padded = f'printf "%s%{padding}s" $s ""'
    search = (
        f"{{{{ $w := {padded} }}}}{{{{ range len $w }}}}"
        f"{{{{ if lt (len $w) {padding} }}}}{{{{ break }}}}{{{{ end }}}}{{{{ if {test} }}}}"
        f"{{{{ range $i := {step} }}}}{{{{ if eq (slice (slice $w $i) 0 {size}) {quote(part)} }}}}"
        "{{ $d = true }}{{ $t = slice $w $i }}{{ break }}{{ end }}{{ end }}"
        "{{ if $d }}{{ break }}{{ end }}{{ end }}"
        f"{{{{ $w = slice $w {step} }}}}{{{{ end }}}}"
        f"{{{{ if $d }}}}{{{{ $t = slice $t 0 (len (slice $t {padding})) }}}}{{{{ end }}}}"
    )
    if part[0] in "<>&":  # JSON and Go's own quoting agree of a text without them
        search = f'{{{{ if ne (json $s) (printf "%q" $s) }}}}{search}{{{{ end }}}}'
    return f"{{{{ $t := $s }}}}{{{{ $d := false }}}}{search}"


def find_any() -> str:
    """Return whether ``$p`` is in the text."""
    return (
        "{{ $t := $s }}{{ $d := not $p }}{{ range len $s }}"
        "{{ if or $d (lt (len $t) (len $p)) }}{{ break }}{{ end }}"
        "{{ if eq (slice $t 0 (len $p)) $p }}{{ $d = true }}{{ break }}{{ end }}"
        "{{ $t = slice $t 1 }}{{ end }}"
    )


def _length(part: str | None) -> str:
    return "(len $p)" if part is None else str(len(part.encode()))


def before_last(part: str | None) -> str:
    """Return ``rsplit(part, 1)[0]``."""
    inner = after_last(part).replace("$d", "$e")
    return (
        f"{inner}{{{{ $d := $s }}}}{{{{ if ne (len $e) (len $s) }}}}"
        f"{{{{ $d = slice $s 0 (len (slice (slice $s {_length(part)}) (len $e))) }}}}{{{{ end }}}}"
    )


def place(part: str | None) -> str:
    """Return one more than ``find(part)``."""
    inner = find(part).replace("$d", "$f")
    return (
        f'{inner}{{{{ $h := "" }}}}'
        "{{ if $f }}{{ $h = slice $s 0 (len (slice $s (len $t))) }}{{ end }}"
        + LENGTH.replace("$d", "$l").replace("$s", "$h").replace("$t", "$u").replace("$b", "$c")
        + '{{ $d := 0 }}{{ if $f }}{{ $d = len (printf "%*s " $l "") }}{{ end }}'
    )


def before(part: str | None) -> str:
    """Return ``split(part)[0]``."""
    inner = find(part).replace("$d", "$f")
    return f"{inner}{{{{ $d := $s }}}}{{{{ if $f }}}}{{{{ $d = slice $s 0 (len (slice $s (len $t))) }}}}{{{{ end }}}}"  # noqa: E501


def after_last(part: str | None) -> str:
    """Return ``split(part)[-1]``: find on, from match to match."""
    length = _length(part)
    inner = find(part).replace("$s", "$r").replace("$d", "$f")
    return (
        "{{ $d := $s }}{{ $r := $s }}{{ range len $s }}"
        f"{inner}{{{{ if not $f }}}}{{{{ break }}}}{{{{ end }}}}"
        f"{{{{ $r = slice $t {length} }}}}{{{{ $d = $r }}}}{{{{ end }}}}"
    )


def after_first(part: str | None) -> str:
    """Return all behind the first match, and whether there is one as ``$f``."""
    length = _length(part)
    inner = find(part).replace("$d", "$f")
    return f'{inner}{{{{ $d := "" }}}}{{{{ if $f }}}}{{{{ $d = slice $t {length} }}}}{{{{ end }}}}'


def replace(old: str | None, new: str | None) -> str:
    """Return ``replace(old, new)``; ``$p`` and ``$q`` where they are not known."""
    length = _length(old)
    put = "$q" if new is None else quote(new)
    inner = find(old).replace("$s", "$r").replace("$d", "$f")
    return (
        '{{ $d := "" }}{{ $r := $s }}{{ range len $s }}'
        f"{inner}{{{{ if not $f }}}}{{{{ break }}}}{{{{ end }}}}"
        f"{{{{ $d = print $d (slice $r 0 (len (slice $r (len $t)))) {put} }}}}"
        f"{{{{ $r = slice $t {length} }}}}{{{{ end }}}}{{{{ $d = print $d $r }}}}"
    )


def escaped() -> str:
    """Return the text escaped for HTML; Go's ``html`` makes U+FFFD of a NUL, which Python leaves."""
    inner = find("\0").replace("$s", "$r").replace("$d", "$f")
    return (
        '{{ $d := "" }}{{ $r := $s }}{{ range len $s }}'
        f"{inner}{{{{ if not $f }}}}{{{{ break }}}}{{{{ end }}}}"
        '{{ $d = print $d (html (slice $r 0 (len (slice $r (len $t))))) "\\x00" }}'
        "{{ $r = slice $t 1 }}{{ end }}"
        "{{ $d = print $d (html $r) }}"
    )


def equal_json() -> str:
    """Return whether two JSON values are equal, as their JSON is, but for numbers and booleans.

    Of lists and dicts that differ and have true, false or -0 in them it is not known.
    """
    unknown = "".join(
        find(word).replace("$d", "$f")
        + '{{ if $f }}{{ template "not converted: whether these lists or dicts are equal" $s }}{{ end }}'
        for word in ("true", "false", "-0")
    )
    return (
        "{{ $d := eq (json $a) (json $b) }}{{ if not $d }}"
        '{{ $m := printf "%T" $a }}{{ $n := printf "%T" $b }}'
        '{{ if and (eq $m "float64") (eq $n "float64") }}{{ $d = eq $a $b }}'
        '{{ else if and (eq $m "bool") (eq $n "float64") }}'
        "{{ $d = eq $b 0.0 }}{{ if $a }}{{ $d = eq $b 1.0 }}{{ end }}"
        '{{ else if and (eq $m "float64") (eq $n "bool") }}'
        "{{ $d = eq $a 0.0 }}{{ if $b }}{{ $d = eq $a 1.0 }}{{ end }}"
        '{{ else if and (eq $m $n) (eq $m "[]interface {}" "map[string]interface {}") }}'
        f'{{{{ $s := print (json $a) " " (json $b) }}}}{unknown}{{{{ end }}}}{{{{ end }}}}'
    )


LENGTH = (
    '{{ $n := "" }}{{ $t := $s }}{{ range len $s }}{{ if not $t }}{{ break }}{{ end }}'
    '{{ $b := printf "%.4000s" $t }}{{ $w := printf "%*s" (len $b) $b }}'
    "{{ $n = print $n (slice $b (len (slice $w (len $b)))) }}"
    "{{ $t = slice $t (len $b) }}{{ end }}{{ $d := len $n }}"
)
"""Characters of a text: padding it to its length in bytes adds a space for each byte that is no character."""

NUMBER = (
    '{{ $n := "" }}{{ $t := $s }}{{ range len $s }}{{ $c := slice $t 0 1 }}{{ $t = slice $t 1 }}'
    '{{ if or (lt $c "0") (gt $c "9") (gt (len $n) 99999) }}'
    '{{ template "not converted: the number in this text" $s }}{{ end }}'
    '{{ $n = print $n $n $n $n $n $n $n $n $n $n (slice (printf "%*s" (index $c 0) "") 48) }}{{ end }}'
    "{{ $d := len $n }}"
)
"""A whole number of up to seven digits in a text; where Jinja would look for another, the template stops."""
