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
    return (
        '{{ $d := $s }}{{ range len $s }}{{ $c := printf "%.1s" $d }}'
        f"{hurry}{{{{ if eq $c {_words(found)} }}}}{{{{ $d = slice $d (len $c) }}}}{{{{ else }}}}{{{{ break }}}}"  # noqa: E501
        "{{ end }}{{ end }}"
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
    text = "{{ $d := $s }}{{ range len $s }}{{ if not $d }}{{ break }}{{ end }}"
    hurry = characters is None and not ascii_only
    if hurry:
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
    """Return whether a constant, or ``$p``, is in the text as ``$d``, and the text from there as ``$t``."""
    if part is None:
        return find_any()
    length = len(part.encode())
    step = (
        f"{{{{ if or $d (lt (len $t) {length}) }}}}{{{{ break }}}}{{{{ end }}}}"
        f"{{{{ if eq (slice $t 0 {length}) {quote(part)} }}}}{{{{ $d = true }}}}{{{{ break }}}}{{{{ end }}}}"
        "{{ $t = slice $t 1 }}"
    )
    if part[0] not in "<>&" or length < 2:
        return f"{{{{ $t := $s }}}}{{{{ $d := false }}}}{{{{ range len $s }}}}{step}{{{{ end }}}}"
    # A block of which JSON and Go's own quoting agree has none of < > & and is passed over whole.
    stop = f"{{{{ if or $d (lt (len $t) {length}) }}}}{{{{ break }}}}{{{{ end }}}}"
    exact = (
        f"{stop}{{{{ if eq (slice $t 0 {length}) {quote(part)} }}}}{{{{ $d = true }}}}{{{{ break }}}}{{{{ end }}}}"  # noqa: E501
        '{{ $t = slice $t (len (printf "%.1s" $t)) }}'
    )

    def blocks(size: int, inner: str, times: int) -> str:
        return (
            f'{stop}{{{{ $b{size} := printf "%.{size}s" $t }}}}'
            f'{{{{ if eq (json $b{size}) (printf "%q" $b{size}) }}}}{{{{ $t = slice $t (len $b{size}) }}}}'
            f"{{{{ else }}}}{{{{ range {times} }}}}{inner}{{{{ end }}}}{{{{ end }}}}"
        )

    galloping = blocks(512, blocks(32, exact, 32), 16)
    return (
        "{{ $t := $s }}{{ $d := false }}"
        '{{ if ne (json $s) (printf "%q" $s) }}'
        f"{{{{ range len $s }}}}{galloping}{{{{ end }}}}"
        "{{ end }}"
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


def find_any() -> str:
    """Return whether ``$p`` is in the text."""
    return (
        "{{ $t := $s }}{{ $d := not $p }}{{ range len $s }}"
        "{{ if or $d (lt (len $t) (len $p)) }}{{ break }}{{ end }}"
        "{{ if eq (slice $t 0 (len $p)) $p }}{{ $d = true }}{{ break }}{{ end }}"
        "{{ $t = slice $t 1 }}{{ end }}"
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


LENGTH = (
    '{{ $n := "" }}{{ $t := $s }}{{ range len $s }}{{ if not $t }}{{ break }}{{ end }}'
    '{{ $b := printf "%.4000s" $t }}{{ $w := printf "%*s" (len $b) $b }}'
    "{{ $n = print $n (slice $b (len (slice $w (len $b)))) }}"
    "{{ $t = slice $t (len $b) }}{{ end }}{{ $d := len $n }}"
)
"""Characters of a text: padding it to its length in bytes adds a space for each byte that is no character."""
