"""Python's string methods in Go: the statements that compute them, checked against Python in real Ollama.

In each, ``$s`` is the text and ``$d`` the result. Go's templates count bytes in ``len`` and ``slice`` and
characters in the precision of ``%s``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from transplate.gotmpl.quoting import quote

ASCII_SPACES = ("\t", "\n", "\v", "\f", "\r", "\x1c", "\x1d", "\x1e", "\x1f", " ")
_SPACES_2 = ("\x85", "\xa0")
_SPACES_3 = ("\u1680", *map(chr, range(0x2000, 0x200B)), "\u2028", "\u2029", "\u202f", "\u205f", "\u3000")
SPACES = (*ASCII_SPACES, *_SPACES_2, *_SPACES_3)
"""What Python's ``strip`` cuts off, and what of it is ASCII."""


def _words(characters: Iterable[str]) -> str:
    return " ".join(quote(character) for character in characters)


_SHORTEST_SHARED = 5
"""Bytes of a constant that is looked for with others: a shorter one would make steps short."""


def left_strip(characters: str | None, *, ascii_only: bool) -> str:
    """Return ``lstrip``; white space if ``characters`` is None."""
    found = characters if characters is not None else ASCII_SPACES if ascii_only else SPACES
    is_ascii = all(character.isascii() for character in found)
    other = f"ne $c {_words(found)}" if len(found) == 1 else f"not (eq $c {_words(found)})"
    strip = (
        f'{{{{ range len $s }}}}{{{{ $c := printf "%.1s" $d }}}}'
        f"{{{{ if {other} }}}}{{{{ break }}}}{{{{ end }}}}"
        f"{{{{ $d = slice $d {'1' if is_ascii else '(len $c)'} }}}}{{{{ end }}}}"
    )
    if characters is None:
        strip = f"{{{{ if {_may_be_space('$s', ascii_only=ascii_only)} }}}}{strip}{{{{ end }}}}"
    return f"{{{{ $d := $s }}}}{strip}"


def _may_be_space(text: str, *, ascii_only: bool) -> str:
    """Return whether a text may begin with white space, or is empty; that takes less than to look for it."""
    return f'lt {text} "!"' if ascii_only else f'or (lt {text} "!") (ge {text} "\\x7f")'


def right_strip(characters: str | None, *, ascii_only: bool) -> str:
    """Return ``rstrip``; white space if ``characters`` is None."""
    if characters is None:
        groups = (ASCII_SPACES,) if ascii_only else (ASCII_SPACES, _SPACES_2, _SPACES_3)
        strip = _right_strip(dict(enumerate(groups, 1)))
        last = "slice $s (len (slice $s 1))"
        end, kept = (f"({last})", "") if ascii_only else ("$e", f"{{{{ $e := {last} }}}}")
        return (
            f"{{{{ $d := $s }}}}{{{{ if $s }}}}{kept}"
            f"{{{{ if {_may_be_space(end, ascii_only=ascii_only)} }}}}{strip}{{{{ end }}}}{{{{ end }}}}"
        )
    by_length: dict[int, list[str]] = {}
    for character in characters:
        by_length.setdefault(len(character.encode()), []).append(character)
    return f"{{{{ $d := $s }}}}{_right_strip({length: tuple(found) for length, found in by_length.items()})}"


def _right_strip(by_length: Mapping[int, tuple[str, ...]]) -> str:
    """Return a loop that cuts characters, by how many bytes they have, from the end."""
    if set(by_length) == {1}:  # each round cuts a byte, so that none begins without one
        words = _words(by_length[1])
        other = f"ne (slice $d $k) {words}" if len(by_length[1]) == 1 else f"not (eq (slice $d $k) {words})"
        return (
            "{{ range len $s }}{{ $k := len (slice $d 1) }}"
            f"{{{{ if {other} }}}}{{{{ break }}}}{{{{ end }}}}{{{{ $d = slice $d 0 $k }}}}{{{{ end }}}}"
        )
    words = _words([one for _, found in sorted(by_length.items()) for one in found])
    return (
        "{{ range len $s }}{{ $n := len $d }}"
        f"{{{{ range $i := {1 + max(by_length)} }}}}{{{{ if and $i (ge (len $d) $i) }}}}"
        f"{{{{ $k := len (slice $d $i) }}}}{{{{ if eq (slice $d $k) {words} }}}}"
        "{{ $d = slice $d 0 $k }}{{ break }}{{ end }}{{ end }}{{ end }}"
        "{{ if eq $n (len $d) }}{{ break }}{{ end }}{{ end }}"
    )


