"""Writes what a run found into ``docs/jinja-to-go.md``, between the marks that the page has for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.fuzz.jinja_to_go_report import HUNDRED_KB, Row, kind, quantile, tally
from transplate.convert.jinja_to_go.assumptions import ASSUMPTIONS

PAGE = Path(__file__).parents[2] / "docs" / "jinja-to-go.md"
_SECTION = "<!-- {name}: made by python -m tests.fuzz.jinja_to_go --sum … --write -->\n"
_END = "<!-- end -->\n"
_FEW = 2
"""Reasons that as few templates have are counted together."""


def write(rows: Sequence[Row], losses: Mapping[str, tuple[int, int]], page: Path = PAGE) -> None:
    """Put the figures of a run into the page.

    Args:
        rows: The results.
        losses: In how many templates each loss shows, of how many.
        page: The page.
    """
    text = page.read_text(encoding="utf-8")
    for name, made in {
        "assumptions": assumption_table(rows),
        "figures": figures(rows),
        "reasons": reasons(rows),
        "losses": loss_table(losses),
    }.items():
        begin = _SECTION.format(name=name)
        before, found, rest = text.partition(begin)
        if not found or _END not in rest:
            raise ValueError(f"{page} has no section {name}")
        text = before + begin + made + _END + rest.partition(_END)[2]
    page.write_text(text, encoding="utf-8")


def figures(rows: Sequence[Row]) -> str:
    """Return the table of how far the conversion goes."""
    lines = [
        "| templates, style, seed | count | exact in all | exact where Jinja renders | stop in some "
        "| refused | wrong | size: median, p90 | above 100 KB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (corpus, style, seed), group in sorted(_groups(rows).items()):
        statuses = tally(group)
        count = max(1, statuses["count"])
        exact, where_it_renders = statuses["exact"], statuses["exact"] + statuses["error lost"]
        sized = [row for row in group if row["size"] and row["counts_at_all"]]
        ratios = [row["ratio"] for row in sized]
        lines.append(
            f"| {corpus}, {style}, {seed} | {statuses['count']} of {len(group)} "
            f"| {exact} ({100 * exact / count:.1f} %) "
            f"| {where_it_renders} ({100 * where_it_renders / count:.1f} %) "
            f"| {statuses['go fails']} | {statuses['refused']} | {statuses['wrong'] + statuses['crash']} "
            f"| {quantile(ratios, 0.5):.2f}, {quantile(ratios, 0.9):.1f} "
            f"| {sum(row['size'] > HUNDRED_KB for row in sized)} |"
        )
    return "\n".join(lines) + "\n"


def reasons(rows: Sequence[Row]) -> str:
    """Return the table of what is refused, or stops where it is reached, by the reason."""
    templates: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if row["counts_at_all"] and row["status"] in ("refused", "go fails"):
            when = "the whole" if row["status"] == "refused" else "where it is reached"
            said = re.sub(r"^not converted: | cannot be converted$|\" not defined$", "", kind(row["reason"]))
            templates.setdefault((said.removesuffix(" cannot be converted"), when), set()).add(row["name"])
    counts = Counter({key: len(names) for key, names in templates.items()})
    lines = ["| not converted | refused is | templates |", "| --- | --- | --- |"]
    few = 0
    for (reason, when), number in counts.most_common():
        if number > _FEW:
            lines.append(f"| {reason.replace('|', chr(92) + '|')} | {when} | {number} |")
        else:
            few += number
    lines.append(f"| what no more than {_FEW} templates have | | {few} |")
    return "\n".join(lines) + "\n"


def assumption_table(rows: Sequence[Row]) -> str:
    """Return the table of what the default form takes for granted, and in how many templates."""
    converted = [row for row in rows if row["style"] == "default" and row["size"]]
    names = {row["name"] for row in converted}
    lines = [f"| name | what holds | in templates, of {len(names)} |", "| --- | --- | --- |"]
    for assumption in ASSUMPTIONS.values():
        users = {row["name"] for row in converted if assumption.name in row["assumptions"]}
        lines.append(f"| `{assumption.name}` | {assumption.meaning} | {len(users)} |")
    return "\n".join(lines) + "\n"


def loss_table(losses: Mapping[str, tuple[int, int]]) -> str:
    """Return the table of what Ollama's data model loses."""
    lines = ["| lost | prompts differ in | of templates |", "| --- | --- | --- |"]
    lines += [f"| {name} | {shows} | {both} |" for name, (shows, both) in losses.items()]
    return "\n".join(lines) + "\n"


def _groups(rows: Sequence[Row]) -> dict[tuple[str, str, int], list[Row]]:
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["corpus"], row["style"], row["seed"]), []).append(row)
    return groups
