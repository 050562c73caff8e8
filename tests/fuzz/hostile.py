"""Templates made to run for ever or to fill the memory: ``python -m tests.fuzz.hostile``.

Each composes what grows (builtins or filters on a growing string, containers within containers), what repeats
(loops over numbers and messages, loops inside one another, templates or macros that call themselves) and what
is deep. Whatever comes out, only errors of this package may be raised, and the work is bounded by the limits.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from random import Random, SystemRandom
from typing import Any

from transplate import JinjaTemplate, Limits, OllamaTemplate, Values
from transplate.errors import TransplateError

SMALL = Limits(source=100_000, output=1 << 20, steps=50_000, depth=60)
MESSAGES: list[dict[str, Any]] = [
    {
        "role": ("user", "assistant", "tool")[index % 3],
        "content": ("plain ", 'quo"ted\\', "ünï\u2028", "<&>")[index % 4] * 50,
        "tool_calls": [{"function": {"name": "f", "arguments": {"a": [1.5, None, "x"] * 20, "b": {"c": 1}}}}],
    }
    for index in range(12)
]
TOOLS = [{"type": "function", "function": {"name": "f", "description": "d" * 300, "parameters": {}}}] * 5


class HostileGo:
    """Makes hostile templates of Go's language."""

    _MAKERS = (
        *("print $x $x", "print $x", "println $x $x", "html $x", "js $x", "urlquery $x", "json $x"),
        *('printf "%q" $x', 'printf "%s%s%s" $x $x $x', 'printf "%x" $x', 'printf "%+q%v" $x $x'),
        *('printf "%1000000d" 1', 'printf "%*s" 1000000 $x', 'printf "%.1000000f" 1.5', 'printf "%.0s" $x'),
        *('printf "%d" $x', 'printf "" $x $x $x', "slice $x 1", 'print $x "é"', "json $.Messages"),
        *('printf "%v" $.Messages', "json $.Tools", "print $.Tools $.Tools", 'printf "%#v" $x', "$.System"),
        *(
            'index (slice $.Messages 1) 0 | printf "%v"',
            '"\\"\\n"',
            "html $.Messages",
            "print 1e300 2.5e-300 $x",
        ),
    )
    _USES = (
        *("{{$x}}", "{{len $x}}", "{{if eq $x $y}}e{{end}}", "{{if lt $x $y}}l{{end}}", "{{index $x 0}}"),
        *("{{slice $x 0 1}}", "{{html $x}}", "{{$y = $x}}", "{{with $x}}{{.}}{{end}}", "{{json .}}", "{{.}}"),
        *('{{template "t" .}}', '{{template "t" $}}', "{{$x = print $y $x}}", "{{and $x $y}}", "{{.Role}}"),
        *("{{break}}", "{{continue}}", "{{if len $x}}{{continue}}{{end}}", "{{.Nope.Nope}}", "text"),
    )
    _LOOPS = (
        *(
            "{{range $.Messages}}",
            "{{range $i, $m := $.Messages}}",
            "{{range 1000000000}}",
            "{{range $n := 1000}}",
        ),
        *("{{range (slice $.Messages 1)}}", "{{range $.Tools}}", "{{range $.Messages}}{{range .ToolCalls}}"),
    )

    def __init__(self, rng: Random) -> None:
        """Draw from a source of chance."""
        self._rng = rng

    def template(self) -> str:
        """Return a template."""
        rng = self._rng
        start = '{{$x := "a\\"<é"}}{{$y := .System}}' if rng.random() < 0.9 else '{{$x := 1}}{{$y := ""}}'
        body = start + "".join(self._block(rng.randint(0, 4)) for _ in range(rng.randint(1, 3)))
        called = '{{$x := "b"}}{{$y := $x}}' + self._block(rng.randint(0, 2))
        return body.replace("{{break}}", "") + '{{define "t"}}' + called + "{{end}}{{range .Messages}}{{end}}"

    def _block(self, depth: int) -> str:
        rng = self._rng
        parts = [self._statement() * rng.choice((1, 1, 1, 2, 40)) for _ in range(rng.randint(1, 3))]
        if depth:
            loop = rng.choice(self._LOOPS)
            inside = self._block(depth - 1)
            parts.append(loop + inside + "{{end}}" * loop.count("{{range"))
            rng.shuffle(parts)
        if rng.random() < 0.05:
            nested = rng.randint(1, 300)
            parts.append("{{if $x}}" * nested + "y" + "{{end}}" * nested)
        if rng.random() < 0.05:
            nested = rng.randint(1, 300)
            parts.append("{{" + "(print " * nested + "$x" + ")" * nested + "}}")
        if rng.random() < 0.05:
            parts.append("{{$x" + ' | printf "%q"' * rng.randint(1, 300) + "}}")
        return "".join(parts)

    def _statement(self) -> str:
        rng = self._rng
        if rng.random() < 0.6:
            maker = rng.choice(self._MAKERS)
            return rng.choice((f"{{{{$x = {maker}}}}}", f"{{{{{maker}}}}}", f"{{{{$y = {maker}}}}}"))
        return rng.choice(self._USES).replace("{{break}}", "")


