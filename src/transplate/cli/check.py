"""``transplate check``: do two templates print the same prompts?"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transplate.cli import BAD, FINE, NO
from transplate.cli.baseline import Baseline
from transplate.cli.cache_text import cache_lines, cache_notes
from transplate.cli.comparing import Compared, Job, compare, compare_all
from transplate.cli.conversations import read_conversations, told_apart
from transplate.cli.files import STDIN
from transplate.cli.formats import FORMATS, written, written_notes
from transplate.cli.formats.checked import Checked
from transplate.cli.matrix import is_matrix, pairs_in
from transplate.cli.options import downloading, giving_tokens, naming_template
from transplate.cli.output import check_output, errors_as_json, print_json, say, show_error, write_or_print
from transplate.cli.parity_text import parity_lines
from transplate.cli.project import Project, read_project
from transplate.cli.templates import TemplateFile, read_sides, read_template
from transplate.cli.tokens import token_hint
from transplate.cli.verdict import report_data
from transplate.cli.visible import visible
from transplate.cli.waiting import waiting
from transplate.errors import TransplateError

if TYPE_CHECKING:
    from transplate import Conversation, ParityReport
    from transplate.parity.sides import Template

_EPILOG = """\b
Examples:
  transplate check template.gotmpl chat_template.jinja
  transplate check template.gotmpl chat_template.jinja conversations.jsonl
  transplate check old.jinja new.jinja --json
  transplate check a.gotmpl b.jinja --baseline parity.json
  transplate check a.gotmpl b.jinja --format html --output report.html
  transplate check Modelfile http://localhost:11434#mine
  transplate check --cache chat_template.jinja
  transplate check --injection chat_template.jinja
