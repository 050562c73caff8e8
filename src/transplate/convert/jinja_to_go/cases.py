"""Capital and small letters in Go, which has no function for them: the statements that compute them.

In each, ``$s`` is the text and ``$d`` the result. ASCII is a matter of adding 32 to a code; letters up to
U+058F (Latin, Greek, Cyrillic, Armenian) are looked up; those from U+1E00 to U+1EFF, Vietnamese among them,
are next to each other, the capital one first. Another letter stops the template, as do the few that become
several letters or depend on their neighbours.
"""

from __future__ import annotations

from functools import lru_cache

from transplate.gotmpl.quoting import quote

_END = 0x590
_STOP = '{{ template "not converted: the case of this letter" $c }}'
_NO_LETTERS = " ".join(
    f'(and (ge $c "\\U{first:08x}") (lt $c "\\U{end:08x}"))'
    for first, end in (
        (0x590, 0x10A0),
        (0x1100, 0x13A0),
        (0x1FFD, 0x2126),
        (0x2190, 0x24B6),
        (0x2500, 0x2C00),
        (0x2E80, 0xA640),
        (0xABC0, 0xFB00),
        (0xFE00, 0xFF20),
        (0xFF5B, 0x10400),
        (0x10D90, 0x118A0),
        (0x16F00, 0x1E900),
    )
)
_NO_LETTERS += ' (ge $c "\\U0001e960")'
"""What has neither: the scripts without them, punctuation, symbols and emoji."""


@lru_cache
def _letters() -> tuple[str, int, int]:
    """Return pairs of a capital and a small letter of two bytes, and how many are so in one direction only.

    First are those of which the capital is not the small one's, and last those of which the small one is not
    the capital's.
    """
    pairs = {(letter, letter.lower()) for letter in _TWO_BYTES if letter != letter.lower()}
    others = {(letter.upper(), letter) for letter in _TWO_BYTES if letter != letter.upper()}
    first, both, last = (
        sorted(pair for pair in found if all(len(letter.encode()) == 2 for letter in pair))
        for found in (pairs - others, pairs & others, others - pairs)
    )
    return "".join("".join(pair) for pair in (*first, *both, *last)), len(first), len(last)


_SPECIAL = {True: {"İ": "i̇"}, False: {"ß": "SS"}}
"""Letters that become two."""
_TWO_BYTES = [chr(code) for code in range(0x80, _END)]


@lru_cache
def _other_letters(*, lower: bool) -> str:
    """Return the letters of two bytes of which the other is no letter of two bytes."""
    changed = {letter: letter.lower() if lower else letter.upper() for letter in _TWO_BYTES}
    found = [
        letter
        for letter, other in changed.items()
        if len(other.encode()) != 2 and letter not in _SPECIAL[lower]
    ]
    return "".join(found) + ("Σ" if lower else "")


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
    pairs, only_lower, only_upper = _letters()
    here, there = (0, 2) if lower else (2, 0)
    count = len(pairs) // 2 - (only_upper if lower else only_lower)
    start = "" if lower else f"{{{{ $u = slice $u {4 * only_lower} }}}}"
    special = "".join(
        f"{{{{ else if eq $c {quote(letter)} }}}}{{{{ $c = {quote(other)} }}}}"
        for letter, other in _SPECIAL[lower].items()
    )
    return (
        f'{ascii_letters}{special}{_neighbour(lower=lower)}{{{{ else if gt $c "\\x7f" }}}}'
        f"{{{{ template {quote(_STOPPING[lower])} $c }}}}"
        f"{{{{ if lt $c {quote(chr(_END))} }}}}{{{{ $u := {quote(pairs)} }}}}{start}"
        f"{{{{ range {count} }}}}{{{{ if eq (slice $u {here} {here + 2}) $c }}}}"
        f"{{{{ $c = slice $u {there} {there + 2} }}}}"
        "{{ break }}{{ end }}{{ $u = slice $u 4 }}{{ end }}{{ end }}{{ end }}"
    )


def _is_in_pair(letter: str, digit: int) -> str:
    """Return the condition that a letter is the first or second of a pair from U+1E00 to U+1EFF.

    Of its three bytes the last tells which: U+1E00 ends in 0x80.
    """
    return (
        f'and (ge {letter} "\\u1e00") (lt {letter} "\\u1f00") '
        f'(or (lt {letter} "\\u1e96") (gt {letter} "\\u1e9f")) '
        f'(eq (slice (printf "%b" (index {letter} 2)) 7) "{digit}")'
    )


def _neighbour(*, lower: bool) -> str:
    """Return the branch for a letter whose other one is behind it, or in front of it.

    A letter of the bytes 0xE1, x and y has the code 64x + y - 4224; ``$x`` gets as long as 64x.
    """
    return (
        f"{{{{ else if {_is_in_pair('$c', 0 if lower else 1)} }}}}"
        '{{ $x := printf "%*s" (index $c 1) "" }}{{ range 3 }}{{ $x = print $x $x $x $x }}{{ end }}'
        '{{ $c = printf "%c" (len (slice (printf "%s%*s" $x (index $c 2) "") '
        f"{4223 if lower else 4225})) }}}}"
    )


_STOPPING = {True: "stop without a small letter", False: "stop without a capital letter"}


def _stops(*, lower: bool) -> str:
    """Return the template that stops at a letter of which the other is not known."""
    found = " ".join(quote(letter) for letter in _other_letters(lower=lower))
    ligatures = ' (and (ge . "\\ufb00") (lt . "\\ufb18"))' if lower else ""
    others = _NO_LETTERS.replace("$c", ".")
    return (
        f"{{{{ if or (eq . {found}) (not (or (lt . {quote(chr(_END))}) {others}{ligatures} "
        f"({_is_in_pair('.', 1 if lower else 0)}))) }}}}"
        f"{_STOP.replace('$c', '.')}{{{{ end }}}}"
    )


DEFINES = {name: _stops(lower=lower) for lower, name in _STOPPING.items()}
"""The templates that these statements call, by name."""


_EACH = (
    '{{ $d := "" }}{{ $t := $s }}{{ range len $s }}{{ if not $t }}{{ break }}{{ end }}'
    '{{ $c := printf "%.1s" $t }}{{ $t = slice $t (len $c) }}'
)


def change_case(*, lower: bool, is_ascii: bool) -> str:
    """Return ``lower()`` or ``upper()``."""
    return f"{_EACH}{_change(lower=lower, is_ascii=is_ascii)}{{{{ $d = print $d $c }}}}{{{{ end }}}}"


def capital(*, is_ascii: bool) -> str:
    """Return ``upper()`` of one character, or none."""
    return "{{ $d := $s }}" + _change(lower=False, is_ascii=is_ascii).replace("$c", "$d")


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
