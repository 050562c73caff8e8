"""Python's string methods in Go: searches, splits and letters, on texts made to be hard for them."""

from __future__ import annotations

from random import Random

import pytest

from transplate.convert import to_go
from transplate.errors import TemplateExecutionError
from transplate.jinja import JinjaTemplate
from transplate.ollama import OllamaTemplate, Values

PARTS = ["</think>", "<think>", "\n", "]", "ab", "aab", "é", "日本", "<é>", "&"]
LETTERS = [
    *map(chr, range(0x20, 0x590)),
    *map(chr, range(0x1E00, 0x1F00)),
    *"ﬁﬂ\ufffd😀\U000e0001日한あΩ—’“ẞ",
    *" -(aBz" * 40,
]


@pytest.mark.parametrize("part", PARTS)
def test_searches_and_splits(part: str) -> None:
    quoted = repr(part)
    source = (
        f"{{% for m in messages %}}{{% set text = m.content %}}{{{{ {quoted} in text }}}}["
        f"{{{{ text.split({quoted})[0] }}}}|"
        f"{{{{ text.split({quoted})[-1] }}}}|{{{{ text.replace({quoted}, '#') }}}}|"
        f"{{{{ text.find({quoted}) }}}}|"
        f"{{{{ text.rsplit({quoted}, 1)[0] }}}}|{{% for x in text.split({quoted}) %}}{{{{ x }}}}"
        "{% if not loop.last %};{% endif %}{% endfor %}]{% endfor %}"
    )
    template = OllamaTemplate(to_go(source, exact=True).text)
    rng = Random(part)
    pieces = [part, part[:-1], part[1:], "a", "b", "x" * 23, "<", "é", "日", "\n", " ", "&lt;"]
    for _ in range(12):
        text = "".join(rng.choices(pieces, k=rng.randint(0, 9)))
        parts = text.split(part)
        wanted = (
            f"{part in text}[{parts[0]}|{parts[-1]}|{text.replace(part, '#')}|{text.find(part)}|"
            f"{text.rsplit(part, 1)[0]}|{';'.join(parts)}]"
        )
        assert template.execute(Values([{"role": "user", "content": text}])) == wanted


def test_letters_are_changed_as_in_python_or_stop() -> None:
    source = (
        "{% for m in messages %}{% set text = m.content %}{{ text|upper }}|{{ text|lower }}|{{ text|title }}|"
        "{{ text|capitalize }}{% endfor %}"
    )
    template, jinja = OllamaTemplate(to_go(source, exact=True).text), JinjaTemplate(source)
    rng = Random(3)
    stopped = 0
    for _ in range(60):
        messages = [{"role": "user", "content": "".join(rng.choices(LETTERS, k=rng.randint(0, 5)))}]
        try:
            found = template.execute(Values(messages))
        except TemplateExecutionError as error:
            stopped += "the case of this letter" in error.message
            continue
        assert found == jinja.render(messages, None, add_generation_prompt=True)
    assert stopped < 30


@pytest.mark.parametrize(
    "printed",
    [
        "m.content.rfind('ab')",
        "m.content.rindex('ab')",
        "m.content.rfind('é') > m.content.rfind('</t>')",
        "m.content[:m.content.rfind('</t>') + 1]",
        "m.content.removeprefix('ab') ~ '|' ~ m.content.removesuffix('é')",
        "'%s-%s!' % (m.role, m.content)",
        "'<%s>' % m.content",
        "'{} {}{{}}{}'.format(m.role, m.content, 1) ~ '{1}{0}'.format(m.role, m.content)",
        "('a', m.content)",
        "('x',) ~ ['x']",
    ],
)
def test_texts_come_out_as_in_jinja(printed: str) -> None:
    source = f"{{% for m in messages %}}{{{{ {printed} }}}}{{% endfor %}}"
    template, jinja = OllamaTemplate(to_go(source, exact=True).text), JinjaTemplate(source)
    rng = Random(printed)
    for _ in range(25):
        text = "".join(
            rng.choices(["ab", "a", "b", "é", "</t>", "</t", "日本", "\n", "'"], k=rng.randint(0, 7))
        )
        messages = [{"role": "user", "content": text}]
        try:
            wanted = jinja.render(messages, None, add_generation_prompt=True)
        except TemplateExecutionError:
            with pytest.raises(TemplateExecutionError):
                template.execute(Values(messages))
            continue
        assert template.execute(Values(messages)) == wanted