"""
_LEAST_WIDTH, _WIDTH = 60, 100
_MOST_NAMES = 6
_MOST_IN_FULL = 3
"""Of how many pairs everything is said without being asked for it."""


@click.command("check", epilog=_EPILOG, short_help="Check that two templates print the same prompts.")
@click.argument("first", metavar="[A", required=False)
@click.argument("second", metavar="B]", required=False)
@click.argument("conversation_files", metavar="[CONVERSATION]...", nargs=-1)
@click.option("-v", "--verbose", is_flag=True, help="Show every kind of difference, and all of it.")
@click.option("--only", metavar="TAG", help="Compare on the built-in conversations of a tag or name alone.")
@click.option("--cache", is_flag=True, help="See whether the prompts of A extend each other turn by turn.")
@click.option(
    "--injection", is_flag=True, help="See what texts in messages can do to the prompts of A (and B)."
)
@click.option("--quick", is_flag=True, help="Compare on the built-in conversations alone, make none.")
@click.option(
    "--unusual", is_flag=True, help="Compare Go with Jinja on conversations that people hardly send, too."
)
@click.option("--baseline", metavar="FILE", help="Accept the differences in FILE; fail on new and gone ones.")
@click.option("--update-baseline", is_flag=True, help="Write the differences that are found to the baseline.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Write the answer in another form.")
@click.option("--output", metavar="FILE", help="Where to write it; standard output if not said.")
@naming_template
@giving_tokens
@downloading
@errors_as_json
def command(
    first: str | None,
    second: str | None,
    conversation_files: tuple[str, ...],
    verbose: bool,
    only: str | None,
    cache: bool,
    injection: bool,
    quick: bool,
    unusual: bool,
    baseline: str | None,
    update_baseline: bool,
    form: str | None,
    output: str | None,
    name: str | None,
    tokens: dict[str, str],
    download: bool,
    as_json: bool,
) -> int:
    """Check that the templates A and B, of either language, print the same prompts.

    Without them, the pairs in [tool.transplate] of pyproject.toml are checked, as it says. A folder alone
    stands for the pairs in it, "ollama:" for the models in Ollama's store and their GGUFs' chat templates.

    They are compared on the CONVERSATIONs, JSON files as for render or JSON lines, or else on a built-in set
    and on conversations made to take every branch of both templates. Each kind of difference is shown once,
    with its cause, which was found by experiment, and the smallest conversation that has it. Exit status 1
    means that they differ; with a baseline, that they differ in other ways than it says.

    The address of a running Ollama and a model of it, or of a running llama-server, stands for the prompts
    that the server itself makes; then no conversations are made besides the built-in ones.

    With --cache, growing conversations and agent loops are replayed with A alone: the first turn is shown
    whose prompt does not begin with the prompt before, why, and how much has to be read again.

    With --injection, texts with the template's own markers and words are tried in all places of messages and
    tools: which of them can make up turns of others, and which change more of the prompt than themselves.
    """
    check_output(form, output, as_json=as_json)
    if cache:
        if first is None or second is not None:
            raise click.UsageError("--cache takes one template")
        template = read_template(first, download=download, name=name, tokens=tokens)
        return _cache(first, template, form, output, verbose=verbose, as_json=as_json)
    if injection:
        if first is None or conversation_files:
            raise click.UsageError("--injection takes one template or two")
        sources = [source for source in dict.fromkeys((first, second)) if source is not None]
        sides = read_sides(sources, download=download, name=name, tokens=tokens)
        return _injection(
            dict(zip(sources, sides, strict=True)), form, output, verbose=verbose, as_json=as_json
        )
    is_one = first is not None and second is not None
    project = read_project() if first is None else Project(Path())
    baseline = baseline or project.path(project.baseline)
    if update_baseline and baseline is None:
        raise click.UsageError("--update-baseline needs --baseline FILE")
    if [first, second, *conversation_files].count(STDIN) > 1:
        raise click.UsageError("standard input ('-') can be read only once")
    pairs = _pairs(first, second, project)
    known = None if baseline is None else Baseline(baseline, is_new=update_baseline)
    given_files = conversation_files or tuple(project.paths(project.conversations))
    given = [conversation for path in given_files for conversation in read_conversations(path)]
    if only is not None:
        given += _built_in(only)
    given = told_apart(given)
    generate, is_unusual = not (quick or given), unusual or project.unusual
    jobs = [
        Job(
            (project.source(a), project.source(b)),
            tuple(given),
            generate,
            is_unusual,
            download,
            name,
            tokens,
        )
        for a, b in pairs
    ]
    if is_one:
        with waiting(f"comparing {first} with {second}"):
            results = [compare(jobs[0])]
    else:
        results = _all(jobs)
    errors = [result.error for result in results if result.error is not None]
    found: list[Checked] = []
    labels: list[tuple[str, str]] = []
    for pair, result in zip(pairs, results, strict=True):
        if result.checked is not None:
            kinds = {
                kind.name: [*kind.conversations, *([""] if kind.count != len(kind.conversations) else [])]
                for kind in result.checked.report.kinds
            }
            label, change = " ".join(pair), None
            if known is not None:
                digests = result.checked.digests
                if update_baseline and (broken := result.checked.broken):
                    message = f"{label}: {broken} fails on every conversation, which no baseline accepts"
                    errors.append(TransplateError(message))
                elif update_baseline:
                    known.update(label, kinds, digests)
                change = known.change(label, kinds, digests)
            found.append(replace(result.checked, change=change))
            labels.append(_labels(result.sorts, pair))
    if form is not None:
        write_or_print(written(form, found), output)
    if as_json:
        print_json(report_data(found[0].report) if is_one else _pairs_data(found), indent=2)
    elif form is None or output is not None:
        is_short = len(found) > _MOST_IN_FULL and not verbose
        for checked, names in zip(found, labels, strict=True):
            if not is_one:
                say(click.style(visible(" ~ ".join(checked.sources)), bold=True))
            lines = parity_lines(checked.report, names, verbose=verbose, width=_width())
            for line in islice(lines, 1 if is_short else None):
                say(line)
            if hint := token_hint(_messages(checked.report)):
                say(hint, err=True)
            if not update_baseline:
                _say_change(checked)
        if not is_one:
            passing = sum(checked.passes for checked in found)
            say(f"{passing} of {len(found)} {'pair passes' if len(found) == 1 else 'pairs pass'}")
    for error in errors:
        show_error(error)
    if errors or not found:
        return BAD
    return FINE if all(checked.passes for checked in found) else NO


def _pairs(first: str | None, second: str | None, project: Project) -> list[tuple[str, str]]:
    """Return the pairs that are meant.

    Raises:
        click.UsageError: There are none.
    """
    if first is not None and second is not None:
        return [(first, second)]
    if first is None:
        if project.pairs:
            return list(project.pairs)
        raise click.UsageError("Missing arguments 'A' and 'B': no pairs in [tool.transplate] either.")
    if not is_matrix(first):
        raise click.UsageError("Missing argument 'B'.")
    pairs = pairs_in(first)
    if not pairs:
        raise click.UsageError(f"{first}: there are no pairs of templates in it")
    return pairs


def _all(jobs: Sequence[Job]) -> list[Compared]:
    """Compare many pairs at once, and show how far that is where people look on."""
    if len(jobs) < 2 or not sys.stderr.isatty():
        return list(compare_all(jobs))
    with click.progressbar(compare_all(jobs), length=len(jobs), file=sys.stderr) as results:
        return list(results)


def _pairs_data(found: Sequence[Checked]) -> dict[str, Any]:
    return {
        "pairs": [
            {"sources": list(checked.sources), "passes": checked.passes, **report_data(checked.report)}
            for checked in found
        ]
    }


def _cache(
    source: str,
    template: TemplateFile,
    form: str | None,
    output: str | None,
    *,
    verbose: bool,
    as_json: bool,
) -> int:
    """Say whether the prompts of growing conversations extend each other, and return the exit status."""
    from transplate.parity import check_cache

    report = check_cache(template.template)
    if form is not None:
        write_or_print(written_notes(form, cache_notes(source, report)), output)
    if as_json:
        print_json(asdict(report), indent=2)
    elif form is None or output is not None:
        for line in cache_lines(report, verbose=verbose, width=_width()):
            say(line)
    return NO if report.breaks or not report.replayed else FINE


def _injection(
    templates: Mapping[str, Template],
    form: str | None,
    output: str | None,
    *,
    verbose: bool,
    as_json: bool,
) -> int:
    """Say what texts in messages can do to the prompts of templates, and return the exit status."""
    from transplate.cli import injection
    from transplate.parity import check_injection

    with waiting("trying texts"):
        reports = {source: check_injection(template) for source, template in templates.items()}
    if form is not None:
        write_or_print(written_notes(form, injection.notes(reports)), output)
    if as_json:
        injection.show_as_json(reports)
    elif form is None or output is not None:
        injection.show(reports, verbose=verbose, width=_width())
    return injection.status(reports)


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


def _messages(report: ParityReport) -> list[str]:
    """Return the errors for which conversations have no prompt."""
    errors = [error.message for one in report.differences for error in one.errors if error is not None]
    return [*report.reasons, *errors]


def _say_change(checked: Checked) -> None:
    """Say how the differences depart from the baseline, if there is one."""
    change = checked.change
    if change is None:
        return
    if change.new:
        say(f"not in the baseline: {visible(', '.join(change.new))}")
    if change.gone:
        say(f"gone since the baseline: {visible(', '.join(change.gone))}")
    if change.changed and not change.new:
        more = len(change.changed) - _MOST_NAMES
        others = f" and {more} more" if more > 0 else ""
        say(f"not as in the baseline: {visible(', '.join(change.changed[:_MOST_NAMES]))}{others}")
    if checked.passes and checked.report.kinds:
        say("all of this is in the baseline")


def _labels(sorts: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, str]:
    """Return what to call the sides: by what sort they are, or by their names if that is the same."""
    first, second = sorts
    if first != second:
        return first, second
    return (visible(pair[0]), visible(pair[1])) if pair[0] != pair[1] else ("A", "B")


def _width() -> int:
    """Return how wide a line may be: as a terminal, as COLUMNS says, else as wide as it is."""
    if "COLUMNS" not in os.environ and not sys.stdout.isatty():
        return sys.maxsize
    return max(_LEAST_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns)
