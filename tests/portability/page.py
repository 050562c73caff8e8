"""The page ``docs/portability.md``, made from a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from tests.oracle.engines import Engine
from tests.oracle.ollama import OLLAMA_VERSION
from tests.portability.comparing import STYLES, Result
from tests.portability.dead import reasons

_HEAD = """\
<!-- Made by `python -m tests.portability --write`; do not edit. -->
# Where converted templates work

Each Go template is converted with `to_jinja(source, ollama="{ollama}")` in both forms, rendered in each
engine, and compared with what real Ollama {ollama} prints, byte for byte.

- The conversations of a template are generated until together they take every branch of it that can be taken,
  at least {least} for each form. Those of the default form meet the assumptions that it lists.
- A cell holds the number of conversations that were compared; all of them are equal unless it says otherwise.
- Texts hold anything but lone surrogates; roles have no capitals outside of ASCII. Keys of objects do not
  look like integers and do not mix characters beyond U+FFFF with those from U+E000 to U+FFFF: JavaScript
  orders both in its own way. Numbers have at most 15 digits and lie between 1e-14 and 1e30.

"""


def page(results: Sequence[Result], engines: Sequence[Engine]) -> str:
    """Return the page for a run.

    Args:
        results: What each template came to.
        engines: The engines that it ran in.
    """
    least = min(len(form.covering.cases) for result in results for form in result.forms.values())
    parts = [
        _HEAD.format(ollama=OLLAMA_VERSION, least=least),
        _engines(engines),
        "\n",
        summary(results, engines),
    ]
    for group, members in groupby(results, key=lambda result: result.subject.group):
        parts.append(f"\n## {group}\n\n{_table(list(members), engines)}")
    parts += [_branches(results), _left_out(results), _refused(results)]
    return "".join(parts)


def summary(results: Sequence[Result], engines: Sequence[Engine]) -> str:
    """Return the sums of a run, an engine a line."""
    rows = []
    for engine in engines:
        row = [engine.name]
        for style in STYLES:
            equal = sum(result.equal[style, engine.name] for result in results)
            failing = sum(result.failing[style, engine.name] for result in results)
            kept = [each for result in results for each in result.differences]
            differing = sum((each.style, each.engine) == (style, engine.name) for each in kept)
            row += [f"{equal + failing:,}", f"{differing:,}"]
        left_out = Counter[str]()
        for result in results:
            for (name, _), count in result.left_out.items():
                left_out[name] += count
        row.append(f"{left_out[engine.name]:,}")
        rows.append(row)
    head = ["engine", "exact form: equal", "differ", "default form: equal", "differ", "left out"]
    return _markdown(head, rows)


def _engines(engines: Sequence[Engine]) -> str:
    listed = ", ".join(f"{engine.name} ({engine.version})" for engine in engines)
    return f"Engines: {listed}.\n"


def _table(results: Sequence[Result], engines: Sequence[Engine]) -> str:
    head = ["template", "branches", *(engine.name for engine in engines), "default form assumes"]
    rows = []
    for result in results:
        if result.refusal is not None:
            rows.append([result.subject.name, "", *("refused" for _ in engines), ""])
            continue
        covering = result.forms["exact"].covering
        arms = len(covering.coverage.arms)
        branches = f"{arms - len(covering.untaken)} of {arms}" if covering.untaken else f"{arms}"
        verdicts = [" · ".join(result.verdict(style, engine.name) for style in STYLES) for engine in engines]
        assumed = ", ".join(each.name for each in result.forms["default"].conversion.assumptions)
        rows.append([result.subject.name, branches, *verdicts, assumed or "nothing"])
    return "Cells: exact form · default form.\n\n" + _markdown(head, rows)


def _branches(results: Iterable[Result]) -> str:
    """Return why branches are not taken."""
    counts: Counter[str] = Counter()
    taken = 0
    for result in results:
        if result.refusal is None:
            covering = result.forms["exact"].covering
            taken += len(covering.taken)
            counts.update(reason or "not found out" for reason in reasons(covering).values())
    lines = [f"- {count} × {reason}\n" for reason, count in counts.most_common()]
    ways = "Of the ways that an if, with or range or an operand of `and` or `or` can go"
    dead = sum(counts.values())
    return f"\n## Branches\n\n{ways}, {taken:,} are taken, and {dead:,} cannot be:\n\n{''.join(lines)}"


def _left_out(results: Iterable[Result]) -> str:
    counts: Counter[tuple[str, str]] = Counter()
    for result in results:
        counts.update(result.left_out)
    lines = [f"- {engine} {reason}: {count:,}\n" for (engine, reason), count in counts.most_common()]
    if not lines:
        return ""
    return (
        "\n## Left out\n\nConversations that a host changes or refuses before the template sees them:\n\n"
        + "".join(lines)
    )


def _refused(results: Iterable[Result]) -> str:
    lines = [f"- {each.subject.name}: {each.refusal}\n" for each in results if each.refusal is not None]
    return f"\n## Refused\n\n{''.join(lines)}" if lines else ""


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
