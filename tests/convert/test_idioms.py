"""What ``to_go`` needs many statements for comes back as one call, and prints the same in every engine."""

from __future__ import annotations

import re
from random import Random

import pytest

from tests.convert.cases import Case, make_case
from tests.convert.test_constructs import _check, engines
from tests.oracle.engines import Engine
from tests.oracle.ollama import GoOracle
from transplate import to_go, to_jinja
from transplate.conversation import Conversation
from transplate.convert.go_to_jinja.conversations import has_ascii_texts, has_plain_space
from transplate.convert.go_to_jinja.idioms.recognise import recognised
from transplate.errors import UnsupportedTemplate
from transplate.gotmpl.parser import parse
from transplate.gotmpl.printer import print_template
from transplate.ollama.functions import FUNCTIONS

__all__ = ["engines"]

_EACH = "{% for message in messages %}<{{ message.role }}>BODY{% endfor %}"
_TOOLS = "{% if tools %}{% for tool in tools %}BODY{% endfor %}{% endif %}{% for m in messages %}{% endfor %}"
_CALLS = (
    "{% for message in messages %}{% if message.tool_calls %}{% for call in message.tool_calls %}BODY"
    "{% endfor %}{% endif %}{{ message.content }}{% endfor %}"
)
METHODS = {
    "strip": "{{ message.content.strip() }}|",
    "strip in a variable": "{% set t = message.content.strip() %}{% if t %}{{ t }}|{{ t }}{% endif %}",
    "trim": "{{ message.content | trim }}|{{ message.content | trim }}",
    "lstrip": "{% set text = message.content.lstrip() %}{{ text }}{{ text }}|",
    "rstrip": "{% set text = message.content.rstrip() %}{{ text }}|{{ text }}|",
    "lstrip of line breaks": "{{ message.content.lstrip('\n') }}",
    "rstrip of line breaks": "{{ message.content.rstrip('\n') }}|",
    "strip of line breaks": "{% set text = message.content.strip('\n') %}{{ text }}|{{ text }}",
    "strip of several": "{% set text = message.content.strip('<é n>') %}{{ text }}|{{ text }}",
    "in": "{% if '</think>' in message.content %}yes{% else %}no{% endif %}",
    "in, not a tag": "{% if 'ne' in message.content %}yes{% else %}no{% endif %}",
    "in, with a space": "{% if 'a b' in message.content %}yes{% else %}no{% endif %}",
    "in another text": "{% if message.role in message.content %}yes{% endif %}",
    "split, first": "{{ message.content.split('</think>')[0] }}",
    "split, last": "{{ message.content.split('</think>')[-1] }}",
    "split, last of one letter": "{{ message.content.split('e')[-1] }}",
    "split where it is": (
        "{% if '</think>' in message.content %}{{ message.content.split('</think>')[0].rstrip('\n') }}:"
        "{{ message.content.split('</think>')[-1].lstrip('\n') }}{% else %}{{ message.content }}{% endif %}"
    ),
    "any of several": (
        "{% set text = message.content %}{% if '</think>' in text %}{{ text.split('</think>')[-1].strip() }}"
        "{% elif '<think>' in text %}{{ text.split('<think>')[0] }}{% else %}{{ text }}{% endif %}"
    ),
    "several replaced": (
        "{{ message.content.replace('</think>', '<end>').replace('<think>', '')"
        ".replace('<tool_call>', 't') }}"
    ),
    "any of several, not tags": (
        "{% if '/no_think' in message.content %}no{% elif '/think' in message.content %}yes{% endif %}"
        "{{ message.content.replace('/no_think', '').replace('/think', '').rstrip() }}"
    ),
    "whether there is any of several": (
        "{% if '</think>' in message.content or '<think>' in message.content"
        " or '<tool_response>' in message.content %}yes{% endif %}"
    ),
    "whether there is any of several sorts": (
        "{% set text = message.content %}"
        "{% if '/think' in text or '/no_think' in text or 'user' in text %}yes{% else %}no{% endif %}"
        "{% set any = 'one</think>' in text or '<think>one' in text or 'user<think>' in text %}{{ any }}"
    ),
    "whether there is any of several, others behind": (
        "{% set text = message.content %}{% if '/think' in text or '/no_think' in text or 'users' in text"
        " or '<tool_response>' in text or 'e' in text %}yes{% else %}no{% endif %}"
    ),
    "the same message": (
        "{% set users = messages | selectattr('role', 'equalto', 'user') | list %}"
        "{% if users and message == users[-1] %}last{% endif %}"
    ),
    "a message that may be none": (
        "{% set first = messages[0] if messages[0].role == 'system' else none %}"
        "{% if first and first.content %}{{ first.content }}{% endif %}"
    ),
    "parts of a text": (
        "{% for part in message.content.split('</think>') %}[{{ part.split('<think>')[0] }}]{% endfor %}"
    ),
    "how many parts a text has": (
        "{% if message.content.split('<think>') | length > 2 %}{{ message.content.split('one') | length }}"
        "{% endif %}"
    ),
    "parts of a text that are numbered": (
        "{% for part in message.content.split('</think>') %}{{ loop.index }}{{ '.' if loop.first }}"
        "{% endfor %}"
    ),
    "parts of a text that are kept": (
        "{% set ns = namespace(kept='') %}{% for part in message.content.split('<think>') %}"
        "{% if part.strip() %}{% set ns.kept = ns.kept + part %}{% endif %}{% endfor %}{{ ns.kept }}"
    ),
    "a list of texts": (
        "{% set ns = namespace(texts=[]) %}{% for other in messages %}{% if other.content %}"
        "{% set ns.texts = ns.texts + [other.role + '=' + other.content] %}{% endif %}{% endfor %}"
        "{{ ns.texts | join(', ') }}{% if ns.texts %}!{% endif %}"
    ),
    "texts seen before": (
        "{% set ns = namespace(seen=[]) %}{% for other in messages %}{% if other.content not in ns.seen %}"
        "{% set ns.seen = ns.seen + [other.content] %}new {{ other.role }}{% endif %}{% endfor %}"
    ),
    "split and joined": "{{ message.content.split('<think>') | join('[') }}",
    "replaced where it is": (
        "{% set text = message.content %}{% if '</think>' in text %}{{ text.split('</think>') | join(', ') }}"
        "{{ text.replace('</think>', '') }}{% endif %}"
    ),
    "parts at what is not a tag": "{% for part in message.content.split('one') %}[{{ part }}]{% endfor %}",
    "replace": "{{ message.content.replace('</think>', '<end>') }}",
    "startswith": "{% if message.content.startswith('<tool_response>') %}yes{% endif %}",
    "endswith": "{% if message.content.endswith('</think>') %}yes{% endif %}",
    "both ends": (
        "{% set text = message.content %}"
        "{% if not (text.startswith('<think>') and text.endswith('</think>')) %}no{% endif %}"
    ),
    "parity": "{% if loop.index0 % 2 == 0 %}even{% else %}odd{% endif %}",
    "subtraction": "{% set at = messages|length - loop.index0 - 1 %}{{ messages[at].role }}",
    "raise": "{% if message.role == 'tool' %}{{ raise_exception('No ' + message.role) }}{% endif %}",
    "a role and another": (
        "{% if loop.index0 > 0 and messages[loop.index0 - 1].role == message.role %}same{% endif %}"
    ),
    "unset": (
        "{% if message.role == 'user' %}{% set text = message.content %}{% endif %}"
        "{% if text is defined %}{{ text }}{% endif %}"
    ),
}
JSON = {
    "a tool": (_TOOLS, "{{ tool | tojson }}"),
    "a tool, kept": (_TOOLS, "{% set text = tool | tojson %}{{ text }}{{ text|length > 3 }}"),
    "a tool without spaces": (_TOOLS, "{{ tool | tojson(separators=(',', ':')) }}"),
    "what a property requires": (
        _TOOLS,
        "{% for name, property in tool.function.parameters.properties.items() %}{{ name }}"
        "{% if property.required %}{{ property.required | tojson }}{% endif %}{% endfor %}",
    ),
    "a tool on lines": (_TOOLS, "{{ tool | tojson(indent=4) }}"),
    "all tools on lines": (_TOOLS, "{{ loop.first and tools | tojson(indent=2) }}"),
    "arguments on lines": (_CALLS, "{{ call.function.arguments | tojson(indent=2) }}"),
    "parameters": (_TOOLS, "{{ tool.function.parameters.properties | tojson }}"),
    "arguments": (_CALLS, "{{ call.function.arguments | tojson }}"),
    "arguments and others": (
        _CALLS,
        "{{ call.function.arguments | tojson }}{{ call.function.name | tojson }}",
    ),
    "each argument": (
        _CALLS,
        "{% for key, value in call.function.arguments.items() %}{{ key }}={% if value is string %}{{ value }}"
        "{% else %}{{ value | tojson }}{% endif %}{% endfor %}",
    ),
    "arguments by their keys": (
        _CALLS,
        "{% for key in call.function.arguments %}{{ key }}={{ call.function.arguments[key] | tojson }}"
        "{% endfor %}",
    ),
}
BY_CHARACTERS = {
    "repr of a text": "{{ [message.content] | string }}",
    "repr of arguments": (
        "{% if message.tool_calls %}{% for call in message.tool_calls %}{{ call.function.arguments }}"
        "{% endfor %}{% endif %}{{ message.content }}"
    ),
    "small letters": "{{ message.content.lower() }}",
    "capital letters": "{{ message.content.upper() }}|{{ message.content.upper() }}",
    "length": "{{ message.content | length }}",
    "the first ones": "{{ message.content[:5] }}",
    "all but the first": "{{ message.content[5:] }}",
}
"""What engines count or change alike in ASCII only, so that the exact form refuses it."""