_CLEAN = {
    **dict.fromkeys("<>&", ("(json {0})", '(printf "%q" {0})')),
    **dict.fromkeys("\n`\0", ('(printf "%#q" {0})', '(print "`" {0} "`")')),
}
"""Two forms of a text that are equal only where a character is not in it: Go's own quoting leaves what JSON
escapes for HTML, and has no line ends and NULs between backquotes."""


_NOT_FOUND = '{{ $t := "" }}{{ $d := false }}'
_HAS_BRACKETS = (
    '{{ $h := html (printf "%q" $s) }}{{ if ne (len (print $h $h)) (len (printf "%q%s" $s (html $h))) }}'
)
"""Whether ``<`` or ``>`` is in a text, however long it is.

What ``html`` escapes becomes four characters longer, but three if it is one of them; escaped once more all
of it becomes four longer, for it begins with ``&`` now. So both add the same only where neither of them is
there. NULs would spoil the sum; quoted, there are none.
"""


def find(part: str | None, *, is_likely: bool = False) -> str:
    """Return whether a constant, or ``$p``, is in the text as ``$d``, and the text from there as ``$t``.

    Where nothing is found ``$t`` is of no use. What is likely to be there is looked for without more ado.
    """
    if part is None:
        return find_any()
    search = _first(part, is_likely=is_likely)
    return _NOT_FOUND + (search if is_likely else _unless_clean([part], search))


def find_next(part: str | None) -> str:
    """Return what ``find`` does, for what may well be there more than once."""
    if part is None:
        return find_any()
    search = _first(part, is_likely=True)
    return _NOT_FOUND + (_unless_clean([part], search) if _has_brackets(part) else search)


def _first(part: str, *, is_likely: bool) -> str:
    search, behind = _search([part], is_likely=is_likely)
    return (
        f"{search}{{{{ $d = gt (len $t) {behind} }}}}"
        f"{{{{ if $d }}}}{{{{ $t = slice $t 0 (len (slice $t {behind})) }}}}{{{{ end }}}}"
    )


def _has_brackets(part: str) -> bool:
    return "<" in part or ">" in part


def from_any(parts: Sequence[str]) -> str:
    """Return the text from the first place of any of some constants on; it is empty where there is none."""
    search, behind = _search(parts)
    cut = f"{{{{ if gt (len $t) {behind} }}}}{{{{ $d = slice $t 0 (len (slice $t {behind})) }}}}{{{{ end }}}}"
    whole = _unless_clean(parts, f'{{{{ $t := "" }}}}{search}{cut}')
    return f'{{{{ $d := "" }}}}{whole}'


def has_any(parts: Sequence[str]) -> str:
    """Return whether any of some constants is in the text as ``$d``."""
    search, behind = _search(parts)
    whole = _unless_clean(parts, f'{{{{ $t := "" }}}}{search}{{{{ $d = gt (len $t) {behind} }}}}')
    return f"{{{{ $d := false }}}}{whole}"


def sort_of(part: str | None) -> str | None:
    """Return which constants may be looked for together with one; None if it is best looked for alone."""
    if part is None or len(part.encode()) < _SHORTEST_SHARED:
        return None
    forms = _CLEAN.get(part[0])
    return "" if forms is None else forms[0]


def _unless_clean(parts: Sequence[str], search: str) -> str:
    """Return a search that is only done in texts that may have one of some constants."""
    if all(map(_has_brackets, parts)):
        return f"{_HAS_BRACKETS}{search}{{{{ end }}}}"
    clean = _clean_of(parts)
    if clean is None:
        return search
    return f"{{{{ if ne {' '.join(form.format('$s') for form in clean)} }}}}{search}{{{{ end }}}}"


def _clean_of(parts: Sequence[str]) -> tuple[str, str] | None:
    forms = {_CLEAN.get(part[0]) for part in parts}
    return forms.pop() if len(forms) == 1 else None


