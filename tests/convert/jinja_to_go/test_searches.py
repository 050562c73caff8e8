"""Searches for constants in texts, against Python."""

from __future__ import annotations

from random import Random

import pytest

from tests.oracle.ollama import GoOracle
from transplate.convert import to_go
from transplate.ollama import OllamaTemplate, Values

PARTS = (
    " ",
    ". ",
    " x",
    "a ",
    "</think>",
    "<|a ",
    "ab",
    "é",
    "é ",
    "\n\n",
    ", ",
    "#$% _~",
    "abcdefghijklmnop",
)
CALLS = {
    "in": ("PART in text", lambda text, part: str(part in text)),
    "before": ("text.split(PART)[0]", lambda text, part: text.split(part)[0]),
    "after": ("text.split(PART)[-1]", lambda text, part: text.split(part)[-1]),
    "place": ("text.find(PART)", lambda text, part: str(text.find(part))),
    "replaced": ("text.replace(PART, '-')", lambda text, part: text.replace(part, "-")),
}


@pytest.mark.parametrize("call", CALLS)
def test_searches_find_what_python_finds(call: str) -> None:
    rng = Random(call)
    expression, wanted = CALLS[call]
    for part in PARTS:
        source = f"{{% for message in messages %}}{{% set text = message.content %}}{{{{ {expression.replace('PART', repr(part))} }}}}{{% endfor %}}"  # noqa: E501
        template = OllamaTemplate(to_go(source, exact=True).text)
        pieces = (part, part[:-1], part[1:], part[:3], "x", " ", "é", "<", "ab", "y" * 11)
        for _ in range(12):
            text = "".join(rng.choices(pieces, k=rng.randint(0, 9)))
            printed = template.execute(Values([{"role": "user", "content": text}])) if text else ""
            assert printed == (wanted(text, part) if text else ""), (part, text)


def test_brackets_are_seen_among_what_is_escaped(go_oracle: GoOracle) -> None:
    """Ask whole texts for ``<`` and ``>``: quotes and NULs become longer too where these are escaped."""
    source = "{{ '>&' in messages[0].content }}{{ '<' in messages[0].content }}"
    template = to_go(source, exact=True).text
    rng = Random(5)
    texts = ["".join(rng.choices("<>&&\"'\\\0\0\n\x7f\ufffdé=", k=rng.randint(1, 8))) for _ in range(300)]
    requests = [{"messages": [{"role": "user", "content": text}]} for text in texts]
    answers = go_oracle.render_all(template, requests)
    assert [one.output.decode() for one in answers] == [f"{'>&' in text}{'<' in text}" for text in texts]


def test_items_of_lists_may_have_more_than_a_million_bytes(go_oracle: GoOracle) -> None:
    """Collect long texts: Go takes widths up to a million, and lengths are read as widths."""
    source = (
        "{% set ns = namespace(found=[]) %}"
        "{% for message in messages %}{% set ns.found = ns.found + [message.content] %}{% endfor %}"
        "{% for text in ns.found %}{{ text }}|{% endfor %}"
    )
    texts = ["a" * length for length in (0, 9, 999_998, 999_999, 1_000_000, 2_345_678)]
    request = {"messages": [{"role": "tool", "content": text} for text in texts]}
    answer = go_oracle.render(to_go(source, exact=True).text, request)
    assert answer.output.decode() == "".join(f"{text}|" for text in texts)


SEVERAL = {
    "in one text": (
        "{{ '<think>' in text }}{{ '</think>' in text }}"
        "{{ text.split('</think>')[0] }}{{ '<call>' in text }}",
        lambda text: f"{'<think>' in text}{'</think>' in text}{text.split('</think>')[0]}{'<call>' in text}",
    ),
    "in what is cut out of it": (
        "{% set cut = text|trim %}{{ '<think>' in text }}{{ '</think>' in cut }}"
        "{{ '<call>' in cut.split('</think>')[0] }}",
        lambda text: (
            f"{'<think>' in text}{'</think>' in text.strip()}{'<call>' in text.strip().split('</think>')[0]}"
        ),
    ),
    "any of them": (
        "{{ '<think>' in text or '</think>' in text or '<call>' in text }}{{ '<call>' in text }}",
        lambda text: f"{any(part in text for part in ('<think>', '</think>', '<call>'))}{'<call>' in text}",
    ),
    "replaced": (
        "{{ text.replace('/think', '')|trim }}|{{ text.replace('/think', '').replace('/no_think', 'n') }}",
        lambda text: (
            f"{text.replace('/think', '').strip()}|{text.replace('/think', '').replace('/no_think', 'n')}"
        ),
    ),
    "replaced by what makes another": (
        "{% if '<call>' in text %}{% set text = text.replace('<call>', '<') %}{% endif %}"
        "{{ '<think>' in text }}",
        lambda text: str("<think>" in text.replace("<call>", "<")),
    ),
    "on one of two ways": (
        "{% set made = text.split('</think>')[-1] if text.startswith('a') else text %}"
        "{{ '<call>' in made }}{{ '<think>' in made }}",
        lambda text: "".join(
            str(part in (text.split("</think>")[-1] if text.startswith("a") else text))
            for part in ("<call>", "<think>")
        ),
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several_searches_begin_with_one(name: str) -> None:
    rng = Random(name)
    expression, wanted = SEVERAL[name]
    source = "{% for message in messages %}{% set text = message.content %}EXPRESSION{% endfor %}"
    converted = to_go(source.replace("EXPRESSION", expression), exact=True).text
    assert "whether any of" in converted
    template = OllamaTemplate(converted)
    pieces = (
        "<think>",
        "</think>",
        "<call>",
        "/think",
        "/no_think",
        "think>",
        "a",
        " ",
        "<",
        "R&D",
        "y" * 70,
    )
    for _ in range(60):
        text = "".join(rng.choices(pieces, k=rng.randint(1, 7)))
        assert template.execute(Values([{"role": "user", "content": text}])) == wanted(text), text


@pytest.mark.parametrize("method", ["strip", "lstrip", "rstrip"])
@pytest.mark.parametrize("exact", [True, False])
def test_white_space_is_cut_as_in_python(method: str, exact: bool) -> None:
    rng = Random(method)
    letters = "\t\n\v\r\x1c a!~\x7f" + (
        "\x80\x85\xa0é\u1680\u180e\u2003\u200b\u2028\u3000漢" if exact else "é"
    )
    template = OllamaTemplate(
        to_go(f"{{% for m in messages %}}[{{{{ m.content.{method}() }}}}]{{% endfor %}}", exact=exact).text
    )
    for _ in range(200):
        text = "".join(rng.choices(letters, k=rng.randint(1, 5)))
        printed = template.execute(Values([{"role": "user", "content": text}]))
        assert printed == f"[{getattr(text, method)()}]", repr(text)
