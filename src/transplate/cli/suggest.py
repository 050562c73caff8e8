"""``transplate suggest``: which of Ollama's built-in renderers prints what a template prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from transplate.cli import FINE, NO
from transplate.cli.options import downloading
from transplate.cli.output import errors_as_json, print_json, say
from transplate.cli.templates import read_template
from transplate.cli.verdict import report_data, report_lines
from transplate.cli.visible import visible
from transplate.cli.waiting import waiting

if TYPE_CHECKING:
    from transplate.parity import Suggestion

_SHOWN = 4

_EPILOG = """\b
Examples:
  transplate suggest chat_template.jinja
  transplate suggest model/
  transplate suggest hf:Qwen/Qwen3.5-4B --json
"""


@click.command("suggest", epilog=_EPILOG, short_help="Find the renderer of Ollama for a chat template.")
@click.argument("source", metavar="SRC")
@downloading
@click.option("--ollama", metavar="VERSION", help="The version of Ollama; by default the newest known.")
@click.option("--json", "as_json", is_flag=True, help="Print all that is known as JSON.")
@errors_as_json
def command(source: str, download: bool, ollama: str | None, as_json: bool) -> int:
    """Say which of Ollama's built-in renderers prints what the template or model SRC prints.

    Renderers are compared on the built-in conversations, the best one first. Exit status 1 means that none
    prints the same on all of them.
    """
    from transplate import NEWEST, suggest

    template = read_template(source, download=download).template
    with waiting("comparing with Ollama's renderers"):
        found = suggest(template, ollama=ollama or NEWEST)
    if as_json:
        print_json([_data(one) for one in found], indent=2)
    elif not found:
        say("no renderer of Ollama prints these prompts")
    else:
        _show(found, source)
    return FINE if found and found[0].always else NO


def _data(one: Suggestion) -> dict[str, Any]:
    return {
        "renderer": one.renderer,
        "parser": one.parser,
        "stops": list(one.stops),
        "since": one.since,
        "always": one.always,
        "bos": one.bos,
        "conditions": list(one.conditions),
        "likeness": round(one.likeness, 4),
        "parity": report_data(one.report),
    }


def _show(found: tuple[Suggestion, ...], source: str) -> None:
    best = found[0]
    if best.always:
        say(f"{best.renderer}: the same on all {best.agreed.checked} conversations")
    else:
        report = best.agreed if best.by_default else best.report
        count = report.checked - len(report.differences)
        say(f"{best.renderer}: the same on {count} of {report.checked} conversations, except where")
        for condition in best.conditions:
            say(f"  {visible(condition)}")
    if best.agreed.differences:
        for line in list(report_lines(best.agreed, source, f"renderer:{best.renderer}"))[1:]:
            say(line)
    for one in found[1:_SHOWN]:
        report = one.agreed if one.by_default else one.report
        count, checked = report.checked - len(report.differences), report.checked
        say(f"{one.renderer}: the same on {'all' if one.always else f'{count} of'} {checked} conversations")
    say(f"prints so since Ollama {best.since}" if best.since else "prints so since some Ollama after 0.17.4")
    if best.bos:
        say(f"taken for granted: bos_token is {visible(best.bos)}")
    say("in a Modelfile:" if best.always else f"in a Modelfile, if {best.renderer} is right for the model:")
    lines = [f"RENDERER {best.renderer}", f"PARSER {best.parser}"]
    for line in lines + [f"PARAMETER stop {stop}" for stop in best.stops]:
        say(f"  {visible(line)}")
