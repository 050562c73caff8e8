"""``transplate check``: do two templates print the same prompts?"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from transplate.cli import FINE, NO
from transplate.cli.baseline import Baseline
from transplate.cli.conversations import read_conversations
from transplate.cli.files import STDIN
from transplate.cli.options import downloading
from transplate.cli.output import errors_as_json, print_json, say
from transplate.cli.parity_text import parity_lines
from transplate.cli.templates import read_template
from transplate.cli.verdict import report_data
from transplate.errors import TransplateError

if TYPE_CHECKING:
    from transplate import Conversation, ParityReport

_EPILOG = """\b
Examples:
  transplate check template.gotmpl chat_template.jinja
  transplate check template.gotmpl chat_template.jinja conversations.jsonl
  transplate check old.jinja new.jinja --json
  transplate check a.gotmpl b.jinja --baseline parity.json
"""
_LEAST_WIDTH, _WIDTH = 60, 100


@click.command("check", epilog=_EPILOG, short_help="Check that two templates print the same prompts.")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.argument("conversation_files", metavar="[CONVERSATION]...", nargs=-1)
@click.option("-v", "--verbose", is_flag=True, help="Show every kind of difference, and all of it.")
@click.option("--only", metavar="TAG", help="Compare on the built-in conversations of a tag or name alone.")
@click.option("--quick", is_flag=True, help="Compare on the built-in conversations alone, make none.")
@click.option("--unusual", is_flag=True, help="Compare on conversations that people hardly send, too.")
@click.option("--baseline", metavar="FILE", help="Accept the differences in FILE; fail on new and gone ones.")
@click.option("--update-baseline", is_flag=True, help="Write the differences that are found to the baseline.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@downloading
@errors_as_json
def command(
    first: str,
    second: str,
    conversation_files: tuple[str, ...],
    verbose: bool,
    only: str | None,
    quick: bool,
    unusual: bool,
    baseline: str | None,
    update_baseline: bool,
    download: bool,
    as_json: bool,
) -> int:
    """Check that the templates A and B, of either language, print the same prompts.

    They are compared on the CONVERSATIONs, JSON files as for render or JSON lines, or else on a built-in set
    and on conversations made to take every branch of both templates. Each kind of difference is shown once,
    with its cause, which was found by experiment, and the smallest conversation that has it. Exit status 1
    means that they differ; with a baseline, that they differ in other ways than it says.
    """
    from transplate import check_parity

    if update_baseline and baseline is None:
        raise click.UsageError("--update-baseline needs --baseline FILE")
    if [first, second, *conversation_files].count(STDIN) > 1:
        raise click.UsageError("standard input ('-') can be read only once")
    known = None if baseline is None else Baseline(baseline)
    a, b = (read_template(source, download=download).template for source in (first, second))
    given = [conversation for path in conversation_files for conversation in read_conversations(path)]
    if only is not None:
        given += _built_in(only)
    report = check_parity(a, b, given or None, explain=True, generate=not (quick or given), unusual=unusual)
    if as_json:
        print_json(report_data(report), indent=2)
    else:
        for line in parity_lines(report, _labels(a, b, first, second), verbose=verbose, width=_width()):
            say(line)
    if known is None:
        return FINE if report.equal else NO
    return _against(known, report, f"{first} {second}", update=update_baseline, quiet=as_json)


def _built_in(tag: str) -> list[Conversation]:
    """Return the built-in conversations of a tag or name.

    Raises:
        TransplateError: There are none.
    """
    from transplate.parity.conversations import chosen_conversations, examples

    found = list(chosen_conversations(tag))
    if not found:
        tags = sorted({each for example in examples() for each in example.tags})
        raise TransplateError(
            f"no built-in conversation is called or tagged {tag!r}; tags: {', '.join(tags)}"
        )
    return found


def _against(known: Baseline, report: ParityReport, pair: str, *, update: bool, quiet: bool) -> int:
    """Return the exit status with a baseline, and say how the differences depart from it."""
    kinds = [kind.name for kind in report.kinds]
    if update:
        known.update(pair, kinds)
        return FINE
    change = known.change(pair, kinds)
    if not quiet:
        if change.new:
            say(f"not in the baseline: {', '.join(change.new)}")
        if change.gone:
            say(f"gone since the baseline: {', '.join(change.gone)}")
        if not change.new and not change.gone and kinds:
            say("all of this is in the baseline")
    return NO if change.new or change.gone or not report.checked else FINE


def _labels(a: object, b: object, first: str, second: str) -> tuple[str, str]:
    """Return what to call the sides: by their languages, or by what they are called if those are the same."""
    from transplate import OllamaTemplate

    is_go = isinstance(a, OllamaTemplate), isinstance(b, OllamaTemplate)
    if is_go[0] != is_go[1]:
        return ("go", "jinja") if is_go[0] else ("jinja", "go")
    return (first, second) if first != second else ("A", "B")


def _width() -> int:
    return max(_LEAST_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns)