def _search(parts: Sequence[str], *, is_likely: bool = False) -> tuple[str, int]:
    """Return a search for constants, and how many bytes stand behind what it finds.

    ``$t`` is the text from the first place on, or what stands behind the text. A match covers a window of a
    few bytes in every stretch of its length, so one such window is compared with all pieces of the constants
    at once, and only a hit is looked at byte by byte. Behind the text stands a constant, so that no end has
    to be minded. Where the constants begin with a character that a whole text can be asked for, stretches
    without it are left out.
    """
    wholes = [part.encode() for part in parts]
    width = min(3, *map(len, wholes))
    stride = min(len(whole) - width + 1 for whole in wholes)
    pieces = list(dict.fromkeys(whole[at : at + width] for whole in wholes for at in range(stride)))
    words = " ".join(map(_quoted, pieces))
    windows = 12 if stride == 1 else max(1, min(3, (12 if is_likely else 20) // stride))
    slices = [f"(slice $w {at} {at + width})" for at in range(stride - 1, windows * stride, stride)]
    tests = (
        [f"eq {words} {' '.join(slices)}"] if len(pieces) == 1 else [f"eq {one} {words}" for one in slices]
    )
    test = tests[0] if len(tests) == 1 else f"or {' '.join(f'({one})' for one in tests)}"
    step = windows * stride
    by_size: dict[int, list[str]] = {}
    for part, whole in zip(parts, wholes, strict=True):
        by_size.setdefault(len(whole), []).append(part)
    matches = [f"eq (slice (slice $w $i) 0 {size}) {_words(tuple(same))}" for size, same in by_size.items()]
    match = matches[0] if len(matches) == 1 else f"or {' '.join(f'({one})' for one in matches)}"
    look = (
        f"{{{{ if {test} }}}}{{{{ range $i := {step} }}}}{{{{ if {match} }}}}"
        "{{ $t = slice $w $i }}{{ break }}{{ end }}{{ end }}"
        "{{ if $t }}{{ break }}{{ end }}{{ end }}"
        f"{{{{ $w = slice $w {step} }}}}"
    )
    clean = None if is_likely else _clean_of(parts)
    rounds = 1 if clean is None else -(-(24 if stride == 1 else 48) // step)
    if clean is not None:
        stretch = f'{{{{ $c := printf "%.{rounds * step}s" $w }}}}'
        same = " ".join(form.format("$c") for form in clean)
        look = (
            f"{stretch}{{{{ if eq {same} }}}}{{{{ $w = slice $w (len $c) }}}}{{{{ continue }}}}{{{{ end }}}}"
            f"{{{{ range {rounds} }}}}{look}{{{{ end }}}}{{{{ if $t }}}}{{{{ break }}}}{{{{ end }}}}"
        )
    # What stands between the text and the constant must not look like a part of one.
    others = map(chr, (*range(0x26, 0x7F), *range(0xA1, 0xD800)))
    between = next(one for one in others if one not in "".join(parts))
    tail = rounds * step + max(map(len, wholes))
    end = quote("%s" + between + parts[0].replace("%", "%%") + f"%{tail}s")
    search = f'{{{{ $w := printf {end} $s "" }}}}{{{{ range len $w }}}}{look}{{{{ end }}}}'
    return search, len((between + parts[0]).encode()) + tail


def _quoted(piece: bytes) -> str:
    """Return a constant, which need not be whole characters."""
    try:
        return quote(piece.decode())
    except UnicodeDecodeError:
        return '"' + "".join(f"\\x{byte:02x}" for byte in piece) + '"'


def find_by_byte(part: str | None) -> str:
    """Return what ``find`` does, in few words, for a short text."""
    size = _length(part)
    return (
        "{{ $t := $s }}{{ $d := false }}{{ range len $s }}"
        f"{{{{ if lt (len $t) {size} }}}}{{{{ break }}}}{{{{ end }}}}"
        f"{{{{ if eq (slice $t 0 {size}) {'$p' if part is None else quote(part)} }}}}"
        "{{ $d = true }}{{ break }}{{ end }}{{ $t = slice $t 1 }}{{ end }}"
    )


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


def replace(old: str | None, new: str | None, *, is_likely: bool = False) -> str:
    """Return ``replace(old, new)``; ``$p`` and ``$q`` where they are not known."""
    length = _length(old)
    put = "$q" if new is None else quote(new)
    inner = find(old, is_likely=is_likely).replace("$s", "$r").replace("$d", "$f")
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

PARITY = '{{ $d := 0 }}{{ if eq (slice (printf "%064b" $s) 63) "1" }}{{ $d = 1 }}{{ end }}'
"""What is left of a whole number divided by two: its last binary digit."""

NUMBER = (
    '{{ $n := "" }}{{ $t := $s }}{{ range len $s }}{{ $c := slice $t 0 1 }}{{ $t = slice $t 1 }}'
    '{{ if or (lt $c "0") (gt $c "9") (gt (len $n) 99999) }}'
    '{{ template "not converted: the number in this text" $s }}{{ end }}'
    '{{ $n = print $n $n $n $n $n $n $n $n $n $n (slice (printf "%*s" (index $c 0) "") 48) }}{{ end }}'
    "{{ $d := len $n }}"
)
"""A whole number of up to seven digits in a text; where Jinja would look for another, the template stops."""
