"""Capital and small letters in Go, which has no function for them: the statements that compute them.

In each, ``$s`` is the text and ``$d`` the result. ASCII is a matter of adding 32 to a code; letters up to
U+052F (Latin, Greek, Cyrillic) are looked up; a letter behind that stops the template, as do the few that
become several letters or depend on their neighbours.
"""

from __future__ import annotations

from functools import lru_cache

from transplate.gotmpl.quoting import quote

_END = 0x530
_STOP = '{{ template "not converted: the case of this letter" $c }}'
_NO_LETTERS = " ".join(
    f'(and (ge $c "\\u{first:04x}") (lt $c "\\u{end:04x}"))'
    for first, end in (
        (0x590, 0x10A0),
        (0x1100, 0x13A0),
        (0x1FFD, 0x2126),
        (0x2190, 0x24B6),
        (0x2500, 0x2C00),
        (0x2E80, 0xA640),
        (0xABC0, 0xFB00),
        (0xFE00, 0xFF20),
        (0xFF5B, 0xFFFE),
    )
)
_NO_LETTERS += ' (ge $c "\\U0001f000")'
"""What has neither: the scripts without them, punctuation, symbols and emoji."""


@lru_cache
def _pairs(*, lower: bool) -> tuple[str, str]:
    """Return the letters of two bytes with what becomes of them, and those for which it is no two bytes."""
    pairs, others = "", ""
    for code in range(0x80, _END):
        letter = chr(code)
        changed = letter.lower() if lower else letter.upper()
        if letter == "ß" or letter == "Σ":
            continue
        if len(changed.encode()) == 2:
            pairs += letter + changed if changed != letter else ""
        else:
            others += letter
    return pairs, others


def _change(*, lower: bool, is_ascii: bool) -> str:
    """Return the statements that change one character, ``$c``."""
    first, last, shift = (
        ("A", "Z", '(printf "%*s%32s" (index $c 0) "" "")')
        if lower
        else ("a", "z", '(slice (printf "%*s" (index $c 0) "") 32)')
    )
    ascii_letters = (
        f'{{{{ if and (ge $c "{first}") (le $c "{last}") }}}}{{{{ $c = printf "%c" (len {shift}) }}}}'
    )
    if is_ascii:
        return ascii_letters + "{{ end }}"
    pairs, others = _pairs(lower=lower)
    if lower:
        others += "Σ"
        special = ""
    else:
        special = '{{ else if eq $c "ß" }}{{ $c = "SS" }}'
    found = " ".join(quote(letter) for letter in others)
    ligatures = ' (and (ge $c "\\ufb00") (lt $c "\\ufb18"))' if lower else ""
    return (
        f"{ascii_letters}{special}{{{{ else if eq $c {found} }}}}{_STOP}"
        f'{{{{ else if and (gt $c "\\x7f") (lt $c {quote(chr(_END))}) }}}}{{{{ $u := {quote(pairs)} }}}}'
        f"{{{{ range {len(pairs) // 2} }}}}{{{{ if eq (slice $u 0 2) $c }}}}{{{{ $c = slice $u 2 4 }}}}"
        "{{ break }}{{ end }}{{ $u = slice $u 4 }}{{ end }}"
        f'{{{{ else if not (or (lt $c "\\x80") {_NO_LETTERS}{ligatures}) }}}}{_STOP}{{{{ end }}}}'
    )


_EACH = (
    '{{ $d := "" }}{{ $t := $s }}{{ range len $s }}{{ if not $t }}{{ break }}{{ end }}'
    '{{ $c := printf "%.1s" $t }}{{ $t = slice $t (len $c) }}'
)


def change_case(*, lower: bool, is_ascii: bool) -> str:
    """Return ``lower()`` or ``upper()``."""
    return f"{_EACH}{_change(lower=lower, is_ascii=is_ascii)}{{{{ $d = print $d $c }}}}{{{{ end }}}}"


def title(*, is_ascii: bool) -> str:
    """Return Jinja's ``|title``: a capital behind white space and ``-({[<``, small letters elsewhere."""
    spaces = (*"-({[< \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680", *map(chr, range(0x2000, 0x200B)))
    begins = " ".join(quote(c) for c in (*spaces, "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"))
    return (
        _EACH.replace("{{ range", "{{ $inside := false }}{{ range", 1)
        + f"{{{{ $starts := eq $c {begins} }}}}{{{{ if $inside }}}}"
        + _change(lower=True, is_ascii=is_ascii)
        + "{{ else }}"
        + _change(lower=False, is_ascii=is_ascii)
        + "{{ end }}{{ $inside = not $starts }}{{ $d = print $d $c }}{{ end }}"
    )


TITLE = (
    _EACH.replace("{{ range", "{{ $inside := false }}{{ range", 1)
    + "{{ if gt (len $c) 1 }}"
    + _STOP
    + "{{ end }}{{ $b := $c }}{{ if $inside }}"
    + _change(lower=True, is_ascii=True)
    + "{{ else }}"
    + _change(lower=False, is_ascii=True)
    + '{{ end }}{{ $inside = or (ne $b $c) (and (ge $c "A") (le $c "Z")) (and (ge $c "a") (le $c "z")) }}'
    "{{ $d = print $d $c }}{{ end }}"
)
"""Python's ``title()`` of ASCII text: a letter is a capital unless one stands in front of it."""

TITLECASE = (
    "{{ if eq $s "
    + " ".join(quote(letter) for letter in "ßǄǅǆǇǈǉǊǋǌǱǲǳ")
    + " }}"
    + _STOP.replace("$c", "$s")
    + "{{ end }}{{ $d := $s }}"
)
"""Stops at letters whose capital in front of small letters is another one."""