TEMPLATES = {
    **{name: _EACH.replace("BODY", body) for name, body in METHODS.items()},
    **{f"JSON of {name}": whole.replace("BODY", body) for name, (whole, body) in JSON.items()},
}
_PIECES = (
    "</think>",
    "<think>",
    "\n",
    "\n\n",
    " ",
    "\t",
    "\u3000",
    "\xa0",
    "\x1f",
    "a b",
    "é",
    "😀",
    "one",
    "<tool_response>",
    "/think",
    "/no_think",
    "&",
    "user",
)


def _odd_texts(case: Case, random: Random) -> Case:
    """Return a conversation whose texts have white space, tags and other letters at their ends."""
    for message in case.messages:
        if isinstance(message.get("content"), str):
            message["content"] = "".join(random.choices(_PIECES, k=random.randint(0, 6)))
    return case


CASES = [make_case(seed) for seed in range(5000, 5007)] + [
    _odd_texts(make_case(seed), Random(seed)) for seed in range(5014, 5030)
]


@pytest.mark.parametrize("jinja", TEMPLATES.values(), ids=TEMPLATES.keys())
def test_what_comes_back_prints_the_same(jinja: str, go_oracle: GoOracle, engines: list[Engine]) -> None:
    for exact in (True, False):
        source = to_go(jinja, exact=exact).text
        assert _check(source, go_oracle, engines, CASES, exact=True) == len(CASES)
        _check(source, go_oracle, engines, CASES)