class HostileJinja:
    """Makes hostile chat templates."""

    _MAKERS = (
        *(
            "ns.x ~ ns.x",
            "ns.x + ns.x",
            "[ns.x, ns.x]",
            "{'a': ns.x, 'b': ns.x}",
            "(ns.x,) * 1000",
            "ns.x * 1000",
        ),
        *("dict.fromkeys(range(5000))", "dict.fromkeys(range(5000), ns.x).copy()", "dict(a=ns.x, b=ns.x)"),
        *(
            "ns.x|string|replace('a', 'aa')",
            "ns.x|tojson",
            "ns.x|list",
            "range(5000)|list",
            "ns.x|string|upper",
        ),
        *(
            "[" + "ns.x, " * 200 + "]",
            "{" + "i: ns.x, " * 20 + "}",
            "namespace(x=ns.x)",
            "'%s%s' % (ns.x, ns.x)",
        ),
        *(
            "'{}{}'.format(ns.x, ns.x)",
            "ns.x|string|center(100000)",
            "ns.x|pprint",
            "messages|groupby('role')|list",
        ),
        *(
            "range(999)|batch(2)|list",
            "messages|map(attribute='content')|join(ns.x|string)",
            "ns.x|string|urlencode",
        ),
        *(
            "messages|sort(attribute='role')",
            "messages[::-1]",
            "m(ns.x)",
            "ns.x|string|wordwrap(3)",
            "ns.x|escape",
        ),
        *(
            "[ns.x]|sum(start=[])",
            "(ns.x|string).split('a')",
            "ns.x|string|indent(9)",
            "2 ** 5000",
            "cycler(ns.x)",
        ),
    )
    _USES = (
        *("{{ ns.x }}", "{{ ns.x|length }}", "{% if ns.x == ns.y %}e{% endif %}", "{% set ns.y = ns.x %}"),
        *(
            "{{ m(i) }}",
            "{{ loop.index }}",
            "{% break %}",
            "{% continue %}",
            "{% if ns.x in ns.y %}{% endif %}",
        ),
        *(
            "{{ ns.x[0] }}",
            "{{ ns.x|first }}",
            "{{ nope.nope }}",
            "text",
            "{{ messages }}",
            "{{ ns.x is string }}",
        ),
    )
    _LOOPS = (
        "range(1000)",
        "range(99999)",
        "messages",
        "ns.y",
        "ns.x",
        "messages[1:]",
        "range(99)|map('string')",
    )

    def __init__(self, rng: Random) -> None:
        """Draw from a source of chance."""
        self._rng = rng

    def template(self) -> str:
        """Return a template."""
        rng = self._rng
        blocks = "".join(self._block(rng.randint(0, 4)) for _ in range(rng.randint(1, 3)))
        return (
            "{% set i = 0 %}{% set ns = namespace(x='a', y='b') %}"
            "{% macro m(i) %}" + self._block(rng.randint(0, 2)) + "{% endmacro %}" + blocks
        )

    def _block(self, depth: int) -> str:
        rng = self._rng
        parts = [self._statement() * rng.choice((1, 1, 1, 2, 12)) for _ in range(rng.randint(1, 3))]
        if depth:
            parts.append(f"{{% for i in {rng.choice(self._LOOPS)} %}}{self._block(depth - 1)}{{% endfor %}}")
            rng.shuffle(parts)
        if rng.random() < 0.05:
            nested = rng.randint(1, 300)
            parts.append("{{ " + "(" * nested + "ns.x" + ")" * nested + " }}")
        if rng.random() < 0.05:
            parts.append("{{ ns.x" + "|string" * rng.randint(1, 300) + " }}")
        return "".join(parts)

    def _statement(self) -> str:
        rng = self._rng
        if rng.random() < 0.6:
            maker = rng.choice(self._MAKERS)
            return rng.choice(
                (f"{{% set ns.x = {maker} %}}", f"{{{{ {maker} }}}}", f"{{% set ns.y = {maker} %}}")
            )
        return rng.choice(self._USES)


def run_go(source: str, limits: Limits = SMALL) -> TransplateError | str:
    """Render a Go template; return the prompt or the error of this package."""
    try:
        return OllamaTemplate(source, limits=limits).execute(Values(MESSAGES, TOOLS))
    except TransplateError as error:
        return error


def run_jinja(source: str, limits: Limits = SMALL) -> TransplateError | str:
    """Render a chat template; return the prompt or the error of this package."""
    try:
        return JinjaTemplate(source, limits=limits).render(MESSAGES, TOOLS)
    except TransplateError as error:
        return error


LANGUAGES: dict[str, tuple[Callable[[Random], HostileGo | HostileJinja], Callable[..., Any]]] = {
    "go": (HostileGo, run_go),
    "jinja": (HostileJinja, run_jinja),
}


def main() -> int:
    """Run hostile templates under the limits that hold by default; tell of the slowest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1 << 32))
    parser.add_argument("--language", choices=LANGUAGES, default="go")
    parser.add_argument("--seconds", type=float, default=10, help="CPU time of what is shown")
    options = parser.parse_args()
    rng = Random(options.seed)
    make, run = LANGUAGES[options.language]
    slowest, slow = 0.0, 0
    for number in range(options.cases):
        source = make(rng).template()
        start = time.process_time()
        run(source, Limits())
        seconds = time.process_time() - start
        slowest = max(slowest, seconds)
        if seconds > options.seconds:
            slow += 1
            print(f"case {number}: {seconds:.1f} s: {source!r}", flush=True)
    print(f"{options.cases} cases, seed {options.seed}: at most {slowest:.1f} s of CPU, {slow} too long")
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
