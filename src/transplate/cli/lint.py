"""``transplate lint``: mistakes in one template that users really make."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transplate.cli import BAD, FINE, NO
from transplate.cli.formats import FORMATS, written_notes
from transplate.cli.formats.notes import Note, Notes, Spot, spot_in
from transplate.cli.options import downloading, speaking
from transplate.cli.output import (
    check_output,
    error_data,
    errors_as_json,
    print_json,
    say,
    show_error,
    write_or_print,
)
from transplate.cli.project import read_project
from transplate.cli.templates import read_model
from transplate.cli.visible import visible
from transplate.errors import TransplateError
from transplate.language import Language

if TYPE_CHECKING:
    from transplate.lint import Finding

_EPILOG = """\b
Examples:
  transplate lint chat_template.jinja
  transplate lint Modelfile --ignore no-generation-markers
  transplate lint template.gotmpl --ollama 0.20.0
  transplate lint --rules
"""
_COLORS = {"error": "red", "warning": "yellow", "note": "cyan"}


@click.command("lint", epilog=_EPILOG, short_help="Find mistakes in templates.")
@click.argument("sources", metavar="SRC...", nargs=-1)
@click.option(
    "--ignore", metavar="RULE", multiple=True, help="Do not apply a rule; may be given several times."
)
@click.option("--ollama", metavar="VERSION", help="The oldest Ollama that the template has to work with.")
@click.option("--rules", "lists_rules", is_flag=True, help="List the rules.")
@speaking
@downloading
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Write the findings in another form.")
@click.option("--output", metavar="FILE", help="Where to write it; standard output if not said.")
@errors_as_json
def command(
    sources: tuple[str, ...],
    ignore: tuple[str, ...],
    ollama: str | None,
    lists_rules: bool,
    language: Language | None,
    download: bool,
    as_json: bool,
    form: str | None,
    output: str | None,
) -> int:
    """Find mistakes in the templates and models SRC, by rendering conversations with them.

    Exit status 1 means that there are errors or warnings, 2 that a SRC cannot be read; notes change nothing.
    What [tool.transplate.lint] of pyproject.toml says about ignore and ollama counts, too. A Modelfile or a
    Hugging Face folder without a template has no mistakes.
    """
    from transplate.cli.models import say_warnings
    from transplate.lint import lint

    if lists_rules:
        _list_rules(as_json=as_json)
        return FINE
    check_output(form, output, as_json=as_json)
    if not sources:
        raise click.UsageError("Missing argument 'SRC...'.")
    settings = read_project().lint
    ignored = {*ignore, *settings.ignore}
    is_for_people = not as_json and (form is None or output is not None)
    findings: dict[str, list[Finding]] = {}
    errors: dict[str, TransplateError] = {}
    for source in dict.fromkeys(sources):
        try:
            model = read_model(source, download=download, language=language)
            findings[source] = lint(model, ignore=ignored, ollama=ollama or settings.ollama)
        except TransplateError as error:
            errors[source] = error
            show_error(error)
        else:
            if is_for_people:
                _show(source, findings[source])
                if model.kind == "GGUF":  # what is odd about others is no matter of their templates
                    say_warnings(model)
    if form is not None:
        write_or_print(written_notes(form, _notes(findings, ignored)), output)
    if as_json:
        found = {source: {"findings": list(map(asdict, each))} for source, each in findings.items()}
        failed = {source: error_data(error) for source, error in errors.items()}
        answers = {**found, **failed}
        print_json({source: answers[source] for source in dict.fromkeys(sources)}, indent=2)
    elif is_for_people and findings and not any(findings.values()):
        say(click.style("no mistakes found", fg="green"))
    if errors:
        return BAD
    counts = any(finding.level != "note" for each in findings.values() for finding in each)
    return NO if counts else FINE


def _list_rules(*, as_json: bool) -> None:
    from transplate.lint import RULES

    if as_json:
        rules = [{"name": rule.name, "level": rule.level, "summary": rule.summary} for rule in RULES.values()]
        print_json(rules, indent=2)
        return
    for rule in RULES.values():
        say(f"{rule.name:26}{rule.level:9}{rule.summary}")


def _notes(findings: dict[str, list[Finding]], ignored: Collection[str]) -> Notes:
    """Return what is found, as all formats of the answer take it."""
    from transplate.lint import RULES

    rules = {name: rule.summary for name, rule in RULES.items() if name not in ignored}
    found = tuple(_note(source, finding) for source, each in findings.items() for finding in each)
    return Notes("transplate lint", tuple(findings), rules, found)


def _note(source: str, finding: Finding) -> Note:
    from transplate.parity.report import Place

    if Path(finding.source).is_file():
        spot = Spot(Path(finding.source).as_posix(), finding.line, finding.column)
    else:
        # A TEMPLATE counts its own lines, not those of its Modelfile.
        is_inside = finding.source.endswith(": TEMPLATE") and finding.line is not None
        spot = spot_in(source, Place(finding.line, finding.column) if is_inside else None)
    return Note(finding.rule, finding.level, source, spot, finding.message)


def _show(source: str, findings: list[Finding]) -> None:
    for finding in findings:
        place = "" if finding.line is None else f":{finding.line}:{finding.column}"
        level = click.style(finding.level, fg=_COLORS[finding.level], bold=True)
        name = visible(finding.source or source)
        say(f"{name}{place}: {level}: {visible(finding.message)} [{finding.rule}]")
