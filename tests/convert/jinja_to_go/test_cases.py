"""Capital and small letters: which characters are taken to have neither."""

import re

from transplate.convert.jinja_to_go.cases import _NO_LETTERS


def test_what_is_said_to_have_no_case_has_none() -> None:
    places = [int(found, 16) for found in re.findall(r"\\U([0-9a-f]{8})", _NO_LETTERS)]
    ranges = [*zip(places[:-1:2], places[1::2], strict=True), (places[-1], 0x110000)]
    assert len(ranges) > 10
    for first, end in ranges:
        for character in map(chr, range(first, end)):
            assert character == character.lower() == character.upper() == character.title()
