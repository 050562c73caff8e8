"""Makes small chat templates that keep values of all kinds, converts them to Go and compares the prompts.

``python -m tests.fuzz.jinja_to_go_values --cases 200 --seed 1`` prints what became of them. The templates put
texts, messages, tool calls, numbers, lists and dicts into variables, attributes of a namespace, lists and
dicts, another kind on another way, and ask of what is there what a template can ask. That is where a
converted template must know at run time what a value is.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict
from random import Random

from tests.fuzz.jinja_to_go import STYLES, results
from tests.fuzz.jinja_to_go_judge import RealJudge
from tests.fuzz.jinja_to_go_report import report

_SCALARS = (
    "m.content",
    "m.content|trim",
    "m.role",
    "m.tool_calls",
    "m.reasoning_content",
    "m.tool_name",
    "m.name",
    "m",
    "none",
    "true",
    "'x'",
    "loop.index0",
    "(m.role == 'user')",
    "(m.tool_calls|length if m.tool_calls else 0)",
    "(m.tool_calls[0] if m.tool_calls else none)",
)
_CONDITIONS = (
    "m.role == 'assistant'",
    "m.role == 'user'",
    "m.role != 'tool'",
    "m.tool_calls",
    "m.content",
    "loop.first",
    "not loop.last",
)
_FIRST = ("none", "''", "'x'", "[]", "false", "{}", "0")
_QUESTIONS = (
    "{% if V is string %}{{ V }}{% endif %}",
    "{% if V %}T{% else %}F{% endif %}",
    "{% if V is none %}N{% endif %}",
    "{% if V is defined %}D{% endif %}",
    "{% if V == 'x' %}E{% endif %}",
    "{% if V is number %}#{{ V }}{% endif %}",
    "{% if V is mapping %}M{{ V.a is defined }}{{ V.role }}{% endif %}",
    "{% if V is iterable and V is not string and V is not mapping %}{{ V|length }}{% for c in V %}"
    "{% if c.function is defined %}{{ c.function.name }}{% elif c is string %}{{ c }}{% else %}?{% endif %}"
    "{% endfor %}{% endif %}",
)


def template(random: Random) -> str:
    """Return a chat template."""
    kind = random.choice((_in_a_namespace, _in_a_variable, _in_a_list, _in_dicts))
    return kind(random)


def _value(random: Random, depth: int = 0) -> str:
    chance = random.random()
    if depth < 2 and chance < 0.15:
        return f"[{', '.join(_value(random, depth + 1) for _ in range(random.randint(0, 2)))}]"
    if depth < 2 and chance < 0.3:
        names = random.sample("abc", random.randint(1, 3))
        pairs = (f"'{name}': {_value(random, depth + 1)}" for name in names)
        return f"{{{', '.join(pairs)}}}"
    return random.choice(_SCALARS)


def _asked(random: Random, value: str) -> str:
    questions = random.sample(_QUESTIONS, random.randint(1, 4))
    return "|" + "".join(questions).replace("V", value)


def _over_messages(body: str) -> str:
    return f"{{% for m in messages %}}{{{{ m.content }}}}{body}{{% endfor %}}"


def _on_a_way(random: Random, *bodies: str) -> str:
    """Return an if with a branch for each body."""
    words = ("if", *["elif"] * (len(bodies) - 1))
    branches = (
        f"{{% {word} {random.choice(_CONDITIONS)} %}}{body}" for word, body in zip(words, bodies, strict=True)
    )
    return f"{''.join(branches)}{{% endif %}}"


def _in_a_namespace(random: Random) -> str:
    sets = [f"{{% set ns.v = {_value(random)} %}}" for _ in range(random.randint(1, 2))]
    inside = _asked(random, "ns.v") if random.random() < 0.5 else ""
    first = f"{{% set ns = namespace(v={random.choice(_FIRST)}) %}}"
    return first + _over_messages(_on_a_way(random, *sets) + inside) + _asked(random, "ns.v")


def _in_a_variable(random: Random) -> str:
    one, other = _value(random), _value(random)
    condition = random.choice(_CONDITIONS)
    chosen = f"{{% if {condition} %}}{{% set v = {one} %}}{{% else %}}{{% set v = {other} %}}{{% endif %}}"
    return _over_messages(chosen + _asked(random, "v") + _asked(random, "v"))


def _in_a_list(random: Random) -> str:
    sets = [f"{{% set ns.l = ns.l + [{_value(random)}] %}}" for _ in range(2)]
    last = f"{{% if ns.l %}}{_asked(random, 'ns.l[-1]')}{{% endif %}}" if random.random() < 0.5 else ""
    made = _over_messages(_on_a_way(random, *sets))
    listed = f"{{% for v in ns.l %}}{_asked(random, 'v')}{{% endfor %}}"
    return f"{{% set ns = namespace(l=[]) %}}{made}{{{{ ns.l|length }}}}{listed}{last}"


def _in_dicts(random: Random) -> str:
    one, other = random.sample("abc", 2)
    both = f"{{'{one}': {_value(random, 1)}, '{other}': {_value(random, 1)}}}"
    sets = [f"{{% set ns.l = ns.l + [{both}] %}}"]
    if random.random() < 0.6:
        sets.append(f"{{% set ns.l = ns.l + [{{'{one}': {_value(random, 1)}}}] %}}")
    asked = _asked(random, f"v.{one}") + _asked(random, f"v.{other}")
    made = _over_messages(_on_a_way(random, *sets))
    return f"{{% set ns = namespace(l=[]) %}}{made}{{% for v in ns.l %}}{asked}{{% endfor %}}"


def templates(count: int, seed: int) -> list[tuple[str, str]]:
    """Return numbered templates."""
    return [(str(number), template(Random(f"{seed} {number}"))) for number in range(count)]


def main() -> int:
    """Run from the command line; the exit status is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=int(time.time()), help="chooses templates and requests")
    parser.add_argument("--cases", type=int, default=200, help="templates")
    parser.add_argument("--from", dest="begin", type=int, default=0, help="number of the first template")
    parser.add_argument("--conversations", type=int, default=16, help="requests for each, at least")
    arguments = parser.parse_args()
    made = templates(arguments.cases, arguments.seed)[arguments.begin :]
    texts = dict(made)
    judge = RealJudge()
    rows = []
    for result in results(made, judge, styles=STYLES, seed=arguments.seed, count=arguments.conversations):
        rows.append({**asdict(result), "seed": arguments.seed, "corpus": "values"})
        if result.status in ("wrong", "crash"):
            print(f"{result.name} {result.style}: {result.reason}\n  {texts[result.name]}", flush=True)
    judge.close()
    print(report(rows, show=0))
    return 1 if any(row["status"] in ("wrong", "crash") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