@pytest.mark.parametrize("body", BY_CHARACTERS.values(), ids=BY_CHARACTERS.keys())
def test_what_depends_on_characters_is_for_ascii(
    body: str, go_oracle: GoOracle, engines: list[Engine]
) -> None:
    source = to_go(_EACH.replace("BODY", body)).text
    assert "ascii-texts" in [one.name for one in to_jinja(source).assumptions]
    _check(source, go_oracle, engines, CASES)
    with pytest.raises(UnsupportedTemplate):
        to_jinja(source, exact=True)


def test_typed_parts_are_texts_of_a_conversation() -> None:
    def asked(text: str) -> Conversation:
        parts = [{"type": "text", "text": text}]
        return Conversation.read({"messages": [{"role": "user", "content": parts}]})

    assert has_ascii_texts(asked("a b"))
    assert not has_ascii_texts(asked("é"))
    assert has_plain_space(asked("a b"))
    assert not has_plain_space(asked("a\u3000"))


def test_vendors_json_is_written_by_the_host_where_that_is_asked_for() -> None:
    for written in ("tool|tojson", "tool|tojson(indent=2)"):
        source = to_go(_TOOLS.replace("BODY", f"{{{{ {written} }}}}")).text
        assert f"{{{{- {written} -}}}}" in to_jinja(source, assume={"hf-json"}).text


FUNCTIONS_OF = {
    "strip": "lstrip_space",
    "lstrip of line breaks": "lstrip",
    "in": "contains",
    "split, last": "after_last",
    "replace": "replaced",
    "any of several, not tags": "has_any",
    "whether there is any of several": "has_any",
    "split and joined": "replaced",
    "parts at what is not a tag": "split",
    "rstrip": "rstrip_space",
    "a list of texts": "no_texts",
    "parts of a text": "split",
    "parts of a text that are numbered": "split",
    "texts seen before": "no_texts",
    "parity": "parity",
    "JSON of a tool": "python_json",
}


@pytest.mark.parametrize(("name", "function"), FUNCTIONS_OF.items())
def test_other_names_are_recognised_and_other_statements_are_not(name: str, function: str) -> None:
    """Change each word of the Go: a name is no matter where all of it is changed, and all else is."""
    source = to_go(TEMPLATES[name], exact=True).text

    def is_recognised(text: str) -> bool:
        tree = recognised(parse(text, functions=FUNCTIONS))
        return re.search(rf"(:=|{{{{|range) {function} ", print_template(tree.body)) is not None

    assert is_recognised(source)
    names = sorted(set(re.findall(r"\$[a-z]\w*", source)), key=len, reverse=True)
    renamed = source
    for number, variable in enumerate(names):
        renamed = re.sub(rf"\{variable}\b", f"$other{number}", renamed)
    assert is_recognised(renamed)
    begin = next(source.index(one) for one in ("html (", "range len", "printf") if one in source)
    changed = 0
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|\b[0-9]+\b|\beq\b|\bne\b', source[begin : begin + 200]):
        at = begin + found.start()
        word = found[0]
        other = {"eq": "ne", "ne": "eq"}.get(word) or ('"other"' if word[0] == '"' else f"{int(word) + 7}")
        mutant = source[:at] + other + source[at + len(word) :]
        assert not is_recognised(mutant), mutant
        changed += 1
    assert changed
